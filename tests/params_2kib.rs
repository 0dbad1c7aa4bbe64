//! The 2 KiB sector's development parameters: counts, and what bellperson makes of the files.

mod common;

use bellperson::groth16::Parameters;
use blstrs::Bls12;
use cuzk::circuit::{PoRep, SealProof};
use cuzk::srs::progress::silent;
use cuzk::srs::{inventory, open, Lookup, Origin};

/// Points of the h, l, a, b_g1 and b_g2 queries in the official 2 KiB parameters.
const COUNTS: [usize; 5] = [4_194_303, 2_685_673, 2_674_948, 685_522, 685_522];
/// Length of the official 2 KiB parameter file.
const BYTES: u64 = 1_114_707_768;
/// The secrets follow from the circuit's name, so the file is the same on every machine.
const DIGEST: &str = "63ef44690aa591feac2b2f112f18ca66";

#[test]
fn the_2kib_parameters_are_the_official_ones_but_for_their_secrets() {
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let verdicts = folder.path().join("verdicts.json");
    let lookup = Lookup { folder: common::dev_params(), folder_source: "tests".into(), recheck: false };

    let srs = open(&porep.identity(), &lookup, Some(&verdicts), &silent).unwrap();
    assert_eq!((srs.origin(), srs.digest()), (Origin::Development, DIGEST));
    assert_eq!([srs.h().len(), srs.l().len(), srs.a().len(), srs.b_g1().len(), srs.b_g2().len()], COUNTS);
    assert_eq!(std::fs::metadata(srs.path()).unwrap().len(), BYTES);
    assert_eq!(inventory::list(&lookup, Some(&verdicts)).unwrap()[0].verdict, inventory::Verdict::Verified);

    let mapped = Parameters::<Bls12>::build_mapped_parameters(srs.path().into(), true).unwrap();
    assert!(*srs.vk() == mapped.vk);
    assert_eq!([&mapped.h, &mapped.l, &mapped.a, &mapped.b_g1, &mapped.b_g2].map(Vec::len), COUNTS);
}
