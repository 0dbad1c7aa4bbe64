//! A long transform as levels of short ones: one pass over memory a level.
//!
//! At a level a block of K * inner elements is a matrix of K rows. Its columns are transformed, and what is row f of their result
//! is multiplied by w^(-f c) in column c, w of order K * inner; then every row is a block of the next level. Each level
//! leaves its rows in bit-reversed order, and so do all of them together. The forward transform goes the same way back. Columns
//! are taken eight at a time, 256 bytes of each row; at the last level, where a block is one column, eight blocks.
//!
//! Coefficients can be scaled by `first * base^e`, e the coefficient's index, at no cost: e = f + K * (index in the next level's
//! block), so the part of f goes into the factors above.

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::fr::{self, carry, load_across, mul, reduce, store_across, Factor, Lanes};
use super::shared::{Shared, Source, WIDTH};
use super::transform::{Roots, MAX_LOG};
use crate::backend::cpu::ntt::{bit_reverse, reversed_powers, root_of_unity};

/// Rows that are fetched ahead: they are far apart, and between two of them is more work than a processor looks past.
const AHEAD: usize = 8;
/// The least level's rows, 2^3: eight blocks or columns are worked on at a time.
const MIN_LOG: u32 = 3;
/// Logarithm of the shortest transform that is made of levels.
pub const MIN_LOG_SIZE: u32 = 2 * MIN_LOG;

/// The coefficient of index e is to be multiplied by `first * base^e`.
#[derive(Clone, Copy)]
pub struct Scale {
    pub first: Fr,
    pub base: Fr,
}

impl Scale {
    pub const NONE: Self = Self { first: Fr::ONE, base: Fr::ONE };
}

/// One level.
#[derive(Clone, Copy)]
pub struct Level {
    /// Logarithm of the rows, K.
    log: u32,
    /// Elements of a row: 1 at the last level.
    inner: usize,
    /// The product of the levels' K before.
    before: usize,
}

/// `first * step^i`, for i = 0, 1, ..., as carried factors below 2 r: those of even and of odd i apart, so that a product
/// need not wait for the one before.
struct Powers {
    next: Lanes,
    after: Lanes,
    square: Lanes,
}

impl Powers {
    /// Steps of `base * w^column` and the seven columns after it.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(scale: Scale, w: Fr, column: usize) -> Self {
        let mut step = scale.base * w.pow_vartime([column as u64]);
        let steps = [(); WIDTH].map(|()| {
            let this = step;
            step *= w;
            // As a `Factor` has it.
            this * Fr::from(16)
        });
        let (next, step) = (Factor::from(scale.first).broadcast(), fr::load(&steps));
        Self { next, after: carry(&mul(&next, &step)), square: carry(&mul(&step, &step)) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn next(&mut self) -> Lanes {
        let this = self.next;
        self.next = self.after;
        self.after = carry(&mul(&this, &self.square));
        this
    }
}

/// Transforms over the subgroup of order 2^log_size.
pub struct Levels {
    log_size: u32,
    levels: Vec<Level>,
    roots: Roots,
}

impl Levels {
    /// As few levels as can be.
    pub fn new(log_size: u32) -> Self {
        Self::with_rows(log_size, MAX_LOG)
    }

    /// Levels of up to 2^max_log rows, as equal as can be.
    pub fn with_rows(log_size: u32, max_log: u32) -> Self {
        assert!(log_size >= MIN_LOG_SIZE, "transform of 2^{log_size}: too short for levels");
        let count = log_size.div_ceil(max_log).max(2);
        let mut left = log_size;
        let levels: Vec<_> = (0..count)
            .map(|i| {
                let before = 1 << (log_size - left);
                let log = left / (count - i);
                left -= log;
                Level { log, inner: 1 << left, before }
            })
            .collect();
        assert!(levels.iter().all(|level| level.log >= MIN_LOG), "2^{log_size} in levels of up to 2^{max_log} rows");
        let longest = levels.iter().map(|level| level.log).max().unwrap_or(MIN_LOG);
        Self { log_size, levels, roots: Roots::new(longest) }
    }

