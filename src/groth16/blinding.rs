//! The prover's randomness.

use blstrs::Scalar as Fr;
use ff::PrimeField;
use rand_core::{OsRng, RngCore};

use crate::error::{Fault, OrFault, Result};

/// r and s: what makes a proof zero-knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blinding {
    pub r: Fr,
    pub s: Fr,
}

impl Blinding {
    /// Uniform r and s from the operating system.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn random() -> Result<Self> {
        Ok(Self { r: random_scalar()?, s: random_scalar()? })
    }
}

/// By rejection: 255 random bits are below r in nine of ten tries, and the result is exactly uniform.
fn random_scalar() -> Result<Fr> {
    loop {
        let mut bytes = [0u8; 32];
        OsRng
            .try_fill_bytes(&mut bytes)
            .or_fault(Fault::Internal, || "the operating system gave no randomness for r and s".into())?;
        bytes[31] &= 0x7f;
        if let Some(scalar) = Option::from(Fr::from_repr(bytes)) {
            return Ok(scalar);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blindings_differ() {
        let (a, b) = (Blinding::random().unwrap(), Blinding::random().unwrap());
        assert!(a != b && a.r != a.s);
    }
}
