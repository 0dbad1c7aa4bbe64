//! One error type: a chain of messages, and whose fault it is.
//!
//! Messages say what was expected, what was got, where, and what to do; the [`Fault`] decides the exit code.

use std::fmt;

/// Who or what has to change before a retry can succeed. Each fault has its own exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Anything that has no better class: a fault of cuzk itself.
    Internal,
    /// The command line asks for something impossible.
    Usage,
    /// The C1 or proof file is wrong.
    Input,
    /// The parameter files are missing, damaged, or belong to another circuit.
    Parameters,
    /// The device is missing, failed, or ran out of memory.
    Device,
    /// A proof was made and does not verify, or a given proof does not verify.
    Unverified,
    /// The result could not be written.
    Output,
    /// Some files of a batch failed, the others are proved.
    Partial,
    /// Stopped by a signal.
    Interrupted,
}

impl Fault {
    /// All faults with their exit codes and the one-line meaning shown in `--help`.
    pub const TABLE: &'static [(Fault, u8, &'static str)] = &[
        (Fault::Internal, 1, "internal error"),
        (Fault::Usage, 2, "usage"),
        (Fault::Input, 3, "bad input (C1 or proof file)"),
        (Fault::Parameters, 4, "parameters missing, damaged or foreign"),
        (Fault::Device, 5, "device"),
        (Fault::Unverified, 6, "a proof failed verification"),
        (Fault::Output, 7, "the result could not be written"),
        (Fault::Partial, 8, "some files of a batch failed"),
        (Fault::Interrupted, 130, "interrupted"),
    ];

    /// The process exit code of this fault.
    pub fn exit_code(self) -> u8 {
        Self::TABLE.iter().find(|(fault, ..)| *fault == self).map_or(1, |(_, code, _)| *code)
    }
}

/// An error chain with its [`Fault`]. `Display` prints the whole chain on one line.
#[derive(Debug)]
pub struct Error {
    fault: Fault,
    source: anyhow::Error,
}

/// Result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the given class from one message.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { fault, source: anyhow::Error::msg(message.into()) }
    }

    /// Wraps an error of another library.
    pub fn from_source(fault: Fault, source: impl Into<anyhow::Error>) -> Self {
        Self { fault, source: source.into() }
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Puts what to do behind the chain; keeps the fault.
    pub fn advice(self, advice: &str) -> Self {
        Self::new(self.fault, format!("{self}; {advice}"))
    }

    /// Puts a message in front of the chain (what was being done, with which file); keeps the fault.
    pub fn context(self, message: impl Into<String>) -> Self {
        Self { fault: self.fault, source: self.source.context(message.into()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.source)
    }
}

impl std::error::Error for Error {}

/// Classifies the error of any `Result`.
pub trait OrFault<T> {
    /// Gives the error a class and a message in front.
    fn or_fault(self, fault: Fault, message: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrFault<T> for std::result::Result<T, E> {
    fn or_fault(self, fault: Fault, message: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|e| Error { fault, source: e.into().context(message()) })
    }
}

/// Returns early with an [`Error`]: `fail!(Fault::Input, "{} of {}", got, expected)`.
#[macro_export]
macro_rules! fail {
    ($fault:expr, $($message:tt)+) => {
        return Err($crate::error::Error::new($fault, format!($($message)+)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_distinct() {
        let mut codes: Vec<u8> = Fault::TABLE.iter().map(|(f, ..)| f.exit_code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Fault::TABLE.len());
    }

    #[test]
    fn context_is_printed_in_front_and_keeps_the_fault() {
        let e = Error::new(Fault::Input, "seed is all zero").context("c1.json");
        assert_eq!(e.to_string(), "c1.json: seed is all zero");
        assert_eq!(e.fault(), Fault::Input);
    }
}
