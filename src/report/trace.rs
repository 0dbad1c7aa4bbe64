//! The spans of a run as Chrome trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

use serde_json::{json, Value};

use super::lanes::Usages;
use super::spans::{stream_name, Activity, DeviceSpan, Lane, Names, Snapshot, Span, Stage};
use super::text::visible;

/// One process is all there is.
const PROCESS: u64 = 1;
/// Threads are numbered by stage, then worker: no stage has so many workers.
const WORKERS: u64 = 10_000;
/// Behind the stages' threads, those of devices' streams: no device has so many.
const STREAMS: u64 = 1_000;

/// The trace as the text of one JSON object, one event a line: names for the lanes, then a complete event (`X`) for each
/// span, category `work` with the file's place (counted from 1) and the partition (from 0), or `wait`; and on lanes of their own, for
/// each stream of a device, what the device timed itself, category `kernel`, `upload`, `download` or `fill`, with its bytes. Times are in
/// microseconds.
pub fn text(snapshot: &Snapshot) -> String {
    let names = snapshot.names();
    let lanes = Usages::new(snapshot).0;
    let lanes = lanes.keys().flat_map(|lane| metadata(thread(*lane), &lane_name(*lane)));
    let streams = snapshot.streams();
    let stream_lanes = streams.keys().flat_map(|stream| metadata(stream_thread(*stream), &stream_name(*stream)));
    let operations = streams.iter().flat_map(|(stream, spans)| spans.iter().map(|span| operation(*stream, span)));
    let process = json!({"ph": "M", "pid": PROCESS, "name": "process_name", "args": {"name": "cuzk"}});
    let spans = snapshot.all_spans().map(|span| event(&span, &names));
    let events: Vec<String> = std::iter::once(process)
        .chain(lanes)
        .chain(stream_lanes)
        .chain(spans)
        .chain(operations)
        .map(|event| event.to_string())
        .collect();
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

fn thread(lane: Lane) -> u64 {
    (lane.stage as u64 + 1) * WORKERS + lane.worker as u64
}

fn stream_thread((device, stream): (usize, usize)) -> u64 {
    (Stage::ALL.len() as u64 + 1) * WORKERS + device as u64 * STREAMS + stream as u64
}

fn metadata(tid: u64, name: &str) -> [Value; 2] {
    // The sort index keeps the stages in their order; by itself Perfetto sorts by name.
    [
        json!({"ph": "M", "pid": PROCESS, "tid": tid, "name": "thread_name", "args": {"name": name}}),
        json!({"ph": "M", "pid": PROCESS, "tid": tid, "name": "thread_sort_index", "args": {"sort_index": tid}}),
    ]
}

/// `synthesis 2`, counted from 0 as devices are.
pub(super) fn lane_name(lane: Lane) -> String {
    format!("{} {}", lane.stage.name(), lane.worker)
}

fn event(span: &Span, names: &Names) -> Value {
    let (name, category, args) = match span.activity {
        Activity::Work { job, partition } => {
            let file = visible(&names.get(job));
            let args = json!({"file": file, "place": job + 1, "partition": partition});
            (work_name(file, partition), "work", args)
        }
        Activity::Together { partitions } => (together_name(partitions), "work", json!({"partitions": partitions})),
        Activity::AwaitsInput => ("awaits input".to_owned(), "wait", json!({})),
        Activity::AwaitsMemory => ("awaits memory".to_owned(), "wait", json!({})),
        Activity::AwaitsOutput => ("awaits output".to_owned(), "wait", json!({})),
    };
    json!({
        "ph": "X",
        "pid": PROCESS,
        "tid": thread(span.lane),
        "name": name,
        "cat": category,
        "ts": micros(span.start),
        "dur": micros(span.end.saturating_sub(span.start)),
        "args": args,
    })
}

fn operation(stream: (usize, usize), span: &DeviceSpan) -> Value {
    json!({
        "ph": "X",
        "pid": PROCESS,
        "tid": stream_thread(stream),
        "name": span.what(),
        "cat": span.kind.name(),
        "ts": micros(span.start),
        "dur": micros(span.end.saturating_sub(span.start)),
        "args": {"bytes": span.bytes},
    })
}

/// Work on several partitions at once.
pub(super) fn together_name(partitions: usize) -> String {
    format!("{partitions} partitions together")
}

/// The file, with the partition (counted from 0, as everywhere) where the work is on one.
pub(super) fn work_name(file: String, partition: Option<usize>) -> String {
    match partition {
        Some(k) => format!("{file} partition {k}"),
        None => file,
    }
}

fn micros(d: std::time::Duration) -> f64 {
    d.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{many_files, span, two_files, with_device_spans};
    use crate::report::spans::Stage;

    fn events(snapshot: &Snapshot) -> Vec<Value> {
        let value: Value = serde_json::from_str(&text(snapshot)).unwrap();
        value["traceEvents"].as_array().unwrap().clone()
    }

    fn complete(events: &[Value]) -> Vec<&Value> {
        events.iter().filter(|event| event["ph"] == "X").collect()
    }

    #[test]
    fn a_run_without_spans_is_a_valid_trace() {
        let events = events(&Snapshot::default());
        assert_eq!((events.len(), &events[0]["name"]), (1, &json!("process_name")));
    }

    #[test]
    fn lanes_are_named_threads_and_spans_complete_events() {
        let mut snapshot = two_files();
        snapshot.spans.push(span(Stage::Device, Activity::Together { partitions: 3 }, 19.0, 20.0));
        let device = Lane { stage: Stage::Device, worker: 1 };
        snapshot.running.push((device, Activity::AwaitsInput, std::time::Duration::from_secs(5)));
        let events = events(&snapshot);
        let named = |name: &str| {
            let thread = events.iter().find(|e| e["name"] == "thread_name" && e["args"]["name"] == name);
            thread.unwrap_or_else(|| panic!("{name}"))["tid"].clone()
        };
        let spans = complete(&events);
        assert_eq!(spans.len(), snapshot.spans.len() + 1);
        let together = spans.iter().find(|e| e["name"] == "3 partitions together").unwrap();
        assert_eq!((&together["args"], &together["cat"]), (&json!({"partitions": 3}), &json!("work")));
        let expected = json!({
            "ph": "X", "pid": 1, "tid": named("device 0"), "name": "b.json partition 1", "cat": "work",
            "ts": 16e6, "dur": 3e6, "args": {"file": "b.json", "place": 2, "partition": 1},
        });
        assert!(spans.contains(&&expected));
        let last = spans.last().unwrap();
        assert_eq!((&last["tid"], &last["cat"], &last["ts"]), (&named("device 1"), &json!("wait"), &json!(5e6)));
        assert_eq!(last["dur"], 15e6);
    }

    #[test]
    fn what_devices_timed_has_lanes_of_its_own() {
        let events = events(&with_device_spans());
        let named: Vec<_> = events.iter().filter(|e| e["name"] == "thread_name").collect();
        let lane = |name: &str| named.iter().find(|e| e["args"]["name"] == name).unwrap()["tid"].as_u64().unwrap();
        let (first, second, stage) = (lane("stream 0.0"), lane("stream 1.1"), lane("device 0"));
        assert!(stage < first && first < second, "streams lie below the stages");
        let of = |tid: u64| complete(&events).into_iter().filter(|e| e["tid"] == tid).cloned().collect::<Vec<_>>();
        let kernel = json!({
            "ph": "X", "pid": 1, "tid": first, "name": "fr_mul", "cat": "kernel", "ts": 5e6, "dur": 1e6, "args": {"bytes": 0},
        });
        assert_eq!(of(first), [kernel]);
        let upload = &of(second)[0];
        assert_eq!((&upload["name"], &upload["cat"]), (&json!("upload bases"), &json!("upload")));
        assert_eq!(upload["args"]["bytes"], 1 << 20);
    }

    #[test]
    fn thousands_of_spans_under_odd_names_are_valid_json() {
        let events = events(&many_files(300));
        assert_eq!(complete(&events).len(), 6000);
        assert!(events.iter().all(|event| event["ts"].as_f64().is_none_or(|ts| ts >= 0.0)));
    }
}
