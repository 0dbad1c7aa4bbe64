//! The staged pipeline: plain threads, bounded channels, one memory budget.
//!
//! ```text
//! read, check -> circuits -> synthesis (rayon pool) -> devices -> assembly, verification -> write
//!   1 thread      1 thread     n tasks at a time       1 thread each       1 thread         1 thread
//! ```
//!
//! Every partition of a file that was read sends exactly one message to the last stages, whatever becomes of it; so a
//! file's end is known when its partitions are counted, and no failure, panic or stop can leave anybody waiting.

mod check;
mod devices;
mod finish;
mod parameters;
mod read;
mod synthesis;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blstrs::Scalar as Fr;
use rayon::ThreadPool;

use super::budget::{Budget, Order, Reservation};
use super::device::{Device, PartitionResult};
use super::job::{Begun, Desk, Ending, File, Job};
use super::parameters::Source;
use super::stop::Stop;
use crate::c1::ReadOptions;
use crate::circuit::VanillaProofs;
use crate::error::{Error, Fault, Result};
use crate::report::spans::{Activity, Lane, Recorder, Stage};
use crate::report::Progress;
use crate::witness::CompactWitness;

/// Finished files that may wait for the writer.
const WRITE_QUEUE: usize = 4;

/// A run's settings and surroundings.
pub struct Run<'a> {
    pub devices: &'a [Device],
    /// Synthesizes partitions.
    pub synthesis: &'a ThreadPool,
    pub budget: Arc<Budget>,
    /// Most partitions between the start of their synthesis and the end of their device's work.
    pub in_flight: usize,
    pub source: &'a Source,
    pub options: ReadOptions,
    /// Verify the vanilla proofs.
    pub check_c1: bool,
    /// Check every row of every partition's witness, before any device works on the file.
    pub check_witness: bool,
    /// Longest time of work on a file, its waiting left out; looked at before each piece of it, and at its end.
    pub deadline: Option<Duration>,
    pub stop: &'a Stop,
    pub recorder: &'a Recorder,
    /// For what the bars of the stages do not show: hashing and generating parameters.
    pub progress: &'a Progress,
    pub desk: &'a dyn Desk,
}

/// A file on its way from reading to circuits.
struct Loaded {
    file: Arc<File>,
    vanilla: VanillaProofs,
    memory: Reservation,
}

/// A partition on its way to a device.
struct Ready {
    file: Arc<File>,
    partition: usize,
    inputs: Vec<Fr>,
    witness: Option<CompactWitness>,
    held: Held,
}

/// What a partition in flight holds: memory for its witness, and one of the places.
struct Held {
    _memory: Reservation,
    _place: Reservation,
}

/// What the last stages hear.
enum Report {
    /// A partition's result; None where it was dropped because of a stop or a failure elsewhere in its file.
    Partition { file: Arc<File>, partition: usize, result: Result<Option<Proved>> },
    /// A file that did not come as far as partitions.
    Ended { job: Job, content: Option<String>, begun: Arc<Begun>, ending: Ending },
}

/// A partition's proof or sums, with the inputs it is for.
struct Proved {
    result: PartitionResult,
    inputs: Vec<Fr>,
}

impl Run<'_> {
    /// Sends all jobs through the pipeline; returns when each has ended (see [`Desk::ended`]).
    pub fn run(&self, jobs: Vec<Job>) {
        let form = self.devices.iter().find_map(Device::form);
        let parameters = parameters::Shared::new(self.source, form, self.progress);
        let places = Budget::new(self.in_flight.max(1) as u64);
        let (loaded, to_circuits) = sync_channel(1);
        // As many as there are places: a synthesis never waits for a device to take its result.
        let (ready, to_devices) = sync_channel(self.in_flight.max(1));
        let (report, reports) = sync_channel(self.in_flight.max(1));
        let (finished, to_writer) = sync_channel(WRITE_QUEUE);
        let to_devices = Mutex::new(to_devices);
        std::thread::scope(|scope| {
            let reader = report.clone();
            scope.spawn(|| self.read_all(jobs, &parameters, loaded, reader));
            for (worker, device) in self.devices.iter().enumerate() {
                let (report, to_devices) = (report.clone(), &to_devices);
                scope.spawn(move || self.work_on_device(worker, device, to_devices, report));
            }
            scope.spawn(|| self.finish_files(reports, finished));
            scope.spawn(|| self.write_files(to_writer));
            self.synthesize_all(to_circuits, &places, ready, report);
        });
    }

    /// Receives, and records the time it took as waiting for input.
    fn receive<T>(&self, lane: Lane, channel: &Receiver<T>) -> Option<T> {
        let _waiting = self.recorder.begin(lane, Activity::AwaitsInput);
        channel.recv().ok()
    }

    /// Reserves, and records the time it took as waiting for memory.
    fn reserve(&self, lane: Lane, budget: &Arc<Budget>, bytes: u64, keep: u64, order: Order) -> Option<Reservation> {
        let _waiting = self.recorder.begin(lane, Activity::AwaitsMemory);
        budget.reserve(bytes, keep, order, self.stop)
    }

    /// Runs `work` on a file; a panic in it is an error of this file and not the end of the run.
    fn contained<T>(&self, stage: Stage, job: &Job, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let announced = || {
            self.desk.begins(stage, job);
            work()
        };
        catch_unwind(AssertUnwindSafe(announced)).unwrap_or_else(|panic| {
            let text =
                panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            let message =
                format!("panic in the {} stage: {}; please report this", stage.name(), text.unwrap_or("no message"));
            let error = Error::new(Fault::Internal, message);
            // What the later stages say gets the file's name from them; the first one names it itself.
            Err(if stage == Stage::Read { error.context(job.name.clone()) } else { error })
        })
    }
}

/// The lowest free numbers, for tasks of a pool that want a lane of their own.
#[derive(Default)]
struct Numbers(Mutex<Vec<bool>>);

impl Numbers {
    fn take(&self) -> usize {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = taken.iter().position(|t| !t).unwrap_or(taken.len());
        if free == taken.len() {
            taken.push(true);
        }
        taken[free] = true;
        free
    }

    fn give_back(&self, number: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[number] = false;
    }
}
