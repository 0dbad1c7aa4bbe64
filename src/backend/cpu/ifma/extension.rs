//! Fp (D = 1) and Fp2 (D = 2) in eight lanes: an element is its coefficients, of 1 and of u with u^2 = -1, each as in
//! [`super::fp`].

use std::arch::x86_64::{__mmask8, _mm512_alignr_epi64};

use super::fp::{self, LIMBS};
use super::limbs::{self, broadcast};
use super::points::{invert_uniform, powers};

/// Eight elements.
pub type Lanes<const D: usize> = [fp::Lanes; D];
/// One element in memory.
pub type Element<const D: usize> = [[u64; LIMBS]; D];

/// The product, nearly reduced for factors below 4 p.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn mul<const D: usize>(a: &Lanes<D>, b: &Lanes<D>) -> Lanes<D> {
    const { assert!(D == 1 || D == 2) };
    let mut out = *a;
    if let (&[a0, a1], &[b0, b1], [real, imaginary]) = (&a[..], &b[..], &mut out[..]) {
        (*real, *imaginary) = fp::mul_complex([&a0, &a1], [&b0, &b1]);
    } else {
        out[0] = fp::mul(&a[0], &b[0]);
    }
    out
}

/// The square of nearly reduced elements.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn square<const D: usize>(a: &Lanes<D>) -> Lanes<D> {
    const { assert!(D == 1 || D == 2) };
    let mut out = *a;
    if let (&[a0, a1], [real, imaginary]) = (&a[..], &mut out[..]) {
        *real = fp::mul(&fp::add_lazy(&a0, &a1), &fp::sub_lazy(&a0, &a1));
        *imaginary = fp::mul(&fp::add_lazy(&a0, &a0), &a1);
    } else {
        out[0] = fp::square(&a[0]);
    }
    out
}

/// See [`fp::sub_lazy`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub_lazy<const D: usize>(a: &Lanes<D>, b: &Lanes<D>) -> Lanes<D> {
    let mut out = *a;
    for i in 0..D {
        out[i] = fp::sub_lazy(&a[i], &b[i]);
    }
    out
}

/// See [`fp::sub_both`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub_both<const D: usize>(a: &Lanes<D>, b: &Lanes<D>, d: &Lanes<D>) -> Lanes<D> {
    let mut out = *a;
    for i in 0..D {
        out[i] = fp::sub_both(&a[i], &b[i], &d[i]);
    }
    out
}

/// See [`fp::sub`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub<const D: usize>(a: &Lanes<D>, b: &Lanes<D>) -> Lanes<D> {
    let mut out = *a;
    for i in 0..D {
        out[i] = fp::sub(&a[i], &b[i]);
    }
    out
}

/// See [`fp::negate_lanes`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn negate_lanes<const D: usize>(lanes: __mmask8, a: &Lanes<D>) -> Lanes<D> {
    let mut out = *a;
    for i in 0..D {
        out[i] = fp::negate_lanes(lanes, &a[i]);
    }
    out
}

/// `b` in the chosen lanes, `a` in the others.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn blend<const D: usize>(lanes: __mmask8, a: &Lanes<D>, b: &Lanes<D>) -> Lanes<D> {
    let mut out = *a;
    for i in 0..D {
        out[i] = fp::blend(lanes, &a[i], &b[i]);
    }
    out
}

/// Lanes that may be zero, for nearly reduced elements of which zero has no other form: see [`fp::low_zero_lanes`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn low_zero_lanes<const D: usize>(a: &Lanes<D>) -> __mmask8 {
    let mut lanes = 0xff;
    for coefficient in a {
        lanes &= fp::low_zero_lanes(coefficient);
    }
    lanes
}

/// Lanes that may be zero, for results of [`sub_lazy`]: see [`fp::perhaps_zero_lanes`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn perhaps_zero_lanes<const D: usize>(a: &Lanes<D>) -> __mmask8 {
    let mut lanes = 0xff;
    for coefficient in a {
        lanes &= fp::perhaps_zero_lanes(coefficient);
    }
    lanes
}

/// Eight elements, one a lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn gather<const D: usize>(elements: &[&Element<D>; 8]) -> Lanes<D> {
    let mut out = zero();
    for (i, lanes) in out.iter_mut().enumerate() {
        *lanes = fp::gather(&elements.map(|element| &element[i]));
    }
    out
}

