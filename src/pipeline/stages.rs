//! The stages of a proof, each one call: what runs them in which order, and how many at a time, is decided elsewhere.

use bellperson::groth16::{Proof, VerifyingKey};
use blstrs::Bls12;

use super::job::Compiled;
use super::proof_file::PARTITION_BYTES;
use crate::circuit::{Partition, PoRep, Statement, VanillaProofs};
use crate::constraints::first_unsatisfied;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::groth16;
use crate::report::{Phase, Timings};
use crate::witness::{porep::Generator, CompactWitness};

/// Checks that the witness of partition `k` satisfies its circuit, row by row.
///
/// # Errors
/// `Input` for the first row that it does not satisfy, with the row's place in the circuit.
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
        let witness = compiled.generator.generate(&porep.partition(statement, vanilla, k)?)?;
        let values = compiled.circuit.constraints().evaluate(&witness)?;
        match first_unsatisfied(|| porep.blank(), &witness, &values)? {
            None => Ok(()),
            Some(unsatisfied) => fail!(
                Fault::Input,
                "the witness does not satisfy the circuit, first in {unsatisfied}. Expected a C1 file that satisfies every row; \
                 if this one passes filecoin's own verification (no --no-check-c1), please report this"
            ),
        }
    })
}

/// The values of partition `k`, counted from 0, that its circuit takes.
pub fn circuit(
    porep: &PoRep,
    statement: &Statement,
    vanilla: &VanillaProofs,
    k: usize,
    timings: &Timings,
) -> Result<Partition> {
    timings.time(Phase::Circuit, 1, || porep.partition(statement, vanilla, k))
}

/// The witness of partition `k`.
pub fn synthesis(generator: &Generator, partition: &Partition, k: usize, timings: &Timings) -> Result<CompactWitness> {
    let variables = generator.layout().aux() as u64;
    timings.time(Phase::Synthesis, variables, || generator.generate(partition)).map_err(|e| in_partition(e, k))
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
