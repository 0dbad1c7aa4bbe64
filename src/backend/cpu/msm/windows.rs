//! Scalars cut into signed digits.

use blstrs::Scalar as Fr;
use ff::PrimeField;

/// How scalars are cut into signed digits of `bits` bits, least significant window first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    pub bits: u32,
    pub count: usize,
    /// Added to a scalar so that a window's digit is its unsigned value less half the radix: no carries between windows.
    /// The last window has none, its digits are not negative.
    offset: [u64; 4],
}

/// r, the order of the scalar field, least significant limb first.
const ORDER: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// Set in the last limb of a prepared scalar when its digits stand for the negative.
const NEGATIVE: u64 = 1 << 63;

impl Windows {
    /// # Panics
    /// When `bits` is not in 2..=24.
    pub fn new(bits: u32) -> Self {
        assert!((2..=24).contains(&bits), "window of {bits} bits");
        // Scalars are at most r / 2, and the windows below the last can carry one into it.
        let top_digit = |below: u32| (ORDER[3] >> 1 >> (bits * below - 192)) + 1;
        let mut below = 192u32.div_ceil(bits);
        while top_digit(below) > 1 << (bits - 1) {
            below += 1;
        }
        let mut offset = [0u64; 4];
        for w in 0..below {
            let bit = bits * w + bits - 1;
            offset[bit as usize / 64] |= 1 << (bit % 64);
        }
        Self { bits, count: below as usize + 1, offset }
    }

    /// The windows with the least work for `n` scalars: each window adds every point once, and each of its buckets costs as much as
    /// `bucket` additions beside. By counting that is one, in however many chunks the points come: two to sum the buckets, and the
    /// first point of each is taken and not added.
    pub fn for_length(n: usize, bucket: usize) -> Self {
        let work = |w: &Self| w.count * (n + bucket * w.buckets());
        (2..=20).map(Self::new).min_by_key(work).unwrap_or_else(|| Self::new(2))
    }

    pub fn buckets(&self) -> usize {
        1 << (self.bits - 1)
    }

    /// The scalar as its digits are read from it: the smaller of s and r - s, plus the offset; below 2^255.
    pub fn prepare(&self, scalar: &Fr) -> [u64; 4] {
        let bytes = scalar.to_repr();
        let limbs: [u64; 4] = std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| bytes[8 * i + j])));
        let negated = sub_limbs(&ORDER, &limbs);
        let negative = negated.iter().rev().lt(limbs.iter().rev());
        let mut prepared = add_limbs(if negative { &negated } else { &limbs }, &self.offset);
        prepared[3] |= if negative { NEGATIVE } else { 0 };
        prepared
    }

    /// The signed digit of window `w`, at most half the radix in magnitude.
    #[inline]
    pub fn digit(&self, prepared: &[u64; 4], w: usize) -> i32 {
        let bit = self.bits as usize * w;
        let limb = |i: usize| if i == 3 { prepared[3] & !NEGATIVE } else { prepared[i] };
        let (at, shift) = (bit / 64, bit % 64);
        let mut value = limb(at) >> shift;
        if shift > 0 && at < 3 {
            value |= limb(at + 1) << (64 - shift);
        }
        let mut digit = (value & ((1 << self.bits) - 1)) as i32;
        if w + 1 < self.count {
            digit -= 1 << (self.bits - 1);
        }
        if prepared[3] & NEGATIVE == 0 {
            digit
        } else {
            -digit
        }
    }
}

fn add_limbs(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = false;
    std::array::from_fn(|i| {
        let (x, c1) = a[i].overflowing_add(b[i]);
        let (x, c2) = x.overflowing_add(u64::from(carry));
        carry = c1 | c2;
        x
    })
}

fn sub_limbs(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    std::array::from_fn(|i| {
        let (x, b1) = a[i].overflowing_sub(b[i]);
        let (x, b2) = x.overflowing_sub(u64::from(borrow));
        borrow = b1 | b2;
        x
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    #[test]
    fn digits_add_up_to_the_scalar() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let half = Fr::from(2).invert().unwrap();
        let mut scalars =
            vec![Fr::ZERO, Fr::ONE, -Fr::ONE, half, -half, half - Fr::ONE, Fr::from(2), Fr::from(u64::MAX)];
        scalars.extend((0..100).map(|_| Fr::random(&mut rng)));
        scalars.extend((0..255).map(|k| Fr::from(2).pow_vartime([k])));
        for bits in 2..=24 {
            let windows = Windows::new(bits);
            for s in &scalars {
                let prepared = windows.prepare(s);
                let radix = Fr::from(1 << bits);
                let sum = (0..windows.count).rev().fold(Fr::ZERO, |acc, w| {
                    let d = windows.digit(&prepared, w);
                    assert!(d.unsigned_abs() as usize <= windows.buckets(), "{bits} bits, window {w}: {d}");
                    let magnitude = Fr::from(u64::from(d.unsigned_abs()));
                    acc * radix + if d < 0 { -magnitude } else { magnitude }
                });
                assert_eq!(sum, *s, "{bits} bits");
            }
        }
    }

    #[test]
    fn order_is_the_fields() {
        assert_eq!(add_limbs(&sub_limbs(&ORDER, &[1, 0, 0, 0]), &[1, 0, 0, 0]), ORDER);
        let minus_one = (-Fr::ONE).to_repr();
        let limbs = sub_limbs(&ORDER, &[1, 0, 0, 0]);
        let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
        assert_eq!(bytes, minus_one);
    }
}
