//! The kernels that sort digits by bucket, and the one that finds scalars among variables, each by itself against a slow reference.

use blstrs::Scalar as Fr;
use cuzk::backend::cuda::msm::variables::VariableWord;
use cuzk::gpu::{kernels, Gpu, Shape, Stream, View};
use ff::{Field, PrimeField};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::running::{emulated, in_all_orders};
use super::vectors::{download, same, upload};

/// Sizes that a block of msm_scan_tiles takes, and tiles that msm_scan_sums takes in a turn (kernels/msm/scan.cuh).
const TILE: usize = 2048;

fn stream() -> Stream {
    Gpu::open(0).unwrap().stream().unwrap()
}

/// The sum of the values before each, and that of all.
fn prefix_sums(values: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut sums = vec![0];
    values.into_iter().for_each(|value| sums.push(sums[sums.len() - 1] + value));
    sums
}

/// Sizes that are added up beyond 2^32.
fn sizes(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2654435761)).collect()
}

fn scans_are_prefix_sums(counts: &[usize]) {
    let stream = stream();
    for count in counts {
        let values = sizes(*count);
        let (sizes, m) = (upload(&stream, &values), *count as u32);
        let (mut starts, tiles) = (stream.buffer("starts", count + 1).unwrap(), count.div_ceil(TILE));
        let mut sums = stream.buffer("sums of tiles", tiles + 1).unwrap();
        let shape = Shape::of(tiles * 256, 256);
        kernels::msm_scan_tiles(&stream, shape, sizes.view(), starts.view_mut(), sums.view_mut(), m).unwrap();
        kernels::msm_scan_sums(&stream, Shape::of(1, 256), sums.view_mut(), tiles as u32).unwrap();
        kernels::msm_scan_add(&stream, Shape::of(count + 1, 256), starts.view_mut(), sums.view(), m).unwrap();
        let expected = prefix_sums(values.iter().map(|size| u64::from(*size)));
        same(&download(&stream, &starts), &expected, &format!("{count} sizes"));
        let of_tiles = prefix_sums(values.chunks(TILE).map(|tile| tile.iter().map(|size| u64::from(*size)).sum()));
        same(&download(&stream, &sums), &of_tiles, &format!("{count} sizes, their tiles"));
    }
}

#[test]
fn scans_in_all_orders() {
    in_all_orders("sort::scans_in_all_orders", || scans_are_prefix_sums(&[1, 7, 255, 257, 2047, 2048, 2049, 6000]));
}

/// More tiles than one turn of msm_scan_sums takes.
#[test]
fn scans_of_more_tiles_than_a_tile_has() {
    emulated("sort::scans_of_more_tiles_than_a_tile_has", &[("EMULATOR_ORDER", "backward")], || {
        scans_are_prefix_sums(&[TILE * TILE, TILE * TILE + 1, TILE * (TILE + 5) + 77]);
    });
}

/// The same with sums that are given: three turns, the last one of one tile and of less.
#[test]
fn sums_of_tiles_in_several_turns() {
    in_all_orders("sort::sums_of_tiles_in_several_turns", || {
        let stream = stream();
        for count in [TILE, TILE + 1, 2 * TILE, 2 * TILE + 300] {
            let values: Vec<u64> = sizes(count).into_iter().map(|size| u64::from(size) << 13).collect();
            // The last place is the kernel's to write.
            let mut sums = upload(&stream, &[&values[..], &[u64::MAX]].concat());
            kernels::msm_scan_sums(&stream, Shape::of(1, 256), sums.view_mut(), count as u32).unwrap();
            same(&download(&stream, &sums), &prefix_sums(values), &format!("{count} tiles"));
        }
    });
}

/// A digit that is not zero: its window, its magnitude, and whether it counts negatively.
type Digit = (u32, u32, bool);

