//! Vanilla proofs of another form than the sector size's: each an error that names the place, none a panic.

use cuzk::{
    c1::{sample, SampleOptions, C1},
    circuit::{
        raw::{ChallengeProof, InclusionPath, MerkleProof, PathData, PathElement, SubProof},
        PoRep, SealProof, Shape, VanillaProofs,
    },
    error::{Error, Fault},
    witness::porep::Generator,
};
use ff::PrimeField;
use SealProof::*;

const K: usize = 0;
const I: usize = 1;

/// The whole way from vanilla proofs to a witness.
fn generate(porep: &PoRep, c1: &C1, vanilla: &VanillaProofs) -> Result<(), Error> {
    let partition = porep.partition(&c1.statement, vanilla, K)?;
    Generator::new(&porep.shape())?.generate(&partition).map(|_| ())
}

/// The base levels of a path.
fn levels(proof: &mut MerkleProof) -> &mut Vec<PathElement> {
    match &mut proof.data {
        PathData::Single(p) => &mut p.path.path,
        PathData::Sub(p) => &mut p.base_proof.path,
        PathData::Top(p) => &mut p.base_proof.path,
    }
}

/// The modulus: the first node that is no element.
fn modulus() -> [u8; 32] {
    let mut node = (-blstrs::Scalar::from(1u64)).to_repr();
    node[0] += 1;
    node
}

fn leaf(proof: &mut MerkleProof) -> &mut [u8; 32] {
    match &mut proof.data {
        PathData::Single(p) => &mut p.leaf,
        PathData::Sub(p) => &mut p.leaf,
        PathData::Top(p) => &mut p.leaf,
    }
}

fn root(proof: &mut MerkleProof) -> &mut [u8; 32] {
    match &mut proof.data {
        PathData::Single(p) => &mut p.root,
        PathData::Sub(p) => &mut p.root,
        PathData::Top(p) => &mut p.root,
    }
}

type Get = fn(&mut ChallengeProof) -> &mut MerkleProof;

/// All kinds of paths, by the field's name.
const PATHS: [(Get, &str); 5] = [
    (|p| &mut p.comm_d_proofs, "comm_d_proofs"),
    (|p| &mut p.comm_r_last_proof, "comm_r_last_proof"),
    (|p| &mut p.replica_column_proofs.c_x.inclusion_proof, "replica_column_proofs.c_x"),
    (|p| &mut p.replica_column_proofs.drg_parents[5].inclusion_proof, "replica_column_proofs.drg_parents[5]"),
    (|p| &mut p.replica_column_proofs.exp_parents[7].inclusion_proof, "replica_column_proofs.exp_parents[7]"),
];

type ChangePath = fn(&mut MerkleProof);

const PATH_CHANGES: [(ChangePath, &str); 9] = [
    (|p| drop(levels(p).pop()), "levels: "),
    (|p| levels(p).clear(), "levels: 0, "),
    (|p| levels(p).push(PathElement { hashes: vec![], index: 0 }), "levels: "),
    (|p| levels(p)[1].hashes.truncate(0), ".path[1]: sibling hashes: "),
    // One more than the greatest arity has is found as the vanilla proof is read, before the shape is looked at.
    (|p| levels(p)[1].hashes.push([0; 32]), ", expected "),
    (|p| levels(p)[0].hashes.resize(9, [0; 32]), ": copying a vanilla proof: a list of 9 elements, expected at most 7"),
    (|p| levels(p)[0].index = levels(p)[0].hashes.len() as u64 + 1, ".path[0]: index is "),
    (|p| levels(p)[0].index = u64::MAX, ".path[0]: index is 18446744073709551615"),
    (|p| levels(p)[1].hashes[0] = modulus(), ".path[1]: hashes[0]: "),
];

type Change = fn(&mut ChallengeProof);

const CHANGES: [(Change, &str); 9] = [
    (|p| *leaf(&mut p.comm_d_proofs) = [0xff; 32], "comm_d_proofs, leaf: ffff"),
    (|p| drop(p.replica_column_proofs.drg_parents.pop()), "replica_column_proofs.drg_parents: 5, expected 6"),
    (|p| p.replica_column_proofs.exp_parents.clear(), "replica_column_proofs.exp_parents: 0, expected 8"),
    (
        |p| p.replica_column_proofs.drg_parents[0].column.rows.truncate(1),
        "replica_column_proofs.drg_parents[0].column.rows: 1, expected 2",
    ),
    (
        |p| p.replica_column_proofs.exp_parents[3].column.rows.push([0; 32]),
        "replica_column_proofs.exp_parents[3].column.rows: 3, expected 2",
    ),
    (
        |p| p.replica_column_proofs.exp_parents[3].column.rows[1] = modulus(),
        "replica_column_proofs.exp_parents[3].column.rows[1]: ",
    ),
    (|p| p.labeling_proofs.clear(), "labeling_proofs: 0, expected 2"),
    (|p| root(&mut p.comm_r_last_proof)[0] ^= 1, "comm_r_last_proof: root "),
    (
        |p| root(&mut p.replica_column_proofs.c_x.inclusion_proof)[0] ^= 1,
        "replica_column_proofs.c_x.inclusion_proof: root ",
    ),
];

