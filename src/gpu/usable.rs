//! Whether a device can run this build's kernels; if not, in one line, why not and what to do.

use std::fmt;

use cust::sys::CUdevice;

use super::devices::{compute_capability, count, driver_version, handle, is_prohibited, name, uuid, Answer, NoDevice};
use super::driver::{driver, is_emulated, visible_devices};
use super::image::{image, Capability, Code, Image, SUPPORTED};
use crate::error::{Error, Fault, Result};
use crate::fail;

/// What a device runs of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Of this build's image.
    Code(Code),
    /// Those that were built into an emulated device, which exists for tests.
    Emulated,
}

/// A device, and whether it can run the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The driver's ordinal, from 0; CUDA_VISIBLE_DEVICES applies.
    pub index: u32,
    /// Empty where the driver does not tell it.
    pub name: String,
    /// Why it runs none, and what to do.
    pub kernels: Result<Runs, String>,
}

/// A device that can run the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usable {
    pub index: u32,
    pub name: String,
    pub runs: Runs,
}

/// All devices by number, without a context on any; or why there are none.
pub fn candidates() -> Result<Vec<Candidate>, NoDevice> {
    Ok((0..counted()?).map(Candidate::of).collect())
}

/// The device of that number, if it can run the kernels.
///
/// # Errors
/// `Device`, in one line with what to do: no driver, one that does not start, no device of that number, or one that cannot.
pub fn usable(index: u32) -> Result<Usable> {
    let count = counted().map_err(none)?;
    if index >= count {
        let (devices, last) = (if count == 1 { "device" } else { "devices" }, count - 1);
        let within =
            visible_devices().map_or_else(String::new, |list| format!(" within CUDA_VISIBLE_DEVICES={list:?}"));
        fail!(
            Fault::Device,
            "CUDA {index}: no such device: the driver counts {count} {devices}{within}, 0 to {last}; `cuzk devices` lists them"
        );
    }
    let candidate = Candidate::of(index);
    let shown = candidate.to_string();
    candidate.usable().map_err(|reason| Error::new(Fault::Device, format!("{shown}: {reason}")))
}

/// The first device that can run the kernels.
///
/// # Errors
/// Those of [`all_usable`].
pub fn first_usable() -> Result<Usable> {
    Ok(all_usable()?.swap_remove(0))
}

/// The devices that can run the kernels, by number: one at least.
///
/// # Errors
/// `Device`, in one line: no driver, one that does not start, or each device with why it cannot and what to do.
pub fn all_usable() -> Result<Vec<Usable>> {
    let candidates = candidates().map_err(none)?;
    let usable: Vec<_> = candidates.iter().filter_map(|candidate| candidate.clone().usable().ok()).collect();
    match usable.is_empty() {
        false => Ok(usable),
        true => fail!(Fault::Device, "{}", reasons(&candidates)),
    }
}

fn counted() -> Result<u32, NoDevice> {
    let driver = driver();
    match &driver.library {
        Ok(_) => count(driver),
        Err(reason) => {
            let (path, chosen, reason) = (driver.path.clone(), driver.chosen, reason.clone());
            Err(NoDevice::NoLibrary { path, chosen, reason })
        }
    }
}

/// Of a build without kernels that too is said: a driver alone would not help.
fn none(reason: NoDevice) -> Error {
    let kernels =
        image().err().map_or_else(String::new, |missing| format!("; and this build has no kernels: {missing}"));
    Error::new(Fault::Device, format!("{reason}{kernels}"))
}

/// Why none of them can, each reason once with the devices that it is the reason of.
fn reasons(candidates: &[Candidate]) -> String {
    let mut grouped: Vec<(&str, Vec<String>)> = Vec::new();
    for candidate in candidates {
        let Err(reason) = &candidate.kernels else { continue };
        match grouped.iter_mut().find(|(known, _)| known == reason) {
            Some((_, devices)) => devices.push(candidate.to_string()),
            None => grouped.push((reason, vec![candidate.to_string()])),
        }
    }
    let lines = grouped.iter().map(|(reason, devices)| format!("{}: {reason}", devices.join(", ")));
    lines.collect::<Vec<_>>().join("; ")
}

impl Candidate {
    fn of(index: u32) -> Self {
        let device = handle(index);
        Self { index, name: device.and_then(name).unwrap_or_default(), kernels: verdict(&Facts::of(device)) }
    }

    /// As usable; or why it is not.
    pub fn usable(self) -> Result<Usable, String> {
        let Self { index, name, kernels } = self;
        kernels.map(|runs| Usable { index, name, runs })
    }
}

