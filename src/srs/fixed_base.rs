//! Many multiples of one point: signed windows, a table of affine multiples per window, additions in batches.
//!
//! A scalar is cut into digits of `bits` bits in `-2^(bits-1) ..= 2^(bits-1)`, except the top one, which takes the carry
//! and is not folded. Window `w`'s table holds `d * 2^(bits w) * base`; a multiple is the sum of one entry a window. A
//! batch of scalars goes through the windows together, so that all its additions in one window share an inversion.

use std::mem;

use blst::{blst_fp, blst_fp2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use ff::PrimeField;
use group::{Curve, Group};
use rayon::prelude::*;

use super::base_field::{BaseField, BatchAdder, Point};
use crate::backend::bases::{G1_BYTES, G2_BYTES};

/// A curve group whose points are multiplied here.
pub trait FixedBaseGroup: Group<Scalar = Fr> + Curve + Sync {
    type Field: BaseField;
    /// Bytes of a point in the parameter file.
    const BYTES: usize;
    /// Cost of an addition, in additions of G1: for choosing windows and for progress.
    const COST: u64;
    fn to_point(&self) -> Point<Self::Field>;
    /// Writes the parameter file's encoding into `out`, of `BYTES` bytes.
    fn encode(point: &Point<Self::Field>, out: &mut [u8]);
}

impl FixedBaseGroup for G1Projective {
    type Field = blst_fp;
    const BYTES: usize = G1_BYTES;
    const COST: u64 = 1;

    fn to_point(&self) -> Point<blst_fp> {
        let affine = self.to_affine();
        let raw = affine.as_ref();
        Point { x: raw.x, y: raw.y }
    }

    fn encode(point: &Point<blst_fp>, out: &mut [u8]) {
        let mut affine = G1Affine::default();
        let raw = affine.as_mut();
        (raw.x, raw.y) = (point.x, point.y);
        out.copy_from_slice(&affine.to_uncompressed());
    }
}

impl FixedBaseGroup for G2Projective {
    type Field = blst_fp2;
    const BYTES: usize = G2_BYTES;
    const COST: u64 = 3;

    fn to_point(&self) -> Point<blst_fp2> {
        let affine = self.to_affine();
        let raw = affine.as_ref();
        Point { x: raw.x, y: raw.y }
    }

    fn encode(point: &Point<blst_fp2>, out: &mut [u8]) {
        let mut affine = G2Affine::default();
        let raw = affine.as_mut();
        (raw.x, raw.y) = (point.x, point.y);
        out.copy_from_slice(&affine.to_uncompressed());
    }
}

/// Scalars that go through the windows together: a batch's points and its two passes' scratch stay in a core's L2 cache
/// (200 KiB in G1), and an inversion is spread thin.
pub const BATCH: usize = 1024;

/// Largest window: its rows take 6 MiB in G1, which an L3 cache still holds. 17 bits cut 255 in 15 windows; so do 18.
const MAX_BITS: usize = 17;

/// Multiples of one base, for [`FixedBase::multiply`].
pub struct FixedBase<G: FixedBaseGroup> {
    bits: usize,
    /// `rows[w][d] = d * 2^(bits w) * base`, from `d = 0`, the identity.
    rows: Vec<Vec<Point<G::Field>>>,
}

impl<G: FixedBaseGroup> FixedBase<G> {
    /// Tables for about `count` multiplications, on rayon.
    pub fn new(base: &G, count: usize) -> Self {
        Self::with_bits(base, window_bits(count))
    }

    fn with_bits(base: &G, bits: usize) -> Self {
        let mut starts = Vec::with_capacity(windows(bits));
        let mut start = *base;
        for _ in 0..windows(bits) {
            starts.push(start.to_point());
            for _ in 0..bits {
                start = start.double();
            }
        }
        let rows = starts.par_iter().enumerate().map(|(w, start)| multiples(start, largest_digit(bits, w))).collect();
        Self { bits, rows }
    }

    /// Writes the encodings of `scalars[i] * base` one after the other; `out` has `G::BYTES` for each scalar. On rayon.
    pub fn multiply(&self, scalars: &[Fr], out: &mut [u8]) {
        assert_eq!(out.len(), scalars.len() * G::BYTES, "bytes for {} points", scalars.len());
        scalars.par_chunks(BATCH).zip(out.par_chunks_mut(BATCH * G::BYTES)).for_each_init(
            || Batch::new(self),
            |batch, (scalars, out)| {
                for (point, out) in batch.multiply(scalars).iter().zip(out.chunks_exact_mut(G::BYTES)) {
                    G::encode(point, out);
                }
            },
        );
    }
}

/// One thread's room for a batch.
struct Batch<'a, G: FixedBaseGroup> {
    base: &'a FixedBase<G>,
    accumulators: Vec<Point<G::Field>>,
    /// One window's entries for all scalars.
    operands: Vec<Point<G::Field>>,
    /// `digits[w * BATCH + i]`: window `w` of scalar `i`.
    digits: Vec<i32>,
    adder: BatchAdder<G::Field>,
}

