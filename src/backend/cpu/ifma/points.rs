//! Points in 52-bit limbs, and their way to blst and back.

use std::marker::PhantomData;
use std::sync::OnceLock;

use blst::{blst_fp, blst_fp2, blst_fp_eucl_inverse};
use blstrs::Fp;
use ff::Field;
use rayon::prelude::*;

use super::accumulators::LaneAccumulators;
use super::decode::{decode, load};
use super::extension::Element;
use super::fp::{gather, mul, scatter, Lanes, LIMBS, MODULUS};
use super::is_available;
use super::limbs::{broadcast, to_limbs, to_words};
use crate::backend::bases::{Form, RawBases};
use crate::backend::cpu::affine::Affine;
use crate::backend::cpu::curve::{Curve, G1, G2};
use crate::backend::cpu::field::BaseField;
use crate::backend::cpu::msm::SumGroup;
use crate::backend::memory::Plain;

/// Points per parallel task of decoding.
const TASK: usize = 1 << 12;

/// An affine point; coordinates nearly reduced, Montgomery form with radix 2^416. The identity has x = 0 and for y a multiple of p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct Point<const D: usize> {
    pub x: Element<D>,
    pub y: Element<D>,
}

// SAFETY: words of any content; they fill 128 D bytes, a multiple of the alignment, so that there is no padding.
unsafe impl<const D: usize> Plain for Point<D> {}

impl<const D: usize> Default for Point<D> {
    fn default() -> Self {
        Self { x: [[0; LIMBS]; D], y: [[0; LIMBS]; D] }
    }
}

/// A field of D coefficients in blst's form.
pub trait Coefficients<const D: usize>: BaseField {
    fn from_words(words: [[u64; 6]; D]) -> Self;
    fn words(&self) -> [[u64; 6]; D];
}

impl Coefficients<1> for blst_fp {
    fn from_words([l]: [[u64; 6]; 1]) -> Self {
        Self { l }
    }

    fn words(&self) -> [[u64; 6]; 1] {
        [self.l]
    }
}

impl Coefficients<2> for blst_fp2 {
    fn from_words(words: [[u64; 6]; 2]) -> Self {
        Self { fp: words.map(|l| blst_fp { l }) }
    }

    fn words(&self) -> [[u64; 6]; 2] {
        self.fp.map(|coefficient| coefficient.l)
    }
}

/// Powers of two modulo p, as integers in limbs.
pub(super) struct Powers {
    /// 2^384: takes an element to blst's form.
    to_blst: [u64; LIMBS],
    /// 2^416: one.
    pub one: [u64; LIMBS],
    /// 2^448: takes an element from blst's form.
    from_blst: [u64; LIMBS],
    /// 2^480: takes blst's inverse of an element in our form to our form.
    from_inverse: [u64; LIMBS],
    /// 2^832: takes an integer to our form.
    pub from_integer: [u64; LIMBS],
}

pub(super) fn powers() -> &'static Powers {
    static POWERS: OnceLock<Powers> = OnceLock::new();
    POWERS.get_or_init(|| {
        let power = |k: u64| {
            let bytes = Fp::from(2u64).pow_vartime([k]).to_bytes_le();
            to_limbs::<LIMBS, 6>(&std::array::from_fn(|i| {
                u64::from_le_bytes(std::array::from_fn(|j| bytes[8 * i + j]))
            }))
        };
        Powers {
            to_blst: power(384),
            one: power(416),
            from_blst: power(448),
            from_inverse: power(480),
            from_integer: power(832),
        }
    })
}

/// The value below p, of one below 2 p.
fn canonical(limbs: &[u64; LIMBS]) -> [u64; 6] {
    let words = to_words(limbs);
    let (difference, borrow) = subtract(&words, &MODULUS);
    if borrow {
        words
    } else {
        difference
    }
}

fn subtract(a: &[u64; 6], b: &[u64; 6]) -> ([u64; 6], bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (x, b1) = a[i].overflowing_sub(b[i]);
        let (x, b2) = x.overflowing_sub(u64::from(borrow));
        borrow = b1 | b2;
        x
    });
    (difference, borrow)
}

/// The inverse of an element that is the same in all lanes and not zero, in all lanes.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn invert_uniform(a: &Lanes) -> Lanes {
    let (argument, mut inverse) = (blst_fp { l: canonical(&scatter(a)[0]) }, blst_fp::default());
    // SAFETY: two valid, aligned elements; the first is written, the second read, and it is below p.
    unsafe { blst_fp_eucl_inverse(&mut inverse, &argument) };
    mul(&broadcast(&to_limbs(&inverse.l)), &broadcast(&powers().from_inverse))
}

/// Multiplies up to eight elements by a power of two, and takes them below p.
#[target_feature(enable = "avx512f,avx512ifma")]
fn scaled(elements: &[[u64; LIMBS]; 8], power: &[u64; LIMBS]) -> [[u64; 6]; 8] {
    scatter(&mul(&gather(&elements.each_ref()), &broadcast(power))).map(|limbs| canonical(&limbs))
}

