//! Everything about vanilla proofs that can be checked without hashing: counts, lengths, ranges, positions, repetitions.
//!
//! After these checks neither vanilla verification nor the circuit can meet a shape or a value they would panic at.

use rayon::prelude::*;

use super::infer::Untyped;
use crate::{
    circuit::{
        hash::{in_field, TOTAL_PARENTS},
        raw::{ChallengeProof, ColumnProof, LabelingProof, MerkleProof, Node, PathElement},
        Shape,
    },
    error::{Error, Fault, Result},
    fail,
};

/// Checks the parts of the statement that have a range.
pub(super) fn check_statement(statement: &Untyped) -> Result<()> {
    let Untyped { comm_r, comm_d, replica_id, seed, .. } = statement;
    for (name, node) in [("comm_r", comm_r), ("comm_d", comm_d), ("seed", seed)] {
        if *node == [0; 32] {
            fail!(Fault::Input, "{name} is all zero");
        }
    }
    for (name, node) in [("comm_r", comm_r), ("comm_d", comm_d), ("replica_id", replica_id)] {
        check_node(name, node)?;
    }
    for (name, node) in [("comm_d", comm_d), ("replica_id", replica_id)] {
        if node[31] & 0xc0 != 0 {
            fail!(Fault::Input, "{name} {} is no truncated SHA-256: its top two bits are not zero", hex::encode(node));
        }
    }
    Ok(())
}

/// Checks all vanilla proofs; the first failure in file order is the one reported.
pub(super) fn check_proofs(shape: &Shape, proofs: &[Vec<ChallengeProof>]) -> Result<()> {
    check_count("partitions", proofs.len(), shape.partitions)?;
    for (k, partition) in proofs.iter().enumerate() {
        let count = check_count("challenges", partition.len(), shape.challenges_per_partition);
        count.map_err(|e| e.context(format!("partition {k}")))?;
        let context = |i: usize, e: Error| e.context(format!("partition {k}, challenge {i}"));
        let failure = partition
            .par_iter()
            .enumerate()
            .map(|(i, proof)| check_challenge(shape, proof).map_err(|e| context(i, e)))
            .find_first(Result::is_err);
        failure.unwrap_or(Ok(()))?;
    }
    Ok(())
}

fn check_challenge(shape: &Shape, proof: &ChallengeProof) -> Result<()> {
    let columns = &proof.replica_column_proofs;
    check_path("comm_d_proofs", &proof.comm_d_proofs, &[("Single.path", shape.data_levels, 2)])?;
    let sections = replica_sections(shape);
    check_path("comm_r_last_proof", &proof.comm_r_last_proof, &sections)?;
    check_column("replica_column_proofs.c_x", &columns.c_x, shape, &sections)?;
    for (name, list, expected) in [
        ("drg_parents", &columns.drg_parents, shape.drg_parents),
        ("exp_parents", &columns.exp_parents, shape.exp_parents),
    ] {
        check_count(&format!("replica_column_proofs.{name}"), list.len(), expected)?;
        for (i, column) in list.iter().enumerate() {
            check_column(&format!("replica_column_proofs.{name}[{i}]"), column, shape, &sections)?;
        }
    }
    check_same_node(proof)?;
    check_labels(shape, proof)
}

/// The sections of a path in tree C or R: field name, levels, arity.
fn replica_sections(shape: &Shape) -> Vec<(&'static str, usize, usize)> {
    match (shape.sub_arity, shape.top_arity) {
        (0, _) => vec![("Single.path", shape.base_levels, 8)],
        (sub, 0) => vec![("Sub.base_proof", shape.base_levels, 8), ("Sub.sub_proof", 1, sub)],
        (sub, top) => {
            vec![("Top.base_proof", shape.base_levels, 8), ("Top.sub_proof", 1, sub), ("Top.top_proof", 1, top)]
        }
    }
}

fn check_path(field: &str, proof: &MerkleProof, expected: &[(&str, usize, usize)]) -> Result<()> {
    let sections = proof.sections();
    let kind = |name: &str| name.split('.').next().unwrap_or_default().to_string();
    for ((name, levels), (expected_name, expected_levels, arity)) in sections.iter().zip(expected) {
        if name != expected_name || sections.len() != expected.len() {
            fail!(Fault::Input, "{field}.data is a {} proof, expected {}", kind(name), kind(expected_name));
        }
        let field = format!("{field}.data.{name}");
        check_count(&format!("{field}, levels"), levels.len(), *expected_levels)?;
        for (i, level) in levels.iter().enumerate() {
            check_level(&format!("{field}.path[{i}]"), level, *arity)?;
        }
    }
    check_node(&format!("{field}, leaf"), proof.leaf())?;
    check_node(&format!("{field}, root"), proof.root())
}

