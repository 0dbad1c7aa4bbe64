//! Wall time and item counts per phase, as a table and as JSON.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::units::{bytes, duration, per_second};
use super::{DeviceWork, Memory, Phase};

/// The name of the time outside all phases.
const OTHER: &str = "other";

/// Collects wall time and item counts per phase; shared between threads. The total runs from its creation.
pub struct Timings {
    started: Instant,
    entries: Mutex<[Entry; Phase::ALL.len()]>,
    device_work: Mutex<DeviceWork>,
}

/// A phase's measurements, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub wall: Duration,
    pub items: u64,
    measured: bool,
}

impl Default for Timings {
    fn default() -> Self {
        Self { started: Instant::now(), entries: Mutex::default(), device_work: Mutex::default() }
    }
}

impl Timings {
    /// Adds one measurement: `items` of the phase's unit (bytes read, constraints, bases...) in `wall`. Measurements of
    /// one phase (its partitions) add up.
    pub fn add(&self, phase: Phase, wall: Duration, items: u64) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = &mut entries[phase as usize];
        *entry = Entry { wall: entry.wall + wall, items: entry.items.saturating_add(items), measured: true };
    }

    /// Runs `work` and adds its wall time.
    pub fn time<T>(&self, phase: Phase, items: u64, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(phase, start.elapsed(), items);
        result
    }

    /// Adds work that a device has timed itself. It is part of phases' times.
    pub fn add_device_work(&self, work: &DeviceWork) {
        self.device_work.lock().unwrap_or_else(PoisonError::into_inner).add(work);
    }

    pub(super) fn device_work(&self) -> DeviceWork {
        self.device_work.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The table for people, ending in a newline: phase, wall time, share of the total wall time, items, rate; then the
    /// time outside all phases, the total, and the peaks of memory. Phases that were not entered are left out. Where
    /// phases run at the same time, shares add up to more than 100 %. Where a device has timed work itself, a second table: see
    /// [`DeviceWork::table`].
    pub fn table(&self, peak: &Memory) -> String {
        self.table_at(self.started.elapsed(), peak)
    }

    /// The same as one JSON object. Seconds are wall time, floating point:
    ///
    /// ```text
    /// total_seconds            since the start
    /// phases                   array, in order, of the phases that were entered; last "other", the time outside them, where
    ///                          they leave any: then the shares add up to 1
    ///   phase                  name (see `Phase::name`)
    ///   seconds                sum over the partitions
    ///   share                  seconds / total_seconds
    ///   items, unit            how many of what; null where nothing was counted
    ///   items_per_second       null where nothing was counted, or no time measured
    /// device_work              array of kernels and copies, as the device timed them: see `DeviceWork::json`; empty without such a device
    /// memory                   peaks in bytes, null where the system does not tell:
    ///   anonymous_peak_bytes   heap and stacks, sampled
    ///   mapped_peak_bytes      mapped file pages (parameters), sampled
    ///   resident_peak_bytes    the whole resident set, kept by the kernel
    /// ```
    pub fn json(&self, peak: &Memory) -> Value {
        self.json_at(self.started.elapsed(), peak)
    }

    /// The phases that were entered, in order.
    pub(super) fn measured(&self) -> Vec<(Phase, Entry)> {
        let entries = *self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Phase::ALL.into_iter().zip(entries).filter(|(_, entry)| entry.measured).collect()
    }

    /// The time outside all phases; none where they were at work at the same time for as long.
    fn outside(&self, total: Duration) -> Option<Duration> {
        let inside: Duration = self.measured().iter().map(|(_, entry)| entry.wall).sum();
        total.checked_sub(inside).filter(|outside| !outside.is_zero())
    }

    fn table_at(&self, total: Duration, peak: &Memory) -> String {
        let measured = self.measured();
        let mut rows = vec![["phase", "wall", "share", "items", "rate"].map(str::to_owned)];
        rows.extend(measured.iter().map(|(phase, entry)| entry.row(*phase, total)));
        if let Some(outside) = self.outside(total) {
            rows.push([OTHER.into(), duration(outside), percent(outside, total), String::new(), String::new()]);
        }
        rows.push(["total".into(), duration(total), percent(total, total), String::new(), String::new()]);
        let work = self.device_work().table();
        let work = if work.is_empty() { work } else { format!("\n{work}\n") };
        aligned(&rows) + &work + &memory_line(peak)
    }

    fn json_at(&self, total: Duration, peak: &Memory) -> Value {
        let mut phases: Vec<Value> = self.measured().iter().map(|(phase, entry)| entry.json(*phase, total)).collect();
        phases.extend(self.outside(total).map(|outside| {
            let (seconds, share) = (outside.as_secs_f64(), share(outside, total));
            json!({"phase": OTHER, "seconds": seconds, "share": share, "items": null, "unit": null, "items_per_second": null})
        }));
        json!({
            "total_seconds": total.as_secs_f64(),
            "phases": phases,
            "device_work": self.device_work().json(),
            "memory": {
                "anonymous_peak_bytes": peak.anonymous,
                "mapped_peak_bytes": peak.mapped,
                "resident_peak_bytes": peak.resident_peak,
            },
        })
    }
}

