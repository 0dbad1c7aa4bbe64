//! Multi-scalar multiplication: Pippenger's buckets with signed digits, filled by batches of affine additions.
//!
//! Most scalars of a PoRep witness are 0 or 1. They are classified first: zeros are skipped, ones are summed without any buckets,
//! for several sums at once where there are several, only the rest goes through buckets.
//!
//! Bases are decoded from the parameter file a chunk at a time, so that no second copy of the file is ever in memory. In each window a
//! chunk's digits are sorted by bucket, and all buckets' sums grow side by side.

mod buckets;
mod groups;
mod ones;
mod sort;
mod windows;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use blstrs::Scalar as Fr;
use group::Group;
use rayon::prelude::*;

use super::accumulators::{Accumulators, PortableAccumulators};
use super::affine::Affine;
use super::classify::{count_full, extents, Block, Extent};
use super::curve::Curve;
use crate::backend::bases::{Form, RawBases};
use crate::backend::memory::{Memory, Plain};
use crate::backend::scalars::{total, Scalars};
use buckets::Buckets;
use ones::sums_of_ones;
pub use ones::MOST;
use windows::Windows;

/// A group as sums see it: points in some representation, and who adds them.
pub trait SumGroup: Copy + Send + Sync + 'static {
    /// An affine point; the default is the identity.
    type Point: Plain + Default;
    type Projective: Group<Scalar = Fr> + Send + Sync;
    type Curve: Curve<Projective = Self::Projective>;
    type Accumulators: Accumulators<Self::Point>;
    /// What a bucket costs in additions: see [`Windows::for_length`]. The cheaper additions are, the more weighs what else is done
    /// with it.
    const BUCKET: usize;

    /// The bases at `indices`, in parallel, into as many `points`.
    fn decode<const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut [Self::Point]);
    /// A point of blst's form.
    fn from_affine(point: &AffineOf<Self>) -> Self::Point;
    /// The inverse of [`SumGroup::from_affine`].
    fn to_affine(point: &Self::Point) -> AffineOf<Self>;
    /// `acc + point`, complete.
    fn add_point(acc: &Self::Projective, point: &Self::Point) -> Self::Projective;
}

/// A group's affine points in blst's form.
pub type AffineOf<G> = Affine<<<G as SumGroup>::Curve as Curve>::Field>;

/// A curve whose sums are made with blst's arithmetic, on any processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable<C>(PhantomData<C>);

/// Points per parallel task of decoding.
const TASK: usize = 1 << 12;

impl<C: Curve> SumGroup for Portable<C> {
    type Point = Affine<C::Field>;
    type Projective = C::Projective;
    type Curve = C;
    type Accumulators = PortableAccumulators<C::Field>;
    // 3 chose windows of 16 bits instead of 17 for 2^20 points, which were 3 % slower (Zen 4).
    const BUCKET: usize = 2;

    fn decode<const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut [Self::Point]) {
        let decoded = points.par_iter_mut().zip(indices).with_min_len(TASK);
        match bases.prepared(Form::Scalar) {
            Some(prepared) => decoded.for_each(|(point, i)| *point = C::load(&prepared[*i as usize])),
            None => decoded.for_each(|(point, i)| *point = C::decode(bases.point(*i as usize))),
        }
    }

    fn from_affine(point: &Affine<C::Field>) -> Affine<C::Field> {
        *point
    }

    fn to_affine(point: &Affine<C::Field>) -> Affine<C::Field> {
        *point
    }

    fn add_point(acc: &Self::Projective, point: &Self::Point) -> Self::Projective {
        C::add_affine(acc, point)
    }
}

/// Memory of the points that are decoded and distributed at a time, which every window then reads in its own order.
const CHUNK_BYTES: usize = 64 << 20;

