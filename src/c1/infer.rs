//! The proof type of a file that carries none.
//!
//! The depth of tree D tells the sector size. V1, V1_1 and synthetic proofs of one size have the same shape, but not the same
//! graph and challenges: which nodes the paths lead from tells them apart, and so does replica_id where the sector is known.

use super::prover_id;
use crate::{
    circuit::{
        hash::replica_id,
        proof_type::{proof_name, proofs_of_size, sector_size_name, NON_INTERACTIVE, SECTOR_SIZES},
        raw::{ChallengeProof, MerkleProof, Node, Proofs},
        PoRep, SealProof, Statement,
    },
    error::{Fault, Result},
    fail,
};

/// A statement whose proof type is not known yet.
pub(super) struct Untyped {
    pub comm_r: Node,
    pub comm_d: Node,
    pub replica_id: Node,
    pub seed: Node,
    pub ticket: Node,
}

impl Untyped {
    pub fn of(&self, proof: SealProof) -> Statement {
        let Self { comm_r, comm_d, replica_id, seed, ticket } = *self;
        Statement { proof, comm_r, comm_d, replica_id, seed, ticket }
    }
}

/// Finds the proof type of a statement whose ranges are checked; `sector` is miner and sector number, where known.
///
/// # Errors
/// [`Fault::Input`] where none or several fit; the message lists them and names `--registered-proof`.
pub(super) fn infer(untyped: &Untyped, proofs: &Proofs, sector: Option<(u64, u64)>) -> Result<SealProof> {
    let bytes = sector_size(proofs)?;
    refuse_non_interactive(bytes, proofs.len())?;
    let candidates = proofs_of_size(bytes);
    let mut fitting = Vec::new();
    for proof in &candidates {
        if fits(untyped, proofs, sector, *proof)? {
            fitting.push(*proof);
        }
    }
    decide(bytes, &candidates, &fitting)
}

fn sector_size(proofs: &Proofs) -> Result<u64> {
    let Some(first) = proofs.first().and_then(|p| p.first()) else {
        fail!(Fault::Input, "the file has no vanilla proofs");
    };
    let levels: usize = first.comm_d_proofs.sections().iter().map(|(_, levels)| levels.len()).sum();
    match SECTOR_SIZES.iter().find(|bytes| (*bytes / 32).trailing_zeros() as usize == levels) {
        Some(bytes) => Ok(*bytes),
        None => fail!(
            Fault::Input,
            "partition 0, challenge 0, comm_d_proofs: a path of {levels} levels belongs to no sector size; expected 6 (2KiB), 18 \
             (8MiB), 24 (512MiB), 30 (32GiB) or 31 (64GiB)"
        ),
    }
}

/// Non-interactive proofs have more partitions than any other of their size.
fn refuse_non_interactive(bytes: u64, partitions: usize) -> Result<()> {
    for proof in NON_INTERACTIVE {
        if u64::from(proof.sector_size()) == bytes && usize::from(proof.partitions()) == partitions {
            fail!(
                Fault::Input,
                "{partitions} partitions of {} make this a non-interactive PoRep ({}), which cuzk does not prove yet",
                sector_size_name(bytes),
                proof_name(proof)
            );
        }
    }
    Ok(())
}

fn fits(untyped: &Untyped, proofs: &Proofs, sector: Option<(u64, u64)>, proof: SealProof) -> Result<bool> {
    if let Some((miner, number)) = sector {
        let id = replica_id(proof, &prover_id(miner), number, &untyped.ticket, &untyped.comm_d);
        return Ok(id == untyped.replica_id);
    }
    positions_fit(untyped, proofs, proof)
}

/// Are the nodes of the first partition's challenges, and their parents, those of this proof type?
fn positions_fit(untyped: &Untyped, proofs: &Proofs, proof: SealProof) -> Result<bool> {
    let porep = PoRep::new(proof)?;
    let challenges = porep.challenges(&untyped.of(proof), 0)?;
    let Some(partition) = proofs.first().filter(|p| p.len() == challenges.len()) else {
        return Ok(false);
    };
    for (vanilla, node) in partition.iter().zip(challenges) {
        if vanilla.comm_d_proofs.position() != node as u64 || parents(vanilla) != porep.parents(node)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn parents(vanilla: &ChallengeProof) -> Vec<u32> {
    let columns = &vanilla.replica_column_proofs;
    let position = |path: &MerkleProof| path.position() as u32;
    columns.drg_parents.iter().chain(&columns.exp_parents).map(|c| position(&c.inclusion_proof)).collect()
}

fn decide(bytes: u64, candidates: &[SealProof], fitting: &[SealProof]) -> Result<SealProof> {
    let names = |list: &[SealProof]| list.iter().map(|p| proof_name(*p)).collect::<Vec<_>>().join(", ");
    match fitting {
        [proof] => Ok(*proof),
        [] => fail!(
            Fault::Input,
            "the file carries no proof type, and neither its challenges nor its replica_id fit one of {}; give --registered-proof, \
             one of {}",
            sector_size_name(bytes),
            names(candidates)
        ),
        several => fail!(
            Fault::Input,
            "the file carries no proof type, and {} of {} fit it; give --registered-proof, one of {}",
            several.len(),
            sector_size_name(bytes),
            names(several)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguity_names_flag_and_candidates() {
        let all = proofs_of_size(2048);
        assert_eq!(decide(2048, &all, &all[1..2]).unwrap(), SealProof::StackedDrg2KiBV1_1);
        for fitting in [&all[..0], &all[..2]] {
            let e = decide(2048, &all, fitting).unwrap_err();
            assert_eq!(e.fault(), Fault::Input);
            for part in ["--registered-proof", "StackedDrg2KiBV1,", "StackedDrg2KiBV1_1"] {
                assert!(e.to_string().contains(part), "{e}");
            }
        }
    }

    #[test]
    fn non_interactive_counts_are_refused() {
        for (bytes, partitions) in [(2048, 13), (1 << 35, 126)] {
            let e = refuse_non_interactive(bytes, partitions).unwrap_err();
            assert!(e.to_string().contains("non-interactive"), "{e}");
        }
        refuse_non_interactive(2048, 1).unwrap();
        refuse_non_interactive(1 << 35, 10).unwrap();
    }
}
