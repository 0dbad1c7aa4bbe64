//! Generated parameters against bellperson's own: the same bytes for the same secrets, and proofs that verify.

use std::path::PathBuf;

use bellperson::groth16::{
    create_random_proof, generate_parameters, prepare_verifying_key, verify_proof, MappedParameters, Parameters,
};
use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::{Bls12, Scalar as Fr};
use cuzk::circuit::CircuitIdentity;
use cuzk::srs::generate::{self, generate, Request, ToxicWaste};
use cuzk::srs::progress::silent;
use cuzk::srs::{open, Lookup, Origin};
use ff::Field;
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, RngCore, SeedableRng};

/// Rows of random linear combinations `A * B = new variable`, with inputs among the aux variables, terms that cancel,
/// repeated and empty combinations, and variables that occur in one matrix only.
#[derive(Clone, Copy)]
struct Random {
    rows: usize,
    inputs: usize,
    seed: u64,
}

struct Builder {
    rng: ChaCha20Rng,
    variables: Vec<(Variable, Fr)>,
}

impl Builder {
    /// A combination of up to four variables so far, and its value.
    fn combination(&mut self) -> (LinearCombination<Fr>, Fr) {
        let (mut lc, mut value) = (LinearCombination::zero(), Fr::ZERO);
        for _ in 0..self.rng.next_u32() % 5 {
            let (variable, assigned) = self.variables[self.rng.next_u32() as usize % self.variables.len()];
            let coefficient = match self.rng.next_u32() % 6 {
                0 | 1 => Fr::ONE,
                2 => -Fr::ONE,
                3 => Fr::ZERO,
                4 => Fr::from(1 << (self.rng.next_u32() % 32)),
                _ => Fr::random(&mut self.rng),
            };
            lc = lc + (coefficient, variable);
            value += coefficient * assigned;
            if self.rng.next_u32() % 4 == 0 {
                lc = lc - (coefficient, variable);
                value -= coefficient * assigned;
            }
        }
        (lc, value)
    }
}

impl Circuit<Fr> for Random {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let rng = ChaCha20Rng::seed_from_u64(self.seed);
        let mut builder = Builder { rng, variables: vec![(CS::one(), Fr::ONE)] };
        let every = (self.rows / (self.inputs + 1)).max(1);
        for row in 0..self.rows {
            let ((a, a_value), (b, b_value)) = (builder.combination(), builder.combination());
            let value = a_value * b_value;
            let inputs = (row + 1) / every;
            let new = if (row + 1) % every == 0 && inputs <= self.inputs {
                cs.alloc_input(|| format!("p{row}"), || Ok(value))?
            } else {
                cs.alloc(|| format!("x{row}"), || Ok(value))?
            };
            cs.enforce(|| format!("row{row}"), |_| a, |_| b, |lc| lc + new);
            builder.variables.push((new, value));
        }
        Ok(())
    }
}

fn bellperson_bytes(circuit: Random, toxic: &ToxicWaste) -> Vec<u8> {
    let ToxicWaste { g1, g2, alpha, beta, gamma, delta, tau } = toxic.clone();
    let parameters = generate_parameters::<Bls12, _>(circuit, g1, g2, alpha, beta, gamma, delta, tau).unwrap();
    let mut bytes = Vec::new();
    parameters.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn bytes_equal_bellpersons() {
    // With ONE and its row: domains of 2, 4, 8; filled exactly, by one less, by one more; and odd sizes.
    let sizes = [(1, 0), (1, 1), (2, 1), (5, 2), (4, 3), (6, 1), (60, 3), (59, 3), (61, 3), (1001, 7), (1025, 20)];
    for (seed, (rows, inputs)) in sizes.into_iter().enumerate() {
        let circuit = Random { rows, inputs, seed: seed as u64 };
        let toxic = ToxicWaste::development("v28-random.params", Some(&seed.to_string()));
        let parameters = generate::Parameters::new(cuzk::constraints::record(circuit).unwrap(), toxic.clone()).unwrap();
        let mut bytes = Vec::new();
        parameters.write(&mut bytes, &silent).unwrap();
        assert_eq!(bytes.len(), parameters.layout().file_bytes());
        assert!(bytes == bellperson_bytes(circuit, &toxic), "{rows} rows, {inputs} inputs");
    }
}

#[test]
fn bellperson_proves_and_verifies_with_generated_files() {
    let folder = tempfile::tempdir().unwrap();
    let [params, vk, meta] = ["params", "vk", "meta"].map(|e| format!("v28-random.{e}"));
    let identity = CircuitIdentity { params, vk, meta };
    let circuit = Random { rows: 700, inputs: 3, seed: 99 };
    let request =
        Request { identity: &identity, sector_bytes: 2048, folder: folder.path(), folder_source: "test", seed: None };
    let path: PathBuf = generate(&request, circuit, &silent).unwrap().path;

    let checked = true;
    let mapped: MappedParameters<Bls12> = Parameters::build_mapped_parameters(path.clone(), checked).unwrap();
    let lookup = Lookup { folder: folder.path().into(), folder_source: "test".into(), recheck: false };
    let srs = open(&identity, &lookup, None, &silent).unwrap();
    assert_eq!(srs.origin(), Origin::Development);
    assert!(*srs.vk() == mapped.vk);
    let ours = [srs.h().len(), srs.l().len(), srs.a().len(), srs.b_g1().len(), srs.b_g2().len()];
    assert_eq!(ours, [&mapped.h, &mapped.l, &mapped.a, &mapped.b_g1, &mapped.b_g2].map(Vec::len));
    let first = mapped.b_g2[0].clone();
    assert_eq!(&mapped.params[first], srs.b_g2().point(0));

    // The inputs' values are what synthesis allocates for them.
    let inputs = inputs_of(circuit);
    let proof = create_random_proof(circuit, &mapped, &mut OsRng).unwrap();
    let key = prepare_verifying_key(&mapped.vk);
    assert!(verify_proof(&key, &proof, &inputs).unwrap());
    let mut wrong = inputs;
    wrong[1] += Fr::ONE;
    assert!(!verify_proof(&key, &proof, &wrong).unwrap());
}

/// The circuit's public inputs without ONE.
fn inputs_of(circuit: Random) -> Vec<Fr> {
    use bellperson::util_cs::test_cs::TestConstraintSystem;
    let mut cs = TestConstraintSystem::new();
    circuit.synthesize(&mut cs).unwrap();
    assert!(cs.is_satisfied());
    (1..=circuit.inputs).map(|i| cs.get_inputs()[i].0).collect()
}
