//! Failures that are asked for by environment variables, and those variables themselves.

use std::time::{Duration, Instant};

use cust::device::Device;
use cust::error::CudaError;
use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{CopyDestination, DeviceBuffer};

use crate::device::{at, download, n, unwritten, upload, words, Emulated};
use crate::running::emulated;

/// With these failures asked for, `body` sees them, and nothing is reported: they are no faults of the program.
fn with(test: &str, failures: &str, body: impl FnOnce()) {
    let reports = emulated(&format!("failures::{test}"), &[("EMULATOR_INJECT", failures)], body);
    assert!(reports.is_empty(), "{reports:?}");
}

#[test]
fn an_allocation_fails_and_the_next_one_does_not() {
    with("an_allocation_fails_and_the_next_one_does_not", "alloc:2=2,alloc:4=3", || {
        let _device = Emulated::new(0);
        let allocate = || DeviceBuffer::from_slice(&[1u32]).map(|x| download(&x).unwrap());
        let answers = [allocate(), allocate(), allocate(), allocate(), allocate()];
        let one = || Ok(vec![1]);
        assert_eq!(answers, [one(), Err(CudaError::OutOfMemory), one(), Err(CudaError::NotInitialized), one()]);
    });
}

#[test]
fn a_refused_launch_does_nothing_and_leaves_the_context_well() {
    with("a_refused_launch_does_nothing_and_leaves_the_context_well", "launch:2=701", || {
        let (device, x) = (Emulated::new(0), upload(&[1u32; 64]));
        let triple = || device.launch("scale", (1, 64, 0), &[at(&x), n(64), n(3)]);
        assert_eq!([triple(), triple(), triple()], [Ok(()), Err(CudaError::LaunchOutOfResources), Ok(())]);
        assert_eq!(download(&x).unwrap(), [9; 64]);
    });
}

#[test]
fn a_failed_launch_shows_later_and_stays() {
    for streams in ["eager", "lazy"] {
        let settings = [("EMULATOR_INJECT", "launch:2=719"), ("EMULATOR_STREAMS", streams)];
        emulated("failures::a_failed_launch_shows_later_and_stays", &settings, || {
            let (device, x) = (Emulated::new(0), upload(&[1u32; 64]));
            let triple = || device.launch("scale", (1, 64, 0), &[at(&x), n(64), n(3)]);
            assert_eq!([triple(), triple()], [Ok(()), Ok(())]);
            assert_eq!(device.stream.synchronize(), Err(CudaError::LaunchFailed));
            assert_eq!(triple(), Err(CudaError::LaunchFailed));
            assert_eq!(download(&x), Err(CudaError::LaunchFailed));
        });
    }
}

#[test]
fn copies_fail_at_once_or_for_good() {
    with("copies_fail_at_once_or_for_good", "copy:2=2,copy:4=700", || {
        let (_device, mut x) = (Emulated::new(0), upload(&[1u32; 64]));
        assert_eq!(x.copy_from(&[2u32; 64][..]), Err(CudaError::OutOfMemory));
        assert_eq!(download(&x).unwrap(), [1; 64]);
        assert_eq!(x.copy_from(&[2u32; 64][..]), Err(CudaError::IllegalAddress));
        assert_eq!(download(&x), Err(CudaError::IllegalAddress));
    });
}

#[test]
fn a_bit_of_a_copy_is_flipped() {
    with("a_bit_of_a_copy_is_flipped", "flip:1=77,flip:2=0,flip:4=2048", || {
        let _device = Emulated::new(0);
        let values = words(64);
        let x = upload(&values);
        let (mut up, mut both) = (values.clone(), values);
        // Bit 77 is bit 13 of word 2. The second copy, to the host, flips another; the third reads what the first has left.
        up[2] ^= 1 << 13;
        both.copy_from_slice(&up);
        both[0] ^= 1;
        assert_eq!(download(&x).unwrap(), both);
        assert_eq!(download(&x).unwrap(), up);
        assert_eq!(download(&x).unwrap(), up, "a bit beyond the copy is none");
    });
}

#[test]
fn a_launch_hangs_and_the_other_device_does_not() {
    for streams in ["eager", "lazy"] {
        let settings = [("EMULATOR_INJECT", "hang:2"), ("EMULATOR_STREAMS", streams)];
        emulated("failures::a_launch_hangs_and_the_other_device_does_not", &settings, || {
            let device = Emulated::new(0);
            let (x, done) = (upload(&[1u32; 64]), Event::new(EventFlags::DEFAULT).unwrap());
            let triple = || device.launch("scale", (1, 64, 0), &[at(&x), n(64), n(3)]);
            triple().unwrap();
            device.stream.synchronize().unwrap();
            triple().unwrap();
            done.record(&device.stream).unwrap();
            let started = Instant::now();
            while started.elapsed() < Duration::from_millis(50) {
                assert_eq!(done.query(), Ok(EventStatus::NotReady));
            }
            let (send, receive) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                device.make_current();
                send.send(device.stream.synchronize()).unwrap();
            });
            assert!(receive.recv_timeout(Duration::from_millis(50)).is_err(), "waiting for it never ends");
            let other = Emulated::new(1);
            let y = upload(&[5u32; 64]);
            other.run("scale", (1, 64, 0), &[at(&y), n(64), n(2)]).unwrap();
            assert_eq!(download(&y).unwrap(), [10; 64]);
            // Freeing would wait for the device that hangs.
            std::mem::forget(x);
        });
    }
}

