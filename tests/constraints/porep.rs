//! The PoRep circuit: 2 KiB whole, the other sizes by one challenge.

use blstrs::Scalar as Fr;
use cuzk::c1::{self, SampleOptions, C1};
use cuzk::circuit::proof_type::default_proof;
use cuzk::circuit::{PartitionCircuit, PoRep, VanillaProofs};
use cuzk::constraints::{cache, first_unsatisfied, Arithmetic, Constraints, Densities, RowValues, Unsatisfied};
use cuzk::witness::{synthesize, CompactWitness};

use super::{Expected, POOLS};

fn sector(bytes: u64, sector: u64) -> (PoRep, C1) {
    let proof = default_proof(bytes).unwrap();
    let options = SampleOptions { sector, seed: sector, ..SampleOptions::default() };
    (PoRep::new(proof).unwrap(), c1::sample(proof, &options).unwrap())
}

/// The circuit of the first challenge alone.
fn one_challenge((porep, c1): &mut (PoRep, C1)) -> PartitionCircuit {
    match &mut c1.vanilla {
        VanillaProofs::Base(partitions) => partitions[0].truncate(1),
        VanillaProofs::Sub8(partitions) => partitions[0].truncate(1),
        VanillaProofs::Top2(partitions) => partitions[0].truncate(1),
    }
    porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap()
}

#[test]
fn a_whole_2kib_sector() {
    let (porep, c1) = sector(2 << 10, 1);
    let circuit = || porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap();
    let blank = Constraints::build(porep.blank()).unwrap();
    assert!(Constraints::build(circuit()).unwrap() == blank, "values have no say in the constraints");
    let tables = blank.tables();
    assert_eq!((tables.rows, tables.inputs, tables.aux), (2_687_961, 40, 2_685_673));

    assert!(blank.bytes() < 2_000_000, "{} bytes", blank.bytes());
    for number in [1, 2] {
        let (porep, c1) = sector(2 << 10, number);
        let expected = Expected::of(porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap());
        expected.check(&blank);
        if number == 2 {
            unsatisfied_after_a_change(&porep, &blank, &expected.witness);
        }
    }
}

/// Checksum of the cache file of the 2 KiB circuit's constraints; it covers the format's version too.
const CHECKSUM_2KIB: &str = "8686c64094394c5f305b65f916c34c63eb0013eb7142796b015b446524706927";

/// The cache file is known by its circuit's name, which does not change with the circuit's code.
#[test]
fn constraints_are_those_of_this_version_of_the_format() {
    let (porep, _) = sector(2 << 10, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = cache::path(folder.path(), &porep.identity().params);
    cache::save(&Constraints::build(porep.blank()).unwrap(), &path, &porep.identity().params).unwrap();
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(
        hex::encode(&bytes[bytes.len() - 32..]),
        CHECKSUM_2KIB,
        "the constraints of the 2 KiB circuit, or the way they are stored, are others than recorded: cache files of users hold those, \
         and would be loaded. Raise VERSION in src/constraints/file/mod.rs, so that no such file is used any more, and then \
         record the left checksum here"
    );
}

/// A changed value is found, in the row that made it.
fn unsatisfied_after_a_change(porep: &PoRep, constraints: &Constraints, witness: &CompactWitness) {
    let find = |witness: &CompactWitness| {
        let values = constraints.evaluate(witness).unwrap();
        first_unsatisfied(|| porep.blank(), witness, &values).unwrap()
    };
    assert_eq!(find(witness), None);
    let mut aux = witness.expand();
    let changed = aux.len() / 2;
    aux[changed] += Fr::from(1);
    let found = find(&CompactWitness::from_values(witness.inputs().to_vec(), &aux).unwrap()).unwrap();
    assert!(found.a * found.b != found.c && found.path.matches('/').count() >= 2, "{found}");
    let elements = Unsatisfied { row: 5, path: "x/y".into(), a: Fr::from(0), b: Fr::from(0x2_0304), c: -Fr::from(1) };
    let largest = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000";
    let expected = format!("row 5 (x/y): a * b is not c, with a = 0x0, b = 0x20304, c = 0x{largest}");
    assert_eq!(elements.to_string(), expected);
}

/// The constraints are those of one sector's circuit, the witness is another's.
fn check_one_challenge(bytes: u64) {
    let constraints = Constraints::build(one_challenge(&mut sector(bytes, 1))).unwrap();
    let assignment = synthesize(one_challenge(&mut sector(bytes, 2))).unwrap();
    let witness = CompactWitness::from_values(assignment.inputs, &assignment.aux).unwrap();
    drop(assignment.aux);
    let (a_aux, b_input, b_aux) = (assignment.a_aux_density, assignment.b_input_density, assignment.b_aux_density);
    assert!(constraints.densities() == Densities { a_aux, b_input, b_aux });
    let mut values = <[RowValues; 2]>::default();
    for (pool, arithmetic) in [(&POOLS[0], Arithmetic::Avx512), (&POOLS[1], Arithmetic::Portable)] {
        pool.install(|| constraints.evaluate_into(&witness, arithmetic, &mut values)).unwrap();
        for (values, expected) in values.iter().zip([&assignment.a, &assignment.b]) {
            // Row by row: a third vector of this size need not be.
            let wrong = (0..expected.len()).find(|row| values.get(*row) != expected[*row]);
            assert_eq!((values.len(), wrong), (expected.len(), None), "{bytes} bytes, {arithmetic:?}");
        }
    }
    assert!(constraints.bytes() < 4_000_000, "{} bytes", constraints.bytes());
}

#[test]
fn one_challenge_of_8mib() {
    check_one_challenge(8 << 20);
}

#[test]
fn one_challenge_of_512mib() {
    check_one_challenge(512 << 20);
}

#[test]
fn one_challenge_of_32gib() {
    check_one_challenge(32 << 30);
}

#[test]
fn one_challenge_of_64gib() {
    check_one_challenge(64 << 30);
}
