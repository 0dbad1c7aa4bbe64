//! One run for each output folder and shard, on any number of machines that share the folder.

mod file;
mod holder;
mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use self::file::{Age, Judge, Taken};
use self::watch::Watch;
use super::shard::Shard;
use super::text::display_name;
use crate::error::{Error, Fault, OrFault, Result};
use crate::fail;

pub use holder::{host_name, Holder};

/// What the names of all locks begin with.
pub const PREFIX: &str = "cuzk-lock.";

/// A date so little ahead is one of now: file servers have more than one clock.
const AHEAD: Duration = Duration::from_secs(5);

/// Locks that this process holds, for [`release_all`].
static HELD: Mutex<Vec<(PathBuf, Holder)>> = Mutex::new(Vec::new());

/// Called between two looks at a lock that another run holds, with a message that names it; an error ends the waiting.
pub type Waiting<'a> = &'a dyn Fn(&str) -> Result<()>;

/// How locks are kept and judged.
#[derive(Clone, Copy)]
pub struct LockOptions<'a> {
    /// Wait for another run to end; without it, another run is an error.
    pub wait: Option<Waiting<'a>>,
    /// Time between two signs of life.
    pub heartbeat: Duration,
    /// A run on another machine is dead when its last sign of life is older, or when none was seen for so long while waiting.
    pub stale_after: Duration,
    /// Time between two looks while waiting.
    pub poll: Duration,
}

impl Default for LockOptions<'_> {
    fn default() -> Self {
        Self {
            wait: None,
            heartbeat: Duration::from_secs(10),
            stale_after: Duration::from_secs(60),
            poll: Duration::from_secs(1),
        }
    }
}

/// The right to work on one shard in one output folder, until dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    us: Holder,
    lost: Arc<AtomicBool>,
    heart: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Another run that is at work in the folder.
struct Busy {
    shard: Shard,
    holder: Option<Holder>,
    age: Age,
    stale_after: Duration,
}

impl Lock {
    /// Takes the lock on `shard` in `out`, which is created if missing; takes it over from a run that is dead.
    ///
    /// # Errors
    /// `Output`: another run has it, or one with another number of shards is at work in the folder; or nothing can be written
    /// there.
    pub fn acquire(out: &Path, shard: Shard, options: &LockOptions) -> Result<Self> {
        Self::acquire_as(Holder::this_process()?, out, shard, options)
    }

    /// The same in the name of a given run: its `run` must be its alone.
    pub fn acquire_as(us: Holder, out: &Path, shard: Shard, options: &LockOptions) -> Result<Self> {
        fs::create_dir_all(out)
            .or_fault(Fault::Output, || format!("{}: the folder cannot be created", display_name(out)))?;
        let path = path_of(out, shard);
        let watch = Watch::new(2 * options.poll);
        loop {
            let Some(busy) = try_acquire(&us, out, shard, options, &watch)? else { break };
            let message = busy.message(out, shard);
            let Some(wait) = options.wait else { fail!(Fault::Output, "{message}; {}", busy.advice()) };
            wait(&message)?;
            thread::sleep(options.poll);
        }
        let lost = Arc::new(AtomicBool::new(false));
        let heart = match start_heart(&path, &us, &lost, options.heartbeat) {
            Ok(heart) => Some(heart),
            Err(error) => {
                release(&path, &us);
                return Err(error);
            }
        };
        Ok(Self { path, us, lost, heart })
    }

