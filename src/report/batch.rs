//! A batch as a whole: what became of its files, how the lanes spent their time, what held the pipeline back.

use std::time::Duration;

use serde_json::{json, Value};

use super::lanes::{Usage, Usages};
use super::spans::{FileRecord, Lane, Outcome, Snapshot, Stage};
use super::{DeviceChoice, DeviceWork, Memory, Phase};

/// Everything there is to say of a batch at its end.
#[derive(Clone, Debug, Default)]
pub struct BatchReport {
    /// Wall time of the run; unknown where journals of several runs were merged.
    pub(super) wall: Option<Duration>,
    /// What proved; unknown where journals were merged.
    pub(super) device: Option<DeviceChoice>,
    /// In the run's order.
    pub(super) files: Vec<FileRecord>,
    pub(super) usages: Usages,
    /// Unknown where journals were merged.
    pub(super) device_partitions: Option<usize>,
    pub(super) peak: Memory,
    /// Journals that were merged; empty for a run.
    pub(super) shards: Vec<(String, Counts)>,
    /// Names of files that failed and are not in the input folder any more: no files of the report.
    pub(super) gone: Vec<String>,
}

/// How many files ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub proved: usize,
    pub skipped: usize,
    pub failed: usize,
    pub unfinished: usize,
    /// Partitions of the files that were proved.
    pub partitions: usize,
}

impl Counts {
    /// Counts records by their outcomes.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a FileRecord>) -> Self {
        let mut counts = Self::default();
        for file in files {
            match file.outcome {
                Outcome::Proved { .. } => {
                    counts.proved += 1;
                    counts.partitions += file.partitions;
                }
                Outcome::Skipped { .. } => counts.skipped += 1,
                Outcome::Failed { .. } => counts.failed += 1,
                Outcome::Unfinished => counts.unfinished += 1,
            }
        }
        counts
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            proved: self.proved + other.proved,
            skipped: self.skipped + other.skipped,
            failed: self.failed + other.failed,
            unfinished: self.unfinished + other.unfinished,
            partitions: self.partitions + other.partitions,
        }
    }

    /// All files.
    pub fn total(&self) -> usize {
        self.proved + self.skipped + self.failed + self.unfinished
    }

    /// The outcomes by name, in the order of tables.
    pub fn by_name(&self) -> [(&'static str, usize); 4] {
        let Self { proved, skipped, failed, unfinished, .. } = *self;
        [("proved", proved), ("skipped", skipped), ("failed", failed), ("unfinished", unfinished)]
    }

    fn json(&self) -> Value {
        let mut counts = json!({"total": self.total()});
        for (name, files) in self.by_name() {
            counts[name] = json!(files);
        }
        counts
    }
}

/// A phase summed over files.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseTotal {
    pub phase: Phase,
    pub seconds: f64,
    pub items: u64,
}

/// Sums of the phases that the files' timings tell, in order.
pub fn phase_totals(files: &[FileRecord]) -> Vec<PhaseTotal> {
    let timed = |file: &FileRecord| file.timings["phases"].as_array().cloned().unwrap_or_default();
    let entries: Vec<Value> = files.iter().flat_map(timed).collect();
    let total = |phase: Phase| {
        let of_phase: Vec<_> = entries.iter().filter(|entry| entry["phase"] == phase.name()).collect();
        (!of_phase.is_empty()).then(|| PhaseTotal {
            phase,
            seconds: of_phase.iter().filter_map(|entry| entry["seconds"].as_f64()).sum(),
            items: of_phase.iter().filter_map(|entry| entry["items"].as_u64()).fold(0, u64::saturating_add),
        })
    };
    Phase::ALL.into_iter().filter_map(total).collect()
}

/// Sum of what devices timed themselves, as far as the files' timings tell.
pub fn device_work(files: &[FileRecord]) -> DeviceWork {
    let mut all = DeviceWork::default();
    files.iter().for_each(|file| all.add(&DeviceWork::from_json(&file.timings["device_work"])));
    all
}

impl BatchReport {
    /// The report of a run from what was recorded of it, with its peak of memory.
    pub fn new(snapshot: &Snapshot, peak: &Memory) -> Self {
        let mut files = snapshot.files.clone();
        files.sort_by_key(|file| file.job);
        Self {
            wall: Some(snapshot.now),
            files,
            usages: Usages::new(snapshot),
            device_partitions: Some(snapshot.device_partitions().len()),
            peak: *peak,
            ..Self::default()
        }
    }

    /// Says what proved.
    pub fn on(self, device: DeviceChoice) -> Self {
        Self { device: Some(device), ..self }
    }

    /// Names files that failed and were then taken out of the input folder, so that they are not just passed over.
    pub fn without(self, gone: Vec<String>) -> Self {
        Self { gone, ..self }
    }

    /// How many files ended how.
    pub fn counts(&self) -> Counts {
        Counts::of(&self.files)
    }

