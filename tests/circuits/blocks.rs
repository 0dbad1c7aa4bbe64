//! Random circuits that repeat themselves, in the ways real ones do.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use rand_chacha::{
    rand_core::{RngCore, SeedableRng},
    ChaCha20Rng,
};

/// Some kinds of blocks, each a few runs of alike rows, placed many times in random order. Rows allocate 0 to 3 variables; their
/// terms count back from the row or from the first variable, advance with the row or stay, cancel, unpack words of bits one or
/// two apart, name inputs allocated at odd times. Values are bits but for a share. C is left empty: no row is satisfied on purpose.
#[derive(Clone, Copy)]
pub struct BlockCircuit {
    pub seed: u64,
    /// How many values of a thousand are no bits.
    pub wide: u32,
}

/// A circuit being made.
struct Maker<'a, CS> {
    cs: &'a mut CS,
    values: ChaCha20Rng,
    wide: u32,
    aux: Vec<Variable>,
    inputs: Vec<Variable>,
}

fn value(rng: &mut ChaCha20Rng, wide: u32) -> Fr {
    if rng.next_u32() % 1000 < wide {
        Fr::random(rng)
    } else {
        Fr::from(u64::from(rng.next_u32() & 1))
    }
}

impl Circuit<Fr> for BlockCircuit {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let values = ChaCha20Rng::seed_from_u64(!self.seed);
        let mut maker = Maker { cs, values, wide: self.wide, aux: Vec::new(), inputs: vec![CS::one()] };
        maker.allocate(1 + rng.next_u32() % 90)?;
        let kinds: Vec<u64> = (0..1 + rng.next_u32() % 5).map(|_| rng.next_u64()).collect();
        for _ in 0..1 + rng.next_u32() % 50 {
            maker.block(kinds[rng.next_u32() as usize % kinds.len()])?;
        }
        Ok(())
    }
}

impl<CS: ConstraintSystem<Fr>> Maker<'_, CS> {
    fn allocate(&mut self, count: u32) -> Result<(), SynthesisError> {
        for _ in 0..count {
            let value = value(&mut self.values, self.wide);
            self.aux.push(self.cs.alloc(|| "aux", || Ok(value))?);
        }
        Ok(())
    }

    fn block(&mut self, kind: u64) -> Result<(), SynthesisError> {
        let mut rng = ChaCha20Rng::seed_from_u64(kind);
        for _ in 0..1 + rng.next_u32() % 7 {
            let (rows, shape) = (1 + rng.next_u32() % 100, rng.next_u64());
            let allocated = [1, 1, 1, 2, 0, 3][rng.next_u32() as usize % 6];
            for row in 0..rows {
                self.allocate(allocated)?;
                if rng.next_u32() % 250 == 0 {
                    let value = value(&mut self.values, 500);
                    self.inputs.push(self.cs.alloc_input(|| "input", || Ok(value))?);
                }
                let (a, b) = (self.combination(shape, row as usize), self.combination(!shape, row as usize));
                self.cs.enforce(|| "row", |_| a, |_| b, |lc| lc);
            }
        }
        Ok(())
    }

    /// The same for equal shapes, in columns relative to the row.
    fn combination(&self, shape: u64, row: usize) -> LinearCombination<Fr> {
        let mut rng = ChaCha20Rng::seed_from_u64(shape);
        let (aux, inputs) = (&self.aux, &self.inputs);
        let mut lc = LinearCombination::zero();
        for _ in 0..[0, 1, 1, 1, 2, 3, 12][rng.next_u32() as usize % 7] {
            let coefficient = coefficient(&mut rng);
            let distance = rng.next_u32() as usize % 400;
            let back = |distance: usize| aux[aux.len() - 1 - distance % aux.len()];
            lc = match rng.next_u32() % 18 {
                0 => lc + (coefficient, inputs[0]),
                1 => lc + (coefficient, inputs[distance % inputs.len()]),
                2 => lc + (coefficient, inputs[inputs.len() - 1 - distance % inputs.len()]),
                3 => lc + (coefficient, aux[distance % aux.len()]),
                4 => lc + (coefficient, aux[(distance + row) % aux.len()]),
                5 => lc + (coefficient, back(distance)) - (coefficient, back(distance)),
                6 => self.word(lc, &mut rng, 1),
                7 => self.word(lc, &mut rng, 2),
                8 => lc + (coefficient, back(distance + row / 2)),
                9 => lc + (coefficient, back(distance + row)),
                10 => lc + (coefficient, back(distance + 2 * row)),
                _ => lc + (coefficient, back(distance % 70)),
            };
        }
        lc
    }

    /// Doubling coefficients on the latest variables, `stride` apart.
    fn word(&self, lc: LinearCombination<Fr>, rng: &mut ChaCha20Rng, stride: usize) -> LinearCombination<Fr> {
        let length = 1 + rng.next_u32() as usize % 70;
        let mut power = Fr::from(2).pow_vartime([u64::from(rng.next_u32() % 180)]);
        let mut lc = lc;
        for variable in (0..length).rev().filter_map(|i| self.aux.len().checked_sub(1 + i * stride)) {
            lc = lc + (power, self.aux[variable]);
            power = power.double();
        }
        lc
    }
}

fn coefficient(rng: &mut ChaCha20Rng) -> Fr {
    match rng.next_u32() % 9 {
        0..=2 => Fr::ONE,
        3 | 4 => -Fr::ONE,
        5 => Fr::from(2),
        6 => Fr::from(u64::from(rng.next_u32() % 200)),
        7 => Fr::from(2).pow_vartime([u64::from(rng.next_u32() % 250)]),
        _ => Fr::random(rng),
    }
}
