//! Constraint evaluation: against a plain evaluation of every row, and against the CPU's.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk::backend::cuda::evaluate::Evaluator;
use cuzk::constraints::Constraints;
use cuzk::error::Fault;
use cuzk::gpu::{kernels, Gpu, Shape, Stream};
use cuzk::witness::{CompactWitness, PADDING};
use ff::Field;

use super::circuits::{blocks::BlockCircuit, rows::Rows, RandomCircuit};
use super::running::{emulated, in_all_orders};
use super::vectors::{download, patterns, same};

fn stream() -> Stream {
    Gpu::open(0).unwrap().stream().unwrap()
}

/// Evaluates on the device, in a domain that has room to spare or none, and holds both vectors to what is expected of the rows.
#[track_caller]
fn check(stream: &Stream, evaluator: &Evaluator, witness: &CompactWitness, expected: [Vec<Fr>; 2], what: &str) {
    let log_size = expected[0].len().next_power_of_two().ilog2();
    let (a, b) = evaluator.evaluate(stream, witness, log_size).unwrap();
    for (name, found, mut expected) in [("a", a, expected[0].clone()), ("b", b, expected[1].clone())] {
        expected.resize(1 << log_size, Fr::ZERO);
        same(&download(stream, &found), &expected, &format!("{name}, {what}"));
    }
}

/// What bellpepper says of every row; the inputs' own rows are at the end.
fn plain(circuit: impl Circuit<Fr>) -> (CompactWitness, [Vec<Fr>; 2]) {
    let rows = Rows::keep(circuit);
    let [mut a, mut b, _] = rows.values.unwrap();
    a.extend_from_slice(&rows.inputs);
    b.resize(a.len(), Fr::ZERO);
    (CompactWitness::from_values(rows.inputs, &rows.aux).unwrap(), [a, b])
}

/// A circuit's own witness, and then others that satisfy nothing, whose rows the CPU evaluates.
fn check_circuit<C: Circuit<Fr>>(stream: &Stream, circuit: impl Fn() -> C, what: &str) -> usize {
    let constraints = Constraints::build(circuit()).unwrap();
    let evaluator = Evaluator::new(stream, &constraints).unwrap();
    let (witness, expected) = plain(circuit());
    check(stream, &evaluator, &witness, expected, &format!("{what}, its own witness"));
    for (name, aux) in patterns(constraints.tables().aux) {
        let witness = CompactWitness::from_values(witness.inputs().to_vec(), &aux).unwrap();
        let expected = constraints.evaluate(&witness).unwrap().map(|values| values.expand());
        check(stream, &evaluator, &witness, expected, &format!("{what}, {name}"));
    }
    constraints.tables().rows
}

#[test]
fn rows_are_those_of_a_plain_evaluation_in_all_orders() {
    in_all_orders("evaluate::rows_are_those_of_a_plain_evaluation_in_all_orders", || {
        let stream = stream();
        for (rows, inputs) in [(0, 0), (1, 0), (3, 2), (64, 1), (65, 0), (200, 5)] {
            let circuit = || RandomCircuit { rows, inputs, seed: (rows + inputs) as u64 };
            check_circuit(&stream, circuit, &format!("{rows} random rows"));
        }
        for seed in 0..2 {
            let circuit = || BlockCircuit { seed, wide: [10, 300][seed as usize % 2] };
            check_circuit(&stream, circuit, &format!("blocks {seed}"));
        }
    });
}

#[test]
fn rows_of_circuits_with_repetition_are_those_of_a_plain_evaluation() {
    let test = "evaluate::rows_of_circuits_with_repetition_are_those_of_a_plain_evaluation";
    emulated(test, &[("EMULATOR_STREAMS", "lazy")], || {
        let stream = stream();
        let mut rows = 0;
        for seed in 10..34 {
            let circuit = || BlockCircuit { seed, wide: [0, 10, 300, 1000][seed as usize % 4] };
            rows += check_circuit(&stream, circuit, &format!("blocks {seed}"));
        }
        assert!(rows > 50_000, "{rows}");
    });
}

/// Rows of thousands of terms, and others from both ends of many variables, more of them than a chunk or an entry can count.
struct Far {
    wide: usize,
}

