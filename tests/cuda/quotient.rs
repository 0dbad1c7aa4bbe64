//! The quotient: against the schoolbook's at small sizes, against the CPU's at larger ones.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use cuzk::backend::cpu::ntt::bit_reverse;
use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::cuda::ntt::{Transforms, MAX_LOG_TILE};
use cuzk::backend::cuda::quotient::{coefficients, quotient, upload_rows};
use cuzk::backend::memory::Memory;
use cuzk::backend::reference::Reference;
use cuzk::backend::Backend;
use cuzk::error::Fault;
use cuzk::gpu::{Gpu, Stream};
use ff::Field;

use super::running::{emulated, in_all_orders};
use super::vectors::{download, patterns, random, same, upload};

fn stream() -> Stream {
    Gpu::open(0).unwrap().stream().unwrap()
}

/// The device's quotient of as many rows as `a` and `b` have, by tiles of that size, held to its order there and to `expected`.
#[track_caller]
fn check(stream: &Stream, log_tile: u32, a: &Vec<Fr>, b: &Vec<Fr>, expected: &[Fr], what: &str) {
    let log_size = a.len().max(1).next_power_of_two().ilog2();
    let transforms = Transforms::by_tiles(stream, log_size, log_tile).unwrap();
    let [a, b] = [a, b].map(|rows| upload_rows(stream, "rows", rows, log_size).unwrap());
    let h = quotient(stream, &transforms, a, b).unwrap();
    let there = download(stream, &h);
    assert!(there.last() == Some(&Fr::ZERO), "{what}: the last coefficient");
    for (i, coefficient) in expected.iter().enumerate() {
        assert!(there[bit_reverse(i, log_size)] == *coefficient, "{what}: coefficient {i}");
    }
    same(&coefficients(stream, h.view(), &Arc::<Memory>::default()).unwrap(), expected, what);
}

#[test]
fn quotients_are_those_of_the_schoolbook() {
    in_all_orders("quotient::quotients_are_those_of_the_schoolbook", || {
        let stream = stream();
        for rows in [0, 1, 2, 3, 4, 5, 8, 13, 16, 31, 33] {
            let patterns = patterns(rows);
            for (i, (a_name, a)) in patterns.iter().enumerate() {
                let (b_name, b) = &patterns[(i * 3 + rows) % patterns.len()];
                let expected = Reference.quotient(a, b).unwrap();
                for log_tile in [2, 3, MAX_LOG_TILE] {
                    let what = format!("{rows} rows, {a_name} times {b_name}, tiles of 2^{log_tile}");
                    check(&stream, log_tile, a, b, &expected, &what);
                }
            }
        }
    });
}

#[test]
fn quotients_of_all_sizes_are_the_cpus() {
    emulated("quotient::quotients_of_all_sizes_are_the_cpus", &[("EMULATOR_STREAMS", "lazy")], || {
        let stream = stream();
        let backends: [&dyn Backend; 2] = [&CpuBackend::default(), &PortableCpu::default()];
        for rows in [64, 100, 500, 1000, 1024, 1025, 2048, 4095, 5000] {
            let (a, b) = (random(rows, 1), random(rows, 2));
            for log_tile in [5, MAX_LOG_TILE] {
                let expected = backends[log_tile as usize % 2].quotient(&a, &b).unwrap();
                check(&stream, log_tile, &a, &b, &expected, &format!("{rows} rows, tiles of 2^{log_tile}"));
            }
        }
    });
}

#[test]
fn rows_of_the_host_are_followed_by_zeros() {
    emulated("quotient::rows_of_the_host_are_followed_by_zeros", &[], || {
        let stream = stream();
        for (rows, log_size) in [(0, 0), (0, 3), (1, 0), (5, 3), (8, 3), ((1 << 16) + 7, 17), (1 << 17, 17)] {
            // What the memory held before.
            drop(upload(&stream, &vec![Fr::ONE; 1 << log_size]));
            let mut expected = random(rows, rows as u64);
            let vector = upload_rows(&stream, "rows", &expected, log_size).unwrap();
            expected.resize(1 << log_size, Fr::ZERO);
            same(&download(&stream, &vector), &expected, &format!("{rows} rows"));
        }
    });
}

#[test]
fn vectors_of_other_sizes_are_refused() {
    emulated("quotient::vectors_of_other_sizes_are_refused", &[], || {
        let stream = stream();
        let transforms = Transforms::new(&stream, 2).unwrap();
        for (a, b) in [(3, 4), (4, 3), (4, 8), (8, 8)] {
            let [a, b] = [a, b].map(|len| upload(&stream, &random(len, 1)));
            assert_eq!(quotient(&stream, &transforms, a, b).unwrap_err().fault(), Fault::Internal);
        }
    });
}
