//! Standard output as this process was given it.
//!
//! Rust's runtime opens /dev/null in place of a closed standard output, and takes one that cannot be written for one that
//! swallows everything: a result would be lost without a word. So it is looked at before the runtime starts.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{fcntl_getfl, OFlags};
use rustix::io::{fcntl_getfd, Errno};

use crate::error::{Fault, Result};
use crate::fail;

static CLOSED: AtomicBool = AtomicBool::new(false);

/// The loader runs it before the runtime starts. It asks the kernel one thing and needs nothing of the runtime.
#[cfg(target_os = "linux")]
#[used]
#[link_section = ".init_array"]
static LOOK: extern "C" fn() = look;

#[cfg(target_os = "linux")]
extern "C" fn look() {
    if fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF) {
        CLOSED.store(true, Ordering::Relaxed);
    }
}

/// # Errors
/// `Output`: nothing can be written to standard output.
pub fn check() -> Result<()> {
    let access = fcntl_getfl(io::stdout()).map(|flags| flags & OFlags::RWMODE);
    if CLOSED.load(Ordering::Relaxed) || access.is_err() || access == Ok(OFlags::RDONLY) {
        fail!(
            Fault::Output,
            "standard output is closed, and the result goes there; open it, or name a file with --output where there is \
             that option"
        );
    }
    Ok(())
}

/// Writes all bytes, past the runtime's own handle.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let stdout = io::stdout().lock();
    File::from(stdout.as_fd().try_clone_to_owned()?).write_all(bytes)
}

/// Whether nobody reads any more, or nobody could from the start: see [`check`] for those to whom it matters.
pub fn is_unread(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(Errno::BADF.raw_os_error())
}
