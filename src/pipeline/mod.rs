//! One C1 output to one verified proof.

pub mod available;
pub mod budget;
pub mod device;
pub mod job;
pub mod output;
pub mod parameters;
pub mod proof_file;
pub mod run;
pub mod stages;
pub mod stop;

use bellperson::groth16::Proof;
use blstrs::Bls12;

use crate::backend::Backend;
use crate::circuit::{PoRep, Statement, VanillaProofs};
use crate::error::Result;
use crate::report::{Progress, Timings, Unit};
use crate::srs::Srs;
use crate::witness::Sizes;

/// Everything that proofs of one type share.
pub struct Prover<'a> {
    pub porep: &'a PoRep,
    pub srs: &'a Srs,
    pub backend: &'a dyn Backend,
    pub timings: &'a Timings,
    pub progress: &'a Progress,
}

impl Prover<'_> {
    /// Proves every partition, one after another so that only one assignment is in memory, and verifies them together.
    /// Returns the partitions' proofs in Filecoin's encoding: 192 bytes each, in partition order.
    ///
    /// # Errors
    /// `Unverified` where a finished proof does not verify: it is dropped here and seen by nobody. `Parameters` where the file
    /// was written into meanwhile.
    pub fn prove(&self, statement: &Statement, vanilla: &VanillaProofs) -> Result<Vec<u8>> {
        let partitions = self.porep.partitions();
        let task = self.progress.task("proving", partitions as u64, Unit::Partitions);
        let mut proofs = Vec::with_capacity(partitions);
        for k in 0..partitions {
            proofs.push(self.prove_partition(statement, vanilla, k)?);
            task.advance(1);
        }
        task.finish();
        self.srs.unchanged()?;
        stages::verification(self.porep, self.srs.vk(), statement, &proofs, self.timings)?;
        stages::encode(&proofs)
    }

    fn prove_partition(&self, statement: &Statement, vanilla: &VanillaProofs, k: usize) -> Result<Proof<Bls12>> {
        let circuit = stages::circuit(self.porep, statement, vanilla, k, self.timings)?;
        let assignment = stages::synthesis(circuit, Sizes::default(), k, self.timings)?;
        stages::proof(self.backend, self.srs, assignment, k, self.timings)
    }
}
