//! Ways to the same result, measured side by side.

mod plot;
mod table;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::{json, Value};

use super::units::per_second;

/// What was measured.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    pub title: String,
    /// Sector size, as in `32GiB`.
    pub sector: String,
    pub partitions: usize,
    pub threads: usize,
    /// What the entries' items are.
    pub unit: &'static str,
    /// The first one is what the others are compared with.
    pub entries: Vec<Entry>,
    /// What a reader should know, a sentence each.
    pub notes: Vec<String>,
}

/// One way.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub name: String,
    /// What it does, in one line.
    pub meaning: String,
    /// How much one run makes.
    pub items: u64,
    /// Bytes that it keeps from one run to the next.
    pub kept_bytes: u64,
    /// The runs, in order.
    pub samples: Vec<Sample>,
    /// What the samples' parts are; may be empty.
    pub parts: Vec<Part>,
    /// `None` where it was not measured.
    pub cost: Option<Cost>,
}

/// A part of the work, the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: &'static str,
    pub items: u64,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    pub wall: Duration,
    /// As many as the entry's parts. Where several threads work, the parts' times are those of all of them.
    pub parts: Vec<Duration>,
}

/// What a run takes beside time; each `None` where the system or the build does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Peak of anonymous memory, above what there was before the run; of a run of less than 0.2 s that of its heap blocks.
    pub peak_bytes: Option<u64>,
    pub allocations: Option<u64>,
    pub reallocations: Option<u64>,
    pub allocated_bytes: Option<u64>,
}

impl Entry {
    /// An entry that nothing was measured of yet.
    pub fn new(name: &str, meaning: &str, items: u64) -> Self {
        Self { name: name.into(), meaning: meaning.into(), items, ..Self::default() }
    }

    fn sorted(&self) -> Vec<&Sample> {
        let mut samples: Vec<_> = self.samples.iter().collect();
        samples.sort_by_key(|sample| sample.wall);
        samples
    }

    /// The run in the middle: half of the others were not slower. Of an even number the faster of the two.
    fn middle(&self) -> Option<&Sample> {
        let sorted = self.sorted();
        sorted.get(sorted.len().saturating_sub(1) / 2).copied()
    }

    /// Median, least and greatest wall time; the median of an even number is the mean of the two in the middle.
    pub fn walls(&self) -> Option<[Duration; 3]> {
        let sorted = self.sorted();
        let (first, last) = (sorted.first()?.wall, sorted.last()?.wall);
        let (low, high) = (sorted[(sorted.len() - 1) / 2].wall, sorted[sorted.len() / 2].wall);
        Some([(low + high) / 2, first, last])
    }

    fn median(&self) -> Option<Duration> {
        self.walls().map(|[median, ..]| median)
    }

    /// How many times as fast as `other`, by the medians.
    fn speedup(&self, other: &Self) -> Option<f64> {
        let (own, other) = (self.median()?, other.median()?);
        (!own.is_zero()).then(|| other.as_secs_f64() / own.as_secs_f64())
    }
}

impl Comparison {
    /// Everything as one JSON object. Times are seconds of wall time, floating point; null where something was not measured.
    ///
    /// ```text
    /// title                    what was measured, a phrase
    /// sector                   sector size, e.g. "32GiB"
    /// partitions, threads      how many
    /// unit                     what items are
    /// entries                  array, the first one is what the others are compared with:
    ///   name, meaning          a word, a phrase
    ///   items                  how much one run makes
    ///   wall_seconds           median, least, greatest, and runs: array in the order of the rounds
    ///   items_per_second       by the median
    ///   speedup                median of the first entry / median of this one
    ///   kept_bytes             kept from one run to the next (matrices), not in peak_bytes
    ///   peak_bytes             anonymous memory, peak of a run of its own, above what there was before; of a run of
    ///                          less than 0.2 s, which sampling would miss, that of the heap blocks it asked for
    ///   allocations, reallocations, allocated_bytes
    ///                          of that run
    ///   parts                  array: name, items, seconds (of the run in the middle, summed over partitions
    ///                          and threads; of matrices, on which all threads work at once, wall time a partition)
    /// notes                    array of sentences
    /// ```
    pub fn json(&self) -> Value {
        json!({
            "title": self.title,
            "sector": self.sector,
            "partitions": self.partitions,
            "threads": self.threads,
            "unit": self.unit,
            "entries": self.entries.iter().map(|entry| self.entry_json(entry)).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    fn entry_json(&self, entry: &Entry) -> Value {
        let [median, least, greatest] = [0, 1, 2].map(|i: usize| entry.walls().map(|walls| walls[i].as_secs_f64()));
        let runs: Vec<_> = entry.samples.iter().map(|sample| sample.wall.as_secs_f64()).collect();
        let cost = entry.cost.unwrap_or_default();
        let middle = entry.middle().map_or(&[][..], |sample| &sample.parts);
        let parts = entry.parts.iter().zip(middle);
        json!({
            "name": entry.name,
            "meaning": entry.meaning,
            "items": entry.items,
            "wall_seconds": {"median": median, "least": least, "greatest": greatest, "runs": runs},
            "items_per_second": entry.median().and_then(|wall| per_second(entry.items, wall)),
            "speedup": self.entries.first().and_then(|first| entry.speedup(first)),
            "kept_bytes": entry.kept_bytes,
            "peak_bytes": cost.peak_bytes,
            "allocations": cost.allocations,
            "reallocations": cost.reallocations,
            "allocated_bytes": cost.allocated_bytes,
            "parts": parts
                .map(|(part, time)| json!({"name": part.name, "items": part.items, "seconds": time.as_secs_f64()}))
                .collect::<Vec<_>>(),
        })
    }
}
