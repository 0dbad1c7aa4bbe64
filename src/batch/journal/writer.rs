//! Appends to one shard's journal.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{file_of, Entry};
use crate::batch::shard::Shard;
use crate::batch::text::display_name;
use crate::error::{Fault, OrFault, Result};
use crate::files::open_regular_with;

/// One shard's journal, open for appending. Whoever has it holds the shard's [`Lock`](crate::batch::Lock).
#[derive(Debug)]
pub struct Writer {
    pub(super) file: File,
    path: PathBuf,
    /// The file ends within a line that a kill or a full disk cut off.
    torn: bool,
}

impl Writer {
    /// Opens the journal, or creates it and synchronises the folder. What is in it stays.
    ///
    /// # Errors
    /// `Output`: the folder is missing or cannot be written.
    pub fn open(out: &Path, shard: Shard) -> Result<Self> {
        let path = file_of(out, shard);
        let (file, torn) = open(&path, out).or_fault(Fault::Output, || {
            format!("{}: the journal cannot be opened for appending", display_name(&path))
        })?;
        Ok(Self { file, path, torn })
    }

    /// Appends one line; it is on the disk when this returns.
    ///
    /// # Errors
    /// `Output`: disk full, for one. A later append starts on a line of its own.
    pub fn append(&mut self, entry: &Entry) -> Result<()> {
        let mut line = entry.to_line().or_fault(Fault::Internal, || "a journal entry".into())?;
        if self.torn {
            line.insert(0, b'\n');
        }
        // Until the whole line is known to be there.
        self.torn = true;
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).or_fault(Fault::Output, || {
            format!("{}: no entry can be appended to the journal", display_name(&self.path))
        })?;
        self.torn = false;
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn open(path: &Path, folder: &Path) -> io::Result<(File, bool)> {
    match File::options().append(true).create_new(true).open(path) {
        Ok(file) => {
            // The name has to survive a power failure as the lines do.
            file.sync_all()?;
            File::open(folder)?.sync_all()?;
            return Ok((file, false));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let mut file = open_regular_with(path, File::options().read(true).append(true))?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok((file, last != [b'\n']))
}
