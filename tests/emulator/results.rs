//! Kernels without faults, in every order of threads.

use crate::device::{at, download, n, unwritten, upload, words, Emulated};
use crate::running::in_all_orders;

#[test]
fn vector_addition_of_odd_lengths() {
    in_all_orders("results::vector_addition_of_odd_lengths", || {
        let device = Emulated::new(0);
        for length in [1, 31, 1001, 1 << 14] {
            let (a, b) = (words(length), words(2 * length).split_off(length));
            let (x, y, sum) = (upload(&a), upload(&b), unwritten::<u32>(length));
            let shape = (length.div_ceil(128) as u32, 128, 0);
            device.run("vector_add", shape, &[at(&x), at(&y), at(&sum), n(length as u32)]).unwrap();
            let expected: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b)).collect();
            assert_eq!(download(&sum).unwrap(), expected);
        }
    });
}

#[test]
fn block_sums_by_shared_memory_and_barriers() {
    in_all_orders("results::block_sums_by_shared_memory_and_barriers", || {
        let device = Emulated::new(0);
        for length in [1usize, 255, 1000] {
            let values = words(length);
            let blocks = length.div_ceil(256);
            let (x, sums) = (upload(&values), unwritten::<u32>(blocks));
            device.run("block_sum", (blocks as u32, 256, 0), &[at(&x), at(&sums), n(length as u32)]).unwrap();
            let sum = |block: &[u32]| block.iter().fold(0u32, |sum, v| sum.wrapping_add(*v));
            assert_eq!(download(&sums).unwrap(), values.chunks(256).map(sum).collect::<Vec<_>>());
        }
    });
}

#[test]
fn reversal_by_dynamic_shared_memory_and_a_template() {
    in_all_orders("results::reversal_by_dynamic_shared_memory_and_a_template", || {
        let device = Emulated::new(0);
        let values = words(3 * 96);
        let (x, out) = (upload(&values), unwritten::<u32>(values.len()));
        device.run("reverse", (3, 96, 4 * 96), &[at(&x), at(&out)]).unwrap();
        let mut expected = values;
        for block in expected.chunks_mut(96) {
            // Turned around, and then the ends turned back.
            block.reverse();
            block.swap(0, 95);
        }
        assert_eq!(download(&out).unwrap(), expected);
    });
}

#[test]
fn warp_sums_by_shuffles_and_ballots() {
    in_all_orders("results::warp_sums_by_shuffles_and_ballots", || {
        let device = Emulated::new(0);
        let values: Vec<u64> = words(8 * 32).iter().map(|v| u64::from(*v) * 0x1_0000_0003).collect();
        let (x, sums, odd, agree) = (upload(&values), unwritten::<u64>(8), unwritten::<u32>(8), unwritten::<u32>(8));
        device.run("warp_sum", (2, 128, 0), &[at(&x), at(&sums), at(&odd), at(&agree)]).unwrap();
        let sum = |warp: &[u64]| warp.iter().fold(0u64, |sum, v| sum.wrapping_add(*v));
        let ballot = |warp: &[u64]| warp.iter().rev().fold(0u32, |ballot, v| ballot << 1 | (v & 1) as u32);
        assert_eq!(download(&sums).unwrap(), values.chunks(32).map(sum).collect::<Vec<_>>());
        assert_eq!(download(&odd).unwrap(), values.chunks(32).map(ballot).collect::<Vec<_>>());
        assert_eq!(download(&agree).unwrap(), [1; 8]);
    });
}

#[test]
fn halves_of_a_warp_shuffle_on_their_own() {
    in_all_orders("results::halves_of_a_warp_shuffle_on_their_own", || {
        let device = Emulated::new(0);
        let values = words(64);
        let (x, out) = (upload(&values), unwritten::<u32>(64));
        device.run("half_warps", (1, 64, 0), &[at(&x), at(&out)]).unwrap();
        let source = |i: usize| match i % 32 {
            lane if lane < 16 => i / 8 * 8 + 3,
            lane if lane % 8 == 7 => i,
            _ => i + 1,
        };
        assert_eq!(download(&out).unwrap(), (0..64).map(|i| values[source(i)]).collect::<Vec<_>>());
    });
}

/// a + b with its carry, or a - b with its borrow as all ones, word by word in the obvious way.
fn long(a: &[u32], b: &[u32], subtract: bool) -> (Vec<u32>, u32) {
    let mut carry = 0i64;
    let mut word = |(a, b): (&u32, &u32)| {
        let (a, b) = (i64::from(*a), i64::from(*b));
        let value = if subtract { a - b + carry } else { a + b + carry };
        carry = value >> 32;
        value as u32
    };
    let words = a.iter().zip(b).map(&mut word).collect();
    (words, carry as u32)
}

