//! What a device has to offer to the prover: a few coarse operations. The protocol names no device.
//!
//! ```text
//! witness, constraints -> evaluation -> rows of A and B -> quotient -> h     (sum_of_quotient: all of it, with the sum over h)
//! witness, bases of a query -> sum                                           (sums_g1, sums_g2)
//! ```

pub mod bases;
pub mod cpu;
pub mod cuda;
pub mod dual;
pub mod memory;
pub mod reference;
pub mod scalars;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use crate::constraints::{Constraints, Rows};
use crate::error::{Fault, Result};
use crate::fail;
use crate::report::{Operation, Phase, Timings};
use crate::witness::CompactWitness;

use bases::{Form, G1Bases, G2Bases};
use memory::Lent;
use scalars::Scalars;

/// Memory of a sum on the host beside the vectors of the domain, which decoded points and buckets use again: digits, or the parts of an
/// index list.
const SUM_BYTES: u64 = 32 << 20;

/// An index list of each sum that is made together: of at most so many scalars at a time, all ones at worst.
const LIST_BYTES: u64 = 4 << 22;

/// What each thread of a sum has: accumulators, a range's points and their sums; 10 MB were counted in G2.
const SUM_THREAD_BYTES: u64 = 12 << 20;

/// Memory of a row's values of A and B in compact form. Two bytes, and what is wide in a PoRep circuit: 370 MB of 130 million rows.
pub const ROW_BYTES: u64 = 3;

/// The operations of a Groth16 prover that depend on the device.
pub trait Backend: Send + Sync {
    /// What `cuzk devices` and the report call it.
    fn name(&self) -> String;

    /// Coefficients of the quotient `(a * b - c) / (X^n - 1)`, lowest first, `n - 1` of them, where `n` is the least power
    /// of two not below the number of rows, and c = a * b in each row.
    ///
    /// # Errors
    /// Unequal lengths, more rows than the field has roots of unity for, and the device's own failures.
    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>>;

    /// The sum of each scalar times its base, in G1; the runs of scalars follow one another.
    ///
    /// # Errors
    /// Unequal lengths, and the device's own failures.
    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective>;

    /// The same in G2.
    ///
    /// # Errors
    /// As [`Backend::sum_g1`].
    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective>;

    /// Several sums over the same bases, one for each list of runs, in the lists' order. A device that can shares what they have
    /// in common.
    ///
    /// # Errors
    /// As [`Backend::sum_g1`]; then there is none of the sums.
    fn sums_g1(&self, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        lists.iter().map(|scalars| self.sum_g1(bases, scalars)).collect()
    }

    /// The same in G2.
    ///
    /// # Errors
    /// As [`Backend::sums_g1`].
    fn sums_g2(&self, bases: G2Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G2Projective>> {
        lists.iter().map(|scalars| self.sum_g2(bases, scalars)).collect()
    }

    /// The sum over the h query of the quotient that a witness makes with the constraints, each step's time added to `timings`. Here
    /// the constraints are evaluated on the host; a device that evaluates them itself keeps all of it there.
    ///
    /// # Errors
    /// A witness of other constraints, and those of [`Backend::quotient`] and [`Backend::sum_g1`].
    fn sum_of_quotient(
        &self,
        constraints: &Constraints,
        witness: &CompactWitness,
        bases: G1Bases<'_>,
        timings: &Timings,
    ) -> Result<G1Projective> {
        let rows = constraints.tables().rows as u64;
        let [a, b] = timings.time(Phase::Evaluation, rows, || constraints.evaluate(witness))?;
        let h = timings.time(Phase::Quotient, rows, || self.quotient(&a, &b))?;
        drop((a, b));
        timings.time(Phase::SumH, bases.len() as u64, || self.sum_g1(bases, &[Scalars::Elements(&h)]))
    }

    /// What the device has done since this was asked last, timed by itself: of each of its streams, always in the same order, the
    /// operations in theirs. None here: the host's time is in the phases.
    fn take_operations(&self) -> Vec<Vec<Operation>> {
        Vec::new()
    }

    /// The form in which it reads bases where they are prepared; none where it takes them as the parameter file has them.
    fn form(&self) -> Option<Form> {
        None
    }

    /// Most lists that [`Backend::sums_g1`] and [`Backend::sums_g2`] gain from taking together.
    fn together(&self) -> usize {
        cpu::msm::MOST
    }

    /// Bytes of host memory that a partition takes beside its witness, and that stay between partitions, where so many threads work.
    /// Here three vectors of the domain, during the quotient the rows' values that they come from, and after it what a sum takes.
    fn host_bytes(&self, rows: usize, threads: usize) -> u64 {
        let (rows, domain) = (rows as u64, rows.max(1).next_power_of_two() as u64);
        let lists = self.together() as u64 * LIST_BYTES.min(4 * rows);
        let sum = SUM_BYTES + lists + SUM_THREAD_BYTES * threads as u64;
        96 * domain + sum.max(ROW_BYTES * rows)
    }
}

fn check_lengths(bases: usize, scalars: &[Scalars<'_>]) -> Result<()> {
    let scalars = scalars::total(scalars);
    if bases != scalars {
        fail!(Fault::Internal, "sum over {bases} bases and {scalars} scalars: expected equally many");
    }
    Ok(())
}
