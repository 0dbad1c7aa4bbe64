//! A circuit of which a share repeats.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use rand_chacha::{
    rand_core::{RngCore, SeedableRng},
    ChaCha20Rng,
};

/// Rows over bits and, one in a hundred, elements; in blocks of a hundred. A block is one of twenty that repeat, or one of its
/// own: other columns, other coefficients, among them some that never come again.
#[derive(Clone, Copy)]
pub struct Partial {
    pub rows: usize,
    /// How many blocks of a thousand repeat.
    pub permille: u32,
}

const BLOCK: usize = 100;

impl Circuit<Fr> for Partial {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut aux = Vec::with_capacity(self.rows);
        for _ in 0..2 * BLOCK {
            aux.push(cs.alloc(|| "aux", || Ok(Fr::ONE))?);
        }
        for block in 0..self.rows / BLOCK {
            let repeats = rng.next_u32() % 1000 < self.permille;
            let seed = if repeats { u64::from(rng.next_u32() % 20) } else { 100 + block as u64 };
            let mut shape = ChaCha20Rng::seed_from_u64(seed);
            for _ in 0..BLOCK {
                let bit = Fr::from(u64::from(rng.next_u32() & 1));
                let value = if rng.next_u32() % 100 == 0 { Fr::random(&mut rng) } else { bit };
                aux.push(cs.alloc(|| "aux", || Ok(value))?);
                let (a, b) = (combination(&mut shape, &aux), combination(&mut shape, &aux));
                cs.enforce(|| "row", |_| a, |_| b, |lc| lc);
            }
        }
        Ok(())
    }
}

/// One to four of the latest variables; a twentieth of the coefficients are full elements.
fn combination(shape: &mut ChaCha20Rng, aux: &[Variable]) -> LinearCombination<Fr> {
    let mut lc = LinearCombination::zero();
    for _ in 0..1 + shape.next_u32() % 4 {
        let coefficient = match shape.next_u32() % 20 {
            0 => Fr::random(&mut *shape),
            1..=7 => -Fr::ONE,
            _ => Fr::ONE,
        };
        lc = lc + (coefficient, aux[aux.len() - 1 - shape.next_u32() as usize % BLOCK]);
    }
    lc
}
