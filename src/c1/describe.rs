//! The facts about a C1 output that `cuzk inspect` shows.

use serde::Serialize;

use super::C1;
use crate::{
    circuit::{
        proof_type::{is_synthetic, proof_name, sector_size_name},
        PoRep,
    },
    error::Result,
};

/// What is in a C1 output; commitments, ids and randomness in hex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    pub format: &'static str,
    pub registered_proof: String,
    pub synthetic: bool,
    pub sector_size: String,
    pub sector_bytes: u64,
    pub partitions: usize,
    pub challenges_per_partition: usize,
    pub layers: usize,
    pub comm_d: String,
    pub comm_r: String,
    pub replica_id: String,
    pub seed: String,
    pub ticket: String,
    /// Miner's id address, where known.
    pub miner: Option<String>,
    /// Sector number, where known.
    pub sector: Option<u64>,
    /// Was replica_id recomputed from miner and sector when the file was read?
    pub replica_id_checked: bool,
    /// File names of the parameters and of the verifying key that a proof needs.
    pub parameters: String,
    pub verifying_key: String,
}

/// Describes a C1 output.
pub fn describe(c1: &C1) -> Result<Description> {
    let s = &c1.statement;
    let porep = PoRep::new(s.proof)?;
    let identity = porep.identity();
    Ok(Description {
        format: c1.format.name(),
        registered_proof: proof_name(s.proof),
        synthetic: is_synthetic(s.proof),
        sector_size: sector_size_name(porep.sector_bytes()),
        sector_bytes: porep.sector_bytes(),
        partitions: porep.partitions(),
        challenges_per_partition: porep.challenges_per_partition(),
        layers: porep.layers(),
        comm_d: hex::encode(s.comm_d),
        comm_r: hex::encode(s.comm_r),
        replica_id: hex::encode(s.replica_id),
        seed: hex::encode(s.seed),
        ticket: hex::encode(s.ticket),
        miner: c1.miner.map(|miner| format!("f0{miner}")),
        sector: c1.sector,
        replica_id_checked: c1.miner.is_some() && c1.sector.is_some(),
        parameters: identity.params,
        verifying_key: identity.vk,
    })
}

impl Description {
    /// The facts as label and value, in the order to print them.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let unknown = || "not known".to_string();
        let checked = if self.replica_id_checked { " (follows from miner and sector)" } else { " (not checked)" };
        vec![
            ("format", self.format.into()),
            ("proof type", self.registered_proof.clone()),
            ("sector size", self.sector_size.clone()),
            ("partitions", self.partitions.to_string()),
            ("challenges", format!("{} per partition", self.challenges_per_partition)),
            ("layers", self.layers.to_string()),
            ("comm_d", self.comm_d.clone()),
            ("comm_r", self.comm_r.clone()),
            ("replica_id", format!("{}{checked}", self.replica_id)),
            ("seed", self.seed.clone()),
            ("ticket", self.ticket.clone()),
            ("miner", self.miner.clone().unwrap_or_else(unknown)),
            ("sector", self.sector.map_or_else(unknown, |n| n.to_string())),
            ("vanilla proofs", "not verified here; `cuzk prove` does before it proves".into()),
            ("parameters", self.parameters.clone()),
            ("verifying key", self.verifying_key.clone()),
        ]
    }
}
