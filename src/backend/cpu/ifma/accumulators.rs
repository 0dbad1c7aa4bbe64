//! Accumulators in lanes, one inversion for all; complete: what is no chord is added by the portable adder.

use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0, _MM_HINT_T1};

use super::extension::{
    blend, gather, invert, lane, low_zero_lanes, mul, negate_lanes, one, perhaps_zero_lanes, scatter, set_lane, square,
    sub, sub_both, sub_lazy, zero, Lanes,
};
use super::fp::LIMBS;
use super::is_available;
use super::points::{Coefficients, Point};
use crate::backend::cpu::accumulators::{Accumulators, Entry};
use crate::backend::cpu::affine::{Affine, BatchAdder};

/// Accumulators that are worked on at a time.
const WIDTH: usize = 8;
/// Products of denominators that grow independently, of even and of odd vectors: one alone would wait for itself.
const CHAINS: usize = 2;

/// See [`Accumulators`].
pub struct LaneAccumulators<F, const D: usize> {
    count: usize,
    /// Accumulator i is lane i % 8 of vector i / 8.
    x: Vec<Lanes<D>>,
    y: Vec<Lanes<D>>,
    denominators: Vec<Lanes<D>>,
    /// Products of the denominators before each one in its chain, lane by lane.
    prefixes: Vec<Lanes<D>>,
    /// Lanes of each vector that have no chord.
    masks: Vec<u8>,
    /// Accumulators that have none.
    special: Vec<u32>,
    portable: BatchAdder<F>,
}

impl<F: Coefficients<D>, const D: usize> Default for LaneAccumulators<F, D> {
    /// # Panics
    /// When the processor lacks what [`is_available`] looks for.
    fn default() -> Self {
        assert!(is_available(), "AVX-512 IFMA");
        Self {
            count: 0,
            x: Vec::new(),
            y: Vec::new(),
            denominators: Vec::new(),
            prefixes: Vec::new(),
            masks: Vec::new(),
            special: Vec::new(),
            portable: BatchAdder::default(),
        }
    }
}

impl<F: Coefficients<D>, const D: usize> Accumulators<Point<D>> for LaneAccumulators<F, D> {
    fn set(&mut self, points: &[Point<D>], entries: &[Entry]) {
        self.count = entries.len();
        self.x.clear();
        self.y.clear();
        for k in 0..entries.len().div_ceil(WIDTH) {
            // SAFETY: the accumulators exist, so the processor has the features: `default` asserted it.
            let (x, y) = unsafe { load(points, &vector(entries, k)) };
            self.x.push(x);
            self.y.push(y);
        }
    }

    fn add(&mut self, points: &[Point<D>], entries: &[Entry], next: &[Entry]) {
        assert!(entries.len() <= self.count, "{} entries for {} accumulators", entries.len(), self.count);
        // SAFETY: as in `set`.
        unsafe { self.add_chords(points, entries, next) };
        self.add_special(points, entries);
    }

    fn for_each(&self, mut take: impl FnMut(usize, Point<D>)) {
        for (k, (x, y)) in self.x.iter().zip(&self.y).enumerate() {
            // SAFETY: as in `set`.
            let (xs, ys) = unsafe { (scatter(x), scatter(y)) };
            let of_vector = (k * WIDTH..self.count).zip(xs).zip(ys);
            of_vector.for_each(|((i, x), y)| take(i, Point { x, y }));
        }
    }
}

impl<F: Coefficients<D>, const D: usize> LaneAccumulators<F, D> {
    fn get(&self, i: usize) -> Point<D> {
        Point { x: lane(&self.x[i / WIDTH], i % WIDTH), y: lane(&self.y[i / WIDTH], i % WIDTH) }
    }

    fn put(&mut self, i: usize, point: &Point<D>) {
        set_lane(&mut self.x[i / WIDTH], i % WIDTH, &point.x);
        set_lane(&mut self.y[i / WIDTH], i % WIDTH, &point.y);
    }

