//! The 2 KiB PoRep circuit: for fixed r and s our proof is bellperson's, byte for byte.

mod common;

use bellperson::groth16::{create_proof, Parameters, Proof};
use blstrs::{Bls12, Scalar as Fr};
use cuzk::backend::cpu::CpuBackend;
use cuzk::c1::{sample, SampleOptions};
use cuzk::circuit::{PoRep, SealProof};
use cuzk::groth16::{prove, sum_of_quotient, sums, sums_of_witnesses, Blinding};
use cuzk::pipeline::parameters::Source;
use cuzk::report::{Memory, Progress, Timings};
use cuzk::srs::Lookup;
use ff::Field;

fn source() -> Source {
    let lookup = Lookup { folder: common::dev_params(), folder_source: "tests".into(), recheck: false };
    Source { lookup, development: true, verdicts: None, cache: None }
}

#[test]
fn the_2kib_proof_equals_bellpersons() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = cuzk::circuit::PoRep::new(c1.statement.proof).unwrap();
    let circuit = || porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap();
    let source = source();
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

/// Nine witnesses, one more than the CPU sums together, each with as much of the time as the others.
#[test]
fn sums_of_witnesses_together_are_those_of_each() {
    let (source, silent) = (source(), Progress::silent());
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).unwrap();
    let (srs, compiled) = (source.open(&porep, &silent).unwrap(), source.compile(&porep, &silent).unwrap());
    let witness = |seed| {
        let c1 = sample(porep.proof(), &SampleOptions { seed, ..SampleOptions::default() }).unwrap();
        compiled.generator.as_ref().unwrap().generate(&porep.partition(&c1.statement, &c1.vanilla, 0).unwrap()).unwrap()
    };
    let witnesses: Vec<_> = (0..9).map(|seed| (witness(seed), Timings::default())).collect();
    let (backend, circuit) = (CpuBackend::default(), &compiled.circuit);
    let all: Vec<_> = witnesses.iter().map(|(witness, timings)| (witness, timings)).collect();
    let together = sums_of_witnesses(&backend, &srs, circuit, &all).unwrap();
    let seconds = |timings: &Timings| -> Vec<(String, f64)> {
        let mut phases = timings.json(&Memory::default())["phases"].as_array().unwrap().clone();
        phases.retain(|phase| phase["phase"] != "other");
        phases.iter().map(|p| (p["phase"].as_str().unwrap().to_owned(), p["seconds"].as_f64().unwrap())).collect()
    };
    assert_eq!(seconds(all[0].1).len(), 4);
    for (k, (witness, timings)) in all.iter().enumerate() {
        assert_eq!(seconds(timings), seconds(all[0].1), "{k}");
        let alone = &Timings::default();
        assert_eq!(sums_of_witnesses(&backend, &srs, circuit, &[(witness, alone)]).unwrap(), [together[k]], "{k}");
    }
    assert!(sums_of_witnesses(&backend, &srs, circuit, &[]).unwrap().is_empty());
    // With the quotient's, all sums of a proof.
    let (witness, timings) = all[3];
    let h = sum_of_quotient(&backend, &srs, circuit, witness, timings).unwrap();
    assert_eq!(together[3].with(h), sums(&backend, &srs, circuit, witness, timings).unwrap());
}
