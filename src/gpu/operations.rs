//! What a stream has done, timed by events on the device.

use std::time::{Duration, Instant};

use cust::event::{Event, EventFlags};
use cust::stream::Stream;

use super::context::Gpu;
use crate::error::Result;

/// Finished work whose times are not yet read, at most; more are read when the next one is enqueued.
const MOST_PENDING: usize = 1024;

/// What kind of work it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    Kernel,
    /// From the host to the device.
    Upload,
    /// From the device to the host.
    Download,
    /// Device memory filled with zeros.
    Fill,
}

/// One piece of finished work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// Of the kernel, or of the buffer that was copied or filled.
    pub name: &'static str,
    pub kind: OperationKind,
    /// Copied or filled; 0 for kernels.
    pub bytes: u64,
    /// When it began on the device, as well as events tell: about a thousandth of a second.
    pub start: Instant,
    pub duration: Duration,
}

/// The operations of one stream, in order.
pub(super) struct Operations {
    /// Where the events' times count from, on the device and here.
    origin: (Event, Instant),
    spare: Vec<Event>,
    pending: Vec<Pending>,
    finished: Vec<Operation>,
}

struct Pending {
    name: &'static str,
    kind: OperationKind,
    bytes: u64,
    begin: Event,
    end: Event,
}

/// Work that is enqueued now.
pub(super) struct Begun {
    name: &'static str,
    kind: OperationKind,
    bytes: u64,
    begin: Event,
}

impl Operations {
    /// `origin` was reached just now.
    pub fn new(origin: Event) -> Self {
        Self { origin: (origin, Instant::now()), spare: Vec::new(), pending: Vec::new(), finished: Vec::new() }
    }

    pub fn begin(
        &mut self,
        gpu: &Gpu,
        stream: &Stream,
        name: &'static str,
        kind: OperationKind,
        bytes: u64,
    ) -> Result<Begun> {
        if self.pending.len() >= MOST_PENDING {
            self.collect(gpu)?;
        }
        Ok(Begun { name, kind, bytes, begin: self.record(gpu, stream)? })
    }

    pub fn end(&mut self, gpu: &Gpu, stream: &Stream, begun: Begun) -> Result<()> {
        let Begun { name, kind, bytes, begin } = begun;
        let end = self.record(gpu, stream)?;
        self.pending.push(Pending { name, kind, bytes, begin, end });
        Ok(())
    }

    fn record(&mut self, gpu: &Gpu, stream: &Stream) -> Result<Event> {
        let event = match self.spare.pop() {
            Some(event) => event,
            None => gpu.tell("an event", Event::new(EventFlags::DEFAULT))?,
        };
        gpu.tell("recording an event", event.record(stream))?;
        Ok(event)
    }

    /// Reads the times of what has finished.
    pub fn collect(&mut self, gpu: &Gpu) -> Result<()> {
        let done = |pending: &Pending| pending.end.query() == Ok(cust::event::EventStatus::Ready);
        let count = self.pending.iter().take_while(|pending| done(pending)).count();
        for Pending { name, kind, bytes, begin, end } in self.pending.drain(..count) {
            let start = gpu.tell("an event's time", begin.elapsed(&self.origin.0))?;
            let duration = gpu.tell("an event's time", end.elapsed(&begin))?;
            self.finished.push(Operation { name, kind, bytes, start: self.origin.1 + start, duration });
            self.spare.extend([begin, end]);
        }
        Ok(())
    }

    /// What has finished and was not taken yet.
    pub fn take(&mut self) -> Vec<Operation> {
        std::mem::take(&mut self.finished)
    }

    /// The names of what is enqueued or runs, each once, in order: where a failure came from.
    pub fn names_pending(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.pending.iter().for_each(|pending| {
            if !names.contains(&pending.name) {
                names.push(pending.name);
            }
        });
        names
    }
}
