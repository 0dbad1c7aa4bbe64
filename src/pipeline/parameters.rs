//! Parameters for one proof: official ones are looked up, development ones made on first use, and never the one for the other.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::compiled::Compiled;
use crate::backend::bases::Form;
use crate::circuit::proof_type::sector_size_name;
use crate::circuit::PoRep;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::report::{Progress, Task, Unit};
use crate::srs::generate::{generate, Generated, Request};
use crate::srs::prepared::{path_beside, Found};
use crate::srs::progress::{self, Stage};
use crate::srs::{self, Lookup, OpenedVk, Origin, Srs, LARGEST_DEVELOPMENT};

/// Which parameters to use.
#[derive(Clone, Debug)]
pub struct Source {
    pub lookup: Lookup,
    /// Development parameters, generated where there are none.
    pub development: bool,
    /// The file that remembers digests; `None` to remember nothing.
    pub verdicts: Option<PathBuf>,
    /// The folder that keeps circuits' constraints; `None` to take them from the circuit each time.
    pub cache: Option<PathBuf>,
}

impl Source {
    /// Maps and checks the parameters of `porep`'s circuit; the small verifying key first, the large file's digest last.
    ///
    /// # Errors
    /// `Parameters`: missing, damaged, of another circuit, or development ones where official ones are meant or the other way.
    /// Those of [`ensure_development`], where there are no development parameters yet.
    pub fn open(&self, porep: &PoRep, progress: &Progress) -> Result<Srs> {
        if self.development && !self.are_there(porep) {
            if porep.sector_bytes() > LARGEST_DEVELOPMENT {
                fail!(Fault::Usage, "{:?}: {}", porep.proof(), no_development(&sector_size_name(porep.sector_bytes())));
            }
            ensure_development(&self.lookup.folder, &self.lookup.folder_source, porep, progress)?;
        }
        self.verifying_key(porep)?;
        let meter = Meter::new(progress);
        srs::open(&porep.identity(), &self.lookup, self.verdicts.as_deref(), &|event| meter.report(event))
    }

    /// The same for devices that read prepared parameters in `form`: those beside the original are taken, where they are there and belong to
    /// it. What is wrong with them is a warning, and that they are of another form, which a machine beside this one may need, a note.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn open_for(&self, porep: &PoRep, form: Option<Form>, progress: &Progress) -> Result<Srs> {
        let srs = self.open(porep, progress)?;
        let Some(form) = form else { return Ok(srs) };
        let path = path_beside(srs.path());
        Ok(match self.find_prepared(&srs, &path, form, progress) {
            Ok(Found::Nothing) => srs,
            Ok(Found::Prepared(prepared)) => {
                progress.note(&format!("points are read from {}", path.display()));
                srs.with_prepared(*prepared)
            }
            Ok(Found::Other(other)) => {
                progress.note(&format!(
                    "{}: not used: it is for {} arithmetic, and this run computes in {}; `cuzk params prepare` makes one for that",
                    path.display(),
                    other.word(),
                    form.word()
                ));
                srs
            }
            Err(error) => {
                progress.warn(&format!("{error}; the original is used; `cuzk params prepare` makes it anew"));
                srs
            }
        })
    }

    /// What is at `path` in place of parameters prepared from `srs`, checked.
    ///
    /// # Errors
    /// Those of [`Srs::find_prepared`].
    pub fn find_prepared(&self, srs: &Srs, path: &Path, form: Form, progress: &Progress) -> Result<Found> {
        let meter = Meter::new(progress);
        srs.find_prepared(path, form, self.verdicts.as_deref(), self.lookup.recheck, &|event| meter.report(event))
    }

    /// The constraints of `porep`'s circuit, from the cache or from the circuit itself, and the generator of its witnesses.
    ///
    /// # Errors
    /// Those of [`Compiled::new`].
    pub fn compile(&self, porep: &PoRep, progress: &Progress) -> Result<Compiled> {
        Compiled::new(porep, self.cache.as_deref(), progress)
    }

    /// Bytes of the folder's largest parameter file with what is prepared of it, 0 where there is none: the most that a run maps at a time,
    /// as far as that can be told before its files are read.
    pub fn largest_file(&self) -> u64 {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let files = self.files().unwrap_or_default();
        files.iter().map(|path| bytes(path) + bytes(&path_beside(path))).max().unwrap_or(0)
    }

    /// # Errors
    /// `Parameters`: official ones are meant and the folder has none, of whatever circuit, or cannot be read. No file could be
    /// proved.
    pub fn check_folder(&self) -> Result<()> {
        if self.development {
            return Ok(());
        }
        self.check_any()
    }

    /// # Errors
    /// `Parameters`: the folder has no .params file, of whatever circuit, or cannot be read.
    pub fn check_any(&self) -> Result<()> {
        let (folder, source) = (self.lookup.folder.display(), &self.lookup.folder_source);
        let files = self.files().or_fault(Fault::Parameters, || {
            format!(
                "{folder} ({source}): the folder of parameters cannot be read; name a folder that can with --params"
            )
        })?;
        if files.is_empty() {
            let what = if self.lookup.folder.exists() { "no .params files in this folder" } else { "no such folder" };
            fail!(Fault::Parameters, "{folder} ({source}): {what}; {}", self.remedy(None));
        }
        Ok(())
    }

    /// # Errors
    /// `Parameters`: there is no such file of `porep`'s circuit.
    pub fn check_file(&self, porep: &PoRep, name: &str) -> Result<()> {
        let path = self.lookup.folder.join(name);
        if !path.exists() {
            let (path, source) = (path.display(), &self.lookup.folder_source);
            let remedy = self.remedy(Some(porep.sector_bytes()));
            fail!(Fault::Parameters, "{path} ({source}): no such file; {remedy}");
        }
        Ok(())
    }

    /// How the user gets parameters of the kind that is asked for, of a sector size or of any.
    fn remedy(&self, sector_bytes: Option<u64>) -> String {
        match (self.development, sector_bytes) {
            (true, Some(bytes)) if bytes > LARGEST_DEVELOPMENT => no_development(&sector_size_name(bytes)),
            (true, _) => srs::how_to_make(sector_bytes),
            (false, _) => srs::how_to_get(sector_bytes),
        }
    }

    /// The folder's .params files; none where there is no folder.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.lookup.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "params")).collect())
    }

    /// Whether both files are there, sound or not: what is there is checked and never replaced unasked.
    fn are_there(&self, porep: &PoRep) -> bool {
        let identity = porep.identity();
        [identity.params, identity.vk].iter().all(|name| self.lookup.folder.join(name).exists())
    }

    /// The verifying key alone: all that verification needs. Nothing is generated.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn verifying_key(&self, porep: &PoRep) -> Result<OpenedVk> {
        if self.development {
            self.check_file(porep, &porep.identity().vk)?;
        }
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

