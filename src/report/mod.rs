//! Phases of a proof, their timings as a table or JSON, memory, progress. Nothing here reads flags or environment.

mod memory;
mod phase;
mod progress;
pub mod spans;
mod timings;
pub mod units;

pub use memory::{Memory, MemorySampler};
pub use phase::Phase;
pub use progress::{Progress, Task};
pub use timings::Timings;
pub use units::Unit;
