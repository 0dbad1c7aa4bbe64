//! Affine points, and the additions of which everything else is made: many at once, one inversion for all (Montgomery's
//! trick), complete in every case.

use super::field::BaseField;
use crate::backend::memory::Plain;

/// An affine point of `y^2 = x^3 + b`. The identity is `(0, 0)`, which is on neither curve since b is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<F> {
    pub x: F,
    pub y: F,
}

// SAFETY: `repr(C)` puts two values of one type side by side, each of which is words of any content: no padding.
unsafe impl<F: Plain> Plain for Affine<F> {}

impl<F: BaseField> Affine<F> {
    pub fn is_identity(&self) -> bool {
        self.y.is_zero() && self.x.is_zero()
    }
}

/// How one addition of a batch is done.
#[derive(Clone, Copy)]
enum Step {
    /// The right operand is the identity: nothing to do.
    Keep,
    /// The left operand is the identity: take the right one.
    Take,
    /// The operands are opposite.
    Cancel,
    /// Slope `(y2 - y1) / (x2 - x1)`.
    Chord,
    /// Slope `3 x^2 / 2 y`. (No point of odd order has y = 0.)
    Tangent,
}

/// Adds points in batches: 5 multiplications and a square an addition, and one inversion a batch. What it keeps between
/// its two passes is reused from batch to batch.
pub struct BatchAdder<F> {
    steps: Vec<Step>,
    /// The slopes' denominators; one where there is no slope.
    denominators: Vec<F>,
    /// `prefixes[i]` is the product of the first i denominators.
    prefixes: Vec<F>,
    /// Additions that are planned and not done.
    pending: usize,
    /// Inverse of the product of the pending additions' denominators.
    inverse: F,
}

impl<F: BaseField> Default for BatchAdder<F> {
    fn default() -> Self {
        Self { steps: Vec::new(), denominators: Vec::new(), prefixes: vec![F::one()], pending: 0, inverse: F::one() }
    }
}

impl<F: BaseField> BatchAdder<F> {
    /// `left[i] += right[i]` for all i.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn add(&mut self, left: &mut [Affine<F>], right: &[Affine<F>]) {
        self.add_and(left, right, |_| ());
    }

    /// The same; for each i, in no order, `meanwhile` is called between multiplications: to ask for memory.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn add_and(&mut self, left: &mut [Affine<F>], right: &[Affine<F>], meanwhile: impl Fn(usize)) {
        assert_eq!(left.len(), right.len(), "batch addition of unequal lengths");
        self.reserve(left.len());
        for (p, q) in left.iter().zip(right) {
            self.plan(p, q);
        }
        self.invert();
        for (i, (p, q)) in left.iter_mut().zip(right).enumerate().rev() {
            meanwhile(i);
            self.finish(p, q);
        }
    }

    /// Makes room for `count` additions.
    fn reserve(&mut self, count: usize) {
        if self.steps.len() < count {
            self.steps.resize(count, Step::Keep);
            self.denominators.resize(count, F::one());
            self.prefixes.resize(count + 1, F::one());
        }
    }

    /// Notes how `p + q` is done, and its denominator.
    #[inline]
    fn plan(&mut self, p: &Affine<F>, q: &Affine<F>) {
        let i = self.pending;
        self.steps[i] = plan(p, q, &mut self.denominators[i]);
        let (before, after) = self.prefixes.split_at_mut(i + 1);
        after[0].set_product(&before[i], &self.denominators[i]);
        self.pending += 1;
    }

    /// Between the passes: no denominator is zero, so neither is their product.
    fn invert(&mut self) {
        self.inverse = self.prefixes[self.pending].invert();
    }

    /// Does the last planned addition that is not done: `p += q`.
    #[inline]
    fn finish(&mut self, p: &mut Affine<F>, q: &Affine<F>) {
        self.pending -= 1;
        let i = self.pending;
        let mut slope = F::default();
        slope.set_product(&self.inverse, &self.prefixes[i]);
        self.inverse.mul_assign(&self.denominators[i]);
        match self.steps[i] {
            Step::Keep => {}
            Step::Take => *p = *q,
            Step::Cancel => *p = Affine::default(),
            Step::Chord => {
                let mut numerator = q.y;
                numerator.sub_assign(&p.y);
                slope.mul_assign(&numerator);
                follow(p, &q.x, &slope);
            }
            Step::Tangent => {
                let mut square = F::default();
                square.set_square(&p.x);
                let mut numerator = square;
                numerator.add_assign(&square);
                numerator.add_assign(&square);
                slope.mul_assign(&numerator);
                follow(p, &q.x, &slope);
            }
        }
    }
}

/// The kind of an addition; sets the denominator of its slope, never to zero.
#[inline]
fn plan<F: BaseField>(p: &Affine<F>, q: &Affine<F>, denominator: &mut F) -> Step {
    let step = if q.is_identity() {
        Step::Keep
    } else if p.is_identity() {
        Step::Take
    } else {
        *denominator = q.x;
        denominator.sub_assign(&p.x);
        if !denominator.is_zero() {
            return Step::Chord;
        }
        *denominator = p.y;
        denominator.add_assign(&p.y);
        if q.y == p.y && !denominator.is_zero() {
            return Step::Tangent;
        }
        Step::Cancel
    };
    *denominator = F::one();
    step
}

/// Turns `p` into the sum of `p` and a point with abscissa `x2`, by the slope of the line through both:
/// `x3 = slope^2 - x1 - x2`, `y3 = slope (x1 - x3) - y1`.
#[inline]
fn follow<F: BaseField>(p: &mut Affine<F>, x2: &F, slope: &F) {
    let mut x3 = F::default();
    x3.set_square(slope);
    x3.sub_assign(&p.x);
    x3.sub_assign(x2);
    p.x.sub_assign(&x3);
    p.x.mul_assign(slope);
    p.y.sub_from(&p.x);
    p.x = x3;
}

#[cfg(test)]
mod tests {
    use super::super::curve::{Curve, G1, G2};
    use super::*;
    use blstrs::Scalar as Fr;
    use group::Group;

    /// Points that meet every case: 0, P, -P, P again, and others.
    fn points<C: Curve>(n: usize) -> Vec<Affine<C::Field>> {
        let g = C::Projective::generator();
        (0..n)
            .map(|i| match i % 7 {
                0 => Affine::default(),
                1 | 2 => C::to_affine(&g),
                3 => C::to_affine(&-g),
                k => C::to_affine(&(g * Fr::from((i * k) as u64))),
            })
            .collect()
    }

    fn naive<C: Curve>(points: &[Affine<C::Field>]) -> Affine<C::Field> {
        C::to_affine(&points.iter().fold(C::Projective::identity(), |acc, p| C::add_affine(&acc, p)))
    }

    fn batches_equal_naive<C: Curve>() {
        let p = points::<C>(49);
        let mut adder = BatchAdder::default();
        for shift in 0..49 {
            let mut left = p.clone();
            let right: Vec<_> = (0..49).map(|i| p[(i + shift) % 49]).collect();
            adder.add(&mut left, &right);
            for i in 0..49 {
                assert!(left[i] == naive::<C>(&[p[i], right[i]]), "{i} + {shift}");
            }
        }
        adder.add(&mut [], &[]);
    }

    #[test]
    fn sums_are_complete_in_g1() {
        batches_equal_naive::<G1>();
    }

    #[test]
    fn sums_are_complete_in_g2() {
        batches_equal_naive::<G2>();
    }
}
