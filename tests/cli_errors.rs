//! Each exit code, and what is left behind: nothing.

mod common;

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use common::{dev_params, repository, Place};

fn with_sample() -> Place {
    let place = Place::new();
    fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).expect("the committed sample");
    place
}

/// A folder of the shared parameters under other names: every file linked, so that replacing one leaves the others alone.
fn linked_params(place: &Place) -> PathBuf {
    let folder = place.path("params");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(dev_params()).unwrap() {
        let entry = entry.unwrap();
        std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    folder
}

fn file_with_extension(folder: &Path, extension: &str) -> PathBuf {
    let mut paths = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|e| e == extension)).expect("a file of that extension")
}

/// Replaces a link by a copy of its target with one byte changed.
fn change_byte(path: &Path, at: u64) {
    let target = fs::canonicalize(path).unwrap();
    fs::remove_file(path).unwrap();
    fs::copy(target, path).unwrap();
    let mut file = fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ 1]).unwrap();
}

#[test]
fn bad_input_is_3() {
    let place = with_sample();
    place.run("prove no.json --dev-params").fails(3, "no.json");
    place.run("inspect no.json").fails(3, "no.json");
    place.run("inspect .").fails(3, "got a folder; what is in a folder is proved with `cuzk batch`");
    place
        .run("verify /dev/null --c1 c1.json")
        .fails(3, "/dev/null: expected a regular file, got a device; name a file");
    place.write("empty.json", "");
    place.run("inspect empty.json").fails(3, "empty.json");
    place.write("other.json", "{\"a\": 1}");
    place.run("inspect other.json").fails(3, "other.json");
    let c1 = place.read("c1.json");
    place.write("half.json", &c1[..c1.len() / 2]);
    place.run("inspect half.json").fails(3, "half.json");
    place.run("inspect c1.json --registered-proof StackedDrg8MiBV1_1").fails(3, "c1.json");
    assert_eq!(place.names(), ["c1.json", "empty.json", "half.json", "other.json"]);
}

#[test]
fn a_changed_byte_in_the_c1_is_caught_before_the_parameters_are_opened() {
    let place = with_sample();
    let mut c1: serde_json::Value = serde_json::from_slice(&place.read("c1.json")).unwrap();
    let byte = &mut c1["comm_d"][3];
    *byte = (byte.as_u64().unwrap() ^ 1).into();
    place.write("changed.json", c1.to_string());
    let finished = place.run("prove changed.json --params /nonexistent");
    finished.fails(3, "changed.json");
    assert!(!place.names().contains(&"changed.proof.json".to_owned()));
}