    /// The levels but for the last.
    pub fn of_columns(&self) -> &[Level] {
        &self.levels[..self.levels.len() - 1]
    }

    fn last(&self) -> Level {
        self.levels[self.levels.len() - 1]
    }

    /// Calls `work` for eight columns at a time with scratch, the place of the first row's first element, and the column.
    fn columns(&self, level: &Level, scratch: usize, work: impl Fn(&mut [Lanes], usize, usize) + Sync) {
        let in_block = level.inner / WIDTH;
        let groups = ((1usize << self.log_size) / WIDTH) >> level.log;
        (0..groups).into_par_iter().for_each_init(
            // SAFETY: zero is a value of vectors of integers.
            || vec![unsafe { std::mem::zeroed::<Lanes>() }; scratch << level.log],
            |buffer, group| {
                let (block, column) = (group / in_block, group % in_block * WIDTH);
                work(buffer, ((block * level.inner) << level.log) + column, column);
            },
        );
    }

    /// The inverse transform's part of one level, from `source` to `out`, which may be the same: each task reads what it
    /// will write. `scale` is that of the whole transform.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn inverse_columns(&self, level: &Level, source: &impl Source, out: &Shared<'_>, scale: Scale) {
        self.columns(level, 1, |buffer, at, column| {
            for (k, x) in buffer.iter_mut().enumerate() {
                // SAFETY: the features are this function's, and no other task has these columns.
                *x = unsafe { source.load(at + k * level.inner) };
            }
            self.roots.inverse(buffer);
            self.store_twisted(level, buffer, out, at, column, scale);
        });
    }

