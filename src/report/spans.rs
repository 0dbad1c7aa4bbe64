//! Who did what when: the spans of a run's stages, from which tables, traces and pictures are made.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::operations::{Operation, OperationKind};

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
    /// Works on so many partitions at once, before each of them has its turn.
    Together { partitions: usize },
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

impl Span {
    /// The partition, by its file and number, that a device had in this time.
    pub fn partition(&self) -> Option<(usize, usize)> {
        match self.activity {
            Activity::Work { job, partition: Some(k) } if self.lane.stage == Stage::Device => Some((job, k)),
            _ => None,
        }
    }
}

/// A piece of a device's own work, with its times since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSpan {
    /// The worker of the device's stage.
    pub device: usize,
    /// One of the device's streams, whose operations follow one another.
    pub stream: usize,
    pub kind: OperationKind,
    pub name: &'static str,
    pub bytes: u64,
    pub start: Duration,
    pub end: Duration,
}

/// How a file ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Proved, verified and written (where to).
    Proved { proof: String },
    /// Proved by an earlier run, as its journal says and a check confirmed; or of the content of another file, `same_as`, whose
    /// proof was copied.
    Skipped { proof: String, same_as: Option<String> },
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

/// What is known of a file before its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The file's name for people.
    pub name: String,
    /// Known once it is read.
    pub partitions: Option<usize>,
}

/// Collects spans, queue depths and outcomes from all threads of a run.
pub struct Recorder {
    /// Keeps devices' own work too.
    detailed: bool,
    origin: Instant,
    started: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spans: Vec<Span>,
    device_spans: Vec<DeviceSpan>,
    running: Vec<(Lane, Activity, Duration)>,
    queues: [usize; Stage::ALL.len()],
    jobs: Vec<(usize, Job)>,
    files: Vec<FileRecord>,
    elsewhere: usize,
    /// See [`Snapshot::failed_partitions`].
    failed_partitions: BTreeSet<(usize, usize)>,
}

/// How much of a recorder's history was seen: see [`Recorder::news`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    spans: usize,
    device_spans: usize,
    jobs: usize,
    files: usize,
}

/// A copy of what a recorder knows.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// When the run started, since the Unix epoch.
    pub started: Duration,
    /// Time since the start of the run.
    pub now: Duration,
    /// What has ended, in the order in which it ended.
    pub spans: Vec<Span>,
    /// The devices' own work, where the recorder is detailed; of each stream in its order.
    pub device_spans: Vec<DeviceSpan>,
    /// What goes on: lane, activity, since when.
    pub running: Vec<(Lane, Activity, Duration)>,
    /// Items that wait in front of each stage, by `Stage as usize`.
    pub queues: [usize; Stage::ALL.len()],
    /// Files that were announced, by their place in the run's order.
    pub jobs: BTreeMap<usize, Job>,
    /// Files that have ended, in the order in which they did.
    pub files: Vec<FileRecord>,
    /// Files that turned out to be another shard's.
    pub elsewhere: usize,
    /// Partitions, by file and number, that a device had and did not finish, and none has since.
    pub failed_partitions: BTreeSet<(usize, usize)>,
}

impl DeviceSpan {
    /// A kernel's name, or what was done with which memory.
    pub fn what(&self) -> String {
        match self.kind {
            OperationKind::Kernel => self.name.to_owned(),
            kind => format!("{} {}", kind.name(), self.name),
        }
    }
}

/// The name of a device's stream, as lanes have theirs: `stream 0.1`, the device's number first.
pub(super) fn stream_name((device, stream): (usize, usize)) -> String {
    format!("stream {device}.{stream}")
}

