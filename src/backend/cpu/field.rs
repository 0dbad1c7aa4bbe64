//! The curves' base fields: blst's, behind safe calls.

use blst::{
    blst_fp, blst_fp2, blst_fp2_add, blst_fp2_cneg, blst_fp2_eucl_inverse, blst_fp2_mul, blst_fp2_sqr, blst_fp2_sub,
    blst_fp_add, blst_fp_cneg, blst_fp_eucl_inverse, blst_fp_mul, blst_fp_sqr, blst_fp_sub,
};
use blstrs::{Fp, Fp2};

use crate::backend::memory::Plain;

/// The field of a curve's coordinates, elements reduced and in Montgomery form: Fp for G1, Fp2 for G2.
///
/// Operations work in place: returned by value, elements would be copied with wide loads right after blst's narrow stores,
/// which the processor cannot forward; an addition of points would take half as long again. Comparisons take a variable
/// time: nothing here is secret to the prover's own host.
pub trait BaseField: Plain + Default + PartialEq + 'static {
    fn one() -> Self;
    fn add_assign(&mut self, other: &Self);
    fn sub_assign(&mut self, other: &Self);
    /// `self = other - self`.
    fn sub_from(&mut self, other: &Self);
    fn mul_assign(&mut self, other: &Self);
    /// `self = a * b`.
    fn set_product(&mut self, a: &Self, b: &Self);
    /// `self = a * a`.
    fn set_square(&mut self, a: &Self);
    /// Without a branch.
    fn negate_if(&mut self, flag: bool);
    /// Of zero: zero.
    fn invert(&self) -> Self;
    fn is_zero(&self) -> bool;
}

// SAFETY: six words; those that are not below p are a wrong number, not an invalid value.
unsafe impl Plain for blst_fp {}
// SAFETY: twelve, likewise.
unsafe impl Plain for blst_fp2 {}

/// Hardly any element that is not zero has a first limb that is. The comparison of all limbs is a call, which took a tenth of a sum.
#[inline]
fn fp_is_zero(x: &blst_fp) -> bool {
    x.l[0] == 0 && x.l == [0; 6]
}

#[inline]
fn fp2_is_zero(x: &blst_fp2) -> bool {
    x.fp.iter().all(fp_is_zero)
}

macro_rules! base_field {
    ($field:ty, $one:expr, $zero:ident, $add:ident, $sub:ident, $cneg:ident, $mul:ident, $sqr:ident, $inverse:ident) => {
        impl BaseField for $field {
            fn one() -> Self {
                $one
            }
            #[inline]
            fn add_assign(&mut self, other: &Self) {
                let this: *mut Self = self;
                // SAFETY: valid, aligned elements; blst's field operations let the output be an operand.
                unsafe { $add(this, this, other) };
            }
            #[inline]
            fn sub_assign(&mut self, other: &Self) {
                let this: *mut Self = self;
                // SAFETY: as in `add_assign`.
                unsafe { $sub(this, this, other) };
            }
            #[inline]
            fn sub_from(&mut self, other: &Self) {
                let this: *mut Self = self;
                // SAFETY: as in `add_assign`.
                unsafe { $sub(this, other, this) };
            }
            #[inline]
            fn mul_assign(&mut self, other: &Self) {
                let this: *mut Self = self;
                // SAFETY: as in `add_assign`.
                unsafe { $mul(this, this, other) };
            }
            #[inline]
            fn set_product(&mut self, a: &Self, b: &Self) {
                // SAFETY: valid, aligned elements; the first is written, the others are read.
                unsafe { $mul(self, a, b) };
            }
            #[inline]
            fn set_square(&mut self, a: &Self) {
                // SAFETY: as in `set_product`.
                unsafe { $sqr(self, a) };
            }
            #[inline]
            fn negate_if(&mut self, flag: bool) {
                let this: *mut Self = self;
                // SAFETY: as in `add_assign`.
                unsafe { $cneg(this, this, flag) };
            }
            fn invert(&self) -> Self {
                let mut out = Self::default();
                // SAFETY: as in `set_product`.
                unsafe { $inverse(&mut out, self) };
                out
            }
            #[inline]
            fn is_zero(&self) -> bool {
                $zero(self)
            }
        }
    };
}

base_field!(
    blst_fp,
    Fp::from(1u64).into(),
    fp_is_zero,
    blst_fp_add,
    blst_fp_sub,
    blst_fp_cneg,
    blst_fp_mul,
    blst_fp_sqr,
    blst_fp_eucl_inverse
);
base_field!(
    blst_fp2,
    Fp2::from(1u64).into(),
    fp2_is_zero,
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_cneg,
    blst_fp2_mul,
    blst_fp2_sqr,
    blst_fp2_eucl_inverse
);
