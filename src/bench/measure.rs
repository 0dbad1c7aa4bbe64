//! Strategies measured in turn: once for memory, allocations and equal results, then again and again for time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::agreement::Agreement;
use super::allocations::Counter;
use super::clock;
use super::kinds::{Kind, Split};
use super::sizes::Counts;
use super::strategy::{strategies, Run, Strategy, Subject, Synthesis};
use crate::circuit::proof_type::sector_size_name;
use crate::error::Result;
use crate::report::comparison::{Comparison, Cost, Entry, Part, Sample};
use crate::report::units::count;
use crate::report::{Memory, MemorySampler, Progress, Task, Unit};
use crate::{error::Fault, fail};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Partitions to synthesize, from the first; at the same time, as far as there are threads.
    pub partitions: usize,
    /// Rounds for the time.
    pub runs: usize,
    /// Whether to spend one more run of each on memory, allocations and the comparison of results.
    pub cost: bool,
    /// Strategies; empty for all.
    pub names: Vec<&'static str>,
    /// Folder in which circuits' constraints are kept; `None` to take them from the circuit each time.
    pub cache: Option<PathBuf>,
}

/// Measures the strategies side by side: in each round every one of them once.
///
/// # Errors
/// `Usage` for more partitions than there are; those of the circuit; `Internal` where two strategies made different things.
pub fn compare(subject: &Subject<'_>, plan: &Plan, progress: &Progress) -> Result<Comparison> {
    let there = subject.porep.partitions();
    if plan.partitions > there {
        fail!(Fault::Usage, "--partitions {}: the sector has {there}", plan.partitions);
    }
    let counts = Counts::of_partition(subject)?;
    let strategies = strategies(subject, &counts, plan, progress)?;
    let rounds = plan.runs + usize::from(plan.cost);
    let task = progress.task("synthesizing", (rounds * strategies.len()) as u64, Unit::Runs);
    let mut entries: Vec<Entry> = strategies.iter().map(|s| entry(s.as_ref(), plan, &counts)).collect();
    let mut notes = Vec::new();
    if plan.cost {
        notes.extend(costs(subject, plan, &counts, &strategies, &mut entries, &task)?);
    }
    for _ in 0..plan.runs {
        for (strategy, entry) in strategies.iter().zip(&mut entries) {
            let (wall, runs) = once(strategy.as_ref(), subject, plan.partitions)?;
            entry.samples.push(sample(wall, &runs));
            entry.parts = parts(&runs);
            task.advance(1);
        }
    }
    task.finish();
    Ok(Comparison { entries, notes, ..described(subject, plan, &counts) })
}

fn entry(strategy: &dyn Strategy, plan: &Plan, counts: &Counts) -> Entry {
    let items = counts.values() * plan.partitions as u64;
    Entry { kept_bytes: strategy.kept_bytes(), ..Entry::new(strategy.name(), &strategy.meaning(), items) }
}

/// One synthesis of all partitions, and what it made.
fn once(strategy: &dyn Strategy, subject: &Subject<'_>, partitions: usize) -> Result<(Duration, Vec<Run>)> {
    let prepared = (0..partitions).map(|k| strategy.prepare(subject, k)).collect::<Result<Vec<_>>>()?;
    begin(prepared)
}

fn begin(prepared: Vec<Synthesis<'_>>) -> Result<(Duration, Vec<Run>)> {
    let start = Instant::now();
    let runs = prepared.into_par_iter().map(clock::synthesis).collect::<Result<Vec<_>>>()?;
    Ok((start.elapsed(), runs))
}

fn split(runs: &[Run]) -> Split {
    runs.iter().fold(Split::default(), |sum, run| sum.plus(&run.split))
}

fn sample(wall: Duration, runs: &[Run]) -> Sample {
    let split = split(runs);
    Sample { wall, parts: Kind::ALL.map(|kind| split.time(kind)).to_vec() }
}

fn parts(runs: &[Run]) -> Vec<Part> {
    let split = split(runs);
    Kind::ALL.map(|kind| Part { name: kind.name(), items: split.values(kind) }).to_vec()
}

/// One run of each strategy with all counters on, and what they made compared: the answer says what. The time is not looked at.
fn costs(
    subject: &Subject<'_>,
    plan: &Plan,
    counts: &Counts,
    strategies: &[Box<dyn Strategy>],
    entries: &mut [Entry],
    task: &Task,
) -> Result<Option<String>> {
    let mut agreement = Agreement::among(strategies.len());
    for (strategy, entry) in strategies.iter().zip(entries) {
        let prepared = (0..plan.partitions).map(|k| strategy.prepare(subject, k)).collect::<Result<Vec<_>>>()?;
        let (cost, runs) = with_counters(|| begin(prepared));
        entry.cost = Some(cost);
        let (_, runs) = runs?;
        if runs.iter().any(|run| run.made.values() != counts.values()) {
            fail!(Fault::Internal, "{}: a partition has other values than were counted", strategy.name());
        }
        agreement.check(strategy.name(), || runs.iter().map(|run| run.made.digests()).collect())?;
        task.advance(1);
    }
    Ok(agreement.note())
}

/// Shorter work is over after a few samples of its memory, and may take what earlier work left to the allocator: its peak is that
/// of the blocks it asked for.
const SAMPLED: Duration = Duration::from_millis(200);

/// Runs `work` with its anonymous memory and its allocations counted.
pub fn with_counters<T>(work: impl FnOnce() -> T) -> (Cost, T) {
    let before = Memory::now().anonymous;
    let sampler = MemorySampler::start();
    let counter = Counter::start();
    let start = Instant::now();
    let result = work();
    let wall = start.elapsed();
    let allocations = counter.as_ref().map(Counter::so_far);
    drop(counter);
    let peak = sampler.peak().anonymous;
    let sampled = peak.zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let cost = Cost {
        peak_bytes: match allocations {
            Some(allocations) if wall < SAMPLED => Some(allocations.peak_bytes),
            _ => sampled,
        },
        allocations: allocations.map(|a| a.allocations),
        reallocations: allocations.map(|a| a.reallocations),
        allocated_bytes: allocations.map(|a| a.bytes),
    };
    (cost, result)
}

fn described(subject: &Subject<'_>, plan: &Plan, counts: &Counts) -> Comparison {
    let size = sector_size_name(subject.porep.sector_bytes());
    let (k, of) = (plan.partitions, subject.porep.partitions());
    let (rows, values) = (count(counts.rows as f64), count(counts.values() as f64));
    let partitions = if of == 1 { "its partition".to_owned() } else { format!("{k} of {of} partitions") };
    let each = if k == 1 { "" } else { " each" };
    Comparison {
        title: format!("synthesis, {size} sector, {partitions}: {rows} rows, {values} values{each}"),
        sector: size,
        partitions: k,
        threads: rayon::current_num_threads(),
        unit: "values",
        ..Comparison::default()
    }
}
