//! A folder to work in, the real binary run in it, and one set of development parameters for all tests.

// Each test binary compiles this file and uses a part of it.
#![allow(dead_code)]

mod parameters;
pub mod running;
pub mod screen;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The repository's file of that name.
pub fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The folder of 2 KiB development parameters that all tests share; see [`parameters::shared_dev_params`].
pub fn dev_params() -> PathBuf {
    parameters::shared_dev_params(&cuzk::report::Progress::silent())
}

/// A temporary folder in which the real binary runs, with nothing of the user's environment that cuzk would read.
pub struct Place {
    folder: TempDir,
    /// The user's home folder, for what is kept between runs.
    home: TempDir,
}

/// How a run ended.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = || tempfile::tempdir().expect("temporary folder");
        Self { folder: folder(), home: folder() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, by name in the folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("file in the temporary folder");
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("temporary folder");
        let mut names: Vec<_> = entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The binary, ready to run in the folder.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CUZK_")) {
            command.env_remove(name);
        }
        command.env_remove("FIL_PROOFS_PARAMETER_CACHE").env_remove("NO_COLOR");
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME");
        // Not the machine's own driver: what is tested does not depend on a card.
        command.env("CUZK_LIBCUDA", "/nonexistent/libcuda.so.1");
        command.env("HOME", self.home.path()).current_dir(self.folder.path()).args(args);
        command
    }

    /// Runs `cuzk` with the arguments of `line`, cut at spaces.
    pub fn run(&self, line: &str) -> Finished {
        finish(self.command(line.split_whitespace()), b"")
    }

    /// The same with bytes on standard input.
    pub fn run_with(&self, line: &str, stdin: &[u8]) -> Finished {
        finish(self.command(line.split_whitespace()), stdin)
    }
}

/// Runs a command that is to end at once: one that does not is killed, and has no exit code.
pub fn finish_soon(mut command: Command) -> Finished {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let (start, limit) = (Instant::now(), Duration::from_secs(60));
    while child.try_wait().expect("a child").is_none() && start.elapsed() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Ended by itself, mostly.
    let _ = child.kill();
    let output = child.wait_with_output().expect("the binary ends");
    Finished {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

/// Runs a command to its end, feeding it `stdin`.
pub fn finish(mut command: Command, stdin: &[u8]) -> Finished {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut pipe = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that refuses its arguments does not read its input.
            let _ = pipe.write_all(stdin);
        });
        child.wait_with_output().expect("the binary ends")
    });
    Finished {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

impl Finished {
    /// Asserts success; the text on standard output.
    #[track_caller]
    pub fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.text()
    }

    /// Asserts the exit code, and that the error says `part`.
    #[track_caller]
    pub fn fails(&self, code: i32, part: &str) {
        assert_eq!(self.code, Some(code), "{}\n{}", self.text(), self.stderr);
        assert!(self.stderr.contains(part), "expected {part:?} in:\n{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is text")
    }
}
