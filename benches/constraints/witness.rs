//! Witnesses by running a circuit with values: as elements, and straight into compact form.

use std::sync::Arc;

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use cuzk::witness::{synthesize, CompactWitness, Layout};
use ff::Field;

/// Inputs, ONE first, and aux variables.
pub fn values(circuit: impl Circuit<Fr>) -> (Vec<Fr>, Vec<Fr>) {
    let assignment = synthesize(circuit).expect("a circuit with values");
    (assignment.inputs, assignment.aux)
}

/// The same as [`CompactWitness::from_values`] of all values, which are never all there: 4.2 GB for 32 GiB.
pub fn compact(circuit: impl Circuit<Fr>) -> CompactWitness {
    let mut growing = Growing { inputs: vec![Fr::ONE], ..Growing::default() };
    circuit.synthesize(&mut growing).expect("a circuit with values");
    let layout = Layout::new(growing.aux, &growing.mask).expect("layout");
    CompactWitness::new(Arc::new(layout), growing.inputs, &growing.bits, growing.wide).expect("witness")
}

/// A constraint system that keeps values alone.
#[derive(Default)]
struct Growing {
    inputs: Vec<Fr>,
    aux: usize,
    bits: Vec<u64>,
    mask: Vec<u64>,
    wide: Vec<Fr>,
}

impl ConstraintSystem<Fr> for Growing {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let (value, i) = (value()?, self.aux);
        self.aux += 1;
        self.bits.resize(self.aux.div_ceil(64), 0);
        self.mask.resize(self.aux.div_ceil(64), 0);
        if value == Fr::ONE {
            self.bits[i / 64] |= 1 << (i % 64);
        } else if value != Fr::ZERO {
            self.mask[i / 64] |= 1 << (i % 64);
            self.wide.push(value);
        }
        Ok(Variable::new_unchecked(Index::Aux(i)))
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
    fn get_root(&mut self) -> &mut Self {
        self
    }
}
