//! Builds the emulated device with the kernels of a test binary, and runs tests with it as their driver.
//!
//! The binary's root defines `kernels()`: a name for the library's folder, and the sources.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Set in the child processes, whose driver is the emulated device.
const CHILD: &str = "CUZK_TEST_EMULATED";
/// What a child prints first and last. A test that was renamed would name none: its child would succeed without either.
const BEGUN: &str = "the child's body begins";
const DONE: &str = "the child's body is done";

/// The library with the binary's kernels. Built once for all tests of this process, and from one run to the next
/// only what changed.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (name, sources) = crate::kernels();
        let output = Command::new(root.join("kernels/emulator/build.sh"))
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
            .args(sources)
            .output()
            .expect("kernels/emulator/build.sh needs bash");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
    })
}

/// Runs `body` in a process of its own whose driver is the emulated device with these settings: the test named `test`, which
/// calls this, is run again as a child. Answers the child's outcome and output.
///
/// # Panics
/// Where the child has not come to `body`, or has succeeded without its end.
#[track_caller]
pub fn run_emulated(test: &str, settings: &[(&str, &str)], body: impl FnOnce()) -> Output {
    if std::env::var_os(CHILD).is_some() {
        println!("{BEGUN}");
        body();
        // What follows is the parent's to check.
        println!("{DONE}");
        std::process::exit(0);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("CUZK_LIBCUDA", library())
        .env(CHILD, "1")
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(BEGUN), "no test named {test} has begun: {output:?}");
    assert!(!output.status.success() || said.contains(DONE), "{test} succeeded before its end: {output:?}");
    output
}

/// As [`run_emulated`]; `body` has to succeed. Answers the emulated device's reports.
#[track_caller]
pub fn emulated(test: &str, settings: &[(&str, &str)], body: impl FnOnce()) -> Vec<String> {
    let output = run_emulated(test, settings, body);
    let (errors, said) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{settings:?}: {said}\n{errors}");
    reports(&output)
}

/// The lines that the emulated device has printed.
pub fn reports(output: &Output) -> Vec<String> {
    let errors = String::from_utf8_lossy(&output.stderr);
    errors.lines().filter_map(|line| line.strip_prefix("emulator: ")).map(str::to_owned).collect()
}

/// In every order of threads, with eager and with lazy streams: `body` succeeds and nothing is reported.
#[track_caller]
pub fn in_all_orders(test: &str, body: impl Fn()) {
    for order in ["forward", "backward", "random:1", "random:2"] {
        for streams in ["eager", "lazy"] {
            let reports = emulated(test, &[("EMULATOR_ORDER", order), ("EMULATOR_STREAMS", streams)], &body);
            assert!(reports.is_empty(), "{order}, {streams}: {reports:?}");
        }
    }
}
