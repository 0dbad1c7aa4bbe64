//! The wish to stop, which every stage asks about between two pieces of work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a pause is interrupted to ask.
const POLL: Duration = Duration::from_millis(50);

/// Set once, by the first Ctrl-C or by `--fail-fast`; what is on a device is finished, nothing else is begun.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Sleeps for so long, or until somebody wishes to stop.
    pub fn pause(&self, time: Duration) {
        let start = Instant::now();
        while let Some(left) = time.checked_sub(start.elapsed()).filter(|_| !self.is_requested()) {
            sleep(left.min(POLL));
        }
    }

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
