//! Streams: work in order, copies, device memory, and waits that end.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{cuda_free, cuda_malloc, DevicePointer};
use cust::stream::StreamFlags;
use cust::sys;

use super::context::{Argument, Gpu, Shape};
use super::driver::poison;
use super::kernels::NAMES;
use super::memory::{Buffer, Plain, View, ViewMut};
use super::operations::Operations;
use super::staging::Staging;
use super::status::Status;
use crate::error::{Error, Result};
use crate::report::{Operation, OperationKind};

/// How long a wait looks without sleeping, and how long it sleeps then.
const EAGER: Duration = Duration::from_micros(200);
const PAUSE: Duration = Duration::from_micros(100);

/// Work of one device, in the order in which it is enqueued. Threads may share it: each call enqueues by itself.
pub struct Stream {
    inner: ManuallyDrop<cust::stream::Stream>,
    state: Mutex<State>,
    pool: Arc<Pool>,
}

struct State {
    operations: ManuallyDrop<Operations>,
    staging: ManuallyDrop<Option<Staging>>,
}

/// The device memory of a stream: what is lent, and what came back. It is given again to work of the same stream alone, which runs
/// after the work it was given to before, so there is nothing to wait for.
pub(super) struct Pool {
    gpu: Arc<Gpu>,
    /// Addresses of what came back, by size in bytes.
    free: Mutex<HashMap<usize, Vec<u64>>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "memory of CUDA {}", self.gpu.index())
    }
}

impl Stream {
    pub(super) fn new(gpu: Arc<Gpu>) -> Result<Self> {
        gpu.make_current()?;
        let inner = gpu.tell("a stream", cust::stream::Stream::new(StreamFlags::DEFAULT, None))?;
        let origin = gpu.tell("an event", Event::new(EventFlags::DEFAULT))?;
        gpu.tell("recording an event", origin.record(&inner))?;
        let pool = Arc::new(Pool { gpu, free: Mutex::default() });
        reach(&pool.gpu, &origin)?;
        let operations = ManuallyDrop::new(Operations::new(origin));
        let state = Mutex::new(State { operations, staging: ManuallyDrop::new(None) });
        Ok(Self { inner: ManuallyDrop::new(inner), state, pool })
    }

    /// The device.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.pool.gpu
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Device memory for `len` elements, for this stream's work; what is in it at first is anything.
    ///
    /// # Errors
    /// [`Fault::Device`](crate::error::Fault::Device): there is not enough; `name` is what the message calls it.
    pub fn buffer<T: Plain>(&self, name: &'static str, len: usize) -> Result<Buffer<T>> {
        let size = len.saturating_mul(size_of::<T>());
        let address = if size == 0 { 0 } else { self.lend(name, size)? };
        Ok(Buffer::new(address, len, size, self.pool.clone()))
    }

    /// Memory of the pool's. The emulated device finds what is read before it is written: there, memory that is given again is made as
    /// new, in this stream's order.
    fn lend(&self, name: &'static str, size: usize) -> Result<u64> {
        if let Some(address) = self.pool.take(size) {
            return match poison() {
                Some(poison) => self.fill(address, poison, size).map(|()| address),
                None => Ok(address),
            };
        }
        self.pool.allocate(name, size, || self.wait())
    }

