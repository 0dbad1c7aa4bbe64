//! The hashes of a sealed sector on plain 32-byte nodes, as filecoin-proofs computes them.
//!
//! Poseidon takes field elements: a node that is not one is an error here, where filecoin-hashers would panic.

use blstrs::Scalar as Fr;
use ff::PrimeField;
use filecoin_hashers::{
    poseidon::{PoseidonDomain, PoseidonFunction, PoseidonHasher},
    HashFunction,
};
use sha2::{Digest, Sha256};
use storage_proofs_porep::stacked::{generate_replica_id, Column};

use super::{raw::Node, SealProof};
use crate::{
    error::{Fault, OrFault, Result},
    fail,
};

/// Parents in the preimage of a label: the 6 or 14 of a node, repeated.
pub use storage_proofs_porep::stacked::TOTAL_PARENTS;

/// Is the node, read little-endian, below the field's modulus?
pub fn in_field(node: &Node) -> bool {
    bool::from(Fr::from_repr(*node).is_some())
}

/// The node as a field element.
///
/// # Errors
/// [`Fault::Input`] where it is not below the modulus.
pub fn field_element(node: &Node) -> Result<Fr> {
    match Fr::from_repr_vartime(*node) {
        Some(element) => Ok(element),
        None => fail!(Fault::Input, "{} is not below the field's modulus", hex::encode(node)),
    }
}

/// Poseidon of 2 or 8 nodes: a level of tree C or R, or comm_r from its two roots.
pub fn poseidon(nodes: &[Node]) -> Result<Node> {
    if !matches!(nodes.len(), 2 | 8) {
        fail!(Fault::Internal, "Poseidon of {} nodes; trees have 2 or 8 children a node", nodes.len());
    }
    let mut bytes = Vec::with_capacity(nodes.len() * 32);
    for node in nodes {
        field_element(node)?;
        bytes.extend_from_slice(node);
    }
    Ok(node_of(&PoseidonFunction::hash(&bytes)))
}

/// SHA-256 of two nodes with the top two bits cleared: a level of tree D.
pub fn sha256_pair(left: &Node, right: &Node) -> Node {
    truncated(Sha256::new().chain_update(left).chain_update(right))
}

/// The label of a node on a layer (1-based), from its replica_id and the [`TOTAL_PARENTS`] parents' labels.
pub fn label(replica_id: &Node, layer: u32, node: u64, parents: &[Node]) -> Node {
    let mut head = [0u8; 64];
    head[..32].copy_from_slice(replica_id);
    head[32..36].copy_from_slice(&layer.to_be_bytes());
    head[36..44].copy_from_slice(&node.to_be_bytes());
    let mut hasher = Sha256::new().chain_update(head);
    parents.iter().for_each(|parent| hasher.update(parent));
    truncated(hasher)
}

/// The leaf of tree C over a node's labels, layer 1 first; 2 or 11 of them.
pub fn column_hash(rows: &[Node]) -> Result<Node> {
    if !matches!(rows.len(), 2 | 11) {
        fail!(Fault::Internal, "a column of {} labels; sectors have 2 or 11 layers", rows.len());
    }
    rows.iter().try_for_each(|row| field_element(row).map(|_| ()))?;
    let rows = rows.iter().copied().map(PoseidonDomain::from).collect();
    let column = Column::<PoseidonHasher>::new(0, rows).or_fault(Fault::Internal, || "a column".into())?;
    Ok(column.hash().to_repr())
}

/// The replica's node for a data node under a key: their sum in the field.
pub fn encode(key: &Node, data: &Node) -> Result<Node> {
    Ok((field_element(key)? + field_element(data)?).to_repr())
}

/// replica_id of a sector; `prover_id` as `c1::prover_id` makes it.
pub fn replica_id(proof: SealProof, prover_id: &Node, sector: u64, ticket: &Node, comm_d: &Node) -> Node {
    let porep_id = proof.as_v1_config().porep_id;
    node_of(&generate_replica_id::<PoseidonHasher, _>(prover_id, sector, ticket, comm_d, &porep_id))
}

pub(super) fn node_of(domain: &impl AsRef<[u8]>) -> Node {
    let mut node = [0u8; 32];
    node.copy_from_slice(domain.as_ref());
    node
}

fn truncated(hasher: Sha256) -> Node {
    let mut node: Node = hasher.finalize().into();
    node[31] &= 0x3f;
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use filecoin_hashers::sha256::{Sha256Domain, Sha256Function};

    const MODULUS_LOW: [u8; 4] = [1, 0, 0, 0];

    fn modulus() -> Node {
        let mut node = (-Fr::from(1u64)).to_repr();
        assert_eq!(node[..4], [0; 4]);
        node[..4].copy_from_slice(&MODULUS_LOW);
        node
    }

    #[test]
    fn the_modulus_is_the_first_node_outside_the_field() {
        let mut below = modulus();
        assert!(!in_field(&below));
        below[0] = 0;
        assert!(in_field(&below));
        assert!(!in_field(&[0xff; 32]));
        assert!(poseidon(&[[0; 32], modulus()]).is_err());
        assert!(column_hash(&[[0; 32], modulus()]).is_err());
        assert!(encode(&modulus(), &[0; 32]).is_err());
    }

    #[test]
    fn hashes_are_those_of_filecoin_hashers() {
        let (a, b) = ([7u8; 32], [9u8; 32]);
        let expected = Sha256Function::hash2(&Sha256Domain(a), &Sha256Domain(b));
        assert_eq!(sha256_pair(&a, &b), expected.0);
        let expected = PoseidonFunction::hash2(&a.into(), &b.into());
        assert_eq!(poseidon(&[a, b]).unwrap(), node_of(&expected));
        assert!(poseidon(&[a, b, a]).is_err());
        assert!(column_hash(&[a]).is_err());
    }
}
