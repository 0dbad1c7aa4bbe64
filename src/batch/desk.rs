//! A batch's desk: files come from a folder, proofs and journal lines go to another.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::journal::{host_and_version, still_valid, unix_ms, Entry, Journal, Outcome, Writer};
use super::{content_hash, display_name, read_stable, Input, Lock, Shard};
use crate::c1::{self, ReadOptions, C1};
use crate::circuit::SealProof;
use crate::error::{Error, Fault, OrFault, Result};
use crate::fail;
use crate::files::kind;
use crate::pipeline::job::{Delivered, Desk, Ended, Ending, File, Job, Open, Triage};
use crate::pipeline::output::Output;
use crate::pipeline::proof_file::{self, ProofFile, ProofFormat, UsedParameters};
use crate::pipeline::stages;
use crate::pipeline::stop::Stop;
use crate::report::spans::{self, FileRecord, Recorder};
use crate::report::{Memory, Timings};

/// Time between the first attempt to write a proof and the second; it doubles from one to the next.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Up to this: other files' proofs wait meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// What the desk of one run works with.
pub(super) struct BatchDesk<'a> {
    pub inputs: &'a [Input],
    /// The proof files, relative to `out`, input by input.
    pub proofs: &'a [PathBuf],
    /// The folders they lie in, likewise.
    pub folders: HashSet<&'a Path>,
    pub out: &'a Path,
    pub format: ProofFormat,
    pub shard: Shard,
    pub lock: &'a Lock,
    pub options: ReadOptions,
    pub fail_fast: bool,
    /// How often a file may be tried again.
    pub retry: u32,
    pub stop: &'a Stop,
    pub recorder: &'a Recorder,
    pub state: Mutex<State>,
}

/// What changes while the batch runs.
pub(super) struct State {
    pub journal: Journal,
    pub writer: Writer,
    /// How often each file was tried, this time included.
    pub attempts: Vec<u32>,
    /// When each file was begun.
    pub begun: Vec<SystemTime>,
    /// Files that failed and may be tried again, and those whose content was in work.
    pub again: Vec<usize>,
    /// Contents of files that have been read and have not ended.
    pub in_work: HashSet<String>,
    /// Files of this run whose proof was copied, and from which.
    pub copies: HashMap<usize, String>,
}

