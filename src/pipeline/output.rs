//! Where a result goes: checked before the work that leads to it, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Fault, OrFault, Result};
use crate::fail;
use crate::files::{self, Existing, Kept, Temporary};

/// What the names of temporary files begin and end with.
pub const TEMPORARY_PREFIX: &str = ".cuzk-";
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// A place for a result, checked before the work that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file. What bears its name when the work is done was there before, or is left alone.
    File(Existing),
    /// A device or pipe: written into.
    Stream,
}

impl Output {
    /// Checks that `path` can be written. An existing file needs `replace`; a symbolic link means its target.
    ///
    /// # Errors
    /// `Usage`: a file is there and `replace` is not set, the path is a folder, or a link to nothing. `Output`: the folder is
    /// missing or not writable.
    pub fn check(path: &Path, replace: bool) -> Result<Self> {
        let at = || path.display().to_string();
        let (path, kind) = match fs::metadata(path) {
            Ok(found) if found.is_dir() => fail!(Fault::Usage, "{}: expected a file to write, got a folder", at()),
            Ok(found) if found.file_type().is_socket() => {
                fail!(Fault::Usage, "{}: expected a file to write, got a socket", at())
            }
            Ok(found) if !found.is_file() => (path.to_owned(), Kind::Stream),
            Ok(_) if !replace => fail!(Fault::Usage, "{}: exists already; pass --force to replace it", at()),
            Ok(_) if path.is_symlink() => {
                (fs::canonicalize(path).or_fault(Fault::Output, at)?, Kind::File(Existing::Replace))
            }
            Ok(_) => (path.to_owned(), Kind::File(Existing::Replace)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                refuse_dangling(path)?;
                (path.to_owned(), Kind::File(Existing::Refuse))
            }
            Err(e) => return Err(e).or_fault(Fault::Output, at),
        };
        let output = Self { path, kind };
        if kind != Kind::Stream && !output.folder().exists() {
            fail!(Fault::Output, "{}: no such folder; make it, or name another output", output.folder().display());
        }
        if kind != Kind::Stream {
            drop(output.temporary()?);
        }
        Ok(output)
    }

    /// Where the result goes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole content, synchronised to the disk, under its name in one step.
    ///
    /// # Errors
    /// `Output`. A file that was written whole and could not be given its name is kept, and the message says where.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let at = || self.path.display().to_string();
        let Kind::File(existing) = self.kind else {
            let write = || File::options().write(true).open(&self.path)?.write_all(bytes);
            return files::stream(&at(), write).or_fault(Fault::Output, at);
        };
        let mut temporary = self.temporary()?;
        let file = temporary.file();
        file.write_all(bytes).and_then(|()| file.sync_all()).or_fault(Fault::Output, at)?;
        files::deliver(temporary, &self.path, existing).map_err(|kept| self.kept(kept))?;
        // The file is complete under its name; that the folder's entry reaches the disk too is best effort.
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn kept(&self, Kept { error, path }: Kept) -> Error {
        let what = match error.kind() {
            io::ErrorKind::AlreadyExists => "something of this name appeared during the work and is left alone".into(),
            _ => format!("the finished file could not be given this name: {error}"),
        };
        let whereabouts = path.map_or(String::new(), |path| format!("; the result is complete in {}", path.display()));
        Error::new(Fault::Output, format!("{}: {what}{whereabouts}", self.path.display()))
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    fn temporary(&self) -> Result<Temporary> {
        // A result is a file like any other: its mode is what the umask leaves.
        Temporary::create(self.folder(), TEMPORARY_PREFIX, TEMPORARY_SUFFIX, 0o666).or_fault(Fault::Output, || {
            format!("{}: cannot create files in this folder; name another output", self.folder().display())
        })
    }
}

/// Replaces a file that readers come back to, whole each time, and not synchronised: an old version is as good after a
/// power failure.
///
/// # Errors
/// Those of the file system.
pub fn refresh(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // A device or pipe is written into, never replaced.
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = Temporary::create(folder, TEMPORARY_PREFIX, TEMPORARY_SUFFIX, 0o644)?;
    temporary.file().write_all(bytes)?;
    files::put(temporary, path)
}

/// A link to nothing could not be given a result without replacing the link.
fn refuse_dangling(path: &Path) -> Result<()> {
    if let Ok(target) = fs::read_link(path) {
        fail!(
            Fault::Usage,
            "{}: a symbolic link to {}, which does not exist; name the file itself or remove the link",
            path.display(),
            target.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The name is what scripts read.
    #[test]
    fn an_existing_file_keeps_the_name_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        let given = folder.path().join("below/../proof");
        for _ in 0..2 {
            let output = Output::check(&given, true).unwrap();
            assert_eq!(output.path(), given);
            output.write(b"content").unwrap();
        }
        assert_eq!(names(folder.path()), ["below", "proof"]);
    }

    #[test]
    fn a_file_appears_whole_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::check(&folder.path().join("proof"), false).unwrap();
        assert!(names(folder.path()).is_empty(), "the check leaves nothing");
        output.write(b"content").unwrap();
        assert_eq!(fs::read(folder.path().join("proof")).unwrap(), b"content");
        assert_eq!(names(folder.path()), ["proof"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proof");
        fs::write(&path, b"first").unwrap();
        let refused = Output::check(&path, false).unwrap_err();
        assert_eq!(refused.fault(), Fault::Usage);
        assert!(refused.to_string().contains("--force"), "{refused}");
        Output::check(&path, true).unwrap().write(b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }

    #[test]
    fn a_file_that_appears_during_the_work_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proof");
        let output = Output::check(&path, true).unwrap();
        fs::write(&path, b"theirs").unwrap();
        let error = output.write(b"ours").unwrap_err();
        assert_eq!(error.fault(), Fault::Output);
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        // And the work is not lost.
        let names = names(folder.path());
        let kept: Vec<_> = names.iter().filter(|name| *name != "proof").collect();
        assert_eq!((names.len(), kept.len()), (2, 1));
        assert_eq!(fs::read(folder.path().join(kept[0])).unwrap(), b"ours");
        assert!(error.to_string().contains(kept[0].as_str()), "{error}");
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, b"first").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        Output::check(&link, true).unwrap().write(b"second").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"second");
    }

    #[test]
    fn a_link_to_nothing_is_refused_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nothing", &link).unwrap();
        for replace in [false, true] {
            let error = Output::check(&link, replace).unwrap_err();
            assert_eq!(error.fault(), Fault::Usage);
            assert!(error.to_string().contains("a symbolic link to nothing"), "{error}");
        }
        assert_eq!(names(folder.path()), ["link"]);
    }

    #[test]
    fn folders_and_missing_folders_are_refused_and_devices_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Output::check(folder.path(), true).unwrap_err().fault(), Fault::Usage);
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(Output::check(&socket, true).unwrap_err().to_string().contains("got a socket"));
        assert_eq!(Output::check(&folder.path().join("no/proof"), true).unwrap_err().fault(), Fault::Output);
        Output::check(Path::new("/dev/null"), false).unwrap().write(b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