impl<'a, G: FixedBaseGroup> Batch<'a, G> {
    fn new(base: &'a FixedBase<G>) -> Self {
        Self {
            base,
            accumulators: Vec::with_capacity(BATCH),
            operands: Vec::with_capacity(BATCH),
            digits: vec![0; base.rows.len() * BATCH],
            adder: BatchAdder::new(BATCH),
        }
    }

    /// The multiples of at most `BATCH` scalars.
    fn multiply(&mut self, scalars: &[Fr]) -> &[Point<G::Field>] {
        for (i, scalar) in scalars.iter().enumerate() {
            for (w, digit) in digits(scalar, self.base.bits).enumerate() {
                self.digits[w * BATCH + i] = digit;
            }
        }
        self.accumulators.clear();
        for (row, digits) in self.base.rows.iter().zip(self.digits.chunks_exact(BATCH)) {
            let digits = &digits[..scalars.len()];
            // A loop of nothing but loads: the table's cache misses overlap. Read where they are used, they would cost as
            // much as the arithmetic.
            self.operands.clear();
            self.operands.extend(digits.iter().map(|digit| row[digit.unsigned_abs() as usize]));
            for (operand, digit) in self.operands.iter_mut().zip(digits) {
                operand.y.negate_if(*digit < 0);
            }
            if self.accumulators.is_empty() {
                mem::swap(&mut self.accumulators, &mut self.operands);
            } else {
                self.adder.add(&mut self.accumulators, &self.operands);
            }
        }
        &self.accumulators
    }
}

fn windows(bits: usize) -> usize {
    (Fr::NUM_BITS as usize).div_ceil(bits)
}

/// The largest absolute value of a digit of window `w`.
fn largest_digit(bits: usize, w: usize) -> usize {
    if w + 1 < windows(bits) {
        return 1 << (bits - 1);
    }
    // The top digit is not folded: at most the modulus' own top bits, and a carry.
    let largest = -<Fr as ff::Field>::ONE;
    bits_of(&largest.to_bytes_le(), w * bits, bits) as usize + 1
}

/// The signed digits of a scalar, lowest window first.
fn digits(scalar: &Fr, bits: usize) -> impl Iterator<Item = i32> {
    let bytes = scalar.to_bytes_le();
    let top = windows(bits) - 1;
    let mut carry = 0;
    (0..=top).map(move |w| {
        let digit = bits_of(&bytes, w * bits, bits) as i32 + carry;
        carry = (w < top && digit > 1 << (bits - 1)) as i32;
        digit - (carry << bits)
    })
}

/// `count` bits (at most 24) from bit `from` of a little-endian number; zero beyond its end.
fn bits_of(bytes: &[u8; 32], from: usize, count: usize) -> u32 {
    let mut word = [0; 4];
    for (out, byte) in word.iter_mut().zip(&bytes[from / 8..]) {
        *out = *byte;
    }
    (u32::from_le_bytes(word) >> (from % 8)) & ((1 << count) - 1)
}

/// `0, 1, ... largest` times `start`.
fn multiples<F: BaseField>(start: &Point<F>, largest: usize) -> Vec<Point<F>> {
    let mut row = Vec::with_capacity(largest + 1);
    row.extend([Point::default(), *start]);
    let mut adder = BatchAdder::new(BATCH);
    // With 1 ..= k known, k + 1 ..= 2k follow by adding k to each.
    while row.len() <= largest {
        let known = row.len() - 1;
        let more = known.min(largest - known);
        let steps = vec![row[known]; more.min(BATCH)];
        for from in (1..=more).step_by(BATCH) {
            let count = BATCH.min(more + 1 - from);
            let mut sums = row[from..from + count].to_vec();
            adder.add(&mut sums, &steps[..count]);
            row.extend(sums);
        }
    }
    row
}

