//! What a stream has done, timed by events on the device.

use std::time::Instant;

use cust::event::{Event, EventFlags};
use cust::stream::Stream;

use super::context::Gpu;
use crate::error::Result;
use crate::report::{Operation, OperationKind};

/// Finished work whose times are not yet read, at most; more are read when the next one is enqueued.
const MOST_PENDING: usize = 1024;

/// The operations of one stream, in order.
pub(super) struct Operations {
    /// Where the events' times count from, on the device and here: the end of the last operation. Events tell milliseconds as floats, so
    /// that times from a far origin are rough.
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
            let start = self.origin.1 + gpu.tell("an event's time", begin.elapsed(&self.origin.0))?;
            let duration = gpu.tell("an event's time", end.elapsed(&begin))?;
            self.finished.push(Operation { name, kind, bytes, start, duration });
            let (origin, _) = std::mem::replace(&mut self.origin, (end, start + duration));
            self.spare.extend([begin, origin]);
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
