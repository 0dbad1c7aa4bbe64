//! What to do about a driver that does not start.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cust::sys::CUresult;

use super::driver::{visible_devices, VARIABLE};
use super::status::Status;

/// Where the driver's device files are.
const DEV: &str = "/dev";

/// What is behind a failure of the driver to start, as far as it can be told, and what to do: the end of a line. `chosen`: the user
/// named the library, so that the fault may be its own.
pub(super) fn advice(status: Status, chosen: bool) -> String {
    let dev = if chosen { None } else { Some(Path::new(DEV)) };
    known(status).map_or_else(|| searched(dev, visible_devices().as_deref()), str::to_owned)
}

/// Failures that have one cause each (CUDA driver API, "Data types used by CUDA driver").
fn known(status: Status) -> Option<&'static str> {
    let is = |result| status == Status::answer(result);
    Some(match () {
        () if is(CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) => {
            "the driver library and the kernel's driver module are of different versions: restart the machine (after an update \
             the old module stays loaded), or install the driver again"
        }
        () if is(CUresult::CUDA_ERROR_SYSTEM_NOT_READY) => {
            "the cards are not ready: where an NVSwitch joins them, start nvidia-fabricmanager (`systemctl start \
             nvidia-fabricmanager`), of the driver's version"
        }
        () if is(CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) => {
            "a driver library of a cuda-compat package was loaded, and these cards do not support that: take its folder out of \
             LD_LIBRARY_PATH, or update the driver"
        }
        () if is(CUresult::CUDA_ERROR_STUB_LIBRARY) => {
            "this is the CUDA toolkit's stub and no driver: take its folder out of LD_LIBRARY_PATH"
        }
        () if is(CUresult::CUDA_ERROR_MPS_CONNECTION_FAILED) || is(CUresult::CUDA_ERROR_MPS_SERVER_NOT_READY) => {
            "the MPS service does not answer: start it again (`nvidia-cuda-mps-control -d`), or end it and unset \
             CUDA_MPS_PIPE_DIRECTORY"
        }
        () if is(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
            "the memory of the machine or of the card is used up: see `nvidia-smi`, and end what uses it"
        }
        _ => return None,
    })
}

/// What is behind the failure of a device to be opened, though the driver counts it, and what to do: the end of a line.
pub(super) fn opening(status: Status) -> &'static str {
    let is = |results: &[CUresult]| results.iter().any(|result| status == Status::answer(*result));
    match () {
        () if status.is_unavailable() => {
            "another process has it for itself (compute mode \"exclusive\"): see `nvidia-smi`; end that process, name another device, \
             or let several in (`nvidia-smi -c 0`, as root)"
        }
        () if status.is_out_of_memory() => {
            "its memory is used up: end what uses it (`nvidia-smi` lists it), or name another device"
        }
        () if is(&[CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND]) => {
            "the driver's PTX compiler, libnvidia-ptxjitcompiler.so, is missing: install the whole driver, or build with \
             CUZK_CUDA_ARCH naming this card's compute capability"
        }
        () if is(&[CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED]) => {
            "the kernels' PTX may not be compiled: unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT, or build with CUZK_CUDA_ARCH \
             naming this card's compute capability"
        }
        () if is(&[
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            CUresult::CUDA_ERROR_INVALID_IMAGE,
            CUresult::CUDA_ERROR_INVALID_PTX,
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        ]) =>
        {
            "the driver does not take this build's kernels for it: update the driver, or build with CUZK_CUDA_ARCH naming this card's \
             compute capability"
        }
        () if is(&[CUresult::CUDA_ERROR_NOT_FOUND]) => {
            "the kernels in this binary are not those of its program: build it anew (`cargo clean` first)"
        }
        () if is(&[CUresult::CUDA_ERROR_ECC_UNCORRECTABLE]) => {
            "its memory has errors: `nvidia-smi -q` tells of them; restart the machine, or name another device"
        }
        () => "see what `nvidia-smi` and `dmesg` say of it; name another device, or prove with --device cpu",
    }
}

/// Failures that may come from anywhere: the device files in `dev` are looked at, where the library is the system's.
fn searched(dev: Option<&Path>, visible: Option<&str>) -> String {
    if let Some(reason) = dev.and_then(closed) {
        return reason;
    }
    match visible {
        Some(list) => format!("CUDA_VISIBLE_DEVICES is {list:?}: unset it, or name devices that `nvidia-smi -L` lists"),
        None if dev.is_none() => format!("{VARIABLE} names this library: unset it, and the system's driver is used"),
        None => format!(
            "see whether `nvidia-smi` lists a card, and what `dmesg` says of it; {VARIABLE} names another driver"
        ),
    }
}

