//! A partition's device work alone, at full size and without parameters: evaluation, quotient and the five sums, as a proof takes them.
//!
//! The bases are a few points with known logarithms, repeated without taking memory; so each sum is checked with field arithmetic alone,
//! and the quotient by its equation at a random point.

mod bases;
mod expected;
mod quotient;
mod repeated;

pub use bases::{KnownBases, Logarithms, Tiles};
pub use repeated::Repeated;

use std::time::{Duration, Instant};

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use ff::Field;
use group::Group;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::ThreadPool;

use crate::backend::{Backend, ROW_BYTES};
use crate::constraints::Densities;
use crate::error::Result;
use crate::groth16::{sums_over, Circuit, Lengths, Sums};
use crate::report::partition::Check;
use crate::report::{DeviceWork, Phase, Progress, Task, Timings, Unit};
use crate::witness::CompactWitness;
use expected::{of_aux, of_elements};
use quotient::is_quotient;

/// The point at which the quotient's equation is checked follows from it: of no account to what computes, and always the same.
const SEED: u64 = 3;

/// Memory of the checks beside what they look at.
const CHECK_BYTES: u64 = 16 << 20;

/// Who computes, and what.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    pub backend: &'a dyn Backend,
    /// The device's own threads.
    pub threads: &'a ThreadPool,
    pub circuit: &'a Circuit,
    pub witness: &'a CompactWitness,
}

/// What was found, and how long that took.
#[derive(Clone, Debug)]
pub struct Found {
    pub checks: Vec<Check>,
    pub time: Duration,
}

/// Host memory that the work takes beside the witness: that of a proof, or of the check, for which the quotient comes to the host.
pub fn host_bytes(backend: &dyn Backend, circuit: &Circuit, threads: usize) -> u64 {
    let (rows, domain) = (circuit.rows() as u64, circuit.domain() as u64);
    let check = CHECK_BYTES + size_of::<Fr>() as u64 * domain + ROW_BYTES * rows;
    // A backend on the host lends the quotient from the memory that a proof takes.
    backend.host_bytes(circuit.rows(), threads).max(check)
}

impl Work<'_> {
    /// Computes and checks. Each step's time is added to `timings`, that of the checks is not.
    ///
    /// # Errors
    /// A witness or bases of another circuit; the backend's failures. A wrong result is none: it is in what was found.
    pub fn measure(&self, bases: &KnownBases, timings: &Timings, progress: &Progress) -> Result<Found> {
        let sums = self.sums(bases, timings, progress)?;
        let start = Instant::now();
        let checks = self.checks(&sums, bases, progress)?;
        Ok(Found { checks, time: start.elapsed() })
    }

    /// The five sums, in the order of a proof.
    fn sums(&self, bases: &KnownBases, timings: &Timings, progress: &Progress) -> Result<Sums> {
        let &Self { backend, circuit, witness, .. } = self;
        let (queries, Lengths { h, l, a, b }) = (bases.queries(), Lengths::of(circuit));
        let task = progress.task("sums over the witness", (l + a + 2 * b) as u64, Unit::Bases);
        let of_witness = self.threads.install(|| sums_over(backend, &queries, circuit, &[(witness, timings)]))?;
        done(task, l + a + 2 * b);
        let task = progress.task("quotient and the sum over it", h as u64, Unit::Bases);
        let of_quotient = || backend.sum_of_quotient(circuit.constraints(), witness, queries.h, timings);
        let of_quotient = self.threads.install(of_quotient)?;
        done(task, h);
        timings.add_device_work(&DeviceWork::of(backend.take_operations().iter().flatten()));
        Ok(of_witness[0].with(of_quotient))
    }

    /// The quotient has left no trace but its sum, and is computed once more, by the same device.
    fn checks(&self, sums: &Sums, bases: &KnownBases, progress: &Progress) -> Result<Vec<Check>> {
        let &Self { backend, circuit, witness, .. } = self;
        let task = progress.task("the quotient again, and its check", circuit.rows() as u64, Unit::Rows);
        let [a, b] = circuit.constraints().evaluate(witness)?;
        let h = self.threads.install(|| backend.quotient(&a, &b))?;
        let t = Fr::random(ChaCha20Rng::seed_from_u64(SEED));
        let quotient = is_quotient(&h, &a, &b, t);
        let expected_h = of_elements(&h, bases.h(), 0);
        drop((a, b, h));
        done(task, circuit.rows());

        let Lengths { l, a, b, .. } = Lengths::of(circuit);
        let task = progress.task("checks of the other sums", (l + a + 2 * b) as u64, Unit::Bases);
        let Densities { a_aux, b_input, b_aux } = circuit.densities();
        let inputs = witness.inputs();
        let b_inputs: Vec<Fr> = (0..inputs.len()).filter(|i| b_input.get(*i)).map(|i| inputs[i]).collect();
        let of = |inputs: &[Fr], aux, logarithms| {
            of_elements(inputs, logarithms, 0) + of_aux(witness, aux, logarithms, inputs.len())
        };
        let expected_l = of_aux(witness, None, bases.l(), 0);
        let expected_a = of(inputs, Some(a_aux), bases.a());
        let [expected_b_g1, expected_b_g2] =
            [bases.b_g1(), bases.b_g2()].map(|known| of(&b_inputs, Some(b_aux), known));
        done(task, l + a + 2 * b);
        let g1 = |sum: G1Projective, logarithm| sum == G1Projective::generator() * logarithm;
        let results = [
            (Phase::Quotient, quotient),
            (Phase::SumH, g1(sums.h, expected_h)),
            (Phase::SumL, g1(sums.l, expected_l)),
            (Phase::SumA, g1(sums.a, expected_a)),
            (Phase::SumBG1, g1(sums.b_g1, expected_b_g1)),
            (Phase::SumBG2, sums.b_g2 == G2Projective::generator() * expected_b_g2),
        ];
        Ok(results.map(|(phase, equal)| Check { phase, equal }).to_vec())
    }
}

fn done(task: Task, items: usize) {
    task.advance(items as u64);
    task.finish();
}
