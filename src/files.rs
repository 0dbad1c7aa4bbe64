//! Files that appear whole or not at all and folders that go away, also when a signal or a panic ends the process.
//!
//! One lock stands around every making, renaming and removing of a temporary. Whoever holds it decides whether a file is
//! complete or gone; a signal takes it for good, so that nothing new is made while the process ends.

mod owner;
mod regular;

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{PathPersistError, TempDir, TempPath};

pub use owner::{create_own_folder, distrust_file, distrust_folder};
pub use regular::{is_descriptor, kind, open_input, open_regular, open_regular_with, read_small, read_small_from};

/// What exists under temporary names, and what has been finished.
struct Registry {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    outcomes: Vec<Outcome>,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { files: Vec::new(), folders: Vec::new(), outcomes: Vec::new() });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A result that this process has begun to hand over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The file, or how messages name the stream.
    pub name: String,
    /// All of it is there. Only streams can be cut short.
    pub whole: bool,
}

/// A file under a temporary name; removed when dropped.
pub struct Temporary {
    file: File,
    path: Option<TempPath>,
}

impl Temporary {
    /// Makes one in `folder`; its name is a few random letters between `prefix` and `suffix`, and `mode` is subject to the umask.
    ///
    /// # Errors
    /// The folder is missing or not writable.
    pub fn create(folder: &Path, prefix: &str, suffix: &str, mode: u32) -> io::Result<Self> {
        let mut registry = registry();
        let made = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(suffix)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        registry.files.push(made.path().to_owned());
        let (file, path) = made.into_parts();
        Ok(Self { file, path: Some(path) })
    }

    /// The open file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Takes the path off the list; from here on nobody removes it but who holds it. `registry` is the lock.
    fn unlist(mut self, registry: &mut Registry) -> io::Result<TempPath> {
        let path = self.path.take().ok_or_else(|| io::Error::other("the temporary file is gone"))?;
        registry.files.retain(|listed| listed != &*path);
        Ok(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut registry = registry();
            registry.files.retain(|listed| listed != &*path);
            drop(path);
        }
    }
}

/// A folder in the system's place for temporary files; removed with all that is in it when dropped.
pub struct TemporaryFolder(Option<TempDir>, PathBuf);

impl TemporaryFolder {
    /// Makes an empty one, for this user only.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create() -> io::Result<Self> {
        let mut registry = registry();
        let folder = tempfile::Builder::new().prefix("cuzk-").tempdir()?;
        let path = folder.path().to_owned();
        registry.folders.push(path.clone());
        Ok(Self(Some(folder), path))
    }

    pub fn path(&self) -> &Path {
        &self.1
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let mut registry = registry();
        registry.folders.retain(|listed| listed != &self.1);
        drop(self.0.take());
    }
}

/// What to do about a file that bears the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Replace,
    Refuse,
}

/// A finished file that could not be given its name.
#[derive(Debug)]
pub struct Kept {
    /// `AlreadyExists`: a file of that name was to be left alone.
    pub error: io::Error,
    /// Where the content is.
    pub path: Option<PathBuf>,
}

/// Gives a result its name, its content being on the disk already. Where that fails the file stays under its temporary name.
pub fn deliver(temporary: Temporary, name: &Path, existing: Existing) -> Result<(), Kept> {
    let mut registry = registry();
    let path = temporary.unlist(&mut registry).map_err(|error| Kept { error, path: None })?;
    let named = match existing {
        Existing::Replace => path.persist(name),
        Existing::Refuse => persist_new(path, name),
    };
    named.map_err(|PathPersistError { error, path }| Kept { error, path: path.keep().ok() })?;
    registry.outcomes.push(Outcome { name: name.display().to_string(), whole: true });
    Ok(())
}

/// Renames unless the name is taken.
fn persist_new(path: TempPath, name: &Path) -> Result<(), PathPersistError> {
    match path.persist_noclobber(name) {
        Err(e) if e.error.kind() != ErrorKind::AlreadyExists => claim_and_rename(e.path, name),
        other => other,
    }
}

/// The same where the file system has neither RENAME_NOREPLACE nor hard links: an empty file claims the name, and is replaced.
fn claim_and_rename(path: TempPath, name: &Path) -> Result<(), PathPersistError> {
    if let Err(error) = File::options().write(true).create_new(true).open(name) {
        return Err(PathPersistError { error, path });
    }
    path.persist(name).inspect_err(|_| {
        // Ours, and empty; what matters is the error that is returned.
        let _ = fs::remove_file(name);
    })
}

/// Makes a file's content durable and gives it its name, in place of what bore it. On failure the temporary is removed.
pub fn put(temporary: Temporary, name: &Path) -> io::Result<()> {
    temporary.file.sync_all()?;
    let mut registry = registry();
    temporary.unlist(&mut registry)?.persist(name)?;
    Ok(())
}

