//! The staged pipeline with the simulator as its device: proofs that verify and cost no time.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use cuzk::backend::{
    bases::{G1Bases, G2Bases},
    memory::Lent,
    scalars::Scalars,
    Backend,
};
use cuzk::c1::{self, Format, ReadOptions, SampleOptions};
use cuzk::circuit::{PoRep, SealProof};
use cuzk::constraints::Rows;
use cuzk::error::{Error, Fault, Result};
use cuzk::groth16::check_proofs;
use cuzk::pipeline::budget::Budget;
use cuzk::pipeline::compiled::Compiled;
use cuzk::pipeline::device::{pool, Device};
use cuzk::pipeline::job::{Delivered, Desk, Ended, Ending, File, Job, Open, Triage};
use cuzk::pipeline::parameters::Source;
use cuzk::pipeline::run::Run;
use cuzk::pipeline::stages;
use cuzk::pipeline::stop::Stop;
use cuzk::report::spans::{Activity, Lane, Recorder, Snapshot, Span, Stage};
use cuzk::report::{DeviceWork, Operation, OperationKind, Progress, Timings};
use cuzk::srs::Lookup;
use group::Group;

/// Files by their content, and what became of them.
#[derive(Default)]
struct Memory {
    files: Vec<Vec<u8>>,
    /// The stage in which a file's work panics: by job.
    panics: BTreeMap<usize, Stage>,
    known: BTreeMap<usize, &'static str>,
    delivered: Mutex<BTreeMap<usize, Vec<u8>>>,
    ended: Mutex<Vec<(usize, Ending)>>,
    /// What a device has timed itself, as the files' timings tell it.
    device_work: Mutex<DeviceWork>,
    stop_after_first: Option<&'static Stop>,
}

impl Desk for Memory {
    fn read(&self, job: &Job) -> Result<Vec<u8>> {
        Ok(self.files[job.index].clone())
    }

    fn begins(&self, stage: Stage, job: &Job) {
        if self.panics.get(&job.index) == Some(&stage) {
            panic!("planted in {}", stage.name());
        }
    }

    fn triage(&self, job: &Job, content: &str, bytes: &[u8], opened: &Open<'_>) -> Result<Triage> {
        assert_eq!(content, c1::content_hash(&self.files[job.index]));
        assert_eq!(bytes, self.files[job.index]);
        assert_eq!(opened(SealProof::StackedDrg2KiBV1_1)?.srs.digest().len(), 32);
        Ok(self.known.get(&job.index).map_or(Triage::Prove, |s| Triage::Done(s.to_string())))
    }

    fn deliver(&self, file: &File, proof: Vec<u8>) -> Result<Delivered> {
        self.delivered.lock().unwrap().insert(file.job.index, proof);
        Ok(Delivered { place: format!("proof of {}", file.job.name), bytes: 0 })
    }

    fn ended(&self, ended: Ended<'_>) {
        if let Some(stop) = self.stop_after_first {
            stop.request();
        }
        let timings = ended.timings.json(&cuzk::report::Memory::default());
        self.device_work.lock().unwrap().add(&DeviceWork::from_json(&timings["device_work"]));
        self.ended.lock().unwrap().push((ended.job.index, ended.ending));
    }
}

impl Memory {
    fn jobs(&self) -> Vec<Job> {
        let job =
            |(index, bytes): (usize, &Vec<u8>)| Job { index, name: format!("file {index}"), bytes: bytes.len() as u64 };
        self.files.iter().enumerate().map(job).collect()
    }

    /// Each job's ending; every job must have ended exactly once.
    fn endings(self) -> BTreeMap<usize, Ending> {
        let (count, ended) = (self.files.len(), self.ended.into_inner().unwrap());
        assert_eq!(ended.len(), count, "every job ends once");
        let endings: BTreeMap<_, _> = ended.into_iter().collect();
        assert_eq!(endings.len(), count);
        endings
    }
}

fn sample(seed: u64) -> Vec<u8> {
    let options = SampleOptions { seed, ..SampleOptions::default() };
    let c1 = c1::sample(SealProof::StackedDrg2KiBV1_1, &options).unwrap();
    c1::write(&c1, Format::Json).unwrap()
}

