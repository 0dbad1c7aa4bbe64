//! Bases to points in limbs: from the parameter file's encoding, as many at a time as have eight coefficients, or prepared.

use std::arch::x86_64::*;

use super::fp::{self, LIMBS};
use super::limbs::{self, broadcast, store, transpose, word, BITS, MASK};
use super::points::{powers, Point};
use crate::backend::bases::RawBases;

/// Bytes of a coefficient.
const BYTES: usize = 48;

/// For each limb the word that it begins in, the next one, and the bit of the first that it begins at.
const PLACES: [[u64; LIMBS]; 3] = {
    let mut places = [[0; LIMBS]; 3];
    let mut j = 0;
    while j < LIMBS {
        let bit = BITS as u64 * j as u64;
        (places[0][j], places[1][j], places[2][j]) = (bit / 64, bit / 64 + 1, bit % 64);
        j += 1;
    }
    places
};

/// The words of a coefficient, the least significant first, and zeros in the last two places: 32-bit halves as a big-endian
/// coefficient has them, whose own bytes are in order.
const REVERSED: [u32; 16] = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 12, 13, 14, 15];

/// The bases at `indices` into as many `points`.
///
/// # Panics
/// When an index is past the end of the bases.
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn decode<const D: usize, const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut [Point<D>]) {
    const { assert!(SIZE == 2 * D * BYTES) };
    let at_once = 8 / (2 * D);
    let to_lanes = broadcast(&powers().from_integer);
    for (points, indices) in points.chunks_mut(at_once).zip(indices.chunks(at_once)) {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (rows, i) in rows.chunks_exact_mut(2 * D).zip(indices) {
            let coefficients = bases.point(*i as usize).as_chunks::<BYTES>().0;
            for (k, row) in rows.iter_mut().enumerate() {
                // In the file a coordinate's last coefficient comes first.
                *row = in_limbs(from_big_endian(&coefficients[k / D * D + D - 1 - k % D]));
            }
        }
        let rows = transpose(&fp::mul(&transpose(&rows), &to_lanes));
        for (point, rows) in points.iter_mut().zip(rows.chunks_exact(2 * D)) {
            for (element, row) in point.x.iter_mut().chain(&mut point.y).zip(rows) {
                store(element, *row);
            }
        }
    }
}

/// The points at `indices` of those that are prepared as [`Form::Ifma`](crate::backend::bases::Form).
///
/// # Panics
/// When an index is past their end.
#[target_feature(enable = "avx512f")]
pub fn load<const D: usize, const SIZE: usize>(prepared: &[[u8; SIZE]], indices: &[u32], points: &mut [Point<D>]) {
    const { assert!(SIZE == 2 * D * BYTES) };
    for (point, i) in points.iter_mut().zip(indices) {
        let coefficients = prepared[*i as usize].as_chunks().0;
        for (element, coefficient) in point.x.iter_mut().chain(&mut point.y).zip(coefficients) {
            store(element, in_limbs(load_words(coefficient)));
        }
    }
}

/// Six words as they are in memory, and two zeros.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_words(coefficient: &[u8; BYTES]) -> __m512i {
    // SAFETY: of eight words only the first six are read, which are the reference's 48 bytes; the load takes any alignment.
    unsafe { _mm512_maskz_loadu_epi64(0x3f, coefficient.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn from_big_endian(coefficient: &[u8; BYTES]) -> __m512i {
    let words = load_words(coefficient);
    let (even, odd) = (_mm512_rol_epi32::<8>(words), _mm512_rol_epi32::<24>(words));
    let mask = _mm512_set1_epi32(0x00ff_00ff);
    let halves = _mm512_or_si512(_mm512_and_si512(mask, even), _mm512_andnot_si512(mask, odd));
    // SAFETY: sixteen words of 32 bits are 64 readable bytes; the load takes any alignment.
    let order = unsafe { _mm512_loadu_si512(REVERSED.as_ptr().cast()) };
    _mm512_permutexvar_epi32(order, halves)
}

/// The limbs of a number in words, the last two of which are zero.
#[target_feature(enable = "avx512f")]
#[inline]
fn in_limbs(words: __m512i) -> __m512i {
    let [first, next, shift] = PLACES;
    let shift = limbs::load(&shift);
    let low = _mm512_srlv_epi64(_mm512_permutexvar_epi64(limbs::load(&first), words), shift);
    let high =
        _mm512_sllv_epi64(_mm512_permutexvar_epi64(limbs::load(&next), words), _mm512_sub_epi64(word(64), shift));
    _mm512_and_si512(_mm512_or_si512(low, high), word(MASK))
}

#[cfg(test)]
mod tests {
    use super::super::is_available;
    use super::super::limbs::to_limbs;
    use super::*;

    #[target_feature(enable = "avx512f")]
    fn limbs_of(coefficient: &[u8; BYTES], big_endian: bool) -> [u64; LIMBS] {
        let mut limbs = [0; LIMBS];
        let words = if big_endian { from_big_endian(coefficient) } else { load_words(coefficient) };
        store(&mut limbs, in_limbs(words));
        limbs
    }

    #[test]
    fn every_byte_gets_into_its_limb() {
        if !is_available() {
            return;
        }
        for byte in 0..BYTES {
            for value in [1, 0x80, 0xff] {
                let mut little = [0; BYTES];
                little[byte] = value;
                let words: [u64; 6] =
                    std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| little[8 * i + j])));
                let mut big = little;
                big.reverse();
                // SAFETY: the processor has the features, as was just found.
                let got = unsafe { [limbs_of(&little, false), limbs_of(&big, true)] };
                assert_eq!(got, [to_limbs(&words); 2], "byte {byte}");
            }
        }
    }
}
