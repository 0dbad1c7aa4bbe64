//! Planted faults of kernels: each is reported with its source line and stays in the context as CUDA's error.

use cust::error::CudaError;

use crate::device::{address, at, download, n, unwritten, upload, Argument, Emulated};
use crate::planted;
use crate::running::emulated;

const ORDERS: [&str; 3] = ["forward", "backward", "random:7"];

/// In all orders: the launch fails with `error`, so does everything in its context from then on, and the only report is that
/// of the kernel's marked line and holds `words`.
fn caught(
    test: &str,
    kernel: &str,
    words: &str,
    error: CudaError,
    launch: impl Fn(&Emulated) -> Result<(), CudaError>,
) {
    for order in ORDERS {
        let reports = emulated(&format!("faults::{test}"), &[("EMULATOR_ORDER", order)], || {
            let device = Emulated::new(0);
            let held = upload(&[1u32]);
            assert_eq!(launch(&device), Err(error));
            assert_eq!(device.stream.synchronize(), Err(error));
            assert_eq!(download(&held).unwrap_err(), error);
            let other = Emulated::new(1);
            assert_eq!(download(&upload(&[2u32])).unwrap(), [2], "the other device goes on");
            drop(other);
        });
        assert_eq!(reports.len(), 1, "{order}: {reports:?}");
        let (report, place) = (&reports[0], planted(kernel));
        assert!(report.starts_with(&place) && report.contains(words), "{order}: expected {place}{words}: {report}");
        assert!(report.contains(&format!("kernel {kernel}, block (")), "{report}");
    }
}

/// The same for a kernel of one block that is handed memory for its results, and these arguments more.
fn caught_in_block(test: &str, words: &str, threads: u32, more: &[u32]) {
    caught(test, test, words, CudaError::LaunchFailed, |device| {
        let out = unwritten::<u32>(threads as usize + 4);
        let arguments: Vec<Argument> = [at(&out)].into_iter().chain(more.iter().map(|v| n(*v))).collect();
        device.run(test, (1, threads, 0), &arguments)
    });
}

#[test]
fn reads_past_the_end() {
    let words = "0 bytes past the end of an allocation of 4000 bytes of device 0";
    caught("reads_past_the_end", "reads_past_the_end", words, CudaError::IllegalAddress, |device| {
        let (x, out) = (upload(&[1u32; 1000]), unwritten::<u32>(1));
        device.run("reads_past_the_end", (8, 128, 0), &[at(&x), n(1000), at(&out)])
    });
}

#[test]
fn writes_before() {
    let words = "bytes before an allocation of 4096 bytes of device 0";
    caught("writes_before", "writes_before", words, CudaError::IllegalAddress, |device| {
        let x = upload(&[1u32; 1024]);
        device.run("writes_before", (1, 1, 0), &[at(&x), n(1)])
    });
}

#[test]
fn follows_freed_memory() {
    let words = "byte 0 of an allocation of 64 bytes of device 0, which was freed";
    caught("follows_freed_memory", "follows", words, CudaError::IllegalAddress, |device| {
        let freed = upload(&[1u32; 16]);
        let (pointer, out) = (upload(&[freed.as_device_ptr().as_raw()]), unwritten::<u32>(1));
        drop(freed);
        device.run("follows", (1, 1, 0), &[at(&pointer), at(&out)])
    });
}

#[test]
fn follows_memory_of_the_other_device() {
    let words = "byte 0 of an allocation of 64 bytes of device 1:";
    caught("follows_memory_of_the_other_device", "follows", words, CudaError::IllegalAddress, |device| {
        let other = Emulated::new(1);
        let far = upload(&[1u32; 16]);
        device.make_current();
        let (pointer, out) = (upload(&[far.as_device_ptr().as_raw()]), unwritten::<u32>(1));
        let result = device.run("follows", (1, 1, 0), &[at(&pointer), at(&out)]);
        // Its context stays until the process ends.
        std::mem::forget((far, other));
        result
    });
}

#[test]
fn follows_null() {
    caught("follows_null", "follows", "in no device memory", CudaError::IllegalAddress, |device| {
        let (pointer, out) = (upload(&[0u64]), unwritten::<u32>(1));
        device.run("follows", (1, 1, 0), &[at(&pointer), at(&out)])
    });
}

#[test]
fn leaves_before_barrier() {
    caught_in_block("leaves_before_barrier", "a thread of the block has not reached before it ended", 64, &[]);
}

#[test]
fn parts_at_barriers() {
    caught_in_block("parts_at_barriers", "threads wait at different barriers", 64, &[]);
}

#[test]
fn shuffles_with_ended_lane() {
    // Found by the lane that comes after lane 0 has ended, or at the end by one that waited for it.
    caught_in_block("shuffles_with_ended_lane", "", 32, &[]);
}

#[test]
fn shuffles_while_others_wait() {
    caught_in_block("shuffles_while_others_wait", "warp operation that not all lanes of its mask join", 64, &[]);
}

#[test]
fn shuffles_outside_mask() {
    caught_in_block("shuffles_outside_mask", "lane in a warp operation whose mask leaves it out", 32, &[]);
}

#[test]
fn mixes_warp_operations() {
    for order in ORDERS {
        let reports = emulated("faults::mixes_warp_operations", &[("EMULATOR_ORDER", order)], || {
            let (device, out) = (Emulated::new(0), unwritten::<u32>(32));
            assert_eq!(device.run("mixes_warp_operations", (1, 32, 0), &[at(&out)]), Err(CudaError::LaunchFailed));
        });
        assert!(reports[0].contains("lanes meet in different warp operations"), "{order}: {reports:?}");
    }
}

