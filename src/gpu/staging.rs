//! Pinned memory that copies go through: the device reads and writes it by itself, while the host fills or empties the other half.

use cust::event::{Event, EventFlags};
use cust::memory::LockedBuffer;
use cust::stream::Stream;
use cust::sys;

use super::context::Gpu;
use super::status::Status;
use crate::error::Result;

/// Bytes of each half. The host copies 4 MiB in about half a millisecond, and a launch costs some microseconds.
pub(super) const HALF_BYTES: usize = 4 << 20;

/// Two halves, used in turn.
pub(super) struct Staging {
    halves: [Half; 2],
    next: usize,
}

struct Half {
    memory: LockedBuffer<u8>,
    /// Reached when the device has done with it.
    free: Event,
}

impl Half {
    fn new(gpu: &Gpu) -> Result<Self> {
        // SAFETY: bytes of any value. They are written by the host before the device reads them, or by the device before the host does.
        let memory = unsafe { LockedBuffer::uninitialized(HALF_BYTES) };
        let memory = memory.map_err(|e| gpu.no_memory("pinned staging", HALF_BYTES, Status::of(e)))?;
        let free = gpu.tell("an event", Event::new(EventFlags::DISABLE_TIMING))?;
        Ok(Self { memory, free })
    }
}

impl Staging {
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self { halves: [Half::new(gpu)?, Half::new(gpu)?], next: 0 })
    }

    /// The half whose turn it is.
    fn turn(&mut self) -> usize {
        self.next = 1 - self.next;
        self.next
    }

    /// Enqueues the copy of `from` to device memory at `to`, and returns when all of it is on its way. `reach` waits for an event.
    ///
    /// # Safety
    /// The range of device memory is allocated in the context that is current, until the stream has done this.
    pub unsafe fn upload(
        &mut self,
        gpu: &Gpu,
        stream: &Stream,
        to: u64,
        from: &[u8],
        reach: impl Fn(&Event) -> Result<()>,
    ) -> Result<()> {
        for (i, part) in from.chunks(HALF_BYTES).enumerate() {
            let half = self.turn();
            let Half { memory, free } = &mut self.halves[half];
            reach(free)?;
            memory[..part.len()].copy_from_slice(part);
            let (to, from) = (to + (i * HALF_BYTES) as u64, memory.as_ptr().cast());
            // SAFETY: the caller's for the device's range. The pinned memory lives until `free` is reached: staging is dropped after a wait.
            let result = unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, part.len(), stream.as_inner()) };
            Status::check(result).map_err(|status| gpu.failed("copy to the device", status))?;
            gpu.tell("recording an event", free.record(stream))?;
        }
        Ok(())
    }

    /// Copies device memory at `from` to `to`, and returns when all of it is there.
    ///
    /// # Safety
    /// As [`Staging::upload`].
    pub unsafe fn download(
        &mut self,
        gpu: &Gpu,
        stream: &Stream,
        from: u64,
        to: &mut [u8],
        reach: impl Fn(&Event) -> Result<()>,
    ) -> Result<()> {
        // What the device is copying: into which half, for which part of `to`.
        let mut under_way: Vec<(usize, &mut [u8])> = Vec::new();
        let mut parts = to.chunks_mut(HALF_BYTES).enumerate();
        loop {
            let part = parts.next();
            if under_way.len() == 2 || (part.is_none() && !under_way.is_empty()) {
                let (half, part) = under_way.remove(0);
                reach(&self.halves[half].free)?;
                part.copy_from_slice(&self.halves[half].memory[..part.len()]);
            }
            let Some((i, part)) = part else {
                match under_way.is_empty() {
                    true => return Ok(()),
                    false => continue,
                }
            };
            let half = self.turn();
            let Half { memory, free } = &mut self.halves[half];
            reach(free)?;
            let (to, from) = (memory.as_mut_ptr().cast(), from + (i * HALF_BYTES) as u64);
            // SAFETY: as in `upload`.
            let result = unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, part.len(), stream.as_inner()) };
            Status::check(result).map_err(|status| gpu.failed("copy from the device", status))?;
            gpu.tell("recording an event", free.record(stream))?;
            under_way.push((half, part));
        }
    }
}