    /// Rows of a short inverse transform, times their factors, to memory.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn store_twisted(&self, level: &Level, buffer: &[Lanes], out: &Shared, at: usize, column: usize, scale: Scale) {
        let mut powers = Powers::new(level.part(scale), level.inverse_root(), column);
        for f in 0..buffer.len() {
            let row = bit_reverse(f, level.log);
            let value = carry(&mul(&carry(&buffer[row]), &powers.next()));
            // SAFETY: the features are this function's, and no other task has these columns.
            unsafe { out.store(at + row * level.inner, &value) };
        }
    }

    /// The forward transform's part of one level, for eight columns of several vectors: to one buffer each.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn load_forward<const N: usize>(
        &self,
        level: &Level,
        data: [&Shared<'_>; N],
        buffers: &mut [Lanes],
        at: usize,
        column: usize,
    ) {
        let rows = 1 << level.log;
        let mut powers = Powers::new(Scale::NONE, level.root(), column);
        for f in 0..rows {
            let ahead = bit_reverse((f + AHEAD) % rows, level.log);
            data.iter().for_each(|data| data.prefetch(at + ahead * level.inner));
            let (row, factor) = (bit_reverse(f, level.log), powers.next());
            for (i, data) in data.iter().enumerate() {
                // SAFETY: the features are this function's, and no other task has these columns.
                buffers[i * rows + row] = mul(&unsafe { data.load(at + row * level.inner) }, &factor);
            }
        }
        for buffer in buffers.chunks_exact_mut(rows) {
            self.roots.forward(buffer);
        }
    }

    /// The forward transform's part of one level, in place.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn forward_columns(&self, level: &Level, data: &Shared<'_>) {
        self.columns(level, 1, |buffer, at, column| {
            self.load_forward(level, [data], buffer, at, column);
            for (k, x) in buffer.iter().enumerate() {
                // SAFETY: the features are this function's, and no other task has these columns.
                unsafe { data.store(at + k * level.inner, &reduce(&carry(x))) };
            }
        });
    }

    /// The first level of three transforms in one pass: forward of `a` and of `b`, and back of their product times 2^-4, to `a`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn multiply_columns(&self, a: &Shared<'_>, b: &Shared<'_>, scale: Scale) {
        let level = &self.levels[0];
        self.columns(level, 2, |buffers, at, column| {
            self.load_forward(level, [a, b], buffers, at, column);
            let (x, y) = buffers.split_at_mut(1 << level.log);
            for (x, y) in x.iter_mut().zip(y) {
                // Below 1.4 r and below 24 r: the product is below 2 r.
                *x = mul(&reduce(&carry(x)), &carry(y));
            }
            self.roots.inverse(x);
            self.store_twisted(level, x, a, at, column, scale);
        });
    }

    /// The last level of a transform back and forth: coefficients are scaled in between, by what of `scale` is theirs.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn inverse_and_forward_rows(&self, data: &mut [Fr], scale: Scale) {
        let factors = self.last().factors(scale);
        data.par_chunks_mut(WIDTH * factors.len()).for_each_init(
            || vec![fr::zero(); factors.len()],
            |buffer, rows| {
                self.load_inverse(std::array::from_fn(|i| &rows[i * factors.len()..][..factors.len()]), buffer);
                for (x, factor) in buffer.iter_mut().zip(&factors) {
                    *x = mul(&carry(x), &factor.broadcast());
                }
                self.roots.forward(buffer);
                for (k, pair) in buffer.chunks_exact(2).enumerate() {
                    store_across(rows, k, [&reduce(&carry(&pair[0])), &reduce(&carry(&pair[1]))]);
                }
            },
        );
    }

    /// The last level of the inverse transform for eight blocks.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn load_inverse(&self, rows: [&[Fr]; WIDTH], buffer: &mut [Lanes]) {
        for (k, pair) in buffer.chunks_exact_mut(2).enumerate() {
            pair.copy_from_slice(&load_across(&rows, k));
        }
        self.roots.inverse(buffer);
    }

    /// The last level of two inverse transforms: `minuend - subtrahend`, below r and in natural order, to `out`. The subtrahend's
    /// coefficients are scaled by what of `scale` is theirs.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn inverse_rows_subtracted(&self, minuend: &[Fr], subtrahend: &[Fr], scale: Scale, out: &mut [Fr]) {
        let level = self.last();
        let (factors, out) = (level.factors(scale), Shared::new(out));
        let (length, blocks) = (factors.len(), level.before);
        (0..blocks / WIDTH).into_par_iter().for_each_init(
            || vec![fr::zero(); 2 * length],
            |buffers, group| {
                // Rows whose coefficients are neighbours: eight that are so at each of the rows' elements.
                let first = group * WIDTH;
                let rows = |vector| -> [&[Fr]; WIDTH] {
                    std::array::from_fn(|i| row(vector, length, bit_reverse(first + i, blocks.ilog2())))
                };
                let (x, y) = buffers.split_at_mut(length);
                self.load_inverse(rows(subtrahend), x);
                self.load_inverse(rows(minuend), y);
                for (i, ((x, y), factor)) in x.iter().zip(y).zip(&factors).enumerate() {
                    let difference = fr::sub(y, &mul(&carry(x), &factor.broadcast()));
                    let value = fr::canonical(&reduce(&carry(&difference)));
                    // SAFETY: the features are this function's, and no other group has these coefficients.
                    unsafe { out.store(bit_reverse(i, level.log) * blocks + first, &value) };
                }
            },
        );
    }
}

/// Block `index` of `length` elements.
fn row(vector: &[Fr], length: usize, index: usize) -> &[Fr] {
    &vector[index * length..][..length]
}

impl Level {
    /// A root of unity of the order of a block.
    fn root(&self) -> Fr {
        root_of_unity(self.log + self.inner.ilog2())
    }

    fn inverse_root(&self) -> Fr {
        // A root of unity is not zero.
        self.root().invert().unwrap_or(Fr::ZERO)
    }

    /// What of a whole transform's scale this level's row f has: its index is f times the levels' rows before.
    fn part(&self, scale: Scale) -> Scale {
        let first = if self.before == 1 { scale.first } else { Fr::ONE };
        Scale { first, base: scale.base.pow_vartime([self.before as u64]) }
    }

