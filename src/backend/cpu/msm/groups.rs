//! Sums of groups of points, of whatever sizes: all groups grow side by side.

use super::sort::counts_to_starts;
use super::SumGroup;
use crate::backend::cpu::accumulators::{all, Accumulators, Entry};

/// Accumulators that share an inversion, whose cost of about 60 multiplications is then two in a hundred; their working set, 512 KB in
/// lanes, stays in the second-level cache.
const SLOTS: usize = 2048;
/// The longest run that one accumulator sums. A larger group is cut into several, whose sums are then summed.
const LONGEST: usize = 32;

/// A run of entries that one accumulator sums.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    length: u32,
    /// The place of the group that it is of.
    group: u32,
}

/// Sums groups of points; what it needs is used again from one call to the next.
pub struct GroupSums<G: SumGroup> {
    accumulators: G::Accumulators,
    operands: [Vec<Entry>; 2],
}

impl<G: SumGroup> Default for GroupSums<G> {
    fn default() -> Self {
        Self { accumulators: G::Accumulators::default(), operands: Default::default() }
    }
}

impl<G: SumGroup> GroupSums<G> {
    /// The sum of each group's points. Group i is `entries[ends[i - 1]..ends[i]]`, the first begins at 0; an empty one's sum is
    /// the identity.
    ///
    /// # Panics
    /// When an entry is past the end of `points`, `ends` decreases or goes past the end of `entries`, or there are not as many `sums`.
    pub fn sum(&mut self, points: &[G::Point], entries: &[Entry], ends: &[u32], sums: &mut [G::Point]) {
        assert_eq!(ends.len(), sums.len(), "sums and groups");
        let mut runs = Vec::with_capacity(ends.len());
        // As `ends`, of the runs.
        let mut run_ends = Vec::with_capacity(ends.len());
        let mut start = 0;
        for (group, end) in ends.iter().enumerate() {
            assert!(start <= *end, "a group ends at {end} and begins at {start}");
            if start == *end {
                sums[group] = G::Point::default();
            }
            while start < *end {
                let length = (end - start).min(LONGEST as u32);
                runs.push(Run { start, length, group: group as u32 });
                start += length;
            }
            run_ends.push(runs.len() as u32);
        }
        if runs.windows(2).all(|pair| pair[0].group < pair[1].group) {
            return self.sum_runs(points, entries, &runs, |run, sum| sums[runs[run].group as usize] = sum);
        }
        let mut of_runs = vec![G::Point::default(); runs.len()];
        self.sum_runs(points, entries, &runs, |run, sum| of_runs[run] = sum);
        self.sum(&of_runs, &all(of_runs.len()), &run_ends, sums);
    }

    /// `left[i] += right[i]`.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn add_to(&mut self, left: &mut [G::Point], right: &[G::Point]) {
        assert_eq!(left.len(), right.len(), "sums of unequal lengths");
        let entries = all(SLOTS.min(left.len()));
        for (left, right) in left.chunks_mut(SLOTS).zip(right.chunks(SLOTS)) {
            let entries = &entries[..left.len()];
            self.accumulators.set(left, entries);
            self.accumulators.add(right, entries, &[]);
            self.accumulators.for_each(|i, sum| left[i] = sum);
        }
    }

    /// Hands `put` each run, by its place, and its sum; runs are not empty and not longer than [`LONGEST`].
    fn sum_runs(&mut self, points: &[G::Point], entries: &[Entry], runs: &[Run], mut put: impl FnMut(usize, G::Point)) {
        for slots in longest_first(runs).chunks(SLOTS) {
            self.sum_slots(points, entries, runs, slots);
            self.accumulators.for_each(|i, sum| put(slots[i] as usize, sum));
        }
    }

    /// Accumulates runs, the longest first: those that have a next entry are always the first ones.
    fn sum_slots(&mut self, points: &[G::Point], entries: &[Entry], runs: &[Run], slots: &[u32]) {
        let [now, next] = &mut self.operands;
        let starts: Vec<u32> = slots.iter().map(|run| runs[*run as usize].start).collect();
        let mut active = slots.len();
        let mut nth = |n: u32, operands: &mut Vec<Entry>| {
            while active > 0 && runs[slots[active - 1] as usize].length <= n {
                active -= 1;
            }
            operands.clear();
            operands.extend(starts[..active].iter().map(|start| entries[(start + n) as usize]));
        };
        nth(0, now);
        self.accumulators.set(points, now);
        nth(1, now);
        for n in 2.. {
            if now.is_empty() {
                break;
            }
            nth(n, next);
            self.accumulators.add(points, now, next);
            std::mem::swap(now, next);
        }
    }
}

