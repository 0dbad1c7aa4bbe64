//! What `prove` and `batch` work with: devices, threads, memory; `bench partition` has a part of it.

use std::sync::Arc;

use rayon::ThreadPool;

use super::choose::choose;
use crate::cli::options::Work;
use crate::error::{Fault, Result};
use crate::fail;
use crate::pipeline::available::available;
use crate::pipeline::budget::Budget;
use crate::pipeline::device::{pool, Device};
use crate::pipeline::parameters::Source;
use crate::report::units::bytes;
use crate::report::{DeviceChoice, Memory};

/// What the process itself takes on top of what it has at its start: stacks, tables of hash functions, small things.
const OWN_BYTES: u64 = 48 << 20;

/// Started devices and pools.
pub struct Machine {
    pub devices: Vec<Device>,
    pub choice: DeviceChoice,
    pub synthesis: ThreadPool,
    pub budget: Arc<Budget>,
    pub in_flight: usize,
}

impl Machine {
    /// # Errors
    /// `Device`: the CUDA device that was asked for cannot be had. `Usage`: less memory than the process itself takes, or more
    /// threads than the system starts.
    pub fn start(work: &Work, threads: usize, source: &Source) -> Result<Self> {
        let (device, choice) = choose(work.device, threads)?;
        let Budgeted { left, .. } = budget(work.memory, source.largest_file())?;
        // As many on the device as it takes together, and as many that wait for it; one more for each thread. The budget may allow fewer.
        let in_flight = work.in_flight.unwrap_or(threads + 2 * device.together());
        Ok(Self {
            devices: vec![device],
            choice,
            synthesis: pool("synthesis", threads)?,
            budget: Budget::new(left),
            in_flight,
        })
    }
}

/// Memory of this process.
pub struct Budgeted {
    /// What it takes itself.
    pub own: u64,
    /// What that leaves of all it may take.
    pub left: u64,
}

/// The memory that may be used: as much as was asked for, else what is available beside `mapped` bytes of mappings, less what the process
/// itself takes.
///
/// # Errors
/// `Usage`: that is nothing.
pub fn budget(memory: Option<u64>, mapped: u64) -> Result<Budgeted> {
    // Of a machine that does not tell its memory all is used that is asked for.
    let total = memory.or_else(|| available(mapped)).unwrap_or(u64::MAX / 2);
    let own = Memory::now().anonymous.unwrap_or(0) + OWN_BYTES;
    if total <= own {
        fail!(
            Fault::Usage,
            "--memory {}: cuzk itself takes {}; name more, {} MiB at least, and what a partition takes beside it, which is \
             said when a file has been read; where this is what is available, see `ulimit -d` and `ulimit -v`",
            bytes(total),
            bytes(own),
            own.div_ceil(1 << 20) + 1
        );
    }
    Ok(Budgeted { own, left: total - own })
}