fn check_level(field: &str, level: &PathElement, arity: usize) -> Result<()> {
    check_count(&format!("{field}, sibling hashes"), level.hashes.len(), arity - 1)?;
    if level.index >= arity as u64 {
        fail!(Fault::Input, "{field}.index is {}, expected one below {arity}", level.index);
    }
    level.hashes.iter().enumerate().try_for_each(|(i, node)| check_indexed(&format!("{field}.hashes"), i, node))
}

fn check_column(field: &str, proof: &ColumnProof, shape: &Shape, sections: &[(&str, usize, usize)]) -> Result<()> {
    let rows = &proof.column.rows;
    check_count(&format!("{field}.column.rows"), rows.len(), shape.layers)?;
    rows.iter().enumerate().try_for_each(|(i, node)| check_indexed(&format!("{field}.column.rows"), i, node))?;
    let path = &proof.inclusion_proof;
    check_path(&format!("{field}.inclusion_proof"), path, sections)?;
    if path.position() != u64::from(proof.column.index) {
        fail!(
            Fault::Input,
            "{field}: column.index is {}, but inclusion_proof leads from leaf {}",
            proof.column.index,
            path.position()
        );
    }
    Ok(())
}

/// All paths of a challenge start at one node.
fn check_same_node(proof: &ChallengeProof) -> Result<()> {
    let node = u64::from(proof.replica_column_proofs.c_x.column.index);
    for (field, path) in [("comm_d_proofs", &proof.comm_d_proofs), ("comm_r_last_proof", &proof.comm_r_last_proof)] {
        if path.position() != node {
            fail!(
                Fault::Input,
                "{field} leads from leaf {}, but replica_column_proofs.c_x is of node {node}",
                path.position()
            );
        }
    }
    Ok(())
}

/// Labeling proofs repeat the parents' labels that the columns carry; the encoding proof repeats the last of them.
fn check_labels(shape: &Shape, proof: &ChallengeProof) -> Result<()> {
    check_count("labeling_proofs", proof.labeling_proofs.len(), shape.layers)?;
    for (i, label) in proof.labeling_proofs.iter().enumerate() {
        check_label(&format!("labeling_proofs[{i}]"), label, i + 1, proof)?;
    }
    check_label("encoding_proof", &proof.encoding_proof, shape.layers, proof)
}

fn check_label(field: &str, label: &LabelingProof, layer: usize, proof: &ChallengeProof) -> Result<()> {
    let columns = &proof.replica_column_proofs;
    let node = u64::from(columns.c_x.column.index);
    if label.layer_index as usize != layer {
        fail!(Fault::Input, "{field}.layer_index is {}, expected {layer}", label.layer_index);
    }
    if label.node != node {
        fail!(Fault::Input, "{field}.node is {}, but replica_column_proofs.c_x is of node {node}", label.node);
    }
    check_count(&format!("{field}.parents"), label.parents.len(), TOTAL_PARENTS)?;
    let drg = columns.drg_parents.iter().enumerate().map(|(i, c)| ("drg_parents", i, c, layer));
    let exp = columns.exp_parents.iter().enumerate().map(|(i, c)| ("exp_parents", i, c, layer - 1));
    let sources: Vec<_> = drg.chain(exp.filter(|(.., source)| *source > 0)).collect();
    for (i, (parent, (name, j, column, source))) in label.parents.iter().zip(sources.iter().cycle()).enumerate() {
        if column.column.rows.get(source - 1) != Some(parent) {
            fail!(
                Fault::Input,
                "{field}.parents[{i}] differs from the label it repeats, replica_column_proofs.{name}[{j}].column.rows[{}]",
                source - 1
            );
        }
    }
    Ok(())
}

fn check_count(what: &str, got: usize, expected: usize) -> Result<()> {
    if got != expected {
        fail!(Fault::Input, "{what}: {got}, expected {expected}");
    }
    Ok(())
}

fn check_indexed(field: &str, i: usize, node: &Node) -> Result<()> {
    if !in_field(node) {
        check_node(&format!("{field}[{i}]"), node)?;
    }
    Ok(())
}

fn check_node(field: &str, node: &Node) -> Result<()> {
    if !in_field(node) {
        fail!(Fault::Input, "{field}: {} is not below the field's modulus", hex::encode(node));
    }
    Ok(())
}
