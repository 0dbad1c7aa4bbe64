//! Number-theoretic transforms over Fr, in place, without permutation passes.
//!
//! The inverse transform takes natural order to bit-reversed order, the forward transform takes it back: between the two,
//! coefficients lie in bit-reversed order. Both walk the same tree of blocks; each block needs one root per layer, and
//! the roots in bit-reversed order are the same table for every size.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};
use rayon::prelude::*;

/// Elements that one task transforms by itself: 2^14 of them are 512 KB, which fit a second-level cache together with
/// their roots.
const LEAF: usize = 1 << 14;
/// Elements per parallel task of a layer that spans more than a leaf.
const STRIPE: usize = 1 << 11;

/// Largest domain of the scalar field's two-adic subgroup.
pub const MAX_LOG_SIZE: u32 = Fr::S;

/// The subgroup of order `2^log_size` and what its transforms need.
pub struct Domain {
    log_size: u32,
    /// `roots[i] = w^rev(i)`, w a primitive root of order 2^log_size and rev the reversal of log_size - 1 bits.
    roots: Vec<Fr>,
}

/// A primitive root of unity of order `2^log_order`.
///
/// # Panics
/// When `log_order` exceeds [`MAX_LOG_SIZE`].
pub fn root_of_unity(log_order: u32) -> Fr {
    assert!(log_order <= MAX_LOG_SIZE, "no root of unity of order 2^{log_order}");
    (log_order..MAX_LOG_SIZE).fold(Fr::ROOT_OF_UNITY, |w, _| w.square())
}

/// The `bits` low bits of `i`, reversed.
#[inline]
pub fn bit_reverse(i: usize, bits: u32) -> usize {
    if bits == 0 {
        0
    } else {
        i.reverse_bits() >> (usize::BITS - bits)
    }
}

impl Domain {
    /// # Panics
    /// When `log_size` exceeds [`MAX_LOG_SIZE`].
    pub fn new(log_size: u32) -> Self {
        let mut roots = vec![Fr::ONE; (1usize << log_size) / 2];
        // The upper half of each prefix of 2^(k+1) roots is the lower half times a root of order 2^(k+2).
        for k in 0..log_size.saturating_sub(1) {
            let w = root_of_unity(k + 2);
            let (known, rest) = roots.split_at_mut(1 << k);
            rest[..1 << k].par_iter_mut().zip(known).with_min_len(STRIPE).for_each(|(r, k)| *r = *k * w);
        }
        Self { log_size, roots }
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        1 << self.log_size
    }

    /// Base-two logarithm of the size.
    pub fn log_size(&self) -> u32 {
        self.log_size
    }

    /// Values on the subgroup in natural order to coefficients times the size, in bit-reversed order.
    pub fn inverse_unscaled(&self, values: &mut [Fr]) {
        self.inverse_unscaled_of(|_, _| (), values);
    }

    /// The same of values that the first pass makes where it needs them: `write(first, part)` writes those from `first` on, and is
    /// called once for each value.
    pub fn inverse_unscaled_of(&self, write: impl Fn(usize, &mut [Fr]) + Sync, values: &mut [Fr]) {
        assert_eq!(values.len(), self.size(), "transform of another size");
        if values.len() <= LEAF {
            write(0, values);
            self.split_leaf(values, 0);
        } else {
            self.split_quarters(values, 0, write);
        }
    }

    /// Coefficients in bit-reversed order to values on the subgroup in natural order.
    pub fn forward(&self, coefficients: &mut [Fr]) {
        assert_eq!(coefficients.len(), self.size(), "transform of another size");
        self.merge(coefficients, 0);
    }

    /// `1 / w^rev(i)`: the negative of the root opposite on the half circle.
    #[inline]
    fn inverse_root_negated(&self, i: usize) -> Fr {
        // w^-e = -w^(n/2 - e), and in bit-reversed order n/2 - e is where all bits below the leading one flip.
        self.roots[(3 << i.ilog2()) - 1 - i]
    }

    /// (x, y) to (x + y/w, x - y/w), where w is the block's root.
    #[inline]
    fn split_pairs(&self, low: &mut [Fr], high: &mut [Fr], block: usize) {
        if block == 0 {
            sums_and_differences(low, high);
        } else {
            let w = self.inverse_root_negated(block);
            for (x, y) in low.iter_mut().zip(high) {
                let mut t = w;
                t *= &*y;
                *y = *x;
                *y += &t;
                *x -= &t;
            }
        }
    }

