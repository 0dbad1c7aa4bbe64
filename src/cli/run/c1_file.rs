//! A C1 file named on the command line, read and set up.

use crate::c1::{self, ReadOptions, C1};
use crate::circuit::PoRep;
use crate::cli::options::Input;
use crate::error::Result;

/// A C1 output that passed the cheap checks, with its proof type's public parameters.
pub struct C1File {
    pub c1: C1,
    pub porep: PoRep,
}

impl C1File {
    /// Reads and checks everything but the vanilla proofs themselves.
    pub fn read(input: &Input, options: &ReadOptions) -> Result<Self> {
        let name = input.name();
        let content = input.read_c1()?;
        let c1 = c1::read(&name, content, options)?;
        let porep = PoRep::new(c1.statement.proof)?;
        Ok(Self { c1, porep })
    }
}
