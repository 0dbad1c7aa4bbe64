//! A seal proof type set up: its shape, challenges, circuits, public inputs and parameter names.

use blstrs::Scalar as Fr;
use filecoin_hashers::{poseidon::PoseidonHasher, sha256::Sha256Domain};
use filecoin_proofs::{
    constants::{DefaultPieceHasher, SectorShapeBase, SectorShapeSub8, SectorShapeTop2},
    parameters::setup_params,
    types::{MerkleTreeTrait, PoRepConfig},
};
use rayon::prelude::*;
use storage_proofs_core::{
    compound_proof::{self, CompoundProof},
    drgraph::Graph,
    parameter_cache::{metadata_id, parameter_id, verifying_key_id, CacheableParameters},
};
use storage_proofs_porep::stacked::{PublicParams, StackedCircuit, StackedCompound, StackedDrg, Tau};

use super::{
    check::{self, Inputs},
    hash::field_element,
    proof_type::{is_non_interactive, non_interactive_message, proof_name, sector_bytes, sector_size_name},
    raw::{challenge_to_raw, ChallengeProof},
    CircuitIdentity, Partition, PartitionCircuit, SealProof, Statement, TreeDomain, VanillaProofs,
};
use crate::{
    error::{Fault, OrFault, Result},
    fail,
};

type Compound<Tree> = StackedCompound<Tree, DefaultPieceHasher>;
type Scheme<Tree> = StackedDrg<'static, Tree, DefaultPieceHasher>;
type TreeCircuit<Tree> = StackedCircuit<Tree, DefaultPieceHasher>;

/// Public parameters of one seal proof type, set up once and shared by all its partitions.
pub struct PoRep {
    proof: SealProof,
    partitions: usize,
    params: Params,
}

enum Params {
    Base(PublicParams<SectorShapeBase>),
    Sub8(PublicParams<SectorShapeSub8>),
    Top2(PublicParams<SectorShapeTop2>),
}

/// Counts that a C1 output of a proof type must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub partitions: usize,
    pub challenges_per_partition: usize,
    pub layers: usize,
    /// Levels of tree D, all binary; the sector has two to this power nodes.
    pub data_levels: usize,
    /// Levels of arity 8 of each lowest tree C and R.
    pub base_levels: usize,
    /// Arity of the level that joins those trees, 0 for none.
    pub sub_arity: usize,
    /// Arity of the level above, 0 for none.
    pub top_arity: usize,
    /// Parents of a node within its layer.
    pub drg_parents: usize,
    /// Parents of a node in the layer before.
    pub exp_parents: usize,
}

impl Shape {
    /// What public input `i` of a partition is, ONE not counted; in the order of [`PoRep::public_inputs`]. Where there are more
    /// than the statement's own they are positions, as the challenges decide them.
    pub fn public_input_name(&self, i: usize) -> String {
        if let Some(name) = ["replica_id", "comm_d", "comm_r"].get(i) {
            return (*name).into();
        }
        let (drg, exp) = (self.drg_parents, self.exp_parents);
        let (challenge, own) = ((i - 3) / (drg + exp + 4), (i - 3) % (drg + exp + 4));
        let what = match own.checked_sub(1) {
            None => "comm_d_proofs, its leaf".into(),
            Some(j) if j < drg => format!("replica_column_proofs.drg_parents[{j}], its leaf"),
            Some(j) if j < drg + exp => format!("replica_column_proofs.exp_parents[{}], its leaf", j - drg),
            Some(j) if j == drg + exp => "labeling_proofs, the node".into(),
            Some(j) if j == drg + exp + 1 => "comm_r_last_proof, its leaf".into(),
            Some(_) => "replica_column_proofs.c_x, its leaf".to_owned(),
        };
        format!("challenge {challenge}: {what}")
    }
}

/// Binds the public parameters, whatever their tree shape.
macro_rules! with_params {
    ($porep:expr, $params:ident => $body:expr) => {
        match &$porep.params {
            Params::Base($params) => $body,
            Params::Sub8($params) => $body,
            Params::Top2($params) => $body,
        }
    };
}

