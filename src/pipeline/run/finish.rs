//! The last stages: a file's partitions are counted, assembled and verified, and its proof is written.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::Arc;
use std::time::Instant;

use super::{Proved, Report, Run};
use crate::error::{Error, Result};
use crate::groth16::{self, Blinding};
use crate::pipeline::device::PartitionResult;
use crate::pipeline::job::{Begun, Ended, Ending, File, Job};
use crate::pipeline::stages;
use crate::report::spans::{Activity, Lane, Stage};
use crate::report::{Phase, Timings};

/// A file whose partitions are coming in.
struct Pending {
    file: Arc<File>,
    proofs: Vec<Option<Proved>>,
    /// The failure of the lowest partition that failed.
    error: Option<(usize, Error)>,
    missing: usize,
}

/// A file on its way to the writer: verified, or at its end.
pub(super) enum Finished {
    Verified(Arc<File>, Vec<u8>),
    Ended(Arc<File>, Ending),
    Unread { job: Job, content: Option<String>, begun: Arc<Begun>, ending: Ending },
}

impl Run<'_> {
    pub(super) fn finish_files(&self, reports: Receiver<Report>, finished: SyncSender<Finished>) {
        let lane = Lane { stage: Stage::Assembly, worker: 0 };
        let mut pending: HashMap<usize, Pending> = HashMap::new();
        while let Some(report) = self.receive(lane, &reports) {
            let done = match report {
                Report::Ended { job, content, begun, ending } => Finished::Unread { job, content, begun, ending },
                Report::Partition { file, partition, result } => {
                    let job = file.job.index;
                    let entry = pending.entry(job).or_insert_with(|| Pending::new(file));
                    entry.take(partition, result);
                    if entry.missing > 0 {
                        continue;
                    }
                    match pending.remove(&job) {
                        Some(complete) => self.finish_file(lane, complete),
                        None => continue,
                    }
                }
            };
            let _waiting = self.recorder.begin(lane, Activity::AwaitsOutput);
            self.recorder.enqueue(Stage::Write);
            // The writer outlives this stage.
            let _ = finished.send(done);
        }
    }

    fn finish_file(&self, lane: Lane, complete: Pending) -> Finished {
        let Pending { file, proofs, error, .. } = complete;
        if let Some((_, error)) = error {
            return Finished::Ended(file, Ending::Failed(error));
        }
        let Some(proofs) = proofs.into_iter().collect::<Option<Vec<Proved>>>() else {
            return Finished::Ended(file, Ending::Unfinished);
        };
        let _working = self.recorder.begin(lane, Activity::Work { job: file.job.index, partition: None });
        // The device's work may have ended too late, and this here may.
        let in_time = || {
            file.check_deadline("its proof was assembled")?;
            let _counted = file.begun.clock.work();
            let proof = assemble_and_verify(&file, proofs)?;
            file.check_deadline("its proof was written")?;
            Ok(proof)
        };
        match self.contained(Stage::Assembly, &file.job, in_time) {
            Ok(proof) => Finished::Verified(file, proof),
            Err(error) => {
                let error = error.context(file.job.name.clone());
                Finished::Ended(file, Ending::Failed(error))
            }
        }
    }

    pub(super) fn write_files(&self, files: Receiver<Finished>) {
        let lane = Lane { stage: Stage::Write, worker: 0 };
        while let Some(finished) = self.receive(lane, &files) {
            self.recorder.dequeue(Stage::Write);
            match finished {
                Finished::Verified(file, proof) => {
                    let working = self.recorder.begin(lane, Activity::Work { job: file.job.index, partition: None });
                    let start = Instant::now();
                    let delivered = self.contained(Stage::Write, &file.job, || self.desk.deliver(&file, proof));
                    let bytes = delivered.as_ref().map_or(0, |delivered| delivered.bytes);
                    file.timings().add(Phase::Write, start.elapsed(), bytes);
                    let ending = match delivered {
                        Ok(delivered) => Ending::Proved(delivered.place),
                        Err(error) => Ending::Failed(error.context(file.job.name.clone())),
                    };
                    drop(working);
                    self.end(&file, ending);
                }
                Finished::Ended(file, ending) => self.end(&file, ending),
                Finished::Unread { job, content, begun, ending } => self.desk.ended(Ended {
                    job: &job,
                    ending,
                    content: content.as_deref(),
                    proof_type: None,
                    partitions: 0,
                    timings: &begun.timings,
                    wall: begun.started.elapsed(),
                }),
            }
        }
    }

    fn end(&self, file: &File, ending: Ending) {
        self.desk.ended(Ended {
            job: &file.job,
            ending,
            content: Some(&file.content),
            proof_type: Some(file.statement.proof),
            partitions: file.opened.porep.partitions(),
            timings: file.timings(),
            wall: file.begun.started.elapsed(),
        });
    }
}

impl Pending {
    fn new(file: Arc<File>) -> Self {
        let missing = file.opened.porep.partitions();
        Self { file, proofs: (0..missing).map(|_| None).collect(), error: None, missing }
    }

    fn take(&mut self, partition: usize, result: Result<Option<Proved>>) {
        self.missing -= 1;
        match result {
            Ok(proved) => self.proofs[partition] = proved,
            Err(error) => {
                if self.error.as_ref().is_none_or(|(lowest, _)| partition < *lowest) {
                    self.error = Some((partition, error));
                }
            }
        }
    }
}

/// The file's proof in Filecoin's encoding; an error if any partition's does not verify.
fn assemble_and_verify(file: &File, proved: Vec<Proved>) -> Result<Vec<u8>> {
    let (srs, timings): (_, &Timings) = (&file.opened.srs, file.timings());
    let mut proofs = Vec::with_capacity(proved.len());
    let mut inputs = Vec::with_capacity(proved.len());
    for Proved { result, inputs: of_partition } in proved {
        proofs.push(match result {
            PartitionResult::Proof(proof) => *proof,
            PartitionResult::Sums(sums) => {
                let blinding = Blinding::random()?;
                timings.time(Phase::Assembly, 1, || groth16::assemble(srs.vk(), &sums, &blinding))
            }
        });
        inputs.push(of_partition);
    }
    srs.unchanged()?;
    let verify = || groth16::check_proofs(srs.vk(), &proofs, &inputs);
    timings.time(Phase::Verification, proofs.len() as u64, verify).map_err(|error| file.doubt(error))?;
    stages::encode(&proofs)
}