    /// (x, y) to (x + y, (x - y) * w): undoes [`Self::split_pairs`] but for a factor of two.
    #[inline]
    fn merge_pairs(&self, low: &mut [Fr], high: &mut [Fr], block: usize) {
        if block == 0 {
            sums_and_differences(low, high);
        } else {
            let w = self.roots[block];
            for (x, y) in low.iter_mut().zip(high) {
                let mut t = *x;
                t -= &*y;
                *x += &*y;
                *y = w;
                *y *= &t;
            }
        }
    }

    /// The inverse transform's layers below block `block`, which `x` is.
    fn split(&self, x: &mut [Fr], block: usize) {
        if x.len() <= LEAF {
            self.split_leaf(x, block);
        } else {
            self.split_quarters(x, block, |_, _| ());
        }
    }

    fn split_leaf(&self, x: &mut [Fr], block: usize) {
        let (mut half, mut blocks) = (x.len() / 2, 1);
        while half > 0 {
            for (i, pair) in x.chunks_exact_mut(2 * half).enumerate() {
                let (low, high) = pair.split_at_mut(half);
                self.split_pairs(low, high, block * blocks + i);
            }
            (half, blocks) = (half / 2, blocks * 2);
        }
    }

    /// [`Self::split`] of more than a leaf. `write` is called for each stripe right before it is worked on.
    fn split_quarters(&self, x: &mut [Fr], block: usize, write: impl Fn(usize, &mut [Fr]) + Sync) {
        let quarter = x.len() / 4;
        // Two layers in one pass over memory.
        self.quarters(x, |this, first, mut quarters| {
            quarters.iter_mut().enumerate().for_each(|(i, values)| write(i * quarter + first, values));
            let [q0, q1, q2, q3] = quarters;
            this.split_pairs(q0, q2, block);
            this.split_pairs(q1, q3, block);
            this.split_pairs(q0, q1, 2 * block);
            this.split_pairs(q2, q3, 2 * block + 1);
        });
        x.par_chunks_mut(quarter).enumerate().for_each(|(i, x)| self.split(x, 4 * block + i));
    }

    /// The forward transform's layers below and at block `block`, which `x` is.
    fn merge(&self, x: &mut [Fr], block: usize) {
        if x.len() <= LEAF {
            let mut half = 1;
            while 2 * half <= x.len() {
                let blocks = x.len() / (2 * half);
                for (i, pair) in x.chunks_exact_mut(2 * half).enumerate() {
                    let (low, high) = pair.split_at_mut(half);
                    self.merge_pairs(low, high, block * blocks + i);
                }
                half *= 2;
            }
            return;
        }
        let quarter = x.len() / 4;
        x.par_chunks_mut(quarter).enumerate().for_each(|(i, x)| self.merge(x, 4 * block + i));
        self.quarters(x, |this, _, [q0, q1, q2, q3]| {
            this.merge_pairs(q0, q1, 2 * block);
            this.merge_pairs(q2, q3, 2 * block + 1);
            this.merge_pairs(q0, q2, block);
            this.merge_pairs(q1, q3, block);
        });
    }

    /// Runs `layers` over stripes of the four quarters of `x`, in parallel; it is told where in their quarters they begin.
    fn quarters(&self, x: &mut [Fr], layers: impl Fn(&Self, usize, [&mut [Fr]; 4]) + Sync) {
        let quarter = x.len() / 4;
        let (low, high) = x.split_at_mut(2 * quarter);
        let ((q0, q1), (q2, q3)) = (low.split_at_mut(quarter), high.split_at_mut(quarter));
        q0.par_chunks_mut(STRIPE)
            .zip(q1.par_chunks_mut(STRIPE))
            .zip(q2.par_chunks_mut(STRIPE).zip(q3.par_chunks_mut(STRIPE)))
            .enumerate()
            .for_each(|(i, ((q0, q1), (q2, q3)))| layers(self, i * STRIPE, [q0, q1, q2, q3]));
    }
}

/// (x, y) to (x + y, x - y).
///
/// Here and in the other butterflies values are changed in place: returned by value, they would be copied with wide loads
/// right after blst's narrow stores, which the processor cannot forward.
#[inline]
fn sums_and_differences(low: &mut [Fr], high: &mut [Fr]) {
    for (x, y) in low.iter_mut().zip(high) {
        let t = *y;
        *y = *x;
        *y -= &t;
        *x += &t;
    }
}

