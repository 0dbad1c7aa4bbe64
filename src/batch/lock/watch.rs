//! Whether a run's signs of life come, by our own clock.
//!
//! Dates of files may be wrong: whoever set a clock back left files of the future. A run that lives changes its lock file,
//! and one that does not change it for long enough, while we look, is dead whatever the date.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::file::Found;

/// What was seen of other runs' lock files.
#[derive(Debug)]
pub(super) struct Watch {
    /// No more counts between two looks: we may have been stopped, and the other run with us.
    longest_gap: Duration,
    seen: Mutex<HashMap<String, Seen>>,
}

#[derive(Debug)]
struct Seen {
    touched: SystemTime,
    unchanged: Duration,
    looked: Instant,
}

impl Watch {
    pub fn new(longest_gap: Duration) -> Self {
        Self { longest_gap, seen: Mutex::default() }
    }

    /// How long the run has given no sign of life while it was watched.
    pub fn unchanged(&self, found: &Found) -> Duration {
        let now = Instant::now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || Seen { touched: found.touched, unchanged: Duration::ZERO, looked: now };
        let seen = seen.entry(found.run.clone()).or_insert_with(first);
        seen.unchanged = match seen.touched == found.touched {
            true => seen.unchanged + now.duration_since(seen.looked).min(self.longest_gap),
            false => Duration::ZERO,
        };
        (seen.touched, seen.looked) = (found.touched, now);
        seen.unchanged
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn only_time_between_looks_at_the_same_state_counts_and_no_gap_counts_much() {
        let watch = Watch::new(10 * MILLISECOND);
        let found = |run: &str, seconds| Found {
            run: run.into(),
            holder: None,
            touched: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
        };
        assert_eq!(watch.unchanged(&found("a", 5)), Duration::ZERO);
        sleep(30 * MILLISECOND);
        // We slept, or were stopped.
        assert_eq!(watch.unchanged(&found("a", 5)), 10 * MILLISECOND);
        assert_eq!(watch.unchanged(&found("b", 5)), Duration::ZERO);
        sleep(MILLISECOND);
        assert!(watch.unchanged(&found("a", 5)) >= 11 * MILLISECOND);
        // A sign of life; that it is older than the last one does not matter.
        assert_eq!(watch.unchanged(&found("a", 4)), Duration::ZERO);
    }
}
