//! A device, its module and a stream, for the tests' kernels.

use std::ffi::c_void;

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::error::CudaResult;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

/// Begins like a fat binary; the emulated device looks no further.
const FATBIN: [u8; 16] = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Dropped in this order: the context last.
pub struct Emulated {
    pub stream: Stream,
    pub module: Module,
    pub context: Context,
}

impl Emulated {
    pub fn new(ordinal: u32) -> Self {
        cust::init(cust::CudaFlags::empty()).unwrap();
        let context = Context::new(Device::get_device(ordinal).unwrap()).unwrap();
        CurrentContext::set_current(&context).unwrap();
        let module = Module::from_fatbin(FATBIN, &[]).unwrap();
        let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
        Self { stream, module, context }
    }

    pub fn make_current(&self) {
        CurrentContext::set_current(&self.context).unwrap();
    }

    /// Launches a kernel in this device's stream. `shape`: blocks, threads of each, bytes of dynamic shared memory.
    pub fn launch(&self, kernel: &str, shape: (u32, u32, u32), arguments: &[Argument]) -> CudaResult<()> {
        self.launch_in(&self.stream, kernel, shape, arguments)
    }

    pub fn launch_in(
        &self,
        stream: &Stream,
        kernel: &str,
        (blocks, threads, shared): (u32, u32, u32),
        arguments: &[Argument],
    ) -> CudaResult<()> {
        let function = self.module.get_function(kernel)?;
        let places: Vec<*mut c_void> = arguments.iter().map(|a| (&a.0 as *const u64).cast_mut().cast()).collect();
        // SAFETY: each kernel's parameters are pointers and integers of at most 64 bits, each of which is read from the beginning
        // of 8 bytes that hold it, lowest byte first. What the kernel does with them is the emulated device's to check.
        unsafe { stream.launch(&function, blocks, threads, shared, &places) }
    }

    /// Launches, waits, and answers the outcome.
    pub fn run(&self, kernel: &str, shape: (u32, u32, u32), arguments: &[Argument]) -> CudaResult<()> {
        self.launch(kernel, shape, arguments)?;
        self.stream.synchronize()
    }
}

/// A kernel's argument: its bytes, lowest first, in a word.
pub struct Argument(u64);

/// A number.
pub fn n(value: u32) -> Argument {
    Argument(value.into())
}

/// The address of device memory.
pub fn at<T: DeviceCopy>(buffer: &DeviceBuffer<T>) -> Argument {
    Argument(buffer.as_device_ptr().as_raw())
}

/// Any address.
pub fn address(value: u64) -> Argument {
    Argument(value)
}

pub fn upload<T: DeviceCopy>(values: &[T]) -> DeviceBuffer<T> {
    DeviceBuffer::from_slice(values).unwrap()
}

/// Memory that nothing has written.
pub fn unwritten<T: DeviceCopy>(length: usize) -> DeviceBuffer<T> {
    // SAFETY: the tests' kernels write it, or the test is about what they leave.
    unsafe { DeviceBuffer::uninitialized(length).unwrap() }
}

pub fn download<T: DeviceCopy + Default + Clone>(buffer: &DeviceBuffer<T>) -> CudaResult<Vec<T>> {
    buffer.as_host_vec()
}

/// The same words on every run: a linear congruential generator's upper halves.
pub fn words(count: usize) -> Vec<u32> {
    let mut state = 1u64;
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}
