//! Remembered digests: a file of 45 GiB is hashed once, not on every start.
//!
//! A digest is remembered for a path with its size, time of modification and inode; whoever can change the file and set
//! its time back can change this cache too. A damaged or missing cache is as good as an empty one, and so is one
//! that others can write to.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::digest::{self, DIGEST_HEX};
use super::progress::{Progress, Report};
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::{self, Temporary};

/// The cache's format; another number means an empty cache.
const VERSION: u32 = 1;

#[derive(Default, Serialize, Deserialize)]
struct Cache {
    version: u32,
    files: BTreeMap<String, Remembered>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    #[serde(flatten)]
    key: Key,
    digest: String,
}

/// The cache of a thousand files is smaller.
const CACHE_LIMIT: u64 = 1 << 20;

/// What has to be unchanged for a digest to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    size: u64,
    modified_seconds: i64,
    modified_nanoseconds: i64,
    device: u64,
    inode: u64,
}

impl Key {
    /// Of an open file, as it is now.
    ///
    /// # Errors
    /// The file cannot be asked.
    pub fn now(file: &File, path: &Path) -> Result<Self> {
        let metadata = file.metadata().or_fault(Fault::Parameters, || format!("{}: cannot be read", path.display()))?;
        Ok(Self::of(&metadata))
    }

    fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            modified_seconds: metadata.mtime(),
            modified_nanoseconds: metadata.mtime_nsec(),
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// Checks that the file it was taken of is as it was then.
    ///
    /// # Errors
    /// `Parameters`: its length or time of modification is another one.
    pub fn check(&self, file: &File, path: &Path) -> Result<()> {
        let now = Self::now(file, path)?;
        if now != *self {
            fail!(
                Fault::Parameters,
                "{}: changed while it was in use ({} bytes, now {}): do not prove while it is downloaded or copied; run again \
                 with --recheck",
                path.display(),
                self.size,
                now.size
            );
        }
        Ok(())
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// A digest, and what it took to know it.
pub struct Known {
    pub digest: String,
    /// Bytes that were read for it; 0 where it was remembered.
    pub hashed: u64,
}

/// The digest of a file that is `key`, of its bytes from `start` on: remembered in the cache file `verdicts`, or computed and then
/// remembered.
///
/// With `recheck` it is always computed. A cache that cannot be written is reported as a note and stops nothing.
///
/// # Errors
/// The file cannot be read, or changed while it was.
pub fn digest_of(
    key: &Key,
    path: &Path,
    start: u64,
    verdicts: Option<&Path>,
    recheck: bool,
    report: &Report,
) -> Result<Known> {
    if !recheck {
        if let Some(digest) = verdicts.and_then(|verdicts| recall(verdicts, path, key)) {
            return Ok(Known { digest, hashed: 0 });
        }
    }
    let read = || format!("{}: cannot be read", path.display());
    // Own handle, own position; the caller's may be in use.
    let mut reader = files::open_regular(path).or_fault(Fault::Parameters, read)?;
    reader.seek(SeekFrom::Start(start)).or_fault(Fault::Parameters, read)?;
    let bytes = key.size.saturating_sub(start);
    let digest = digest::of_reader(reader, bytes, report).or_fault(Fault::Parameters, read)?;
    let now = fs::metadata(path).or_fault(Fault::Parameters, read)?;
    if Key::of(&now) != *key {
        fail!(Fault::Parameters, "{}: changed while it was read (still downloading?); try again", path.display());
    }
    if let Some(verdicts) = verdicts {
        if let Err(e) = remember(verdicts, path, Remembered { key: key.clone(), digest: digest.clone() }) {
            report(Progress::Note(format!(
                "{}: the digest of {} could not be remembered: {e}; it is computed again next time",
                verdicts.display(),
                path.display()
            )));
        }
    }
    Ok(Known { digest, hashed: bytes })
}

/// The remembered digest of a file, if it is unchanged since.
pub fn remembered(path: &Path, verdicts: Option<&Path>) -> Option<String> {
    let key = Key::of(&fs::metadata(path).ok()?);
    recall(verdicts?, path, &key)
}

fn recall(verdicts: &Path, path: &Path, key: &Key) -> Option<String> {
    let entry = load(verdicts).files.remove(&name_of(path))?;
    (entry.key == *key && entry.digest.len() == DIGEST_HEX).then_some(entry.digest)
}

fn load(verdicts: &Path) -> Cache {
    let file = files::open_regular(verdicts).and_then(|file| Ok((file.metadata()?, file))).ok();
    let own = file.filter(|(metadata, _)| files::distrust_file(metadata).is_none());
    let bytes = own.and_then(|(_, file)| files::read_small_from(file, CACHE_LIMIT).ok());
    let cache: Option<Cache> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    cache.filter(|cache| cache.version == VERSION).unwrap_or_default()
}

/// Two processes that remember at once may lose one entry; it is computed again then.
fn remember(verdicts: &Path, path: &Path, entry: Remembered) -> io::Result<()> {
    let mut cache = load(verdicts);
    cache.version = VERSION;
    cache.files.insert(name_of(path), entry);
    let folder = match verdicts.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Whoever can write this file decides what passes for checked: it is the user's own, and so is a folder that is made for it.
    files::create_own_folder(folder)?;
    let mut temporary = Temporary::create(folder, ".parameter-digests-", ".tmp", 0o600)?;
    serde_json::to_writer_pretty(temporary.file(), &cache)?;
    files::put(temporary, verdicts)
}

/// The same name for a file whatever way it is reached by.
fn name_of(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::progress::silent;
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Asks for the digest; tells whether the file was read.
    fn ask(path: &Path, verdicts: &Path, recheck: bool) -> (String, bool) {
        let read = AtomicBool::new(false);
        let key = Key::now(&File::open(path).unwrap(), path).unwrap();
        let report = |_| read.store(true, Ordering::Relaxed);
        let known = digest_of(&key, path, 0, Some(verdicts), recheck, &report).unwrap();
        let read = read.into_inner();
        assert_eq!(known.hashed, if read { key.size() } else { 0 });
        (known.digest, read)
    }

    #[test]
    fn a_digest_is_computed_once_and_again_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let (path, verdicts) = (folder.path().join("f"), folder.path().join("deep/verdicts.json"));
        fs::write(&path, b"abc").unwrap();
        assert_eq!(remembered(&path, Some(&verdicts)), None);
        let abc = digest::of_bytes(b"abc");
        assert_eq!(ask(&path, &verdicts, false), (abc.clone(), true));
        assert_eq!(ask(&path, &verdicts, false), (abc.clone(), false));
        assert_eq!(remembered(&path, Some(&verdicts)), Some(abc.clone()));
        assert_eq!(ask(&path, &verdicts, true), (abc.clone(), true));

        // Same size, other inode and time.
        fs::remove_file(&path).unwrap();
        fs::write(&path, b"abd").unwrap();
        assert_eq!(ask(&path, &verdicts, false), (digest::of_bytes(b"abd"), true));
        // Same inode and size, other time.
        File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(remembered(&path, Some(&verdicts)), None);
        fs::write(&path, b"abcd").unwrap();
        assert_eq!(ask(&path, &verdicts, false), (digest::of_bytes(b"abcd"), true));
    }

    #[test]
    fn a_damaged_cache_is_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        let (path, verdicts) = (folder.path().join("f"), folder.path().join("verdicts.json"));
        fs::write(&path, b"abc").unwrap();
        for damage in
            [&b"{\"version\":1,\"files\":{\"x\""[..], b"", b"\xff\xfe", b"{\"version\":9,\"files\":{}}", b"[]"]
        {
            fs::write(&verdicts, damage).unwrap();
            assert!(ask(&path, &verdicts, false).1);
            assert!(!ask(&path, &verdicts, false).1);
        }
        let cut = fs::read_to_string(&verdicts).unwrap().replace(&digest::of_bytes(b"abc"), "ba80");
        fs::write(&verdicts, cut).unwrap();
        assert!(ask(&path, &verdicts, false).1, "a digest cut short is not believed");
        // Sparse: an attempt to read it all would be noticed.
        File::options().write(true).open(&verdicts).unwrap().set_len(1 << 40).unwrap();
        assert!(ask(&path, &verdicts, false).1);
        assert!(!ask(&path, &verdicts, false).1);
    }

