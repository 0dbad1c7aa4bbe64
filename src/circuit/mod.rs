//! From a statement and its vanilla proofs to one circuit per partition; the only user of `storage-proofs-*`.

mod check;
pub mod hash;
pub mod limits;
mod partition;
mod porep;
pub mod proof_type;
pub mod raw;

use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use filecoin_hashers::{poseidon::PoseidonHasher, Hasher};
use filecoin_proofs::{
    constants::{DefaultPieceHasher, SectorShapeBase, SectorShapeSub8, SectorShapeTop2},
    types::VanillaSealProof,
};
use storage_proofs_porep::stacked::StackedCircuit;

pub use partition::Partition;
pub(crate) use partition::{Challenge, Level};
pub use porep::{PoRep, Shape};

/// Registered seal proof type, as filecoin-proofs-api names it.
pub use filecoin_proofs_api::RegisteredSealProof as SealProof;

/// A node of tree C or R as filecoin-hashers types it.
type TreeDomain = <PoseidonHasher as Hasher>::Domain;

/// What a PoRep proof speaks about: everything of a C1 output but the vanilla proofs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub proof: SealProof,
    /// Commitment to the replica: Poseidon of the roots of tree C and tree R.
    pub comm_r: [u8; 32],
    /// Root of tree D over the data.
    pub comm_d: [u8; 32],
    /// Follows from miner, sector number, ticket, comm_d and proof type.
    pub replica_id: [u8; 32],
    /// Randomness that picks the challenges.
    pub seed: [u8; 32],
    /// Randomness that went into replica_id.
    pub ticket: [u8; 32],
}

/// Vanilla proofs by partition, then challenge, for each of the three Merkle tree shapes.
pub enum VanillaProofs {
    /// 2 KiB, 8 MiB, 512 MiB.
    Base(Vec<Vec<VanillaSealProof<SectorShapeBase>>>),
    /// 32 GiB.
    Sub8(Vec<Vec<VanillaSealProof<SectorShapeSub8>>>),
    /// 64 GiB.
    Top2(Vec<Vec<VanillaSealProof<SectorShapeTop2>>>),
}

/// One partition's circuit, ready for synthesis; the variants are those of [`VanillaProofs`].
pub enum PartitionCircuit {
    Base(Box<StackedCircuit<SectorShapeBase, DefaultPieceHasher>>),
    Sub8(Box<StackedCircuit<SectorShapeSub8, DefaultPieceHasher>>),
    Top2(Box<StackedCircuit<SectorShapeTop2, DefaultPieceHasher>>),
}

impl Circuit<Fr> for PartitionCircuit {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            Self::Base(c) => c.synthesize(cs),
            Self::Sub8(c) => c.synthesize(cs),
            Self::Top2(c) => c.synthesize(cs),
        }
    }
}

/// File names of one circuit's parameters, e.g. `v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-<hash>.params`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitIdentity {
    pub params: String,
    pub vk: String,
    pub meta: String,
}
