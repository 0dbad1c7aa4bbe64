//! Affine points over `Fp` or `Fp2`, and the additions of which everything else is made: many at once, one inversion
//! for all (Montgomery's trick), complete in every case.

use blst::{blst_fp, blst_fp_from_bendian};
use blstrs::{Fp, Fp2, G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use ff::Field;
use group::Group;

use crate::backend::bases::{G1_BYTES, G2_BYTES};

/// The field of a curve's coordinates.
pub trait BaseField: Field {
    /// Equality that may take a different time for different values: nothing here is secret to the prover's own host, and
    /// the constant-time one took 11 % of a sum (2-core Xeon, G1, 2^20).
    fn eq_vartime(&self, other: &Self) -> bool;

    fn is_zero_vartime(&self) -> bool {
        self.eq_vartime(&Self::ZERO)
    }
}

impl BaseField for Fp {
    #[inline]
    fn eq_vartime(&self, other: &Self) -> bool {
        blst_fp::from(*self).l == blst_fp::from(*other).l
    }
}

impl BaseField for Fp2 {
    #[inline]
    fn eq_vartime(&self, other: &Self) -> bool {
        self.c0().eq_vartime(&other.c0()) && self.c1().eq_vartime(&other.c1())
    }
}

/// An affine point. The identity is `(0, 0)`, which is on neither curve since b is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine<F> {
    pub x: F,
    pub y: F,
}

impl<F: BaseField> Affine<F> {
    pub const IDENTITY: Self = Self { x: F::ZERO, y: F::ZERO };

    pub fn is_identity(&self) -> bool {
        BaseField::is_zero_vartime(&self.y) && BaseField::is_zero_vartime(&self.x)
    }

    /// `-self` when `negative`, else `self`.
    #[inline]
    pub fn with_sign(mut self, negative: bool) -> Self {
        if negative {
            self.y = -self.y;
        }
        self
    }
}

/// G1 or G2 as the CPU backend sees them.
pub trait Curve: Copy + Send + Sync + 'static {
    type Field: BaseField;
    /// Bytes of one point in the parameter file.
    const BYTES: usize;
    type Projective: Group<Scalar = Fr> + Send + Sync;

    /// Decodes one point of the parameter file: uncompressed, canonical, big-endian. Coordinates are not checked here: the
    /// file's digest has been.
    fn decode(bytes: &[u8]) -> Affine<Self::Field>;
    /// Writes the parameter file's encoding of `p` into `out`, of `BYTES` bytes.
    fn encode(p: &Affine<Self::Field>, out: &mut [u8]);
    /// `acc + p` in projective coordinates, complete.
    fn add_affine(acc: &Self::Projective, p: &Affine<Self::Field>) -> Self::Projective;
    /// The affine form of `p`; one inversion.
    fn to_affine(p: &Self::Projective) -> Affine<Self::Field>;
}

/// The curve over `Fp`.
#[derive(Clone, Copy, Debug)]
pub struct G1;

/// The curve over `Fp2`.
#[derive(Clone, Copy, Debug)]
pub struct G2;

/// Bytes of one `Fp` element in the parameter file.
const FP_BYTES: usize = 48;

fn fp_from_be(bytes: &[u8]) -> Fp {
    assert_eq!(bytes.len(), FP_BYTES, "one Fp element");
    let mut out = blst_fp::default();
    // SAFETY: blst reads exactly 48 bytes, which the assertion guarantees, and writes one blst_fp.
    unsafe { blst_fp_from_bendian(&mut out, bytes.as_ptr()) };
    Fp::from(out)
}

impl Curve for G1 {
    type Field = Fp;
    type Projective = G1Projective;
    const BYTES: usize = G1_BYTES;

    fn decode(bytes: &[u8]) -> Affine<Fp> {
        assert_eq!(bytes.len(), G1_BYTES, "one uncompressed G1 point");
        Affine { x: fp_from_be(&bytes[..48]), y: fp_from_be(&bytes[48..]) }
    }

    fn encode(p: &Affine<Fp>, out: &mut [u8]) {
        out.copy_from_slice(&G1Affine::from_raw_unchecked(p.x, p.y, false).to_uncompressed());
    }

    fn add_affine(acc: &G1Projective, p: &Affine<Fp>) -> G1Projective {
        acc + G1Affine::from_raw_unchecked(p.x, p.y, false)
    }

