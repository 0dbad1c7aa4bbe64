//! The scalar field in eight lanes of AVX-512 IFMA: five limbs of 52 bits, one element a lane.
//!
//! Elements keep blst's Montgomery form, x 2^256 mod r, while products are reduced by 2^260. A constant w is kept as a
//! [`Factor`], w 2^260, so that the product by it is in blst's form again; of two elements, one is taken 16 times for the
//! same end. Limbs are below 2^52 everywhere; values need not be below r, as long as they are below 2^260, which is 35.3 r.

use std::arch::x86_64::*;

use blst::blst_fr;

use super::{
    hashes::Eight,
    scalar::{Scalar, MODULUS, NEGATIVE_INVERSE},
};

pub const LIMBS: usize = 5;
const BITS: u32 = 52;
const MASK: u64 = (1 << BITS) - 1;
const R: [u64; LIMBS] = to_limbs(&MODULUS);
/// The integer part of 2^260 / r.
const RECIPROCAL: u64 = 35;

/// Eight elements: limb j of lane i is word i of vector j.
pub type Lanes = [__m512i; LIMBS];

/// An unreduced sum of products: limbs of up to 64 bits.
pub type Sum = [__m512i; 2 * LIMBS];

/// An element's limbs, in blst's form.
#[derive(Clone, Copy, Debug)]
pub struct Term([u64; LIMBS]);

/// A constant to multiply by.
#[derive(Clone, Copy, Debug)]
pub struct Factor([u64; LIMBS]);

impl From<Scalar> for Term {
    fn from(element: Scalar) -> Self {
        Self(to_limbs(&element.limbs()))
    }
}

impl From<Scalar> for Factor {
    fn from(element: Scalar) -> Self {
        let twice = |x: Scalar| x.plus(&x);
        Self(Term::from(twice(twice(twice(twice(element))))).0)
    }
}

/// Whether this processor has what the code here needs. The answer is remembered by the standard library.
pub fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512ifma")
}

const fn to_limbs(words: &[u64; 4]) -> [u64; LIMBS] {
    [
        words[0] & MASK,
        (words[0] >> 52 | words[1] << 12) & MASK,
        (words[1] >> 40 | words[2] << 24) & MASK,
        (words[2] >> 28 | words[3] << 36) & MASK,
        words[3] >> 16,
    ]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn word(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn broadcast(limbs: &[u64; LIMBS]) -> Lanes {
    let mut lanes = zero();
    for j in 0..LIMBS {
        lanes[j] = word(limbs[j]);
    }
    lanes
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn zero() -> Lanes {
    [_mm512_setzero_si512(); LIMBS]
}

/// The same element in all lanes.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn term(term: &Term) -> Lanes {
    broadcast(&term.0)
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn no_sum() -> Sum {
    [_mm512_setzero_si512(); 2 * LIMBS]
}

/// sum + a b. A sum may have 12 terms: a limb gets at most 10 parts of 52 bits from each, and as many from the reduction.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_product(sum: &mut Sum, a: &Lanes, b: &Lanes) {
    for i in 0..LIMBS {
        for j in 0..LIMBS {
            sum[i + j] = _mm512_madd52lo_epu64(sum[i + j], a[j], b[i]);
        }
        for j in 0..LIMBS {
            sum[i + j + 1] = _mm512_madd52hi_epu64(sum[i + j + 1], a[j], b[i]);
        }
    }
}

/// sum + a w.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn add_scaled(sum: &mut Sum, a: &Lanes, w: &Factor) {
    add_product(sum, a, &broadcast(&w.0));
}

/// sum / 2^260, plus `plus`. Below (1 + s) r more than that, for sums of products a w of which the a together are s 2^260.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn reduce_sum(mut sum: Sum, plus: &Lanes) -> Lanes {
    let r = broadcast(&R);
    for i in 0..LIMBS {
        let multiple = _mm512_madd52lo_epu64(_mm512_setzero_si512(), sum[i], word(NEGATIVE_INVERSE & MASK));
        for j in 0..LIMBS {
            sum[i + j] = _mm512_madd52lo_epu64(sum[i + j], multiple, r[j]);
        }
        for j in 0..LIMBS {
            sum[i + j + 1] = _mm512_madd52hi_epu64(sum[i + j + 1], multiple, r[j]);
        }
        sum[i + 1] = _mm512_add_epi64(sum[i + 1], _mm512_srli_epi64::<BITS>(sum[i]));
    }
    let mut lanes = zero();
    for j in 0..LIMBS {
        lanes[j] = _mm512_add_epi64(sum[LIMBS + j], plus[j]);
    }
    carried(lanes).0
}

/// Limbs of 52 bits from limbs of either sign, and what is carried out of the last: zero, or -1 for a negative value.
#[target_feature(enable = "avx512f")]
#[inline]
fn carried(mut limbs: Lanes) -> (Lanes, __m512i) {
    let mask = word(MASK);
    for j in 0..LIMBS - 1 {
        limbs[j + 1] = _mm512_add_epi64(limbs[j + 1], _mm512_srai_epi64::<BITS>(limbs[j]));
        limbs[j] = _mm512_and_si512(limbs[j], mask);
    }
    let carry = _mm512_srai_epi64::<BITS>(limbs[LIMBS - 1]);
    limbs[LIMBS - 1] = _mm512_and_si512(limbs[LIMBS - 1], mask);
    (limbs, carry)
}

