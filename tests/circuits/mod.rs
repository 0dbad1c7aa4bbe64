//! Random circuits for tests, with everything that makes a row special, and a plain evaluation of any circuit.

// Each test binary compiles these files and uses a part of them.
#![allow(dead_code)]

pub mod blocks;
pub mod rows;

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use rand_chacha::{
    rand_core::{RngCore, SeedableRng},
    ChaCha20Rng,
};

/// A satisfied circuit of `rows` rows with `inputs` public inputs: bits, products of random combinations, empty ones, cancelled
/// terms, coefficients of zero, one, minus one, a power of two and full size, inputs among the aux variables and in B, variables
/// that occur in one matrix only. The same seed gives the same circuit.
#[derive(Clone, Copy)]
pub struct RandomCircuit {
    pub rows: usize,
    pub inputs: usize,
    pub seed: u64,
}

impl RandomCircuit {
    /// The public inputs, without ONE.
    pub fn public_inputs(&self) -> Vec<Fr> {
        (0..self.inputs).map(|i| Fr::from(self.seed + 3 + i as u64)).collect()
    }
}

fn combination(rng: &mut ChaCha20Rng, known: &[(Variable, Fr)]) -> (Vec<(Fr, Variable)>, Fr) {
    let mut terms = Vec::new();
    let mut value = Fr::ZERO;
    for _ in 0..rng.next_u32() % 5 {
        let (variable, v) = known[rng.next_u32() as usize % known.len()];
        let coefficient = match rng.next_u32() % 6 {
            0 | 1 => Fr::ONE,
            2 => -Fr::ONE,
            3 => Fr::ZERO,
            4 => Fr::from(1 << (rng.next_u32() % 32)),
            _ => Fr::random(&mut *rng),
        };
        terms.push((coefficient, variable));
        value += coefficient * v;
        if rng.next_u32().is_multiple_of(5) {
            // A term that cancels: it stays in the combination with a coefficient of zero.
            let (variable, _) = known[rng.next_u32() as usize % known.len()];
            terms.push((Fr::from(7), variable));
            terms.push((-Fr::from(7), variable));
        }
    }
    (terms, value)
}

fn sum(terms: &[(Fr, Variable)]) -> impl FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr> + '_ {
    move |lc| terms.iter().fold(lc, |lc, (c, v)| lc + (*c, *v))
}

impl Circuit<Fr> for RandomCircuit {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let mut known = vec![(CS::one(), Fr::ONE)];
        let mut inputs = self.public_inputs().into_iter().enumerate();
        let every = (self.rows / (self.inputs + 1)).max(1);
        for row in 0..self.rows {
            if row % every == 0 {
                allocate_inputs(cs, &mut known, inputs.by_ref().take(1))?;
            }
            if row % 3 == 0 {
                let bit = Fr::from(u64::from(rng.next_u32() & 1));
                let variable = cs.alloc(|| format!("bit {row}"), || Ok(bit))?;
                cs.enforce(|| format!("row {row}"), |lc| lc + CS::one() - variable, |lc| lc + variable, |lc| lc);
                known.push((variable, bit));
            } else {
                let (a, a_value) = combination(&mut rng, &known);
                let (b, b_value) = combination(&mut rng, &known);
                let variable = cs.alloc(|| format!("product {row}"), || Ok(a_value * b_value))?;
                cs.enforce(|| format!("row {row}"), sum(&a), sum(&b), |lc| lc + variable);
                known.push((variable, a_value * b_value));
            }
        }
        allocate_inputs(cs, &mut known, inputs)
    }
}

fn allocate_inputs<CS: ConstraintSystem<Fr>>(
    cs: &mut CS,
    known: &mut Vec<(Variable, Fr)>,
    inputs: impl Iterator<Item = (usize, Fr)>,
) -> Result<(), SynthesisError> {
    for (i, value) in inputs {
        known.push((cs.alloc_input(|| format!("input {i}"), || Ok(value))?, value));
    }
    Ok(())
}
