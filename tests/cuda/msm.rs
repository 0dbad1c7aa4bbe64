//! Sums of scalars times bases, by buckets and without, against sums in the scalar field and the slow reference.

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use cuzk::backend::bases::{RawBases, G1_BYTES, G2_BYTES};
use cuzk::backend::cuda::msm::curve::{G1, G2};
use cuzk::backend::cuda::msm::{sum, sum_of_device, sums, Order, CHUNK};
use cuzk::backend::reference::Reference;
use cuzk::backend::scalars::{expand, Scalars, Variables};
use cuzk::backend::Backend;
use cuzk::error::{Fault, Result};
use cuzk::gpu::{kernels, Gpu, Shape, Stream};
use ff::Field;
use group::Group;
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

use super::points::{multiple, TestCurve};
use super::running::{emulated, in_all_orders};

/// A curve whose points have `SIZE` bytes in the file, and the reference's sum.
trait Reckoned<const SIZE: usize>: TestCurve {
    fn reference(bases: RawBases<'_, SIZE>, scalars: &[Scalars<'_>]) -> Result<Self::Sum>;
}

impl Reckoned<G1_BYTES> for G1 {
    fn reference(bases: RawBases<'_, G1_BYTES>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        Reference.sum_g1(bases, scalars)
    }
}

impl Reckoned<G2_BYTES> for G2 {
    fn reference(bases: RawBases<'_, G2_BYTES>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        Reference.sum_g2(bases, scalars)
    }
}

fn stream() -> Stream {
    Gpu::open(0).unwrap().stream().unwrap()
}

/// Multiples of the generator as the file has them.
fn encoded<C: TestCurve>(multiples: &[Fr]) -> Vec<u8> {
    multiples.iter().flat_map(|m| C::bytes(&multiple::<C>(*m))).collect()
}

/// The generator's multiple that a sum is.
fn log(multiples: &[Fr], scalars: &[Fr]) -> Fr {
    multiples.iter().zip(scalars).map(|(m, s)| *m * s).sum()
}

fn random(count: usize, seed: u64) -> Vec<Fr> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..count).map(|_| Fr::random(&mut rng)).collect()
}

/// Scalars by name, for each way in which a sum can be special. Equal ones are one bucket of each window that holds everything.
fn scalar_patterns(n: usize) -> Vec<(&'static str, Vec<Fr>)> {
    let half = Fr::from(2).invert().unwrap();
    let random = random(n, n as u64);
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2), half, -half, half - Fr::ONE, -half - Fr::ONE];
    let bit = |i| if i % 50 == 7 { random[i] } else { Fr::from((i % 2) as u64) };
    vec![
        ("zero", vec![Fr::ZERO; n]),
        ("one", vec![Fr::ONE; n]),
        ("minus one", vec![-Fr::ONE; n]),
        ("all equal", vec![Fr::from(u64::MAX).square(); n]),
        ("edges", (0..n).map(|i| edges[i % edges.len()]).collect()),
        ("mostly bits", (0..n).map(bit).collect()),
        ("random", random),
    ]
}

/// Multiples of the generator by name: distinct points, one point, pairs of opposite ones, some infinity.
fn base_patterns(n: usize) -> Vec<(&'static str, Vec<Fr>)> {
    let distinct = random(n, 1000 + n as u64);
    let opposite = |i| if i % 2 == 0 { Fr::from(9) } else { -Fr::from(9) };
    vec![
        ("some infinite", distinct.iter().enumerate().map(|(i, m)| if i % 3 == 0 { Fr::ZERO } else { *m }).collect()),
        ("equal", vec![Fr::from(5); n]),
        ("opposite", (0..n).map(opposite).collect()),
        ("infinite", vec![Fr::ZERO; n]),
        ("distinct", distinct),
    ]
}