/// Of s and r - s the smaller is cut into windows of `bits` bits from the lowest; a digit above half the radix is taken less the radix.
fn digits(scalar: &Fr, bits: u32, windows: u32) -> Vec<Digit> {
    let (own, negative) = (scalar.to_repr(), (-scalar).to_repr());
    let turned = negative.iter().rev().lt(own.iter().rev());
    let integer = if turned { negative } else { own };
    let bit = |i: u32| integer.get(i as usize / 8).map_or(0, |byte| u32::from(byte >> (i % 8) & 1));
    let (half, mut carry, mut digits) = (1 << (bits - 1), 0, Vec::new());
    for window in 0..windows {
        let value = (0..bits).map(|b| bit(bits * window + b) << b).sum::<u32>() + carry;
        carry = u32::from(value > half);
        match (value, carry) {
            (0, _) => {}
            (_, 0) => digits.push((window, value, turned)),
            _ if value == 2 * half => {}
            _ => digits.push((window, 2 * half - value, !turned)),
        }
    }
    assert_eq!(carry, 0);
    digits
}

/// Scalars of all kinds: random, edges, small, and many of one value.
fn elements(count: usize) -> Vec<Fr> {
    let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
    let half = Fr::from(2).invert().unwrap();
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, half, -half, half - Fr::ONE, Fr::from(u64::MAX), -Fr::from(1 << 40)];
    let of = |i: usize| match i % 4 {
        0 => edges[i / 4 % edges.len()],
        1 => Fr::from(i as u64 % 7),
        2 => Fr::from(u64::MAX).square(),
        _ => Fr::random(&mut rng),
    };
    (0..count).map(of).collect()
}

/// Which scalars a launch takes: their number, where they are, and the bases' numbers.
struct Taken {
    count: usize,
    first: u64,
    log_size: u32,
    gathered: Option<(Vec<u32>, Vec<u32>)>,
}

impl Taken {
    /// The place of scalar i among the elements, and its base's number.
    fn of(&self, i: usize) -> (usize, u32) {
        let (place, base) = match &self.gathered {
            Some((places, bases)) => (places[i] as usize, bases[i]),
            None => (self.first as usize + i, i as u32),
        };
        let reversed = (0..self.log_size).fold(0, |reversed, bit| reversed << 1 | place >> bit & 1);
        (if self.log_size == 0 { place } else { reversed }, base)
    }
}

/// Counts and scatters, each by itself, and holds both to the digits of every scalar.
fn check_sort(stream: &Stream, elements: &[Fr], taken: &Taken, bits: u32) {
    let windows = 255 / bits + 2;
    let buckets = (windows as usize) << (bits - 1);
    let what = format!("{} scalars from {}, {bits} bits, {}", taken.count, taken.first, taken.log_size);
    let mut expected = vec![Vec::new(); buckets];
    for i in 0..taken.count {
        let (place, base) = taken.of(i);
        for (window, magnitude, is_negative) in digits(&elements[place], bits, windows) {
            let bucket = (window << (bits - 1)) + magnitude - 1;
            let entry = u64::from(bucket) << 32 | u64::from(is_negative) << 31 | u64::from(base);
            expected[bucket as usize].push(entry);
        }
    }
    let (of_device, shape, n) = (upload(stream, elements), Shape::of(taken.count, 256), taken.count as u32);
    let gathered = taken.gathered.as_ref().map(|(places, bases)| (upload(stream, places), upload(stream, bases)));
    let (places, bases) = gathered.as_ref().map_or((View::none(), View::none()), |(p, b)| (p.view(), b.view()));
    let (first, log_size, of_device) = (taken.first, taken.log_size, of_device.view());

    let mut counted = upload(stream, &vec![0; buckets]);
    let sizes = counted.view_mut();
    kernels::msm_count(stream, shape, of_device, places, first, log_size, n, bits, windows, sizes).unwrap();
    let sizes: Vec<u32> = expected.iter().map(|entries| entries.len() as u32).collect();
    same(&download(stream, &counted), &sizes, &format!("sizes, {what}"));

    let starts = prefix_sums(expected.iter().map(|entries| entries.len() as u64));
    let (mut moved, total) = (upload(stream, &starts), starts[buckets] as usize);
    let mut entries = stream.buffer("entries", total).unwrap();
    let (to, into) = (moved.view_mut(), entries.view_mut());
    kernels::msm_scatter(stream, shape, of_device, places, bases, first, log_size, n, bits, windows, to, into).unwrap();
    // Each bucket's beginning has moved to its end; what stands behind the last one has not.
    let ends: Vec<u64> = starts[1..].iter().chain(starts.last()).copied().collect();
    same(&download(stream, &moved), &ends, &format!("ends, {what}"));
    let mut found = download(stream, &entries);
    for (bucket, expected) in expected.iter_mut().enumerate() {
        let range = starts[bucket] as usize..starts[bucket + 1] as usize;
        found[range].sort_unstable();
        expected.sort_unstable();
    }
    same(&found, &expected.concat(), &format!("entries, {what}"));
}

