//! What every backend passes against the slow reference, edge cases and odd sizes first.

use std::ops::Range;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use cuzk::backend::bases::{G1Bases, G2Bases};
use cuzk::backend::scalars::{expand, Scalars, Variables};
use cuzk::backend::{reference::Reference, Backend};
use cuzk::constraints::Rows;
use ff::{BatchInvert, Field, PrimeField};
use group::Group;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// What a fast backend is asked for.
pub const LENGTHS: [usize; 16] = [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 300, 1025];
/// The same of rows: sizes at which the domain doubles, and others.
pub const ROWS: [usize; 21] = [0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 257];
/// The same of sums at once.
pub const AT_ONCE: [usize; 5] = [0, 1, 7, 65, 300];

/// Scalars by name, for each way in which a sum can be special.
fn scalar_patterns(n: usize) -> Vec<(&'static str, Vec<Fr>)> {
    let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
    let mut random = || Fr::random(&mut rng);
    let half = Fr::from(2).invert().unwrap();
    let equal = random();
    let edges =
        [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2), half, -half, half - Fr::ONE, Fr::from(u64::MAX)];
    vec![
        ("zero", vec![Fr::ZERO; n]),
        ("one", vec![Fr::ONE; n]),
        ("minus one", vec![-Fr::ONE; n]),
        ("all equal", vec![equal; n]),
        ("two", vec![Fr::from(2); n]),
        ("edges", (0..n).map(|i| edges[i % edges.len()]).collect()),
        ("mostly bits", (0..n).map(|i| if i % 50 == 7 { random() } else { Fr::from((i % 2) as u64) }).collect()),
        ("random", (0..n).map(|_| random()).collect()),
    ]
}

/// Multiples of the generator by name: distinct points, one point, pairs of opposite ones.
fn base_patterns(n: usize) -> Vec<(&'static str, Vec<Fr>)> {
    let mut rng = ChaCha20Rng::seed_from_u64(1000 + n as u64);
    vec![
        ("distinct", (0..n).map(|_| Fr::random(&mut rng)).collect()),
        ("equal", vec![Fr::from(5); n]),
        ("opposite", (0..n).map(|i| if i % 2 == 0 { Fr::from(9) } else { -Fr::from(9) }).collect()),
    ]
}

/// Every pattern of scalars with every pattern of bases, at each length.
pub fn sums_equal_reference(backend: &dyn Backend, lengths: &[usize]) {
    for &n in lengths {
        for (bases_name, multiples) in base_patterns(n) {
            let g1: Vec<u8> = multiples
                .iter()
                .flat_map(|m| G1Affine::from(G1Projective::generator() * m).to_uncompressed())
                .collect();
            let g2: Vec<u8> = multiples
                .iter()
                .flat_map(|m| G2Affine::from(G2Projective::generator() * m).to_uncompressed())
                .collect();
            let (g1, g2) = (G1Bases::new(&g1).unwrap(), G2Bases::new(&g2).unwrap());
            for (scalars_name, scalars) in scalar_patterns(n) {
                let what = format!("{}, {n} {bases_name} bases, scalars {scalars_name}", backend.name());
                // The reference is itself checked: every base is a known multiple of the generator.
                let log: Fr = multiples.iter().zip(&scalars).map(|(m, s)| *m * s).sum();
                if n <= 65 {
                    assert_eq!(
                        Reference.sum_g1(g1, &[Scalars::Elements(&scalars)]).unwrap(),
                        G1Projective::generator() * log,
                        "reference, {what}"
                    );
                    assert_eq!(
                        Reference.sum_g2(g2, &[Scalars::Elements(&scalars)]).unwrap(),
                        G2Projective::generator() * log,
                        "reference, {what}"
                    );
                }
                assert_eq!(
                    backend.sum_g1(g1, &[Scalars::Elements(&scalars)]).unwrap(),
                    G1Projective::generator() * log,
                    "G1, {what}"
                );
                assert_eq!(
                    backend.sum_g2(g2, &[Scalars::Elements(&scalars)]).unwrap(),
                    G2Projective::generator() * log,
                    "G2, {what}"
                );
            }
        }
    }
}

