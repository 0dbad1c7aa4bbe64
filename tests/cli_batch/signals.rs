//! The first signal finishes what is on the device; the second ends at once; the next run goes on from there.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::running::{with_default_signals, Running};
use crate::folder::Folder;

#[test]
fn the_first_signal_finishes_what_is_on_the_device_and_the_next_run_continues() {
    for signal in ["-INT", "-TERM", "-HUP", "-USR1", "-USR2"] {
        let folder = Folder::new(5);
        let mut run = Running::start(with_default_signals(&folder.command("--device simulator:1.5")));
        run.wait_for("0.json: proved");
        // The second file is on the device now.
        sleep(Duration::from_millis(200));
        run.signal(signal);
        let (code, seen) = run.end();
        assert_eq!(code, Some(130), "{signal}: {seen}");
        assert!(seen.contains("stopping when the partitions that are on a device are done"), "{seen}");
        assert!(seen.contains("stopped: 3 of 5 files are left; the same command continues"), "{seen}");
        assert_eq!(folder.proofs().into_keys().collect::<Vec<_>>(), ["0.proof.json", "1.proof.json"]);
        folder.assert_clean();
        let before = folder.proofs();

        assert_eq!(folder.run("").ok().lines().count(), 5);
        assert!(before.iter().all(|(name, time)| folder.proofs()[name] == *time));
        assert!(folder.proved().values().all(|times| *times == 1));
        (0..5).for_each(|i| folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json")));
    }
}

#[test]
fn a_run_that_is_stopped_is_130_whatever_had_failed_before() {
    let folder = Folder::new(4);
    std::fs::write(folder.path("in/0.json"), b"<html>").unwrap();
    let mut run = Running::start(with_default_signals(&folder.command("--device simulator:1")));
    run.wait_for("0.json: failed");
    run.wait_for("1.json: started");
    run.signal("-TERM");
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("files are left; the same command continues"), "{seen}");
}

#[test]
fn a_batch_whose_last_partition_is_on_the_device_is_complete() {
    let folder = Folder::new(2);
    let mut run = Running::start(folder.command("--device simulator:2"));
    run.wait_for("0.json: proved");
    // The last file has been on the device since then.
    sleep(Duration::from_millis(300));
    run.signal("-INT");
    let (code, seen) = run.end();
    assert_eq!(code, Some(0), "{seen}");
    (0..2).for_each(|i| folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json")));
}

#[test]
fn the_second_signal_ends_at_once() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new(3);
        let mut run = Running::start(folder.command("--device simulator:60"));
        run.wait_for("0.json: started");
        sleep(Duration::from_millis(200));
        // As `timeout` does it: to the process, and to its group.
        run.signal(signal);
        run.signal(signal);
        run.wait_for("once more to stop at once");
        sleep(Duration::from_millis(600));
        assert!(run.child.try_wait().expect("a child").is_none(), "one stop counts as two");
        let start = Instant::now();
        run.signal(signal);
        let (code, seen) = run.end();
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(code, Some(130), "{signal}: {seen}");
        assert!(seen.contains("error: interrupted; no result was written; the same command continues\n"), "{seen}");
        // The lock is given back too: a run on another machine would wait for its age.
        folder.assert_clean();
        assert_eq!(folder.run("").ok().lines().count(), 3);
        assert_eq!(folder.proved().len(), 3);
    }
}

#[test]
fn waiting_for_another_run_can_be_interrupted() {
    let folder = Folder::new(1);
    let mut first = Running::start(folder.command("--device simulator:60"));
    first.wait_for("started");
    let mut second = Running::start(folder.command("--wait"));
    second.wait_for("is being worked on by");
    second.signal("-INT");
    let (code, seen) = second.end();
    assert_eq!(code, Some(130), "{seen}");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    folder.run("").ok();
    folder.assert_clean();
}