/// Every pattern of scalars, and of bases, at each length, but not each with each.
fn sums_are_right<C: Reckoned<SIZE>, const SIZE: usize>(lengths: &[usize]) {
    let stream = stream();
    for n in lengths {
        let bases: Vec<_> = base_patterns(*n).into_iter().map(|(name, m)| (name, encoded::<C>(&m), m)).collect();
        for (i, (scalars_name, scalars)) in scalar_patterns(*n).into_iter().enumerate() {
            for (bases_name, bytes, multiples) in [&bases[i % bases.len()], &bases[(i + n) % bases.len()]] {
                let what = format!("{}, {n} {bases_name} bases, scalars {scalars_name}", C::NAME);
                let (bases, runs) = (RawBases::<SIZE>::new(bytes).unwrap(), [Scalars::Elements(&scalars)]);
                let expected = C::Sum::generator() * log(multiples, &scalars);
                if *n <= 9 {
                    assert_eq!(C::reference(bases, &runs).unwrap(), expected, "reference, {what}");
                }
                let got: C::Point = sum::<C, SIZE>(&stream, bases, &runs).unwrap().into();
                assert_eq!(C::bytes(&got), C::bytes(&expected.into()), "{what}");
            }
        }
    }
}

#[test]
fn short_g1_sums_in_all_orders() {
    in_all_orders("msm::short_g1_sums_in_all_orders", || sums_are_right::<G1, G1_BYTES>(&[0, 1, 3, 33]));
}

#[test]
fn short_g2_sums_in_all_orders() {
    in_all_orders("msm::short_g2_sums_in_all_orders", || sums_are_right::<G2, G2_BYTES>(&[0, 1, 5]));
}

#[test]
fn g1_sums() {
    emulated("msm::g1_sums", &[], || {
        sums_are_right::<G1, G1_BYTES>(&[2, 7, 8, 9, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 129]);
    });
}

#[test]
fn g2_sums() {
    emulated("msm::g2_sums", &[], || sums_are_right::<G2, G2_BYTES>(&[2, 7, 8, 9, 31, 32, 33, 64, 65]));
}

/// Long enough for partial sums of partial sums of partial sums, where all scalars are equal and where they are not.
#[test]
fn long_g1_sums() {
    emulated("msm::long_g1_sums", &[("EMULATOR_ORDER", "random:3")], || {
        let (n, stream) = ((1 << 11) + 1, stream());
        let multiples: Vec<Fr> = (0..n).map(|i| Fr::from(i as u64 % 97 + 1)).collect();
        let of_97 = encoded::<G1>(&multiples[..97]);
        let bytes: Vec<u8> = of_97.iter().copied().cycle().take(n * G1_BYTES).collect();
        let bases = RawBases::<G1_BYTES>::new(&bytes).unwrap();
        for (name, scalars) in scalar_patterns(n) {
            let got = sum::<G1, G1_BYTES>(&stream, bases, &[Scalars::Elements(&scalars)]).unwrap();
            assert_eq!(got, G1Projective::generator() * log(&multiples, &scalars), "{name}");
        }
    });
}

/// A witness's words: bits, which variables are elements, their ranks, and which are selected.
struct Words {
    bits: Vec<u64>,
    mask: Vec<u64>,
    ranks: Vec<u32>,
    selected: Vec<u64>,
    elements: Vec<Fr>,
}

impl Words {
    /// A fifth are elements, of which some are bits; a third of the bits are one; a word is not selected at all.
    fn new(count: usize, seed: u64) -> Self {
        let words = |f: &dyn Fn(usize) -> bool| -> Vec<u64> {
            let mut words = vec![0; count.div_ceil(64)];
            (0..count).for_each(|i| words[i / 64] |= u64::from(f(i)) << (i % 64));
            words
        };
        let is_element = |i: usize| i.is_multiple_of(5);
        let mask = words(&is_element);
        let bits = words(&|i| !is_element(i) && (i + seed as usize).is_multiple_of(3));
        let selected = words(&|i| i / 64 != 1 && (i.is_multiple_of(2) || i.is_multiple_of(3)));
        let rank = |rank: &mut u32, word: &u64| Some(std::mem::replace(rank, *rank + word.count_ones()));
        let ranks = mask.iter().scan(0, rank).collect();
        let mut elements = random(count.div_ceil(5), seed);
        elements.iter_mut().step_by(4).for_each(|element| *element = Fr::ONE);
        elements.iter_mut().skip(1).step_by(6).for_each(|element| *element = Fr::ZERO);
        Self { bits, mask, ranks, selected, elements }
    }

