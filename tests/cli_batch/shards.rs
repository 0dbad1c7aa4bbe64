//! One folder, several machines.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{finish, Finished};
use crate::folder::Folder;

const FILES: u64 = 8;

/// Runs the commands at the same time.
fn together(commands: Vec<Command>) -> Vec<Finished> {
    let runs: Vec<_> = commands.into_iter().map(|command| std::thread::spawn(|| finish(command, b""))).collect();
    runs.into_iter().map(|run| run.join().expect("a run")).collect()
}

#[track_caller]
fn assert_complete(folder: &Folder, runs: &[Finished]) {
    let mut listed: Vec<_> = runs.iter().flat_map(|run| run.ok().lines().map(str::to_owned)).collect();
    assert!(runs.iter().all(|run| !run.text().is_empty()), "a shard without files: take other seeds");
    listed.sort();
    assert_eq!(listed, (0..FILES).map(|i| format!("out/{i}.proof.json")).collect::<Vec<_>>());
    assert_eq!(folder.proved().into_values().collect::<Vec<_>>(), [1; FILES as usize]);
    (0..FILES).for_each(|i| folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json")));
    folder.assert_clean();
}

fn report(folder: &Folder, more: &str) -> Finished {
    finish(folder.place.command(format!("report out {more}").split_whitespace()), b"")
}

#[test]
fn shards_at_the_same_time_prove_every_file_once_and_their_journals_are_one_report() {
    let folder = Folder::new(FILES);
    let runs = together([1, 2].map(|k| folder.command(&format!("--shard {k}/2 --device simulator:0.1"))).into());
    assert_complete(&folder, &runs);

    let merged: Value = serde_json::from_str(report(&folder, "--json").ok()).expect("JSON");
    assert_eq!((&merged["files"]["proved"], &merged["files"]["total"]), (&FILES.into(), &FILES.into()));
    // The journals do not tell what went through devices and came to nothing.
    assert_eq!(merged["partitions"], serde_json::json!({"proved": FILES, "through_devices": null}));
    let shards = merged["shards"].as_array().expect("shards");
    let of = |k: usize| (shards[k]["shard"].clone(), shards[k]["files"]["proved"].as_u64().expect("a number"));
    let proved: Vec<_> = runs.iter().map(|run| run.text().lines().count() as u64).collect();
    assert_eq!([of(0), of(1)], [("1/2".into(), proved[0]), ("2/2".into(), proved[1])]);
    let table = report(&folder, "");
    assert!(table.ok().contains("files: 8 proved"), "{}", table.text());

    // A run over the whole folder finds all of it done.
    let before = folder.proofs();
    assert_eq!(folder.run("--device simulator:30").ok().lines().count() as u64, FILES);
    assert_eq!(folder.proofs(), before);
}

#[test]
fn an_indexed_job_and_an_array_take_their_part_from_the_environment() {
    let folder = Folder::new(FILES);
    let indexed = |index: &str| {
        let mut command = folder.command("--shard auto/2");
        command.env("JOB_COMPLETION_INDEX", index);
        command
    };
    assert_complete(&folder, &together(vec![indexed("0"), indexed("1")]));

    let folder = Folder::new(FILES);
    let array = |id: &str, more: &str| {
        let mut command = folder.command(more);
        command.env("SLURM_ARRAY_TASK_ID", id).env("SLURM_ARRAY_TASK_COUNT", "2");
        command
    };
    assert_complete(&folder, &together(vec![array("1", ""), array("2", "--shard auto/2")]));
    finish(array("3", ""), b"").fails(2, "SLURM_ARRAY_TASK_ID is 3");
    folder.run("--shard auto/2").fails(2, "outside of a job array write K/N");
}

#[test]
fn runs_that_divide_the_folder_differently_do_not_go_together() {
    let folder = Folder::new(FILES);
    let mut first = folder.command("--shard 1/2 --device simulator:2");
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.names("out").iter().any(|name| name.starts_with("cuzk-lock.")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    folder.run("--shard 1/3").fails(7, "shards by 2 and by 3 do not go together");
    first.kill().unwrap();
    first.wait().unwrap();
    folder.run("--shard 1/3").ok();
    folder.run("").ok();
    folder.assert_clean();
}

#[test]
fn a_shard_counts_its_own_files() {
    let folder = Folder::new(FILES);
    for k in 1..=2 {
        let run = folder.run(&format!("--shard {k}/2 --device simulator:0.3"));
        let own = run.ok().lines().count();
        let last = run.stderr.lines().rfind(|line| line.contains(": proved, 1 partition in "));
        assert!(last.expect("a proof").contains(&format!("({own} of {own} file")), "{}", run.stderr);
    }
}

#[test]
fn a_shard_without_files_is_no_failure() {
    let folder = Folder::new(1);
    let runs: Vec<_> = (1..=3).map(|k| folder.run(&format!("--shard {k}/3"))).collect();
    assert_eq!(runs.iter().map(|run| run.ok().lines().count()).sum::<usize>(), 1);
}

#[test]
fn a_folder_without_journals_has_no_report() {
    let folder = Folder::new(0);
    fs::create_dir(folder.path("out")).unwrap();
    report(&folder, "").fails(3, "out: no journal here; expected the output folder of a batch");
}
