//! The peers' sums.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use ec_gpu_gen::multiexp_cpu::{multiexp_cpu, FullDensity};
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField;
use group::prime::PrimeCurveAffine;

/// As bellperson's prover does it on the CPU.
pub fn bellperson<G>(bases: &Arc<Vec<G>>, scalars: &Arc<Vec<<Fr as PrimeField>::Repr>>) -> G::Curve
where
    G: PrimeCurveAffine<Scalar = Fr>,
{
    let pool = Worker::new();
    multiexp_cpu(&pool, (bases.clone(), 0), FullDensity, scalars.clone()).wait().expect("a sum")
}

/// blst's Pippenger, on its own threads.
pub mod blst_points {
    use blst::MultiPoint;
    pub use blst::{blst_p1_affine, blst_p2_affine};
    use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};

    const BITS: usize = 255;

    macro_rules! sum {
        ($sum:ident, $point:ident, $affine:ident, $projective:ident, $serialize:ident, $bytes:expr) => {
            pub fn $sum(bases: &[$point], scalars: &[u8]) -> $projective {
                let sum = bases.mult(scalars, BITS);
                let mut bytes = [0; $bytes];
                // SAFETY: both pointers are of live values, and the encoding has so many bytes.
                unsafe { blst::$serialize(bytes.as_mut_ptr(), &sum) };
                Option::<$affine>::from($affine::from_uncompressed_unchecked(&bytes)).expect("a point").into()
            }
        };
    }

    sum!(sum_g1, blst_p1_affine, G1Affine, G1Projective, blst_p1_serialize, 96);
    sum!(sum_g2, blst_p2_affine, G2Affine, G2Projective, blst_p2_serialize, 192);
}

/// arkworks' sums, on rayon's threads.
pub mod ark {
    pub use ark_bls12_381::{Fr, G1Affine, G2Affine};
    use ark_bls12_381::{G1Projective as ArkG1, G2Projective as ArkG2};
    use ark_ec::{CurveGroup, VariableBaseMSM};
    use ark_ff::PrimeField;
    use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};

    pub fn fr(little_endian: &[u8]) -> Fr {
        Fr::from_le_bytes_mod_order(little_endian)
    }

    macro_rules! sum {
        ($sum:ident, $decode:ident, $affine:ident, $group:ident, $ours:ident, $projective:ident, $bytes:expr) => {
            pub fn $decode(bytes: &[u8]) -> $affine {
                $affine::deserialize_uncompressed_unchecked(bytes).expect("a point")
            }

            pub fn $sum(bases: &[$affine], scalars: &[Fr]) -> blstrs::$projective {
                let sum = $group::msm_unchecked(bases, scalars).into_affine();
                let mut bytes = [0; $bytes];
                sum.serialize_uncompressed(&mut bytes[..]).expect("room");
                Option::<blstrs::$ours>::from(blstrs::$ours::from_uncompressed_unchecked(&bytes))
                    .expect("a point")
                    .into()
            }
        };
    }

    sum!(sum_g1, g1, G1Affine, ArkG1, G1Affine, G1Projective, 96);
    sum!(sum_g2, g2, G2Affine, ArkG2, G2Affine, G2Projective, 192);
}
