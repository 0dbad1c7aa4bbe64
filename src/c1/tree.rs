//! Merkle trees of sectors that nobody stores: only what a path can meet is kept.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::{
    circuit::{
        hash::{poseidon, sha256_pair},
        raw::{MerkleProof, Node, PathElement},
    },
    error::Result,
};

/// Binary SHA-256 tree over leaves that repeat with a period, a power of two. So every level repeats too.
pub(super) struct PeriodicTree {
    /// One period of each level, leaves first.
    levels: Vec<Vec<Node>>,
}

impl PeriodicTree {
    /// A tree of two to the power `height` leaves; the pattern's length must be a power of two, no more than that.
    pub fn new(pattern: Vec<Node>, height: usize) -> Self {
        debug_assert!(pattern.len().is_power_of_two() && pattern.len() <= 1 << height);
        let mut levels = vec![pattern];
        for _ in 0..height {
            let below = &levels[levels.len() - 1];
            let child = |i: usize| &below[i % below.len()];
            let width = below.len().div_ceil(2);
            levels.push((0..width).map(|i| sha256_pair(child(2 * i), child(2 * i + 1))).collect());
        }
        Self { levels }
    }

    pub fn root(&self) -> Node {
        self.node(self.levels.len() - 1, 0)
    }

    pub fn leaf(&self, index: usize) -> Node {
        self.node(0, index)
    }

    /// The path from a leaf.
    pub fn path(&self, leaf: usize) -> MerkleProof {
        let level = |height: usize| {
            let index = leaf >> height;
            PathElement { hashes: vec![self.node(height, index ^ 1)], index: (index & 1) as u64 }
        };
        let levels = (0..self.levels.len() - 1).map(level).collect();
        MerkleProof::from_levels(self.leaf(leaf), self.root(), levels, 0, 0)
    }

    fn node(&self, height: usize, index: usize) -> Node {
        let level = &self.levels[height];
        level[index % level.len()]
    }
}

/// Poseidon tree over a few given leaves, zero elsewhere.
pub(super) struct SparseTree {
    /// Children of a node per level, leaves first.
    arities: Vec<usize>,
    /// The nodes above given leaves, by level.
    levels: Vec<BTreeMap<usize, Node>>,
    /// The node above leaves that are all zero, by level.
    defaults: Vec<Node>,
    sub_arity: usize,
    top_arity: usize,
}

impl SparseTree {
    /// A tree of `base_levels` levels of arity 8, below levels of the sub and the top arity where these are not 0.
    pub fn new(leaves: BTreeMap<usize, Node>, base_levels: usize, sub_arity: usize, top_arity: usize) -> Result<Self> {
        let mut arities = vec![8; base_levels];
        arities.extend([sub_arity, top_arity].into_iter().filter(|a| *a > 0));
        let mut tree = Self { arities, levels: vec![leaves], defaults: vec![[0; 32]], sub_arity, top_arity };
        for height in 0..tree.arities.len() {
            let arity = tree.arities[height];
            let parents: BTreeSet<usize> = tree.levels[height].keys().map(|i| i / arity).collect();
            let hash = |parent: usize| -> Result<(usize, Node)> {
                let children: Vec<Node> = (0..arity).map(|i| tree.node(height, parent * arity + i)).collect();
                Ok((parent, poseidon(&children)?))
            };
            let level = parents.into_par_iter().map(hash).collect::<Result<_>>()?;
            let default = poseidon(&vec![tree.defaults[height]; arity])?;
            tree.levels.push(level);
            tree.defaults.push(default);
        }
        Ok(tree)
    }

    pub fn root(&self) -> Node {
        self.node(self.arities.len(), 0)
    }

    /// The path from a leaf.
    pub fn path(&self, leaf: usize) -> MerkleProof {
        let mut index = leaf;
        let mut levels = Vec::with_capacity(self.arities.len());
        for (height, arity) in self.arities.iter().enumerate() {
            let (first, position) = (index - index % arity, index % arity);
            let siblings = (0..*arity).filter(|i| *i != position).map(|i| self.node(height, first + i)).collect();
            levels.push(PathElement { hashes: siblings, index: position as u64 });
            index /= arity;
        }
        MerkleProof::from_levels(self.node(0, leaf), self.root(), levels, self.sub_arity, self.top_arity)
    }

    fn node(&self, height: usize, index: usize) -> Node {
        *self.levels[height].get(&index).unwrap_or(&self.defaults[height])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root a path leads to.
    fn climb(path: &MerkleProof, hash: impl Fn(&[Node]) -> Node) -> Node {
        let levels = path.sections().into_iter().flat_map(|(_, levels)| levels);
        levels.fold(*path.leaf(), |node, level| {
            let mut children = level.hashes.clone();
            children.insert(level.index as usize, node);
            hash(&children)
        })
    }

    #[test]
    fn periodic_trees_equal_full_ones() {
        let pattern: Vec<Node> = (1..=4).map(|i| [i; 32]).collect();
        let tree = PeriodicTree::new(pattern.clone(), 4);
        let mut level: Vec<Node> = (0..16).map(|i| pattern[i % 4]).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| sha256_pair(&pair[0], &pair[1])).collect();
        }
        assert_eq!(tree.root(), level[0]);
        for leaf in 0..16 {
            let path = tree.path(leaf);
            assert_eq!(path.position(), leaf as u64);
            assert_eq!(climb(&path, |c| sha256_pair(&c[0], &c[1])), tree.root());
        }
    }

    #[test]
    fn sparse_trees_lead_to_their_root() {
        for (sub, top, leaves) in [(0, 0, 64), (8, 0, 512), (8, 2, 1024)] {
            let given = BTreeMap::from([(0, [1; 32]), (5, [2; 32]), (leaves - 1, [3; 32])]);
            let tree = SparseTree::new(given, 2, sub, top).unwrap();
            for leaf in [0, 1, 5, 63, leaves - 1] {
                let path = tree.path(leaf);
                assert_eq!(path.position(), leaf as u64);
                assert_eq!(climb(&path, |c| poseidon(c).unwrap()), tree.root());
            }
        }
    }
}
