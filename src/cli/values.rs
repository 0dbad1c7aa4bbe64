//! Parsers of single flag values.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::ValueEnum;

use crate::circuit::proof_type::{parse_proof, proof_name, NON_INTERACTIVE, SUPPORTED};
use crate::circuit::SealProof;
use crate::error::Fault;

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

/// Bytes with a binary unit (`48GiB`) or none.
pub fn byte_size(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err("expected a number of bytes with KiB, MiB, GiB or TiB, for example 48GiB".into()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a whole number, for example 48GiB".to_owned())?;
    number.checked_mul(factor).filter(|n| *n > 0).ok_or_else(|| "expected more than nothing, and less than 2^64".into())
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
    Cpu,
    /// One that this build has no kernels for; asked for, it is an error and no silent way to the CPU.
    Cuda,
    /// Proofs from the secrets of development parameters, each after this time.
    Simulator(Duration),
}

/// `cpu`, `cuda`, `cuda:N`, `simulator` or `simulator:SECONDS`.
pub fn device(text: &str) -> Result<DeviceName, String> {
    match text.split_once(':') {
        None if text == "cpu" => Ok(DeviceName::Cpu),
        None if text == "cuda" => Ok(DeviceName::Cuda),
        Some(("cuda", index)) if index.parse::<u32>().is_ok() => Ok(DeviceName::Cuda),
        None if text == "simulator" => Ok(DeviceName::Simulator(Duration::ZERO)),
        Some(("simulator", delay)) => time_span(delay).map(DeviceName::Simulator),
        _ => Err("expected cpu, or simulator with an optional time, as in simulator:0.5".into()),
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
        for bad in ["", "GiB", "4GB", "-1", "0", "1.5GiB", "99999999TiB"] {
            assert!(byte_size(bad).is_err(), "{bad}");
        }
        assert_eq!(time_span("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time_span("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "m", "-3", "3d", "nan", "1e300"] {
            assert!(time_span(bad).is_err(), "{bad}");
        }
        assert_eq!(device("cpu"), Ok(DeviceName::Cpu));
        assert_eq!(device("simulator:0.5"), Ok(DeviceName::Simulator(Duration::from_millis(500))));
        assert_eq!(device("cuda:1"), Ok(DeviceName::Cuda));
        assert!(device("cuda:x").is_err() && device("cpu:1").is_err());
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
