//! One set of 2 KiB development parameters for all tests and benches of one state of the generator's sources.

// Each test binary compiles this file and uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use cuzk::circuit::{PoRep, SealProof};
use cuzk::pipeline::parameters::ensure_development;
use cuzk::report::Progress;
use sha2::{Digest, Sha256};

/// What the content of generated parameters follows from: files, and folders of them. A change makes the next test generate.
const SOURCES: [&str; 9] = [
    "Cargo.lock",
    "src/backend/cpu",
    "src/circuit/porep.rs",
    "src/constraints",
    "src/lanes",
    "src/srs/development.rs",
    "src/srs/fixed_base.rs",
    "src/srs/generate",
    "src/srs/layout.rs",
];

/// The folder that all tests and benches share, `target/test-parameters/HASH`. The first one that asks generates the parameters (a
/// minute) and removes those of other sources; processes that run at the same time wait for it.
pub fn shared_dev_params(progress: &Progress) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    let all = target.join("test-parameters");
    let folder = all.join(source_hash(Path::new(env!("CARGO_MANIFEST_DIR"))));
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).expect("2 KiB PoRep");
    ensure_development(&folder, "tests", &porep, progress).expect("development parameters");
    remove_others(&all, &folder);
    folder
}

/// A name for the state of [`SOURCES`] below `root`.
pub fn source_hash(root: &Path) -> String {
    let mut hasher = Sha256::new();
    for source in SOURCES {
        for path in files(&root.join(source)) {
            let content = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            for part in [name.as_bytes(), &content] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
    }
    hex::encode(&hasher.finalize()[..8])
}

/// The file, or all files in the folder and below, in the order of their names.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| files(path)).collect()
}

/// Removes everything in `all` but `kept`. What cannot be removed stays, and costs space alone; another process may be at it.
pub fn remove_others(all: &Path, kept: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let path = entry.path();
        if path != kept {
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}
