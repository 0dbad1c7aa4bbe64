//! Constraints kept in a file: taken from the circuit once, in a minute for 32 GiB, and loaded in milliseconds after.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use bellperson::Circuit;
use blstrs::Scalar as Fr;

use super::file;
use super::validate::Constraints;
use crate::error::Result;
use crate::files::{self, Temporary};

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
    /// The cache file, where there is to be one.
    pub path: Option<PathBuf>,
}

impl Found {
    /// What became of the file, in one line.
    pub fn note(&self) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("")).display();
        match &self.kept {
            Kept::Loaded { .. } => format!("constraints: loaded from {path}"),
            Kept::Saved { replaced: None, .. } => format!("constraints: taken from the circuit, and kept in {path}"),
            Kept::Saved { replaced: Some(reason), .. } => {
                format!("{path}: {reason}; the constraints were taken from the circuit anew, and it was replaced")
            }
            Kept::InMemory { reason } => {
                format!("{reason}; the constraints are taken from the circuit each time: name a folder with --cache")
            }
        }
    }

    /// The file they were loaded from, if they were.
    pub fn loaded_from(&self) -> Option<&Path> {
        self.path.as_deref().filter(|_| matches!(self.kept, Kept::Loaded { .. }))
    }
}

/// The cache file of a circuit, by the name of its parameter file.
pub fn path(folder: &Path, params: &str) -> PathBuf {
    folder.join(format!("{}.constraints", params.strip_suffix(".params").unwrap_or(params)))
}

/// The constraints of the circuit that `identity` names: from the file, or from `circuit`, a blank one, and then written to the
/// file. A damaged file, one of another circuit or version, or one that others may have written, is replaced; one that cannot be
/// written stops nothing. In a folder where others can replace it no file is read or kept.
///
/// # Errors
/// Those of [`Constraints::build`].
pub fn load_or_build<C: Circuit<Fr>>(
    path: Option<&Path>,
    identity: &str,
    circuit: impl FnOnce() -> C,
) -> Result<Found> {
    let found = |constraints, kept| Found { constraints, kept, path: path.map(Path::to_owned) };
    let path = match path.map(|path| (path, files::distrust_folder(folder(path)))) {
        Some((path, None)) => path,
        unusable => {
            let reason = unusable.and_then(|(path, why)| Some(format!("{}: {}", folder(path).display(), why?)));
            let reason = reason.unwrap_or_else(|| "there is no cache folder".into());
            return Ok(found(Constraints::build(circuit())?, Kept::InMemory { reason }));
        }
    };
    let replaced = match load(path, identity) {
        Ok((constraints, bytes)) => return Ok(found(constraints, Kept::Loaded { bytes })),
        Err(reason) => reason,
    };
    let constraints = Constraints::build(circuit())?;
    let kept = match (save(&constraints, path, identity), replaced) {
        (Ok(bytes), replaced) => Kept::Saved { bytes, replaced },
        (Err(error), None) => Kept::InMemory { reason: format!("{}: cannot be written: {error}", path.display()) },
        (Err(error), Some(why)) => {
            Kept::InMemory { reason: format!("{}: {why}, and it cannot be replaced: {error}", path.display()) }
        }
    };
    Ok(found(constraints, kept))
}

/// The constraints in a file and its length; else what is wrong with it, `None` where there is no file.
pub fn load(path: &Path, identity: &str) -> std::result::Result<(Constraints, u64), Option<String>> {
    let unreadable = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => None,
        _ => Some(format!("cannot be read: {error}")),
    };
    let file = files::open_regular(path).map_err(unreadable)?;
    // Of the file that is open: whatever its name leads to later, this is what is read.
    let metadata = file.metadata().map_err(unreadable)?;
    if let Some(reason) = files::distrust_file(&metadata) {
        return Err(Some(reason));
    }
    let constraints = file::read(file, metadata.len(), identity)?;
    Ok((constraints, metadata.len()))
}

/// Writes the constraints of the circuit that `identity` names; whole or not at all. Returns the length.
///
/// # Errors
/// Those of the file system.
pub fn save(constraints: &Constraints, path: &Path, identity: &str) -> io::Result<u64> {
    let folder = folder(path);
    // Whoever can write this file decides what is proved: it is the user's own, and so is a folder that is made for it.
    files::create_own_folder(folder)?;
    let bytes = file::encode(constraints, identity);
    let mut temporary = Temporary::create(folder, ".constraints-", ".tmp", 0o600)?;
    temporary.file().write_all(&bytes)?;
    files::put(temporary, path)?;
    Ok(bytes.len() as u64)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
