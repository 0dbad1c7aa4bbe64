//! Our synthesis against a second, plain evaluation of the same rows.
//!
//! The expected a, b, c and densities are not bellperson's own: its prover does not give them out. They come from a constraint
//! system of these tests (`circuits/rows.rs`), which evaluates each linear combination with bellpepper's
//! `LinearCombination::eval` and marks occurrences by the definition. What bellperson itself counts is compared by the lengths
//! of the a and b queries of its parameter generator; what its prover makes of a, b, c and the densities, by the equal proofs
//! of `groth16.rs` and `groth16_porep.rs`.

mod circuits;

use bellperson::groth16::generate_random_parameters;
use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::{Bls12, Scalar as Fr};
use circuits::{rows::Rows, RandomCircuit};
use cuzk::witness::{of_circuit, synthesize, Assignment, Density};
use rand_core::OsRng;

/// The assignment and c, with bellperson's input rows at the end.
fn expected(circuit: impl Circuit<Fr>) -> (Assignment, Vec<Fr>) {
    let mut rows = Rows::keep(circuit);
    for i in 0..rows.inputs.len() {
        let input = LinearCombination::zero() + Variable::new_unchecked(Index::Input(i));
        rows.row([input, LinearCombination::zero(), LinearCombination::zero()]);
    }
    assert_eq!(rows.unsatisfied, 0);
    let density = |bits: &[bool]| {
        let mut density = Density::default();
        bits.iter().for_each(|b| density.push(*b));
        density
    };
    let (a_aux_density, b_input_density, b_aux_density) =
        (density(&rows.a_aux), density(&rows.b_input), density(&rows.b_aux));
    let [a, b, c] = rows.values.unwrap();
    (Assignment { a, b, inputs: rows.inputs, aux: rows.aux, a_aux_density, b_input_density, b_aux_density }, c)
}

fn check<C: Circuit<Fr>>(circuit: impl Fn() -> C) {
    let (assignment, c) = expected(circuit());
    let ours = synthesize(circuit()).unwrap();
    assert!(ours == assignment);
    assert!(ours.c() == c);
    let alone = of_circuit(circuit()).unwrap();
    assert!(alone == ours.witness().unwrap());
}

#[test]
fn random_circuits_have_the_rows_and_densities_of_a_plain_evaluation() {
    for rows in [0, 1, 2, 3, 7, 63, 64, 65, 500] {
        for inputs in [0, 1, 2, 5] {
            check(|| RandomCircuit { rows, inputs, seed: (rows * 10 + inputs) as u64 });
        }
    }
}

#[test]
fn densities_count_what_bellpersons_generator_puts_into_its_queries() {
    for (rows, inputs) in [(1, 0), (2, 1), (7, 2), (63, 0), (64, 5), (65, 1), (500, 3)] {
        let circuit = RandomCircuit { rows, inputs, seed: (rows * 100 + inputs) as u64 };
        let theirs = generate_random_parameters::<Bls12, _, _>(circuit, &mut OsRng).unwrap();
        let ours = synthesize(circuit).unwrap();
        let b = ours.b_input_density.count_ones() + ours.b_aux_density.count_ones();
        let what = format!("{rows} rows, {inputs} inputs");
        assert_eq!(theirs.a.len(), ours.inputs.len() + ours.a_aux_density.count_ones(), "{what}");
        assert_eq!((theirs.b_g1.len(), theirs.b_g2.len()), (b, b), "{what}");
        assert_eq!((theirs.l.len(), theirs.vk.ic.len()), (ours.aux.len(), ours.inputs.len()), "{what}");
        assert_eq!(theirs.h.len(), ours.a.len().next_power_of_two() - 1, "{what}");
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
    assert_eq!(of_circuit(Missing).unwrap_err().fault(), cuzk::error::Fault::Input);
}

#[test]
fn porep_has_the_rows_and_densities_of_a_plain_evaluation() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = cuzk::circuit::PoRep::new(c1.statement.proof).unwrap();
    check(|| porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap());
}
