//! The wish to stop, which every stage asks about between two pieces of work.

use std::sync::atomic::{AtomicBool, Ordering};

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

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
