//! What bad input gets: a clear line, never a crash.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::folder::{c1, Folder};

#[test]
fn an_empty_folder_and_what_is_no_folder_are_refused() {
    let folder = Folder::new(0);
    folder.run("").fails(3, "no C1 files under in");
    assert_eq!(folder.names(""), ["in"], "no output folder for nothing");
    folder.put("x.json", 1);
    let batch = |input: &str| folder.bare(&format!("batch {input} -o out"));
    let refused = |input: &str, part: &str| crate::common::finish(batch(input), b"").fails(3, part);
    refused("in/x.json", "in/x.json: expected a folder, got a regular file; one file is proved with `cuzk prove`");
    refused("nowhere", "nowhere: cannot be read: No such file");
    refused("/dev/null", "expected a folder, got a device");
}

#[test]
fn an_output_folder_that_cannot_be_written_is_refused_before_any_work() {
    let folder = Folder::new(1);
    folder.place.write("file", b"");
    for out in ["/proc/cuzk", "/sys/cuzk", "file", "file/below"] {
        let run = folder.run(&format!("-o {out}"));
        run.fails(7, &format!("{out}: the folder cannot be created"));
        assert!(!run.stderr.contains("started"), "{}", run.stderr);
    }
    // It is there, and no file can be made in it.
    folder.run("-o /proc/self").fails(7, "/proc/self");
}

#[test]
fn links_pipes_and_folders_are_followed_left_out_or_named() {
    let folder = Folder::new(1);
    let at = |name: &str| folder.path("in").join(name);
    symlink("loop.json", at("loop.json")).unwrap();
    symlink("..", at("above")).unwrap();
    symlink("0.json", at("link.json")).unwrap();
    symlink("nothing", at("dangling.json")).unwrap();
    fs::create_dir(at("folder.json")).unwrap();
    symlink(".", at("folder.json/self")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe.json")).status().unwrap().success());
    fs::write(at(".hidden.json"), b"").unwrap();
    let run = folder.run("");
    run.fails(8, "1 of 3 files failed: dangling.json");
    for part in [
        "in/loop.json: a symbolic link that leads to itself; left out",
        "in/above: leads back to a folder that this one lies in; not followed",
        "in/folder.json/self: leads to a folder that was visited by another name; not followed",
        "in/pipe.json: a pipe; left out",
        "hidden files and folders: 1",
        "dangling.json: a symbolic link to nothing",
    ] {
        assert!(run.stderr.contains(part), "expected {part:?} in:\n{}", run.stderr);
    }
    assert_eq!(run.text(), "out/0.proof.json\nout/link.proof.json\n");
    assert!(run.stderr.contains("(3 of 3 files)") && !run.stderr.contains("of 2 files)"), "{}", run.stderr);
}

#[test]
fn names_with_newlines_or_not_in_utf8_are_proved_and_shown_on_one_line() {
    let folder = Folder::new(0);
    let names: [&[u8]; 3] = [b"a\nb.json", b"c\xff\xfe.json", b"\x1b[31m%20.json"];
    for (seed, name) in (1..).zip(names) {
        fs::write(folder.path("in").join(OsStr::from_bytes(name)), c1(seed)).unwrap();
    }
    let expected = "out/\\u{1b}[31m%20.proof.json\nout/a\\nb.proof.json\nout/c\\xff\\xfe.proof.json\n";
    let first = folder.run("");
    assert_eq!(first.ok(), expected);
    assert!(!first.stderr.contains('\u{1b}'), "{:?}", first.stderr);
    for name in ["a\nb", "\u{1b}[31m%20"] {
        assert!(folder.path("out").join(format!("{name}.proof.json")).is_file(), "{name:?}");
    }
    assert!(folder.path("out").join(OsStr::from_bytes(b"c\xff\xfe.proof.json")).is_file());
    assert_eq!(folder.run("--device simulator:30").ok(), expected);
    assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn files_that_are_no_c1_say_what_they_are() {
    let folder = Folder::new(1);
    let bad: [(&str, &[u8]); 4] =
        [("empty.json", b""), ("text.json", b"<html>"), ("half.json", &c1(1)[..5000]), ("zero.bin", &[0; 4096])];
    for (name, content) in bad {
        fs::write(folder.path("in").join(name), content).unwrap();
    }
    let run = folder.run("");
    run.fails(8, "4 of 5 files failed: empty.json, half.json, text.json, zero.bin");
    assert_eq!(run.text(), "out/0.proof.json\n");
}

/// The command without root's privilege to read whatever there is.
fn bound_by_modes(command: &Command) -> Command {
    let mut bound = Command::new("setpriv");
    bound.args(["--bounding-set=-dac_override,-dac_read_search", "--"]);
    bound.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        bound.current_dir(folder);
    }
    bound
}

/// The command, such that it cannot read `closed`; `None` where that cannot be had here.
fn shut_out(command: Command, closed: &Path) -> Option<Command> {
    if fs::File::open(closed).is_err() {
        return Some(command);
    }
    let probe = |program: &str| {
        let mut test = Command::new(program);
        test.arg(closed).current_dir("/");
        bound_by_modes(&test).output()
    };
    // It runs, and it cannot read: a probe that could not start at all shows nothing.
    let works =
        probe("true").is_ok_and(|ran| ran.status.success()) && probe("cat").is_ok_and(|ran| !ran.status.success());
    works.then(|| bound_by_modes(&command))
}

#[test]
fn what_may_not_be_read_is_named_and_the_rest_is_proved() {
    let folder = Folder::new(2);
    folder.put("closed/x.json", 103);
    let closed = ["in/1.json", "in/closed"].map(|name| folder.path(name));
    let mode =
        |mode| closed.iter().for_each(|path| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap());
    mode(0o000);
    let run = shut_out(folder.command(""), &closed[0]).map(|command| crate::common::finish(command, b""));
    mode(0o700);
    let Some(run) = run else {
        return eprintln!("skipped: this user reads files of mode 000, and setpriv cannot take that away");
    };
    run.fails(8, "2 of 3 files failed");
    for part in ["1.json: cannot be read: Permission denied", "closed: the folder cannot be read: Permission denied"] {
        assert!(run.stderr.contains(part), "expected {part:?} in:\n{}", run.stderr);
    }
    assert_eq!(run.text(), "out/0.proof.json\n");
}
