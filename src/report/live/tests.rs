use std::fmt;

use indicatif::{ProgressDrawTarget, TermLike};

use super::*;
use crate::report::samples::{failed, proved, seconds, work, ODD_NAMES};
use crate::report::spans::{Activity, FileRecord, Job, Lane, Outcome, Recorder, Seen, Snapshot};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal that keeps what is written, movements left out.
impl TermLike for Shared {
    fn width(&self) -> u16 {
        80
    }
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn write_line(&self, line: &str) -> io::Result<()> {
        self.write_str(&format!("{line}\n"))
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.clone().write_all(text.as_bytes())
    }
    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

const DEVICE: Lane = Lane { stage: Stage::Device, worker: 0 };

fn job(name: &str) -> Job {
    Job { name: name.into(), partitions: Some(2) }
}

#[test]
fn each_event_is_a_line_in_order() {
    let (out, recorder) = (Shared::default(), Arc::new(Recorder::default()));
    let mut live = Live::lines_to(Box::new(out.clone()), recorder.clone(), 5);
    recorder.announce(0, "a.json", None);
    recorder.announce(0, "a.json", Some(2));
    for k in 0..2 {
        drop(recorder.begin(DEVICE, Activity::Work { job: 0, partition: Some(k) }));
    }
    recorder.file(proved(0, "a.json"));
    recorder
        .file(FileRecord { outcome: Outcome::Skipped { proof: "p".into(), same_as: None }, ..proved(1, "two\nlines") });
    let same_as = Some("a.json".into());
    recorder.file(FileRecord { outcome: Outcome::Skipped { proof: "q".into(), same_as }, ..proved(4, "e.json") });
    recorder.file(failed(2, "c.json", "c.json: seed\nis zero"));
    recorder.file(failed(3, "d.json", "d.json: seed\nis zero"));
    live.stop();
    live.progress().note("done");
    let text = out.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 9, "{text}");
    assert_eq!(lines[0], "a.json: started");
    assert!(
        lines[2].starts_with("a.json: partition 1 through the device in ") && lines[2].ends_with(" (2 of 2)"),
        "{text}"
    );
    assert_eq!(lines[3], "a.json: proved, 2 partitions in 10.0 s (1 of 5 files)");
    assert_eq!(lines[4], "two\\nlines: skipped, proved before (2 of 5 files)");
    assert_eq!(lines[5], "e.json: same content as a.json, whose proof was copied (3 of 5 files)");
    assert_eq!(lines[6], "c.json: failed: seed\\nis zero (4 of 5 files)");
    assert_eq!(lines[7], "d.json: failed: for the same reason as c.json (5 of 5 files)");
    assert_eq!(lines[8], "done");
}

