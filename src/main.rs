//! `cuzk`: parse, run, print one error chain, map it to an exit code. Everything else is in the library.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use cuzk::bench::Counting;
use cuzk::cli::{self, Args, Environment, Options, Terminal};
use cuzk::error::{Fault, OrFault, Result};

/// The system's allocator; it counts when `cuzk bench` asks it to.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let environment = Environment::read();
    let args = match <Args as clap::Parser>::try_parse() {
        Ok(args) => args,
        Err(answer) => {
            let code = u8::try_from(answer.exit_code()).unwrap_or(2);
            return ended(print(&answer), code, &Terminal::new(false, &environment));
        }
    };
    let terminal = Terminal::new(args.quiet, &environment);
    environment.warn(&terminal);
    let work = || Options::new(args, &environment).and_then(|options| cli::run(options, &terminal));
    ended(cli::guarded(work), 0, &terminal)
}

/// The exit code: `code`, or that of an error, which is said.
fn ended(result: Result<()>, code: u8, terminal: &Terminal) -> ExitCode {
    match result {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(error.fault().exit_code())
        }
    }
}

/// Prints help, version or a usage error; a closed pipe is no reason to fail (once more).
fn print(answer: &clap::Error) -> Result<()> {
    match answer.print().and_then(|()| io::stdout().flush()) {
        Err(error) if !answer.use_stderr() && error.kind() != ErrorKind::BrokenPipe => {
            Err(error).or_fault(Fault::Output, || "standard output".into())
        }
        _ => Ok(()),
    }
}
