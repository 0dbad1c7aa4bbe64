//! Multi-scalar multiplication: Pippenger's buckets with signed digits, filled by batch-affine addition trees.
//!
//! Most scalars of a PoRep witness are 0 or 1. They are classified first: zeros are skipped, ones are summed as a tree,
//! only the rest goes through buckets. Bases are decoded from the parameter file a chunk at a time, so that no second
//! copy of the file is ever in memory.

use std::marker::PhantomData;

use blstrs::Scalar as Fr;
use ff::PrimeField;
use group::Group;
use rayon::prelude::*;

use super::affine::{Affine, BatchAdder};
use super::classify::{count_full, for_each_block, Block};
use super::curve::Curve;
use super::field::BaseField;
use crate::backend::bases::RawBases;
use crate::backend::scalars::{total, Scalars};

/// A group as sums see it: points in some representation, and who adds them.
pub trait SumGroup: Copy + Send + Sync + 'static {
    /// An affine point; the default is the identity.
    type Point: Copy + Default + Send + Sync;
    type Projective: Group<Scalar = Fr> + Send + Sync;
    type Adder: SegmentAdder<Self::Point> + Default + Send;

    /// The bases at `indices`, in parallel; they replace what `points` holds, whose memory is used again.
    fn decode<const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut Vec<Self::Point>);
    fn is_identity(point: &Self::Point) -> bool;
    /// For decoded points.
    fn negate_if(point: &mut Self::Point, negative: bool);
    /// `acc + point`, complete.
    fn add_point(acc: &Self::Projective, point: &Self::Point) -> Self::Projective;
}

/// Sums segments of points; see [`BatchAdder::sum_segments`].
pub trait SegmentAdder<P> {
    fn sum_segments(&mut self, points: &mut Vec<P>, lengths: &mut [u32]);
}

/// A curve whose sums are made with blst's arithmetic, on any processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable<C>(PhantomData<C>);

impl<C: Curve> SumGroup for Portable<C> {
    type Point = Affine<C::Field>;
    type Projective = C::Projective;
    type Adder = BatchAdder<C::Field>;

    fn decode<const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32], points: &mut Vec<Self::Point>) {
        let decoded = indices.par_iter().with_min_len(GROUP).map(|i| C::decode(bases.point(*i as usize)));
        decoded.collect_into_vec(points);
    }

    fn is_identity(point: &Self::Point) -> bool {
        point.is_identity()
    }

    fn negate_if(point: &mut Self::Point, negative: bool) {
        point.y.negate_if(negative);
    }

    fn add_point(acc: &Self::Projective, point: &Self::Point) -> Self::Projective {
        C::add_affine(acc, point)
    }
}

impl<F: BaseField> SegmentAdder<Affine<F>> for BatchAdder<F> {
    fn sum_segments(&mut self, points: &mut Vec<Affine<F>>, lengths: &mut [u32]) {
        BatchAdder::sum_segments(self, points, lengths);
    }
}

/// Points that are decoded and distributed at a time: 2^18 G1 points are 25 MB, which every window then reads in its own order.
const CHUNK: usize = 1 << 18;
/// Points whose additions share one inversion. A G1 inversion costs about 60 multiplications; at 2048 pairs it vanishes,
/// and the points (400 KB) stay in the second-level cache.
const GROUP: usize = 1 << 12;
/// Buckets per parallel task within one window.
const BUCKETS_PER_TASK: usize = 1 << 10;
/// The sum of each scalar times its base.
///
/// # Panics
/// When the lengths differ: callers compare them first.
pub fn msm<G: SumGroup, const SIZE: usize>(bases: RawBases<'_, SIZE>, scalars: &[Scalars<'_>]) -> G::Projective {
    assert_eq!(bases.len(), total(scalars), "one base per scalar");
    let mut buckets = Buckets::<G>::new(Windows::for_length(count_full(scalars)));
    let mut ones_sum = G::Projective::identity();
    for_each_block(scalars, |Block { first, len, classes, elements }| {
        let bases = bases.slice(first..first + len);
        ones_sum += sum_selected::<G, SIZE>(bases, &classes.ones);
        for (full, places) in classes.full.chunks(CHUNK).zip(classes.places.chunks(CHUNK)) {
            buckets.add(bases, full, elements, places);
        }
    });
    ones_sum + buckets.sum()
}

