//! C1 outputs back into files, byte for byte as filecoin-proofs writes them.

use base64::{engine::general_purpose::STANDARD, Engine};
use serde::{Serialize, Serializer};

use super::{Format, C1};
use crate::{
    circuit::{
        proof_type::{proof_name, sector_bytes, vanilla_key},
        raw::Node,
        VanillaProofs,
    },
    error::{Fault, OrFault, Result},
    fail,
};

/// Field order of filecoin-proofs-api `SealCommitPhase1Output`.
#[derive(Serialize)]
struct JsonOutput<'a> {
    registered_proof: String,
    vanilla_proofs: Keyed<'a>,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: Node,
    ticket: Node,
}

/// Field order of filecoin-proofs `SealCommitPhase1Output`.
#[derive(Serialize)]
struct BinaryOutput<'a> {
    vanilla_proofs: Plain<'a>,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: Node,
    ticket: Node,
}

struct Plain<'a>(&'a VanillaProofs);

struct Keyed<'a> {
    key: String,
    proofs: Plain<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Wrapper {
    sector_num: u64,
    #[serde(rename = "Phase1Out")]
    phase1_out: String,
    sector_size: u64,
}

#[derive(Serialize)]
struct ProofShare<'a> {
    #[serde(rename = "SectorID")]
    sector_id: ShareSectorId,
    #[serde(rename = "PoRep")]
    porep: JsonOutput<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShareSectorId {
    miner: u64,
    number: u64,
}

/// A C1 output as a file of `format`.
///
/// # Errors
/// [`Fault::Usage`] where the format names a sector that is not known.
pub fn write(c1: &C1, format: Format) -> Result<Vec<u8>> {
    let proof = c1.statement.proof;
    match format {
        Format::Json => json(&json_output(c1)),
        Format::Wrapper => json(&Wrapper {
            sector_num: known(c1.sector, "sector number", format)?,
            phase1_out: STANDARD.encode(json(&json_output(c1))?),
            sector_size: sector_bytes(proof),
        }),
        Format::ProofShare => {
            let miner = known(c1.miner, "miner", format)?;
            let number = known(c1.sector, "sector number", format)?;
            json(&ProofShare { sector_id: ShareSectorId { miner, number }, porep: json_output(c1) })
        }
        Format::Bincode => {
            let s = &c1.statement;
            let output = BinaryOutput {
                vanilla_proofs: Plain(&c1.vanilla),
                comm_r: s.comm_r,
                comm_d: s.comm_d,
                replica_id: s.replica_id,
                seed: s.seed,
                ticket: s.ticket,
            };
            bincode::serialize(&output).or_fault(Fault::Internal, || "writing bincode".into())
        }
    }
}

fn known(value: Option<u64>, what: &str, format: Format) -> Result<u64> {
    match value {
        Some(value) => Ok(value),
        None => fail!(Fault::Usage, "the {} format names the {what}, which is not known here", format.name()),
    }
}

fn json_output(c1: &C1) -> JsonOutput<'_> {
    let s = &c1.statement;
    JsonOutput {
        registered_proof: proof_name(s.proof),
        vanilla_proofs: Keyed { key: vanilla_key(s.proof), proofs: Plain(&c1.vanilla) },
        comm_r: s.comm_r,
        comm_d: s.comm_d,
        replica_id: s.replica_id,
        seed: s.seed,
        ticket: s.ticket,
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).or_fault(Fault::Internal, || "writing JSON".into())
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            VanillaProofs::Base(proofs) => proofs.serialize(serializer),
            VanillaProofs::Sub8(proofs) => proofs.serialize(serializer),
            VanillaProofs::Top2(proofs) => proofs.serialize(serializer),
        }
    }
}

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.key, &self.proofs)])
    }
}