#[test]
fn missing_parameters_are_4_and_say_where_they_were_looked_for() {
    let place = with_sample();
    let run = place.run("prove c1.json --params nowhere");
    run.fails(4, ".vk (--params): no such file");
    run.fails(4, "`lotus fetch-params 2KiB`");
    run.fails(4, "or make development parameters with `cuzk params generate --sector-size 2KiB` and pass --dev-params");
    place.run("sample --sector-size 32GiB -o large.json").ok();
    let run = place.run("prove large.json --no-check-c1 --params nowhere");
    run.fails(4, "`lotus fetch-params 32GiB`");
    assert!(!run.stderr.contains("development"), "{}", run.stderr);
    // The simulator knows development parameters alone, and of this size there are none.
    let run = place.run("prove large.json --no-check-c1 --dev-params --params . --device simulator:1");
    run.fails(2, "development parameters, and so --device simulator, are for test sectors of 2KiB, 8MiB and 512MiB");
    run.fails(2, "to prove 32GiB leave out --dev-params, fetch the official parameters");
    fs::remove_file(place.path("large.json")).unwrap();
    let get = "fetch the official parameters with `lotus fetch-params";
    let make = "make development parameters with `cuzk params generate --sector-size";
    let check = |line: &str| place.run(&format!("params check {line}"));
    for line in ["--params nowhere", "--params .", "--params nowhere --sector-size 2KiB"] {
        check(line).fails(4, get);
        check(line).fails(4, make);
        // What is passed already is no advice.
        let run = check(&format!("{line} --dev-params"));
        run.fails(4, make);
        assert!(!run.stderr.contains(get) && !run.stderr.contains("pass --dev-params"), "{}", run.stderr);
    }
    check("--params nowhere").fails(4, "nowhere (--params): no such folder; ");
    check("--params .").fails(4, ". (--params): no .params files in this folder; ");
    let mut command = place.command(["params", "check"]);
    command.env("FIL_PROOFS_PARAMETER_CACHE", place.path("cache"));
    common::finish(command, b"").fails(4, "cache (FIL_PROOFS_PARAMETER_CACHE): no such folder; fetch");
    check("--params . --sector-size 32GiB --dev-params").fails(4, "test sectors of 2KiB, 8MiB and 512MiB");
    place.write("p.raw", [0x93; 192]);
    let run = place.run("verify p.raw --c1 c1.json --dev-params --params .");
    run.fails(4, &format!(".vk (--params): no such file; {make} 2KiB`"));
    assert!(!run.stderr.contains("pass --dev-params"), "{}", run.stderr);
    fs::remove_file(place.path("p.raw")).unwrap();
    let mut command = place.command(["prove", "c1.json"]);
    command.env("FIL_PROOFS_PARAMETER_CACHE", place.path("cache"));
    common::finish(command, b"").fails(4, "FIL_PROOFS_PARAMETER_CACHE");
    assert_eq!(place.names(), ["c1.json"]);
}

#[test]
fn a_folder_that_is_not_there_is_not_filled_with_parameters() {
    let place = with_sample();
    place.run("prove c1.json --dev-params --params mistyped").fails(4, "mistyped (--params): no such folder; make it");
    place.run("batch . -o out --dev-params --params mistyped").fails(4, "mistyped");
    assert_eq!(place.names(), ["c1.json"]);
}

#[test]
fn development_parameters_need_their_flag() {
    let place = with_sample();
    let line = format!("prove c1.json --params {}", dev_params().display());
    place.run(&line).fails(4, "--dev-params");
}

#[test]
fn a_copy_of_development_parameters_without_one_of_their_files_names_it() {
    let place = with_sample();
    let params = linked_params(&place);
    let prove = || place.run("prove c1.json --dev-params --params params --device simulator");
    prove().ok();
    fs::remove_file(place.path("c1.proof.json")).unwrap();
    let marker = params.join("DEVELOPMENT-PARAMETERS.txt");
    fs::remove_file(&marker).unwrap();
    prove().fails(4, "DEVELOPMENT-PARAMETERS.txt is missing here");
    prove().fails(4, "copy that file too from where they were made");
    // Generating asks the same.
    let vk = file_with_extension(&params, "vk");
    let target = fs::canonicalize(&vk).unwrap();
    fs::remove_file(&vk).unwrap();
    prove().fails(2, "no DEVELOPMENT-PARAMETERS.txt");
    prove().fails(2, "copy that file too from where they were made");
    std::os::unix::fs::symlink(target, &vk).unwrap();
    fs::write(&marker, "").unwrap();
    let record = file_with_extension(&params, "params").with_extension("params.dev.json");
    fs::remove_file(&record).unwrap();
    prove().fails(4, "not recorded in params/");
    fs::remove_file(&vk).unwrap();
    prove().fails(4, "copy that file too from where it was made");
}

#[test]
fn a_changed_byte_in_the_verifying_key_is_4() {
    let place = with_sample();
    let params = linked_params(&place);
    change_byte(&file_with_extension(&params, "vk"), 20);
    place.run("prove c1.json --dev-params --params params").fails(4, ".vk");
}

