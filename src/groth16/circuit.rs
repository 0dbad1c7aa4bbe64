//! What the prover knows of a circuit, whatever the witness.

use crate::constraints::{Constraints, Densities};

/// A circuit's constraints, and which variables occur in them. Made once, shared by all its proofs.
pub struct Circuit {
    constraints: Constraints,
    densities: Densities,
}

impl Circuit {
    /// Finds the densities, in parallel.
    pub fn new(constraints: Constraints) -> Self {
        let densities = constraints.densities();
        Self { constraints, densities }
    }

    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Which variables occur in A and B.
    pub fn densities(&self) -> &Densities {
        &self.densities
    }

    /// Number of rows, the inputs' rows included.
    pub fn rows(&self) -> usize {
        self.constraints.tables().rows
    }

    /// Number of inputs, ONE among them.
    pub fn inputs(&self) -> usize {
        self.constraints.tables().inputs
    }

    pub fn aux(&self) -> usize {
        self.constraints.tables().aux
    }

    /// Size of the evaluation domain: the least power of two not below the number of rows.
    pub fn domain(&self) -> usize {
        self.rows().max(1).next_power_of_two()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.constraints.bytes() + (2 * self.aux() + self.inputs()) / 8
    }
}
