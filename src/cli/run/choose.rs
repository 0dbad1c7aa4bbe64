//! Which device proves. One that was asked for and cannot be had is an error, and never another one.

use crate::cli::values::DeviceName;
use crate::error::Result;
use crate::gpu::{self, Candidate, Runs};
use crate::pipeline::device::Device;
use crate::report::DeviceChoice;

/// Starts the device.
///
/// # Errors
/// `Device`: the CUDA device that was asked for cannot be had. Threads that do not start.
pub fn choose(wanted: DeviceName, threads: usize) -> Result<(Device, DeviceChoice)> {
    let (device, not_cuda) = match wanted {
        DeviceName::Auto => match automatic() {
            Ok(device) => (device, None),
            Err(reason) => (Device::cpu(threads)?, Some(reason)),
        },
        DeviceName::Cpu => (Device::cpu(threads)?, None),
        DeviceName::Cuda(which) => (asked_for(which)?, None),
        DeviceName::Simulator(delay) => (Device::Simulator { delay, synthesis: false }, None),
    };
    let choice = DeviceChoice { name: device.name(), not_cuda };
    Ok((device, choice))
}

/// The CUDA device of that number, or the first that can.
fn asked_for(which: Option<u32>) -> Result<Device> {
    let (usable, flag) = match which {
        Some(index) => (gpu::usable(index), format!("--device cuda:{index}")),
        None => (gpu::first_usable(), "--device cuda".to_owned()),
    };
    usable.and_then(|usable| Device::cuda(usable.index)).map_err(|error| error.context(flag))
}

/// The first CUDA device that can be had; or why there is none, each device's reason in one line.
fn automatic() -> Result<Device, String> {
    let mut reasons = Vec::new();
    for candidate in gpu::candidates().map_err(|none| none.to_string())? {
        let shown = candidate.to_string();
        match unasked(candidate).and_then(|index| Device::cuda(index).map_err(|error| error.to_string())) {
            Ok(device) => return Ok(device),
            Err(reason) => reasons.push(format!("{shown}: {reason}")),
        }
    }
    Err(reasons.join("; "))
}

/// The number of a device that may be taken though nobody named it. An emulated one may not: it exists for tests.
fn unasked(candidate: Candidate) -> Result<u32, String> {
    let usable = candidate.usable()?;
    match usable.runs {
        Runs::Emulated => Err("an emulated device, taken only where --device names CUDA".into()),
        Runs::Code(_) => Ok(usable.index),
    }
}