impl Snapshot {
    /// Every span: those that have ended, then what goes on, up to now.
    pub fn all_spans(&self) -> impl Iterator<Item = Span> + '_ {
        let running = self.running.iter().map(|(lane, activity, start)| Span {
            lane: *lane,
            activity: *activity,
            start: *start,
            end: self.now.max(*start),
        });
        self.spans.iter().copied().chain(running)
    }

    /// The devices' own work: of each device and stream, in order.
    pub fn streams(&self) -> BTreeMap<(usize, usize), Vec<&DeviceSpan>> {
        let mut streams = BTreeMap::<_, Vec<_>>::new();
        self.device_spans.iter().for_each(|span| streams.entry((span.device, span.stream)).or_default().push(span));
        streams
    }

    /// The names of all files that were announced or have ended.
    pub fn names(&self) -> Names<'_> {
        let ended = self.files.iter().map(|file| (file.job, file.name.as_str()));
        Names(self.jobs.iter().map(|(job, known)| (*job, known.name.as_str())).chain(ended).collect())
    }

    /// Partitions that a device has finished, each counted once however often it was tried.
    pub fn device_partitions(&self) -> BTreeSet<(usize, usize)> {
        self.spans
            .iter()
            .filter_map(Span::partition)
            .filter(|partition| !self.failed_partitions.contains(partition))
            .collect()
    }
}

/// The files' names by their place in the run's order.
pub struct Names<'a>(BTreeMap<usize, &'a str>);

impl Names<'_> {
    /// The file's name, or its place (counted from 1) where nobody told a name.
    pub fn get(&self, job: usize) -> Cow<'_, str> {
        self.0.get(&job).map_or_else(|| format!("file {}", job + 1).into(), |name| (*name).into())
    }
}

impl Default for Recorder {
    fn default() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { detailed: false, origin: Instant::now(), started, state: Mutex::default() }
    }
}

impl Recorder {
    /// One that also keeps each operation of the devices, for traces and timelines: of a long run these are millions.
    pub fn detailed() -> Self {
        Self { detailed: true, ..Self::default() }
    }

    /// A device has finished these operations, of each of its streams. Kept by a detailed recorder only.
    pub fn operations(&self, device: usize, streams: &[Vec<Operation>]) {
        if !self.detailed {
            return;
        }
        let span = |stream: usize, operation: &Operation| {
            let Operation { name, kind, bytes, .. } = *operation;
            let start = operation.start.saturating_duration_since(self.origin);
            DeviceSpan { device, stream, kind, name, bytes, start, end: start + operation.duration }
        };
        let spans = streams.iter().enumerate().flat_map(|(k, of)| of.iter().map(move |operation| span(k, operation)));
        self.state().device_spans.extend(spans);
    }

    /// A device lets go of a partition, and has finished it or not: said before its span ends, so that nobody takes it for finished.
    pub fn partition(&self, job: usize, partition: usize, finished: bool) {
        let failed = &mut self.state().failed_partitions;
        match finished {
            true => failed.remove(&(job, partition)),
            false => failed.insert((job, partition)),
        };
    }

