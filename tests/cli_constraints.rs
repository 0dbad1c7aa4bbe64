//! `cuzk constraints`, through the real binary.

mod common;

use common::{finish, repository, Place};
use serde_json::Value;

fn json(place: &Place, line: &str) -> (Value, String) {
    let finished = place.run(line);
    let object = serde_json::from_str(finished.ok()).expect("one JSON object");
    (object, finished.stderr)
}

#[test]
fn constraints_are_taken_from_the_circuit_once() {
    let place = Place::new();
    let (built, stderr) = json(&place, "constraints --sector-size 2KiB --json --cache here");
    assert_eq!(built["how"], "saved");
    assert!(stderr.contains("taking the constraints"), "{stderr}");
    let counts = [("rows", 2_687_961), ("inputs", 40), ("aux", 2_685_673)];
    assert!(counts.iter().all(|(key, count)| built[*key] == *count), "{built}");
    // The a and b queries of this circuit's parameters have 2,674,948 and 685,522 points.
    assert_eq!(built["densities"]["a_aux"], 2_674_948 - 40);
    let b = |key: &str| built["densities"][key].as_u64().unwrap();
    assert_eq!(b("b_input") + b("b_aux"), 685_522);

    // By the C1 file, from the cache, as text.
    let line = format!("constraints {} --cache here", repository("samples/2KiB.json").display());
    let text = place.run(&line);
    assert!(text.ok().contains("loaded in") && text.text().contains("2687961"), "{}", text.text());
    assert!(text.stderr.is_empty(), "{}", text.stderr);
    let (mut loaded, _) = json(&place, &format!("{line} --json"));
    assert_eq!(loaded["how"], "loaded");
    for key in ["how", "seconds"] {
        loaded[key] = built[key].clone();
    }
    assert_eq!(loaded, built);

    // Damaged: said, and replaced.
    let file = built["file"].as_str().unwrap();
    let mut bytes = place.read(file);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    place.write(file, bytes);
    let (again, stderr) = json(&place, &format!("{line} --json"));
    assert!(again["how"] == "saved" && stderr.contains("checksum"), "{stderr}");
    assert_eq!(json(&place, &format!("{line} --json")).0["how"], "loaded");
}

#[test]
fn where_they_cannot_be_kept_a_note_says_so() {
    let place = Place::new();
    place.write("file", "");
    let (object, stderr) = json(&place, "constraints --sector-size 2KiB --json --cache file/below");
    assert!(object["how"] == "in memory" && object["file"].is_null(), "{object}");
    assert!(stderr.contains("--cache") && stderr.contains("file/below"), "{stderr}");
    let mut command = place.command(["constraints", "--sector-size", "2KiB", "--json", "--quiet"]);
    command.env_remove("HOME");
    let finished = finish(command, b"");
    let object: Value = serde_json::from_str(finished.ok()).unwrap();
    assert!(object["how"] == "in memory" && finished.stderr.is_empty(), "{}", finished.stderr);
    // The environment's folder.
    let mut command = place.command(["constraints", "--sector-size", "2KiB"]);
    command.env("CUZK_CACHE", place.path("kept"));
    finish(command, b"").ok();
    assert!(place.names().contains(&"kept".to_owned()));
}

#[test]
fn prove_and_bench_say_what_became_of_the_file() {
    let place = Place::new();
    std::fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    let params = common::dev_params().display().to_string();
    let bench = "bench synth c1.json --strategy cuzk --runs 1 --cache kept".to_owned();
    let prove =
        format!("prove c1.json --force --check-witness --device simulator --dev-params --params {params} --cache kept");
    for (command, other) in [(&bench, &prove), (&prove, &bench)] {
        let says = |command: &str, parts: &[&str]| {
            let run = place.run(command);
            run.ok();
            let about = |line: &&str| line.contains("constraints") && line.contains("kept/");
            let lines: Vec<_> = run.stderr.lines().filter(about).collect();
            assert!(
                lines.len() == 1 && parts.iter().all(|part| lines[0].contains(part)),
                "{parts:?} in {}",
                run.stderr
            );
            lines[0].to_owned()
        };
        says(command, &["constraints: taken from the circuit, and kept in kept/"]);
        let file = says(command, &["constraints: loaded from kept/"]).split(" from ").nth(1).unwrap().to_owned();
        let mut bytes = place.read(&file);
        bytes[0] ^= 1;
        place.write(&file, bytes);
        says(command, &["not a file of constraints", "taken from the circuit anew", "replaced"]);
        says(other, &["constraints: loaded from kept/"]);
        assert!(!place.run(&format!("{command} --quiet")).stderr.contains("constraints"));
        std::fs::remove_dir_all(place.path("kept")).unwrap();
    }
}
