//! Completion scripts and manual pages, from clap's own description of the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::ENVIRONMENT;
use super::{terminal, Args};
use crate::error::{Error, Fault, OrFault, Result};

/// `cuzk completions SHELL`.
pub fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "cuzk", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
}

/// `cuzk man [COMMAND]...`.
pub fn man(path: &[String]) -> Result<()> {
    let mut command = Args::command();
    command.build();
    let mut command = &command;
    for name in path {
        command = command.find_subcommand(name).ok_or_else(|| {
            let known: Vec<_> = command.get_subcommands().map(|c| c.get_name()).collect();
            Error::new(Fault::Usage, format!("no subcommand {name:?}; there are: {}", known.join(", ")))
        })?;
    }
    // The full name has spaces; a manual page's name has dashes.
    let title = ["cuzk"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    let mut page = Vec::new();
    // What stands under `--help` would be one section of running text; manual pages have sections for it.
    clap_mangen::Man::new(command.clone().name(title).after_help(None))
        .render(&mut page)
        .or_fault(Fault::Internal, || "rendering the manual page".into())?;
    terminal::print(&(String::from_utf8_lossy(&page) + exit_status().as_str() + environment().as_str()))
}

fn exit_status() -> String {
    let codes = Fault::TABLE.iter().map(|(_, code, meaning)| format!(".TP\n\\fB{code}\\fR\n{meaning}\n"));
    format!(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nsuccess\n{}", codes.collect::<String>())
}

fn environment() -> String {
    let variables = ENVIRONMENT.iter().map(|(name, meaning)| format!(".TP\n\\fB{name}\\fR\n{meaning}\n"));
    format!(".SH ENVIRONMENT\n{}", variables.collect::<String>())
}
