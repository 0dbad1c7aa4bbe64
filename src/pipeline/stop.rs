//! The wish to stop, which every stage asks about between two pieces of work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a pause is interrupted to ask.
const POLL: Duration = Duration::from_millis(50);

/// Set once, by the first Ctrl-C or by `--fail-fast`; what is on a device is finished, nothing else is begun.
#[derive(Debug, Default)]
pub struct Stop {
    requested: AtomicBool,
    signalled: AtomicBool,
}

impl Stop {
    pub const fn new() -> Self {
        Self { requested: AtomicBool::new(false), signalled: AtomicBool::new(false) }
    }

    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// The same, by a signal.
    pub fn signal(&self) {
        self.signalled.store(true, Ordering::Relaxed);
        self.request();
    }

    /// Whether it was a signal's wish, and not that of the run itself.
    pub fn is_signalled(&self) -> bool {
        self.signalled.load(Ordering::Relaxed)
    }

    /// Sleeps for so long, or until somebody wishes to stop.
    pub fn pause(&self, time: Duration) {
        let start = Instant::now();
        while let Some(left) = time.checked_sub(start.elapsed()).filter(|_| !self.is_requested()) {
            sleep(left.min(POLL));
        }
    }

    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }
}