/// Generates the development parameters of `porep`'s circuit in `folder`, unless they are there.
/// `folder_source` says where the folder's path came from. Of a .params that is there its length is looked at, not its digest:
/// [`Source::open`] does that.
///
/// # Errors
/// `Usage`: the sector is no test sector, or the folder holds parameters and is not marked. `Parameters`: the folder holds a
/// .params file of this name that was not generated. `Output`: the folder cannot be written, or is too small.
pub fn ensure_development(folder: &Path, folder_source: &str, porep: &PoRep, progress: &Progress) -> Result<Generated> {
    let identity = porep.identity();
    if porep.sector_bytes() > LARGEST_DEVELOPMENT {
        let size = sector_size_name(porep.sector_bytes());
        fail!(
            Fault::Usage,
            "development parameters are for test sectors of 2KiB, 8MiB and 512MiB; `lotus fetch-params {size}` fetches the \
             official ones of {size}"
        );
    }
    let request =
        Request { identity: &identity, sector_bytes: porep.sector_bytes(), folder, folder_source, seed: None };
    let meter = Meter::new(progress);
    generate(&request, porep.blank(), &|event| meter.report(event))
}

/// Why a sector of this size cannot be proved with development parameters, and what to do.
fn no_development(size: &str) -> String {
    format!(
        "development parameters, and so --device simulator, are for test sectors of 2KiB, 8MiB and 512MiB; to prove {size} leave \
         out --dev-params, fetch the official parameters with `lotus fetch-params {size}`, and name their folder with --params"
    )
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
        // A file's work begins with a report of nothing done: after anything was done, another file's does.
        if current.as_ref().is_none_or(|running| running.stage != stage || (done == 0 && running.shown > 0)) {
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
        Stage::Points | Stage::Generating | Stage::Preparing => Some(Unit::Points),
        Stage::Waiting | Stage::Recording => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
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
            [
                "recording the circuit for its parameters",
                "hashing parameters: 10 B",
                "hashing parameters: 10 B",
                "a note"
            ],
            "{text}"
        );
    }

    #[test]
    fn the_second_of_two_files_in_a_row_is_shown_like_the_first() {
        let lines = Lines::default();
        let progress = Progress::lines_to(Box::new(lines.clone()), Duration::from_secs(3600));
        let meter = Meter::new(&progress);
        for total in [10, 20] {
            for done in [0, 5, total] {
                meter.report(progress::Progress::Work { stage: Stage::Hashing, done, total });
            }
        }
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let starts: Vec<_> = text.lines().map(|line| line.split(" in ").next().unwrap()).collect();
        let [first, second] = ["hashing parameters: 10 B", "hashing parameters: 20 B"];
        assert_eq!(starts, [first, first, second, second], "{text}");
    }
}
