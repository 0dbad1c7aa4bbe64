//! What a proof consists of: quotients, evaluation with all that follows, and sums.

use bellperson::{Circuit, ConstraintSystem, SynthesisError, Variable};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use ff::Field;
use group::{Curve, Group};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::{difference, Checks};
use crate::backend::bases::{G1Bases, G2Bases};
use crate::backend::cpu::CpuBackend;
use crate::backend::scalars::{total, Scalars};
use crate::backend::Backend;
use crate::constraints::Constraints;
use crate::error::{Error, Fault, Result};
use crate::report::Timings;
use crate::witness::synthesize;

/// Different bases of a sum, which repeat.
const DISTINCT: usize = 61;

pub(super) fn run(checks: &mut Checks, log_size: u32) {
    quotients(checks, log_size);
    let count = (2usize << log_size) + 3;
    let multiples: Vec<Fr> = (1..=DISTINCT as u64).map(Fr::from).collect();
    let g1: Vec<_> = multiples.iter().map(|k| (G1Projective::generator() * k).to_affine()).collect();
    let g1: Vec<u8> = g1.iter().map(G1Affine::to_uncompressed).cycle().take(count).flatten().collect();
    let g2: Vec<_> = multiples.iter().map(|k| (G2Projective::generator() * k).to_affine()).collect();
    let g2: Vec<u8> = g2.iter().map(G2Affine::to_uncompressed).cycle().take(count).flatten().collect();
    circuits(checks, log_size, &g1);
    sums(checks, count, &g1, &g2);
}

fn random(count: usize, seed: u64) -> Vec<Fr> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..count).map(|_| Fr::random(&mut rng)).collect()
}

/// Of rows that fill their domain and that do not, in domains of every size.
fn quotients(checks: &mut Checks, log_size: u32) {
    for log in 0..=log_size {
        let domain = 1usize << log;
        checks.check(format!("quotient of 2^{log} rows"), |cuda| {
            for rows in [domain, domain - domain / 3] {
                let (a, b) = (random(rows, 1), random(rows, 2));
                let (device, cpu) = (cuda.quotient(&a, &b)?, CpuBackend::default().quotient(&a, &b)?);
                if let Some(place) = difference(&device, &cpu) {
                    return Ok(Some(format!("{place}, {rows} rows")));
                }
            }
            Ok(None)
        });
    }
}

/// Evaluation, quotient and the sum over its coefficients.
fn circuits(checks: &mut Checks, log_size: u32, bases: &[u8]) {
    for rows in [5, (1 << log_size) - 7] {
        checks.check(format!("evaluation, quotient and sum of {rows} rows"), |cuda| {
            let circuit = Example { steps: rows / ROWS_A_STEP };
            let (constraints, witness) = (Constraints::build(circuit)?, synthesize(circuit)?.witness()?);
            let count = constraints.tables().rows.next_power_of_two() - 1;
            let bases = some(G1Bases::new(bases))?.slice(0..count);
            let sum =
                |backend: &dyn Backend| backend.sum_of_quotient(&constraints, &witness, bases, &Timings::default());
            let (device, cpu) = (sum(cuda)?, sum(&CpuBackend::default())?);
            Ok((device != cpu).then(|| format!("the sum over {count} bases")))
        });
    }
}

/// Of elements, of small ones, of equal ones, and of the variables of a witness.
fn sums(checks: &mut Checks, count: usize, g1: &[u8], g2: &[u8]) {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let bits = (0..count).map(|_| Fr::from(u64::from(rng.next_u32() % 2))).collect();
    let mut edges = random(count, 4);
    let values = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2)];
    edges.iter_mut().zip(values.iter().cycle()).step_by(2).for_each(|(scalar, edge)| *scalar = *edge);
    let cases = [
        ("random scalars", random(count, 5)),
        ("bits", bits),
        ("edges", edges),
        ("equal scalars", vec![random(1, 6)[0]; count]),
    ];
    for (name, scalars) in &cases {
        sum(checks, name, (g1, g2), &[Scalars::Elements(scalars)]);
    }
    let circuit = Example { steps: count / VARIABLES_A_STEP - 1 };
    let made = synthesize(circuit).and_then(|of| Ok((of.witness()?, Constraints::build(circuit)?.densities())));
    match made {
        Ok((witness, densities)) => {
            for (name, density) in [("variables", None), ("variables of B", Some(&densities.b_aux))] {
                match Scalars::of_witness(&witness, density) {
                    Ok(scalars) => sum(checks, name, (g1, g2), &[scalars]),
                    Err(e) => checks.check(name, |_| Err(e)),
                }
            }
        }
        Err(e) => checks.check("variables", |_| Err(e)),
    }
}

/// In both groups, over as many bases as there are scalars.
fn sum(checks: &mut Checks, name: &str, (g1, g2): (&[u8], &[u8]), scalars: &[Scalars<'_>]) {
    let (host, count) = (CpuBackend::default(), total(scalars));
    checks.check(format!("G1: sum of {count} {name}"), |cuda| {
        let bases = some(G1Bases::new(g1))?.slice(0..count);
        Ok((cuda.sum_g1(bases, scalars)? != host.sum_g1(bases, scalars)?).then(|| "the sum".into()))
    });
    checks.check(format!("G2: sum of {count} {name}"), |cuda| {
        let bases = some(G2Bases::new(g2))?.slice(0..count);
        Ok((cuda.sum_g2(bases, scalars)? != host.sum_g2(bases, scalars)?).then(|| "the sum".into()))
    });
}

/// Bases, which are a whole number of points.
fn some<T>(bases: Option<T>) -> Result<T> {
    bases.ok_or_else(|| Error::new(Fault::Internal, "bases that are no whole number of points"))
}

/// Constraints of the kinds that there are: bits, sums of bits, and elements of which each follows from the one before.
#[derive(Clone, Copy)]
struct Example {
    steps: usize,
}

/// Constraints of a step.
const ROWS_A_STEP: usize = 4;
/// Variables of a step.
const VARIABLES_A_STEP: usize = 4;

impl Circuit<Fr> for Example {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError> {
        let mut value = Fr::from(3);
        let mut state = cs.alloc(|| "state", || Ok(value))?;
        for i in 0..self.steps as u64 {
            let bits = [7, 13].map(|shift| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift & 1);
            let [x, y] = [bit(cs, bits[0])?, bit(cs, bits[1])?];
            let xor = cs.alloc(|| "xor", || Ok(Fr::from(bits[0] ^ bits[1])))?;
            cs.enforce(|| "xor", |lc| lc + (Fr::from(2), x), |lc| lc + y, |lc| lc + x + y - xor);
            let factor = value + Fr::from(5 + 3 * bits[0]);
            let next = cs.alloc(|| "next", || Ok(value * factor))?;
            let five = (Fr::from(5), CS::one());
            cs.enforce(|| "step", |lc| lc + state, |lc| lc + state + (Fr::from(3), x) + five, |lc| lc + next);
            (state, value) = (next, value * factor);
        }
        let last = cs.alloc_input(|| "last", || Ok(value))?;
        cs.enforce(|| "last", |lc| lc + state, |lc| lc + CS::one(), |lc| lc + last);
        Ok(())
    }
}

fn bit<CS: ConstraintSystem<Fr>>(cs: &mut CS, value: u64) -> std::result::Result<Variable, SynthesisError> {
    let bit = cs.alloc(|| "bit", || Ok(Fr::from(value)))?;
    cs.enforce(|| "bit", |lc| lc + bit, |lc| lc + CS::one() - bit, |lc| lc);
    Ok(bit)
}
