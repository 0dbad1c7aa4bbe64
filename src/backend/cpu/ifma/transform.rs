//! Short transforms of eight columns at once: a lane is a column, and every column is transformed alike.
//!
//! Butterflies multiply first, so that a layer adds at most 2 r to a value: from below 2 r, 11 layers lead to below 24 r, and
//! products of that are below 2 r again. Limbs are carried only where a factor is needed. Where the root is one, the
//! value is reduced instead of multiplied.

use blstrs::Scalar as Fr;
use ff::Field;

use super::fr::{add, carry, mul, reduce, sub, Factor, Lanes};
use crate::backend::cpu::ntt::{reversed_powers, root_of_unity};

/// Layers of the longest transform: its values stay below 24 r, and 2^11 vectors are 640 KB of a second-level cache.
pub const MAX_LOG: u32 = 11;
/// Vectors that a first-level cache holds: 20 KB.
const LEAF: usize = 64;

/// Roots of unity for all transforms of up to 2^log elements.
pub struct Roots {
    /// `w^-rev(i)`, w of order 2^log and rev the reversal of log - 1 bits: one a block of the inverse transform.
    inverse: Vec<Factor>,
    /// `w^i` for i below 2^(log - 1).
    forward: Vec<Factor>,
}

impl Roots {
    pub fn new(log: u32) -> Self {
        assert!((1..=MAX_LOG).contains(&log), "short transform of 2^{log}");
        let w = root_of_unity(log);
        // A root of unity is not zero.
        let inverse = reversed_powers(w.invert().unwrap_or(Fr::ZERO), log - 1);
        let forward = std::iter::successors(Some(Fr::ONE), |power| Some(*power * w)).take(1 << (log - 1));
        Self { inverse: inverse.into_iter().map(Factor::from).collect(), forward: forward.map(Factor::from).collect() }
    }

    /// Values in natural order, below 2 r, to coefficients times their number, in bit-reversed order and below 24 r.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn inverse(&self, x: &mut [Lanes]) {
        assert!(x.len() >= 2 && x.len() <= 2 * self.inverse.len(), "short transform of another length");
        let (low, high) = x.split_at_mut(x.len() / 2);
        sums_and_differences(low, high);
        self.split(low, 0);
        self.split(high, 1);
    }

    /// Coefficients in bit-reversed order, below 2 r, to values in natural order and below 24 r.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn forward(&self, x: &mut [Lanes]) {
        assert!(x.len() >= 2 && x.len() <= 2 * self.forward.len(), "short transform of another length");
        self.merge(x);
    }

    /// The inverse transform's layers below block `block`, which `x` is.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn split(&self, x: &mut [Lanes], block: usize) {
        if x.len() <= LEAF {
            let (mut half, mut blocks) = (x.len() / 2, 1);
            while half > 0 {
                for (i, pair) in x.chunks_exact_mut(2 * half).enumerate() {
                    let (low, high) = pair.split_at_mut(half);
                    self.split_pairs(low, high, block * blocks + i);
                }
                (half, blocks) = (half / 2, blocks * 2);
            }
            return;
        }
        let (low, high) = x.split_at_mut(x.len() / 2);
        self.split_pairs(low, high, block);
        self.split(low, 2 * block);
        self.split(high, 2 * block + 1);
    }

    /// (x, y) to (x + w y, x - w y), where w is the block's root.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn split_pairs(&self, low: &mut [Lanes], high: &mut [Lanes], block: usize) {
        if block == 0 {
            for (x, y) in low.iter_mut().zip(high) {
                butterfly(x, y, &reduce(&carry(y)));
            }
        } else {
            let w = self.inverse[block].broadcast();
            for (x, y) in low.iter_mut().zip(high) {
                butterfly(x, y, &mul(&carry(y), &w));
            }
        }
    }

    /// The forward transform of the coefficients `x`, of which longer transforms are made.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn merge(&self, x: &mut [Lanes]) {
        if x.len() <= LEAF {
            for pair in x.chunks_exact_mut(2) {
                let (low, high) = pair.split_at_mut(1);
                sums_and_differences(low, high);
            }
            let mut half = 2;
            while 2 * half <= x.len() {
                for pair in x.chunks_exact_mut(2 * half) {
                    self.merge_halves(pair);
                }
                half *= 2;
            }
            return;
        }
        let (low, high) = x.split_at_mut(x.len() / 2);
        self.merge(low);
        self.merge(high);
        self.merge_halves(x);
    }

    /// (x, y) to (x + w^i y, x - w^i y) for element i of the halves, w of the order of the length.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn merge_halves(&self, x: &mut [Lanes]) {
        let (low, high) = x.split_at_mut(x.len() / 2);
        let step = self.forward.len() / low.len();
        let t = reduce(&carry(&high[0]));
        butterfly(&mut low[0], &mut high[0], &t);
        for ((x, y), w) in low.iter_mut().zip(high).zip(self.forward.iter().step_by(step)).skip(1) {
            butterfly(x, y, &mul(&carry(y), &w.broadcast()));
        }
    }
}

/// (x, y) to (x + t, x - t), t below 2 r.
#[target_feature(enable = "avx512f")]
#[inline]
fn butterfly(x: &mut Lanes, y: &mut Lanes, t: &Lanes) {
    *y = sub(x, t);
    *x = add(x, t);
}

/// (x, y) to (x + y, x - y), for values below 2 r.
#[target_feature(enable = "avx512f")]
#[inline]
fn sums_and_differences(low: &mut [Lanes], high: &mut [Lanes]) {
    for (x, y) in low.iter_mut().zip(high) {
        let t = *y;
        butterfly(x, y, &t);
    }
}