/// The element below r, of a value below 2 r.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn canonical(a: &Lanes) -> Lanes {
    let mut difference = *a;
    for j in 0..LIMBS {
        difference[j] = _mm512_sub_epi64(a[j], word(R[j]));
    }
    let (mut reduced, carry) = carried(difference);
    let negative = _mm512_cmplt_epi64_mask(carry, _mm512_setzero_si512());
    for j in 0..LIMBS {
        reduced[j] = _mm512_mask_mov_epi64(reduced[j], negative, a[j]);
    }
    reduced
}

/// The element below r, of a value below 2^260.
///
/// The last limb times 35 / 2^52 is a quotient by r: never too large, since 35 < 2^260 / r, and too small by less than
/// 1 + 35.4 - 35 + 2^-40 < 1.5.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn reduced(a: &Lanes) -> Lanes {
    let none = _mm512_setzero_si512();
    let quotient = _mm512_madd52hi_epu64(none, a[LIMBS - 1], word(RECIPROCAL));
    let mut rest = *a;
    for j in 0..LIMBS {
        rest[j] = _mm512_sub_epi64(rest[j], _mm512_madd52lo_epu64(none, quotient, word(R[j])));
    }
    for j in 0..LIMBS - 1 {
        rest[j + 1] = _mm512_sub_epi64(rest[j + 1], _mm512_madd52hi_epu64(none, quotient, word(R[j])));
    }
    canonical(&carried(rest).0)
}

/// 16 a, of an element below 2 r.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sixteen(a: &Lanes) -> Lanes {
    let mut shifted = *a;
    for j in 0..LIMBS {
        shifted[j] = _mm512_and_si512(_mm512_slli_epi64::<4>(a[j]), word(MASK));
        if j > 0 {
            shifted[j] = _mm512_or_si512(shifted[j], _mm512_srli_epi64::<48>(a[j - 1]));
        }
    }
    shifted
}

/// a b + plus, where a is given 16 times: for a and b below r less than 1.5 r, and plus.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn times(sixteen_a: &Lanes, b: &Lanes, plus: &Lanes) -> Lanes {
    let mut sum = no_sum();
    add_product(&mut sum, sixteen_a, b);
    reduce_sum(sum, plus)
}

/// a + b.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn plus(a: &Lanes, b: &Lanes) -> Lanes {
    let mut sum = *a;
    for j in 0..LIMBS {
        sum[j] = _mm512_add_epi64(a[j], b[j]);
    }
    carried(sum).0
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn load(eight: &Eight) -> Lanes {
    let mut limbs = [[0; 8]; LIMBS];
    for (i, element) in eight.iter().enumerate() {
        for (limbs, limb) in limbs.iter_mut().zip(to_limbs(&element.l)) {
            limbs[i] = limb;
        }
    }
    let mut lanes = zero();
    for (vector, limbs) in lanes.iter_mut().zip(&limbs) {
        // SAFETY: eight words are readable.
        *vector = unsafe { _mm512_loadu_epi64(limbs.as_ptr().cast()) };
    }
    lanes
}

/// Stores elements below r.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn store(eight: &mut Eight, a: &Lanes) {
    let w0 = _mm512_or_si512(a[0], _mm512_slli_epi64::<52>(a[1]));
    let w1 = _mm512_or_si512(_mm512_srli_epi64::<12>(a[1]), _mm512_slli_epi64::<40>(a[2]));
    let w2 = _mm512_or_si512(_mm512_srli_epi64::<24>(a[2]), _mm512_slli_epi64::<28>(a[3]));
    let w3 = _mm512_or_si512(_mm512_srli_epi64::<36>(a[3]), _mm512_slli_epi64::<16>(a[4]));
    // Words 0 and 1, and 2 and 3, of the even and of the odd elements; then whole elements, two to a vector.
    let [even_low, odd_low] = [_mm512_unpacklo_epi64(w0, w1), _mm512_unpackhi_epi64(w0, w1)];
    let [even_high, odd_high] = [_mm512_unpacklo_epi64(w2, w3), _mm512_unpackhi_epi64(w2, w3)];
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (i, low, high, index) in [
        (0, even_low, even_high, first),
        (1, odd_low, odd_high, first),
        (4, even_low, even_high, second),
        (5, odd_low, odd_high, second),
    ] {
        let pair = _mm512_permutex2var_epi64(low, index, high);
        store_one(&mut eight[i], _mm512_castsi512_si256(pair));
        store_one(&mut eight[i + 2], _mm512_extracti64x4_epi64::<1>(pair));
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store_one(element: &mut blst_fr, words: __m256i) {
    // SAFETY: four words are writable.
    unsafe { _mm256_storeu_si256(element.l.as_mut_ptr().cast(), words) };
}
