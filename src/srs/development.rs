//! How development parameters are told from official ones: a marker in their folder and a record beside each file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::circuit::CircuitIdentity;
use crate::files::{self, Temporary};

/// The marker's name: a folder that has it may hold development parameters.
pub const MARKER: &str = "DEVELOPMENT-PARAMETERS.txt";

const MARKER_TEXT: &str = "\
The parameter files in this folder were made by `cuzk params generate`, for tests.

Their secrets follow from a public label, so anyone can forge proofs with them. Proofs made with them prove nothing and
no network accepts them. They bear the official names because filecoin-proofs looks for those; do not copy them into a
folder of official parameters.
";

/// No record takes more bytes, but for a user's own label of that length.
const RECORD_LIMIT: u64 = 64 << 10;

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
        let bytes = files::read_small(&Self::path(folder, identity), RECORD_LIMIT).ok()?;
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
    let mut marker = temporary(folder, MARKER)?;
    marker.file().write_all(MARKER_TEXT.as_bytes())?;
    match files::put(marker, &folder.join(MARKER)) {
        // Another process that marked the folder at the same time may have taken this one's for a leftover.
        Err(_) if is_marked(folder) => Ok(()),
        marked => marked,
    }
}

/// Whose a file would be, to judge by where it is: enough for saying how to get another.
pub(super) fn expected_origin(path: &Path) -> Origin {
    match path.parent() {
        Some(folder) if is_marked(folder) => Origin::Development,
        _ => Origin::Official,
    }
}

/// What the names of temporaries of `name` start with.
pub(super) fn temporary_prefix(name: &str) -> String {
    format!(".{name}.tmp-")
}

/// A file that is to become `name` in `folder`, and goes away if it does not.
pub(super) fn temporary(folder: &Path, name: &str) -> io::Result<Temporary> {
    // Readable for others, as far as the umask lets: provers often run as another user.
    Temporary::create(folder, &temporary_prefix(name), "", 0o644)
}
