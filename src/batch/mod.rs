//! What lies around the proofs of a batch: which files there are, what their proofs are called, what is done already, who
//! else is at work in the folder, and which part of it is ours.
//!
//! Proving is the pipeline's; `run` sends the files through it. Jobs are known by the content of their C1 file, never by miner and sector.

pub mod clock;
mod desk;
pub mod journal;
pub mod lock;
pub mod names;
pub mod read;
pub mod run;
pub mod shard;
pub mod text;
pub mod walk;

pub use crate::c1::content_hash;
pub use clock::remove_leftovers;
pub use journal::{Entry, Journal, Outcome, Writer};
pub use lock::{Lock, LockOptions};
pub use names::proof_names;
pub use read::read_stable;
pub use run::{records, Means, Prepared, Records, Settings};
pub use shard::{Shard, ShardEnvironment};
pub use text::display_name;
pub use walk::{walk, Input, Walk};
