//! What a batch does when all goes well, and when it runs again.

use std::time::{Duration, Instant};

use crate::folder::{hash, Folder};

#[test]
fn every_file_is_proved_under_its_name_and_a_second_run_proves_nothing() {
    let folder = Folder::new(3);
    folder.put("sub/deep/3.json", 103);
    let first = folder.run("");
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
fn files_of_one_content_each_have_a_proof_and_keep_it() {
    let folder = Folder::new(1);
    folder.put("same.json", 100);
    assert_eq!(folder.run("").ok(), "out/0.proof.json\nout/same.proof.json\n");
    folder.verify("out/same.proof.json", "in/same.json");
    let before = folder.proofs();
    folder.run("").ok();
    assert_eq!(folder.proofs(), before);
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
        assert_eq!(folder.run("-o in").ok().lines().count(), 2);
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
