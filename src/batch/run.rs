//! A batch: every C1 file of a folder through the pipeline, each proof beside a journal line that says what it is.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rayon::ThreadPool;

use super::desk::{state, BatchDesk, SharedRecorder};
use super::{
    display_name, lock, proof_names, remove_leftovers, walk, Entry, Input, Journal, Lock, LockOptions, Shard, Writer,
};
use crate::c1::ReadOptions;
use crate::error::{Fault, OrFault, Result};
use crate::pipeline::budget::Budget;
use crate::pipeline::device::Device;
use crate::pipeline::job::Job;
use crate::pipeline::parameters::Source;
use crate::pipeline::proof_file::ProofFormat;
use crate::pipeline::run::Run;
use crate::pipeline::stop::Stop;
use crate::report::spans::{FileRecord, Outcome};
use crate::report::Progress;

/// What a batch is to do.
#[derive(Debug)]
pub struct Settings {
    pub input: PathBuf,
    pub out: PathBuf,
    pub format: ProofFormat,
    pub shard: Shard,
    /// Wait for another run in the same folder instead of refusing.
    pub wait: bool,
    pub fail_fast: bool,
    /// How often a file is tried again after a failure that may pass.
    pub retry: u32,
    pub deadline: Option<Duration>,
    pub check_c1: bool,
    pub check_witness: bool,
    pub read: ReadOptions,
    pub parameters: Source,
}

/// What a batch works with.
pub struct Means<'a> {
    pub devices: &'a [Device],
    pub synthesis: &'a ThreadPool,
    pub budget: Arc<Budget>,
    pub in_flight: usize,
    pub stop: &'a Stop,
    pub recorder: SharedRecorder,
    pub progress: &'a Progress,
}

/// A batch that may begin: its folder is locked, its files are known.
pub struct Prepared<'a> {
    settings: &'a Settings,
    lock: Lock,
    inputs: Vec<Input>,
    proofs: Vec<PathBuf>,
    journal: Journal,
    writer: Writer,
    /// What the journals are to learn of files that are not there any more.
    gone: Vec<Entry>,
    /// What is good to know: what was left out, and what was removed.
    pub notes: Vec<String>,
    /// What the user should look at: journal lines that make no sense.
    pub warnings: Vec<String>,
    /// What could not be looked at; each counts as a failed file.
    problems: Vec<(String, String)>,
}

