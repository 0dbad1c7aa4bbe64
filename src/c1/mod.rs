//! C1 files: formats, checks, fabrication of samples.

mod address;
mod binary;
mod describe;
mod detect;
mod infer;
mod json;
mod place;
mod read;
mod sample;
mod sealed;
mod structure;
mod tree;
mod write;

use crate::circuit::{SealProof, Statement, VanillaProofs};

pub use address::{parse_miner, prover_id};
pub use describe::{describe, Description};
pub use read::{read, MAX_BYTES};
pub use sample::{sample, SampleData, SampleOptions};
pub use sealed::sealed;
pub use write::write;

/// A sector's owner and number, as `--miner t01000 --sector 1` or a wrapper names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorId {
    /// Actor id of the miner.
    pub miner: u64,
    pub number: u64,
}

/// The container a C1 output came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON of filecoin-proofs-api `SealCommitPhase1Output`.
    Json,
    /// `{"SectorNum", "Phase1Out": base64 of Json, "SectorSize"}`.
    Wrapper,
    /// `{"SectorID": {"Miner", "Number"}, "PoRep": Json}`.
    ProofShare,
    /// bincode of filecoin-proofs `SealCommitPhase1Output`.
    Bincode,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Json, Format::Wrapper, Format::ProofShare, Format::Bincode];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Wrapper => "wrapper",
            Format::ProofShare => "proof-share",
            Format::Bincode => "bincode",
        }
    }
}

/// One C1 output, read and structurally sound.
pub struct C1 {
    pub statement: Statement,
    pub vanilla: VanillaProofs,
    pub format: Format,
    /// Miner, where the file or the caller tells it.
    pub miner: Option<u64>,
    /// Sector number, where the file or the caller tells it.
    pub sector: Option<u64>,
}

/// What the caller knows about a file beyond its content.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// `--registered-proof`: decides the proof type of formats that carry none; must agree with those that do.
    pub proof: Option<SealProof>,
    pub miner: Option<u64>,
    pub sector: Option<u64>,
}

/// blake2b-256 of a file's bytes, in hex: how runs know a C1 output, whatever its name.
pub fn content_hash(bytes: &[u8]) -> String {
    blake2b_simd::Params::new().hash_length(32).hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_blake2b_256() {
        // `b2sum -l 256` of "abc".
        assert_eq!(content_hash(b"abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
        assert_ne!(content_hash(b""), content_hash(b"\0"));
    }
}