/// The places of the runs, sorted by length.
fn longest_first(runs: &[Run]) -> Vec<u32> {
    let mut starts = [0u32; LONGEST + 1];
    for run in runs {
        starts[LONGEST - run.length as usize] += 1;
    }
    counts_to_starts(&mut starts);
    let mut order = vec![0; runs.len()];
    for (i, run) in runs.iter().enumerate() {
        let at = &mut starts[LONGEST - run.length as usize];
        order[*at as usize] = i as u32;
        *at += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::Portable;
    use super::*;
    use crate::backend::cpu::affine::Affine;
    use crate::backend::cpu::curve::{Curve, G1};
    use blst::blst_fp;
    use blstrs::{G1Projective, Scalar as Fr};
    use group::Group;

    fn multiple(k: u64) -> Affine<blst_fp> {
        G1::to_affine(&(G1Projective::generator() * Fr::from(k)))
    }

    /// Sums of 1, 2, 3, ... times the generator are multiples that arithmetic knows.
    #[test]
    fn groups_of_all_sizes_are_summed() {
        let points: Vec<_> = (1..=300).map(multiple).collect();
        let entry = |i: u32| Entry::new(i % 300, i.is_multiple_of(5));
        let value = |entry: &Entry| {
            Fr::from(entry.place() as u64 + 1) * if entry.is_negative() { -Fr::from(1) } else { Fr::from(1) }
        };
        let longest = LONGEST as u32;
        let many = vec![3; SLOTS + 9];
        let shapes: [&[u32]; 10] = [
            &[],
            &[0],
            &[1],
            &[0, 0, 2, 0],
            &[1, 5, longest - 1, longest, longest + 1, 0, 2 * longest, 1],
            &[1000],
            &[longest * longest + 1, 3],
            &[longest; 5],
            &many,
            &[2, 0, 3 * longest * longest + 77, 0],
        ];
        let mut sums = GroupSums::<Portable<G1>>::default();
        for lengths in shapes {
            let mut end = 0;
            let ends: Vec<u32> = lengths
                .iter()
                .map(|length| {
                    end += length;
                    end
                })
                .collect();
            let entries: Vec<_> = (0..end).map(entry).collect();
            let mut got = vec![points[0]; ends.len()];
            sums.sum(&points, &entries, &ends, &mut got);
            let mut start = 0;
            for (i, end) in ends.iter().enumerate() {
                let scalar: Fr = entries[start as usize..*end as usize].iter().map(value).sum();
                assert!(got[i] == G1::to_affine(&(G1Projective::generator() * scalar)), "group {i} of {lengths:?}");
                start = *end;
            }
        }
    }

    #[test]
    fn sums_are_added_to_sums() {
        let count = SLOTS + 3;
        let mut left: Vec<_> = (0..count as u64).map(|k| multiple(k % 50)).collect();
        let right: Vec<_> = (0..count as u64).map(|k| multiple(k % 7)).collect();
        GroupSums::<Portable<G1>>::default().add_to(&mut left, &right);
        for (k, sum) in (0..).zip(&left) {
            assert!(*sum == multiple(k % 50 + k % 7), "{k}");
        }
        GroupSums::<Portable<G1>>::default().add_to(&mut [], &[]);
    }
}