#[test]
fn a_mask_beyond_the_block() {
    let reports = emulated("faults::a_mask_beyond_the_block", &[], || {
        let (device, x) = (Emulated::new(0), upload(&[1u64; 48]));
        let (sums, votes) = (unwritten::<u64>(2), unwritten::<u32>(2));
        let result = device.run("warp_sum", (1, 48, 0), &[at(&x), at(&sums), at(&votes), at(&votes)]);
        assert_eq!(result, Err(CudaError::LaunchFailed));
    });
    assert!(
        reports[0].contains("correct.cu:") && reports[0].contains("mask names a lane beyond the block"),
        "{reports:?}"
    );
}

#[test]
fn reads_no_carry() {
    caught_in_block("reads_no_carry", "carry read without a producer", 1, &[]);
}

#[test]
fn reads_used_carry() {
    caught_in_block("reads_used_carry", "carry read without a producer", 1, &[]);
}

#[test]
fn carries_over_barrier() {
    caught_in_block("carries_over_barrier", "carry read without a producer", 2, &[]);
}

#[test]
fn indexes_out_of_array() {
    caught_in_block("indexes_out_of_array", "trap (an index out of its array", 4, &[13]);
}

#[test]
fn shifts_too_far() {
    caught_in_block("shifts_too_far", "a shift by too much", 1, &[32]);
}

#[test]
fn divides_by_zero() {
    // Only x86-64 traps; elsewhere, as on the device, the quotient is some number.
    if cfg!(target_arch = "x86_64") {
        caught_in_block("divides_by_zero", "division by zero", 1, &[0]);
    }
}

#[test]
fn overflows_stack() {
    caught("overflows_stack", "overflows_stack", "a thread's stack overflows", CudaError::IllegalAddress, |device| {
        let out = unwritten::<u32>(8);
        device.run("overflows_stack", (1, 2, 0), &[at(&out), n(1000)])
    });
}

#[test]
fn outgrows_dynamic_shared() {
    let words = "illegal address";
    caught("outgrows_dynamic_shared", "outgrows_dynamic_shared", words, CudaError::IllegalAddress, |device| {
        let out = unwritten::<u32>(64);
        device.run("outgrows_dynamic_shared", (1, 64, 4 * 60), &[at(&out)])
    });
}

#[test]
fn writes_beside_an_allocation() {
    let reports = emulated("faults::writes_beside_an_allocation", &[], || {
        let (device, x) = (Emulated::new(0), upload(&[1u32; 5]));
        assert_eq!(device.run("writes_beside", (1, 1, 0), &[at(&x), n(4)]), Ok(()));
        assert_eq!(device.run("writes_beside", (1, 1, 0), &[at(&x), n(5)]), Err(CudaError::IllegalAddress));
    });
    assert_eq!(reports, ["kernel writes_beside wrote just beside an allocation of 20 bytes of device 0"]);
}

#[test]
fn arguments_that_are_no_device_addresses() {
    type Wrong = fn() -> u64;
    let host: Wrong = || Box::leak(Box::new([0u32; 64])).as_ptr() as u64;
    let freed: Wrong = || upload(&[0u32; 64]).as_device_ptr().as_raw();
    let far: Wrong = || {
        let (other, x) = (Emulated::new(1), upload(&[0u32; 64]));
        let pointer = x.as_device_ptr().as_raw();
        std::mem::forget((x, other));
        pointer
    };
    let expected = [
        "points to host memory or nowhere",
        "points to byte 0 of an allocation of 256 bytes of device 0, which was freed",
        "points to byte 0 of an allocation of 256 bytes of device 1",
    ];
    for (i, words) in expected.iter().enumerate() {
        // The child is told which by a variable of its own.
        let reports = emulated("faults::arguments_that_are_no_device_addresses", &[("WRONG", &i.to_string())], || {
            let which: usize = std::env::var("WRONG").unwrap().parse().unwrap();
            let device = Emulated::new(0);
            let wrong = [host, freed, far][which]();
            device.make_current();
            let result = device.run("scale", (1, 64, 0), &[address(wrong), n(64), n(2)]);
            assert_eq!(result, Err(CudaError::IllegalAddress));
        });
        assert_eq!(reports, [format!("kernel scale on device 0: parameter 1 {words}")]);
    }
}

#[test]
fn a_missing_barrier_shows_in_one_of_two_orders() {
    let right = |order: &str| {
        let output = crate::running::run_emulated(
            "faults::a_missing_barrier_shows_in_one_of_two_orders",
            &[("EMULATOR_ORDER", order), ("EMULATOR_UNWRITTEN", "allow")],
            || {
                let device = Emulated::new(0);
                let values: Vec<u32> = (100..164).collect();
                let (x, out) = (upload(&values), unwritten::<u32>(64));
                device.run("lacks_barrier", (1, 64, 0), &[at(&x), at(&out)]).unwrap();
                let expected: Vec<u32> = std::iter::once(0).chain(100..163).collect();
                println!("right: {}", download(&out).unwrap() == expected);
            },
        );
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        said.contains("right: true")
    };
    assert!(right("forward"));
    assert!(!right("backward"));
}
