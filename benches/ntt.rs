//! Transforms of a domain over Fr, ours and the peers', in turn in one run.
//!
//! `cargo bench --bench ntt [-- --runs N] [--sizes 10,12,14,16,18,20,22,24]`: three rounds by default. Ours are only ever made six at a time, of
//! which a quotient consists, with what is between them: a transform is counted as a sixth of that. The peers' is their plain forward
//! transform, no coset. Everybody has all cores. Beside them stands what the processor's multiplications alone would take, by the
//! measured cost of one: half the size times its logarithm of them.
//!
//! Fails where 2^22 misses the required ratio to arkworks.

mod common;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ark_ff::PrimeField as _;
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use blstrs::Scalar as Fr;
use cuzk::backend::cpu::ntt::root_of_unity;
use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::Backend;
use ec_gpu_gen::fft_cpu::{parallel_fft, serial_fft};
use ec_gpu_gen::threadpool::Worker;
use ff::Field;
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

/// The size at which ratios to arkworks are required, and which: of the lanes and of portable code.
const REQUIRED: (u32, f64, f64) = (22, 6.0, 1.5);
/// Transforms of a quotient.
const TRANSFORMS: u32 = 6;

fn main() -> ExitCode {
    let runs = common::flag("--runs").map_or(3, |n| n.parse().expect("--runs takes a number"));
    let sizes = common::flag("--sizes").unwrap_or_else(|| "10,12,14,16,18,20,22,24".into());
    let names = ["cuzk", "portable", "arkworks", "bellperson"];
    let (portable, lanes) = (portable_product(), lanes_product());
    let threads = rayon::current_num_threads();
    let of_lanes = lanes.map_or_else(String::new, |lanes| format!(", {:.2} ns in lanes", lanes * 1e9));
    println!("a multiplication in the scalar field: {:.1} ns portable{of_lanes}; {threads} threads", portable * 1e9);
    println!("a transform, median of {runs} rounds; in brackets the time of each by that of cuzk");
    println!("{:<8}{}{:>12}", "domain", names.map(|name| format!("{name:>18}")).concat(), "counted");
    let mut met = true;
    for log_size in sizes.split(',').map(|n| n.parse::<u32>().expect("--sizes takes logarithms")) {
        let medians = medians(log_size, runs);
        let cells = medians.map(|m| {
            format!(
                "{:>18}",
                format!("{:.3} ms ({:.2})", m.as_secs_f64() * 1e3, m.as_secs_f64() / medians[0].as_secs_f64())
            )
        });
        let products = f64::from(log_size) * f64::from(1 << log_size) / 2.0;
        let counted = format!("{:.3} ms", products * lanes.unwrap_or(portable) * 1e3 / threads as f64);
        println!("{:<8}{}{counted:>12}", format!("2^{log_size}"), cells.concat());
        let (required_at, lanes, portable) = REQUIRED;
        if log_size == required_at {
            let lanes = if of_lanes.is_empty() { portable } else { lanes };
            let ratio = |ours: usize| medians[2].as_secs_f64() / medians[ours].as_secs_f64();
            met &= ratio(0) >= lanes && ratio(1) >= portable;
            let reached = format!("{:.2} and {:.2}", ratio(0), ratio(1));
            println!("{:<8}  required: {lanes} and {portable} times arkworks; reached {reached}", "");
        }
    }
    if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

const PRODUCTS: u32 = 1 << 22;

/// Seconds of a multiplication by blst, of which four go on at a time.
fn portable_product() -> f64 {
    let y = Fr::from(3);
    let mut x = [y; 4];
    let time = time(|| (0..PRODUCTS / 4).for_each(|_| x.iter_mut().for_each(|x| *x *= y)));
    std::hint::black_box(x);
    time.as_secs_f64() / f64::from(PRODUCTS)
}

/// The same in lanes, an eighth of that of eight at once.
#[cfg(target_arch = "x86_64")]
fn lanes_product() -> Option<f64> {
    cuzk::backend::cpu::ifma::time_of_scalar_products(PRODUCTS / 8).map(|time| time.as_secs_f64() / f64::from(PRODUCTS))
}

#[cfg(not(target_arch = "x86_64"))]
fn lanes_product() -> Option<f64> {
    None
}

fn medians(log_size: u32, runs: usize) -> [Duration; 4] {
    let size = 1 << log_size;
    let mut rng = ChaCha20Rng::seed_from_u64(u64::from(log_size));
    let mut random = || -> Vec<Fr> { (0..size).map(|_| Fr::random(&mut rng)).collect() };
    let (a, b) = (random(), random());
    // As from one partition to the next, memory stays.
    let (lanes, portable) = (CpuBackend::default(), PortableCpu::default());
    let quotient = |backend: &dyn Backend| drop(std::hint::black_box(backend.quotient(&a, &b).expect("a quotient")));
    let domain = Radix2EvaluationDomain::<ark_bls12_381::Fr>::new(size).expect("a domain");
    let mut theirs: Vec<_> = a.iter().map(|x| ark_bls12_381::Fr::from_le_bytes_mod_order(&x.to_bytes_le())).collect();
    let (worker, omega, mut values) = (Worker::new(), root_of_unity(log_size), a.clone());
    let mut bellperson = || {
        let log_threads = worker.log_num_threads();
        if log_size <= log_threads {
            serial_fft(&mut values, &omega, log_size);
        } else {
            parallel_fft(&mut values, &worker, &omega, log_size, log_threads);
        }
    };
    let mut times: [Vec<Duration>; 4] = Default::default();
    // One round beforehand: memory.
    for round in 0..=runs {
        let taken = [
            time(|| quotient(&lanes)) / TRANSFORMS,
            time(|| quotient(&portable)) / TRANSFORMS,
            time(|| domain.fft_in_place(&mut theirs)),
            time(&mut bellperson),
        ];
        if round > 0 {
            times.iter_mut().zip(taken).for_each(|(times, taken)| times.push(taken));
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
