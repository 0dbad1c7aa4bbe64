//! What `cuzk` says without proving anything: help, usage errors, completions, manual pages, closed pipes.

mod common;

use std::process::Stdio;

use common::{finish, repository, Place};
use cuzk::error::Fault;

#[test]
fn help_lists_subcommands_exit_codes_and_environment() {
    let place = Place::new();
    let help = place.run("--help");
    let text = help.ok();
    for name in
        ["prove", "verify", "inspect", "sample", "constraints", "params", "devices", "bench", "completions", "man"]
    {
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{name} not in:\n{text}");
    }
    for (_, code, meaning) in Fault::TABLE {
        assert!(text.contains(&format!("{code:>3}  {meaning}")), "{text}");
    }
    assert!(text.contains("FIL_PROOFS_PARAMETER_CACHE"));
    assert!(help.stderr.is_empty());
    let help = place.run("prove --help");
    let (own, global) = help.ok().split_once("\nGlobal options:\n").expect("a heading of their own");
    assert!(own.contains("--dev-params") && !own.contains("--quiet") && global.contains("--threads"), "{own}");
    let help = place.run("params generate --help");
    assert!(help.ok().contains("2KiB, 8MiB or 512MiB") && !help.text().contains("32GiB"), "{}", help.text());
    assert!(place.run("--version").ok().starts_with("cuzk "));
}

#[test]
fn the_readme_has_the_exit_codes_and_the_commands_that_ci_runs() {
    let readme = std::fs::read_to_string(repository("README.md")).unwrap();
    for (_, code, meaning) in Fault::TABLE {
        assert!(readme.contains(&format!("| {code} | {meaning} |")), "{code} {meaning}");
    }
    for (mark, command) in
        [("prove", "cargo run --release -- prove samples/2KiB.json --dev-params"), ("test", "cargo test --release")]
    {
        assert!(readme.contains(&format!("<!-- ci:{mark} -->\n```sh\n{command}\n```\n")), "{command}");
    }
}

#[test]
fn a_reader_who_has_enough_is_no_error_and_a_full_disk_is_one() {
    let place = Place::new();
    let shell = |line: &str| {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", line, env!("CARGO_BIN_EXE_cuzk")]).current_dir(place.path(""));
        finish(command, b"")
    };
    // A sample is more than a pipe holds. It ends as other programs do: 128 and the number of SIGPIPE.
    let cut = shell("$0 sample --sector-size 2KiB -o - | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}");
    assert_eq!((cut.code, cut.stderr.as_str()), (Some(141), ""));
    for line in ["--help", "prove --help", "--version"] {
        shell(&format!("$0 {line} >/dev/full")).fails(7, "error: standard output: No space left");
        let cut = shell(&format!("$0 {line} | true; exit ${{PIPESTATUS[0]}}"));
        assert_eq!((cut.code, cut.stderr.as_str()), (Some(0), ""), "{line}");
    }
    shell("$0 prov >/dev/full").fails(2, "'prove'");
}

#[test]
fn usage_errors_exit_with_2_and_suggest() {
    let place = Place::new();
    place.run("").fails(2, "Usage");
    place.run("prov x.json").fails(2, "'prove'");
    place.run("prove x.json --dev-param").fails(2, "--dev-params");
    place.run("prove x.json --registered-proof StackedDrg32GibV1_1").fails(2, "StackedDrg32GiBV1_1");
    place.run("prove x.json --miner f3abc").fails(2, "t01000");
    place.run("prove x.json --threads 0").fails(2, "--threads");
    place.run("prove x.json --threads 1000000").fails(2, "--threads");
    // A flag without effect would be believed.
    place.run("verify p --c1 x --recheck").fails(2, "--recheck");
    place.run("inspect x --recheck").fails(2, "--recheck");
    place.run("sample -o x").fails(2, "--sector-size");
    place.run("sample -o x --sector-size 3KiB").fails(2, "2KiB");
    place.run("verify - --c1 -").fails(2, "not both");
    place.run("constraints").fails(2, "--sector-size");
    place.run("constraints x --sector-size 2KiB").fails(2, "cannot be used with");
    place.run("man prov").fails(2, "prove");
}

#[test]
fn completions_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&format!("completions {shell}"));
        assert!(script.ok().contains("dev-params"), "{shell}");
    }
    place.run("completions tcsh").fails(2, "possible values");
}

#[test]
fn manual_pages_for_the_command_and_its_subcommands() {
    let place = Place::new();
    assert!(place.run("man").ok().contains(".TH cuzk 1"));
    let page = place.run("man params generate");
    assert!(page.ok().contains(".TH cuzk-params-generate 1"), "{}", page.text());
    assert!(page.text().contains("sector\\-size"));
    for part in
        [".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nsuccess\n", ".SH ENVIRONMENT\n.TP\n\\fBFIL_PROOFS_PARAMETER_CACHE\\fR\n"]
    {
        assert!(page.text().contains(part), "{part:?} in {}", page.text());
    }
    let main = place.run("man");
    assert!(!main.ok().contains("EXTRA") && main.text().contains("EXIT STATUS"), "{}", main.text());
}

#[test]
fn a_reader_that_closes_the_pipe_early_is_no_error() {
    let place = Place::new();
    let mut child =
        place.command(["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
}

#[test]
fn variables_that_nothing_reads_draw_a_warning() {
    let place = Place::new();
    let mut command = place.command(["man"]);
    command.env("CUZK_PARAMS", "/x");
    let finished = finish(command, b"");
    finished.ok();
    assert!(finished.stderr.contains("warning: nothing reads the environment variable CUZK_PARAMS"));
    let mut command = place.command(["man"]);
    command.env("CUZK_NVCC", "/x").env("CUZK_CUDA_ARCH", "8.0");
    let finished = finish(command, b"");
    finished.ok();
    assert!(finished.stderr.is_empty(), "what build.rs reads: {}", finished.stderr);
    assert!(place.run("man").stderr.is_empty());
}
