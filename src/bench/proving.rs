//! Synthesis as bellperson's prover does it: `groth16::prover::ProvingAssignment`, which that crate keeps to itself.
//!
//! All three linear combinations of a row are built and evaluated, nothing is sized in advance, and the input rows come last.

use bellperson::{Circuit, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;

use crate::witness::{nameless, Assignment, Density, Nameless};

/// Runs `circuit`; its assignment with the values of C, which [`Assignment`] has no place for.
///
/// # Errors
/// Those of the circuit.
pub fn synthesize(circuit: impl Circuit<Fr>) -> Result<(Assignment, Vec<Fr>), SynthesisError> {
    let mut proving = Proving::default();
    proving.input(|| Ok(Fr::ONE))?;
    let mut proving = nameless::run(circuit, proving)?;
    let zero = LinearCombination::zero;
    for i in 0..proving.assignment.inputs.len() {
        proving.row(|| zero() + Variable::new_unchecked(Index::Input(i)), zero, zero);
    }
    Ok((proving.assignment, proving.c))
}

#[derive(Default)]
struct Proving {
    assignment: Assignment,
    c: Vec<Fr>,
}

/// The value of a linear combination; marks the variables that occur in it, where densities are given.
fn evaluate(
    combination: &LinearCombination<Fr>,
    (inputs, mut input_density): (&[Fr], Option<&mut Density>),
    (aux, mut aux_density): (&[Fr], Option<&mut Density>),
) -> Fr {
    let mut sum = Fr::ZERO;
    for (i, coefficient) in combination.iter_inputs() {
        add_term(&mut sum, inputs, (*i, coefficient), &mut input_density);
    }
    for (i, coefficient) in combination.iter_aux() {
        add_term(&mut sum, aux, (*i, coefficient), &mut aux_density);
    }
    sum
}

#[inline]
fn add_term(sum: &mut Fr, values: &[Fr], (i, coefficient): (usize, &Fr), density: &mut Option<&mut Density>) {
    if coefficient.is_zero_vartime() {
        return;
    }
    let mut value = values[i];
    if *coefficient != Fr::ONE {
        value *= coefficient;
    }
    *sum += value;
    if let Some(density) = density {
        density.set(i);
    }
}

impl Nameless for Proving {
    fn aux(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        let s = &mut self.assignment;
        s.aux.push(value()?);
        s.a_aux_density.push(false);
        s.b_aux_density.push(false);
        Ok(s.aux.len() - 1)
    }

    fn input(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        let s = &mut self.assignment;
        s.inputs.push(value()?);
        s.b_input_density.push(false);
        Ok(s.inputs.len() - 1)
    }

    fn row(
        &mut self,
        a: impl FnOnce() -> LinearCombination<Fr>,
        b: impl FnOnce() -> LinearCombination<Fr>,
        c: impl FnOnce() -> LinearCombination<Fr>,
    ) {
        let (a, b, c) = (a(), b(), c());
        let s = &mut self.assignment;
        s.a.push(evaluate(&a, (&s.inputs, None), (&s.aux, Some(&mut s.a_aux_density))));
        s.b.push(evaluate(&b, (&s.inputs, Some(&mut s.b_input_density)), (&s.aux, Some(&mut s.b_aux_density))));
        // No density counts C: its query has all aux variables.
        self.c.push(c.eval(&s.inputs, &s.aux));
    }
}
