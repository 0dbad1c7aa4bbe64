//! The CUDA devices of this machine, or the reason why there are none.

use std::fmt;
use std::os::raw::{c_char, c_int};
use std::path::PathBuf;
use std::ptr::null_mut;

use cust::sys::{self, CUcomputemode_enum as CUcomputemode, CUdevice, CUdevice_attribute, CUresult, CUuuid};

use super::advice::advice;
use super::driver::{driver, Driver, VARIABLE};
use super::image::{image, Capability};
use super::status::Status;
use super::usable::{verdict, Facts, Runs};
use crate::report::units::bytes;

/// More devices than any machine holds: a count above it is a faulty driver's, and the rest is not asked for.
const MOST_DEVICES: c_int = 1024;

/// What the driver says to one question.
pub type Answer<T> = Result<T, Status>;

/// One CUDA device. Questions that the driver does not answer keep its refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The driver's ordinal, from 0.
    pub index: u32,
    pub name: Answer<String>,
    /// As `nvidia-smi -L` prints it.
    pub uuid: Answer<String>,
    /// Major and minor.
    pub compute_capability: Answer<Capability>,
    /// Bytes in all.
    pub memory: Answer<u64>,
    /// Bytes free, beside the context that asking needs (some hundred MiB on a real card).
    pub free: Answer<u64>,
    /// What it runs of this build's kernels, or why it runs none and what to do about it.
    pub kernels: Result<Runs, String>,
}

/// Why there is no device to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDevice {
    /// The driver library cannot be loaded. `chosen`: CUZK_LIBCUDA named it.
    NoLibrary { path: PathBuf, chosen: bool, reason: String },
    /// The library is there, and this call of it failed.
    Failed { path: PathBuf, chosen: bool, call: &'static str, status: Status },
    /// The driver runs and counts no device.
    NoneFound { path: PathBuf, chosen: bool },
}

/// The driver and its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// The CUDA version that the driver supports, major and minor, where there is a driver that tells.
    pub driver_version: Option<(i32, i32)>,
    pub devices: Result<Vec<Device>, NoDevice>,
}

/// Asks the driver for its devices. Free memory needs a context on each device for a moment (a fraction of a second each).
pub fn devices() -> DeviceReport {
    let driver = driver();
    match &driver.library {
        Err(reason) => {
            let (path, chosen, reason) = (driver.path.clone(), driver.chosen, reason.clone());
            DeviceReport { driver_version: None, devices: Err(NoDevice::NoLibrary { path, chosen, reason }) }
        }
        Ok(_) => DeviceReport { driver_version: driver_version(), devices: list(driver) },
    }
}

fn list(driver: &Driver) -> Result<Vec<Device>, NoDevice> {
    Ok((0..count(driver)?).map(describe).collect())
}

/// Starts the driver and counts its devices: one at least.
pub(super) fn count(driver: &Driver) -> Result<u32, NoDevice> {
    let Driver { path, chosen, .. } = driver;
    let failed = |call| move |status| NoDevice::Failed { path: path.clone(), chosen: *chosen, call, status };
    // SAFETY: no pointer is passed; 0 is the only flag there is.
    Status::check(unsafe { sys::cuInit(0) }).map_err(failed("cuInit"))?;
    // SAFETY: `count` is valid for the one write that the call makes.
    let count = ask(|count: &mut c_int| unsafe { sys::cuDeviceGetCount(count) }).map_err(failed("cuDeviceGetCount"))?;
    if count <= 0 {
        return Err(NoDevice::NoneFound { path: path.clone(), chosen: *chosen });
    }
    Ok(count.min(MOST_DEVICES).unsigned_abs())
}

/// One question whose answer the driver writes to a place that it is handed.
fn ask<T: Default>(call: impl FnOnce(&mut T) -> CUresult) -> Answer<T> {
    let mut value = T::default();
    Status::check(call(&mut value))?;
    Ok(value)
}

/// The CUDA version that the driver supports, where it tells.
pub(super) fn driver_version() -> Option<(i32, i32)> {
    // SAFETY: `version` is valid for the one write that the call makes.
    let version = ask(|version: &mut c_int| unsafe { sys::cuDriverGetVersion(version) }).ok()?;
    Some((version / 1000, version % 1000 / 10))
}

/// The driver's handle of the device with this number.
pub(super) fn handle(index: u32) -> Answer<CUdevice> {
    // Numbers are below MOST_DEVICES.
    // SAFETY: `device` is valid for the one write that the call makes.
    ask(|device: &mut CUdevice| unsafe { sys::cuDeviceGet(device, index as c_int) })
}

fn describe(index: u32) -> Device {
    let device = handle(index);
    Device {
        index,
        name: device.and_then(name),
        uuid: device.and_then(uuid),
        compute_capability: device.and_then(compute_capability),
        memory: device.and_then(memory),
        free: device.and_then(free),
        kernels: verdict(&Facts::of(device)),
    }
}

/// The name of the device with this ordinal.
pub(super) fn name_of(index: u32) -> Answer<String> {
    handle(index).and_then(name)
}