fn source() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let lookup = Lookup { folder: common::dev_params(), folder_source: "tests".into(), recheck: false };
        // The digest is computed once for this process and the next ones.
        let verdicts = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("digests.json"));
        // The circuit is taken apart once in this process.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipeline-constraints");
        let _ = std::fs::remove_dir_all(&cache);
        Source { lookup, development: true, verdicts, cache: Some(cache) }
    })
}

struct Settings {
    devices: Vec<Device>,
    budget: u64,
    in_flight: usize,
    deadline: Option<Duration>,
    check_c1: bool,
    check_witness: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let devices = vec![Device::Simulator { delay: Duration::ZERO, synthesis: false }];
        Self { devices, budget: 8 << 30, in_flight: 4, deadline: None, check_c1: true, check_witness: false }
    }
}

fn run(desk: &Memory, settings: &Settings, stop: &Stop) -> Snapshot {
    let recorder = Recorder::detailed();
    let synthesis = pool("synthesis", 2).unwrap();
    let run = Run {
        devices: &settings.devices,
        synthesis: &synthesis,
        budget: Budget::new(settings.budget),
        in_flight: settings.in_flight,
        source: source(),
        options: ReadOptions::default(),
        check_c1: settings.check_c1,
        check_witness: settings.check_witness,
        deadline: settings.deadline,
        stop,
        recorder: &recorder,
        progress: &Progress::silent(),
        desk,
    };
    run.run(desk.jobs());
    recorder.snapshot()
}

fn error(ending: &Ending) -> &Error {
    match ending {
        Ending::Failed(error) => error,
        other => panic!("expected a failure, got {other:?}"),
    }
}

#[test]
fn one_bad_file_fails_alone_and_the_others_proofs_verify() {
    let mut changed = sample(3);
    let at = changed.len() / 2;
    changed.truncate(at);
    let files = vec![sample(1), b"<html>".to_vec(), sample(2), changed, sample(1)];
    let desk = Memory { files, ..Memory::default() };
    run(&desk, &Settings::default(), &Stop::new());
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).unwrap();
    let vk = source().verifying_key(&porep).unwrap().vk;
    let delivered = desk.delivered.lock().unwrap().clone();
    for (job, proof) in &delivered {
        let c1 = c1::read("file", &desk.files[*job], &ReadOptions::default()).unwrap();
        let inputs = porep.public_inputs(&c1.statement, 0).unwrap();
        check_proofs(&vk, &stages::decode(proof).unwrap(), &[inputs]).unwrap();
    }
    assert_eq!(delivered.keys().copied().collect::<Vec<_>>(), [0, 2, 4]);
    let endings = desk.endings();
    for job in [0, 2, 4] {
        assert!(matches!(&endings[&job], Ending::Proved(place) if *place == format!("proof of file {job}")));
    }
    assert_eq!((error(&endings[&1]).fault(), error(&endings[&3]).fault()), (Fault::Input, Fault::Input));
    assert!(error(&endings[&1]).to_string().contains("file 1: this is HTML"), "{}", error(&endings[&1]));
}

#[test]
fn a_panic_in_any_stage_fails_its_file_and_not_the_run() {
    for (check_witness, stages) in [(false, &Stage::ALL[..]), (true, &[Stage::Synthesis])] {
        // A file for each stage, and one more before, between and after them.
        let panics = stages.iter().enumerate().map(|(k, stage)| (2 * k + 1, *stage)).collect();
        let files = (1..=2 * stages.len() as u64 + 1).map(sample).collect();
        let desk = Memory { files, panics, ..Memory::default() };
        run(&desk, &Settings { check_witness, ..Settings::default() }, &Stop::new());
        let panics = desk.panics.clone();
        for (job, ending) in desk.endings() {
            let Some(stage) = panics.get(&job) else {
                assert!(matches!(ending, Ending::Proved(_)), "file {job}: {ending:?}");
                continue;
            };
            let (error, stage) = (error(&ending), stage.name());
            assert_eq!(error.fault(), Fault::Internal);
            let text = format!("panic in the {stage} stage: planted in {stage}");
            assert!(error.to_string().contains(&text), "{error}");
            assert!(error.to_string().starts_with(&format!("file {job}: ")), "{error}");
        }
    }
}

