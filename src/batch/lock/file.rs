//! The lock file: taken, taken over from a dead run, kept fresh, given back.
//!
//! Nothing relies on flock, which network file systems may not pass on. Two operations are atomic everywhere: linking a
//! complete file to a name that must not exist, and renaming. A lock file of run R may be replaced or removed only by whoever has created
//! `LOCK.after-R`, of which there can be one; run names never return, so a candidate that slept creates a file that means
//! nothing, sees that, and removes it. Whoever dies between creating and renaming is followed in the same way, which makes
//! a chain: the lock file, the one after it, and so on. The last one's run holds the lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::holder::Holder;
use super::watch::Watch;
use crate::batch::clock::{random_name, server_time};
use crate::batch::content_hash;
use crate::batch::text::display_name;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::files::open_regular_with;
use crate::pipeline::output::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// A lock file is 250 bytes.
const MAX_BYTES: u64 = 1 << 16;

/// Attempts in a row that others may spoil: each time one of them gets further.
const ATTEMPTS: usize = 1000;

/// What a lock file says.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The name of the run, or of this very state of the file where it names none.
    pub run: String,
    /// None where the file was just created without links, or somebody else made it.
    pub holder: Option<Holder>,
    /// When its run gave a sign of life last, by the file server's clock.
    pub touched: SystemTime,
}

/// Who has the lock after an attempt to take it.
pub(super) enum Taken {
    ByUs,
    /// By a run that lives, or may live.
    ByOther(Option<Holder>, Age),
}

/// When a run gave its last sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Ago(Duration),
    /// By its date, so far in the future: the date tells nothing.
    Ahead(Duration),
}

/// How to tell a dead run from a live one.
pub(super) struct Judge<'a> {
    pub us: &'a Holder,
    pub stale_after: Duration,
    /// What the looks before this one saw.
    pub watch: &'a Watch,
}

impl Judge<'_> {
    /// Whether the run is dead, and the age of its last sign of life.
    fn is_dead(&self, found: &Found, folder: &Path) -> Result<(bool, Age)> {
        let now = server_time(folder)
            .or_fault(Fault::Output, || format!("{}: no file can be created here", display_name(folder)))?;
        let age = match now.duration_since(found.touched) {
            Ok(age) => Age::Ago(age),
            Err(ahead) => Age::Ahead(ahead.duration()),
        };
        let unchanged = self.watch.unchanged(found);
        let dead = match &found.holder {
            Some(holder) if self.us.sees_alive(holder) => false,
            Some(holder) if self.us.sees_dead(holder) => true,
            // Whatever its date: a run that lives changes it.
            _ => matches!(age, Age::Ago(age) if age > self.stale_after) || unchanged > self.stale_after,
        };
        Ok((dead, age))
    }

    /// Takes the lock if nobody has it or whoever had it is dead.
    pub fn take(&self, path: &Path) -> Result<Taken> {
        let cannot = || {
            format!(
                "{}: the lock cannot be taken; name an output folder that can be written and is not full",
                display_name(path)
            )
        };
        for _ in 0..ATTEMPTS {
            if let Some(taken) = self.attempt(path, &cannot)? {
                return Ok(taken);
            }
            thread::yield_now();
        }
        fail!(Fault::Output, "{}: changed {ATTEMPTS} times while it was to be taken; try again", display_name(path))
    }

    /// None where somebody else's change came in between.
    fn attempt(&self, path: &Path, cannot: &dyn Fn() -> String) -> Result<Option<Taken>> {
        let folder = path.parent().unwrap_or(Path::new("."));
        if create(path, self.us).or_fault(Fault::Output, cannot)? && is_ours(path, self.us) {
            remove_claims(path).or_fault(Fault::Output, cannot)?;
            return Ok(Some(Taken::ByUs));
        }
        let chain = chain(path).or_fault(Fault::Output, cannot)?;
        // Empty where it was given back meanwhile.
        let Some(last) = chain.last() else { return Ok(None) };
        if last.run == self.us.run {
            return Ok(Some(Taken::ByUs));
        }
        let (dead, age) = self.is_dead(last, folder)?;
        if !dead {
            return Ok(Some(Taken::ByOther(last.holder.clone(), age)));
        }
        Ok(self.follow(path, &chain).or_fault(Fault::Output, cannot)?.then_some(Taken::ByUs))
    }

    /// Puts our file after the chain's last, and then in the chain's place; whether that worked.
    pub(super) fn follow(&self, path: &Path, chain_seen: &[Found]) -> io::Result<bool> {
        let Some(last) = chain_seen.last() else { return Ok(false) };
        let claim = after(path, &last.run);
        if !create(&claim, self.us)? {
            return Ok(false);
        }
        // Only now nobody else may change the chain; it may have changed before.
        let runs: Vec<_> = chain(path)?.into_iter().map(|found| found.run).collect();
        let expected = chain_seen.iter().map(|found| &found.run).chain([&self.us.run]);
        if !runs.iter().eq(expected) {
            // Left where it is part of a chain after all: others may follow it already.
            if !runs.contains(&self.us.run) {
                remove(&claim)?;
            }
            return Ok(false);
        }
        match fs::rename(&claim, path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        }
        remove_claims(path)?;
        Ok(is_ours(path, self.us))
    }
}