/// Sums at once: none, one, and as many as are made together; of all kinds of scalars, in either order.
pub fn sums_at_once_are_the_sums(backend: &dyn Backend, lengths: &[usize]) {
    for &n in lengths {
        let multiples: Vec<Fr> = (0..n).map(|i| Fr::from(i as u64 % 40 + 1)).collect();
        let g1 = multiples.iter().map(|m| G1Affine::from(G1Projective::generator() * m).to_uncompressed());
        let g2 = multiples.iter().map(|m| G2Affine::from(G2Projective::generator() * m).to_uncompressed());
        let (g1, g2): (Vec<u8>, Vec<u8>) = (g1.flatten().collect(), g2.flatten().collect());
        let (g1, g2) = (G1Bases::new(&g1).unwrap(), G2Bases::new(&g2).unwrap());
        let mut patterns = scalar_patterns(n);
        for _ in 0..2 {
            patterns.reverse();
            let log = |scalars: &[Fr]| -> Fr { multiples.iter().zip(scalars).map(|(m, s)| *m * s).sum() };
            let logs: Vec<Fr> = patterns.iter().map(|(_, scalars)| log(scalars)).collect();
            let runs: Vec<_> = patterns.iter().map(|(_, scalars)| [Scalars::Elements(scalars)]).collect();
            let lists: Vec<&[Scalars<'_>]> = runs.iter().map(|runs| &runs[..]).collect();
            for count in [0, 1, 2, 5, lists.len()] {
                let what = format!("{}, {count} sums over {n} bases", backend.name());
                let in_g1: Vec<_> = logs[..count].iter().map(|log| G1Projective::generator() * log).collect();
                let in_g2: Vec<_> = logs[..count].iter().map(|log| G2Projective::generator() * log).collect();
                assert_eq!(backend.sums_g1(g1, &lists[..count]).unwrap(), in_g1, "{what}");
                assert_eq!(backend.sums_g2(g2, &lists[..count]).unwrap(), in_g2, "{what}");
            }
        }
    }
}

/// A witness's variables, a few elements that happen to be bits among them, as scalars: all of them, or those selected; behind
/// scalars that are elements.
pub fn sums_of_variables_are_right(backend: &dyn Backend, lengths: &[usize]) {
    for &count in lengths {
        let bit = |i: usize, step: usize| u64::from(i.is_multiple_of(step));
        let words = |f: &dyn Fn(usize) -> u64| -> Vec<u64> {
            let mut words = vec![0; count.div_ceil(64)];
            (0..count).for_each(|i| words[i / 64] |= f(i) << (i % 64));
            words
        };
        let (mask, selected) = (words(&|i| bit(i, 5)), words(&|i| bit(i, 2) | bit(i, 3)));
        let bits = words(&|i| bit(i, 3) & (1 - bit(i, 5)));
        let ranks: Vec<u32> =
            mask.iter().scan(0, |rank, word| Some(std::mem::replace(rank, *rank + word.count_ones()))).collect();
        let elements: Vec<Fr> = (0..count.div_ceil(5)).map(|i| -Fr::from(i as u64) + Fr::from(2)).collect();
        let head = [Fr::ONE, Fr::from(77)];
        for selected in [None, Some(&selected[..])] {
            let variables = Variables::new(count, (&bits, &mask, &ranks), &elements, selected).unwrap();
            let runs = [Scalars::Elements(&head), Scalars::Variables(variables)];
            let scalars = expand(&runs);
            let multiples: Vec<Fr> = (0..scalars.len()).map(|i| Fr::from(i as u64 + 3)).collect();
            let log: Fr = multiples.iter().zip(&scalars).map(|(m, s)| *m * s).sum();
            let g1 = multiples.iter().map(|m| G1Affine::from(G1Projective::generator() * m).to_uncompressed());
            let g2 = multiples.iter().map(|m| G2Affine::from(G2Projective::generator() * m).to_uncompressed());
            let (g1, g2): (Vec<u8>, Vec<u8>) = (g1.flatten().collect(), g2.flatten().collect());
            let g1_sum = backend.sum_g1(G1Bases::new(&g1).unwrap(), &runs).unwrap();
            let g2_sum = backend.sum_g2(G2Bases::new(&g2).unwrap(), &runs).unwrap();
            assert_eq!(g1_sum, G1Projective::generator() * log, "{}, {count} variables", backend.name());
            assert_eq!(g2_sum, G2Projective::generator() * log, "{}, {count} variables", backend.name());
            // With another witness's, and with the same scalars in other runs, which have other blocks.
            let others = words(&|i| bit(i, 2) & (1 - bit(i, 5)));
            let others = Variables::new(count, (&others, &mask, &ranks), &elements, selected).unwrap();
            let others = [Scalars::Elements(&head[..]), Scalars::Variables(others)];
            let elements = [Scalars::Elements(&scalars)];
            let lists = [&runs[..], &others[..], &elements[..]];
            let sums = backend.sums_g1(G1Bases::new(&g1).unwrap(), &lists[..2]).unwrap();
            let log_of_others: Fr = multiples.iter().zip(expand(&others)).map(|(m, s)| *m * s).sum();
            assert_eq!(sums, [g1_sum, G1Projective::generator() * log_of_others], "{}, {count}", backend.name());
            let sums = backend.sums_g1(G1Bases::new(&g1).unwrap(), &lists).unwrap();
            assert_eq!(
                sums,
                [g1_sum, G1Projective::generator() * log_of_others, g1_sum],
                "{}, {count}",
                backend.name()
            );
        }
    }
}

/// The values of a and b by name, for each way in which rows can be special.
fn row_patterns(rows: usize) -> Vec<(&'static str, Vec<Fr>, Vec<Fr>)> {
    let scalars = scalar_patterns(rows);
    let random = scalars.last().unwrap().1.clone();
    let mut rng = ChaCha20Rng::seed_from_u64(2000 + rows as u64);
    let other: Vec<_> = (0..rows).map(|_| Fr::random(&mut rng)).collect();
    let mut all = vec![("random and random", random.clone(), other)];
    all.extend(scalars.into_iter().map(|(name, a)| (name, a, random.clone())));
    all.push(("minus one and minus one", vec![-Fr::ONE; rows], vec![-Fr::ONE; rows]));
    all
}

fn products(a: &[Fr], b: &[Fr]) -> Vec<Fr> {
    a.iter().zip(b).map(|(a, b)| *a * b).collect()
}

pub fn quotients_equal_reference(backend: &dyn Backend, lengths: &[usize]) {
    for &rows in lengths {
        // The reference takes time as the square of the rows: it sees all patterns of few, and of many the first.
        for (name, a, b) in row_patterns(rows).into_iter().take(if rows <= 65 { usize::MAX } else { 1 }) {
            let expected = Reference.quotient(&a, &b).unwrap();
            let got = backend.quotient(&a, &b).unwrap();
            assert_eq!(*got, *expected, "{}, {rows} rows, {name}", backend.name());
            assert_eq!(got.len(), rows.max(1).next_power_of_two() - 1);
        }
    }
}

/// Sizes at which a domain or the levels of its transforms change.
pub fn quotients_equal_each_other(one: &dyn Backend, other: &dyn Backend) {
    for log_size in [6, 7, 8, 9, 10, 11, 12, 13, 14, 16] {
        for rows in [(1 << log_size) - 1, 1 << log_size, (1usize << log_size) + 1] {
            for (name, a, b) in row_patterns(rows) {
                let expected = other.quotient(&a, &b).unwrap();
                let got = one.quotient(&a, &b).unwrap();
                assert!(*got == *expected, "{} and {}, {rows} rows, {name}", one.name(), other.name());
            }
        }
    }
}

/// Rows that are kept as bytes, as a compact witness' are: elements are made where they are asked for.
struct Bytes(Vec<u8>);

impl Rows for Bytes {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn expand_into(&self, rows: Range<usize>, values: &mut [Fr]) {
        assert_eq!(values.len(), rows.len());
        for (row, value) in rows.zip(values) {
            *value = Fr::from(self.0.get(row).copied().map_or(0, u64::from));
        }
    }
}

/// The same of rows in whatever form, and in memory that others used before.
pub fn quotients_of_compact_rows_are_the_same(backend: &dyn Backend) {
    for rows in [0, 1, 63, 64, 65, 255, 257, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 50_001, (1 << 16) + 1] {
        let mut rng = ChaCha20Rng::seed_from_u64(3000 + rows as u64);
        let mut bytes = || Bytes((0..rows).map(|_| (rng.next_u32() >> 24) as u8).collect());
        let (a, b) = (bytes(), bytes());
        let elements = |rows: &Bytes| -> Vec<Fr> { rows.0.iter().map(|byte| Fr::from(u64::from(*byte))).collect() };
        let expected = backend.quotient(&elements(&a), &elements(&b)).unwrap();
        let got = backend.quotient(&a, &b).unwrap();
        assert!(*got == *expected, "{}, {rows} rows", backend.name());
    }
}

/// A quotient by its definition at a random point x: a(x) b(x) - c(x) = h(x) (x^n - 1), where a, b and c are had from their values
/// by the barycentric formula, without any transform. Long enough for several leaves of the transforms.
pub fn long_quotients_divide(backend: &dyn Backend) {
    for rows in [(1usize << 14) + 1, (1 << 15) - 3, 1 << 15, (1 << 15) + 1, 50_001] {
        let mut rng = ChaCha20Rng::seed_from_u64(rows as u64);
        let mut random = || -> Vec<Fr> { (0..rows).map(|_| Fr::random(&mut rng)).collect() };
        let (a, b) = (random(), random());
        let c = products(&a, &b);
        let x = Fr::random(&mut rng);
        let n = rows.next_power_of_two();
        let [a_x, b_x, c_x] = [&a, &b, &c].map(|values| evaluate_barycentric(values, n, x));
        let h = backend.quotient(&a, &b).unwrap();
        assert_eq!(h.len(), n - 1);
        let h_x = h.iter().rev().fold(Fr::ZERO, |sum, coefficient| sum * x + coefficient);
        let vanishing = x.pow_vartime([n as u64]) - Fr::ONE;
        assert_eq!(a_x * b_x - c_x, h_x * vanishing, "{}, {rows} rows", backend.name());
    }
}

/// p(x) for the polynomial of degree below n with p(w^i) = values[i], 0 beyond them: (x^n - 1) / n * sum(values[i] w^i / (x - w^i)).
fn evaluate_barycentric(values: &[Fr], n: usize, x: Fr) -> Fr {
    let w = (n.ilog2()..Fr::S).fold(Fr::ROOT_OF_UNITY, |w, _| w.square());
    let powers: Vec<Fr> = std::iter::successors(Some(Fr::ONE), |power| Some(*power * w)).take(values.len()).collect();
    let mut inverses: Vec<Fr> = powers.iter().map(|power| x - power).collect();
    inverses.iter_mut().batch_invert();
    let terms = values.iter().zip(&powers).zip(&inverses);
    let sum: Fr = terms.map(|((value, power), inverse)| *value * power * inverse).sum();
    (x.pow_vartime([n as u64]) - Fr::ONE) * Fr::from(n as u64).invert().unwrap() * sum
}

/// Long enough for several tasks; the expected sum comes from field arithmetic.
const LONG: usize = (1 << 18) + 4097;

/// k times the generator for k in 1..=distinct, again and again, as the bytes of `LONG` bases.
fn repeated<P>(distinct: usize, multiple: impl Fn(Fr) -> P) -> Vec<u8>
where
    P: IntoIterator<Item = u8>,
{
    let points: Vec<u8> = (1..=distinct as u64).flat_map(|k| multiple(Fr::from(k))).collect();
    points.iter().copied().cycle().take(points.len() / distinct * LONG).collect()
}

fn repeated_log(distinct: usize, scalars: &[Fr]) -> Fr {
    scalars.iter().enumerate().map(|(i, s)| Fr::from((i % distinct + 1) as u64) * s).sum()
}

pub fn long_g1_sums_are_right(backend: &dyn Backend) {
    const DISTINCT: usize = 1 << 10;
    let bytes = repeated(DISTINCT, |k| G1Affine::from(G1Projective::generator() * k).to_uncompressed());
    let bases = G1Bases::new(&bytes).unwrap();
    for (name, scalars) in scalar_patterns(LONG) {
        let log = repeated_log(DISTINCT, &scalars);
        assert_eq!(
            backend.sum_g1(bases, &[Scalars::Elements(&scalars)]).unwrap(),
            G1Projective::generator() * log,
            "{name}"
        );
    }
    // At once, and bits of which every set of sums has some.
    let scalars: Vec<Vec<Fr>> =
        (0..5).map(|k| (0..LONG).map(|i| Fr::from((((i >> k) ^ (i / 7)) & 1) as u64)).collect()).collect();
    let runs: Vec<_> = scalars.iter().map(|scalars| [Scalars::Elements(scalars)]).collect();
    let lists: Vec<&[Scalars<'_>]> = runs.iter().map(|runs| &runs[..]).collect();
    let expected: Vec<_> =
        scalars.iter().map(|scalars| G1Projective::generator() * repeated_log(DISTINCT, scalars)).collect();
    assert_eq!(backend.sums_g1(bases, &lists).unwrap(), expected);
}

/// As for G1, but with the patterns alone that differ in how they are cut into tasks: G2 takes three times as long.
pub fn long_g2_sums_are_right(backend: &dyn Backend) {
    const DISTINCT: usize = 61;
    let bytes = repeated(DISTINCT, |k| G2Affine::from(G2Projective::generator() * k).to_uncompressed());
    let bases = G2Bases::new(&bytes).unwrap();
    for (name, scalars) in scalar_patterns(LONG) {
        if ["one", "mostly bits", "random"].contains(&name) {
            let log = repeated_log(DISTINCT, &scalars);
            assert_eq!(
                backend.sum_g2(bases, &[Scalars::Elements(&scalars)]).unwrap(),
                G2Projective::generator() * log,
                "{name}"
            );
        }
    }
}

pub fn unequal_lengths_are_errors(backend: &dyn Backend) {
    let bytes = [0u8; 96];
    let error = backend.sum_g1(G1Bases::new(&bytes).unwrap(), &[]).unwrap_err();
    assert!(error.to_string().contains("1 bases and 0 scalars"), "{error}");
    assert!(backend.quotient(&vec![Fr::ONE], &vec![]).is_err());
}
