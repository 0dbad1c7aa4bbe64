//! Many multiples of one point: signed windows, a table of affine multiples per window, additions in batches.
//!
//! A scalar is cut into digits of `bits` bits in `-2^(bits-1) ..= 2^(bits-1)`, except the top one, which takes the carry
//! and is not folded. Window `w`'s table holds `d * 2^(bits w) * base`; a multiple is the sum of one entry a window. A
//! batch of scalars goes through the windows together, so that all its additions in one window share an inversion.

use blstrs::Scalar as Fr;
use ff::PrimeField;
use group::Group;
use rayon::prelude::*;

use crate::backend::cpu::accumulators::{Accumulators, Entry};
use crate::backend::cpu::affine::{Affine, BatchAdder};
use crate::backend::cpu::curve::Curve;
use crate::backend::cpu::field::BaseField;
use crate::backend::cpu::msm::SumGroup;

/// Scalars that go through the windows together: a batch's points and its two passes' scratch stay in a core's L2 cache
/// (200 KiB in G1), and an inversion is spread thin.
pub const BATCH: usize = 1024;

/// Largest window: its rows take 6 MiB in G1, 8 in lanes, which an L3 cache still holds. 17 bits cut 255 in 15 windows; so do 18.
const MAX_BITS: usize = 17;

/// Multiples of one base, for [`FixedBase::multiply`], in the form that the group's sums have.
pub struct FixedBase<G: SumGroup> {
    bits: usize,
    /// `rows[w][d] = d * 2^(bits w) * base`, from `d = 0`, the identity.
    rows: Vec<Vec<G::Point>>,
}

impl<G: SumGroup> FixedBase<G> {
    /// Bytes of an encoded point.
    pub const BYTES: usize = G::Curve::BYTES;

    /// Tables for about `count` multiplications, on rayon.
    pub fn new(base: &G::Projective, count: usize) -> Self {
        Self::with_bits(base, window_bits(count))
    }

    fn with_bits(base: &G::Projective, bits: usize) -> Self {
        let mut starts = Vec::with_capacity(windows(bits));
        let mut start = *base;
        for _ in 0..windows(bits) {
            starts.push(G::Curve::to_affine(&start));
            for _ in 0..bits {
                start = start.double();
            }
        }
        let row = |(w, start)| multiples(start, largest_digit(bits, w)).iter().map(G::from_affine).collect();
        let rows = starts.par_iter().enumerate().map(row).collect();
        Self { bits, rows }
    }

    /// Writes the encodings of `scalars[i] * base` one after the other; `out` has [`Self::BYTES`] for each scalar. On rayon.
    pub fn multiply(&self, scalars: &[Fr], out: &mut [u8]) {
        assert_eq!(out.len(), scalars.len() * Self::BYTES, "bytes for {} points", scalars.len());
        scalars.par_chunks(BATCH).zip(out.par_chunks_mut(BATCH * Self::BYTES)).for_each_init(
            || Batch::new(self),
            |batch, (scalars, out)| {
                for (point, out) in batch.multiply(scalars).iter().zip(out.chunks_exact_mut(Self::BYTES)) {
                    G::Curve::encode(&G::to_affine(point), out);
                }
            },
        );
    }
}

/// One thread's room for a batch.
struct Batch<'a, G: SumGroup> {
    base: &'a FixedBase<G>,
    /// `digits[w * BATCH + i]`: window `w` of scalar `i`, as the place in its row.
    digits: Vec<Entry>,
    accumulators: G::Accumulators,
    sums: Vec<G::Point>,
}

impl<'a, G: SumGroup> Batch<'a, G> {
    fn new(base: &'a FixedBase<G>) -> Self {
        let digits = vec![Entry::default(); base.rows.len() * BATCH];
        Self { base, digits, accumulators: G::Accumulators::default(), sums: Vec::with_capacity(BATCH) }
    }

    /// The multiples of at most `BATCH` scalars.
    fn multiply(&mut self, scalars: &[Fr]) -> &[G::Point] {
        for (i, scalar) in scalars.iter().enumerate() {
            for (w, digit) in digits(scalar, self.base.bits).enumerate() {
                self.digits[w * BATCH + i] = Entry::new(digit.unsigned_abs(), digit < 0);
            }
        }
        for (w, (row, digits)) in self.base.rows.iter().zip(self.digits.chunks_exact(BATCH)).enumerate() {
            let digits = &digits[..scalars.len()];
            match w {
                0 => self.accumulators.set(row, digits),
                _ => self.accumulators.add(row, digits, &[]),
            }
        }
        self.sums.clear();
        self.accumulators.for_each(|_, sum| self.sums.push(sum));
        &self.sums
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
fn multiples<F: BaseField>(start: &Affine<F>, largest: usize) -> Vec<Affine<F>> {
    let mut row = Vec::with_capacity(largest + 1);
    row.extend([Affine::default(), *start]);
    let mut adder = BatchAdder::default();
    let mut operands = Vec::new();
    // With 1 ..= k known, k + 1 ..= 2k follow by adding k to each.
    while row.len() <= largest {
        let known = row.len() - 1;
        let more = known.min(largest - known);
        let step = row[known];
        for from in (1..=more).step_by(BATCH) {
            let mut sums: Vec<_> = row[from..=more.min(from + BATCH - 1)].to_vec();
            operands.resize(sums.len(), step);
            operands.fill(step);
            adder.add(&mut sums, &operands);
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
    use crate::backend::cpu::curve::{G1, G2};
    use crate::backend::cpu::msm::Portable;
    use blstrs::{G1Projective, G2Projective};
    use ff::Field;
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

    fn check<G: SumGroup>(base: G::Projective, bits: usize, count: usize) {
        let scalars = scalars(count);
        let bytes = FixedBase::<G>::BYTES;
        let mut out = vec![0; count * bytes];
        FixedBase::<G>::with_bits(&base, bits).multiply(&scalars, &mut out);
        for (i, (scalar, got)) in scalars.iter().zip(out.chunks_exact(bytes)).enumerate() {
            let mut expected = vec![0; bytes];
            G::Curve::encode(&G::Curve::to_affine(&(base * scalar)), &mut expected);
            assert_eq!(got, expected, "scalar {i} of {count}, {bits} bits");
        }
    }

    fn check_all<A, B>()
    where
        A: SumGroup<Projective = G1Projective>,
        B: SumGroup<Projective = G2Projective>,
    {
        let multiplier = Fr::from(0x1234_5678);
        let base = G1Projective::generator() * multiplier;
        for (bits, count) in [(2, 1), (3, 40), (5, 1001), (8, 1025), (11, 2048), (13, 700), (17, 600)] {
            check::<A>(base, bits, count);
        }
        check::<A>(base, 9, 0);
        check::<A>(Group::identity(), 4, 40);
        let base = G2Projective::generator() * multiplier;
        for (bits, count) in [(2, 1), (7, 600), (12, 1025)] {
            check::<B>(base, bits, count);
        }
    }

    #[test]
    fn multiples_equal_plain_multiplication() {
        check_all::<Portable<G1>, Portable<G2>>();
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn multiples_in_lanes_equal_plain_multiplication() {
        use crate::backend::cpu::ifma;
        if ifma::is_available() {
            check_all::<ifma::G1Lanes, ifma::G2Lanes>();
        }
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
    fn windows_grow_with_the_work() {
        assert!(window_bits(1) < window_bits(1000));
        assert_eq!(window_bits(10_000_000), MAX_BITS);
    }
}