impl<'a> Prepared<'a> {
    /// Locks the output folder, finds the files, reads the journals. `say` hears what is waited for.
    ///
    /// # Errors
    /// `Input`: no files. `Output`: the folder cannot be written, or another run is at work in it.
    pub fn new(settings: &'a Settings, stop: &Stop, say: &dyn Fn(&str)) -> Result<Self> {
        let said = Cell::new(false);
        let waiting = |message: &str| {
            if !said.replace(true) {
                say(&format!("{message}; waiting"));
            }
            if stop.is_requested() {
                crate::fail!(Fault::Interrupted, "stopped while waiting: {message}");
            }
            Ok(())
        };
        let options =
            LockOptions { wait: settings.wait.then_some(&waiting as lock::Waiting<'_>), ..LockOptions::default() };
        if !settings.out.exists() {
            // A mistyped input folder leaves no output folder.
            walk(&settings.input, &[])?;
        }
        let lock = Lock::acquire(&settings.out, settings.shard, &options)?;
        let out = display_name(&settings.out);
        let mut removed =
            remove_leftovers(&settings.out).or_fault(Fault::Output, || format!("{out}: cannot be written"))?;
        let found = walk(&settings.input, &[&settings.out])?;
        let journal = Journal::load(&settings.out)?;
        let gone = journal.missing(&found, settings.shard);
        let writer = Writer::open(&settings.out, settings.shard)?;
        let proofs = proof_names(&found.files, settings.format);
        removed += leftovers_below(&settings.out, &proofs);
        let mut notes = found.notes;
        let warnings = journal.complaints.clone();
        if removed > 0 {
            notes.push(format!("{out}: {removed} temporary files of runs that were killed removed"));
        }
        let problem = |p: super::walk::Problem| (display_name(&p.relative), p.message);
        let problems = found.problems.into_iter().map(problem).collect();
        Ok(Self { settings, lock, inputs: found.files, proofs, journal, writer, gone, notes, warnings, problems })
    }

    /// Is this path one of the C1 files, of their proofs, or of the journals and locks?
    pub fn holds(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        let same = |other: &Path| other.canonicalize().is_ok_and(|other| other == path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kept = name.starts_with(super::journal::PREFIX) || name.starts_with(lock::PREFIX);
        let proof = || self.proofs.iter().any(|proof| same(&self.settings.out.join(proof)));
        kept || self.inputs.iter().any(|input| same(&input.path)) || proof()
    }

    /// Files that were found, those of other shards included, and what could not be looked at.
    pub fn files(&self) -> usize {
        self.inputs.len() + self.problems.len()
    }

    /// Proves what is not proved yet; all results are in the recorder.
    pub fn run(self, means: &Means<'_>) {
        let Self { settings, lock, inputs, proofs, mut journal, mut writer, gone, problems, .. } = self;
        for entry in gone {
            // A journal that cannot be written fails the files that are proved.
            if writer.append(&entry).is_ok() {
                journal.add(entry);
            }
        }
        for (i, (name, message)) in problems.into_iter().enumerate() {
            means.recorder.file(unreadable(inputs.len() + i, name, message));
        }
        let desk = BatchDesk {
            inputs: &inputs,
            proofs: &proofs,
            folders: proofs.iter().flat_map(|proof| proof.ancestors().skip(1)).collect(),
            out: &settings.out,
            format: settings.format,
            shard: settings.shard,
            lock: &lock,
            options: settings.read,
            fail_fast: settings.fail_fast,
            retry: settings.retry,
            stop: means.stop,
            recorder: &means.recorder,
            state: state(journal, writer, inputs.len()),
        };
        let run = Run {
            devices: means.devices,
            synthesis: means.synthesis,
            budget: means.budget.clone(),
            in_flight: means.in_flight,
            source: &settings.parameters,
            options: settings.read,
            check_c1: settings.check_c1,
            check_witness: settings.check_witness,
            deadline: settings.deadline,
            stop: means.stop,
            recorder: &means.recorder,
            progress: means.progress,
            desk: &desk,
        };
        let mut jobs: Vec<Job> = (0..inputs.len()).map(|i| job(&inputs[i], i)).collect();
        while !jobs.is_empty() {
            run.run(jobs);
            let mut again = std::mem::take(&mut desk.state.lock().unwrap_or_else(|e| e.into_inner()).again);
            again.sort_unstable();
            jobs = again.into_iter().map(|i| job(&inputs[i], i)).collect();
        }
    }
}

/// Removes what killed runs left beside proofs in folders below `out`. One that is not there yet, or cannot be looked at,
/// fails the files whose proofs belong there.
fn leftovers_below(out: &Path, proofs: &[PathBuf]) -> usize {
    let folders: BTreeSet<_> = proofs.iter().filter_map(|proof| proof.parent()).collect();
    let below = folders.into_iter().filter(|folder| !folder.as_os_str().is_empty());
    below.map(|folder| out.join(folder)).filter(|f| f.is_dir()).filter_map(|f| remove_leftovers(&f).ok()).sum()
}

fn job(input: &Input, index: usize) -> Job {
    // A file whose size cannot be told fails when it is read.
    let bytes = std::fs::metadata(&input.path).map_or(0, |found| found.len());
    Job { index, name: display_name(&input.relative), bytes }
}

fn unreadable(job: usize, name: String, message: String) -> FileRecord {
    FileRecord {
        job,
        name,
        content: None,
        partitions: 0,
        attempts: 1,
        outcome: Outcome::Failed { fault: "input".into(), message },
        wall: Duration::ZERO,
        timings: serde_json::Value::Null,
    }
}

/// What a folder's journals hold.
pub struct Records {
    /// By shard, in the order of their names.
    pub shards: Vec<(String, Vec<FileRecord>)>,
    /// Names of files that failed and that the input folder had no more when a later run began.
    pub gone: Vec<String>,
    /// What makes no sense in them.
    pub complaints: Vec<String>,
}

/// The journals of a folder as records, shard by shard, for a report.
///
/// # Errors
/// Those of [`Journal::load`].
pub fn records(out: &Path) -> Result<Records> {
    let mut journal = Journal::load(out)?;
    let complaints = std::mem::take(&mut journal.complaints);
    let mut shards: BTreeMap<String, Vec<FileRecord>> =
        journal.entries().map(|entry| (entry.shard.clone(), Vec::new())).collect();
    let (listed, gone) = journal.listed();
    for (shard, record) in listed {
        shards.entry(shard).or_default().push(record);
    }
    Ok(Records { shards: shards.into_iter().collect(), gone, complaints })
}
