//! blst's base fields and affine points behind safe calls, and additions of many affine points at once.

use blst::{
    blst_fp, blst_fp2, blst_fp2_add, blst_fp2_cneg, blst_fp2_eucl_inverse, blst_fp2_mul, blst_fp2_sqr, blst_fp2_sub,
    blst_fp_add, blst_fp_cneg, blst_fp_eucl_inverse, blst_fp_mul, blst_fp_sqr, blst_fp_sub,
};
use blstrs::{Fp, Fp2};

/// The field of a curve's coordinates, elements reduced and in Montgomery form: Fp for G1, Fp2 for G2.
pub trait BaseField: Copy + Default + PartialEq + Send + Sync {
    fn one() -> Self;
    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    /// Negated if `flag`, without a branch.
    fn negate_if(&self, flag: bool) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
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
            fn add(&self, other: &Self) -> Self {
                let mut out = Self::default();
                // SAFETY: three valid, aligned elements; the function only reads the last two and writes the first.
                unsafe { $add(&mut out, self, other) };
                out
            }
            #[inline]
            fn sub(&self, other: &Self) -> Self {
                let mut out = Self::default();
                // SAFETY: as in `add`.
                unsafe { $sub(&mut out, self, other) };
                out
            }
            #[inline]
            fn negate_if(&self, flag: bool) -> Self {
                let mut out = Self::default();
                // SAFETY: two valid, aligned elements; the first is written, the second read.
                unsafe { $cneg(&mut out, self, flag) };
                out
            }
            #[inline]
            fn mul(&self, other: &Self) -> Self {
                let mut out = Self::default();
                // SAFETY: as in `add`.
                unsafe { $mul(&mut out, self, other) };
                out
            }
            #[inline]
            fn square(&self) -> Self {
                let mut out = Self::default();
                // SAFETY: as in `negate_if`.
                unsafe { $sqr(&mut out, self) };
                out
            }
            fn invert(&self) -> Self {
                let mut out = Self::default();
                // SAFETY: as in `negate_if`.
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
    denominators: Vec<F>,
    /// Product of the denominators before each one.
    prefixes: Vec<F>,
}

impl<F: BaseField> BatchAdder<F> {
    /// With room for `capacity` additions at once.
    pub fn new(capacity: usize) -> Self {
        Self {
            steps: Vec::with_capacity(capacity),
            denominators: Vec::with_capacity(capacity),
            prefixes: Vec::with_capacity(capacity),
        }
    }

    /// Adds `operands[i]` to `accumulators[i]`, for all of them. Complete: equal, opposite and identity operands are right
    /// too. One inversion for the batch (Montgomery's trick): 5 multiplications and a square an addition.
    ///
    /// # Panics
    /// When there are not as many operands as accumulators.
    pub fn add(&mut self, accumulators: &mut [Point<F>], operands: &[Point<F>]) {
        assert_eq!(accumulators.len(), operands.len(), "accumulators and operands");
        self.steps.clear();
        self.denominators.clear();
        self.prefixes.clear();
        let mut product = F::one();
        for (accumulator, operand) in accumulators.iter().zip(operands) {
            let (step, denominator) = plan(accumulator, operand);
            self.steps.push(step);
            self.prefixes.push(product);
            if let Step::Add | Step::Double = step {
                product = product.mul(&denominator);
            }
            self.denominators.push(denominator);
        }
        // A product of nonzero denominators: `plan` gives no slope with a zero one.
        let mut inverse = product.invert();
        for (i, (accumulator, operand)) in accumulators.iter_mut().zip(operands).enumerate().rev() {
            let step = self.steps[i];
            match step {
                Step::Keep => {}
                Step::Take => *accumulator = *operand,
                Step::Cancel => *accumulator = Point::default(),
                Step::Add | Step::Double => {
                    let numerator = match step {
                        Step::Add => operand.y.sub(&accumulator.y),
                        _ => triple(&accumulator.x.square()),
                    };
                    let slope = numerator.mul(&inverse.mul(&self.prefixes[i]));
                    inverse = inverse.mul(&self.denominators[i]);
                    *accumulator = third(accumulator, &operand.x, &slope);
                }
            }
        }
    }
}

/// The kind of an addition and its slope's denominator (anything where there is no slope).
#[inline]
fn plan<F: BaseField>(accumulator: &Point<F>, operand: &Point<F>) -> (Step, F) {
    let difference = operand.x.sub(&accumulator.x);
    if operand.is_identity() {
        (Step::Keep, difference)
    } else if accumulator.is_identity() {
        (Step::Take, difference)
    } else if !difference.is_zero() {
        (Step::Add, difference)
    } else {
        let twice = accumulator.y.add(&accumulator.y);
        let same = operand.y == accumulator.y && !twice.is_zero();
        (if same { Step::Double } else { Step::Cancel }, twice)
    }
}

fn triple<F: BaseField>(x: &F) -> F {
    x.add(x).add(x)
}

/// The sum of `p` and a point with abscissa `x2`, by the slope of the line through both.
#[inline]
fn third<F: BaseField>(p: &Point<F>, x2: &F, slope: &F) -> Point<F> {
    let x = slope.square().sub(&p.x).sub(x2);
    let y = slope.mul(&p.x.sub(&x)).sub(&p.y);
    Point { x, y }
}
