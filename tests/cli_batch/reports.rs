//! What is written about a run.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::finish;
use crate::folder::{json, Folder};

const ALL: &str = "--report r.json --trace t.json --timeline t.svg --metrics m.prom";

/// Two files that are proved, one that is skipped, one that fails.
fn mixed() -> Folder {
    let folder = Folder::new(1);
    folder.run("").ok();
    folder.put("1.json", 101);
    folder.put("2.json", 102);
    fs::write(folder.path("in/3 <&\".json"), b"<html>").unwrap();
    folder.run(&format!("{ALL} --device simulator:0.1")).fails(8, "1 of 4 files failed");
    folder
}

#[test]
fn the_report_counts_what_happened() {
    let folder = mixed();
    let report = json(&folder.path("r.json"));
    let counts: Vec<_> =
        ["total", "proved", "skipped", "failed", "unfinished"].map(|key| report["files"][key].as_u64()).into();
    assert_eq!(counts, [Some(4), Some(2), Some(1), Some(1), Some(0)], "{}", report["files"]);
    assert_eq!((&report["partitions"]["proved"], &report["partitions"]["through_devices"]), (&2.into(), &2.into()));
    let outcomes: Vec<_> =
        report["records"].as_array().unwrap().iter().map(|record| record["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["skipped", "proved", "proved", "failed"]);
    assert_eq!(report["failures"][0]["name"], "3 <&\".json");
    let device = report["lanes"].as_array().unwrap().iter().find(|lane| lane["stage"] == "device").unwrap();
    assert_eq!(device["pieces"], 2);
    let (busy, wall) = (device["busy_seconds"].as_f64().unwrap(), report["wall_seconds"].as_f64().unwrap());
    assert!((0.2..=wall).contains(&busy), "{busy} of {wall}");
    assert!(report["memory"]["anonymous_peak_bytes"].as_u64().unwrap() > 0);
    assert!(report["held_back"].is_string());
}

#[test]
fn the_table_has_a_figure_or_a_dash_in_every_place() {
    let folder = Folder::new(2);
    fs::write(folder.path("in/2.json"), b"<html>").unwrap();
    let run = folder.run("--device simulator:0.5");
    run.fails(8, "1 of 3 files failed");
    let row = |name: &str| -> Vec<&str> {
        let mut rows = run.stderr.lines().filter(|line| line.starts_with(name) && !line.contains(": "));
        rows.next_back()
            .unwrap_or_else(|| panic!("{}", run.stderr))
            .split("  ")
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .collect()
    };
    let head = row("file ");
    assert_eq!(head, ["file", "outcome", "parts", "wall", "read", "synthesis", "device", "verify"]);
    let column = |name: &str, row: &[&str]| row[head.iter().position(|head| *head == name).unwrap()].to_owned();
    for name in ["0.json", "total"] {
        let row = row(name);
        assert_eq!(row.len(), head.len(), "{}", run.stderr);
        // The simulator proves without a witness.
        assert_eq!(column("synthesis", &row), "-");
        // As long as the simulator was told to take, and what a busy machine adds.
        let least = if name == "total" { 1.0 } else { 0.5 };
        let device = column("device", &row);
        let seconds = match device.split_once(' ') {
            Some((ms, "ms")) => ms.parse::<f64>().unwrap() / 1000.0,
            Some((seconds, "s")) => seconds.parse().unwrap(),
            _ => panic!("{row:?}"),
        };
        assert!((least..60.0).contains(&seconds), "{row:?}");
    }
    assert_eq!(row("2.json"), ["2.json", "failed", "-", &column("wall", &row("2.json")), "-", "-", "-", "-"]);
}

/// `cuzk report out`, with its JSON.
fn reported(folder: &Folder) -> (String, Value) {
    let run = |line: &str| finish(folder.place.command(line.split(' ')), b"");
    let object = serde_json::from_str(run("report out --json").ok()).expect("JSON");
    (run("report out").ok().to_owned(), object)
}

#[test]
fn a_report_tells_of_the_files_that_the_folder_has() {
    let folder = Folder::new(3);
    fs::write(folder.path("in/bad.json"), b"<html>").unwrap();
    fs::write(folder.path("in/worse.json"), b"<html>").unwrap();
    folder.run("").fails(8, "2 of 5 files failed");
    let (text, object) = reported(&folder);
    assert!(text.contains("2 files failed:") && object["gone"] == serde_json::json!([]), "{text}");

    // One mended, one taken away, one renamed, and one that was proved taken away.
    folder.put("bad.json", 200);
    for name in ["worse.json", "2.json"] {
        fs::remove_file(folder.path("in").join(name)).unwrap();
    }
    fs::rename(folder.path("in/0.json"), folder.path("in/renamed.json")).unwrap();
    for _ in 0..2 {
        folder.run("").ok();
        let (text, object) = reported(&folder);
        assert_eq!((&object["files"]["proved"], &object["files"]["total"]), (&4.into(), &4.into()), "{text}");
        assert_eq!((&object["partitions"]["proved"], &object["gone"]), (&4.into(), &serde_json::json!(["worse.json"])));
        let records = object["records"].as_array().unwrap();
        let names: Vec<_> = records.iter().map(|record| record["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["1.json", "2.json", "bad.json", "renamed.json"]);
        assert_eq!(records[3]["proof"], "renamed.proof.json");
        assert!(records.iter().all(|record| record["timings"]["phases"].is_array()), "{records:?}");
        assert!(!text.contains("failed:") && !text.contains("same content"), "{text}");
        assert!(text.contains("not in the input folder any more when a later run began:\n  worse.json\n"), "{text}");
    }
    // It is said once.
    assert_eq!(folder.journal().iter().filter(|line| line["outcome"] == "gone").count(), 3);
    // And one that is back fails again.
    fs::write(folder.path("in/worse.json"), b"<html>").unwrap();
    folder.run("").fails(8, "1 of 4 files failed");
    let (text, object) = reported(&folder);
    assert!(text.contains("1 file failed:") && object["gone"] == serde_json::json!([]), "{text}");
}

#[test]
fn the_trace_has_a_piece_for_each_partition_on_the_device() {
    let folder = mixed();
    let trace = json(&folder.path("t.json"));
    let events = trace["traceEvents"].as_array().or(trace.as_array()).expect("events");
    assert!(events.iter().all(|event| event["ph"].is_string()));
    let long = |event: &&Value| event["ph"] == "X" && event["dur"].as_f64().is_some_and(|micros| micros >= 90_000.0);
    assert!(events.iter().filter(long).count() >= 2, "{events:?}");
}

#[test]
fn the_timeline_is_well_formed() {
    let folder = mixed();
    let svg = String::from_utf8(fs::read(folder.path("t.svg")).unwrap()).unwrap();
    assert!(svg.trim_start().starts_with("<svg") || svg.starts_with("<?xml"), "{}", &svg[..60]);
    let mut open = Vec::new();
    for (at, _) in svg.match_indices('<') {
        let end = at + svg[at..].find('>').expect("every tag ends");
        let tag = &svg[at + 1..end];
        let name = |tag: &str| tag.split([' ', '\n', '/']).next().unwrap_or("").to_owned();
        match tag.as_bytes()[0] {
            b'/' => assert_eq!(open.pop().as_deref(), Some(&tag[1..])),
            b'?' | b'!' => {}
            _ if tag.ends_with('/') => {}
            _ => open.push(name(tag)),
        }
    }
    assert_eq!(open, [""; 0]);
    let ampersands = svg.split('&').skip(1).all(|rest| rest.split_once(';').is_some_and(|(name, _)| name.len() <= 6));
    assert!(ampersands, "an unescaped &");
    assert!(svg.contains("1.json") && svg.contains("2.json"));
}

#[test]
fn the_metrics_are_prometheus_text() {
    let folder = mixed();
    let text = String::from_utf8(fs::read(folder.path("m.prom")).unwrap()).unwrap();
    for line in text.lines().filter(|line| !line.starts_with("# HELP ") && !line.starts_with("# TYPE ")) {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        assert!(name.starts_with("cuzk_") && value.parse::<f64>().is_ok(), "{line:?}");
    }
    for line in
        ["cuzk_files_total{outcome=\"proved\"} 2", "cuzk_files_total{outcome=\"failed\"} 1", "cuzk_partitions_total 2"]
    {
        assert!(text.lines().any(|found| found == line), "{line} in:\n{text}");
    }
    assert!(text.ends_with('\n'));
}

#[test]
fn metrics_are_there_and_replaced_while_the_batch_runs() {
    let folder = Folder::new(20);
    // The first proof comes before the second version of the file, and the last long after it.
    let mut command = folder.command("--device simulator:4 --metrics m.prom");
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let proved = || {
        let text = fs::read_to_string(folder.path("m.prom")).ok()?;
        // Replaced as a whole: no reader sees a part.
        assert!(text.ends_with('\n'), "{text}");
        let line = text.lines().find_map(|line| line.strip_prefix("cuzk_files_total{outcome=\"proved\"} "));
        line.unwrap_or_else(|| panic!("no count of files:\n{text}")).parse::<u64>().ok()
    };
    let mut seen = Vec::new();
    while seen.last().is_none_or(|proved| *proved == 0) {
        assert!(start.elapsed() < Duration::from_secs(60), "{seen:?}");
        seen.extend(proved());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(run.try_wait().unwrap(), None, "the batch runs still");
    assert_eq!(seen[0], 0);
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn places_that_cannot_be_written_are_refused_before_any_work() {
    let folder = Folder::new(1);
    for flag in ["--report", "--trace", "--timeline", "--metrics"] {
        let run = folder.run(&format!("{flag} no/where"));
        run.fails(7, "no");
        assert!(!run.stderr.contains("started"), "{}", run.stderr);
    }
    assert!(folder.proofs().is_empty());
}

#[test]
fn a_report_takes_the_place_of_nothing_that_matters() {
    let folder = Folder::new(1);
    folder.run("").ok();
    let first = fs::read_dir(folder.path("in")).unwrap().next().unwrap().unwrap().path();
    let c1 = fs::read(&first).ok();
    for flag in ["--report", "--trace", "--timeline", "--metrics"] {
        folder.run(&format!("{flag} {}", first.display())).fails(2, "name another");
        folder.run(&format!("{flag} out/cuzk-journal.1-of-1.jsonl")).fails(2, "name another");
    }
    folder.run("--report r.json --trace r.json").fails(2, "name another");
    assert_eq!(fs::read(&first).ok(), c1);
    // What is no file is written into.
    folder.run("--metrics /dev/null").ok();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_dash_is_no_file() {
    let folder = Folder::new(1);
    for flag in ["--report", "--trace", "--timeline", "--metrics", "-o"] {
        folder.run(&format!("{flag} -")).fails(2, "-: standard output has the names of the proofs");
    }
    assert_eq!(folder.names(""), ["in"]);
    folder.run("--report ./-").ok();
    assert_eq!(json(&folder.path("./-"))["files"]["proved"], 1);
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let folder = Folder::new(1);
    folder.run("--partitions-in-flight 1000000000").fails(2, "--partitions-in-flight");
    folder.run("--deadline 0").fails(2, "--deadline");
}
