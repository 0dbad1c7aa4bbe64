//! What a device has to offer to the prover: a few coarse operations. The protocol names no device.

pub mod bases;
pub mod cpu;
pub mod cuda;
pub mod memory;
pub mod reference;
pub mod scalars;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use crate::constraints::Rows;
use crate::error::{Fault, Result};
use crate::fail;

use bases::{G1Bases, G2Bases};
use memory::Lent;
use scalars::Scalars;

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
}

fn check_lengths(bases: usize, scalars: &[Scalars<'_>]) -> Result<()> {
    let scalars = scalars::total(scalars);
    if bases != scalars {
        fail!(Fault::Internal, "sum over {bases} bases and {scalars} scalars: expected equally many");
    }
    Ok(())
}
