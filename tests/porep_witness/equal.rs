//! Whole partitions of the small sizes, single challenges of the large ones.

use bellperson::Circuit;
use blstrs::Scalar as Fr;
use cuzk::{
    c1::{sample, sealed, SampleData, SampleOptions, C1},
    circuit::{
        raw::{self, ChallengeProof, MerkleProof, PathData},
        Partition, PoRep, SealProof, Shape, VanillaProofs,
    },
    witness::{porep::Generator, CompactWitness},
};
use ff::{Field, PrimeField};
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_proofs::{
    constants::DefaultPieceHasher,
    parameters::public_params,
    types::{MerkleTreeTrait, VanillaSealProof},
};
use rand_chacha::{
    rand_core::{RngCore, SeedableRng},
    ChaCha20Rng,
};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_porep::stacked::{PublicInputs, StackedCompound, Tau};
use SealProof::*;

use crate::compare::assert_is_assignment_of;

fn random(seed: u64) -> SampleOptions {
    SampleOptions { miner: 1234, sector: 7, seed, data: SampleData::Random }
}

/// The generator's witness is the circuit's assignment.
#[track_caller]
fn assert_equal(shape: &Shape, partition: &Partition, circuit: impl Circuit<Fr>) {
    let witness = Generator::new(shape).unwrap().generate(partition).unwrap();
    assert_is_assignment_of(&witness, circuit);
    let portable = Generator::with_lanes(shape, false).unwrap().generate(partition).unwrap();
    assert!(portable == witness, "with and without lanes");
}

fn assert_whole_equal(c1: &C1) {
    let porep = PoRep::new(c1.statement.proof).unwrap();
    for k in 0..porep.partitions() {
        let partition = porep.partition(&c1.statement, &c1.vanilla, k).unwrap();
        assert_equal(&porep.shape(), &partition, porep.circuit(&c1.statement, &c1.vanilla, k).unwrap());
    }
}

#[test]
fn fabricated_2kib_witnesses_are_the_circuits() {
    assert_whole_equal(&sample(StackedDrg2KiBV1_1, &SampleOptions::default()).unwrap());
    assert_whole_equal(&sample(StackedDrg2KiBV1, &random(3)).unwrap());
}

#[test]
fn sealed_2kib_witnesses_are_the_circuits() {
    for proof in [StackedDrg2KiBV1_1, StackedDrg2KiBV1_1_Feat_SyntheticPoRep] {
        assert_whole_equal(&sealed(proof, &random(5)).unwrap());
    }
}

#[test]
fn fabricated_8mib_witnesses_are_the_circuits() {
    assert_whole_equal(&sample(StackedDrg8MiBV1_1, &SampleOptions::default()).unwrap());
    assert_whole_equal(&sample(StackedDrg8MiBV1_1, &random(4)).unwrap());
}

/// `cargo test --release --test porep_witness sealed_8mib`
#[test]
fn sealed_8mib_witnesses_are_the_circuits() {
    assert_whole_equal(&sealed(StackedDrg8MiBV1_1, &random(7)).unwrap());
}

#[test]
fn any_number_of_threads_makes_the_same_witness() {
    let c1 = sample(StackedDrg8MiBV1_1, &random(6)).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let partition = porep.partition(&c1.statement, &c1.vanilla, 0).unwrap();
    let generator = Generator::new(&porep.shape()).unwrap();
    let witness = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generator.generate(&partition).unwrap())
    };
    let one = witness(1);
    assert!(one == witness(2) && one == witness(5));
}

/// The circuit of one challenge, and its witness.
fn assert_challenge_equal(c1: &C1, k: usize, i: usize) {
    match &c1.vanilla {
        VanillaProofs::Base(proofs) => assert_typed_challenge_equal(c1, proofs, k, i),
        VanillaProofs::Sub8(proofs) => assert_typed_challenge_equal(c1, proofs, k, i),
        VanillaProofs::Top2(proofs) => assert_typed_challenge_equal(c1, proofs, k, i),
    }
}

fn assert_typed_challenge_equal<Tree>(c1: &C1, proofs: &[Vec<VanillaSealProof<Tree>>], k: usize, i: usize)
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let s = &c1.statement;
    let porep = PoRep::new(s.proof).unwrap();
    let shape = Shape { challenges_per_partition: 1, ..porep.shape() };
    let raw = c1.vanilla.to_raw().unwrap().swap_remove(k).swap_remove(i);
    let partition = Partition::new(&shape, s, &[raw]).unwrap();
    let tau = Tau { comm_d: filecoin_hashers::sha256::Sha256Domain(s.comm_d), comm_r: s.comm_r.into() };
    let inputs = PublicInputs { replica_id: s.replica_id.into(), tau: Some(tau), k: None, seed: Some(s.seed) };
    let params = public_params::<Tree>(&s.proof.as_v1_config()).unwrap();
    type Compound<Tree> = StackedCompound<Tree, DefaultPieceHasher>;
    let one = vec![proofs[k][i].clone()];
    assert_equal(&shape, &partition, Compound::<Tree>::circuit(&inputs, (), &one, &params, None).unwrap());
}

#[test]
fn challenges_of_512mib_are_the_circuits() {
    assert_challenge_equal(&sample(StackedDrg512MiBV1_1, &SampleOptions::default()).unwrap(), 0, 0);
    assert_challenge_equal(&sample(StackedDrg512MiBV1_1, &random(9)).unwrap(), 0, 1);
}

