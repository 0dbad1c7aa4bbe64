//! Verification: bellperson's, one partition at a time so that a failing one can be named.

use bellperson::groth16::{prepare_verifying_key, verify_proof, Proof, VerifyingKey};
use blstrs::{Bls12, Scalar as Fr};

use crate::error::{Fault, OrFault, Result};
use crate::fail;

/// Does each proof hold for its public inputs (without the leading ONE)? One verdict per proof.
///
/// # Errors
/// Unequal numbers of proofs and inputs, or inputs that this verifying key does not take.
pub fn verify(vk: &VerifyingKey<Bls12>, proofs: &[Proof<Bls12>], inputs: &[Vec<Fr>]) -> Result<Vec<bool>> {
    if proofs.len() != inputs.len() {
        fail!(Fault::Input, "{} proofs for {} partitions: expected one each", proofs.len(), inputs.len());
    }
    let prepared = prepare_verifying_key(vk);
    proofs
        .iter()
        .zip(inputs)
        .enumerate()
        .map(|(k, (proof, inputs))| {
            verify_proof(&prepared, proof, inputs).or_fault(Fault::Parameters, || {
                format!("partition {k}: {} public inputs for a verifying key of {}", inputs.len(), vk.ic.len())
            })
        })
        .collect()
}

/// As [`verify`], with an error that names the partitions that fail.
///
/// # Errors
/// [`Fault::Unverified`] when a proof does not hold; else as [`verify`].
pub fn check_proofs(vk: &VerifyingKey<Bls12>, proofs: &[Proof<Bls12>], inputs: &[Vec<Fr>]) -> Result<()> {
    let verdicts = verify(vk, proofs, inputs)?;
    let failing: Vec<String> =
        verdicts.iter().enumerate().filter(|(_, holds)| !**holds).map(|(k, _)| k.to_string()).collect();
    if !failing.is_empty() {
        fail!(
            Fault::Unverified,
            "the proof does not verify: {} of {} partitions fail (partition {})",
            failing.len(),
            verdicts.len(),
            failing.join(", ")
        );
    }
    Ok(())
}
