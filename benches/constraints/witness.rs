//! Witnesses by running a circuit with values: as elements, and straight into compact form.

use std::sync::Arc;

use bellperson::{Circuit, LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk::witness::{nameless, synthesize, CompactWitness, Layout, Nameless};
use ff::Field;

/// Inputs, ONE first, and aux variables.
pub fn values(circuit: impl Circuit<Fr>) -> (Vec<Fr>, Vec<Fr>) {
    let assignment = synthesize(circuit).expect("a circuit with values");
    (assignment.inputs, assignment.aux)
}

/// The same as [`CompactWitness::from_values`] of all values, which are never all there: 4.2 GB for 32 GiB.
pub fn compact(circuit: impl Circuit<Fr>) -> CompactWitness {
    let growing = Growing { inputs: vec![Fr::ONE], ..Growing::default() };
    let growing = nameless::run(circuit, growing).expect("a circuit with values");
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

impl Nameless for Growing {
    fn aux(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
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
        Ok(i)
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
