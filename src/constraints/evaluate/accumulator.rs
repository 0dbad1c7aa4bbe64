//! Sums of field elements and of their products, reduced once at the end.

use std::sync::LazyLock;

use blst::blst_fr;
use blstrs::Scalar as Fr;

use crate::constraints::coefficients::limbs;

/// Limbs of the order r, lowest first.
const MODULUS: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// -1 / r modulo 2^64.
const MINUS_INVERSE: u64 = 0xffff_fffe_ffff_ffff;

/// 2^256 as an element.
static TWO_TO_256: LazyLock<Fr> = LazyLock::new(|| (0..256).fold(Fr::from(1), |x, _| x + x));

/// A sum of Montgomery forms and one of products of two of them. Each has limbs for 2^64 terms and more.
pub(super) struct Accumulator {
    /// Below 2^318 with each term that [`Accumulator::add_times`] adds.
    sum: [u64; 6],
    /// Below 2^510 with each product.
    products: [u64; 9],
}

#[inline(always)]
fn add_carry(a: u64, b: u64, carry: &mut u64) -> u64 {
    let sum = u128::from(a) + u128::from(b) + u128::from(*carry);
    *carry = (sum >> 64) as u64;
    sum as u64
}

/// a + x * y + carry
#[inline(always)]
fn multiply_add(a: u64, x: u64, y: u64, carry: &mut u64) -> u64 {
    let sum = u128::from(x) * u128::from(y) + u128::from(a) + u128::from(*carry);
    *carry = (sum >> 64) as u64;
    sum as u64
}

/// a - b, and whether it went below zero.
#[inline(always)]
fn subtract(a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (x, first) = a[i].overflowing_sub(b[i]);
        let (x, second) = x.overflowing_sub(borrow.into());
        borrow = first | second;
        x
    });
    (difference, borrow)
}

impl Accumulator {
    #[inline(always)]
    pub fn new() -> Self {
        Self { sum: [0; 6], products: [0; 9] }
    }

    #[inline(always)]
    pub fn add(&mut self, value: &Fr) {
        self.add_limbs(limbs(value));
    }

    #[inline(always)]
    fn add_limbs(&mut self, [l0, l1, l2, l3]: [u64; 4]) {
        let mut carry = 0;
        for (sum, limb) in self.sum.iter_mut().zip([l0, l1, l2, l3, 0, 0]) {
            *sum = add_carry(*sum, limb, &mut carry);
        }
    }

    #[inline(always)]
    pub fn subtract(&mut self, value: &Fr) {
        // r - value is no less than zero, and r itself counts as zero when all is reduced.
        let (opposite, _) = subtract(MODULUS, limbs(value));
        self.add_limbs(opposite);
    }

    /// `times` is below 2^63.
    #[inline(always)]
    pub fn add_times(&mut self, value: &Fr, times: u64) {
        let mut carry = 0;
        for (sum, limb) in self.sum.iter_mut().zip(limbs(value)) {
            *sum = multiply_add(*sum, limb, times, &mut carry);
        }
        let mut rest = 0;
        self.sum[4] = add_carry(self.sum[4], carry, &mut rest);
        self.sum[5] = self.sum[5].wrapping_add(rest);
    }

    #[inline(always)]
    pub fn add_product(&mut self, x: &Fr, y: &Fr) {
        let (x, y) = (limbs(x), limbs(y));
        let mut product = [0; 8];
        for i in 0..4 {
            let mut carry = 0;
            for j in 0..4 {
                product[i + j] = multiply_add(product[i + j], x[j], y[i], &mut carry);
            }
            product[i + 4] = carry;
        }
        let mut carry = 0;
        for (sum, limb) in self.products.iter_mut().zip(product) {
            *sum = add_carry(*sum, limb, &mut carry);
        }
        self.products[8] = self.products[8].wrapping_add(carry);
    }

    /// The sum of all that was added.
    #[inline(always)]
    pub fn total(mut self) -> Fr {
        self.add_products();
        let mut low = [self.sum[0], self.sum[1], self.sum[2], self.sum[3]];
        // Below 2^256, which is less than three times r.
        for _ in 0..2 {
            let (less, negative) = subtract(low, MODULUS);
            if negative {
                break;
            }
            low = less;
        }
        let low = Fr::from(blst_fr { l: low });
        if self.sum[4] | self.sum[5] == 0 {
            return low;
        }
        // What stands above 2^256, taken for a Montgomery form, is 2^-256 of what it should be.
        low + Fr::from(blst_fr { l: [self.sum[4], self.sum[5], 0, 0] }) * *TWO_TO_256
    }

    /// Montgomery's reduction of the products, onto the sum.
    #[inline(always)]
    fn add_products(&mut self) {
        let products = &mut self.products;
        if *products == [0; 9] {
            return;
        }
        for i in 0..4 {
            let factor = products[i].wrapping_mul(MINUS_INVERSE);
            let mut carry = 0;
            for j in 0..4 {
                products[i + j] = multiply_add(products[i + j], factor, MODULUS[j], &mut carry);
            }
            for limb in &mut products[i + 4..] {
                let mut rest = 0;
                *limb = add_carry(*limb, carry, &mut rest);
                carry = rest;
            }
        }
        let mut carry = 0;
        for i in 0..6 {
            let product = products.get(4 + i).copied().unwrap_or(0);
            self.sum[i] = add_carry(self.sum[i], product, &mut carry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::{Field, PrimeField};
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    #[test]
    fn constants_are_those_of_the_field() {
        assert_eq!(MODULUS[0].wrapping_mul(MINUS_INVERSE), u64::MAX);
        let hex: String = MODULUS.iter().rev().map(|limb| format!("{limb:016x}")).collect();
        assert_eq!(format!("0x{hex}"), Fr::MODULUS);
    }

    #[test]
    fn sums_are_those_of_the_field() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), TWO_TO_256.square()];
        let values: Vec<Fr> = edges.into_iter().chain((0..20).map(|_| Fr::random(&mut rng))).collect();
        for terms in [0, 1, 2, 3, 10, 1000] {
            for kind in 0..5 {
                let (mut sum, mut expected) = (Accumulator::new(), Fr::ZERO);
                for i in 0..terms {
                    let (x, y, k) = (&values[i % 25], &values[(i * 7 + 1) % 25], (1 << 63) - 1 - i as u64);
                    if kind == 0 || kind == 4 {
                        sum.add(x);
                        expected += x;
                    }
                    if kind == 1 || kind == 4 {
                        sum.subtract(x);
                        expected -= x;
                    }
                    if kind == 2 || kind == 4 {
                        sum.add_times(x, k);
                        expected += Fr::from(k) * x;
                    }
                    if kind == 3 || kind == 4 {
                        sum.add_product(x, y);
                        expected += x * y;
                    }
                }
                assert_eq!(sum.total(), expected, "{terms} terms of kind {kind}");
            }
        }
    }
}
