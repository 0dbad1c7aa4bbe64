//! What a batch is doing, while it does: bars on a terminal, a plain line per event elsewhere.

mod state;

use std::io::{self, Write};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::spans::{Recorder, Seen, Stage};
use super::{screen, Progress};
use state::{Event, State};

/// How often the recorder is looked at.
const INTERVAL: Duration = Duration::from_millis(200);
/// Least time between two lines of one long task beside the stages.
const TASK_INTERVAL: Duration = Duration::from_secs(10);
/// Steps of the batch's bar per file.
const STEPS: f64 = 1000.0;

/// How a batch shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A bar for the batch and a line per stage on standard error; plain lines where it is no terminal.
    Bars { colour: bool },
    /// A line per event on standard error.
    Lines,
    /// Nothing but warnings.
    Silent,
}

/// The display of a running batch, until stopped or dropped.
pub struct Live {
    screen: Arc<Screen>,
    /// Dropping the sender wakes and ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

enum Screen {
    Silent,
    Lines(Mutex<Box<dyn Write + Send>>),
    Bars(Bars),
}

impl Live {
    /// Shows what the recorder is told of a batch of `total` files. Silent, it starts no thread and copies nothing.
    pub fn new(mode: Mode, recorder: Arc<Recorder>, total: usize) -> Self {
        let screen = match mode {
            Mode::Silent => Screen::Silent,
            Mode::Lines => Screen::Lines(Mutex::new(Box::new(io::stderr()))),
            Mode::Bars { colour } => match screen::bars() {
                Some(bars) => Screen::Bars(Bars::new(bars.clone(), colour, total)),
                None => return Self::new(Mode::Lines, recorder, total),
            },
        };
        Self::start(screen, recorder, total)
    }

    /// A line per event to any writer.
    pub fn lines_to(out: Box<dyn Write + Send>, recorder: Arc<Recorder>, total: usize) -> Self {
        Self::start(Screen::Lines(Mutex::new(out)), recorder, total)
    }

    /// Where no thread can be started, only what happens is not shown: the work goes on.
    fn start(screen: Screen, recorder: Arc<Recorder>, total: usize) -> Self {
        let screen = Arc::new(screen);
        if matches!(*screen, Screen::Silent) {
            return Self { screen, stop: None, thread: None };
        }
        let (stop, stopped) = channel::<()>();
        let shown = screen.clone();
        let show = move || {
            let (mut state, mut seen) = (State::new(total), Seen::default());
            loop {
                let last = stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout);
                let events = state.learn(recorder.news(&mut seen));
                shown.show(&state, &events);
                if last {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("live display".into()).spawn(show).ok();
        Self { screen, stop: Some(stop), thread }
    }

    /// Progress of long tasks that are no stage's (hashing and generating parameters): bars below the display's own, or lines
    /// among them.
    pub fn progress(&self) -> Progress {
        match &*self.screen {
            Screen::Silent => Progress::quiet(),
            Screen::Bars(bars) => Progress::among(bars.all.clone(), bars.colour),
            _ => Progress::lines_to(Box::new(Above { screen: self.screen.clone(), line: Vec::new() }), TASK_INTERVAL),
        }
    }

    /// Shows what is left to be shown, then removes the bars. Later lines are printed still.
    pub fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The work matters, not its commentary: a panic of the display is no failure of the batch.
            let _ = thread.join();
            if let Screen::Bars(bars) = &*self.screen {
                bars.remove();
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Screen {
    fn show(&self, state: &State, events: &[Event]) {
        for event in events {
            match (self, event) {
                // Bars tell what has started, how far it is and how many were skipped.
                (Screen::Bars(_), Event::Started(_) | Event::Partition(_) | Event::Skipped(_)) => {}
                (_, Event::Started(line) | Event::Partition(line) | Event::Ended(line) | Event::Skipped(line)) => {
                    self.line(line);
                }
            }
        }
        if let Screen::Bars(bars) = self {
            bars.update(state);
        }
    }

    /// A line that cannot be written is dropped, as with all commentary.
    fn line(&self, line: &str) {
        match self {
            Screen::Silent => {}
            Screen::Lines(out) => {
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writeln!(out, "{line}").and_then(|()| out.flush());
            }
            Screen::Bars(_) => screen::say(&format!("{line}\n")),
        }
    }
}

/// Prints each line that is written to it as the display prints its own.
struct Above {
    screen: Arc<Screen>,
    /// What was written of a line that has not ended.
    line: Vec<u8>,
}

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => self.screen.line(&String::from_utf8_lossy(&std::mem::take(&mut self.line))),
                byte => self.line.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Bars {
    all: MultiProgress,
    colour: bool,
    batch: ProgressBar,
    stages: [ProgressBar; Stage::ALL.len()],
}

impl Bars {
    /// In the set `all`, and not drawn before there is something to tell.
    fn new(all: MultiProgress, colour: bool, total: usize) -> Self {
        let (batch, stage) = match colour {
            true => ("[{bar:24.cyan/blue}] {wide_msg}", "  {prefix:<10.cyan}{wide_msg}"),
            false => ("[{bar:24}] {wide_msg}", "  {prefix:<10}{wide_msg}"),
        };
        let bar = |template| {
            // The templates are constants; should indicatif refuse one, its own default style still tells the position.
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::hidden();
            bar.set_length(steps(total as f64));
            bar.set_style(style.progress_chars("=> "));
            bar
        };
        let batch = bar(batch);
        let stages = Stage::ALL.map(|of| {
            let line = bar(stage);
            line.set_prefix(of.name());
            line
        });
        [&batch].into_iter().chain(&stages).for_each(|bar| drop(all.add(bar.clone())));
        Self { all, colour, batch, stages }
    }

    fn update(&self, state: &State) {
        self.batch.set_length(steps(state.total() as f64));
        self.batch.set_position(steps(state.done()));
        self.batch.set_message(state.batch_line());
        for (line, stage) in self.stages.iter().zip(Stage::ALL) {
            line.set_message(state.stage_line(stage));
        }
    }

    fn remove(&self) {
        for bar in self.stages.iter().chain([&self.batch]) {
            bar.finish_and_clear();
            self.all.remove(bar);
        }
    }
}

fn steps(files: f64) -> u64 {
    // Positive and far below 2^64; `as` saturates.
    (files * STEPS).round() as u64
}

#[cfg(test)]
mod tests;