    fn variables(&self, count: usize, some: bool) -> Variables<'_> {
        let words = (&self.bits[..], &self.mask[..], &self.ranks[..]);
        Variables::new(count, words, &self.elements, some.then_some(&self.selected[..])).unwrap()
    }
}

/// Variables all and selected, between elements, in chunks that cut words: several lists at once, with other variables each.
fn sums_of_variables_are_right<C: Reckoned<SIZE>, const SIZE: usize>(counts: &[usize], chunks: &[usize]) {
    let stream = stream();
    let head = [Fr::ONE, Fr::from(77), Fr::ZERO];
    for count in counts {
        for some in [false, true] {
            let words: Vec<_> = (0..5).map(|seed| Words::new(*count, seed)).collect();
            let runs = words.iter().map(|words| {
                let run = Scalars::Variables(words.variables(*count, some));
                [Scalars::Elements(&head), run, Scalars::Elements(&head[1..])]
            });
            let runs: Vec<_> = runs.collect();
            let lists: Vec<&[Scalars<'_>]> = runs.iter().map(|runs| &runs[..]).collect();
            let scalars: Vec<_> = lists.iter().map(|runs| expand(runs)).collect();
            let multiples: Vec<Fr> = (0..scalars[0].len()).map(|i| Fr::from(i as u64 % 50)).collect();
            let bytes = encoded::<C>(&multiples);
            let bases = RawBases::<SIZE>::new(&bytes).unwrap();
            let expected: Vec<_> =
                scalars.iter().map(|scalars| C::Sum::generator() * log(&multiples, scalars)).collect();
            for chunk in chunks {
                for at_once in [1, 5] {
                    let got = sums::<C, SIZE>(&stream, bases, &lists[..at_once], *chunk).unwrap();
                    assert_eq!(got, expected[..at_once], "{}, {count} variables, chunks of {chunk}", C::NAME);
                }
            }
        }
    }
}

#[test]
fn sums_of_g1_variables() {
    emulated("msm::sums_of_g1_variables", &[("EMULATOR_STREAMS", "lazy")], || {
        sums_of_variables_are_right::<G1, G1_BYTES>(&[0, 1, 63, 64, 65], &[64, CHUNK]);
        sums_of_variables_are_right::<G1, G1_BYTES>(&[67], &[1]);
        sums_of_variables_are_right::<G1, G1_BYTES>(&[200], &[31]);
    });
}

#[test]
fn sums_of_g2_variables() {
    emulated("msm::sums_of_g2_variables", &[("EMULATOR_STREAMS", "lazy")], || {
        sums_of_variables_are_right::<G2, G2_BYTES>(&[1, 64, 65], &[7, CHUNK]);
    });
}

#[test]
fn sums_of_variables_in_all_orders() {
    in_all_orders("msm::sums_of_variables_in_all_orders", || {
        sums_of_variables_are_right::<G1, G1_BYTES>(&[129], &[64]);
    });
}

fn reversed<T: Copy>(values: &[T]) -> Vec<T> {
    let bits = values.len().ilog2();
    let place = |i: usize| if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) };
    (0..values.len()).map(|i| values[place(i)]).collect()
}

/// Scalars that are on the device, of which the last has no base, in both orders and in chunks.
#[test]
fn sums_of_scalars_on_the_device() {
    in_all_orders("msm::sums_of_scalars_on_the_device", || {
        let stream = stream();
        for n in [1usize, 2, 4, 64] {
            let (multiples, scalars) = (random(n, 3), random(n, 4));
            let bytes = encoded::<G1>(&multiples);
            let bases = RawBases::<G1_BYTES>::new(&bytes).unwrap();
            let mut buffer = stream.buffer("scalars", n).unwrap();
            for (order, elements) in [(Order::Natural, scalars.clone()), (Order::BitReversed, reversed(&scalars))] {
                stream.upload("scalars", buffer.view_mut(), &elements).unwrap();
                for (count, chunk) in [(n - 1, 5), (n, 1 << 20), (n / 2, 64)] {
                    let got =
                        sum_of_device::<G1, G1_BYTES>(&stream, bases.slice(0..count), buffer.view(), order, chunk);
                    let expected = G1Projective::generator() * log(&multiples[..count], &scalars);
                    assert_eq!(got.unwrap(), expected, "{count} of {n}, {order:?}, chunks of {chunk}");
                }
            }
        }
    });
}

