//! Vectors of scalars, for each way in which a transform's input can be special; and any vectors to the device and back.

use std::fmt::Debug;

use blstrs::Scalar as Fr;
use cuzk::gpu::{Buffer, Plain, Stream};
use ff::{Field, PrimeField};
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

pub fn random(n: usize, seed: u64) -> Vec<Fr> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..n).map(|_| Fr::random(&mut rng)).collect()
}

/// Vectors of `n` values by name; -1 is r - 1, the largest value.
pub fn patterns(n: usize) -> Vec<(&'static str, Vec<Fr>)> {
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2), Fr::ROOT_OF_UNITY_INV];
    let single = |at: usize| (0..n).map(|i| if i == at { -Fr::ONE } else { Fr::ZERO }).collect::<Vec<_>>();
    vec![
        ("zero", vec![Fr::ZERO; n]),
        ("one", vec![Fr::ONE; n]),
        ("minus one", vec![-Fr::ONE; n]),
        ("all equal", vec![random(1, 5)[0]; n]),
        ("the first alone", single(0)),
        ("the last alone", single(n.saturating_sub(1))),
        ("edges", (0..n).map(|i| edges[i % edges.len()]).collect()),
        ("random", random(n, n as u64)),
    ]
}

pub fn upload<T: Plain>(stream: &Stream, values: &[T]) -> Buffer<T> {
    let mut buffer = stream.buffer("values", values.len()).unwrap();
    stream.upload("values", buffer.view_mut(), values).unwrap();
    buffer
}

pub fn download<T: Plain + Default>(stream: &Stream, buffer: &Buffer<T>) -> Vec<T> {
    let mut values = vec![T::default(); buffer.len()];
    stream.download("values", buffer.view(), &mut values).unwrap();
    values
}

/// Fails with the first place where they differ.
#[track_caller]
pub fn same<T: PartialEq + Debug>(found: &[T], expected: &[T], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    if let Some(i) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
        panic!("{what}: element {i} of {} is {:?}, expected {:?}", found.len(), found[i], expected[i]);
    }
}
