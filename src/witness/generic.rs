//! The witness of any circuit, by running it: the way for circuits that have no generator, and far slower than one.

use bellperson::{Circuit, LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;
use ff::Field;

use super::nameless::{run, Nameless};
use super::{CompactWitness, UNSYNTHESIZED};
use crate::error::{Fault, OrFault, Result};

/// Runs `circuit` for its values alone; no row is evaluated. Elements are the variables that are no bits in this very witness.
///
/// # Errors
/// When the circuit itself reports one: a missing value, a division by zero.
pub fn of_circuit(circuit: impl Circuit<Fr>) -> Result<CompactWitness> {
    let values = Values { inputs: vec![Fr::ONE], aux: Vec::new() };
    let values = run(circuit, values).or_fault(Fault::Input, || UNSYNTHESIZED.into())?;
    CompactWitness::from_values(values.inputs, &values.aux)
}

/// Keeps values, and nothing of the rows.
struct Values {
    inputs: Vec<Fr>,
    aux: Vec<Fr>,
}

impl Nameless for Values {
    fn aux(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.aux.push(value()?);
        Ok(self.aux.len() - 1)
    }

    fn input(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.inputs.push(value()?);
        Ok(self.inputs.len() - 1)
    }

    fn row(
        &mut self,
        _: impl FnOnce() -> LinearCombination<Fr>,
        _: impl FnOnce() -> LinearCombination<Fr>,
        _: impl FnOnce() -> LinearCombination<Fr>,
    ) {
    }
}
