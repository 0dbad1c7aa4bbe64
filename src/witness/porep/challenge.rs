//! The circuit's variables: a header, then one run for each challenge, in the order in which `StackedCircuit` of
//! storage-proofs-porep allocates them.

use blstrs::Scalar as Fr;
use ff::PrimeField;

use super::{
    label::LabelHash,
    merkle::{data_path, replica_path, to_bits, LevelHash, PairHash},
    poseidon::{self, Poseidon},
    sha256::node_words,
    sink::Sink,
};
use crate::circuit::{Challenge, Column, Partition, Shape};
use crate::error::{Fault, Result};
use crate::fail;

/// Public inputs of a challenge.
pub const INPUTS: usize = 18;

/// What the gadgets need, found once for a circuit.
pub struct Gadgets {
    pair: PairHash,
    level: LevelHash,
    column: ColumnHash,
    label: LabelHash,
}

/// Poseidon of a node's labels.
enum ColumnHash {
    Two(Poseidon<3>),
    Eleven(Box<Poseidon<12>>),
}

impl ColumnHash {
    fn hash(&self, rows: &[Fr], sink: &mut impl Sink) -> Fr {
        let rows = rows.iter().copied();
        match self {
            Self::Two(poseidon) => poseidon.hash(poseidon::state(rows), sink),
            Self::Eleven(poseidon) => poseidon.hash(poseidon::state(rows), sink),
        }
    }
}

impl Gadgets {
    /// # Errors
    /// [`Fault::Internal`] for a shape that is none of the registered proof types'.
    pub fn new(shape: &Shape) -> Result<Self> {
        let column = match shape.layers {
            2 => ColumnHash::Two(poseidon::of_two()),
            11 => ColumnHash::Eleven(Box::new(poseidon::of_eleven())),
            layers => fail!(Fault::Internal, "{layers} layers; witnesses are generated for 2 or 11"),
        };
        let parents = (shape.drg_parents, shape.exp_parents);
        if parents != (6, 8) {
            fail!(Fault::Internal, "{parents:?} parents of a node; witnesses are generated for 6 and 8");
        }
        let arities = (shape.sub_arity, shape.top_arity);
        if !matches!(arities, (0, 0) | (8, 0) | (8, 2)) {
            fail!(Fault::Internal, "upper levels of arity {arities:?}; witnesses are generated for 0, 2 and 8");
        }
        let level = LevelHash { two: poseidon::of_two(), eight: poseidon::of_eight() };
        Ok(Self { pair: PairHash::new(), level, column, label: LabelHash::new(shape.layers) })
    }

    /// What comes before the challenges: replica_id and its bits, the commitments, comm_r from its parts.
    pub fn header(&self, partition: &Partition, sink: &mut impl Sink) {
        sink.element(partition.replica_id);
        to_bits(partition.replica_id, sink);
        [partition.comm_d, partition.comm_r, partition.comm_r_last, partition.comm_c]
            .into_iter()
            .for_each(|commitment| sink.element(commitment));
        self.level.two.hash(poseidon::state([partition.comm_c, partition.comm_r_last]), sink);
    }

    /// One challenge; returns its public inputs.
    pub fn challenge(&self, replica_id: Fr, challenge: &Challenge, sink: &mut impl Sink) -> [u64; INPUTS] {
        sink.element(challenge.data_leaf);
        let mut inputs = [0; INPUTS];
        inputs[0] = data_path(&self.pair, challenge.data_leaf, &challenge.data_path, sink);
        let columns = challenge.drg_parents.iter().chain(&challenge.exp_parents);
        for (input, column) in inputs[1..15].iter_mut().zip(columns) {
            *input = self.parent(column, sink);
        }
        inputs[15] = challenge.node;
        sink.bits(challenge.node, 64);
        let labels = self.labels(replica_id, challenge, sink);
        // The key that encodes the node's data is its last label; there is one, since there are layers.
        let encoded = labels.last().copied().unwrap_or_default() + challenge.data_leaf;
        sink.element(encoded);
        inputs[16] = replica_path(&self.level, encoded, &challenge.replica_path, sink);
        let column = self.column.hash(&labels, sink);
        inputs[17] = replica_path(&self.level, column, &challenge.column_path, sink);
        inputs
    }

    /// A parent's labels, their hash, and its path in tree C.
    fn parent(&self, column: &Column, sink: &mut impl Sink) -> u64 {
        column.rows.iter().for_each(|row| sink.element(*row));
        let leaf = self.column.hash(&column.rows, sink);
        replica_path(&self.level, leaf, &column.path, sink)
    }

    /// The node's labels, layer 1 first; for each the bits of the parents' labels, then the hash. Exp parents are of the layer
    /// before, so the first has none.
    fn labels(&self, replica_id: Fr, challenge: &Challenge, sink: &mut impl Sink) -> Vec<Fr> {
        let replica_id = node_words(&replica_id.to_repr());
        let mut words = Vec::with_capacity(14);
        let label = |(i, layer): (usize, _)| {
            words.clear();
            let drg = challenge.drg_parents.iter().filter_map(|column: &Column| column.rows.get(i));
            let exp = challenge.exp_parents.iter().filter_map(|column| column.rows.get(i.checked_sub(1)?));
            words.extend(drg.chain(exp).map(|row| to_bits(*row, sink)));
            self.label.label(layer, &replica_id, challenge.node, &words, sink)
        };
        self.label.layers().enumerate().map(label).collect()
    }
}
