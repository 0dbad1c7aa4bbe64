//! What goes through the pipeline: jobs, files that have been read, and how they end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::c1::C1;
use crate::circuit::{PoRep, SealProof, Statement};
use crate::error::{Error, Fault, Result};
use crate::fail;
use crate::report::spans::Stage;
use crate::report::units::duration;
use crate::report::Timings;
use crate::srs::Srs;

use super::clock::WorkClock;
use super::compiled::Compiled;
use super::proof_file::{ProofFile, UsedParameters};

/// One C1 file to prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Place in the order of the run, from 0.
    pub index: usize,
    /// For people.
    pub name: String,
    /// Bytes of the file, as far as known: what reading it will take.
    pub bytes: u64,
}

/// A proof type set up, with its parameters; shared by all files of the type.
pub struct Opened {
    pub porep: Arc<PoRep>,
    pub srs: Arc<Srs>,
}

/// A file that has been read and checked.
pub struct File {
    pub job: Job,
    /// Hash of its bytes.
    pub content: String,
    pub statement: Statement,
    pub miner: Option<u64>,
    pub sector: Option<u64>,
    pub opened: Arc<Opened>,
    /// None where no witness is made: no device computes with one, and none is to be checked.
    pub compiled: Option<Arc<Compiled>>,
    pub begun: Arc<Begun>,
    /// A partition has failed: the others are not worth their time.
    failed: AtomicBool,
}

impl File {
    pub(super) fn new(
        job: Job,
        content: String,
        c1: &C1,
        (opened, compiled): (Arc<Opened>, Option<Arc<Compiled>>),
        begun: Arc<Begun>,
    ) -> Self {
        Self {
            job,
            content,
            statement: c1.statement.clone(),
            miner: c1.miner,
            sector: c1.sector,
            opened,
            compiled,
            begun,
            failed: AtomicBool::new(false),
        }
    }

    /// The phases of this file.
    pub fn timings(&self) -> &Timings {
        &self.begun.timings
    }

    /// Bytes of a partition's witness; 0 where none is made.
    pub(super) fn witness_bytes(&self) -> u64 {
        self.compiled.as_ref().map_or(0, |compiled| compiled.witness_bytes())
    }

    /// Bytes that the check of a partition's witness takes.
    pub(super) fn check_bytes(&self) -> u64 {
        self.compiled.as_ref().map_or(0, |compiled| compiled.check_bytes())
    }

    /// Do both have the same circuit and parameters, opened once?
    pub(super) fn has_circuit_of(&self, other: &File) -> bool {
        Arc::ptr_eq(&self.opened, &other.opened)
    }

    /// Names the files in an error that wrong constraints or points may be behind; see [`Compiled::doubt`].
    pub(super) fn doubt(&self, error: Error) -> Error {
        let error = match self.opened.srs.prepared() {
            Some(prepared) => error.context(format!(
                "with the points of {} (`cuzk params check --full` compares them with the original's)",
                prepared.path().display()
            )),
            None => error,
        };
        match &self.compiled {
            Some(compiled) => compiled.doubt(error),
            None => error,
        }
    }

    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// # Errors
    /// When the deadline has passed.
    pub(super) fn check_deadline(&self, before: &str) -> Result<()> {
        let taken = self.begun.clock.taken();
        match self.begun.limit {
            Some(limit) if taken > limit => fail!(
                Fault::Interrupted,
                "the deadline of {} passed before {before}: {} of work on this file, waiting left out",
                duration(limit),
                duration(taken)
            ),
            _ => Ok(()),
        }
    }

    /// The document of a finished proof.
    pub fn document(&self, proof: Vec<u8>) -> ProofFile {
        ProofFile {
            registered_proof: self.statement.proof,
            miner: self.miner,
            sector: self.sector,
            comm_r: self.statement.comm_r,
            comm_d: self.statement.comm_d,
            proof,
            parameters: UsedParameters::of(&self.opened.porep, &self.opened.srs),
        }
    }
}

/// A file's times, from before it is read.
pub struct Begun {
    pub timings: Timings,
    pub started: Instant,
    /// Runs while the file is worked on.
    pub clock: WorkClock,
    /// The longest that may take.
    pub limit: Option<Duration>,
}

impl Begun {
    pub(super) fn now(limit: Option<Duration>) -> Self {
        Self { timings: Timings::default(), started: Instant::now(), clock: WorkClock::default(), limit }
    }
}

/// How a file left the pipeline.
#[derive(Debug)]
pub enum Ending {
    /// Proved, verified and delivered; to where.
    Proved(String),
    /// There was a valid proof already; where.
    Skipped(String),
    Failed(Error),
    /// Stopped before its end.
    Unfinished,
    /// Left to another shard.
    Elsewhere,
    /// To be looked at again when the file of the same content that is being proved has ended.
    Later,
}

/// A file's end, with all that is known of it.
pub struct Ended<'a> {
    pub job: &'a Job,
    pub ending: Ending,
    /// None where the file could not be read.
    pub content: Option<&'a str>,
    pub proof_type: Option<SealProof>,
    pub partitions: usize,
    pub timings: &'a Timings,
    pub wall: Duration,
}

/// Opens a proof type's parameters, or finds them open.
pub type Open<'a> = dyn Fn(SealProof) -> Result<Arc<Opened>> + 'a;

/// What to do about a file that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Triage {
    Prove,
    /// There is a valid proof; where.
    Done(String),
    /// Another shard's.
    Elsewhere,
    /// Another file of the same content is being proved.
    Later,
}

/// A proof that has come to its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    pub place: String,
    /// That were written: the proof's, with all that is written about it.
    pub bytes: u64,
}

/// Where jobs come from and results go to: one file and its proof, or a folder and its journal.
pub trait Desk: Sync {
    /// The bytes of a job's file.
    ///
    /// # Errors
    /// It cannot be read, or changed meanwhile.
    fn read(&self, job: &Job) -> Result<Vec<u8>>;

    /// Hears that a stage begins a piece of work on a file, on the thread that does it.
    fn begins(&self, stage: Stage, job: &Job) {
        let _ = (stage, job);
    }

    /// What to do about a file, by its bytes and their hash; `opened` tells what a proof type would be proved with now.
    ///
    /// # Errors
    /// Parameters that cannot be opened; what the decision needs cannot be read.
    fn triage(&self, job: &Job, content: &str, bytes: &[u8], opened: &Open<'_>) -> Result<Triage> {
        let _ = (job, content, bytes, opened);
        Ok(Triage::Prove)
    }

    /// Takes a verified proof; answers where it is now.
    ///
    /// # Errors
    /// It cannot be written.
    fn deliver(&self, file: &File, proof: Vec<u8>) -> Result<Delivered>;

    /// A file has ended; called once for each job, in the order in which they end.
    fn ended(&self, ended: Ended<'_>);
}
