//! `cuzk prove` and `cuzk verify` on the committed 2 KiB sample, through the real binary.

mod common;

use std::sync::OnceLock;

use base64::prelude::{Engine, BASE64_STANDARD};
use common::{dev_params, finish, repository, Finished, Place};
use serde_json::Value;

/// Arguments that select the shared development parameters.
fn dev() -> Vec<String> {
    vec!["--dev-params".into(), "--params".into(), dev_params().display().to_string()]
}

fn sample() -> Vec<u8> {
    std::fs::read(repository("samples/2KiB.json")).expect("the committed sample")
}

/// Runs `line` with the development parameters.
fn run_dev(place: &Place, line: &str, stdin: &[u8]) -> Finished {
    let args = line.split_whitespace().map(str::to_owned).chain(dev());
    finish(place.command(args), stdin)
}

/// The sample proved once, for all tests: a folder with `c1.json` and `c1.proof.json`, and how the run ended.
fn proved() -> &'static (Place, Finished) {
    static PROVED: OnceLock<(Place, Finished)> = OnceLock::new();
    PROVED.get_or_init(|| {
        let place = Place::new();
        place.write("c1.json", sample());
        let finished = run_dev(&place, "prove c1.json --timings json", b"");
        finished.ok();
        (place, finished)
    })
}

fn document() -> Value {
    serde_json::from_slice(&proved().0.read("c1.proof.json")).expect("the proof file is JSON")
}

fn proof() -> Vec<u8> {
    hex::decode(document()["proof"].as_str().expect("proof")).expect("hex")
}

#[test]
fn the_proof_file_says_what_was_proved_and_with_what() {
    let (place, finished) = proved();
    assert_eq!(place.names(), ["c1.json", "c1.proof.json"]);
    assert!(
        finished.stderr.contains("warning: development parameters: what is proved with them proves nothing"),
        "{}",
        finished.stderr
    );
    let (document, c1) = (document(), serde_json::from_slice::<Value>(&sample()).unwrap());
    assert_eq!(document["kind"], "cuzk-proof");
    assert_eq!(document["registered_proof"], c1["registered_proof"]);
    let comm_r: Vec<u8> = serde_json::from_value(c1["comm_r"].clone()).unwrap();
    assert_eq!(document["comm_r"], hex::encode(comm_r));
    assert_eq!(document["parameters"]["development"], true);
    assert!(document["warning"].as_str().unwrap().contains("proves nothing"));
    let params = dev_params().join(document["parameters"]["file"].as_str().unwrap());
    assert!(params.is_file(), "{}", params.display());
    assert_eq!(proof().len(), 192);
}

