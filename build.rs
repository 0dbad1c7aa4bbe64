//! Satisfies the linker on machines without CUDA: `cust` asks for `-lcuda`, and gets an archive that holds nothing. The
//! driver calls themselves are defined in `src/gpu/forward`, which finds the real driver at run time.

use std::path::PathBuf;
use std::{env, fs};

/// An `ar` archive without members.
const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

fn main() -> Result<(), String> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("OUT_DIR is not set: build.rs is run by cargo only")?;
    let archive = out.join("libcuda.a");
    fs::write(&archive, EMPTY_ARCHIVE).map_err(|e| format!("cannot write {}: {e}", archive.display()))?;
    println!("cargo:rustc-link-search=native={}", out.display());
    Ok(())
}
