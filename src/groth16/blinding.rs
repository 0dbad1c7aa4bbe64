//! The prover's randomness.

use std::fmt;

use blstrs::Scalar as Fr;
use ff::PrimeField;
use rand_core::{OsRng, RngCore};

use crate::error::{Fault, OrFault, Result};

/// r and s: what makes a proof zero-knowledge. Whoever learns them, and the proof, learns of the witness: they are not shown.
#[derive(Clone, Copy, PartialEq, Eq)]
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

impl fmt::Debug for Blinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blinding { r: <secret>, s: <secret> }")
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
    fn debug_output_does_not_show_r_and_s() {
        for blinding in [Blinding::random().unwrap(), Blinding { r: Fr::from(7), s: Fr::from(7) }] {
            for text in [format!("{blinding:?}"), format!("{:#?}", Some(blinding))] {
                assert!(text.contains("Blinding { r: <secret>, s: <secret> }"), "{text}");
                assert!(!text.contains(char::is_numeric), "{text}");
            }
        }
    }

    #[test]
    fn blindings_differ() {
        let (a, b) = (Blinding::random().unwrap(), Blinding::random().unwrap());
        assert!(a != b && a.r != a.s);
    }
}
