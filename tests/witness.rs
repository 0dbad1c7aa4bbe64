//! Our synthesis against bellpepper's own evaluation of the same rows.

mod circuits;

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use circuits::RandomCircuit;
use cuzk::witness::{synthesize, Assignment, Density};
use ff::Field;

/// Evaluates every row with bellpepper's `eval`, and marks who occurs in A and B by the definition.
#[derive(Default)]
struct Rows {
    inputs: Vec<Fr>,
    aux: Vec<Fr>,
    values: [Vec<Fr>; 3],
    a_aux: Vec<bool>,
    b_input: Vec<bool>,
    b_aux: Vec<bool>,
}

impl Rows {
    fn row(&mut self, combinations: [LinearCombination<Fr>; 3]) {
        for (values, combination) in self.values.iter_mut().zip(&combinations) {
            values.push(combination.eval(&self.inputs, &self.aux));
        }
        let [a, b, _] = &combinations;
        for (combination, is_b) in [(a, false), (b, true)] {
            for (variable, _) in combination.iter().filter(|(_, coefficient)| **coefficient != Fr::ZERO) {
                match (variable.get_unchecked(), is_b) {
                    (Index::Input(i), true) => self.b_input[i] = true,
                    (Index::Input(_), false) => {}
                    (Index::Aux(i), true) => self.b_aux[i] = true,
                    (Index::Aux(i), false) => self.a_aux[i] = true,
                }
            }
        }
    }
}

impl ConstraintSystem<Fr> for Rows {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(f()?);
        self.a_aux.push(false);
        self.b_aux.push(false);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        self.b_input.push(false);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.row([a(LinearCombination::zero()), b(LinearCombination::zero()), c(LinearCombination::zero())]);
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}
    fn pop_namespace(&mut self) {}
    fn get_root(&mut self) -> &mut Self {
        self
    }
}

/// The assignment and c, with bellperson's input rows at the end.
fn expected(circuit: impl Circuit<Fr>) -> (Assignment, Vec<Fr>) {
    let mut rows = Rows::default();
    rows.alloc_input(|| "one", || Ok(Fr::ONE)).unwrap();
    circuit.synthesize(&mut rows).unwrap();
    for i in 0..rows.inputs.len() {
        let input = LinearCombination::zero() + Variable::new_unchecked(Index::Input(i));
        rows.row([input, LinearCombination::zero(), LinearCombination::zero()]);
    }
    let density = |bits: &[bool]| {
        let mut density = Density::default();
        bits.iter().for_each(|b| density.push(*b));
        density
    };
    let (a_aux_density, b_input_density, b_aux_density) =
        (density(&rows.a_aux), density(&rows.b_input), density(&rows.b_aux));
    let [a, b, c] = rows.values;
    (Assignment { a, b, inputs: rows.inputs, aux: rows.aux, a_aux_density, b_input_density, b_aux_density }, c)
}

fn check<C: Circuit<Fr>>(circuit: impl Fn() -> C) {
    let (assignment, c) = expected(circuit());
    let ours = synthesize(circuit()).unwrap();
    assert!(ours == assignment);
    assert!(ours.c() == c);
}

#[test]
fn random_circuits_have_bellpeppers_rows_and_densities() {
    for rows in [0, 1, 2, 3, 7, 63, 64, 65, 500] {
        for inputs in [0, 1, 2, 5] {
            check(|| RandomCircuit { rows, inputs, seed: (rows * 10 + inputs) as u64 });
        }
    }
}

#[test]
fn a_missing_value_is_an_error() {
    struct Missing;
    impl Circuit<Fr> for Missing {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            cs.alloc(|| "missing", || Err(SynthesisError::AssignmentMissing)).map(|_| ())
        }
    }
    assert_eq!(synthesize(Missing).unwrap_err().fault(), cuzk::error::Fault::Input);
}

#[test]
fn porep_has_bellpeppers_rows_and_densities() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = cuzk::circuit::PoRep::new(c1.statement.proof).unwrap();
    check(|| porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap());
}
