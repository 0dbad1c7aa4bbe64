//! A and B as the daemon keeps them: every row's columns and coefficients, one after the other.

use blstrs::Scalar as Fr;
use cuzk::constraints::{Matrix, R1cs};
use ff::Field;

/// Two matrices in CSR form; the coefficients are shared.
pub struct Csr {
    inputs: usize,
    coefficients: Vec<Fr>,
    matrices: [Flat; 2],
}

struct Flat {
    starts: Vec<u32>,
    columns: Vec<u32>,
    coefficients: Vec<u32>,
}

impl Flat {
    fn new(matrix: &Matrix, inputs: usize) -> Self {
        let mut flat = Self { starts: vec![0], columns: Vec::new(), coefficients: Vec::new() };
        for row in matrix.iter() {
            flat.columns.extend(row.iter().map(|term| term.column.inputs_first(inputs) as u32));
            flat.coefficients.extend(row.iter().map(|term| term.coefficient));
            flat.starts.push(flat.columns.len() as u32);
        }
        flat
    }

    fn evaluate(&self, values: &Csr, inputs: &[Fr], aux: &[Fr]) -> Vec<Fr> {
        let value = |column: u32| match (column as usize).checked_sub(values.inputs) {
            Some(i) => &aux[i],
            None => &inputs[column as usize],
        };
        let row = |bounds: &[u32]| {
            let terms = bounds[0] as usize..bounds[1] as usize;
            let terms = self.columns[terms.clone()].iter().zip(&self.coefficients[terms]);
            terms.fold(Fr::ZERO, |sum, (column, coefficient)| match *coefficient {
                R1cs::ONE => sum + value(*column),
                R1cs::MINUS_ONE => sum - value(*column),
                other => sum + values.coefficients[other as usize] * value(*column),
            })
        };
        self.starts.windows(2).map(row).collect()
    }
}

impl Csr {
    pub fn new(r1cs: &R1cs) -> Self {
        let matrices = [&r1cs.a, &r1cs.b].map(|matrix| Flat::new(matrix, r1cs.inputs));
        Self { inputs: r1cs.inputs, coefficients: r1cs.coefficients.clone(), matrices }
    }

    pub fn evaluate(&self, inputs: &[Fr], aux: &[Fr]) -> [Vec<Fr>; 2] {
        [0, 1].map(|i: usize| self.matrices[i].evaluate(self, inputs, aux))
    }

    pub fn bytes(&self) -> usize {
        let words = |flat: &Flat| flat.starts.len() + flat.columns.len() + flat.coefficients.len();
        size_of_val(&self.coefficients[..]) + 4 * self.matrices.iter().map(words).sum::<usize>()
    }
}
