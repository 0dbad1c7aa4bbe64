//! Number-theoretic transforms over Fr on the device, in place, without permutation passes: kernels/ntt.
//!
//! The inverse transform takes natural order to bit-reversed order, the forward transform takes it back. A pass does up to ten
//! levels in shared memory, so 2^19 elements take two passes and 2^28 three.
//!
//! No table is as long as a domain: 2^10 roots in bit-reversed order, which are the same for every block of every level, and for the
//! factors between passes two tables of at most 2^(log_size/2 + 1) powers, of which one multiplication makes any power. All are
//! computed here, once for a size, by about as many multiplications as they have elements: 36,866 at 2^27, 1.2 MB.

use std::ops::Range;

use blstrs::Scalar as Fr;
use ff::Field;

use crate::backend::cpu::ntt::{reversed_powers, root_of_unity};
use crate::error::{Fault, Result};
use crate::fail;
use crate::gpu::{kernels, Buffer, Shape, Stream, View, ViewMut};

/// Largest transform: its exponents and its tiles' numbers are 32 bits long.
pub const MAX_LOG_SIZE: u32 = 28;
/// Elements that a block of threads holds in shared memory: `ntt::MAX_LOG_TILE` of kernels/ntt/tile.cuh.
pub const MAX_LOG_TILE: u32 = 10;
/// `ntt::THREADS` there.
const MAX_THREADS: u32 = 256;

/// Some levels of a transform, from `depth` on, and how many columns a tile has; see kernels/ntt/tile.cuh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    pub depth: u32,
    pub levels: u32,
    pub log_columns: u32,
}

impl Pass {
    /// Base-two logarithm of a tile's elements.
    pub fn log_tile(self) -> u32 {
        self.levels + self.log_columns
    }
}

/// The inverse transform's passes of `2^log_size` elements by tiles of `2^log_tile`, the forward transform's backwards. The last
/// has a whole tile of levels, or all; those before it share the rest evenly, and have two columns at least, so that a row of a tile is 64
/// bytes or more.
pub fn passes(log_size: u32, log_tile: u32) -> Vec<Pass> {
    let last = log_size.min(log_tile);
    let rest = log_size - last;
    let count = rest.div_ceil(log_tile - 1);
    let (mut passes, mut depth) = (Vec::new(), 0);
    for i in 0..count {
        let levels = (rest + i) / count;
        passes.push(Pass { depth, levels, log_columns: log_tile - levels });
        depth += levels;
    }
    passes.push(Pass { depth, levels: last, log_columns: 0 });
    passes
}

/// Factors of a tile's rows, by their numbers: as many as there are rows, or one for all.
pub(super) type Scale = Range<usize>;

/// A domain's transforms: their passes, and their tables on the device.
#[derive(Debug)]
pub struct Transforms {
    log_size: u32,
    passes: Vec<Pass>,
    tables: Buffer<Fr>,
    roots: Range<usize>,
    inverse_roots: Range<usize>,
    powers: Range<usize>,
    /// 1 / size.
    size_inverse: Scale,
    /// 1 / (2 size).
    half_size_inverse: Scale,
    /// Powers of the coset's generator, in bit-reversed order, over the size.
    coset: Scale,
    /// Their inverses, without the size, over twice the size.
    half_coset_inverse: Scale,
}

impl Transforms {
    /// Those of `2^log_size` elements.
    ///
    /// # Errors
    /// More than [`MAX_LOG_SIZE`], and the device's own failures.
    pub fn new(stream: &Stream, log_size: u32) -> Result<Self> {
        Self::by_tiles(stream, log_size, MAX_LOG_TILE)
    }