impl BatchDesk<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The proof's place for people.
    fn place(&self, job: &Job) -> String {
        display_name(&self.out.join(&self.proofs[job.index]))
    }

    /// # Errors
    /// `Output`: what bears the name of this file's proof is nothing that a proof may replace.
    fn place_is_free(&self, job: &Job) -> Result<()> {
        let own = &self.proofs[job.index];
        let path = self.out.join(own);
        let found = std::fs::symlink_metadata(&path).ok().filter(|found| !found.is_file() && !found.is_symlink());
        let what = match found {
            Some(found) => kind(&found),
            None if self.folders.contains(own.as_path()) => "the folder of other files' proofs",
            None => return Ok(()),
        };
        fail!(
            Fault::Output,
            "{}: expected no more than an earlier proof of this file, got {what}; move it away, or rename the C1 file",
            display_name(&path)
        )
    }

    /// Writes a proof file and records it.
    fn publish(&self, job: &Job, bytes: &[u8], content: &str, about: About) -> Result<String> {
        // Without the lock nothing can be delivered any more: the others' time would be lost too.
        self.lock.check().inspect_err(|_| self.stop.request())?;
        self.place_is_free(job)?;
        let path = self.out.join(&self.proofs[job.index]);
        if let Some(folder) = path.parent() {
            let cannot = || format!("{}: the proof's folder cannot be made", display_name(folder));
            std::fs::create_dir_all(folder).or_fault(Fault::Output, cannot)?;
        }
        if path.is_symlink() {
            // The link is ours to replace, what it leads to is not.
            std::fs::remove_file(&path).or_fault(Fault::Output, || display_name(&path))?;
        }
        Output::check(&path, true)?.write(bytes)?;
        let outcome = Outcome::Proved { proof_file: self.proofs[job.index].clone(), proof_hash: content_hash(bytes) };
        self.record(job, Some(content), about, outcome)?;
        Ok(self.place(job))
    }

    /// The same, tried again as often as files may be: a proof in memory is not made anew because a disk was full.
    fn publish_persistently(&self, job: &Job, bytes: &[u8], content: &str, about: About) -> Result<String> {
        let (mut pause, mut attempts) = (FIRST_PAUSE, 0);
        loop {
            attempts += 1;
            let error = match self.publish(job, bytes, content, about.clone()) {
                Err(error) if error.fault() == Fault::Output => error,
                other => return other,
            };
            if !self.may_try_again(job, &error) {
                return Err(error.context(format!("proved, and not written; attempts: {attempts}")));
            }
            self.stop.pause(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
            self.state().attempts[job.index] += 1;
        }
    }

    /// Appends a line to the journal.
    fn record(&self, job: &Job, content: Option<&str>, about: About, outcome: Outcome) -> Result<()> {
        let mut state = self.state();
        let (host, cuzk) = host_and_version();
        let entry = Entry {
            c1: content.map(str::to_owned),
            name: job.name.clone(),
            path: self.inputs[job.index].relative.clone(),
            registered_proof: about.proof_type,
            parameters: about.parameters,
            outcome,
            copy_of: about.copy_of,
            timings: about.timings,
            started_ms: unix_ms(state.begun[job.index]),
            ended_ms: unix_ms(SystemTime::now()),
            attempts: state.attempts[job.index],
            cuzk,
            shard: self.shard.to_string(),
            host,
        };
        state.writer.append(&entry)?;
        state.journal.add(entry);
        Ok(())
    }

    /// A proof of this content that the journal knows and whose file is intact; made anew under this file's name where it
    /// was made for another one.
    fn recorded(&self, job: &Job, content: &str, bytes: &[u8], open: &Open<'_>) -> Result<Option<String>> {
        let own = &self.proofs[job.index];
        let mut candidates: Vec<Entry> = self.state().journal.proofs_of(content).cloned().collect();
        // Stable: of each kind the newest first. A copy's entry tells no times of the work.
        candidates.sort_by_key(|entry| (entry.proof_file() != Some(own), entry.copy_of.is_some()));
        for entry in candidates {
            let (Some(proof_type), Some(parameters)) = (entry.registered_proof, &entry.parameters) else { continue };
            if open(proof_type)?.srs.digest() != parameters.digest || !still_valid(&entry, self.out) {
                continue;
            }
            let Some(proof_file) = entry.proof_file() else { continue };
            if proof_file == own {
                return Ok(Some(self.place(job)));
            }
            let proof = self.as_written_here(job, bytes, proof_file, parameters)?;
            let copy_of = self.copied_from(job, &entry);
            // The work is the other file's.
            let timings = if copy_of.is_none() { entry.timings.clone() } else { serde_json::Value::Null };
            let about = About { timings, copy_of: copy_of.clone(), ..About::of(proof_type, parameters.clone()) };
            let place = self.publish(job, &proof, content, about)?;
            self.state().copies.extend(copy_of.map(|other| (job.index, other)));
            return Ok(Some(place));
        }
        Ok(None)
    }

    /// The file whose proof that of an entry is, unless it is the job's own, in another format.
    fn copied_from(&self, job: &Job, entry: &Entry) -> Option<String> {
        let own = entry.path == self.inputs[job.index].relative;
        let other = entry.copy_of.clone().or_else(|| (!own).then(|| entry.name.clone()));
        other.filter(|name| *name != job.name)
    }

    /// A proof file of the same content, whatever its format, in the format of this run.
    fn as_written_here(&self, job: &Job, c1: &[u8], proof_file: &Path, parameters: &UsedParameters) -> Result<Vec<u8>> {
        let path = self.out.join(proof_file);
        let document = match proof_file::read(&display_name(&path), &read_stable(&path)?)? {
            proof_file::Found::Document(document) => document,
            proof_file::Found::Bare(proof) => {
                document(&c1::read(&job.name, c1, &self.options)?, proof, parameters.clone())
            }
        };
        document.encode(self.format)
    }

    /// A proof under this file's name that no journal knows, because its run was killed before the line was written: it
    /// counts when it verifies.
    fn orphaned(&self, job: &Job, content: &str, bytes: &[u8], open: &Open<'_>) -> Result<Option<String>> {
        let Some(found) = self.state().journal.orphan(self.out, &self.proofs[job.index])? else { return Ok(None) };
        let name = self.place(job);
        let check = || -> Result<Option<About>> {
            let read = proof_file::read(&name, &found)?;
            let c1 = c1::read(&job.name, bytes, &self.options)?;
            let opened = open(c1.statement.proof)?;
            let proofs = stages::decode(read.proof())?;
            stages::verification(&opened.porep, opened.srs.vk(), &c1.statement, &proofs, &Timings::default())?;
            let used = UsedParameters::of(&opened.porep, &opened.srs);
            let same = match &read {
                proof_file::Found::Document(said) => *said == document(&c1, read.proof().to_owned(), used.clone()),
                proof_file::Found::Bare(_) => true,
            };
            Ok(same.then(|| About::of(c1.statement.proof, used)))
        };
        // Whatever is wrong with it: it is proved anew.
        let Ok(Some(about)) = check() else { return Ok(None) };
        let outcome = Outcome::Proved { proof_file: self.proofs[job.index].clone(), proof_hash: content_hash(&found) };
        self.record(job, Some(content), about, outcome)?;
        Ok(Some(name))
    }
}

