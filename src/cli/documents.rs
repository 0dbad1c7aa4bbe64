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

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all commands below this one, as `cuzk man` takes them.
    fn pages(command: &clap::Command, path: &str) -> Vec<String> {
        let page = |below: &clap::Command| {
            let path = format!("{path} {}", below.get_name()).trim_start().to_owned();
            [vec![path.clone()], pages(below, &path)].concat()
        };
        command.get_subcommands().filter(|below| below.get_name() != "help").flat_map(page).collect()
    }

    #[test]
    fn the_readme_writes_every_page() {
        let readme = include_str!("../../README.md");
        let list = readme.split_once("for page in ").unwrap().1.split_once("; do").unwrap().0;
        // Words of a shell, some of them in quotes, over more than one line.
        let words = list.split('"').enumerate().flat_map(|(i, part)| match i % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect(),
        });
        let mut listed: Vec<String> = words.collect();
        let mut command = Args::command();
        command.build();
        let mut known = pages(&command, "");
        known.push(String::new());
        listed.sort();
        known.sort();
        assert_eq!(listed, known);
    }
}
