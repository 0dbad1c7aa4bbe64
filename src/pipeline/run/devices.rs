//! The devices' stage: one worker each, which takes whatever partition is ready first.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{Proved, Ready, Report, Run};
use crate::error::Result;
use crate::groth16::WitnessSums;
use crate::pipeline::clock::Working;
use crate::pipeline::device::Device;
use crate::pipeline::job::File;
use crate::report::spans::{Activity, Lane, Running, Stage};
use crate::report::DeviceWork;

impl Run<'_> {
    pub(super) fn work_on_device(
        &self,
        worker: usize,
        device: &Device,
        queue: &Mutex<Receiver<Ready>>,
        report: SyncSender<Report>,
    ) {
        let lane = Lane { stage: Stage::Device, worker };
        // One that did not go with those before it.
        let mut next = None;
        loop {
            let partitions = self.take_waiting(lane, device, queue, &mut next);
            if partitions.is_empty() {
                return;
            }
            let sums = self.sum_together(lane, device, &partitions);
            for (ready, sums) in partitions.into_iter().zip(sums) {
                let Ready { file, partition, inputs, witness, held: _held } = ready;
                if self.stop.is_requested() {
                    self.drop_waiting(queue, &mut next, &report);
                }
                // What has its sums is on the device: a stop waits for it.
                if file.has_failed() || (self.stop.is_requested() && sums.is_none()) {
                    self.report(&report, &file, partition, Ok(None));
                    continue;
                }
                let proved = {
                    let _working = self.work(lane, &file, partition);
                    let proved = self.contained(Stage::Device, &file.job, || {
                        file.check_deadline("its device began")?;
                        let result = device.prove(&file, witness, &inputs, sums)?;
                        Ok(Some(Proved { result, inputs }))
                    });
                    // Before its time on the device ends for those who watch.
                    self.recorder.partition(file.job.index, partition, proved.is_ok());
                    proved
                };
                self.take_operations(lane, device, &[&file]);
                self.report(&report, &file, partition, proved);
            }
        }
    }

    /// Gives up the partitions that wait: their files cannot be finished, and what of them is on the device is not worth its time.
    fn drop_waiting(&self, queue: &Mutex<Receiver<Ready>>, next: &mut Option<Ready>, report: &SyncSender<Report>) {
        let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = std::iter::from_fn(|| {
            let ready = queue.try_recv().ok()?;
            self.recorder.dequeue(Stage::Device);
            Some(ready)
        });
        for ready in next.take().into_iter().chain(waiting) {
            self.report(report, &ready.file, ready.partition, Ok(None));
        }
    }

    /// Waits for a partition, and takes those of the same circuit that wait behind it, as many as the device takes together; where
    /// there are several devices, none that another one could take. None when there are no more.
    fn take_waiting(
        &self,
        lane: Lane,
        device: &Device,
        queue: &Mutex<Receiver<Ready>>,
        next: &mut Option<Ready>,
    ) -> Vec<Ready> {
        let most = if self.devices.len() == 1 { device.together() } else { 1 };
        let mut taken: Vec<Ready> = next.take().into_iter().collect();
        let _waiting = self.recorder.begin(lane, Activity::AwaitsInput);
        let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        while taken.len() < most {
            let waiting = if taken.is_empty() { queue.recv().ok() } else { queue.try_recv().ok() };
            let Some(ready) = waiting else { break };
            self.recorder.dequeue(Stage::Device);
            if taken.first().is_some_and(|first| !first.file.has_circuit_of(&ready.file)) {
                *next = Some(ready);
                break;
            }
            taken.push(ready);
        }
        taken
    }

    /// For each partition the sums that it has in common with others. None where they are better made one by one: of a single one, of
    /// one that is not to be worked on any more, and where they fail together, so that each fails or does not by itself.
    fn sum_together(&self, lane: Lane, device: &Device, partitions: &[Ready]) -> Vec<Option<WitnessSums>> {
        let worth = |ready: &Ready| !self.is_over(&ready.file) && ready.file.check_deadline("its sums began").is_ok();
        let places: Vec<usize> =
            (0..partitions.len()).filter(|k| partitions[*k].witness.is_some() && worth(&partitions[*k])).collect();
        let mut of_all = vec![None; partitions.len()];
        if places.len() < 2 {
            return of_all;
        }
        let chosen = || places.iter().map(|k| &partitions[*k]);
        let witnesses: Vec<_> = chosen().filter_map(|r| Some((&*r.file, r.witness.as_ref()?))).collect();
        let sums = {
            let _shown = self.recorder.begin(lane, Activity::Together { partitions: places.len() });
            let start = Instant::now();
            let job = &partitions[places[0]].file.job;
            let sums = self.contained(Stage::Device, job, || device.prove_together(&witnesses));
            // An equal part of the time is work on each file.
            let part = start.elapsed() / places.len() as u32;
            chosen().for_each(|ready| ready.file.begun.clock.add(part));
            self.take_operations(lane, device, &chosen().map(|ready| &*ready.file).collect::<Vec<_>>());
            sums
        };
        for (k, sums) in places.iter().zip(sums.ok().flatten().unwrap_or_default()) {
            of_all[*k] = Some(sums);
        }
        of_all
    }

    /// Records what the device has timed itself, an equal part of it for the file of each partition.
    fn take_operations(&self, lane: Lane, device: &Device, of: &[&File]) {
        let streams = device.take_operations();
        self.recorder.operations(lane.worker, &streams);
        let work = DeviceWork::of(streams.iter().flatten());
        of.iter().enumerate().for_each(|(k, file)| file.timings().add_device_work(&work.part(k, of.len())));
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
        // Without this one, the others are not worth their time.
        if !matches!(result, Ok(Some(_))) {
            file.fail();
        }
        // The receiver outlives every sender.
        let _ = report.send(Report::Partition { file: file.clone(), partition, result });
    }
}
