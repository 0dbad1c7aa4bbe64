//! How long a file has been worked on: the time in which at least one of its pieces was. Waiting is left out: for a place,
//! for memory, for a device that works on other files.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One file's clock.
#[derive(Debug, Default)]
pub struct WorkClock(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Pieces that are being worked on.
    working: usize,
    /// Since when there has been one.
    since: Option<Instant>,
    /// What was taken before that.
    before: Duration,
}

/// Work on one piece, until dropped.
#[derive(Debug)]
pub struct Working<'a>(&'a WorkClock);

/// Work that waits, until dropped.
struct Paused<'a>(&'a WorkClock);

impl WorkClock {
    /// Begins work on one piece; pieces may overlap, and the time in which they do counts once.
    pub fn work(&self) -> Working<'_> {
        self.begin();
        Working(self)
    }

    /// Adds time of work that was done together with other files'.
    pub fn add(&self, taken: Duration) {
        self.state().before += taken;
    }

    /// Within the work on a piece: runs what is not to be counted as work on this file.
    pub fn pause<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.end();
        let _paused = Paused(self);
        wait()
    }

    /// The time of work up to now.
    pub fn taken(&self) -> Duration {
        let state = self.state();
        state.before + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn begin(&self) {
        let mut state = self.state();
        state.working += 1;
        state.since.get_or_insert_with(Instant::now);
    }

    fn end(&self) {
        let mut state = self.state();
        state.working = state.working.saturating_sub(1);
        if state.working == 0 {
            let last = state.since.take();
            state.before += last.map_or(Duration::ZERO, |since| since.elapsed());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.begin();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const STEP: Duration = Duration::from_millis(20);

    #[test]
    fn overlapping_work_counts_once_and_waiting_does_not() {
        let clock = WorkClock::default();
        sleep(STEP);
        assert_eq!(clock.taken(), Duration::ZERO);
        let start = Instant::now();
        let (first, second) = (clock.work(), clock.work());
        sleep(STEP);
        drop(first);
        sleep(STEP);
        assert!(clock.taken() >= 2 * STEP);
        drop(second);
        let (taken, most) = (clock.taken(), start.elapsed());
        assert!((2 * STEP..=most).contains(&taken), "{taken:?} of {most:?}");
        sleep(STEP);
        assert_eq!(clock.taken(), taken);
    }

    #[test]
    fn a_pause_within_work_is_left_out_also_when_it_panics() {
        let clock = WorkClock::default();
        let working = clock.work();
        let before = clock.taken();
        let start = Instant::now();
        let planted = || {
            clock.pause(|| -> () {
                sleep(STEP);
                panic!("planted")
            })
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(planted)).unwrap_err();
        assert!(clock.taken() - before <= start.elapsed() - STEP);
        sleep(STEP);
        assert!(clock.taken() >= before + STEP, "it goes on");
        drop(working);
    }
}
