//! `cuzk`: parse, run, print one error chain, map it to an exit code. Everything else is in the library.

use std::process::ExitCode;

use cuzk::bench::Counting;
use cuzk::cli::{self, Args, Environment, Options, Terminal};

/// The system's allocator; it counts when `cuzk bench` asks it to.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let args = match <Args as clap::Parser>::try_parse() {
        Ok(args) => args,
        Err(answer) => {
            // Help, version or a usage error; a closed pipe is no reason to fail once more.
            let _ = answer.print();
            return ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2));
        }
    };
    let environment = Environment::read();
    let terminal = Terminal::new(args.quiet, environment.no_color);
    environment.warn(&terminal);
    let work = || Options::new(args, &environment).and_then(|options| cli::run(options, &terminal));
    match cli::guarded(work) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(error.fault().exit_code())
        }
    }
}
