//! Bases whose discrete logarithms are known: a tile of them, repeated to the length of a query.

use std::iter::{repeat, repeat_with};
use std::ops::Range;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use ff::Field;
use group::Group;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::repeated::Repeated;
use crate::backend::bases::{RawBases, G1_BYTES, G2_BYTES};
use crate::backend::cpu::curve::{Curve, G1, G2};
use crate::backend::cpu::msm::Portable;
use crate::error::{Fault, OrFault, Result};
use crate::groth16::{Lengths, Queries};
use crate::srs::fixed_base::FixedBase;

/// How many different points there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    pub g1: usize,
    pub g2: usize,
}

/// Largest pages that a system has.
const PAGE: usize = 64 << 10;

impl Tiles {
    /// The smallest: whole pages on every system.
    pub const SMALL: Self = Self { g1: PAGE / 32, g2: PAGE / 64 };
    /// 24 and 12 MiB: more than a second-level cache holds. No powers of two, as the parts are into which sums cut their bases.
    pub const LARGE: Self = Self { g1: 129 * Self::SMALL.g1, g2: 65 * Self::SMALL.g2 };

    /// Bytes that the points and their logarithms take.
    pub fn bytes(self) -> u64 {
        (self.g1 * (G1_BYTES + size_of::<Fr>()) + self.g2 * (G2_BYTES + size_of::<Fr>())) as u64
    }
}

const _: () = assert!((Tiles::SMALL.g1 * G1_BYTES).is_multiple_of(PAGE));
const _: () = assert!((Tiles::SMALL.g2 * G2_BYTES).is_multiple_of(PAGE));

/// Once in so many points of a tile one is the same as the one before it, and another one the opposite of the one before it.
const EDGES: usize = 1000;

/// A tile's points, repeated.
struct Tiled<const SIZE: usize> {
    logarithms: Vec<Fr>,
    points: Repeated,
}

impl<const SIZE: usize> Tiled<SIZE> {
    /// `length` multiples of `generator`, of which `count` are different ones.
    fn new<C: Curve>(generator: &C::Projective, count: usize, length: usize, seed: u64) -> Result<Self> {
        let logarithms = logarithms(count, seed);
        let mut tile = vec![0; count * SIZE];
        FixedBase::<Portable<C>>::new(generator, count).multiply(&logarithms, &mut tile);
        let points = Repeated::new(&tile, length * SIZE).or_fault(Fault::Usage, || {
            format!(
                "{length} bases of {SIZE} bytes cannot be mapped, {} times one tile; see `ulimit -v`, and vm.max_map_count of the system",
                length.div_ceil(count)
            )
        })?;
        Ok(Self { logarithms, points })
    }

    /// A query.
    fn bases(&self, range: Range<usize>) -> RawBases<'_, SIZE> {
        RawBases::new(&self.points[range.start * SIZE..range.end * SIZE]).expect("a whole number of points")
    }
}

/// Random, none of them zero: no query has the identity. A few make equal and opposite neighbours.
fn logarithms(count: usize, seed: u64) -> Vec<Fr> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let random = repeat_with(|| Fr::random(&mut rng)).filter(|random| *random != Fr::ZERO);
    let mut logarithms: Vec<Fr> = random.take(count).collect();
    for i in (1..count.saturating_sub(2)).step_by(EDGES) {
        logarithms[i] = logarithms[i - 1];
        logarithms[i + 2] = -logarithms[i + 1];
    }
    logarithms
}

/// The logarithms of a query's bases: those of the tile from one of its points on, again and again.
#[derive(Clone, Copy, Debug)]
pub struct Logarithms<'a> {
    tile: &'a [Fr],
    first: usize,
}

impl<'a> Logarithms<'a> {
    /// Those of the bases from `start` on, without end.
    pub fn starting_at(self, start: usize) -> impl Iterator<Item = &'a Fr> {
        let (_, tail) = self.tile.split_at((self.first + start) % self.tile.len());
        tail.iter().chain(repeat(self.tile).flatten())
    }
}

/// The bases of all queries.
pub struct KnownBases {
    lengths: Lengths,
    tiles: Tiles,
    g1: Tiled<G1_BYTES>,
    g2: Tiled<G2_BYTES>,
}

/// At which point of the tile each query in G1 begins: no two of them are alike. That in G2 has a tile of its own.
const H: usize = 0;
const L: usize = 1;
const A: usize = 2;
const B: usize = 3;

impl KnownBases {
    /// Bases for queries of these lengths; always the same.
    ///
    /// # Errors
    /// `Usage`: the system does not map so much.
    ///
    /// # Panics
    /// Where a tile is no multiple of [`Tiles::SMALL`].
    pub fn new(lengths: Lengths, tiles: Tiles) -> Result<Self> {
        assert!(tiles.g1.is_multiple_of(Tiles::SMALL.g1) && tiles.g2.is_multiple_of(Tiles::SMALL.g2), "{tiles:?}");
        let g1 = Tiled::new::<G1>(&G1Projective::generator(), tiles.g1, Self::mapped(lengths).0, 1)?;
        let g2 = Tiled::new::<G2>(&G2Projective::generator(), tiles.g2, Self::mapped(lengths).1, 2)?;
        Ok(Self { lengths, tiles, g1, g2 })
    }

