//! Against bellperson's own gadget: blocks of every kind that the circuit has, and others.

use bellperson::gadgets::{
    boolean::{AllocatedBit, Boolean},
    sha256::{sha256, sha256_block_no_padding},
};
use bellperson::{util_cs::witness_cs::WitnessCS, ConstraintSystem};
use blstrs::Scalar as Fr;
use rand_chacha::{
    rand_core::{RngCore, SeedableRng},
    ChaCha20Rng,
};

use super::super::tests::Values;
use super::*;
use MessageWord::{Constant, NodeEnd, Variable};

/// The message's bits, highest first, as the gadget takes them; those of variables are allocated.
fn allocate(cs: &mut WitnessCS<Fr>, kinds: &[MessageWord], words: &[u32]) -> Vec<Boolean> {
    let mut bits = Vec::new();
    for (kind, word) in kinds.iter().zip(words) {
        for i in (0..32).rev() {
            let value = word >> i & 1 == 1;
            bits.push(match (kind.bits()[i], value) {
                (Bit::Constant(constant), _) => {
                    assert_eq!(constant, value);
                    Boolean::constant(value)
                }
                _ => AllocatedBit::alloc(&mut *cs, Some(value)).unwrap().into(),
            });
        }
    }
    bits
}

fn digest(bits: &[Boolean]) -> Vec<u32> {
    let word = |bits: &[Boolean]| bits.iter().fold(0, |word, bit| word << 1 | u32::from(bit.get_value().unwrap()));
    bits.chunks(32).map(word).collect()
}

/// What a message of these kinds may hold: from a word that fills the variables.
fn message<const N: usize>(kinds: &[MessageWord; N], mut fill: impl FnMut() -> u32) -> [u32; N] {
    kinds.map(|kind| match kind {
        Variable => fill(),
        Constant(value) => value,
        NodeEnd => fill() & !(1 << 7),
    })
}

/// Messages of zeros, of ones, and random ones.
fn messages<const N: usize>(kinds: &[MessageWord; N]) -> Vec<[u32; N]> {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut all = vec![message(kinds, || 0), message(kinds, || u32::MAX)];
    all.extend((0..6).map(|_| message(kinds, || rng.next_u32())));
    all
}

fn two(a: [MessageWord; 8], b: [MessageWord; 8]) -> [MessageWord; 16] {
    std::array::from_fn(|i| if i < 8 { a[i] } else { b[i - 8] })
}

/// The kinds of first blocks: those of the circuit, and some with other constants.
fn kinds() -> Vec<[MessageWord; 16]> {
    let mut head = [Constant(0); 8];
    head[..3].copy_from_slice(&[Constant(11), Variable, Variable]);
    let alternate = std::array::from_fn(|i| if i % 2 == 0 { Variable } else { Constant(0x1234_5678 << (i % 5)) });
    let mut one = [Constant(u32::MAX); 16];
    let mut all = vec![two(NODE, NODE), two(NODE, head), [Variable; 16], [NodeEnd; 16], alternate];
    for i in [0, 1, 8, 15] {
        one[i] = Variable;
        all.push(one);
        one[i] = Constant(0);
    }
    all
}

#[test]
fn first_blocks_are_bellpersons() {
    for kinds in kinds() {
        let block = Block::first(kinds);
        for words in messages(&kinds) {
            let mut cs = WitnessCS::<Fr>::new();
            let bits = allocate(&mut cs, &kinds, &words);
            let before = cs.aux_slice().len();
            let expected = digest(&sha256_block_no_padding(&mut cs, &bits).unwrap());
            let mut values = Values::default();
            assert_eq!(block.compress(INITIAL, &words, &mut values)[..], expected, "{kinds:?}");
            assert!(values.0 == cs.aux_slice()[before..], "{kinds:?}");
        }
    }
}

#[test]
fn later_blocks_are_bellpersons() {
    for kinds in kinds() {
        let (first, second) = (Block::first([Variable; 16]), Block::next(kinds));
        let last_words = padding(0, 128);
        let last = Block::next(last_words.map(Constant));
        for words in messages(&kinds) {
            let before = words.map(|word| word.rotate_left(5) ^ 77);
            let mut cs = WitnessCS::<Fr>::new();
            let mut bits = allocate(&mut cs, &[Variable; 16], &before);
            bits.extend(allocate(&mut cs, &kinds, &words));
            let allocated = cs.aux_slice().len();
            let expected = digest(&sha256(&mut cs, &bits).unwrap());
            let mut values = Values::default();
            let state = first.compress(INITIAL, &before, &mut values);
            let state = second.compress(state, &words, &mut values);
            assert_eq!(last.compress(state, &last_words, &mut values)[..], expected, "{kinds:?}");
            assert!(values.0 == cs.aux_slice()[allocated..], "{kinds:?}");
        }
    }
}

#[test]
fn portable_blocks_are_the_same() {
    for kinds in kinds() {
        for block in [Block::first(kinds), Block::next(kinds)] {
            for words in messages(&kinds) {
                let (mut values, mut expected) = (Values::default(), Values::default());
                let state = compress::<Portable>(&block.0, INITIAL, &words, &mut values);
                assert_eq!(state, block.compress(INITIAL, &words, &mut expected));
                assert!(values.0 == expected.0);
            }
        }
    }
}
