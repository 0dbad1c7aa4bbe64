//! A CUDA driver that is none, compiled from C in the test.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the fake driver as a shared library in `folder`.
pub fn fake(folder: &Path, definitions: &[&str]) -> PathBuf {
    let library = folder.join("libfake.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/fake_driver.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let arguments: [&OsStr; 5] =
        ["-shared".as_ref(), "-fPIC".as_ref(), "-o".as_ref(), library.as_ref(), source.as_ref()];
    let output = Command::new(&compiler).args(arguments).args(definitions).output();
    let output = output.unwrap_or_else(|e| panic!("no C compiler {compiler:?}, which Rust needs for linking too: {e}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}
