//! The first stage: files are read, recognised, checked, and their parameters opened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::Arc;
use std::time::Instant;

use super::parameters::Shared;
use super::{Loaded, Report, Run};
use crate::c1::{self, content_hash};
use crate::error::{Error, Fault, Result};
use crate::fail;
use crate::pipeline::budget::{Order, Reservation};
use crate::pipeline::device::Device;
use crate::pipeline::job::{Begun, Ending, File, Job, Triage};
use crate::report::spans::{Activity, Lane, Stage};
use crate::report::units::bytes;
use crate::report::Phase;

const LANE: Lane = Lane { stage: Stage::Read, worker: 0 };

/// What reading a file takes besides its bytes, as a multiple of them: the parsed form, and the typed one made of it.
const PARSED: u64 = 2;
/// Reading takes this much whatever the file's size.
const READ_BYTES: u64 = 4 << 20;

/// What came of a file.
enum Read {
    Loaded(Arc<File>, Box<c1::C1>),
    Ended(Ending),
}

impl Run<'_> {
    pub(super) fn read_all(
        &self,
        jobs: Vec<Job>,
        parameters: &Shared<'_>,
        loaded: SyncSender<Loaded>,
        report: SyncSender<Report>,
    ) {
        // The largest partition that was met: what a file that is read ahead must leave free.
        let largest = AtomicU64::new(0);
        for job in jobs {
            let begun = Arc::new(Begun::now(self.deadline));
            let end = |content, ending| {
                // The receiver outlives every sender.
                let _ = report.send(Report::Ended { job: job.clone(), content, begun: begun.clone(), ending });
            };
            let order = Order { job: job.index, partition: None };
            let wanted = (1 + PARSED) * job.bytes + READ_BYTES;
            if wanted > self.budget.total() {
                let (need, have) = (bytes(wanted), bytes(self.budget.total()));
                let more = mebibytes(wanted - self.budget.total());
                let message = format!(
                    "{}: reading it takes {need}, and the budget (--memory, less what cuzk itself takes) has {have}; raise \
                     --memory by {more}",
                    job.name
                );
                end(None, Ending::Failed(Error::new(Fault::Usage, message)));
                continue;
            }
            let keep = largest.load(Ordering::Relaxed).min(self.budget.total() - wanted);
            let Some(mut memory) = self.reserve(LANE, &self.budget, wanted, keep, order) else {
                end(None, Ending::Unfinished);
                continue;
            };
            let mut content = None;
            let read = {
                let _working = self.recorder.begin(LANE, Activity::Work { job: job.index, partition: None });
                let _counted = begun.clock.work();
                let read = || self.read_one(&job, parameters, &begun, &mut content, &memory);
                self.contained(Stage::Read, &job, read)
            };
            match read {
                Ok(Read::Loaded(file, c1)) => {
                    memory.shrink_to(PARSED * job.bytes);
                    largest.fetch_max(self.partition_bytes(&file), Ordering::Relaxed);
                    let _waiting = self.recorder.begin(LANE, Activity::AwaitsOutput);
                    self.recorder.enqueue(Stage::Circuit);
                    let _ = loaded.send(Loaded { file, vanilla: c1.vanilla, memory });
                }
                Ok(Read::Ended(ending)) => end(content, ending),
                Err(error) => end(content, Ending::Failed(error)),
            }
        }
    }

    fn read_one(
        &self,
        job: &Job,
        parameters: &Shared<'_>,
        begun: &Arc<Begun>,
        content: &mut Option<String>,
        memory: &Reservation,
    ) -> Result<Read> {
        let start = Instant::now();
        let bytes = self.desk.read(job)?;
        let hash = content_hash(&bytes);
        *content = Some(hash.clone());
        // What all files share is not one file's work.
        let open = |proof| begun.clock.pause(|| parameters.open(proof));
        match self.desk.triage(job, &hash, &bytes, &open)? {
            Triage::Prove => {}
            Triage::Done(proof) => return Ok(Read::Ended(Ending::Skipped(proof))),
            Triage::Elsewhere => return Ok(Read::Ended(Ending::Elsewhere)),
            Triage::Later => return Ok(Read::Ended(Ending::Later)),
        }
        self.recorder.announce(job.index, &job.name, None);
        let length = bytes.len() as u64;
        let c1 = c1::read(&job.name, bytes, &self.options)?;
        begun.timings.add(Phase::Read, start.elapsed(), length);
        if self.check_c1 {
            let porep = parameters.porep(c1.statement.proof)?;
            let challenges = (porep.partitions() * porep.challenges_per_partition()) as u64;
            // On the global pool: on the synthesis pool it would wait for syntheses that run.
            let check = || porep.check_vanilla(&c1.statement, &c1.vanilla);
            begun.timings.time(Phase::Check, challenges, check).map_err(|e| e.context(job.name.clone()))?;
        }
        let start = Instant::now();
        let opened = open(c1.statement.proof)?;
        let compile = || begun.clock.pause(|| parameters.compile(&opened.porep));
        let compiled = self.needs_witness().then(compile).transpose()?;
        begun.timings.add(Phase::Parameters, start.elapsed(), 0);
        self.recorder.announce(job.index, &job.name, Some(opened.porep.partitions()));
        let file = File::new(job.clone(), hash, &c1, (opened, compiled), begun.clone());
        self.check_fits(&file, memory)?;
        Ok(Read::Loaded(Arc::new(file), Box::new(c1)))
    }

    /// # Errors
    /// Not even one partition at a time fits into the budget.
    fn check_fits(&self, file: &File, memory: &Reservation) -> Result<()> {
        let workspace = self.workspace(file);
        let partition = self.partition_bytes(file);
        let need = memory.bytes() + workspace + partition;
        if need > self.budget.total() {
            fail!(
                Fault::Usage,
                "{}: a partition needs {} ({} for its witness{}, {} for the devices' work, {} for the file), and the budget \
                 (--memory, less what cuzk itself takes) has {}; raise --memory by {}",
                file.job.name,
                bytes(need),
                bytes(partition),
                if self.check_witness { " and its check" } else { "" },
                bytes(workspace),
                bytes(memory.bytes()),
                bytes(self.budget.total()),
                mebibytes(need - self.budget.total())
            );
        }
        Ok(())
    }

    /// What all devices need beside the witnesses of their partitions.
    pub(super) fn workspace(&self, file: &File) -> u64 {
        let Some(compiled) = &file.compiled else { return 0 };
        self.devices.iter().map(|d: &Device| d.workspace_bytes(&compiled.circuit)).sum()
    }

    /// The most that a partition takes before its device works on it.
    fn partition_bytes(&self, file: &File) -> u64 {
        if self.check_witness {
            file.check_bytes()
        } else {
            file.witness_bytes()
        }
    }

    /// Is anything done with witnesses?
    fn needs_witness(&self) -> bool {
        self.check_witness || self.devices.iter().any(Device::needs_witness)
    }
}

/// At least so many bytes, as `--memory` takes them.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
