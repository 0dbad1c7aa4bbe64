//! The 2 KiB PoRep circuit: for fixed r and s our proof is bellperson's, byte for byte.

mod common;

use bellperson::groth16::{create_proof, Parameters, Proof};
use blstrs::{Bls12, Scalar as Fr};
use cuzk::backend::cpu::CpuBackend;
use cuzk::groth16::{prove, Blinding};
use cuzk::pipeline::parameters::Source;
use cuzk::report::{Progress, Timings};
use cuzk::srs::Lookup;
use ff::Field;

#[test]
fn the_2kib_proof_equals_bellpersons() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = cuzk::circuit::PoRep::new(c1.statement.proof).unwrap();
    let circuit = || porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap();
    let lookup = Lookup { folder: common::dev_params(), folder_source: "tests".into(), recheck: false };
    let source = Source { lookup, development: true, verdicts: None, cache: None };
    let srs = source.open(&porep, &Progress::silent()).unwrap();
    let compiled = source.compile(&porep, &Progress::silent()).unwrap();
    let witness = compiled.witness(compiled.values(&porep, &c1.statement, &c1.vanilla, 0).unwrap()).unwrap();

    let blinding = Blinding { r: Fr::from(27134).invert().unwrap(), s: -Fr::from(17146) };
    let ours =
        prove(&CpuBackend::default(), &srs, &compiled.circuit, &witness, &blinding, &Timings::default()).unwrap();
    let mapped = Parameters::<Bls12>::build_mapped_parameters(srs.path().into(), false).unwrap();
    let theirs = create_proof(circuit(), &mapped, blinding.r, blinding.s).unwrap();

    let encode = |proof: &Proof<Bls12>| {
        let mut bytes = Vec::new();
        proof.write(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(encode(&ours), encode(&theirs));
    cuzk::groth16::check_proofs(srs.vk(), &[ours], &[porep.public_inputs(&c1.statement, 0).unwrap()]).unwrap();
}
