//! Progress of long work: a bar with an estimate on a terminal, a few plain lines elsewhere, or nothing.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::screen;
use super::units::{duration, Unit};

/// Least time between two plain lines of one task.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// How often a bar is redrawn though nothing advanced, so that its estimate is current.
const TICK: Duration = Duration::from_millis(250);

/// Where progress goes. Cheap to clone, shared between threads; work takes it as `&Progress`.
#[derive(Clone)]
pub struct Progress(Output);

#[derive(Clone)]
enum Output {
    Silent,
    Quiet,
    Lines(Arc<Lines>),
    Bars { bars: MultiProgress, colour: bool },
}

struct Lines {
    out: Mutex<Box<dyn Write + Send>>,
    interval: Duration,
    /// Time since some fixed moment; tests turn it by hand.
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

impl Lines {
    /// A progress line that cannot be written is dropped: the work matters, not its commentary.
    fn print(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

impl Progress {
    /// Says nothing.
    pub fn silent() -> Self {
        Self(Output::Silent)
    }

    /// Says warnings alone, on standard error.
    pub fn quiet() -> Self {
        Self(Output::Quiet)
    }

    /// Plain lines on standard error: one when a task starts, at most one each 10 seconds, one when it ends.
    pub fn lines() -> Self {
        Self::lines_to(Box::new(io::stderr()), LINE_INTERVAL)
    }

    /// Bars on standard error, coloured or not; plain lines where it is no terminal.
    pub fn bars(colour: bool) -> Self {
        screen::bars().map_or_else(Self::lines, |bars| Self::among(bars.clone(), colour))
    }

    /// Bars below those that are in the set already.
    pub(super) fn among(bars: MultiProgress, colour: bool) -> Self {
        Self(Output::Bars { bars, colour })
    }

    /// Plain lines to any writer, at most one each `interval` and task between the first and the last.
    pub fn lines_to(out: Box<dyn Write + Send>, interval: Duration) -> Self {
        let origin = Instant::now();
        Self::lines_by_clock(out, interval, Box::new(move || origin.elapsed()))
    }

    fn lines_by_clock(
        out: Box<dyn Write + Send>,
        interval: Duration,
        clock: Box<dyn Fn() -> Duration + Send + Sync>,
    ) -> Self {
        Self(Output::Lines(Arc::new(Lines { out: Mutex::new(out), interval, clock })))
    }

    /// Begins a task of `total` units, or of unknown size where `total` is 0. `what` reads like "hashing parameters".
    pub fn task(&self, what: &str, total: u64, unit: Unit) -> Task {
        let view = match &self.0 {
            Output::Silent | Output::Quiet => View::Silent,
            Output::Lines(lines) => {
                lines.print(&starting(what, total, unit));
                let now = (lines.clock)();
                View::Lines { lines: lines.clone(), started: now, next: AtomicU64::new(millis(now + lines.interval)) }
            }
            Output::Bars { bars, colour } => {
                View::Bar { bar: bars.add(bar(what, total, unit, *colour)), bars: bars.clone() }
            }
        };
        let what = what.to_owned();
        Task { view, what, total, unit, done: AtomicU64::new(0), started: Instant::now(), finished: false }
    }

    /// Prints one line, above the bars where there are bars; nothing when silent.
    pub fn note(&self, line: &str) {
        match &self.0 {
            Output::Silent | Output::Quiet => {}
            Output::Lines(lines) => lines.print(line),
            Output::Bars { bars, .. } => print_above(bars, line),
        }
    }

    /// Prints something that the user should act on, in the same way.
    pub fn warn(&self, message: &str) {
        let line = format!("warning: {message}");
        match &self.0 {
            Output::Silent => {}
            Output::Quiet => screen::say(&(line + "\n")),
            Output::Lines(lines) => lines.print(&line),
            Output::Bars { bars, colour: true } => print_above(bars, &format!("\x1b[33mwarning:\x1b[0m {message}")),
            Output::Bars { bars, colour: false } => print_above(bars, &line),
        }
    }
}

/// One running task; `advance` may be called from many threads. Dropped without [`Task::finish`] (an error on the way),
/// it says where it stopped.
pub struct Task {
    view: View,
    what: String,
    total: u64,
    unit: Unit,
    done: AtomicU64,
    started: Instant,
    finished: bool,
}

enum View {
    Silent,
    /// `started`, and `next`, the milliseconds before which no further line is due, are times of the lines' clock.
    Lines {
        lines: Arc<Lines>,
        started: Duration,
        next: AtomicU64,
    },
    Bar {
        bar: ProgressBar,
        bars: MultiProgress,
    },
}

impl Task {
    /// `units` more are done. Meant for chunks of work: it costs a clock reading.
    pub fn advance(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        match &self.view {
            View::Silent => {}
            View::Bar { bar, .. } => bar.inc(units),
            View::Lines { lines, started, next } => {
                let now = (lines.clock)();
                let due = next.load(Ordering::Relaxed);
                // The exchange lets one thread print where several pass the mark together.
                let later = millis(now + lines.interval);
                if millis(now) >= due && next.compare_exchange(due, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
                {
                    lines.print(&running(&self.what, done, self.total, self.unit, now.saturating_sub(*started)));
                }
            }
        }
    }

    /// The task is complete.
    pub fn finish(mut self) {
        self.finished = true;
        let (done, wall) = (self.done.load(Ordering::Relaxed), self.started.elapsed());
        let rate = self.unit.rate(done, wall).filter(|_| done > 1).map_or(String::new(), |r| format!(" ({r})"));
        self.last_line(&format!("{}: {} in {}{rate}", self.what, self.unit.amount(done), duration(wall)));
    }

    fn last_line(&self, line: &str) {
        match &self.view {
            View::Silent => {}
            View::Lines { lines, .. } => lines.print(line),
            View::Bar { bar, bars } => {
                bar.finish_and_clear();
                bars.remove(bar);
                print_above(bars, line);
            }
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.finished {
            let done = self.done.load(Ordering::Relaxed);
            self.last_line(&format!("{}: stopped at {}", self.what, of_total(done, self.total, self.unit)));
        }
    }
}

fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX / 2)
}

fn print_above(bars: &MultiProgress, line: &str) {
    // The bars' own `println` leaves the cursor in the line where no bar is left. As with plain lines: a failure to write
    // commentary is no failure of the work.
    let _ = bars.suspend(|| writeln!(io::stderr(), "{line}"));
}

fn starting(what: &str, total: u64, unit: Unit) -> String {
    match total {
        0 => what.to_owned(),
        _ => format!("{what}: {}", unit.amount(total)),
    }
}

fn running(what: &str, done: u64, total: u64, unit: Unit, elapsed: Duration) -> String {
    format!("{what}: {}{}", of_total(done, total, unit), time_left(done, total, elapsed))
}

/// `300 MiB of 1.04 GiB (28 %)`, or the amount alone where the total is unknown.
fn of_total(done: u64, total: u64, unit: Unit) -> String {
    if total == 0 {
        return unit.amount(done);
    }
    let percent = done as f64 / total as f64 * 100.0;
    format!("{} of {} ({percent:.0} %)", unit.amount(done), unit.amount(total))
}

/// Time left at the mean rate so far; `None` before anything is done or where the total is unknown.
fn remaining(done: u64, total: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || total == 0 {
        return None;
    }
    let left = total.saturating_sub(done) as f64 / done as f64;
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * left).ok()
}

/// `, about 12 s left`: an estimate deserves whole seconds at most. Empty where there is none.
fn time_left(done: u64, total: u64, elapsed: Duration) -> String {
    match remaining(done, total, elapsed) {
        None => String::new(),
        Some(left) if left < Duration::from_secs(1) => ", under 1 s left".to_owned(),
        Some(left) if left < Duration::from_secs(100) => format!(", about {} s left", left.as_secs()),
        Some(left) => format!(", about {} left", duration(left)),
    }
}

fn bar(what: &str, total: u64, unit: Unit, colour: bool) -> ProgressBar {
    // The bar takes what the words leave of a line.
    let template = match (total, colour) {
        (0, _) => "{spinner} {msg}: {amount}",
        (_, true) => "{msg} [{wide_bar:.cyan/blue}] {amount}{left}",
        (_, false) => "{msg} [{wide_bar}] {amount}{left}",
    };
    // The templates are constants; should indicatif refuse one, its own default style still tells the position.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style
        .progress_chars("=> ")
        .with_key("amount", move |state: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = w.write_str(&of_total(state.pos(), total, unit));
        })
        .with_key("left", move |state: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = w.write_str(&time_left(state.pos(), total, state.elapsed()));
        });
    let bar = ProgressBar::hidden();
    if total > 0 {
        bar.set_length(total);
    }
    bar.set_style(style);
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Milliseconds that a test lets pass.
    type Clock = Arc<AtomicU64>;

