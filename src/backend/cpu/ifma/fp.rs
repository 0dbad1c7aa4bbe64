//! Fp in eight lanes of AVX-512 IFMA: 52-bit limbs, Montgomery form with radix 2^416.
//!
//! A value is eight limbs of 52 bits; it need not be below p. A product of factors below 2^16 p is below (1 + 2^-3) p, of
//! factors below 4 p it is below (1 + 2^-30) p. "Nearly reduced" means below (1 + 2^-13) p.

use std::arch::x86_64::*;

use super::limbs::{
    carry, load, multiples, negative_inverse, product, reduce, store, to_limbs, transpose, word, Vectors,
};

/// Limbs of an element.
pub const LIMBS: usize = 8;

/// p, least significant 64-bit limb first.
pub const MODULUS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// Multiples of p in 52-bit limbs; `MULTIPLES[k]` is k p.
const MULTIPLES: [[u64; LIMBS]; 4] = multiples(&to_limbs(&MODULUS));
const NEGATIVE_INVERSE: u64 = negative_inverse(MODULUS[0]);
/// `COLUMNS[j][k]` is limb j of k p: looked up by lane.
static COLUMNS: [[u64; 8]; LIMBS] = columns();

/// Eight elements: limb j of lane i is word i of vector j.
pub type Lanes = Vectors<LIMBS>;

const fn columns() -> [[u64; 8]; LIMBS] {
    let mut columns = [[0; 8]; LIMBS];
    let mut j = 0;
    while j < LIMBS {
        let mut k = 0;
        while k < 4 {
            columns[j][k] = MULTIPLES[k][j];
            k += 1;
        }
        j += 1;
    }
    columns
}

/// The Montgomery product, nearly reduced for factors below 4 p.
///
/// The whole product first, then its reduction: interleaved row by row, each row would wait for the one before.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn mul(a: &Lanes, b: &Lanes) -> Lanes {
    reduced(product(a, b))
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduced(t: Vectors<{ 2 * LIMBS }>) -> Lanes {
    carry(reduce(t, &MULTIPLES[1], NEGATIVE_INVERSE))
}

/// The Montgomery square: cross terms once, doubled.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn square(a: &Lanes) -> Lanes {
    let mut t = [_mm512_setzero_si512(); 2 * LIMBS];
    for i in 0..LIMBS {
        for j in i + 1..LIMBS {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[i], a[j]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[i], a[j]);
        }
    }
    for x in &mut t {
        *x = _mm512_add_epi64(*x, *x);
    }
    for i in 0..LIMBS {
        t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a[i], a[i]);
        t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a[i], a[i]);
    }
    reduced(t)
}

/// a - b + 2 p for nearly reduced a and b: below 4 p, and good enough as a factor.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub_lazy(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_add_epi64(_mm512_sub_epi64(a[j], b[j]), word(MULTIPLES[2][j]));
    }
    carry(t)
}

/// a - b - c, nearly reduced, for nearly reduced a, b and c.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub_both(a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_sub_epi64(_mm512_sub_epi64(a[j], b[j]), c[j]);
    }
    add_multiple(t)
}

/// a - b, nearly reduced, for nearly reduced a and b.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_sub_epi64(a[j], b[j]);
    }
    add_multiple(t)
}

/// Brings a value between -3 p and (1 + 2^-13) p, with limbs that were not carried, to nearly reduced: the top limb tells how
/// many p to add. What is carried into it is between -3 and 1, and p's own top limb is 106,513: so "less than 3" adds p to
/// every negative value, and to some up to 2^-14 p.
#[target_feature(enable = "avx512f")]
#[inline]
fn add_multiple(mut t: Lanes) -> Lanes {
    let top = |k: i64| _mm512_set1_epi64(3 - k * MULTIPLES[1][LIMBS - 1] as i64);
    let mut count = _mm512_setzero_si512();
    for k in 0..3 {
        let below = _mm512_cmplt_epi64_mask(t[LIMBS - 1], top(k));
        count = _mm512_mask_mov_epi64(count, below, _mm512_set1_epi64(k + 1));
    }
    for (limb, column) in t.iter_mut().zip(&COLUMNS) {
        *limb = _mm512_add_epi64(*limb, _mm512_permutexvar_epi64(count, load(column)));
    }
    carry(t)
}

/// Lanes whose value is zero, limb by limb.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn zero_lanes(a: &Lanes) -> __mmask8 {
    let all = a.iter().fold(_mm512_setzero_si512(), |all, limb| _mm512_or_si512(all, *limb));
    _mm512_cmpeq_epi64_mask(all, _mm512_setzero_si512())
}

/// Lanes that may be a multiple of p, for a result of [`sub_lazy`], which is between 0 and 4 p: all that are, and one in 2^50
/// of those that are not.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn perhaps_zero_lanes(a: &Lanes) -> __mmask8 {
    (0..4).fold(0, |lanes, k| lanes | _mm512_cmpeq_epi64_mask(a[0], word(MULTIPLES[k][0])))
}

/// `b` in the chosen lanes, `a` in the others.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn blend(lanes: __mmask8, a: &Lanes, b: &Lanes) -> Lanes {
    let mut out = *a;
    for j in 0..LIMBS {
        out[j] = _mm512_mask_mov_epi64(a[j], lanes, b[j]);
    }
    out
}

/// Eight elements, one a lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn gather<'a>(element: impl Fn(usize) -> &'a [u64; LIMBS]) -> Lanes {
    let mut rows = [_mm512_setzero_si512(); 8];
    for (i, row) in rows.iter_mut().enumerate() {
        *row = load(element(i));
    }
    transpose(&rows)
}

/// The lanes' elements.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn scatter(lanes: &Lanes) -> [[u64; LIMBS]; 8] {
    let mut out = [[0; LIMBS]; 8];
    for (out, row) in out.iter_mut().zip(transpose(lanes)) {
        store(out, row);
    }
    out
}
