//! The bases of the five sums, wherever they come from.

use super::Circuit;
use crate::backend::bases::{G1Bases, G2Bases};
use crate::constraints::Densities;
use crate::srs::Srs;

/// The queries of a circuit's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Queries<'a> {
    pub h: G1Bases<'a>,
    pub l: G1Bases<'a>,
    pub a: G1Bases<'a>,
    pub b_g1: G1Bases<'a>,
    pub b_g2: G2Bases<'a>,
}

impl<'a> Queries<'a> {
    /// Those of a parameter file.
    pub fn of(srs: &'a Srs) -> Self {
        Self { h: srs.h(), l: srs.l(), a: srs.a(), b_g1: srs.b_g1(), b_g2: srs.b_g2() }
    }
}

/// How many bases the queries of a circuit have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Coefficients of the quotient.
    pub h: usize,
    /// Aux variables.
    pub l: usize,
    /// All inputs, and aux variables that occur in A.
    pub a: usize,
    /// Inputs and aux variables that occur in B: in G1 and in G2.
    pub b: usize,
}

impl Lengths {
    /// Those that `circuit` needs.
    pub fn of(circuit: &Circuit) -> Self {
        let Densities { a_aux, b_input, b_aux } = circuit.densities();
        Self {
            h: circuit.domain() - 1,
            l: circuit.aux(),
            a: circuit.inputs() + a_aux.count_ones(),
            b: b_input.count_ones() + b_aux.count_ones(),
        }
    }
}
