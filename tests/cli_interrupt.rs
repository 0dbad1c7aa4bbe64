//! Signals: exit code 130, a message that is true, and nothing temporary left behind.

mod common;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::running::{with_default_signals, Running};
use common::{dev_params, repository, Place};

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_interrupted_proof_is_130_and_leaves_nothing() {
    let place = Place::new();
    fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).expect("the committed sample");
    let params = dev_params();
    for signal in ["-INT", "-HUP"] {
        let mut command = place.command(["prove", "c1.json", "--dev-params", "--params"]);
        command.arg(&params);
        let mut run = Running::start(with_default_signals(&command));
        run.wait_for("c1.json: started");
        run.signal(signal);
        let (code, seen) = run.end();
        assert_eq!(code, Some(130), "{signal}: {seen}");
        assert!(seen.contains("error: interrupted; no result was written"), "{seen}");
        assert_eq!(place.names(), ["c1.json"]);
    }
}

#[test]
fn a_hang_up_under_nohup_is_ignored() {
    let place = Place::new();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_cuzk")]);
    command.args("sample --sector-size 2KiB -o -".split(' ')).current_dir(place.path(""));
    let mut run = Running::start(command);
    run.wait_for_output();
    run.signal("-HUP");
    let mut output = Vec::new();
    run.child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    let (code, seen) = run.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(output.len() > 65_536, "{}", output.len());
}

#[test]
fn output_that_is_cut_short_is_called_so() {
    let place = Place::new();
    let mut run = Running::start(place.command("sample --sector-size 2KiB -o -".split(' ')));
    run.wait_for_output();
    run.signal("-TERM");
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("interrupted while writing to standard output"), "{seen}");
}

#[test]
fn an_interrupted_generation_is_130_and_leaves_nothing_half_made() {
    let place = Place::new();
    let mut run = Running::start(place.command("params generate --sector-size 2KiB --params new".split(' ')));
    run.wait_for("development parameters for 2KiB: 1.04 GiB to write into ");
    run.wait_for("generating parameters");
    run.signal("-INT");
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    let names = names(&place.path("new"));
    let left: Vec<_> =
        names.iter().filter(|name| !name.ends_with(".lock") && !name.starts_with("DEVELOPMENT")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_interrupted_sealing_is_130_and_leaves_no_folder() {
    let place = Place::new();
    let temporary = place.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = place.command("sample --sealed --sector-size 8MiB -o c1.json".split(' '));
    // The graph's parents are kept between runs, elsewhere.
    command.env("TMPDIR", &temporary).env("FIL_PROOFS_PARENT_CACHE", place.path("parents"));
    let mut run = Running::start(command);
    let start = Instant::now();
    let sealing = || names(&temporary).first().is_some_and(|folder| temporary.join(folder).join("sealed").exists());
    while !sealing() {
        assert!(start.elapsed() < Duration::from_secs(60) && run.child.try_wait().unwrap().is_none(), "never sealed");
        sleep(Duration::from_millis(5));
    }
    run.signal("-TERM");
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("no result was written"), "{seen}");
    assert_eq!(names(&temporary), [""; 0]);
    assert!(!place.names().contains(&"c1.json".to_owned()));
}