    /// Begins an activity, which lasts until the guard is dropped.
    pub fn begin(&self, lane: Lane, activity: Activity) -> Running<'_> {
        let start = self.origin.elapsed();
        self.state().running.push((lane, activity, start));
        Running { recorder: self, lane, activity, start }
    }

    /// One more item waits in front of a stage.
    pub fn enqueue(&self, stage: Stage) {
        self.state().queues[stage as usize] += 1;
    }

    /// One item less does.
    pub fn dequeue(&self, stage: Stage) {
        let depth = &mut self.state().queues[stage as usize];
        *depth = depth.saturating_sub(1);
    }

    /// Sets the number of items in front of a stage.
    pub fn queue(&self, stage: Stage, depth: usize) {
        self.state().queues[stage as usize] = depth;
    }

    /// A file's turn has come; said again when more is known of it. Displays show it as started.
    pub fn announce(&self, job: usize, name: &str, partitions: Option<usize>) {
        self.state().jobs.push((job, Job { name: name.to_owned(), partitions }));
    }

    /// A file has ended.
    pub fn file(&self, record: FileRecord) {
        self.state().files.push(record);
    }

    /// A file is another shard's: it is none of this run.
    pub fn elsewhere(&self) {
        self.state().elsewhere += 1;
    }

    /// A copy of everything up to now.
    pub fn snapshot(&self) -> Snapshot {
        self.news(&mut Seen::default())
    }

    /// A copy in which spans, announcements and ended files are only those that were not seen yet; they count as seen
    /// afterwards. For displays that look often: a long run's history is not copied each time.
    pub fn news(&self, seen: &mut Seen) -> Snapshot {
        let state = self.state();
        let news = Snapshot {
            started: self.started,
            now: self.origin.elapsed(),
            spans: state.spans.iter().skip(seen.spans).copied().collect(),
            device_spans: state.device_spans.iter().skip(seen.device_spans).copied().collect(),
            running: state.running.clone(),
            queues: state.queues,
            jobs: state.jobs.iter().skip(seen.jobs).cloned().collect(),
            files: state.files.iter().skip(seen.files).cloned().collect(),
            elsewhere: state.elsewhere,
            failed_partitions: state.failed_partitions.clone(),
        };
        *seen = Seen {
            spans: state.spans.len(),
            device_spans: state.device_spans.len(),
            jobs: state.jobs.len(),
            files: state.files.len(),
        };
        news
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
    fn news_are_told_once() {
        let recorder = Recorder::default();
        let mut seen = Seen::default();
        let lane = Lane { stage: Stage::Device, worker: 0 };
        recorder.announce(0, "a", None);
        recorder.announce(0, "a", Some(2));
        drop(recorder.begin(lane, Activity::Work { job: 0, partition: Some(0) }));
        let first = recorder.news(&mut seen);
        assert_eq!((first.spans.len(), first.jobs[&0].partitions), (1, Some(2)));
        drop(recorder.begin(lane, Activity::Work { job: 0, partition: Some(1) }));
        let second = recorder.news(&mut seen);
        assert_eq!((second.spans.len(), second.jobs.len()), (1, 0));
        assert!(recorder.news(&mut seen).spans.is_empty());
        assert_eq!(recorder.snapshot().spans.len(), 2);
    }

    #[test]
    fn operations_are_kept_where_they_are_asked_for_with_times_of_the_run() {
        let recorder = Recorder::detailed();
        let start = recorder.origin + Duration::from_millis(5);
        let operation =
            Operation { name: "k", kind: OperationKind::Kernel, bytes: 0, start, duration: Duration::from_millis(2) };
        let early = Operation { start: recorder.origin - Duration::from_millis(1), ..operation };
        let streams = [vec![], vec![early, operation]];
        let mut seen = Seen::default();
        recorder.operations(3, &streams);
        let spans = recorder.news(&mut seen).device_spans;
        assert_eq!((spans.len(), spans[0].start, spans[0].end), (2, Duration::ZERO, operation.duration));
        assert_eq!((spans[1].device, spans[1].stream, spans[1].name), (3, 1, "k"));
        assert_eq!((spans[1].start, spans[1].end), (Duration::from_millis(5), Duration::from_millis(7)));
        assert!(recorder.news(&mut seen).device_spans.is_empty());
        let brief = Recorder::default();
        brief.operations(3, &streams);
        assert!(brief.snapshot().device_spans.is_empty());
    }

    #[test]
    fn partitions_count_once_and_names_fall_back_to_places() {
        let recorder = Recorder::default();
        let (device, read) = (Lane { stage: Stage::Device, worker: 0 }, Lane { stage: Stage::Read, worker: 0 });
        for (lane, partition) in [(device, Some(0)), (device, Some(0)), (device, None), (read, Some(1))] {
            drop(recorder.begin(lane, Activity::Work { job: 4, partition }));
        }
        let _running = recorder.begin(device, Activity::Work { job: 4, partition: Some(3) });
        recorder.announce(4, "a.json", None);
        let snapshot = recorder.snapshot();
        assert_eq!(snapshot.device_partitions(), BTreeSet::from([(4, 0)]));
        recorder.partition(4, 0, false);
        assert!(recorder.snapshot().device_partitions().is_empty(), "one that fails is not finished");
        recorder.partition(4, 0, true);
        assert_eq!(recorder.snapshot().device_partitions().len(), 1, "but when it is tried again");
        assert_eq!((snapshot.spans.len(), snapshot.all_spans().count()), (4, 5));
        assert_eq!((snapshot.names().get(4), snapshot.names().get(0)), ("a.json".into(), "file 1".into()));
    }

    #[test]
    fn stages_are_indexed_by_their_order() {
        for (i, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, i);
        }
    }
}
