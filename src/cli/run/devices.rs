//! `cuzk devices`, and its self-test.

use serde_json::{json, Value};

use crate::backend::{cpu::CpuBackend, cuda, Backend};
use crate::cli::options::Tested;
use crate::cli::terminal;
use crate::error::{Fault, OrFault, Result};
use crate::gpu::{self, Device, DeviceReport, Gpu, Image, Runs};
use crate::processor;
use crate::report::self_test::SelfTests;

pub fn run(json: bool) -> Result<()> {
    let report = gpu::devices();
    if !json {
        let (cpu, adx) = (CpuBackend::default().name(), if processor::blst_has_adx() { "with" } else { "without" });
        return terminal::print(&format!("{cpu}, blst {adx} ADX\n{report}"));
    }
    let object = json!({ "cpu": cpu(), "cuda": cuda(&report) });
    let text = serde_json::to_string_pretty(&object).or_fault(Fault::Internal, || "devices".into())?;
    terminal::print(&(text + "\n"))
}

/// `path` is what CUZK_CPU would have to say for it, `arithmetic` the same in words, with why; `blst_adx` is what blst does by itself.
fn cpu() -> Value {
    let arithmetic = processor::arithmetic();
    json!({
        "name": CpuBackend::default().name(),
        "threads": rayon::current_num_threads(),
        "path": arithmetic.word(),
        "arithmetic": arithmetic.to_string(),
        "blst_adx": processor::blst_has_adx(),
    })
}

/// Base-two logarithm of the longest vectors of a self-test: on a card, and on the emulated device, which is slower by thousands.
const LOG_SIZE: u32 = 16;
const EMULATED_LOG_SIZE: u32 = 11;

/// Compares the devices with the CPU.
///
/// # Errors
/// `Device`: one of them cannot be had, or anything differs.
pub fn self_test(which: Tested, json: bool) -> Result<()> {
    let usable = match which {
        Tested::All => gpu::all_usable()?,
        Tested::First => vec![gpu::first_usable()?],
        Tested::Number(index) => vec![gpu::usable(index)?],
    };
    let emulated = usable.iter().any(|usable| usable.runs == Runs::Emulated);
    let log_size = if emulated { EMULATED_LOG_SIZE } else { LOG_SIZE };
    let devices = usable.into_iter().map(|usable| (usable.index, usable.name));
    let tests = SelfTests::of(devices, |index| cuda::self_test::self_test(&Gpu::open(index)?, log_size));
    let text = match json {
        false => tests.table(),
        true => {
            let object = json!({ "self_test": tests.json() });
            serde_json::to_string_pretty(&object).or_fault(Fault::Internal, || "self-test".into())? + "\n"
        }
    };
    terminal::print(&text)?;
    tests.verdict()
}

/// `driver_version` and `devices`, with null for what the driver does not tell; `unavailable` where there is no device; `kernels`,
/// those of this build, or null and the reason in `kernels_missing`.
fn cuda(report: &DeviceReport) -> Value {
    let version = report.driver_version.map(version);
    let mut cuda = match &report.devices {
        Ok(devices) => json!({ "driver_version": version, "devices": devices.iter().map(device).collect::<Vec<_>>() }),
        Err(reason) => json!({ "driver_version": version, "devices": [], "unavailable": reason.to_string() }),
    };
    match gpu::image() {
        Ok(image) => cuda["kernels"] = kernels(image),
        Err(reason) => (cuda["kernels"], cuda["kernels_missing"]) = (Value::Null, reason.into()),
    }
    cuda
}

/// What the fatbin holds.
fn kernels(image: &Image) -> Value {
    json!({
        "nvcc": image.nvcc,
        "machine_code": image.machine_code.iter().copied().map(version).collect::<Vec<_>>(),
        "ptx": version(image.ptx),
        "bytes": image.fatbin().len(),
    })
}

fn version((major, minor): (i32, i32)) -> String {
    format!("{major}.{minor}")
}

/// `kernels` is what the device runs of this build's kernels; null where that is nothing, and then `kernels_refused` says why.
fn device(device: &Device) -> Value {
    json!({
        "index": device.index,
        "name": device.name.as_ref().ok(),
        "uuid": device.uuid.as_ref().ok(),
        "compute_capability": device.compute_capability.ok().map(version),
        "memory_bytes": device.memory.ok(),
        "free_bytes": device.free.ok(),
        "kernels": device.kernels.as_ref().ok().map(ToString::to_string),
        "kernels_refused": device.kernels.as_ref().err(),
    })
}