#[test]
fn events_are_shown_while_the_batch_runs() {
    let (out, recorder) = (Shared::default(), Arc::new(Recorder::default()));
    let _live = Live::lines_to(Box::new(out.clone()), recorder.clone(), 1);
    recorder.announce(0, "a", None);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while out.text().is_empty() {
        assert!(std::time::Instant::now() < deadline, "nothing was shown");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn tasks_beside_the_stages_print_whole_lines() {
    let (out, recorder) = (Shared::default(), Arc::new(Recorder::default()));
    let live = Live::lines_to(Box::new(out.clone()), recorder, 1);
    let task = live.progress().task("hashing parameters", 3, crate::report::Unit::Files);
    task.advance(3);
    task.finish();
    let text = out.text();
    assert!(text.starts_with("hashing parameters: 3 files\nhashing parameters: 3 files in "), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn silence_starts_no_thread() {
    let recorder = Arc::new(Recorder::default());
    let live = Live::new(Mode::Silent, recorder.clone(), 1);
    live.progress().note("nobody reads this");
    assert!(live.thread.is_none());
    assert_eq!(Arc::strong_count(&recorder), 1);
}

#[test]
fn bars_show_the_batch_and_every_stage() {
    let (terminal, recorder) = (Shared::default(), Arc::new(Recorder::default()));
    let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
    let bars = Bars::new(MultiProgress::with_draw_target(target), false, 2);
    assert_eq!(terminal.text(), "", "drawn in parts");
    let mut live = Live::start(Screen::Bars(bars), recorder.clone(), 2);
    recorder.announce(0, ODD_NAMES[0], Some(10));
    recorder.queue(Stage::Device, 3);
    let running = recorder.begin(DEVICE, Activity::Work { job: 0, partition: Some(4) });
    live.stop();
    drop(running);
    let text = terminal.text();
    for part in
        ["0 of 2 files, 0 partitions", "  synthesis            idle", "  device    3 queued   two\\nlines partition 4"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_estimate_counts_proofs_and_their_parts() {
    let mut state = State::new(4);
    assert_eq!((state.left(), state.batch_line().as_str()), (None, "0 of 4 files, 0 partitions"));
    let mut news = Snapshot { now: seconds(30.0), ..Snapshot::default() };
    news.jobs = [(0, job("a")), (1, job("b"))].into();
    news.files = vec![failed(3, "d", "bad"), proved(0, "a")];
    // A partition that was tried twice is one.
    news.spans = vec![work(Stage::Device, 1, 0, 1.0, 2.0), work(Stage::Device, 1, 0, 2.0, 3.0)];
    assert_eq!(state.learn(news).len(), 5);
    // Half of b and all of c are left: three partitions of a second.
    assert_eq!((state.done(), state.left()), (2.5, Some(seconds(3.0))));
    assert_eq!(state.batch_line(), "2 of 4 files, 1 partition, about 3 s left; 1 failed");
    assert_eq!(State::new(0).batch_line(), "0 of 0 files, 0 partitions");
}

#[test]
fn a_partition_that_fails_on_the_device_is_not_told_as_finished() {
    let recorder = Recorder::default();
    let (mut state, mut seen) = (State::new(1), Seen::default());
    recorder.announce(0, "a", Some(2));
    let on_device = |partition: usize, finished: bool| {
        let _running = recorder.begin(DEVICE, Activity::Work { job: 0, partition: Some(partition) });
        recorder.partition(0, partition, finished);
    };
    on_device(0, false);
    let told = state.learn(recorder.news(&mut seen));
    assert_eq!(told, [Event::Started("a: started".into())]);
    assert_eq!((state.done(), state.batch_line().as_str()), (0.0, "0 of 1 file, 0 partitions"));
    // Tried again, with success.
    on_device(0, true);
    let told = state.learn(recorder.news(&mut seen));
    assert!(matches!(&told[..], [Event::Partition(line)] if line.ends_with(" (1 of 2)")), "{told:?}");
    assert_eq!(state.done(), 0.5);
}

#[test]
fn the_estimate_shrinks_while_a_partition_is_on_the_device() {
    let mut state = State::new(3);
    let at = |now: f64| Snapshot { now: seconds(now), ..Snapshot::default() };
    let mut news = at(10.0);
    news.jobs = [(0, job("a")), (1, job("b"))].into();
    news.spans = vec![work(Stage::Device, 0, 0, 0.0, 10.0)];
    state.learn(news);
    let left = |state: &mut State, now: f64| {
        state.learn(Snapshot {
            running: vec![(DEVICE, Activity::Work { job: 0, partition: Some(1) }, seconds(10.0))],
            ..at(now)
        });
        state.left().unwrap().as_secs_f64()
    };
    // One of a, two of b, two of what was not read yet; the first of them is on the device.
    assert_eq!([10.0, 14.0, 20.0, 60.0].map(|now| left(&mut state, now)), [50.0, 46.0, 40.0, 40.0]);
    // A file that fails takes its partitions along, and changes nothing else.
    let mut news = at(60.0);
    news.files = vec![failed(1, "b", "bad")];
    state.learn(news);
    assert_eq!(left(&mut state, 60.0), 20.0);
}

#[test]
fn a_stages_line_tells_what_its_lanes_do() {
    let mut state = State::new(2);
    let mut news = Snapshot { now: seconds(30.0), ..Snapshot::default() };
    news.jobs = [(0, job("a"))].into();
    let lane = |worker| Lane { stage: Stage::Synthesis, worker };
    news.running = vec![
        (lane(2), Activity::AwaitsMemory, seconds(1.0)),
        (lane(3), Activity::AwaitsMemory, seconds(1.0)),
        (lane(1), Activity::Work { job: 5, partition: Some(0) }, seconds(30.0)),
        (lane(0), Activity::Work { job: 0, partition: Some(1) }, seconds(18.0)),
        (DEVICE, Activity::AwaitsInput, seconds(0.0)),
    ];
    state.learn(news);
    let line = state.stage_line(Stage::Synthesis);
    assert_eq!(line.trim_start(), "a partition 1 (12 s), file 6 partition 0 (0 s), 2 waiting for memory");
    assert_eq!(state.stage_line(Stage::Device).trim_start(), "idle");
}
