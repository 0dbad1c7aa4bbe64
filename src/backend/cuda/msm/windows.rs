//! How scalars are cut into signed digits (kernels/msm/digits.cuh).

/// Windows of `bits` bits each, least significant first. Of a scalar s and r - s the smaller is cut; a digit above half the radix
/// is taken less the radix, with a carry into the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    pub bits: u32,
    pub count: u32,
}

/// The highest limb of r, the order of the scalar field.
const TOP_OF_ORDER: u64 = 0x73ed_a753_299d_7d48;

/// Field multiplications of the additions: of an affine point, and of another.
const ADD_AFFINE: usize = 10;
const ADD: usize = 14;

/// Above, the buckets of all windows would be more than 400 MB in G2.
const MOST_BITS: u32 = 17;

impl Windows {
    /// As many windows as leave no carry out of the last one.
    ///
    /// # Panics
    /// When `bits` is not in 2..=24.
    pub fn new(bits: u32) -> Self {
        assert!((2..=24).contains(&bits), "window of {bits} bits");
        // The highest digit of r / 2, with what is carried into it.
        let top_digit = |below: u32| (TOP_OF_ORDER >> 1 >> (bits * below - 192)) + 1;
        let mut below = 192u32.div_ceil(bits);
        while top_digit(below) > 1 << (bits - 1) {
            below += 1;
        }
        Self { bits, count: below + 1 }
    }

    /// The windows with the least work for `n` scalars that come in `chunks`: each window adds every base once, in every chunk a sum
    /// to each of its buckets, and at the end each bucket to two running sums.
    pub fn for_length(n: usize, chunks: usize) -> Self {
        let work = |w: &Self| w.count as usize * (n * ADD_AFFINE + w.buckets_of_one() * (chunks + 2) * ADD);
        (2..=MOST_BITS).map(Self::new).min_by_key(work).unwrap_or_else(|| Self::new(2))
    }

    /// The buckets of one window: one for each magnitude of a digit but zero.
    pub fn buckets_of_one(&self) -> usize {
        1 << (self.bits - 1)
    }

    /// The buckets of all windows.
    pub fn buckets(&self) -> usize {
        self.count as usize * self.buckets_of_one()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::Scalar as Fr;
    use ff::{Field, PrimeField};

    /// The digits as the kernels make them, of a scalar's little-endian bytes; the carry out of the last.
    fn digits(bytes: &[u8; 32], windows: Windows) -> (Vec<i64>, i64) {
        let half = 1i64 << (windows.bits - 1);
        let bit = |i: u32| i64::from(bytes.get(i as usize / 8).map_or(0, |byte| byte >> (i % 8) & 1));
        let mut carry = 0;
        let digits = (0..windows.count).map(|w| {
            let value = (0..windows.bits).map(|b| bit(windows.bits * w + b) << b).sum::<i64>() + carry;
            carry = i64::from(value > half);
            value - carry * 2 * half
        });
        (digits.collect(), carry)
    }

    #[test]
    fn no_carry_is_left_and_no_window_is_idle() {
        // (r - 1) / 2 is the largest that is cut; all digits at their limits below the highest bits carry everywhere.
        let half = Fr::from(2).invert().unwrap();
        let largest = -half;
        for bits in 2..=24 {
            let windows = Windows::new(bits);
            for scalar in [Fr::ZERO, Fr::ONE, largest, largest - Fr::ONE, Fr::from(2).pow_vartime([253]) - Fr::ONE] {
                let (digits, carry) = digits(&scalar.to_repr(), windows);
                assert_eq!(carry, 0, "{bits} bits");
                let value = digits.iter().rev().fold(Fr::ZERO, |sum, digit| {
                    assert!(digit.unsigned_abs() as usize <= windows.buckets_of_one());
                    let magnitude = Fr::from(digit.unsigned_abs());
                    sum * Fr::from(1 << bits) + if *digit < 0 { -magnitude } else { magnitude }
                });
                assert_eq!(value, scalar, "{bits} bits");
            }
            assert!(bits * (windows.count - 1) <= 254, "{bits} bits: {} windows", windows.count);
        }
    }

    #[test]
    fn longer_sums_have_wider_windows() {
        let bits = |n| Windows::for_length(n, n.div_ceil(1 << 20)).bits;
        assert!((2..=4).contains(&bits(1)) && bits(1 << 10) < bits(1 << 20));
        assert_eq!(bits(1 << 27), MOST_BITS);
        assert_eq!(Windows::for_length(0, 0), Windows::for_length(0, 1));
    }
}
