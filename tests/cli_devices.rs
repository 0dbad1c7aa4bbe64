//! `cuzk devices` and `--device` through the real binary, with no driver and with fake ones.

mod common;
#[path = "gpu/fake.rs"]
mod fake;

use std::path::Path;

use common::{dev_params, finish, repository, Finished, Place};
use cuzk::processor;
use serde_json::Value;

const NO_DRIVER: &str = "/nonexistent/libcuda.so.1";

/// Runs `line` with this library as the driver, and variables for the fake one.
fn with_driver(place: &Place, line: &str, library: &Path, variables: &[(&str, &str)]) -> Finished {
    let mut command = place.command(line.split_whitespace());
    command.env_remove("CUDA_VISIBLE_DEVICES").env("CUZK_LIBCUDA", library).envs(variables.iter().copied());
    finish(command, b"")
}

/// A folder with the sample and a fake driver.
fn with_fake(definitions: &[&str]) -> (Place, std::path::PathBuf) {
    let place = Place::new();
    std::fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    let library = fake::fake(&place.path(""), definitions);
    (place, library)
}

/// `prove` with this device fails with the exit code of devices, and one line that has all of `parts`.
#[track_caller]
fn refused(device: &str, place: &Place, library: &Path, variables: &[(&str, &str)], parts: &[&str]) {
    let run = with_driver(place, &format!("prove c1.json --device {device} --params ."), library, variables);
    run.fails(5, &format!("error: --device {device}: "));
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    parts.iter().for_each(|part| run.fails(5, part));
    assert!(!place.path("c1.proof.json").exists());
}

#[test]
fn without_a_driver_the_cpu_is_listed_and_the_reason_given() {
    let place = Place::new();
    let finished = with_driver(&place, "devices", Path::new(NO_DRIVER), &[]);
    let text = finished.ok();
    assert!(text.starts_with("cpu ("), "{text}");
    assert!(text.contains(&format!("CUDA: no driver library: tried {NO_DRIVER}")), "{text}");
}

/// Without a driver, and with this value of CUZK_CPU.
fn with_cpu(place: &Place, line: &str, value: &str) -> Finished {
    with_driver(place, line, Path::new(NO_DRIVER), &[("CUZK_CPU", value)])
}

#[test]
fn the_cpu_says_which_arithmetic_it_takes_and_why() {
    let place = Place::new();
    let said = |value: &str, arithmetic: &str, path: &str| {
        let text = with_cpu(&place, "devices", value);
        let blst = if processor::blst_has_adx() { "blst with ADX" } else { "blst without ADX" };
        assert!(
            text.ok().lines().next().unwrap().ends_with(&format!(" threads, {arithmetic}), {blst}")),
            "{}",
            text.text()
        );
        let object: Value = serde_json::from_str(with_cpu(&place, "devices --json", value).ok()).unwrap();
        let cpu = &object["cpu"];
        assert_eq!((cpu["path"].as_str(), cpu["arithmetic"].as_str()), (Some(path), Some(arithmetic)), "{value}");
        assert_eq!(cpu["blst_adx"], processor::blst_has_adx());
        // Where a run names its device.
        let run = with_cpu(&place, "prove none.json --dev-params", value);
        run.fails(3, &format!(" threads, {arithmetic}), not CUDA: "));
    };
    said("scalar", "portable: CUZK_CPU=scalar", "scalar");
    if processor::has_ifma() {
        ["", "auto", "ifma"].into_iter().for_each(|value| said(value, "AVX-512 IFMA", "ifma"));
    } else {
        ["", "auto"].into_iter().for_each(|value| said(value, "portable: this CPU has no AVX-512 IFMA", "scalar"));
        with_cpu(&place, "devices", "ifma").fails(2, "CUZK_CPU=ifma: this CPU lacks ");
    }
}

