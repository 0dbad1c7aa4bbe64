//! Bases prepared for the sums of this backend: converted once instead of each time they are used.

use blst::{blst_fp, blst_fp_mul};
use rayon::prelude::*;

use super::curve::{fp_from_be, FP_BYTES};
use crate::backend::bases::{Form, RawBases, G1_BYTES};
use crate::processor::{arithmetic, Arithmetic};

/// p as the parameter file would have it: big-endian. What is not below it, as a coordinate with flags, is none of a point.
const MODULUS: [u8; FP_BYTES] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b,
    0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53,
    0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

/// Points per parallel task.
const TASK: usize = 1 << 10;

/// The form that sums read on this processor.
pub fn form() -> Form {
    match arithmetic() {
        Arithmetic::Ifma => Form::Ifma,
        Arithmetic::Scalar | Arithmetic::Lacking => Form::Scalar,
    }
}

/// Writes the points in `form`. Any processor can.
///
/// # Errors
/// The place of a point with flags or a coordinate that is not below p: no parameter file has one.
///
/// # Panics
/// When `out` is not as long as the bases.
pub fn prepare<const SIZE: usize>(bases: RawBases<'_, SIZE>, form: Form, out: &mut [u8]) -> Result<(), usize> {
    assert_eq!(out.len(), bases.bytes().len(), "bytes of prepared points");
    let factor = match form {
        Form::Scalar => None,
        // Twice in Montgomery form with radix 2^384, as blst has it: with radix 2^416.
        Form::Ifma => Some(power_of_two(416 - 384)),
    };
    let points = out.as_chunks_mut::<SIZE>().0.par_iter_mut().enumerate().with_min_len(TASK);
    points.map(|(i, out)| prepare_point(bases.point(i), factor.as_ref(), out).ok_or(i)).collect()
}

/// None for what has a coefficient that is none.
fn prepare_point<const SIZE: usize>(point: &[u8; SIZE], factor: Option<&blst_fp>, out: &mut [u8; SIZE]) -> Option<()> {
    // Of a coordinate.
    let coefficients = SIZE / G1_BYTES;
    let of_file = point.as_chunks::<FP_BYTES>().0;
    for (k, out) in out.as_chunks_mut::<FP_BYTES>().0.iter_mut().enumerate() {
        // In the file a coordinate's last coefficient comes first.
        let place = k / coefficients * coefficients + coefficients - 1 - k % coefficients;
        if of_file[place] >= MODULUS {
            return None;
        }
        let mut element = fp_from_be(point, place);
        if let Some(factor) = factor {
            // SAFETY: valid, aligned elements; blst's field operations let the output be an operand.
            unsafe { blst_fp_mul(&mut element, &element, factor) };
        }
        for (out, word) in out.as_chunks_mut().0.iter_mut().zip(element.l) {
            *out = word.to_le_bytes();
        }
    }
    Some(())
}

