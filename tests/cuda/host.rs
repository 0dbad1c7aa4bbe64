//! The host's side: streams, buffers, copies in pieces, launches, times; and what it says of failures.

use std::time::{Duration, Instant};

use blstrs::Scalar as Fr;
use cuzk::error::Fault;
use cuzk::gpu::{kernels, Gpu, Shape, Stream, View, ViewMut};
use cuzk::report::OperationKind;
use ff::Field;

use super::running::{emulated, in_all_orders, run_emulated};

/// More than both halves of the staging hold, and no whole number of them.
const LONG: usize = (9 << 20) / 4 + 77;

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2654435761)).collect()
}

fn scalars(count: usize, first: u64) -> Vec<Fr> {
    (0..count as u64).map(|i| Fr::from(first + i).square()).collect()
}

/// a * b on the device.
fn products(stream: &Stream, a: &[Fr], b: &[Fr]) -> cuzk::error::Result<Vec<Fr>> {
    let [mut x, mut y, mut out] =
        [stream.buffer("a", a.len())?, stream.buffer("b", a.len())?, stream.buffer("out", a.len())?];
    stream.upload("a", x.view_mut(), a)?;
    stream.upload("b", y.view_mut(), b)?;
    let shape = Shape::of(a.len(), 64);
    kernels::fr_mul(stream, shape, x.view(), y.view(), out.view_mut(), a.len() as u32)?;
    let mut result = vec![Fr::ZERO; a.len()];
    stream.download("out", out.view(), &mut result)?;
    Ok(result)
}

#[test]
fn what_goes_up_comes_down_whatever_its_length() {
    in_all_orders("host::what_goes_up_comes_down_whatever_its_length", || {
        let stream = Gpu::open(1).unwrap().stream().unwrap();
        for length in [0, 1, 3, 1000, (4 << 20) / 4, (8 << 20) / 4, LONG] {
            let sent = numbers(length);
            let mut buffer = stream.buffer("numbers", length).unwrap();
            stream.upload("numbers", buffer.view_mut(), &sent).unwrap();
            if length > 3 {
                stream.zero("part", buffer.view_mut().slice(1..3)).unwrap();
            }
            let mut received = vec![1; length];
            stream.download("numbers", buffer.view(), &mut received).unwrap();
            let mut expected = sent;
            if length > 3 {
                expected[1..3].fill(0);
            }
            assert!(received == expected, "{length}");
        }
    });
}

#[test]
fn kernels_run_in_their_streams_order_and_memory_is_given_again() {
    in_all_orders("host::kernels_run_in_their_streams_order_and_memory_is_given_again", || {
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        for count in [1, 63, 64, 65, 300] {
            // The second run's buffers are the first one's, whose kernel may not have run yet.
            for first in [3, 1000] {
                let (a, b) = (scalars(count, first), scalars(count, 7));
                let expected: Vec<_> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
                assert_eq!(products(&stream, &a, &b).unwrap(), expected);
            }
        }
        assert!(products(&stream, &[], &[]).unwrap().is_empty());
    });
}

/// Memory that is given again is as unwritten as new memory, and what reads it is found, whatever the poison is.
#[test]
fn memory_that_is_given_again_and_read_unwritten_is_reported() {
    let test = "host::memory_that_is_given_again_and_read_unwritten_is_reported";
    for (streams, poison) in [("eager", "165"), ("lazy", "60")] {
        let reports = emulated(test, &[("EMULATOR_STREAMS", streams), ("EMULATOR_POISON", poison)], || {
            let stream = Gpu::open(0).unwrap().stream().unwrap();
            let sent = numbers(100);
            for written in [100, 48] {
                let mut buffer = stream.buffer("numbers", 100).unwrap();
                stream.upload("numbers", buffer.view_mut().slice(0..written), &sent[..written]).unwrap();
                let mut received = vec![0; 100];
                let outcome = stream.download("numbers", buffer.view(), &mut received);
                assert_eq!(outcome.is_ok(), written == 100, "{outcome:?}");
                assert!(received == sent || written < 100);
            }
        });
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert!(report.contains("that nothing wrote: byte 192 of an allocation of 400 bytes"), "{report}");
    }
}

