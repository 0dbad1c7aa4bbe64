//! Our prover against bellperson's: for the same r and s the same bytes, and its verifier accepts.

mod circuits;

use std::fs::File;
use std::ops::AddAssign;

use bellperson::groth16::{create_proof, Parameters, Proof};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar as Fr};
use circuits::RandomCircuit;
use cuzk::backend::{cpu::CpuBackend, reference::Reference, Backend};
use cuzk::circuit::CircuitIdentity;
use cuzk::constraints::Constraints;
use cuzk::error::Fault;
use cuzk::groth16::{check_proofs, prove, verify, Blinding, Circuit};
use cuzk::report::{Phase, Timings};
use cuzk::srs::{self, generate::generate, generate::Request, Lookup, Srs};
use cuzk::witness::{synthesize, CompactWitness};
use ff::Field;
use group::{prime::PrimeCurveAffine, Curve, Group};

fn identity(name: &str) -> CircuitIdentity {
    CircuitIdentity { params: format!("{name}.params"), vk: format!("{name}.vk"), meta: format!("{name}.meta") }
}

/// Development parameters of a test circuit, and the folder that holds them.
fn parameters(circuit: &RandomCircuit) -> (tempfile::TempDir, Srs) {
    let folder = tempfile::tempdir().unwrap();
    let identity = identity("v28-test");
    let request =
        Request { identity: &identity, sector_bytes: 2048, folder: folder.path(), folder_source: "test", seed: None };
    generate(&request, *circuit, &srs::progress::silent).unwrap();
    let lookup = Lookup { folder: folder.path().into(), folder_source: "test".into(), recheck: false };
    let srs = srs::open(&identity, &lookup, None, &srs::progress::silent).unwrap();
    (folder, srs)
}

/// What the prover takes: the circuit's constraints and its witness.
fn compiled(circuit: &RandomCircuit) -> (Circuit, CompactWitness) {
    let witness = synthesize(*circuit).unwrap().witness().unwrap();
    (Circuit::new(Constraints::build(*circuit).unwrap()), witness)
}

fn bytes(proof: &Proof<Bls12>) -> Vec<u8> {
    let mut bytes = Vec::new();
    proof.write(&mut bytes).unwrap();
    bytes
}

fn blinding() -> Blinding {
    Blinding { r: Fr::from(27134).invert().unwrap(), s: -Fr::from(17146) }
}

fn equals_bellperson(backend: &dyn Backend, circuit: &RandomCircuit) {
    let (_folder, srs) = parameters(circuit);
    let theirs = Parameters::<Bls12>::read(File::open(srs.path()).unwrap(), true).unwrap();
    for Blinding { r, s } in [blinding(), Blinding { r: Fr::ZERO, s: Fr::ONE }] {
        let expected = create_proof(*circuit, &theirs, r, s).unwrap();
        let (compiled, witness) = compiled(circuit);
        let proof = prove(backend, &srs, &compiled, &witness, &Blinding { r, s }, &Timings::default()).unwrap();
        assert_eq!(bytes(&proof), bytes(&expected), "{}, {} rows", backend.name(), circuit.rows);
        check_proofs(srs.vk(), &[proof], &[circuit.public_inputs()]).unwrap();
    }
}

/// With the inputs' rows (ONE's included) the domain is just full, just overfull, and odd.
#[test]
fn proofs_equal_bellpersons_at_sizes_around_a_power_of_two() {
    for (rows, inputs) in [(3, 0), (5, 2), (60, 2), (61, 2), (62, 2), (100, 5), (1000, 3)] {
        let circuit = RandomCircuit { rows, inputs, seed: rows as u64 };
        equals_bellperson(&CpuBackend::default(), &circuit);
        if rows <= 100 {
            equals_bellperson(&Reference, &circuit);
        }
    }
}

/// A circuit's parameters and a proof that holds for them.
fn proved(circuit: &RandomCircuit) -> (tempfile::TempDir, Srs, Proof<Bls12>) {
    let (folder, srs) = parameters(circuit);
    let (compiled, witness) = compiled(circuit);
    let proof = prove(&CpuBackend::default(), &srs, &compiled, &witness, &blinding(), &Timings::default()).unwrap();
    (folder, srs, proof)
}