    fn to_affine(p: &G1Projective) -> Affine<Fp> {
        let p = G1Affine::from(p);
        Affine { x: p.x(), y: p.y() }
    }
}

impl Curve for G2 {
    type Field = Fp2;
    type Projective = G2Projective;
    const BYTES: usize = G2_BYTES;

    fn decode(bytes: &[u8]) -> Affine<Fp2> {
        assert_eq!(bytes.len(), G2_BYTES, "one uncompressed G2 point");
        let fp = |i: usize| fp_from_be(&bytes[i * FP_BYTES..(i + 1) * FP_BYTES]);
        Affine { x: Fp2::new(fp(1), fp(0)), y: Fp2::new(fp(3), fp(2)) }
    }

    fn encode(p: &Affine<Fp2>, out: &mut [u8]) {
        out.copy_from_slice(&G2Affine::from_raw_unchecked(p.x, p.y, false).to_uncompressed());
    }

    fn add_affine(acc: &G2Projective, p: &Affine<Fp2>) -> G2Projective {
        acc + G2Affine::from_raw_unchecked(p.x, p.y, false)
    }

    fn to_affine(p: &G2Projective) -> Affine<Fp2> {
        let p = G2Affine::from(p);
        Affine { x: p.x(), y: p.y() }
    }
}

/// How a sum of two affine points is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    /// Different x: the chord.
    Chord,
    /// Equal points: the tangent. (No point of odd order has y = 0.)
    Tangent,
    /// One side is the identity, or the points are opposite: no slope.
    Left,
    Right,
    Opposite,
}

#[inline]
fn case<F: BaseField>(p: &Affine<F>, q: &Affine<F>) -> Case {
    if p.is_identity() {
        Case::Right
    } else if q.is_identity() {
        Case::Left
    } else if !p.x.eq_vartime(&q.x) {
        Case::Chord
    } else if p.y.eq_vartime(&q.y) {
        Case::Tangent
    } else {
        Case::Opposite
    }
}

/// The slope's denominator, or one where there is no slope.
#[inline]
fn denominator<F: BaseField>(p: &Affine<F>, q: &Affine<F>) -> F {
    match case(p, q) {
        Case::Chord => q.x - p.x,
        Case::Tangent => p.y.double(),
        _ => F::ONE,
    }
}

/// `p + q`, given the inverse of [`denominator`].
#[inline]
fn add_with_inverse<F: BaseField>(p: &Affine<F>, q: &Affine<F>, inverse: F) -> Affine<F> {
    let slope = match case(p, q) {
        Case::Chord => (q.y - p.y) * inverse,
        Case::Tangent => {
            let xx = p.x.square();
            (xx.double() + xx) * inverse
        }
        Case::Left => return *p,
        Case::Right => return *q,
        Case::Opposite => return Affine::IDENTITY,
    };
    let x = slope.square() - p.x - q.x;
    Affine { x, y: slope * (p.x - x) - p.y }
}

/// Room for the denominators of one batch; reused between batches.
pub struct Scratch<F> {
    denominators: Vec<F>,
    inverses: Vec<F>,
}

impl<F> Default for Scratch<F> {
    fn default() -> Self {
        Self { denominators: Vec::new(), inverses: Vec::new() }
    }
}

impl<F: BaseField> Scratch<F> {
    /// Inverts all collected denominators (none is zero) with one inversion; afterwards `inverses[i]` belongs to the
    /// i-th one pushed.
    fn invert(&mut self) {
        let mut product = F::ONE;
        self.inverses.clear();
        for d in &self.denominators {
            self.inverses.push(product);
            product *= d;
        }
        // A product of non-zero elements is not zero.
        let mut inverse = product.invert().unwrap_or(F::ZERO);
        for (d, out) in self.denominators.iter().zip(&mut self.inverses).rev() {
            *out *= inverse;
            inverse *= d;
        }
    }
}

/// `left[i] += right[i]` for all i, with one inversion.
pub fn add_assign_batch<F: BaseField>(left: &mut [Affine<F>], right: &[Affine<F>], scratch: &mut Scratch<F>) {
    assert_eq!(left.len(), right.len(), "batch addition of unequal lengths");
    scratch.denominators.clear();
    scratch.denominators.extend(left.iter().zip(right).map(|(p, q)| denominator(p, q)));
    scratch.invert();
    for ((p, q), inverse) in left.iter_mut().zip(right).zip(&scratch.inverses) {
        *p = add_with_inverse(p, q, *inverse);
    }
}