#[test]
fn work_is_timed_on_the_device() {
    emulated("host::work_is_timed_on_the_device", &[("EMULATOR_STREAMS", "lazy")], || {
        let start = Instant::now();
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        let (a, b) = (scalars(5000, 1), scalars(5000, 2));
        products(&stream, &a, &b).unwrap();
        stream.wait().unwrap();
        let operations = stream.take_operations();
        let what: Vec<_> = operations.iter().map(|o| (o.name, o.kind, o.bytes)).collect();
        let (upload, download) = (OperationKind::Upload, OperationKind::Download);
        let expected = [
            ("a", upload, 160_000),
            ("b", upload, 160_000),
            ("fr_mul", OperationKind::Kernel, 0),
            ("out", download, 160_000),
        ];
        assert_eq!(what, expected);
        for (before, after) in operations.iter().zip(&operations[1..]) {
            assert!(after.start >= before.start + before.duration, "{operations:?}");
        }
        let kernel = operations[2];
        assert!(kernel.duration > Duration::from_micros(100) && kernel.duration < start.elapsed(), "{kernel:?}");
        assert!(stream.take_operations().is_empty());
        // More than are kept unread.
        let mut buffer = stream.buffer::<u32>("zeros", 4).unwrap();
        for _ in 0..3000 {
            stream.zero("zeros", buffer.view_mut()).unwrap();
        }
        stream.wait().unwrap();
        assert_eq!(stream.take_operations().len(), 3000);
    });
}

#[test]
fn parts_of_buffers_are_where_they_should_be() {
    emulated("host::parts_of_buffers_are_where_they_should_be", &[], || {
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        let (a, b) = (scalars(10, 1), scalars(10, 50));
        let [mut x, mut y] = [0, 1].map(|_| stream.buffer::<Fr>("x", 10).unwrap());
        stream.upload("x", x.view_mut(), &a).unwrap();
        stream.upload("y", y.view_mut(), &b).unwrap();
        // Elements 2 to 5 of x times 6 to 9 of y, into 1 to 4 of y.
        let (mut out, factors) = y.view_mut().split(6);
        let (out, factors) = (out.again().slice(1..5), factors.read());
        kernels::fr_mul(&stream, Shape::of(4, 32), x.view().slice(2..6), factors, out, 4).unwrap();
        let mut received = vec![Fr::ZERO; 10];
        stream.download("y", y.view(), &mut received).unwrap();
        let mut expected = b.clone();
        (0..4).for_each(|i| expected[1 + i] = a[2 + i] * b[6 + i]);
        assert_eq!(received, expected);
        assert_eq!((View::<Fr>::none().len(), ViewMut::<Fr>::none().len()), (0, 0));
    });
}

