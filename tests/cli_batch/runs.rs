//! What a batch does when all goes well, and when it runs again.

use std::time::{Duration, Instant};

use crate::common::finish;
use crate::folder::{hash, json, Folder};

#[test]
fn every_file_is_proved_under_its_name_and_a_second_run_proves_nothing() {
    let folder = Folder::new(3);
    folder.put("sub/deep/3.json", 103);
    let first = folder.run("--quiet");
    assert_eq!(first.stderr, "warning: development parameters: what is proved with them proves nothing\n");
    assert_eq!(
        first.ok(),
        "out/0.proof.json\nout/1.proof.json\nout/2.proof.json\nout/sub/deep/3.proof.json\n",
        "{}",
        first.stderr
    );
    for name in ["0", "1", "2", "sub/deep/3"] {
        folder.verify(&format!("out/{name}.proof.json"), &format!("in/{name}.json"));
    }
    let journal = folder.journal();
    let lines: Vec<_> = journal.iter().map(|line| (line["path"].as_str(), line["outcome"].as_str())).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines.iter().all(|(_, outcome)| *outcome == Some("proved")), "{lines:?}");
    let mut hashes: Vec<_> = (100..104).map(hash).collect();
    hashes.sort();
    assert_eq!(folder.proved().into_keys().collect::<Vec<_>>(), hashes);

    let (before, deep) = (folder.proofs(), folder.modified("out/sub/deep/3.proof.json"));
    let start = Instant::now();
    let second = folder.run("--device simulator:30");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(second.ok(), first.text());
    // There is no pipeline to tell of.
    assert!(second.stderr.contains("files: 4 skipped") && !second.stderr.contains("held back"), "{}", second.stderr);
    assert!(second.stderr.contains("\npeak memory: anonymous "), "{}", second.stderr);
    assert_eq!(folder.journal(), journal);
    assert_eq!((folder.proofs(), folder.modified("out/sub/deep/3.proof.json")), (before, deep));
}

#[test]
fn results_are_listed_in_the_order_of_the_files() {
    let folder = Folder::new(12);
    let run = folder.run("");
    let mut expected: Vec<_> = (0..12).map(|i| format!("out/{i}.proof.json")).collect();
    expected.sort();
    assert_eq!(run.ok().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn files_of_one_content_are_proved_once_and_each_has_the_proof() {
    let folder = Folder::new(2);
    folder.put("same.json", 100);
    let run = folder.run("--device simulator:0.2 --report r.json");
    assert_eq!(run.ok(), "out/0.proof.json\nout/1.proof.json\nout/same.proof.json\n");
    assert_eq!(folder.place.read("out/0.proof.json"), folder.place.read("out/same.proof.json"));
    folder.verify("out/same.proof.json", "in/same.json");
    let report = json(&folder.path("r.json"));
    assert_eq!(report["partitions"]["through_devices"], 2, "{}", report["files"]);
    assert_eq!(report["records"][2]["attempts"], 1);
    assert!(run.stderr.contains("same.json: same content as 0.json, whose proof was copied"), "{}", run.stderr);
    // The journals say so too, and count the work once.
    let merged = finish(folder.place.command(["report", "out", "--json"]), b"");
    let merged: serde_json::Value = serde_json::from_str(merged.ok()).expect("JSON");
    assert_eq!((&merged["files"]["proved"], &merged["files"]["skipped"]), (&2.into(), &1.into()));
    assert_eq!(merged["partitions"]["proved"], 2);
    assert_eq!(merged["records"][2]["same_as"], "0.json");
    let verified = |phase: &&serde_json::Value| phase["phase"] == "verification";
    assert_eq!(merged["phases"].as_array().expect("phases").iter().find(verified).expect("verified")["items"], 2);
    let table = finish(folder.place.command(["report", "out"]), b"");
    assert!(table.ok().contains("same.json: same content as 0.json"), "{}", table.text());
    assert!(table.text().contains("files that it did not reach are missing"), "{}", table.text());
    let before = folder.proofs();
    for _ in 0..2 {
        folder.run("--device simulator:30").ok();
        assert_eq!(folder.proofs(), before);
    }
    // Written in another format, the proof's times are still known.
    folder.run("--format hex --device simulator:30").ok();
    let merged = finish(folder.place.command(["report", "out", "--json"]), b"");
    let merged: serde_json::Value = serde_json::from_str(merged.ok()).expect("JSON");
    let phases = |k: usize| merged["records"][k]["timings"]["phases"].as_array().map(Vec::len);
    assert!(phases(0) > Some(0) && phases(2).is_none(), "{}", merged["records"]);
}

#[test]
fn an_output_folder_inside_the_input_folder_is_no_input() {
    let folder = Folder::new(2);
    for _ in 0..2 {
        let run = folder.run("-o in/out");
        assert_eq!(run.ok(), "in/out/0.proof.json\nin/out/1.proof.json\n");
    }
    // And beside the C1 files themselves.
    for _ in 0..2 {
        let run = folder.run("-o in");
        assert_eq!(run.ok().lines().count(), 2);
        assert!(!run.stderr.contains("warning: in: "), "no news: {}", run.stderr);
    }
    folder.verify("in/0.proof.json", "in/0.json");
}

#[test]
fn another_format_is_written_from_the_proofs_that_are_there() {
    let folder = Folder::new(1);
    folder.run("--format json").ok();
    for format in ["raw", "hex", "base64"] {
        let run = folder.run(&format!("--format {format} --device simulator:30"));
        assert_eq!(run.ok(), format!("out/0.proof.{format}\n"));
        folder.verify(&format!("out/0.proof.{format}"), "in/0.json");
    }
    assert_eq!(folder.place.read("out/0.proof.raw").len(), 192);
    // And a document from what is bare.
    let document = folder.place.read("out/0.proof.json");
    std::fs::remove_file(folder.path("out/0.proof.json")).unwrap();
    folder.run("--device simulator:30").ok();
    assert_eq!(folder.place.read("out/0.proof.json"), document);
}
