//! Vanilla proofs with every field in the open.
//!
//! The types of storage-proofs hide most of their fields. These have the same fields in the same order, so both JSON and
//! bincode are theirs, and can be checked before anything is computed with them. Every node is 32 bytes, little-endian. Lists
//! longer than any legal one end deserialization (see [`super::limits`]).

use filecoin_hashers::{poseidon::PoseidonDomain, poseidon::PoseidonHasher, sha256::Sha256Domain, Hasher};
use filecoin_proofs::{
    constants::DefaultPieceHasher,
    types::{MerkleTreeTrait, VanillaSealProof},
};
use serde::{Deserialize, Serialize};
use storage_proofs_core::merkle::{BinaryMerkleTree, MerkleProof as TypedMerkleProof};
use storage_proofs_porep::stacked;

use super::{
    hash::TOTAL_PARENTS,
    limits::{at_most, DRG_PARENTS, EXP_PARENTS, LAYERS, LEVELS, SIBLINGS},
    SealProof, VanillaProofs,
};
use crate::{
    error::{Fault, OrFault, Result},
    fail,
};

/// One tree node or label.
pub type Node = [u8; 32];

/// Vanilla proofs by partition, then challenge; deserialize them with [`super::limits::proofs`].
pub type Proofs = Vec<Vec<ChallengeProof>>;

/// The vanilla proof of one challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChallengeProof {
    pub comm_d_proofs: MerkleProof,
    pub comm_r_last_proof: MerkleProof,
    pub replica_column_proofs: ReplicaColumnProof,
    /// By layer, layer 1 first.
    #[serde(deserialize_with = "at_most::<_, _, LAYERS>")]
    pub labeling_proofs: Vec<LabelingProof>,
    pub encoding_proof: LabelingProof,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MerkleProof {
    pub data: PathData,
}

/// A path through a plain tree, a tree of trees, or a tree of trees of trees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathData {
    Single(SingleProof),
    Sub(SubProof),
    Top(TopProof),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleProof {
    pub root: Node,
    pub leaf: Node,
    pub path: InclusionPath,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubProof {
    pub base_proof: InclusionPath,
    pub sub_proof: InclusionPath,
    pub root: Node,
    pub leaf: Node,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopProof {
    pub base_proof: InclusionPath,
    pub sub_proof: InclusionPath,
    pub top_proof: InclusionPath,
    pub root: Node,
    pub leaf: Node,
}

/// Levels from the leaf upwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InclusionPath {
    #[serde(deserialize_with = "at_most::<_, _, LEVELS>")]
    pub path: Vec<PathElement>,
}

/// The siblings on one level, in order, and the position among them of the node on the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathElement {
    #[serde(deserialize_with = "at_most::<_, _, SIBLINGS>")]
    pub hashes: Vec<Node>,
    pub index: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicaColumnProof {
    pub c_x: ColumnProof,
    #[serde(deserialize_with = "at_most::<_, _, DRG_PARENTS>")]
    pub drg_parents: Vec<ColumnProof>,
    #[serde(deserialize_with = "at_most::<_, _, EXP_PARENTS>")]
    pub exp_parents: Vec<ColumnProof>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnProof {
    pub column: Column,
    pub inclusion_proof: MerkleProof,
}

/// A node's labels, layer 1 first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub index: u32,
    #[serde(deserialize_with = "at_most::<_, _, LAYERS>")]
    pub rows: Vec<Node>,
    /// A marker without content: `null` in JSON, nothing in bincode.
    #[serde(default)]
    pub _h: (),
}

/// The preimage of one label; encoding proofs have the same fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelingProof {
    #[serde(deserialize_with = "at_most::<_, _, TOTAL_PARENTS>")]
    pub parents: Vec<Node>,
    pub layer_index: u32,
    pub node: u64,
}

/// A path as storage-proofs takes it: leaf, root, and each level's siblings and index.
type Parts<D> = (D, D, Vec<(Vec<D>, usize)>);