    /// What is printed with an interval of a second, by a clock that stands still unless `work` advances it.
    fn recorded(work: impl FnOnce(&Progress, &Clock)) -> Vec<String> {
        let (out, clock) = (Shared::default(), Clock::default());
        let now = clock.clone();
        let now = Box::new(move || Duration::from_millis(now.load(Ordering::Relaxed)));
        work(&Progress::lines_by_clock(Box::new(out.clone()), Duration::from_secs(1), now), &clock);
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_short_task_prints_its_start_and_its_end_only() {
        let lines = recorded(|progress, clock| {
            let task = progress.task("hashing parameters", 3 << 20, Unit::Bytes);
            (0..3).for_each(|_| task.advance(1 << 20));
            clock.fetch_add(999, Ordering::Relaxed);
            task.advance(0);
            task.finish();
        });
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[0], "hashing parameters: 3.00 MiB");
        assert!(lines[1].starts_with("hashing parameters: 3.00 MiB in "), "{lines:?}");
    }

    #[test]
    fn a_long_task_prints_one_line_per_interval() {
        let lines = recorded(|progress, clock| {
            clock.store(12_345, Ordering::Relaxed);
            let task = progress.task("tables", 4, Unit::Points);
            task.advance(1);
            for _ in 0..2 {
                clock.fetch_add(1000, Ordering::Relaxed);
                task.advance(1);
                task.advance(0);
            }
            task.finish();
        });
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!(lines[1], "tables: 2 points of 4 points (50 %), about 1 s left");
        assert_eq!(lines[2], "tables: 3 points of 4 points (75 %), under 1 s left");
        assert!(lines[3].starts_with("tables: 3 points in "), "{lines:?}");
    }

