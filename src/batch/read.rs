//! Reads a file as it was at one moment, or says that there was no such moment.

use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::text::display_name;
use crate::c1::MAX_BYTES;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::{kind, open_regular};

/// A regular file's bytes. A file that is still being written is an error, not a part of it.
///
/// # Errors
/// `Input`: no regular file, larger than any C1 output, unreadable, or changed while it was read.
pub fn read_stable(path: &Path) -> Result<Vec<u8>> {
    read_watched(path, MAX_BYTES as u64, || ()).map_err(|e| e.context(display_name(path)))
}

/// What has to be the same before and after.
#[derive(PartialEq, Eq)]
struct Version {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// `while_reading` runs once the file is open.
fn read_watched(path: &Path, limit: u64, while_reading: impl FnOnce()) -> Result<Vec<u8>> {
    let cannot = || "cannot be read".to_owned();
    let found = fs::metadata(path).or_fault(Fault::Input, cannot)?;
    if !found.is_file() {
        fail!(Fault::Input, "expected a regular file, got {}", kind(&found));
    }
    if found.len() > limit {
        fail!(Fault::Input, "{} bytes; a C1 output has at most {limit}", found.len());
    }
    let before = Version::of(&found);
    let mut file = open_regular(path).or_fault(Fault::Input, cannot)?;
    while_reading();
    let mut bytes = Vec::with_capacity(before.bytes as usize);
    // A file that grows without end is left after one byte too many.
    (&mut file).take(before.bytes + 1).read_to_end(&mut bytes).or_fault(Fault::Input, cannot)?;
    let open = file.metadata().or_fault(Fault::Input, cannot)?;
    let named = fs::metadata(path).or_fault(Fault::Input, || "disappeared while it was read".to_owned())?;
    if Version::of(&open) != before || Version::of(&named) != before || bytes.len() as u64 != before.bytes {
        fail!(
            Fault::Input,
            "changed while it was read ({} bytes before, {} after): still being written? run again when it is complete",
            before.bytes,
            named.len().max(bytes.len() as u64)
        );
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_at_rest_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c1");
        for content in [&b""[..], b"{}", &[7; 100_000]] {
            fs::write(&path, content).unwrap();
            assert_eq!(read_stable(&path).unwrap(), content);
        }
    }

    #[test]
    fn every_change_while_reading_is_an_error() {
        let append = |path: &Path| File::options().append(true).open(path).unwrap().write_all(b"more").unwrap();
        let cut = |path: &Path| File::options().write(true).open(path).unwrap().set_len(2).unwrap();
        // As long as before, but newer.
        let rewrite = |path: &Path| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            File::options().write(true).open(path).unwrap().write_all(b"other ").unwrap();
        };
        let replace = |path: &Path| {
            fs::write(path.with_extension("next"), b"second").unwrap();
            fs::rename(path.with_extension("next"), path).unwrap();
        };
        let changes: [&dyn Fn(&Path); 4] = [&append, &cut, &rewrite, &replace];
        for (i, change) in changes.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("c1");
            fs::write(&path, b"first ").unwrap();
            let error = read_watched(&path, 100, || change(&path)).unwrap_err();
            assert_eq!(error.fault(), Fault::Input);
            assert!(error.to_string().contains("changed while it was read (6 bytes before"), "{i}: {error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c1");
        fs::write(&path, b"first ").unwrap();
        let error = read_watched(&path, 100, || fs::remove_file(&path).unwrap()).unwrap_err();
        assert!(error.to_string().contains("disappeared"), "{error}");
    }

    #[test]
    fn what_cannot_be_a_c1_file_is_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path, part: &str| {
            let error = read_stable(path).unwrap_err();
            assert_eq!(error.fault(), Fault::Input);
            assert!(error.to_string().contains(part), "{error}");
        };
        refused(folder.path(), "got a folder");
        refused(&folder.path().join("none"), "cannot be read");
        refused(Path::new("/dev/zero"), "got a device");
        let socket = folder.path().join("so\ncket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        refused(&socket, "so\\ncket: expected a regular file, got a socket");
        // Sparse: nothing of it is on the disk, and nothing must be read of it.
        let large = folder.path().join("large");
        File::create(&large).unwrap().set_len(MAX_BYTES as u64 + 1).unwrap();
        refused(&large, "1073741825 bytes; a C1 output has at most 1073741824");
    }
}
