//! Constraints and their evaluation, against a plain evaluation of every row.

#[path = "../circuits/mod.rs"]
mod circuits;

mod edges;
mod kept;
mod porep;
mod satisfied;

use std::sync::LazyLock;

use bellperson::Circuit;
use blstrs::Scalar as Fr;
use circuits::{blocks::BlockCircuit, rows::Rows, RandomCircuit};
use cuzk::constraints::{Arithmetic, Constraints, Densities, RowValues};
use cuzk::witness::{CompactWitness, Density};
use ff::Field;
use rayon::{ThreadPool, ThreadPoolBuilder};

static POOLS: LazyLock<[ThreadPool; 3]> =
    LazyLock::new(|| [1, 2, 3].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap()));

/// What is expected of a witness: the rows' values, the inputs' own at the end, and who occurs in them.
struct Expected {
    witness: CompactWitness,
    a: Vec<Fr>,
    b: Vec<Fr>,
    densities: Densities,
}

fn density(bits: &[bool]) -> Density {
    let mut density = Density::default();
    bits.iter().for_each(|bit| density.push(*bit));
    density
}

impl Expected {
    fn of(circuit: impl Circuit<Fr>) -> Self {
        let rows = Rows::keep(circuit);
        let densities =
            Densities { a_aux: density(&rows.a_aux), b_input: density(&rows.b_input), b_aux: density(&rows.b_aux) };
        let [mut a, mut b, _] = rows.values.unwrap();
        a.extend_from_slice(&rows.inputs);
        b.resize(a.len(), Fr::ZERO);
        Self { witness: CompactWitness::from_values(rows.inputs, &rows.aux).unwrap(), a, b, densities }
    }

    /// Evaluates with any number of threads and all arithmetic, each time into the same memory.
    #[track_caller]
    fn check(&self, constraints: &Constraints) {
        assert!(constraints.densities() == self.densities, "densities");
        let mut values = <[RowValues; 2]>::default();
        for pool in POOLS.iter() {
            for arithmetic in [Arithmetic::Portable, Arithmetic::Avx512] {
                pool.install(|| constraints.evaluate_into(&self.witness, arithmetic, &mut values)).unwrap();
                let what = format!("{arithmetic:?}, {} threads", pool.current_num_threads());
                for (name, values, expected) in [("a", &values[0], &self.a), ("b", &values[1], &self.b)] {
                    same(&values.expand(), expected, &format!("{name}, {what}"));
                    assert!(values.places().is_sorted_by(|x, y| x < y), "{what}");
                }
            }
        }
        assert_eq!(POOLS[1].install(|| constraints.evaluate(&self.witness)).unwrap(), values);
        let [a, b] = &values;
        let c: Vec<Fr> = self.a.iter().zip(&self.b).map(|(a, b)| *a * b).collect();
        same(&RowValues::product(a, b).expand(), &c, "c");
        assert!((0..a.len()).step_by(a.len() / 1000 + 1).all(|row| a.get(row) == self.a[row]));
    }
}

#[track_caller]
fn same(values: &[Fr], expected: &[Fr], what: &str) {
    assert_eq!(values.len(), expected.len(), "{what}");
    if let Some(row) = (0..values.len()).find(|row| values[*row] != expected[*row]) {
        panic!("{what}: row {row} of {} is {:?}, expected {:?}", values.len(), values[row], expected[row]);
    }
}

/// Takes the constraints of a circuit and holds them to its rows.
#[track_caller]
fn check<C: Circuit<Fr>>(circuit: impl Fn() -> C) -> Constraints {
    let constraints = Constraints::build(circuit()).unwrap();
    Expected::of(circuit()).check(&constraints);
    constraints
}

#[test]
fn circuits_without_repetition_have_the_rows_of_a_plain_evaluation() {
    for rows in [0, 1, 2, 3, 7, 63, 64, 65, 500, 5000] {
        for inputs in [0, 1, 2, 5] {
            let constraints = check(|| RandomCircuit { rows, inputs, seed: (rows * 10 + inputs) as u64 });
            assert_eq!(constraints.tables().rows, rows + inputs + 1);
        }
    }
}

#[test]
fn circuits_with_repetition_have_the_rows_of_a_plain_evaluation() {
    let (mut rows, mut distinct) = (0, 0);
    for seed in 0..120 {
        let constraints = check(|| BlockCircuit { seed, wide: [0, 10, 300, 1000][seed as usize % 4] });
        rows += constraints.tables().rows;
        distinct += constraints.tables().distinct_rows;
    }
    assert!(rows > 3 * distinct, "{distinct} of {rows} rows are distinct: the circuits do not repeat");
}

#[test]
fn one_witness_after_another_of_the_same_circuit() {
    let circuit = |wide| BlockCircuit { seed: 7, wide };
    let constraints = Constraints::build(circuit(0)).unwrap();
    for wide in [0, 1000, 10, 300] {
        let other = Constraints::build(circuit(wide)).unwrap();
        assert!(other == constraints, "values have no say in the constraints");
        Expected::of(circuit(wide)).check(&constraints);
    }
}

#[test]
fn a_witness_of_another_circuit_is_refused() {
    let constraints = Constraints::build(RandomCircuit { rows: 10, inputs: 1, seed: 1 }).unwrap();
    let (inputs, aux) = (constraints.tables().inputs, constraints.tables().aux);
    let refused = |inputs: Vec<Fr>, aux: usize| {
        let witness = CompactWitness::from_values(inputs, &vec![Fr::ONE; aux]).unwrap();
        constraints.evaluate(&witness).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(vec![Fr::ONE; inputs], aux + 1).contains("aux variables"));
    assert!(refused(vec![Fr::ONE; inputs], aux - 1).contains("aux variables"));
    assert!(refused(vec![Fr::ONE; inputs + 1], aux).contains("inputs"));
    assert!(refused(vec![], aux).contains("0 inputs"));
    assert!(refused(vec![Fr::from(2); inputs], aux).contains("not 1"));
}
