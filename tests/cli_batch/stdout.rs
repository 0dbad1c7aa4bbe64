//! A result that standard output cannot take is an error, and one before the work.

use std::process::Command;

use crate::common::{finish_soon, Finished};
use crate::folder::Folder;

/// Runs a command with standard output as the shell's `redirection` makes it.
fn run(folder: &Folder, redirection: &str, command: &Command) -> Finished {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$@\" {redirection}"), "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(folder.path(""));
    finish_soon(shell)
}

#[test]
fn a_result_without_standard_output_is_an_error_before_the_work() {
    let folder = Folder::new(1);
    folder.run("").ok();
    let prove = "prove in/0.json --device simulator";
    let with_parameters = [
        format!("{prove} -o -"),
        format!("{prove} -o p.json --force --timings json"),
        "inspect in/0.json".into(),
        "params list".into(),
        "params check".into(),
    ];
    let mut commands: Vec<_> = with_parameters.iter().map(|line| folder.bare(line)).collect();
    for line in
        ["report out", "report out --json", "sample --sector-size 2KiB -o -", "devices", "completions bash", "man"]
    {
        commands.push(folder.place.command(line.split(' ')));
    }
    for command in &commands {
        // Closed, and open for reading only.
        for redirection in [">&-", "1</dev/null"] {
            let run = run(&folder, redirection, command);
            run.fails(7, "standard output is closed");
            assert!(!run.stderr.contains("started"), "{command:?}: {}", run.stderr);
            assert!(!run.stderr.contains("panicked") && run.stdout.is_empty(), "{command:?}: {}", run.stderr);
        }
        // It reads all parameters.
        if command.get_args().any(|word| word == "check") {
            continue;
        }
        // Thrown away on purpose, also as some programs do it.
        for redirection in [">/dev/null", "1<>/dev/null"] {
            run(&folder, redirection, command).ok();
        }
    }
    let full = run(&folder, ">/dev/full", &commands[0]);
    full.fails(7, "standard output: No space left");
    let full = run(&folder, ">/dev/full", &folder.bare(&format!("{prove} -o q.json")));
    full.fails(7, "q.json is complete, and its name could not be printed: standard output: No space left");
    folder.verify("q.json", "in/0.json");
}

#[test]
fn what_is_written_to_files_needs_no_standard_output() {
    let folder = Folder::new(1);
    for redirection in [">&-", "1</dev/null"] {
        run(&folder, redirection, &folder.bare("prove in/0.json -o p.json --force --device simulator")).ok();
        run(&folder, redirection, &folder.bare("verify p.json --c1 in/0.json")).ok();
        run(&folder, redirection, &folder.command("")).ok();
    }
    folder.verify("p.json", "in/0.json");
    folder.verify("out/0.proof.json", "in/0.json");
}
