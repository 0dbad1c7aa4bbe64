//! The end of a batch for people: tables of at most 80 columns, then what failed and why.

use std::time::Duration;

use super::batch::{device_work, BatchReport};
use super::lanes::Usage;
use super::record::message_without_name;
use super::spans::{FileRecord, Outcome, Stage};
use super::text::{columns, percent, shortened, visible, width};
use super::units::{bytes, count, duration};
use super::{DeviceChoice, Phase};

/// Columns of the narrowest terminal that is provided for.
const TERMINAL: usize = 80;
/// Columns of a name at most, and at least where figures are wide.
const NAMES: (usize, usize) = (40, 12);
/// The first column of times.
const WALL: usize = 3;
/// More files than these are counted, not listed.
const LISTED: usize = 100;

/// What a report from journals does not know.
const RECORDED: &str =
    "Counted is what the journals record: of a run that was stopped, files that it did not reach are missing.\n";

/// The table's columns of phases: heading, and what they add up.
const GROUPS: [(&str, &[Phase]); 4] = [
    ("read", &[Phase::Read, Phase::Check]),
    ("synthesis", &[Phase::WitnessCheck, Phase::Circuit, Phase::Synthesis]),
    (
        "device",
        &[
            Phase::Evaluation,
            Phase::Quotient,
            Phase::SumH,
            Phase::SumL,
            Phase::SumA,
            Phase::SumBG1,
            Phase::SumBG2,
            Phase::Simulation,
        ],
    ),
    ("verify", &[Phase::Assembly, Phase::Verification]),
];

impl BatchReport {
    /// The report for a terminal, ending in a newline. Per file and in total: outcome, partitions, wall time, and the
    /// time in reading and checking, circuits and synthesis, the device, assembly and verification. Then the shards that were
    /// merged; what devices timed themselves, where they do; what proved, the throughput and the peak of memory, and where a partition went through a device the stages' and devices'
    /// shares of the run and what held the pipeline back. At last the files that failed, with reasons.
    pub fn table(&self) -> String {
        let mut parts = vec![self.files_table()];
        parts.extend(self.copies());
        if !self.shards.is_empty() {
            parts.push(self.shards_table());
            parts.push(RECORDED.into());
        }
        parts.extend(Some(device_work(&self.files).table()).filter(|table| !table.is_empty()));
        if let Some(run) = self.wall {
            if self.has_device_work() {
                parts.push(self.lanes_table(run));
            }
            parts.push(self.run_lines(run));
        }
        parts.extend(self.failures());
        parts.extend(self.gone());
        parts.join("\n")
    }

    fn files_table(&self) -> String {
        let counts = self.counts();
        let mut rows = vec![["file", "outcome", "parts", "wall"].map(str::to_owned).to_vec()];
        rows[0].extend(GROUPS.map(|(heading, _)| heading.to_owned()));
        rows.extend(self.files.iter().take(LISTED).map(file_row));
        // The run's wall time; merged files may have run at the same time, and no sum of theirs is one.
        let wall = self.wall.map_or_else(unknown, duration);
        let mut total = vec!["total".to_owned(), files(counts.total()), counts.partitions.to_string(), wall];
        let all = |phases| self.files.iter().filter_map(|file| spent(file, phases)).reduce(|a, b| a + b);
        total.extend(GROUPS.map(|(_, phases)| cell(all(phases))));
        rows.push(total);
        fit_names(&mut rows);
        let more = self.files.len().saturating_sub(LISTED);
        if more > 0 {
            rows.insert(rows.len() - 1, vec![format!("and {more} more")]);
        }
        let outcomes = counts.by_name().into_iter().filter(|(_, n)| *n > 0);
        let outcomes: Vec<_> = outcomes.map(|(name, n)| format!("{n} {name}")).collect();
        let outcomes = if outcomes.is_empty() { "none".to_owned() } else { outcomes.join(", ") };
        format!("{}files: {outcomes}\n", columns(&rows))
    }

