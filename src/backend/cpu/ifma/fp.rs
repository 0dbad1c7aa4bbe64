//! Fp in eight lanes of AVX-512 IFMA: 52-bit limbs, Montgomery form with radix 2^416.
//!
//! A value is eight limbs of 52 bits; it need not be below p. "Nearly reduced" means below 1.26 p: a product of factors below 4 p
//! is, and a value below p.

use std::arch::x86_64::*;

use super::limbs::{
    broadcast, carry, load, multiples, negative_inverse, product, store, to_limbs, transpose, word, Vectors, BITS, MASK,
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
/// (k p + 1) / 2^52 for k = -1 / p modulo 2^52. The bounds of [`reduced`] rest on k being below 2^50.
const _: () = assert!(NEGATIVE_INVERSE < 1 << 50);
const HIGH: [u64; LIMBS] = high();
/// 2^22 p: from column 7 on it is 2^386 p, more than the 16 p^2 that a difference of products can lack.
const LIFT: [u64; LIMBS] = lift();
/// `COLUMNS[j][k]` is limb j of k p: looked up by lane.
static COLUMNS: [[u64; 8]; LIMBS] = columns();

/// Eight elements: limb j of lane i is word i of vector j.
pub type Lanes = Vectors<LIMBS>;

const fn high() -> [u64; LIMBS] {
    let mut high = [0; LIMBS];
    let (mut j, mut carry) = (0, 1u128);
    while j <= LIMBS {
        let limb = if j < LIMBS { MULTIPLES[1][j] as u128 } else { 0 };
        let x = limb * NEGATIVE_INVERSE as u128 + carry;
        if j > 0 {
            high[j - 1] = x as u64 & MASK;
        }
        carry = x >> BITS;
        j += 1;
    }
    high
}

const fn lift() -> [u64; LIMBS] {
    let mut lifted = [0; LIMBS];
    let (mut j, mut carry) = (0, 0);
    while j < LIMBS {
        let x = (MULTIPLES[1][j] as u128) << 22 | carry;
        lifted[j] = x as u64 & MASK;
        carry = x >> BITS;
        j += 1;
    }
    lifted
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

/// Montgomery reduction of a product by columns, which may be negative, the product not. All steps but the last add the multiple of k p that clears a limb: since k p is
/// -1 modulo 2^52, that limb itself says which, and what is added above it is the limb times [`HIGH`]. The last step adds a multiple of
/// p, so that the result is below (k 2^-52 + 1) p, and k is below 2^50. 42 ns for eight products where steps that all add multiples of
/// p took 49 (Sapphire Rapids): one multiplication less a step, and none to wait for.
macro_rules! reduced {
    ($t:expr) => {{
        let mut t: Vectors<{ 2 * LIMBS }> = $t;
        let high = broadcast(&HIGH);
        for i in 0..LIMBS - 1 {
            t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srai_epi64::<BITS>(t[i]));
            for j in 0..LIMBS {
                t[i + 1 + j] = _mm512_madd52lo_epu64(t[i + 1 + j], high[j], t[i]);
            }
            for j in 0..LIMBS {
                t[i + 2 + j] = _mm512_madd52hi_epu64(t[i + 2 + j], high[j], t[i]);
            }
        }
        let p = broadcast(&MULTIPLES[1]);
        let last = LIMBS - 1;
        let q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[last], word(NEGATIVE_INVERSE));
        for j in 0..LIMBS {
            t[last + j] = _mm512_madd52lo_epu64(t[last + j], p[j], q);
        }
        for j in 0..LIMBS {
            t[last + 1 + j] = _mm512_madd52hi_epu64(t[last + 1 + j], p[j], q);
        }
        t[LIMBS] = _mm512_add_epi64(t[LIMBS], _mm512_srai_epi64::<BITS>(t[last]));
        let mut result = [_mm512_setzero_si512(); LIMBS];
        result.copy_from_slice(&t[LIMBS..]);
        carry(result)
    }};
}

/// The Montgomery product, nearly reduced for factors below 4 p.
///
/// The whole product first, then its reduction: interleaved row by row, each row would wait for the one before.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn mul(a: &Lanes, b: &Lanes) -> Lanes {
    reduced!(product(a, b))
}

