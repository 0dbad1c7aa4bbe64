//! The check of a file's witnesses, where it is asked for: all of them, before the first one goes to a device.
//!
//! They are made once more for their proofs. That takes a hundredth of the check's time, and to keep all of them would take the memory
//! of as many partitions.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Numbers, Run};
use crate::circuit::VanillaProofs;
use crate::error::{Error, Result};
use crate::pipeline::budget::Budget;
use crate::pipeline::job::File;
use crate::pipeline::stages;
use crate::report::spans::{Lane, Stage};

/// The lowest partition whose check failed, of those that were checked.
type Failure = Option<(usize, Error)>;

impl Run<'_> {
    /// Checks the witness of each partition, several at a time on the pool; after a failure the rest is left. The file has then failed.
    pub(super) fn check_witnesses(
        &self,
        file: &File,
        vanilla: &VanillaProofs,
        places: &Arc<Budget>,
        numbers: &Numbers,
    ) -> Failure {
        if !self.check_witness {
            return None;
        }
        let failure = Mutex::new(None);
        self.synthesis.in_place_scope(|scope| {
            for partition in 0..file.opened.porep.partitions() {
                let Some(held) = self.hold(file, partition, file.check_bytes(), places) else { break };
                let failure = &failure;
                scope.spawn(move |_| {
                    let _held = held;
                    if let Err(error) = self.check_partition(file, vanilla, partition, numbers) {
                        file.fail();
                        keep_lowest(&mut failure.lock().unwrap_or_else(PoisonError::into_inner), (partition, error));
                    }
                });
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_partition(&self, file: &File, vanilla: &VanillaProofs, k: usize, numbers: &Numbers) -> Result<()> {
        let Some(compiled) = file.compiled.as_ref().filter(|_| !self.is_over(file)) else { return Ok(()) };
        let number = numbers.take();
        let checked = {
            let _working = self.work(Lane { stage: Stage::Synthesis, worker: number }, file, k);
            self.contained(Stage::Synthesis, &file.job, || {
                file.check_deadline("its witness was checked")?;
                stages::witness_check(&file.opened.porep, compiled, &file.statement, vanilla, k, file.timings())
            })
        };
        numbers.give_back(number);
        checked
    }
}

fn keep_lowest(kept: &mut Failure, failure: (usize, Error)) {
    if kept.as_ref().is_none_or(|(lowest, _)| failure.0 < *lowest) {
        *kept = Some(failure);
    }
}
