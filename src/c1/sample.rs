//! Fabricated C1 outputs: satisfying ones, of any sector size, in about a second and without sealing.
//!
//! A sector's challenges follow from replica_id and seed, and whoever fabricates chooses both. So only what the challenges
//! touch has to exist: random labels for the parents, real labels for the challenged nodes computed from them, and trees
//! that are zero elsewhere. The result passes vanilla verification and satisfies the production circuit, and proves
//! nothing about storage: on chain the seed comes from a beacon, after the commitment.

use std::collections::BTreeMap;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

use super::{
    prover_id,
    tree::{PeriodicTree, SparseTree},
    Format, C1,
};
use crate::{
    circuit::{
        hash::{column_hash, encode, label, poseidon, replica_id, TOTAL_PARENTS},
        proof_type::{is_synthetic, proof_name},
        raw::{ChallengeProof, Column, ColumnProof, LabelingProof, Node, ReplicaColumnProof},
        PoRep, SealProof, Shape, Statement, VanillaProofs,
    },
    error::{Fault, Result},
    fail,
};

/// Nodes of random data after which it repeats: all of a 2 KiB sector, and small enough to keep every level of tree D.
const DATA_PERIOD: usize = 64;

/// The sector's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleData {
    #[default]
    Zero,
    /// Random nodes, repeating after 2 KiB.
    Random,
}

/// What a fabricated sector is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleOptions {
    /// Actor id of the miner.
    pub miner: u64,
    pub sector: u64,
    /// Everything random follows from this number: same options, same file.
    pub seed: u64,
    pub data: SampleData,
}

impl Default for SampleOptions {
    /// Sector 1 of t01000, zero data, seed 1: the committed sample.
    fn default() -> Self {
        Self { miner: 1000, sector: 1, seed: 1, data: SampleData::Zero }
    }
}

/// Fabricates a C1 output of the proof type.
///
/// # Errors
/// [`Fault::Usage`] for synthetic proof types, whose challenges depend on comm_r, and so on what they select.
pub fn sample(proof: SealProof, options: &SampleOptions) -> Result<C1> {
    if is_synthetic(proof) {
        fail!(
            Fault::Usage,
            "{} cannot be fabricated: synthetic challenges depend on comm_r, which depends on the labels of the challenged nodes; \
             `--sealed` really seals one of 2KiB or 8MiB",
            proof_name(proof)
        );
    }
    let porep = PoRep::new(proof)?;
    let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
    let (ticket, seed) = (random_node(&mut rng), random_node(&mut rng));
    let pattern = match options.data {
        SampleData::Zero => vec![[0; 32]],
        SampleData::Random => (0..DATA_PERIOD).map(|_| random_node(&mut rng)).collect(),
    };
    let tree_d = PeriodicTree::new(pattern, porep.shape().data_levels);
    let comm_d = tree_d.root();
    let replica_id = replica_id(proof, &prover_id(options.miner), options.sector, &ticket, &comm_d);
    let mut statement = Statement { proof, comm_r: [0; 32], comm_d, replica_id, seed, ticket };
    let (proofs, comm_r) = Sector::new(&porep, &statement, tree_d, rng)?.prove()?;
    statement.comm_r = comm_r;
    let vanilla = VanillaProofs::from_raw(proof, proofs)?;
    Ok(C1 { statement, vanilla, format: Format::Json, miner: Some(options.miner), sector: Some(options.sector) })
}

/// The part of a sector that its challenges touch.
struct Sector {
    shape: Shape,
    /// By partition, in the order of the proofs.
    challenges: Vec<Vec<usize>>,
    /// Parents of each challenged node: drg, then exp.
    parents: BTreeMap<usize, Vec<usize>>,
    /// Labels of challenged nodes and parents, layer 1 first.
    labels: BTreeMap<usize, Vec<Node>>,
    /// The preimages of the challenged nodes' labels, layer 1 first.
    label_parents: BTreeMap<usize, Vec<Vec<Node>>>,
    tree_d: PeriodicTree,
}

