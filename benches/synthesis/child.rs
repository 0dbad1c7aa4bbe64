//! What is measured, each in a process of its own.

use std::path::Path;
use std::time::Instant;

use cuzk::bench::{daemon, proving, Made};
use cuzk::c1::{self, C1};
use cuzk::circuit::PoRep;
use cuzk::constraints::{cache, Constraints};
use cuzk::error::{Error, Fault, OrFault, Result};
use cuzk::report::MemorySampler;
use cuzk::witness::porep::Generator;

/// The C1 file in the folder, and the constraints beside it.
pub const C1_FILE: &str = "c1.json";
const CONSTRAINTS: &str = "constraints";
/// How a line with a figure begins: `KEY=VALUE` follows.
pub const RESULT: &str = "bench-result ";

/// Short work is done so often; the median counts.
const RUNS: usize = 7;

fn put(key: &str, value: impl std::fmt::Display) {
    println!("{RESULT}{key}={value}");
}

fn digests(made: &Made) -> String {
    let digests = made.digests();
    hex::encode([&digests.values[..], &digests.rows.unwrap_or_default()].concat())
}

/// Does what `name` says and prints its figures.
///
/// # Errors
/// Those of the work, as text.
pub fn run(name: &str, folder: &Path) -> std::result::Result<(), String> {
    let threads = if name == "check" { 2 } else { 1 };
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(|e| e.to_string())?;
    let work = match name {
        "constraints" => constraints,
        "native" => native,
        "compact" => compact,
        "all" => all,
        "check" => check,
        "daemon" => daemon_way,
        "bellperson" => bellperson,
        other => return Err(format!("--child {other}")),
    };
    work(folder).map_err(|e| e.to_string())
}

/// The file, read; what is measured begins after that.
fn subject(folder: &Path) -> Result<(PoRep, C1)> {
    let c1 = c1::read(C1_FILE, content(folder)?, &Default::default())?;
    Ok((PoRep::new(c1.statement.proof)?, c1))
}

fn content(folder: &Path) -> Result<Vec<u8>> {
    std::fs::read(folder.join(C1_FILE)).or_fault(Fault::Input, || "the C1 file".into())
}

/// Times `work`, several times, on what `prepare` makes; each result is dropped before the next. The median, and the peak of this
/// process's memory, are printed.
fn measure<P, T>(
    runs: usize,
    mut prepare: impl FnMut() -> Result<P>,
    mut work: impl FnMut(P) -> Result<T>,
) -> Result<T> {
    let memory = MemorySampler::start();
    let mut seconds = Vec::with_capacity(runs);
    let last = loop {
        let prepared = prepare()?;
        let start = Instant::now();
        let made = work(prepared)?;
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == runs {
            break made;
        }
    };
    put("peak", memory.peak().anonymous.unwrap_or(0));
    put("seconds", median(seconds));
    Ok(last)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn bellperson(folder: &Path) -> Result<()> {
    let (porep, c1) = subject(folder)?;
    let synthesize = |circuit| proving::synthesize(circuit).or_fault(Fault::Input, || "synthesis".into());
    let (assignment, c) = measure(1, || porep.circuit(&c1.statement, &c1.vanilla, 0), synthesize)?;
    put("digest", digests(&Made::Assignment(Box::new(assignment), c)));
    Ok(())
}

/// The whole partition's witness; then the matrices of one challenge, with its own witness.
fn daemon_way(folder: &Path) -> Result<()> {
    let (porep, c1) = subject(folder)?;
    let synthesize = |circuit| daemon::witness(circuit).or_fault(Fault::Input, || "synthesis".into());
    drop(measure(1, || porep.circuit(&c1.statement, &c1.vanilla, 0), synthesize)?);
    let one = || porep.circuit_of_challenges(&c1.statement, &c1.vanilla, 0, 1);
    let matrices = daemon::Matrices::record(one()?).or_fault(Fault::Input, || "recording".into())?;
    let witness = synthesize(one()?)?;
    let evaluate = |_| {
        let start = Instant::now();
        drop(matrices.evaluate(&witness));
        start.elapsed().as_secs_f64()
    };
    put("csr", median((0..3).map(evaluate).collect()));
    put("matrices", matrices.bytes());
    put("challenges", porep.challenges_per_partition());
    Ok(())
}

fn native(folder: &Path) -> Result<()> {
    let (porep, c1) = subject(folder)?;
    let (generator, partition) = (Generator::new(&porep.shape())?, porep.partition(&c1.statement, &c1.vanilla, 0)?);
    let witness = measure(RUNS, || Ok(()), |()| generator.generate(&partition))?;
    put("bytes", witness.bytes());
    Ok(())
}

/// The witness, then a and b.
fn compact(folder: &Path) -> Result<()> {
    let (porep, c1) = subject(folder)?;
    let (generator, partition) = (Generator::new(&porep.shape())?, porep.partition(&c1.statement, &c1.vanilla, 0)?);
    let constraints = load(folder)?;
    let work = |()| {
        let witness = generator.generate(&partition)?;
        let rows = constraints.evaluate(&witness)?;
        Ok((witness, rows))
    };
    let (witness, rows) = measure(RUNS, || Ok(()), work)?;
    put("digest", digests(&Made::Compact(Box::new(witness), Box::new(rows))));
    Ok(())
}

/// The witnesses of all partitions, from the vanilla proofs.
fn all(folder: &Path) -> Result<()> {
    let (porep, c1) = subject(folder)?;
    let work = |()| {
        let generator = Generator::new(&porep.shape())?;
        let witness = |k| generator.generate(&porep.partition(&c1.statement, &c1.vanilla, k)?);
        (0..porep.partitions()).map(witness).collect::<Result<Vec<_>>>()
    };
    let witnesses = measure(3, || Ok(()), work)?;
    put("count", witnesses.len());
    Ok(())
}

fn check(folder: &Path) -> Result<()> {
    let mut read = Vec::new();
    let work = |()| {
        let start = Instant::now();
        let (porep, c1) = subject(folder)?;
        read.push(start.elapsed().as_secs_f64());
        porep.check_vanilla(&c1.statement, &c1.vanilla)
    };
    measure(3, || Ok(()), work)?;
    put("read", median(read));
    Ok(())
}

fn constraints(folder: &Path) -> Result<()> {
    let (porep, _) = subject(folder)?;
    let built = measure(1, || Ok(porep.blank()), Constraints::build)?;
    put("bytes", built.bytes());
    let path = folder.join(CONSTRAINTS);
    put("file", cache::save(&built, &path, "bench").or_fault(Fault::Output, || "constraints".into())?);
    let load = |_| {
        let start = Instant::now();
        load(folder).map(|_| start.elapsed().as_secs_f64())
    };
    put("load", median((0..RUNS).map(load).collect::<Result<_>>()?));
    Ok(())
}

fn load(folder: &Path) -> Result<Constraints> {
    let message = |reason: Option<String>| reason.unwrap_or_else(|| "no file of constraints".into());
    let loaded = cache::load(&folder.join(CONSTRAINTS), "bench");
    loaded.map(|(constraints, _)| constraints).map_err(|reason| Error::new(Fault::Internal, message(reason)))
}