#[test]
fn wrong_points_in_a_proof_decode_and_do_not_verify() {
    let circuit = RandomCircuit { rows: 20, inputs: 2, seed: 3 };
    let (_folder, srs, proof) = proved(&circuit);
    let Proof { a, b, c } = proof.clone();
    let (g1, g2) = (G1Affine::generator(), G2Affine::generator());
    let g1_sum = |p: G1Affine, q: G1Affine| (p.to_curve() + q).to_affine();
    let wrong = [
        ("A + G", Proof { a: g1_sum(a, g1), ..proof.clone() }),
        ("-A", Proof { a: -a, ..proof.clone() }),
        ("G for A", Proof { a: g1, ..proof.clone() }),
        ("A and C swapped", Proof { a: c, c: a, ..proof.clone() }),
        ("B + G", Proof { b: (b.to_curve() + g2).to_affine(), ..proof.clone() }),
        ("-B", Proof { b: -b, ..proof.clone() }),
        ("2 B", Proof { b: b.to_curve().double().to_affine(), ..proof.clone() }),
        ("C + G", Proof { c: g1_sum(c, g1), ..proof.clone() }),
        ("-C", Proof { c: -c, ..proof.clone() }),
        ("2 C", Proof { c: g1_sum(c, c), ..proof.clone() }),
    ];
    let inputs = circuit.public_inputs();
    for (name, wrong) in wrong {
        let decoded = Proof::<Bls12>::read(&bytes(&wrong)[..]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(decoded == wrong && decoded != proof, "{name}");
        assert_eq!(verify(srs.vk(), &[decoded], std::slice::from_ref(&inputs)).unwrap(), [false], "{name}");
    }
    // Both signs: the same proof again, and so the verifier's business to accept.
    let both = Proof { a: -a, b: -b, c };
    assert_eq!(verify(srs.vk(), &[both, proof], &[inputs.clone(), inputs]).unwrap(), [true, true]);
}

#[test]
fn every_changed_byte_of_a_proof_is_refused_or_does_not_verify() {
    /// The flag in a compressed point's first byte that tells the sign of y.
    const SIGN: u8 = 0x20;
    /// Where A, B and C start.
    const POINTS: [usize; 3] = [0, 48, 144];
    let circuit = RandomCircuit { rows: 20, inputs: 2, seed: 3 };
    let (_folder, srs, proof) = proved(&circuit);
    let bytes = bytes(&proof);
    let (mut refused, mut unverified) = (0, 0);
    for (i, bit) in (0..bytes.len()).map(|i| (i, 1)).chain(POINTS.map(|i| (i, SIGN))) {
        let mut changed = bytes.clone();
        changed[i] ^= bit;
        match Proof::<Bls12>::read(&changed[..]) {
            Err(_) => refused += 1,
            Ok(changed) => {
                let verdict = verify(srs.vk(), &[changed], &[circuit.public_inputs()]).unwrap();
                assert_eq!(verdict, [false], "byte {i}, bit {bit:#x}");
                unverified += 1;
            }
        }
    }
    // Another x has a point of the right order about once in 2^125; another sign always has one.
    assert_eq!((refused, unverified), (bytes.len(), POINTS.len()));
}

#[test]
fn a_wrong_value_anywhere_yields_a_proof_that_does_not_verify() {
    let circuit = RandomCircuit { rows: 30, inputs: 2, seed: 4 };
    let (_folder, srs) = parameters(&circuit);
    let (compiled, good) = compiled(&circuit);
    let (inputs, aux) = (good.inputs().to_vec(), good.expand());
    for spoil in 0..4 {
        let (mut inputs, mut aux) = (inputs.clone(), aux.clone());
        match spoil {
            0 => aux[7] += Fr::ONE,
            1 => aux[0] += Fr::from(2),
            2 => aux.iter_mut().last().unwrap().add_assign(Fr::ONE),
            _ => inputs[1] += Fr::ONE,
        }
        let witness = CompactWitness::from_values(inputs, &aux).unwrap();
        let proof = prove(&CpuBackend::default(), &srs, &compiled, &witness, &blinding(), &Timings::default()).unwrap();
        let error = check_proofs(srs.vk(), &[proof], &[circuit.public_inputs()]).unwrap_err();
        assert_eq!(error.fault(), Fault::Unverified, "case {spoil}");
        assert!(error.to_string().contains("partition 0"), "{error}");
    }
}

#[test]
fn parameters_of_another_circuit_are_refused_with_the_query_that_differs() {
    let (_folder, srs) = parameters(&RandomCircuit { rows: 30, inputs: 2, seed: 4 });
    let (other, witness) = compiled(&RandomCircuit { rows: 31, inputs: 2, seed: 4 });
    let error = prove(&CpuBackend::default(), &srs, &other, &witness, &blinding(), &Timings::default()).unwrap_err();
    assert_eq!(error.fault(), Fault::Parameters);
    assert!(error.to_string().contains("query has 30 points, this circuit needs 31"), "{error}");
}

#[test]
fn verdicts_are_one_per_partition() {
    let circuit = RandomCircuit { rows: 20, inputs: 2, seed: 5 };
    let (_folder, srs, proof) = proved(&circuit);
    let (good, mut bad) = (circuit.public_inputs(), circuit.public_inputs());
    bad[0] += Fr::ONE;
    let proofs = [proof.clone(), proof.clone(), proof];
    assert_eq!(verify(srs.vk(), &proofs, &[good.clone(), bad.clone(), good.clone()]).unwrap(), [true, false, true]);
    let error = check_proofs(srs.vk(), &proofs, &[good.clone(), bad, good.clone()]).unwrap_err();
    assert!(error.to_string().contains("1 of 3 partitions fail (partition 1)"), "{error}");
    assert_eq!(verify(srs.vk(), &proofs, std::slice::from_ref(&good)).unwrap_err().fault(), Fault::Input);
    assert_eq!(verify(srs.vk(), &proofs[..1], &[good[1..].to_vec()]).unwrap_err().fault(), Fault::Parameters);
}

#[test]
fn every_phase_of_the_prover_is_timed() {
    let circuit = RandomCircuit { rows: 20, inputs: 2, seed: 6 };
    let (_folder, srs) = parameters(&circuit);
    let timings = Timings::default();
    let (compiled, witness) = compiled(&circuit);
    prove(&CpuBackend::default(), &srs, &compiled, &witness, &blinding(), &timings).unwrap();
    let json = timings.json(&Default::default()).to_string();
    for phase in [
        Phase::Evaluation,
        Phase::Quotient,
        Phase::SumH,
        Phase::SumL,
        Phase::SumA,
        Phase::SumBG1,
        Phase::SumBG2,
        Phase::Assembly,
    ] {
        assert!(json.contains(phase.name()), "{}: {json}", phase.name());
    }
}