/// Creates a lock file that must not exist, complete from the first moment; false where it exists.
fn create(path: &Path, us: &Holder) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = folder.join(format!("{TEMPORARY_PREFIX}lock-{}{TEMPORARY_SUFFIX}", random_name()?));
    let linked = write(&temporary, us).and_then(|()| fs::hard_link(&temporary, path));
    // Where it was not created, that is the error.
    let _ = fs::remove_file(&temporary);
    match linked {
        Ok(()) => Ok(true),
        // Or it is ours: NFS may ask twice where the first answer was lost.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(is_ours(path, us)),
        // A file system without links: the file is there first, and says a moment later whose it is.
        Err(error) if matches!(error.raw_os_error(), Some(EPERM | EMLINK | EOPNOTSUPP)) => match write(path, us) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            other => other.map(|()| true),
        },
        Err(error) => Err(error),
    }
}

/// What file systems without hard links answer.
const EPERM: i32 = 1;
const EMLINK: i32 = 31;
const EOPNOTSUPP: i32 = 95;

/// Writes a file that must not exist, whole or not at all.
fn write(path: &Path, us: &Holder) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    let written = file.write_all(&text(us)?).and_then(|()| file.sync_all());
    if written.is_err() {
        remove(path)?;
    }
    written
}

fn text(holder: &Holder) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(holder)?;
    text.push(b'\n');
    Ok(text)
}

/// The lock file and those after it: empty where there is none.
fn chain(path: &Path) -> io::Result<Vec<Found>> {
    let mut chain: Vec<Found> = Vec::new();
    let mut next = path.to_owned();
    while let Some(found) = read(&next)? {
        if chain.iter().any(|earlier| earlier.run == found.run) {
            let name = display_name(&next);
            return Err(io::Error::other(format!("{name} names a run before it: not made by cuzk; remove it")));
        }
        next = after(path, &found.run);
        chain.push(found);
    }
    Ok(chain)
}

/// None where there is no such file. Opening is what makes NFS ask the server.
fn read(path: &Path) -> io::Result<Option<Found>> {
    let Some(file) = open(path, File::options().read(true))? else { return Ok(None) };
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let holder: Option<Holder> = serde_json::from_slice(&bytes).ok();
    // A name that could leave the folder is none of ours.
    let holder = holder.filter(|holder| holder.run.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let run = match &holder {
        Some(holder) => holder.run.clone(),
        None => {
            let state = format!("{bytes:?} {} {} {}", metadata.ino(), metadata.mtime(), metadata.mtime_nsec());
            format!("unnamed-{}", &content_hash(state.as_bytes())[..16])
        }
    };
    Ok(Some(Found { run, holder, touched: metadata.modified()? }))
}

/// None where there is no file of the name, nor anything else that keeps one from being made.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<Option<File>> {
    match open_regular_with(path, options) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Err(io::Error::other(format!(
                "{} is a symbolic link to nothing ({}); remove it",
                display_name(path),
                display_name(&target)
            ))),
            Err(_) => Ok(None),
        },
        other => other.map(Some),
    }
}

fn after(path: &Path, run: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".after-{run}"));
    name.into()
}

/// Whether the lock file names our run.
pub(super) fn is_ours(path: &Path, us: &Holder) -> bool {
    matches!(read(path), Ok(Some(found)) if found.run == us.run)
}

/// Who has the lock file now; none where there is none.
pub(super) fn held_by(path: &Path) -> io::Result<Option<Found>> {
    Ok(chain(path)?.pop())
}

/// Removes what other candidates left. Whoever holds the lock file may: no chain passes through these.
fn remove_claims(path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let prefix = format!("{}.after-", name.to_string_lossy());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Gives the lock file back, if it is ours. What cannot be removed is left: the next run finds its process dead.
pub(super) fn give_back(path: &Path, us: &Holder) {
    // With this nobody can take over what is being removed.
    let claim = after(path, &us.run);
    let closing = Holder { run: format!("{}-closing", us.run), ..us.clone() };
    let claimed = create(&claim, &closing);
    if !matches!(claimed, Ok(false)) && is_ours(path, us) {
        let _ = fs::remove_file(path);
    }
    if matches!(claimed, Ok(true)) {
        let _ = fs::remove_file(&claim);
    }
}

/// A sign of life: rewrites the lock file with what is in it. False where the file is gone or another's.
///
/// # Errors
/// The file server does not answer; the next sign may get through.
pub(super) fn beat(path: &Path, us: &Holder) -> io::Result<bool> {
    let Some(mut file) = open(path, File::options().read(true).write(true))? else { return Ok(false) };
    let (mut bytes, ours) = (Vec::new(), text(us)?);
    (&mut file).take(MAX_BYTES).read_to_end(&mut bytes)?;
    if bytes != ours {
        return Ok(false);
    }
    // The same bytes in the same place: no reader finds the file half written. The file server's clock sets the time.
    file.write_all_at(&ours, 0)?;
    file.sync_all()?;
    Ok(true)
}
