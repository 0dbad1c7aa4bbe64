//! The devices' stage: one worker each, which takes whatever partition is ready first.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Proved, Ready, Report, Run};
use crate::error::Result;
use crate::pipeline::clock::Working;
use crate::pipeline::device::Device;
use crate::pipeline::job::File;
use crate::report::spans::{Activity, Lane, Running, Stage};

impl Run<'_> {
    pub(super) fn work_on_device(
        &self,
        worker: usize,
        device: &Device,
        queue: &Mutex<Receiver<Ready>>,
        report: SyncSender<Report>,
    ) {
        let lane = Lane { stage: Stage::Device, worker };
        loop {
            let next = {
                let _waiting = self.recorder.begin(lane, Activity::AwaitsInput);
                queue.lock().unwrap_or_else(PoisonError::into_inner).recv()
            };
            let Ok(Ready { file, partition, inputs, witness, held: _held }) = next else {
                return;
            };
            self.recorder.dequeue(Stage::Device);
            if self.is_over(&file) {
                self.report(&report, &file, partition, Ok(None));
                continue;
            }
            let proved = {
                let _working = self.work(lane, &file, partition);
                self.contained(Stage::Device, &file.job, || {
                    file.check_deadline("its device began")?;
                    let result = device.prove(&file, witness, &inputs)?;
                    Ok(Some(Proved { result, inputs }))
                })
            };
            self.report(&report, &file, partition, proved);
        }
    }

    /// Begins work on a partition: it is shown, and counts against the file's deadline.
    pub(super) fn work<'a>(&'a self, lane: Lane, file: &'a File, partition: usize) -> (Running<'a>, Working<'a>) {
        let shown = self.recorder.begin(lane, Activity::Work { job: file.job.index, partition: Some(partition) });
        (shown, file.begun.clock.work())
    }

    /// Is there no use in working on this file any more?
    pub(super) fn is_over(&self, file: &File) -> bool {
        self.stop.is_requested() || file.has_failed()
    }

    /// Tells the last stages what became of a partition.
    pub(super) fn report(
        &self,
        report: &SyncSender<Report>,
        file: &Arc<File>,
        partition: usize,
        result: Result<Option<Proved>>,
    ) {
        let result = result.map_err(|e| e.context(format!("{}: partition {partition}", file.job.name)));
        if result.is_err() {
            file.fail();
        }
        // The receiver outlives every sender.
        let _ = report.send(Report::Partition { file: file.clone(), partition, result });
    }
}
