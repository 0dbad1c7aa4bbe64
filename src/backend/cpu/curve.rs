//! G1 and G2 as the CPU backend sees them: affine points in blst's form, and the parameter file's encoding.

use blst::{blst_fp, blst_fp2, blst_fp_from_bendian};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use group::Group;

use super::affine::Affine;
use super::field::BaseField;
use crate::backend::bases::{G1_BYTES, G2_BYTES};

/// G1 or G2.
pub trait Curve: Copy + Send + Sync + 'static {
    type Field: BaseField;
    type Projective: Group<Scalar = Fr> + Send + Sync;
    /// Bytes of one point in the parameter file.
    const BYTES: usize;

    /// Decodes one point of the parameter file: uncompressed, canonical, big-endian. Coordinates are not checked here: the
    /// file's digest has been.
    ///
    /// # Panics
    /// When `bytes` is not of `BYTES` bytes.
    fn decode(bytes: &[u8]) -> Affine<Self::Field>;
    /// A point that is prepared as [`Form::Scalar`](crate::backend::bases::Form).
    ///
    /// # Panics
    /// When `bytes` is not of `BYTES` bytes.
    fn load(bytes: &[u8]) -> Affine<Self::Field>;
    /// Writes the parameter file's encoding of `p` into `out`.
    ///
    /// # Panics
    /// When `out` is not of `BYTES` bytes.
    fn encode(p: &Affine<Self::Field>, out: &mut [u8]);
    /// `acc + p` in projective coordinates, complete.
    fn add_affine(acc: &Self::Projective, p: &Affine<Self::Field>) -> Self::Projective;
    /// The affine form of `p`; one inversion.
    fn to_affine(p: &Self::Projective) -> Affine<Self::Field>;
}

/// The curve over Fp.
#[derive(Clone, Copy, Debug)]
pub struct G1;

/// The curve over Fp2.
#[derive(Clone, Copy, Debug)]
pub struct G2;

/// Bytes of one Fp element in the parameter file.
pub(super) const FP_BYTES: usize = 48;

/// Element `i` of a run of elements in blst's words, little-endian.
fn fp_from_words(bytes: &[u8], i: usize) -> blst_fp {
    let words = bytes[i * FP_BYTES..][..FP_BYTES].as_chunks().0;
    blst_fp { l: std::array::from_fn(|word| u64::from_le_bytes(words[word])) }
}

/// Element `i` of a run of big-endian Fp elements.
pub(super) fn fp_from_be(bytes: &[u8], i: usize) -> blst_fp {
    let bytes: &[u8] = &bytes[i * FP_BYTES..][..FP_BYTES];
    let mut out = blst_fp::default();
    // SAFETY: blst reads exactly 48 bytes, which the slice has, and writes one blst_fp.
    unsafe { blst_fp_from_bendian(&mut out, bytes.as_ptr()) };
    out
}

fn g1_affine(p: &Affine<blst_fp>) -> G1Affine {
    let mut affine = G1Affine::default();
    let raw = affine.as_mut();
    (raw.x, raw.y) = (p.x, p.y);
    affine
}

fn g2_affine(p: &Affine<blst_fp2>) -> G2Affine {
    let mut affine = G2Affine::default();
    let raw = affine.as_mut();
    (raw.x, raw.y) = (p.x, p.y);
    affine
}

impl Curve for G1 {
    type Field = blst_fp;
    type Projective = G1Projective;
    const BYTES: usize = G1_BYTES;

    fn decode(bytes: &[u8]) -> Affine<blst_fp> {
        assert_eq!(bytes.len(), G1_BYTES, "one uncompressed G1 point");
        Affine { x: fp_from_be(bytes, 0), y: fp_from_be(bytes, 1) }
    }

    fn load(bytes: &[u8]) -> Affine<blst_fp> {
        assert_eq!(bytes.len(), G1_BYTES, "one prepared G1 point");
        Affine { x: fp_from_words(bytes, 0), y: fp_from_words(bytes, 1) }
    }

    fn encode(p: &Affine<blst_fp>, out: &mut [u8]) {
        out.copy_from_slice(&g1_affine(p).to_uncompressed());
    }

    fn add_affine(acc: &G1Projective, p: &Affine<blst_fp>) -> G1Projective {
        acc + g1_affine(p)
    }

    fn to_affine(p: &G1Projective) -> Affine<blst_fp> {
        let affine = G1Affine::from(p);
        let raw = affine.as_ref();
        Affine { x: raw.x, y: raw.y }
    }
}

impl Curve for G2 {
    type Field = blst_fp2;
    type Projective = G2Projective;
    const BYTES: usize = G2_BYTES;

    fn decode(bytes: &[u8]) -> Affine<blst_fp2> {
        assert_eq!(bytes.len(), G2_BYTES, "one uncompressed G2 point");
        let fp2 = |c1: usize| blst_fp2 { fp: [fp_from_be(bytes, c1 + 1), fp_from_be(bytes, c1)] };
        Affine { x: fp2(0), y: fp2(2) }
    }

    fn load(bytes: &[u8]) -> Affine<blst_fp2> {
        assert_eq!(bytes.len(), G2_BYTES, "one prepared G2 point");
        let fp2 = |real: usize| blst_fp2 { fp: [fp_from_words(bytes, real), fp_from_words(bytes, real + 1)] };
        Affine { x: fp2(0), y: fp2(2) }
    }

    fn encode(p: &Affine<blst_fp2>, out: &mut [u8]) {
        out.copy_from_slice(&g2_affine(p).to_uncompressed());
    }

    fn add_affine(acc: &G2Projective, p: &Affine<blst_fp2>) -> G2Projective {
        acc + g2_affine(p)
    }

    fn to_affine(p: &G2Projective) -> Affine<blst_fp2> {
        let affine = G2Affine::from(p);
        let raw = affine.as_ref();
        Affine { x: raw.x, y: raw.y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;

    fn encodes_as_blstrs<C: Curve>(encode: impl Fn(&C::Projective) -> Vec<u8>) {
        for k in 0..20u64 {
            let p = C::Projective::generator() * Fr::from(k).invert().unwrap_or(Fr::ZERO);
            let (affine, expected) = (C::to_affine(&p), encode(&p));
            let mut bytes = vec![0; C::BYTES];
            C::encode(&affine, &mut bytes);
            assert_eq!(bytes, expected);
            assert_eq!(affine.is_identity(), k == 0);
            // The identity is never decoded: the parameter file's layout check refuses it.
            assert!(k == 0 || C::decode(&bytes) == affine);
        }
    }

    #[test]
    fn points_are_encoded_as_blstrs_does() {
        encodes_as_blstrs::<G1>(|p| G1Affine::from(p).to_uncompressed().to_vec());
        encodes_as_blstrs::<G2>(|p| G2Affine::from(p).to_uncompressed().to_vec());
    }
}
