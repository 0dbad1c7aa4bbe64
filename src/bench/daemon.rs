//! Synthesis as the cuzk daemon does it: the circuit is run for its witness alone, and the matrices, recorded once before, are
//! multiplied with it row by row.

use std::ops::Range;

use bellperson::util_cs::witness_cs::WitnessCS;
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use crate::constraints::{record, Matrix, R1cs};

/// Rows that a thread takes at a time.
const ROWS: usize = 1 << 12;

/// Runs `circuit` for its witness: no linear combination is handed over. (The gadgets still build those that they carry along.)
///
/// # Errors
/// Those of the circuit.
pub fn witness(circuit: impl Circuit<Fr>) -> Result<WitnessCS<Fr>, SynthesisError> {
    // It comes with ONE.
    let mut witness = WitnessCS::new();
    circuit.synthesize(&mut witness)?;
    Ok(witness)
}

/// A matrix in compressed sparse rows: 36 bytes a nonzero.
struct Csr {
    /// Where each row begins, and where the last one ends.
    starts: Vec<u32>,
    /// Inputs first.
    columns: Vec<u32>,
    values: Vec<Fr>,
}

impl Csr {
    fn new(matrix: &Matrix, r1cs: &R1cs) -> Self {
        let mut csr = Self {
            starts: Vec::with_capacity(matrix.rows() + 1),
            columns: Vec::with_capacity(matrix.nonzeros()),
            values: Vec::with_capacity(matrix.nonzeros()),
        };
        csr.starts.push(0);
        for row in matrix.iter() {
            for term in row {
                csr.columns.push(term.column.inputs_first(r1cs.inputs) as u32);
                csr.values.push(r1cs.coefficients[term.coefficient as usize]);
            }
            csr.starts.push(csr.columns.len() as u32);
        }
        csr
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.starts[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.values[..])) as u64
    }

    fn times(&self, inputs: &[Fr], aux: &[Fr]) -> Vec<Fr> {
        let row = |ends: &[u32]| self.row(ends[0] as usize..ends[1] as usize, inputs, aux);
        self.starts.par_windows(2).with_min_len(ROWS).map(row).collect()
    }

    #[inline]
    fn row(&self, nonzeros: Range<usize>, inputs: &[Fr], aux: &[Fr]) -> Fr {
        let mut sum = Fr::ZERO;
        for (column, value) in self.columns[nonzeros.clone()].iter().zip(&self.values[nonzeros]) {
            let column = *column as usize;
            let z = if column < inputs.len() { &inputs[column] } else { &aux[column - inputs.len()] };
            if *value == Fr::ONE {
                sum += z;
            } else {
                sum += *value * z;
            }
        }
        sum
    }
}

/// A circuit's A, B and C.
pub struct Matrices([Csr; 3]);

impl Matrices {
    /// Records the matrices of `circuit` (blank will do).
    ///
    /// # Errors
    /// Those of the circuit.
    pub fn record(circuit: impl Circuit<Fr>) -> Result<Self, SynthesisError> {
        let mut r1cs = record(circuit)?;
        // One after the other, each recorded one dropped when it is converted: both together would take a third more.
        let mut next = |which: fn(&mut R1cs) -> &mut Matrix| {
            let matrix = std::mem::take(which(&mut r1cs));
            Csr::new(&matrix, &r1cs)
        };
        Ok(Self([next(|r| &mut r.a), next(|r| &mut r.b), next(|r| &mut r.c)]))
    }

    pub fn bytes(&self) -> u64 {
        self.0.iter().map(Csr::bytes).sum()
    }

    /// a, b and c, the rows of the inputs last.
    pub fn evaluate(&self, witness: &WitnessCS<Fr>) -> [Vec<Fr>; 3] {
        let (inputs, aux) = (witness.inputs_slice(), witness.aux_slice());
        [0, 1, 2].map(|i: usize| self.0[i].times(inputs, aux))
    }
}
