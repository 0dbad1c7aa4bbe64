//! How development parameters are told from official ones: a marker in their folder and a record beside each file.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::circuit::CircuitIdentity;

/// The marker's name: a folder that has it may hold development parameters.
pub const MARKER: &str = "DEVELOPMENT-PARAMETERS.txt";

const MARKER_TEXT: &str = "\
The parameter files in this folder were made by `cuzk params generate`, for tests.

Their secrets follow from a public label, so anyone can forge proofs with them. Proofs made with them prove nothing and
no network accepts them. They bear the official names because filecoin-proofs looks for those; do not copy them into a
folder of official parameters.
";

/// Kept beside each development parameter file, as `<name>.params.dev.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub warning: String,
    /// Name of the parameter file, which tells the circuit.
    pub circuit: String,
    pub sector_bytes: u64,
    /// The user's own part of the label, if one was given.
    pub seed: Option<String>,
    /// Digest and length of the .params file.
    pub digest: String,
    pub bytes: u64,
    /// Digest of the .vk file.
    pub vk_digest: String,
    pub constraints: usize,
    pub inputs: usize,
    pub aux: usize,
}

impl Record {
    /// What every record says.
    pub const WARNING: &'static str = "development parameters: proofs made with them prove nothing";

    /// The record of a circuit's parameters in `folder`; `None` when there is none or it cannot be read.
    pub fn read(folder: &Path, identity: &CircuitIdentity) -> Option<Self> {
        let bytes = fs::read(Self::path(folder, identity)).ok()?;
        let record: Self = serde_json::from_slice(&bytes).ok()?;
        (record.circuit == identity.params).then_some(record)
    }

    /// Where the record of a circuit's parameters is.
    pub fn path(folder: &Path, identity: &CircuitIdentity) -> PathBuf {
        folder.join(format!("{}.dev.json", identity.params))
    }
}

/// Whether `folder` has the marker.
pub fn is_marked(folder: &Path) -> bool {
    folder.join(MARKER).is_file()
}

/// Puts the marker into `folder`.
pub(super) fn mark(folder: &Path) -> io::Result<()> {
    if is_marked(folder) {
        return Ok(());
    }
    let mut file = temporary(folder, MARKER)?;
    file.write_all(MARKER_TEXT.as_bytes())?;
    put(file, &folder.join(MARKER))
}

/// What the names of temporaries of `name` start with.
pub(super) fn temporary_prefix(name: &str) -> String {
    format!(".{name}.tmp-")
}

/// A file that becomes `name` in `folder` by [`put`], and goes away without it.
pub(super) fn temporary(folder: &Path, name: &str) -> io::Result<NamedTempFile> {
    // Readable for others, as far as the umask lets: provers often run as another user.
    tempfile::Builder::new()
        .prefix(&temporary_prefix(name))
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)
}

/// Makes a temporary's content durable, then visible.
pub(super) fn put(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path)?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
