//! Streams, events, pinned copies, timing, two devices.

use std::time::{Duration, Instant};

use cust::error::CudaError;
use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{AsyncCopyDestination, LockedBuffer};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};

use crate::device::{at, download, n, unwritten, upload, words, Emulated};
use crate::running::{emulated, in_all_orders, run_emulated};

const LENGTH: usize = 1000;
const SHAPE: (u32, u32, u32) = (8, 128, 0);

fn event() -> Event {
    Event::new(EventFlags::DEFAULT).unwrap()
}

/// One stream adds, another doubles the sums, with an event between them or without one.
fn add_then_double(with_event: bool) -> Result<bool, CudaError> {
    let device = Emulated::new(0);
    let second = Stream::new(StreamFlags::DEFAULT, None)?;
    let a = words(LENGTH);
    let (x, sum) = (upload(&a), upload(&[0u32; LENGTH]));
    device.launch("vector_add", SHAPE, &[at(&x), at(&x), at(&sum), n(LENGTH as u32)])?;
    if with_event {
        let added = event();
        added.record(&device.stream)?;
        // Consumes the event: it is destroyed before the stream comes to it.
        second.wait_event(added, StreamWaitEventFlags::DEFAULT)?;
    }
    device.launch_in(&second, "scale", SHAPE, &[at(&sum), n(LENGTH as u32), n(2)])?;
    second.synchronize()?;
    Ok(download(&sum)? == a.iter().map(|v| v.wrapping_mul(4)).collect::<Vec<_>>())
}

#[test]
fn an_event_orders_two_streams() {
    in_all_orders("streams::an_event_orders_two_streams", || assert_eq!(add_then_double(true), Ok(true)));
}

#[test]
fn lazy_streams_show_that_an_event_is_missing() {
    let right = |streams: &str| {
        let settings = [("EMULATOR_STREAMS", streams)];
        let output = run_emulated("streams::lazy_streams_show_that_an_event_is_missing", &settings, || {
            println!("right: {:?}", add_then_double(false));
        });
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        said.contains("right: Ok(true)")
    };
    assert!(right("eager"));
    assert!(!right("lazy"));
}

#[test]
fn pinned_copies_are_done_when_the_stream_is() {
    in_all_orders("streams::pinned_copies_are_done_when_the_stream_is", || {
        let device = Emulated::new(0);
        let mut source = LockedBuffer::from_slice(&words(LENGTH)).unwrap();
        let mut target = LockedBuffer::new(&0u32, LENGTH).unwrap();
        let mut x = unwritten::<u32>(LENGTH);
        // A pinned source is read when the copy runs: lazily after this line's change, eagerly before it.
        let lazy = std::env::var("EMULATOR_STREAMS").unwrap() == "lazy";
        let done = event();
        // SAFETY: the buffers live until the event has been waited for.
        unsafe { x.async_copy_from(&source[..], &device.stream).unwrap() };
        source[0] = 77;
        device.launch("scale", SHAPE, &[at(&x), n(LENGTH as u32), n(3)]).unwrap();
        // SAFETY: as above.
        unsafe { x.async_copy_to(&mut target[..], &device.stream).unwrap() };
        done.record(&device.stream).unwrap();
        let mut expected: Vec<u32> = words(LENGTH).iter().map(|v| v.wrapping_mul(3)).collect();
        if lazy {
            expected[0] = 3 * 77;
            assert!(target.iter().all(|v| *v == 0), "nothing runs before it is waited for");
        }
        done.synchronize().unwrap();
        assert_eq!(target[..], expected);
    });
}

#[test]
fn pageable_sources_are_taken_at_once() {
    in_all_orders("streams::pageable_sources_are_taken_at_once", || {
        let device = Emulated::new(0);
        let mut source = words(LENGTH);
        let (mut x, mut target) = (unwritten::<u32>(LENGTH), vec![0u32; LENGTH]);
        // SAFETY: the driver has read pageable memory when its call returns, and has written it then.
        unsafe {
            x.async_copy_from(&source[..], &device.stream).unwrap();
            source.fill(0);
            x.async_copy_to(&mut target[..], &device.stream).unwrap();
        }
        assert_eq!(target, words(LENGTH));
    });
}

#[test]
fn the_default_stream_waits_for_the_others() {
    in_all_orders("streams::the_default_stream_waits_for_the_others", || {
        let device = Emulated::new(0);
        let x = upload(&[5u32; LENGTH]);
        device.launch("scale", SHAPE, &[at(&x), n(LENGTH as u32), n(3)]).unwrap();
        // A plain copy runs in the default stream.
        assert_eq!(download(&x).unwrap(), [15; LENGTH]);
    });
}

#[test]
fn events_measure_time_and_answer_queries() {
    in_all_orders("streams::events_measure_time_and_answer_queries", || {
        let device = Emulated::new(0);
        let (begin, end) = (event(), event());
        let x = upload(&[5u32; LENGTH]);
        let started = Instant::now();
        begin.record(&device.stream).unwrap();
        device.launch("scale", (8, 128, 0), &[at(&x), n(LENGTH as u32), n(3)]).unwrap();
        end.record(&device.stream).unwrap();
        let mut questions = 0;
        while end.query().unwrap() == EventStatus::NotReady {
            questions += 1;
            assert!(questions < 100);
        }
        let lazy = std::env::var("EMULATOR_STREAMS").unwrap() == "lazy";
        assert_eq!(questions > 0, lazy);
        let measured = end.elapsed(&begin).unwrap();
        assert!(measured > Duration::ZERO && measured <= started.elapsed() + Duration::from_micros(1), "{measured:?}");
        let untimed = Event::new(EventFlags::DISABLE_TIMING).unwrap();
        untimed.record(&device.stream).unwrap();
        untimed.synchronize().unwrap();
        assert_eq!(untimed.elapsed_time_f32(&begin), Err(CudaError::InvalidHandle));
    });
}

#[test]
fn host_functions_run_in_their_streams_order() {
    in_all_orders("streams::host_functions_run_in_their_streams_order", || {
        let device = Emulated::new(0);
        let (said, heard) = std::sync::mpsc::channel();
        for i in 0..3 {
            let said = said.clone();
            device.stream.add_callback(Box::new(move || said.send(i).unwrap())).unwrap();
        }
        device.stream.synchronize().unwrap();
        drop(said);
        assert_eq!(heard.iter().collect::<Vec<i32>>(), [0, 1, 2]);
    });
}

#[test]
fn two_devices_in_two_threads() {
    in_all_orders("streams::two_devices_in_two_threads", || {
        let work = |ordinal: u32| {
            let device = Emulated::new(ordinal);
            let x = upload(&[ordinal + 1; LENGTH]);
            for _ in 0..10 {
                device.launch("scale", SHAPE, &[at(&x), n(LENGTH as u32), n(3)]).unwrap();
            }
            device.stream.synchronize().unwrap();
            assert_eq!(download(&x).unwrap(), [(ordinal + 1) * 59049; LENGTH]);
        };
        std::thread::scope(|scope| {
            for ordinal in [0, 1] {
                scope.spawn(move || work(ordinal));
            }
        });
    });
}

#[test]
fn streams_belong_to_their_device() {
    emulated("streams::streams_belong_to_their_device", &[], || {
        let (first, second) = (Emulated::new(0), Emulated::new(1));
        let x = upload(&[1u32; 64]);
        let wrong = first.launch_in(&second.stream, "scale", (1, 64, 0), &[at(&x), n(64), n(2)]);
        assert_eq!(wrong, Err(CudaError::InvalidHandle));
        drop(x);
    });
}
