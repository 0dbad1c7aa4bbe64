//! The journals of several runs or machines as one report.

use std::collections::BTreeMap;

use super::batch::{BatchReport, Counts};
use super::spans::{FileRecord, Outcome};

impl BatchReport {
    /// Merges the journals of shards: each with its name and its records in the order in which they were written.
    ///
    /// Within a journal the last record of a name counts, but "skipped" confirms what an earlier record of the same content
    /// says. Among journals the best outcome of a name and content counts, and a record without content (the file could
    /// not be read there) yields to any other of its name. Files are in the order of their names.
    pub fn merge(journals: Vec<(String, Vec<FileRecord>)>) -> Self {
        let mut shards = Vec::new();
        let mut best = BTreeMap::<(String, Option<String>), FileRecord>::new();
        for (shard, records) in journals {
            let last = last_of_each_name(records);
            shards.push((shard, Counts::of(last.values())));
            for record in last.into_values() {
                let key = (record.name.clone(), record.content.clone());
                if best.get(&key).is_none_or(|other| rank(&record) < rank(other)) {
                    best.insert(key, record);
                }
            }
        }
        let known: Vec<String> = best.keys().filter(|key| key.1.is_some()).map(|key| key.0.clone()).collect();
        best.retain(|(name, content), _| content.is_some() || known.binary_search(name).is_err());
        let in_order = best.into_values().enumerate();
        Self { files: in_order.map(|(job, file)| FileRecord { job, ..file }).collect(), shards, ..Self::default() }
    }
}

fn last_of_each_name(records: Vec<FileRecord>) -> BTreeMap<String, FileRecord> {
    let mut last = BTreeMap::<String, FileRecord>::new();
    for record in records {
        let confirms = |earlier: &FileRecord| {
            matches!(record.outcome, Outcome::Skipped { .. })
                && matches!(earlier.outcome, Outcome::Proved { .. })
                && earlier.content == record.content
        };
        if !last.get(&record.name).is_some_and(confirms) {
            last.insert(record.name.clone(), record);
        }
    }
    last
}

/// The lower, the better.
fn rank(record: &FileRecord) -> u8 {
    match record.outcome {
        Outcome::Proved { .. } => 0,
        Outcome::Skipped { .. } => 1,
        Outcome::Failed { .. } => 2,
        Outcome::Unfinished => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{failed, proved};

    fn skipped(job: usize, name: &str) -> FileRecord {
        FileRecord {
            outcome: Outcome::Skipped { proof: "p".into(), same_as: None },
            timings: serde_json::Value::Null,
            ..proved(job, name)
        }
    }

    fn unread(name: &str) -> FileRecord {
        FileRecord { content: None, ..failed(9, name, "cannot be read") }
    }

    fn names(report: &BatchReport) -> Vec<(&str, &str)> {
        report.files.iter().map(|file| (file.name.as_str(), file.outcome.name())).collect()
    }

    #[test]
    fn a_second_run_confirms_or_replaces_what_the_first_wrote() {
        let journal = vec![
            proved(1, "a"),
            failed(2, "b", "device"),
            unread("c"),
            skipped(1, "a"),
            proved(2, "b"),
            proved(3, "c"),
        ];
        let report = BatchReport::merge(vec![("0".into(), journal)]);
        assert_eq!(names(&report), [("a", "proved"), ("b", "proved"), ("c", "proved")]);
        // A file replaced under its name counts with its new content.
        let report = BatchReport::merge(vec![("0".into(), vec![proved(1, "a"), skipped(2, "a")])]);
        assert_eq!(names(&report), [("a", "skipped")]);
    }

    #[test]
    fn the_best_outcome_of_all_shards_counts() {
        let shards = vec![
            ("0".to_owned(), vec![proved(1, "a"), failed(2, "b", "device"), unread("c")]),
            ("1".to_owned(), vec![skipped(1, "a"), proved(2, "b"), failed(3, "c", "bad")]),
        ];
        let report = BatchReport::merge(shards);
        assert_eq!(names(&report), [("a", "proved"), ("b", "proved"), ("c", "failed")]);
        assert_eq!(report.failed().count(), 1);
        let json = report.json();
        assert_eq!((&json["wall_seconds"], &json["held_back"]), (&serde_json::Value::Null, &serde_json::Value::Null));
        assert_eq!(json["partitions"], serde_json::json!({"proved": 4, "through_devices": null}));
        assert_eq!(json["shards"][0]["files"]["failed"], 2);
        assert_eq!(
            json["shards"][1],
            serde_json::json!({
                "shard": "1", "partitions": 2,
                "files": {"total": 3, "proved": 1, "skipped": 1, "failed": 1, "unfinished": 0},
            })
        );
        let table = report.table();
        assert!(table.contains("\n0           1        0       2           0      2\n"), "{table}");
        assert!(!table.contains("held back") && !table.contains("stage "), "{table}");
    }

    #[test]
    fn the_same_content_under_two_names_is_two_files() {
        let report = BatchReport::merge(vec![("0".into(), vec![proved(1, "a"), proved(1, "b")]), ("1".into(), vec![])]);
        assert_eq!(report.counts().proved, 2);
        assert_eq!(report.files.iter().map(|file| file.job).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(BatchReport::merge(vec![]).counts().total(), 0);
    }
}
