//! What a run does with what an earlier one left.

use std::fs;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use crate::common::finish;
use crate::folder::{c1, hash, Folder};

/// Journal of a run over the whole folder.
const JOURNAL: &str = "out/cuzk-journal.1-of-1.jsonl";

/// Two proved files, and the clock moved on, so that a file that is written again shows it.
fn proved() -> Folder {
    let folder = Folder::new(2);
    folder.run("").ok();
    sleep(Duration::from_millis(20));
    folder
}

#[test]
fn a_c1_that_was_replaced_under_its_name_is_proved_anew() {
    let folder = proved();
    let before = folder.proofs();
    folder.put("1.json", 300);
    folder.run("").ok();
    folder.verify("out/1.proof.json", "in/1.json");
    assert_eq!(folder.proofs()["0.proof.json"], before["0.proof.json"]);
    assert_eq!(folder.proved()[&hash(300)], 1);
    // And the first content again: its proof file is no longer there, whatever the journal says.
    folder.put("1.json", 101);
    folder.run("").ok();
    folder.verify("out/1.proof.json", "in/1.json");
    assert_eq!(folder.proved()[&hash(101)], 2);
}

#[test]
fn a_renamed_c1_takes_its_proof_along() {
    let folder = proved();
    fs::rename(folder.path("in/0.json"), folder.path("in/renamed.json")).unwrap();
    let run = folder.run("--device simulator:30");
    assert_eq!(run.ok(), "out/1.proof.json\nout/renamed.proof.json\n");
    folder.verify("out/renamed.proof.json", "in/renamed.json");
}

#[test]
fn a_proof_that_was_damaged_or_removed_is_made_again() {
    let folder = proved();
    fs::write(folder.path("out/0.proof.json"), b"{}").unwrap();
    fs::remove_file(folder.path("out/1.proof.json")).unwrap();
    folder.run("").ok();
    for i in 0..2 {
        folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json"));
        assert_eq!(folder.proved()[&hash(100 + i)], 2);
    }
}

#[test]
fn a_proof_without_its_journal_line_is_verified_and_recorded_and_not_made_again() {
    let folder = proved();
    let before = folder.proofs();
    fs::remove_file(folder.path(JOURNAL)).unwrap();
    let run = folder.run("--device simulator:30");
    assert_eq!(run.ok(), "out/0.proof.json\nout/1.proof.json\n");
    assert_eq!(folder.proofs(), before);
    assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1, 1]);
    folder.run("").ok();
    assert_eq!(folder.journal().len(), 2);
}

#[test]
fn a_proof_of_another_c1_is_no_orphan() {
    let folder = proved();
    fs::remove_file(folder.path(JOURNAL)).unwrap();
    fs::copy(folder.path("out/0.proof.json"), folder.path("out/1.proof.json")).unwrap();
    // One that verifies, and says something else of its sector.
    let document = String::from_utf8(folder.place.read("out/0.proof.json")).unwrap();
    let comm_d = serde_json::from_str::<serde_json::Value>(&document).unwrap()["comm_d"].as_str().unwrap().to_owned();
    let other = document.replace(&comm_d, &"0".repeat(comm_d.len()));
    fs::write(folder.path("out/0.proof.json"), other).unwrap();
    folder.run("").ok();
    (0..2).for_each(|i| folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json")));
}

#[test]
fn a_torn_line_is_passed_over_and_others_are_named() {
    let folder = proved();
    let whole = folder.place.read(JOURNAL);
    // The second file's line, cut at every kind of place.
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [second + 1, second + 9, (second + whole.len()) / 2, whole.len() - 2] {
        fs::write(folder.path(JOURNAL), &whole[..cut]).unwrap();
        let before = folder.proofs();
        let run = folder.run("--device simulator:30");
        assert_eq!(run.ok().lines().count(), 2);
        assert!(!run.stderr.contains("journal"), "{}", run.stderr);
        assert_eq!(folder.proofs(), before, "cut at {cut}");
        assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1, 1], "cut at {cut}");
    }
    let mut journal = fs::File::options().append(true).open(folder.path(JOURNAL)).unwrap();
    journal.write_all(b"not a line\n").unwrap();
    let run = folder.run("");
    run.ok();
    assert!(run.stderr.contains("not an entry"), "{}", run.stderr);
    let report = finish(folder.place.command(["report", "out"]), b"");
    assert!(report.ok().contains("files: 2 proved") && report.stderr.contains("not an entry"), "{}", report.stderr);
}

#[test]
fn one_run_at_a_time_the_second_refuses_or_waits() {
    let folder = Folder::new(4);
    let mut first = folder.command("--device simulator:1").stderr(std::process::Stdio::null()).spawn().unwrap();
    while !folder.names("out").iter().any(|name| name.starts_with("cuzk-lock.")) {
        sleep(Duration::from_millis(5));
    }
    let refused = folder.run("");
    refused.fails(7, &format!("process {} on ", first.id()));
    assert!(refused.stderr.contains("name another output folder"), "{}", refused.stderr);
    // It has left the first one's files alone.
    assert!(folder.names("out").iter().any(|name| name.starts_with("cuzk-lock.")));
    let waited = folder.run("--wait");
    assert_eq!(waited.ok().lines().count(), 4);
    assert_eq!(waited.stderr.matches("is being worked on by").count(), 1, "{}", waited.stderr);
    assert!(first.wait().unwrap().success());
    assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1, 1, 1, 1]);
    folder.assert_clean();
}

#[test]
fn what_killed_runs_left_half_written_is_removed_when_it_is_old() {
    let folder = Folder::new(1);
    folder.put("sub/1.json", 101);
    folder.run("").ok();
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    for name in ["out/.cuzk-left.tmp", "out/sub/.cuzk-left.tmp"] {
        fs::write(folder.path(name), c1(1)).unwrap();
        fs::File::options().write(true).open(folder.path(name)).unwrap().set_modified(old).unwrap();
    }
    let run = folder.run("");
    run.ok();
    assert!(run.stderr.contains("2 temporary files"), "{}", run.stderr);
    folder.assert_clean_below("sub");
    folder.assert_clean_below("");
}