/// A device whose every computation panics.
struct Panics;

impl Backend for Panics {
    fn name(&self) -> String {
        "panics".into()
    }

    fn quotient(&self, _: &dyn Rows, _: &dyn Rows) -> Result<Lent<Fr>> {
        panic!("planted in quotient")
    }

    fn sum_g1(&self, _: G1Bases<'_>, _: &[Scalars<'_>]) -> Result<G1Projective> {
        panic!("planted in a sum")
    }

    fn sum_g2(&self, _: G2Bases<'_>, _: &[Scalars<'_>]) -> Result<G2Projective> {
        panic!("planted in a sum")
    }
}

#[test]
fn a_panic_on_a_device_fails_its_file_and_the_device_takes_the_next() {
    let device = || Device::Backend { backend: Box::new(Panics), threads: pool("panics", 1).unwrap() };
    let desk = Memory { files: (1..=3).map(sample).collect(), ..Memory::default() };
    let snapshot = run(&desk, &Settings { devices: vec![device()], ..Settings::default() }, &Stop::new());
    assert_eq!(device_work(&snapshot).len(), 3);
    for (job, ending) in desk.endings() {
        let message = error(&ending).to_string();
        assert!(
            message.starts_with(&format!("file {job}: partition 0: panic in the device stage: planted")),
            "{message}"
        );
    }
}

/// A device that notes how many sums it is asked for at once, and refuses more than one the first time.
#[derive(Default)]
struct Notes {
    asked: Arc<Mutex<Vec<usize>>>,
    timed: Mutex<Vec<Operation>>,
    /// Requested at the first sums together, which then are made.
    stop: Option<&'static Stop>,
}

impl Notes {
    fn timed(&self, name: &'static str) {
        let (start, duration) = (std::time::Instant::now(), Duration::from_millis(30));
        let operation = Operation { name, kind: OperationKind::Kernel, bytes: 0, start, duration };
        self.timed.lock().unwrap().push(operation);
    }
}

impl Backend for Notes {
    fn name(&self) -> String {
        "notes".into()
    }

    fn take_operations(&self) -> Vec<Vec<Operation>> {
        vec![std::mem::take(&mut *self.timed.lock().unwrap())]
    }

    fn quotient(&self, a: &dyn Rows, _: &dyn Rows) -> Result<Lent<Fr>> {
        // The others are synthesized meanwhile.
        std::thread::sleep(Duration::from_millis(500));
        self.timed("quotient");
        Ok(vec![Fr::default(); a.len().next_power_of_two() - 1].into())
    }

    fn sum_g1(&self, _: G1Bases<'_>, _: &[Scalars<'_>]) -> Result<G1Projective> {
        Ok(G1Projective::identity())
    }

    fn sum_g2(&self, _: G2Bases<'_>, _: &[Scalars<'_>]) -> Result<G2Projective> {
        Ok(G2Projective::identity())
    }

    fn sums_g1(&self, _: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(lists.len());
        self.timed("sums");
        if let Some(stop) = self.stop.filter(|_| lists.len() > 1) {
            stop.request();
        } else if lists.len() > 1 && asked.iter().filter(|n| **n > 1).count() == 1 {
            return Err(Error::new(Fault::Device, "planted"));
        }
        Ok(vec![G1Projective::identity(); lists.len()])
    }
}