#[test]
fn unloading_and_releasing_wait_for_what_hangs() {
    for what in ["module", "context"] {
        let settings = [("EMULATOR_INJECT", "hang:1"), ("TEST_DROPPED", what)];
        emulated("failures::unloading_and_releasing_wait_for_what_hangs", &settings, || {
            let (device, x) = (Emulated::new(0), upload(&[1u32; 64]));
            device.launch("scale", (1, 64, 0), &[at(&x), n(64), n(3)]).unwrap();
            let (send, receive) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                device.make_current();
                let Emulated { stream, module, context } = device;
                std::mem::forget((stream, x));
                if std::env::var("TEST_DROPPED").unwrap() == "module" {
                    std::mem::forget(context);
                    drop(module);
                } else {
                    std::mem::forget(module);
                    drop(context);
                }
                send.send(()).unwrap();
            });
            assert_eq!(
                receive.recv_timeout(Duration::from_millis(100)),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            );
        });
    }
}

#[test]
fn launches_beyond_the_devices_limits_are_refused() {
    with("launches_beyond_the_devices_limits_are_refused", "", || {
        let (device, x) = (Emulated::new(0), upload(&[1u32; 2048]));
        let sum = |shape| device.launch("block_sum", shape, &[at(&x), at(&unwritten::<u32>(8)), n(8)]);
        assert_eq!(sum((1, 256, 0)), Ok(()));
        // Its __launch_bounds__ say 256; no block has more than 1024; none of either; too much shared memory.
        for shape in [(1, 257, 0), (1, 1025, 0), (0, 256, 0), (1, 0, 0), (1, 256, 48 * 1024 + 1)] {
            assert_eq!(sum(shape), Err(CudaError::InvalidValue), "{shape:?}");
        }
        let missing = device.module.get_function("no_such_kernel").map(|_| ());
        assert_eq!(missing, Err(CudaError::NotFound));
        let text = cust::module::Module::from_ptx(".version 8.0", &[]).map(|_| ());
        assert_eq!(text, Err(CudaError::InvalidImage));
    });
}

#[test]
fn the_number_of_devices_is_set() {
    let test = "failures::the_number_of_devices_is_set";
    for count in ["0", "1", "16"] {
        emulated(test, &[("EMULATOR_DEVICES", count)], || {
            let count: u32 = std::env::var("EMULATOR_DEVICES").unwrap().parse().unwrap();
            let begun = cust::init(cust::CudaFlags::empty());
            assert_eq!(begun, if count == 0 { Err(CudaError::NoDevice) } else { Ok(()) });
            if count > 0 {
                assert_eq!(Device::num_devices(), Ok(count));
                let listed = cuzk::gpu::devices().to_string();
                assert!(listed.contains("CUDA 0: Emulated CUDA device 0, GPU-e0e1"), "{listed}");
                assert!(listed.contains("compute capability 9.0, 1.00 GiB memory, 1.00 GiB free"), "{listed}");
            }
        });
    }
}

/// As where a test was renamed, and its name in the call was not.
#[test]
#[should_panic(expected = "no test named failures::no_such_test has begun")]
fn a_child_that_runs_no_test_fails() {
    emulated("failures::no_such_test", &[], || {});
}

#[test]
fn settings_that_are_not_understood_stop_the_start() {
    let wrong = [
        ("EMULATOR_ORDER", "sideways"),
        ("EMULATOR_ORDER", "random:"),
        ("EMULATOR_STREAMS", "lazily"),
        ("EMULATOR_DEVICES", "17"),
        ("EMULATOR_MEMORY", "1 GiB"),
        ("EMULATOR_POISON", "256"),
        ("EMULATOR_UNWRITTEN", "no"),
        ("EMULATOR_INJECT", "alloc:0=2"),
        ("EMULATOR_INJECT", "alloc:1"),
        ("EMULATOR_INJECT", "alloc:1=0"),
        ("EMULATOR_INJECT", "hang:1=2"),
        ("EMULATOR_INJECT", "hang:1,"),
        ("EMULATOR_INJECT", "sleep:1"),
        ("EMULATOR_INJECT", "copy:1=1000"),
    ];
    for (variable, value) in wrong {
        let reports =
            emulated("failures::settings_that_are_not_understood_stop_the_start", &[(variable, value)], || {
                assert_eq!(cust::init(cust::CudaFlags::empty()), Err(CudaError::InvalidValue));
            });
        assert_eq!(reports.len(), 1);
        assert!(reports[0].starts_with(&format!("{variable} is \"{value}\"; expected ")), "{reports:?}");
    }
}