/// The same for circuits, which come back in the variant of the shape.
macro_rules! each_shape {
    ($porep:expr, $params:ident => $body:expr) => {
        match &$porep.params {
            Params::Base($params) => PartitionCircuit::Base(Box::new($body)),
            Params::Sub8($params) => PartitionCircuit::Sub8(Box::new($body)),
            Params::Top2($params) => PartitionCircuit::Top2(Box::new($body)),
        }
    };
}

/// The same with the vanilla proofs, whose shape must be that of the parameters, and the constructor of its circuits.
macro_rules! with_vanilla {
    ($porep:expr, $vanilla:expr, ($params:ident, $proofs:ident, $wrap:ident) => $body:expr) => {
        match (&$porep.params, $vanilla) {
            (Params::Base($params), VanillaProofs::Base($proofs)) => {
                let $wrap = PartitionCircuit::Base;
                $body
            }
            (Params::Sub8($params), VanillaProofs::Sub8($proofs)) => {
                let $wrap = PartitionCircuit::Sub8;
                $body
            }
            (Params::Top2($params), VanillaProofs::Top2($proofs)) => {
                let $wrap = PartitionCircuit::Top2;
                $body
            }
            _ => fail!(Fault::Input, "the vanilla proofs are not of {}'s tree shape", proof_name($porep.proof)),
        }
    };
}

impl PoRep {
    /// Sets up graph and challenge counts; takes microseconds, also for 64 GiB, and touches no file.
    ///
    /// # Errors
    /// [`Fault::Input`] for a non-interactive proof type.
    pub fn new(proof: SealProof) -> Result<Self> {
        if is_non_interactive(proof) {
            fail!(Fault::Input, "{}", non_interactive_message(&proof_name(proof)));
        }
        let config = proof.as_v1_config();
        let params = match sector_bytes(proof).trailing_zeros() {
            36 => Params::Top2(setup(&config)?),
            35 => Params::Sub8(setup(&config)?),
            _ => Params::Base(setup(&config)?),
        };
        Ok(Self { proof, partitions: config.partitions.into(), params })
    }

    pub fn proof(&self) -> SealProof {
        self.proof
    }

    /// Bytes of a sector.
    pub fn sector_bytes(&self) -> u64 {
        sector_bytes(self.proof)
    }

    pub fn partitions(&self) -> usize {
        self.partitions
    }

    pub fn challenges_per_partition(&self) -> usize {
        with_params!(self, p => p.challenges.num_challenges_per_partition())
    }

    pub fn layers(&self) -> usize {
        with_params!(self, p => p.num_layers)
    }

    /// The counts that this proof type's C1 outputs must have.
    pub fn shape(&self) -> Shape {
        let data_levels = (self.sector_bytes() / 32).trailing_zeros() as usize;
        let (sub_arity, top_arity) = match self.params {
            Params::Base(_) => (0, 0),
            Params::Sub8(_) => (8, 0),
            Params::Top2(_) => (8, 2),
        };
        let upper_levels =
            [sub_arity, top_arity].iter().map(|a: &usize| a.max(&1).trailing_zeros() as usize).sum::<usize>();
        let (degree, drg_parents) = with_params!(self, p => (p.graph.degree(), p.graph.base_graph().degree()));
        Shape {
            partitions: self.partitions,
            challenges_per_partition: self.challenges_per_partition(),
            layers: self.layers(),
            data_levels,
            base_levels: (data_levels - upper_levels) / 3,
            sub_arity,
            top_arity,
            drg_parents,
            exp_parents: degree - drg_parents,
        }
    }

    /// The names of this circuit's parameter files.
    pub fn identity(&self) -> CircuitIdentity {
        let id = with_params!(self, p => cache_identifier(p));
        CircuitIdentity { params: parameter_id(&id), vk: verifying_key_id(&id), meta: metadata_id(&id) }
    }

