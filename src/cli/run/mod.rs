//! What each subcommand does, one file each.

pub mod batch;
pub mod bench;
mod c1_file;
mod choose;
pub mod constraints;
pub mod devices;
pub mod inspect;
mod machine;
pub mod params;
pub mod prove;
pub mod report;
pub mod sample;
pub mod verify;

use std::io::Read;
use std::path::Path;

use super::options::{Destination, Input};
use super::terminal;
use crate::c1;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::open_input;
use crate::pipeline::output::Output;

impl Input {
    /// How messages name it.
    fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".into(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// All bytes of a C1 file.
    fn read_c1(&self) -> Result<Vec<u8>> {
        self.read(c1::MAX_BYTES, "C1 file", "")
    }

    /// All its bytes. One byte past `limit` is enough to refuse an endless stream, which is then no `what`; `hint` is what else
    /// it may be.
    fn read(&self, limit: usize, what: &str, hint: &str) -> Result<Vec<u8>> {
        let one_more = limit as u64 + 1;
        let mut bytes = Vec::new();
        let read = match self {
            Self::Stdin => std::io::stdin().lock().take(one_more).read_to_end(&mut bytes),
            Self::File(path) => open_input(path).and_then(|file| file.take(one_more).read_to_end(&mut bytes)),
        };
        read.or_fault(Fault::Input, || self.name())?;
        if bytes.len() > limit {
            fail!(Fault::Input, "{}: no {what}, which has at most {limit} bytes{hint}", self.name());
        }
        Ok(bytes)
    }
}

/// A destination that has been found writable.
enum Sink {
    Stdout,
    File(Output),
}

impl Sink {
    fn check(destination: &Destination) -> Result<Self> {
        Ok(match destination {
            Destination::Stdout => Self::Stdout,
            Destination::File { path, replace } => Self::File(Output::check(path, *replace)?),
        })
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stdout => terminal::deliver(bytes),
            Self::File(output) => output.write(bytes),
        }
    }

    /// The file, unless it is standard output.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(output) => Some(output.path()),
        }
    }
}