    #[test]
    fn a_cache_that_others_can_write_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, verdicts) = (folder.path().join("f"), folder.path().join("deep/verdicts.json"));
        fs::write(&path, b"abc").unwrap();
        ask(&path, &verdicts, false);
        assert_eq!(fs::metadata(folder.path().join("deep")).unwrap().mode() & 0o777, 0o700);
        for mode in [0o620, 0o602] {
            fs::set_permissions(&verdicts, fs::Permissions::from_mode(mode)).unwrap();
            assert!(ask(&path, &verdicts, false).1, "{mode:o}");
            assert!(!ask(&path, &verdicts, false).1, "{mode:o}");
        }
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, b"abc").unwrap();
        let noted = AtomicBool::new(false);
        let report = |p| {
            if let Progress::Note(note) = p {
                assert!(note.contains("could not be remembered"), "{note}");
                noted.store(true, Ordering::Relaxed);
            }
        };
        // A file where a folder is needed.
        let verdicts = path.join("verdicts.json");
        let key = Key::now(&File::open(&path).unwrap(), &path).unwrap();
        let abc = digest::of_bytes(b"abc");
        assert_eq!(digest_of(&key, &path, 0, Some(&verdicts), false, &report).unwrap().digest, abc);
        assert!(noted.into_inner());
        assert_eq!(digest_of(&key, &path, 0, None, false, &silent).unwrap().digest, abc);
    }
}
