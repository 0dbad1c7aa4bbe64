//! Phases of a proof, their timings as a table or JSON, memory, progress; of a batch, its report, trace, timeline picture,
//! metrics and live display; what devices time themselves, and what their self-test found;
//! measurements side by side, and of a partition with its checks. Nothing here reads flags or environment.

mod axis;
mod batch;
mod choice;
pub mod comparison;
mod lanes;
mod live;
mod memory;
mod merge;
pub mod metrics;
mod operations;
pub mod partition;
mod phase;
mod progress;
mod record;
#[cfg(test)]
mod samples;
pub mod screen;
pub mod self_test;
pub mod spans;
mod summary;
mod text;
pub mod timeline;
mod timings;
pub mod trace;
pub mod units;

pub use batch::{BatchReport, Counts};
pub use choice::DeviceChoice;
pub use comparison::Comparison;
pub use live::{Live, Mode};
pub use memory::{Memory, MemorySampler};
pub use operations::{DeviceWork, Operation, OperationKind};
pub use phase::Phase;
pub use progress::{Progress, Task};
pub use text::percent;
pub use timings::Timings;
pub use units::Unit;
