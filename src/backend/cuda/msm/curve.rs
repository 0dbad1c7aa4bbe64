//! G1 and G2 as the kernels see them: their points in memory, and the launchers of each.

use blstrs::{Fp, Fp2, G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use group::Group;

use super::variables::VariableWord;
use crate::backend::bases::{G1_BYTES, G2_BYTES};
use crate::error::Result;
use crate::gpu::{kernels, Plain, Shape, Stream, View, ViewMut};

/// A point in XYZZ coordinates (kernels/ec/xyzz.cuh): x / zz, y / zzz with zz^3 = zzz^2. Infinity has zz = 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Xyzz<F> {
    pub x: F,
    pub y: F,
    pub zz: F,
    pub zzz: F,
}

/// A field that points' coordinates are of.
///
/// # Safety
/// The type is an array of words, any of which are a value, and the kernels' point of that name has four such elements.
pub unsafe trait Coordinate: Copy + Send + Sync + 'static {
    /// What kernels call the point.
    const XYZZ: &'static str;
}

const _: () = assert!(size_of::<Xyzz<Fp>>() == 192 && size_of::<Xyzz<Fp2>>() == 384);
// SAFETY: blst's six words, transparently; those that are not below p are a wrong number, not an invalid value. The size is asserted.
unsafe impl Coordinate for Fp {
    const XYZZ: &'static str = "G1Xyzz";
}
// SAFETY: twelve, likewise.
unsafe impl Coordinate for Fp2 {
    const XYZZ: &'static str = "G2Xyzz";
}
// SAFETY: C's layout of four elements of one type, so without padding; what `Coordinate` promises of each.
unsafe impl<F: Coordinate> Plain for Xyzz<F> {
    const NAME: &'static str = F::XYZZ;
}

/// Where the partial sums of buckets are left: two for each thread that leaves some.
pub struct Partials<'a, C: Curve> {
    pub sums: ViewMut<'a, C::Xyzz>,
    /// The bucket of each.
    pub which: ViewMut<'a, u32>,
}

/// Threads that take `each` values apiece.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    pub count: u32,
    pub each: u32,
}

/// Threads of a block: what the kernels of this module that add points are compiled for.
const BLOCK: u32 = 128;

/// G1 or G2. The functions enqueue the kernel of their name; its source (kernels/msm) says what it does.
///
/// Their errors are those of [`kernels`].
pub trait Curve: Copy + Send + Sync + 'static {
    const NAME: &'static str;
    /// Bytes of a point in the parameter file.
    const BYTES: usize;
    type Affine: Plain;
    type Xyzz: Plain + Default;
    type Projective: Group<Scalar = Fr>;

    fn projective(point: &Self::Xyzz) -> Self::Projective;

    fn convert(
        stream: &Stream,
        raw: View<'_, u8>,
        points: ViewMut<'_, Self::Affine>,
        first: u64,
        bad: ViewMut<'_, u64>,
    ) -> Result<()>;

    fn add_entries(
        stream: &Stream,
        entries: (View<'_, u64>, View<'_, u64>),
        bases: View<'_, Self::Affine>,
        threads: Threads,
        buckets: ViewMut<'_, Self::Xyzz>,
        left: Partials<'_, Self>,
    ) -> Result<()>;

    fn add_partials(
        stream: &Stream,
        partials: (View<'_, Self::Xyzz>, View<'_, u32>),
        threads: Threads,
        buckets: ViewMut<'_, Self::Xyzz>,
        left: Partials<'_, Self>,
    ) -> Result<()>;

    fn sum_ones(
        stream: &Stream,
        bases: View<'_, Self::Affine>,
        words: View<'_, VariableWord>,
        bucket: u32,
        left: Partials<'_, Self>,
    ) -> Result<()>;

    fn reduce(
        stream: &Stream,
        buckets: View<'_, Self::Xyzz>,
        window: u32,
        segment: u32,
        sums: ViewMut<'_, Self::Xyzz>,
    ) -> Result<()>;

    fn sum_groups(
        stream: &Stream,
        points: View<'_, Self::Xyzz>,
        group: u32,
        sums: ViewMut<'_, Self::Xyzz>,
    ) -> Result<()>;
}

