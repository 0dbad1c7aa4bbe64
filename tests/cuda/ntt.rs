//! Transforms: against the definition at small sizes, against the CPU's at larger ones, and their indices at the largest.

use blstrs::Scalar as Fr;
use cuzk::backend::cpu::ntt::{bit_reverse, root_of_unity, Domain};
use cuzk::backend::cuda::ntt::{passes, Pass, Transforms, MAX_LOG_SIZE, MAX_LOG_TILE};
use cuzk::error::Fault;
use cuzk::gpu::{kernels, Gpu, Shape, Stream};
use ff::Field;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::running::{emulated, in_all_orders};
use super::vectors::{download, patterns, random, same, upload};

fn stream() -> Stream {
    Gpu::open(0).unwrap().stream().unwrap()
}

/// The values at w^0, w^1 and so on of a polynomial, w being the root of order `coefficients.len()`.
fn evaluate(coefficients: &[Fr]) -> Vec<Fr> {
    let n = coefficients.len();
    let w = root_of_unity(n.ilog2());
    let at = |x: Fr| coefficients.iter().rev().fold(Fr::ZERO, |sum, c| sum * x + c);
    (0..n as u64).map(|i| at(w.pow_vartime([i]))).collect()
}

fn bit_reversed(values: &[Fr]) -> Vec<Fr> {
    (0..values.len()).map(|i| values[bit_reverse(i, values.len().ilog2())]).collect()
}

/// Transforms values back to the coefficients that they are of, and forth again.
#[track_caller]
fn check(stream: &Stream, transforms: &Transforms, coefficients: &[Fr], values: &[Fr], what: &str) {
    let mut vector = upload(stream, values);
    transforms.inverse(stream, vector.view_mut()).unwrap();
    same(&download(stream, &vector), &bit_reversed(coefficients), &format!("coefficients, {what}"));
    transforms.forward(stream, vector.view_mut()).unwrap();
    same(&download(stream, &vector), values, &format!("values, {what}"));
}

#[test]
fn transforms_interpolate_and_evaluate() {
    in_all_orders("ntt::transforms_interpolate_and_evaluate", || {
        let stream = stream();
        for log_size in 0..=6 {
            for (name, coefficients) in patterns(1 << log_size) {
                let values = evaluate(&coefficients);
                // Of up to five passes, and one.
                for log_tile in [2, 3, MAX_LOG_TILE] {
                    let transforms = Transforms::by_tiles(&stream, log_size, log_tile).unwrap();
                    let what = format!("{name}, 2^{log_size} by 2^{log_tile}");
                    check(&stream, &transforms, &coefficients, &values, &what);
                }
            }
        }
    });
}

/// The first transform is held to the CPU's.
fn equals_the_cpu(stream: &Stream, log_size: u32, log_tile: u32) {
    let domain = Domain::new(log_size);
    let values = random(1 << log_size, log_size.into());
    let mut expected = values.clone();
    domain.inverse_unscaled(&mut expected);
    let scale = Fr::from(1 << log_size).invert().unwrap();
    let coefficients: Vec<_> = bit_reversed(&expected).iter().map(|x| x * scale).collect();
    let transforms = Transforms::by_tiles(stream, log_size, log_tile).unwrap();
    check(stream, &transforms, &coefficients, &values, &format!("2^{log_size} by 2^{log_tile}"));
}

#[test]
fn transforms_of_all_sizes_equal_the_cpus() {
    emulated("ntt::transforms_of_all_sizes_equal_the_cpus", &[], || {
        let stream = stream();
        for log_size in 0..=13 {
            for log_tile in [4, 7, MAX_LOG_TILE] {
                equals_the_cpu(&stream, log_size, log_tile);
            }
        }
    });
}

/// Three passes of full tiles.
#[test]
fn a_transform_of_2_to_the_20_equals_the_cpus() {
    emulated("ntt::a_transform_of_2_to_the_20_equals_the_cpus", &[("EMULATOR_ORDER", "backward")], || {
        equals_the_cpu(&stream(), 20, MAX_LOG_TILE);
    });
}

