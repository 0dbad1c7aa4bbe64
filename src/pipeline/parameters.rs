//! Parameters for one proof: official ones are looked up, development ones made on first use, and never the one for the other.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::output::Litter;
use crate::circuit::PoRep;
use crate::error::{Fault, Result};
use crate::fail;
use crate::report::{Progress, Task, Unit};
use crate::srs::generate::{generate, Request};
use crate::srs::progress::{self, Stage};
use crate::srs::{self, Lookup, OpenedVk, Origin, Srs};

/// Bytes of the largest sector that development parameters are made for: those of 32 GiB take 45 GiB.
const LARGEST_DEVELOPMENT: u64 = 512 << 20;

/// Which parameters to use.
#[derive(Clone, Debug)]
pub struct Source {
    pub lookup: Lookup,
    /// Development parameters, generated where there are none.
    pub development: bool,
    /// The file that remembers digests; `None` to remember nothing.
    pub verdicts: Option<PathBuf>,
}

impl Source {
    /// Maps and checks the parameters of `porep`'s circuit; the small verifying key first, the large file's digest last.
    ///
    /// # Errors
    /// `Parameters`: missing, damaged, of another circuit, or development ones where official ones are meant or the other way.
    pub fn open(&self, porep: &PoRep, progress: &Progress) -> Result<Srs> {
        if self.development {
            ensure_development(&self.lookup.folder, &self.lookup.folder_source, porep, progress)?;
        }
        self.verifying_key(porep)?;
        let meter = Meter::new(progress);
        srs::open(&porep.identity(), &self.lookup, self.verdicts.as_deref(), &|event| meter.report(event))
    }

    /// The verifying key alone: all that verification needs. Nothing is generated.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn verifying_key(&self, porep: &PoRep) -> Result<OpenedVk> {
        let key = srs::open_vk(&porep.identity(), &self.lookup)?;
        match (key.origin, self.development) {
            (Origin::Development, false) => fail!(
                Fault::Parameters,
                "{}: a development parameter file; proofs made with it prove nothing. Pass --dev-params to use it anyway, or name \
                 a folder of official parameters with --params",
                key.path.display()
            ),
            (Origin::Official, true) => fail!(
                Fault::Parameters,
                "{}: an official parameter file; leave out --dev-params to use it, or name a folder of development parameters \
                 with --params",
                key.path.display()
            ),
            _ => Ok(key),
        }
    }
}

/// Generates the development parameters of `porep`'s circuit in `folder`, unless they are there; the .params file's path.
/// `folder_source` says where the folder's path came from.
///
/// # Errors
/// `Usage`: the sector is no test sector, or the folder holds other parameters and is not marked. `Output`: it cannot be
/// written.
pub fn ensure_development(folder: &Path, folder_source: &str, porep: &PoRep, progress: &Progress) -> Result<PathBuf> {
    let identity = porep.identity();
    let path = folder.join(&identity.params);
    if path.is_file() && folder.join(&identity.vk).is_file() {
        return Ok(path);
    }
    if porep.sector_bytes() > LARGEST_DEVELOPMENT {
        fail!(
            Fault::Usage,
            "development parameters are for test sectors of 2KiB, 8MiB and 512MiB; {:?} needs the official ones: fetch them with \
             `lotus fetch-params`, and name their folder with --params",
            porep.proof()
        );
    }
    let request =
        Request { identity: &identity, sector_bytes: porep.sector_bytes(), folder, folder_source, seed: None };
    let (meter, litter) = (Meter::new(progress), OnceLock::new());
    let report = |event: progress::Progress| {
        // Whoever records holds the lock: the temporaries in the folder are this process's own from here on.
        if matches!(event, progress::Progress::Work { stage: Stage::Recording, .. }) {
            litter.get_or_init(|| Litter::declare(folder, &identity));
        }
        meter.report(event);
    };
    Ok(generate(&request, porep.blank(), &report)?.path)
}

/// Shows what long work on parameter files reports: a task for each stage that counts something, a line for the others.
pub struct Meter<'a> {
    progress: &'a Progress,
    current: Mutex<Option<Running>>,
}

struct Running {
    stage: Stage,
    /// None where the stage counts nothing.
    task: Option<Task>,
    shown: u64,
}

impl<'a> Meter<'a> {
    pub fn new(progress: &'a Progress) -> Self {
        Self { progress, current: Mutex::new(None) }
    }

    /// Takes one event; from any thread.
    pub fn report(&self, event: progress::Progress) {
        let (stage, done, total) = match event {
            progress::Progress::Note(note) => return self.progress.note(&note),
            progress::Progress::Work { stage, done, total } => (stage, done, total),
        };
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_none_or(|running| running.stage != stage) {
            *current = Some(self.start(stage, total));
        }
        if let Some(Running { task: task @ Some(_), shown, .. }) = current.as_mut() {
            // Reports of several threads may overtake each other: what is done never shrinks.
            task.iter().for_each(|task| task.advance(done.saturating_sub(*shown)));
            *shown = done.max(*shown);
            if total > 0 && done >= total {
                task.take().into_iter().for_each(Task::finish);
            }
        }
    }

    fn start(&self, stage: Stage, total: u64) -> Running {
        let task = unit(stage).map(|unit| self.progress.task(stage.label(), total, unit));
        if task.is_none() {
            self.progress.note(stage.label());
        }
        Running { stage, task, shown: 0 }
    }
}

fn unit(stage: Stage) -> Option<Unit> {
    match stage {
        Stage::Hashing => Some(Unit::Bytes),
        Stage::Points => Some(Unit::Points),
        Stage::Generating => Some(Unit::Additions),
        Stage::Waiting | Stage::Recording => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_stage_is_said_once_and_each_total_reached_once() {
        let lines = Lines::default();
        let progress = Progress::lines_to(Box::new(lines.clone()), Duration::from_secs(3600));
        let meter = Meter::new(&progress);
        let work = |stage, done, total| meter.report(progress::Progress::Work { stage, done, total });
        work(Stage::Recording, 0, 0);
        // Out of order, as threads report; the end comes before a late report.
        for done in [0, 5, 3, 10, 9] {
            work(Stage::Hashing, done, 10);
        }
        meter.report(progress::Progress::Note("a note".into()));
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let starts: Vec<_> = text.lines().map(|line| line.split(" in ").next().unwrap()).collect();
        assert_eq!(
            starts,
            ["recording the circuit", "hashing parameters: 10 B", "hashing parameters: 10 B", "a note"],
            "{text}"
        );
    }
}