impl MerkleProof {
    /// The path in the form the given arities ask for (0 for none): `levels` from the leaf upwards, the sub tree's and the top
    /// tree's level last.
    pub fn from_levels(leaf: Node, root: Node, mut levels: Vec<PathElement>, sub: usize, top: usize) -> Self {
        let top_level = if top > 0 { levels.pop() } else { None };
        let sub_level = if sub > 0 { levels.pop() } else { None };
        let base_proof = InclusionPath { path: levels };
        let one = |level: PathElement| InclusionPath { path: vec![level] };
        let data = match (sub_level, top_level) {
            (Some(s), Some(t)) => {
                PathData::Top(TopProof { base_proof, sub_proof: one(s), top_proof: one(t), root, leaf })
            }
            (Some(s), None) => PathData::Sub(SubProof { base_proof, sub_proof: one(s), root, leaf }),
            _ => PathData::Single(SingleProof { root, leaf, path: base_proof }),
        };
        Self { data }
    }

    pub fn leaf(&self) -> &Node {
        match &self.data {
            PathData::Single(p) => &p.leaf,
            PathData::Sub(p) => &p.leaf,
            PathData::Top(p) => &p.leaf,
        }
    }

    pub fn root(&self) -> &Node {
        match &self.data {
            PathData::Single(p) => &p.root,
            PathData::Sub(p) => &p.root,
            PathData::Top(p) => &p.root,
        }
    }

    /// The path's sections by field name, from the leaf upwards.
    pub fn sections(&self) -> Vec<(&'static str, &[PathElement])> {
        match &self.data {
            PathData::Single(p) => vec![("Single.path", &p.path.path)],
            PathData::Sub(p) => vec![("Sub.base_proof", &p.base_proof.path), ("Sub.sub_proof", &p.sub_proof.path)],
            PathData::Top(p) => vec![
                ("Top.base_proof", &p.base_proof.path),
                ("Top.sub_proof", &p.sub_proof.path),
                ("Top.top_proof", &p.top_proof.path),
            ],
        }
    }

    /// Index of the leaf that the path leads from; every level must have `siblings + 1` children and an index below that.
    pub fn position(&self) -> u64 {
        let levels = self.sections().into_iter().flat_map(|(_, levels)| levels);
        let mut position = 0u64;
        let mut width = 1u64;
        for level in levels {
            position = position.wrapping_add(level.index.wrapping_mul(width));
            width = width.wrapping_mul(level.hashes.len() as u64 + 1);
        }
        position
    }

    /// The typed counterpart's parts: leaf, root, levels.
    fn into_parts<D: From<Node>>(self, sub: bool, top: bool) -> Result<Parts<D>> {
        let (leaf, root, levels) = match self.data {
            PathData::Single(p) if !sub && !top => (p.leaf, p.root, p.path.path),
            PathData::Sub(p) if sub && !top && p.sub_proof.path.len() == 1 => {
                (p.leaf, p.root, [p.base_proof.path, p.sub_proof.path].concat())
            }
            PathData::Top(p) if top && p.sub_proof.path.len() == 1 && p.top_proof.path.len() == 1 => {
                (p.leaf, p.root, [p.base_proof.path, p.sub_proof.path, p.top_proof.path].concat())
            }
            _ => fail!(Fault::Input, "a Merkle path has not the sections of its sector size"),
        };
        let typed = |e: PathElement| (e.hashes.into_iter().map(D::from).collect(), e.index as usize);
        Ok((leaf.into(), root.into(), levels.into_iter().map(typed).collect()))
    }
}

impl VanillaProofs {
    /// The typed vanilla proofs; `proofs` must have the structure of `proof` (see `c1`'s structural checks).
    ///
    /// # Errors
    /// [`Fault::Input`] where a path has not the sections of the sector size.
    pub fn from_raw(proof: SealProof, proofs: Proofs) -> Result<Self> {
        Ok(match super::proof_type::sector_bytes(proof).trailing_zeros() {
            36 => Self::Top2(typed(proofs, true, true)?),
            35 => Self::Sub8(typed(proofs, true, false)?),
            _ => Self::Base(typed(proofs, false, false)?),
        })
    }

    /// The same proofs with every field in the open; a copy.
    pub fn to_raw(&self) -> Result<Proofs> {
        match self {
            Self::Base(p) => to_raw(p),
            Self::Sub8(p) => to_raw(p),
            Self::Top2(p) => to_raw(p),
        }
    }
}

/// A typed proof, or any part of it, as its raw counterpart: both have the same bincode.
///
/// # Errors
/// [`Fault::Input`] for a list longer than any legal one (see [`super::limits`]).
pub(super) fn to_raw<T: Serialize, R: serde::de::DeserializeOwned>(typed: &T) -> Result<R> {
    let bytes = bincode::serialize(typed).or_fault(Fault::Internal, || "serializing a vanilla proof".into())?;
    bincode::deserialize(&bytes).or_fault(Fault::Input, || "copying a vanilla proof".into())
}

