//! The native witness of one partition of a fabricated C1 against the circuit's own: witness-only and proving synthesis.
//!
//! `cargo bench --bench witness [-- --size 2KiB --partition 0 --runs 5 --threads 1 --generic true]`. Generic synthesis is run
//! once, and only where asked for: 32 GiB take half a minute and 4 GB for the witness alone, and 100 s and 16 GB with a and b.

mod common;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bellperson::{util_cs::witness_cs::WitnessCS, Circuit, ConstraintSystem};
use blstrs::Scalar as Fr;
use cuzk::c1::{sample, SampleOptions};
use cuzk::circuit::{PoRep, SealProof};
use cuzk::report::Memory;
use cuzk::witness::{porep::Generator, synthesize};

fn main() -> ExitCode {
    let number = |name, default| common::flag(name).map_or(default, |n| n.parse().expect("a number"));
    let (k, runs, threads) = (number("--partition", 0), number("--runs", 5), number("--threads", 1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| run(k, runs, threads));
    ExitCode::SUCCESS
}

fn run(k: usize, runs: usize, threads: usize) {
    let size = common::flag("--size").unwrap_or_else(|| "2KiB".into());
    let proof = match size.as_str() {
        "2KiB" => SealProof::StackedDrg2KiBV1_1,
        "8MiB" => SealProof::StackedDrg8MiBV1_1,
        "512MiB" => SealProof::StackedDrg512MiBV1_1,
        "32GiB" => SealProof::StackedDrg32GiBV1_1,
        "64GiB" => SealProof::StackedDrg64GiBV1_1,
        other => panic!("--size {other}"),
    };
    let c1 = sample(proof, &SampleOptions::default()).expect("sample");
    let porep = PoRep::new(proof).expect("PoRep");
    let (partition, took) = timed(|| porep.partition(&c1.statement, &c1.vanilla, k).expect("partition"));
    println!("{size}, partition {k}, {threads} threads");
    println!("values from vanilla proofs {:9.3} ms", millis(took));
    let (generator, took) = timed(|| Generator::new(&porep.shape()).expect("generator"));
    println!("plans and layout           {:9.3} ms", millis(took));
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let before = anonymous();
            let (witness, took) = timed(|| generator.generate(&partition).expect("witness"));
            let layout = witness.layout();
            println!(
                "native                     {:9.3} ms  {} variables, {} elements, {:.1} MB, memory + {:.1} MB",
                millis(took),
                layout.aux(),
                layout.wide(),
                witness.bytes() as f64 / 1e6,
                anonymous().saturating_sub(before) as f64 / 1e6,
            );
            took
        })
        .collect();
    times.sort();
    println!("native, median             {:9.3} ms", millis(times[times.len() / 2]));
    if common::flag("--generic").is_some() {
        let circuit = || porep.circuit(&c1.statement, &c1.vanilla, k).expect("circuit");
        let circuits = (circuit(), circuit());
        let (_, took) = timed(|| circuits.0.synthesize(&mut WitnessCS::<Fr>::new()));
        println!("witness-only synthesis     {:9.3} ms", millis(took));
        let (_, took) = timed(|| synthesize(circuits.1));
        println!("proving synthesis          {:9.3} ms", millis(took));
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed())
}

fn millis(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn anonymous() -> u64 {
    Memory::now().anonymous.unwrap_or(0)
}
