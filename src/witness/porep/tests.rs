//! Gadgets against bellperson's and neptune's own. Insertions and paths are compared in `tests/porep_witness`, with the circuit.

use bellperson::gadgets::num::AllocatedNum;
use bellperson::{util_cs::witness_cs::WitnessCS, ConstraintSystem};
use filecoin_hashers::{POSEIDON_CONSTANTS_11, POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8};
use neptune::circuit::poseidon_hash;
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

use super::{merkle, poseidon, sink::Sink, *};

/// Keeps the values themselves.
#[derive(Default)]
pub struct Values(pub Vec<Fr>);

impl Sink for Values {
    fn bits(&mut self, value: u64, count: u32) {
        assert!(count <= 64 && (count == 64 || value >> count == 0), "{value:x} in {count} bits");
        self.0.extend((0..count).map(|i| Fr::from(value >> i & 1)));
    }

    fn element(&mut self, value: Fr) {
        self.0.push(value);
    }
}

/// Zeros, ones, the largest element, and random ones.
fn inputs(count: usize) -> Vec<Vec<Fr>> {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut all: Vec<Vec<Fr>> = [Fr::ZERO, Fr::ONE, -Fr::ONE].into_iter().map(|x| vec![x; count]).collect();
    all.extend((0..20).map(|_| (0..count).map(|_| Fr::random(&mut rng)).collect()));
    all
}

fn allocate(cs: &mut WitnessCS<Fr>, inputs: &[Fr]) -> Vec<AllocatedNum<Fr>> {
    inputs.iter().map(|x| AllocatedNum::alloc(&mut *cs, || Ok(*x)).unwrap()).collect()
}

#[test]
fn poseidon_is_neptunes_legacy_circuit() {
    macro_rules! check {
        ($arity:literal, $poseidon:expr, $constants:expr) => {
            let poseidon = $poseidon;
            for inputs in inputs($arity) {
                let mut cs = WitnessCS::<Fr>::new();
                let allocated = allocate(&mut cs, &inputs);
                let expected = poseidon_hash(&mut cs, allocated, &*$constants).unwrap().get_value();
                let mut values = Values::default();
                let state = poseidon::state(inputs);
                assert_eq!(Some(poseidon.hash(state, &mut values)), expected);
                assert!(values.0 == cs.aux_slice()[$arity..], "{} values", values.0.len());
                let mut portable = Values::default();
                assert_eq!(Some(poseidon.hash_portable(state, &mut portable)), expected);
                assert!(portable.0 == values.0);
            }
        };
    }
    check!(2, poseidon::of_two(), POSEIDON_CONSTANTS_2);
    check!(8, poseidon::of_eight(), POSEIDON_CONSTANTS_8);
    check!(11, poseidon::of_eleven(), POSEIDON_CONSTANTS_11);
}

#[test]
fn bits_are_those_of_the_allocated_number() {
    for input in inputs(1) {
        let mut cs = WitnessCS::<Fr>::new();
        let number = allocate(&mut cs, &input);
        number[0].to_bits_le(&mut cs).unwrap();
        let mut values = Values::default();
        merkle::to_bits(input[0], &mut values);
        assert!(values.0 == cs.aux_slice()[1..]);
    }
}

#[test]
fn insertions_put_the_element_in_its_place() {
    let others: [Fr; 7] = std::array::from_fn(|i| Fr::from(i as u64 + 1));
    let element = Fr::from(99);
    let inserted = |others: &[Fr], position| {
        let mut all = others.to_vec();
        all.insert(position, element);
        all
    };
    for position in 0..8 {
        let mut values = Values::default();
        let got = merkle::insert_among_seven(element, &others, position, &mut values);
        assert_eq!((got.to_vec(), values.0.len()), (inserted(&others, position), 22));
    }
    for position in 0..2 {
        let mut values = Values::default();
        let got = merkle::insert_beside_one(element, others[0], position, &mut values);
        assert_eq!((got.to_vec(), values.0.len()), (inserted(&others[..1], position), 2));
    }
}
