//! `cuzk batch` and `cuzk report` through the real binary. The simulator stands for a device: its proofs verify and take
//! no time but what they are told to.

#[path = "../common/mod.rs"]
mod common;

mod again;
mod faults;
mod folder;
mod group;
mod input;
mod kills;
mod memory;
mod reports;
mod runs;
mod screen;
mod shards;
mod signals;
mod special;
mod stdout;