impl Entry {
    /// Cells of a table: phase, wall time, share of the total, items, rate.
    pub(super) fn row(&self, phase: Phase, total: Duration) -> [String; 5] {
        let unit = phase.unit();
        let (items, rate) = match self.items {
            0 => (String::new(), String::new()),
            n => (unit.amount(n), unit.rate(n, self.wall).unwrap_or_default()),
        };
        [phase.name().to_owned(), duration(self.wall), percent(self.wall, total), items, rate]
    }

    /// The same as an object: see [`Timings::json`].
    pub(super) fn json(&self, phase: Phase, total: Duration) -> Value {
        json!({
            "phase": phase.name(),
            "seconds": self.wall.as_secs_f64(),
            "share": share(self.wall, total),
            "items": counted(self.items),
            "unit": phase.unit().name(),
            "items_per_second": counted(self.items).and_then(|items| per_second(items, self.wall)),
        })
    }
}

/// A number of items; none where nothing was counted.
fn counted(items: u64) -> Option<u64> {
    (items > 0).then_some(items)
}

fn share(wall: Duration, total: Duration) -> f64 {
    if total.is_zero() {
        0.0
    } else {
        wall.as_secs_f64() / total.as_secs_f64()
    }
}

fn percent(wall: Duration, total: Duration) -> String {
    format!("{:.1} %", share(wall, total) * 100.0)
}

fn memory_line(peak: &Memory) -> String {
    let text = |figure: Option<u64>| figure.map_or_else(|| "unknown".to_owned(), bytes);
    let [anonymous, mapped, resident] = [peak.anonymous, peak.mapped, peak.resident_peak].map(text);
    format!("peak memory: anonymous {anonymous}, mapped file pages {mapped}, resident {resident}\n")
}

