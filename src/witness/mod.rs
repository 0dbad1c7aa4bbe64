//! Synthesis of a partition's circuit into its assignment.

use blstrs::Scalar as Fr;

/// One bit per variable: does it occur in the query?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Density {
    words: Vec<u64>,
    len: usize,
}

/// What one partition's synthesis yields.
pub struct Assignment {
    /// Rows' values of A and B, in row order, the input rows last.
    pub a: Vec<Fr>,
    pub b: Vec<Fr>,
    /// Public inputs, ONE first.
    pub inputs: Vec<Fr>,
    pub aux: Vec<Fr>,
    pub a_aux_density: Density,
    pub b_input_density: Density,
    pub b_aux_density: Density,
}
