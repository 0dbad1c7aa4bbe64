//! The state of a run in Prometheus' text format, for node_exporter's textfile collector.

use std::fmt::Display;

use super::batch::{phase_totals, Counts};
use super::lanes::Usages;
use super::spans::{Outcome, Snapshot, Stage};
use super::Memory;

/// All metrics, with memory now and at its peak. Base units: seconds and bytes. Files that failed have a series each, others
/// are counted only.
pub fn text(snapshot: &Snapshot, now: &Memory, peak: &Memory) -> String {
    let mut text = Text(String::new());
    files(&mut text, snapshot);
    lanes(&mut text, snapshot);
    memory(&mut text, now, peak);
    text.family("cuzk_start_time_seconds", "gauge", "Start of the run since the Unix epoch.");
    text.sample("cuzk_start_time_seconds", &[], snapshot.started.as_secs_f64());
    text.family("cuzk_last_update_time_seconds", "gauge", "When this was written, since the Unix epoch.");
    text.sample("cuzk_last_update_time_seconds", &[], (snapshot.started + snapshot.now).as_secs_f64());
    text.0
}

fn files(text: &mut Text, snapshot: &Snapshot) {
    text.family("cuzk_files_total", "counter", "Files that have ended, by outcome.");
    for (outcome, files) in Counts::of(&snapshot.files).by_name() {
        text.sample("cuzk_files_total", &[("outcome", outcome)], files);
    }
    text.family("cuzk_partitions_total", "counter", "Partitions that a device has finished.");
    text.sample("cuzk_partitions_total", &[], snapshot.device_partitions().len());
    text.family("cuzk_phase_seconds_total", "counter", "Time in each phase, summed over files that have ended.");
    for total in phase_totals(&snapshot.files) {
        text.sample("cuzk_phase_seconds_total", &[("phase", total.phase.name())], total.seconds);
    }
    text.family("cuzk_file_failed", "gauge", "1 for each file that failed.");
    for file in &snapshot.files {
        if let Outcome::Failed { fault, .. } = &file.outcome {
            let place = (file.job + 1).to_string();
            text.sample("cuzk_file_failed", &[("place", &place), ("file", &file.name), ("fault", fault)], 1);
        }
    }
}

fn lanes(text: &mut Text, snapshot: &Snapshot) {
    const SECONDS: &str = "cuzk_lane_seconds_total";
    text.family(SECONDS, "counter", "Time of each worker of a stage, by what it did: work, or waiting for what.");
    for (lane, usage) in Usages::new(snapshot).0 {
        let states = [
            ("work", usage.busy),
            ("awaits_input", usage.awaits_input),
            ("awaits_memory", usage.awaits_memory),
            ("awaits_output", usage.awaits_output),
        ];
        let worker = lane.worker.to_string();
        for (state, wall) in states {
            let labels = [("stage", lane.stage.name()), ("worker", worker.as_str()), ("state", state)];
            text.sample(SECONDS, &labels, wall.as_secs_f64());
        }
    }
    text.family("cuzk_queue_depth", "gauge", "Items that wait in front of each stage.");
    for stage in Stage::ALL {
        text.sample("cuzk_queue_depth", &[("stage", stage.name())], snapshot.queues[stage as usize]);
    }
}

/// What the system does not tell is left out.
fn memory(text: &mut Text, now: &Memory, peak: &Memory) {
    let families = [
        ("cuzk_memory_bytes", "Resident memory now: anonymous pages, mapped file pages.", now),
        ("cuzk_memory_peak_bytes", "Peak of resident memory: anonymous pages, mapped file pages.", peak),
    ];
    for (name, help, memory) in families {
        text.family(name, "gauge", help);
        for (kind, figure) in [("anonymous", memory.anonymous), ("mapped", memory.mapped)] {
            if let Some(bytes) = figure {
                text.sample(name, &[("kind", kind)], bytes);
            }
        }
    }
}

struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.0 += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.0 += &format!("{name}{labels} {value}\n");
    }
}

