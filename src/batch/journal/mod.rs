//! What is done: one line a file, appended and synchronised when the file's proof is under its name.
//!
//! Each shard appends to a file of its own, so that no two machines ever write into one; whoever reads takes all of them.
//! A line that a kill or a full disk cut off is ignored: its file is proved again, or its proof found as an
//! [`orphan`](Journal::orphan).

mod entry;
mod gone;
mod writer;

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::content_hash;
use super::shard::Shard;
use super::text::display_name;
use crate::error::{Fault, OrFault, Result};
use crate::files::{open_regular, read_small};

pub use entry::{host_and_version, unix_ms, Entry, Outcome};
pub use writer::Writer;

/// What the names of all journals begin with.
pub const PREFIX: &str = "cuzk-journal.";
const SUFFIX: &str = ".jsonl";

/// No proof file is larger: 16 partitions as JSON take 7 kB.
const MAX_PROOF_BYTES: u64 = 1 << 20;

/// The journals of all shards in one output folder.
#[derive(Debug, Default)]
pub struct Journal {
    records: Vec<Record>,
    /// What could not be understood: of each journal the first line, and how many more there are. It stops nothing: such
    /// lines count as absent.
    pub complaints: Vec<String>,
    /// Records that say a content was proved with parameters of a digest, the newest last.
    proved: HashMap<(String, String), Vec<usize>>,
}

#[derive(Debug)]
struct Record {
    entry: Entry,
    /// Which of the journals it is from: within one, later lines are newer, whatever the clock said.
    source: usize,
}

/// The journal of one shard.
fn file_of(out: &Path, shard: Shard) -> PathBuf {
    out.join(format!("{PREFIX}{}{SUFFIX}", shard.label()))
}

impl Journal {
    /// Reads the journals of all shards; a folder without one, or none at all, is an empty journal.
    ///
    /// # Errors
    /// `Output`: the folder or a journal in it cannot be read. To go on would prove everything again.
    pub fn load(out: &Path) -> Result<Self> {
        let mut journal = Self::default();
        for (source, path) in files(out)?.iter().enumerate() {
            let mut bytes = Vec::new();
            open_regular(path)
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .or_fault(Fault::Output, || format!("{}: the journal cannot be read", display_name(path)))?;
            journal.take(source, path, &bytes);
        }
        journal.index();
        Ok(journal)
    }

