//! Labels: SHA-256 of replica_id, layer, node and 37 parents.

use blstrs::Scalar as Fr;

use super::{
    merkle::digest,
    sha256::{padding, Block, MessageWord, INITIAL, NODE},
    sink::Sink,
};
use crate::circuit::hash::TOTAL_PARENTS;

/// Bytes hashed: replica_id, layer and node filled up to 32 bytes, parents.
const BYTES: u32 = 32 * (2 + TOTAL_PARENTS as u32);

/// The kinds of blocks of the labels.
pub struct LabelHash {
    /// By layer, layer 1 first: replica_id, the layer's number (constant), the node's number, zeros.
    first: Vec<Block>,
    /// Two parents.
    middle: Block,
    /// The last parent, and the padding.
    last: Block,
}

impl LabelHash {
    pub fn new(layers: usize) -> Self {
        let first = |layer| {
            let mut message = [MessageWord::Constant(0); 16];
            message[..8].copy_from_slice(&NODE);
            message[8] = MessageWord::Constant(layer);
            message[9..11].fill(MessageWord::Variable);
            Block::first(message)
        };
        let mut parents = [MessageWord::Variable; 16];
        parents[..8].copy_from_slice(&NODE);
        parents[8..].copy_from_slice(&NODE);
        let mut last = padding(8, BYTES).map(MessageWord::Constant);
        last[..8].copy_from_slice(&NODE);
        Self { first: (1..=layers as u32).map(first).collect(), middle: Block::next(parents), last: Block::next(last) }
    }

    /// The labels' first blocks, layer 1 first.
    pub fn layers(&self) -> impl Iterator<Item = (u32, &Block)> {
        (1..).zip(&self.first)
    }

    /// The label of `node` on a layer, given with its first block; `replica_id` and parents as words of a message. The parents
    /// are repeated until there are 37.
    pub fn label(
        &self,
        (layer, first): (u32, &Block),
        replica_id: &[u32; 8],
        node: u64,
        parents: &[[u32; 8]],
        sink: &mut impl Sink,
    ) -> Fr {
        let mut message = [0; 16];
        message[..8].copy_from_slice(replica_id);
        message[8..11].copy_from_slice(&[layer, (node >> 32) as u32, node as u32]);
        let mut state = first.compress(INITIAL, &message, sink);
        let mut repeated = parents.iter().cycle().take(TOTAL_PARENTS);
        // 37 parents: 18 pairs, and one.
        while let Some(parent) = repeated.next() {
            message[..8].copy_from_slice(parent);
            state = match repeated.next() {
                Some(second) => {
                    message[8..].copy_from_slice(second);
                    self.middle.compress(state, &message, sink)
                }
                None => {
                    message[8..].copy_from_slice(&padding(8, BYTES)[8..]);
                    self.last.compress(state, &message, sink)
                }
            };
        }
        digest(&state, sink)
    }
}
