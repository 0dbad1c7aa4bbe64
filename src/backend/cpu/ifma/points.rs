//! G1 points in 52-bit limbs, and their way from the parameter file and to blst.

use std::sync::OnceLock;

use blst::{blst_fp, blst_fp_eucl_inverse};
use blstrs::{Fp, G1Projective};
use ff::Field;
use rayon::prelude::*;

use super::accumulators::LaneAccumulators;
use super::fp::{gather, mul, scatter, Lanes, LIMBS, MODULUS};
use super::is_available;
use super::limbs::{broadcast, to_limbs, to_words};
use crate::backend::bases::RawBases;
use crate::backend::cpu::affine::Affine;
use crate::backend::cpu::curve::{Curve, G1};
use crate::backend::cpu::msm::SumGroup;

/// Points per parallel task of decoding.
const TASK: usize = 1 << 12;

/// An affine point; coordinates nearly reduced, Montgomery form with radix 2^416. The identity is all zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct Point {
    pub x: [u64; LIMBS],
    pub y: [u64; LIMBS],
}

/// Powers of two modulo p, as integers in limbs.
struct Powers {
    /// 2^384: takes an element to blst's form.
    to_blst: [u64; LIMBS],
    /// 2^416: one.
    one: [u64; LIMBS],
    /// 2^448: takes an element from blst's form.
    from_blst: [u64; LIMBS],
    /// 2^480: takes blst's inverse of an element in our form to our form.
    from_inverse: [u64; LIMBS],
    /// 2^832: takes an integer to our form.
    from_integer: [u64; LIMBS],
}

fn powers() -> &'static Powers {
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

/// One, in every lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn one() -> Lanes {
    broadcast(&powers().one)
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

impl Point {
    pub fn is_identity(&self) -> bool {
        *self == Self::default()
    }

    /// The same point in blst's form.
    pub fn to_affine(self) -> Affine<blst_fp> {
        let mut elements = [[0; LIMBS]; 8];
        (elements[0], elements[1]) = (self.x, self.y);
        let scaled = scale(&elements, &powers().to_blst);
        Affine { x: blst_fp { l: scaled[0] }, y: blst_fp { l: scaled[1] } }
    }

    /// The inverse of [`Self::to_affine`].
    pub fn from_affine(p: &Affine<blst_fp>) -> Self {
        let mut elements = [[0; LIMBS]; 8];
        (elements[0], elements[1]) = (to_limbs(&p.x.l), to_limbs(&p.y.l));
        let scaled = scale(&elements, &powers().from_blst);
        Self { x: to_limbs(&scaled[0]), y: to_limbs(&scaled[1]) }
    }
}

/// G1 with its sums in lanes.
#[derive(Clone, Copy, Debug)]
pub struct G1Lanes;

/// Words of a big-endian coordinate.
fn words_from_be(bytes: &[u8]) -> [u64; 6] {
    std::array::from_fn(|i| u64::from_be_bytes(std::array::from_fn(|j| bytes[8 * (5 - i) + j])))
}

impl SumGroup for G1Lanes {
    type Point = Point;
    type Projective = G1Projective;
    type Accumulators = LaneAccumulators;

