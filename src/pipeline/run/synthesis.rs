//! The middle stages: circuits are built one by one, and synthesized on the pool.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::Arc;

use blstrs::Scalar as Fr;
use rayon::Scope;

use super::{Held, Loaded, Numbers, Ready, Report, Run};
use crate::circuit::VanillaProofs;
use crate::error::Result;
use crate::pipeline::budget::{Budget, Order, Reservation};
use crate::pipeline::compiled::{Compiled, Values};
use crate::pipeline::job::File;
use crate::pipeline::stages;
use crate::report::spans::{Activity, Lane, Stage};

const LANE: Lane = Lane { stage: Stage::Circuit, worker: 0 };

/// A partition's public inputs without ONE, and its values; None where no device computes with a witness.
type Built = (Vec<Fr>, Option<Values>);

impl Run<'_> {
    pub(super) fn synthesize_all(
        &self,
        files: Receiver<Loaded>,
        places: &Arc<Budget>,
        ready: SyncSender<Ready>,
        report: SyncSender<Report>,
    ) {
        let numbers = Numbers::default();
        // Memory of the devices beside assignments: grows to what the largest circuit so far needs.
        let mut workspace: Vec<Reservation> = Vec::new();
        self.synthesis.in_place_scope(|scope| {
            while let Some(Loaded { file, vanilla, memory }) = self.receive(LANE, &files) {
                self.recorder.dequeue(Stage::Circuit);
                let order = Order { job: file.job.index, partition: None };
                let held: u64 = workspace.iter().map(Reservation::bytes).sum();
                let more = self.workspace(&file).saturating_sub(held);
                workspace.extend(self.reserve(LANE, &self.budget, more, 0, order));
                let mut unsatisfied = self.check_witnesses(&file, &vanilla, places, &numbers);
                for partition in 0..file.opened.porep.partitions() {
                    let begun = match unsatisfied.take_if(|(k, _)| *k == partition) {
                        Some((_, error)) => Err(error),
                        None => self.begin_partition(&file, &vanilla, partition, places),
                    };
                    match begun {
                        Ok(Some((built, held))) => {
                            let (ready, report) = (ready.clone(), report.clone());
                            self.spawn(scope, &numbers, file.clone(), partition, built, held, ready, report);
                        }
                        other => self.report(&report, &file, partition, other.map(|_| None)),
                    }
                }
                // The last circuit holds its own copy of what it needs.
                drop((vanilla, memory));
            }
        });
    }

    /// Waits for memory and a place, and builds the circuit. None when it is not worth it any more.
    fn begin_partition(
        &self,
        file: &Arc<File>,
        vanilla: &VanillaProofs,
        partition: usize,
        places: &Arc<Budget>,
    ) -> Result<Option<(Built, Held)>> {
        let Some(held) = self.hold(file, partition, file.witness_bytes(), places) else {
            return Ok(None);
        };
        file.check_deadline("its circuit was built")?;
        let _working = self.work(LANE, file, partition);
        let built = self.contained(Stage::Circuit, &file.job, || self.build(file, vanilla, partition))?;
        Ok(Some((built, held)))
    }

    /// Waits for a place and for memory. None when the file is not worth it any more.
    pub(super) fn hold(&self, file: &File, partition: usize, bytes: u64, places: &Arc<Budget>) -> Option<Held> {
        let order = Order { job: file.job.index, partition: Some(partition) };
        if self.is_over(file) {
            return None;
        }
        let place = {
            let _waiting = self.recorder.begin(LANE, Activity::AwaitsOutput);
            places.reserve(1, 0, order, self.stop)
        };
        let memory = self.reserve(LANE, &self.budget, bytes, 0, order);
        let held = Held { _memory: memory?, _place: place? };
        (!self.is_over(file)).then_some(held)
    }

    fn build(&self, file: &File, vanilla: &VanillaProofs, partition: usize) -> Result<Built> {
        let porep = &file.opened.porep;
        let inputs = porep.public_inputs(&file.statement, partition)?;
        let values = |compiled: &Arc<Compiled>| {
            stages::circuit(porep, compiled, &file.statement, vanilla, partition, file.timings())
        };
        Ok((inputs, file.compiled.as_ref().map(values).transpose()?))
    }

    #[allow(clippy::too_many_arguments)] // Everything that the task takes with it.
    fn spawn<'scope>(
        &'scope self,
        scope: &Scope<'scope>,
        numbers: &'scope Numbers,
        file: Arc<File>,
        partition: usize,
        (inputs, values): Built,
        held: Held,
        ready: SyncSender<Ready>,
        report: SyncSender<Report>,
    ) {
        self.recorder.enqueue(Stage::Synthesis);
        scope.spawn(move |_| {
            self.recorder.dequeue(Stage::Synthesis);
            if self.is_over(&file) {
                return self.report(&report, &file, partition, Ok(None));
            }
            let number = numbers.take();
            let witness = {
                let _working = self.work(Lane { stage: Stage::Synthesis, worker: number }, &file, partition);
                self.contained(Stage::Synthesis, &file.job, || {
                    file.check_deadline("its synthesis began")?;
                    let Some((values, compiled)) = values.zip(file.compiled.as_ref()) else { return Ok(None) };
                    stages::synthesis(compiled, values, partition, file.timings()).map(Some)
                })
            };
            numbers.give_back(number);
            match witness {
                Ok(witness) => {
                    let item = Ready { file, partition, inputs, witness, held };
                    self.recorder.enqueue(Stage::Device);
                    if let Err(unsent) = ready.send(item) {
                        // No device is left; their stage says why.
                        self.report(&report, &unsent.0.file, partition, Ok(None));
                    }
                }
                Err(error) => self.report(&report, &file, partition, Err(error)),
            }
        });
    }
}
