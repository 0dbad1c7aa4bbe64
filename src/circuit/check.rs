//! Vanilla verification, challenge by challenge, so that a failure can be named.
//!
//! Verdicts are those of `StackedDrg::verify_all_partitions`, and stricter in one point: that function compares the roots and
//! positions of the paths in tree D and tree R, but does not hash them; here `MerkleProofTrait::validate` does.

use filecoin_hashers::{poseidon::PoseidonHasher, sha256::Sha256Domain, HashFunction, Hasher};
use filecoin_proofs::{
    constants::DefaultPieceHasher,
    types::{MerkleTreeTrait, VanillaSealProof},
};
use rayon::prelude::*;
use storage_proofs_core::{drgraph::Graph, merkle::MerkleProofTrait};
use storage_proofs_porep::stacked::{ColumnProof, PublicInputs, PublicParams};

use super::{hash::node_of, raw, TreeDomain};
use crate::{
    error::{Error, Fault, OrFault, Result},
    fail,
};

pub(super) type Inputs = PublicInputs<TreeDomain, Sha256Domain>;

/// Checks all partitions; the first failure in file order is the one reported.
pub(super) fn check<Tree>(
    params: &PublicParams<Tree>,
    inputs: &Inputs,
    proofs: &[Vec<VanillaSealProof<Tree>>],
) -> Result<()>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    for (k, partition) in proofs.iter().enumerate() {
        check_partition(params, inputs, k, partition).map_err(|e| e.context(format!("partition {k}")))?;
    }
    Ok(())
}

/// Checks one partition, its challenges in parallel.
pub(super) fn check_partition<Tree>(
    params: &PublicParams<Tree>,
    inputs: &Inputs,
    k: usize,
    partition: &[VanillaSealProof<Tree>],
) -> Result<()>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let challenges = inputs.challenges(&params.challenges, params.graph.size(), Some(k));
    if partition.len() != challenges.len() {
        fail!(Fault::Input, "{} challenges, expected {}", partition.len(), challenges.len());
    }
    let failure = partition
        .par_iter()
        .zip(&challenges)
        .enumerate()
        .map(|(i, (proof, node))| {
            let context = |e: Error| e.context(format!("challenge {i} (node {node})"));
            Challenge { params, inputs, node: *node, proof }.check().map_err(context)
        })
        .find_first(Result::is_err);
    failure.unwrap_or(Ok(()))?;
    check_roots(inputs, partition)
}

/// All challenges of a partition must open the same trees, and those trees must make comm_r.
fn check_roots<Tree>(inputs: &Inputs, partition: &[VanillaSealProof<Tree>]) -> Result<()>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let (Some(first), Some(tau)) = (partition.first(), &inputs.tau) else {
        fail!(Fault::Input, "no challenges");
    };
    let (comm_c, comm_r_last) = (first.comm_c(), first.comm_r_last());
    for (i, proof) in partition.iter().enumerate() {
        if proof.comm_c() != comm_c {
            fail!(
                Fault::Input,
                "challenge {i}, replica_column_proofs.c_x.inclusion_proof: root {} differs from challenge 0's {}",
                hex::encode(proof.comm_c()),
                hex::encode(comm_c)
            );
        }
        if proof.comm_r_last() != comm_r_last {
            fail!(
                Fault::Input,
                "challenge {i}, comm_r_last_proof: root {} differs from challenge 0's {}",
                hex::encode(proof.comm_r_last()),
                hex::encode(comm_r_last)
            );
        }
    }
    let comm_r = <PoseidonHasher as Hasher>::Function::hash2(&comm_c, &comm_r_last);
    if comm_r != tau.comm_r {
        fail!(
            Fault::Input,
            "comm_r: the roots of the paths (c_x, comm_r_last_proof) make {}, the file says {}",
            hex::encode(comm_r),
            hex::encode(tau.comm_r)
        );
    }
    Ok(())
}

/// One challenge with what it is checked against.
struct Challenge<'a, Tree: 'static + MerkleTreeTrait> {
    params: &'a PublicParams<Tree>,
    inputs: &'a Inputs,
    node: usize,
    proof: &'a VanillaSealProof<Tree>,
}

