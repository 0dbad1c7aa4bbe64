//! Generated parameters against bellperson's own: the same bytes for the same secrets, and proofs that verify.

mod circuits;

use std::path::PathBuf;

use bellperson::groth16::{
    create_random_proof, generate_parameters, prepare_verifying_key, verify_proof, MappedParameters, Parameters,
};
use blstrs::{Bls12, Scalar as Fr};
use circuits::RandomCircuit;
use cuzk::circuit::CircuitIdentity;
use cuzk::srs::generate::{self, generate, Request, ToxicWaste};
use cuzk::srs::progress::silent;
use cuzk::srs::{open, Lookup, Origin};
use ff::Field;
use rand_core::OsRng;

fn bellperson_bytes(circuit: RandomCircuit, toxic: &ToxicWaste) -> Vec<u8> {
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
        let circuit = RandomCircuit { rows, inputs, seed: seed as u64 };
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
    let circuit = RandomCircuit { rows: 700, inputs: 3, seed: 99 };
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

    let inputs = circuit.public_inputs();
    let proof = create_random_proof(circuit, &mapped, &mut OsRng).unwrap();
    let key = prepare_verifying_key(&mapped.vk);
    assert!(verify_proof(&key, &proof, &inputs).unwrap());
    let mut wrong = inputs;
    wrong[1] += Fr::ONE;
    assert!(!verify_proof(&key, &proof, &wrong).unwrap());
}
