//! Parts of the work measured alone, without parameters. Synthesis: several ways from a partition to its assignment side by side, and the
//! circuit's rows replayed into containers. A partition's device work at full size: see [`partition`].
//!
//! A new way to synthesize is one more [`Strategy`], listed in [`strategies`].

mod agreement;
mod allocations;
mod clock;
pub mod containers;
pub mod daemon;
mod kinds;
mod measure;
mod native;
pub mod partition;
pub mod proving;
mod replay;
mod sizes;
mod strategy;

pub use allocations::{Allocations, Counter, Counting};
pub use kinds::{Kind, Split, Watched};
pub use measure::{compare, Plan};
pub use replay::compare_containers;
pub use replay::{Replay, Rows, Stream, REPLAYS};
pub use sizes::Counts;
pub use strategy::{strategies, Daemon, Digests, Made, Run, Strategy, Subject, Synthesis, NAMES};