    /// The same by tiles of `2^log_tile` elements, from 2 to [`MAX_LOG_TILE`]: small ones make many passes of small domains.
    ///
    /// # Errors
    /// As [`Transforms::new`].
    pub fn by_tiles(stream: &Stream, log_size: u32, log_tile: u32) -> Result<Self> {
        if log_size > MAX_LOG_SIZE {
            fail!(Fault::Input, "a domain of 2^{log_size}: at most 2^{MAX_LOG_SIZE} are possible on a device");
        }
        if !(2..=MAX_LOG_TILE).contains(&log_tile) {
            fail!(Fault::Internal, "tiles of 2^{log_tile}: expected 2^2 to 2^{MAX_LOG_TILE}");
        }
        let mut all = Vec::new();
        let mut add = |table: &[Fr]| {
            all.extend_from_slice(table);
            all.len() - table.len()..all.len()
        };
        let passes = passes(log_size, log_tile);
        let last = passes.last().map_or(0, |pass| pass.levels);
        let (g, size) = (root_of_unity(log_size + 1), Fr::from(1 << log_size));
        let (size_inverse, half) = (inverse(size), inverse(size.double()));
        let root = root_of_unity(last + 1);
        let (roots, inverse_roots) = (reversed_powers(root, last), reversed_powers(inverse(root), last));
        let times = |table: &[Fr], factor: Fr| table.iter().map(|x| x * factor).collect::<Vec<_>>();
        let this = [
            add(&roots),
            add(&inverse_roots),
            add(&powers(g, log_size)),
            add(&[size_inverse]),
            add(&[half]),
            add(&times(&roots, size_inverse)),
            add(&times(&inverse_roots, half)),
        ];
        let [roots, inverse_roots, powers, size_inverse, half_size_inverse, coset, half_coset_inverse] = this;
        let mut tables = stream.buffer("tables of transforms", all.len())?;
        stream.upload("tables of transforms", tables.view_mut(), &all)?;
        Ok(Self {
            log_size,
            passes,
            tables,
            roots,
            inverse_roots,
            powers,
            size_inverse,
            half_size_inverse,
            coset,
            half_coset_inverse,
        })
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        1 << self.log_size
    }

    /// Values on the domain in natural order to coefficients in bit-reversed order.
    ///
    /// # Errors
    /// Another number of elements, and the device's own failures.
    pub fn inverse(&self, stream: &Stream, mut values: ViewMut<'_, Fr>) -> Result<()> {
        self.check(values.len())?;
        let (last, columns) = self.split();
        for pass in columns {
            self.inverse_pass(stream, *pass, Load::InPlace, values.again())?;
        }
        let store = Store { scale: Some(&self.size_inverse), ..Store::default() };
        self.inverse_pass_to(stream, last, Load::InPlace, values, store)
    }

    /// Coefficients in bit-reversed order to values on the domain in natural order.
    ///
    /// # Errors
    /// As [`Transforms::inverse`].
    pub fn forward(&self, stream: &Stream, mut coefficients: ViewMut<'_, Fr>) -> Result<()> {
        self.check(coefficients.len())?;
        self.passes.iter().rev().try_for_each(|pass| self.forward_pass(stream, *pass, coefficients.again()))
    }

    pub(super) fn check(&self, len: usize) -> Result<()> {
        if len != self.size() {
            fail!(Fault::Internal, "a transform of {len} elements by the tables for {}", self.size());
        }
        Ok(())
    }

    /// The pass whose blocks are one column each, and those before it.
    pub(super) fn split(&self) -> (Pass, &[Pass]) {
        // There is always one: see `passes`.
        self.passes.split_last().map_or_else(|| (passes(0, 2)[0], &[][..]), |(last, columns)| (*last, columns))
    }

    fn shape(&self, pass: Pass) -> Shape {
        let tile = 1 << pass.log_tile();
        Shape { blocks: (self.size() / tile) as u32, threads: (tile as u32 / 4).clamp(32, MAX_THREADS) }
    }

