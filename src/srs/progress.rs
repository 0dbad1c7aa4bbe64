//! What long work on parameter files tells its caller.

/// One report of long work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// `done` of `total` units of `stage` are done; `total` is 0 where it is not known yet. A file's work begins with a
    /// report of 0.
    Work { stage: Stage, done: u64, total: u64 },
    /// Something the user should know that stops nothing.
    Note(String),
}

/// Long stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading a file for its digest; bytes.
    Hashing,
    /// Checking every point of a file; points.
    Points,
    /// Waiting until another process has made the same parameters; no units.
    Waiting,
    /// Recording the circuit's constraints; no units.
    Recording,
    /// Computing the points and writing them; points.
    Generating,
    /// Converting the points for the CPU's sums, and writing them; points.
    Preparing,
}

impl Stage {
    /// What a progress bar is labelled with.
    pub fn label(self) -> &'static str {
        match self {
            Self::Hashing => "hashing parameters",
            Self::Points => "checking points",
            Self::Waiting => "waiting for another process that generates the same parameters",
            Self::Recording => "recording the circuit for its parameters",
            Self::Generating => "generating parameters",
            Self::Preparing => "preparing parameters",
        }
    }
}

/// Takes reports, a few times a second, possibly from other threads.
pub type Report<'a> = dyn Fn(Progress) + Sync + 'a;

/// The report that goes nowhere.
pub fn silent(_: Progress) {}
