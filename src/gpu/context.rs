//! An opened device: its context, the kernels' module, and launches.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::error::{CudaError, CudaResult};
use cust::module::Module;
use cust::sys::{self, CUfunction};

use super::advice::opening;
use super::driver::is_emulated;
use super::image::image;
use super::kernels::NAMES;
use super::status::Status;
use super::stream::Stream;
use crate::error::{Error, Fault, Result};
use crate::report::units::bytes;

/// Begins like a fat binary. The emulated device looks no further: its kernels are its own.
#[repr(align(16))]
struct Placeholder([u8; 16]);
static PLACEHOLDER: Placeholder = Placeholder([0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/// What to do about a device whose work failed.
const LOST: &str = "the device is not used any more in this run; try again, and `cuzk devices --self-test`: where kernels fail there too, \
    look at `nvidia-smi -q` for memory errors";
/// What to do where it has no memory.
const MEMORY: &str =
    "end what else uses the card (`nvidia-smi` lists it), take a larger one, or prove with --device cpu";
/// What to do about other refusals.
const OTHER: &str = "see what `nvidia-smi` and `dmesg` say of it, try again, or prove with --device cpu";

/// How long a wait for the device takes at most, if nobody says: no piece of work that is waited for is near it.
const PATIENCE: Duration = Duration::from_secs(600);

/// A device that kernels run on. Kept until its last stream and buffer are gone.
pub struct Gpu {
    index: u32,
    name: String,
    patience: Duration,
    /// In the order of [`NAMES`]; the module's.
    functions: Vec<Function>,
    module: ManuallyDrop<Module>,
    context: ManuallyDrop<Context>,
    /// Why the device is not used any more: it did not finish, or has failed. Whatever waits for it is left to the end of the process.
    lost: OnceLock<String>,
}

/// A kernel of a loaded module.
#[derive(Clone, Copy)]
struct Function(CUfunction);

// SAFETY: a handle that the driver lets any thread use; nothing is behind it that this program touches.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// How a kernel is launched: blocks of so many threads each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub blocks: u32,
    pub threads: u32,
}

impl Shape {
    /// As many blocks as `count` threads need; none for none: nothing is launched then.
    ///
    /// # Panics
    /// When that is more than 2^31 - 1 blocks, the most that a grid has.
    pub fn of(count: usize, threads: u32) -> Self {
        let blocks = count.div_ceil(threads as usize);
        assert!(blocks < 1 << 31, "{count} threads in blocks of {threads}");
        Self { blocks: blocks as u32, threads }
    }
}

/// A kernel's argument: its bytes, lowest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument([u8; 8]);

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        u64::from(value).into()
    }
}

impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Self(value.to_le_bytes())
    }
}

impl From<i32> for Argument {
    fn from(value: i32) -> Self {
        (value as u32).into()
    }
}

impl From<i64> for Argument {
    fn from(value: i64) -> Self {
        (value as u64).into()
    }
}

impl Gpu {
    /// Opens the device with this ordinal of the driver's, and loads the kernels.
    ///
    /// # Errors
    /// [`Fault::Device`]: there is no such device, it cannot be used, or does not run this build's kernels.
    pub fn open(index: u32) -> Result<Arc<Self>> {
        Self::open_with(index, PATIENCE)
    }

