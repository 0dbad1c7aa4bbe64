//! The 2 KiB sector's development parameters: counts, memory, and what bellperson and filecoin-proofs make of the files.
//!
//! Half a minute of two cores and 1.1 GB of disk, so not among the quick tests:
//! `cargo test --release --test params_2kib -- --ignored --nocapture`.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bellperson::groth16::Parameters;
use blstrs::Bls12;
use cuzk::circuit::{PoRep, SealProof};
use cuzk::srs::generate::{generate, Request};
use cuzk::srs::progress::{silent, Progress};
use cuzk::srs::{inventory, open, Lookup, Origin};

/// What BASELINES has for bellperson's own 2 KiB parameters.
const COUNTS: [usize; 5] = [4_194_303, 2_685_673, 2_674_948, 685_522, 685_522];

#[test]
#[ignore = "half a minute and 1.1 GB of disk"]
fn the_2kib_parameters_are_right() {
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let identity = porep.identity();
    let request = Request {
        identity: &identity,
        sector_bytes: porep.sector_bytes(),
        folder: folder.path(),
        folder_source: "the test",
        seed: None,
    };
    let stages = Stages::default();
    let start = Instant::now();
    let generated = generate(&request, porep.blank(), &|p| stages.see(p)).unwrap();
    println!("generated in {:.1?}, first points after {:.1?}", start.elapsed(), stages.first_points(start));
    println!("peak: {}", peak_memory());
    println!("digest: {}", generated.record.digest);
    assert_eq!((generated.record.constraints, generated.record.inputs), (2_687_961, 40));
    assert_eq!(generated.record.bytes, 1_114_707_768);

    let lookup = Lookup { folder: folder.path().into(), folder_source: "the test".into(), recheck: false };
    let start = Instant::now();
    let verdicts = folder.path().join("verdicts.json");
    let srs = open(&identity, &lookup, Some(&verdicts), &silent).unwrap();
    println!("opened with its digest in {:.1?}", start.elapsed());
    assert_eq!((srs.origin(), srs.digest()), (Origin::Development, &generated.record.digest[..]));
    assert_eq!([srs.h().len(), srs.l().len(), srs.a().len(), srs.b_g1().len(), srs.b_g2().len()], COUNTS);
    let start = Instant::now();
    open(&identity, &lookup, Some(&verdicts), &silent).unwrap();
    println!("opened again in {:.1?}", start.elapsed());
    assert_eq!(inventory::list(&lookup, Some(&verdicts)).unwrap()[0].verdict, inventory::Verdict::Verified);

    let mapped = Parameters::<Bls12>::build_mapped_parameters(generated.path, true).unwrap();
    assert!(*srs.vk() == mapped.vk);
    assert_eq!([&mapped.h, &mapped.l, &mapped.a, &mapped.b_g1, &mapped.b_g2].map(Vec::len), COUNTS);
}

/// When the points' computation began.
#[derive(Default)]
struct Stages(Mutex<Option<Instant>>);

impl Stages {
    fn see(&self, progress: Progress) {
        if let Progress::Work { done: 1.., .. } = progress {
            self.0.lock().unwrap().get_or_insert_with(Instant::now);
        }
    }

    fn first_points(&self, start: Instant) -> Duration {
        self.0.lock().unwrap().unwrap() - start
    }
}

/// The process's peak of resident memory, as Linux has it.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").into()
}
