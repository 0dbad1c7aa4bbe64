//! `cuzk prove`: everything that can fail early comes first; nothing is written that was not verified.

use std::time::Instant;

use super::c1_file::C1File;
use super::Sink;
use crate::backend::cpu::CpuBackend;
use crate::cli::options::{Prove, TimingsFormat};
use crate::cli::{terminal, Terminal};
use crate::error::{Error, Fault, OrFault, Result};
use crate::pipeline::proof_file::{ProofFile, UsedParameters};
use crate::pipeline::Prover;
use crate::report::{MemorySampler, Phase, Timings};
use crate::srs::{Origin, Srs};

pub fn run(options: &Prove, terminal: &Terminal) -> Result<()> {
    let (timings, memory) = (Timings::default(), MemorySampler::start());
    let progress = terminal.progress();
    let sink = Sink::check(&options.destination)?;

    let start = Instant::now();
    let file = C1File::read(&options.input, &options.read)?;
    timings.add(Phase::Read, start.elapsed(), file.bytes);
    if options.check_c1 {
        check_vanilla(&file, &timings)?;
    }
    let start = Instant::now();
    let srs = options.parameters.open(&file.porep, &progress)?;
    timings.add(Phase::Parameters, start.elapsed(), srs.hashed_bytes());
    if srs.origin() == Origin::Development {
        terminal.warn(&format!("{}: development parameters; the proof proves nothing", srs.path().display()));
    }

    let backend = CpuBackend;
    let prover = Prover { porep: &file.porep, srs: &srs, backend: &backend, timings: &timings, progress: &progress };
    let proof = prover
        .prove(&file.c1.statement, &file.c1.vanilla)
        .map_err(|e| advised(e, options.check_c1).context(file.name.clone()))?;

    let encoded = describe(&file, &srs, proof).encode(options.format)?;
    timings.time(Phase::Write, encoded.len() as u64, || sink.write(&encoded))?;
    report(options.timings, &timings, &memory, &sink, terminal)
}

fn check_vanilla(file: &C1File, timings: &Timings) -> Result<()> {
    let challenges = file.porep.partitions() * file.porep.challenges_per_partition();
    let check = || file.porep.check_vanilla(&file.c1.statement, &file.c1.vanilla);
    timings.time(Phase::Check, challenges as u64, check).map_err(|e| e.context(file.name.clone()))
}

/// What to do about a proof that was made and does not verify, in front of the error that says so.
fn advised(error: Error, checked: bool) -> Error {
    match (error.fault(), checked) {
        (Fault::Unverified, true) => error.context(
            "the C1 file is sound, so parameters or machine are not: run again with --recheck, and if that does not help \
             suspect memory or CPU",
        ),
        (Fault::Unverified, false) => error.context(
            "the C1 file was not checked: run again without --no-check-c1; if it is sound, with --recheck for the parameters, \
             and then suspect memory or CPU",
        ),
        _ => error,
    }
}

fn describe(file: &C1File, srs: &Srs, proof: Vec<u8>) -> ProofFile {
    ProofFile {
        registered_proof: file.c1.statement.proof,
        miner: file.c1.miner,
        sector: file.c1.sector,
        comm_r: file.c1.statement.comm_r,
        comm_d: file.c1.statement.comm_d,
        proof,
        parameters: UsedParameters {
            file: file.porep.identity().params,
            digest: srs.digest().into(),
            development: srs.origin() == Origin::Development,
        },
    }
}

/// Standard output carries one result: the proof itself, or the timings as JSON, or the name of the proof file.
fn report(
    format: TimingsFormat,
    timings: &Timings,
    memory: &MemorySampler,
    sink: &Sink,
    terminal: &Terminal,
) -> Result<()> {
    if format == TimingsFormat::Table {
        terminal.block(&timings.table(&memory.peak()));
    }
    let name = sink.path().map(|path| path.display().to_string());
    match (format, name) {
        (TimingsFormat::Json, name) => {
            let mut object = timings.json(&memory.peak());
            if let (Some(object), Some(name)) = (object.as_object_mut(), &name) {
                object.insert("proof_file".into(), name.as_str().into());
            }
            let text = serde_json::to_string_pretty(&object).or_fault(Fault::Internal, || "timings".into())? + "\n";
            if name.is_some() {
                return terminal::print(&text);
            }
            terminal.requested(&text);
            Ok(())
        }
        (_, Some(name)) => terminal::print(&format!("{name}\n")),
        (_, None) => Ok(()),
    }
}
