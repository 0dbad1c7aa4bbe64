//! One partition's vanilla proofs as plain values: what its witness is made from.
//!
//! Everything that has a count, a range or a form is checked on the way, against the [`Shape`]. A [`Partition`] can be made in no
//! other way, so whoever computes with one can rely on it: lists are as long as the shape says, positions are below the arity,
//! and what is an element of the field is one by its type.

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::{
    hash::field_element,
    raw::{ChallengeProof, ColumnProof, MerkleProof, Node, PathElement},
    Shape, Statement,
};
use crate::{
    error::{Error, Fault, Result},
    fail,
};

/// The values of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    pub(crate) shape: Shape,
    pub(crate) replica_id: Fr,
    pub(crate) comm_d: Fr,
    pub(crate) comm_r: Fr,
    /// Root of tree R.
    pub(crate) comm_r_last: Fr,
    /// Root of tree C.
    pub(crate) comm_c: Fr,
    pub(crate) challenges: Vec<Challenge>,
}

/// The values of one challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) node: u64,
    pub(crate) data_leaf: Fr,
    /// In tree D.
    pub(crate) data_path: Path,
    pub(crate) drg_parents: Vec<Column>,
    pub(crate) exp_parents: Vec<Column>,
    /// In tree R.
    pub(crate) replica_path: Path,
    /// Of the node's own column, in tree C.
    pub(crate) column_path: Path,
}

/// A parent's labels, layer 1 first, and the path of their hash in tree C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) rows: Vec<Fr>,
    pub(crate) path: Path,
}

/// Levels from the leaf upwards.
pub(crate) type Path = Vec<Level>;

/// One level: the siblings in order, and the position among them of the node on the path, at most their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) siblings: Vec<Fr>,
    pub(crate) position: usize,
}

impl Partition {
    /// Takes the values out of the vanilla proofs of one partition, which has `shape.challenges_per_partition` of them. Whether
    /// they hash to the commitments is not looked at: that is vanilla verification.
    ///
    /// # Errors
    /// [`Fault::Input`] naming challenge and field where a count, a position or a path's form is not the shape's, a node is not
    /// below the field's modulus, or the challenges open different trees.
    pub fn new(shape: &Shape, statement: &Statement, proofs: &[ChallengeProof]) -> Result<Self> {
        expect_count("challenges", proofs.len(), shape.challenges_per_partition)?;
        let Some(first) = proofs.first() else { fail!(Fault::Input, "no challenges") };
        let context = |i: usize, e: Error| e.context(format!("challenge {i}"));
        let challenges =
            proofs.par_iter().enumerate().map(|(i, p)| Challenge::new(shape, p).map_err(|e| context(i, e)));
        // Collected first: of several failures, the first in file order is the one reported.
        let challenges = challenges.collect::<Vec<Result<_>>>().into_iter().collect::<Result<_>>()?;
        for (i, proof) in proofs.iter().enumerate() {
            same_roots(first, proof).map_err(|e| context(i, e))?;
        }
        let comm_c =
            root("replica_column_proofs.c_x.inclusion_proof", &first.replica_column_proofs.c_x.inclusion_proof);
        Ok(Self {
            shape: *shape,
            replica_id: element("replica_id", &statement.replica_id)?,
            comm_d: element("comm_d", &statement.comm_d)?,
            comm_r: element("comm_r", &statement.comm_r)?,
            comm_r_last: root("comm_r_last_proof", &first.comm_r_last_proof).map_err(|e| context(0, e))?,
            comm_c: comm_c.map_err(|e| context(0, e))?,
            challenges,
        })
    }

    /// All values zero, all paths leftmost: what has the form of the shape, and no content.
    pub fn blank(shape: &Shape) -> Self {
        let path = |sections: &[Section]| {
            let levels = sections.iter().flat_map(|s| std::iter::repeat_n(s.arity, s.levels));
            levels.map(|arity| Level { siblings: vec![Fr::ZERO; arity - 1], position: 0 }).collect()
        };
        let (data, replica): (Path, Path) = (path(&data_sections(shape)), path(&replica_sections(shape)));
        let column = Column { rows: vec![Fr::ZERO; shape.layers], path: replica.clone() };
        let challenge = Challenge {
            node: 0,
            data_leaf: Fr::ZERO,
            data_path: data,
            drg_parents: vec![column.clone(); shape.drg_parents],
            exp_parents: vec![column; shape.exp_parents],
            replica_path: replica.clone(),
            column_path: replica,
        };
        let challenges = vec![challenge; shape.challenges_per_partition];
        let zero = Fr::ZERO;
        Self {
            shape: *shape,
            replica_id: zero,
            comm_d: zero,
            comm_r: zero,
            comm_r_last: zero,
            comm_c: zero,
            challenges,
        }
    }
}