fn scale(elements: &[[u64; LIMBS]; 8], power: &[u64; LIMBS]) -> [[u64; 6]; 8] {
    assert!(is_available(), "AVX-512 IFMA");
    // SAFETY: the processor has the features that the function needs, as was just asserted.
    unsafe { scaled(elements, power) }
}

impl<const D: usize> Point<D> {
    pub fn is_identity(&self) -> bool {
        self.x == [[0; LIMBS]; D] && self.y.iter().all(|coefficient| canonical(coefficient) == [0; 6])
    }

    /// The same point in blst's form.
    pub fn to_affine<F: Coefficients<D>>(self) -> Affine<F> {
        let mut elements = [[0; LIMBS]; 8];
        for (element, coefficient) in elements.iter_mut().zip(self.x.iter().chain(&self.y)) {
            *element = *coefficient;
        }
        let scaled = scale(&elements, &powers().to_blst);
        let coordinate = |first| F::from_words(std::array::from_fn(|i| scaled[first + i]));
        Affine { x: coordinate(0), y: coordinate(D) }
    }

    /// The inverse of [`Self::to_affine`].
    pub fn from_affine<F: Coefficients<D>>(p: &Affine<F>) -> Self {
        let mut elements = [[0; LIMBS]; 8];
        for (element, words) in elements.iter_mut().zip(p.x.words().iter().chain(&p.y.words())) {
            *element = to_limbs(words);
        }
        Self::from_coefficients(&scale(&elements, &powers().from_blst))
    }

    /// A point of 2 D coefficients in words, x first.
    fn from_coefficients(words: &[[u64; 6]]) -> Self {
        let coordinate = |first| std::array::from_fn(|i| to_limbs(&words[first + i]));
        Self { x: coordinate(0), y: coordinate(D) }
    }
}

/// A curve over a field of D coefficients, with its sums in lanes.
#[derive(Clone, Copy, Debug)]
pub struct LaneGroup<C, const D: usize>(PhantomData<C>);

pub type G1Lanes = LaneGroup<G1, 1>;
pub type G2Lanes = LaneGroup<G2, 2>;

impl<C: Curve<Field: Coefficients<D>>, const D: usize> SumGroup for LaneGroup<C, D> {
    type Point = Point<D>;
    type Projective = C::Projective;
    type Curve = C;
    type Accumulators = LaneAccumulators<C::Field, D>;
    const BUCKET: usize = 3;

    fn decode<const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut [Point<D>]) {
        assert!(is_available(), "AVX-512 IFMA");
        let tasks = points.par_chunks_mut(TASK).zip(indices.par_chunks(TASK));
        // SAFETY: the processor has the features that the functions need, as was just asserted.
        match bases.prepared(Form::Ifma) {
            Some(prepared) => tasks.for_each(|(points, indices)| unsafe { load(prepared, indices, points) }),
            None => tasks.for_each(|(points, indices)| unsafe { decode(bases, indices, points) }),
        }
    }

    fn from_affine(point: &Affine<C::Field>) -> Point<D> {
        Point::from_affine(point)
    }

    fn to_affine(point: &Point<D>) -> Affine<C::Field> {
        point.to_affine()
    }

    fn add_point(acc: &C::Projective, point: &Point<D>) -> C::Projective {
        C::add_affine(acc, &point.to_affine())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::Scalar as Fr;
    use group::Group;

    fn decodes_as_blst<C: Curve<Field: Coefficients<D>>, const D: usize, const SIZE: usize>() {
        let points: Vec<_> = (1..40u64).map(|k| C::to_affine(&(C::Projective::generator() * Fr::from(k)))).collect();
        let mut bytes = vec![0; points.len() * SIZE];
        for (point, out) in points.iter().zip(bytes.chunks_exact_mut(SIZE)) {
            C::encode(point, out);
        }
        let bases = RawBases::<SIZE>::new(&bytes).unwrap();
        let indices: Vec<u32> = (0..points.len() as u32).rev().collect();
        let mut all = vec![Point::default(); indices.len()];
        LaneGroup::<C, D>::decode(bases, &indices, &mut all);
        for (i, decoded) in indices.iter().zip(all) {
            let point = &points[*i as usize];
            assert!(decoded.to_affine() == *point, "{i}");
            assert!(Point::from_affine(point).to_affine() == *point, "{i}");
        }
        assert!(Point::<D>::from_affine(&Affine::<C::Field>::default()).is_identity());
        assert!(Point::default().to_affine::<C::Field>().is_identity());
    }

    #[test]
    fn points_survive_the_way_there_and_back_and_decode_as_blst_does() {
        if is_available() {
            decodes_as_blst::<G1, 1, 96>();
            decodes_as_blst::<G2, 2, 192>();
        }
    }
}
