//! Parameter files: layout, mapping, digest, lookup, generation.

use std::path::{Path, PathBuf};

use bellperson::groth16::VerifyingKey;
use blstrs::Bls12;

use crate::backend::bases::{G1Bases, G2Bases};

/// Where parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Digest listed in filecoin-proofs' parameters.json.
    Official,
    /// Made by `cuzk params generate`; proofs made with them prove nothing.
    Development,
}

/// One circuit's parameters, mapped and checked.
pub struct Srs {}

impl Srs {
    pub fn path(&self) -> &Path {
        todo!()
    }
    pub fn origin(&self) -> Origin {
        todo!()
    }
    /// blake2b-512 of the .params file as parameters.json writes it (first 32 hex digits).
    pub fn digest(&self) -> &str {
        todo!()
    }
    pub fn vk(&self) -> &VerifyingKey<Bls12> {
        todo!()
    }
    pub fn h(&self) -> G1Bases<'_> {
        todo!()
    }
    pub fn l(&self) -> G1Bases<'_> {
        todo!()
    }
    /// Inputs first (all of them), then the aux variables that occur in A.
    pub fn a(&self) -> G1Bases<'_> {
        todo!()
    }
    /// Inputs that occur in B, then aux variables that occur in B.
    pub fn b_g1(&self) -> G1Bases<'_> {
        todo!()
    }
    pub fn b_g2(&self) -> G2Bases<'_> {
        todo!()
    }
}

/// Where to look for parameters and what to make of them.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The folder and where that path came from (`--params`, FIL_PROOFS_PARAMETER_CACHE, default): for messages.
    pub folder: PathBuf,
    pub folder_source: String,
    /// Hash the file even when a verdict is remembered.
    pub recheck: bool,
}