impl Sector {
    fn new(porep: &PoRep, statement: &Statement, tree_d: PeriodicTree, mut rng: ChaCha20Rng) -> Result<Self> {
        let shape = porep.shape();
        let challenges: Vec<Vec<usize>> =
            (0..shape.partitions).map(|k| porep.challenges(statement, k)).collect::<Result<_>>()?;
        let mut parents = BTreeMap::new();
        for node in challenges.iter().flatten() {
            parents.insert(*node, porep.parents(*node)?.into_iter().map(|p| p as usize).collect::<Vec<_>>());
        }
        let mut labels: BTreeMap<usize, Vec<Node>> = parents.keys().map(|node| (*node, Vec::new())).collect();
        for parent in parents.values().flatten() {
            labels.entry(*parent).or_insert_with(|| (0..shape.layers).map(|_| random_node(&mut rng)).collect());
        }
        let mut sector = Self { shape, challenges, parents, labels, label_parents: BTreeMap::new(), tree_d };
        sector.label_challenged_nodes(&statement.replica_id);
        Ok(sector)
    }

    /// Layer by layer, nodes in increasing order: a parent may itself be challenged, and its label must be there first.
    fn label_challenged_nodes(&mut self, replica_id: &Node) {
        for layer in 1..=self.shape.layers {
            for (node, parents) in &self.parents {
                let (drg, exp) = parents.split_at(self.shape.drg_parents);
                let mut preimage: Vec<Node> = drg.iter().map(|p| self.labels[p][layer - 1]).collect();
                if layer > 1 {
                    preimage.extend(exp.iter().map(|p| self.labels[p][layer - 2]));
                }
                let preimage: Vec<Node> = preimage.iter().copied().cycle().take(TOTAL_PARENTS).collect();
                let label = label(replica_id, layer as u32, *node as u64, &preimage);
                self.labels.entry(*node).or_default().push(label);
                self.label_parents.entry(*node).or_default().push(preimage);
            }
        }
    }

    /// All vanilla proofs, and comm_r.
    fn prove(&self) -> Result<(Vec<Vec<ChallengeProof>>, Node)> {
        let hashes = self.labels.par_iter().map(|(node, rows)| Ok((*node, column_hash(rows)?)));
        let tree_c = self.tree(hashes.collect::<Result<_>>()?)?;
        let encoded =
            |node: &usize| Ok((*node, encode(&self.labels[node][self.shape.layers - 1], &self.tree_d.leaf(*node))?));
        let tree_r = self.tree(self.parents.keys().map(encoded).collect::<Result<_>>()?)?;
        let comm_r = poseidon(&[tree_c.root(), tree_r.root()])?;
        let partition = |nodes: &Vec<usize>| nodes.iter().map(|node| self.challenge(*node, &tree_c, &tree_r)).collect();
        Ok((self.challenges.iter().map(partition).collect(), comm_r))
    }

    fn tree(&self, leaves: BTreeMap<usize, Node>) -> Result<SparseTree> {
        SparseTree::new(leaves, self.shape.base_levels, self.shape.sub_arity, self.shape.top_arity)
    }

    fn challenge(&self, node: usize, tree_c: &SparseTree, tree_r: &SparseTree) -> ChallengeProof {
        let column = |node: usize| ColumnProof {
            column: Column { index: node as u32, rows: self.labels[&node].clone(), _h: () },
            inclusion_proof: tree_c.path(node),
        };
        let (drg, exp) = self.parents[&node].split_at(self.shape.drg_parents);
        let labeling = |(i, parents): (usize, &Vec<Node>)| LabelingProof {
            parents: parents.clone(),
            layer_index: i as u32 + 1,
            node: node as u64,
        };
        let labeling_proofs: Vec<_> = self.label_parents[&node].iter().enumerate().map(labeling).collect();
        ChallengeProof {
            comm_d_proofs: self.tree_d.path(node),
            comm_r_last_proof: tree_r.path(node),
            replica_column_proofs: ReplicaColumnProof {
                c_x: column(node),
                drg_parents: drg.iter().map(|p| column(*p)).collect(),
                exp_parents: exp.iter().map(|p| column(*p)).collect(),
            },
            encoding_proof: labeling_proofs[self.shape.layers - 1].clone(),
            labeling_proofs,
        }
    }
}

/// 254 random bits: a field element, as labels, data nodes and beacon values cut to size are.
fn random_node(rng: &mut impl RngCore) -> Node {
    let mut node = [0; 32];
    rng.fill_bytes(&mut node);
    node[31] &= 0x3f;
    node
}
