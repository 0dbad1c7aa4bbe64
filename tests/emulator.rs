//! The emulated CUDA device (kernels/emulator): correct kernels compute what they should in every order of threads, and each
//! planted fault is caught with its message.
//!
//! A process finds its driver once, so each test runs itself again as a child whose driver is the emulated device.

#[path = "emulator/device.rs"]
mod device;
#[path = "emulator/failures.rs"]
mod failures;
#[path = "emulator/faults.rs"]
mod faults;
#[path = "emulator/memory.rs"]
mod memory;
#[path = "emulator/results.rs"]
mod results;
#[path = "emulator/running.rs"]
mod running;
#[path = "emulator/streams.rs"]
mod streams;

use std::path::{Path, PathBuf};

fn kernels() -> (&'static str, Vec<PathBuf>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emulator");
    ("emulator", vec![folder.join("correct.cu"), folder.join("faulty.cu")])
}

/// The line of a source under tests/emulator that holds the comment `fault NAME`, as reports name it.
pub fn planted(name: &str) -> String {
    let source = include_str!("emulator/faulty.cu");
    let mark = format!("// fault {name}");
    let line = source.lines().position(|line| line.ends_with(&mark)).expect("a marked line");
    format!("tests/emulator/faulty.cu:{}: ", line + 1)
}