/// The first device file that is missing or cannot be opened, and what to do.
fn closed(dev: &Path) -> Option<String> {
    let control = dev.join("nvidiactl");
    // WSL has another way to the card.
    if !control.exists() && !dev.join("dxg").exists() {
        return Some(format!(
            "there is no {}: load the kernel's driver module (`nvidia-smi` does, as root); a container must be started with \
             the cards (NVIDIA Container Toolkit: `docker run --gpus all`)",
            control.display()
        ));
    }
    let (path, error) = device_files(dev).into_iter().find_map(|path| open(&path).err().map(|error| (path, error)))?;
    Some(match error.kind() {
        ErrorKind::PermissionDenied => no_permission(&path),
        _ => format!("{}: {error}: see `nvidia-smi` and `dmesg`", path.display()),
    })
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// nvidiactl, nvidia-uvm and those of the cards, as far as they are there.
fn device_files(dev: &Path) -> Vec<PathBuf> {
    let of_driver = |name: &str| {
        name.strip_prefix("nvidia").is_some_and(|rest| {
            rest == "ctl" || rest == "-uvm" || (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    let entries = fs::read_dir(dev).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.filter(|entry| entry.file_name().to_str().is_some_and(of_driver)).collect();
    files.sort_by_key(|entry| entry.file_name());
    files.into_iter().map(|entry| entry.path()).collect()
}

fn no_permission(path: &Path) -> String {
    let file = path.display();
    match fs::metadata(path) {
        Ok(found) if found.mode() & 0o006 != 0o006 => format!(
            "no permission on {file} (mode {:03o}, owner {}, group {}): join that group (`usermod -aG`, then log in again), or \
             have the file's mode set",
            found.mode() & 0o777,
            found.uid(),
            found.gid()
        ),
        _ => format!(
            "no permission on {file}, though its mode gives it: a container or a job's cgroup keeps the card away; start it \
             with the card (`docker run --gpus all`, `srun --gres=gpu:1`)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::gpu::status::from_driver;

    #[test]
    fn failures_of_one_cause_say_what_to_do_and_others_are_searched() {
        let expected = [
            (CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "restart the machine"),
            (CUresult::CUDA_ERROR_SYSTEM_NOT_READY, "nvidia-fabricmanager"),
            (CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "cuda-compat"),
            (CUresult::CUDA_ERROR_STUB_LIBRARY, "stub"),
            (CUresult::CUDA_ERROR_MPS_CONNECTION_FAILED, "MPS"),
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, "used up"),
        ];
        for (result, text) in expected {
            assert!(advice(Status::answer(result), false).contains(text), "{result:?}");
        }
        for result in
            [CUresult::CUDA_ERROR_NO_DEVICE, CUresult::CUDA_ERROR_OPERATING_SYSTEM, CUresult::CUDA_ERROR_UNKNOWN]
        {
            assert_eq!(known(Status::answer(result)), None);
        }
    }

    #[test]
    fn a_device_that_does_not_open_says_what_to_do() {
        let expected = [
            (46, "another process has it"),
            (2, "its memory is used up"),
            (209, "update the driver"),
            (218, "update the driver"),
            (221, "libnvidia-ptxjitcompiler.so"),
            (222, "CUZK_CUDA_ARCH"),
            (223, "CUDA_DISABLE_PTX_JIT"),
            (214, "memory has errors"),
            (801, "--device cpu"),
            (4711, "--device cpu"),
        ];
        for (code, text) in expected {
            let status = Status::check(from_driver(code)).unwrap_err();
            assert!(opening(status).contains(text), "{code}: {}", opening(status));
        }
    }

    #[test]
    fn device_files_that_are_missing_or_closed_are_named() {
        let dev = tempfile::tempdir().unwrap();
        let path = |name: &str| dev.path().join(name);
        let said = || searched(Some(dev.path()), None);
        assert!(said().starts_with(&format!("there is no {}: ", path("nvidiactl").display())), "{}", said());
        for name in ["nvidiactl", "nvidia-uvm", "nvidia0", "nvidia-modeset", "nvidiafb"] {
            fs::write(path(name), "").unwrap();
        }
        assert!(said().starts_with("see whether `nvidia-smi` lists a card"), "{}", said());
        assert!(searched(Some(dev.path()), Some("-1")).starts_with("CUDA_VISIBLE_DEVICES is \"-1\": unset it"));
        // A folder cannot be opened for writing, by root either.
        fs::create_dir(path("nvidia1")).unwrap();
        assert!(said().starts_with(&format!("{}: Is a directory", path("nvidia1").display())), "{}", said());
        fs::remove_file(path("nvidiactl")).unwrap();
        fs::write(path("dxg"), "").unwrap();
        assert!(!said().contains("nvidiactl"), "{}", said());
    }

    #[test]
    fn a_library_that_the_user_named_is_not_blamed_on_the_device_files() {
        for code in [1, 999, -7] {
            let said = advice(Status::check(from_driver(code)).unwrap_err(), true);
            assert_eq!(said, "CUZK_LIBCUDA names this library: unset it, and the system's driver is used");
        }
        assert!(searched(None, Some("7")).starts_with("CUDA_VISIBLE_DEVICES is \"7\": unset it"));
    }

    #[test]
    fn a_refused_file_is_told_by_its_mode_or_by_what_else_may_refuse_it() {
        let dev = tempfile::tempdir().unwrap();
        let path = dev.path().join("nvidia0");
        fs::write(&path, "").unwrap();
        let with_mode = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            no_permission(&path)
        };
        assert!(with_mode(0o660).contains("(mode 660, owner "), "{}", with_mode(0o660));
        assert!(with_mode(0o660).contains("join that group"));
        assert!(with_mode(0o666).contains("though its mode gives it"), "{}", with_mode(0o666));
    }
}
