//! Files that appear whole or not at all, also when a signal ends the process.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

use crate::circuit::CircuitIdentity;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::srs::generate::temporary_prefixes;

/// What the names of temporary files begin and end with.
pub const TEMPORARY_PREFIX: &str = ".cuzk-";
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Temporary files that exist now. Whoever holds the lock decides whether a file is complete or gone.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Beginnings of the names of temporary files that parameter generation makes, with their folder.
static PREFIXES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A place for a result, checked before the work that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing is there: a file that appears meanwhile is left alone.
    Create,
    /// A file is there and may be replaced.
    Replace,
    /// A device or pipe: written into.
    Stream,
}

impl Output {
    /// Checks that `path` can be written. An existing file needs `replace`; a symbolic link means its target.
    ///
    /// # Errors
    /// `Usage`: a file is there and `replace` is not set, or the path is a folder. `Output`: the folder is missing or not writable.
    pub fn check(path: &Path, replace: bool) -> Result<Self> {
        let (path, kind) = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                fail!(Fault::Usage, "{}: expected a file to write, got a folder", path.display())
            }
            Ok(found) if !found.is_file() => (path.to_owned(), Kind::Stream),
            Ok(_) if !replace => {
                fail!(Fault::Usage, "{}: exists already; pass --force to replace it", path.display())
            }
            Ok(_) => (fs::canonicalize(path).or_fault(Fault::Output, || path.display().to_string())?, Kind::Replace),
            Err(e) if e.kind() == io::ErrorKind::NotFound => (path.to_owned(), Kind::Create),
            Err(e) => return Err(e).or_fault(Fault::Output, || path.display().to_string()),
        };
        let output = Self { path, kind };
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
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let at = || self.path.display().to_string();
        if self.kind == Kind::Stream {
            let stream = File::options().write(true).open(&self.path);
            return stream.and_then(|mut f| f.write_all(bytes)).or_fault(Fault::Output, at);
        }
        let mut temporary = self.temporary()?;
        temporary.file.write_all(bytes).and_then(|()| temporary.file.sync_all()).or_fault(Fault::Output, at)?;
        self.publish(temporary)?;
        // The file is complete under its name; that the folder's entry reaches the disk too is best effort.
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn publish(&self, mut temporary: Temporary) -> Result<()> {
        let Some(path) = temporary.path.take() else { return Ok(()) };
        // Held across the renaming: a signal finds the file either complete or still temporary.
        let mut list = temporaries();
        list.retain(|listed| listed != &*path);
        let renamed = match self.kind {
            Kind::Create => path.persist_noclobber(&self.path),
            _ => path.persist(&self.path),
        };
        renamed.map_err(|e| e.error).or_fault(Fault::Output, || self.path.display().to_string())
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    fn temporary(&self) -> Result<Temporary> {
        // tempfile's own default is 0600; a result is a file like any other.
        let mut list = temporaries();
        let made = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .suffix(TEMPORARY_SUFFIX)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(self.folder())
            .or_fault(Fault::Output, || {
                format!("{}: cannot create files in this folder; name another output", self.folder().display())
            })?;
        list.push(made.path().to_owned());
        Ok(Temporary::new(made))
    }
}

/// A temporary file that is on the list for as long as it exists.
struct Temporary {
    file: File,
    path: Option<TempPath>,
}

impl Temporary {
    fn new(made: NamedTempFile) -> Self {
        let (file, path) = made.into_parts();
        Self { file, path: Some(path) }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut list = temporaries();
            list.retain(|listed| listed != &*path);
            drop(path);
        }
    }
}

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Declares that temporaries of a circuit's parameters in a folder are this process's own, until dropped.
pub struct Litter(Vec<PathBuf>);

impl Litter {
    pub fn declare(folder: &Path, circuit: &CircuitIdentity) -> Self {
        let prefixes: Vec<_> = temporary_prefixes(circuit).iter().map(|prefix| folder.join(prefix)).collect();
        PREFIXES.lock().unwrap_or_else(PoisonError::into_inner).extend(prefixes.iter().cloned());
        Self(prefixes)
    }
}

impl Drop for Litter {
    fn drop(&mut self) {
        PREFIXES.lock().unwrap_or_else(PoisonError::into_inner).retain(|listed| !self.0.contains(listed));
    }
}

fn remove_litter() {
    for prefix in PREFIXES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let (Some(folder), Some(start)) = (prefix.parent(), prefix.file_name()) else { continue };
        let start = start.to_string_lossy();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&*start) {
                // What cannot be removed now is removed by the next run that generates here.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes every temporary file and runs `end`, which is expected not to return: nothing can be published meanwhile.
pub fn abandon(end: impl FnOnce()) {
    let list = temporaries();
    for path in list.iter() {
        // What cannot be removed now cannot be removed at all.
        let _ = fs::remove_file(path);
    }
    remove_litter();
    end();
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
        assert_eq!(output.write(b"ours").unwrap_err().fault(), Fault::Output);
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(folder.path()), ["proof"]);
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
    fn folders_and_missing_folders_are_refused_and_devices_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Output::check(folder.path(), true).unwrap_err().fault(), Fault::Usage);
        assert_eq!(Output::check(&folder.path().join("no/proof"), true).unwrap_err().fault(), Fault::Output);
        Output::check(Path::new("/dev/null"), false).unwrap().write(b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