/// The curve over Fp.
#[derive(Clone, Copy, Debug)]
pub struct G1;

/// The curve over Fp2.
#[derive(Clone, Copy, Debug)]
pub struct G2;

macro_rules! curve {
    ($curve:ident, $field:ty, $affine:ty, $projective:ty, $bytes:expr, $convert:ident, $add_entries:ident,
     $add_partials:ident, $sum_ones:ident, $reduce:ident, $sum_groups:ident) => {
        impl Curve for $curve {
            const NAME: &'static str = stringify!($curve);
            const BYTES: usize = $bytes;
            type Affine = $affine;
            type Xyzz = Xyzz<$field>;
            type Projective = $projective;

            /// With Z = zz: X = x / zz * Z^2 = x zz, and Y = y / zzz * Z^3 = y zzz.
            fn projective(p: &Self::Xyzz) -> $projective {
                <$projective>::from_raw_unchecked(p.x * p.zz, p.y * p.zzz, p.zz)
            }

            fn convert(
                stream: &Stream,
                raw: View<'_, u8>,
                points: ViewMut<'_, $affine>,
                first: u64,
                bad: ViewMut<'_, u64>,
            ) -> Result<()> {
                let count = points.len();
                assert_eq!(raw.len(), count * $bytes, "bytes of {count} points");
                kernels::$convert(stream, Shape::of(count, BLOCK), raw, points, count as u32, first, bad)
            }

            fn add_entries(
                stream: &Stream,
                (entries, total): (View<'_, u64>, View<'_, u64>),
                bases: View<'_, $affine>,
                Threads { count, each }: Threads,
                buckets: ViewMut<'_, Self::Xyzz>,
                left: Partials<'_, Self>,
            ) -> Result<()> {
                let shape = Shape::of(count as usize, BLOCK);
                kernels::$add_entries(stream, shape, entries, total, bases, count, each, buckets, left.sums, left.which)
            }

            fn add_partials(
                stream: &Stream,
                (sums, which): (View<'_, Self::Xyzz>, View<'_, u32>),
                Threads { count, each }: Threads,
                buckets: ViewMut<'_, Self::Xyzz>,
                left: Partials<'_, Self>,
            ) -> Result<()> {
                let (shape, total) = (Shape::of(count as usize, BLOCK), sums.len() as u64);
                kernels::$add_partials(stream, shape, sums, which, total, count, each, buckets, left.sums, left.which)
            }

            fn sum_ones(
                stream: &Stream,
                bases: View<'_, $affine>,
                words: View<'_, VariableWord>,
                bucket: u32,
                left: Partials<'_, Self>,
            ) -> Result<()> {
                let count = words.len();
                let shape = Shape::of(2 * count, BLOCK);
                kernels::$sum_ones(stream, shape, bases, words, count as u32, bucket, left.sums, left.which)
            }

            fn reduce(
                stream: &Stream,
                buckets: View<'_, Self::Xyzz>,
                window: u32,
                segment: u32,
                sums: ViewMut<'_, Self::Xyzz>,
            ) -> Result<()> {
                let count = sums.len();
                assert_eq!(buckets.len(), count * segment as usize, "segments of {segment} buckets");
                kernels::$reduce(stream, Shape::of(count, BLOCK), buckets, window, segment, count as u32, sums)
            }

            fn sum_groups(
                stream: &Stream,
                points: View<'_, Self::Xyzz>,
                group: u32,
                sums: ViewMut<'_, Self::Xyzz>,
            ) -> Result<()> {
                let shape = Shape::of(points.len().div_ceil(group as usize), BLOCK);
                kernels::$sum_groups(stream, shape, points, sums, points.len() as u64, group)
            }
        }
    };
}

curve!(
    G1,
    Fp,
    G1Affine,
    G1Projective,
    G1_BYTES,
    g1_convert,
    g1_add_entries,
    g1_add_partials,
    g1_sum_ones,
    g1_reduce,
    g1_sum_groups
);
curve!(
    G2,
    Fp2,
    G2Affine,
    G2Projective,
    G2_BYTES,
    g2_convert,
    g2_add_entries,
    g2_add_partials,
    g2_sum_ones,
    g2_reduce,
    g2_sum_groups
);
