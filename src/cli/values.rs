//! Parsers of single flag values.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::proof_type::{default_proof, sector_size_name};

    #[test]
    fn sizes_are_those_of_the_proof_types() {
        for size in SectorSize::value_variants() {
            let name = size.to_possible_value().unwrap();
            assert_eq!(sector_size_name(size.bytes()), name.get_name());
            assert!(default_proof(size.bytes()).is_ok());
        }
    }
}