/// A stop while partitions are together on the device: they are finished, what waits is not.
#[test]
fn a_stop_waits_for_partitions_that_are_together_on_the_device() {
    static STOP: Stop = Stop::new();
    let notes = Notes { stop: Some(&STOP), ..Notes::default() };
    let asked = notes.asked.clone();
    let device = Device::Backend { backend: Box::new(notes), threads: pool("notes", 1).unwrap() };
    let most = device.together();
    let desk = Memory { files: (1..=3 * most as u64).map(sample).collect(), ..Memory::default() };
    let settings = Settings { devices: vec![device], in_flight: 3 * most, ..Settings::default() };
    let snapshot = run(&desk, &settings, &STOP);
    let together = snapshot.spans.iter().find_map(|span| match span.activity {
        Activity::Together { partitions } => Some(partitions),
        _ => None,
    });
    // Those that came alone, and those together; their proofs are refused, the others are not made. Three sums each in G1.
    let (endings, together) = (desk.endings(), together.expect("some waited"));
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked[asked.len() - 3..], [together; 3], "{asked:?}");
    let alone = (asked.len() - 3) / 3;
    let refused = endings.values().filter(|e| matches!(e, Ending::Failed(e) if e.fault() == Fault::Unverified)).count();
    let unfinished = endings.values().filter(|e| matches!(e, Ending::Unfinished)).count();
    assert_eq!((refused, unfinished), (alone + together, 3 * most - alone - together), "{endings:?}");
}

#[test]
fn partitions_that_wait_are_taken_together_and_each_fails_alone() {
    let notes = Notes::default();
    let asked = notes.asked.clone();
    let device = Device::Backend { backend: Box::new(notes), threads: pool("notes", 1).unwrap() };
    let most = device.together();
    let desk = Memory { files: (1..=2 * most as u64 + 1).map(sample).collect(), ..Memory::default() };
    let settings = Settings { devices: vec![device], in_flight: 3 * most, ..Settings::default() };
    let snapshot = run(&desk, &settings, &Stop::new());
    let timed = desk.device_work.lock().unwrap().clone();
    // What such a device makes is no proof: it is refused. That all were together refused is not told.
    for (job, ending) in desk.endings() {
        assert_eq!(error(&ending).fault(), Fault::Unverified, "file {job}: {ending:?}");
    }
    let together = |span: &Span| match span.activity {
        Activity::Together { partitions } => Some(partitions),
        _ => None,
    };
    let together: Vec<_> = snapshot.spans.iter().filter_map(together).collect();
    // The first comes alone; how many wait behind it is the machine's affair.
    assert!(together.len() >= 2 && together.iter().all(|n| (2..=most).contains(n)), "{together:?}");
    assert_eq!(device_work(&snapshot).len(), 2 * most + 1);
    let asked = asked.lock().unwrap().clone();
    // The first that was refused is the first of three calls of its kind; the others are each three, of l, a and b.
    let several: Vec<_> = asked.iter().copied().filter(|n| *n > 1).collect();
    let calls: Vec<_> = together.iter().enumerate().flat_map(|(k, n)| vec![*n; if k == 0 { 1 } else { 3 }]).collect();
    assert_eq!(several, calls);
    let alone = (2 * most + 1 - together[1..].iter().sum::<usize>()) * 3;
    assert_eq!(asked.iter().filter(|n| **n == 1).count(), alone, "{asked:?}");
    // What the device timed is divided among the files, and nothing of it is lost or told twice.
    let operations = || snapshot.device_spans.iter().map(|span| (span.name, span.end - span.start));
    let of = |name: &str| operations().filter(|(of, _)| *of == name).count();
    assert_eq!((of("sums"), of("quotient")), (asked.len(), 2 * most + 1));
    let timed = timed.json();
    let totals = |name: &str| timed.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap().clone();
    for name in ["sums", "quotient"] {
        assert_eq!(totals(name)["times"], of(name));
        let seconds = totals(name)["seconds"].as_f64().unwrap();
        assert!((seconds - 0.03 * of(name) as f64).abs() < 1e-3, "{name}: {seconds} s of {}", of(name));
    }
}

#[test]
fn known_files_are_skipped() {
    let mut desk = Memory { files: vec![sample(1), sample(2)], ..Memory::default() };
    desk.known.insert(0, "yesterday's proof");
    run(&desk, &Settings::default(), &Stop::new());
    assert_eq!(desk.delivered.lock().unwrap().len(), 1);
    let endings = desk.endings();
    assert!(matches!(&endings[&0], Ending::Skipped(place) if place == "yesterday's proof"));
}

