//! The memory budget, with the real device.

use std::process::Command;

use crate::common::finish;
use crate::folder::{json, Folder};
use crate::group::Group;

/// For two threads: each takes some.
const BUDGET: u64 = 600 << 20;

/// The command, run by a shell that does something else first.
fn after(script: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{script} && exec \"$@\""), "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

#[test]
fn a_batch_keeps_to_its_budget_under_a_limit_of_five_per_cent_more() {
    let folder = Folder::new(4);
    // The first goes alone, the others together.
    let batch = folder.command(&format!("--device cpu --threads 2 --memory {BUDGET} --report r.json"));
    // RLIMIT_DATA, in KiB: all private memory that can be written, whether it was or not.
    let limited = after(&format!("ulimit -d {}", BUDGET / 1024 * 105 / 100), &batch);
    let run = finish(limited, b"");
    assert_eq!(run.ok().lines().count(), 4);
    (0..4).for_each(|i| folder.verify(&format!("out/{i}.proof.json"), &format!("in/{i}.json")));
    let peak = json(&folder.path("r.json"))["memory"]["anonymous_peak_bytes"].as_u64().expect("bytes");
    assert!(peak <= BUDGET / 100 * 105, "{peak} of {BUDGET}");
    // A budget that nothing comes near would show nothing.
    assert!(peak >= BUDGET / 2, "{peak} of {BUDGET}");
}

#[test]
fn a_batch_keeps_to_its_budget_in_a_memory_cgroup_of_five_per_cent_more() {
    let Some(group) = Group::new("budget", BUDGET / 100 * 105) else {
        eprintln!("no memory cgroup can be made here: not tested");
        return;
    };
    let folder = Folder::new(2);
    let batch = folder.command(&format!("--device cpu --threads 2 --memory {BUDGET} --report r.json"));
    let run = finish(after(&format!("echo $$ >{}", group.procs().display()), &batch), b"");
    // Had it gone beyond, the kernel would have killed it.
    assert_eq!(run.ok().lines().count(), 2);
    let peak = json(&folder.path("r.json"))["memory"]["anonymous_peak_bytes"].as_u64().expect("bytes");
    assert!((BUDGET / 2..=BUDGET / 100 * 105).contains(&peak), "{peak} of {BUDGET}");
    // It was in the group: with the parameters' pages, more than it had of its own.
    assert!(group.peak().is_none_or(|all| all >= peak), "{:?} of {peak}", group.peak());
}

#[test]
fn the_default_budget_keeps_to_the_memory_cgroup() {
    // Enough for a partition once the margin is off, and too little for one.
    for (mebibytes, enough) in [(1200, true), (500, false)] {
        let Some(group) = Group::new("default", mebibytes << 20) else {
            eprintln!("no memory cgroup can be made here: not tested");
            return;
        };
        let folder = Folder::new(1);
        let batch = folder.command("--device cpu --threads 2");
        let run = finish(after(&format!("echo $$ >{}", group.procs().display()), &batch), b"");
        if enough {
            run.ok();
        } else {
            run.fails(8, "0.json: a partition needs ");
        }
    }
}

#[test]
fn the_default_budget_keeps_to_the_limits_of_the_process() {
    let folder = Folder::new(1);
    let batch = folder.command("--device cpu");
    // Too little for a partition: without a look at the limit, an allocation would fail in the middle. One of the limits
    // counts the mapped parameters too.
    for (limit, mebibytes) in [("-d", 300), ("-v", 1500)] {
        let limited = after(&format!("ulimit {limit} {}", mebibytes << 10), &batch);
        let run = finish(limited, b"");
        match run.code {
            // Where there are so many cores that nothing is left for a file.
            Some(2) => run.fails(2, "cuzk itself takes"),
            // Addresses also go to the heaps of threads, as many as happen to allocate at once.
            _ if run.stderr.contains(": cannot be mapped: ") => run.fails(8, "0.json: "),
            _ => run.fails(8, "0.json: a partition needs "),
        }
    }
}

#[test]
fn a_budget_without_room_for_one_partition_is_refused_with_the_figure() {
    let folder = Folder::new(1);
    let run = folder.run("--device cpu --memory 300MiB");
    run.fails(8, "0.json: a partition needs ");
    assert!(!run.stderr.contains("through the device"), "{}", run.stderr);
    // With so much more it begins, and with less it does not.
    let more = run.stderr.split("raise --memory by ").nth(1).and_then(|rest| rest.split(" MiB").next());
    let enough = 300 + more.and_then(|more| more.parse::<u64>().ok()).expect("a whole number of MiB");
    folder.run(&format!("--device cpu --memory {}MiB", enough - 8)).fails(8, "0.json: a partition needs ");
    let begun = folder.run(&format!("--device cpu --memory {}MiB --deadline 0.01s", enough + 1));
    begun.fails(8, "the deadline of 10.0 ms passed");
    let run = folder.run("--device cpu --memory 20MiB");
    run.fails(2, "cuzk itself takes");
    // The figure that it names is one that goes further.
    let least =
        run.stderr.split("name more, ").nth(1).and_then(|rest| rest.split(" at least").next()).expect("a figure");
    let run = folder.run(&format!("--device cpu --memory {}", least.replace(' ', "")));
    run.fails(8, "raise --memory by ");
}
