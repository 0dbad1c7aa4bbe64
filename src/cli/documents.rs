//! Completion scripts and manual pages, from clap's own description of the command line.

use clap::CommandFactory;
use clap_complete::Shell;

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
    clap_mangen::Man::new(command.clone().name(title))
        .render(&mut page)
        .or_fault(Fault::Internal, || "rendering the manual page".into())?;
    terminal::print(&String::from_utf8_lossy(&page))
}