    /// The same as factors of the rows in bit-reversed order.
    fn factors(&self, scale: Scale) -> Vec<Factor> {
        reversed_powers(self.part(scale).base, self.log).into_iter().map(Factor::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::ifma::is_available;
    use crate::backend::cpu::ntt::{scale_by_powers_reversed, Domain};
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    /// (a b)'s coefficients scaled, subtracted from c's, where a and b are had on a coset: every pass once, and the same by the
    /// portable transforms.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn all_passes(log_size: u32, max_log: u32) {
        let mut rng = ChaCha20Rng::seed_from_u64(log_size.into());
        let mut random = || -> Vec<Fr> { (0..1usize << log_size).map(|_| Fr::random(&mut rng)).collect() };
        let [mut a, mut b, mut c] = [random(), random(), random()];
        let (first, g) = (Fr::from(5), Fr::from(7));
        let (onto, from) = (Scale { first, base: g }, Scale { first: g, base: first });

        let domain = Domain::new(log_size);
        let [mut x, mut y, mut z] = [a.clone(), b.clone(), c.clone()];
        for values in [&mut x, &mut y] {
            domain.inverse_unscaled(values);
            scale_by_powers_reversed(values, onto.first, onto.base);
            domain.forward(values);
        }
        x.iter_mut().zip(&y).for_each(|(x, y)| *x *= *y * Fr::from(16).invert().unwrap());
        domain.inverse_unscaled(&mut x);
        scale_by_powers_reversed(&mut x, from.first, from.base);
        domain.inverse_unscaled(&mut z);
        let expected: Vec<_> = (0..domain.size()).map(|i| bit_reverse(i, log_size)).map(|i| z[i] - x[i]).collect();

        let levels = Levels::with_rows(log_size, max_log);
        for vector in [&mut a, &mut b] {
            let shared = Shared::new(vector);
            for level in levels.of_columns() {
                levels.inverse_columns(level, &shared, &shared, onto);
            }
            levels.inverse_and_forward_rows(vector, onto);
            let shared = Shared::new(vector);
            for level in levels.of_columns()[1..].iter().rev() {
                levels.forward_columns(level, &shared);
            }
        }
        let (shared, shared_c) = (Shared::new(&mut a), Shared::new(&mut c));
        levels.multiply_columns(&shared, &Shared::new(&mut b), from);
        for level in &levels.of_columns()[1..] {
            levels.inverse_columns(level, &shared, &shared, from);
        }
        for level in levels.of_columns() {
            levels.inverse_columns(level, &shared_c, &shared_c, Scale::NONE);
        }
        levels.inverse_rows_subtracted(&c, &a, from, &mut b);
        assert!(b == expected, "2^{log_size} in levels of up to 2^{max_log}");
    }

    #[test]
    fn any_levels_do_what_the_portable_transforms_do() {
        if !is_available() {
            return;
        }
        // From two levels to four, equal and unequal ones, longer and shorter than a first-level cache holds.
        for (log_size, max_log) in
            [(6, 3), (7, 4), (8, 4), (9, 4), (9, 11), (10, 4), (11, 4), (12, 4), (13, 4), (14, 11)]
        {
            // SAFETY: the processor has the features, as was just found.
            unsafe { all_passes(log_size, max_log) };
        }
        // SAFETY: as before.
        unsafe { all_passes(15, 8) };
    }

    #[test]
    fn production_domains_have_levels_that_fit_a_cache() {
        for (log_size, expected) in [
            (6, vec![3, 3]),
            (21, vec![10, 11]),
            (22, vec![11, 11]),
            (23, vec![7, 8, 8]),
            (27, vec![9, 9, 9]),
            (31, vec![10, 10, 11]),
        ] {
            let levels = Levels::new(log_size).levels;
            assert_eq!(levels.iter().map(|level| level.log).collect::<Vec<_>>(), expected);
            assert_eq!(levels.last().unwrap().inner, 1);
            for pair in levels.windows(2) {
                assert_eq!(pair[0].inner, pair[1].inner << pair[1].log);
                assert_eq!(pair[1].before, pair[0].before << pair[0].log);
            }
        }
    }
}
