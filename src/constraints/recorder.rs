//! Records a circuit's constraints: no assignment is computed, no name is built.

use std::collections::HashMap;
use std::io;

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blst::blst_fr;
use blstrs::Scalar as Fr;
use ff::Field;

use super::{Column, Matrix, R1cs, Term};

/// Synthesises `circuit` (blank will do) and records its rows: ONE first, the circuit, then a row per input.
///
/// The order of rows and variables is that of bellperson's parameter generator and prover.
///
/// # Errors
/// Those of the circuit; an `IoError` when it has 2^31 or more variables of a kind.
pub fn record<C: Circuit<Fr>>(circuit: C) -> Result<R1cs, SynthesisError> {
    let mut recorder = Recorder::new();
    recorder.alloc_input(|| "", || Ok(Fr::ONE))?;
    circuit.synthesize(&mut recorder)?;
    Ok(recorder.finish())
}

/// The constraint system that only takes down rows.
struct Recorder {
    inputs: usize,
    aux: usize,
    coefficients: Coefficients,
    a: Matrix,
    b: Matrix,
    c: Matrix,
}

impl Recorder {
    /// Adds the rows `input * 0 = 0`, which keep every input's column nonzero.
    fn finish(mut self) -> R1cs {
        for i in 0..self.inputs {
            self.a.lengths.push(1);
            self.a.terms.push(Term { column: Column::input(i), coefficient: R1cs::ONE });
            self.b.lengths.push(0);
            self.c.lengths.push(0);
        }
        let Self { inputs, aux, coefficients, a, b, c } = self;
        R1cs { inputs, aux, coefficients: coefficients.values, a, b, c }
    }
}

/// Distinct coefficients and where they are. 1 and -1, seven eighths of a PoRep circuit's, are told without hashing.
struct Coefficients {
    values: Vec<Fr>,
    places: HashMap<[u64; 4], u32>,
}

impl Coefficients {
    fn new() -> Self {
        Self { values: vec![Fr::ONE, -Fr::ONE], places: HashMap::new() }
    }

    fn intern(&mut self, value: &Fr) -> u32 {
        if *value == self.values[R1cs::ONE as usize] {
            return R1cs::ONE;
        }
        if *value == self.values[R1cs::MINUS_ONE as usize] {
            return R1cs::MINUS_ONE;
        }
        *self.places.entry(blst_fr::from(*value).l).or_insert_with(|| {
            self.values.push(*value);
            (self.values.len() - 1) as u32
        })
    }
}

/// Appends one row, without the terms that are zero.
fn push_row(matrix: &mut Matrix, coefficients: &mut Coefficients, row: &LinearCombination<Fr>) {
    let before = matrix.terms.len();
    for (variable, value) in row.iter() {
        if bool::from(value.is_zero()) {
            continue;
        }
        let column = match variable.get_unchecked() {
            Index::Input(i) => Column::input(i),
            Index::Aux(i) => Column::aux(i),
        };
        matrix.terms.push(Term { column, coefficient: coefficients.intern(value) });
    }
    matrix.lengths.push((matrix.terms.len() - before) as u32);
}

/// The next index of a kind, or an error where it no longer fits a [`Column`].
fn next(count: &mut usize) -> Result<usize, SynthesisError> {
    let index = *count;
    if index >= Column::LIMIT {
        return Err(io::Error::other(format!("more than {} variables of one kind", Column::LIMIT)).into());
    }
    *count += 1;
    Ok(index)
}

impl ConstraintSystem<Fr> for Recorder {
    type Root = Self;

    fn new() -> Self {
        Self {
            inputs: 0,
            aux: 0,
            coefficients: Coefficients::new(),
            a: Matrix::default(),
            b: Matrix::default(),
            c: Matrix::default(),
        }
    }

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        next(&mut self.aux).map(|i| Variable::new_unchecked(Index::Aux(i)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        next(&mut self.inputs).map(|i| Variable::new_unchecked(Index::Input(i)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        push_row(&mut self.a, &mut self.coefficients, &a(LinearCombination::zero()));
        push_row(&mut self.b, &mut self.coefficients, &b(LinearCombination::zero()));
        push_row(&mut self.c, &mut self.coefficients, &c(LinearCombination::zero()));
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
