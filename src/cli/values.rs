//! Parsers of single flag values.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::ValueEnum;

use crate::circuit::proof_type::{parse_proof, proof_name, NON_INTERACTIVE, SUPPORTED};
use crate::circuit::SealProof;
use crate::error::Fault;
use crate::processor::Wanted;

/// Parses the name of a registered seal proof; clap suggests the nearest one.
pub fn seal_proof() -> impl TypedValueParser<Value = SealProof> {
    // Non-interactive ones are among the known names, so that their refusal can say why.
    let known = || SUPPORTED.into_iter().chain(NON_INTERACTIVE).map(proof_name);
    PossibleValuesParser::new(known()).try_map(|name| parse_proof(&name, Fault::Usage))
}

/// Sector sizes that Filecoin has proofs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SectorSize {
    #[value(name = "2KiB", alias = "2048")]
    KiB2,
    #[value(name = "8MiB", alias = "8388608")]
    MiB8,
    #[value(name = "512MiB", alias = "536870912")]
    MiB512,
    #[value(name = "32GiB", alias = "34359738368")]
    GiB32,
    #[value(name = "64GiB", alias = "68719476736")]
    GiB64,
}

impl SectorSize {
    /// Bytes of the sector.
    pub fn bytes(self) -> u64 {
        match self {
            Self::KiB2 => 2 << 10,
            Self::MiB8 => 8 << 20,
            Self::MiB512 => 512 << 20,
            Self::GiB32 => 32 << 30,
            Self::GiB64 => 64 << 30,
        }
    }
}

/// Digits after a point: more than any size needs.
const MAX_DECIMALS: usize = 18;

/// Bytes with a binary unit (`48GiB`, `1.5GiB`) or none; part of a byte is left out.
pub fn byte_size(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u128 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err("expected a number of bytes with KiB, MiB, GiB or TiB, for example 48GiB".into()),
    };
    let (whole, decimals) = number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let no_number = || "expected a number before the unit, for example 48GiB or 1.5GiB".to_owned();
    if decimals.is_some() && factor == 1 {
        return Err("expected a whole number of bytes, or a unit after it, for example 1.5GiB".into());
    }
    let digits = |text: &str| text.parse::<u64>().map(u128::from).map_err(|_| no_number());
    let mut bytes = digits(whole)?.saturating_mul(factor);
    if let Some(decimals) = decimals {
        if decimals.len() > MAX_DECIMALS {
            return Err(format!("expected at most {MAX_DECIMALS} digits after the point"));
        }
        // Below 10^18 * 2^40 < 2^100.
        bytes += digits(decimals)? * factor / 10u128.pow(decimals.len() as u32);
    }
    let bytes = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "expected at least one byte, and less than 2^64".into())
}

/// Seconds, or a number with s, m or h.
pub fn time_span(text: &str) -> Result<Duration, String> {
    let message = || "expected seconds, or a number with s, m or h, for example 90s or 10m".to_owned();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(message()),
    };
    let seconds: f64 = number.parse().map_err(|_| message())?;
    Duration::try_from_secs_f64(seconds * factor).map_err(|_| message())
}

/// A time that something may take: more than none.
pub fn time_limit(text: &str) -> Result<Duration, String> {
    time_span(text).and_then(|time| if time.is_zero() { Err("expected more than no time".into()) } else { Ok(time) })
}

/// A device that proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceName {
    /// A CUDA device that can be had, else the host's cores.
    Auto,
    /// The host's cores.
    Cpu,
    /// A CUDA device by the driver's number, or the first that can. One that cannot be had is an error, and no silent way to the CPU.
    Cuda(Option<u32>),
    /// Proofs from the secrets of development parameters, each after this time.
    Simulator(Duration),
}

/// `auto`, `cpu`, `cuda`, `cuda:N`, `simulator` or `simulator:SECONDS`.
pub fn device(text: &str) -> Result<DeviceName, String> {
    let number = || "expected a device's number after cuda:, as in cuda:0; `cuzk devices` lists them".to_owned();
    match text.split_once(':') {
        None if text == "auto" => Ok(DeviceName::Auto),
        None if text == "cpu" => Ok(DeviceName::Cpu),
        None if text == "cuda" => Ok(DeviceName::Cuda(None)),
        Some(("cuda", index)) if index.starts_with(|c: char| c.is_ascii_digit()) => {
            index.parse().map(|index| DeviceName::Cuda(Some(index))).map_err(|_| number())
        }
        Some(("cuda", _)) => Err(number()),
        None if text == "simulator" => Ok(DeviceName::Simulator(Duration::ZERO)),
        Some(("simulator", delay)) => time_span(delay).map(DeviceName::Simulator),
        _ => Err("expected auto, cpu, cuda, cuda:N, or simulator with an optional time, as in simulator:0.5".into()),
    }
}