    fn take(&mut self, source: usize, path: &Path, bytes: &[u8]) {
        // The first line that is wrong, with its error, and how many are.
        let (mut wrong, mut count) = (None, 0);
        for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if text.is_empty() {
                continue;
            }
            match Entry::from_line(text) {
                Ok(entry) => self.records.push(Record { entry, source }),
                Err(error) if entry::is_torn(text, &error) => {}
                Err(error) => {
                    count += 1;
                    wrong.get_or_insert((line + 1, error));
                }
            }
        }
        let place = display_name(path);
        self.complaints.extend(wrong.map(|(line, error)| match count {
            1 => format!("{place}, line {line}: not an entry, ignored: {error}"),
            _ => format!("{place}, line {line} and {} more: not entries, ignored; the first: {error}", count - 1),
        }));
    }

    fn index(&mut self) {
        for (i, Record { entry, .. }) in self.records.iter().enumerate() {
            let (Outcome::Proved { .. }, Some(c1), Some(used)) = (&entry.outcome, &entry.c1, &entry.parameters) else {
                continue;
            };
            self.proved.entry((c1.clone(), used.digest.clone())).or_default().push(i);
        }
        let mut proved = std::mem::take(&mut self.proved);
        for list in proved.values_mut() {
            // Stable: entries of one journal that ended in the same millisecond stay in their order.
            list.sort_by_key(|&i| self.records[i].entry.ended_ms);
        }
        self.proved = proved;
    }

    /// Takes in an entry that was just appended, so that later files of this run find it.
    pub fn add(&mut self, entry: Entry) {
        let i = self.records.len();
        if let (Outcome::Proved { .. }, Some(c1), Some(used)) = (&entry.outcome, &entry.c1, &entry.parameters) {
            self.proved.entry((c1.clone(), used.digest.clone())).or_default().push(i);
        }
        // What this run appends is newer than all that was loaded.
        self.records.push(Record { entry, source: usize::MAX });
    }

    /// Entries that say this content was proved, with whatever parameters; the newest first.
    pub fn proofs_of<'a>(&'a self, content_hash: &'a str) -> impl Iterator<Item = &'a Entry> {
        let proved = |e: &&Entry| matches!(e.outcome, Outcome::Proved { .. }) && e.c1.as_deref() == Some(content_hash);
        self.records.iter().rev().map(|record| &record.entry).filter(proved)
    }

    /// All entries: journal by journal, line by line.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.records.iter().map(|record| &record.entry)
    }

    /// The newest entry that says this content was proved with parameters of this digest.
    pub fn find(&self, content_hash: &str, parameters_digest: &str) -> Option<&Entry> {
        self.proved(content_hash, parameters_digest).next()
    }

    /// The newest such entry whose proof file is still what was written.
    pub fn find_valid(&self, content_hash: &str, parameters_digest: &str, out: &Path) -> Option<&Entry> {
        self.proved(content_hash, parameters_digest).find(|entry| still_valid(entry, out))
    }

    /// Such entries, the newest first.
    fn proved(&self, content_hash: &str, parameters_digest: &str) -> impl Iterator<Item = &Entry> {
        let found = self.proved.get(&(content_hash.to_owned(), parameters_digest.to_owned()));
        found.into_iter().flatten().rev().map(|&i| &self.records[i].entry)
    }

    /// The newest entry of each file that tells of work on it, by its path below the input folder, in the order of paths.
    pub fn latest(&self) -> Vec<&Entry> {
        let mut latest: Vec<_> = self.newest(|entry| entry.outcome != Outcome::Gone).into_values().collect();
        latest.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        latest
    }

    /// Of each path the newest entry of those that count.
    fn newest(&self, counts: impl Fn(&Entry) -> bool) -> HashMap<&Path, &Entry> {
        let mut newest: HashMap<&Path, &Record> = HashMap::new();
        for record in self.records.iter().filter(|record| counts(&record.entry)) {
            let kept = newest.entry(&record.entry.path).or_insert(record);
            if kept.source == record.source || kept.entry.ended_ms <= record.entry.ended_ms {
                *kept = record;
            }
        }
        newest.into_iter().map(|(path, record)| (path, &record.entry)).collect()
    }

    /// The bytes of a proof file, named relative to `out`, of which no entry knows: its run was killed between renaming and
    /// recording, or somebody else put it there. The caller verifies it before it believes it.
    ///
    /// # Errors
    /// `Output`: something is there and cannot be read.
    pub fn orphan(&self, out: &Path, proof_file: &Path) -> Result<Option<Vec<u8>>> {
        let path = out.join(proof_file);
        let bytes = match read_small(&path, MAX_PROOF_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error)
                    .or_fault(Fault::Output, || format!("{}: not to be read as an earlier proof", display_name(&path)))
            }
        };
        let hash = content_hash(&bytes);
        let known = self.entries().any(|entry| match &entry.outcome {
            Outcome::Proved { proof_file: file, proof_hash } => file == proof_file && *proof_hash == hash,
            Outcome::Failed { .. } | Outcome::Gone => false,
        });
        Ok((!known).then_some(bytes))
    }
}

/// Whether the proof file of an entry is what was written then. It was verified before it was written.
pub fn still_valid(entry: &Entry, out: &Path) -> bool {
    match &entry.outcome {
        Outcome::Proved { proof_file, proof_hash } => {
            read_small(&out.join(proof_file), MAX_PROOF_BYTES).is_ok_and(|bytes| content_hash(&bytes) == *proof_hash)
        }
        Outcome::Failed { .. } | Outcome::Gone => false,
    }
}

/// The journals in a folder, sorted by name.
fn files(out: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("{}: cannot be read", display_name(out));
    let entries = match fs::read_dir(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.or_fault(Fault::Output, cannot)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let name = entry.or_fault(Fault::Output, cannot)?.file_name();
        let label = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        if label.and_then(Shard::from_label).is_some() {
            files.push(out.join(name));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
