//! The CUDA kernels and what launches them, on the emulated device (kernels/emulator), against slow references.
//!
//! A process finds its driver once, so each test runs itself again as a child whose driver is the emulated device.

#[path = "../emulator/running.rs"]
mod running;

#[path = "../circuits/mod.rs"]
mod circuits;

#[path = "../common/mod.rs"]
mod common;

mod bases;
mod commands;
mod curves;
mod evaluate;
mod fields;
mod host;
mod msm;
mod ntt;
mod points;
mod properties;
mod prove;
mod quotient;
mod self_test;
mod sort;
mod vectors;

use std::path::{Path, PathBuf};

/// All that build.rs compiles.
fn kernels() -> (&'static str, Vec<PathBuf>) {
    let (mut found, mut folders) = (Vec::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("emulator") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cu") {
                found.push(path);
            }
        }
    }
    found.sort();
    ("kernels", found)
}
