//! Files that fail: alone, with their reason; and what `--fail-fast`, `--retry` and `--deadline` make of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::common::running::Running;
use crate::common::{finish, Finished};
use crate::folder::{c1, json, Folder};

/// What the report says of a file.
fn record(folder: &Folder, name: &str) -> Value {
    let report = json(&folder.path("r.json"));
    let records = report["records"].as_array().expect("records");
    records.iter().find(|record| record["name"] == name).unwrap_or_else(|| panic!("{name} in {report}")).clone()
}

#[test]
fn a_bad_file_fails_alone_and_the_list_says_why() {
    let folder = Folder::new(3);
    fs::write(folder.path("in/1.json"), b"<html>").unwrap();
    // A C1 output whose proof is of another sector.
    let changed = String::from_utf8(c1(7)).unwrap().replacen("\"replica_id\":[", "\"replica_id\":[9,", 1);
    fs::write(folder.path("in/3.json"), changed).unwrap();
    for _ in 0..2 {
        let run = folder.run("");
        run.fails(8, "2 of 4 files failed: 1.json, 3.json");
        assert_eq!(run.text(), "out/0.proof.json\nout/2.proof.json\n");
        let list = run.stderr.split("2 files failed:\n").nth(1).expect("the list");
        assert!(list.contains("  1.json: ") && list.contains("  3.json: "), "{list}");
        assert!(list.contains("(input)"), "{list}");
    }
    let failed: Vec<_> = folder.journal().into_iter().filter(|line| line["outcome"] == "failed").collect();
    assert!(failed.iter().all(|line| line["fault"] == "input" && line["c1"].is_string()), "{failed:?}");
    assert!(folder.proved().values().all(|times| *times == 1));
    // Mended, it is proved, and no report complains any more.
    folder.put("1.json", 101);
    fs::remove_file(folder.path("in/3.json")).unwrap();
    folder.run("").ok();
    folder.verify("out/1.proof.json", "in/1.json");
}

#[test]
fn without_parameters_for_any_file_nothing_is_begun() {
    let folder = Folder::new(3);
    for (params, what) in [("nowhere", "no such folder"), ("in", "no .params files in this folder")] {
        let run = folder.place.run(&format!("batch in -o out --params {params}"));
        run.fails(4, &format!("{params} (--params): {what}; fetch the official parameters with `lotus"));
        run.fails(4, "and pass --dev-params");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert_eq!(folder.names(""), ["in"]);
    }
    // Who cannot look does not say that there is nothing.
    let run = folder.place.run("batch in -o out --params in/0.json");
    run.fails(4, "in/0.json (--params): the folder of parameters cannot be read");
    run.fails(4, "Not a directory");
    assert_eq!(folder.names(""), ["in"]);
}

#[test]
fn a_reason_that_files_share_is_said_once_while_they_fail_and_once_in_the_list() {
    let folder = Folder::new(3);
    // Parameters, and none that these files need.
    fs::create_dir(folder.path("params")).unwrap();
    fs::write(folder.path("params/other.params"), b"").unwrap();
    let run = folder.place.run("batch in -o out --params params");
    run.fails(8, "3 of 3 files failed");
    assert_eq!(run.stderr.matches("no such file").count(), 2, "{}", run.stderr);
    run.fails(8, "1.json: failed: for the same reason as 0.json");
    run.fails(8, "\n  0.json, 1.json, 2.json: ");
}

#[test]
fn fail_fast_stops_at_the_first_failure() {
    let folder = Folder::new(6);
    fs::write(folder.path("in/1.json"), b"<html>").unwrap();
    let run = folder.run("--fail-fast --device simulator:0.2 --report r.json");
    assert_eq!(run.code, Some(8), "{}", run.stderr);
    assert!(run.stderr.contains("1.json: "), "{}", run.stderr);
    run.fails(8, "error: stopped at 1.json, which failed; ");
    run.fails(8, "files are left: mend it, move it away, or leave out --fail-fast");
    let counts = json(&folder.path("r.json"))["files"].clone();
    assert_eq!((&counts["total"], &counts["failed"]), (&6.into(), &1.into()), "{counts}");
    assert!(counts["unfinished"].as_u64().unwrap() >= 3, "{counts}");
    folder.assert_clean();
}

#[test]
fn a_failure_that_may_pass_is_tried_again_and_others_are_not() {
    let folder = Folder::new(3);
    fs::write(folder.path("in/1.json"), b"<html>").unwrap();
    // Where its proof belongs is something that must not be replaced.
    fs::create_dir_all(folder.path("out/0.proof.json")).unwrap();
    let run = folder.run("--retry 2 --report r.json");
    run.fails(8, "2 of 3 files failed: 0.json, 1.json");
    assert_eq!(record(&folder, "0.json")["attempts"], 3);
    assert_eq!(record(&folder, "1.json")["attempts"], 1);
    assert_eq!(folder.journal().len(), 3);
}

