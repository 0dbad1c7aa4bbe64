//! One line of the journal.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::batch::lock::host_name;
use crate::batch::text::{self, display_name};
use crate::circuit::SealProof;
use crate::error::{Error, Fault};
use crate::pipeline::proof_file::UsedParameters;
use crate::report::spans::{self, FileRecord};

/// The format of the lines.
const VERSION: u32 = 1;

/// What every line begins with.
const HEAD: &[u8] = b"{\"journal\":";

/// What became of one file in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`content_hash`](crate::batch::content_hash) of the C1 file; none where it could not be read.
    pub c1: Option<String>,
    /// The path for people.
    pub name: String,
    /// The path below the input folder; in the line every byte that is not UTF-8, and `%`, as `%XX`.
    #[serde(with = "text")]
    pub path: PathBuf,
    /// None where the file is no C1 output.
    pub registered_proof: Option<SealProof>,
    /// None where the run did not get as far.
    pub parameters: Option<UsedParameters>,
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The file of the same content whose proof was copied for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<String>,
    /// Where the time went, as the report has it.
    pub timings: Value,
    /// Unix time in milliseconds, by the clock of `host`.
    pub started_ms: u64,
    pub ended_ms: u64,
    /// How often it was tried in that run, at least 1.
    pub attempts: u32,
    /// The version of cuzk.
    pub cuzk: String,
    /// K/N.
    pub shard: String,
    pub host: String,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    Proved {
        /// Relative to the output folder, written as `path` is.
        #[serde(with = "text")]
        proof_file: PathBuf,
        /// [`content_hash`](crate::batch::content_hash) of the proof file.
        proof_hash: String,
    },
    Failed {
        /// The fault's name.
        fault: String,
        message: String,
    },
    /// Not tried: the input folder had it no more when a later run began. What was proved of it counts still.
    Gone,
}

impl Outcome {
    /// The outcome of an error.
    pub fn failed(error: &Error) -> Self {
        Self::Failed { fault: fault_name(error.fault()), message: error.to_string() }
    }

    /// The fault of a failure; `Internal` where this version does not know its name.
    pub fn fault(&self) -> Option<Fault> {
        let Self::Failed { fault, .. } = self else { return None };
        let known = Fault::TABLE.iter().map(|(known, ..)| *known).find(|known| fault_name(*known) == *fault);
        Some(known.unwrap_or(Fault::Internal))
    }
}

fn fault_name(fault: Fault) -> String {
    format!("{fault:?}").to_lowercase()
}

/// What each line says of its writer: the host's name, and cuzk's version.
pub fn host_and_version() -> (String, String) {
    (host_name(), env!("CARGO_PKG_VERSION").into())
}

/// Unix time in milliseconds; 0 before 1970.
pub fn unix_ms(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[derive(Serialize)]
struct Line<'a> {
    journal: u32,
    #[serde(flatten)]
    entry: &'a Entry,
}

#[derive(Deserialize)]
struct Version {
    journal: u32,
}

impl Entry {
    /// The proof file, relative to the output folder; None where it was not proved.
    pub fn proof_file(&self) -> Option<&PathBuf> {
        match &self.outcome {
            Outcome::Proved { proof_file, .. } => Some(proof_file),
            Outcome::Failed { .. } | Outcome::Gone => None,
        }
    }

    /// The entry as a report has it; `job` is its place there.
    pub fn record(&self, job: usize) -> FileRecord {
        let outcome = match &self.outcome {
            Outcome::Proved { proof_file, .. } if self.copy_of.is_some() => {
                spans::Outcome::Skipped { proof: display_name(proof_file), same_as: self.copy_of.clone() }
            }
            Outcome::Proved { proof_file, .. } => spans::Outcome::Proved { proof: display_name(proof_file) },
            Outcome::Failed { fault, message } => {
                spans::Outcome::Failed { fault: fault.clone(), message: message.clone() }
            }
            Outcome::Gone => spans::Outcome::Unfinished,
        };
        FileRecord {
            job,
            name: self.name.clone(),
            content: self.c1.clone(),
            partitions: self.registered_proof.map_or(0, |proof| usize::from(proof.partitions())),
            attempts: self.attempts as usize,
            outcome,
            wall: Duration::from_millis(self.ended_ms.saturating_sub(self.started_ms)),
            timings: self.timings.clone(),
        }
    }

    /// One line with its end; no byte before it is a line feed.
    pub(super) fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(&Line { journal: VERSION, entry: self })?;
        line.push(b'\n');
        Ok(line)
    }

    /// The inverse, without the line's end.
    pub(super) fn from_line(line: &[u8]) -> serde_json::Result<Self> {
        let Version { journal } = serde_json::from_slice(line)?;
        if journal != VERSION {
            let message = format!("expected format {VERSION}, got {journal}: written by another version of cuzk");
            return Err(serde::de::Error::custom(message));
        }
        serde_json::from_slice(line)
    }
}

/// Whether a line that is no entry is the beginning of one, cut off where a run was killed or the disk was full.
pub(super) fn is_torn(line: &[u8], error: &serde_json::Error) -> bool {
    // A number cut after its point is no error of the end for serde_json; but only the end is a brace.
    (line.starts_with(HEAD) || HEAD.starts_with(line)) && (error.is_eof() || !line.ends_with(b"}"))
}
