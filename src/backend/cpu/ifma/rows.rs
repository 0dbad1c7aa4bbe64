//! Where a quotient's first passes take their elements from: rows in whatever form, and products of two.

use blstrs::Scalar as Fr;
use ff::Field;

use super::fr::{self, carry, mul, Lanes};
use super::shared::{Source, WIDTH};
use crate::constraints::Rows;

/// The rows' values.
pub struct Expanded<'a>(pub &'a dyn Rows);

/// The products of two matrices' values, times 2^-4: the lanes' Montgomery radix is 2^260, that of elements in memory 2^256.
pub struct Product<'a>(pub &'a dyn Rows, pub &'a dyn Rows);

#[target_feature(enable = "avx512f")]
#[inline]
fn load(rows: &dyn Rows, first: usize) -> Lanes {
    let mut elements = [Fr::ZERO; WIDTH];
    rows.expand_into(first..first + WIDTH, &mut elements);
    fr::load(&elements)
}

impl Source for Expanded<'_> {
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(&self, first: usize) -> Lanes {
        load(self.0, first)
    }
}

impl Source for Product<'_> {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    unsafe fn load(&self, first: usize) -> Lanes {
        carry(&mul(&load(self.0, first), &load(self.1, first)))
    }
}