/// Multiplies element i, which lies in bit-reversed order, by `scale * g^rev(i)`.
pub fn scale_by_powers_reversed(x: &mut [Fr], scale: Fr, g: Fr) {
    let bits = x.len().ilog2();
    // rev(i + j * stripe's start) splits: the low bits of the index are the high bits of the exponent.
    let stripe = x.len().min(STRIPE);
    let low_bits = stripe.ilog2();
    let powers = reversed_powers(g.pow_vartime([1u64 << (bits - low_bits)]), low_bits);
    x.par_chunks_mut(stripe).enumerate().for_each(|(s, x)| {
        let factor = scale * g.pow_vartime([bit_reverse(s, bits - low_bits) as u64]);
        for (x, p) in x.iter_mut().zip(&powers) {
            *x *= factor * p;
        }
    });
}

/// `g^rev(i)` for i in 0..2^bits.
pub fn reversed_powers(g: Fr, bits: u32) -> Vec<Fr> {
    let mut powers = vec![Fr::ONE];
    for k in 0..bits {
        // Bit k of the index is bit (bits - 1 - k) of the exponent.
        let step = g.pow_vartime([1u64 << (bits - 1 - k)]);
        powers.extend_from_within(..);
        let half = powers.len() / 2;
        powers[half..].iter_mut().for_each(|p| *p *= step);
    }
    powers
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    use super::*;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    fn random(n: usize) -> Vec<Fr> {
        let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
        (0..n).map(|_| Fr::random(&mut rng)).collect()
    }

    #[test]
    fn forward_evaluates_at_the_roots() {
        for log_size in 0..=7 {
            let domain = Domain::new(log_size);
            let n = domain.size();
            let coefficients = random(n);
            let mut values: Vec<_> = (0..n).map(|i| coefficients[bit_reverse(i, log_size)]).collect();
            domain.forward(&mut values);
            let w = root_of_unity(log_size);
            for (i, v) in values.iter().enumerate() {
                let x = w.pow_vartime([i as u64]);
                assert_eq!(*v, coefficients.iter().rev().fold(Fr::ZERO, |acc, c| acc * x + c), "2^{log_size}, {i}");
            }
        }
    }

    #[test]
    fn inverse_undoes_forward_at_sizes_around_a_leaf() {
        for log_size in [0, 1, 2, 13, 14, 15, 16, 17] {
            let domain = Domain::new(log_size);
            let x = random(domain.size());
            let mut y = x.clone();
            domain.inverse_unscaled(&mut y);
            domain.forward(&mut y);
            let n = Fr::from(domain.size() as u64);
            assert!(x.iter().zip(&y).all(|(x, y)| *x * n == *y), "2^{log_size}");
        }
    }

    #[test]
    fn values_are_written_once_in_the_first_pass() {
        for log_size in [0, 1, 5, 13, 14, 15, 16, 17] {
            let domain = Domain::new(log_size);
            let x = random(domain.size());
            let written: Vec<_> = x.iter().map(|_| AtomicU8::new(0)).collect();
            let write = |first: usize, part: &mut [Fr]| {
                let range = first..first + part.len();
                part.copy_from_slice(&x[range.clone()]);
                written[range].iter().for_each(|count| _ = count.fetch_add(1, Relaxed));
            };
            // What was there before is of no meaning.
            let mut y = vec![Fr::from(9); x.len()];
            domain.inverse_unscaled_of(write, &mut y);
            let mut expected = x.clone();
            domain.inverse_unscaled(&mut expected);
            assert!(y == expected, "2^{log_size}");
            assert!(written.into_iter().all(|count| count.into_inner() == 1), "2^{log_size}");
        }
    }

    #[test]
    fn large_transforms_evaluate_too() {
        for log_size in [15, 16, 17] {
            let domain = Domain::new(log_size);
            let coefficients = random(domain.size());
            let mut values: Vec<_> = (0..domain.size()).map(|i| coefficients[bit_reverse(i, log_size)]).collect();
            domain.forward(&mut values);
            for i in [0, 1, 2, 12345, domain.size() - 1] {
                let x = root_of_unity(log_size).pow_vartime([i as u64]);
                assert_eq!(values[i], coefficients.iter().rev().fold(Fr::ZERO, |acc, c| acc * x + c));
            }
        }
    }

    #[test]
    fn scaling_uses_the_reversed_index() {
        for log_size in [0, 1, 5, 12, 13] {
            let x = random(1 << log_size);
            let (scale, g) = (Fr::from(3), Fr::from(7));
            let mut y = x.clone();
            scale_by_powers_reversed(&mut y, scale, g);
            for i in (0..x.len()).step_by(1 + x.len() / 50) {
                assert_eq!(y[i], x[i] * scale * g.pow_vartime([bit_reverse(i, log_size) as u64]));
            }
        }
    }
}
