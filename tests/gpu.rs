//! The driver forwarders with no driver, with something that is none, and with a fake one compiled here.
//!
//! A process finds its driver once, so each case runs this test binary again as a child of its own environment.

#[path = "gpu/fake.rs"]
mod fake;

use std::path::Path;
use std::process::Command;

use fake::fake;
use tempfile::TempDir;

/// What the child prints, and a test in its own right: whatever this machine's driver answers, nothing panics.
#[test]
fn prints_what_the_driver_says() {
    let report = cuzk::gpu::devices();
    match cust::init(cust::CudaFlags::empty()) {
        Ok(()) => println!("\ninit: ok"),
        Err(e) => println!("\ninit: {e:?}: {e}"),
    }
    print!("{report}");
    assert!(report.to_string().ends_with(&format!("{}\n", kernels())));
    if let Ok(devices) = &report.devices {
        assert!(!devices.is_empty());
    }
}

/// Runs the test above with `library` as the driver and answers the lines from "init: " on.
fn said(library: &Path, environment: &[(&str, &str)]) -> Vec<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "prints_what_the_driver_says", "--nocapture", "--test-threads=1"])
        .env("CUZK_LIBCUDA", library)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let lines = text.lines().skip_while(|line| !line.starts_with("init: "));
    lines
        .take_while(|line| !line.starts_with("test ") && !line.is_empty() && *line != "ok")
        .map(str::to_owned)
        .collect()
}

/// The last line, which is the build's and not the driver's.
fn kernels() -> String {
    match cuzk::gpu::image() {
        Ok(image) => format!("CUDA kernels: {image}"),
        Err(reason) => format!("CUDA kernels: not in this build, {reason}; proofs are made on the CPU"),
    }
}

/// What a build with kernels says at the end of a device's line, where the driver is recent enough.
fn runs((major, minor): (i32, i32)) -> String {
    let Ok(image) = cuzk::gpu::image() else { return String::new() };
    match image.code_for((major, minor)) {
        Some(code) => format!(", kernels run ({code})"),
        None => format!(
            ", kernels do not run: no kernels for its compute capability {major}.{minor} in this build, which has {}; build with \
             CUZK_CUDA_ARCH={major}.{minor}",
            image.architectures()
        ),
    }
}

const VERSION: &str = "CUDA driver: supports CUDA 13.1";
const UUID: &str = "f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff";

#[test]
fn without_a_library_cust_answers_no_device_and_the_report_names_the_path() {
    let lines = said(Path::new("/nonexistent/libcuda.so.1"), &[]);
    assert_eq!(lines[0], "init: NoDevice: \"CUDA_ERROR_NO_DEVICE\"");
    assert!(lines[1].starts_with("CUDA: no driver library: tried /nonexistent/libcuda.so.1 (from CUZK_LIBCUDA): "));
    assert_eq!(lines[1].matches("/nonexistent/libcuda.so.1").count(), 1, "{lines:?}");
    assert!(lines[1].contains("No such file") && lines[1].ends_with("; correct or unset CUZK_LIBCUDA"), "{lines:?}");
    assert_eq!(lines[2..], [kernels()]);
}

#[test]
fn a_library_without_cu_init_is_no_driver() {
    let folder = TempDir::new().unwrap();
    let lines = said(&fake(folder.path(), &["-DNOT_A_DRIVER"]), &[]);
    assert_eq!(lines[0], "init: NoDevice: \"CUDA_ERROR_NO_DEVICE\"");
    assert!(lines[1].contains("it has no cuInit, so it is not a CUDA driver"), "{lines:?}");
}

