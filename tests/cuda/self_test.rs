//! The self-test: all is well on the emulated device, all kernels are reached, and what is not well is named.

use cuzk::backend::cuda::self_test::self_test;
use cuzk::gpu::Gpu;
use cuzk::report::self_test::Check;

use super::running::{emulated, run_emulated};

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
            let checks = checks(8);
            for check in &checks {
                println!("{}: {:?}, {:?}", check.name, check.outcome, check.time);
            }
            assert!(checks.iter().all(|check| check.outcome.is_ok()));
            assert!(checks.len() > 30 && checks.last().unwrap().name == "all kernels were launched");
        });
    }
}

#[test]
fn sizes_that_reach_not_all_kernels_say_so_or_reach_them() {
    emulated("self_test::sizes_that_reach_not_all_kernels_say_so_or_reach_them", &[], || {
        for check in checks(3) {
            let missing = check.name == "all kernels were launched";
            assert!(check.outcome.is_ok() || missing, "{}: {:?}", check.name, check.outcome);
        }
    });
}

/// The second copy is the first operand of the second check or so: whichever it is, its check fails, and the others do not.
#[test]
fn a_flipped_bit_fails_one_check() {
    for copy in ["2", "3", "20"] {
        let inject = format!("flip:{copy}=5");
        let output = run_emulated("self_test::a_flipped_bit_fails_one_check", &[("EMULATOR_INJECT", &inject)], || {
            let failed: Vec<_> = checks(3).into_iter().filter_map(|check| check.outcome.err()).collect();
            let differing = failed.iter().filter(|text| text.starts_with("differs from the CPU: element ")).count();
            assert_eq!(differing, 1, "{failed:?}");
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
        assert!(last.outcome.as_ref().unwrap_err().contains("LAUNCH_FAILED"), "{last:?}");
        assert!(checks[..3].iter().all(|check| check.outcome.is_ok()));
    });
}
