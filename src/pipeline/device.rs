//! What proves a partition: a backend with threads of its own, or the simulator.

use std::time::Duration;

use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar as Fr};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::backend::cpu::CpuBackend;
use crate::backend::Backend;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::groth16::{self, simulate::simulate, simulate::Trapdoor, Blinding, Sums};
use crate::report::Timings;
use crate::srs::{generate::ToxicWaste, Origin, Srs};
use crate::witness::{Assignment, Sizes};

/// Memory of a sum that does not depend on the circuit: decoded points, index lists, buckets. Counted for the largest
/// windows of G2; 160 MB were seen.
const SUM_BYTES: u64 = 256 << 20;

/// A device of the pipeline; each has one worker.
pub enum Device {
    /// Quotient and sums on a backend. Its threads are its own: synthesis of the next partitions must not take them.
    Backend { backend: Box<dyn Backend>, threads: ThreadPool },
    /// Proofs from the public secrets of development parameters, each after `delay`: rehearses a run. Circuits are
    /// synthesized for it where asked for, as for a real device.
    Simulator { delay: Duration, synthesis: bool },
}

/// What a device makes of a partition.
pub enum PartitionResult {
    Sums(Box<Sums>),
    Proof(Box<Proof<Bls12>>),
}

impl Device {
    /// The host's cores.
    ///
    /// # Errors
    /// When the system starts no more threads.
    pub fn cpu(threads: usize) -> Result<Self> {
        let threads = pool("cpu", threads)?;
        Ok(Self::Backend { backend: Box::new(CpuBackend), threads })
    }

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Self::Backend { backend, threads } => threads.install(|| backend.name()),
            Self::Simulator { delay, .. } => format!("simulator ({} s)", delay.as_secs_f64()),
        }
    }

    /// Does it look at the assignment? If not, no circuit is synthesized for it.
    pub fn needs_assignment(&self) -> bool {
        match self {
            Self::Backend { .. } => true,
            Self::Simulator { synthesis, .. } => *synthesis,
        }
    }

    /// Bytes it needs beside the assignment: the third vector of the domain and the roots during the quotient.
    pub fn workspace_bytes(&self, sizes: &Sizes) -> u64 {
        match self {
            Self::Backend { .. } => 48 * sizes.domain as u64 + SUM_BYTES,
            Self::Simulator { .. } => 0,
        }
    }

    /// Bytes that a partition still holds beside the workspace when its rows are gone: aux, a query's scalars and h,
    /// less the vectors of the workspace that are free again.
    pub fn bytes_after_quotient(&self, sizes: &Sizes) -> u64 {
        let aux = sizes.aux as u64 * 32;
        (2 * aux).saturating_sub(16 * sizes.domain as u64).max(aux)
    }

    /// Proves one partition: `inputs` are its public inputs without ONE. `rows_freed` as in [`groth16::sums`].
    ///
    /// # Errors
    /// The backend's failures; parameters of another circuit; parameters that are not development ones, for the simulator.
    pub fn prove(
        &self,
        srs: &Srs,
        circuit: &str,
        assignment: Option<Assignment>,
        inputs: &[Fr],
        timings: &Timings,
        rows_freed: impl FnOnce() + Send,
    ) -> Result<PartitionResult> {
        match (self, assignment) {
            (Self::Backend { backend, threads }, Some(assignment)) => threads
                .install(|| groth16::sums(backend.as_ref(), srs, assignment, timings, rows_freed))
                .map(|sums| PartitionResult::Sums(Box::new(sums))),
            (Self::Backend { .. }, None) => fail!(Fault::Internal, "no assignment for a device that needs one"),
            (Self::Simulator { delay, .. }, _) => {
                std::thread::sleep(*delay);
                simulated(srs, circuit, inputs).map(|proof| PartitionResult::Proof(Box::new(proof)))
            }
        }
    }
}

fn simulated(srs: &Srs, circuit: &str, inputs: &[Fr]) -> Result<Proof<Bls12>> {
    if srs.origin() != Origin::Development {
        fail!(
            Fault::Usage,
            "{}: the simulator needs development parameters, whose secrets are public; pass --dev-params",
            srs.path().display()
        );
    }
    let ToxicWaste { g1, g2, alpha, beta, gamma, delta, .. } = ToxicWaste::development(circuit, None);
    simulate(srs.vk(), &Trapdoor { g1, g2, alpha, beta, gamma, delta }, inputs, &Blinding::random()?)
}

/// A pool of `threads` threads that bear `name`.
///
/// # Errors
/// When the system starts no more threads.
pub fn pool(name: &'static str, threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(move |i| format!("{name}-{i}"))
        .build()
        .or_fault(Fault::Usage, || format!("{threads} threads could not be started; ask for fewer with --threads"))
}
