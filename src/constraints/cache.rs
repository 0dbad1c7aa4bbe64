//! Constraints kept in a file: taken from the circuit once, in a minute for 32 GiB, and loaded in milliseconds after.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use bellperson::Circuit;
use blstrs::Scalar as Fr;

use super::file;
use super::validate::Constraints;
use crate::error::Result;
use crate::files::{self, Temporary};

/// A file for a circuit of ten million rows without any repetition is smaller.
const FILE_LIMIT: u64 = 4 << 30;

/// What became of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Loaded from it; nothing was built.
    Loaded { bytes: u64 },
    /// Built and written. `replaced` says what was wrong with the file that was there.
    Saved { bytes: u64, replaced: Option<String> },
    /// Built and kept in memory alone, for this reason.
    InMemory { reason: String },
}

/// A circuit's constraints and how they were come by.
pub struct Found {
    pub constraints: Constraints,
    pub kept: Kept,
}

/// The cache file of a circuit, by the name of its parameter file.
pub fn path(folder: &Path, params: &str) -> PathBuf {
    folder.join(format!("{}.constraints", params.strip_suffix(".params").unwrap_or(params)))
}

/// The constraints of the circuit that `identity` names: from the file, or from `circuit`, a blank one, and then written to the
/// file. A damaged file, or one of another circuit or version, is replaced; one that cannot be written stops nothing.
///
/// # Errors
/// Those of [`Constraints::build`].
pub fn load_or_build<C: Circuit<Fr>>(
    path: Option<&Path>,
    identity: &str,
    circuit: impl FnOnce() -> C,
) -> Result<Found> {
    let build = || Constraints::build(circuit());
    let Some(path) = path else {
        return Ok(Found { constraints: build()?, kept: Kept::InMemory { reason: "there is no cache folder".into() } });
    };
    let replaced = match load(path, identity) {
        Ok((constraints, bytes)) => return Ok(Found { constraints, kept: Kept::Loaded { bytes } }),
        Err(reason) => reason,
    };
    let constraints = build()?;
    let kept = match save(&constraints, path, identity) {
        Ok(bytes) => Kept::Saved { bytes, replaced },
        Err(error) => Kept::InMemory { reason: format!("{}: cannot be written: {error}", path.display()) },
    };
    Ok(Found { constraints, kept })
}

/// The constraints in a file and its length; else what is wrong with it, `None` where there is no file.
pub fn load(path: &Path, identity: &str) -> std::result::Result<(Constraints, u64), Option<String>> {
    let bytes = files::read_small(path, FILE_LIMIT).map_err(|error| match error.kind() {
        ErrorKind::NotFound => None,
        _ => Some(format!("cannot be read: {error}")),
    })?;
    let constraints = file::decode(&bytes, identity)?;
    Ok((constraints, bytes.len() as u64))
}

/// Writes the constraints of the circuit that `identity` names; whole or not at all. Returns the length.
///
/// # Errors
/// Those of the file system.
pub fn save(constraints: &Constraints, path: &Path, identity: &str) -> io::Result<u64> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder)?;
    let bytes = file::encode(constraints, identity);
    // Whoever can write this file decides what is proved: it is the user's own.
    let mut temporary = Temporary::create(folder, ".constraints-", ".tmp", 0o600)?;
    temporary.file().write_all(&bytes)?;
    files::put(temporary, path)?;
    Ok(bytes.len() as u64)
}
