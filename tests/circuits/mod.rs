//! Random circuits for tests, with everything that makes a row special.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use rand_chacha::{
    rand_core::{RngCore, SeedableRng},
    ChaCha20Rng,
};

/// A satisfied circuit of `rows` rows with `inputs` public inputs: bits, products of random combinations, cancelled terms,
/// coefficients of one, minus one and full size, inputs in B. The same seed gives the same circuit.
#[derive(Clone)]
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
    for _ in 0..1 + rng.next_u32() % 4 {
        let (variable, v) = known[rng.next_u32() as usize % known.len()];
        let coefficient = match rng.next_u32() % 4 {
            0 => Fr::ONE,
            1 => -Fr::ONE,
            2 => Fr::from(u64::from(rng.next_u32())),
            _ => Fr::random(&mut *rng),
        };
        terms.push((coefficient, variable));
        value += coefficient * v;
        if rng.next_u32() % 5 == 0 {
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
        for (i, value) in self.public_inputs().into_iter().enumerate() {
            known.push((cs.alloc_input(|| format!("input {i}"), || Ok(value))?, value));
        }
        for row in 0..self.rows {
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
        Ok(())
    }
}
