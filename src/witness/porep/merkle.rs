//! Paths in the trees: tree D with SHA-256, trees C and R with Poseidon.

use blstrs::Scalar as Fr;
use ff::PrimeField;

use super::{
    hashes::Source,
    sha256::{node, node_words, padding, Block, MessageWord, INITIAL, NODE},
    sink::Sink,
};
use crate::circuit::Level;

/// Bytes of two nodes.
const PAIR: u32 = 64;

/// The path from `leaf` in tree D. A level: the index bit, the sibling, the two nodes in their order (picked), the bits of both,
/// their hash. Returns the index bits, packed: the path's public input.
pub fn data_path(pair: &PairHash, leaf: Fr, path: &[Level], sink: &mut impl Sink) -> u64 {
    let mut current = leaf;
    for Level { siblings, position } in path {
        sink.bits(*position as u64, 1);
        for sibling in siblings {
            sink.element(*sibling);
            let (left, right) = if *position == 0 { (current, *sibling) } else { (*sibling, current) };
            current = pair.hash(left, right, sink);
        }
    }
    packed(path)
}

/// SHA-256 of two nodes.
pub struct PairHash {
    nodes: Block,
    padding: Block,
}

impl PairHash {
    pub fn new() -> Self {
        let mut nodes = [MessageWord::Variable; 16];
        nodes[..8].copy_from_slice(&NODE);
        nodes[8..].copy_from_slice(&NODE);
        Self { nodes: Block::first(nodes), padding: Block::next(padding(0, PAIR).map(MessageWord::Constant)) }
    }

    /// The nodes are allocated first, as the insertion of one beside the other picks them.
    fn hash(&self, left: Fr, right: Fr, sink: &mut impl Sink) -> Fr {
        sink.element(left);
        sink.element(right);
        let mut message = [0; 16];
        message[..8].copy_from_slice(&to_bits(left, sink));
        message[8..].copy_from_slice(&to_bits(right, sink));
        let state = self.nodes.compress(INITIAL, &message, sink);
        digest(&self.padding.compress(state, &padding(0, PAIR), sink), sink)
    }
}

/// A digest, packed into an element without its two highest bits.
pub fn digest(state: &[u32; 8], sink: &mut impl Sink) -> Fr {
    // 254 bits are below the modulus, so the default is never taken.
    let element = Fr::from_repr_vartime(node(state)).unwrap_or_default();
    sink.element(element);
    element
}

/// An element's 255 bits, lowest first. Returns it as words of a message.
pub fn to_bits(element: Fr, sink: &mut impl Sink) -> [u32; 8] {
    let node = element.to_repr();
    for (bytes, count) in node.chunks_exact(8).zip([64, 64, 64, 63]) {
        sink.bits(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])), count);
    }
    node_words(&node)
}

/// The path from `leaf` in tree C or R. A level: the index bits, the siblings, the insertion among them, their hash. Returns the
/// index bits, packed: the path's public input.
pub fn replica_path(hashes: &mut Source, leaf: Fr, path: &[Level], sink: &mut impl Sink) -> u64 {
    let mut current = leaf;
    for Level { siblings, position } in path {
        let arity = siblings.len() + 1;
        sink.bits(*position as u64, arity.trailing_zeros());
        siblings.iter().for_each(|sibling| sink.element(*sibling));
        // The shape has no other arity.
        if let Ok(siblings) = <&[Fr; 7]>::try_from(&siblings[..]) {
            current = hashes.hash(&insert_among_seven(current, siblings, *position, sink), sink);
        } else if let [sibling] = siblings[..] {
            current = hashes.hash(&insert_beside_one(current, sibling, *position, sink), sink);
        }
    }
    packed(path)
}

/// The positions of a path, from the leaf's level in the lowest bits upwards.
fn packed(path: &[Level]) -> u64 {
    let (mut bits, mut count) = (0, 0);
    for level in path {
        bits |= (level.position as u64) << count;
        count += (level.siblings.len() + 1).trailing_zeros();
    }
    bits
}

/// One or the other, as an element of its own: `pick` of storage-proofs-core.
fn pick(condition: bool, yes: Fr, no: Fr, sink: &mut impl Sink) -> Fr {
    let picked = if condition { yes } else { no };
    sink.element(picked);
    picked
}

/// `insert_2` of storage-proofs-core.
pub fn insert_beside_one(a: Fr, b: Fr, position: usize, sink: &mut impl Sink) -> [Fr; 2] {
    let second = position & 1 == 1;
    [pick(second, b, a, sink), pick(second, a, b, sink)]
}

/// `insert_8` of storage-proofs-core: `a` goes to `position` among the others. The element at a place below 4 is what it would be
/// among the first four, unless the position is above; the places from 4 on, the other way round.
pub fn insert_among_seven(a: Fr, others: &[Fr; 7], position: usize, sink: &mut impl Sink) -> [Fr; 8] {
    let [b, c, d, e, f, g, h] = *others;
    let [b0, b1, b2] = [0, 1, 2].map(|i| position >> i & 1 == 1);
    let (neither, both) = (!b0 & !b1, b0 & b1);
    sink.bits(u64::from(neither) | u64::from(both) << 1, 2);
    let mut pick = |condition, yes, no| pick(condition, yes, no, sink);

    let low = pick(neither, a, b);
    let p0 = pick(b2, b, low);
    let low = pick(b0, a, b);
    let low = pick(b1, c, low);
    let p1 = pick(b2, c, low);
    let low = pick(b0, d, a);
    let low = pick(b1, low, c);
    let p2 = pick(b2, d, low);
    let low = pick(both, a, d);
    let p3 = pick(b2, e, low);

    let high = pick(neither, a, f);
    let p4 = pick(b2, high, e);
    let high = pick(b0, a, f);
    let high = pick(b1, g, high);
    let p5 = pick(b2, high, f);
    let high = pick(b0, h, a);
    let high = pick(b1, high, g);
    let p6 = pick(b2, high, g);
    let high = pick(both, a, h);
    let p7 = pick(b2, high, h);
    [p0, p1, p2, p3, p4, p5, p6, p7]
}