    #[test]
    fn threads_that_pass_the_mark_together_print_one_line() {
        let lines = recorded(|progress, clock| {
            let task = progress.task("sums", 800, Unit::Bases);
            clock.store(1000, Ordering::Relaxed);
            std::thread::scope(|s| {
                (0..8).for_each(|_| {
                    s.spawn(|| task.advance(100));
                });
            });
            task.finish();
        });
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[2].starts_with("sums: 800 bases in "), "{lines:?}");
    }

    #[test]
    fn a_dropped_task_says_where_it_stopped() {
        let lines = recorded(|progress, _| {
            progress.task("proving", 10, Unit::Partitions).advance(1);
        });
        assert_eq!(lines[1], "proving: stopped at 1 partition of 10 partitions (10 %)");
    }

    #[test]
    fn warnings_are_told_from_notes() {
        let lines = recorded(|progress, _| {
            progress.note("this");
            progress.warn("that");
        });
        assert_eq!(lines, ["this", "warning: that"]);
    }

    #[test]
    fn silence_is_silent_and_bars_need_a_terminal() {
        let task = Progress::silent().task("x", 1, Unit::Files);
        task.advance(1);
        assert!(matches!(task.view, View::Silent));
        if screen::bars().is_none() {
            assert!(matches!(Progress::bars(true).0, Output::Lines(_)));
        }
    }

    #[test]
    fn the_estimate_is_the_mean_rate() {
        let second = Duration::from_secs(1);
        assert_eq!(remaining(1, 4, second), Some(3 * second));
        assert_eq!(remaining(5, 4, second), Some(Duration::ZERO));
        assert_eq!(remaining(0, 4, second), None);
        assert_eq!(remaining(4, 0, second), None);
        assert_eq!(time_left(1, 8, 2 * second), ", about 14 s left");
        assert_eq!(time_left(1, 818, second), ", about 13 m 37 s left");
        assert_eq!(time_left(0, 8, second), "");
    }
}
