//! The witness of any circuit, by running it: the way for circuits that have no generator, and far slower than one.

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;

use super::{CompactWitness, UNSYNTHESIZED};
use crate::error::{Fault, OrFault, Result};

/// Runs `circuit` for its values alone; no row is evaluated. Elements are the variables that are no bits in this very witness.
///
/// # Errors
/// When the circuit itself reports one: a missing value, a division by zero.
pub fn of_circuit(circuit: impl Circuit<Fr>) -> Result<CompactWitness> {
    let mut values = Values { inputs: vec![Fr::ONE], aux: Vec::new() };
    circuit.synthesize(&mut values).or_fault(Fault::Input, || UNSYNTHESIZED.into())?;
    CompactWitness::from_values(values.inputs, &values.aux)
}

/// The constraint system that keeps values, and nothing of the rows.
struct Values {
    inputs: Vec<Fr>,
    aux: Vec<Fr>,
}

impl ConstraintSystem<Fr> for Values {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
