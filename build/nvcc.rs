//! NVIDIA's compiler: where it is, and what it says.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Names the compiler itself.
pub const VARIABLE: &str = "CUZK_NVCC";
/// Names a CUDA toolkit's folder, as NVIDIA's installers do.
pub const TOOLKIT: &str = "CUDA_PATH";

/// The variables that say where nvcc may be; an empty one counts as unset.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub nvcc: Option<OsString>,
    pub toolkit: Option<OsString>,
    pub path: Option<OsString>,
}

impl Places {
    pub fn of_environment() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self { nvcc: variable(VARIABLE), toolkit: variable(TOOLKIT), path: variable("PATH") }
    }
}

/// Whether there is a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    At(PathBuf),
    /// Nowhere; what was looked for.
    Nowhere(String),
}

/// The first of CUZK_NVCC, CUDA_PATH's bin/nvcc, and nvcc in PATH.
///
/// # Errors
/// CUZK_NVCC names what is no file: whoever names a compiler wants it used.
pub fn find(places: &Places) -> Result<Found, String> {
    if let Some(named) = &places.nvcc {
        let named = PathBuf::from(named);
        return match named.is_file() {
            true => Ok(Found::At(named)),
            false => Err(format!("{VARIABLE} names {}, which is no file: correct or unset it", named.display())),
        };
    }
    let in_toolkit = places.toolkit.as_deref().map(|folder| Path::new(folder).join("bin/nvcc"));
    let path = places.path.as_deref().unwrap_or(OsStr::new(""));
    let in_path = std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("nvcc"));
    if let Some(nvcc) = in_toolkit.clone().into_iter().chain(in_path).find(|file| file.is_file()) {
        return Ok(Found::At(nvcc));
    }
    let toolkit = match in_toolkit {
        Some(file) => format!("{TOOLKIT} holds no {}", file.display()),
        None => format!("{TOOLKIT} is not set"),
    };
    Ok(Found::Nowhere(format!("{VARIABLE} is not set, {toolkit}, and PATH has no nvcc")))
}

/// What nvcc prints to standard output and standard error.
///
/// # Errors
/// It does not start, or fails: its arguments and all it printed.
pub fn run(nvcc: &Path, arguments: &[OsString]) -> Result<(String, String), String> {
    let line = || {
        let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
        [nvcc.display().to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    };
    let Output { status, stdout, stderr } =
        Command::new(nvcc).args(arguments).output().map_err(|e| format!("cannot run {}: {e}", line()))?;
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    match status.success() {
        true => Ok((stdout, stderr)),
        false => Err(format!("{} failed ({status}):\n{stdout}{stderr}", line())),
    }
}

/// The version in what `nvcc --version` prints, as in `13.0.88`.
pub fn version(text: &str) -> Option<&str> {
    let words = text.split([' ', ',', '\n']);
    words.filter_map(|word| word.strip_prefix('V')).find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}
