//! `prove` and `batch` whose CUDA device fails: the file fails, and nobody else proves it instead.

use serde_json::Value;

use super::common::{dev_params, finish, repository, Finished, Place};
use super::running::library;

/// Runs `line` in `place` with the emulated device as its driver, failures injected.
fn with_failure(place: &Place, line: &str, inject: &str) -> Finished {
    let line = format!("{line} --device cuda --dev-params --params {}", dev_params().display());
    let mut command = place.command(line.split_whitespace());
    command
        .env("CUZK_LIBCUDA", library())
        .env("EMULATOR_INJECT", inject)
        .env("EMULATOR_MEMORY", (8u64 << 30).to_string());
    finish(command, b"")
}

fn with_sample(name: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("in")).unwrap();
    place.write(name, std::fs::read(repository("samples/2KiB.json")).unwrap());
    place
}

#[test]
fn a_device_that_fails_fails_the_proof_and_leaves_nothing() {
    let place = with_sample("c1.json");
    let names = place.names();
    for (inject, status) in [
        ("alloc:2=2", "CUDA_ERROR_OUT_OF_MEMORY (2)"),
        ("launch:2=719", "CUDA_ERROR_LAUNCH_FAILED (719)"),
        ("copy:3=700", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
    ] {
        let run = with_failure(&place, "prove c1.json", inject);
        run.fails(5, status);
        assert!(run.stderr.contains("CUDA 0"), "{inject}: {}", run.stderr);
        assert_eq!(place.names(), names, "{inject}");
    }
}

#[test]
fn a_device_that_fails_fails_its_file_of_a_batch() {
    let place = with_sample("in/c1.json");
    let run = with_failure(&place, "batch in -o out --report r.json", "launch:2=719");
    run.fails(8, "CUDA_ERROR_LAUNCH_FAILED (719)");
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert_eq!(report["files"]["failed"], 1, "{report}");
    assert_eq!(report["partitions"]["through_devices"], 0, "{report}");
    assert_eq!(report["failures"][0]["fault"], "device", "{report}");
    assert!(report["device"]["name"].as_str().unwrap().starts_with("cuda:0 ("), "{report}");
    assert!(!place.path("out/c1.proof.json").exists());
}