/// As they come, from a first one, in bit-reversed order, and gathered.
#[test]
fn digits_are_counted_and_put_in_their_buckets() {
    in_all_orders("sort::digits_are_counted_and_put_in_their_buckets", || {
        let (stream, elements) = (stream(), elements(1 << 9));
        let places: Vec<u32> = (0..300).map(|i| i * 77 % 512).collect();
        let gathered = Some((places, (0..300).map(|i| 0x7fff_ffff - 3 * i).collect()));
        for taken in [
            Taken { count: 1, first: 0, log_size: 0, gathered: None },
            Taken { count: 257, first: 100, log_size: 0, gathered: None },
            Taken { count: 200, first: 312, log_size: 9, gathered: None },
            Taken { count: 300, first: 0, log_size: 0, gathered },
        ] {
            for bits in [2, 5, 8] {
                check_sort(&stream, &elements, &taken, bits);
            }
        }
    });
}

#[test]
fn wide_digits_are_counted_and_put_in_their_buckets() {
    emulated("sort::wide_digits_are_counted_and_put_in_their_buckets", &[("EMULATOR_ORDER", "random:3")], || {
        let taken = Taken { count: 512, first: 0, log_size: 9, gathered: None };
        for bits in [13, 16, 17] {
            check_sort(&stream(), &elements(1 << 9), &taken, bits);
        }
    });
}

/// For words of random bits, of none and of all: places and bases of the variables that are elements and selected.
#[test]
fn scalars_are_gathered_from_words_of_variables() {
    in_all_orders("sort::scalars_are_gathered_from_words_of_variables", || {
        let (stream, mut rng) = (stream(), ChaCha20Rng::seed_from_u64(8));
        for count in [1, 2, 255, 300] {
            let (mut words, mut expected) = (Vec::new(), (Vec::new(), Vec::new()));
            let (mut element, mut base) = (rng.next_u32() >> 1, rng.next_u32() >> 1);
            for w in 0..count {
                let mut bits =
                    || [rng.next_u64(), 0, u64::MAX, rng.next_u64() & rng.next_u64()][rng.next_u32() as usize % 4];
                let (selected, mask) = if w % 50 == 0 { (u64::MAX, u64::MAX) } else { (bits(), bits()) };
                let scalar = expected.0.len() as u32;
                words.push(VariableWord { selected, ones: bits(), mask, element, base, scalar, padding: 0 });
                for bit in 0..64 {
                    let (is_element, is_selected) = (mask >> bit & 1 == 1, selected >> bit & 1 == 1);
                    if is_element && is_selected {
                        expected.0.push(element);
                        expected.1.push(base);
                    }
                    element += u32::from(is_element);
                    base += u32::from(is_selected);
                }
            }
            let words = upload(&stream, &words);
            let [mut places, mut bases] = [0; 2].map(|_| stream.buffer("numbers", expected.0.len()).unwrap());
            let (to, into) = (places.view_mut(), bases.view_mut());
            kernels::msm_gather(&stream, Shape::of(count, 256), words.view(), to, into, count as u32).unwrap();
            same(&download(&stream, &places), &expected.0, &format!("places, {count} words"));
            same(&download(&stream, &bases), &expected.1, &format!("bases, {count} words"));
        }
    });
}
