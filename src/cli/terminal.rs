//! Where words go: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal};

use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;

use super::{stdout, Environment};
use crate::error::{Error, Fault, OrFault, Result};
use crate::files;
use crate::report::{screen, Mode, Progress};

/// Standard error as the user sees it.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    quiet: bool,
    /// A terminal that knows escape codes.
    capable: bool,
    colour: bool,
}

impl Terminal {
    /// Bars only where standard error is a terminal and TERM is not `dumb`; colour only there, and if NO_COLOR is not set.
    pub fn new(quiet: bool, environment: &Environment) -> Self {
        let capable = !environment.dumb && io::stderr().is_terminal();
        Self { quiet, capable, colour: capable && !environment.no_color }
    }

    /// Whether notes, bars and tables are left out.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Something good to know; not with `--quiet`.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            screen::say(&format!("{message}\n"));
        }
    }

    /// Lines that stand for themselves, such as a table; not with `--quiet`.
    pub fn block(&self, text: &str) {
        if !self.quiet {
            screen::say(text);
        }
    }

    /// Text that somebody needs and that finds no other place; also with `--quiet`.
    pub fn requested(&self, text: &str) {
        screen::say(text);
    }

    /// Bars on a terminal, plain lines elsewhere, warnings alone with `--quiet`.
    pub fn progress(&self) -> Progress {
        match (self.quiet, self.capable) {
            (true, _) => Progress::quiet(),
            (false, true) => Progress::bars(self.colour),
            (false, false) => Progress::lines(),
        }
    }

    /// How a run of the pipeline shows itself.
    pub fn live_mode(&self) -> Mode {
        match (self.quiet, self.capable) {
            (true, _) => Mode::Silent,
            (false, true) => Mode::Bars { colour: self.colour },
            (false, false) => Mode::Lines,
        }
    }

    /// Something the user should act on.
    pub fn warn(&self, message: &str) {
        screen::say(&format!("{} {message}\n", self.paint("33", "warning:")));
    }

    /// The warning of every command that proves with development parameters; also with `--quiet`.
    pub fn warn_of_development(&self) {
        self.warn("development parameters: what is proved with them proves nothing");
    }

    /// The error chain that ended the run.
    pub fn error(&self, error: &Error) {
        screen::close();
        screen::say(&format!("{} {error}\n", self.paint("1;31", "error:")));
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Prints where a result is that is complete by now.
pub fn print_place(place: &str) -> Result<()> {
    print(&format!("{place}\n"))
        .map_err(|e| e.context(format!("{place} is complete, and its name could not be printed")))
}

/// Prints text for a reader. One who has read enough (`| head -1`) closes the pipe: that is success.
pub fn print(text: &str) -> Result<()> {
    match stdout::write(text.as_bytes()) {
        Err(e) if stdout::is_unread(&e) => Ok(()),
        other => other.or_fault(Fault::Output, || "standard output".into()),
    }
}

/// Writes a file's content to standard output; here a closed pipe loses the result, and is an error.
pub fn deliver(bytes: &[u8]) -> Result<()> {
    files::stream("standard output", || stdout::write(bytes)).or_fault(Fault::Output, || "standard output".into())
}

/// The same for what costs no work to have again: a reader who has had enough of it ends this process as he ends others, by
/// SIGPIPE and without a word.
pub fn hand_over(bytes: &[u8]) -> Result<()> {
    match files::stream("standard output", || stdout::write(bytes)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Where the signal does not end it, the error does.
            let _ = emulate_default_handler(SIGPIPE);
            Err(error).or_fault(Fault::Output, || "standard output".into())
        }
        other => other.or_fault(Fault::Output, || "standard output".into()),
    }
}
