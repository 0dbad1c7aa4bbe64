//! Recorded R1CS.

mod recorder;

use blstrs::Scalar as Fr;
use ff::Field;

pub use recorder::record;

/// A variable of an R1CS: the top bit tells inputs from aux variables, the rest is the index among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column(u32);

const INPUT_BIT: u32 = 1 << 31;

impl Column {
    /// Number of variables of one kind that fit.
    pub const LIMIT: usize = INPUT_BIT as usize;

    /// Input variable `index`; below [`Column::LIMIT`].
    pub(crate) fn input(index: usize) -> Self {
        debug_assert!(index < Self::LIMIT);
        Self(index as u32 | INPUT_BIT)
    }

    /// Aux variable `index`; below [`Column::LIMIT`].
    pub(crate) fn aux(index: usize) -> Self {
        debug_assert!(index < Self::LIMIT);
        Self(index as u32)
    }

    /// The index with the inputs first, then the aux variables.
    pub fn inputs_first(self, inputs: usize) -> usize {
        if self.0 & INPUT_BIT != 0 {
            (self.0 & !INPUT_BIT) as usize
        } else {
            inputs + self.0 as usize
        }
    }
}

/// One nonzero of a matrix: its column and its coefficient's place in [`R1cs::coefficients`]. 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub column: Column,
    pub coefficient: u32,
}

/// One of the matrices A, B, C, row by row.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Nonzeros of each row.
    lengths: Vec<u32>,
    /// The rows' nonzeros, one row after the other.
    terms: Vec<Term>,
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.lengths.len()
    }

    /// Number of nonzeros.
    pub fn nonzeros(&self) -> usize {
        self.terms.len()
    }

    /// The rows in order, each as its nonzeros.
    pub fn iter(&self) -> impl Iterator<Item = &[Term]> + '_ {
        let mut rest = &self.terms[..];
        self.lengths.iter().map(move |&n| {
            let (row, tail) = rest.split_at(n as usize);
            rest = tail;
            row
        })
    }

    /// `weights` times the matrix: for each variable, inputs first, `sum(weights[row] * entry[row][variable])`.
    ///
    /// With the Lagrange coefficients at tau as weights these are the QAP polynomials at tau.
    ///
    /// # Panics
    /// When there are fewer weights than rows.
    pub fn weighted_columns(&self, r1cs: &R1cs, weights: &[Fr]) -> Vec<Fr> {
        assert!(weights.len() >= self.rows(), "{} weights for {} rows", weights.len(), self.rows());
        let mut columns = vec![Fr::ZERO; r1cs.inputs + r1cs.aux];
        for (row, weight) in self.iter().zip(weights) {
            for term in row {
                let sum = &mut columns[term.column.inputs_first(r1cs.inputs)];
                match term.coefficient {
                    R1cs::ONE => *sum += weight,
                    R1cs::MINUS_ONE => *sum -= weight,
                    other => *sum += r1cs.coefficients[other as usize] * weight,
                }
            }
        }
        columns
    }
}

/// A circuit's constraints `A z * B z = C z`, with one row `input * 0 = 0` per input at the end, as Groth16 wants them.
///
/// Terms whose coefficient is zero (bellperson's linear combinations keep those that cancel) are left out.
#[derive(Clone, Debug)]
pub struct R1cs {
    /// Number of inputs, ONE among them.
    pub inputs: usize,
    /// Number of aux variables.
    pub aux: usize,
    /// The distinct coefficients; 1 and -1 are the first two.
    pub coefficients: Vec<Fr>,
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
}

impl R1cs {
    /// Place of 1 among the coefficients.
    pub const ONE: u32 = 0;
    /// Place of -1 among the coefficients.
    pub const MINUS_ONE: u32 = 1;

    /// Number of rows, the inputs' rows included.
    pub fn constraints(&self) -> usize {
        self.a.rows()
    }
}
