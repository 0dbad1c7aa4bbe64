//! Fr in eight lanes of AVX-512 IFMA: 52-bit limbs in registers, blst's words in memory.
//!
//! An element x stays what it is in memory, x 2^256 mod r, but for its limbs. A [`Factor`] is w 2^260 mod r; the product by a
//! factor, with Montgomery's radix 2^260, is then x w in blst's form again. So nothing is ever converted, and only
//! the product of two elements ([`mul`]) leaves a power of two, 2^-4, for the next constant to undo.
//!
//! Values need not be below r, 2^260 being 35.3 r. "Carried" means limbs of 52 bits, "loose" limbs of either sign of up to 62:
//! factors are carried, sums, differences and products are loose. In memory values are below 2^256, which is 2.2 r.

use std::arch::x86_64::*;

use blst::blst_fr;
use blstrs::Scalar as Fr;

use super::limbs::{self, add_product, carry_out, multiples, negative_inverse, product, to_limbs, word, Vectors, MASK};

/// Limbs of an element.
pub const LIMBS: usize = 5;

/// r, least significant 64-bit limb first.
const MODULUS: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// Multiples of r in limbs.
const MULTIPLES: [[u64; LIMBS]; 3] = multiples(&to_limbs(&MODULUS));
const NEGATIVE_INVERSE: u64 = negative_inverse(MODULUS[0]);
/// 2^260 - r.
const NEGATED: [u64; LIMBS] = negated();
/// The integer part of 2^260 / r.
const RECIPROCAL: u64 = 35;

/// Eight elements: limb j of lane i is word i of vector j.
pub type Lanes = Vectors<LIMBS>;

/// A constant that elements are multiplied by, w 2^260 mod r, in limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor(pub [u64; LIMBS]);

impl From<Fr> for Factor {
    fn from(w: Fr) -> Self {
        Self(to_limbs(&blst_fr::from(w * Fr::from(16)).l))
    }
}

impl Factor {
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn broadcast(&self) -> Lanes {
        limbs::broadcast(&self.0)
    }
}

/// A constant that is added to elements, in limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term(pub [u64; LIMBS]);

impl From<Fr> for Term {
    fn from(element: Fr) -> Self {
        Self(to_limbs(&blst_fr::from(element).l))
    }
}

impl Term {
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn broadcast(&self) -> Lanes {
        limbs::broadcast(&self.0)
    }
}

const fn negated() -> [u64; LIMBS] {
    let mut out = [0; LIMBS];
    let mut j = 0;
    while j < LIMBS {
        // r is odd: its lowest limb is not zero, so that the complement takes its one without a carry.
        out[j] = MASK - MULTIPLES[1][j] + (j == 0) as u64;
        j += 1;
    }
    out
}

/// Zero in every lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn zero() -> Lanes {
    [_mm512_setzero_si512(); LIMBS]
}

/// See [`limbs::carry`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn carry(a: &Lanes) -> Lanes {
    limbs::carry(*a)
}

/// The Montgomery product of carried values, loose: below (1 + a b / 2^260 / r) r, which is below 2 r if one is below r.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn mul(a: &Lanes, b: &Lanes) -> Lanes {
    limbs::reduce::<LIMBS, { 2 * LIMBS }>(product(a, b), &MULTIPLES[1], NEGATIVE_INVERSE)
}

/// How long `count` products of eight lanes take, four of which go on at a time, as in a transform; `None` without the instructions. What
/// benches count with.
pub fn time_of_products(count: u32) -> Option<std::time::Duration> {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn products(count: u32) {
        let y = load(&[Fr::from(3); 8]);
        let mut x = [y; 4];
        for _ in 0..count / 4 {
            for x in &mut x {
                *x = mul(x, &y);
            }
        }
        std::hint::black_box(x);
    }
    super::is_available().then(|| {
        let start = std::time::Instant::now();
        // SAFETY: the processor has the features.
        unsafe { products(count) };
        start.elapsed()
    })
}

/// A sum of products that is not reduced yet, of at most [`Sum::TERMS`].
#[derive(Clone, Copy)]
pub struct Sum(Vectors<{ 2 * LIMBS }>);

impl Sum {
    /// A limb of 64 bits has room for them: it gets at most 10 parts of 52 bits from each, and as many from the reduction.
    pub const TERMS: usize = 12;

    /// Of no products.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn zero() -> Self {
        Self([_mm512_setzero_si512(); 2 * LIMBS])
    }

    /// Adds the product of carried values.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub fn add_product(&mut self, a: &Lanes, b: &Lanes) {
        add_product(&mut self.0, a, b);
    }

    /// The Montgomery reduction, loose: below (1 + s) r for products a w of which the a together are s 2^260 and the w below r.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub fn reduce(self) -> Lanes {
        limbs::reduce::<LIMBS, { 2 * LIMBS }>(self.0, &MULTIPLES[1], NEGATIVE_INVERSE)
    }
}

/// 16 a, carried, of a carried one below 2^256: as a factor, a itself.
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

/// a + b, loose.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn add(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_add_epi64(a[j], b[j]);
    }
    t
}

