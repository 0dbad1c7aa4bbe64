//! Snapshots and records for the tests of reports, and a check of their pictures.

use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::operations::{Operation, OperationKind};
use super::spans::{Activity, DeviceSpan, FileRecord, Job, Lane, Outcome, Snapshot, Span, Stage};

/// Names that have spoiled somebody's output: each holds something that a format treats specially.
pub const ODD_NAMES: [&str; 5] =
    ["two\nlines", "\"quoted\\\"", "<a href='x'>&amp;</a>", "\u{fffd}\u{fffd}.json", "日本\x1b[31m"];

pub fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

pub fn work(stage: Stage, job: usize, partition: usize, start: f64, end: f64) -> Span {
    span(stage, Activity::Work { job, partition: Some(partition) }, start, end)
}

pub fn span(stage: Stage, activity: Activity, start: f64, end: f64) -> Span {
    Span { lane: Lane { stage, worker: 0 }, activity, start: seconds(start), end: seconds(end) }
}

pub fn proved(job: usize, name: &str) -> FileRecord {
    FileRecord {
        job,
        name: name.into(),
        content: Some(format!("{job:064x}")),
        partitions: 2,
        attempts: 1,
        outcome: Outcome::Proved { proof: format!("out/{job}.proof.json") },
        wall: seconds(10.0),
        timings: json!({"total_seconds": 10.0, "phases": [
            {"phase": "read", "seconds": 0.5, "items": 1000, "unit": "bytes"},
            {"phase": "synthesis", "seconds": 4.0, "items": 300, "unit": "constraints"},
            {"phase": "quotient", "seconds": 2.0, "items": 8, "unit": "rows"},
            {"phase": "sum_h", "seconds": 1.5, "items": 8, "unit": "bases"},
            {"phase": "verification", "seconds": 0.25, "items": 1, "unit": "proofs"},
        ]}),
    }
}

pub fn failed(job: usize, name: &str, message: &str) -> FileRecord {
    let outcome = Outcome::Failed { fault: "Input".into(), message: message.into() };
    FileRecord { partitions: 0, outcome, timings: Value::Null, ..proved(job, name) }
}

/// Two kernels, and copies: 5 s, one after the other.
pub fn operations() -> Vec<Operation> {
    let done = [
        ("bases", OperationKind::Upload, 1 << 31, 0.5),
        ("scalars", OperationKind::Upload, 1 << 30, 0.5),
        ("buckets", OperationKind::Fill, 1 << 20, 0.1),
        ("fr_mul", OperationKind::Kernel, 0, 1.0),
        ("ntt_pass", OperationKind::Kernel, 0, 0.5),
        ("fr_mul", OperationKind::Kernel, 0, 2.0),
        ("sums", OperationKind::Download, 400, 0.4),
    ];
    let mut start = Instant::now();
    let operation = |(name, kind, bytes, time)| {
        let operation = Operation { name, kind, bytes, start, duration: seconds(time) };
        start += operation.duration;
        operation
    };
    done.map(operation).to_vec()
}

/// Two files of two partitions, of which the second fails at its end; 20 s in all, the device busy from 4 to 19.
pub fn two_files() -> Snapshot {
    let spans = vec![
        span(Stage::Read, Activity::Work { job: 0, partition: None }, 0.0, 1.0),
        span(Stage::Device, Activity::AwaitsInput, 0.0, 4.0),
        span(Stage::Read, Activity::Work { job: 1, partition: None }, 1.0, 2.0),
        work(Stage::Synthesis, 0, 0, 1.0, 4.0),
        work(Stage::Synthesis, 0, 1, 4.0, 6.0),
        span(Stage::Synthesis, Activity::AwaitsMemory, 6.0, 8.0),
        work(Stage::Device, 0, 0, 4.0, 8.0),
        work(Stage::Synthesis, 1, 0, 8.0, 10.0),
        work(Stage::Device, 0, 1, 8.0, 12.0),
        span(Stage::Synthesis, Activity::AwaitsOutput, 10.0, 12.0),
        work(Stage::Synthesis, 1, 1, 12.0, 14.0),
        span(Stage::Assembly, Activity::Work { job: 0, partition: None }, 12.0, 12.5),
        span(Stage::Write, Activity::Work { job: 0, partition: None }, 12.5, 12.6),
        work(Stage::Device, 1, 0, 12.0, 16.0),
        work(Stage::Device, 1, 1, 16.0, 19.0),
    ];
    let files = vec![proved(0, "a.json"), failed(1, "b.json", "b.json: seed is all zero")];
    Snapshot { started: seconds(1000.0), now: seconds(20.0), spans, files, ..Snapshot::default() }
}

/// The two files, and what two devices timed while they worked on them.
pub fn with_device_spans() -> Snapshot {
    let span = |device, kind, name, bytes, start| DeviceSpan {
        device,
        stream: device,
        kind,
        name,
        bytes,
        start: seconds(start),
        end: seconds(start + 1.0),
    };
    let device_spans = vec![
        span(1, OperationKind::Upload, "bases", 1 << 20, 4.0),
        span(0, OperationKind::Kernel, "fr_mul", 0, 5.0),
        span(1, OperationKind::Download, "sums", 96, 9.0),
    ];
    Snapshot { device_spans, ..two_files() }
}

/// As many files as asked for, of ten partitions each, through one lane per stage, under odd names.
pub fn many_files(files: usize) -> Snapshot {
    let mut snapshot = Snapshot { now: seconds(files as f64 * 10.0), ..Snapshot::default() };
    for job in 0..files {
        for k in 0..10 {
            let at = (job * 10 + k) as f64;
            snapshot.spans.push(work(Stage::Synthesis, job, k, at, at + 0.5));
            snapshot.spans.push(work(Stage::Device, job, k, at + 0.5, at + 1.0));
        }
        let name = format!("{}-{job}", ODD_NAMES[job % ODD_NAMES.len()]);
        snapshot.jobs.insert(job, Job { name: name.clone(), partitions: Some(10) });
        snapshot.files.push(proved(job, &name));
    }
    snapshot
}

/// Panics at what an XML parser would refuse: control characters, bare ampersands, elements that do not nest.
pub fn elements(svg: &str) -> Vec<String> {
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()));
    for after in svg.split('&').skip(1) {
        let entity = after.split(';').next().unwrap();
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "&{entity}");
    }
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for piece in svg.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap();
        assert!(piece.len() > tag.len(), "<{tag} does not end");
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}>");
        } else {
            found.push(tag.to_owned());
            if !tag.ends_with('/') {
                open.push(name.to_owned());
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}