#[test]
fn other_sizes_are_refused() {
    emulated("ntt::other_sizes_are_refused", &[], || {
        let stream = stream();
        let transforms = Transforms::new(&stream, 3).unwrap();
        for len in [0, 7, 9, 16] {
            let mut vector = upload(&stream, &random(len, 1));
            assert_eq!(transforms.inverse(&stream, vector.view_mut()).unwrap_err().fault(), Fault::Internal);
            assert_eq!(transforms.forward(&stream, vector.view_mut()).unwrap_err().fault(), Fault::Internal);
        }
        let error = Transforms::new(&stream, MAX_LOG_SIZE + 1).unwrap_err();
        assert!(error.fault() == Fault::Input && error.to_string().contains("2^28"), "{error}");
        assert!(Transforms::by_tiles(&stream, 3, 1).is_err() && Transforms::by_tiles(&stream, 3, 11).is_err());
    });
}

/// Bits of `i` in reverse, one after the other.
fn reversed(i: u64, bits: u32) -> u64 {
    (0..bits).fold(0, |r, bit| r << 1 | i >> bit & 1)
}

/// Byte offset, and exponents with either twist, straight from the definitions in kernels/ntt/tile.cuh.
fn place(log_size: u32, pass: Pass, tile: u32, element: u32) -> (u64, u64, u64) {
    let columns = 1u64 << pass.log_columns;
    let block_size = (1u64 << log_size) >> pass.depth;
    let row_size = block_size >> pass.levels;
    let tiles_of_a_block = row_size / columns;
    let (block, tile) = (u64::from(tile) / tiles_of_a_block, u64::from(tile) % tiles_of_a_block);
    let (row, column) = (u64::from(element) / columns, u64::from(element) % columns);
    let index = block * block_size + row * row_size + tile * columns + column;
    let step = row_size * reversed(block, pass.depth);
    (32 * index, step * 2 * row, step * (2 * row + 1))
}

#[test]
fn indices_are_right_at_the_largest_sizes() {
    emulated("ntt::indices_are_right_at_the_largest_sizes", &[], || {
        let stream = stream();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut largest = 0;
        for log_size in [0, 1, 9, 10, 11, 20, 26, 27, 28] {
            for pass in passes(log_size, MAX_LOG_TILE) {
                let (tile, tiles) = (1u32 << pass.log_tile(), 1u32 << (log_size - pass.log_tile()));
                let mut chosen =
                    vec![(0, 0), (tiles - 1, tile - 1), (0, tile - 1), (tiles - 1, 0), (tiles / 2, tile / 2)];
                chosen.extend((0..200).map(|_| (rng.next_u32() % tiles, rng.next_u32() % tile)));
                let found = places(&stream, log_size, pass, &chosen);
                for ((tile, element), found) in chosen.into_iter().zip(found) {
                    let expected = place(log_size, pass, tile, element);
                    assert_eq!(found, expected, "tile {tile}, element {element} of {pass:?} of 2^{log_size}");
                    assert!(expected.0 < 32 << log_size && expected.2 < 2 << log_size);
                    largest = largest.max(found.0);
                }
            }
        }
        assert_eq!(largest, (32 << MAX_LOG_SIZE) - 32);
    });
}

fn places(stream: &Stream, log_size: u32, pass: Pass, chosen: &[(u32, u32)]) -> Vec<(u64, u64, u64)> {
    let count = chosen.len();
    let mut tiles = stream.buffer("tiles", count).unwrap();
    let mut elements = stream.buffer("elements", count).unwrap();
    let (of_tiles, of_elements): (Vec<u32>, Vec<u32>) = chosen.iter().copied().unzip();
    stream.upload("tiles", tiles.view_mut(), &of_tiles).unwrap();
    stream.upload("elements", elements.view_mut(), &of_elements).unwrap();
    let mut bytes = stream.buffer("bytes", count).unwrap();
    let mut exponents = [0, 1].map(|_| stream.buffer("exponents", count).unwrap());
    let [plain, twisted] = &mut exponents;
    let Pass { depth, levels, log_columns } = pass;
    kernels::ntt_places(
        stream,
        Shape::of(count, 64),
        tiles.view(),
        elements.view(),
        bytes.view_mut(),
        plain.view_mut(),
        twisted.view_mut(),
        count as u32,
        log_size,
        depth,
        levels,
        log_columns,
    )
    .unwrap();
    let (mut to_bytes, mut to_exponents) = (vec![0u64; count], [vec![0u32; count], vec![0; count]]);
    stream.download("bytes", bytes.view(), &mut to_bytes).unwrap();
    for (from, to) in exponents.iter().zip(&mut to_exponents) {
        stream.download("exponents", from.view(), to).unwrap();
    }
    (0..count).map(|i| (to_bytes[i], to_exponents[0][i].into(), to_exponents[1][i].into())).collect()
}