    /// The challenged nodes of partition `k` (0-based), in the order of the vanilla proofs. Synthetic proof types need
    /// `statement.comm_r`, the others do not.
    pub fn challenges(&self, statement: &Statement, k: usize) -> Result<Vec<usize>> {
        self.check_partition_index(k)?;
        let inputs = self.inputs(statement)?;
        Ok(with_params!(self, p => inputs.challenges(&p.challenges, p.graph.size(), Some(k))))
    }

    /// The parents of a node: those in its own layer first, then those in the layer before.
    pub fn parents(&self, node: usize) -> Result<Vec<u32>> {
        with_params!(self, p => {
            let mut parents = vec![0; p.graph.degree()];
            p.graph.parents(node, &mut parents).or_fault(Fault::Internal, || format!("parents of node {node}"))?;
            Ok(parents)
        })
    }

    /// The circuit without a witness, for parameter generation and recording.
    pub fn blank(&self) -> PartitionCircuit {
        each_shape!(self, p => blank(p))
    }

    /// The circuit of partition `k` (0-based).
    ///
    /// # Errors
    /// [`Fault::Input`] where a partition is missing or its challenges do not open the same trees.
    pub fn circuit(&self, statement: &Statement, vanilla: &VanillaProofs, k: usize) -> Result<PartitionCircuit> {
        self.circuit_of(statement, vanilla, k, None)
    }

    /// The circuit of the first `challenges` challenges of partition `k`: what is common to all challenges comes first, then
    /// each challenge the same again, so a few tell of many.
    ///
    /// # Errors
    /// As [`PoRep::circuit`]; [`Fault::Input`] where there are fewer challenges.
    pub fn circuit_of_challenges(
        &self,
        statement: &Statement,
        vanilla: &VanillaProofs,
        k: usize,
        challenges: usize,
    ) -> Result<PartitionCircuit> {
        self.circuit_of(statement, vanilla, k, Some(challenges))
    }

    fn circuit_of(
        &self,
        statement: &Statement,
        vanilla: &VanillaProofs,
        k: usize,
        challenges: Option<usize>,
    ) -> Result<PartitionCircuit> {
        self.check_partition_index(k)?;
        let inputs = self.inputs(statement)?;
        with_vanilla!(self, vanilla, (params, proofs, wrap) => {
            let Some(partition) = proofs.get(k) else {
                fail!(Fault::Input, "partition {k} is missing: the file has {}", proofs.len());
            };
            let few = match challenges.map(|n| (n, partition.get(..n))) {
                None => None,
                Some((_, Some(few))) => Some(few.to_vec()),
                Some((n, None)) => fail!(Fault::Input, "partition {k} has {} challenges, expected {n}", partition.len()),
            };
            let message = || format!("circuit of partition {k}");
            let partition = few.as_ref().unwrap_or(partition);
            let circuit = Compound::circuit(&inputs, (), partition, params, Some(k)).or_fault(Fault::Input, message)?;
            Ok(wrap(Box::new(circuit)))
        })
    }

    /// The values of partition `k` (0-based) from which its witness can be generated without the circuit.
    ///
    /// # Errors
    /// [`Fault::Input`] naming partition, challenge and field where the vanilla proofs are not of this proof type's shape, or a
    /// node is no element of the field; as [`Partition::new`].
    pub fn partition(&self, statement: &Statement, vanilla: &VanillaProofs, k: usize) -> Result<Partition> {
        self.check_partition_index(k)?;
        let proofs: Vec<ChallengeProof> = with_vanilla!(self, vanilla, (_params, proofs, _wrap) => {
            let Some(partition) = proofs.get(k) else {
                fail!(Fault::Input, "partition {k} is missing: the file has {}", proofs.len());
            };
            let copy = |(i, p)| challenge_to_raw(p).map_err(|e| e.context(format!("partition {k}: challenge {i}")));
            partition.par_iter().enumerate().map(copy).collect::<Result<_>>()?
        });
        Partition::new(&self.shape(), statement, &proofs).map_err(|e| e.context(format!("partition {k}")))
    }

