//! `cuzk devices`.

use serde_json::{json, Value};

use crate::backend::{cpu::CpuBackend, Backend};
use crate::cli::terminal;
use crate::error::{Fault, OrFault, Result};
use crate::gpu::{self, Device, DeviceReport};

pub fn run(json: bool) -> Result<()> {
    let cpu = CpuBackend::default().name();
    let threads = rayon::current_num_threads();
    let report = gpu::devices();
    if !json {
        return terminal::print(&format!("{cpu}\n{report}"));
    }
    let object = json!({ "cpu": { "name": cpu, "threads": threads }, "cuda": cuda(&report) });
    let text = serde_json::to_string_pretty(&object).or_fault(Fault::Internal, || "devices".into())?;
    terminal::print(&(text + "\n"))
}

/// `driver_version` and `devices`, with null for what the driver does not tell; `unavailable` where there is no device; whether
/// this build has kernels for one.
fn cuda(report: &DeviceReport) -> Value {
    let version = report.driver_version.map(|(major, minor)| format!("{major}.{minor}"));
    let mut cuda = match &report.devices {
        Ok(devices) => json!({ "driver_version": version, "devices": devices.iter().map(device).collect::<Vec<_>>() }),
        Err(reason) => json!({ "driver_version": version, "devices": [], "unavailable": reason.to_string() }),
    };
    cuda["kernels"] = false.into();
    cuda
}

fn device(device: &Device) -> Value {
    json!({
        "index": device.index,
        "name": device.name.as_ref().ok(),
        "uuid": device.uuid.as_ref().ok(),
        "compute_capability": device.compute_capability.ok().map(|(major, minor)| format!("{major}.{minor}")),
        "memory_bytes": device.memory.ok(),
        "free_bytes": device.free.ok(),
    })
}
