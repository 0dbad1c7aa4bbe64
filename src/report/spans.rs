//! Who did what when: the spans of a run's stages, from which tables, traces and pictures are made.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The stages of the pipeline, in the order a file goes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Reading and checking C1 files, opening parameters.
    Read,
    /// Building partitions' circuits.
    Circuit,
    /// Synthesis of partitions, on the rayon pool.
    Synthesis,
    /// Quotient and sums, on a device.
    Device,
    /// Assembly and verification.
    Assembly,
    /// Writing proofs.
    Write,
}

impl Stage {
    /// All stages in order; `ALL[s as usize] == s`.
    pub const ALL: [Stage; 6] =
        [Stage::Read, Stage::Circuit, Stage::Synthesis, Stage::Device, Stage::Assembly, Stage::Write];

    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Circuit => "circuit",
            Stage::Synthesis => "synthesis",
            Stage::Device => "device",
            Stage::Assembly => "assembly",
            Stage::Write => "write",
        }
    }
}

/// One worker of a stage: a thread, a place in the synthesis pool, a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    pub stage: Stage,
    /// Counted from 0 within the stage.
    pub worker: usize,
}

/// What a lane does or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Works on a file, or one partition of it.
    Work { job: usize, partition: Option<usize> },
    /// Has nothing to work on yet.
    AwaitsInput,
    /// Has work, but not the memory for it.
    AwaitsMemory,
    /// Has finished work that the next stage does not take yet.
    AwaitsOutput,
}

/// An activity with its times since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub lane: Lane,
    pub activity: Activity,
    pub start: Duration,
    pub end: Duration,
}

/// How a file ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Proved, verified and written (where to).
    Proved { proof: String },
    /// Proved by an earlier run, as its journal says and a check confirmed.
    Skipped { proof: String },
    /// Failed; `fault` is the name of the error's class.
    Failed { fault: String, message: String },
    /// Stopped before its end, by a signal or `--fail-fast`.
    Unfinished,
}

/// What the report says of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRecord {
    /// Place of the file in the run's order, counted from 0.
    pub job: usize,
    /// The file's name for people.
    pub name: String,
    /// blake2b-256 of its bytes in hex, where it could be read.
    pub content: Option<String>,
    pub partitions: usize,
    /// How often it was tried.
    pub attempts: usize,
    pub outcome: Outcome,
    /// From the start of its reading to its end.
    pub wall: Duration,
    /// The phases, as `Timings::json` has them; null where nothing was timed.
    pub timings: Value,
}

/// Collects spans, queue depths and outcomes from all threads of a run.
pub struct Recorder {
    origin: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spans: Vec<Span>,
    running: Vec<(Lane, Activity, Duration)>,
    queues: [usize; Stage::ALL.len()],
    files: Vec<FileRecord>,
}

/// A copy of what a recorder knows.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Time since the start of the run.
    pub now: Duration,
    /// What has ended, in the order in which it ended.
    pub spans: Vec<Span>,
    /// What goes on: lane, activity, since when.
    pub running: Vec<(Lane, Activity, Duration)>,
    /// Items that wait in front of each stage, by `Stage as usize`.
    pub queues: [usize; Stage::ALL.len()],
    /// Files that have ended, in the order in which they did.
    pub files: Vec<FileRecord>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { origin: Instant::now(), state: Mutex::default() }
    }
}

impl Recorder {
    /// Begins an activity, which lasts until the guard is dropped.
    pub fn begin(&self, lane: Lane, activity: Activity) -> Running<'_> {
        let start = self.origin.elapsed();
        self.state().running.push((lane, activity, start));
        Running { recorder: self, lane, activity, start }
    }

    /// Sets the number of items in front of a stage.
    pub fn queue(&self, stage: Stage, depth: usize) {
        self.state().queues[stage as usize] = depth;
    }

    /// A file has ended.
    pub fn file(&self, record: FileRecord) {
        self.state().files.push(record);
    }

    /// A copy of everything up to now.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.state();
        Snapshot {
            now: self.origin.elapsed(),
            spans: state.spans.clone(),
            running: state.running.clone(),
            queues: state.queues,
            files: state.files.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An activity that goes on.
pub struct Running<'a> {
    recorder: &'a Recorder,
    lane: Lane,
    activity: Activity,
    start: Duration,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let end = self.recorder.origin.elapsed();
        let mut state = self.recorder.state();
        let this = (self.lane, self.activity, self.start);
        if let Some(i) = state.running.iter().position(|r| *r == this) {
            state.running.swap_remove(i);
        }
        state.spans.push(Span { lane: self.lane, activity: self.activity, start: self.start, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_run_until_their_guard_is_dropped() {
        let recorder = Recorder::default();
        let lane = Lane { stage: Stage::Device, worker: 1 };
        let activity = Activity::Work { job: 3, partition: Some(2) };
        let running = recorder.begin(lane, activity);
        recorder.queue(Stage::Device, 4);
        let during = recorder.snapshot();
        assert_eq!((during.spans.len(), during.queues[Stage::Device as usize]), (0, 4));
        assert_eq!((during.running[0].0, during.running[0].1), (lane, activity));
        drop(running);
        let after = recorder.snapshot();
        assert!(after.running.is_empty());
        let span = after.spans[0];
        assert_eq!((span.lane, span.activity), (lane, activity));
        assert!(span.start <= span.end && span.end <= after.now);
    }

    #[test]
    fn stages_are_indexed_by_their_order() {
        for (i, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, i);
        }
    }
}