/// The same for files that belong together: a signal finds all of them under their names or none. The last one is the
/// result that the others are about; one that bore its name before is gone before any of the others appears.
pub fn put_set(others: Vec<(Temporary, PathBuf)>, result: Temporary, name: &Path) -> io::Result<()> {
    for (temporary, _) in &others {
        temporary.file.sync_all()?;
    }
    result.file.sync_all()?;
    let mut registry = registry();
    // All off the list first: what is dropped on an error below must not ask for the lock.
    let others = others.into_iter().map(|(file, name)| Ok((file.unlist(&mut registry)?, name)));
    let others: Vec<(TempPath, PathBuf)> = others.collect::<io::Result<_>>()?;
    let result = result.unlist(&mut registry)?;
    match fs::remove_file(name) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    for (path, name) in others {
        path.persist(name)?;
    }
    result.persist(name)?;
    registry.outcomes.push(Outcome { name: name.display().to_string(), whole: true });
    Ok(())
}

/// Writes a result to where it cannot appear in one step, such as a pipe; until `write` returns it counts as cut short.
pub fn stream(name: &str, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let index = {
        let mut registry = registry();
        registry.outcomes.push(Outcome { name: name.to_owned(), whole: false });
        registry.outcomes.len() - 1
    };
    write()?;
    if let Some(outcome) = registry().outcomes.get_mut(index) {
        outcome.whole = true;
    }
    Ok(())
}

/// Removes everything temporary and runs `end` with what has been finished. While it runs nothing temporary can be made
/// and nothing gets a name; it is expected to end the process.
pub fn abandon<T>(end: impl FnOnce(&[Outcome]) -> T) -> T {
    let mut registry = registry();
    registry.discard();
    end(&registry.outcomes)
}

impl Registry {
    fn discard(&mut self) {
        for path in self.files.drain(..) {
            // What cannot be removed now cannot be removed at all.
            let _ = fs::remove_file(path);
        }
        for folder in self.folders.drain(..) {
            // Under another name first: threads that still work in it find it gone and cannot refill it.
            let gone = folder.with_extension("gone");
            let moved = fs::rename(&folder, &gone).is_ok();
            let _ = fs::remove_dir_all(if moved { &gone } else { &folder });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn temporary(folder: &Path, content: &[u8]) -> Temporary {
        let mut temporary = Temporary::create(folder, ".x-", ".tmp", 0o666).unwrap();
        temporary.file().write_all(content).unwrap();
        temporary
    }

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_name_is_given_without_renameat2_too_and_never_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("x");
        let unlisted = |content: &[u8]| temporary(folder.path(), content).unlist(&mut registry()).unwrap();
        claim_and_rename(unlisted(b"first"), &name).unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"first");
        let taken = claim_and_rename(unlisted(b"second"), &name).unwrap_err();
        assert_eq!(taken.error.kind(), ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&taken.path).unwrap(), fs::read(&name).unwrap()), (b"second".into(), b"first".into()));
        drop(taken);
        // A claim whose renaming fails is taken back.
        let path = unlisted(b"third");
        fs::remove_file(&path).unwrap();
        claim_and_rename(path, &folder.path().join("y")).unwrap_err();
        assert_eq!(count(folder.path()), 1);
    }

    #[test]
    fn a_result_that_gets_no_name_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("x");
        fs::write(&name, b"theirs").unwrap();
        let kept = deliver(temporary(folder.path(), b"ours"), &name, Existing::Refuse).unwrap_err();
        assert_eq!(kept.error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(kept.path.unwrap()).unwrap(), b"ours");
        let kept = deliver(temporary(folder.path(), b"again"), folder.path(), Existing::Replace).unwrap_err();
        assert_eq!(fs::read(kept.path.unwrap()).unwrap(), b"again");
        assert_eq!((count(folder.path()), fs::read(&name).unwrap()), (3, b"theirs".into()));
    }

    #[test]
    fn a_set_that_cannot_be_put_leaves_no_temporaries_and_no_stale_result() {
        let folder = tempfile::tempdir().unwrap();
        let (other, name) = (folder.path().join("other"), folder.path().join("result"));
        fs::write(&name, b"stale").unwrap();
        fs::create_dir(&other).unwrap();
        let pair = || (vec![(temporary(folder.path(), b"o"), other.clone())], temporary(folder.path(), b"r"));
        let (others, result) = pair();
        put_set(others, result, &name).unwrap_err();
        assert!(!name.exists() && count(folder.path()) == 1);
        fs::remove_dir(&other).unwrap();
        let (others, result) = pair();
        put_set(others, result, &name).unwrap();
        assert_eq!((fs::read(&other).unwrap(), fs::read(&name).unwrap()), (b"o".into(), b"r".into()));
    }
}