/// Columns two blanks apart: the first flush left, the others flush right; no trailing blanks.
fn aligned(rows: &[[String; 5]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut table = String::new();
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            // Writing to a String does not fail.
            let _ = write!(line, "  {cell:>width$}");
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::operations;

    const PEAK: Memory = Memory { anonymous: Some(3 << 30), mapped: Some(1 << 20), resident_peak: Some(4 << 30) };

    fn two_partitions() -> Timings {
        let timings = Timings::default();
        timings.add(Phase::SumH, Duration::from_secs(2), 4_000_000);
        timings.add(Phase::Read, Duration::from_millis(100), 100_159);
        timings.add(Phase::SumH, Duration::from_secs(3), 1_000_000);
        timings.add(Phase::Assembly, Duration::ZERO, 1);
        timings
    }

    #[test]
    fn the_table_is_aligned_in_phase_order_and_adds_partitions_up() {
        let table = two_partitions().table_at(Duration::from_secs(10), &PEAK);
        let expected = "\
phase       wall    share        items           rate
read      100 ms    1.0 %     97.8 KiB       978 KiB/s
sum_h     5.00 s   50.0 %  5.00 M bases  1.00 M bases/s
assembly    0 us    0.0 %      1 proof
other     4.90 s   49.0 %
total     10.0 s  100.0 %
peak memory: anonymous 3.00 GiB, mapped file pages 1.00 MiB, resident 4.00 GiB
";
        let squeeze =
            |s: &str| s.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        assert_eq!(squeeze(&table), squeeze(expected));
        // Alignment: the share column ends at the same place in every row that has one.
        let ends: Vec<usize> = table.lines().skip(1).take(5).map(|l| l.find(" %").unwrap()).collect();
        assert!(ends.iter().all(|e| *e == ends[0]), "{table}");
        assert!(table.lines().all(|l| l == l.trim_end()));
    }

    #[test]
    fn what_was_not_counted_is_null() {
        let timings = Timings::default();
        timings.add(Phase::Parameters, Duration::from_secs(2), 0);
        let phases = timings.json_at(Duration::from_secs(2), &PEAK)["phases"].take();
        let expected = json!([{
            "phase": "parameters", "seconds": 2.0, "share": 1.0, "items": null, "unit": "bytes", "items_per_second": null,
        }]);
        assert_eq!(phases, expected, "and there is no other time");
    }

    #[test]
    fn overlapping_phases_have_no_negative_remainder() {
        let table = two_partitions().table_at(Duration::from_secs(4), &Memory::default());
        assert!(!table.contains("other"), "{table}");
        let json = two_partitions().json_at(Duration::from_secs(4), &Memory::default());
        assert_eq!(json["phases"].as_array().unwrap().len(), 3, "{json}");
        assert!(table.contains("125.0 %"), "{table}");
        assert!(
            table.ends_with("peak memory: anonymous unknown, mapped file pages unknown, resident unknown\n"),
            "{table}"
        );
    }

    #[test]
    fn json_holds_the_documented_keys() {
        let value = two_partitions().json_at(Duration::from_secs(10), &PEAK);
        let expected = json!({
            "total_seconds": 10.0,
            "phases": [
                {"phase": "read", "seconds": 0.1, "share": 0.01, "items": 100_159, "unit": "bytes",
                 "items_per_second": 1_001_590.0},
                {"phase": "sum_h", "seconds": 5.0, "share": 0.5, "items": 5_000_000, "unit": "bases",
                 "items_per_second": 1_000_000.0},
                {"phase": "assembly", "seconds": 0.0, "share": 0.0, "items": 1, "unit": "proofs",
                 "items_per_second": null},
                {"phase": "other", "seconds": 4.9, "share": 4.9 / 10.0, "items": null, "unit": null, "items_per_second": null},
            ],
            "device_work": [],
            "memory": {"anonymous_peak_bytes": 3u64 << 30, "mapped_peak_bytes": 1 << 20, "resident_peak_bytes": 4u64 << 30},
        });
        assert_eq!(value, expected);
        assert_eq!(two_partitions().json_at(Duration::ZERO, &Memory::default())["phases"][0]["share"], 0.0);
    }

    #[test]
    fn what_a_device_timed_has_a_table_of_its_own() {
        let timings = two_partitions();
        let work = DeviceWork::of(&operations());
        timings.add_device_work(&work.part(0, 2));
        timings.add_device_work(&work.part(1, 2));
        let table = timings.table_at(Duration::from_secs(10), &PEAK);
        assert!(table.contains(&format!(" 100.0 %\n\n{}\npeak memory: ", work.table())), "{table}");
        assert_eq!(timings.json_at(Duration::from_secs(10), &PEAK)["device_work"], work.json());
    }

    #[test]
    fn threads_share_one_collection_and_time_returns_the_result() {
        let timings = Timings::default();
        std::thread::scope(|s| {
            (0..8).for_each(|i| {
                let timings = &timings;
                s.spawn(move || assert_eq!(timings.time(Phase::Synthesis, 10, || i), i));
            });
        });
        let measured = timings.measured();
        assert_eq!((measured.len(), measured[0].0, measured[0].1.items), (1, Phase::Synthesis, 80));
    }
}