    /// The same; waits for the device fail after `patience`.
    ///
    /// # Errors
    /// As [`Gpu::open`].
    pub fn open_with(index: u32, patience: Duration) -> Result<Arc<Self>> {
        let failed = |what: &'static str| {
            move |e: CudaError| {
                let status = Status::of(e);
                Error::new(Fault::Device, format!("CUDA {index}: {what}: {status}")).advice(opening(status))
            }
        };
        let fatbin = match (is_emulated(), image()) {
            (true, _) => &PLACEHOLDER.0[..],
            (false, Ok(image)) => image.fatbin(),
            (false, Err(reason)) => {
                return Err(Error::new(Fault::Device, format!("CUDA {index}: this build has no kernels: {reason}")))
            }
        };
        cust::init(cust::CudaFlags::empty()).map_err(failed("cuInit"))?;
        let device = Device::get_device(index).map_err(failed("there is no such device"))?;
        let context = Context::new(device).map_err(failed("no context on it"))?;
        CurrentContext::set_current(&context).map_err(failed("its context"))?;
        let module = Module::from_fatbin(fatbin, &[]).map_err(failed("the kernels cannot be loaded"))?;
        let function = |name: &&str| match module.get_function(name) {
            Ok(function) => Ok(Function(function.to_raw())),
            Err(e) => Err(failed("the module of kernels lacks one")(e).context(format!("kernel {name}"))),
        };
        let functions = NAMES.iter().map(function).collect::<Result<_>>()?;
        let name = super::devices::name_of(index).unwrap_or_else(|_| "unnamed".into());
        let (module, context, lost) = (ManuallyDrop::new(module), ManuallyDrop::new(context), OnceLock::new());
        Ok(Arc::new(Self { index, name, patience, functions, module, context, lost }))
    }

    /// A stream of its own: work in it runs in the order in which it is enqueued.
    ///
    /// # Errors
    /// [`Fault::Device`]: the driver's refusal.
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        Stream::new(self.clone())
    }

    /// The driver's ordinal.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// As the driver names the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Notes that work did not finish, or has failed, and why: the first reason counts.
    pub(super) fn lose(&self, reason: &str) {
        self.lost.get_or_init(|| reason.to_owned());
    }

    /// Bytes of device memory that are free, and in all.
    ///
    /// # Errors
    /// [`Fault::Device`]: the driver's refusal.
    pub fn free_memory(&self) -> Result<(u64, u64)> {
        self.make_current()?;
        cust::memory::mem_get_info()
            .map(|(free, total)| (free as u64, total as u64))
            .map_err(|e| self.failed("free memory", Status::of(e)))
    }

    /// Makes this device's context the thread's: whatever names no stream and no event goes there. A lost device is not used again.
    pub(super) fn make_current(&self) -> Result<()> {
        if let Some(reason) = self.lost.get() {
            let Self { index, name, .. } = self;
            return Err(Error::new(Fault::Device, format!("CUDA {index} ({name}): it has failed before: {reason}"))
                .advice(LOST));
        }
        let context: &Context = &self.context;
        self.tell("its context", CurrentContext::set_current(context))
    }

    /// An outcome of cust's as ours.
    pub(super) fn tell<T>(&self, what: &str, outcome: CudaResult<T>) -> Result<T> {
        outcome.map_err(|e| self.failed(what, Status::of(e)))
    }

    /// The error of something that failed on this device, which is lost where the failure is one that stays.
    pub(super) fn failed(&self, what: &str, status: Status) -> Error {
        let advice = match () {
            () if status.stays() => {
                self.lose(&format!("{what}: {status}"));
                LOST
            }
            () if status.is_out_of_memory() => MEMORY,
            () => OTHER,
        };
        let Self { index, name, .. } = self;
        Error::new(Fault::Device, format!("CUDA {index} ({name}): {what}: {status}")).advice(advice)
    }

    /// What to say where `size` bytes for `what` were not to be had.
    pub(super) fn no_memory(&self, what: &str, size: usize, status: Status) -> Error {
        let what = format!("no memory for {what}, {}", bytes(size as u64));
        if !status.is_out_of_memory() {
            return self.failed(&what, status);
        }
        let free = match self.free_memory() {
            Ok((free, total)) => format!("{} of {} are free", bytes(free), bytes(total)),
            Err(e) => format!("what is free is unknown ({e})"),
        };
        self.failed(&format!("{what}; {free}"), status)
    }

    /// Enqueues kernel `number` of [`NAMES`] in a stream of this device, whose context is current.
    pub(super) fn launch(
        &self,
        stream: &cust::stream::Stream,
        number: usize,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<()> {
        let Function(function) = self.functions[number];
        let Shape { blocks, threads } = shape;
        let check = |result| {
            Status::check(result).map_err(|status| {
                let launch = format!("launch of {} ({blocks} blocks of {threads} threads)", NAMES[number]);
                self.failed(&launch, status)
            })
        };
        let mut places: Vec<*mut c_void> = arguments.iter().map(|a| a.0.as_ptr().cast_mut().cast()).collect();
        let (stream, none) = (stream.as_inner(), std::ptr::null_mut());
        // SAFETY: function and stream are of this device's context, which is current. The launchers, made from the kernel's own
        // signature, pass one argument for each parameter, each at most 8 bytes long; the driver copies them before it returns.
        check(unsafe {
            sys::cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, places.as_mut_ptr(), none)
        })
    }
}

impl Drop for Gpu {
    /// Unloads the module, in the context that is current, and releases the context last. Both wait for the device: one that is lost
    /// keeps them to the end of the process, which ends a kernel that hangs.
    fn drop(&mut self) {
        // Nor is a lost one made current. Where it cannot be, what follows would fail, and the driver keeps it as long.
        if self.make_current().is_err() {
            return;
        }
        // SAFETY: each is dropped here only, once, and not used after.
        unsafe {
            ManuallyDrop::drop(&mut self.module);
            ManuallyDrop::drop(&mut self.context);
        }
    }
}
