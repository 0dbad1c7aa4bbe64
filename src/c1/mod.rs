//! C1 files: formats, checks, fabrication of samples.

use crate::circuit::{SealProof, Statement, VanillaProofs};
use crate::error::Result;

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

/// Reads a C1 output of any format and checks all that is cheap: counts, lengths, ranges, replica_id where the sector
/// is known. `name` stands for the file in messages. Vanilla verification is `PoRep::check_vanilla`.
pub fn read(_name: &str, _bytes: &[u8], _options: &ReadOptions) -> Result<C1> {
    todo!()
}
