//! Regular files, where nothing else will do. Opening a pipe waits for its other end, and a device may do anything: whatever
//! is no regular file is refused at once.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Links that are followed in search of an open file's name; the kernel follows 40.
const LINKS: usize = 40;

/// What to do about something where a file of cuzk's own belongs.
const OUR_PLACE: &str = "move it away or name another";

/// What a path leads to, in words.
pub fn kind(metadata: &Metadata) -> &'static str {
    match metadata.file_type() {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_file() => "a regular file",
        _ => "something else",
    }
}

/// Opens a regular file for reading, without waiting for anybody.
///
/// # Errors
/// Those of the file system; no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_with(path, File::options().read(true))
}

/// The same with other options; one that they create is regular.
pub fn open_regular_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Asked first, as opening some devices does something; and asked again of what was opened.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(irregular(&found, OUR_PLACE)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // On a regular file the flag means nothing.
    let file = options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()? {
        found if found.is_file() => Ok(file),
        found => Err(irregular(&found, OUR_PLACE)),
    }
}

/// Opens what is read once from its beginning: a regular file, or an open file that the shell hands over by the name
/// `/dev/stdin` or `/dev/fd/N`, as for `<(...)`.
///
/// # Errors
/// Those of the file system; any other pipe, socket or device, or a folder.
pub fn open_input(path: &Path) -> io::Result<File> {
    if is_descriptor(path) {
        return File::open(path);
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(irregular(&found, "what is in a folder is proved with `cuzk batch`")),
        Ok(found) if !found.is_file() => Err(irregular(&found, "name a file, or hand it over as standard input")),
        _ => open_regular(path),
    }
}

/// Whether this is the name of an open file, such as `/dev/stdin`, `/dev/fd/63`, `/proc/self/fd/63` or a link to one.
pub fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = folder.canonicalize() else { return false };
        if folder.starts_with("/proc") && folder.ends_with("fd") {
            return true;
        }
        let Ok(target) = fs::read_link(&path) else { return false };
        path = PathBuf::from(&folder).join(target);
    }
    false
}

fn irregular(found: &Metadata, advice: &str) -> io::Error {
    io::Error::other(format!("expected a regular file, got {}; {advice}", kind(found)))
}

/// The content of a regular file that is expected to be small; nothing is read of a larger one.
///
/// # Errors
/// Those of reading; more than `limit` bytes; no regular file.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_small_from(open_regular(path)?, limit)
}

/// The same of an open file.
pub fn read_small_from(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    if length > limit {
        return Err(io::Error::other(format!("{length} bytes, expected at most {limit}")));
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile is read no further.
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{mkfifoat, Mode, CWD};

    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        mkfifoat(CWD, at("pipe"), Mode::RWXU).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        symlink("pipe", at("link")).unwrap();
        let cases = [
            ("pipe", "a pipe"),
            ("link", "a pipe"),
            ("socket", "a socket"),
            ("", "a folder"),
            ("/dev/zero", "a device"),
        ];
        for (name, what) in cases {
            let refused = |opened: io::Result<File>| {
                let error = opened.unwrap_err().to_string();
                assert!(error.contains(&format!("expected a regular file, got {what}")), "{name}: {error}");
            };
            refused(open_regular(&at(name)));
            refused(open_input(&at(name)));
            refused(open_regular_with(&at(name), File::options().append(true).create(true)));
            refused(open_regular_with(&at(name), File::options().read(true).write(true)));
        }
        assert_eq!(open_regular(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        open_regular_with(&at("new"), File::options().append(true).create(true)).unwrap();
        open_regular(&at("new")).unwrap();
    }

    #[test]
    fn an_open_pipe_is_an_input_by_its_number_only() {
        let (read, mut write) = io::pipe().unwrap();
        write.write_all(b"c1").unwrap();
        drop(write);
        let folder = tempfile::tempdir().unwrap();
        let (name, link) = (PathBuf::from(format!("/dev/fd/{}", read.as_raw_fd())), folder.path().join("link"));
        symlink(&name, &link).unwrap();
        let mut text = String::new();
        open_input(&link).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "c1");
        assert!(is_descriptor(&name) && is_descriptor(Path::new("/dev/stdin")));
        assert!(!is_descriptor(folder.path()) && !is_descriptor(Path::new("/dev/null")));
        symlink("loop", folder.path().join("loop")).unwrap();
        assert!(!is_descriptor(&folder.path().join("loop")));
    }

    #[test]
    fn large_and_special_files_are_not_read_for_small_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"abc").unwrap();
        assert_eq!(read_small(&path, 3).unwrap(), b"abc");
        assert!(read_small(&path, 2).unwrap_err().to_string().contains("3 bytes, expected at most 2"));
        // Sparse: an attempt to read it all would be noticed.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read_small(&path, 1 << 20).is_err());
        assert!(read_small(Path::new("/dev/zero"), 10).unwrap_err().to_string().contains("got a device"));
        assert_eq!(read_small(&folder.path().join("none"), 1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
