//! All rows of A, B and C, one after the other: what the parameter generator works on.

use bellperson::{Circuit, Index, LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;
use ff::Field;

use super::coefficients::Coefficients;
use super::recorder::{self, Sink, Variables};

/// Synthesises `circuit` (blank will do) and records its rows: ONE first, the circuit, then a row per input.
///
/// The order of rows and variables is that of bellperson's parameter generator and prover.
///
/// # Errors
/// Those of the circuit; an `IoError` when it has 2^31 or more variables of a kind.
pub fn record<C: Circuit<Fr>>(circuit: C) -> Result<R1cs, SynthesisError> {
    let matrices = Matrices { coefficients: Coefficients::new(), rows: Default::default() };
    let (variables, matrices) = recorder::run(circuit, matrices)?;
    Ok(matrices.finish(variables))
}

/// Takes down the three matrices as they come.
struct Matrices {
    coefficients: Coefficients,
    rows: [Matrix; 3],
}

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
    pub const ONE: u32 = Coefficients::ONE;
    /// Place of -1 among the coefficients.
    pub const MINUS_ONE: u32 = Coefficients::MINUS_ONE;

    /// Number of rows, the inputs' rows included.
    pub fn constraints(&self) -> usize {
        self.a.rows()
    }
}

impl Matrices {
    fn finish(self, Variables { inputs, aux }: Variables) -> R1cs {
        let [a, b, c] = self.rows;
        R1cs { inputs, aux, coefficients: self.coefficients.into_values(), a, b, c }
    }
}

impl Sink for Matrices {
    const COLUMNS: usize = Column::LIMIT;
    const MATRICES: [bool; 3] = [true; 3];

    fn row(&mut self, _: Variables, row: [LinearCombination<Fr>; 3], _: impl FnOnce() -> String) {
        for (matrix, combination) in self.rows.iter_mut().zip(&row) {
            push_row(matrix, &mut self.coefficients, combination);
        }
    }
}

/// Appends one row, without the terms that are zero.
fn push_row(matrix: &mut Matrix, coefficients: &mut Coefficients, row: &LinearCombination<Fr>) {
    let before = matrix.terms.len();
    for (variable, value) in row.iter() {
        let Some(coefficient) = coefficients.intern(value) else { continue };
        let column = match variable.get_unchecked() {
            Index::Input(i) => Column::input(i),
            Index::Aux(i) => Column::aux(i),
        };
        matrix.terms.push(Term { column, coefficient });
    }
    matrix.lengths.push((matrix.terms.len() - before) as u32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellperson::ConstraintSystem;

    /// x * (2 y - x + 0 w) = p, with p an input allocated between aux variables.
    struct Small;

    impl Circuit<Fr> for Small {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let none = || Err(SynthesisError::AssignmentMissing);
            let x = cs.alloc(|| "x", none)?;
            let p = cs.alloc_input(|| "p", none)?;
            let y = cs.alloc(|| "y", none)?;
            let w = cs.alloc(|| "w", none)?;
            let two = Fr::from(2);
            cs.enforce(|| "row", |lc| lc + x, |lc| lc + (two, y) - x + w - w, |lc| lc + p);
            Ok(())
        }
    }

    #[test]
    fn rows_are_recorded_with_input_rows_last_and_without_zeros() {
        let r1cs = record(Small).unwrap();
        assert_eq!((r1cs.inputs, r1cs.aux, r1cs.constraints()), (2, 3, 3));
        assert_eq!(r1cs.coefficients, vec![Fr::ONE, -Fr::ONE, Fr::from(2)]);
        let term = |column, coefficient| Term { column, coefficient };
        let a: Vec<&[Term]> = r1cs.a.iter().collect();
        assert_eq!(a[0], [term(Column::aux(0), R1cs::ONE)]);
        assert_eq!(a[1], [term(Column::input(0), R1cs::ONE)]);
        assert_eq!(a[2], [term(Column::input(1), R1cs::ONE)]);
        let b: Vec<&[Term]> = r1cs.b.iter().collect();
        assert_eq!(b[0], [term(Column::aux(0), R1cs::MINUS_ONE), term(Column::aux(1), 2)]);
        assert!(b[1].is_empty() && b[2].is_empty());
        let c: Vec<&[Term]> = r1cs.c.iter().collect();
        assert_eq!(c[0], [term(Column::input(1), R1cs::ONE)]);
        assert_eq!((r1cs.a.nonzeros(), r1cs.b.nonzeros(), r1cs.c.nonzeros()), (3, 2, 1));
    }

    #[test]
    fn weighted_columns_put_inputs_first() {
        let r1cs = record(Small).unwrap();
        let weights: Vec<Fr> = [10, 20, 30].map(Fr::from).to_vec();
        let a = r1cs.a.weighted_columns(&r1cs, &weights);
        assert_eq!(a, [20, 30, 10, 0, 0].map(Fr::from));
        let b = r1cs.b.weighted_columns(&r1cs, &weights);
        assert_eq!(b, vec![Fr::ZERO, Fr::ZERO, -Fr::from(10), Fr::from(20), Fr::ZERO]);
    }
}