/// Sum of the bases at `indices`, as affine addition trees.
fn sum_selected<G: SumGroup, const SIZE: usize>(bases: RawBases<'_, SIZE>, indices: &[u32]) -> G::Projective {
    indices
        .par_chunks(GROUP)
        .map_init(<(G::Adder, Vec<G::Point>)>::default, |(adder, points), group| {
            G::decode(bases, group, points);
            adder.sum_segments(points, &mut [group.len() as u32]);
            points[0]
        })
        .fold(G::Projective::identity, |acc, p| G::add_point(&acc, &p))
        .reduce(G::Projective::identity, |a, b| a + b)
}

/// How scalars are cut into signed digits of `bits` bits, least significant window first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Windows {
    bits: u32,
    count: usize,
    /// Added to a scalar so that a window's digit is its unsigned value less half the radix: no carries between windows.
    /// The last window has none, its digits are not negative.
    offset: [u64; 4],
}

/// r, the order of the scalar field, least significant limb first.
const ORDER: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// Set in the last limb of a prepared scalar when its digits stand for the negative.
const NEGATIVE: u64 = 1 << 63;

impl Windows {
    /// # Panics
    /// When `bits` is not in 2..=24.
    fn new(bits: u32) -> Self {
        assert!((2..=24).contains(&bits), "window of {bits} bits");
        // Scalars are at most r / 2, and the windows below the last can carry one into it.
        let top_digit = |below: u32| (ORDER[3] >> 1 >> (bits * below - 192)) + 1;
        let mut below = 192u32.div_ceil(bits);
        while top_digit(below) > 1 << (bits - 1) {
            below += 1;
        }
        let mut offset = [0u64; 4];
        for w in 0..below {
            let bit = bits * w + bits - 1;
            offset[bit as usize / 64] |= 1 << (bit % 64);
        }
        Self { bits, count: below as usize + 1, offset }
    }

    /// The windows with the fewest additions for `n` scalars: each window adds every point once, and its buckets are
    /// summed with about two batched additions each.
    fn for_length(n: usize) -> Self {
        (2..=20).map(Self::new).min_by_key(|w| w.count * (n + 2 * w.buckets())).unwrap_or_else(|| Self::new(2))
    }

    fn buckets(&self) -> usize {
        1 << (self.bits - 1)
    }

    /// The scalar as its digits are read from it: the smaller of s and r - s, plus the offset; below 2^255.
    fn prepare(&self, scalar: &Fr) -> [u64; 4] {
        let bytes = scalar.to_repr();
        let limbs: [u64; 4] = std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| bytes[8 * i + j])));
        let negated = sub_limbs(&ORDER, &limbs);
        let negative = negated.iter().rev().lt(limbs.iter().rev());
        let mut prepared = add_limbs(if negative { &negated } else { &limbs }, &self.offset);
        prepared[3] |= if negative { NEGATIVE } else { 0 };
        prepared
    }

    /// The signed digit of window `w`, at most half the radix in magnitude.
    #[inline]
    fn digit(&self, prepared: &[u64; 4], w: usize) -> i32 {
        let bit = self.bits as usize * w;
        let limb = |i: usize| if i == 3 { prepared[3] & !NEGATIVE } else { prepared[i] };
        let (at, shift) = (bit / 64, bit % 64);
        let mut value = limb(at) >> shift;
        if shift > 0 && at < 3 {
            value |= limb(at + 1) << (64 - shift);
        }
        let mut digit = (value & ((1 << self.bits) - 1)) as i32;
        if w + 1 < self.count {
            digit -= 1 << (self.bits - 1);
        }
        if prepared[3] & NEGATIVE == 0 {
            digit
        } else {
            -digit
        }
    }
}

fn add_limbs(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = false;
    std::array::from_fn(|i| {
        let (x, c1) = a[i].overflowing_add(b[i]);
        let (x, c2) = x.overflowing_add(u64::from(carry));
        carry = c1 | c2;
        x
    })
}

fn sub_limbs(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    std::array::from_fn(|i| {
        let (x, b1) = a[i].overflowing_sub(b[i]);
        let (x, b2) = x.overflowing_sub(u64::from(borrow));
        borrow = b1 | b2;
        x
    })
}

/// Every window's buckets, which points are added to chunk by chunk.
struct Buckets<G: SumGroup> {
    windows: Windows,
    /// Window by window.
    points: Vec<G::Point>,
    /// A chunk's bases and scalars: memory that every chunk uses again, since fresh pages of it cost a third of a second a sum.
    decoded: Vec<G::Point>,
    prepared: Vec<[u64; 4]>,
}

