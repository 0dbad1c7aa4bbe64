//! Compiles the CUDA kernels, where there is nvcc. And satisfies the linker on machines without CUDA: `cust` asks for
//! `-lcuda`, and gets an archive that holds nothing. The driver calls themselves are defined in `src/gpu/forward`, which
//! finds the real driver at run time.

#[path = "build/architectures.rs"]
mod architectures;
#[path = "build/kernels.rs"]
mod kernels;
#[path = "build/nvcc.rs"]
mod nvcc;
#[path = "build/signatures.rs"]
mod signatures;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// An `ar` archive without members.
const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

fn main() {
    if let Err(message) = build() {
        // As it is: a compiler's message has lines.
        eprintln!("{message}");
        process::exit(1);
    }
}

fn build() -> Result<(), String> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("OUT_DIR is not set: build.rs is run by cargo only")?;
    let archive = out.join("libcuda.a");
    fs::write(&archive, EMPTY_ARCHIVE).map_err(|e| format!("cannot write {}: {e}", archive.display()))?;
    println!("cargo:rustc-link-search=native={}", out.display());
    kernels::build(Path::new("kernels"), &out)
}
