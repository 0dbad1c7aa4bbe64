//! Batches of additions in lanes, one inversion for all; complete: what is no chord is done by the portable adder.

use std::arch::x86_64::_mm512_alignr_epi64;

use super::fp::{blend, gather, mul, perhaps_zero_lanes, scatter, square, sub, sub_both, sub_lazy, zero_lanes, Lanes};
use super::is_available;
use super::points::{invert_uniform, one, Point};
use crate::backend::cpu::affine::{keep_every_other, BatchAdder};
use crate::backend::cpu::msm::SegmentAdder;
use blst::blst_fp;

/// Elements that are worked on at a time.
const WIDTH: usize = 8;

/// Sums segments of points; see [`BatchAdder`], whose results it has.
pub struct LaneAdder {
    /// The left places of the round's pairs.
    pairs: Vec<u32>,
    denominators: Vec<Lanes>,
    /// Products of the denominators before each one, lane by lane.
    prefixes: Vec<Lanes>,
    /// Lanes of each vector that take no part: special pairs.
    masks: Vec<u8>,
    /// Left places of pairs that have no chord: one point is the identity, or the abscissas are equal.
    special: Vec<u32>,
    portable: BatchAdder<blst_fp>,
}

impl Default for LaneAdder {
    /// # Panics
    /// When the processor lacks what [`is_available`] looks for.
    fn default() -> Self {
        assert!(is_available(), "AVX-512 IFMA");
        Self {
            pairs: Vec::new(),
            denominators: Vec::new(),
            prefixes: Vec::new(),
            masks: Vec::new(),
            special: Vec::new(),
            portable: BatchAdder::default(),
        }
    }
}

impl SegmentAdder<Point> for LaneAdder {
    fn sum_segments(&mut self, points: &mut Vec<Point>, lengths: &mut [u32]) {
        while lengths.iter().any(|l| *l > 1) {
            self.pairs.clear();
            let mut start = 0;
            for length in lengths.iter() {
                self.pairs.extend((start..start + length / 2 * 2).step_by(2));
                start += length;
            }
            // SAFETY: the adder exists, so the processor has the features: `default` asserted it.
            unsafe { self.add_pairs(points) };
            self.add_special(points);
            keep_every_other(points, lengths);
        }
    }
}

impl LaneAdder {
    /// The place of a lane's left point; lanes past the last pair repeat it.
    #[inline]
    fn place(&self, first: usize, lane: usize) -> usize {
        self.pairs[(first + lane).min(self.pairs.len() - 1)] as usize
    }

    /// Replaces each pair's left point by the sum, but for the special ones, which are noted.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_pairs(&mut self, points: &mut [Point]) {
        self.special.clear();
        self.denominators.clear();
        self.prefixes.clear();
        self.masks.clear();
        let mut product = one();
        for first in (0..self.pairs.len()).step_by(WIDTH) {
            let left = gather(|lane| &points[self.place(first, lane)].x);
            let right = gather(|lane| &points[self.place(first, lane) + 1].x);
            let mut denominator = sub_lazy(&right, &left);
            // In the subgroup only the identity has x = 0.
            let special = zero_lanes(&left) | zero_lanes(&right) | perhaps_zero_lanes(&denominator);
            let real = (self.pairs.len() - first).min(WIDTH);
            if special != 0 {
                let of_pairs = (0..real).filter(|lane| special >> lane & 1 == 1);
                self.special.extend(of_pairs.map(|lane| self.pairs[first + lane]));
                denominator = blend(special, &denominator, &one());
            }
            self.masks.push(special);
            self.denominators.push(denominator);
            self.prefixes.push(product);
            product = mul(&product, &denominator);
        }
        let mut inverse = invert(&product);
        for (chunk, first) in (0..self.pairs.len()).step_by(WIDTH).enumerate().rev() {
            let of_chunk = mul(&inverse, &self.prefixes[chunk]);
            inverse = mul(&inverse, &self.denominators[chunk]);
            let x1 = gather(|lane| &points[self.place(first, lane)].x);
            let y1 = gather(|lane| &points[self.place(first, lane)].y);
            let x2 = gather(|lane| &points[self.place(first, lane) + 1].x);
            let y2 = gather(|lane| &points[self.place(first, lane) + 1].y);
            let slope = mul(&sub_lazy(&y2, &y1), &of_chunk);
            let x3 = sub_both(&square(&slope), &x1, &x2);
            let y3 = sub(&mul(&slope, &sub_lazy(&x1, &x3)), &y1);
            let (xs, ys) = (scatter(&x3), scatter(&y3));
            let real = (self.pairs.len() - first).min(WIDTH);
            for lane in (0..real).filter(|lane| self.masks[chunk] >> lane & 1 == 0) {
                points[self.pairs[first + lane] as usize] = Point { x: xs[lane], y: ys[lane] };
            }
        }
    }

    /// The noted pairs, by the portable adder.
    fn add_special(&mut self, points: &mut [Point]) {
        if self.special.is_empty() {
            return;
        }
        let affine = |offset: usize| -> Vec<_> {
            self.special.iter().map(|place| points[*place as usize + offset].to_affine()).collect()
        };
        let (mut left, right) = (affine(0), affine(1));
        self.portable.add(&mut left, &right);
        for (place, sum) in self.special.iter().zip(&left) {
            points[*place as usize] = Point::from_affine(sum);
        }
    }
}