#[test]
fn the_timings_are_one_json_object_with_every_phase() {
    let timings: Value = serde_json::from_slice(&proved().1.stdout).expect("standard output is JSON");
    let phases: Vec<_> = timings["phases"].as_array().unwrap().iter().map(|p| p["phase"].as_str().unwrap()).collect();
    let expected = [
        "read",
        "check",
        "parameters",
        "circuit",
        "synthesis",
        "evaluation",
        "quotient",
        "sum_h",
        "sum_l",
        "sum_a",
        "sum_b_g1",
        "sum_b_g2",
        "assembly",
        "verification",
        "write",
        "other",
    ];
    assert_eq!(phases, expected);
    assert_eq!(timings["proof_file"], "c1.proof.json");
    assert_eq!(timings["development_parameters"], true);
    assert!(timings["total_seconds"].as_f64().unwrap() > 0.0);
    let shares: f64 = timings["phases"].as_array().unwrap().iter().map(|p| p["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    let phase = |name: &str| timings["phases"].as_array().unwrap().iter().find(|p| p["phase"] == name).unwrap().clone();
    assert_eq!(phase("write")["items"], proved().0.read("c1.proof.json").len());
    let parameters = phase("parameters");
    assert_eq!((&parameters["items"], &parameters["items_per_second"]), (&Value::Null, &Value::Null), "not counted");
}

#[test]
fn where_the_proof_takes_standard_output_the_timings_have_standard_error_to_themselves() {
    let place = Place::new();
    let line = "prove - -q --timings json --format raw --device simulator";
    let finished = run_dev(&place, line, &sample());
    assert_eq!((finished.code, finished.stdout.len()), (Some(0), 192), "{}", finished.stderr);
    let timings: Value = serde_json::from_str(&finished.stderr).unwrap_or_else(|e| panic!("{e}:\n{}", finished.stderr));
    assert_eq!((&timings["development_parameters"], &timings["proof_file"]), (&true.into(), &Value::Null));
    let loud = run_dev(&place, &line.replace("-q ", ""), &sample());
    assert!(loud.stderr.contains("warning: development parameters"), "{}", loud.stderr);
}

#[test]
fn the_simulators_time_has_a_name() {
    let place = Place::new();
    place.write("c1.json", sample());
    let run = run_dev(&place, "prove c1.json --device simulator:1", b"");
    run.ok();
    let row =
        run.stderr.lines().find(|line| line.starts_with("simulation")).unwrap_or_else(|| panic!("{}", run.stderr));
    assert!(row.contains("1.0") && row.contains("1 partition"), "{row}");
}

#[test]
fn every_format_verifies() {
    let (place, _) = proved();
    let c1 = place.path("c1.json").display().to_string();
    let proof = proof();
    let own = Place::new();
    own.write("p.json", place.read("c1.proof.json"));
    own.write("p.raw", &proof);
    own.write("p.hex", format!("{}\n", hex::encode(&proof)));
    own.write("p.base64", format!("{}\n", BASE64_STANDARD.encode(&proof)));
    for name in ["p.json", "p.raw", "p.hex", "p.base64"] {
        let line = format!("verify {name} --c1 {c1}");
        assert_eq!(
            run_dev(&own, &line, b"").ok(),
            format!("{name}: valid, 1 partition (development parameters: proves nothing)\n")
        );
    }
    assert!(run_dev(&own, &format!("verify - --c1 {c1}"), &proof).ok().starts_with("standard input: valid"));
    assert!(run_dev(&own, "verify p.raw --c1 -", &sample()).ok().starts_with("p.raw: valid"));
}

#[test]
fn standard_input_is_proved_to_standard_output() {
    let place = Place::new();
    let finished = run_dev(&place, "prove - --format raw --no-check-c1", &sample());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("sum_b_g2"), "the table of phases is on standard error:\n{}", finished.stderr);
    assert!(!finished.stderr.contains("challenges/s"), "no check was asked for:\n{}", finished.stderr);
    assert!(place.names().is_empty(), "nothing is written beside");
    assert_eq!(finished.stdout.len(), 192);
    assert_ne!(finished.stdout, proof(), "every proof is blinded anew");
    let c1 = proved().0.path("c1.json");
    run_dev(&place, &format!("verify - --c1 {}", c1.display()), &finished.stdout).ok();
}

#[test]
fn a_changed_byte_in_the_proof_is_caught() {
    let c1 = proved().0.path("c1.json").display().to_string();
    let own = Place::new();
    // In A, B, C, and the flags of each.
    for at in [0, 20, 48, 100, 144, 191] {
        let mut changed = proof();
        changed[at] ^= 1;
        run_dev(&own, &format!("verify - --c1 {c1}"), &changed).fails(6, "standard input: ");
    }
    let text = String::from_utf8(proved().0.read("c1.proof.json")).unwrap();
    let hex = hex::encode(proof());
    let other = hex.replace(&hex[300..302], if &hex[300..302] == "00" { "01" } else { "00" });
    own.write("changed.json", text.replace(&hex, &other));
    run_dev(&own, &format!("verify changed.json --c1 {c1}"), b"").fails(6, "changed.json: ");
    own.write("no-hex.json", text.replace(&hex, &hex.replace(&hex[300..302], "xy")));
    run_dev(&own, &format!("verify no-hex.json --c1 {c1}"), b"").fails(3, "hex");
    own.write("short.json", text.replace(&hex, &hex[2..]));
    run_dev(&own, &format!("verify short.json --c1 {c1}"), b"").fails(3, "got 191 bytes");
}

#[test]
fn a_proof_of_another_sector_is_refused() {
    let own = Place::new();
    own.run("sample --sector-size 2KiB --seed 7 --data random -o other.json").ok();
    own.write("p.json", proved().0.read("c1.proof.json"));
    run_dev(&own, "verify p.json --c1 other.json", b"").fails(6, "do not belong together");
    run_dev(&own, "verify - --c1 other.json", &proof()).fails(6, "does not verify");
}

#[test]
fn a_document_that_contradicts_the_c1_or_the_parameters_is_refused() {
    let (place, _) = proved();
    let c1 = place.path("c1.json").display().to_string();
    let own = Place::new();
    let verify = |field: &str, value: Value, known: &str| {
        let mut document = document();
        match field.split_once('.') {
            Some((outer, inner)) => document[outer][inner] = value,
            None => document[field] = value,
        }
        own.write("p.json", document.to_string());
        run_dev(&own, &format!("verify p.json --c1 {c1} {known}"), b"")
    };
    verify("parameters.digest", "00".repeat(16).into(), "").fails(6, "p.json: ");
    verify("parameters.digest", "00".repeat(16).into(), "").fails(6, "digest");
    verify("parameters.file", "v28-other.params".into(), "").fails(6, "v28-other.params");
    // The C1 file names no sector: only where the command line does can they differ.
    let known = "--miner t01000 --sector 1";
    verify("miner", 1001.into(), known).fails(6, "the miner is f01001");
    verify("sector", 2.into(), known).fails(6, "the sector is 2");
    verify("miner", 1000.into(), known).ok();
    // Both in the document: replica_id tells.
    let with_both = |miner: u64, sector: u64| {
        let mut document = document();
        (document["miner"], document["sector"]) = (miner.into(), sector.into());
        own.write("p.json", document.to_string());
        run_dev(&own, &format!("verify p.json --c1 {c1}"), b"")
    };
    with_both(1000, 1).ok();
    with_both(1000, 2).fails(6, "replica_id");
    with_both(1001, 1).fails(6, "replica_id");
}

#[test]
fn a_miner_or_a_sector_alone_is_checked_with_what_the_c1_names() {
    let own = Place::new();
    let sample: Value = serde_json::from_slice(&sample()).unwrap();
    // The same C1 output in a wrapper that names the sector only.
    own.run("sample --sector-size 2KiB --format wrapper -o wrapper.json").ok();
    own.write("c1.json", sample.to_string());
    let verify = |miner: Option<u64>, sector: Option<u64>, c1: &str| {
        let mut document = document();
        let object = document.as_object_mut().unwrap();
        object.retain(|key, _| key != "miner" && key != "sector");
        object.extend(miner.map(|miner| ("miner".into(), miner.into())));
        object.extend(sector.map(|sector| ("sector".into(), sector.into())));
        own.write("p.json", document.to_string());
        run_dev(&own, &format!("verify p.json --c1 {c1}"), b"")
    };
    verify(Some(1000), None, "wrapper.json").ok();
    verify(Some(1001), None, "wrapper.json").fails(6, "replica_id");
    verify(None, Some(2), "wrapper.json").fails(6, "the sector is 2");
    verify(Some(1001), None, "c1.json --miner t01000 --sector 1").fails(6, "the miner is f01001");
    verify(None, Some(2), "c1.json --miner t01000 --sector 1").fails(6, "the sector is 2");
    // Here nothing tells, and that is said.
    for (miner, sector, said) in
        [(Some(1001), None, "miner f01001 and no sector"), (None, Some(2), "sector 2 and no miner")]
    {
        let run = verify(miner, sector, "c1.json");
        assert!(run.ok().contains("valid") && run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn proof_files_of_a_hostile_size_are_refused_before_they_are_decoded() {
    let (place, _) = proved();
    let c1 = place.path("c1.json").display().to_string();
    let own = Place::new();
    // Nothing in it is a point: decoding would say so.
    own.write("p.raw", [proof(), vec![0xff; 192]].concat());
    let two = run_dev(&own, &format!("verify p.raw --c1 {c1}"), b"");
    two.fails(6, "p.raw: a proof for this C1 file has 192 bytes (1 partition of 192), this one 384");
    // Sparse: an attempt to read it all would be noticed.
    let huge = own.write("huge.raw", b"");
    std::fs::File::options().write(true).open(huge).unwrap().set_len(1 << 40).unwrap();
    run_dev(&own, &format!("verify huge.raw --c1 {c1}"), b"")
        .fails(3, "huge.raw: no proof file, which has at most 65536 bytes");
}

#[test]
fn arguments_that_are_swapped_are_called_so() {
    let (place, _) = proved();
    let swapped = run_dev(place, "verify c1.json --c1 c1.proof.json", b"");
    swapped.fails(3, "c1.json: no proof file, which has at most 65536 bytes; the C1 file is named with --c1");
    for line in ["inspect c1.proof.json", "prove c1.proof.json -o p", "verify c1.proof.json --c1 c1.proof.json"] {
        run_dev(place, line, b"").fails(3, "c1.proof.json: this is a proof file of cuzk; expected a C1 output");
    }
}

#[test]
fn a_development_proof_does_not_verify_unless_asked_for() {
    let (place, _) = proved();
    let params = dev_params();
    place.run("verify c1.proof.json --c1 c1.json").fails(6, "--dev-params");
    let line = format!("verify c1.proof.json --c1 c1.json --params {}", params.display());
    place.run(&line).fails(6, "--dev-params");
    let own = Place::new();
    own.write("p.raw", proof());
    let line = format!("verify p.raw --c1 {} --params {}", place.path("c1.json").display(), params.display());
    own.run(&line).fails(4, "--dev-params");
}
