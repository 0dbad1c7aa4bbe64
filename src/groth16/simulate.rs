//! The zero-knowledge simulator: proofs from the trapdoor, without a witness.
//!
//! Whoever knows the secrets of a set of parameters makes proofs of anything, and they verify: that is why development
//! parameters, whose secrets are public, prove nothing. It makes a device that costs no time: a batch can be rehearsed, and
//! the pipeline tested, with proofs that pass verification.

use bellperson::groth16::{Proof, VerifyingKey};
use blstrs::{Bls12, G1Projective, G2Projective, Scalar as Fr};
use ff::Field;
use group::{prime::PrimeCurveAffine, Curve};

use super::Blinding;
use crate::error::{Fault, Result};
use crate::fail;

/// The secrets that a simulator needs; names as in Groth16.
#[derive(Clone, Copy, Debug)]
pub struct Trapdoor {
    pub g1: G1Projective,
    pub g2: G2Projective,
    pub alpha: Fr,
    pub beta: Fr,
    pub gamma: Fr,
    pub delta: Fr,
}

/// A proof for `inputs` (without ONE) that verifies under the trapdoor's verifying key. `blinding` takes the place of the
/// discrete logarithms of A and B, which are free: then C = (A B - alpha beta - gamma * sum(x_i ic_i)) / delta.
///
/// # Errors
/// The verifying key takes another number of inputs, or delta is zero.
pub fn simulate(
    vk: &VerifyingKey<Bls12>,
    trapdoor: &Trapdoor,
    inputs: &[Fr],
    blinding: &Blinding,
) -> Result<Proof<Bls12>> {
    let Some((one, rest)) = vk.ic.split_first().filter(|(_, rest)| rest.len() == inputs.len()) else {
        fail!(Fault::Parameters, "{} public inputs for a verifying key of {}", inputs.len(), vk.ic.len());
    };
    let Some(delta_inverse) = Option::<Fr>::from(trapdoor.delta.invert()) else {
        fail!(Fault::Parameters, "delta is zero: these are no parameters");
    };
    let Blinding { r: a, s: b } = *blinding;
    let statement = rest.iter().zip(inputs).fold(one.to_curve(), |sum, (ic, x)| sum + ic * x);
    let c = trapdoor.g1 * (a * b - trapdoor.alpha * trapdoor.beta) - statement * trapdoor.gamma;
    Ok(Proof { a: (trapdoor.g1 * a).to_affine(), b: (trapdoor.g2 * b).to_affine(), c: (c * delta_inverse).to_affine() })
}
