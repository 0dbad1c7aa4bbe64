//! The fields' operations against blstrs, at the values where carries and reductions are special.

use blst::{blst_fp, blst_fr};
use blstrs::{Fp, Fp2, Scalar as Fr};
use cuzk::error::Result;
use cuzk::gpu::{kernels, Gpu, Plain, Shape, Stream, View, ViewMut};
use ff::Field;
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

use super::running::in_all_orders;

type Binary<T> = fn(&Stream, Shape, View<'_, T>, View<'_, T>, ViewMut<'_, T>, u32) -> Result<()>;
type Unary<T> = fn(&Stream, Shape, View<'_, T>, ViewMut<'_, T>, u32) -> Result<()>;

fn unary<T: Plain + Field>(stream: &Stream, kernel: Unary<T>, a: &[T]) -> Vec<T> {
    let [mut x, mut out] = [0; 2].map(|_| stream.buffer("operands", a.len()).unwrap());
    stream.upload("a", x.view_mut(), a).unwrap();
    kernel(stream, Shape::of(a.len(), 64), x.view(), out.view_mut(), a.len() as u32).unwrap();
    let mut result = vec![T::ONE; a.len()];
    stream.download("out", out.view(), &mut result).unwrap();
    result
}

fn binary<T: Plain + Field>(stream: &Stream, kernel: Binary<T>, a: &[T], b: &[T]) -> Vec<T> {
    let [mut x, mut y, mut out] = [0; 3].map(|_| stream.buffer("operands", a.len()).unwrap());
    stream.upload("a", x.view_mut(), a).unwrap();
    stream.upload("b", y.view_mut(), b).unwrap();
    kernel(stream, Shape::of(a.len(), 64), x.view(), y.view(), out.view_mut(), a.len() as u32).unwrap();
    let mut result = vec![T::ONE; a.len()];
    stream.download("out", out.view(), &mut result).unwrap();
    result
}

/// 0, 1, -1 and the like; elements that in memory are 1, p - 1, 2^(32 k) and 2^(32 k) - 1: 1 in memory is 1 / R.
fn edges<T: Field + From<u64>>(one_in_memory: T, bits: u64) -> Vec<T> {
    let memory = |exponent: u64| T::from(2).pow_vartime([exponent]) * one_in_memory;
    let half = T::from(2).invert().unwrap();
    let r = one_in_memory.invert().unwrap();
    let mut edges = vec![T::ZERO, T::ONE, -T::ONE, T::from(2), -T::from(2), half, -half, r, -r, r.square()];
    edges.extend([one_in_memory, -one_in_memory]);
    for limb in (32..bits).step_by(32) {
        edges.extend([memory(limb), memory(limb) - one_in_memory, -memory(limb)]);
    }
    edges
}

/// All pairs of edges, and random ones: an odd number.
fn pairs<T: Field>(edges: &[T]) -> (Vec<T>, Vec<T>) {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut pairs: Vec<(T, T)> = edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b))).collect();
    pairs.extend((0..301 + (pairs.len() + 1) % 2).map(|_| (T::random(&mut rng), T::random(&mut rng))));
    pairs.into_iter().unzip()
}

