//! The bases and scalars of a sum, in everybody's form.

use std::sync::Arc;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use cuzk::backend::bases::{G1Bases, G2Bases};
use cuzk::backend::scalars::Scalars;
use cuzk::backend::Backend;
use ff::{Field, PrimeField};
use group::{prime::PrimeCurveAffine, Curve};
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

use crate::peers::{ark, blst_points};

/// What the scalars are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Random elements.
    Full,
    /// Zeros and ones.
    Bits,
    /// Zeros and ones, and a random element in a hundred, as a PoRep witness has.
    Mixed,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Full, Kind::Bits, Kind::Mixed];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Full => "full",
            Kind::Bits => "bits",
            Kind::Mixed => "mixed",
        }
    }

    fn scalar(self, i: usize, random: Fr) -> Fr {
        let bit = Fr::from(u64::from(random.to_repr()[0] & 1));
        match self {
            Kind::Full => random,
            Kind::Mixed if i % 100 == 7 => random,
            _ => bit,
        }
    }
}

/// A curve's group, with everybody's sums.
pub trait Group: Sized + 'static {
    const NAME: &'static str;
    /// Multiplications in the base field that a product of coordinates is counted as.
    const PRODUCTS: f64;
    type Affine: PrimeCurveAffine<Curve = Self::Projective, Scalar = Fr>;
    type Projective: Curve<AffineRepr = Self::Affine> + group::Group<Scalar = Fr> + PartialEq;
    type Blst;
    type Ark;

    fn encode(point: &Self::Affine) -> Vec<u8>;
    fn to_blst(point: &Self::Affine) -> Self::Blst;
    fn to_ark(bytes: &[u8]) -> Self::Ark;
    fn sum(backend: &dyn Backend, bytes: &[u8], scalars: &[Scalars<'_>]) -> Self::Projective;
    fn blst(input: &Input<Self>) -> Self::Projective;
    fn arkworks(input: &Input<Self>) -> Self::Projective;
    fn bellperson(input: &Input<Self>) -> Self::Projective;
}

pub struct G1;
pub struct G2;

pub struct Input<G: Group> {
    pub kind: Kind,
    pub scalars: Vec<Fr>,
    /// As in the parameter file.
    pub bytes: Vec<u8>,
    pub points: Arc<Vec<G::Affine>>,
    pub blst: Vec<G::Blst>,
    pub ark: Vec<G::Ark>,
    /// Little-endian, 32 bytes each.
    pub blst_scalars: Vec<u8>,
    pub ark_scalars: Vec<ark::Fr>,
    pub repr_scalars: Arc<Vec<<Fr as PrimeField>::Repr>>,
}

impl<G: Group> Input<G> {
    /// Of distinct bases.
    pub fn new(count: usize, kind: Kind) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
        let step = <G::Projective as group::Group>::generator() * Fr::random(&mut rng);
        let points: Vec<_> = std::iter::successors(Some(step), |p| Some(*p + step)).take(count).collect();
        let mut affine = vec![G::Affine::identity(); count];
        G::Projective::batch_normalize(&points, &mut affine);
        let scalars: Vec<Fr> = (0..count).map(|i| kind.scalar(i, Fr::random(&mut rng))).collect();
        let bytes: Vec<u8> = affine.iter().flat_map(G::encode).collect();
        let size = bytes.len() / count;
        Self {
            kind,
            blst: affine.iter().map(G::to_blst).collect(),
            ark: bytes.chunks(size).map(G::to_ark).collect(),
            blst_scalars: scalars.iter().flat_map(|s| s.to_bytes_le()).collect(),
            ark_scalars: scalars.iter().map(|s| ark::fr(&s.to_bytes_le())).collect(),
            repr_scalars: Arc::new(scalars.iter().map(PrimeField::to_repr).collect()),
            points: Arc::new(affine),
            bytes,
            scalars,
        }
    }
}

macro_rules! group {
    ($group:ident, $affine:ident, $projective:ident, $bases:ident, $sum:ident, $ark:ident, $blst:ident, $products:expr) => {
        impl Group for $group {
            const NAME: &'static str = stringify!($group);
            const PRODUCTS: f64 = $products;
            type Affine = $affine;
            type Projective = $projective;
            type Blst = blst_points::$blst;
            type Ark = ark::$affine;

            fn encode(point: &$affine) -> Vec<u8> {
                point.to_uncompressed().to_vec()
            }

            fn to_blst(point: &$affine) -> Self::Blst {
                *point.as_ref()
            }

            fn to_ark(bytes: &[u8]) -> Self::Ark {
                ark::$ark(bytes)
            }

            fn sum(backend: &dyn Backend, bytes: &[u8], scalars: &[Scalars<'_>]) -> $projective {
                backend.$sum($bases::new(bytes).expect("whole points"), scalars).expect("a sum")
            }

            fn blst(input: &Input<Self>) -> $projective {
                blst_points::$sum(&input.blst, &input.blst_scalars)
            }

            fn arkworks(input: &Input<Self>) -> $projective {
                ark::$sum(&input.ark, &input.ark_scalars)
            }

            fn bellperson(input: &Input<Self>) -> $projective {
                crate::peers::bellperson(&input.points, &input.repr_scalars)
            }
        }
    };
}

group!(G1, G1Affine, G1Projective, G1Bases, sum_g1, g1, blst_p1_affine, 1.0);
// Karatsuba's three products.
group!(G2, G2Affine, G2Projective, G2Bases, sum_g2, g2, blst_p2_affine, 3.0);