#[test]
fn two_devices_are_described_by_what_the_driver_says() {
    let folder = TempDir::new().unwrap();
    let lines = said(&fake(folder.path(), &[]), &[]);
    let expected = [
        "init: ok".to_owned(),
        format!(
            "CUDA 0: Fake H200, GPU-46{UUID}, compute capability 9.0, 141 GiB memory, 139 GiB free{}",
            runs((9, 0))
        ),
        format!(
            "CUDA 1: Fake 4090, GPU-47{UUID}, compute capability 8.9, 24.0 GiB memory, 20.0 GiB free{}",
            runs((8, 9))
        ),
        VERSION.to_owned(),
        kernels(),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_call_that_the_driver_lacks_is_not_supported() {
    let folder = TempDir::new().unwrap();
    let lines = said(&fake(folder.path(), &["-DOLD"]), &[]);
    assert!(lines[1].contains("Fake H200, UUID unknown [CUDA_ERROR_NOT_SUPPORTED (801)], compute"), "{lines:?}");
}

#[test]
fn failure_codes_come_through_known_or_not() {
    let folder = TempDir::new().unwrap();
    let library = fake(folder.path(), &[]);
    let init = |code| said(&library, &[("FAKE_INIT", code)]);
    let failed = |status: &str| format!("CUDA: driver library {}: cuInit answered {status}: ", library.display());
    // The driver has a text of its own for this code, and cust prints that.
    let memory = init("2");
    assert_eq!(memory[0], "init: OutOfMemory: \"fake out of memory\"");
    assert!(memory[1].starts_with(&failed("CUDA_ERROR_OUT_OF_MEMORY (2)")), "{memory:?}");
    assert_eq!(memory[2..], [VERSION.into(), kernels()]);
    // cust names this one only as unknown, the report by its name.
    let mismatch = init("803");
    assert!(mismatch[0].starts_with("init: UnknownError: "), "{mismatch:?}");
    let expected =
        failed("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)") + "the driver library and the kernel's driver module";
    assert!(mismatch[1].starts_with(&expected), "{mismatch:?}");
    for unnamed in ["4711", "-5"] {
        let lines = init(unnamed);
        assert_eq!(lines[0], "init: UnknownError: \"CUDA_ERROR_UNKNOWN\"");
        let expected = failed(&format!("code {unnamed} (not in this build's list of codes)"));
        assert!(lines[1].starts_with(&expected) && lines[1].len() > expected.len(), "{lines:?}");
    }
}

#[test]
fn strange_answers_are_reported_and_do_not_stop_the_rest() {
    let folder = TempDir::new().unwrap();
    let library = fake(folder.path(), &[]);
    let lines = said(&library, &[("FAKE_COUNT", "-3"), ("FAKE_VERSION", "3")]);
    let expected = format!("CUDA: driver library {}: it counts no device: ", library.display());
    assert!(lines[1].starts_with(&expected) && lines[1].len() > expected.len(), "{lines:?}");
    assert_eq!(lines[2..], [kernels()]);
    let lines = said(&library, &[("FAKE_COUNT_CODE", "999")]);
    assert!(lines[1].contains(": cuDeviceGetCount answered CUDA_ERROR_UNKNOWN (999): "), "{lines:?}");

    let lines = said(&library, &[("FAKE_NAME", "4711"), ("FAKE_RETAIN", "2"), ("FAKE_COUNT", "3")]);
    let [first, third] = [&lines[1], &lines[3]];
    assert!(
        first.starts_with("CUDA 0: name unknown [code 4711 (not in this build's list of codes)], GPU-46"),
        "{first}"
    );
    let end = format!(", 141 GiB memory, free memory unknown [CUDA_ERROR_OUT_OF_MEMORY (2)]{}", runs((9, 0)));
    assert!(first.ends_with(&end), "{first}");
    assert!(third.starts_with("CUDA 2: name unknown [CUDA_ERROR_INVALID_DEVICE (101)], UUID unknown ["), "{third}");

    let lines = said(&library, &[("FAKE_LONG_NAME", "1")]);
    assert!(lines[1].starts_with(&format!("CUDA 0: {}, GPU-46", "x".repeat(256))), "{lines:?}");
    // A count beyond all reason is cut, not followed.
    let lines = said(&library, &[("FAKE_COUNT", "2147483647")]);
    assert_eq!(lines.len(), 1 + 1024 + 2);
}