    /// Files that have the proof of another one.
    fn copies(&self) -> Option<String> {
        let same = |file: &FileRecord| match &file.outcome {
            Outcome::Skipped { same_as: Some(other), .. } => {
                Some(format!("{}: same content as {}, whose proof was copied\n", visible(&file.name), visible(other)))
            }
            _ => None,
        };
        let lines: String = self.files.iter().filter_map(same).take(LISTED).collect();
        (!lines.is_empty()).then_some(lines)
    }

    fn shards_table(&self) -> String {
        let mut rows =
            vec![["shard", "proved", "skipped", "failed", "unfinished", "parts"].map(str::to_owned).to_vec()];
        for (name, counts) in &self.shards {
            let mut row = vec![shortened(name, NAMES.0)];
            row.extend(counts.by_name().map(|(_, n)| n.to_string()));
            row.push(counts.partitions.to_string());
            rows.push(row);
        }
        columns(&rows)
    }

    /// Shares of the run, and of the time from the first piece of work to the last: a row for each stage, and for each lane of a
    /// stage of several devices.
    fn lanes_table(&self, run: Duration) -> String {
        let headings = ["stage", "lanes", "busy", "while active", "waits: input", "memory", "next stage"];
        let mut rows = vec![headings.map(str::to_owned).to_vec()];
        for (stage, usage) in self.usages.stages() {
            rows.push(usage_row(stage.name().to_owned(), &usage, run));
            let devices = self.usages.0.iter().filter(|(lane, _)| lane.stage == stage && stage == Stage::Device);
            if usage.lanes > 1 {
                rows.extend(devices.map(|(lane, usage)| usage_row(format!("  device {}", lane.worker), usage, run)));
            }
        }
        columns(&rows)
    }

    fn run_lines(&self, run: Duration) -> String {
        let rate = |items| self.per_hour(items).map_or_else(|| "unknown".to_owned(), count);
        let known = |figure: Option<u64>| figure.map_or_else(|| "unknown".to_owned(), bytes);
        // Where no partition went through a device there is nothing to be held back.
        let held_back = self.has_device_work().then(|| format!("held back by {}\n", self.usages.held_back(run)));
        format!(
            "{}throughput: {} files/h, {} partitions/h\npeak memory: anonymous {}, mapped file pages {}\n{}",
            self.device.as_ref().map_or_else(String::new, DeviceChoice::line),
            rate(self.counts().proved),
            rate(self.device_partitions.unwrap_or(0)),
            known(self.peak.anonymous),
            known(self.peak.mapped),
            held_back.unwrap_or_default()
        )
    }

    fn gone(&self) -> Option<String> {
        let names: Vec<_> = self.gone.iter().map(|name| visible(name)).collect();
        let head = "Failed, and not in the input folder any more when a later run began:";
        (!names.is_empty()).then(|| format!("{head}\n  {}\n", names.join(", ")))
    }

    fn has_device_work(&self) -> bool {
        self.device_partitions.is_some_and(|partitions| partitions > 0)
    }

    /// Each reason once, with the files that it is the reason of. Names are whole here: whoever looks for a file needs all of it.
    pub fn failures(&self) -> Option<String> {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for file in self.failed() {
            let reason = reason(file);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(visible(&file.name)),
                None => reasons.push((reason, vec![visible(&file.name)])),
            }
        }
        let lines = reasons.iter().map(|(reason, names)| format!("  {}: {reason}\n", names.join(", ")));
        let heading = format!("{} failed:\n", files(self.failed().count()));
        (!reasons.is_empty()).then(|| heading + &lines.collect::<String>())
    }
}

fn reason(file: &FileRecord) -> String {
    let Outcome::Failed { fault, .. } = &file.outcome else { return String::new() };
    let tries = if file.attempts > 1 { format!(" after {} attempts", file.attempts) } else { String::new() };
    let message = message_without_name(file).unwrap_or_default();
    match fault.to_lowercase().as_str() {
        // What to change is an option, and the message names it: the file's own faults are another thing.
        "usage" => format!("{message}{tries}"),
        fault => format!("{message} ({fault}{tries})"),
    }
}