/// A label's value: backslash, quote and line feed are all that the format reserves.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::report::samples::{failed, many_files, two_files, ODD_NAMES};

    const NOW: Memory = Memory { anonymous: Some(5), mapped: None, resident_peak: Some(9) };
    const PEAK: Memory = Memory { anonymous: Some(7), mapped: Some(8), resident_peak: Some(9) };

    /// Series (name with sorted, unescaped labels) and their values. Panics at what a scraper would refuse: a sample outside
    /// its family, a family twice, a series twice, a value that is no number, a label that does not end.
    fn scrape(text: &str) -> BTreeMap<(String, BTreeMap<String, String>), f64> {
        assert!(text.ends_with('\n'));
        let (mut series, mut families, mut family) = (BTreeMap::new(), BTreeSet::new(), String::new());
        // Not `lines()`: a carriage return ends no line here.
        for line in text.trim_end_matches('\n').split('\n') {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap().to_owned();
                assert!(families.insert(family.clone()), "{line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert!(name == family && matches!(kind, "counter" | "gauge"), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            } else {
                let end = line.find(['{', ' ']).unwrap();
                assert_eq!(&line[..end], family);
                let (labels, value) = labels(&line[end..]);
                let value = value.strip_prefix(' ').unwrap().parse().unwrap();
                assert!(series.insert((family.clone(), labels), value).is_none(), "{line}");
            }
        }
        series
    }

    fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
        let mut labels = BTreeMap::new();
        let Some(mut rest) = text.strip_prefix('{') else { return (labels, text) };
        loop {
            let (key, after) = rest.split_once("=\"").unwrap();
            let (mut value, mut chars) = (String::new(), after.char_indices());
            let end = loop {
                match chars.next().unwrap() {
                    (_, '\\') => value.push(match chars.next().unwrap().1 {
                        'n' => '\n',
                        c @ ('\\' | '"') => c,
                        c => panic!("\\{c}"),
                    }),
                    (i, '"') => break i,
                    (_, c) => value.push(c),
                }
            };
            assert!(key.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{key}");
            assert!(labels.insert(key.to_owned(), value).is_none());
            rest = &after[end + 1..];
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return (labels, rest.strip_prefix('}').unwrap()),
            }
        }
    }

    fn value(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        scrape(text).get(&(name.to_owned(), labels)).copied()
    }

    #[test]
    fn figures_arrive_at_the_scraper() {
        let mut snapshot = two_files();
        snapshot.queues[Stage::Device as usize] = 3;
        let text = text(&snapshot, &NOW, &PEAK);
        let value = |name, labels: &[_]| value(&text, name, labels);
        assert_eq!(value("cuzk_files_total", &[("outcome", "proved")]), Some(1.0));
        assert_eq!(value("cuzk_files_total", &[("outcome", "skipped")]), Some(0.0));
        assert_eq!(value("cuzk_partitions_total", &[]), Some(4.0));
        assert_eq!(value("cuzk_phase_seconds_total", &[("phase", "sum_h")]), Some(1.5));
        let lane = |stage, state| [("stage", stage), ("worker", "0"), ("state", state)];
        assert_eq!(value("cuzk_lane_seconds_total", &lane("device", "work")), Some(15.0));
        assert_eq!(value("cuzk_lane_seconds_total", &lane("synthesis", "awaits_memory")), Some(2.0));
        assert_eq!(value("cuzk_queue_depth", &[("stage", "device")]), Some(3.0));
        assert_eq!(value("cuzk_memory_bytes", &[("kind", "anonymous")]), Some(5.0));
        assert_eq!(value("cuzk_memory_bytes", &[("kind", "mapped")]), None);
        assert_eq!(value("cuzk_memory_peak_bytes", &[("kind", "mapped")]), Some(8.0));
        assert_eq!(value("cuzk_start_time_seconds", &[]), Some(1000.0));
        assert_eq!(value("cuzk_last_update_time_seconds", &[]), Some(1020.0));
        let failed = [("place", "2"), ("file", "b.json"), ("fault", "Input")];
        assert_eq!(value("cuzk_file_failed", &failed), Some(1.0));
    }

    #[test]
    fn odd_names_survive_as_labels() {
        let files: Vec<_> = ODD_NAMES.iter().enumerate().map(|(job, name)| failed(job, name, "bad")).collect();
        let text = text(&Snapshot { files, ..Snapshot::default() }, &NOW, &PEAK);
        for (job, name) in ODD_NAMES.iter().enumerate() {
            let place = (job + 1).to_string();
            assert_eq!(
                value(&text, "cuzk_file_failed", &[("place", &place), ("file", name), ("fault", "Input")]),
                Some(1.0)
            );
        }
    }

    #[test]
    fn an_empty_run_and_a_long_one_can_be_scraped() {
        let empty = text(&Snapshot::default(), &Memory::default(), &Memory::default());
        assert_eq!(value(&empty, "cuzk_partitions_total", &[]), Some(0.0));
        let long = text(&many_files(300), &NOW, &PEAK);
        assert_eq!(value(&long, "cuzk_partitions_total", &[]), Some(3000.0));
    }
}