/// How long `count` products of eight lanes take, two of which go on at a time, as in sums; `None` without the instructions. What
/// benches count with.
pub fn time_of_products(count: u32) -> Option<std::time::Duration> {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn products(count: u32) {
        let y = broadcast(&MULTIPLES[1]);
        let mut x = [y; 2];
        for _ in 0..count / 2 {
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
    reduced!(t)
}

/// (a0 + a1 u) (b0 + b1 u) with u^2 = -1, both coefficients nearly reduced for factors below 4 p. Three products, two reductions.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub fn mul_complex(a: [&Lanes; 2], b: [&Lanes; 2]) -> (Lanes, Lanes) {
    let low: Vectors<{ 2 * LIMBS }> = product(a[0], b[0]);
    let high: Vectors<{ 2 * LIMBS }> = product(a[1], b[1]);
    let mut cross: Vectors<{ 2 * LIMBS }> = product(&add_lazy(a[0], a[1]), &add_lazy(b[0], b[1]));
    let mut real = low;
    for k in 0..2 * LIMBS {
        real[k] = _mm512_sub_epi64(low[k], high[k]);
        cross[k] = _mm512_sub_epi64(cross[k], _mm512_add_epi64(low[k], high[k]));
    }
    for (j, limb) in LIFT.iter().enumerate() {
        real[LIMBS - 1 + j] = _mm512_add_epi64(real[LIMBS - 1 + j], word(*limb));
    }
    (reduced!(real), reduced!(cross))
}

/// a + b, with limbs of 52 bits.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn add_lazy(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_add_epi64(a[j], b[j]);
    }
    carry(t)
}

/// a - b + 2 p, below 4 p and so good enough as a factor, for nearly reduced b and an a that is nearly reduced or made of such a one by
/// [`negate_lanes`].
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub_lazy(a: &Lanes, b: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        t[j] = _mm512_add_epi64(_mm512_sub_epi64(a[j], b[j]), word(MULTIPLES[2][j]));
    }
    carry(t)
}

/// a - 2 b - d + 2 p, nearly reduced, where d is what [`sub_lazy`] made of some c and b: a - b - c. All of a, b and c nearly
/// reduced.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn sub_both(a: &Lanes, b: &Lanes, d: &Lanes) -> Lanes {
    let mut t = *a;
    for j in 0..LIMBS {
        let twice = _mm512_add_epi64(b[j], b[j]);
        let rest = _mm512_sub_epi64(word(MULTIPLES[2][j]), d[j]);
        t[j] = _mm512_add_epi64(_mm512_sub_epi64(a[j], twice), rest);
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

/// Brings a value between -3 p and 1.26 p, with limbs that were not carried, to nearly reduced: the top limb tells how
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

/// Lanes that may be a multiple of p, for a result of [`sub_lazy`], which is between 0 and 4 p: all that are, and one in 2^50
/// of those that are not.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn perhaps_zero_lanes(a: &Lanes) -> __mmask8 {
    (0..4).fold(0, |lanes, k| lanes | _mm512_cmpeq_epi64_mask(a[0], word(MULTIPLES[k][0])))
}

/// Lanes whose lowest limb is zero: all that are zero, and one in 2^52 of the others.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn low_zero_lanes(a: &Lanes) -> __mmask8 {
    _mm512_cmpeq_epi64_mask(a[0], _mm512_setzero_si512())
}

/// p - a in the chosen lanes, a in the others, limbs not carried; between -0.26 p and p where a is nearly reduced.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn negate_lanes(lanes: __mmask8, a: &Lanes) -> Lanes {
    let mut out = *a;
    for j in 0..LIMBS {
        out[j] = _mm512_mask_sub_epi64(a[j], lanes, word(MULTIPLES[1][j]), a[j]);
    }
    out
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
pub fn gather(elements: &[&[u64; LIMBS]; 8]) -> Lanes {
    let mut rows = [_mm512_setzero_si512(); 8];
    for (element, row) in elements.iter().zip(&mut rows) {
        *row = load(element);
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