#[test]
fn other_values_of_cuzk_cpu_are_errors_that_name_those_there_are() {
    let place = Place::new();
    for value in ["avx2", "IFMA", "0", "scalar "] {
        let run = with_cpu(&place, "devices", value);
        run.fails(
            2,
            &format!("error: CUZK_CPU={value}: expected scalar (portable arithmetic), ifma (AVX-512 IFMA), or auto"),
        );
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn the_drivers_devices_are_listed() {
    let (place, library) = with_fake(&[]);
    for line in ["devices", "devices --json"] {
        let finished = with_driver(&place, line, &library, &[]);
        let text = finished.ok();
        assert!(text.contains("Fake H200") && text.contains("Fake 4090"), "{text}");
        if line.ends_with("json") {
            let object: Value = serde_json::from_str(text).unwrap();
            let devices = object["cuda"]["devices"].as_array().unwrap();
            assert_eq!(devices.len(), 2, "{text}");
            // Each has one of the two: what runs, or why nothing.
            assert!(devices.iter().all(|d| d["kernels"].is_string() != d["kernels_refused"].is_string()), "{text}");
        }
    }
}

#[test]
fn an_emulated_device_is_called_what_it_is() {
    let (place, library) = with_fake(&["-DEMULATED"]);
    let finished = with_driver(&place, "devices", &library, &[]);
    let what = "139 GiB free, kernels run (an emulated device, for tests: nobody proves on it)";
    assert!(finished.ok().contains(what), "{}", finished.text());
}

#[test]
fn a_driver_that_fails_is_a_reason_and_no_crash() {
    let (place, library) = with_fake(&["-DNOT_A_DRIVER"]);
    assert!(with_driver(&place, "devices", &library, &[]).ok().contains("it has no cuInit"));
}

#[test]
fn a_device_that_cannot_be_had_is_an_error_that_says_what_to_do() {
    let (place, library) = with_fake(&[]);
    for device in ["cuda", "cuda:0"] {
        let refused =
            |library: &Path, variables: &[_], parts: &[&str]| refused(device, &place, library, variables, parts);
        let no_library = ["no driver library: tried /nonexistent", "correct or unset CUZK_LIBCUDA"];
        refused(Path::new(NO_DRIVER), &[], &no_library);
        refused(&library, &[("FAKE_INIT", "803")], &["cuInit answered CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart"]);
        refused(&library, &[("FAKE_INIT", "802")], &["CUDA_ERROR_SYSTEM_NOT_READY", "nvidia-fabricmanager"]);
        // With the system's library it would be this machine's device files that say what to do.
        for (code, name) in [("100", "NO_DEVICE"), ("304", "OPERATING_SYSTEM"), ("999", "UNKNOWN")] {
            let answer = format!("CUDA_ERROR_{name} ({code}): CUZK_LIBCUDA names this library: unset it");
            refused(&library, &[("FAKE_INIT", code)], &[&answer]);
        }
        refused(&library, &[("FAKE_COUNT", "0")], &["it counts no device: "]);
        let uuid = "-i GPU-46f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff -c 0";
        refused(&library, &[("FAKE_MODE", "2"), ("FAKE_COUNT", "1")], &["CUDA 0 (Fake H200): ", "prohibited", uuid]);
    }
}

#[test]
fn a_number_that_no_device_has_is_told_the_range() {
    let (place, library) = with_fake(&[]);
    let range = ["CUDA 2: no such device: the driver counts 2 devices, 0 to 1; `cuzk devices` lists them"];
    refused("cuda:2", &place, &library, &[], &range);
    // Quoted, so that it stays in the error's one line.
    for (list, quoted) in [("3", "\"3\""), ("3\n4", "\"3\\n4\"")] {
        let one = [("FAKE_COUNT", "1"), ("CUDA_VISIBLE_DEVICES", list)];
        let within = format!("counts 1 device within CUDA_VISIBLE_DEVICES={quoted}, 0 to 0");
        refused("cuda:1", &place, &library, &one, &[&within]);
    }
    for device in ["cuda:x", "cuda:", "gpu"] {
        place.run(&format!("prove c1.json --device {device} --params .")).fails(2, "cuda:");
    }
}

/// In a build without kernels that is the reason; in one with kernels, cards and drivers that are too old have theirs.
#[test]
fn kernels_that_do_not_run_on_the_device_are_an_error() {
    let (place, library) = with_fake(&[]);
    let all = |variables: &[_], parts: &[&str]| {
        refused("cuda:0", &place, &library, variables, parts);
        refused("cuda", &place, &library, variables, parts);
    };
    match cuzk::gpu::image() {
        Err(reason) => all(&[], &["CUDA 0 (Fake H200)", "this build has no CUDA kernels", reason, "CUZK_NVCC"]),
        Ok(image) => {
            let (major, _) = image.cuda_version().unwrap();
            let old = (major * 1000 - 1000).to_string();
            all(&[("FAKE_CUDA", &old)], &[&format!("need CUDA {major}.0 or later"), "update the driver"]);
            all(&[("FAKE_MAJOR", "6"), ("FAKE_COUNT", "1")], &["capability is 6.0", "cuzk needs 7.5 or later"]);
            all(&[], &["CUDA_ERROR_NOT_SUPPORTED (801)", "name another device, or prove with --device cpu"]);
        }
    }
}

#[test]
fn an_emulated_device_is_taken_by_name_only() {
    let (place, library) = with_fake(&["-DEMULATED"]);
    for device in ["cuda", "cuda:1"] {
        refused(device, &place, &library, &[], &["CUDA_ERROR_NOT_SUPPORTED (801)", "prove with --device cpu"]);
    }
    let run = with_driver(&place, "prove Cargo.toml --params .", &library, &[]);
    let said = "not CUDA: CUDA 0 (Fake H200): an emulated device, taken only where --device names CUDA; CUDA 1 ";
    run.fails(3, said);
}

#[test]
fn without_being_asked_the_cpu_proves_and_every_report_says_why() {
    let (place, library) = with_fake(&[]);
    let run = |line: &str, library: &Path, variables: &[_]| {
        let line = format!("prove {line} --dev-params --params {}", dev_params().display());
        with_driver(&place, &line, library, variables)
    };
    let said = |run: &Finished, reason: &str| {
        let reason = format!(", not CUDA: {reason}");
        run.stderr.lines().filter(|line| line.starts_with("device: cpu (") && line.contains(&reason)).count()
    };
    let table = run("c1.json", Path::new(NO_DRIVER), &[]);
    table.ok();
    assert_eq!(said(&table, "no driver library: tried "), 2, "at the start and in the table:\n{}", table.stderr);
    let json = run("c1.json --force --device auto --timings json", &library, &[("FAKE_INIT", "803")]);
    let object: Value = serde_json::from_str(json.ok()).unwrap();
    assert_eq!(said(&json, "driver library "), 1, "{}", json.stderr);
    assert!(object["device"]["name"].as_str().unwrap().starts_with("cpu ("), "{object}");
    assert!(object["device"]["not_cuda"].as_str().unwrap().contains("MISMATCH"), "{object}");
    // Who asks for the CPU needs no reason.
    let asked = run("none.json --device cpu", &library, &[]);
    assert_eq!((asked.code, asked.stderr.contains("device: ")), (Some(3), false), "{}", asked.stderr);
}

#[test]
fn a_batch_says_what_proved_and_why_it_was_no_cuda_device() {
    let (place, library) = with_fake(&[]);
    std::fs::create_dir(place.path("in")).unwrap();
    place.write("in/bad.json", b"<html>");
    let line = format!("batch in -o out --report r.json --dev-params --params {}", dev_params().display());
    let refused = with_driver(&place, &format!("{line} --device cuda:7"), &library, &[]);
    refused.fails(5, "error: --device cuda:7: CUDA 7: no such device");
    let run = with_driver(&place, &line, &library, &[("FAKE_MODE", "2"), ("FAKE_COUNT", "1")]);
    let said = ", not CUDA: CUDA 0 (Fake H200): its compute mode is \"prohibited\"";
    run.fails(8, said);
    assert_eq!(run.stderr.matches(said).count(), 2, "at the start and in the report:\n{}", run.stderr);
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert!(report["device"]["not_cuda"].as_str().unwrap().contains("prohibited"), "{report}");
}

#[test]
fn a_self_test_of_no_device_is_an_error_with_the_reason() {
    let (place, library) = with_fake(&[]);
    let run = with_driver(&place, "devices --self-test", Path::new(NO_DRIVER), &[]);
    run.fails(5, "error: no driver library: tried /nonexistent");
    let run = with_driver(&place, "devices --self-test --device cuda:2", &library, &[]);
    run.fails(5, "error: CUDA 2: no such device");
    place.run("devices --device cuda").fails(2, "--self-test");
    place.run("devices --self-test --device cpu").fails(2, "expected cuda or cuda:N");
}