#[test]
fn long_additions_by_carry_chains() {
    in_all_orders("results::long_additions_by_carry_chains", || {
        let device = Emulated::new(0);
        let (mut a, mut b) = (words(64 * 8), words(128 * 8).split_off(64 * 8));
        // Carries and borrows that run through all words, then none at all.
        a[..8].fill(u32::MAX);
        b[..8].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
        a[8..16].fill(0);
        b[8..16].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
        a.copy_within(16..24, 24);
        b.copy_within(16..24, 24);
        let (sums, differences, ends) = (unwritten::<u32>(512), unwritten::<u32>(512), unwritten::<u32>(128));
        let (x, y) = (upload(&a), upload(&b));
        let arguments = [at(&x), at(&y), at(&sums), at(&differences), at(&ends)];
        device.run("long_add", (2, 32, 0), &arguments).unwrap();
        let (sums, differences, ends) =
            (download(&sums).unwrap(), download(&differences).unwrap(), download(&ends).unwrap());
        for i in 0..64 {
            let range = 8 * i..8 * i + 8;
            let of = |subtract| long(&a[range.clone()], &b[range.clone()], subtract);
            assert_eq!((sums[range.clone()].to_vec(), ends[2 * i]), of(false), "{i}");
            assert_eq!((differences[range.clone()].to_vec(), ends[2 * i + 1]), of(true), "{i}");
        }
    });
}

#[test]
fn products_by_carry_chains() {
    in_all_orders("results::products_by_carry_chains", || {
        let device = Emulated::new(0);
        let (mut a, mut b) = (words(128), words(256).split_off(128));
        a[..6].copy_from_slice(&[0, 0, u32::MAX, u32::MAX, u32::MAX, u32::MAX]);
        b[..6].copy_from_slice(&[5, 9, 1, 0, u32::MAX, u32::MAX]);
        let (x, y, products, sums) = (upload(&a), upload(&b), unwritten::<u32>(256), unwritten::<u64>(128));
        device.run("multiply", (1, 64, 0), &[at(&x), at(&y), at(&products), at(&sums)]).unwrap();
        let (products, sums) = (download(&products).unwrap(), download(&sums).unwrap());
        let number = |words: &[u32]| words.iter().rev().fold(0u128, |n, word| n << 32 | u128::from(*word));
        for i in 0..64 {
            let (a, b) = (&a[2 * i..2 * i + 2], &b[2 * i..2 * i + 2]);
            assert_eq!(number(&products[4 * i..4 * i + 4]), number(a) * number(b), "{i}");
            let sum = u128::from(a[0]) * u128::from(b[0]) + u128::from(a[1]) * 0x1_0000_0001;
            assert_eq!(u128::from(sums[2 * i + 1]) << 64 | u128::from(sums[2 * i]), sum, "{i}");
        }
    });
}

#[test]
fn atomics_of_all_blocks() {
    in_all_orders("results::atomics_of_all_blocks", || {
        let device = Emulated::new(0);
        let values = words(4 * 96);
        // As the kernel's structure: bits, most, least, ored, exchanged, signed sum, wide sum in two, toggled, chained.
        let counts = upload(&[0, 0, u32::MAX, 0, 0, 0, 0, 0, 0, 0]);
        let x = upload(&values);
        device.run("count", (4, 96, 0), &[at(&x), at(&counts)]).unwrap();
        let sum: u64 = values.iter().map(|v| u64::from(*v) << 20).sum();
        let expected = [
            values.iter().map(|v| v.count_ones()).sum(),
            *values.iter().max().unwrap(),
            *values.iter().min().unwrap(),
            values.iter().fold(0, |all, v| all | v),
            7,
            values.iter().map(|v| if v & 1 == 1 { -1 } else { 2 }).sum::<i32>() as u32,
            sum as u32,
            (sum >> 32) as u32,
            values.iter().fold(0, |all, v| all ^ v),
            3 * 4 * 96,
        ];
        assert_eq!(download(&counts).unwrap(), expected);
    });
}

#[test]
fn votes_of_blocks_and_grids_of_three_dimensions() {
    in_all_orders("results::votes_of_blocks_and_grids_of_three_dimensions", || {
        let device = Emulated::new(0);
        let out = unwritten::<u32>(30);
        let function = device.module.get_function("vote").unwrap();
        let pointer = out.as_device_ptr();
        let places = [(&pointer as *const cust::memory::DevicePointer<u32>).cast_mut().cast()];
        // SAFETY: the kernel takes one pointer, to memory for one word of each of the 30 blocks.
        unsafe { device.stream.launch(&function, (2, 3, 5), (4, 3, 2), 0, &places).unwrap() };
        device.stream.synchronize().unwrap();
        // 12 of 24 threads are odd; some thread has the block's number where that is below 24.
        let expected: Vec<u32> = (0..30).map(|block| 1200 + u32::from(block < 24) * 10 + 1).collect();
        assert_eq!(download(&out).unwrap(), expected);
    });
}
