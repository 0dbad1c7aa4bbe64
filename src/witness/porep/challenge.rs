//! The circuit's variables: a header, then one run for each challenge, in the order in which `StackedCircuit` of
//! storage-proofs-porep allocates them.

use blstrs::Scalar as Fr;
use ff::PrimeField;

use super::{
    gadget::Gadget,
    hashes::{Eight, Hashes, Leaf, Source, Walk},
    label::LabelHash,
    merkle::{data_path, replica_path, to_bits, PairHash},
    sha256::node_words,
    sink::Sink,
};
use crate::circuit::{
    hash::{label, TOTAL_PARENTS},
    Challenge, Partition, Shape,
};
use crate::error::{Fault, Result};
use crate::fail;

/// Public inputs of a challenge.
pub const INPUTS: usize = 18;

/// Places among the challenge's walks of those after the 14 parents'.
const REPLICA_WALK: usize = 14;
const COLUMN_WALK: usize = 15;

/// What the gadgets need, found once for a circuit.
pub struct Gadgets {
    layers: usize,
    pair: PairHash,
    hashes: Hashes,
    label: LabelHash,
}

impl Gadgets {
    /// `lanes` is whether Poseidon may be computed in lanes.
    ///
    /// # Errors
    /// [`Fault::Internal`] for a shape that is none of the registered proof types'.
    pub fn new(shape: &Shape, lanes: bool) -> Result<Self> {
        let (layers, parents) = (shape.layers, (shape.drg_parents, shape.exp_parents));
        if !matches!(layers, 2 | 11) {
            fail!(Fault::Internal, "{layers} layers; witnesses are generated for 2 or 11");
        }
        if parents != (6, 8) {
            fail!(Fault::Internal, "{parents:?} parents of a node; witnesses are generated for 6 and 8");
        }
        let arities = (shape.sub_arity, shape.top_arity);
        if !matches!(arities, (0, 0) | (8, 0) | (8, 2)) {
            fail!(Fault::Internal, "upper levels of arity {arities:?}; witnesses are generated for 0, 2 and 8");
        }
        Ok(Self { layers, pair: PairHash::new(), hashes: Hashes::new(layers, lanes), label: LabelHash::new(layers) })
    }

    /// What comes before the challenges: replica_id and its bits, the commitments, comm_r from its parts.
    pub fn header(&self, partition: &Partition, sink: &mut impl Sink) {
        sink.element(partition.replica_id);
        to_bits(partition.replica_id, sink);
        [partition.comm_d, partition.comm_r, partition.comm_r_last, partition.comm_c]
            .into_iter()
            .for_each(|commitment| sink.element(commitment));
        self.hashes.hash(&[partition.comm_c, partition.comm_r_last], sink);
    }

    /// One challenge; returns its public inputs.
    pub fn challenge(&self, replica_id: Fr, challenge: &Challenge, sink: &mut impl Sink) -> [u64; INPUTS] {
        let ahead = self.ahead(replica_id, challenge, sink);
        let source = |walk: usize, skip_column| {
            let group = ahead.as_ref().map(|groups| &groups[walk / 8][..]);
            Source::new(&self.hashes, group, walk % 8, skip_column)
        };
        let mut inputs = [0; INPUTS];
        sink.enter(Gadget::Rest);
        sink.element(challenge.data_leaf);
        sink.enter(Gadget::TreeD);
        inputs[0] = data_path(&self.pair, challenge.data_leaf, &challenge.data_path, sink);
        for (walk, column) in challenge.drg_parents.iter().chain(&challenge.exp_parents).enumerate() {
            sink.enter(Gadget::Rest);
            column.rows.iter().for_each(|row| sink.element(*row));
            sink.enter(Gadget::Columns);
            let mut hashes = source(walk, None);
            let leaf = hashes.hash(&column.rows, sink);
            sink.enter(Gadget::Paths);
            inputs[1 + walk] = replica_path(&mut hashes, leaf, &column.path, sink);
        }
        inputs[15] = challenge.node;
        sink.enter(Gadget::Rest);
        sink.bits(challenge.node, 64);
        sink.enter(Gadget::Labels);
        let labels = self.labels(replica_id, challenge, sink);
        let encoded = encoded(&labels, challenge);
        sink.enter(Gadget::Rest);
        sink.element(encoded);
        sink.enter(Gadget::Paths);
        inputs[16] = replica_path(&mut source(REPLICA_WALK, Some(self.layers)), encoded, &challenge.replica_path, sink);
        sink.enter(Gadget::Columns);
        let mut hashes = source(COLUMN_WALK, None);
        let column = hashes.hash(&labels, sink);
        sink.enter(Gadget::Paths);
        inputs[17] = replica_path(&mut hashes, column, &challenge.column_path, sink);
        inputs
    }

