//! The folder that parameters are generated in: which are refused, one process at a time, leftovers, room.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{self, Path, PathBuf};

use rustix::fs::{flock, statvfs, FlockOperation};
use rustix::io::Errno;

use super::{names, Request};
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::open_regular_with;
use crate::srs::development::{self, MARKER};
use crate::srs::progress::{Progress, Report, Stage};

/// Refuses a folder that is kept for official parameters, also while it is empty or missing, unless it is marked already.
///
/// # Errors
/// `Usage`: the folder is one of `official`, by whatever path.
pub fn refuse_official(folder: &Path, official: &[PathBuf]) -> Result<()> {
    if development::is_marked(folder) {
        return Ok(());
    }
    let wanted = resolved(folder);
    if let Some(kept) = official.iter().find(|kept| resolved(kept) == wanted) {
        fail!(
            Fault::Usage,
            "{}: {} is the folder of official parameters: development parameters have their official names and would stand in \
             their way; name another folder with --params",
            folder.display(),
            kept.display()
        );
    }
    Ok(())
}

/// The path without links and dots. Of what does not exist the longest part that does is resolved.
fn resolved(path: &Path) -> PathBuf {
    let mut existing = path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing: Vec<OsString> = Vec::new();
    loop {
        if let Ok(found) = fs::canonicalize(&existing) {
            // Below what does not exist there are no links: dots mean what they say.
            return missing.into_iter().rev().fold(found, |mut path, part| {
                match part.to_str() {
                    Some("..") => drop(path.pop()),
                    Some(".") => {}
                    _ => path.push(part),
                }
                path
            });
        }
        let Some(part) = existing.components().next_back().map(|part| part.as_os_str().to_owned()) else {
            return existing;
        };
        if !existing.pop() {
            return existing;
        }
        missing.push(part);
    }
}

/// Creates and marks the folder, unless it holds parameters that have no marker.
pub(super) fn prepare_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).or_fault(Fault::Output, || "the folder cannot be created".into())?;
    if !development::is_marked(folder) {
        let entries = fs::read_dir(folder).or_fault(Fault::Output, || "the folder cannot be read".into())?;
        for entry in entries {
            let entry = entry.or_fault(Fault::Output, || "the folder cannot be read".into())?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".params") || name.ends_with(".vk") || name.ends_with(".srs") {
                fail!(
                    Fault::Usage,
                    "the folder has parameter files ({name}) and no {MARKER}: it may hold official ones, so nothing is \
                     generated here; if they are development ones, copy that file too from where they were made, else name another \
                     folder with --params"
                );
            }
        }
    }
    development::mark(folder).or_fault(Fault::Output, || format!("{MARKER} cannot be written"))
}

/// The lock on one circuit's files. It stays as an empty file: removing it would let a third process lock another.
pub(super) fn lock(request: &Request, report: &Report) -> Result<File> {
    let path = request.folder.join(format!(".{}.lock", request.identity.params));
    let cannot = || format!("{}: cannot be locked", path.display());
    let options = &mut File::options();
    options.create(true).truncate(false).write(true);
    let file = open_regular_with(&path, options).or_fault(Fault::Output, cannot)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            report(Progress::Work { stage: Stage::Waiting, done: 0, total: 0 });
            rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))
                .or_fault(Fault::Output, cannot)?;
        }
        tried => tried.or_fault(Fault::Output, cannot)?,
    }
    Ok(file)
}

/// Removes what killed runs left of this circuit's files and of markers. Under the circuit's lock, so no other run is
/// writing its files; one that is just writing a marker finds that the folder has one.
pub(super) fn remove_stale(request: &Request) -> Result<()> {
    let names = names(request.identity).into_iter().chain([MARKER.to_owned()]);
    let prefixes: Vec<String> = names.map(|name| development::temporary_prefix(&name)).collect();
    let cannot = || "leftovers of an interrupted run cannot be removed".to_string();
    for entry in fs::read_dir(request.folder).or_fault(Fault::Output, cannot)? {
        let entry = entry.or_fault(Fault::Output, cannot)?;
        let name = entry.file_name();
        if prefixes.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            match fs::remove_file(entry.path()) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                removed => removed.or_fault(Fault::Output, cannot)?,
            }
        }
    }
    Ok(())
}

pub(in crate::srs) fn check_space(folder: &Path, bytes: u64) -> Result<()> {
    let space = statvfs(folder).or_fault(Fault::Output, || "free space is unknown".into())?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free < bytes {
        fail!(Fault::Output, "the parameters take {bytes} bytes and {free} are free; make room or name another folder");
    }
    Ok(())
}
