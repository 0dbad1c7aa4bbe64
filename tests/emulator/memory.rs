//! Device and pinned memory: what is poisoned, out of reach, freed or full.

use std::os::unix::process::ExitStatusExt;

use cust::error::CudaError;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer, LockedBuffer};

use crate::device::{at, download, n, unwritten, upload, words, Emulated};
use crate::running::{emulated, reports, run_emulated};

#[test]
fn the_host_cannot_read_device_memory() {
    let output = run_emulated("memory::the_host_cannot_read_device_memory", &[], || {
        let _device = Emulated::new(0);
        let x = upload(&[1u32; 1024]);
        let pointer = x.as_device_ptr().as_ptr();
        // SAFETY: none; that it ends the process is what is shown.
        println!("read {}", unsafe { pointer.add(3).read_volatile() });
    });
    assert_eq!(output.status.signal(), Some(11), "{output:?}");
    assert_eq!(reports(&output), ["host access of device memory: byte 12 of an allocation of 4096 bytes of device 0"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("read "));
}

#[test]
fn copying_what_nothing_wrote_is_a_fault() {
    let test = "memory::copying_what_nothing_wrote_is_a_fault";
    let body = |expected: Result<(), CudaError>| {
        let (device, out) = (Emulated::new(0), unwritten::<u32>(64));
        device.run("writes_half", (1, 64, 0), &[at(&out)]).unwrap();
        assert_eq!(download(&out).map(|_| ()), expected);
    };
    let reported = emulated(test, &[], || {
        body(std::env::var("EMULATOR_UNWRITTEN").map_or(Err(CudaError::LaunchFailed), |_| Ok(())))
    });
    assert_eq!(
        reported,
        ["copy to the host of the poison of memory that nothing wrote: byte 32 of an allocation of 256 bytes of device 0"]
    );
    assert!(emulated(test, &[("EMULATOR_UNWRITTEN", "allow")], || ()).is_empty());
}

#[test]
fn unwritten_shared_memory_holds_the_poison() {
    let test = "memory::unwritten_shared_memory_holds_the_poison";
    for (setting, poison) in [("", 0xa5a5a5a5u32), ("0x3c", 0x3c3c3c3c)] {
        let poisons = [("EMULATOR_POISON", setting), ("POISONED", &*poison.to_string())];
        emulated(test, &poisons, || {
            let poison: u32 = std::env::var("POISONED").unwrap().parse().unwrap();
            let (device, out) = (Emulated::new(0), unwritten::<u32>(32));
            // The second launch does not find what the first has left.
            device.run("block_sum", (1, 256, 0), &[at(&upload(&[7u32; 256])), at(&out), n(256)]).unwrap();
            for _ in 0..2 {
                device.run("reads_unwritten_shared", (1, 32, 0), &[at(&out)]).unwrap();
                let expected: Vec<u32> = (0..32).map(|i| if i == 5 { poison } else { i }).collect();
                assert_eq!(download(&out).unwrap(), expected);
            }
        });
    }
}

#[test]
fn copies_and_fills_stay_in_their_allocation() {
    let reported = emulated("memory::copies_and_fills_stay_in_their_allocation", &[], || {
        let (_device, x) = (Emulated::new(0), upload(&[1u32; 10]));
        // SAFETY: the slice is longer than its memory: the emulated device has to refuse what is done with it.
        let mut long = unsafe { DeviceBuffer::from_raw_parts(x.as_device_ptr(), 11) };
        assert_eq!(long.copy_from(&[2u32; 11][..]), Err(CudaError::InvalidValue));
        assert_eq!(long.copy_to(&mut [0u32; 11][..]), Err(CudaError::InvalidValue));
        assert_eq!(long.set_32(3), Err(CudaError::InvalidValue));
        assert_eq!(download(&x).unwrap(), [1; 10], "refused calls change nothing, and the context goes on");
        std::mem::forget(long);
    });
    assert_eq!(reported.len(), 3, "{reported:?}");
    assert!(reported.iter().all(|r| r.contains("of 44 bytes: not all in one allocation")), "{reported:?}");
}

#[test]
fn fills_and_copies_on_the_device() {
    emulated("memory::fills_and_copies_on_the_device", &[("EMULATOR_STREAMS", "lazy")], || {
        let (device, mut x, mut y) = (Emulated::new(0), unwritten::<u32>(1001), unwritten::<u32>(1001));
        x.set_32(0x01020304).unwrap();
        y.copy_from(&x).unwrap();
        x.set_8(9).unwrap();
        y.index(5..7).set_16(0x0a0b).unwrap();
        let mut expected = vec![0x01020304u32; 1001];
        expected[5..7].fill(0x0a0b0a0b);
        assert_eq!(download(&y).unwrap(), expected);
        assert_eq!(download(&x).unwrap(), [0x09090909; 1001]);
        // SAFETY: both live until the stream has been waited for.
        unsafe { y.async_copy_from(&x, &device.stream).unwrap() };
        device.stream.synchronize().unwrap();
        assert_eq!(download(&y).unwrap(), [0x09090909; 1001]);
    });
}

#[test]
fn memory_is_counted_and_runs_out() {
    emulated("memory::memory_is_counted_and_runs_out", &[("EMULATOR_MEMORY", "1000000")], || {
        let _device = Emulated::new(0);
        let free = || cust::memory::mem_get_info().unwrap();
        assert_eq!(free(), (1_000_000, 1_000_000));
        let most = unwritten::<u8>(999_000);
        assert_eq!(free(), (1_000, 1_000_000));
        // SAFETY: never read.
        let refused = unsafe { DeviceBuffer::<u8>::uninitialized(1_001) };
        assert_eq!(refused.map(|_| ()), Err(CudaError::OutOfMemory));
        drop(most);
        assert_eq!(free(), (1_000_000, 1_000_000));
        assert_eq!(download(&upload(&words(250_000))).unwrap(), words(250_000));
    });
}

#[test]
fn freeing_twice_is_refused() {
    let reported = emulated("memory::freeing_twice_is_refused", &[], || {
        let (_device, x) = (Emulated::new(0), upload(&[1u32; 10]));
        let start: DevicePointer<u32> = x.as_device_ptr();
        drop(x);
        // SAFETY: none; that it is refused is what is shown.
        let again = unsafe { DeviceBuffer::from_raw_parts(start, 10) };
        assert_eq!(
            DeviceBuffer::drop(again).map_err(|(e, buffer)| (e, std::mem::forget(buffer))),
            Err((CudaError::InvalidValue, ()))
        );
    });
    assert!(reported[0].contains("of 40 bytes of device 0, which was freed"), "{reported:?}");
}

#[test]
fn pinned_memory_that_is_freed_before_its_copy_runs() {
    let reported =
        emulated("memory::pinned_memory_that_is_freed_before_its_copy_runs", &[("EMULATOR_STREAMS", "lazy")], || {
            let (device, mut x) = (Emulated::new(0), unwritten::<u32>(64));
            let pinned = LockedBuffer::from_slice(&words(64)).unwrap();
            // SAFETY: none; the source is freed too early, which the emulated device has to notice.
            unsafe { x.async_copy_from(&pinned[..], &device.stream).unwrap() };
            drop(pinned);
            assert_eq!(device.stream.synchronize(), Err(CudaError::IllegalAddress));
        });
    assert_eq!(
        reported,
        ["a copy's source is gone when it runs: byte 0 of an allocation of 256 bytes of pinned memory, which was freed"]
    );
}