#[test]
fn what_succeeds_when_tried_again_has_succeeded() {
    let folder = Folder::new(3);
    fs::create_dir_all(folder.path("out/0.proof.json")).unwrap();
    let mut command = folder.command("--retry 1 --device simulator:0.5 --report r.json");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().starts_with("1.json: proved")));
    fs::remove_dir(folder.path("out/0.proof.json")).unwrap();
    let rest: Vec<_> = lines.map(|line| line.unwrap()).collect();
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{rest:?}");
    let record = record(&folder, "0.json");
    assert_eq!((&record["attempts"], &record["outcome"]), (&2.into(), &"proved".into()));
    let listed = String::from_utf8(run.stdout).unwrap();
    assert_eq!(listed, "out/0.proof.json\nout/1.proof.json\nout/2.proof.json\n");
    folder.verify("out/0.proof.json", "in/0.json");
}

/// A run whose proof finds a folder in its place when it is made; `then` comes after that.
fn blocked(folder: &Folder, retry: u32, then: impl FnOnce(&Running)) -> (Option<i32>, String) {
    let place = folder.path("out/0.proof.json");
    let mut run = Running::start(folder.command(&format!("--retry {retry} --device simulator:1 --report r.json")));
    run.wait_for("0.json: started");
    fs::create_dir(place).unwrap();
    run.wait_for("partition 0 through");
    then(&run);
    run.end()
}

#[test]
fn a_proof_that_cannot_be_written_is_kept_and_its_writing_alone_tried_again() {
    let folder = Folder::new(1);
    let (code, seen) = blocked(&folder, 6, |_| {
        sleep(Duration::from_millis(300));
        fs::remove_dir(folder.path("out/0.proof.json")).unwrap();
    });
    assert_eq!(code, Some(0), "{seen}");
    assert!(record(&folder, "0.json")["attempts"].as_u64().unwrap() > 1);
    assert_eq!(json(&folder.path("r.json"))["partitions"]["through_devices"], 1);
    folder.verify("out/0.proof.json", "in/0.json");

    let folder = Folder::new(1);
    let (code, seen) = blocked(&folder, 2, |_| ());
    assert_eq!(code, Some(8), "{seen}");
    assert!(seen.contains("0.json: failed: proved, and not written; attempts: 3: "), "{seen}");
    assert_eq!(record(&folder, "0.json")["attempts"], 3);
    assert_eq!(json(&folder.path("r.json"))["partitions"]["through_devices"], 1);
}

#[test]
fn a_quiet_batch_says_why_files_failed() {
    let folder = Folder::new(1);
    std::fs::write(folder.path("in/bad.json"), b"<html>").unwrap();
    std::fs::write(folder.path("in/short.json"), &crate::folder::c1(100)[..1000]).unwrap();
    let run = folder.run("-q");
    run.fails(8, "error: 2 of 3 files failed: bad.json, short.json");
    let lines: Vec<_> = run.stderr.lines().filter(|line| !line.starts_with("warning: ")).collect();
    assert_eq!((lines.len(), lines[0]), (4, "2 files failed:"), "{}", run.stderr);
    assert!(lines[1].starts_with("  bad.json: ") && lines[1].ends_with(" (input)"), "{}", run.stderr);
    assert!(lines[2].starts_with("  short.json: ") && lines[2].ends_with(" (input)"), "{}", run.stderr);
}

#[test]
fn a_signal_ends_the_attempts_to_write() {
    let folder = Folder::new(1);
    let (code, seen) = blocked(&folder, 1_000_000, |run| run.signal("-TERM"));
    assert_eq!(code, Some(8), "{seen}");
    assert!(seen.contains("0.json: failed: proved, and not written; attempts: "), "{seen}");
}

#[test]
fn a_file_that_takes_too_long_fails_with_its_times() {
    let folder = Folder::new(1);
    folder.run("--deadline 0.001s").fails(8, "the deadline of 1");
    assert!(folder.proofs().is_empty());
    folder.run("--deadline 10m").ok();
}

#[test]
fn a_file_that_waits_for_the_device_does_not_miss_its_deadline() {
    let folder = Folder::new(3);
    // The last one waits for three seconds.
    assert_eq!(folder.run("--device simulator:1.5 --deadline 2.8s").ok().lines().count(), 3);
}