#[track_caller]
fn assert_refused(porep: &PoRep, c1: &C1, change: impl Fn(&mut ChallengeProof), expected: &[&str]) {
    let mut proofs = c1.vanilla.to_raw().unwrap();
    change(&mut proofs[K][I]);
    let vanilla = VanillaProofs::from_raw(c1.statement.proof, proofs).unwrap();
    let e = generate(porep, c1, &vanilla).expect_err("a malformed proof");
    assert_eq!(e.fault(), Fault::Input, "{e}");
    let message = e.to_string();
    assert!(message.starts_with("partition 0: challenge 1: "), "{message}");
    for part in expected {
        assert!(message.contains(part), "expected {part:?} in {message}");
    }
}

#[test]
fn each_malformed_field_is_refused_and_named() {
    let c1 = sample(StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    generate(&porep, &c1, &c1.vanilla).unwrap();
    for (path, field) in PATHS {
        for (change, reason) in PATH_CHANGES {
            assert_refused(&porep, &c1, |p| change(path(p)), &[field, reason]);
        }
    }
    for (change, expected) in CHANGES {
        assert_refused(&porep, &c1, change, &[expected]);
    }
}

#[test]
fn paths_of_another_form_are_refused() {
    let c1 = sample(StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let shape = porep.shape();
    for (path, field) in PATHS {
        let mut proofs = c1.vanilla.to_raw().unwrap().swap_remove(K);
        let proof = path(&mut proofs[I]);
        let (base_proof, sub_proof) = (InclusionPath { path: levels(proof).clone() }, InclusionPath { path: vec![] });
        proof.data = PathData::Sub(SubProof { base_proof, sub_proof, root: *root(proof), leaf: *leaf(proof) });
        let e = cuzk::circuit::Partition::new(&shape, &c1.statement, &proofs).unwrap_err();
        assert_eq!(e.fault(), Fault::Input);
        let message = e.to_string();
        let reason = ".data consists of Sub.base_proof, Sub.sub_proof, expected Single.path";
        assert!(message.starts_with("challenge 1: ") && message.contains(field) && message.contains(reason), "{e}");
    }
}

#[test]
fn counts_and_statements_that_do_not_fit_are_refused() {
    let c1 = sample(StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let refused = |vanilla: &VanillaProofs, c1: &C1, k: usize, expected: &str| {
        let e = porep.partition(&c1.statement, vanilla, k).unwrap_err();
        assert!(e.to_string().contains(expected), "expected {expected:?} in {e}");
        e.fault()
    };
    let typed = |proofs| VanillaProofs::from_raw(c1.statement.proof, proofs).unwrap();
    let proofs = c1.vanilla.to_raw().unwrap();
    let fewer = typed(vec![proofs[K][1..].to_vec()]);
    assert_eq!(refused(&fewer, &c1, K, "partition 0: challenges: 1, expected 2"), Fault::Input);
    assert_eq!(refused(&typed(vec![vec![]]), &c1, K, "partition 0: challenges: 0, expected 2"), Fault::Input);
    assert_eq!(refused(&typed(vec![]), &c1, K, "partition 0 is missing"), Fault::Input);
    assert_eq!(refused(&c1.vanilla, &c1, 1, "partition 1 asked for"), Fault::Internal);
    let large = sample(StackedDrg32GiBV1_1, &SampleOptions::default()).unwrap();
    assert_eq!(refused(&large.vanilla, &c1, K, "tree shape"), Fault::Input);
    for (i, field) in ["replica_id", "comm_d", "comm_r"].into_iter().enumerate() {
        let mut changed = sample(StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap();
        let s = &mut changed.statement;
        *[&mut s.replica_id, &mut s.comm_d, &mut s.comm_r][i] = modulus();
        assert_eq!(refused(&c1.vanilla, &changed, K, field), Fault::Input);
    }
}

#[test]
fn a_partition_of_another_shape_is_refused() {
    let c1 = sample(StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let partition = porep.partition(&c1.statement, &c1.vanilla, K).unwrap();
    let shape = porep.shape();
    let other = Generator::new(&Shape { challenges_per_partition: 1, ..shape }).unwrap();
    assert_eq!(other.generate(&partition).unwrap_err().fault(), Fault::Internal);
    let impossible = [
        Shape { layers: 3, ..shape },
        Shape { drg_parents: 5, ..shape },
        Shape { exp_parents: 9, ..shape },
        Shape { sub_arity: 2, ..shape },
        Shape { top_arity: 2, ..shape },
    ];
    for shape in impossible {
        assert_eq!(Generator::new(&shape).err().unwrap().fault(), Fault::Internal, "{shape:?}");
    }
}