#[test]
fn a_stop_ends_every_job() {
    static STOP: Stop = Stop::new();
    let files = (1..=6).map(sample).collect();
    let desk = Memory { files, stop_after_first: Some(&STOP), ..Memory::default() };
    let settings = Settings {
        // Long beside the verification of a proof, on a loaded machine too.
        devices: vec![Device::Simulator { delay: Duration::from_secs(1), synthesis: false }],
        ..Settings::default()
    };
    run(&desk, &settings, &STOP);
    let delivered = desk.delivered.lock().unwrap().len();
    let endings = desk.endings();
    let unfinished = endings.values().filter(|e| matches!(e, Ending::Unfinished)).count();
    assert_eq!(delivered + unfinished, 6);
    assert!((1..=2).contains(&delivered), "the first, and what was on the device: {delivered}");
}

#[test]
fn a_budget_that_no_partition_fits_is_an_error_with_the_figure() {
    let settings = Settings { devices: vec![Device::cpu(1).unwrap()], budget: 300 << 20, ..Settings::default() };
    let desk = Memory { files: vec![sample(1)], ..Memory::default() };
    run(&desk, &settings, &Stop::new());
    let endings = desk.endings();
    let e = error(&endings[&0]);
    assert_eq!(e.fault(), Fault::Usage);
    assert!(e.to_string().contains("a partition needs") && e.to_string().contains("--memory"), "{e}");
}

#[test]
fn a_deadline_fails_the_file_that_misses_it() {
    let settings = Settings { deadline: Some(Duration::from_millis(1)), ..Settings::default() };
    let desk = Memory { files: vec![sample(1)], ..Memory::default() };
    run(&desk, &settings, &Stop::new());
    let endings = desk.endings();
    assert!(error(&endings[&0]).to_string().contains("deadline"), "{}", error(&endings[&0]));
}

#[test]
fn a_changed_hash_is_found_by_the_vanilla_check() {
    let text = String::from_utf8(sample(1)).unwrap();
    let c1: serde_json::Value = serde_json::from_str(&text).unwrap();
    // The same proof under another seed has other challenges.
    let mut other = c1.clone();
    other["seed"][5] = serde_json::json!(c1["seed"][5].as_u64().unwrap() ^ 1);
    let desk = Memory { files: vec![other.to_string().into_bytes()], ..Memory::default() };
    run(&desk, &Settings::default(), &Stop::new());
    let endings = desk.endings();
    assert_eq!(error(&endings[&0]).fault(), Fault::Input);
    assert!(error(&endings[&0]).to_string().contains("partition 0"), "{}", error(&endings[&0]));
}

/// A file that the circuit does not accept, though its structure is sound: a node of a path is another.
fn unsatisfying() -> Vec<u8> {
    let mut c1: serde_json::Value = serde_json::from_slice(&sample(1)).unwrap();
    let node = &mut c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]["comm_d_proofs"]["data"]["Single"]["path"]["path"]
        [3]["hashes"][0][0];
    *node = (node.as_u64().unwrap() ^ 1).into();
    c1.to_string().into_bytes()
}

#[test]
fn a_file_whose_witness_is_not_satisfying_fails_before_any_device_work() {
    let settings = Settings { check_c1: false, check_witness: true, ..Settings::default() };
    let desk = Memory { files: vec![sample(1), unsatisfying(), sample(2)], ..Memory::default() };
    let snapshot = run(&desk, &settings, &Stop::new());
    let jobs: Vec<_> = device_work(&snapshot).into_iter().map(|span| span.activity).collect();
    assert_eq!(jobs, [0, 2].map(|job| Activity::Work { job, partition: Some(0) }));
    let endings = desk.endings();
    assert!(matches!(endings[&0], Ending::Proved(_)) && matches!(endings[&2], Ending::Proved(_)));
    let e = error(&endings[&1]);
    assert_eq!(e.fault(), Fault::Input);
    let message = e.to_string();
    assert!(
        message.starts_with("file 1: partition 0: ") && message.contains("(challenge_1/comm_d_inclusion/"),
        "{message}"
    );
    // Nobody else looks: the simulator knows inputs alone.
    let desk = Memory { files: vec![unsatisfying()], ..Memory::default() };
    run(&desk, &Settings { check_c1: false, ..Settings::default() }, &Stop::new());
    assert!(matches!(desk.endings()[&0], Ending::Proved(_)));
}