#[test]
fn a_proof_that_is_late_is_not_written() {
    let folder = Folder::new(2);
    // Of one partition each: after its work there is no other piece of it before which the clock would be looked at.
    let run = folder.run("--device simulator:1 --deadline 0.5");
    run.fails(8, "2 of 2 files failed");
    for name in ["0.json", "1.json"] {
        run.fails(8, &format!("{name}: failed: the deadline of 500 ms passed before its proof was assembled: 1.0"));
    }
    assert!(folder.proofs().is_empty());
    assert_eq!(folder.run("--device simulator:0.1 --deadline 60").ok().lines().count(), 2);
}

#[test]
fn a_folder_where_a_proof_belongs_fails_that_file_alone() {
    // There before, or made for the proofs of other files: `a` has no extension that could tell them apart.
    for other in ["b.json", "a.proof.json/b.json"] {
        for round in 0..2 {
            let folder = Folder::new(0);
            folder.put("a", 100);
            folder.put(other, 101);
            if round == 1 || other == "b.json" {
                fs::create_dir_all(folder.path("out/a.proof.json")).unwrap();
            }
            for _ in 0..2 {
                let run = folder.run("");
                run.fails(8, "1 of 2 files failed: a");
                run.fails(8, "out/a.proof.json: expected no more than an earlier proof of this file, got ");
                run.fails(8, "rename the C1 file");
                assert_eq!(run.text(), format!("out/{}\n", other.replace("b.json", "b.proof.json")));
            }
        }
    }
}

/// Runs a batch whose shell first does `setting`.
fn run_after(folder: &Folder, setting: &str, more: &str) -> Finished {
    let batch = folder.command(more);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{setting}; exec \"$@\""), "sh"]).arg(batch.get_program()).args(batch.get_args());
    for (name, value) in batch.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(batch.get_current_dir().expect("the place"));
    finish(command, b"")
}

#[test]
fn a_journal_that_cannot_grow_fails_files_and_the_next_run_finds_their_proofs() {
    let folder = Folder::new(4);
    // No file may be larger than 2 KiB: the journal's second line is cut off.
    let full = run_after(&folder, "ulimit -f 4", "");
    full.fails(8, "File too large");
    full.fails(8, "no entry can be appended to the journal");
    let before = folder.proofs();
    assert_eq!((before.len(), folder.proved().len()), (4, 1));
    // The proofs are there, and verify: they are recorded, not made again.
    let run = folder.run("--device simulator:30");
    assert_eq!(run.ok().lines().count(), 4);
    assert_eq!(folder.proofs(), before);
    assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1; 4]);
    folder.assert_clean();
}

/// A small file system of its own, until dropped.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    /// None where mounting is not permitted.
    fn mount(path: &'a Path, size: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "cuzk-test"]).arg(path).output();
        mounted.is_ok_and(|mount| mount.status.success()).then(|| Self(path))
    }

    fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.0).status().unwrap().success());
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        // What is not unmounted stays in a temporary folder.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_fails_files_and_a_run_with_room_does_the_rest() {
    let folder = Folder::new(12);
    let out = folder.path("out");
    let Some(disk) = Small::mount(&out, "36k") else {
        eprintln!("not tested: no file system may be mounted here");
        return;
    };
    let full = folder.run("");
    full.fails(8, "No space left on device");
    let before = folder.proofs();
    assert!((1..12).contains(&before.len()), "{before:?}\n{}", full.stderr);
    disk.resize("1m");
    assert_eq!(folder.run("").ok().lines().count(), 12);
    assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1; 12]);
    let kept = before.iter().filter(|(name, time)| folder.proofs()[*name] == **time).count();
    assert_eq!(kept, before.len(), "proofs that were there were made again");
    (0..12).for_each(|i| folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json")));
    folder.assert_clean();
}

#[test]
fn a_disk_without_room_for_the_lock_is_refused_before_any_work() {
    let folder = Folder::new(1);
    let out = folder.path("out");
    let Some(_disk) = Small::mount(&out, "4k") else {
        eprintln!("not tested: no file system may be mounted here");
        return;
    };
    fs::write(out.join("ballast"), [0; 4096]).unwrap();
    folder.run("").fails(7, "No space left on device");
    assert_eq!(folder.names("out"), ["ballast"]);
}

#[test]
fn a_sub_folder_that_cannot_be_written_fails_its_files_alone() {
    let folder = Folder::new(1);
    folder.put("sub/1.json", 101);
    fs::create_dir_all(folder.path("out")).unwrap();
    fs::write(folder.path("out/sub"), b"a file").unwrap();
    let run = folder.run("");
    run.fails(8, "1 of 2 files failed: sub/1.json");
    assert_eq!(run.text(), "out/0.proof.json\n");
}

#[test]
fn proofs_have_the_mode_of_any_file() {
    let folder = Folder::new(1);
    run_after(&folder, "umask 027", "").ok();
    let mode = fs::metadata(folder.path("out/0.proof.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