impl<G: SumGroup> Buckets<G> {
    fn new(windows: Windows) -> Self {
        let points = vec![G::Point::default(); windows.count * windows.buckets()];
        Self { windows, points, decoded: Vec::new(), prepared: Vec::new() }
    }

    /// Adds `elements[place] * bases[index]` for each index and place.
    fn add<const SIZE: usize>(&mut self, bases: RawBases<'_, SIZE>, indices: &[u32], elements: &[Fr], places: &[u32]) {
        let windows = self.windows;
        let Self { points, decoded, prepared, .. } = self;
        G::decode(bases, indices, decoded);
        places.par_iter().map(|place| windows.prepare(&elements[*place as usize])).collect_into_vec(prepared);
        points.par_chunks_mut(windows.buckets()).enumerate().for_each(|(w, buckets)| {
            SortedDigits::new(&windows, w, prepared).add_to::<G>(buckets, decoded);
        });
    }

    fn sum(&self) -> G::Projective {
        let sums: Vec<_> = self.points.par_chunks(self.windows.buckets()).map(weighted_sum::<G>).collect();
        sums.into_iter()
            .rev()
            .fold(G::Projective::identity(), |acc, sum| (0..self.windows.bits).fold(acc, |acc, _| acc.double()) + sum)
    }
}

/// One window's non-zero digits, sorted by bucket (counting sort).
struct SortedDigits {
    /// Point index times two, plus one when the digit is negative.
    entries: Vec<u32>,
    /// Bucket b holds the digits of magnitude b + 1; its entries are `starts[b]..starts[b + 1]`.
    starts: Vec<u32>,
}

impl SortedDigits {
    fn new(windows: &Windows, w: usize, prepared: &[[u64; 4]]) -> Self {
        let digits: Vec<i32> = prepared.iter().map(|s| windows.digit(s, w)).collect();
        let mut starts = vec![0u32; windows.buckets() + 2];
        for d in digits.iter().filter(|d| **d != 0) {
            starts[d.unsigned_abs() as usize + 1] += 1;
        }
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut entries = vec![0u32; starts[windows.buckets() + 1] as usize];
        // starts[m] is where magnitude m goes next: once all are placed, it is where magnitude m + 1 starts.
        for (i, d) in digits.iter().enumerate().filter(|(_, d)| **d != 0) {
            let at = &mut starts[d.unsigned_abs() as usize];
            entries[*at as usize] = (i as u32) << 1 | u32::from(*d < 0);
            *at += 1;
        }
        starts.truncate(windows.buckets() + 1);
        Self { entries, starts }
    }

    fn bucket(&self, b: usize) -> &[u32] {
        &self.entries[self.starts[b] as usize..self.starts[b + 1] as usize]
    }

    /// Adds every entry's point to its bucket.
    fn add_to<G: SumGroup>(&self, buckets: &mut [G::Point], points: &[G::Point]) {
        buckets.par_chunks_mut(BUCKETS_PER_TASK).enumerate().for_each(|(task, buckets)| {
            let mut batch = Batch::<G>::default();
            for i in 0..buckets.len() {
                let mut entries = self.bucket(task * BUCKETS_PER_TASK + i);
                while !entries.is_empty() {
                    let (now, later) = entries.split_at(entries.len().min(GROUP - batch.points.len()));
                    batch.push(buckets[i], i, now, points);
                    if batch.points.len() >= GROUP {
                        batch.flush(buckets);
                    }
                    entries = later;
                }
            }
            batch.flush(buckets);
        });
    }
}

/// Segments of points that wait for their common inversion, each with the bucket it is for.
struct Batch<G: SumGroup> {
    points: Vec<G::Point>,
    lengths: Vec<u32>,
    targets: Vec<usize>,
    adder: G::Adder,
}

impl<G: SumGroup> Default for Batch<G> {
    fn default() -> Self {
        Self { points: Vec::new(), lengths: Vec::new(), targets: Vec::new(), adder: G::Adder::default() }
    }
}