fn file_row(file: &FileRecord) -> Vec<String> {
    let partitions = if file.partitions > 0 { file.partitions.to_string() } else { unknown() };
    let mut row = vec![file.name.clone(), file.outcome.name().to_owned(), partitions, duration(file.wall)];
    row.extend(GROUPS.map(|(_, phases)| cell(spent(file, phases))));
    row
}

/// Seconds in some phases; `None` where none of them was timed.
fn spent(file: &FileRecord, phases: &[Phase]) -> Option<f64> {
    phases.iter().filter_map(|phase| file.phase_seconds(phase.name())).reduce(|a, b| a + b)
}

/// A time; unknown where nothing of its kind was timed, or where a file from elsewhere tells no possible one.
fn cell(seconds: Option<f64>) -> String {
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).map_or_else(unknown, duration)
}

/// What stands where there is no figure.
fn unknown() -> String {
    "-".into()
}

fn files(n: usize) -> String {
    super::Unit::Files.amount(n as u64)
}

fn usage_row(name: String, usage: &Usage, run: Duration) -> Vec<String> {
    let waits = [usage.awaits_input, usage.awaits_memory, usage.awaits_output];
    let mut row =
        vec![name, usage.lanes.to_string(), percent(usage.busy_share(run)), percent(usage.active_busy_share())];
    row.extend(waits.map(|wait| percent(usage.share(wait, run))));
    row
}

/// Shortens the first cells to what the others leave of a terminal; where that is too little, figures lose their blanks.
fn fit_names(rows: &mut [Vec<String>]) {
    if TERMINAL.saturating_sub(all_but_names(rows)) < NAMES.0.min(longest_name(rows)) {
        for row in rows.iter_mut() {
            row.iter_mut().skip(WALL).for_each(|cell| cell.retain(|c| c != ' '));
        }
    }
    let room = TERMINAL.saturating_sub(all_but_names(rows)).clamp(NAMES.1, NAMES.0);
    for row in rows {
        row[0] = shortened(&row[0], room);
    }
}

fn all_but_names(rows: &[Vec<String>]) -> usize {
    let widest = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|cell| width(cell)).max().unwrap_or(0);
    (1..=WALL + GROUPS.len()).map(|i| 2 + widest(i)).sum()
}