/// As in `CUDA 0 (NVIDIA H200)`.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "" => write!(f, "CUDA {}", self.index),
            name => write!(f, "CUDA {} ({name})", self.index),
        }
    }
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Runs::Code(code) => code.fmt(f),
            Runs::Emulated => f.write_str("an emulated device, for tests: nobody proves on it"),
        }
    }
}

/// What decides.
pub(super) struct Facts<'a> {
    pub emulated: bool,
    /// May no program use it?
    pub prohibited: Answer<bool>,
    pub uuid: Answer<String>,
    pub capability: Answer<Capability>,
    /// The CUDA version that the driver supports.
    pub driver: Option<(i32, i32)>,
    pub image: Result<&'a Image, &'a str>,
}

impl Facts<'static> {
    pub(super) fn of(device: Answer<CUdevice>) -> Self {
        Self {
            emulated: is_emulated(),
            prohibited: device.and_then(is_prohibited),
            uuid: device.and_then(uuid),
            capability: device.and_then(compute_capability),
            driver: driver_version(),
            image: image(),
        }
    }
}

/// What the device runs, or why nothing and what to do. What the driver does not tell is left for it to refuse.
pub(super) fn verdict(facts: &Facts<'_>) -> Result<Runs, String> {
    if facts.prohibited == Ok(true) {
        let which = facts.uuid.as_ref().map_or_else(|_| String::new(), |uuid| format!("-i {uuid} "));
        return Err(format!(
            "its compute mode is \"prohibited\": no program may use it; `nvidia-smi {which}-c 0`, as root, allows it"
        ));
    }
    if facts.emulated {
        return Ok(Runs::Emulated);
    }
    let capability = facts.capability.map_err(|status| {
        format!("the driver does not tell its compute capability [{status}]: see `nvidia-smi` and `dmesg`")
    })?;
    let image = facts.image.map_err(|reason| {
        format!(
            "this build has no CUDA kernels: {reason}; build where nvcc is in PATH, or CUZK_NVCC names it, with CUZK_CUDA_ARCH \
             unset"
        )
    })?;
    let code = image.code_for(capability).ok_or_else(|| no_code(capability, image))?;
    match facts.driver.zip(image.cuda_version()) {
        Some((driver, cuda)) => runs_with(code, driver, cuda, capability, image),
        None => Ok(Runs::Code(code)),
    }
}

fn no_code(capability @ (major, minor): Capability, image: &Image) -> String {
    let architectures = image.architectures();
    match arch_for(capability) {
        Some((a, b)) => format!(
            "no kernels for its compute capability {major}.{minor} in this build, which has {architectures}; build with \
             CUZK_CUDA_ARCH={a}.{b}"
        ),
        None => {
            let (a, b) = SUPPORTED[0];
            format!("its compute capability is {major}.{minor}, and cuzk needs {a}.{b} or later: use another card")
        }
    }
}

/// What to compile for, so that a device of this capability runs it.
fn arch_for(capability: Capability) -> Option<Capability> {
    SUPPORTED.iter().copied().rfind(|arch| *arch <= capability)
}