    /// Enqueues a copy to the device. What is copied was read when this returns.
    ///
    /// # Errors
    /// The device's failure, also of earlier work.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn upload<T: Plain>(&self, name: &'static str, to: ViewMut<'_, T>, from: &[T]) -> Result<()> {
        assert_eq!(to.len(), from.len(), "upload of {name}");
        let size = size_of_val(from);
        // SAFETY: a Plain type has no padding, so its bytes are all there; they are borrowed as `from` is.
        let from = unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<u8>(), size) };
        self.operate(name, OperationKind::Upload, size, |state| {
            let staging = staging(&mut state.staging, self.gpu())?;
            // SAFETY: the view is of a buffer of a stream of this program, whose memory is not freed while the stream lives. A view of another
            // device's is the caller's mistake, which the driver refuses.
            unsafe { staging.upload(self.gpu(), &self.inner, to.address(), from, |event| reach(self.gpu(), event)) }
        })
    }

    /// Copies from the device, and returns when it is there.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn download<T: Plain>(&self, name: &'static str, from: View<'_, T>, to: &mut [T]) -> Result<()> {
        assert_eq!(from.len(), to.len(), "download of {name}");
        let size = size_of_val(to);
        // SAFETY: any bytes are a value of a Plain type; they are borrowed exclusively as `to` is.
        let to = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<u8>(), size) };
        self.operate(name, OperationKind::Download, size, |state| {
            let staging = staging(&mut state.staging, self.gpu())?;
            // SAFETY: as in `upload`.
            unsafe { staging.download(self.gpu(), &self.inner, from.address(), to, |event| reach(self.gpu(), event)) }
        })
    }

    /// Enqueues a fill with zero bytes.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn zero<T: Plain>(&self, name: &'static str, to: ViewMut<'_, T>) -> Result<()> {
        let size = to.len() * size_of::<T>();
        self.operate(name, OperationKind::Fill, size, |_| self.fill(to.address(), 0, size))
    }

    /// Enqueues a fill of memory that is this stream's.
    fn fill(&self, address: u64, byte: u8, size: usize) -> Result<()> {
        self.gpu().make_current()?;
        // SAFETY: as in `upload`.
        let result = unsafe { sys::cuMemsetD8Async(address, byte, size, self.inner.as_inner()) };
        Status::check(result).map_err(|status| self.gpu().failed("filling memory", status))
    }

    /// Enqueues kernel `number` of [`NAMES`]; nothing for a grid without blocks.
    pub(super) fn launch(&self, number: usize, shape: Shape, arguments: &[Argument]) -> Result<()> {
        if shape.blocks == 0 {
            return Ok(());
        }
        self.enqueue(NAMES[number], OperationKind::Kernel, 0, |_| {
            self.gpu().launch(&self.inner, number, shape, arguments)
        })
    }

    /// Waits until all that was enqueued is done.
    ///
    /// # Errors
    /// [`Fault::Device`](crate::error::Fault::Device): some of it failed, or did not end in time.
    pub fn wait(&self) -> Result<()> {
        self.end().map_err(|e| self.after(e))
    }

    fn end(&self) -> Result<()> {
        let (gpu, mut state) = (self.gpu(), self.lock());
        gpu.make_current()?;
        let event = gpu.tell("an event", Event::new(EventFlags::DISABLE_TIMING))?;
        gpu.tell("recording an event", event.record(&self.inner))?;
        reach(gpu, &event)?;
        state.operations.collect(gpu)
    }

    /// The operations since this was asked last, after a wait for them; where that fails, those that ended.
    pub fn take_operations(&self) -> Vec<Operation> {
        // What fails here has failed before, or fails what comes next.
        let _ = self.wait();
        self.lock().operations.take()
    }

    /// Names what may have failed.
    fn after(&self, error: Error) -> Error {
        let names = self.lock().operations.names_pending();
        while_it_did(&names, error)
    }

    /// Times work on memory, if there is any.
    fn operate(
        &self,
        name: &'static str,
        kind: OperationKind,
        size: usize,
        work: impl FnOnce(&mut State) -> Result<()>,
    ) -> Result<()> {
        match size {
            0 => Ok(()),
            _ => self.enqueue(name, kind, size as u64, work),
        }
    }

    fn enqueue(
        &self,
        name: &'static str,
        kind: OperationKind,
        bytes: u64,
        work: impl FnOnce(&mut State) -> Result<()>,
    ) -> Result<()> {
        let (gpu, mut state) = (self.gpu(), self.lock());
        gpu.make_current()?;
        let begun = state.operations.begin(gpu, &self.inner, name, kind, bytes);
        let outcome = begun.and_then(|begun| {
            work(&mut state)?;
            state.operations.end(gpu, &self.inner, begun)
        });
        // What is enqueued fails with what comes after it.
        outcome.map_err(|error| {
            let mut names = state.operations.names_pending();
            names.retain(|known| *known != name);
            names.push(name);
            while_it_did(&names, error)
        })
    }
}

