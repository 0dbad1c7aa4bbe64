//! Buckets on the device: filled piece by piece, and summed with their weights.

use group::Group;

use super::curve::{Curve, Partials, Threads};
use super::sort::{DeviceScalars, Sorter};
use super::variables::VariableWord;
use super::windows::Windows;
use crate::error::Result;
use crate::gpu::{Buffer, Stream, View};

/// Entries that a thread takes: a bucket's sum, of some 14 multiplications, and two partial sums then weigh little against the entries' 10
/// each. Fewer where there are not enough to give work to 2^17 threads, more than any card holds at a time.
const MOST_EACH: usize = 64;
const LEAST_EACH: usize = 8;
const ENOUGH_THREADS: usize = 1 << 17;

/// Partial sums that a thread takes: a launch leaves an eighth of them.
const PARTIALS_EACH: usize = 16;

/// Buckets whose running sum a thread makes; then come at most 2 * 16 additions and doublings for its place in the window.
const SEGMENT: usize = 32;

/// Points that a thread sums to one.
const GROUP: usize = 8;

fn threads_for(entries: usize) -> Threads {
    let each = (entries / ENOUGH_THREADS).clamp(LEAST_EACH, MOST_EACH);
    Threads { count: entries.div_ceil(each) as u32, each: each as u32 }
}

/// Partial sums that at most `entries` entries or `words` words of variables leave, and those that these leave. Fewer entries may have
/// more threads, up to 9/8 of ENOUGH_THREADS.
fn partial_sums(entries: usize, words: usize) -> [usize; 2] {
    let threads = (threads_for(entries).count as usize).max(entries.div_ceil(LEAST_EACH).min(2 * ENOUGH_THREADS));
    let first = 2 * threads.max(words);
    [first, 2 * first.div_ceil(PARTIALS_EACH)]
}

/// Memory for partial sums, used again and again.
pub struct Scratch<C: Curve> {
    sums: [Buffer<C::Xyzz>; 2],
    which: [Buffer<u32>; 2],
}

impl<C: Curve> Scratch<C> {
    /// For at most `entries` entries at a time, or partial sums of as many as `words` words of variables.
    ///
    /// # Errors
    /// The device's: no memory.
    pub fn new(stream: &Stream, entries: usize, words: usize) -> Result<Self> {
        let [first, second] = partial_sums(entries, words);
        Ok(Self {
            sums: [stream.buffer("partial sums", first)?, stream.buffer("sums of partial sums", second)?],
            which: [stream.buffer("partial sums' buckets", first)?, stream.buffer("their sums' buckets", second)?],
        })
    }

    fn partials(&mut self, of: usize) -> Partials<'_, C> {
        Partials { sums: self.sums[of].view_mut(), which: self.which[of].view_mut() }
    }

    /// Adds the first `total` partial sums to their buckets, and what that leaves, until it leaves nothing.
    fn add(&mut self, stream: &Stream, mut total: usize, buckets: &mut Buffer<C::Xyzz>) -> Result<()> {
        let [a, b] = &mut self.sums;
        let [p, q] = &mut self.which;
        let (mut from, mut to) = ((a, p), (b, q));
        while total > 0 {
            let count = total.div_ceil(PARTIALS_EACH);
            let threads = Threads { count: count as u32, each: PARTIALS_EACH as u32 };
            let partials = (from.0.view().slice(0..total), from.1.view().slice(0..total));
            let left = Partials { sums: to.0.view_mut(), which: to.1.view_mut() };
            C::add_partials(stream, partials, threads, buckets.view_mut(), left)?;
            total = left_by(count);
            std::mem::swap(&mut from, &mut to);
        }
        Ok(())
    }
}

/// Partial sums that so many threads leave: one that takes all has no neighbours.
fn left_by(threads: usize) -> usize {
    match threads {
        1 => 0,
        _ => 2 * threads,
    }
}

/// All windows' buckets of one sum, and one more for the bases whose scalar is a bit.
pub struct Buckets<'a, C: Curve> {
    stream: &'a Stream,
    windows: Windows,
    sums: Buffer<C::Xyzz>,
}

impl<'a, C: Curve> Buckets<'a, C> {
    /// Empty ones.
    ///
    /// # Errors
    /// The device's: no memory.
    pub fn new(stream: &'a Stream, windows: Windows) -> Result<Self> {
        let mut sums = stream.buffer("buckets", windows.buckets() + 1)?;
        // Infinity has zz = 0.
        stream.zero("buckets", sums.view_mut())?;
        Ok(Self { stream, windows, sums })
    }

