//! The whole way of a 2 KiB proof in portable arithmetic, on a processor that has more: the proof is the same.
//!
//! Alone in its process, which `processor::choose` settles for all of it.

mod common;

use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar as Fr};
use cuzk::backend::{cpu::CpuBackend, Backend};
use cuzk::circuit::PoRep;
use cuzk::groth16::{prove, Blinding};
use cuzk::pipeline::parameters::Source;
use cuzk::processor::{self, Arithmetic, Wanted};
use cuzk::report::{Progress, Timings};
use cuzk::srs::Lookup;

#[test]
fn portable_arithmetic_makes_the_same_proof() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let lookup = Lookup { folder: common::dev_params(), folder_source: "tests".into(), recheck: false };
    let source = Source { lookup, development: true, verdicts: None, cache: None };
    let srs = source.open(&porep, &Progress::silent()).unwrap();
    let blinding = Blinding { r: Fr::from(3), s: Fr::from(4) };
    let proof = |wanted: Wanted| -> (Arithmetic, String, Proof<Bls12>) {
        processor::choose(wanted).unwrap();
        // Witness, evaluation, quotient and sums, with nothing left from before.
        let (backend, compiled) = (CpuBackend::default(), source.compile(&porep, &Progress::silent()).unwrap());
        let values = compiled.values(&porep, &c1.statement, &c1.vanilla, 0).unwrap();
        let witness = compiled.witness(values).unwrap();
        let proof = prove(&backend, &srs, &compiled.circuit, &witness, &blinding, &Timings::default()).unwrap();
        (processor::arithmetic(), backend.name(), proof)
    };
    let (_, _, widest) = proof(Wanted::Auto);
    let (arithmetic, name, portable) = proof(Wanted::Scalar);
    assert_eq!(arithmetic, Arithmetic::Scalar);
    assert!(name.ends_with(" threads, portable: CUZK_CPU=scalar)"), "{name}");
    assert!(
        !processor::has_ifma() && !processor::has_avx512_bytes() && !processor::has_bmi2() && !processor::has_adx()
    );
    assert!(portable == widest);
    cuzk::groth16::check_proofs(srs.vk(), &[portable], &[porep.public_inputs(&c1.statement, 0).unwrap()]).unwrap();
}
