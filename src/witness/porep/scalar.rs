//! Arithmetic of the scalar field on blst's own limbs, inlined, with one reduction for a whole scalar product.
//!
//! blst's assembly has no sum of products, and costs a call for each operation.

use blst::blst_fr;
use blstrs::Scalar as Fr;

/// r, the field's modulus, lowest limb first.
const MODULUS: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// -1 / r modulo 2^64.
const NEGATIVE_INVERSE: u64 = 0xffff_fffe_ffff_ffff;
/// 4 r, 2 r, r in five limbs.
const MULTIPLES: [[u64; 5]; 3] = [doubled(2), doubled(1), doubled(0)];

/// An element: reduced, in Montgomery form with radix 2^256, lowest limb first. As blst has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scalar([u64; 4]);

impl From<Fr> for Scalar {
    #[inline(always)]
    fn from(element: Fr) -> Self {
        Self(blst_fr::from(element).l)
    }
}

impl From<Scalar> for Fr {
    #[inline(always)]
    fn from(element: Scalar) -> Self {
        blst_fr { l: element.0 }.into()
    }
}

/// r 2^k for k below 3.
const fn doubled(k: u32) -> [u64; 5] {
    let (mut limbs, mut carry, mut i) = ([0; 5], 0, 0);
    while i < 4 {
        let x = (MODULUS[i] as u128) << k | carry as u128;
        limbs[i] = x as u64;
        carry = (x >> 64) as u64;
        i += 1;
    }
    limbs[4] = carry;
    limbs
}

/// sum + a b + carry; the carry of that.
#[inline(always)]
fn multiply_add(sum: u64, a: u64, b: u64, carry: &mut u64) -> u64 {
    let wide = u128::from(a) * u128::from(b) + u128::from(sum) + u128::from(*carry);
    *carry = (wide >> 64) as u64;
    wide as u64
}

#[inline(always)]
fn add_carry(a: u64, b: u64, carry: &mut u64) -> u64 {
    let wide = u128::from(a) + u128::from(b) + u128::from(*carry);
    *carry = (wide >> 64) as u64;
    wide as u64
}

/// x - y, or x where that is less than zero.
#[inline(always)]
fn subtract_once<const N: usize>(x: [u64; N], y: &[u64; N]) -> [u64; N] {
    let (mut difference, mut borrow) = ([0; N], false);
    for i in 0..N {
        let (first, below) = x[i].overflowing_sub(y[i]);
        let (second, below_again) = first.overflowing_sub(borrow.into());
        (difference[i], borrow) = (second, below | below_again);
    }
    std::array::from_fn(|i| if borrow { x[i] } else { difference[i] })
}

impl Scalar {
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        let mut carry = 0;
        // Below 2 r, so below 2^256.
        let sum = std::array::from_fn(|i| add_carry(self.0[i], other.0[i], &mut carry));
        Self(subtract_once(sum, &MODULUS))
    }

    /// Montgomery's product, each limb of it reduced as it comes. The carries need no fifth limb, since r is below 2^255.
    #[inline(always)]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = [0; 4];
        for factor in other.0 {
            let (mut carry, mut reduction_carry) = (0, 0);
            let lowest = multiply_add(product[0], self.0[0], factor, &mut carry);
            let multiple = lowest.wrapping_mul(NEGATIVE_INVERSE);
            multiply_add(lowest, multiple, MODULUS[0], &mut reduction_carry);
            for j in 1..4 {
                let limb = multiply_add(product[j], self.0[j], factor, &mut carry);
                product[j - 1] = multiply_add(limb, multiple, MODULUS[j], &mut reduction_carry);
            }
            product[3] = carry + reduction_carry;
        }
        Self(subtract_once(product, &MODULUS))
    }

    /// The scalar product of at most 12 terms, reduced once: it is below 12 r^2, what is left after Montgomery's reduction
    /// below 12 r^2 / 2^256 + r < 8 r.
    #[inline(always)]
    pub fn dot(a: &[Self], b: &[Self]) -> Self {
        let mut sum = [0; 9];
        for (a, b) in a.iter().zip(b) {
            add_product(&mut sum, &a.0, &b.0);
        }
        for i in 0..4 {
            let multiple = sum[i].wrapping_mul(NEGATIVE_INVERSE);
            let mut carry = 0;
            for j in 0..4 {
                sum[i + j] = multiply_add(sum[i + j], multiple, MODULUS[j], &mut carry);
            }
            for limb in &mut sum[i + 4..] {
                *limb = add_carry(*limb, 0, &mut carry);
            }
        }
        let mut rest = [sum[4], sum[5], sum[6], sum[7], sum[8]];
        for multiple in &MULTIPLES {
            rest = subtract_once(rest, multiple);
        }
        Self([rest[0], rest[1], rest[2], rest[3]])
    }
}

/// Adds a b, without reduction.
#[inline(always)]
fn add_product(sum: &mut [u64; 9], a: &[u64; 4], b: &[u64; 4]) {
    let mut product = [0; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            product[i + j] = multiply_add(product[i + j], a[j], b[i], &mut carry);
        }
        product[i + 4] = carry;
    }
    let mut carry = 0;
    for i in 0..8 {
        sum[i] = add_carry(sum[i], product[i], &mut carry);
    }
    sum[8] += carry;
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    use super::*;

    /// Random ones, and those next to zero, to r, and to the radix.
    fn elements() -> Vec<Fr> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let small = (0..4).map(Fr::from).collect::<Vec<_>>();
        let radix = Fr::from(2).pow_vartime([256]);
        let near = small.iter().flat_map(|s| [*s, -*s, radix + s, radix - s, radix.invert().unwrap() * s]);
        near.chain((0..30).map(|_| Fr::random(&mut rng))).collect()
    }

    #[test]
    fn sums_and_products_are_blsts() {
        for a in elements() {
            for b in elements() {
                assert_eq!(Fr::from(Scalar::from(a).plus(&b.into())), a + b, "{a} {b}");
                assert_eq!(Fr::from(Scalar::from(a).times(&b.into())), a * b, "{a} {b}");
            }
        }
    }

    #[test]
    fn scalar_products_of_up_to_twelve_terms_are_sums_of_products() {
        let elements = elements();
        // The largest: all limbs in Montgomery form those of r - 1.
        let largest = Fr::from(Scalar([MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]]));
        for terms in 0..=12 {
            let check = |a: &[Fr], b: &[Fr]| {
                let [x, y] = [a, b].map(|v| v.iter().copied().map(Scalar::from).collect::<Vec<_>>());
                let expected = a.iter().zip(b).map(|(a, b)| *a * b).sum::<Fr>();
                assert_eq!(Fr::from(Scalar::dot(&x, &y)), expected, "{terms}");
            };
            check(&vec![largest; terms], &vec![largest; terms]);
            for (a, b) in elements.windows(terms.max(1)).zip(elements.windows(terms.max(1)).rev()) {
                check(&a[..terms], &b[..terms]);
            }
        }
    }
}
