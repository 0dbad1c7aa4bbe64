//! `--check-witness`, through the real binary: whatever is wrong in a C1 file is named by the row that it breaks.

mod common;

use std::path::{Path, PathBuf};

use blstrs::Scalar as Fr;
use common::{dev_params, finish, repository, Finished, Place};
use cuzk::circuit::{PoRep, SealProof};
use cuzk::constraints::{cache, Constraints};
use serde_json::Value;

/// Runs `line` with the development parameters and a device that takes no time.
fn run(place: &Place, line: &str) -> Finished {
    let params = dev_params().display().to_string();
    let args = line.split_whitespace().chain(["--device", "simulator", "--dev-params", "--params", &params]);
    finish(place.command(args), b"")
}

fn sample() -> Value {
    let bytes = std::fs::read(repository("samples/2KiB.json")).expect("the committed sample");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// The sample with one byte of challenge `k` of partition 0 changed; `place` leads to it.
fn changed(k: usize, place: &str) -> String {
    let mut c1 = sample();
    let byte = c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][k].pointer_mut(place).unwrap_or_else(|| panic!("{place}"));
    *byte = (byte.as_u64().expect("a byte") ^ 1).into();
    c1.to_string()
}

#[test]
fn a_good_file_passes_and_the_check_is_a_phase() {
    let place = Place::new();
    place.write("c1.json", sample().to_string());
    let timings: Value =
        serde_json::from_str(run(&place, "prove c1.json --check-witness --timings json").ok()).unwrap();
    let phases = timings["phases"].as_array().unwrap();
    let check = phases.iter().find(|phase| phase["phase"] == "check_witness").expect("the phase");
    assert_eq!((&check["items"], &check["unit"]), (&2_687_961.into(), &"constraints".into()));
    assert!(check["seconds"].as_f64().unwrap() > 0.01, "{check}");
    assert!(place.names().contains(&"c1.proof.json".to_owned()));
    // Unasked, it is not done.
    let without: Value = serde_json::from_str(run(&place, "prove c1.json --force --timings json").ok()).unwrap();
    assert!(!without.to_string().contains("check_witness"), "{without}");
}

#[test]
fn a_changed_label_or_node_is_named_by_its_row() {
    let node = |i: usize, hash: usize| format!("/inclusion_proof/data/Single/path/path/{i}/hashes/{hash}/7");
    for (k, at, place) in [
        // The label of the last layer: those of others are repeated in the file, and its repetitions are compared.
        (0, "/replica_column_proofs/exp_parents/2/column/rows/1/3".to_owned(), "exp_parent_2_inclusion"),
        (1, format!("/replica_column_proofs/exp_parents/7{}", node(1, 3)), "exp_parent_7_inclusion"),
        (0, "/comm_d_proofs/data/Single/path/path/5/hashes/0/0".into(), "comm_d_inclusion"),
        (1, "/comm_r_last_proof/data/Single/path/path/0/hashes/6/31".into(), "comm_r_last_data_inclusion"),
        (0, format!("/replica_column_proofs/c_x{}", node(0, 0)), "c_x_inclusion"),
    ] {
        let own = Place::new();
        own.write("c1.json", changed(k, &at));
        let line = "prove c1.json --no-check-c1 --check-witness";
        let run = run(&own, line);
        run.fails(3, "c1.json: partition 0: the witness does not satisfy the circuit, first in row ");
        run.fails(3, &format!("(challenge_{k}/{place}/"));
        assert_eq!(own.names(), ["c1.json"], "{at}");
    }
}

#[test]
fn inputs_that_verification_would_not_use_are_named() {
    let mut c1 = sample();
    let byte = &mut c1["seed"][5];
    *byte = (byte.as_u64().expect("a byte") ^ 1).into();
    let seed = c1.to_string();
    // One challenge of the right ones stands where the other belongs.
    let mut c1 = sample();
    let challenges = c1["vanilla_proofs"]["StackedDrg2KiBV1"][0].as_array_mut().unwrap();
    challenges[1] = challenges[0].clone();
    let twice = c1.to_string();
    for (content, input) in [(seed, "4 of the witness (challenge 0: "), (twice, "22 of the witness (challenge 1: ")] {
        let place = Place::new();
        place.write("c1.json", content);
        let run = run(&place, "prove c1.json --no-check-c1 --check-witness");
        run.fails(3, &format!("c1.json: partition 0: input {input}comm_d_proofs, its leaf) is "));
        run.fails(3, "seed");
        assert_eq!(place.names(), ["c1.json"]);
        assert!(!run.stderr.contains("cache file"), "constraints are not in doubt: {}", run.stderr);
    }
}

/// The 2 KiB circuit's constraints in a folder's cache file, whole, with one coefficient that is another.
fn forged(folder: &Path) -> PathBuf {
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1).unwrap();
    let identity = porep.identity().params;
    let mut tables = Constraints::build(porep.blank()).unwrap().tables().clone();
    // The first two are 1 and -1.
    let coefficient = tables.coefficients.get_mut(2).expect("coefficients");
    *coefficient += Fr::from(2);
    let path = cache::path(folder, &identity);
    cache::save(&Constraints::new(tables).unwrap(), &path, &identity).unwrap();
    path
}

#[test]
fn constraints_of_a_cache_file_are_in_doubt_too() {
    let place = Place::new();
    place.write("c1.json", sample().to_string());
    let file = forged(&place.path("kept"));
    let failed = run(&place, "prove c1.json --check-witness --cache kept");
    failed.fails(3, "the witness does not satisfy the circuit, first in row ");
    failed.fails(3, "c1.json: partition 0: with the constraints of the cache file kept/");
    failed.fails(3, "(delete it to have them taken from the circuit again)");
    assert!(!failed.stderr.contains("Scalar(") && failed.stderr.contains(" = 0x"), "{}", failed.stderr);
    // The advice holds.
    std::fs::remove_file(file).unwrap();
    run(&place, "prove c1.json --check-witness --cache kept").ok();
}

#[test]
fn in_a_batch_the_file_fails_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path("in")).unwrap();
    place.write("in/bad.json", changed(0, "/comm_d_proofs/data/Single/path/path/5/hashes/0/0"));
    place.write("in/good.json", sample().to_string());
    let finished = run(&place, "batch in -o out --no-check-c1 --check-witness --report r.json");
    finished.fails(8, "1 of 2 files failed: bad.json");
    finished.fails(8, "(challenge_0/comm_d_inclusion/");
    assert_eq!(finished.text(), "out/good.proof.json\n");
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert_eq!(
        (&report["failures"][0]["fault"], &report["partitions"]["through_devices"]),
        (&"input".into(), &1.into())
    );
    let phases = report["phases"].as_array().unwrap();
    assert!(phases.iter().any(|phase| phase["phase"] == "check_witness"), "{report}");
}
