//! `cuzk bench partition`.

use crate::bench::partition::{host_bytes, KnownBases, Tiles, Work};
use crate::c1::{self, SampleOptions};
use crate::circuit::proof_type::sector_size_name;
use crate::circuit::PoRep;
use crate::cli::options::{CircuitOf, Partition};
use crate::cli::run::c1_file::C1File;
use crate::cli::run::choose::choose;
use crate::cli::run::machine::{budget, Budgeted};
use crate::cli::{terminal, Terminal};
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::groth16::Lengths;
use crate::pipeline::compiled::Compiled;
use crate::pipeline::device::Device;
use crate::pipeline::stages;
use crate::report::partition::PartitionReport;
use crate::report::units::bytes;
use crate::report::{Memory, MemorySampler, Timings};

const TILES: Tiles = Tiles::LARGE;

pub fn run(options: &Partition, threads: usize, terminal: &Terminal) -> Result<()> {
    let memory = MemorySampler::start();
    let (device, choice) = choose(options.device, threads)?;
    let Device::Backend { backend, threads: pool } = &device else {
        fail!(Fault::Internal, "{}: a device that computes nothing", choice.name);
    };
    let (backend, progress, timings) = (backend.as_ref(), terminal.progress(), Timings::default());
    let C1File { c1, porep } = subject(&options.circuit)?;
    let compiled = Compiled::new(&porep, options.cache.as_deref(), &progress)?;
    let circuit = &compiled.circuit;
    let planned_bytes = plan(options, &compiled, host_bytes(backend, circuit, pool.current_num_threads()))?;
    let values = stages::circuit(&porep, &compiled, &c1.statement, &c1.vanilla, 0, &timings)?;
    drop(c1);
    let witness = stages::synthesis(&compiled, values, 0, &timings)?;
    let bases = KnownBases::new(Lengths::of(circuit), TILES)?;
    let work = Work { backend, threads: pool, circuit, witness: &witness };
    let found = work.measure(&bases, &timings, &progress).map_err(|error| match error.fault() {
        // Lengths that do not fit each other.
        Fault::Internal => compiled.doubt(error),
        _ => error,
    })?;
    let report = PartitionReport {
        sector: sector_size_name(porep.sector_bytes()),
        partitions: porep.partitions(),
        rows: circuit.rows(),
        domain: circuit.domain(),
        threads,
        device: choice,
        checks: found.checks,
        check_time: found.time,
        tiles: [TILES.g1, TILES.g2],
        tile_bytes: TILES.bytes(),
        planned_bytes,
    };
    say(&report, options.json, &timings, &memory.peak())?;
    report.verdict()
}

/// The C1 output that was named, or a fabricated one.
fn subject(circuit: &CircuitOf) -> Result<C1File> {
    match circuit {
        CircuitOf::C1File { input, read } => C1File::read(input, read),
        CircuitOf::Proof(proof) => {
            Ok(C1File { c1: c1::sample(*proof, &SampleOptions::default())?, porep: PoRep::new(*proof)? })
        }
    }
}

/// Bytes that all of it takes, of which `work` for the device's.
///
/// # Errors
/// `Usage`: there are not so many.
fn plan(options: &Partition, compiled: &Compiled, work: u64) -> Result<u64> {
    let mapped = KnownBases::mapped_bytes(Lengths::of(&compiled.circuit));
    let Budgeted { own, left } = budget(options.memory, mapped)?;
    let (witness, tiles) = (compiled.witness_bytes(), TILES.bytes());
    let need = work + witness + tiles;
    if need > left {
        fail!(
            Fault::Usage,
            "the partition needs {} ({} for its witness, {} for the device's work, {} for the bases), and the budget (--memory, or what \
             is available, less what cuzk itself takes) has {}; {} MiB are missing",
            bytes(need),
            bytes(witness),
            bytes(work),
            bytes(tiles),
            bytes(left),
            (need - left).div_ceil(1 << 20)
        );
    }
    Ok(own + need)
}

fn say(report: &PartitionReport, json: bool, timings: &Timings, peak: &Memory) -> Result<()> {
    if !json {
        return terminal::print(&report.table(timings, peak));
    }
    let text =
        serde_json::to_string_pretty(&report.json(timings, peak)).or_fault(Fault::Internal, || "the figures".into())?;
    terminal::print(&(text + "\n"))
}