    /// Adds each of these scalars times its base.
    ///
    /// # Errors
    /// The device's failure.
    pub fn add(
        &mut self,
        bases: View<'_, C::Affine>,
        scalars: DeviceScalars<'_>,
        sorter: &mut Sorter<'_>,
        scratch: &mut Scratch<C>,
    ) -> Result<()> {
        if scalars.count == 0 {
            return Ok(());
        }
        let entries = sorter.sort(self.windows, scalars)?;
        let threads = threads_for(scalars.count * self.windows.count as usize);
        C::add_entries(self.stream, entries, bases, threads, self.sums.view_mut(), scratch.partials(0))?;
        scratch.add(self.stream, left_by(threads.count as usize), &mut self.sums)
    }

    /// Adds the bases whose variable is one.
    ///
    /// # Errors
    /// The device's failure.
    pub fn add_ones(
        &mut self,
        bases: View<'_, C::Affine>,
        words: View<'_, VariableWord>,
        scratch: &mut Scratch<C>,
    ) -> Result<()> {
        C::sum_ones(self.stream, bases, words, self.windows.buckets() as u32, scratch.partials(0))?;
        scratch.add(self.stream, 2 * words.len(), &mut self.sums)
    }

    /// The sum of all that was added. Waits for it.
    ///
    /// # Errors
    /// The device's failure.
    pub fn sum(&self) -> Result<C::Projective> {
        let (buckets, in_window) = (self.windows.buckets(), self.windows.buckets_of_one());
        let segment = SEGMENT.min(in_window);
        let mut of_window = in_window / segment;
        let mut points = self.stream.buffer("sums of buckets", buckets / segment)?;
        let of_windows = self.sums.view().slice(0..buckets);
        C::reduce(self.stream, of_windows, in_window as u32, segment as u32, points.view_mut())?;
        while of_window > 1 {
            let group = GROUP.min(of_window);
            let mut sums = self.stream.buffer("sums of buckets", points.len() / group)?;
            C::sum_groups(self.stream, points.view(), group as u32, sums.view_mut())?;
            (points, of_window) = (sums, of_window / group);
        }
        let mut window_sums = vec![C::Xyzz::default(); points.len()];
        self.stream.download("sums of windows", points.view(), &mut window_sums)?;
        let mut ones = [C::Xyzz::default()];
        self.stream.download("the sum of ones", self.sums.view().slice(buckets..buckets + 1), &mut ones)?;
        let scaled = |sum: C::Projective| (0..self.windows.bits).fold(sum, |sum, _| sum.double());
        let sum = window_sums.iter().rev().fold(C::Projective::identity(), |sum, w| scaled(sum) + C::projective(w));
        Ok(sum + C::projective(&ones[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::{RngCore, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Whether so many entries, of `most` that there is memory for, have a thread each and room for what each launch leaves.
    fn suffices(entries: usize, most: usize, [first, second]: [usize; 2]) -> bool {
        let Threads { count, each } = threads_for(entries);
        let mut total = 2 * count as usize;
        let mut fits = entries <= most && count as usize * each as usize >= entries && total <= first;
        for room in [second, first].into_iter().cycle() {
            let count = total.div_ceil(PARTIALS_EACH);
            fits &= 2 * count <= room;
            total = left_by(count);
            if total == 0 {
                break;
            }
        }
        fits
    }

    /// Where the number of entries a thread changes, and around it.
    fn edges() -> Vec<usize> {
        let changes = (1..=MOST_EACH + 1).map(|each| each * ENOUGH_THREADS);
        let powers = (0..=31).map(|log| 1usize << log);
        changes.chain(powers).flat_map(|n| [n - 1, n, n + 1]).filter(|n| (1..=1 << 31).contains(n)).collect()
    }

    #[test]
    fn there_is_room_for_what_any_fewer_entries_leave() {
        let (mut rng, edges) = (ChaCha20Rng::seed_from_u64(1), edges());
        let mut up_to = |most: usize| 1 + (rng.next_u64() as usize >> (rng.next_u32() % 32)) % most;
        let lengths: Vec<usize> = edges.iter().copied().chain((0..20_000).map(|_| up_to(1 << 31))).collect();
        for most in lengths {
            let sizes = partial_sums(most, 0);
            let below = edges.iter().copied().filter(|n| *n <= most);
            for entries in below.chain([most, most - most / 9, most - most / 2]).chain((0..8).map(|_| up_to(most))) {
                assert!(suffices(entries, most, sizes), "{entries} entries where there is room for {most}: {sizes:?}");
            }
        }
    }

    #[test]
    fn there_is_room_for_what_words_of_variables_leave() {
        for words in (1..200).chain(edges().into_iter().filter(|n| *n < 1 << 28)) {
            // Two threads a word, whose sums are like those that two partial sums a thread are.
            let [first, second] = partial_sums(1, words);
            assert!(2 * words <= first && 2 * (2 * words).div_ceil(PARTIALS_EACH) <= second, "{words} words");
        }
    }
}