fn longest_name(rows: &[Vec<String>]) -> usize {
    rows.iter().map(|row| width(&visible(&row[0]))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{failed, many_files, operations, proved, seconds, span, two_files, ODD_NAMES};
    use crate::report::spans::{Activity, Lane, Snapshot, Span};
    use crate::report::{DeviceWork, Memory};

    const PEAK: Memory = Memory { anonymous: Some(3 << 30), mapped: Some(1 << 20), resident_peak: None };

    fn of_files(files: Vec<FileRecord>) -> String {
        BatchReport::new(&Snapshot { files, now: seconds(20.0), ..Snapshot::default() }, &PEAK).table()
    }

    #[test]
    fn the_table_says_who_did_what_and_what_failed() {
        let expected = "\
file    outcome  parts    wall    read  synthesis  device  verify
a.json   proved      2  10.0 s  500 ms     4.00 s  3.50 s  250 ms
b.json   failed      -  10.0 s       -          -       -       -
total   2 files      2  20.0 s  500 ms     4.00 s  3.50 s  250 ms
files: 1 proved, 1 failed

stage      lanes  busy  while active  waits: input  memory  next stage
read           1  10 %         100 %           0 %     0 %         0 %
synthesis      1  45 %          69 %           0 %    10 %        10 %
device         1  75 %         100 %          20 %     0 %         0 %
assembly       1   2 %         100 %           0 %     0 %         0 %
write          1   0 %         100 %           0 %     0 %         0 %

throughput: 180 files/h, 720 partitions/h
peak memory: anonymous 3.00 GiB, mapped file pages 1.00 MiB
held back by the device: busy 75 % of the time

1 file failed:
  b.json: seed is all zero (input)
";
        let report = BatchReport::new(&two_files(), &PEAK);
        assert_eq!(report.table(), expected);
        let choice = DeviceChoice { name: "cpu".into(), not_cuda: Some("no driver".into()) };
        let timed = DeviceWork::of(&operations());
        let mut with_work = two_files();
        with_work.files[0].timings["device_work"] = timed.json();
        let table = BatchReport::new(&with_work, &PEAK).table();
        assert!(table.contains(&format!("\n\n{}\nstage ", timed.table())), "{table}");
        assert!(report.on(choice).table().contains("\n\ndevice: cpu, not CUDA: no driver\nthroughput: 180 files/h"));
    }

    #[test]
    fn a_run_without_device_work_tells_its_memory_and_no_shares() {
        let table = BatchReport::new(&Snapshot::default(), &Memory::default()).table();
        let end = "files: none\n\nthroughput: unknown files/h, unknown partitions/h\n\
                   peak memory: anonymous unknown, mapped file pages unknown\n";
        assert!(table.ends_with(end), "{table}");
        let table = of_files(vec![failed(0, "a.json", "bad")]);
        assert!(table.contains("\npeak memory: anonymous 3.00 GiB, mapped file pages 1.00 MiB\n"), "{table}");
        assert!(!table.contains("held back") && !table.contains("lanes"), "{table}");
    }

    #[test]
    fn odd_and_long_names_keep_the_columns_and_80_of_them() {
        let long = "x".repeat(300) + ".json";
        let mut files: Vec<_> = ODD_NAMES.iter().enumerate().map(|(job, name)| proved(job, name)).collect();
        files.push(FileRecord { wall: seconds(817.0), ..proved(5, &long) });
        files.push(failed(6, &long, "two\nlines\x1b[2J"));
        let table = of_files(files);
        let rows: Vec<&str> = table.lines().take_while(|line| !line.starts_with("files:")).collect();
        assert_eq!(rows.len(), 9, "{table}");
        assert!(rows.iter().all(|row| width(row) <= TERMINAL), "{table}");
        let full: Vec<_> = rows.iter().filter(|row| row.contains("proved")).map(|row| width(row)).collect();
        assert!(full.iter().all(|columns| *columns == full[0]), "{table}");
        assert!(table.contains("two\\nlines"), "{table}");
        assert!(table.contains(&format!("  {long}: two\\nlines\\u{{1b}}[2J (input)\n")), "{table}");
        assert!(table.chars().all(|c| c == '\n' || !c.is_control()), "{table}");
    }

    #[test]
    fn the_widest_figures_still_fit() {
        let mut file = proved(0, &"n".repeat(90));
        file.wall = seconds(817.0);
        for phase in file.timings["phases"].as_array_mut().unwrap() {
            phase["seconds"] = 1637.0.into();
        }
        let stopped = FileRecord { outcome: Outcome::Unfinished, ..file.clone() };
        let table = of_files(vec![file, stopped]);
        assert!(table.contains("13m37s"), "{table}");
        assert!(table.lines().all(|line| width(line) <= TERMINAL), "{table}");
    }

    #[test]
    fn all_failed_and_retried_says_so() {
        let names = ["a", "b", "c"].into_iter().enumerate();
        // Most messages begin with the file's name.
        let file =
            |(job, name): (usize, &str)| FileRecord { attempts: 2, ..failed(job, name, &format!("{name}: bad")) };
        let table = of_files(names.map(file).collect());
        assert!(table.contains("files: 3 failed\n"), "{table}");
        assert!(table.contains("3 files failed:\n  a, b, c: bad (input after 2 attempts)\n"), "{table}");
    }

    #[test]
    fn thousands_of_files_are_not_all_listed() {
        let table = BatchReport::new(&many_files(2000), &PEAK).table();
        assert!(table.lines().count() < LISTED + 20, "{table}");
        assert!(table.contains("and 1900 more\n") && table.contains("files: 2000 proved\n"), "{table}");
    }

    #[test]
    fn several_devices_have_a_row_each() {
        let mut snapshot = two_files();
        let lane = Lane { stage: Stage::Device, worker: 1 };
        snapshot.spans.push(Span { lane, ..span(Stage::Device, Activity::AwaitsInput, 0.0, 20.0) });
        let table = BatchReport::new(&snapshot, &PEAK).table();
        assert!(table.contains("\n  device 0") && table.contains("\n  device 1"), "{table}");
    }
}