impl Circuit<Fr> for Far {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let value = |i: usize| if i % self.wide == 3 { -Fr::from(i as u64) } else { Fr::from(i as u64 / 3 % 2) };
        let (mut aux, mut inputs) = (Vec::new(), vec![CS::one()]);
        for step in [1, 1 << 16, 1, 70_000, 3] {
            for i in 0..step {
                aux.push(cs.alloc(|| "aux", || Ok(value(i)))?);
            }
            for i in 0..300 {
                inputs.push(cs.alloc_input(|| "input", || Ok(value(i)))?);
            }
            let ends = [aux[0], aux[aux.len() / 2], aux[aux.len() - 1], inputs[1], inputs[inputs.len() - 1]];
            for coefficient in [1, 127, 300] {
                let sum = |lc| ends.iter().fold(lc, |lc: LinearCombination<Fr>, x| lc + (Fr::from(coefficient), *x));
                cs.enforce(|| "ends", sum, |lc| sum(lc) - ends[2], |lc| lc);
            }
            let many = || aux.iter().rev().take(3000).enumerate();
            let rising = |lc| many().fold(lc, |lc: LinearCombination<Fr>, (i, x)| lc + (Fr::from(i as u64), *x));
            let ones = |lc| many().take(127).fold(lc, |lc: LinearCombination<Fr>, (_, x)| lc - *x);
            cs.enforce(|| "many", rising, ones, |lc| lc);
        }
        Ok(())
    }
}

#[test]
fn long_rows_and_far_columns_are_those_of_a_plain_evaluation() {
    let test = "evaluate::long_rows_and_far_columns_are_those_of_a_plain_evaluation";
    emulated(test, &[("EMULATOR_ORDER", "backward")], || {
        let stream = stream();
        for wide in [5, 1000, 1 << 20] {
            check_circuit(&stream, || Far { wide }, &format!("far, every {wide}th wide"));
        }
    });
}

#[test]
fn witnesses_of_other_circuits_and_small_domains_are_refused() {
    emulated("evaluate::witnesses_of_other_circuits_and_small_domains_are_refused", &[], || {
        let stream = stream();
        let constraints = Constraints::build(RandomCircuit { rows: 10, inputs: 1, seed: 1 }).unwrap();
        let evaluator = Evaluator::new(&stream, &constraints).unwrap();
        let (inputs, aux) = (constraints.tables().inputs, constraints.tables().aux);
        assert_eq!(evaluator.rows(), constraints.tables().rows);
        let refused = |inputs: Vec<Fr>, aux: usize, log_size| {
            let witness = CompactWitness::from_values(inputs, &vec![Fr::ONE; aux]).unwrap();
            let error = evaluator.evaluate(&stream, &witness, log_size).map(|_| ()).unwrap_err();
            assert_eq!(error.fault(), Fault::Internal);
            error.to_string()
        };
        assert!(refused(vec![Fr::ONE; inputs], aux + 1, 4).contains("aux variables"));
        assert!(refused(vec![Fr::ONE; inputs + 1], aux, 4).contains("inputs"));
        assert!(refused(vec![Fr::from(2); inputs], aux, 4).contains("not 1"));
        assert!(refused(vec![Fr::ONE; inputs], aux, 3).contains("12 rows in a domain of 8"));
        assert!(refused(vec![Fr::ONE; inputs], aux, 64).contains("domain"));
    });
}

/// Byte offsets beyond 2^32 of rows, and of the words of variables, at the production's sizes and twice those.
#[test]
fn indices_at_2_to_the_27_and_28() {
    emulated("evaluate::indices_at_2_to_the_27_and_28", &[], || {
        let stream = stream();
        for size in [1u64 << 27, 1 << 28] {
            let (offset, stride) = (1 << 20, 2);
            // Tiles have a warp each: there are at most as many as rows, and mostly a 64th of that.
            let warps = [0, 1, 7, 8, size / 64, size / 32 - 1, size - 1];
            let places = [0, 1, 63, size / 2 - 1, size / 2, size - 64, size - 1];
            let upload = |values: Vec<u32>| {
                let mut buffer = stream.buffer("numbers", values.len()).unwrap();
                stream.upload("numbers", buffer.view_mut(), &values).unwrap();
                buffer
            };
            let words = |values: &mut dyn Iterator<Item = u64>| upload(values.map(|value| value as u32).collect());
            let blocks = words(&mut warps.iter().map(|warp| warp / 8));
            let threads = words(&mut warps.iter().map(|warp| warp % 8 * 32 + warp % 32));
            let rows = words(&mut places.iter().copied());
            let aux = words(&mut places.iter().rev().copied());
            let mut out = stream.buffer("indices", 5 * places.len()).unwrap();
            let shape = Shape::of(places.len(), 256);
            let views = [blocks.view(), threads.view(), rows.view(), aux.view()];
            let [blocks, threads, rows, aux] = views;
            let count = places.len() as u32;
            kernels::evaluate_places(&stream, shape, blocks, threads, rows, aux, out.view_mut(), count, offset, stride)
                .unwrap();
            let mut indices = vec![0u64; 5 * places.len()];
            stream.download("indices", out.view(), &mut indices).unwrap();
            for (i, got) in indices.chunks(5).enumerate() {
                let column = places[places.len() - 1 - i] + u64::from(offset) + 63 * u64::from(stride);
                let word = PADDING as u64 + column / 64;
                assert_eq!(got, [warps[i], 32 * places[i], column, 8 * word, 4 * word], "number {i}, {size} rows");
            }
        }
    });
}
