//! Files that the journals know and the input folder has no more: removed, or renamed.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use super::{host_and_version, unix_ms, Entry, Journal, Outcome};
use crate::batch::{Shard, Walk};
use crate::report::spans::{self, FileRecord};

impl Journal {
    /// Entries that say which files, known here and not said to be gone, a folder has no more. What may lie where it cannot be
    /// looked at is not among them.
    pub fn missing(&self, found: &Walk, shard: Shard) -> Vec<Entry> {
        let there: HashSet<&Path> = found.files.iter().map(|input| input.relative.as_path()).collect();
        let hidden = |path: &Path| found.problems.iter().any(|problem| path.starts_with(&problem.relative));
        let gone = self.gone();
        let missing = |entry: &&Entry| {
            let path = entry.path.as_path();
            !there.contains(path) && !gone.contains(path) && !hidden(path)
        };
        self.latest().into_iter().filter(missing).map(|entry| as_gone(entry, shard)).collect()
    }

    /// Paths whose newest entry says that they are gone.
    pub fn gone(&self) -> HashSet<&Path> {
        let newest = self.newest(|_| true).into_iter();
        newest.filter(|(_, entry)| entry.outcome == Outcome::Gone).map(|(path, _)| path).collect()
    }

    /// What a report lists: each file's newest entry by its shard, as records, and the names of files that failed and are gone.
    /// Of a file that was proved and renamed there is one record, under the name that it has; a proved one that was removed
    /// stays.
    pub fn listed(&self) -> (Vec<(String, FileRecord)>, Vec<String>) {
        let gone = self.gone();
        let (left, there): (Vec<&Entry>, Vec<&Entry>) =
            self.latest().into_iter().partition(|entry| gone.contains(entry.path.as_path()));
        let proved: HashSet<_> = there.iter().filter(|e| e.proof_file().is_some()).map(|e| &e.c1).collect();
        let (mut listed, mut failed, mut before) = (there.clone(), Vec::new(), HashMap::new());
        for entry in left {
            if entry.proof_file().is_none() {
                failed.push(entry.name.clone());
            } else if proved.contains(&entry.c1) {
                before.insert((entry.name.clone(), entry.c1.clone()), entry);
            } else {
                listed.push(entry);
            }
        }
        listed.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let record = |(job, entry): (usize, &Entry)| {
            let record = entry.record(job);
            // Of several copies one takes its place.
            let earlier = entry.copy_of.clone().and_then(|name| before.remove(&(name, entry.c1.clone())));
            (entry.shard.clone(), earlier.map_or(record.clone(), |earlier| under_its_name(record, earlier)))
        };
        (listed.into_iter().enumerate().map(record).collect(), failed)
    }
}

fn as_gone(entry: &Entry, shard: Shard) -> Entry {
    let now = unix_ms(SystemTime::now());
    let (host, cuzk) = host_and_version();
    Entry {
        outcome: Outcome::Gone,
        copy_of: None,
        timings: serde_json::Value::Null,
        started_ms: now,
        ended_ms: now,
        attempts: 1,
        shard: shard.to_string(),
        host,
        cuzk,
        ..entry.clone()
    }
}

/// The record of a renamed file: its proof's copy, with the work that its first one was.
fn under_its_name(copy: FileRecord, earlier: &Entry) -> FileRecord {
    let spans::Outcome::Skipped { proof, .. } = copy.outcome else { return copy };
    let FileRecord { job, name, .. } = copy;
    FileRecord { name, outcome: spans::Outcome::Proved { proof }, ..earlier.record(job) }
}
