//! Work that a device has timed itself, by events in its streams: kernels and copies, added up by name.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::text::{columns, visible};
use super::units::{bytes, count, duration, per_second};

/// What kind of work it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    Kernel,
    /// From the host to the device.
    Upload,
    /// From the device to the host.
    Download,
    /// Device memory filled with zeros.
    Fill,
}

impl OperationKind {
    const ALL: [OperationKind; 4] = [Self::Kernel, Self::Upload, Self::Download, Self::Fill];

    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Upload => "upload",
            Self::Download => "download",
            Self::Fill => "fill",
        }
    }
}

/// One piece of finished work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// Of the kernel, or of the buffer that was copied or filled.
    pub name: &'static str,
    pub kind: OperationKind,
    /// Copied or filled; 0 for kernels.
    pub bytes: u64,
    /// When it began on the device, as well as events tell: about a thousandth of a second.
    pub start: Instant,
    pub duration: Duration,
}

/// Operations added up, by kind and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceWork(BTreeMap<(OperationKind, String), Total>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Total {
    times: u64,
    time: Duration,
    bytes: u64,
}

impl Total {
    fn plus(self, other: Self) -> Self {
        Self {
            times: self.times.saturating_add(other.times),
            time: self.time.saturating_add(other.time),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl DeviceWork {
    /// What the operations add up to.
    pub fn of<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> Self {
        let mut work = Self::default();
        for Operation { name, kind, bytes, duration, .. } in operations {
            work.put((*kind, (*name).to_owned()), Total { times: 1, time: *duration, bytes: *bytes });
        }
        work
    }

    fn put(&mut self, key: (OperationKind, String), more: Total) {
        let total = self.0.entry(key).or_default();
        *total = total.plus(more);
    }

    /// Adds what `other` holds.
    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(key, total)| self.put(key.clone(), *total));
    }

    /// The `k`-th of `of` equal parts, for work that so many partitions have in common. All parts add up to the whole.
    pub fn part(&self, k: usize, of: usize) -> Self {
        let part = |whole: u128| {
            let before = |k: usize| whole * k as u128 / of.max(1) as u128;
            // A part is not above the whole, which fits.
            (before(k + 1) - before(k)) as u64
        };
        let of_total = |total: &Total| Total {
            times: part(total.times.into()),
            time: Duration::from_nanos(part(total.time.as_nanos())),
            bytes: part(total.bytes.into()),
        };
        Self(self.0.iter().map(|(key, total)| (key.clone(), of_total(total))).collect())
    }

    /// Has no device timed anything?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sum of all times: where operations ran at the same time, more than passed.
    fn time(&self) -> Duration {
        self.0.values().map(|total| total.time).fold(Duration::ZERO, Duration::saturating_add)
    }

    /// The table for people, ending in a newline; nothing where no device timed anything. Kernels by name, copies by their direction,
    /// what took longest first: how often, the time on the device, its share of all such time, bytes and rate of copies.
    pub fn table(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let all = self.time();
        let mut rows = vec![["on the device", "times", "time", "share", "bytes", "rate"].map(str::to_owned).to_vec()];
        rows.extend(self.by_row().into_iter().map(|(name, total)| row(&name, &total, all)));
        let total = self.0.values().fold(Total::default(), |sum, total| sum.plus(*total));
        rows.push(row("total", &Total { bytes: 0, ..total }, all));
        columns(&rows)
    }

    /// Rows of the table, that of the longest time first.
    fn by_row(&self) -> Vec<(String, Total)> {
        let mut rows = BTreeMap::<String, Total>::new();
        for ((kind, name), total) in &self.0 {
            let shown = if *kind == OperationKind::Kernel { visible(name) } else { kind.name().to_owned() };
            let row = rows.entry(shown).or_default();
            *row = row.plus(*total);
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|(_, total)| std::cmp::Reverse(total.time));
        rows
    }

    /// An array of objects, by kind and name:
    ///
    /// ```text
    /// kind               "kernel", "upload" (to the device), "download" (from it) or "fill" (with zeros)
    /// name               the kernel's, or that of the memory which was copied or filled
    /// times              how often
    /// seconds            on the device, by its own events
    /// share              of the sum of all these seconds
    /// bytes              null for kernels
    /// bytes_per_second   null for kernels, or where no time was measured
    /// ```
    pub fn json(&self) -> Value {
        let all = self.time();
        let entry = |((kind, name), total): (&(OperationKind, String), &Total)| {
            let bytes = (*kind != OperationKind::Kernel).then_some(total.bytes);
            json!({
                "kind": kind.name(),
                "name": name,
                "times": total.times,
                "seconds": total.time.as_secs_f64(),
                "share": share(total.time, all),
                "bytes": bytes,
                "bytes_per_second": bytes.and_then(|bytes| per_second(bytes, total.time)),
            })
        };
        self.0.iter().map(entry).collect()
    }

    /// What [`DeviceWork::json`] wrote, as far as it is understood: of another version, or of no kind known here, is nothing.
    pub fn from_json(value: &Value) -> Self {
        let mut work = Self::default();
        for entry in value.as_array().into_iter().flatten() {
            let kind = OperationKind::ALL.into_iter().find(|kind| entry["kind"] == kind.name());
            let (Some(kind), Some(name)) = (kind, entry["name"].as_str()) else { continue };
            let number = |key: &str| entry[key].as_u64().unwrap_or(0);
            let seconds = entry["seconds"].as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let total = Total { times: number("times"), time: seconds.unwrap_or_default(), bytes: number("bytes") };
            work.put((kind, name.to_owned()), total);
        }
        work
    }
}

fn row(name: &str, total: &Total, all: Duration) -> Vec<String> {
    let mut row = vec![name.to_owned(), count(total.times as f64), duration(total.time)];
    row.push(format!("{:.1} %", share(total.time, all) * 100.0));
    if total.bytes > 0 {
        row.push(bytes(total.bytes));
        row.extend(super::Unit::Bytes.rate(total.bytes, total.time));
    }
    row
}

fn share(time: Duration, all: Duration) -> f64 {
    if all.is_zero() {
        0.0
    } else {
        time.as_secs_f64() / all.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::operations;

    #[test]
    fn the_table_has_kernels_by_name_and_copies_by_direction() {
        let expected = "\
on the device  times    time   share    bytes        rate
fr_mul             2  3.00 s  60.0 %
upload             2  1.00 s  20.0 %  3.00 GiB  3.00 GiB/s
ntt_pass           1  500 ms  10.0 %
download           1  400 ms   8.0 %     400 B    1000 B/s
fill               1  100 ms   2.0 %  1.00 MiB  10.0 MiB/s
total              7  5.00 s  100.0 %
";
        let squeeze =
            |s: &str| s.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        let table = DeviceWork::of(&operations()).table();
        assert_eq!(squeeze(&table), squeeze(expected));
        assert!(table.lines().all(|line| line.len() <= 80), "{table}");
        assert_eq!(DeviceWork::default().table(), "");
    }

    #[test]
    fn json_holds_the_documented_keys_and_is_read_again() {
        let work = DeviceWork::of(&operations());
        let value = work.json();
        let expected = json!([
            {"kind": "kernel", "name": "fr_mul", "times": 2, "seconds": 3.0, "share": 0.6, "bytes": null,
             "bytes_per_second": null},
            {"kind": "kernel", "name": "ntt_pass", "times": 1, "seconds": 0.5, "share": 0.1, "bytes": null,
             "bytes_per_second": null},
            {"kind": "upload", "name": "bases", "times": 1, "seconds": 0.5, "share": 0.1, "bytes": 1u64 << 31,
             "bytes_per_second": 2.0 * f64::from(1u32 << 31)},
            {"kind": "upload", "name": "scalars", "times": 1, "seconds": 0.5, "share": 0.1, "bytes": 1 << 30,
             "bytes_per_second": f64::from(1u32 << 31)},
            {"kind": "download", "name": "sums", "times": 1, "seconds": 0.4, "share": 0.08, "bytes": 400,
             "bytes_per_second": 1000.0},
            {"kind": "fill", "name": "buckets", "times": 1, "seconds": 0.1, "share": 0.02, "bytes": 1 << 20,
             "bytes_per_second": f64::from(10u32 << 20)},
        ]);
        assert_eq!(value, expected);
        assert_eq!(DeviceWork::from_json(&value), work);
        let strange = json!([{"kind": "kernel"}, {"kind": "prefetch", "name": "x"}, 5, {"kind": "fill", "name": "b", "seconds": -1}]);
        assert_eq!(DeviceWork::from_json(&strange).json()[0]["seconds"], 0.0);
        assert_eq!(DeviceWork::from_json(&strange).json().as_array().unwrap().len(), 1);
        assert!(DeviceWork::from_json(&Value::Null).is_empty() && DeviceWork::from_json(&json!({})).is_empty());
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let work = DeviceWork::of(&operations());
        for of in [1, 2, 3, 7, 10] {
            let mut sum = DeviceWork::default();
            (0..of).for_each(|k| sum.add(&work.part(k, of)));
            assert_eq!(sum, work, "{of}");
        }
        let third = work.part(0, 3).time();
        assert!((third.as_secs_f64() - 5.0 / 3.0).abs() < 1e-6, "{third:?}");
    }
}