#[test]
fn the_check_of_a_witness_takes_memory_and_time_of_the_file() {
    let run_with = |budget, deadline, check_witness| {
        let desk = Memory { files: vec![sample(1)], ..Memory::default() };
        run(&desk, &Settings { budget, deadline, check_witness, check_c1: false, ..Settings::default() }, &Stop::new());
        desk.endings().remove(&0).unwrap()
    };
    assert!(matches!(run_with(8 << 20, None, false), Ending::Proved(_)));
    let message = error(&run_with(8 << 20, None, true)).to_string();
    assert!(message.contains("for its witness and its check"), "{message}");
    assert!(matches!(run_with(16 << 20, None, true), Ending::Proved(_)));
    let message = error(&run_with(16 << 20, Some(Duration::from_nanos(1)), true)).to_string();
    assert!(message.contains("passed before its witness was checked"), "{message}");
}

/// The device's spans of work.
fn device_work(snapshot: &Snapshot) -> Vec<Span> {
    let device = Lane { stage: Stage::Device, worker: 0 };
    let works = |s: &&Span| s.lane == device && matches!(s.activity, Activity::Work { .. });
    snapshot.spans.iter().filter(works).copied().collect()
}

/// What a file costs before its device: reading, checking, synthesis.
fn before_device(snapshot: &Snapshot) -> Duration {
    let stages = [Stage::Read, Stage::Circuit, Stage::Synthesis];
    let works = |s: &&Span| stages.contains(&s.lane.stage) && matches!(s.activity, Activity::Work { .. });
    snapshot.spans.iter().filter(works).map(|s| s.end - s.start).sum()
}

/// How a run of some files overlapped.
#[derive(Debug)]
struct Overlap {
    /// Wall time as a share of the sum of all work before the device and on it.
    share: f64,
    /// The device's busy share between its first and last partition.
    busy: f64,
}

/// Runs files on a device that sleeps for `delay`. Of 2 KiB a native synthesis takes milliseconds: every row of the witness
/// is checked too, so that the cores have about a second of work on each file before the device has its own.
fn overlap(files: usize, in_flight: usize, delay: Duration) -> (Overlap, Duration) {
    let devices = vec![Device::Simulator { delay, synthesis: true }];
    let settings = Settings { devices, in_flight, check_witness: true, ..Settings::default() };
    let desk = Memory { files: (1..=files as u64).map(sample).collect(), ..Memory::default() };
    let start = Instant::now();
    let snapshot = run(&desk, &settings, &Stop::new());
    let wall = start.elapsed();
    assert_eq!(desk.delivered.lock().unwrap().len(), files);
    let work = device_work(&snapshot);
    let on_device: Duration = work.iter().map(|s| s.end - s.start).sum();
    let whole = work[files - 1].end - work[0].start;
    let before = before_device(&snapshot);
    let share = wall.as_secs_f64() / (before + on_device).as_secs_f64();
    (Overlap { share, busy: on_device.as_secs_f64() / whole.as_secs_f64() }, before / files as u32)
}

