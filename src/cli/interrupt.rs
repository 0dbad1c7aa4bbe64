//! Ctrl-C and SIGTERM: remove what is half-written, say so, exit.

use std::process;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Terminal;
use crate::error::{Error, Fault, OrFault, Result};
use crate::pipeline::output;

/// Starts the thread that waits for a signal. The work needs no cooperation: results are published in one step.
pub fn install(terminal: Terminal) -> Result<()> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM]).or_fault(Fault::Internal, || "installing the signal handler".into())?;
    let wait = move || {
        if signals.forever().next().is_some() {
            output::abandon(|| {
                terminal.error(&Error::new(Fault::Interrupted, "interrupted; no proof was written"));
                process::exit(Fault::Interrupted.exit_code().into());
            });
        }
    };
    let thread = thread::Builder::new().name("signals".into()).spawn(wait);
    thread.map(drop).or_fault(Fault::Internal, || "starting the signal thread".into())
}
