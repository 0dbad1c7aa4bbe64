//! What is no regular file where one is expected: refused at once, with a line that names it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::common::{dev_params, finish_soon, Finished};
use crate::folder::Folder;

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A folder with one C1 file and an empty output folder.
fn folder() -> Folder {
    let folder = Folder::new(1);
    fs::create_dir(folder.path("out")).unwrap();
    folder
}

/// Asserts that nothing was waited for.
#[track_caller]
fn refused(run: &Finished, code: i32, place: &str) {
    run.fails(code, place);
    run.fails(code, "expected a regular file, got a pipe");
}

#[test]
fn a_pipe_as_a_journal_a_lock_or_a_proof_is_refused() {
    for name in ["cuzk-journal.1-of-1.jsonl", "cuzk-journal.2-of-3.jsonl", "cuzk-lock.1-of-1", "cuzk-lock.2-of-3"] {
        let folder = folder();
        pipe(&folder.path("out").join(name));
        refused(&finish_soon(folder.command("")), 7, name);
        refused(&finish_soon(folder.command("--wait")), 7, name);
        if name.contains("journal") {
            refused(&finish_soon(folder.place.command(["report", "out"])), 7, name);
        }
    }
    let folder = folder();
    pipe(&folder.path("out/0.proof.json"));
    let run = finish_soon(folder.command(""));
    run.fails(8, "1 of 1 files failed: 0.json");
    run.fails(8, "out/0.proof.json: expected");
    run.fails(8, "got a pipe");
}

#[test]
fn a_link_to_nothing_as_a_lock_is_refused() {
    let folder = folder();
    symlink("nothing", folder.path("out/cuzk-lock.1-of-1")).unwrap();
    for more in ["", "--wait"] {
        let run = finish_soon(folder.command(more));
        run.fails(7, "out/cuzk-lock.1-of-1 is a symbolic link to nothing (nothing); remove it");
    }
}

#[test]
fn a_lock_of_the_future_is_named_with_its_holder_and_what_to_do() {
    let folder = folder();
    let lock = folder.path("out/cuzk-lock.1-of-1");
    let holder = r#"{"run":"a","host":"elsewhere","pid":77,"started":1,"boot":"b","pid_namespace":"n"}"#;
    fs::write(&lock, holder).unwrap();
    let hour = Duration::from_secs(3600);
    fs::File::options().write(true).open(&lock).unwrap().set_modified(SystemTime::now() + hour).unwrap();
    let run = finish_soon(folder.command(""));
    for part in ["out/cuzk-lock.1-of-1: ", "process 77 on elsewhere", "minutes in the future", "--wait finds out"] {
        run.fails(7, part);
    }
}

#[test]
fn pipes_as_parameters_are_refused() {
    for extension in ["params", "vk"] {
        let folder = folder();
        let params = folder.path("params");
        fs::create_dir(&params).unwrap();
        let mut name = String::new();
        for entry in fs::read_dir(dev_params()).unwrap() {
            let path = entry.unwrap().path();
            let own = params.join(path.file_name().unwrap());
            if path.extension().is_some_and(|found| found == extension) {
                name = path.file_name().unwrap().to_str().unwrap().to_owned();
                pipe(&own);
            } else {
                symlink(path, own).unwrap();
            }
        }
        let run = |line: &str| finish_soon(folder.place.command(line.split(' ')));
        let common = "--dev-params --params params";
        refused(&run(&format!("prove in/0.json --device simulator {common}")), 4, &name);
        refused(&run(&format!("batch in -o out --device simulator {common}")), 8, &name);
        run(&format!("params check {common}")).fails(4, "wrong");
        for line in ["params list", "inspect in/0.json"] {
            let run = run(&format!("{line} {common}"));
            assert!(run.ok().contains("got a pipe"), "{line}: {}", run.text());
        }
    }
}

#[test]
fn a_pipe_where_digests_are_remembered_is_passed_over() {
    let folder = folder();
    fs::create_dir_all(folder.path("cache/cuzk")).unwrap();
    pipe(&folder.path("cache/cuzk/parameter-digests.json"));
    let mut command = folder.command("");
    command.env("XDG_CACHE_HOME", folder.path("cache"));
    finish_soon(command).ok();
}

#[test]
fn a_named_pipe_is_no_c1_file_and_what_the_shell_hands_over_is() {
    let folder = folder();
    pipe(&folder.path("pipe"));
    let run = |line: &str| finish_soon(folder.bare(line));
    refused(&run("prove pipe -o p.json"), 3, "pipe: ");
    refused(&run("inspect pipe"), 3, "pipe: ");
    refused(&run("verify pipe --c1 in/0.json"), 3, "pipe: ");
    let shell = |line: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", line, env!("CARGO_BIN_EXE_cuzk")]).current_dir(folder.path("in"));
        finish_soon(command)
    };
    for line in [
        "$0 inspect <(cat 0.json)",
        "cat 0.json | $0 inspect /dev/stdin",
        "cat 0.json | $0 inspect -",
        "$0 inspect - <0.json",
    ] {
        assert!(shell(line).ok().contains("StackedDrg2KiBV1_1"), "{line}");
    }
}

#[test]
fn what_has_no_name_of_its_own_is_proved_to_standard_output() {
    let folder = folder();
    let cuzk = folder.bare("prove --device simulator");
    let words = cuzk.get_args().map(|word| format!("'{}'", word.to_str().unwrap()));
    let prove = format!("'{}' {}", cuzk.get_program().to_str().unwrap(), words.collect::<Vec<_>>().join(" "));
    let shell = |line: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(folder.path("in"));
        for (name, value) in cuzk.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        finish_soon(command)
    };
    for line in [
        format!("{prove} <(cat 0.json)"),
        format!("cat 0.json | {prove} /dev/stdin"),
        format!("{prove} /dev/stdin <0.json"),
        format!("ln -s /dev/stdin link.json; {prove} link.json <0.json; rm link.json"),
    ] {
        fs::write(folder.path("p.json"), &shell(&line).stdout).unwrap();
        folder.verify("p.json", "in/0.json");
        assert_eq!(folder.names("in"), ["0.json"], "{line}");
    }
    shell(&format!("{prove} <(cat 0.json) -o named.json")).ok();
    folder.verify("in/named.json", "in/0.json");
}

#[test]
fn a_pipe_is_no_report() {
    let folder = folder();
    pipe(&folder.path("pipe"));
    for flag in ["--report", "--trace", "--timeline", "--metrics"] {
        finish_soon(folder.command(&format!("{flag} pipe"))).fails(2, "pipe: a pipe");
    }
}