/// The window size with the fewest additions for `count` multiplications, tables included.
fn window_bits(count: usize) -> usize {
    let additions = |bits: usize| windows(bits) * ((1 << (bits - 1)) + count);
    (2..=MAX_BITS).min_by_key(|&bits| additions(bits)).unwrap_or(MAX_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use group::prime::PrimeCurveAffine;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    fn scalars(count: usize) -> Vec<Fr> {
        let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
        let mut scalars =
            vec![Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(1 << 16), Fr::from((1 << 16) + 1), -Fr::from(65537)];
        // 2^(17 w) - 1 and its like make carries run through.
        scalars.extend((1..255).flat_map(|n| [Fr::from(2).pow([n]), Fr::from(2).pow([n]) - Fr::ONE]));
        scalars.resize_with(count.max(scalars.len()), || Fr::random(&mut rng));
        scalars.truncate(count);
        scalars
    }

    fn check<G: FixedBaseGroup>(base: G, bits: usize, count: usize) {
        let scalars = scalars(count);
        let mut out = vec![0; count * G::BYTES];
        FixedBase::with_bits(&base, bits).multiply(&scalars, &mut out);
        for (i, (scalar, got)) in scalars.iter().zip(out.chunks_exact(G::BYTES)).enumerate() {
            let mut expected = vec![0; G::BYTES];
            G::encode(&(base * scalar).to_point(), &mut expected);
            assert_eq!(got, expected, "scalar {i} of {count}, {bits} bits");
        }
    }

    #[test]
    fn multiples_equal_plain_multiplication() {
        let base = G1Projective::generator() * Fr::from(0x1234_5678);
        for (bits, count) in [(2, 1), (3, 40), (5, 1001), (8, 1025), (11, 2048), (13, 700), (17, 600)] {
            check(base, bits, count);
        }
        let base = G2Projective::generator() * Fr::from(0x1234_5678);
        for (bits, count) in [(2, 1), (7, 600), (12, 1025)] {
            check(base, bits, count);
        }
        check(G1Projective::identity(), 4, 40);
        check(base, 9, 0);
    }

    #[test]
    fn digits_stay_within_the_tables_and_add_up() {
        for bits in 2..=MAX_BITS {
            for scalar in scalars(600) {
                let mut sum = Fr::ZERO;
                let mut weight = Fr::ONE;
                for (w, digit) in digits(&scalar, bits).enumerate() {
                    assert!(digit.unsigned_abs() as usize <= largest_digit(bits, w), "{bits} bits, window {w}");
                    let size = weight * Fr::from(digit.unsigned_abs() as u64);
                    sum += if digit < 0 { -size } else { size };
                    weight *= Fr::from(1 << bits);
                }
                assert_eq!(sum, scalar, "{bits} bits");
            }
        }
    }

    #[test]
    fn batch_additions_are_complete() {
        let p = G1Projective::generator();
        let q = p * Fr::from(7);
        let o = G1Projective::identity();
        let pairs = [(p, q), (p, p), (p, -p), (o, p), (p, o), (o, o), (-p, p), (q, p), (q, q)];
        let mut sums: Vec<_> = pairs.iter().map(|(a, _)| a.to_point()).collect();
        let operands: Vec<_> = pairs.iter().map(|(_, b)| b.to_point()).collect();
        BatchAdder::new(16).add(&mut sums, &operands);
        for (i, (a, b)) in pairs.iter().enumerate() {
            assert!(sums[i] == (a + b).to_point(), "pair {i}");
        }
        BatchAdder::<blst_fp>::new(0).add(&mut [], &[]);
    }

    #[test]
    fn the_identity_encodes_as_bellperson_writes_it() {
        let mut out = [0; G1_BYTES];
        G1Projective::encode(&Point::default(), &mut out);
        assert_eq!(out, G1Affine::identity().to_uncompressed());
    }

    #[test]
    fn windows_grow_with_the_work() {
        assert!(window_bits(1) < window_bits(1000));
        assert_eq!(window_bits(10_000_000), MAX_BITS);
    }
}
