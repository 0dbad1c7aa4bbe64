//! What lies around the proofs of a batch: which files there are, what their proofs are called, what is done already, who
//! else is at work in the folder, and which part of it is ours.
//!
//! Nothing here proves. Jobs are known by the content of their C1 file, never by miner and sector.

pub mod clock;
pub mod journal;
pub mod lock;
pub mod names;
pub mod read;
pub mod shard;
pub mod text;
pub mod walk;

pub use clock::remove_leftovers;
pub use journal::{Entry, Journal, Outcome, Writer};
pub use lock::{Lock, LockOptions};
pub use names::proof_names;
pub use read::{content_hash, read_stable};
pub use shard::{Shard, ShardEnvironment};
pub use text::display_name;
pub use walk::{walk, Input, Walk};