/// The inverse of each lane; none is zero. Products of 2, 4 and 8 lanes, one inversion, and back.
#[target_feature(enable = "avx512f,avx512ifma")]
fn invert(a: &Lanes) -> Lanes {
    let other_half = a.map(|limb| _mm512_alignr_epi64::<4>(limb, limb));
    let twos = mul(a, &other_half);
    let other_quarter = twos.map(|limb| _mm512_alignr_epi64::<2>(limb, limb));
    let fours = mul(&twos, &other_quarter);
    let neighbour = fours.map(|limb| _mm512_alignr_epi64::<1>(limb, limb));
    let eights = mul(&fours, &neighbour);
    let of_fours = mul(&invert_uniform(&eights), &neighbour);
    let of_twos = mul(&of_fours, &other_quarter);
    mul(&of_twos, &other_half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::affine::Affine;
    use crate::backend::cpu::curve::{Curve, G1};
    use blstrs::{G1Projective, Scalar as Fr};
    use group::Group;

    /// Points that meet every case: 0, P, -P, P again, and others.
    fn points(n: usize, distinct: bool) -> Vec<Affine<blst_fp>> {
        let g = G1Projective::generator();
        let point = |i: usize| match i % 7 {
            0 if !distinct => Affine::default(),
            1 | 2 if !distinct => G1::to_affine(&g),
            3 if !distinct => G1::to_affine(&-g),
            k => G1::to_affine(&(g * Fr::from((7 * i + k + 1) as u64))),
        };
        (0..n).map(point).collect()
    }

    #[test]
    fn sums_equal_the_portable_adders() {
        if !is_available() {
            return;
        }
        let (mut lanes, mut portable) = (LaneAdder::default(), BatchAdder::default());
        let shapes: [&[u32]; 9] = [
            &[1],
            &[2],
            &[3],
            &[17],
            &[1, 1, 1],
            &[2, 2, 2, 2, 2, 2, 2, 2, 2],
            &[1, 5, 64, 65, 63, 1],
            &[1000],
            &[8, 7, 9, 16, 15],
        ];
        for lengths in shapes {
            for distinct in [false, true] {
                let all = points(lengths.iter().sum::<u32>() as usize, distinct);
                let (mut expected, mut left) = (all.clone(), lengths.to_vec());
                portable.sum_segments(&mut expected, &mut left);
                let mut sums: Vec<_> = all.iter().map(Point::from_affine).collect();
                let mut left = lengths.to_vec();
                lanes.sum_segments(&mut sums, &mut left);
                let sums: Vec<_> = sums.into_iter().map(Point::to_affine).collect();
                assert_eq!(sums, expected, "{lengths:?}, distinct {distinct}");
                assert!(left.iter().all(|l| *l == 1));
            }
        }
    }
}