impl<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>> Challenge<'_, Tree> {
    fn check(&self) -> Result<()> {
        self.check_data()?;
        self.check_columns()?;
        check_path("comm_r_last_proof", &self.proof.comm_r_last_proof, self.node)?;
        self.check_labels()?;
        self.check_encoding()
    }

    fn check_data(&self) -> Result<()> {
        let path = &self.proof.comm_d_proofs;
        check_path("comm_d_proofs", path, self.node)?;
        let comm_d = self.inputs.tau.as_ref().map(|tau| tau.comm_d);
        if Some(path.root()) != comm_d {
            fail!(
                Fault::Input,
                "comm_d_proofs: root {} is not comm_d {}",
                hex::encode(path.root()),
                hex::encode(comm_d.unwrap_or_default())
            );
        }
        Ok(())
    }

    fn check_columns(&self) -> Result<()> {
        let graph = &self.params.graph;
        let mut parents = vec![0; graph.degree()];
        let message = || format!("parents of node {}", self.node);
        graph.parents(self.node, &mut parents).or_fault(Fault::Internal, message)?;
        let columns = &self.proof.replica_column_proofs;
        let comm_c = columns.c_x.root();
        check_column("c_x".into(), &columns.c_x, self.node as u32, &comm_c)?;
        let (drg, exp) = parents.split_at(graph.base_graph().degree());
        for (name, proofs, nodes) in
            [("drg_parents", &columns.drg_parents, drg), ("exp_parents", &columns.exp_parents, exp)]
        {
            for (i, (proof, node)) in proofs.iter().zip(nodes).enumerate() {
                check_column(format!("{name}[{i}]"), proof, *node, &comm_c)?;
            }
        }
        Ok(())
    }

    fn check_labels(&self) -> Result<()> {
        let column = &self.proof.replica_column_proofs.c_x;
        for layer in 1..=self.params.num_layers {
            let expected = column.get_node_at_layer(layer).or_fault(Fault::Internal, || format!("layer {layer}"))?;
            match self.proof.labeling_proofs.get(layer - 1) {
                Some(proof) if proof.verify(&self.inputs.replica_id, expected) => {}
                _ => fail!(
                    Fault::Input,
                    "labeling_proofs[{i}]: replica_id, layer, node and parents do not hash to the label \
                     replica_column_proofs.c_x.column.rows[{i}]",
                    i = layer - 1
                ),
            }
        }
        Ok(())
    }

    fn check_encoding(&self) -> Result<()> {
        let (replica, data) = (self.proof.comm_r_last_proof.leaf(), self.proof.comm_d_proofs.leaf());
        if !self.proof.encoding_proof.verify::<DefaultPieceHasher>(&self.inputs.replica_id, &replica, &data) {
            fail!(
                Fault::Input,
                "encoding_proof: its key does not encode the leaf of comm_d_proofs to the leaf of comm_r_last_proof"
            );
        }
        Ok(())
    }
}

fn check_path(field: &str, path: &impl MerkleProofTrait, node: usize) -> Result<()> {
    if path.path_index() != node {
        fail!(Fault::Input, "{field}: the path leads from leaf {}, the challenge is node {node}", path.path_index());
    }
    if !path.validate(node) {
        fail!(
            Fault::Input,
            "{field}: leaf and siblings do not hash to the root {}",
            hex::encode(node_of(&path.root()))
        );
    }
    Ok(())
}

fn check_column<P>(field: String, proof: &ColumnProof<P>, node: u32, comm_c: &TreeDomain) -> Result<()>
where
    P: MerkleProofTrait<Hasher = PoseidonHasher>,
{
    if proof.verify(node, comm_c) {
        return Ok(());
    }
    let reason = column_failure(proof, node, comm_c)?;
    fail!(Fault::Input, "replica_column_proofs.{field}.{reason}")
}

/// Why a column proof fails. Its path is private, so it is copied into the raw form, which only a failure pays for.
fn column_failure<P>(proof: &ColumnProof<P>, node: u32, comm_c: &TreeDomain) -> Result<String>
where
    P: MerkleProofTrait<Hasher = PoseidonHasher>,
{
    let copy: raw::ColumnProof = raw::to_raw(proof)?;
    let path = &copy.inclusion_proof;
    let leaf = node_of(&TreeDomain::from(proof.column_hash()));
    Ok(if path.position() != u64::from(node) {
        format!("inclusion_proof: the path leads from leaf {}, expected node {node}", path.position())
    } else if *path.leaf() != leaf {
        format!(
            "column: its rows hash to {}, the leaf of inclusion_proof is {}",
            hex::encode(leaf),
            hex::encode(path.leaf())
        )
    } else if *path.root() != node_of(comm_c) {
        format!(
            "inclusion_proof: root {} differs from c_x's {}",
            hex::encode(path.root()),
            hex::encode(node_of(comm_c))
        )
    } else {
        format!("inclusion_proof: leaf and siblings do not hash to the root {}", hex::encode(path.root()))
    })
}
