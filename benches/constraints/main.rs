//! What storing repetition once buys, and what is left of it where nothing repeats.
//!
//! `cargo bench --bench constraints`: circuits of a million rows of which a share repeats, against the same rows in CSR form,
//! one thread each.
//!
//! `cargo bench --bench constraints -- FILE [--one-challenge] [--check]`: the circuit of a C1 file, or of its first challenge.
//! Its constraints are taken from the blank circuit, the witness of partition 0 comes from running the circuit with values, and
//! a and b are evaluated on one thread and on all. `--check` then compares a * b with C in every row. 32 GiB takes two minutes
//! and 0.4 GB.

mod csr;
mod partial;
mod witness;

use std::time::Instant;

use csr::Csr;
use cuzk::circuit::{PartitionCircuit, PoRep, VanillaProofs};
use cuzk::constraints::{cache, first_unsatisfied, record, Arithmetic, Constraints, RowValues};
use cuzk::report::MemorySampler;
use cuzk::witness::CompactWitness;
use partial::Partial;
use rayon::ThreadPoolBuilder;

/// Times each thing is evaluated; the median counts.
const RUNS: usize = 7;

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    match file {
        Some(file) => c1_file(&file),
        None => [1000, 999, 990, 900, 500, 0].into_iter().for_each(degrade),
    }
}

/// Median of the seconds that a few runs take, after one that does not count.
fn median(mut work: impl FnMut()) -> f64 {
    work();
    let mut seconds: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[RUNS / 2]
}

/// Seconds to evaluate into memory that is there.
fn evaluate(constraints: &Constraints, witness: &CompactWitness, threads: usize, arithmetic: Arithmetic) -> f64 {
    let mut values = <[RowValues; 2]>::default();
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| median(|| constraints.evaluate_into(witness, arithmetic, &mut values).expect("the circuit's own")))
}

/// One line: a circuit of which `permille` repeats.
fn degrade(permille: u32) {
    let circuit = Partial { rows: 1_000_000, permille };
    let start = Instant::now();
    let constraints = Constraints::build(circuit).expect("constraints");
    let build = start.elapsed().as_secs_f64();
    let (inputs, aux) = witness::values(circuit);
    let compact = CompactWitness::from_values(inputs.clone(), &aux).expect("witness");
    let csr = Csr::new(&record(circuit).expect("rows"));
    let rows = constraints.tables().rows as f64;
    let ours = evaluate(&constraints, &compact, 1, Arithmetic::detect()) * 1e9 / rows;
    let theirs = median(|| _ = csr.evaluate(&inputs, &aux)) * 1e9 / rows;
    println!(
        "{:5.1} % repeats: {:9.4} bytes a row (CSR {:.1}), built in {:4.0} ns a row, evaluated in {:6.2} ns a row (CSR {:.1})",
        f64::from(permille) / 10.0,
        constraints.bytes() as f64 / rows,
        csr.bytes() as f64 / rows,
        build * 1e9 / rows,
        ours,
        theirs
    );
}

fn c1_file(file: &str) {
    let content = std::fs::read(file).expect("the C1 file can be read");
    let mut c1 = cuzk::c1::read(file, content, &Default::default()).expect("a C1 file");
    let porep = PoRep::new(c1.statement.proof).expect("a supported proof type");
    let part = std::env::args().any(|argument| argument == "--one-challenge");
    if part {
        match &mut c1.vanilla {
            VanillaProofs::Base(partitions) => partitions[0].truncate(1),
            VanillaProofs::Sub8(partitions) => partitions[0].truncate(1),
            VanillaProofs::Top2(partitions) => partitions[0].truncate(1),
        }
    }
    let assigned = || porep.circuit(&c1.statement, &c1.vanilla, 0).expect("partition 0");
    let circuit = || if part { assigned() } else { porep.blank() };
    let constraints = build(circuit());
    let start = Instant::now();
    let witness = witness::compact(assigned());
    println!(
        "witness: {} bits, {} elements, {} bytes, by running the circuit: {:.1} s",
        witness.layout().aux() - witness.layout().wide(),
        witness.layout().wide(),
        witness.bytes(),
        start.elapsed().as_secs_f64()
    );
    let rows = constraints.tables().rows as f64;
    let all = std::thread::available_parallelism().map_or(1, |n| n.get());
    for (threads, arithmetic) in
        [(1, Arithmetic::Avx512), (1, Arithmetic::Portable), (all, Arithmetic::Avx512), (all, Arithmetic::Portable)]
    {
        let seconds = evaluate(&constraints, &witness, threads, arithmetic);
        println!("a and b, {threads} threads, {arithmetic:?}: {seconds:.3} s, {:.2} ns a row", seconds * 1e9 / rows);
    }
    let values = constraints.evaluate(&witness).expect("the circuit's own");
    let [a, b] = &values;
    println!(
        "a and b take {} bytes, {} and {} elements",
        a.bytes() + b.bytes(),
        a.elements().len(),
        b.elements().len()
    );
    println!("c = a * b: {:.3} s", median(|| _ = RowValues::product(a, b)));
    if std::env::args().any(|argument| argument == "--check") {
        let start = Instant::now();
        let found = first_unsatisfied(circuit, &witness, &values).expect("the circuit's own");
        println!("check against C: {:?}, {:.1} s", found, start.elapsed().as_secs_f64());
    }
}

/// Takes the constraints from the circuit, saves and loads them.
fn build(circuit: PartitionCircuit) -> Constraints {
    let memory = MemorySampler::start();
    let before = memory.peak().anonymous.unwrap_or(0);
    let start = Instant::now();
    let constraints = Constraints::build(circuit).expect("constraints");
    let (seconds, peak) = (start.elapsed().as_secs_f64(), memory.peak().anonymous.unwrap_or(0));
    let tables = constraints.tables();
    println!(
        "{} rows, {} distinct; {} chunks, {} of {} superchunks, {} tiles, {} groups, {} field rows of {} terms",
        tables.rows,
        tables.distinct_rows,
        tables.chunks(),
        tables.superchunks(),
        tables.instances.len(),
        tables.tiles.len(),
        tables.groups.len(),
        tables.field_rows(),
        tables.field_terms.len()
    );
    println!(
        "built in {seconds:.1} s, {} bytes, peak {:.0} MB anonymous, {:.0} MB before",
        constraints.bytes(),
        peak as f64 / 1e6,
        before as f64 / 1e6
    );
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("constraints");
    let bytes = cache::save(&constraints, &path, "bench").expect("saved");
    let load = median(|| _ = cache::load(&path, "bench").expect("loaded"));
    let start = Instant::now();
    let densities = constraints.densities();
    println!(
        "{bytes} bytes on disk, loaded in {:.1} ms; densities in {:.2} s: A {}, B {} and {} inputs",
        load * 1e3,
        start.elapsed().as_secs_f64(),
        densities.a_aux.count_ones(),
        densities.b_aux.count_ones(),
        densities.b_input.count_ones()
    );
    constraints
}
