//! Sums that grow side by side: the additions of which every sum over points is made, many at once, one inversion for all.

use super::affine::{Affine, BatchAdder};
use super::field::BaseField;

/// A point of a slice, or its negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// `place` is below 2^31.
    #[inline]
    pub const fn new(place: u32, negative: bool) -> Self {
        debug_assert!(place >> 31 == 0);
        Self(place << 1 | negative as u32)
    }

    #[inline]
    pub const fn place(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline]
    pub const fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The entries of a whole slice of `count` points, none negative.
///
/// # Panics
/// For 2^31 points or more.
pub fn all(count: usize) -> Vec<Entry> {
    assert!(count < 1 << 31, "{count} points");
    (0..count as u32).map(|place| Entry::new(place, false)).collect()
}

/// Accumulators to which points are added in batches; complete in every case, the identity among them.
///
/// # Panics
/// All methods, when an entry is past the end of `points`.
pub trait Accumulators<P>: Default + Send {
    /// Begins again, with one accumulator for each entry, which holds its point.
    fn set(&mut self, points: &[P], entries: &[Entry]);

    /// Adds the i-th entry's point to the i-th accumulator, for as many as there are entries. `next` are the entries of the
    /// addition that comes after it, so that memory can be asked for them early.
    ///
    /// # Panics
    /// When there are more entries than accumulators.
    fn add(&mut self, points: &[P], entries: &[Entry], next: &[Entry]);

    /// Hands out what each accumulator holds, in ascending order.
    fn for_each(&self, take: impl FnMut(usize, P));
}

/// Accumulators in blst's arithmetic, for any processor.
pub struct PortableAccumulators<F> {
    held: Vec<Affine<F>>,
    operands: Vec<Affine<F>>,
    adder: BatchAdder<F>,
}

impl<F: BaseField> Default for PortableAccumulators<F> {
    fn default() -> Self {
        Self { held: Vec::new(), operands: Vec::new(), adder: BatchAdder::default() }
    }
}

impl<F: BaseField> Accumulators<Affine<F>> for PortableAccumulators<F> {
    fn set(&mut self, points: &[Affine<F>], entries: &[Entry]) {
        load(&mut self.held, points, entries);
    }

    fn add(&mut self, points: &[Affine<F>], entries: &[Entry], next: &[Entry]) {
        assert!(entries.len() <= self.held.len(), "{} entries for {} accumulators", entries.len(), self.held.len());
        load(&mut self.operands, points, entries);
        let ask = |i: usize| next.get(i).into_iter().for_each(|entry| prefetch(&points[entry.place()]));
        self.adder.add_and(&mut self.held[..entries.len()], &self.operands, ask);
    }

    fn for_each(&self, mut take: impl FnMut(usize, Affine<F>)) {
        self.held.iter().enumerate().for_each(|(i, point)| take(i, *point));
    }
}

/// Asks for the memory of a value, into the second-level cache; where the compiler has no such hint, does nothing. Sums of 2^20 points in G1
/// were 3 % faster for it (medians of 12 rounds, Zen 4).
#[inline]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T1};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for byte in (0..size_of::<T>()).step_by(64) {
            // SAFETY: a hint, which reads nothing and faults on no address; SSE, which it needs, is in every x86-64 processor.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(byte)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// First nothing but loads, so that their cache misses overlap: read where they are used, points would cost as much as the
/// arithmetic. Then the signs.
fn load<F: BaseField>(into: &mut Vec<Affine<F>>, points: &[Affine<F>], entries: &[Entry]) {
    into.clear();
    into.extend(entries.iter().map(|entry| points[entry.place()]));
    for (point, entry) in into.iter_mut().zip(entries) {
        point.y.negate_if(entry.is_negative());
    }
}

#[cfg(test)]
mod tests {
    use super::super::curve::{Curve, G1, G2};
    use super::super::msm::{Portable, SumGroup};
    use super::*;
    use blstrs::Scalar as Fr;
    use group::Group;

    /// Points that meet every case, or only different ones: 0, P, -P, P again, and others.
    fn points<C: Curve>(n: usize, distinct: bool) -> Vec<Affine<C::Field>> {
        let g = C::Projective::generator();
        let point = |i: usize| match i % 7 {
            0 if !distinct => C::Projective::identity(),
            1 | 2 if !distinct => g,
            3 if !distinct => -g,
            k => g * Fr::from((7 * i + k + 1) as u64),
        };
        (0..n).map(|i| C::to_affine(&point(i))).collect()
    }

    /// Every third negative, in an order of their own.
    fn entries(count: usize, of: usize, round: usize) -> Vec<Entry> {
        (0..count).map(|i| Entry::new(((i * (round + 1) + round) % of) as u32, (i + round).is_multiple_of(3))).collect()
    }

    fn equal_naive<C: Curve, G: SumGroup<Projective = C::Projective>>(point: impl Fn(&Affine<C::Field>) -> G::Point) {
        let of = 60;
        let mut accumulators = G::Accumulators::default();
        // Around the width of lanes, and fewer entries each round than accumulators.
        for count in [1, 2, 7, 8, 9, 16, 17, 64, 100, 0] {
            for distinct in [false, true] {
                let naive = points::<C>(of, distinct);
                let points: Vec<_> = naive.iter().map(&point).collect();
                let add = |acc: &C::Projective, entry: &Entry| {
                    let mut point = naive[entry.place()];
                    point.y.negate_if(entry.is_negative());
                    C::add_affine(acc, &point)
                };
                let first = entries(count, of, 0);
                let mut expected: Vec<_> = first.iter().map(|entry| add(&C::Projective::identity(), entry)).collect();
                accumulators.set(&points, &first);
                for (round, less) in [0, 0, 1, 5, 9, 100].into_iter().enumerate() {
                    let entries = |round| entries(count.saturating_sub(less), of, round);
                    accumulators.add(&points, &entries(round + 1), &entries(round + 2));
                    for (sum, entry) in expected.iter_mut().zip(&entries(round + 1)) {
                        *sum = add(sum, entry);
                    }
                }
                let mut sums = vec![G::Point::default()];
                accumulators.for_each(|_, sum| sums.push(sum));
                assert_eq!(sums.len(), count + 1);
                for (i, sum) in sums[1..].iter().enumerate() {
                    let sum = G::add_point(&C::Projective::identity(), sum);
                    assert!(sum == expected[i], "{count} accumulators, distinct {distinct}: number {i}");
                }
            }
        }
    }

    #[test]
    fn portable_accumulators_are_complete() {
        equal_naive::<G1, Portable<G1>>(|p| *p);
        equal_naive::<G2, Portable<G2>>(|p| *p);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn lanes_are_complete() {
        use super::super::ifma;
        if ifma::is_available() {
            equal_naive::<G1, ifma::G1Lanes>(ifma::Point::from_affine);
            equal_naive::<G2, ifma::G2Lanes>(ifma::Point::from_affine);
        }
    }

    #[test]
    #[should_panic(expected = "2 entries for 1 accumulators")]
    fn more_entries_than_accumulators_are_refused() {
        let points = points::<G1>(2, true);
        let mut accumulators = PortableAccumulators::default();
        accumulators.set(&points, &all(1));
        accumulators.add(&points, &all(2), &[]);
    }
}