/// a - b + 2 r, loose, for b up to 2 r.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_add_epi64(_mm512_sub_epi64(a[j], b[j]), word(MULTIPLES[2][j]));
    }
    t
}

/// The same element below 1.4 r, carried, of a carried one.
///
/// The top limb times 35, of which the high half is taken, is a quotient by r that is never too large, and too small by less
/// than 1 + 35.4 (1 - 35 r / 2^260) = 1.4.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn reduce(a: &Lanes) -> Lanes {
    let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), a[LIMBS - 1], word(RECIPROCAL));
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_madd52lo_epu64(t[j], q, word(NEGATED[j]));
    }
    for j in 0..LIMBS - 1 {
        t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], q, word(NEGATED[j]));
    }
    // q 2^260 - q r was added: the carry out of the last limb is q.
    carry(&t)
}

/// The element below r, of a carried one below 2 r.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn canonical(a: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_sub_epi64(a[j], word(MULTIPLES[1][j]));
    }
    let (mut difference, carried) = carry_out(t);
    let negative = _mm512_cmplt_epi64_mask(carried, _mm512_setzero_si512());
    for j in 0..LIMBS {
        difference[j] = _mm512_mask_mov_epi64(difference[j], negative, a[j]);
    }
    difference
}

/// Limbs, carried, from the four words of each lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn from_words(w: &[__m512i]) -> Lanes {
    let mask = word(MASK);
    let join = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
    [
        _mm512_and_si512(w[0], mask),
        join(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
        join(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
        join(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
        _mm512_srli_epi64::<16>(w[3]),
    ]
}

/// The inverse of [`from_words`], for values below 2^256.
#[target_feature(enable = "avx512f")]
#[inline]
fn into_words(a: &Lanes) -> [__m512i; 4] {
    [
        _mm512_or_si512(a[0], _mm512_slli_epi64::<52>(a[1])),
        _mm512_or_si512(_mm512_srli_epi64::<12>(a[1]), _mm512_slli_epi64::<40>(a[2])),
        _mm512_or_si512(_mm512_srli_epi64::<24>(a[2]), _mm512_slli_epi64::<28>(a[3])),
        _mm512_or_si512(_mm512_srli_epi64::<36>(a[3]), _mm512_slli_epi64::<16>(a[4])),
    ]
}

/// Words of two elements, the k-th two of the eight.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_two(elements: &[Fr], k: usize) -> __m512i {
    let two = &elements[2 * k..2 * k + 2];
    // SAFETY: an element is four words and nothing else (`repr(transparent)` over blst_fr), so the slice is 64 readable bytes.
    unsafe { _mm512_loadu_si512(two.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store_two(elements: &mut [Fr], k: usize, words: __m512i) {
    let two = &mut elements[2 * k..2 * k + 2];
    // SAFETY: as in `load_two`, and any words below 2^256 are a valid value in memory, if not one that blst computes with:
    // transforms store such values only between their passes.
    unsafe { _mm512_storeu_si512(two.as_mut_ptr().cast(), words) };
}

/// Takes the words of two pairs of elements to words 0 and 1 and words 2 and 3 of the four, and those back to the pairs.
const PAIRS: [[u64; 8]; 2] = [[0, 4, 8, 12, 1, 5, 9, 13], [2, 6, 10, 14, 3, 7, 11, 15]];

/// Eight consecutive elements, carried.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn load(elements: &[Fr; 8]) -> Lanes {
    let [low, high] = [limbs::load(&PAIRS[0]), limbs::load(&PAIRS[1])];
    let [z0, z1, z2, z3] = [0, 1, 2, 3].map(|k| load_two(elements, k));
    // Words 0 and 1, then words 2 and 3, of the first and of the last four elements.
    let [a, b] = [_mm512_permutex2var_epi64(z0, low, z1), _mm512_permutex2var_epi64(z0, high, z1)];
    let [c, d] = [_mm512_permutex2var_epi64(z2, low, z3), _mm512_permutex2var_epi64(z2, high, z3)];
    from_words(&[
        _mm512_shuffle_i64x2::<0x44>(a, c),
        _mm512_shuffle_i64x2::<0xee>(a, c),
        _mm512_shuffle_i64x2::<0x44>(b, d),
        _mm512_shuffle_i64x2::<0xee>(b, d),
    ])
}

/// Stores eight consecutive elements of carried values below 2^256.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn store(elements: &mut [Fr; 8], a: &Lanes) {
    let [low, high] = [limbs::load(&PAIRS[0]), limbs::load(&PAIRS[1])];
    let [w0, w1, w2, w3] = into_words(a);
    let [a, c] = [_mm512_shuffle_i64x2::<0x44>(w0, w1), _mm512_shuffle_i64x2::<0xee>(w0, w1)];
    let [b, d] = [_mm512_shuffle_i64x2::<0x44>(w2, w3), _mm512_shuffle_i64x2::<0xee>(w2, w3)];
    store_two(elements, 0, _mm512_permutex2var_epi64(a, low, b));
    store_two(elements, 1, _mm512_permutex2var_epi64(a, high, b));
    store_two(elements, 2, _mm512_permutex2var_epi64(c, low, d));
    store_two(elements, 3, _mm512_permutex2var_epi64(c, high, d));
}

/// Elements 2 k and 2 k + 1 of each of eight rows, carried: a lane is a row.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn load_across(rows: &[&[Fr]; 8], k: usize) -> [Lanes; 2] {
    let mut words = [_mm512_setzero_si512(); 8];
    for (words, row) in words.iter_mut().zip(rows) {
        *words = load_two(row, k);
    }
    let words = limbs::transpose(&words);
    [from_words(&words[..4]), from_words(&words[4..])]
}

/// The inverse of [`load_across`] in eight rows that lie behind one another, for carried values below 2^256.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn store_across(rows: &mut [Fr], k: usize, pair: [&Lanes; 2]) {
    let [[a, b, c, d], [e, f, g, h]] = pair.map(|lanes| into_words(lanes));
    let length = rows.len() / 8;
    for (row, words) in rows.chunks_exact_mut(length).zip(limbs::transpose(&[a, b, c, d, e, f, g, h])) {
        store_two(row, k, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::is_available;
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    /// Elements at the ends of the range, those whose words are so, and random ones: a multiple of eight.
    fn elements() -> Vec<Fr> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut all = vec![Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2), Fr::from(u64::MAX)];
        let mut greatest = MODULUS;
        greatest[0] -= 1;
        for words in [greatest, [1, 0, 0, 0], [u64::MAX, u64::MAX, 0, 0], [0, 0, 0, MODULUS[3]]] {
            all.push(Fr::from(blst_fr { l: words }));
        }
        all.resize_with(40, || Fr::random(&mut rng));
        all
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn back(a: &Lanes) -> [Fr; 8] {
        let mut out = [Fr::ZERO; 8];
        store(&mut out, &canonical(&reduce(&carry(a))));
        out
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn arithmetic(a: &[Fr; 8], b: Fr) {
        let (x, y, w) = (load(a), load(&[b; 8]), Factor::from(b).broadcast());
        assert_eq!(back(&x), *a);
        assert_eq!(back(&mul(&x, &w)), a.map(|a| a * b));
        assert_eq!(back(&mul(&x, &y)), a.map(|a| a * b * Fr::from(16).invert().unwrap()));
        assert_eq!(back(&mul(&sixteen(&x), &y)), a.map(|a| a * b));
        let mut sum = Sum::zero();
        (0..Sum::TERMS).for_each(|_| sum.add_product(&x, &w));
        assert_eq!(back(&sum.reduce()), a.map(|a| a * b * Fr::from(Sum::TERMS as u64)));
        assert_eq!(back(&add(&x, &Term::from(b).broadcast())), a.map(|a| a + b));
        assert_eq!(back(&add(&x, &y)), a.map(|a| a + b));
        assert_eq!(back(&sub(&x, &y)), a.map(|a| a - b));
        // As large as they come: 24 r and more.
        let mut large = x;
        for k in 1..=12 {
            large = sub(&large, &zero());
            assert_eq!(back(&large), *a, "{k} times 2 r");
            assert_eq!(back(&mul(&carry(&large), &w)), a.map(|a| a * b), "{k} times 2 r");
            let largest = limbs_of(&reduce(&carry(&large))).into_iter().max_by_key(|limbs| limbs[LIMBS - 1]);
            assert!(largest.unwrap()[LIMBS - 1] < MULTIPLES[1][LIMBS - 1] * 7 / 5, "{k} times 2 r");
        }
    }

    #[target_feature(enable = "avx512f")]
    fn limbs_of(a: &Lanes) -> [[u64; LIMBS]; 8] {
        let mut out = [[0; LIMBS]; 8];
        for (j, vector) in a.iter().enumerate() {
            let mut words = [0; 8];
            limbs::store(&mut words, *vector);
            for (out, word) in out.iter_mut().zip(words) {
                out[j] = word;
            }
        }
        out
    }

    #[test]
    fn lanes_compute_as_blst() {
        if !is_available() {
            return;
        }
        let all = elements();
        for eight in all.chunks_exact(8) {
            for b in &all {
                // SAFETY: the processor has the features, as was just found.
                unsafe { arithmetic(eight.try_into().unwrap(), *b) };
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    fn rows_across(all: &[Fr], length: usize) {
        let rows: [&[Fr]; 8] = std::array::from_fn(|i| &all[i * length..][..length]);
        let mut copy = vec![Fr::ZERO; all.len()];
        for k in 0..length / 2 {
            let pair = load_across(&rows, k);
            for (element, lanes) in [2 * k, 2 * k + 1].into_iter().zip(&pair) {
                let mut column = [Fr::ZERO; 8];
                store(&mut column, lanes);
                assert_eq!(column, rows.map(|row| row[element]));
            }
            store_across(&mut copy, k, [&pair[0], &pair[1]]);
        }
        assert_eq!(copy, all);
    }

    #[test]
    fn rows_lie_in_lanes_and_return() {
        if !is_available() {
            return;
        }
        let all = elements();
        for length in [2, 4] {
            // SAFETY: the processor has the features, as was just found.
            unsafe { rows_across(&all[..8 * length], length) };
        }
    }
}
