//! The time of a part in which threads wait for each other. A thread that waits takes up other work of its pool, and that may be the
//! synthesis of another partition.

use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    /// Time of the syntheses that this thread has run.
    static SYNTHESES: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Runs a whole synthesis: no part of another one, whatever this thread was at.
pub fn synthesis<T>(work: impl FnOnce() -> T) -> T {
    let (before, start) = (SYNTHESES.get(), Instant::now());
    let made = work();
    // Those that were run inside this one are in its time.
    SYNTHESES.set(before + start.elapsed());
    made
}

/// Wall time of a part of a synthesis, without that of other syntheses in between.
pub fn part<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let (before, start) = (SYNTHESES.get(), Instant::now());
    let made = work();
    (start.elapsed().saturating_sub(SYNTHESES.get() - before), made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntheses_inside_a_part_are_none_of_it() {
        let pause = Duration::from_millis(50);
        let nap = || std::thread::sleep(pause);
        let (time, ()) = part(nap);
        assert!(time >= pause);
        let inner = || synthesis(|| synthesis(nap));
        let start = Instant::now();
        let (time, ()) = part(|| {
            nap();
            inner();
            inner();
        });
        let others = start.elapsed() - time;
        assert!(time >= pause && others >= 2 * pause, "{time:?} and {others:?}");
    }
}