/// Machine code runs with each driver of its nvcc's major version and with later ones; PTX is compiled by drivers from nvcc's own
/// version on (CUDA compatibility, "Minor version compatibility": from CUDA 11 on, below which no nvcc compiles the kernels).
fn runs_with(
    code: Code,
    driver: (i32, i32),
    cuda: (i32, i32),
    capability: Capability,
    image: &Image,
) -> Result<Runs, String> {
    let ((has, has_minor), (needs, needs_minor)) = (driver, cuda);
    match code {
        Code::Machine(_) if has < needs => Err(format!(
            "the driver supports CUDA {has}.{has_minor}, and the kernels, compiled by nvcc {}, need CUDA {needs}.0 or later: \
             update the driver, or build with nvcc of CUDA {has}",
            image.nvcc
        )),
        Code::Ptx(_) if driver < cuda => {
            let (major, minor) = capability;
            let (a, b) = arch_for(capability).unwrap_or(capability);
            Err(format!(
                "this build has no machine code for its compute capability {major}.{minor}, and the driver, which supports CUDA \
                 {has}.{has_minor}, does not compile PTX of nvcc {}: update the driver to one for CUDA {needs}.{needs_minor} or \
                 later, or build with CUZK_CUDA_ARCH={a}.{b}",
                image.nvcc
            ))
        }
        _ => Ok(Runs::Code(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::image::image_of;
    use crate::gpu::Status;

    const MACHINE_CODE: &[Capability] = &[(8, 0), (9, 0)];

    fn facts(image: &Image, capability: Capability, driver: (i32, i32)) -> Facts<'_> {
        Facts {
            emulated: false,
            prohibited: Ok(false),
            uuid: Ok("GPU-1".into()),
            capability: Ok(capability),
            driver: Some(driver),
            image: Ok(image),
        }
    }

    /// The line of a refusal: one, that says what to do.
    #[track_caller]
    fn refused(facts: &Facts<'_>, parts: &[&str]) {
        let reason = verdict(facts).unwrap_err();
        assert!(!reason.contains('\n') && parts.iter().all(|part| reason.contains(part)), "{reason}");
    }

    #[test]
    fn machine_code_needs_a_driver_of_its_major_version_and_ptx_one_of_its_own() {
        let image = image_of("13.1.20", MACHINE_CODE, (9, 0));
        let runs = |capability, driver| verdict(&facts(&image, capability, driver));
        for driver in [(13, 0), (13, 1), (14, 0)] {
            assert_eq!(runs((9, 0), driver), Ok(Runs::Code(Code::Machine((9, 0)))), "{driver:?}");
        }
        for driver in [(13, 1), (13, 2), (14, 0)] {
            assert_eq!(runs((12, 0), driver), Ok(Runs::Code(Code::Ptx((9, 0)))), "{driver:?}");
        }
        let machine = ["supports CUDA 12.9", "nvcc 13.1.20", "13.0 or later", "update the driver", "nvcc of CUDA 12"];
        refused(&facts(&image, (8, 9), (12, 9)), &machine);
        let ptx = ["12.1,", "supports CUDA 13.0", "one for CUDA 13.1 or later", "CUZK_CUDA_ARCH=12.0"];
        refused(&facts(&image, (12, 1), (13, 0)), &ptx);
        // A driver that does not tell its version, and an nvcc whose version is not understood, are tried.
        assert!(verdict(&Facts { driver: None, ..facts(&image, (9, 0), (1, 0)) }).is_ok());
        assert!(verdict(&facts(&image_of("unknown", MACHINE_CODE, (9, 0)), (9, 0), (1, 0))).is_ok());
    }

    #[test]
    fn a_card_without_code_is_told_what_to_build() {
        let image = image_of("13.0.88", &[(9, 0)], (9, 0));
        let has = "which has machine code for 9.0, PTX for 9.0 and later";
        for (capability, arch) in [((7, 5), "7.5"), ((8, 0), "8.0"), ((8, 7), "8.6"), ((8, 9), "8.9")] {
            refused(&facts(&image, capability, (13, 0)), &[has, &format!("CUZK_CUDA_ARCH={arch}")]);
        }
        refused(&facts(&image, (7, 0), (13, 0)), &["is 7.0", "needs 7.5 or later", "another card"]);
        let newest = image_of("13.0.88", &[(12, 0)], (12, 0));
        refused(&facts(&newest, (11, 0), (13, 0)), &["capability 11.0", "CUZK_CUDA_ARCH=10.0"]);
    }

    #[test]
    fn what_is_asked_first_decides() {
        let image = image_of("13.0.88", MACHINE_CODE, (9, 0));
        let without = Facts { image: Err("no nvcc"), ..facts(&image, (9, 0), (13, 0)) };
        refused(&without, &["no CUDA kernels: no nvcc; ", "CUZK_NVCC"]);
        refused(&Facts { prohibited: Ok(true), ..without }, &["prohibited", "`nvidia-smi -i GPU-1 -c 0`"]);
        let no_device = Status::NO_DEVICE;
        let mute = || Facts { capability: Err(no_device), uuid: Err(no_device), ..facts(&image, (9, 0), (13, 0)) };
        refused(&mute(), &["does not tell its compute capability [CUDA_ERROR_NO_DEVICE (100)]"]);
        refused(&Facts { prohibited: Ok(true), ..mute() }, &["`nvidia-smi -c 0`"]);
        assert!(verdict(&Facts { prohibited: Err(no_device), ..facts(&image, (9, 0), (13, 0)) }).is_ok());
        // An emulated device brings its own kernels.
        let emulated = Facts { emulated: true, image: Err("no nvcc"), ..facts(&image, (0, 0), (1, 0)) };
        assert_eq!(verdict(&emulated), Ok(Runs::Emulated));
    }

    #[test]
    fn devices_that_share_a_reason_share_its_words() {
        let candidate =
            |index, name: &str, reason: &str| Candidate { index, name: name.into(), kernels: Err(reason.into()) };
        let all =
            [candidate(0, "A", "old; update"), candidate(1, "", "closed; open"), candidate(2, "B", "old; update")];
        assert_eq!(reasons(&all), "CUDA 0 (A), CUDA 2 (B): old; update; CUDA 1: closed; open");
    }
}
