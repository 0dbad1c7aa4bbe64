//! The self-test: all is well on the emulated device, all kernels are reached, and what is not well is named.

use std::process::{Command, Output};

use cuzk::backend::cuda::self_test::self_test;
use cuzk::gpu::Gpu;
use cuzk::report::self_test::{Check, Unequal};

use serde_json::Value;

use super::running::{emulated, library, run_emulated};

fn checks(log_size: u32) -> Vec<Check> {
    self_test(&Gpu::open(0).unwrap(), log_size).unwrap()
}

#[test]
fn all_is_well_and_every_kernel_is_reached() {
    for settings in [
        [("EMULATOR_ORDER", "backward"), ("EMULATOR_STREAMS", "lazy")],
        [("EMULATOR_ORDER", "random:5"), ("EMULATOR_STREAMS", "eager")],
    ] {
        emulated("self_test::all_is_well_and_every_kernel_is_reached", &settings, || {
            let checks = checks(11);
            for check in &checks {
                println!("{}: {:?}, {:?}", check.name, check.outcome, check.time);
            }
            assert!(checks.iter().all(|check| check.outcome.is_ok()));
            assert!(checks.len() > 30 && checks.last().unwrap().name == "all kernels were launched");
        });
    }
}

#[test]
fn sizes_that_reach_not_all_kernels_say_which() {
    emulated("self_test::sizes_that_reach_not_all_kernels_say_which", &[], || {
        let failed: Vec<_> = checks(3).into_iter().filter(|check| check.outcome.is_err()).collect();
        let [check] = &failed[..] else { panic!("{failed:?}") };
        assert_eq!(check.name, "all kernels were launched");
        let text = check.outcome.as_ref().unwrap_err();
        // A transform of 2^3 is one pass, so none lies before or behind that; and so few scalars have narrow windows, each one segment.
        let missing = "g1_sum_groups, g2_sum_groups, ntt_forward_pass, ntt_forward_inverse_pass";
        let text = text.reason();
        assert!(text.starts_with(&format!("these were not: {missing}; ")), "{text}");
    });
}

/// The second copy is the first operand of the second check or so: whichever it is, its check fails, and the others do not.
#[test]
fn a_flipped_bit_fails_one_check() {
    for copy in ["2", "3", "20"] {
        let inject = format!("flip:{copy}=5");
        let output = run_emulated("self_test::a_flipped_bit_fails_one_check", &[("EMULATOR_INJECT", &inject)], || {
            let failed: Vec<_> = checks(3).into_iter().filter_map(|check| check.outcome.err()).collect();
            let differs = "differs from the CPU: element ";
            let is_differing =
                |unequal: &&Unequal| matches!(unequal, Unequal::Differs(text) if text.starts_with(differs));
            assert_eq!(failed.iter().filter(is_differing).count(), 1, "{failed:?}");
        });
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_device_that_fails_ends_the_checks() {
    emulated("self_test::a_device_that_fails_ends_the_checks", &[("EMULATOR_INJECT", "launch:4=719")], || {
        let checks = checks(3);
        let last = checks.last().unwrap();
        assert_eq!(checks.len(), 4, "{checks:?}");
        assert!(matches!(&last.outcome, Err(Unequal::Stopped(reason)) if reason.contains("LAUNCH_FAILED")), "{last:?}");
        assert!(checks[..3].iter().all(|check| check.outcome.is_ok()));
    });
}

/// `cuzk devices --self-test` with more arguments, and the emulated device as its driver.
fn command(arguments: &str, settings: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cuzk"))
        .args(["devices", "--self-test"])
        .args(arguments.split_whitespace())
        .env("CUZK_LIBCUDA", library())
        .envs(settings.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn the_command_tests_all_devices_or_the_one_that_is_named() {
    let tested = |arguments: &str| {
        let output = command(&format!("{arguments} --json"), &[("EMULATOR_DEVICES", "2")]);
        assert!(output.status.success(), "{output:?}");
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        let devices = object["self_test"].as_array().unwrap().clone();
        assert!(devices.iter().all(|device| device["passed"] == true), "{object}");
        devices.iter().map(|device| device["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(tested(""), [0, 1]);
    assert_eq!(tested("--device cuda"), [0]);
    assert_eq!(tested("--device cuda:1"), [1]);
}

#[test]
fn the_command_fails_where_one_comparison_does() {
    let output = command("--device cuda:0", &[("EMULATOR_INJECT", "flip:3=5")]);
    let [table, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(output.status.code(), Some(5), "{table}\n{error}");
    assert!(table.starts_with("CUDA 0 (") && table.contains(" FAILED ") && table.contains(" equal "), "{table}");
    let line =
        error.lines().find(|line| line.starts_with("error: self-test: CUDA 0 (")).unwrap_or_else(|| panic!("{error}"));
    assert!(line.contains(" comparisons failed: ") && line.contains("; do not prove on it: "), "{line}");
    let missing = command("--device cuda:9", &[]);
    assert_eq!(missing.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("error: CUDA 9: no such device"), "{missing:?}");
}