    /// Whether the lock is still ours: asked before anything is written that another run may be writing.
    ///
    /// # Errors
    /// `Output`: another run took it over, after this one had been stopped or cut off for too long, or it was removed.
    pub fn check(&self) -> Result<()> {
        let name = display_name(&self.path);
        let found = file::held_by(&self.path).or_fault(Fault::Output, || format!("{name}: cannot be read"))?;
        match found {
            Some(found) if found.run == self.us.run && !self.lost.load(Ordering::Relaxed) => Ok(()),
            Some(found) => fail!(
                Fault::Output,
                "{name}: taken over by {}, as this run gave no sign of life; it stops here, so that one run goes on",
                found.holder.map_or("another run".into(), |holder| holder.name())
            ),
            None => fail!(Fault::Output, "{name}: was removed; this run stops here, as another may have started"),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who this run is to others.
    pub fn holder(&self) -> &Holder {
        &self.us
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some((stop, heart)) = self.heart.take() {
            drop(stop);
            // A heart that panicked has stopped too.
            let _ = heart.join();
        }
        release(&self.path, &self.us);
    }
}

/// Gives back all locks of this process, which is about to end. Nothing may be written under them afterwards.
pub fn release_all() {
    for (path, us) in std::mem::take(&mut *held()) {
        file::give_back(&path, &us);
    }
}

impl Busy {
    fn message(&self, out: &Path, wanted: Shard) -> String {
        let lock = display_name(&path_of(out, self.shard));
        let who = self.holder.as_ref().map_or("a run that has just started".into(), Holder::name);
        let sign = match self.age {
            Age::Ahead(ahead) if ahead > AHEAD => format!("whose last sign of life is dated {}", holder::ahead(ahead)),
            Age::Ahead(_) => format!("whose last sign of life was {}", holder::ago(Duration::ZERO)),
            Age::Ago(age) => format!("whose last sign of life was {}", holder::ago(age)),
        };
        let busy = format!("{lock}: shard {} is being worked on by {who}, {sign}", self.shard);
        if self.shard == wanted {
            return busy;
        }
        format!("{busy}, and shards by {} and by {} do not go together", self.shard.count(), wanted.count())
    }

    /// What to do about it.
    fn advice(&self) -> String {
        let seconds = self.stale_after.as_secs();
        format!(
            "wait for it to end with --wait, or name another output folder; if that run is dead, --wait finds out within {seconds} \
             seconds"
        )
    }
}

fn path_of(out: &Path, shard: Shard) -> PathBuf {
    out.join(format!("{PREFIX}{}", shard.label()))
}

/// One attempt; none where the lock is ours.
fn try_acquire(us: &Holder, out: &Path, shard: Shard, options: &LockOptions, watch: &Watch) -> Result<Option<Busy>> {
    let judge = Judge { us, stale_after: options.stale_after, watch };
    // Asked before too, so that a run that must not start keeps none of those that may from starting.
    if let Some(busy) = divides_differently(&judge, out, shard)? {
        return Ok(Some(busy));
    }
    let path = path_of(out, shard);
    if let Taken::ByOther(holder, age) = judge.take(&path)? {
        return Ok(Some(Busy { shard, holder, age, stale_after: options.stale_after }));
    }
    held().push((path.clone(), us.clone()));
    // Of two runs that divide the folder differently, each has its lock now: at least one sees the other.
    let busy = divides_differently(&judge, out, shard);
    if !matches!(busy, Ok(None)) {
        release(&path, us);
    }
    busy
}

/// A live run with another number of shards. Locks of dead ones are removed on the way.
fn divides_differently(judge: &Judge, out: &Path, shard: Shard) -> Result<Option<Busy>> {
    let cannot = || format!("{}: cannot be read", display_name(out));
    for entry in fs::read_dir(out).or_fault(Fault::Output, cannot)? {
        let name = entry.or_fault(Fault::Output, cannot)?.file_name();
        let label = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(other) = label.and_then(Shard::from_label).filter(|other| other.count() != shard.count()) else {
            continue;
        };
        let path = out.join(&name);
        match judge.take(&path)? {
            Taken::ByUs => file::give_back(&path, judge.us),
            Taken::ByOther(holder, age) => {
                return Ok(Some(Busy { shard: other, holder, age, stale_after: judge.stale_after }))
            }
        }
    }
    Ok(None)
}

fn start_heart(
    path: &Path,
    us: &Holder,
    lost: &Arc<AtomicBool>,
    interval: Duration,
) -> Result<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel();
    let (path, us, lost) = (path.to_owned(), us.clone(), Arc::clone(lost));
    let beat = move || {
        while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            // A file server that does not answer may answer the next time.
            if matches!(file::beat(&path, &us), Ok(false)) {
                lost.store(true, Ordering::Relaxed);
                return;
            }
        }
    };
    let heart = thread::Builder::new().name("lock".into()).spawn(beat);
    Ok((stop, heart.map_err(|e| Error::from_source(Fault::Internal, e).context("starting the lock's thread"))?))
}

fn release(path: &Path, us: &Holder) {
    let mut held = held();
    // Not in the list: `release_all` has done it.
    if held.iter().any(|(listed, holder)| listed == path && holder == us) {
        held.retain(|(listed, holder)| listed != path || holder != us);
        file::give_back(path, us);
    }
}

fn held() -> MutexGuard<'static, Vec<(PathBuf, Holder)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