/// 2^k as a field element, for a k below 380.
fn power_of_two(k: usize) -> blst_fp {
    let mut bytes = [0; FP_BYTES];
    bytes[FP_BYTES - 1 - k / 8] = 1 << (k % 8);
    fp_from_be(&bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::bases::{G1Bases, G2Bases, G2_BYTES};
    use crate::backend::cpu::curve::{Curve, G1, G2};
    use crate::backend::cpu::msm::{sums, Portable, SumGroup};
    use crate::backend::scalars::Scalars;
    use blstrs::Scalar as Fr;
    use ff::Field;
    use group::Group;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    /// Multiples of the generator, some equal and some opposite, behind a byte too many: nothing is aligned.
    fn file<C: Curve>(count: usize) -> Vec<u8> {
        let mut bytes = vec![0; 1 + count * C::BYTES];
        for (i, out) in bytes[1..].chunks_exact_mut(C::BYTES).enumerate() {
            let multiple = Fr::from((i * i % 97 + 1) as u64);
            let point = C::Projective::generator() * if i % 3 == 0 { -multiple } else { multiple };
            C::encode(&C::to_affine(&point), out);
        }
        bytes
    }

    fn sums_are_the_same<C: Curve, G: SumGroup<Projective = C::Projective>, const SIZE: usize>(form: Form) {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        for count in [0, 1, 2, 3, 5, 64, 1001, 1025] {
            let bytes = file::<C>(count);
            let bases = RawBases::<SIZE>::new(&bytes[1..]).unwrap();
            let mut prepared = vec![0; bytes.len()];
            prepare(bases, form, &mut prepared[1..]).unwrap();
            // Where they are read instead, the file's are not looked at.
            let blank = vec![0xff; bytes.len() - 1];
            let both = RawBases::<SIZE>::new(&blank).unwrap().with_prepared(form, &prepared[1..]).unwrap();
            let kinds = [|_| Fr::ONE, |i| Fr::from(i as u64 % 2), |i| -Fr::from(i as u64 % 3)];
            let random: Vec<_> = (0..count).map(|_| Fr::random(&mut rng)).collect();
            let scalars = kinds.iter().map(|kind| (0..count).map(kind).collect()).chain([random]);
            for scalars in scalars.collect::<Vec<Vec<Fr>>>() {
                let sum = |bases: RawBases<'_, SIZE>, from: usize| {
                    let bases = bases.slice(from..count);
                    sums::<G, SIZE>(bases, &[&[Scalars::Elements(&scalars[from..])]], &Default::default())[0]
                };
                for from in [0, 1, count / 2].into_iter().filter(|from| *from <= count) {
                    assert!(sum(bases, from) == sum(both, from), "{count} from {from}, {form:?}");
                }
            }
        }
    }

    #[test]
    fn sums_over_prepared_bases_are_those_over_the_files() {
        sums_are_the_same::<G1, Portable<G1>, G1_BYTES>(Form::Scalar);
        sums_are_the_same::<G2, Portable<G2>, G2_BYTES>(Form::Scalar);
        #[cfg(target_arch = "x86_64")]
        if crate::backend::cpu::ifma::is_available() {
            use crate::backend::cpu::ifma::{G1Lanes, G2Lanes};
            sums_are_the_same::<G1, G1Lanes, G1_BYTES>(Form::Ifma);
            sums_are_the_same::<G2, G2Lanes, G2_BYTES>(Form::Ifma);
        }
    }

    /// Each arithmetic takes the file's where what is prepared is not for it.
    #[test]
    fn the_other_form_is_left_alone() {
        let bytes = file::<G1>(20);
        let bases = G1Bases::new(&bytes[1..]).unwrap();
        let scalars = [Fr::from(3); 20];
        let scalars = [Scalars::Elements(&scalars)];
        let wrong = vec![0xff; bytes.len() - 1];
        let sum = |bases| sums::<Portable<G1>, G1_BYTES>(bases, &[&scalars], &Default::default())[0];
        assert!(sum(bases) == sum(bases.with_prepared(Form::Ifma, &wrong).unwrap()));
        assert!(bases.with_prepared(Form::Ifma, &wrong[1..]).is_none());
        assert_eq!((Form::of_word("ifma"), Form::of_word("scalar")), (Some(Form::Ifma), Some(Form::Scalar)));
        assert_eq!(Form::of_word("cuda"), None);
    }

    #[test]
    fn what_is_no_point_is_not_prepared() {
        let whole = file::<G2>(3);
        let prepare = |bytes: &[u8]| {
            let bases = G2Bases::new(&bytes[1..]).unwrap();
            prepare(bases, Form::Ifma, &mut vec![0; bytes.len() - 1])
        };
        assert_eq!(prepare(&whole), Ok(()));
        // The identity, other flags, and p in each coefficient.
        for flags in [0x40, 0x20, 0x80] {
            let mut bytes = whole.clone();
            bytes[1 + G2_BYTES] |= flags;
            assert_eq!(prepare(&bytes), Err(1), "{flags:x}");
        }
        for coefficient in 0..4 {
            let mut bytes = whole.clone();
            let place = &mut bytes[1 + 2 * G2_BYTES + FP_BYTES * coefficient..][..FP_BYTES];
            place.copy_from_slice(&MODULUS);
            assert_eq!(prepare(&bytes), Err(2), "{coefficient}");
            bytes[1 + 2 * G2_BYTES + FP_BYTES * coefficient + FP_BYTES - 1] -= 1;
            assert_eq!(prepare(&bytes), Ok(()), "p - 1, {coefficient}");
        }
    }
}
