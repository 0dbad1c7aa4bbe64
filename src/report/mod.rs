//! Phases of a proof, their timings as a table or JSON, memory, progress.

use std::time::Duration;

/// The phases of a proof, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Read,
    Check,
    Parameters,
    Circuit,
    Synthesis,
    Evaluation,
    Quotient,
    SumH,
    SumL,
    SumA,
    SumBG1,
    SumBG2,
    Assembly,
    Verification,
    Write,
}

/// Collects wall time and item counts per phase; shared between threads.
#[derive(Default)]
pub struct Timings {}

impl Timings {
    /// Adds one measurement: `items` of the phase's unit (bytes read, constraints, bases...) in `wall`.
    pub fn add(&self, _phase: Phase, _wall: Duration, _items: u64) {
        todo!()
    }
    /// Runs `work` and adds its wall time.
    pub fn time<T>(&self, phase: Phase, items: u64, work: impl FnOnce() -> T) -> T {
        let start = std::time::Instant::now();
        let result = work();
        self.add(phase, start.elapsed(), items);
        result
    }
}