fn while_it_did(names: &[&str], error: Error) -> Error {
    match names {
        [] => error,
        names => error.context(format!("while it did {}", names.join(", "))),
    }
}

/// The staging of a stream, made at its first use.
fn staging<'a>(staging: &'a mut Option<Staging>, gpu: &Gpu) -> Result<&'a mut Staging> {
    match staging {
        Some(staging) => Ok(staging),
        none => Ok(none.insert(Staging::new(gpu)?)),
    }
}

/// Waits for an event, whose context is current, by asking again and again: a wait inside the driver has no end where a kernel has none.
fn reach(gpu: &Gpu, event: &Event) -> Result<()> {
    let start = Instant::now();
    gpu.make_current()?;
    loop {
        match event.query() {
            Ok(EventStatus::Ready) => return Ok(()),
            Ok(EventStatus::NotReady) => {}
            Err(e) => {
                let status = Status::of(e);
                let error = gpu.failed("its work failed", status);
                gpu.lose(&format!("its work failed: {status}"));
                return Err(error);
            }
        }
        let waited = start.elapsed();
        if waited > gpu.patience() {
            let (index, name, seconds) = (gpu.index(), gpu.name(), gpu.patience().as_secs_f64());
            let reason = format!("its work did not end within {seconds} s");
            gpu.lose(&reason);
            crate::fail!(
                crate::error::Fault::Device,
                "CUDA {index} ({name}): {reason}; a kernel that hangs is ended with its process only: see `dmesg` for what the driver says \
                 of it, and try `cuzk devices --self-test`"
            );
        }
        match waited < EAGER {
            true => std::thread::yield_now(),
            false => std::thread::sleep(PAUSE),
        }
    }
}

impl Pool {
    /// Memory of that size that came back, if there is some.
    fn take(&self, size: usize) -> Option<u64> {
        self.free().get_mut(&size).and_then(Vec::pop)
    }

    /// Memory of that size from the driver. Where it has none, what came back in other sizes is freed, after a wait for the work that
    /// uses it.
    fn allocate(&self, name: &str, size: usize, wait: impl FnOnce() -> Result<()>) -> Result<u64> {
        self.gpu.make_current()?;
        let refused = match allocate(size) {
            Ok(address) => return Ok(address),
            Err(status) => status,
        };
        if refused.is_out_of_memory() && !self.free().is_empty() {
            wait()?;
            self.release();
            return allocate(size).map_err(|status| self.gpu.no_memory(name, size, status));
        }
        Err(self.gpu.no_memory(name, size, refused))
    }

    fn free(&self) -> MutexGuard<'_, HashMap<usize, Vec<u64>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer's memory, which nobody can name any more.
    pub(super) fn take_back(&self, address: u64, size: usize) {
        if size > 0 {
            self.free().entry(size).or_default().push(address);
        }
    }

    /// Gives what came back to the driver.
    fn release(&self) {
        for address in self.free().drain().flat_map(|(_, addresses)| addresses) {
            // SAFETY: allocated by `allocate`, given back once, and no buffer's any more. A failure leaves it to the end of the process.
            let _ = unsafe { cuda_free(DevicePointer::<u8>::from_raw(address)) };
        }
    }
}

fn allocate(size: usize) -> Result<u64, Status> {
    // SAFETY: the memory is freed once, in `Pool::release`; until something is written there, whoever reads it gets what was there.
    unsafe { cuda_malloc::<u8>(size) }.map(|pointer| pointer.as_raw()).map_err(Status::of)
}

impl Drop for Pool {
    /// A lost device's memory is left to the driver, since freeing waits.
    fn drop(&mut self) {
        if self.gpu.make_current().is_ok() {
            self.release();
        }
    }
}

impl Drop for Stream {
    /// Waits for what is enqueued. A device that has failed or hangs keeps what it may still use.
    fn drop(&mut self) {
        if self.wait().is_err() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: each is dropped here only, once, and not used after.
        unsafe {
            ManuallyDrop::drop(&mut state.staging);
            ManuallyDrop::drop(&mut state.operations);
            ManuallyDrop::drop(&mut self.inner);
        }
    }
}
