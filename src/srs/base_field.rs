//! blst's base fields and affine points behind safe calls, and additions of many affine points at once.

use blst::{
    blst_fp, blst_fp2, blst_fp2_add, blst_fp2_cneg, blst_fp2_eucl_inverse, blst_fp2_mul, blst_fp2_sqr, blst_fp2_sub,
    blst_fp_add, blst_fp_cneg, blst_fp_eucl_inverse, blst_fp_mul, blst_fp_sqr, blst_fp_sub,
};
use blstrs::{Fp, Fp2};

/// The field of a curve's coordinates, elements reduced and in Montgomery form: Fp for G1, Fp2 for G2.
///
/// Operations work in place: returned by value, elements would be copied with wide loads right after blst's narrow stores,
/// which the processor cannot forward; an addition of points would take half as long again.
pub trait BaseField: Copy + Default + PartialEq + Send + Sync {
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
    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

macro_rules! base_field {
    ($field:ty, $one:expr, $add:ident, $sub:ident, $cneg:ident, $mul:ident, $sqr:ident, $inverse:ident) => {
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
        }
    };
}

base_field!(
    blst_fp,
    Fp::from(1u64).into(),
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
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_cneg,
    blst_fp2_mul,
    blst_fp2_sqr,
    blst_fp2_eucl_inverse
);

/// An affine point of `y^2 = x^3 + b`; (0, 0), which is on neither curve, stands for the identity.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Point<F> {
    pub x: F,
    pub y: F,
}

impl<F: BaseField> Point<F> {
    pub fn is_identity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }
}

/// How one addition of a batch is done.
#[derive(Clone, Copy)]
enum Step {
    /// The operand is the identity: nothing to do.
    Keep,
    /// The accumulator is the identity: take the operand.
    Take,
    /// The operands are opposite.
    Cancel,
    /// Slope `(y2 - y1) / (x2 - x1)`.
    Add,
    /// Slope `3 x^2 / 2 y`.
    Double,
}

/// What a batch of additions keeps between its two passes; reused from batch to batch.
pub struct BatchAdder<F> {
    steps: Vec<Step>,
    /// The slopes' denominators; 1 where there is no slope.
    denominators: Vec<F>,
    /// `prefixes[i]` is the product of the first `i` denominators.
    prefixes: Vec<F>,
}

impl<F: BaseField> BatchAdder<F> {
    /// For at most `capacity` additions at once.
    pub fn new(capacity: usize) -> Self {
        Self {
            steps: vec![Step::Keep; capacity],
            denominators: vec![F::one(); capacity],
            prefixes: vec![F::one(); capacity + 1],
        }
    }

    /// Adds `operands[i]` to `accumulators[i]`, for all of them. Complete: equal, opposite and identity operands are right
    /// too. One inversion for the batch (Montgomery's trick): 5 multiplications and a square an addition.
    ///
    /// # Panics
    /// When there are not as many operands as accumulators, or more than the capacity.
    pub fn add(&mut self, accumulators: &mut [Point<F>], operands: &[Point<F>]) {
        let count = accumulators.len();
        assert!(
            count == operands.len() && count <= self.steps.len(),
            "{count} accumulators, {} operands",
            operands.len()
        );
        for (i, (accumulator, operand)) in accumulators.iter().zip(operands).enumerate() {
            self.steps[i] = plan(accumulator, operand, &mut self.denominators[i]);
            let (before, after) = self.prefixes.split_at_mut(i + 1);
            after[0].set_product(&before[i], &self.denominators[i]);
        }
        // A product of nonzero denominators: `plan` sets no other.
        let mut inverse = self.prefixes[count].invert();
        let mut slope = F::default();
        for (i, (accumulator, operand)) in accumulators.iter_mut().zip(operands).enumerate().rev() {
            slope.set_product(&inverse, &self.prefixes[i]);
            inverse.mul_assign(&self.denominators[i]);
            match self.steps[i] {
                Step::Keep => {}
                Step::Take => *accumulator = *operand,
                Step::Cancel => *accumulator = Point::default(),
                Step::Add => {
                    let mut numerator = operand.y;
                    numerator.sub_assign(&accumulator.y);
                    slope.mul_assign(&numerator);
                    go_along(accumulator, &operand.x, &slope);
                }
                Step::Double => {
                    let mut square = F::default();
                    square.set_square(&accumulator.x);
                    let mut numerator = square;
                    numerator.add_assign(&square);
                    numerator.add_assign(&square);
                    slope.mul_assign(&numerator);
                    go_along(accumulator, &operand.x, &slope);
                }
            }
        }
    }
}

/// The kind of an addition; sets the denominator of its slope, never to zero.
#[inline]
fn plan<F: BaseField>(accumulator: &Point<F>, operand: &Point<F>, denominator: &mut F) -> Step {
    let step = if operand.is_identity() {
        Step::Keep
    } else if accumulator.is_identity() {
        Step::Take
    } else {
        *denominator = operand.x;
        denominator.sub_assign(&accumulator.x);
        if !denominator.is_zero() {
            return Step::Add;
        }
        *denominator = accumulator.y;
        denominator.add_assign(&accumulator.y);
        if operand.y == accumulator.y && !denominator.is_zero() {
            return Step::Double;
        }
        Step::Cancel
    };
    *denominator = F::one();
    step
}

/// Turns `p` into the sum of `p` and a point with abscissa `x2`, by the slope of the line through both:
/// `x3 = slope^2 - x1 - x2`, `y3 = slope (x1 - x3) - y1`.
#[inline]
fn go_along<F: BaseField>(p: &mut Point<F>, x2: &F, slope: &F) {
    let mut x3 = F::default();
    x3.set_square(slope);
    x3.sub_assign(&p.x);
    x3.sub_assign(x2);
    p.x.sub_assign(&x3);
    p.x.mul_assign(slope);
    p.y.sub_from(&p.x);
    p.x = x3;
}