    /// Files that failed, in the run's order.
    pub fn failed(&self) -> impl Iterator<Item = &FileRecord> {
        self.files.iter().filter(|file| matches!(file.outcome, Outcome::Failed { .. }))
    }

    /// What the pipeline was held back by, in one phrase with its figures; `None` for merged journals, which tell no lanes.
    pub fn held_back(&self) -> Option<String> {
        self.wall.map(|run| self.usages.held_back(run))
    }

    /// Per hour of the run, where there was one.
    pub(super) fn per_hour(&self, items: usize) -> Option<f64> {
        let run = self.wall.filter(|run| !run.is_zero())?;
        Some(items as f64 / run.as_secs_f64() * 3600.0)
    }

    /// Everything as one JSON object. Seconds are wall time, floating point; shares are of the run, 1 for all of it.
    ///
    /// ```text
    /// wall_seconds             the run; null where journals were merged
    /// device                   what proved: name, and not_cuda, why no CUDA device was taken, null where it is one or where this one
    ///                          was asked for; null where journals were merged
    /// files                    total, proved, skipped, failed, unfinished: how many
    /// partitions               proved: of the proved files; through_devices: finished by a device, failed files' included; null
    ///                          where journals were merged
    /// files_per_hour           proved files; null where there was no time
    /// partitions_per_hour      through devices; null where there was no time
    /// held_back                by what the pipeline was held back, a phrase; null where journals were merged
    /// memory                   peaks in bytes, null where the system does not tell:
    ///   anonymous_peak_bytes   heap and stacks, sampled
    ///   mapped_peak_bytes      mapped file pages (parameters), sampled
    ///   resident_peak_bytes    the whole resident set, kept by the kernel
    /// stages                   array, in order, of the stages that had lanes:
    ///   stage, lanes           name, number of lanes; then the following, summed over lanes (shares: their mean)
    ///   pieces                 files or partitions worked on
    ///   busy_seconds           at work
    ///   busy_share             of the run
    ///   active_busy_share      of the time from the first piece's start to the last one's end
    ///   awaits_input_seconds, awaits_memory_seconds, awaits_output_seconds
    ///                          with nothing to do; with work but no memory for it; with a result that the next stage did not take
    ///   first_seconds, last_seconds
    ///                          start of the first and end of the last piece since the run's start; null where there was none
    /// lanes                    array: stage, worker (from 0), then the same keys from pieces on
    /// phases                   array, in order, of the phases that were entered, summed over files:
    ///   phase, seconds, items, unit
    /// device_work              array of kernels and copies as the devices timed them, summed over files: see `DeviceWork::json`
    /// records                  array of the files in order, each as `FileRecord::to_json` has it
    /// failures                 array of the failed files: name, attempts, fault, message
    /// gone                     array of names: files that failed and that the input folder had no more when a later run began
    /// shards                   array of the merged journals: shard (its name), files (as above), partitions (proved)
    /// ```
    pub fn json(&self) -> Value {
        let (counts, run) = (self.counts(), self.wall.unwrap_or_default());
        json!({
            "wall_seconds": self.wall.map(|run| run.as_secs_f64()),
            "device": self.device.as_ref().map(DeviceChoice::json),
            "files": counts.json(),
            "partitions": {"proved": counts.partitions, "through_devices": self.device_partitions},
            "files_per_hour": self.per_hour(counts.proved),
            "partitions_per_hour": self.device_partitions.and_then(|partitions| self.per_hour(partitions)),
            "held_back": self.held_back(),
            "memory": {
                "anonymous_peak_bytes": self.peak.anonymous,
                "mapped_peak_bytes": self.peak.mapped,
                "resident_peak_bytes": self.peak.resident_peak,
            },
            "stages": self.stages_json(run),
            "lanes": self.lanes_json(run),
            "phases": phase_totals(&self.files).iter().map(PhaseTotal::json).collect::<Vec<_>>(),
            "device_work": device_work(&self.files).json(),
            "records": self.files.iter().map(FileRecord::to_json).collect::<Vec<_>>(),
            "failures": self.failed().map(failure).collect::<Vec<_>>(),
            "gone": self.gone,
            "shards": self.shards.iter().map(shard).collect::<Vec<_>>(),
        })
    }

    fn stages_json(&self, run: Duration) -> Vec<Value> {
        let of = |(stage, usage): (Stage, Usage)| {
            let mut value = usage.json(run);
            value["stage"] = json!(stage.name());
            value["lanes"] = json!(usage.lanes);
            value
        };
        self.usages.stages().into_iter().map(of).collect()
    }

    fn lanes_json(&self, run: Duration) -> Vec<Value> {
        let of = |(lane, usage): (&Lane, &Usage)| {
            let mut value = usage.json(run);
            value["stage"] = json!(lane.stage.name());
            value["worker"] = json!(lane.worker);
            value
        };
        self.usages.0.iter().map(of).collect()
    }
}

