//! Numbers in 52-bit limbs, eight at a time: what the arithmetic of both fields shares.
//!
//! Every function on vectors here and in the fields needs AVX-512 F, products also IFMA, and says so by its `target_feature`:
//! only code that has looked for them ([`super::is_available`]) can call one, and has to argue for it.

use std::arch::x86_64::*;

/// Bits of a limb.
pub const BITS: u32 = 52;
pub const MASK: u64 = (1 << BITS) - 1;

/// Eight numbers of N limbs: limb j of lane i is word i of vector j.
pub type Vectors<const N: usize> = [__m512i; N];

/// N 52-bit limbs of a number of W words.
pub const fn to_limbs<const N: usize, const W: usize>(words: &[u64; W]) -> [u64; N] {
    let mut limbs = [0; N];
    let mut j = 0;
    while j < N {
        let bit = BITS as usize * j;
        let (word, shift) = (bit / 64, bit % 64);
        let low = if word < W { words[word] } else { 0 };
        let high = if word + 1 < W { words[word + 1] } else { 0 };
        limbs[j] = ((((high as u128) << 64 | low as u128) >> shift) as u64) & MASK;
        j += 1;
    }
    limbs
}

/// The inverse of [`to_limbs`], for a value that W words hold.
pub const fn to_words<const N: usize, const W: usize>(limbs: &[u64; N]) -> [u64; W] {
    let mut words = [0; W];
    let mut j = 0;
    while j < N {
        let bit = BITS as usize * j;
        let shifted = (limbs[j] as u128) << (bit % 64);
        if bit / 64 < W {
            words[bit / 64] |= shifted as u64;
        }
        if bit / 64 + 1 < W {
            words[bit / 64 + 1] |= (shifted >> 64) as u64;
        }
        j += 1;
    }
    words
}

/// K multiples of a number, the k-th being k times it.
pub const fn multiples<const N: usize, const K: usize>(number: &[u64; N]) -> [[u64; N]; K] {
    let mut all = [[0; N]; K];
    let mut k = 0;
    while k < K {
        let (mut j, mut carry) = (0, 0);
        while j < N {
            let x = number[j] * k as u64 + carry;
            all[k][j] = x & MASK;
            carry = x >> BITS;
            j += 1;
        }
        k += 1;
    }
    all
}

/// -1 / p modulo 2^52, for p's lowest word.
pub const fn negative_inverse(word: u64) -> u64 {
    // Newton's iteration doubles the correct low bits: 3 at first, since p is odd.
    let mut inverse = word;
    let mut i = 0;
    while i < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(word.wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg() & MASK
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn word(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

/// The same number in every lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn broadcast<const N: usize>(limbs: &[u64; N]) -> Vectors<N> {
    limbs.map(|limb| _mm512_set1_epi64(limb as i64))
}

/// Carries into limbs of 52 bits; limbs may be negative. What is carried out of the last limb is -1 for a negative number and
/// else 0, unless the number is too large.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn carry_out<const N: usize>(t: Vectors<N>) -> (Vectors<N>, __m512i) {
    let mut out = t;
    let mut carried = _mm512_setzero_si512();
    for limb in &mut out {
        let x = _mm512_add_epi64(*limb, carried);
        carried = _mm512_srai_epi64::<BITS>(x);
        *limb = _mm512_and_si512(x, word(MASK));
    }
    (out, carried)
}

/// Carries into limbs of 52 bits, modulo 2^(52 N); the value must not be negative, the limbs may be.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn carry<const N: usize>(t: Vectors<N>) -> Vectors<N> {
    carry_out(t).0
}

/// A product by columns, D = 2 N of them, of factors with limbs of 52 bits.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn product<const N: usize, const D: usize>(a: &Vectors<N>, b: &Vectors<N>) -> Vectors<D> {
    let mut t = [_mm512_setzero_si512(); D];
    add_product(&mut t, a, b);
    t
}

/// The same, added to what is there.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn add_product<const N: usize, const D: usize>(t: &mut Vectors<D>, a: &Vectors<N>, b: &Vectors<N>) {
    for i in 0..N {
        for j in 0..N {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[j], b[i]);
        }
        for j in 0..N {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[j], b[i]);
        }
    }
}

/// Montgomery reduction of a product by columns, with radix 2^(52 N): limbs are not carried.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn reduce<const N: usize, const D: usize>(mut t: Vectors<D>, p: &[u64; N], negative_inverse: u64) -> Vectors<N> {
    let p = broadcast(p);
    for i in 0..N {
        let q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[i], word(negative_inverse));
        for j in 0..N {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], p[j], q);
        }
        for j in 0..N {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], p[j], q);
        }
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<BITS>(t[i]));
    }
    let mut high = [_mm512_setzero_si512(); N];
    high.copy_from_slice(&t[N..]);
    high
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes; the load takes any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub fn store(words: &mut [u64; 8], vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes; the store takes any alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
}

/// The limbs of one lane, which is below 8.
pub fn lane<const N: usize>(vectors: &Vectors<N>, lane: usize) -> [u64; N] {
    words(vectors).map(|words| words[lane])
}

/// Replaces the limbs of one lane, which is below 8.
pub fn set_lane<const N: usize>(vectors: &mut Vectors<N>, lane: usize, limbs: &[u64; N]) {
    let mut all = words(vectors);
    for (words, limb) in all.iter_mut().zip(limbs) {
        words[lane] = *limb;
    }
    // SAFETY: N vectors are N times eight words, of any value.
    *vectors = unsafe { std::mem::transmute_copy(&all) };
}

fn words<const N: usize>(vectors: &Vectors<N>) -> [[u64; 8]; N] {
    // SAFETY: as in `set_lane`.
    unsafe { std::mem::transmute_copy(vectors) }
}

/// Exchanges lanes and words: words, then pairs, then halves.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn transpose(r: &[__m512i; 8]) -> [__m512i; 8] {
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
