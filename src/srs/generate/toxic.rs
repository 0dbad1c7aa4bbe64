//! The secrets of development parameters. They are no secrets: whoever knows the circuit's name can compute them.

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use ff::Field;
use group::Group;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// Begins the label that the secrets are derived from.
const LABEL: &str = "cuzk development parameters";

/// What a real ceremony would destroy. Names as in Groth16, "On the Size of Pairing-based Non-interactive Arguments".
#[derive(Clone, Debug)]
pub struct ToxicWaste {
    pub g1: G1Projective,
    pub g2: G2Projective,
    pub alpha: Fr,
    pub beta: Fr,
    pub gamma: Fr,
    pub delta: Fr,
    pub tau: Fr,
}

impl ToxicWaste {
    /// Secrets for the parameters named `circuit`: ChaCha20 seeded with the SHA-256 of the label, the name and `seed`, each
    /// preceded by its length. The same everywhere and always, so that the digests of development parameters are, too;
    /// anyone can forge proofs with them.
    pub fn development(circuit: &str, seed: Option<&str>) -> Self {
        let mut hash = Sha256::new();
        for part in [LABEL, circuit, seed.unwrap_or_default()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut rng = ChaCha20Rng::from_seed(hash.finalize().into());
        let [g1, g2, alpha, beta, gamma, delta, tau] = std::array::from_fn(|_| nonzero_scalar(&mut rng));
        Self { g1: G1Projective::generator() * g1, g2: G2Projective::generator() * g2, alpha, beta, gamma, delta, tau }
    }
}

/// The next 32 bytes that are, little-endian and without their top bit, a nonzero scalar.
fn nonzero_scalar(rng: &mut ChaCha20Rng) -> Fr {
    loop {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        bytes[31] &= 0x7f;
        if let Some(scalar) = Option::<Fr>::from(Fr::from_bytes_le(&bytes)).filter(|s| !bool::from(s.is_zero())) {
            return scalar;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_frozen() {
        // Computed with another implementation of ChaCha20. Were these to change, so would the digest of every development file.
        let toxic = ToxicWaste::development("v28-test.params", None);
        assert_eq!(hex::encode(toxic.tau.to_bytes_be()), TAU);
    }

    const TAU: &str = "385cd161ba6d6cc89df8df926db301c0581127baaccf53323331e4f16190e55e";

    #[test]
    fn secrets_depend_on_circuit_and_seed() {
        let tau = |circuit, seed| ToxicWaste::development(circuit, seed).tau;
        assert_eq!(tau("a", None), tau("a", None));
        assert_ne!(tau("a", None), tau("b", None));
        assert_ne!(tau("a", None), tau("a", Some("s")));
        assert_ne!(tau("ab", Some("c")), tau("a", Some("bc")));
    }
}