    fn table(&self, range: &Range<usize>) -> View<'_, Fr> {
        self.tables.view().slice(range.clone())
    }

    /// A scale and the mask of its numbers.
    fn scale(&self, scale: Option<&Scale>) -> (View<'_, Fr>, u32) {
        scale.map_or((View::none(), 0), |scale| (self.table(scale), scale.len() as u32 - 1))
    }

    /// A pass of the inverse transform, the last one's factors apart.
    pub(super) fn inverse_pass(&self, stream: &Stream, pass: Pass, load: Load, to: ViewMut<'_, Fr>) -> Result<()> {
        self.inverse_pass_to(stream, pass, load, to, Store::default())
    }

    pub(super) fn inverse_pass_to(
        &self,
        stream: &Stream,
        pass: Pass,
        load: Load,
        to: ViewMut<'_, Fr>,
        store: Store,
    ) -> Result<()> {
        let (from, factors) = match load {
            Load::InPlace => (View::none(), View::none()),
            Load::InPlaceTimes(factors) => (View::none(), factors),
            Load::Product(a, b) => (a, b),
        };
        let (scale, mask) = self.scale(store.scale);
        kernels::ntt_inverse_pass(
            stream,
            self.shape(pass),
            from,
            factors,
            to,
            self.table(&self.inverse_roots),
            self.table(&self.powers),
            scale,
            mask,
            store.minuend.unwrap_or_else(View::none),
            self.log_size,
            pass.depth,
            pass.levels,
            pass.log_columns,
            u32::from(store.from_coset),
        )
    }

    pub(super) fn forward_pass(&self, stream: &Stream, pass: Pass, values: ViewMut<'_, Fr>) -> Result<()> {
        kernels::ntt_forward_pass(
            stream,
            self.shape(pass),
            values,
            self.table(&self.roots),
            self.table(&self.powers),
            self.log_size,
            pass.depth,
            pass.levels,
            pass.log_columns,
        )
    }

    /// The last pass of an inverse transform and the first of a forward one onto the coset of a root of order twice the size.
    pub(super) fn onto_coset(&self, stream: &Stream, pass: Pass, values: ViewMut<'_, Fr>) -> Result<()> {
        kernels::ntt_inverse_forward_pass(
            stream,
            self.shape(pass),
            values,
            self.table(&self.roots),
            self.table(&self.inverse_roots),
            self.table(&self.powers),
            self.table(&self.coset),
            self.log_size,
            pass.depth,
            pass.levels,
        )
    }

    /// The last pass of a forward transform, a product, and the first pass of an inverse transform.
    pub(super) fn multiply(
        &self,
        stream: &Stream,
        pass: Pass,
        values: ViewMut<'_, Fr>,
        factors: View<'_, Fr>,
    ) -> Result<()> {
        kernels::ntt_forward_inverse_pass(
            stream,
            self.shape(pass),
            values,
            factors,
            self.table(&self.roots),
            self.table(&self.inverse_roots),
            self.log_size,
            pass.levels,
            pass.log_columns,
        )
    }

    pub(super) fn half_size_inverse(&self) -> &Scale {
        &self.half_size_inverse
    }

    pub(super) fn half_coset_inverse(&self) -> &Scale {
        &self.half_coset_inverse
    }
}

/// What a pass of the inverse transform begins with.
pub(super) enum Load<'a> {
    InPlace,
    InPlaceTimes(View<'a, Fr>),
    Product(View<'a, Fr>, View<'a, Fr>),
}

/// What it ends with: each row by its scale, and the difference from a minuend.
#[derive(Clone, Copy, Default)]
pub(super) struct Store<'a> {
    pub scale: Option<&'a Scale>,
    pub minuend: Option<View<'a, Fr>>,
    /// The values were those on the coset.
    pub from_coset: bool,
}

fn inverse(x: Fr) -> Fr {
    // Roots and powers of two are never zero.
    x.invert().unwrap_or(Fr::ZERO)
}

/// The two tables of `ntt::Powers` in kernels/ntt/tile.cuh.
fn powers(g: Fr, log_size: u32) -> Vec<Fr> {
    let split = (log_size + 2) / 2;
    let step = g.pow_vartime([1 << split]);
    let of = |x: Fr, bits: u32| std::iter::successors(Some(Fr::ONE), move |power| Some(power * x)).take(1 << bits);
    of(g, split).chain(of(step, log_size + 1 - split)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_all_levels_and_their_tiles_fit() {
        for log_tile in 2..=MAX_LOG_TILE {
            for log_size in 0..=MAX_LOG_SIZE {
                let passes = passes(log_size, log_tile);
                let mut depth = 0;
                for (i, pass) in passes.iter().enumerate() {
                    assert_eq!(pass.depth, depth, "2^{log_size} by 2^{log_tile}");
                    depth += pass.levels;
                    let last = i + 1 == passes.len();
                    assert_eq!(pass.log_tile(), log_tile.min(log_size));
                    assert!(last || pass.levels >= 1 && pass.log_columns >= 1);
                    assert!(pass.log_columns <= log_size - depth, "a row is no shorter than a tile's");
                    assert!(!last || pass.log_columns == 0);
                }
                assert_eq!(depth, log_size);
            }
        }
        let count = |log_size| passes(log_size, MAX_LOG_TILE).len();
        assert_eq!([0, 10, 11, 19, 20, 27, 28].map(count), [1, 1, 2, 2, 3, 3, 3]);
    }

    #[test]
    fn two_tables_make_all_powers() {
        for log_size in 0..7 {
            let g = root_of_unity(log_size + 1);
            let (powers, split) = (powers(g, log_size), (log_size + 2) / 2);
            for e in 0..2usize << log_size {
                let power = powers[e % (1 << split)] * powers[(1 << split) + (e >> split)];
                assert_eq!(power, g.pow_vartime([e as u64]));
            }
        }
    }
}