#[test]
fn challenges_of_32gib_are_the_circuits() {
    assert_challenge_equal(&sample(StackedDrg32GiBV1_1, &SampleOptions::default()).unwrap(), 0, 0);
    assert_challenge_equal(&sample(StackedDrg32GiBV1_1, &random(11)).unwrap(), 9, 17);
}

#[test]
fn challenges_of_64gib_are_the_circuits() {
    assert_challenge_equal(&sample(StackedDrg64GiBV1_1, &SampleOptions::default()).unwrap(), 0, 0);
    assert_challenge_equal(&sample(StackedDrg64GiBV1_1, &random(12)).unwrap(), 5, 3);
}

/// blake2b-256 of inputs, bits and elements, each as little-endian bytes.
fn digest(witness: &CompactWitness) -> String {
    let mut hash = blake2b_simd::Params::new().hash_length(32).to_state();
    for element in witness.inputs() {
        hash.update(&element.to_repr());
    }
    for word in witness.bits() {
        hash.update(&word.to_le_bytes());
    }
    for element in witness.wide() {
        hash.update(&element.to_repr());
    }
    hash.finalize().to_hex().to_string()
}

/// Of partition 0 of the default 32 GiB sample, 130,169,893 variables of which 1,699,102 are elements.
const DIGEST_32GIB: &str = "ddd18c0ca8b3817d67fc63e1f7a6dfd52948c6103543b519e70005fbddf2d36f";

/// `cargo test --release --test porep_witness -- --ignored whole_32gib`
#[test]
#[ignore = "runs a whole 32 GiB partition's circuit: a minute of CPU time"]
fn whole_32gib_partition_is_the_circuits() {
    let c1 = sample(StackedDrg32GiBV1_1, &SampleOptions::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let partition = porep.partition(&c1.statement, &c1.vanilla, 0).unwrap();
    let witness = Generator::new(&porep.shape()).unwrap().generate(&partition).unwrap();
    assert_eq!((witness.layout().aux(), witness.layout().wide()), (130_169_893, 1_699_102));
    assert_is_assignment_of(&witness, porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap());
    assert_eq!(digest(&witness), DIGEST_32GIB);
}

/// Random values and positions in every place: no circuit is satisfied by them, but each has its assignment. Zeros, ones and the
/// largest element are among them.
fn scramble(proof: &mut ChallengeProof, rng: &mut ChaCha20Rng) {
    fn node(rng: &mut ChaCha20Rng) -> raw::Node {
        let element = match rng.next_u32() % 8 {
            0 => Fr::ZERO,
            1 => Fr::ONE,
            2 => -Fr::ONE,
            _ => Fr::random(rng),
        };
        element.to_repr()
    }
    fn path(proof: &mut MerkleProof, rng: &mut ChaCha20Rng) {
        let (leaf, sections) = match &mut proof.data {
            PathData::Single(p) => (&mut p.leaf, vec![&mut p.path]),
            PathData::Sub(p) => (&mut p.leaf, vec![&mut p.base_proof, &mut p.sub_proof]),
            PathData::Top(p) => (&mut p.leaf, vec![&mut p.base_proof, &mut p.sub_proof, &mut p.top_proof]),
        };
        *leaf = node(rng);
        for level in sections.into_iter().flat_map(|section| &mut section.path) {
            level.hashes.iter_mut().for_each(|hash| *hash = node(rng));
            level.index = u64::from(rng.next_u32()) % (level.hashes.len() as u64 + 1);
        }
    }
    path(&mut proof.comm_d_proofs, rng);
    path(&mut proof.comm_r_last_proof, rng);
    let columns = &mut proof.replica_column_proofs;
    path(&mut columns.c_x.inclusion_proof, rng);
    for column in columns.drg_parents.iter_mut().chain(&mut columns.exp_parents) {
        column.column.rows.iter_mut().for_each(|row| *row = node(rng));
        path(&mut column.inclusion_proof, rng);
    }
    proof.labeling_proofs[0].node = rng.next_u64();
}

/// The C1 with the challenge scrambled.
fn scrambled(mut c1: C1, k: usize, i: usize, seed: u64) -> C1 {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut proofs = c1.vanilla.to_raw().unwrap();
    scramble(&mut proofs[k][i], &mut rng);
    c1.vanilla = VanillaProofs::from_raw(c1.statement.proof, proofs).unwrap();
    c1.statement.replica_id = Fr::random(&mut rng).to_repr();
    c1
}

#[test]
fn unsatisfying_2kib_challenges_are_the_circuits() {
    for seed in 0..6 {
        let c1 = sample(StackedDrg2KiBV1_1, &random(seed)).unwrap();
        assert_challenge_equal(&scrambled(c1, 0, 1, seed), 0, 1);
    }
}

#[test]
fn unsatisfying_challenges_of_32gib_are_the_circuits() {
    let c1 = sample(StackedDrg32GiBV1_1, &SampleOptions::default()).unwrap();
    assert_challenge_equal(&scrambled(c1, 7, 2, 20), 7, 2);
}

#[test]
fn unsatisfying_challenges_of_64gib_are_the_circuits() {
    let c1 = sample(StackedDrg64GiBV1_1, &SampleOptions::default()).unwrap();
    assert_challenge_equal(&scrambled(c1, 3, 0, 21), 3, 0);
}
