//! The quotient of one proof in the widest arithmetic that this processor has, and in the portable one, alternately.
//!
//! `cargo bench --bench quotient [-- --runs N]`: three rounds by default. 2^22 rows, as a 2 KiB proof has after padding. Without
//! AVX-512 IFMA both are the same code, and the required ratio is not met.

mod common;

use std::process::ExitCode;

use blstrs::Scalar as Fr;
use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::Backend;
use ff::Field;
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

/// The portable code's time by that of the lanes.
const REQUIRED: common::Required = common::Required { time: 3.0, memory: u64::MAX, memory_ratio: 0.0 };

const ROWS: usize = 1 << 22;

fn main() -> ExitCode {
    match common::flag("--child").as_deref() {
        Some("lanes") => measure(&CpuBackend::default()),
        Some("portable") => measure(&PortableCpu::default()),
        Some(other) => panic!("unknown child {other}"),
        None => {
            let runs = common::flag("--runs").map_or(3, |n| n.parse().expect("--runs takes a number"));
            let child = |what: &'static str| move || common::run_child(what);
            return common::compare(runs, ("lanes", &child("lanes")), ("portable", &child("portable")), REQUIRED);
        }
    }
    ExitCode::SUCCESS
}

fn measure(backend: &dyn Backend) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut random = || -> Vec<Fr> { (0..ROWS).map(|_| Fr::random(&mut rng)).collect() };
    let (a, b) = (random(), random());
    common::report_run(|| drop(backend.quotient(&a, &b).expect("quotient")));
}