/// With a device that leaves the cores free and takes as long as what precedes it, N files take at most (N + 2) / 2N of the
/// time they would take one after another, and the device hardly waits. With one partition in flight nothing overlaps, and
/// neither holds. Another program on the machine can spoil one try.
#[test]
fn synthesis_and_device_overlap() {
    const FILES: usize = 4;
    let limit = (FILES + 2) as f64 / (2 * FILES) as f64;
    let holds = |overlap: &Overlap| overlap.share <= limit && overlap.busy >= 0.95;
    // The first run also makes what all files share.
    overlap(1, 1, Duration::ZERO);
    let (_, delay) = overlap(1, 1, Duration::ZERO);
    let (serial, mut delay) = overlap(FILES, 1, delay);
    println!(
        "share of the unoverlapped time at most {limit:.3}, device busy at least 0.95; one after another: {serial:.3?}"
    );
    assert!(serial.share > limit && serial.busy < 0.95, "{serial:?}");
    let mut tries = Vec::new();
    while tries.len() < 5 && !tries.last().is_some_and(holds) {
        // As long as what preceded it the last time, whatever else the machine did.
        let (overlap, before) = overlap(FILES, 4, delay);
        println!("overlapped: {overlap:.3?}, device {delay:.3?}, before it {before:.3?}");
        tries.push(overlap);
        delay = before;
    }
    assert!(tries.last().is_some_and(holds), "at most {limit:.3} of the time, at least 0.95 busy: {tries:.3?}");
}

/// A device whose sums are those of nothing.
struct Wrong;

impl Backend for Wrong {
    fn name(&self) -> String {
        "wrong".into()
    }

    fn quotient(&self, a: &dyn Rows, _: &dyn Rows) -> Result<Lent<Fr>> {
        Ok(vec![Fr::from(0); a.len().next_power_of_two() - 1].into())
    }

    fn sum_g1(&self, _: G1Bases<'_>, _: &[Scalars<'_>]) -> Result<G1Projective> {
        Ok(G1Projective::identity())
    }

    fn sum_g2(&self, _: G2Bases<'_>, _: &[Scalars<'_>]) -> Result<G2Projective> {
        Ok(G2Projective::identity())
    }
}

#[test]
fn a_proof_that_does_not_verify_casts_doubt_on_the_cache_file_its_constraints_are_from() {
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).unwrap();
    source().compile(&porep, &Progress::silent()).unwrap();
    let device = Device::Backend { backend: Box::new(Wrong), threads: pool("wrong", 1).unwrap() };
    let desk = Memory { files: vec![sample(1)], ..Memory::default() };
    run(&desk, &Settings { devices: vec![device], ..Settings::default() }, &Stop::new());
    let endings = desk.endings();
    let e = error(&endings[&0]);
    assert_eq!(e.fault(), Fault::Unverified);
    let expected =
        format!("file 0: with the constraints of the cache file {}", source().cache.as_ref().unwrap().display());
    assert!(e.to_string().starts_with(&expected) && e.to_string().contains("delete it"), "{e}");
}

#[test]
fn without_a_generator_the_circuit_makes_the_same_witness() {
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).unwrap();
    let c1 = c1::read("file", sample(1), &ReadOptions::default()).unwrap();
    let timings = Timings::default();
    let mut compiled = source().compile(&porep, &Progress::silent()).unwrap();
    let witness = |compiled: &Compiled| {
        let values = stages::circuit(&porep, compiled, &c1.statement, &c1.vanilla, 0, &timings).unwrap();
        stages::synthesis(compiled, values, 0, &timings).unwrap()
    };
    let values = stages::circuit(&porep, &compiled, &c1.statement, &c1.vanilla, 0, &timings).unwrap();
    let (native, native_bytes) = (witness(&compiled), compiled.witness_bytes());
    let check = |compiled: &Compiled| stages::witness_check(&porep, compiled, &c1.statement, &c1.vanilla, 0, &timings);
    check(&compiled).unwrap();
    assert!(compiled.generator.take().is_some());
    let generic = witness(&compiled);
    assert!(generic.inputs() == native.inputs() && generic.expand() == native.expand());
    let evaluate = |witness| compiled.circuit.constraints().evaluate(witness).unwrap().map(|values| values.expand());
    assert!(evaluate(&generic) == evaluate(&native));
    check(&compiled).unwrap();
    // All variables as elements, beside the bits they become.
    assert!(compiled.witness_bytes() > native_bytes + 32 * native.layout().aux() as u64);
    // What was made for a generator is of no use without one.
    let refused = stages::synthesis(&compiled, values, 0, &timings).unwrap_err();
    assert_eq!(refused.fault(), Fault::Internal);
}