/// The same for a challenge's proof; an error names the field that is too long.
pub(super) fn challenge_to_raw<T>(proof: &VanillaSealProof<T>) -> Result<ChallengeProof>
where
    T: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    fn part<T: Serialize, R: serde::de::DeserializeOwned>(field: &str, typed: &T) -> Result<R> {
        to_raw(typed).map_err(|e| e.context(field))
    }
    fn each<T: Serialize, R: serde::de::DeserializeOwned>(field: &str, typed: &[T]) -> Result<Vec<R>> {
        typed.iter().enumerate().map(|(i, typed)| part(&format!("{field}[{i}]"), typed)).collect()
    }
    let columns = &proof.replica_column_proofs;
    Ok(ChallengeProof {
        comm_d_proofs: part("comm_d_proofs", &proof.comm_d_proofs)?,
        comm_r_last_proof: part("comm_r_last_proof", &proof.comm_r_last_proof)?,
        replica_column_proofs: ReplicaColumnProof {
            c_x: part("replica_column_proofs.c_x", &columns.c_x)?,
            drg_parents: each("replica_column_proofs.drg_parents", &columns.drg_parents)?,
            exp_parents: each("replica_column_proofs.exp_parents", &columns.exp_parents)?,
        },
        labeling_proofs: each("labeling_proofs", &proof.labeling_proofs)?,
        encoding_proof: part("encoding_proof", &proof.encoding_proof)?,
    })
}

type TreeProof<T> = TypedMerkleProof<
    PoseidonHasher,
    <T as MerkleTreeTrait>::Arity,
    <T as MerkleTreeTrait>::SubTreeArity,
    <T as MerkleTreeTrait>::TopTreeArity,
>;
type DataProof = <BinaryMerkleTree<DefaultPieceHasher> as MerkleTreeTrait>::Proof;

fn typed<T>(proofs: Proofs, sub: bool, top: bool) -> Result<Vec<Vec<VanillaSealProof<T>>>>
where
    T: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let partition = |p: Vec<ChallengeProof>| p.into_iter().map(|c| typed_challenge(c, sub, top)).collect();
    proofs.into_iter().map(partition).collect()
}

fn typed_challenge<T>(raw: ChallengeProof, sub: bool, top: bool) -> Result<VanillaSealProof<T>>
where
    T: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let path = |p: MerkleProof| -> Result<TreeProof<T>> {
        let (leaf, root, levels) = p.into_parts::<PoseidonDomain>(sub, top)?;
        Ok(TreeProof::<T>::from_parts(leaf, root, levels))
    };
    let column = |c: ColumnProof| -> Result<stacked::ColumnProof<TreeProof<T>>> {
        Ok(stacked::ColumnProof::new(c.column.index, domains(c.column.rows), path(c.inclusion_proof)?))
    };
    let columns = |c: Vec<ColumnProof>| c.into_iter().map(column).collect::<Result<Vec<_>>>();
    let (leaf, root, levels) = raw.comm_d_proofs.into_parts::<Sha256Domain>(false, false)?;
    let label = |l: LabelingProof| stacked::LabelingProof::new(l.layer_index, l.node, domains(l.parents));
    let encoding = raw.encoding_proof;
    Ok(stacked::Proof {
        comm_d_proofs: DataProof::from_parts(leaf, root, levels),
        comm_r_last_proof: path(raw.comm_r_last_proof)?,
        replica_column_proofs: stacked::ReplicaColumnProof {
            c_x: column(raw.replica_column_proofs.c_x)?,
            drg_parents: columns(raw.replica_column_proofs.drg_parents)?,
            exp_parents: columns(raw.replica_column_proofs.exp_parents)?,
        },
        labeling_proofs: raw.labeling_proofs.into_iter().map(label).collect(),
        encoding_proof: stacked::EncodingProof::new(encoding.layer_index, encoding.node, domains(encoding.parents)),
    })
}

fn domains<D: From<Node>>(nodes: Vec<Node>) -> Vec<D>
where
    PoseidonHasher: Hasher<Domain = D>,
{
    nodes.into_iter().map(D::from).collect()
}
