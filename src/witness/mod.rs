//! Synthesis of a partition's circuit into its assignment.
//!
//! The circuit is run once. Each row's linear combinations of A and B are evaluated and dropped as they come; C is never
//! looked at, since for a satisfying witness c = a * b in every row (and a proof of an unsatisfied one does not verify).

mod compact;
mod density;
mod generic;
pub mod nameless;
pub mod porep;

pub use compact::{CompactWitness, Layout, PADDING};
pub use density::Density;
pub use generic::of_circuit;
pub use nameless::Nameless;

use bellperson::{Circuit, LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use crate::error::{Fault, OrFault, Result};

/// What one partition's synthesis yields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The rows' values of A, in row order; the input rows (one per input, `input * 0 = 0`) last.
    pub a: Vec<Fr>,
    /// The rows' values of B.
    pub b: Vec<Fr>,
    /// Public inputs, ONE first.
    pub inputs: Vec<Fr>,
    /// Private variables in the order of their allocation.
    pub aux: Vec<Fr>,
    /// Which aux variables occur in A. (All inputs do, by their own rows.)
    pub a_aux_density: Density,
    /// Which inputs occur in B.
    pub b_input_density: Density,
    /// Which aux variables occur in B.
    pub b_aux_density: Density,
}

/// What is wrong where a circuit reports an error.
const UNSYNTHESIZED: &str = "the circuit could not be synthesized from this C1; check the file with 'cuzk inspect'";

/// Runs `circuit` and returns its assignment.
///
/// # Errors
/// When the circuit itself reports one: a missing value, a division by zero.
pub fn synthesize(circuit: impl Circuit<Fr>) -> Result<Assignment> {
    let mut synthesis = Synthesis(Assignment::default());
    let one = synthesis.input(|| Ok(Fr::ONE));
    let synthesis =
        one.and_then(|_| nameless::run(circuit, synthesis)).or_fault(Fault::Input, || UNSYNTHESIZED.into())?;
    let mut assignment = synthesis.0;
    // The input rows make the inputs' polynomials linearly independent (Groth16's proof of soundness needs that).
    assignment.a.extend_from_slice(&assignment.inputs);
    assignment.b.resize(assignment.a.len(), Fr::ZERO);
    Ok(assignment)
}

impl Assignment {
    /// The witness alone, in compact form.
    ///
    /// # Errors
    /// As [`CompactWitness::from_values`].
    pub fn witness(&self) -> Result<CompactWitness> {
        CompactWitness::from_values(self.inputs.clone(), &self.aux)
    }

    /// c = a * b in every row, with room for the whole domain.
    pub fn c(&self) -> Vec<Fr> {
        let mut c = Vec::with_capacity(self.a.len().next_power_of_two());
        self.a.par_iter().zip(&self.b).with_min_len(1 << 12).map(|(a, b)| *a * b).collect_into_vec(&mut c);
        c
    }
}

/// The constraint system a circuit is run in.
struct Synthesis(Assignment);

/// Adds `value * coefficient` to the sum. False for a cancelled term, which does not count as an occurrence.
#[inline]
fn add_term(sum: &mut Fr, value: &Fr, coefficient: &Fr) -> bool {
    if *coefficient == Fr::ONE {
        *sum += value;
    } else if *coefficient == Fr::ZERO {
        return false;
    } else {
        *sum += *value * coefficient;
    }
    true
}

/// The value of a row's linear combination; marks the variables that occur in it. Inputs are marked where asked for.
fn evaluate(
    combination: &LinearCombination<Fr>,
    (inputs, mut input_density): (&[Fr], Option<&mut Density>),
    (aux, aux_density): (&[Fr], &mut Density),
) -> Fr {
    let mut sum = Fr::ZERO;
    for (i, coefficient) in combination.iter_inputs() {
        if add_term(&mut sum, &inputs[*i], coefficient) {
            if let Some(density) = input_density.as_deref_mut() {
                density.set(*i);
            }
        }
    }
    for (i, coefficient) in combination.iter_aux() {
        if add_term(&mut sum, &aux[*i], coefficient) {
            aux_density.set(*i);
        }
    }
    sum
}

impl Nameless for Synthesis {
    fn aux(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.0.aux.push(value()?);
        self.0.a_aux_density.push(false);
        self.0.b_aux_density.push(false);
        Ok(self.0.aux.len() - 1)
    }

    fn input(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.0.inputs.push(value()?);
        self.0.b_input_density.push(false);
        Ok(self.0.inputs.len() - 1)
    }

    fn row(
        &mut self,
        a: impl FnOnce() -> LinearCombination<Fr>,
        b: impl FnOnce() -> LinearCombination<Fr>,
        _: impl FnOnce() -> LinearCombination<Fr>,
    ) {
        let s = &mut self.0;
        s.a.push(evaluate(&a(), (&s.inputs, None), (&s.aux, &mut s.a_aux_density)));
        s.b.push(evaluate(&b(), (&s.inputs, Some(&mut s.b_input_density)), (&s.aux, &mut s.b_aux_density)));
    }
}
