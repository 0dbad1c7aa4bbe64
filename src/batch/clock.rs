//! The file server's clock, by which files are judged old: clocks of machines differ.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rand_core::{OsRng, RngCore};

use crate::pipeline::output::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// A temporary file lives as long as one write; one this old was left by a run that was killed.
const LEFTOVER: Duration = Duration::from_secs(600);

/// The file server's clock.
pub(super) fn server_time(folder: &Path) -> io::Result<SystemTime> {
    let name = format!("{TEMPORARY_PREFIX}clock-{}{TEMPORARY_SUFFIX}", random_name()?);
    let path = folder.join(name);
    let written = File::options().write(true).create_new(true).open(&path).and_then(|mut file| {
        file.write_all(b"\n")?;
        file.sync_all()
    });
    // A file opened anew has the server's times.
    let time = written.and_then(|()| File::open(&path)?.metadata()?.modified());
    // Where it was not created, that is the error.
    let _ = fs::remove_file(&path);
    time
}

/// Sixteen hex digits.
pub(super) fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    OsRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(hex::encode(bytes))
}

/// Removes temporary files that killed runs left in a folder, and says how many; those of live runs are younger.
///
/// # Errors
/// The folder cannot be read or written.
pub fn remove_leftovers(folder: &Path) -> io::Result<usize> {
    let mut temporary = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|n| n.starts_with(TEMPORARY_PREFIX) && n.ends_with(TEMPORARY_SUFFIX)) {
            temporary.push(entry);
        }
    }
    // Asking for the time writes a file: not where there is nothing to judge.
    if temporary.is_empty() {
        return Ok(0);
    }
    let now = server_time(folder)?;
    let mut removed = 0;
    for entry in temporary {
        // Another shard may be removing it too.
        let Some(found) = entry.metadata().ok().filter(fs::Metadata::is_file) else { continue };
        if now.duration_since(found.modified()?).is_ok_and(|age| age > LEFTOVER) {
            removed += usize::from(fs::remove_file(entry.path()).is_ok());
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_local_folder_is_this_machines_and_reading_it_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let before = SystemTime::now() - Duration::from_secs(1);
        let time = server_time(folder.path()).unwrap();
        assert!(time > before && time <= SystemTime::now() + Duration::from_secs(1));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_old_temporary_files_are_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, minutes: u64| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
        };
        make(".cuzk-old.tmp", 11);
        make(".cuzk-young.tmp", 9);
        make(".other.tmp", 11);
        make("x.proof.json", 11);
        fs::create_dir(folder.path().join(".cuzk-folder.tmp")).unwrap();
        assert_eq!(remove_leftovers(folder.path()).unwrap(), 1);
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".cuzk-folder.tmp", ".cuzk-young.tmp", ".other.tmp", "x.proof.json"]);
        assert_eq!(remove_leftovers(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
