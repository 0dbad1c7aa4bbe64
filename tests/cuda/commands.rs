//! `prove` and `batch` whose CUDA device fails: the file fails, and nobody else proves it instead.

use serde_json::Value;

use super::common::{dev_params, finish, repository, Finished, Place};
use super::running::library;

/// Runs `line` in `place` on the emulated device, with these failures injected.
fn on_device(place: &Place, line: &str, inject: &str) -> Finished {
    let line = format!("{line} --device cuda --dev-params --params {}", dev_params().display());
    let mut command = place.command(line.split_whitespace());
    if !inject.is_empty() {
        command.env("EMULATOR_INJECT", inject);
    }
    command.env("CUZK_LIBCUDA", library()).env("EMULATOR_MEMORY", (8u64 << 30).to_string());
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
        let run = on_device(&place, "prove c1.json", inject);
        run.fails(5, status);
        assert!(run.stderr.contains("CUDA 0"), "{inject}: {}", run.stderr);
        assert_eq!(place.names(), names, "{inject}");
    }
}

#[test]
fn a_device_that_fails_fails_its_file_of_a_batch() {
    let place = with_sample("in/c1.json");
    let run = on_device(&place, "batch in -o out --report r.json", "launch:2=719");
    run.fails(8, "CUDA_ERROR_LAUNCH_FAILED (719)");
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert_eq!(report["files"]["failed"], 1, "{report}");
    assert_eq!(report["partitions"]["through_devices"], 0, "{report}");
    assert_eq!(report["failures"][0]["fault"], "device", "{report}");
    assert!(report["device"]["name"].as_str().unwrap().starts_with("cuda:0 ("), "{report}");
    assert!(!place.path("out/c1.proof.json").exists());
}

/// From C1 files to proofs that verify, several partitions together, with the device's own times in every report.
#[test]
#[ignore = "takes the emulated device half an hour: cargo test --release --test cuda -- --ignored batch_of_two"]
fn a_batch_of_two_is_proved_on_the_emulated_device() {
    let place = with_sample("in/one.json");
    place.run("sample --sector-size 2KiB --seed 2 -o in/two.json").ok();
    let run = on_device(
        &place,
        "batch in -o out --report r.json --trace t.json --timeline t.svg --partitions-in-flight 2",
        "",
    );
    run.ok();
    for name in ["one", "two"] {
        let params = dev_params();
        let verified =
            format!("verify out/{name}.proof.json --c1 in/{name}.json --dev-params --params {}", params.display());
        place.run(&verified).ok();
    }
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert_eq!(report["files"]["proved"], 2, "{report}");
    let work = report["device_work"].as_array().unwrap();
    let of = |name: &str| work.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"));
    for kernel in ["evaluate_tiles", "ntt_forward_pass", "g1_add_entries", "g2_add_entries", "g1_sum_ones"] {
        assert!(of(kernel)["kind"] == "kernel" && of(kernel)["seconds"].as_f64().unwrap() > 0.0, "{report}");
    }
    assert!(of("bases as in the file")["bytes"].as_u64().unwrap() > 1 << 30, "{report}");
    for file in ["t.json", "t.svg"] {
        let text = String::from_utf8(place.read(file)).unwrap();
        assert!(text.contains("stream 0.0") && text.contains("g1_add_entries"), "{file}");
    }
}