#[test]
fn memory_that_is_not_there_is_an_error_that_names_it() {
    emulated("host::memory_that_is_not_there_is_an_error_that_names_it", &[("EMULATOR_MEMORY", "1000000")], || {
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        let first = stream.buffer::<Fr>("first", 20_000).unwrap();
        let error = stream.buffer::<Fr>("the quotient's rows", 20_000).unwrap_err();
        assert_eq!(error.fault(), Fault::Device);
        let text = error.to_string();
        for part in ["CUDA 0 (", "no memory for the quotient's rows, 625 KiB", "free", "OUT_OF_MEMORY"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(stream.buffer::<Fr>("beyond all", usize::MAX / 2).unwrap_err().to_string().contains("beyond all"));
        // What came back makes room for other sizes.
        drop(first);
        stream.buffer::<Fr>("second", 15_000).unwrap();
    });
}

#[test]
fn a_kernel_that_faults_is_an_error_and_so_is_all_after_it() {
    let test = "host::a_kernel_that_faults_is_an_error_and_so_is_all_after_it";
    let output = run_emulated(test, &[("EMULATOR_STREAMS", "lazy")], || {
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        let [x, y, mut out] = [10, 10, 5].map(|n| stream.buffer::<Fr>("x", n).unwrap());
        kernels::fr_mul(&stream, Shape::of(10, 32), x.view(), y.view(), out.view_mut(), 10).unwrap();
        let error = stream.wait().unwrap_err();
        let text = error.to_string();
        assert_eq!(error.fault(), Fault::Device);
        assert!(text.starts_with("while it did fr_mul: CUDA 0 (") && text.contains("ILLEGAL_ADDRESS (700)"), "{text}");
        assert!(text.contains("self-test"), "{text}");
        for error in [stream.wait().unwrap_err(), stream.buffer::<Fr>("more", 1).unwrap_err()] {
            assert_eq!(error.fault(), Fault::Device);
        }
        // The other device goes on.
        let other = Gpu::open(1).unwrap().stream().unwrap();
        assert_eq!(products(&other, &scalars(3, 1), &scalars(3, 2)).unwrap().len(), 3);
    });
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn injected_failures_of_every_kind_are_errors() {
    let test = "host::injected_failures_of_every_kind_are_errors";
    for (inject, expected) in [
        ("alloc:2=2", "no memory for b"),
        ("launch:1=719", "LAUNCH_FAILED"),
        ("launch:1=1", "launch of fr_mul (2 blocks of 64 threads)"),
        ("launch:1=803", "SYSTEM_DRIVER_MISMATCH (803)"),
        ("copy:1=719", "LAUNCH_FAILED"),
        ("copy:3=700", "while it did "),
        ("hang:1", "did not end within 0.3 s"),
    ] {
        emulated(test, &[("EMULATOR_INJECT", inject), ("TEST_EXPECTED", expected)], || {
            let expected = std::env::var("TEST_EXPECTED").unwrap();
            let gpu = Gpu::open_with(0, Duration::from_millis(300)).unwrap();
            let stream = gpu.stream().unwrap();
            let error = products(&stream, &scalars(100, 1), &scalars(100, 2)).unwrap_err();
            assert_eq!(error.fault(), Fault::Device);
            let text = error.to_string();
            assert!(text.contains(&expected), "{text}");
            assert!(text.contains("--device cpu") || text.contains("cuzk devices --self-test"), "what to do: {text}");
            assert!(text.contains("CUDA 0 ("), "where: {text}");
        });
    }
}

/// Nobody is told of missing memory, or of an event, where the device failed long before.
#[test]
fn a_device_that_has_failed_is_not_used_again_and_gives_the_first_reason() {
    let test = "host::a_device_that_has_failed_is_not_used_again_and_gives_the_first_reason";
    for (inject, expected) in
        [("launch:1=719", "LAUNCH_FAILED"), ("copy:2=700", "ILLEGAL_ADDRESS"), ("hang:1", "0.3 s")]
    {
        emulated(test, &[("EMULATOR_INJECT", inject), ("TEST_EXPECTED", expected)], || {
            let expected = std::env::var("TEST_EXPECTED").unwrap();
            let gpu = Gpu::open_with(0, Duration::from_millis(300)).unwrap();
            let stream = gpu.stream().unwrap();
            let product =
                |stream: &Stream| products(stream, &scalars(100, 1), &scalars(100, 2)).unwrap_err().to_string();
            let first = product(&stream);
            assert!(first.contains(&expected) && first.contains("while it did "), "{first}");
            let others =
                [product(&stream), gpu.stream().map(|stream| product(&stream)).unwrap_or_else(|e| e.to_string())];
            for text in others {
                assert!(text.contains("it has failed before: ") && text.contains(&expected), "{text}");
                assert!(!text.contains("no memory"), "{text}");
            }
        });
    }
}

/// A driver that refuses memory for another reason than that there is none does not have others ended for it.
#[test]
fn memory_that_is_refused_for_another_reason_is_not_called_used_up() {
    let settings = [("EMULATOR_INJECT", "alloc:2=999")];
    emulated("host::memory_that_is_refused_for_another_reason_is_not_called_used_up", &settings, || {
        let stream = Gpu::open(0).unwrap().stream().unwrap();
        let text = products(&stream, &scalars(100, 1), &scalars(100, 2)).unwrap_err().to_string();
        assert!(text.contains("CUDA_ERROR_UNKNOWN (999)") && !text.contains("end what else uses"), "{text}");
    });
}

/// Freeing, unloading and releasing would wait for the kernel that hangs: what is dropped is left to the end of the process.
#[test]
fn a_hang_that_was_noticed_ends_when_all_is_dropped() {
    for streams in ["eager", "lazy"] {
        let settings = [("EMULATOR_INJECT", "hang:1"), ("EMULATOR_STREAMS", streams)];
        emulated("host::a_hang_that_was_noticed_ends_when_all_is_dropped", &settings, || {
            let (send, receive) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let gpu = Gpu::open_with(0, Duration::from_millis(100)).unwrap();
                let (stream, idle) = (gpu.stream().unwrap(), gpu.stream().unwrap());
                let unused = idle.buffer::<u32>("unused", 10).unwrap();
                let error = products(&stream, &scalars(100, 1), &scalars(100, 2)).unwrap_err();
                assert!(error.to_string().contains("did not end within 0.1 s"), "{error}");
                drop((unused, stream, idle));
                drop(gpu);
                send.send(()).unwrap();
            });
            receive.recv_timeout(Duration::from_secs(20)).expect("dropping waits for what hangs");
        });
    }
}