impl Challenge {
    fn new(shape: &Shape, proof: &ChallengeProof) -> Result<Self> {
        let columns = &proof.replica_column_proofs;
        let replica = replica_sections(shape);
        expect_count("labeling_proofs", proof.labeling_proofs.len(), shape.layers)?;
        let Some(label) = proof.labeling_proofs.first() else { fail!(Fault::Input, "labeling_proofs: none") };
        Ok(Self {
            node: label.node,
            data_leaf: element("comm_d_proofs, leaf", proof.comm_d_proofs.leaf())?,
            data_path: path("comm_d_proofs", &proof.comm_d_proofs, &data_sections(shape))?,
            drg_parents: parents("drg_parents", &columns.drg_parents, shape.drg_parents, shape)?,
            exp_parents: parents("exp_parents", &columns.exp_parents, shape.exp_parents, shape)?,
            replica_path: path("comm_r_last_proof", &proof.comm_r_last_proof, &replica)?,
            column_path: path("replica_column_proofs.c_x.inclusion_proof", &columns.c_x.inclusion_proof, &replica)?,
        })
    }
}

/// A part of a path, by the name of its field.
struct Section {
    name: &'static str,
    levels: usize,
    arity: usize,
}

fn data_sections(shape: &Shape) -> Vec<Section> {
    vec![Section { name: "Single.path", levels: shape.data_levels, arity: 2 }]
}

/// The sections of a path in tree C or R, from the leaf upwards.
fn replica_sections(shape: &Shape) -> Vec<Section> {
    let names = match (shape.sub_arity, shape.top_arity) {
        (0, _) => ["Single.path", "", ""],
        (_, 0) => ["Sub.base_proof", "Sub.sub_proof", ""],
        _ => ["Top.base_proof", "Top.sub_proof", "Top.top_proof"],
    };
    let counts = [(shape.base_levels, 8), (1, shape.sub_arity), (1, shape.top_arity)];
    let sections = names.into_iter().zip(counts).map(|(name, (levels, arity))| Section { name, levels, arity });
    sections.filter(|s| !s.name.is_empty()).collect()
}

fn parents(name: &str, columns: &[ColumnProof], count: usize, shape: &Shape) -> Result<Vec<Column>> {
    expect_count(&format!("replica_column_proofs.{name}"), columns.len(), count)?;
    let column = |(i, column)| Column::new(&format!("replica_column_proofs.{name}[{i}]"), column, shape);
    columns.iter().enumerate().map(column).collect()
}

impl Column {
    fn new(field: &str, proof: &ColumnProof, shape: &Shape) -> Result<Self> {
        let rows = &proof.column.rows;
        expect_count(&format!("{field}.column.rows"), rows.len(), shape.layers)?;
        Ok(Self {
            rows: elements(|| format!("{field}.column.rows"), rows)?,
            path: path(&format!("{field}.inclusion_proof"), &proof.inclusion_proof, &replica_sections(shape))?,
        })
    }
}

fn path(field: &str, proof: &MerkleProof, expected: &[Section]) -> Result<Path> {
    let sections = proof.sections();
    let names = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    if !sections.iter().map(|(name, _)| *name).eq(expected.iter().map(|s| s.name)) {
        let (got, expected) = (names(&mut sections.iter().map(|s| s.0)), names(&mut expected.iter().map(|s| s.name)));
        fail!(Fault::Input, "{field}.data consists of {got}, expected {expected}");
    }
    let mut path = Vec::with_capacity(expected.iter().map(|s| s.levels).sum());
    for ((_, levels), section) in sections.iter().zip(expected) {
        let field = format!("{field}.data.{}", section.name);
        expect_count(&format!("{field}, levels"), levels.len(), section.levels)?;
        for (i, level) in levels.iter().enumerate() {
            path.push(Level::new(level, section.arity).map_err(|e| e.context(format!("{field}.path[{i}]")))?);
        }
    }
    Ok(path)
}

impl Level {
    fn new(level: &PathElement, arity: usize) -> Result<Self> {
        expect_count("sibling hashes", level.hashes.len(), arity - 1)?;
        if level.index >= arity as u64 {
            fail!(Fault::Input, "index is {}, expected one below {arity}", level.index);
        }
        Ok(Self { siblings: elements(|| "hashes".into(), &level.hashes)?, position: level.index as usize })
    }
}

/// The circuit has one comm_c and one comm_r_last for all challenges.
fn same_roots(first: &ChallengeProof, proof: &ChallengeProof) -> Result<()> {
    let [c, r] = ["replica_column_proofs.c_x.inclusion_proof", "comm_r_last_proof"];
    let roots = |p: &ChallengeProof| [*p.replica_column_proofs.c_x.inclusion_proof.root(), *p.comm_r_last_proof.root()];
    for ((field, got), expected) in [c, r].into_iter().zip(roots(proof)).zip(roots(first)) {
        if got != expected {
            fail!(
                Fault::Input,
                "{field}: root {} differs from challenge 0's {}",
                hex::encode(got),
                hex::encode(expected)
            );
        }
    }
    Ok(())
}

fn root(field: &str, proof: &MerkleProof) -> Result<Fr> {
    element(&format!("{field}, root"), proof.root())
}

fn element(field: &str, node: &Node) -> Result<Fr> {
    field_element(node).map_err(|e| e.context(field))
}

fn elements(field: impl Fn() -> String, nodes: &[Node]) -> Result<Vec<Fr>> {
    let element = |(i, node)| field_element(node).map_err(|e| e.context(format!("{}[{i}]", field())));
    nodes.iter().enumerate().map(element).collect()
}

fn expect_count(what: &str, got: usize, expected: usize) -> Result<()> {
    if got != expected {
        fail!(Fault::Input, "{what}: {got}, expected {expected}");
    }
    Ok(())
}
