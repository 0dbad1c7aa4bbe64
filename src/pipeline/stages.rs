//! The stages of a proof, each one call: what runs them in which order, and how many at a time, is decided elsewhere.

use bellperson::groth16::{Proof, VerifyingKey};
use blstrs::{Bls12, Scalar as Fr};
use ff::PrimeField;

use super::compiled::{Compiled, Values};
use super::proof_file::PARTITION_BYTES;
use crate::circuit::{PoRep, Statement, VanillaProofs};
use crate::constraints::first_unsatisfied;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::groth16;
use crate::report::{Phase, Timings};
use crate::witness::CompactWitness;

/// Checks that the witness of partition `k` has the public inputs that its proof will be verified with, and satisfies its circuit,
/// row by row.
///
/// # Errors
/// `Input` for the first input that differs, or the first row that is not satisfied with its place in the circuit.
pub fn witness_check(
    porep: &PoRep,
    compiled: &Compiled,
    statement: &Statement,
    vanilla: &VanillaProofs,
    k: usize,
    timings: &Timings,
) -> Result<()> {
    let rows = compiled.circuit.rows() as u64;
    timings.time(Phase::WitnessCheck, rows, || {
        let witness = compiled.witness(compiled.values(porep, statement, vanilla, k)?)?;
        check_inputs(porep, statement, k, &witness)?;
        check_rows(porep, compiled, &witness).map_err(|error| compiled.doubt(error))
    })
}

/// # Errors
/// `Input`: the vanilla proofs answer other challenges than the statement's.
fn check_inputs(porep: &PoRep, statement: &Statement, k: usize, witness: &CompactWitness) -> Result<()> {
    let expected = porep.public_inputs(statement, k)?;
    let got = witness.inputs().get(1..).unwrap_or_default();
    if got.len() != expected.len() {
        fail!(Fault::Internal, "a witness of {} inputs, expected {}", got.len(), expected.len());
    }
    if let Some(i) = (0..got.len()).find(|i| got[*i] != expected[*i]) {
        fail!(
            Fault::Input,
            "input {} of the witness ({}) is {}, and the proof is verified with {}: these vanilla proofs answer other challenges \
             than those that follow from seed, replica_id and proof type. Expected all of them from one commit phase 1; compare \
             the file with its source",
            i + 1,
            porep.shape().public_input_name(i),
            public_input(&got[i]),
            public_input(&expected[i])
        );
    }
    Ok(())
}

/// Positions as the numbers they are, commitments as the C1 file has them.
fn public_input(value: &Fr) -> String {
    let bytes = value.to_repr();
    match bytes.split_first_chunk() {
        Some((low, high)) if high.iter().all(|byte| *byte == 0) => u64::from_le_bytes(*low).to_string(),
        _ => hex::encode(bytes),
    }
}

fn check_rows(porep: &PoRep, compiled: &Compiled, witness: &CompactWitness) -> Result<()> {
    let values = compiled.circuit.constraints().evaluate(witness)?;
    match first_unsatisfied(|| porep.blank(), witness, &values)? {
        None => Ok(()),
        Some(unsatisfied) => fail!(
            Fault::Input,
            "the witness does not satisfy the circuit, first in {unsatisfied}. Expected a C1 file that satisfies every row; \
             if this one passes filecoin's own verification (no --no-check-c1), please report this"
        ),
    }
}

/// What the witness of partition `k`, counted from 0, is made from.
pub fn circuit(
    porep: &PoRep,
    compiled: &Compiled,
    statement: &Statement,
    vanilla: &VanillaProofs,
    k: usize,
    timings: &Timings,
) -> Result<Values> {
    timings.time(Phase::Circuit, 1, || compiled.values(porep, statement, vanilla, k))
}

/// The witness of partition `k`.
pub fn synthesis(compiled: &Compiled, values: Values, k: usize, timings: &Timings) -> Result<CompactWitness> {
    let variables = compiled.circuit.aux() as u64;
    timings.time(Phase::Synthesis, variables, || compiled.witness(values)).map_err(|e| in_partition(e, k))
}

/// Verifies one proof a partition; an error names the partitions whose proofs are wrong.
///
/// # Errors
/// `Unverified`: some proof does not verify, or there are too few or too many.
pub fn verification(
    porep: &PoRep,
    vk: &VerifyingKey<Bls12>,
    statement: &Statement,
    proofs: &[Proof<Bls12>],
    timings: &Timings,
) -> Result<()> {
    if proofs.len() != porep.partitions() {
        fail!(Fault::Unverified, "expected {} partitions' proofs, got {}", porep.partitions(), proofs.len());
    }
    timings.time(Phase::Verification, proofs.len() as u64, || {
        let inputs = (0..proofs.len()).map(|k| porep.public_inputs(statement, k)).collect::<Result<Vec<_>>>()?;
        groth16::check_proofs(vk, proofs, &inputs)
    })
}

/// The proofs in Filecoin's encoding: 192 bytes each, in partition order.
pub fn encode(proofs: &[Proof<Bls12>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(proofs.len() * PARTITION_BYTES);
    for proof in proofs {
        proof.write(&mut bytes).or_fault(Fault::Internal, || "encoding the proof".into())?;
    }
    Ok(bytes)
}

/// The inverse of [`encode`].
///
/// # Errors
/// `Unverified`: the bytes are no points of the proof's groups, which no proof that verifies could be.
pub fn decode(bytes: &[u8]) -> Result<Vec<Proof<Bls12>>> {
    let partitions = bytes.chunks(PARTITION_BYTES).enumerate();
    partitions
        .map(|(k, chunk)| {
            Proof::read(chunk)
                .or_fault(Fault::Unverified, || format!("partition {k}: the proof's bytes are not points"))
        })
        .collect()
}

fn in_partition(error: crate::error::Error, k: usize) -> crate::error::Error {
    error.context(format!("partition {k}"))
}