    /// Does all additions but the special ones, which are noted.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_chords(&mut self, points: &[Point<D>], entries: &[Entry], next: &[Entry]) {
        let vectors = entries.len().div_ceil(WIDTH);
        self.special.clear();
        self.masks.clear();
        self.denominators.clear();
        self.prefixes.clear();
        let mut products = [one(); CHAINS];
        for k in 0..vectors {
            prefetch::<_MM_HINT_T1, D>(points, part(entries, k), D);
            prefetch::<_MM_HINT_T0, D>(points, part(entries, k + 2), 0);
            let (left, right) = (&self.x[k], gather_x(points, &vector(entries, k)));
            let mut denominator = sub_lazy(&right, left);
            // In the subgroup only the identity has x = 0.
            let special = low_zero_lanes(left) | low_zero_lanes(&right) | perhaps_zero_lanes(&denominator);
            let real = (entries.len() - k * WIDTH).min(WIDTH);
            let none = special | (0xff00_u16 >> (WIDTH - real)) as u8;
            if none != 0 {
                let of_entries = (0..real).filter(|lane| special >> lane & 1 == 1);
                self.special.extend(of_entries.map(|lane| (k * WIDTH + lane) as u32));
                denominator = blend(none, &denominator, &one());
            }
            let product = &mut products[k % CHAINS];
            self.masks.push(none);
            self.denominators.push(denominator);
            self.prefixes.push(*product);
            *product = mul(product, &denominator);
        }
        let inverse = invert(&mul(&products[0], &products[1]));
        let mut inverses = [mul(&inverse, &products[1]), mul(&inverse, &products[0])];
        for k in (0..vectors).rev() {
            prefetch::<_MM_HINT_T1, D>(points, part(next, k), 0);
            prefetch::<_MM_HINT_T0, D>(points, part(entries, k.wrapping_sub(2)), D);
            let inverse = &mut inverses[k % CHAINS];
            let of_vector = mul(inverse, &self.prefixes[k]);
            *inverse = mul(inverse, &self.denominators[k]);
            let (x1, y1) = (&self.x[k], &self.y[k]);
            let slope = mul(&sub_lazy(&gather_y(points, &vector(entries, k)), y1), &of_vector);
            let x3 = sub_both(&square(&slope), x1, &self.denominators[k]);
            let y3 = sub(&mul(&slope, &sub_lazy(x1, &x3)), y1);
            if self.masks[k] == 0 {
                (self.x[k], self.y[k]) = (x3, y3);
            } else {
                (self.x[k], self.y[k]) = (blend(self.masks[k], &x3, x1), blend(self.masks[k], &y3, y1));
            }
        }
    }

    /// The noted additions.
    fn add_special(&mut self, points: &[Point<D>], entries: &[Entry]) {
        if self.special.is_empty() {
            return;
        }
        let mut special = std::mem::take(&mut self.special);
        let (mut held, mut operands) = (Vec::<Affine<F>>::new(), Vec::new());
        special.retain(|i| {
            let (sum, operand) = (self.get(*i as usize), signed::<F, D>(points, entries[*i as usize]));
            if sum.is_identity() {
                self.put(*i as usize, &operand);
            } else if !operand.is_identity() {
                held.push(sum.to_affine());
                operands.push(operand.to_affine());
                return true;
            }
            false
        });
        self.portable.add(&mut held, &operands);
        for (i, sum) in special.iter().zip(&held) {
            self.put(*i as usize, &Point::from_affine(sum));
        }
        self.special = special;
    }
}

/// A point of the slice, or its negative.
fn signed<F: Coefficients<D>, const D: usize>(points: &[Point<D>], entry: Entry) -> Point<D> {
    let point = points[entry.place()];
    if !entry.is_negative() {
        return point;
    }
    let Affine { x, mut y }: Affine<F> = point.to_affine();
    y.negate_if(true);
    Point::from_affine(&Affine { x, y })
}

/// Vector k of the entries: eight, of which those past the end repeat the last one.
#[inline]
fn vector(entries: &[Entry], k: usize) -> [Entry; WIDTH] {
    let rest = &entries[k * WIDTH..];
    match rest.first_chunk() {
        Some(vector) => *vector,
        None => std::array::from_fn(|lane| rest[lane.min(rest.len() - 1)]),
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load<const D: usize>(points: &[Point<D>], entries: &[Entry; WIDTH]) -> (Lanes<D>, Lanes<D>) {
    (gather_x(points, entries), sub(&gather_y(points, entries), &zero()))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn gather_x<const D: usize>(points: &[Point<D>], entries: &[Entry; WIDTH]) -> Lanes<D> {
    gather(&entries.map(|entry| &points[entry.place()].x))
}

/// Ordinates, or p less them: limbs are not carried.
#[target_feature(enable = "avx512f")]
#[inline]
fn gather_y<const D: usize>(points: &[Point<D>], entries: &[Entry; WIDTH]) -> Lanes<D> {
    let y = gather(&entries.map(|entry| &points[entry.place()].y));
    let negative = entries.iter().rev().fold(0, |mask, entry| mask << 1 | u8::from(entry.is_negative()));
    negate_lanes(negative, &y)
}

/// Vector k of the entries as far as there is one.
#[inline]
fn part(entries: &[Entry], k: usize) -> &[Entry] {
    entries
        .get(k.saturating_mul(WIDTH)..entries.len().min(k.saturating_add(1).saturating_mul(WIDTH)))
        .unwrap_or_default()
}

/// Asks for the points' abscissas (line 0) or ordinates (line D): D cache lines each.
#[inline]
fn prefetch<const HINT: i32, const D: usize>(points: &[Point<D>], entries: &[Entry], line: usize) {
    for entry in entries {
        let point = points.as_ptr().wrapping_add(entry.place()).cast::<[u64; LIMBS]>();
        for i in line..line + D {
            // SAFETY: a hint, which reads nothing and faults on no address; SSE, which it needs, is in every x86-64 processor.
            unsafe { _mm_prefetch::<HINT>(point.wrapping_add(i).cast()) };
        }
    }
}
