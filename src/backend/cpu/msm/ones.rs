//! Sums of the bases whose scalars are one: of several sums over the same bases at once.
//!
//! Bases are told apart by the set of sums that they belong to, and summed set by set, each base once; a sum is then that of the sets
//! which have it. Of n random bits a sum, k sums take n (1 - 2^-k) additions and conversions of bases instead of k n / 2.

use std::ops::Range;

use group::Group;
use rayon::prelude::*;

use super::groups::GroupSums;
use super::sort::counts_to_starts;
use super::SumGroup;
use crate::backend::bases::RawBases;
use crate::backend::cpu::accumulators::all;

/// Sums that are made at once. In 8 of a 2 KiB sector's, on two cores of a Sapphire Rapids, each one's part over the l query takes 24 ms,
/// and 121 ms alone.
pub const MOST: usize = 8;
/// Sets of them.
const SETS: usize = 1 << MOST;
/// Memory of a task's points, where all of its scalars are one in some sum.
const TASK_BYTES: usize = 4 << 20;

/// The sum of the bases at each list of indices, which are in ascending order; at most [`MOST`] lists.
pub fn sums_of_ones<G: SumGroup, const SIZE: usize>(bases: RawBases<'_, SIZE>, lists: &[&[u32]]) -> Vec<G::Projective> {
    assert!(lists.len() <= MOST, "{} lists of ones", lists.len());
    let length = TASK_BYTES / size_of::<G::Point>();
    let tasks = (0..bases.len().div_ceil(length)).into_par_iter();
    let sets = 1 << lists.len();
    let none = || vec![G::Point::default(); sets];
    let of_task = |task: &mut Task<G>, k: usize| {
        let start = k * length;
        task.sums(bases, start..bases.len().min(start + length), lists)
    };
    let add = |mut left: Vec<G::Point>, right: Vec<G::Point>| {
        GroupSums::<G>::default().add_to(&mut left, &right);
        left
    };
    let of_sets = tasks.map_init(Task::<G>::default, of_task).fold(none, add).reduce(none, add);
    let mut sums = vec![G::Projective::identity(); lists.len()];
    for (set, sum) in of_sets.iter().enumerate() {
        for (k, of_list) in sums.iter_mut().enumerate() {
            if set >> k & 1 == 1 {
                *of_list = G::add_point(of_list, sum);
            }
        }
    }
    sums
}

/// What a task works with, and leaves to the next one.
struct Task<G: SumGroup> {
    groups: GroupSums<G>,
    /// For each base the set of sums that it belongs to, a bit each.
    sets: Vec<u8>,
    indices: Vec<u32>,
    points: Vec<G::Point>,
}

impl<G: SumGroup> Default for Task<G> {
    fn default() -> Self {
        Self { groups: GroupSums::default(), sets: Vec::new(), indices: Vec::new(), points: Vec::new() }
    }
}

impl<G: SumGroup> Task<G> {
    /// For each set the sum of those bases in `range` that belong to just the sums in it.
    fn sums<const SIZE: usize>(
        &mut self,
        bases: RawBases<'_, SIZE>,
        range: Range<usize>,
        lists: &[&[u32]],
    ) -> Vec<G::Point> {
        self.sets.clear();
        self.sets.resize(range.len(), 0);
        for (k, list) in lists.iter().enumerate() {
            let place = |index: usize| list.partition_point(|i| (*i as usize) < index);
            list[place(range.start)..place(range.end)]
                .iter()
                .for_each(|i| self.sets[*i as usize - range.start] |= 1 << k);
        }
        let ends = self.sort(range.start as u32);
        self.points.resize(self.indices.len(), G::Point::default());
        G::decode(bases, &self.indices, &mut self.points);
        let ends = &ends[..1 << lists.len()];
        let mut sums = vec![G::Point::default(); ends.len()];
        self.groups.sum(&self.points, &all(self.points.len()), ends, &mut sums);
        sums
    }

    /// Sorts the bases by their sets, without those that are in none; returns where each set's bases end. The first of all is
    /// base `first`.
    fn sort(&mut self, first: u32) -> [u32; SETS] {
        let mut places = [0; SETS];
        self.sets.iter().filter(|set| **set != 0).for_each(|set| places[*set as usize] += 1);
        self.indices.resize(places.iter().sum::<u32>() as usize, 0);
        counts_to_starts(&mut places);
        for (i, set) in (first..).zip(&self.sets).filter(|(_, set)| **set != 0) {
            let place = &mut places[*set as usize];
            self.indices[*place as usize] = i;
            *place += 1;
        }
        places
    }
}