#[test]
fn a_changed_byte_or_a_cut_in_the_parameters_is_4() {
    let place = with_sample();
    let params = linked_params(&place);
    let file = file_with_extension(&params, "params");
    // Far from the sections' ends: only the digest sees it.
    change_byte(&file, 500_000_001);
    place.run("prove c1.json --dev-params --params params").fails(4, ".params");
    let opened = fs::File::options().write(true).open(&file).unwrap();
    opened.set_len(opened.metadata().unwrap().len() - 1).unwrap();
    place.run("prove c1.json --dev-params --params params").fails(4, ".params");
    assert!(!place.names().contains(&"c1.proof.json".to_owned()));
}

#[test]
fn an_existing_output_is_2_and_an_impossible_one_7_before_any_work() {
    let place = with_sample();
    place.write("c1.proof.json", "mine");
    place.run("prove c1.json --params nowhere").fails(2, "--force");
    assert_eq!(place.read("c1.proof.json"), b"mine");
    // With --force the next thing that fails is looked at, and the file is still whole.
    place.run("prove c1.json --params nowhere --force").fails(4, "nowhere");
    assert_eq!(place.read("c1.proof.json"), b"mine");
    place.run("prove c1.json --params nowhere -o no/proof.json").fails(7, "error: no: no such folder; make it");
    place.run("sample --sector-size 2KiB -o /dev/full").fails(7, "/dev/full");
}

#[test]
fn a_file_that_changes_while_it_is_used_is_4() {
    let place = with_sample();
    let params = linked_params(&place);
    let file = file_with_extension(&params, "params");
    let target = fs::canonicalize(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::copy(target, &file).unwrap();
    let command = place.command("prove c1.json --dev-params --params params".split(' '));
    let finished = std::thread::scope(|scope| {
        let run = scope.spawn(|| common::finish(command, b""));
        let opened = fs::File::options().write(true).open(&file).unwrap();
        // As a download that goes on would, until the run is over: early changes are seen while it is hashed.
        while !run.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(500));
            opened.set_modified(std::time::SystemTime::now()).unwrap();
        }
        run.join().unwrap()
    });
    finished.fails(4, "changed while it was");
    assert!(!place.names().contains(&"c1.proof.json".to_owned()));
}

#[test]
fn a_stage_that_fails_names_the_c1_file_and_an_unverified_proof_what_to_do() {
    let place = with_sample();
    let mut c1: serde_json::Value = serde_json::from_slice(&place.read("c1.json")).unwrap();
    let byte = &mut c1["comm_d"][3];
    *byte = (byte.as_u64().unwrap() ^ 1).into();
    place.write("changed.json", c1.to_string());
    let line = format!("prove changed.json --no-check-c1 --dev-params --params {}", dev_params().display());
    let finished = place.run(&line);
    // The file and what is wrong, then what to do.
    finished.fails(6, "error: changed.json: the proof");
    let error = finished.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
    let (wrong, advice) = error.split_once("; ").expect("advice");
    assert!(wrong.contains("does not verify") && advice.contains("without --no-check-c1"), "{error}");
    assert!(!place.names().contains(&"changed.proof.json".to_owned()));
}

#[test]
fn one_of_miner_and_sector_alone_is_2() {
    let place = with_sample();
    place.run("inspect c1.json --miner t01000").fails(2, "--miner needs --sector: the file names none");
    place.run("prove c1.json --sector 1").fails(2, "--sector needs --miner: the file names none");
    place.run("sample --sector-size 2KiB --format wrapper -o wrapper.json").ok();
    place.run("inspect wrapper.json --miner t01000").ok();
    place.run("inspect wrapper.json --sector 1").fails(2, "--sector needs --miner");
    place.run("sample --sector-size 2KiB --format proof-share -o share.json").ok();
    place.run("inspect share.json --sector 1").ok();
}

#[test]
fn a_link_to_nothing_is_no_output() {
    let place = with_sample();
    std::os::unix::fs::symlink("nothing", place.path("out")).unwrap();
    place.run("prove c1.json -o out --params nowhere").fails(2, "a symbolic link to nothing");
}
