//! What a device has to offer to the prover: a few coarse operations. The protocol names no device.

pub mod bases;
pub mod cpu;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use crate::error::Result;
use bases::{G1Bases, G2Bases};

/// The operations of a Groth16 prover that depend on the device.
pub trait Backend: Send + Sync {
    /// What `cuzk devices` and the report call it.
    fn name(&self) -> String;

    /// Coefficients of the quotient `(a * b - c) / (X^n - 1)`, lowest first, `n - 1` of them, where `n` is the least power of
    /// two not below `a.len()` and `c = a * b` row by row. `a` and `b` are the rows' values in row order.
    fn quotient(&self, a: Vec<Fr>, b: Vec<Fr>) -> Result<Vec<Fr>>;

    /// `sum(scalars[i] * bases[i])` in G1; lengths must be equal.
    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Fr]) -> Result<G1Projective>;

    /// The same in G2.
    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Fr]) -> Result<G2Projective>;
}