/// The document of a proof that was made from this C1 file.
fn document(c1: &C1, proof: Vec<u8>, parameters: UsedParameters) -> ProofFile {
    let C1 { statement, miner, sector, .. } = c1;
    ProofFile {
        registered_proof: statement.proof,
        miner: *miner,
        sector: *sector,
        comm_r: statement.comm_r,
        comm_d: statement.comm_d,
        proof,
        parameters,
    }
}

/// What a journal line says besides its outcome.
#[derive(Clone, Default)]
struct About {
    proof_type: Option<SealProof>,
    parameters: Option<UsedParameters>,
    copy_of: Option<String>,
    timings: serde_json::Value,
}

impl About {
    fn of(proof_type: SealProof, parameters: UsedParameters) -> Self {
        Self { proof_type: Some(proof_type), parameters: Some(parameters), ..Self::default() }
    }
}

impl Desk for BatchDesk<'_> {
    fn read(&self, job: &Job) -> Result<Vec<u8>> {
        {
            let mut state = self.state();
            state.attempts[job.index] += 1;
            state.begun[job.index] = SystemTime::now();
        }
        read_stable(&self.inputs[job.index].path)
    }

    fn triage(&self, job: &Job, content: &str, bytes: &[u8], opened: &Open<'_>) -> Result<Triage> {
        if !self.shard.takes(content) {
            return Ok(Triage::Elsewhere);
        }
        // Before looking: what is proved from here on is seen by whoever comes second.
        if !self.state().in_work.insert(content.to_owned()) {
            return Ok(Triage::Later);
        }
        self.place_is_free(job)?;
        let found = match self.recorded(job, content, bytes, opened)? {
            None => self.orphaned(job, content, bytes, opened)?,
            found => found,
        };
        Ok(found.map_or(Triage::Prove, Triage::Done))
    }

    fn deliver(&self, file: &File, proof: Vec<u8>) -> Result<Delivered> {
        let document = file.document(proof);
        let parameters = document.parameters.clone();
        let bytes = document.encode(self.format)?;
        let timings = file.timings().json(&Memory::now());
        let about = About { timings, ..About::of(file.statement.proof, parameters) };
        let place = self.publish_persistently(&file.job, &bytes, &file.content, about)?;
        Ok(Delivered { place, bytes: bytes.len() as u64 })
    }

    fn ended(&self, ended: Ended<'_>) {
        let job = ended.job;
        if let Ending::Later = ended.ending {
            let mut state = self.state();
            // It was looked at, not tried.
            state.attempts[job.index] -= 1;
            return state.again.push(job.index);
        }
        if let Some(content) = ended.content {
            self.state().in_work.remove(content);
        }
        let outcome = match &ended.ending {
            Ending::Elsewhere => return self.recorder.elsewhere(),
            Ending::Later => return,
            Ending::Proved(proof) => spans::Outcome::Proved { proof: proof.clone() },
            Ending::Skipped(proof) => {
                let same_as = self.state().copies.remove(&job.index);
                spans::Outcome::Skipped { proof: proof.clone(), same_as }
            }
            Ending::Unfinished => spans::Outcome::Unfinished,
            Ending::Failed(error) => {
                if self.may_try_again(job, error) {
                    self.state().again.push(job.index);
                    return;
                }
                let timings = ended.timings.json(&Memory::now());
                let about = About { proof_type: ended.proof_type, timings, ..About::default() };
                // A journal that cannot be written fails the files that are proved; here the file has failed already.
                let _ = self.record(job, ended.content, about, Outcome::failed(error));
                if self.fail_fast {
                    self.stop.request();
                }
                spans::Outcome::Failed {
                    fault: format!("{:?}", error.fault()).to_lowercase(),
                    message: error.to_string(),
                }
            }
        };
        let attempts = self.state().attempts[job.index].max(1) as usize;
        self.recorder.file(FileRecord {
            job: job.index,
            name: job.name.clone(),
            content: ended.content.map(str::to_owned),
            partitions: ended.partitions,
            attempts,
            outcome,
            wall: ended.wall,
            timings: ended.timings.json(&Memory::now()),
        });
    }
}

impl BatchDesk<'_> {
    /// Could the same file succeed if it were tried again?
    fn may_try_again(&self, job: &Job, error: &Error) -> bool {
        let passing = matches!(error.fault(), Fault::Device | Fault::Unverified | Fault::Internal | Fault::Output);
        passing && !self.stop.is_requested() && self.state().attempts[job.index] <= self.retry
    }
}

/// The run's part of the state, at its start.
pub(super) fn state(journal: Journal, writer: Writer, files: usize) -> Mutex<State> {
    let (attempts, begun) = (vec![0; files], vec![SystemTime::UNIX_EPOCH; files]);
    Mutex::new(State {
        journal,
        writer,
        attempts,
        begun,
        again: Vec::new(),
        in_work: HashSet::new(),
        copies: HashMap::new(),
    })
}

/// Shared by all that a batch shows.
pub(super) type SharedRecorder = Arc<Recorder>;
