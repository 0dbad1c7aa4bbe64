//! What proves a partition: a backend with threads of its own, or the simulator.

use std::time::Duration;

use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar as Fr};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::job::File;
use crate::backend::bases::Form;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaBackend;
use crate::backend::Backend;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::gpu::Gpu;
use crate::groth16::{self, simulate::simulate, simulate::Trapdoor, Blinding, Circuit, Sums, WitnessSums};
use crate::report::{Operation, Phase};
use crate::srs::{generate::ToxicWaste, Origin, Srs};
use crate::witness::CompactWitness;

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
        Ok(Self::Backend { backend: Box::<CpuBackend>::default(), threads })
    }

    /// The CUDA device of that number, which has been found able to run the kernels.
    ///
    /// # Errors
    /// `Device`: it cannot be opened.
    pub fn cuda(index: u32) -> Result<Self> {
        let backend = CudaBackend::new(&Gpu::open(index)?)?;
        // One thread enqueues. What it computes itself is windows' sums.
        Ok(Self::Backend { backend: Box::new(backend), threads: pool("cuda", 1)? })
    }

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Self::Backend { backend, threads } => threads.install(|| backend.name()),
            Self::Simulator { delay, .. } => format!("simulator ({} s)", delay.as_secs_f64()),
        }
    }

    /// Does it compute with the witness? If not, none is generated for it.
    pub fn needs_witness(&self) -> bool {
        match self {
            Self::Backend { .. } => true,
            Self::Simulator { synthesis, .. } => *synthesis,
        }
    }

    /// Bytes of host memory that it needs beside the witness, and keeps between partitions.
    pub fn workspace_bytes(&self, circuit: &Circuit) -> u64 {
        match self {
            Self::Backend { backend, threads } => backend.host_bytes(circuit.rows(), threads.current_num_threads()),
            Self::Simulator { .. } => 0,
        }
    }

    /// The form in which it reads parameters where they are prepared.
    pub fn form(&self) -> Option<Form> {
        match self {
            Self::Backend { backend, .. } => backend.form(),
            Self::Simulator { .. } => None,
        }
    }

    /// Most partitions of a circuit whose sums over the witness it makes together where they wait.
    pub fn together(&self) -> usize {
        match self {
            Self::Backend { backend, .. } => backend.together(),
            Self::Simulator { .. } => 1,
        }
    }

    /// What several partitions of one circuit have in common: their sums that need no quotient, in one pass over the parameters.
    /// None where it computes none.
    ///
    /// # Errors
    /// The backend's failures; parameters of another circuit.
    pub fn prove_together(&self, partitions: &[(&File, &CompactWitness)]) -> Result<Option<Vec<WitnessSums>>> {
        let Some((first, _)) = partitions.first() else { return Ok(None) };
        let (Self::Backend { backend, threads }, Some(compiled)) = (self, &first.compiled) else { return Ok(None) };
        let witnesses: Vec<_> = partitions.iter().map(|(file, witness)| (*witness, file.timings())).collect();
        let (srs, circuit) = (&first.opened.srs, &compiled.circuit);
        threads.install(|| groth16::sums_of_witnesses(backend.as_ref(), srs, circuit, &witnesses)).map(Some)
    }

    /// What it has done since this was asked last, as it timed that itself: see [`Backend::take_operations`].
    pub fn take_operations(&self) -> Vec<Vec<Operation>> {
        match self {
            Self::Backend { backend, .. } => backend.take_operations(),
            Self::Simulator { .. } => Vec::new(),
        }
    }

    /// Proves one partition of `file`: `inputs` are its public inputs without ONE, `sums` are of its witness, where they are known.
    ///
    /// # Errors
    /// The backend's failures; parameters of another circuit; parameters that are not development ones, for the simulator.
    pub fn prove(
        &self,
        file: &File,
        witness: Option<CompactWitness>,
        inputs: &[Fr],
        sums: Option<WitnessSums>,
    ) -> Result<PartitionResult> {
        let (srs, timings) = (&file.opened.srs, file.timings());
        match (self, &file.compiled, witness) {
            (Self::Backend { backend, threads }, Some(compiled), Some(witness)) => {
                let (backend, circuit) = (backend.as_ref(), &compiled.circuit);
                let prove = || match sums {
                    Some(sums) => {
                        groth16::sum_of_quotient(backend, srs, circuit, &witness, timings).map(|h| sums.with(h))
                    }
                    None => groth16::sums(backend, srs, circuit, &witness, timings),
                };
                threads.install(prove).map(|sums| PartitionResult::Sums(Box::new(sums))).map_err(|error| {
                    match error.fault() {
                        // Lengths that do not fit each other.
                        Fault::Internal | Fault::Parameters => compiled.doubt(error),
                        _ => error,
                    }
                })
            }
            (Self::Backend { .. }, ..) => fail!(Fault::Internal, "no witness for a device that needs one"),
            (Self::Simulator { delay, .. }, ..) => {
                let circuit = file.opened.porep.identity().params;
                let simulate = || {
                    std::thread::sleep(*delay);
                    simulated(srs, &circuit, inputs)
                };
                timings.time(Phase::Simulation, 1, simulate).map(|proof| PartitionResult::Proof(Box::new(proof)))
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