/// What a field's kernels compute, by name.
struct Kernels<T: Plain> {
    binary: &'static [OfTwo<T>],
    unary: &'static [OfOne<T>],
}
type OfTwo<T> = (&'static str, Binary<T>, fn(T, T) -> T);
type OfOne<T> = (&'static str, Unary<T>, fn(T) -> T);

fn compared<T: Field>(a: T, b: T) -> T {
    if a == b || a == T::ZERO {
        a
    } else {
        a.double()
    }
}

fn check<T: Plain + Field>(kernels: &Kernels<T>, edges: &[T]) {
    let stream = Gpu::open(0).unwrap().stream().unwrap();
    let (a, b) = pairs(edges);
    for (name, kernel, expected) in kernels.binary {
        let results = binary(&stream, *kernel, &a, &b);
        for ((result, a), b) in results.into_iter().zip(&a).zip(&b) {
            assert_eq!(result, expected(*a, *b), "{name} of {a:?} and {b:?}");
        }
    }
    for (name, kernel, expected) in kernels.unary {
        for (result, a) in unary(&stream, *kernel, &a).into_iter().zip(&a) {
            assert_eq!(result, expected(*a), "{name} of {a:?}");
        }
    }
    // A few alone, and none.
    for count in [0, 1, 63, 65] {
        let (name, kernel, expected) = kernels.binary[2];
        let results = binary(&stream, kernel, &a[..count], &b[..count]);
        assert!(results.iter().zip(&a).zip(&b).all(|((r, a), b)| *r == expected(*a, *b)), "{count} of {name}");
    }
}

const FR: Kernels<Fr> = Kernels {
    binary: &[
        ("add", kernels::fr_add, |a, b| a + b),
        ("sub", kernels::fr_sub, |a, b| a - b),
        ("mul", kernels::fr_mul, |a, b| a * b),
        ("compare", kernels::fr_compare, compared),
    ],
    unary: &[("negate", kernels::fr_negate, |a| -a)],
};

const FP: Kernels<Fp> = Kernels {
    binary: &[
        ("add", kernels::fp_add, |a, b| a + b),
        ("sub", kernels::fp_sub, |a, b| a - b),
        ("mul", kernels::fp_mul, |a, b| a * b),
        ("sum_of_products", kernels::fp_sum_of_products, |a, b| a * b + b * b),
        ("compare", kernels::fp_compare, compared),
    ],
    unary: &[("negate", kernels::fp_negate, |a| -a)],
};

const FP2: Kernels<Fp2> = Kernels {
    binary: &[
        ("add", kernels::fp2_add, |a, b| a + b),
        ("sub", kernels::fp2_sub, |a, b| a - b),
        ("mul", kernels::fp2_mul, |a, b| a * b),
        ("compare", kernels::fp2_compare, compared),
    ],
    unary: &[("negate", kernels::fp2_negate, |a| -a), ("square", kernels::fp2_square, |a| a.square())],
};

fn fr_of_memory(l: [u64; 4]) -> Fr {
    Fr::from(blst_fr { l })
}

fn fr_edges() -> Vec<Fr> {
    edges(fr_of_memory([1, 0, 0, 0]), 255)
}

fn fp_edges() -> Vec<Fp> {
    edges(Fp::from_raw_unchecked([1, 0, 0, 0, 0, 0]), 381)
}

#[test]
fn fr_is_blstrs() {
    in_all_orders("fields::fr_is_blstrs", || check(&FR, &fr_edges()));
}

#[test]
fn fp_is_blstrs() {
    in_all_orders("fields::fp_is_blstrs", || check(&FP, &fp_edges()));
}

#[test]
fn fp2_is_blstrs() {
    in_all_orders("fields::fp2_is_blstrs", || {
        let edges = &fp_edges()[..12];
        // Where one coordinate is zero, and pairs of all: every seventh, which is prime to their number.
        let mut pairs: Vec<Fp2> = edges.iter().flat_map(|c0| edges.iter().map(|c1| Fp2::new(*c0, *c1))).collect();
        let sparse = pairs.iter().copied().step_by(7);
        let mut chosen: Vec<Fp2> = sparse.collect();
        chosen.extend(pairs.drain(..12));
        check(&FP2, &chosen);
    });
}

/// Integers of 32-bit limbs that are all ones, one, or none, below 2^(32 n); not all below the modulus.
fn integers<const N: usize>() -> Vec<[u64; N]> {
    let mut integers = vec![[0; N], [u64::MAX; N]];
    for bit in 0..64 * N {
        let mut integer = [0; N];
        integer[bit / 64] = 1 << (bit % 64);
        integers.push(integer);
        integers.push(integer.map(|limb| !limb));
    }
    integers
}

/// The integer's class modulo the modulus, from its bits.
fn class<T: Field + From<u64>>(integer: &[u64]) -> T {
    let bits = (0..64 * integer.len()).rev().map(|bit| integer[bit / 64] >> (bit % 64) & 1);
    bits.fold(T::ZERO, |sum, bit| sum.double() + T::from(bit))
}

#[test]
fn conversions_are_blstrs() {
    in_all_orders("fields::conversions_are_blstrs", || {
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        let all = integers::<4>();
        let results =
            unary(&stream, kernels::fr_from_canonical, &all.iter().map(|l| fr_of_memory(*l)).collect::<Vec<_>>());
        all.iter().zip(results).for_each(|(integer, result)| assert_eq!(result, class::<Fr>(integer), "{integer:x?}"));
        let all = integers::<6>();
        let memory: Vec<Fp> = all.iter().map(|l| Fp::from_raw_unchecked(*l)).collect();
        let results = unary(&stream, kernels::fp_from_canonical, &memory);
        all.iter().zip(results).for_each(|(integer, result)| assert_eq!(result, class::<Fp>(integer), "{integer:x?}"));

        let (elements, _) = pairs(&fr_edges());
        for (element, result) in elements.iter().zip(unary(&stream, kernels::fr_to_canonical, &elements)) {
            let bytes: Vec<u8> = blst_fr::from(result).l.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            assert_eq!(bytes, element.to_bytes_le());
        }
        let (elements, _) = pairs(&fp_edges());
        for (element, result) in elements.iter().zip(unary(&stream, kernels::fp_to_canonical, &elements)) {
            let bytes: Vec<u8> = blst_fp::from(result).l.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            assert_eq!(bytes, element.to_bytes_le());
        }
    });
}