pub(super) fn name(device: CUdevice) -> Answer<String> {
    // cust's own call expects a terminating zero and panics without one.
    let mut buffer = [0u8; 256];
    let length = buffer.len() as c_int;
    // SAFETY: the buffer is valid for writes of `length` bytes.
    Status::check(unsafe { sys::cuDeviceGetName(buffer.as_mut_ptr().cast::<c_char>(), length, device) })?;
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    Ok(String::from_utf8_lossy(&buffer[..end]).into_owned())
}

pub(super) fn uuid(device: CUdevice) -> Answer<String> {
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: `uuid` is valid for the one write that the call makes.
    Status::check(unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, device) })?;
    let hex = hex::encode(uuid.bytes.map(|byte| byte as u8));
    Ok(format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

pub(super) fn compute_capability(device: CUdevice) -> Answer<Capability> {
    let major = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok((major, minor))
}

/// May no program use it?
pub(super) fn is_prohibited(device: CUdevice) -> Answer<bool> {
    let mode = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)?;
    Ok(mode == CUcomputemode::CU_COMPUTEMODE_PROHIBITED as c_int)
}

fn attribute(device: CUdevice, which: CUdevice_attribute) -> Answer<c_int> {
    // SAFETY: `value` is valid for the one write that the call makes.
    ask(|value: &mut c_int| unsafe { sys::cuDeviceGetAttribute(value, which, device) })
}

fn memory(device: CUdevice) -> Answer<u64> {
    // SAFETY: `total` is valid for the one write that the call makes.
    ask(|total: &mut usize| unsafe { sys::cuDeviceTotalMem_v2(total, device) }).map(|total| total as u64)
}

/// Free memory can be asked for in a context only: the device's primary one, retained for the question.
fn free(device: CUdevice) -> Answer<u64> {
    let mut context = null_mut();
    // SAFETY: `context` is valid for the one write that the call makes.
    Status::check(unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) })?;
    // SAFETY: the context was retained just now and is released below only.
    let pushed = Status::check(unsafe { sys::cuCtxPushCurrent_v2(context) });
    let free = pushed.and_then(|()| {
        let mut total = 0;
        // SAFETY: both places are valid for the one write each that the call makes.
        let free = ask(|free: &mut usize| unsafe { sys::cuMemGetInfo_v2(free, &mut total) });
        // SAFETY: pops what was pushed above. A failure leaves a context current that nothing else uses.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut context) };
        free
    });
    // SAFETY: gives up what was retained above. A failure leaves the context to the end of the process.
    let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(device) };
    free.map(|bytes| bytes as u64)
}

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoDevice::NoLibrary { path, chosen, reason } => {
                let source = if *chosen { format!(" (from {VARIABLE})") } else { String::new() };
                write!(f, "no driver library: tried {}{source}: {reason}", path.display())?;
                match chosen {
                    true => write!(f, "; correct or unset {VARIABLE}"),
                    false => write!(f, "; install the NVIDIA driver, or name its library in {VARIABLE}"),
                }
            }
            NoDevice::Failed { path, chosen, call, status } => {
                write!(f, "driver library {}: {call} answered {status}: {}", path.display(), advice(*status, *chosen))
            }
            NoDevice::NoneFound { path, chosen } => {
                let advice = advice(Status::NO_DEVICE, *chosen);
                write!(f, "driver library {}: it counts no device: {advice}", path.display())
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capability = self.compute_capability.map(|(major, minor)| format!("compute capability {major}.{minor}"));
        let memory = self.memory.map(|n| format!("{} memory", bytes(n)));
        let free = self.free.map(|n| format!("{} free", bytes(n)));
        write!(f, "CUDA {}: {}", self.index, text("name", self.name.clone()))?;
        write!(f, ", {}, {}", text("UUID", self.uuid.clone()), text("compute capability", capability))?;
        write!(f, ", {}, {}", text("memory", memory), text("free memory", free))
    }
}

fn text(what: &str, answer: Answer<String>) -> String {
    answer.unwrap_or_else(|status| format!("{what} unknown [{status}]"))
}

/// Whether the kernels run on a device, as the end of its line. That a build has none is said once, for all devices.
fn kernels(device: &Device) -> String {
    match &device.kernels {
        Ok(runs) => format!(", kernels run ({runs})"),
        Err(_) if image().is_err() => String::new(),
        Err(reason) => format!(", kernels do not run: {reason}"),
    }
}

/// One line for each device, or one with the reason why there is none; then the driver, where there is one, and the kernels of
/// this build. Lines end in a newline.
impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.devices {
            Err(reason) => writeln!(f, "CUDA: {reason}")?,
            Ok(devices) => devices.iter().try_for_each(|device| writeln!(f, "{device}{}", kernels(device)))?,
        }
        if let Some((major, minor)) = self.driver_version {
            writeln!(f, "CUDA driver: supports CUDA {major}.{minor}")?;
        }
        match image() {
            Ok(image) => writeln!(f, "CUDA kernels: {image}"),
            Err(reason) => writeln!(f, "CUDA kernels: not in this build, {reason}; proofs are made on the CPU"),
        }
    }
}