    /// Bytes of address space that they take.
    pub fn mapped_bytes(lengths: Lengths) -> u64 {
        let (g1, g2) = Self::mapped(lengths);
        (g1 * G1_BYTES + g2 * G2_BYTES) as u64
    }

    /// Bases in G1, and in G2; one at least.
    fn mapped(Lengths { h, l, a, b }: Lengths) -> (usize, usize) {
        let ends = [H + h, L + l, A + a, B + b];
        (ends.into_iter().fold(1, usize::max), b.max(1))
    }

    pub fn tiles(&self) -> Tiles {
        self.tiles
    }

    /// As a parameter file has them.
    pub fn queries(&self) -> Queries<'_> {
        let Lengths { h, l, a, b } = self.lengths;
        let g1 = |first: usize, length| self.g1.bases(first..first + length);
        Queries { h: g1(H, h), l: g1(L, l), a: g1(A, a), b_g1: g1(B, b), b_g2: self.g2.bases(0..b) }
    }

    fn of_g1(&self, first: usize) -> Logarithms<'_> {
        Logarithms { tile: &self.g1.logarithms, first }
    }

    pub fn h(&self) -> Logarithms<'_> {
        self.of_g1(H)
    }

    pub fn l(&self) -> Logarithms<'_> {
        self.of_g1(L)
    }

    pub fn a(&self) -> Logarithms<'_> {
        self.of_g1(A)
    }

    pub fn b_g1(&self) -> Logarithms<'_> {
        self.of_g1(B)
    }

    pub fn b_g2(&self) -> Logarithms<'_> {
        Logarithms { tile: &self.g2.logarithms, first: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: Lengths = Lengths { h: 5000, l: 2047, a: 2046, b: 3000 };

    fn encoded<C: Curve>(generator: &C::Projective, logarithm: &Fr) -> Vec<u8> {
        let mut bytes = vec![0; C::BYTES];
        C::encode(&C::to_affine(&(*generator * logarithm)), &mut bytes);
        bytes
    }

    /// Around the ends of tiles, and of the whole.
    fn check<C: Curve, const SIZE: usize>(
        generator: C::Projective,
        bases: RawBases<'_, SIZE>,
        logarithms: Logarithms<'_>,
    ) {
        let places = [0, 1, 2, 1023, 1024, 1025, 2043, 2045, 2046, 2047, 2048, 2999, 4095, 4096, 4999];
        for place in places.into_iter().filter(|place| *place < bases.len()) {
            let logarithm = logarithms.starting_at(place).next().unwrap();
            assert_eq!(bases.point(place)[..], encoded::<C>(&generator, logarithm), "{place} of {}", bases.len());
            assert_eq!(logarithms.starting_at(0).nth(place), Some(logarithm));
        }
    }

    #[test]
    fn every_base_is_the_generator_times_its_logarithm() {
        let known = KnownBases::new(LENGTHS, Tiles::SMALL).unwrap();
        let Queries { h, l, a, b_g1, b_g2 } = known.queries();
        let lengths = [h.len(), l.len(), a.len(), b_g1.len(), b_g2.len()];
        assert_eq!(lengths, [5000, 2047, 2046, 3000, 3000]);
        let g1 = G1Projective::generator();
        for (bases, logarithms) in [(h, known.h()), (l, known.l()), (a, known.a()), (b_g1, known.b_g1())] {
            check::<G1, G1_BYTES>(g1, bases, logarithms);
        }
        check::<G2, G2_BYTES>(G2Projective::generator(), b_g2, known.b_g2());
        // Queries that are taken for each other are noticed: the first two points of the tile are equal, further ones are not.
        let firsts = [h, l, a, b_g1].map(|bases| &bases.bytes()[..4 * G1_BYTES]);
        assert!((0..4).all(|i| (0..i).all(|j| firsts[i] != firsts[j])));
    }

    #[test]
    fn neighbours_are_equal_and_opposite_and_none_is_the_identity() {
        let logarithms = logarithms(Tiles::SMALL.g1, 1);
        assert!(logarithms.iter().all(|logarithm| *logarithm != Fr::ZERO));
        let pairs = || logarithms.windows(2);
        assert_eq!(pairs().filter(|pair| pair[0] == pair[1]).count(), 3);
        assert_eq!(pairs().filter(|pair| pair[0] == -pair[1]).count(), 3);
        assert_ne!(logarithms, super::logarithms(Tiles::SMALL.g1, 2));
    }

    #[test]
    fn queries_may_be_empty() {
        let known = KnownBases::new(Lengths { h: 0, l: 0, a: 1, b: 0 }, Tiles::SMALL).unwrap();
        assert!(known.queries().h.is_empty() && known.queries().b_g2.is_empty());
        assert_eq!(known.queries().a.len(), 1);
    }
}