/// `auto`, `cpu`, `cuda` or `cuda:N`: what computes.
pub fn computing_device(text: &str) -> Result<DeviceName, String> {
    match device(text) {
        Ok(DeviceName::Simulator(_)) => {
            Err("the simulator computes nothing; expected auto, cpu, cuda or cuda:N".into())
        }
        Err(_) if !text.starts_with("cuda:") => Err("expected auto, cpu, cuda or cuda:N".into()),
        other => other,
    }
}

/// `cuda` or `cuda:N`.
pub fn cuda_device(text: &str) -> Result<DeviceName, String> {
    device(text)
        .ok()
        .filter(|name| matches!(name, DeviceName::Cuda(_)))
        .ok_or_else(|| "expected cuda or cuda:N, as in cuda:0; `cuzk devices` lists them".into())
}

/// `auto`, `scalar` or `ifma`: the values of CUZK_CPU.
pub fn arithmetic(text: &str) -> Result<Wanted, String> {
    match text {
        "auto" => Ok(Wanted::Auto),
        "scalar" => Ok(Wanted::Scalar),
        "ifma" => Ok(Wanted::Ifma),
        _ => Err("expected scalar (portable arithmetic), ifma (AVX-512 IFMA), or auto, the default".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::proof_type::{default_proof, sector_size_name};

    #[test]
    fn bytes_times_and_devices_are_read_strictly() {
        assert_eq!(byte_size("48GiB"), Ok(48 << 30));
        assert_eq!(byte_size("512"), Ok(512));
        assert_eq!(byte_size("3 mib"), Ok(3 << 20));
        assert_eq!(byte_size("1.5GiB"), Ok(3 << 29));
        assert_eq!(byte_size("0.125 KiB"), Ok(128));
        assert_eq!(byte_size("16777215.999999999999999999TiB"), Ok(u64::MAX), "no float has so many digits");
        assert_eq!(byte_size("0.1GiB"), Ok(107_374_182), "107374182.4");
        assert_eq!(byte_size("1.0k"), Ok(1024));
        for bad in
            ["", "GiB", "4GB", "-1", "0", "0.0GiB", "0.0001KiB", "99999999TiB", "16777216TiB", "18446744073709551616"]
        {
            assert!(byte_size(bad).is_err(), "{bad}");
        }
        for bad in
            [".5GiB", "1.GiB", "1.5.5GiB", "1,5GiB", "+1GiB", "1e3GiB", "1.5", "1.5B", ".", "1.0000000000000000000GiB"]
        {
            assert!(byte_size(bad).is_err(), "{bad}");
        }
        assert_eq!(time_span("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time_span("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "m", "-3", "3d", "nan", "1e300"] {
            assert!(time_span(bad).is_err(), "{bad}");
        }
        assert_eq!(device("cpu"), Ok(DeviceName::Cpu));
        assert_eq!(device("simulator:0.5"), Ok(DeviceName::Simulator(Duration::from_millis(500))));
        assert_eq!(device("auto"), Ok(DeviceName::Auto));
        assert_eq!(device("cuda"), Ok(DeviceName::Cuda(None)));
        assert_eq!(device("cuda:1"), Ok(DeviceName::Cuda(Some(1))));
        for bad in ["cuda:", "cuda:x", "cuda:+1", "cuda:-1", "cuda: 1", "cuda:4294967296", "cuda:0:1"] {
            assert!(device(bad).is_err_and(|message| message.contains("cuda:0")), "{bad}");
        }
        assert_eq!(cuda_device("cuda:1"), Ok(DeviceName::Cuda(Some(1))));
        assert!(cuda_device("cpu").is_err() && cuda_device("cuda:x").is_err());
        assert_eq!(computing_device("auto"), Ok(DeviceName::Auto));
        assert_eq!(computing_device("cuda:1"), Ok(DeviceName::Cuda(Some(1))));
        assert!(computing_device("simulator:1").is_err_and(|message| message.contains("computes nothing")));
        assert!(computing_device("gpu").is_err_and(|message| !message.contains("simulator")));
        assert!(computing_device("cuda:x").is_err_and(|message| message.contains("cuda:0")));
        assert!(device("cpu:1").is_err() && device("auto:1").is_err() && device("gpu").is_err());
    }

    #[test]
    fn sizes_are_those_of_the_proof_types() {
        for size in SectorSize::value_variants() {
            let name = size.to_possible_value().unwrap();
            assert_eq!(sector_size_name(size.bytes()), name.get_name());
            assert!(default_proof(size.bytes()).is_ok());
        }
    }
}