    /// The node's labels, layer 1 first; for each the bits of the parents' labels, then the hash.
    fn labels(&self, replica_id: Fr, challenge: &Challenge, sink: &mut impl Sink) -> Vec<Fr> {
        let replica_id = node_words(&replica_id.to_repr());
        let label = |(i, layer)| {
            let words: Vec<_> = parents(challenge, i).map(|row| to_bits(row, sink)).collect();
            self.label.label(layer, &replica_id, challenge.node, &words, sink)
        };
        self.label.layers().enumerate().map(label).collect()
    }

    /// All Poseidon hashes of a challenge's walks, eight walks at a time, if that can be done: the parents' in order, the
    /// replica's, the node's own column's. The labels are hashed beforehand for that, without their variables.
    fn ahead(&self, replica_id: Fr, challenge: &Challenge, sink: &mut impl Sink) -> Option<[Vec<Eight>; 2]> {
        if !self.hashes.has_lanes() {
            return None;
        }
        sink.enter(Gadget::Labels);
        let replica_id = replica_id.to_repr();
        let label = |i| {
            let repeated = parents(challenge, i).map(|row| row.to_repr()).collect::<Vec<_>>();
            let repeated: Vec<_> = repeated.into_iter().cycle().take(TOTAL_PARENTS).collect();
            // A label has 254 bits, so it is below the modulus, and the default is never taken.
            let label = label(&replica_id, i as u32 + 1, challenge.node, &repeated);
            Fr::from_repr_vartime(label).unwrap_or_default()
        };
        let labels: Vec<Fr> = (0..self.layers).map(label).collect();
        let columns = challenge.drg_parents.iter().chain(&challenge.exp_parents);
        let mut walks: Vec<Walk> =
            columns.map(|column| Walk { leaf: Leaf::Column(&column.rows), path: &column.path }).collect();
        walks.push(Walk { leaf: Leaf::Element(encoded(&labels, challenge)), path: &challenge.replica_path });
        walks.push(Walk { leaf: Leaf::Column(&labels), path: &challenge.column_path });
        let mut group = |walks: &[Walk]| self.hashes.ahead(walks.try_into().ok()?, self.layers, sink);
        let (first, second) = walks.split_at_checked(8)?;
        Some([group(first)?, group(second)?])
    }
}

/// The key that encodes the node's data is its last label; there is one, since there are layers.
fn encoded(labels: &[Fr], challenge: &Challenge) -> Fr {
    labels.last().copied().unwrap_or_default() + challenge.data_leaf
}

/// The labels from which that of layer `i + 1` is made. Exp parents are of the layer before, so the first layer has none.
fn parents(challenge: &Challenge, i: usize) -> impl Iterator<Item = Fr> + '_ {
    let drg = challenge.drg_parents.iter().filter_map(move |column| column.rows.get(i));
    let exp = challenge.exp_parents.iter().filter_map(move |column| column.rows.get(i.checked_sub(1)?));
    drg.chain(exp).copied()
}