    fn decode<const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut Vec<Point>) {
        points.resize(indices.len(), Point::default());
        points.par_chunks_mut(TASK).zip(indices.par_chunks(TASK)).for_each(|(points, indices)| {
            // Four points are eight coordinates.
            for (points, indices) in points.chunks_mut(4).zip(indices.chunks(4)) {
                let mut elements = [[0; LIMBS]; 8];
                for (pair, i) in elements.chunks_exact_mut(2).zip(indices) {
                    let bytes = bases.point(*i as usize);
                    pair[0] = to_limbs(&words_from_be(&bytes[..48]));
                    pair[1] = to_limbs(&words_from_be(&bytes[48..96]));
                }
                let scaled = scale(&elements, &powers().from_integer);
                for (point, pair) in points.iter_mut().zip(scaled.chunks_exact(2)) {
                    *point = Point { x: to_limbs(&pair[0]), y: to_limbs(&pair[1]) };
                }
            }
        });
    }

    fn add_point(acc: &G1Projective, point: &Point) -> G1Projective {
        G1::add_affine(acc, &point.to_affine())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::ifma::fp;
    use blstrs::Scalar as Fr;
    use group::Group;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    /// Elements at the ends of the range, and random ones.
    fn elements() -> Vec<Fp> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut all =
            vec![Fp::ZERO, Fp::ONE, -Fp::ONE, Fp::from(2u64), -Fp::from(2u64), Fp::from(2u64).pow_vartime([380])];
        all.resize_with(40, || Fp::random(&mut rng));
        all
    }

    /// An element in our form, from blst's.
    fn lane(x: &Fp) -> [u64; LIMBS] {
        let mut elements = [[0; LIMBS]; 8];
        elements[0] = to_limbs(&blst_fp::from(*x).l);
        to_limbs(&scale(&elements, &powers().from_blst)[0])
    }

    fn back(limbs: &[u64; LIMBS]) -> Fp {
        let mut elements = [[0; LIMBS]; 8];
        elements[0] = *limbs;
        Fp::from(blst_fp { l: scale(&elements, &powers().to_blst)[0] })
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn arithmetic(a: &Fp, b: &Fp) {
        let (x, y) = (broadcast(&lane(a)), broadcast(&lane(b)));
        let first = |lanes: &Lanes| back(&scatter(lanes)[0]);
        assert_eq!(first(&mul(&x, &y)), *a * b);
        assert_eq!(first(&fp::square(&x)), a.square());
        assert_eq!(first(&fp::sub(&x, &y)), *a - b);
        assert_eq!(first(&fp::sub_both(&y, &x, &fp::sub_lazy(&y, &x))), -*a);
        assert_eq!(first(&fp::sub_both(&x, &x, &fp::sub_lazy(&y, &x))), -*b);
        assert_eq!(first(&mul(&fp::sub_lazy(&x, &y), &x)), (*a - b) * a);
        assert_eq!(fp::perhaps_zero_lanes(&fp::sub_lazy(&x, &y)) == 0xff, a == b);
        assert!(fp::low_zero_lanes(&x) == 0xff || *a != Fp::ZERO);
        assert_eq!(first(&fp::sub(&fp::negate_lanes(0xff, &x), &y)), -*a - b);
        if *a != Fp::ZERO {
            assert_eq!(first(&invert_uniform(&x)), a.invert().unwrap());
        }
    }

    #[test]
    fn lanes_compute_as_blst() {
        if !is_available() {
            return;
        }
        let all = elements();
        for a in &all {
            assert_eq!(back(&lane(a)), *a);
            for b in &all {
                // SAFETY: the processor has the features, as was just found.
                unsafe { arithmetic(a, b) };
            }
        }
    }

    #[test]
    fn points_survive_the_way_there_and_back_and_decode_as_blst_does() {
        if !is_available() {
            return;
        }
        let points: Vec<_> = (1..40u64).map(|k| G1::to_affine(&(G1Projective::generator() * Fr::from(k)))).collect();
        let mut bytes = vec![0; points.len() * 96];
        for (point, out) in points.iter().zip(bytes.chunks_exact_mut(96)) {
            G1::encode(point, out);
        }
        let bases = RawBases::<96>::new(&bytes).unwrap();
        let indices: Vec<u32> = (0..points.len() as u32).rev().collect();
        // Longer than what is decoded: what was there before must go.
        let mut all = vec![Point::from_affine(&points[0]); points.len() + 1];
        G1Lanes::decode(bases, &indices, &mut all);
        assert_eq!(all.len(), indices.len());
        for (i, decoded) in indices.iter().zip(all) {
            let point = &points[*i as usize];
            assert_eq!(decoded.to_affine(), *point);
            assert_eq!(Point::from_affine(point), decoded);
        }
        assert!(Point::from_affine(&Affine::default()).is_identity());
        assert!(Point::default().to_affine().is_identity());
    }
}
