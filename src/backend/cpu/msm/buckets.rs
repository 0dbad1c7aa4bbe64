//! Every window's buckets: filled chunk by chunk, and summed with their weights.

use blstrs::Scalar as Fr;
use group::Group;
use rayon::prelude::*;

use super::groups::GroupSums;
use super::sort::Ranges;
use super::windows::Windows;
use super::SumGroup;
use crate::backend::cpu::accumulators::{all, Entry};

/// Every window's buckets, to which points are added chunk by chunk.
pub struct Buckets<'a, G: SumGroup> {
    windows: Windows,
    /// Window by window; of any values while `is_empty`.
    sums: &'a mut [G::Point],
    is_empty: bool,
}

impl<'a, G: SumGroup> Buckets<'a, G> {
    /// In `sums`, of any values, as many as all windows have buckets.
    pub fn new(windows: Windows, sums: &'a mut [G::Point]) -> Self {
        assert_eq!(sums.len(), windows.count * windows.buckets(), "buckets");
        Self { windows, sums, is_empty: true }
    }

    /// Adds `elements[place] * points[i]` for the i-th place of each.
    pub fn add(&mut self, points: &[G::Point], elements: &[Fr], places: &[u32]) {
        let ranges = Ranges::new(&self.windows, elements, places);
        let is_first = std::mem::take(&mut self.is_empty);
        let tasks = self.sums.par_chunks_mut(ranges.size()).enumerate();
        tasks.for_each_init(GroupSums::<G>::default, |groups, (range, sums)| {
            let (entries, ends) = ranges.entries(range);
            if is_first {
                groups.sum(points, &entries, &ends, sums);
            } else {
                let mut more = vec![G::Point::default(); sums.len()];
                groups.sum(points, &entries, &ends, &mut more);
                groups.add_to(sums, &more);
            }
        });
    }

    pub fn sum(&self) -> G::Projective {
        if self.is_empty {
            return G::Projective::identity();
        }
        let sums: Vec<_> = self.sums.par_chunks(self.windows.buckets()).map(weighted_sum::<G>).collect();
        sums.into_iter()
            .rev()
            .fold(G::Projective::identity(), |acc, sum| (0..self.windows.bits).fold(acc, |acc, _| acc.double()) + sum)
    }
}

/// `sum((i + 1) * buckets[i])` for a power of two of buckets. With i = high * L + low it is
/// `L * sum(high * row sum) + sum((low + 1) * column sum)`: two batched additions a bucket, and running sums (four times
/// as dear) over two square roots of them.
fn weighted_sum<G: SumGroup>(buckets: &[G::Point]) -> G::Projective {
    let row_bits = buckets.len().ilog2() / 2;
    let (row, rows) = (1usize << row_bits, buckets.len() >> row_bits);
    // All rows, then all columns.
    let mut entries = all(buckets.len());
    for low in 0..row {
        entries.extend((low..buckets.len()).step_by(row).map(|place| Entry::new(place as u32, false)));
    }
    let ends: Vec<_> =
        (1..=rows).map(|i| (i * row) as u32).chain((1..=row).map(|i| (buckets.len() + i * rows) as u32)).collect();
    let mut sums = vec![G::Point::default(); ends.len()];
    GroupSums::<G>::default().sum(buckets, &entries, &ends, &mut sums);
    let (row_sums, column_sums) = sums.split_at(rows);
    let high = (0..row_bits).fold(running_sum::<G>(&row_sums[1..]), |acc, _| acc.double());
    high + running_sum::<G>(column_sums)
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
    use super::super::Portable;
    use super::*;
    use crate::backend::cpu::curve::{Curve, G1};
    use blstrs::G1Projective;

    #[test]
    fn buckets_are_weighted_by_their_place() {
        for bits in [1, 2, 3, 8, 13] {
            // Some empty, and not in the order of their weights.
            let value = |i: u64| if i % 5 == 3 { 0 } else { i * i % 17 };
            let points: Vec<_> = (0..17).map(|k| G1::to_affine(&(G1Projective::generator() * Fr::from(k)))).collect();
            let buckets: Vec<_> = (0..1 << bits).map(|i| points[value(i) as usize]).collect();
            let expected: Fr = (0..1 << bits).map(|i| Fr::from((i + 1) * value(i))).sum();
            let sum = weighted_sum::<Portable<G1>>(&buckets);
            assert!(sum == G1Projective::generator() * expected, "2^{bits} buckets");
        }
    }
}