/// Sums each segment of `points`. Segment i is the next `lengths[i]` points (at least one). Afterwards `points` holds
/// one point per segment. Rounds of pairwise additions over all segments at once: a segment of any length is a tree.
pub fn sum_segments<F: BaseField>(points: &mut Vec<Affine<F>>, lengths: &mut [u32], scratch: &mut Scratch<F>) {
    debug_assert_eq!(points.len(), lengths.iter().map(|l| *l as usize).sum::<usize>());
    while lengths.iter().any(|l| *l > 1) {
        scratch.denominators.clear();
        let mut read = 0;
        for length in lengths.iter() {
            let end = read + *length as usize;
            scratch.denominators.extend(points[read..end].chunks_exact(2).map(|pair| denominator(&pair[0], &pair[1])));
            read = end;
        }
        scratch.invert();
        let (mut read, mut write, mut pair) = (0, 0, 0);
        for length in lengths.iter_mut() {
            for _ in 0..*length / 2 {
                points[write] = add_with_inverse(&points[read], &points[read + 1], scratch.inverses[pair]);
                (read, write, pair) = (read + 2, write + 1, pair + 1);
            }
            if *length % 2 == 1 {
                points[write] = points[read];
                (read, write) = (read + 1, write + 1);
            }
            *length = length.div_ceil(2);
        }
        points.truncate(write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points that meet every case: 0, P, -P, P again, and others.
    fn points<C: Curve>(n: usize) -> Vec<Affine<C::Field>> {
        let g = C::Projective::generator();
        (0..n)
            .map(|i| match i % 7 {
                0 => Affine::IDENTITY,
                1 | 2 => C::to_affine(&g),
                3 => C::to_affine(&-g),
                k => C::to_affine(&(g * Fr::from((i * k) as u64))),
            })
            .collect()
    }

    fn naive<C: Curve>(points: &[Affine<C::Field>]) -> C::Projective {
        points.iter().fold(C::Projective::identity(), |acc, p| C::add_affine(&acc, p))
    }

    fn segments_equal_naive<C: Curve>() {
        let all = points::<C>(200);
        let lengths = [1u32, 2, 3, 1, 64, 65, 63, 1];
        let mut sums = all.clone();
        let mut left = lengths;
        sum_segments(&mut sums, &mut left, &mut Scratch::default());
        assert_eq!(sums.len(), lengths.len());
        let mut at = 0;
        for (sum, length) in sums.iter().zip(lengths) {
            let end = at + length as usize;
            assert_eq!(*sum, C::to_affine(&naive::<C>(&all[at..end])));
            at = end;
        }
    }

    fn batch_equals_naive<C: Curve>() {
        let p = points::<C>(49);
        for shift in 0..49 {
            let mut left = p.clone();
            let right: Vec<_> = (0..49).map(|i| p[(i + shift) % 49]).collect();
            add_assign_batch(&mut left, &right, &mut Scratch::default());
            for i in 0..49 {
                assert_eq!(left[i], C::to_affine(&naive::<C>(&[p[i], right[i]])), "{i} + {shift}");
            }
        }
    }

    fn encodes_as_blstrs<C: Curve>(encode: impl Fn(&C::Projective) -> Vec<u8>) {
        for k in 0..20u64 {
            let p = C::Projective::generator() * Fr::from(k).invert().unwrap_or(Fr::ZERO);
            let (affine, expected) = (C::to_affine(&p), encode(&p));
            let mut bytes = vec![0; C::BYTES];
            C::encode(&affine, &mut bytes);
            assert_eq!(bytes, expected);
            // The identity is never decoded: the parameter file's layout check refuses it.
            assert!(k == 0 || C::decode(&bytes) == affine);
        }
    }

    #[test]
    fn g1() {
        segments_equal_naive::<G1>();
        batch_equals_naive::<G1>();
        encodes_as_blstrs::<G1>(|p| G1Affine::from(p).to_uncompressed().to_vec());
    }

    #[test]
    fn g2() {
        segments_equal_naive::<G2>();
        batch_equals_naive::<G2>();
        encodes_as_blstrs::<G2>(|p| G2Affine::from(p).to_uncompressed().to_vec());
    }
}
