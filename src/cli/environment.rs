//! The environment, read once.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Terminal;
use crate::batch::ShardEnvironment;

/// Variables of the `CUZK_` family that something reads, here or in `gpu`.
const KNOWN: [&str; 3] = ["CUZK_CACHE", "CUZK_CPU", "CUZK_LIBCUDA"];

/// Variables that build.rs reads: who builds with them has them set when running too.
const BUILDING: [&str; 2] = ["CUZK_NVCC", "CUZK_CUDA_ARCH"];

/// What the environment says. An empty variable counts as unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// FIL_PROOFS_PARAMETER_CACHE
    pub parameter_cache: Option<PathBuf>,
    /// XDG_DATA_HOME, else ~/.local/share
    pub data_home: Option<PathBuf>,
    /// XDG_CACHE_HOME, else ~/.cache
    pub cache_home: Option<PathBuf>,
    /// CUZK_CACHE
    pub cache: Option<PathBuf>,
    /// CUZK_CPU
    pub cpu: Option<String>,
    /// NO_COLOR
    pub no_color: bool,
    /// TERM is `dumb`: a terminal that knows no escape codes.
    pub dumb: bool,
    /// What Slurm and Kubernetes say about this task of an array.
    pub shard: ShardEnvironment,
    /// `CUZK_` variables that nothing reads.
    pub unknown: Vec<String>,
}

impl Environment {
    /// Reads the process's environment.
    pub fn read() -> Self {
        Self::from_vars(std::env::vars_os())
    }

    fn from_vars(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut read = Self::default();
        let (mut data, mut cache, mut home) = (None, None, None);
        for (name, value) in vars.into_iter().filter(|(_, value)| !value.is_empty()) {
            match name.to_str() {
                Some("FIL_PROOFS_PARAMETER_CACHE") => read.parameter_cache = Some(value.into()),
                Some("XDG_DATA_HOME") => data = Some(PathBuf::from(value)),
                Some("XDG_CACHE_HOME") => cache = Some(PathBuf::from(value)),
                Some("CUZK_CACHE") => read.cache = Some(value.into()),
                Some("CUZK_CPU") => read.cpu = Some(value.to_string_lossy().into_owned()),
                Some("HOME") => home = Some(PathBuf::from(value)),
                Some("NO_COLOR") => read.no_color = true,
                Some("TERM") => read.dumb = value == "dumb",
                Some(name) if read.shard.set(name, &value.to_string_lossy()) => {}
                Some(name) if KNOWN.contains(&name) || BUILDING.contains(&name) => {}
                Some(name) if name.starts_with("CUZK_") => read.unknown.push(name.into()),
                _ => {}
            }
        }
        // The XDG specification has relative paths ignored.
        let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
        let home = absolute(home);
        read.data_home = absolute(data).or_else(|| home.as_ref().map(|home| home.join(".local/share")));
        read.cache_home = absolute(cache).or_else(|| home.as_ref().map(|home| home.join(".cache")));
        read.unknown.sort();
        read
    }

    /// Warns about variables that look meant for cuzk and are not.
    pub fn warn(&self, terminal: &Terminal) {
        for name in &self.unknown {
            terminal.warn(&format!("nothing reads the environment variable {name}; known is {}", KNOWN.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(vars: &[(&str, &str)]) -> Environment {
        Environment::from_vars(vars.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))))
    }

    #[test]
    fn data_home_is_xdg_then_home() {
        assert_eq!(from(&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")]).data_home, Some("/x".into()));
        assert_eq!(from(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]).data_home, Some("/h/.local/share".into()));
        assert_eq!(from(&[("XDG_DATA_HOME", ""), ("HOME", "/h")]).data_home, Some("/h/.local/share".into()));
        assert_eq!(from(&[("HOME", "/h")]).cache_home, Some("/h/.cache".into()));
        assert_eq!(from(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]).cache_home, Some("/c".into()));
        assert_eq!(from(&[]), Environment::default());
    }

    #[test]
    fn only_unread_variables_of_the_family_are_unknown() {
        let read = from(&[
            ("CUZK_PARMS", "1"),
            ("CUZK_LIBCUDA", "/l"),
            ("CUZKX", "1"),
            ("NO_COLOR", ""),
            ("CUZK_A", ""),
            ("CUZK_NVCC", "/n"),
        ]);
        assert_eq!(read.unknown, ["CUZK_PARMS"]);
        assert!(!read.no_color);
    }
}
