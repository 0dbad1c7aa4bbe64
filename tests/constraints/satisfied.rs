//! The search for a row that is not satisfied.

use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk::constraints::{first_unsatisfied, Constraints, Unsatisfied};
use cuzk::error::Fault;
use cuzk::witness::CompactWitness;
use ff::Field;

use super::circuits::{rows::Rows, RandomCircuit};

/// Squares in namespaces of two levels, each the square of a bit that may be wrong.
#[derive(Clone, Copy)]
struct Squares<'a> {
    /// Rows whose C is not a * b.
    wrong: &'a [usize],
}

impl Circuit<Fr> for Squares<'_> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut row = 0;
        for i in 0..5 {
            let mut outer = cs.namespace(|| format!("outer {i}"));
            for j in 0..3 {
                let mut inner = outer.namespace(|| format!("inner {j}"));
                for k in 0..4 {
                    let x = inner.alloc(|| "x", || Ok(Fr::from(row as u64)))?;
                    let off = u64::from(self.wrong.contains(&row));
                    let square = inner.alloc(|| "square", || Ok(Fr::from((row * row) as u64 + off)))?;
                    inner.enforce(|| format!("square {k}"), |lc| lc + x, |lc| lc + x, |lc| lc + square);
                    row += 1;
                }
            }
            // After namespaces that are closed, in the outer one alone.
            outer.enforce(|| "empty", |lc| lc, |lc| lc, |lc| lc);
        }
        Ok(())
    }
}

fn found<C: Circuit<Fr>>(blank: impl Fn() -> C, assigned: impl Circuit<Fr>) -> Option<Unsatisfied> {
    let constraints = Constraints::build(blank()).unwrap();
    let rows = Rows::count(assigned);
    let unsatisfied = rows.unsatisfied;
    let witness = CompactWitness::from_values(rows.inputs, &rows.aux).unwrap();
    let values = constraints.evaluate(&witness).unwrap();
    let found = first_unsatisfied(blank, &witness, &values).unwrap();
    assert_eq!(found.is_some(), unsatisfied > 0);
    found
}

#[test]
fn the_first_unsatisfied_row_is_named_with_its_place() {
    let right = Squares { wrong: &[] };
    assert_eq!(found(|| right, right), None);
    for (wrong, row, path) in [
        (&[0][..], 0, "outer 0/inner 0/square 0"),
        (&[59, 30, 31], 32, "outer 2/inner 1/square 2"),
        (&[59], 63, "outer 4/inner 2/square 3"),
        (&[12, 13], 13, "outer 1/inner 0/square 0"),
    ] {
        let first = *wrong.iter().min().unwrap();
        let unsatisfied = found(|| right, Squares { wrong }).unwrap();
        // One more row for each outer namespace before.
        assert_eq!((unsatisfied.row, &unsatisfied.path[..]), (row, path));
        let expected = Fr::from(first as u64);
        assert_eq!((unsatisfied.a, unsatisfied.b, unsatisfied.c), (expected, expected, expected.square() + Fr::ONE));
        assert!(unsatisfied.to_string().starts_with(&format!("row {row} ({path})")), "{unsatisfied}");
    }
}

#[test]
fn satisfied_circuits_have_none() {
    for rows in [0, 1, 64, 1000] {
        let circuit = RandomCircuit { rows, inputs: 3, seed: rows as u64 };
        assert_eq!(found(|| circuit, circuit), None);
    }
}

#[test]
fn another_circuit_is_an_error_and_no_panic() {
    let circuit = |rows, inputs| RandomCircuit { rows, inputs, seed: 5 };
    let constraints = Constraints::build(circuit(100, 3)).unwrap();
    let rows = Rows::count(circuit(100, 3));
    let witness = CompactWitness::from_values(rows.inputs, &rows.aux).unwrap();
    let values = constraints.evaluate(&witness).unwrap();
    for (rows, inputs) in [(99, 3), (101, 3), (100, 2), (100, 4), (0, 0), (2000, 3)] {
        let error = first_unsatisfied(|| circuit(rows, inputs), &witness, &values).unwrap_err();
        assert_eq!(error.fault(), Fault::Internal, "{rows} {inputs}");
    }
}