/// For each list of scalars the sum of each scalar times its base.
///
/// # Panics
/// When the lengths differ: callers compare them first.
pub fn sums<G: SumGroup, const SIZE: usize>(
    bases: RawBases<'_, SIZE>,
    lists: &[&[Scalars<'_>]],
    memory: &Arc<Memory>,
) -> Vec<G::Projective> {
    sums_in_chunks::<G, SIZE>(bases, lists, memory, CHUNK_BYTES / size_of::<G::Point>())
}

/// With `chunk` points that are decoded and distributed at a time.
fn sums_in_chunks<G: SumGroup, const SIZE: usize>(
    bases: RawBases<'_, SIZE>,
    lists: &[&[Scalars<'_>]],
    memory: &Arc<Memory>,
    chunk: usize,
) -> Vec<G::Projective> {
    let extents: Vec<_> = lists.iter().map(|scalars| extents(scalars)).collect();
    // Those of one circuit's witnesses have the same blocks.
    let alike = |range: &Range<usize>| extents[range.clone()].iter().all(|of_list| *of_list == extents[range.start]);
    let together: Vec<_> = (0..lists.len()).step_by(MOST).map(|start| start..lists.len().min(start + MOST)).collect();
    // Their buckets take no more than a prover's vector of as many elements has, which is free.
    let room = |range: &Range<usize>| {
        let windows = || Windows::for_length(most_full(&lists[range.clone()]), G::BUCKET);
        let bytes = |windows: Windows| range.len() * windows.count * windows.buckets() * size_of::<G::Point>();
        range.len() == 1 || bytes(windows()) <= bases.len() * size_of::<Fr>()
    };
    let together = together.into_iter().flat_map(|range| match alike(&range) && room(&range) {
        true => vec![range],
        false => range.map(|k| k..k + 1).collect(),
    });
    together
        .flat_map(|range| alike_sums::<G, SIZE>(bases, &lists[range.clone()], &extents[range.start], memory, chunk))
        .collect()
}

/// The most scalars of a list that are neither zero nor one.
fn most_full(lists: &[&[Scalars<'_>]]) -> usize {
    lists.iter().map(|scalars| count_full(scalars)).max().unwrap_or(0)
}

/// At most [`MOST`] sums whose scalars have the same blocks.
fn alike_sums<G: SumGroup, const SIZE: usize>(
    bases: RawBases<'_, SIZE>,
    lists: &[&[Scalars<'_>]],
    extents: &[Extent],
    memory: &Arc<Memory>,
    chunk: usize,
) -> Vec<G::Projective> {
    lists.iter().for_each(|scalars| assert_eq!(bases.len(), total(scalars), "one base per scalar"));
    let full = most_full(lists);
    let windows = Windows::for_length(full, G::BUCKET);
    let of_list = windows.count * windows.buckets();
    // The larger one first: see `Memory`.
    let (points, sums) = (chunk.min(full), of_list * lists.len());
    let (mut decoded, mut held) = if points >= sums {
        (memory.lend(points), memory.lend(sums))
    } else {
        let held = memory.lend(sums);
        (memory.lend(points), held)
    };
    let mut buckets: Vec<_> = held.chunks_mut(of_list).map(|sums| Buckets::<G>::new(windows, sums)).collect();
    let mut ones_sums = vec![G::Projective::identity(); lists.len()];
    for extent in extents {
        let bases = bases.slice(extent.first..extent.first + extent.len);
        let blocks: Vec<_> = lists.iter().map(|scalars| Block::new(scalars, extent)).collect();
        let ones: Vec<_> = blocks.iter().map(|block| &block.classes.ones[..]).collect();
        ones_sums.iter_mut().zip(sums_of_ones::<G, SIZE>(bases, &ones)).for_each(|(sum, more)| *sum += more);
        for (Block { classes, elements }, buckets) in blocks.iter().zip(&mut buckets) {
            for (full, places) in classes.full.chunks(chunk).zip(classes.places.chunks(chunk)) {
                let points = &mut decoded[..full.len()];
                G::decode(bases, full, points);
                buckets.add(points, elements, places);
            }
        }
    }
    ones_sums.into_iter().zip(&buckets).map(|(ones, buckets)| ones + buckets.sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::bases::{G1Bases, G2Bases};
    use crate::backend::cpu::curve::{G1, G2};
    use crate::backend::reference::Reference;
    use crate::backend::Backend;
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    /// Bases of which some are equal or opposite, and scalars of every kind.
    fn input<C: Curve>(count: usize) -> (Vec<u8>, Vec<Fr>) {
        let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
        let mut bytes = vec![0; count * C::BYTES];
        for (i, out) in bytes.chunks_exact_mut(C::BYTES).enumerate() {
            let multiple = Fr::from((i % 11 + 1) as u64);
            let point = C::Projective::generator() * if i % 3 == 0 { -multiple } else { multiple };
            C::encode(&C::to_affine(&point), out);
        }
        let scalar = |i| match i % 6 {
            0 => Fr::ZERO,
            1 => Fr::ONE,
            2 => -Fr::ONE,
            3 => Fr::from(5),
            _ => Fr::random(&mut rng),
        };
        (bytes, (0..count).map(scalar).collect())
    }

    /// Chunks of one point, of a few, and longer than the sum: what one leaves in the buckets the next one adds to.
    fn chunks_add_up<C: Curve, G: SumGroup<Projective = C::Projective>, const SIZE: usize>(
        expected: impl Fn(RawBases<'_, SIZE>, &[Scalars<'_>]) -> C::Projective,
    ) {
        let memory = Arc::default();
        for count in [0, 1, 2, 100, 150] {
            let (bytes, scalars) = input::<C>(count);
            let (bases, scalars) = (RawBases::new(&bytes).unwrap(), [Scalars::Elements(&scalars)]);
            for chunk in [1, 7, 64, 1000] {
                let sums = sums_in_chunks::<G, SIZE>(bases, &[&scalars], &memory, chunk);
                assert!(sums[0] == expected(bases, &scalars), "{count} scalars in chunks of {chunk}");
            }
        }
    }

    #[test]
    fn sums_do_not_depend_on_the_chunks() {
        let g1 = |bases: G1Bases<'_>, scalars: &[Scalars<'_>]| Reference.sum_g1(bases, scalars).unwrap();
        let g2 = |bases: G2Bases<'_>, scalars: &[Scalars<'_>]| Reference.sum_g2(bases, scalars).unwrap();
        chunks_add_up::<G1, Portable<G1>, 96>(g1);
        chunks_add_up::<G2, Portable<G2>, 192>(g2);
        #[cfg(target_arch = "x86_64")]
        if crate::backend::cpu::ifma::is_available() {
            use crate::backend::cpu::ifma::{G1Lanes, G2Lanes};
            chunks_add_up::<G1, G1Lanes, 96>(g1);
            chunks_add_up::<G2, G2Lanes, 192>(g2);
        }
    }
}