    /// Public inputs of partition `k`, without the leading ONE.
    pub fn public_inputs(&self, statement: &Statement, k: usize) -> Result<Vec<Fr>> {
        self.check_partition_index(k)?;
        let inputs = self.inputs(statement)?;
        with_params!(self, p => public_inputs(&inputs, p, k))
            .or_fault(Fault::Input, || format!("public inputs of partition {k}"))
    }

    /// Vanilla verification; names the partition, the challenge and the field that fails. The vanilla proofs must be
    /// structurally sound, as those of `c1::read` are.
    ///
    /// # Errors
    /// [`Fault::Input`] for the first failure in file order.
    pub fn check_vanilla(&self, statement: &Statement, vanilla: &VanillaProofs) -> Result<()> {
        let inputs = self.inputs(statement)?;
        with_vanilla!(self, vanilla, (params, proofs, _wrap) => {
            if proofs.len() != self.partitions {
                fail!(Fault::Input, "{} partitions, expected {}", proofs.len(), self.partitions);
            }
            check::check(params, &inputs, proofs)
        })
    }

    /// Vanilla verification of one partition alone.
    pub fn check_vanilla_partition(&self, statement: &Statement, vanilla: &VanillaProofs, k: usize) -> Result<()> {
        self.check_partition_index(k)?;
        let inputs = self.inputs(statement)?;
        with_vanilla!(self, vanilla, (params, proofs, _wrap) => {
            let Some(partition) = proofs.get(k) else {
                fail!(Fault::Input, "partition {k} is missing: the file has {}", proofs.len());
            };
            check::check_partition(params, &inputs, k, partition).map_err(|e| e.context(format!("partition {k}")))
        })
    }

    fn check_partition_index(&self, k: usize) -> Result<()> {
        if k >= self.partitions {
            let size = sector_size_name(self.sector_bytes());
            fail!(Fault::Internal, "partition {k} asked for; a sector of {size} has {}", self.partitions);
        }
        Ok(())
    }

    /// The statement as storage-proofs types it; every part that becomes a field element must be one.
    fn inputs(&self, statement: &Statement) -> Result<Inputs> {
        for (name, node) in
            [("comm_d", &statement.comm_d), ("comm_r", &statement.comm_r), ("replica_id", &statement.replica_id)]
        {
            field_element(node).map_err(|e| e.context(name))?;
        }
        Ok(Inputs {
            replica_id: TreeDomain::from(statement.replica_id),
            tau: Some(Tau { comm_d: Sha256Domain(statement.comm_d), comm_r: TreeDomain::from(statement.comm_r) }),
            k: None,
            seed: Some(statement.seed),
        })
    }
}

fn setup<Tree>(config: &PoRepConfig) -> Result<PublicParams<Tree>>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let message = || "setting up the proof type".to_string();
    let setup = compound_proof::SetupParams {
        vanilla_params: setup_params(config).or_fault(Fault::Internal, message)?,
        partitions: Some(config.partitions.into()),
        priority: false,
    };
    let params =
        <Compound<Tree> as CompoundProof<Scheme<Tree>, _>>::setup(&setup).or_fault(Fault::Internal, message)?;
    Ok(params.vanilla_params)
}

fn cache_identifier<Tree: 'static + MerkleTreeTrait>(params: &PublicParams<Tree>) -> String {
    <Compound<Tree> as CacheableParameters<TreeCircuit<Tree>, _>>::cache_identifier(params)
}

fn blank<Tree: 'static + MerkleTreeTrait>(params: &PublicParams<Tree>) -> TreeCircuit<Tree> {
    <Compound<Tree> as CompoundProof<Scheme<Tree>, _>>::blank_circuit(params)
}

fn public_inputs<Tree>(inputs: &Inputs, params: &PublicParams<Tree>, k: usize) -> anyhow::Result<Vec<Fr>>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    <Compound<Tree> as CompoundProof<Scheme<Tree>, _>>::generate_public_inputs(inputs, params, Some(k))
}
