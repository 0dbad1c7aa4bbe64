//! Fp in eight lanes of AVX-512 IFMA: 52-bit limbs, Montgomery form with radix 2^416.
//!
//! A value is eight limbs of 52 bits; it need not be below p. A product of factors below 2^16 p is below (1 + 2^-3) p, of
//! factors below 4 p it is below (1 + 2^-30) p. "Nearly reduced" means below (1 + 2^-13) p.
//!
//! Every function here needs AVX-512 F and IFMA, and says so by its `target_feature`: only code that has looked for them
//! ([`super::is_available`]) can call one, and has to argue for it.

use std::arch::x86_64::*;

/// Limbs of an element.
pub const LIMBS: usize = 8;
/// Bits of a limb.
const BITS: u32 = 52;
const MASK: u64 = (1 << BITS) - 1;

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
const MULTIPLES: [[u64; LIMBS]; 4] = multiples();
/// -1 / p modulo 2^52.
const NEGATIVE_INVERSE: u64 = negative_inverse();
/// `COLUMNS[j][k]` is limb j of k p: looked up by lane.
static COLUMNS: [[u64; 8]; LIMBS] = columns();

/// Eight elements: limb j of lane i is word i of vector j.
pub type Lanes = [__m512i; LIMBS];

/// 52-bit limbs of a number below 2^384.
pub const fn to_limbs(words: &[u64; 6]) -> [u64; LIMBS] {
    let mut limbs = [0; LIMBS];
    let mut j = 0;
    while j < LIMBS {
        let bit = BITS as usize * j;
        let (word, shift) = (bit / 64, bit % 64);
        let low = if word < 6 { words[word] } else { 0 };
        let high = if word + 1 < 6 { words[word + 1] } else { 0 };
        limbs[j] = ((((high as u128) << 64 | low as u128) >> shift) as u64) & MASK;
        j += 1;
    }
    limbs
}

/// The inverse of [`to_limbs`], for a value below 2^384.
pub const fn to_words(limbs: &[u64; LIMBS]) -> [u64; 6] {
    let mut words = [0; 6];
    let mut j = 0;
    while j < LIMBS {
        let bit = BITS as usize * j;
        let shifted = (limbs[j] as u128) << (bit % 64);
        if bit / 64 < 6 {
            words[bit / 64] |= shifted as u64;
        }
        if bit / 64 + 1 < 6 {
            words[bit / 64 + 1] |= (shifted >> 64) as u64;
        }
        j += 1;
    }
    words
}

const fn multiples() -> [[u64; LIMBS]; 4] {
    let p = to_limbs(&MODULUS);
    let mut all = [[0; LIMBS]; 4];
    let mut k = 0;
    while k < 4 {
        let (mut j, mut carry) = (0, 0);
        while j < LIMBS {
            let x = p[j] * k as u64 + carry;
            all[k][j] = x & MASK;
            carry = x >> BITS;
            j += 1;
        }
        k += 1;
    }
    all
}

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

const fn negative_inverse() -> u64 {
    // Newton's iteration doubles the correct low bits: 3 at first, since p is odd.
    let mut inverse = MODULUS[0];
    let mut i = 0;
    while i < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MODULUS[0].wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg() & MASK
}

#[target_feature(enable = "avx512f")]
#[inline]
fn word(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

/// The same element in every lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn broadcast(limbs: &[u64; LIMBS]) -> Lanes {
    limbs.map(|limb| _mm512_set1_epi64(limb as i64))
}

/// Carries into limbs of 52 bits; the value must not be negative, the limbs may be.
#[target_feature(enable = "avx512f")]
#[inline]
fn carry(t: Lanes) -> Lanes {
    let mut out = t;
    let mut carried = _mm512_setzero_si512();
    for limb in &mut out {
        let x = _mm512_add_epi64(*limb, carried);
        carried = _mm512_srai_epi64::<BITS>(x);
        *limb = _mm512_and_si512(x, word(MASK));
    }
    out
}

/// Montgomery reduction of a product by columns.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(mut t: [__m512i; 2 * LIMBS]) -> Lanes {
    let p = broadcast(&MULTIPLES[1]);
    for i in 0..LIMBS {
        let q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[i], word(NEGATIVE_INVERSE));
        for j in 0..LIMBS {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], p[j], q);
        }
        for j in 0..LIMBS {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], p[j], q);
        }
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<BITS>(t[i]));
    }
    let mut high = [_mm512_setzero_si512(); LIMBS];
    high.copy_from_slice(&t[LIMBS..]);
    carry(high)
}

/// The Montgomery product, nearly reduced for factors below 4 p.
///
/// The whole product first, then its reduction: interleaved row by row, each row would wait for the one before.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn mul(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = [_mm512_setzero_si512(); 2 * LIMBS];
    for i in 0..LIMBS {
        for j in 0..LIMBS {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[j], b[i]);
        }
        for j in 0..LIMBS {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[j], b[i]);
        }
    }
    reduce(t)
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
    reduce(t)
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

#[target_feature(enable = "avx512f")]
#[inline]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes; the load takes any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(words: &mut [u64; 8], vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes; the store takes any alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
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

/// Exchanges lanes and limbs: words, then pairs, then halves.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(r: &[__m512i; 8]) -> [__m512i; 8] {
    let mut pairs = *r;
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    let even = |a, b| _mm512_shuffle_i64x2::<0x88>(a, b);
    let odd = |a, b| _mm512_shuffle_i64x2::<0xdd>(a, b);
    let [a0, a1, b0, b1, c0, c1, d0, d1] = pairs;
    let (e0, e1, o0, o1) = (even(a0, b0), even(a1, b1), odd(a0, b0), odd(a1, b1));
    let (f0, f1, q0, q1) = (even(c0, d0), even(c1, d1), odd(c0, d0), odd(c1, d1));
    [even(e0, f0), even(e1, f1), even(o0, q0), even(o1, q1), odd(e0, f0), odd(e1, f1), odd(o0, q0), odd(o1, q1)]
}