impl PhaseTotal {
    fn json(&self) -> Value {
        json!({
            "phase": self.phase.name(),
            "seconds": self.seconds,
            "items": (self.items > 0).then_some(self.items),
            "unit": self.phase.unit().name(),
        })
    }
}

fn failure(file: &FileRecord) -> Value {
    let record = file.to_json();
    json!({
        "name": file.name,
        "attempts": file.attempts,
        "fault": record["fault"],
        "message": record["message"],
    })
}

fn shard((name, counts): &(String, Counts)) -> Value {
    json!({"shard": name, "files": counts.json(), "partitions": counts.partitions})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{failed, many_files, operations, two_files};

    const PEAK: Memory = Memory { anonymous: Some(3 << 30), mapped: Some(1 << 20), resident_peak: None };

    #[test]
    fn json_holds_the_documented_keys() {
        let mut snapshot = two_files();
        // The order of the report is the run's, whatever ended first.
        snapshot.files.reverse();
        let work = DeviceWork::of(&operations());
        snapshot.files[0].timings = json!({"device_work": work.part(0, 2).json()});
        snapshot.files[1].timings["device_work"] = work.part(1, 2).json();
        let choice = DeviceChoice { name: "cpu".into(), not_cuda: Some("no driver".into()) };
        let mut value = BatchReport::new(&snapshot, &PEAK).on(choice).json();
        let records = value["records"].take();
        assert_eq!(records, json!([snapshot.files[1].to_json(), snapshot.files[0].to_json()]));
        let stages = value["stages"].take();
        let device = json!({
            "stage": "device", "lanes": 1, "pieces": 4, "busy_seconds": 15.0, "busy_share": 0.75, "active_busy_share": 1.0,
            "awaits_input_seconds": 4.0, "awaits_memory_seconds": 0.0, "awaits_output_seconds": 0.0,
            "first_seconds": 4.0, "last_seconds": 19.0,
        });
        let names: Vec<_> = stages.as_array().unwrap().iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
        assert_eq!(names, ["read", "synthesis", "device", "assembly", "write"]);
        assert_eq!(stages[2], device);
        let mut lane = value["lanes"].take()[2].take();
        assert_eq!(lane["worker"].take(), 0);
        for key in device.as_object().unwrap().keys().filter(|key| *key != "lanes") {
            assert_eq!(lane[key], device[key], "{key}");
        }
        let files = json!({"total": 2, "proved": 1, "skipped": 0, "failed": 1, "unfinished": 0});
        let expected = json!({
            "wall_seconds": 20.0,
            "device": {"name": "cpu", "not_cuda": "no driver"},
            "files": files,
            "partitions": {"proved": 2, "through_devices": 4},
            "files_per_hour": 180.0,
            "partitions_per_hour": 720.0,
            "held_back": "the device: busy 75 % of the time",
            "memory": {"anonymous_peak_bytes": 3u64 << 30, "mapped_peak_bytes": 1 << 20, "resident_peak_bytes": null},
            "stages": null,
            "lanes": null,
            "phases": [
                {"phase": "read", "seconds": 0.5, "items": 1000, "unit": "bytes"},
                {"phase": "synthesis", "seconds": 4.0, "items": 300, "unit": "variables"},
                {"phase": "quotient", "seconds": 2.0, "items": 8, "unit": "rows"},
                {"phase": "sum_h", "seconds": 1.5, "items": 8, "unit": "bases"},
                {"phase": "verification", "seconds": 0.25, "items": 1, "unit": "proofs"},
            ],
            "device_work": DeviceWork::of(&operations()).json(),
            "records": null,
            "failures": [{"name": "b.json", "attempts": 1, "fault": "Input", "message": "b.json: seed is all zero"}],
            "gone": [],
            "shards": [],
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn nothing_at_all_is_a_report_too() {
        let value = BatchReport::new(&Snapshot::default(), &Memory::default()).json();
        assert_eq!((&value["files"]["total"], &value["device"]), (&json!(0), &Value::Null));
        assert_eq!((&value["files_per_hour"], &value["partitions_per_hour"]), (&Value::Null, &Value::Null));
        assert_eq!(value["held_back"], "nothing: no work was done");
    }

    #[test]
    fn failures_are_all_listed_and_thousands_of_spans_counted() {
        let files: Vec<_> = (0..50).map(|job| failed(job, "a", "bad")).collect();
        let snapshot = Snapshot { files, now: Duration::from_secs(1), ..Snapshot::default() };
        let report = BatchReport::new(&snapshot, &PEAK);
        assert_eq!(report.counts(), Counts { failed: 50, ..Counts::default() });
        assert_eq!(report.json()["failures"].as_array().unwrap().len(), 50);
        let value = BatchReport::new(&many_files(500), &PEAK).json();
        assert_eq!(
            (&value["partitions"]["proved"], &value["partitions"]["through_devices"]),
            (&json!(1000), &json!(5000))
        );
        assert_eq!(value["phases"][0]["items"], 500_000);
    }
}