impl<G: SumGroup> Batch<G> {
    /// Adds a segment: what the bucket holds, then the entries' points.
    fn push(&mut self, held: G::Point, target: usize, entries: &[u32], points: &[G::Point]) {
        let start = self.points.len();
        if !G::is_identity(&held) {
            self.points.push(held);
        }
        let first = self.points.len();
        // First nothing but loads, so that their cache misses overlap; then the signs.
        self.points.extend(entries.iter().map(|e| points[(e >> 1) as usize]));
        for (point, e) in self.points[first..].iter_mut().zip(entries) {
            G::negate_if(point, e & 1 == 1);
        }
        self.lengths.push((self.points.len() - start) as u32);
        self.targets.push(target);
    }

    /// Sums the segments into their buckets.
    fn flush(&mut self, buckets: &mut [G::Point]) {
        self.adder.sum_segments(&mut self.points, &mut self.lengths);
        for (target, sum) in self.targets.iter().zip(&self.points) {
            buckets[*target] = *sum;
        }
        self.points.clear();
        self.lengths.clear();
        self.targets.clear();
    }
}

/// `sum((i + 1) * buckets[i])` for a power of two of buckets. With i = high * L + low it is
/// `L * sum(high * row sum) + sum((low + 1) * column sum)`: two batched additions a bucket, and running sums (four times
/// as dear) over two square roots of them.
fn weighted_sum<G: SumGroup>(buckets: &[G::Point]) -> G::Projective {
    let row_bits = buckets.len().ilog2() / 2;
    let (row, rows) = (1usize << row_bits, buckets.len() >> row_bits);
    let row_sums = grouped_sums::<G>(rows, row, |high, low| buckets[high * row + low]);
    let column_sums = grouped_sums::<G>(row, rows, |low, high| buckets[high * row + low]);
    let high = (0..row_bits).fold(running_sum::<G>(&row_sums[1..]), |acc, _| acc.double());
    high + running_sum::<G>(&column_sums)
}

/// `sums[i] = sum(at(i, j) for j in 0..length)` for i in 0..count.
fn grouped_sums<G: SumGroup>(
    count: usize,
    length: usize,
    at: impl Fn(usize, usize) -> G::Point + Sync,
) -> Vec<G::Point> {
    let per_task = (GROUP / length).max(1);
    (0..count.div_ceil(per_task))
        .into_par_iter()
        .flat_map_iter(|task| {
            let segments = task * per_task..count.min((task + 1) * per_task);
            let mut lengths = vec![length as u32; segments.len()];
            let mut points: Vec<_> =
                segments.flat_map(|i| (0..length).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect();
            G::Adder::default().sum_segments(&mut points, &mut lengths);
            points
        })
        .collect()
}

/// `sum((i + 1) * points[i])`.
fn running_sum<G: SumGroup>(points: &[G::Point]) -> G::Projective {
    let mut running = G::Projective::identity();
    let mut sum = G::Projective::identity();
    for p in points.iter().rev() {
        running = G::add_point(&running, p);
        sum += running;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

    #[test]
    fn digits_add_up_to_the_scalar() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let half = Fr::from(2).invert().unwrap();
        let mut scalars =
            vec![Fr::ZERO, Fr::ONE, -Fr::ONE, half, -half, half - Fr::ONE, Fr::from(2), Fr::from(u64::MAX)];
        scalars.extend((0..100).map(|_| Fr::random(&mut rng)));
        scalars.extend((0..255).map(|k| Fr::from(2).pow_vartime([k])));
        for bits in 2..=24 {
            let windows = Windows::new(bits);
            for s in &scalars {
                let prepared = windows.prepare(s);
                let radix = Fr::from(1 << bits);
                let sum = (0..windows.count).rev().fold(Fr::ZERO, |acc, w| {
                    let d = windows.digit(&prepared, w);
                    assert!(d.unsigned_abs() as usize <= windows.buckets(), "{bits} bits, window {w}: {d}");
                    let magnitude = Fr::from(u64::from(d.unsigned_abs()));
                    acc * radix + if d < 0 { -magnitude } else { magnitude }
                });
                assert_eq!(sum, *s, "{bits} bits");
            }
        }
    }

    #[test]
    fn order_is_the_fields() {
        assert_eq!(add_limbs(&sub_limbs(&ORDER, &[1, 0, 0, 0]), &[1, 0, 0, 0]), ORDER);
        let minus_one = (-Fr::ONE).to_repr();
        let limbs = sub_limbs(&ORDER, &[1, 0, 0, 0]);
        let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
        assert_eq!(bytes, minus_one);
    }
}
