//! Proves on a CUDA device: launch logic over [`crate::gpu`] of what kernels/ computes.
//!
//! ```text
//! compact witness -> evaluate -> rows of A and B -> quotient -> h, bit-reversed -> msm     nothing of it comes back but sums of windows
//! compact witness, bases from the parameter file -> msm                                    bases go to the device a chunk at a time
//! ```

pub mod evaluate;
pub mod msm;
pub mod ntt;
pub mod quotient;
pub mod self_test;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use super::bases::{G1Bases, G2Bases, G1_BYTES, G2_BYTES};
use super::memory::{Lent, Memory};
use super::scalars::Scalars;
use super::Backend;
use crate::constraints::{Constraints, Rows};
use crate::error::{Fault, Result};
use crate::fail;
use crate::gpu::{Buffer, Gpu, Stream};
use crate::report::{Operation, Phase, Timings};
use crate::witness::CompactWitness;
use evaluate::Evaluator;
use msm::curve::{G1, G2};
use msm::{sum_of_device, sums, Order, CHUNK};
use ntt::{Transforms, MAX_LOG_SIZE};

/// Host memory of copies and of scalars on their way: pinned staging, words of variables, rows. The driver's own is not known here.
const HOST_BYTES: u64 = 64 << 20;

/// Proves on one CUDA device. Between partitions it keeps the tables of the circuit and of the domain that it saw last, and its memory.
pub struct CudaBackend {
    stream: Stream,
    memory: Arc<Memory>,
    kept: Mutex<Kept>,
}

/// What partitions of one circuit have in common.
#[derive(Default)]
struct Kept {
    transforms: Option<Arc<Transforms>>,
    /// With the constraints whose tables it has: a few megabytes of the host's, too.
    evaluator: Option<(Constraints, Arc<Evaluator>)>,
}

impl CudaBackend {
    /// # Errors
    /// [`Fault::Device`]: the driver's refusal.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        Ok(Self { stream: gpu.stream()?, memory: Arc::default(), kept: Mutex::default() })
    }

    /// Where its work goes.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn transforms(&self, log_size: u32) -> Result<Arc<Transforms>> {
        let mut kept = self.kept();
        match &kept.transforms {
            Some(transforms) if transforms.size() == 1 << log_size => Ok(transforms.clone()),
            _ => {
                // Those of another size go first: both may not fit.
                kept.transforms = None;
                Ok(kept.transforms.insert(Arc::new(Transforms::new(&self.stream, log_size)?)).clone())
            }
        }
    }

    fn evaluator(&self, constraints: &Constraints) -> Result<Arc<Evaluator>> {
        let mut kept = self.kept();
        match &kept.evaluator {
            Some((of, evaluator)) if of == constraints => Ok(evaluator.clone()),
            _ => {
                kept.evaluator = None;
                let evaluator = Arc::new(Evaluator::new(&self.stream, constraints)?);
                Ok(kept.evaluator.insert((constraints.clone(), evaluator)).1.clone())
            }
        }
    }

    /// h of the rows' values, in bit-reversed order, when it is there.
    fn quotient_of(&self, log_size: u32, a: Buffer<Fr>, b: Buffer<Fr>) -> Result<Buffer<Fr>> {
        let transforms = self.transforms(log_size)?;
        let h = quotient::quotient(&self.stream, &transforms, a, b)?;
        self.stream.wait()?;
        Ok(h)
    }
}

/// Base-two logarithm of the domain for so many rows.
fn log_size(rows: usize) -> Result<u32> {
    let log_size = rows.max(1).next_power_of_two().ilog2();
    if log_size > MAX_LOG_SIZE {
        fail!(Fault::Device, "{rows} rows: transforms on CUDA devices have 2^{MAX_LOG_SIZE} elements at most");
    }
    Ok(log_size)
}

impl Backend for CudaBackend {
    fn name(&self) -> String {
        let gpu = self.stream.gpu();
        format!("cuda:{} ({})", gpu.index(), gpu.name())
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        if a.len() != b.len() {
            fail!(Fault::Internal, "{} rows of A and {} of B: expected equally many", a.len(), b.len());
        }
        let log_size = log_size(a.len())?;
        let a = quotient::upload_rows(&self.stream, "rows of A", a, log_size)?;
        let b = quotient::upload_rows(&self.stream, "rows of B", b, log_size)?;
        let h = self.quotient_of(log_size, a, b)?;
        quotient::coefficients(&self.stream, h.view(), &self.memory)
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        msm::sum::<G1, G1_BYTES>(&self.stream, bases, scalars)
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        msm::sum::<G2, G2_BYTES>(&self.stream, bases, scalars)
    }

    fn sums_g1(&self, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        sums::<G1, G1_BYTES>(&self.stream, bases, lists, CHUNK)
    }

    fn sums_g2(&self, bases: G2Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G2Projective>> {
        sums::<G2, G2_BYTES>(&self.stream, bases, lists, CHUNK)
    }

    /// All of it on the device, from the compact witness.
    fn sum_of_quotient(
        &self,
        constraints: &Constraints,
        witness: &CompactWitness,
        bases: G1Bases<'_>,
        timings: &Timings,
    ) -> Result<G1Projective> {
        let rows = constraints.tables().rows;
        let log_size = log_size(rows)?;
        let (a, b) = timings.time(Phase::Evaluation, rows as u64, || {
            let values = self.evaluator(constraints)?.evaluate(&self.stream, witness, log_size)?;
            self.stream.wait()?;
            Ok::<_, crate::error::Error>(values)
        })?;
        let h = timings.time(Phase::Quotient, rows as u64, || self.quotient_of(log_size, a, b))?;
        timings.time(Phase::SumH, bases.len() as u64, || {
            sum_of_device::<G1, G1_BYTES>(&self.stream, bases, h.view(), Order::BitReversed, CHUNK)
        })
    }

    fn take_operations(&self) -> Vec<Vec<Operation>> {
        vec![self.stream.take_operations()]
    }

    fn together(&self) -> usize {
        msm::TOGETHER
    }

    fn host_bytes(&self, _rows: usize, _threads: usize) -> u64 {
        HOST_BYTES
    }
}
