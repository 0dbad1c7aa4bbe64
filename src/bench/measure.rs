//! Strategies measured in turn: once for memory, allocations and equal results, then again and again for time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::allocations::Counter;
use super::kinds::{Kind, Split};
use super::sizes::Counts;
use super::strategy::{strategies, Digests, Run, Strategy, Subject, Synthesis};
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
    if plan.cost {
        costs(subject, plan, &counts, &strategies, &mut entries, &task)?;
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
    Ok(comparison(subject, plan, &counts, entries))
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
    let runs = prepared.into_par_iter().map(|synthesis| synthesis()).collect::<Result<Vec<_>>>()?;
    let wall = start.elapsed();
    Ok((wall + runs.iter().map(|run| run.extrapolated).sum::<Duration>(), runs))
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

/// One run of each strategy with all counters on. The time is not looked at.
fn costs(
    subject: &Subject<'_>,
    plan: &Plan,
    counts: &Counts,
    strategies: &[Box<dyn Strategy>],
    entries: &mut [Entry],
    task: &Task,
) -> Result<()> {
    let mut first: Option<(&str, Vec<Digests>)> = None;
    for (strategy, entry) in strategies.iter().zip(entries) {
        let prepared = (0..plan.partitions).map(|k| strategy.prepare(subject, k)).collect::<Result<Vec<_>>>()?;
        let (cost, runs) = with_counters(|| begin(prepared));
        entry.cost = Some(cost);
        let (_, runs) = runs?;
        if runs.iter().any(|run| run.made.values() != counts.values()) {
            fail!(Fault::Internal, "{}: a partition has other values than were counted", strategy.name());
        }
        let digests: Vec<Digests> = runs.iter().map(|run| run.made.digests()).collect();
        match &first {
            None => first = Some((strategy.name(), digests)),
            Some((name, expected)) => same((name, expected), (strategy.name(), &digests))?,
        }
        task.advance(1);
    }
    Ok(())
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

/// # Errors
/// `Internal` where they differ.
fn same((a, first): (&str, &[Digests]), (b, second): (&str, &[Digests])) -> Result<()> {
    for (k, (x, y)) in first.iter().zip(second).enumerate() {
        if x.values != y.values {
            fail!(Fault::Internal, "partition {k}: {b} has other values than {a}");
        }
        if x.rows.zip(y.rows).is_some_and(|(x, y)| x != y) {
            fail!(Fault::Internal, "partition {k}: {b} has other rows than {a}");
        }
    }
    Ok(())
}

fn comparison(subject: &Subject<'_>, plan: &Plan, counts: &Counts, entries: Vec<Entry>) -> Comparison {
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
        entries,
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_results_are_noticed() {
        let digests = |values, rows: Option<u8>| [Digests { values: [values; 32], rows: rows.map(|byte| [byte; 32]) }];
        let expected = digests(1, Some(2));
        let compare = |other: &[Digests]| same(("a", &expected), ("b", other));
        compare(&digests(1, Some(2))).unwrap();
        // A part of the rows is not compared.
        compare(&digests(1, None)).unwrap();
        assert!(compare(&digests(3, Some(2))).unwrap_err().to_string().contains("b has other values than a"));
        assert!(compare(&digests(1, Some(3))).unwrap_err().to_string().contains("b has other rows than a"));
    }
}