#[test]
fn lengths_that_do_not_fit_are_errors() {
    emulated("msm::lengths_that_do_not_fit_are_errors", &[], || {
        let stream = stream();
        let bytes = encoded::<G1>(&[Fr::ONE; 3]);
        let bases = RawBases::<G1_BYTES>::new(&bytes).unwrap();
        let error = sum::<G1, G1_BYTES>(&stream, bases, &[]).unwrap_err();
        assert!(error.to_string().contains("3 bases and 0 scalars"), "{error}");
        for (count, order) in [(2, Order::Natural), (2, Order::BitReversed), (3, Order::BitReversed)] {
            let mut scalars = stream.buffer("scalars", count).unwrap();
            stream.upload("scalars", scalars.view_mut(), &vec![Fr::ONE; count]).unwrap();
            let error = sum_of_device::<G1, G1_BYTES>(&stream, bases, scalars.view(), order, 10).unwrap_err();
            assert_eq!(error.fault(), Fault::Internal);
        }
        assert!(sums::<G1, G1_BYTES>(&stream, bases, &[], 10).unwrap().is_empty());
    });
}

/// Whatever the scalar, and in whatever chunk: the error names the point by its number.
#[test]
fn bases_that_are_none_are_errors() {
    emulated("msm::bases_that_are_none_are_errors", &[("EMULATOR_STREAMS", "lazy")], || {
        let stream = stream();
        let mut bytes = encoded::<G2>(&[Fr::ONE; 9]);
        bytes[7 * G2_BYTES + 48] |= 0x80;
        bytes[8 * G2_BYTES] |= 0x80;
        let bases = RawBases::<G2_BYTES>::new(&bytes).unwrap();
        let scalars = [Fr::ZERO; 9];
        for chunk in [1, 4, 100] {
            let error = sums::<G2, G2_BYTES>(&stream, bases, &[&[Scalars::Elements(&scalars)]], chunk).unwrap_err();
            assert_eq!(error.fault(), Fault::Parameters);
            assert!(error.to_string().starts_with("base 7 of 9, counted from 0: its 192 bytes"), "{error}");
        }
        assert!(sum::<G2, G2_BYTES>(&stream, bases.slice(0..7), &[Scalars::Elements(&scalars[..7])]).is_ok());
    });
}

/// Byte offsets beyond 2^32, and bit reversals, at the production's sizes.
#[test]
fn indices_at_2_to_the_27_and_28() {
    emulated("msm::indices_at_2_to_the_27_and_28", &[], || {
        let stream = stream();
        for log_size in [27u32, 28] {
            let size = 1u64 << log_size;
            let (each, first, total) = (64u32, size - (1 << 20), 64 * size - 3);
            let numbers = [0, 1, 127, 128, size / 2 - 1, size / 2, size / 2 + 12345, size - 129, size - 1, size];
            let [mut blocks, mut threads] = [0; 2].map(|_| stream.buffer::<u32>("numbers", numbers.len()).unwrap());
            let mut out = stream.buffer("indices", 6 * numbers.len()).unwrap();
            stream.upload("blocks", blocks.view_mut(), &numbers.map(|t| (t / 128) as u32)).unwrap();
            stream.upload("threads", threads.view_mut(), &numbers.map(|t| (t % 128) as u32)).unwrap();
            let (shape, count) = (Shape::of(numbers.len(), 128), numbers.len() as u32);
            kernels::msm_places(
                &stream,
                shape,
                blocks.view(),
                threads.view(),
                out.view_mut(),
                count,
                each,
                total,
                first,
                log_size,
            )
            .unwrap();
            let mut indices = vec![0u64; 6 * numbers.len()];
            stream.download("indices", out.view(), &mut indices).unwrap();
            for (t, got) in numbers.into_iter().zip(indices.chunks(6)) {
                let place =
                    (0..log_size).fold(0, |place, bit| place | ((first + t) >> bit & 1) << (log_size - 1 - bit));
                let length = total.saturating_sub(64 * t).min(64);
                assert_eq!(
                    got,
                    [t, 8 * 64 * t, 384 * 2 * t, 192 * t, 32 * place, length],
                    "thread {t} of 2^{log_size}"
                );
            }
        }
    });
}