/// The lanes' elements.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn scatter<const D: usize>(lanes: &Lanes<D>) -> [Element<D>; 8] {
    let mut out = [[[0; LIMBS]; D]; 8];
    for (i, lanes) in lanes.iter().enumerate() {
        for (element, coefficient) in out.iter_mut().zip(fp::scatter(lanes)) {
            element[i] = coefficient;
        }
    }
    out
}

/// The element of one lane.
pub fn lane<const D: usize>(lanes: &Lanes<D>, lane: usize) -> Element<D> {
    std::array::from_fn(|i| limbs::lane(&lanes[i], lane))
}

/// Replaces the element of one lane.
pub fn set_lane<const D: usize>(lanes: &mut Lanes<D>, lane: usize, element: &Element<D>) {
    for (lanes, coefficient) in lanes.iter_mut().zip(element) {
        limbs::set_lane(lanes, lane, coefficient);
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn zero<const D: usize>() -> Lanes<D> {
    [broadcast(&[0; LIMBS]); D]
}

/// One, in every lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn one<const D: usize>() -> Lanes<D> {
    let mut out = zero();
    out[0] = broadcast(&powers().one);
    out
}

/// The inverse of each lane, of nearly reduced elements that are not zero.
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn invert<const D: usize>(a: &Lanes<D>) -> Lanes<D> {
    const { assert!(D == 1 || D == 2) };
    let mut out = *a;
    if let (&[a0, a1], [real, imaginary]) = (&a[..], &mut out[..]) {
        // (a0 - a1 u) / (a0^2 + a1^2)
        let norm = invert_base(&fp::mul(&fp::add_lazy(&fp::square(&a0), &fp::square(&a1)), &broadcast(&powers().one)));
        *real = fp::mul(&a0, &norm);
        *imaginary = fp::mul(&fp::sub_lazy(&broadcast(&[0; LIMBS]), &a1), &norm);
    } else {
        out[0] = invert_base(&a[0]);
    }
    out
}

/// Products of 2, 4 and 8 lanes, one inversion, and back.
#[target_feature(enable = "avx512f,avx512ifma")]
fn invert_base(a: &fp::Lanes) -> fp::Lanes {
    let other_half = a.map(|limb| _mm512_alignr_epi64::<4>(limb, limb));
    let twos = fp::mul(a, &other_half);
    let other_quarter = twos.map(|limb| _mm512_alignr_epi64::<2>(limb, limb));
    let fours = fp::mul(&twos, &other_quarter);
    let neighbour = fours.map(|limb| _mm512_alignr_epi64::<1>(limb, limb));
    let eights = fp::mul(&fours, &neighbour);
    let of_fours = fp::mul(&invert_uniform(&eights), &neighbour);
    let of_twos = fp::mul(&of_fours, &other_quarter);
    fp::mul(&of_twos, &other_half)
}

#[cfg(test)]
mod tests {
    use super::super::is_available;
    use super::super::points::{Coefficients, Point};
    use super::*;
    use crate::backend::cpu::affine::Affine;
    use crate::backend::cpu::field::BaseField;
    use blst::{blst_fp, blst_fp2};
    use blstrs::{Fp, Fp2};
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    /// An element's lanes, all the same.
    #[target_feature(enable = "avx512f")]
    fn all<F: Coefficients<D>, const D: usize>(a: &F) -> Lanes<D> {
        let element = Point::from_affine(&Affine { x: *a, y: *a }).x;
        gather(&[&element; 8])
    }

    fn first<F: Coefficients<D>, const D: usize>(lanes: &Lanes<D>) -> F {
        let element = lane(lanes, 0);
        let Affine { x, .. } = Point { x: element, y: element }.to_affine();
        x
    }

    /// The top limb of 1.26 p.
    const MOST: u64 = 106_513 * 126 / 100;

    /// The same elements, each coefficient with p added where it is nearly reduced then too.
    #[target_feature(enable = "avx512f")]
    fn raised<const D: usize>(lanes: &Lanes<D>) -> Lanes<D> {
        lanes.map(|lanes| {
            let p = broadcast(&limbs::to_limbs(&fp::MODULUS));
            let sum = fp::add_lazy(&lanes, &p);
            if limbs::lane(&sum, 0)[LIMBS - 1] < MOST {
                sum
            } else {
                lanes
            }
        })
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn compute_as_blst<F: Coefficients<D>, const D: usize>(a: &F, b: &F) {
        let (x, y) = (all::<F, D>(a), all::<F, D>(b));
        lanes_compute_as_blst_of(a, b, &x, &y);
        lanes_compute_as_blst_of(a, b, &raised(&x), &raised(&y));
        assert_eq!(low_zero_lanes(&x) == 0xff, a.is_zero());
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn lanes_compute_as_blst_of<F: Coefficients<D>, const D: usize>(a: &F, b: &F, x: &Lanes<D>, y: &Lanes<D>) {
        let (mut product, mut difference, mut squared) = (F::default(), *a, F::default());
        product.set_product(a, b);
        difference.sub_assign(b);
        squared.set_square(a);
        let is = |lanes: &Lanes<D>, expected: &F| {
            assert!(first::<F, D>(lanes) == *expected);
            assert!(lanes.iter().all(|lanes| limbs::lane(lanes, 0)[LIMBS - 1] <= MOST), "not nearly reduced");
        };
        is(&mul(x, y), &product);
        is(&square(x), &squared);
        is(&sub(x, y), &difference);
        // A lazy difference as a factor, by itself and with another one: the largest that products have to take.
        let lazy = sub_lazy(x, y);
        is(&mul(&lazy, &one()), &difference);
        let mut square_of_difference = F::default();
        square_of_difference.set_square(&difference);
        is(&mul(&lazy, &lazy), &square_of_difference);
        // x^2 - y - x
        let mut both = squared;
        both.sub_assign(b);
        both.sub_assign(a);
        is(&sub_both(&square(x), y, &sub_lazy(x, y)), &both);
        let mut negative = *b;
        negative.negate_if(true);
        is(&sub(&negate_lanes(0xff, y), &zero()), &negative);
        is(&blend(0xfe, x, y), a);
        is(&blend(1, x, y), b);
        assert_eq!(perhaps_zero_lanes(&lazy) == 0xff, a == b);
        if !a.is_zero() {
            is(&invert(x), &a.invert());
        }
    }

    /// Elements at the ends of the range, and random ones.
    fn elements(rng: &mut ChaCha20Rng) -> Vec<Fp> {
        let mut all = vec![Fp::ZERO, Fp::ONE, -Fp::ONE, Fp::from(2u64), -Fp::from(2u64)];
        all.resize_with(14, || Fp::random(&mut *rng));
        all
    }

    #[test]
    fn lanes_compute_as_blst() {
        if !is_available() {
            return;
        }
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let base = elements(&mut rng);
        let mut pairs: Vec<_> = base.iter().zip(base.iter().rev()).map(|(a, b)| Fp2::new(*a, *b)).collect();
        pairs.extend(base.iter().flat_map(|a| [Fp2::new(*a, Fp::ZERO), Fp2::new(Fp::ZERO, *a), Fp2::new(*a, *a)]));
        for a in &base {
            for b in &base {
                // SAFETY: the processor has the features, as was just found.
                unsafe { compute_as_blst::<blst_fp, 1>(&(*a).into(), &(*b).into()) };
            }
        }
        for a in &pairs {
            for b in &pairs {
                // SAFETY: as above.
                unsafe { compute_as_blst::<blst_fp2, 2>(&(*a).into(), &(*b).into()) };
            }
        }
    }

    /// Lanes are inverted each for itself.
    #[test]
    fn different_lanes_have_different_inverses() {
        if !is_available() {
            return;
        }
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let values: [blst_fp2; 8] = std::array::from_fn(|_| Fp2::random(&mut rng).into());
        let elements = values.map(|value| Point::<2>::from_affine(&Affine { x: value, y: value }).x);
        // SAFETY: the processor has the features, as was just found.
        let inverses = unsafe { invert(&gather(&elements.each_ref())) };
        for (i, value) in values.iter().enumerate() {
            let element = lane(&inverses, i);
            let Affine::<blst_fp2> { x, .. } = Point { x: element, y: element }.to_affine();
            assert!(x == value.invert(), "lane {i}");
        }
    }
}
