use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use super::*;
use crate::circuit::SealProof;
use crate::error::Error;
use crate::pipeline::proof_file::UsedParameters;

/// A proved file of this content and name, whose proof is this text.
fn proved(content: &str, path: &str, proof: &str, ended_ms: u64) -> Entry {
    Entry {
        c1: Some(content_hash(content.as_bytes())),
        name: path.into(),
        path: path.into(),
        registered_proof: Some(SealProof::StackedDrg2KiBV1_1),
        parameters: Some(UsedParameters { file: "v28.params".into(), digest: "d1".into(), development: true }),
        outcome: Outcome::Proved {
            proof_file: format!("{path}.proof.json").into(),
            proof_hash: content_hash(proof.as_bytes()),
        },
        copy_of: None,
        timings: json!({"phases": [{"phase": "synthesis", "seconds": 1.5}]}),
        started_ms: 1_700_000_000_000,
        ended_ms,
        attempts: 1,
        cuzk: "0.1.0".into(),
        shard: "1/1".into(),
        host: "h".into(),
    }
}

fn failed(path: &str, ended_ms: u64) -> Entry {
    let outcome = Outcome::failed(&Error::new(Fault::Input, "line\n2: \"seed\" ü"));
    Entry { c1: None, registered_proof: None, parameters: None, outcome, ..proved("", path, "", ended_ms) }
}

fn shard(index: u32, count: u32) -> Shard {
    Shard::new(index, count).unwrap()
}

fn write(out: &Path, shard: Shard, entries: &[Entry]) {
    let mut writer = Writer::open(out, shard).unwrap();
    entries.iter().for_each(|entry| writer.append(entry).unwrap());
}

fn all(journal: &Journal) -> Vec<Entry> {
    journal.entries().cloned().collect()
}

#[test]
fn entries_read_back_whatever_is_in_them() {
    let out = tempfile::tempdir().unwrap();
    let mut weird = proved("a", "x", "p", 5);
    weird.path = OsStr::from_bytes(b"d%/a\n\xff\"\\.json").into();
    weird.outcome =
        Outcome::Proved { proof_file: OsStr::from_bytes(b"a\n\xff.proof.json").into(), proof_hash: "h".into() };
    let copy = Entry { copy_of: Some("a.json".into()), ..proved("a", "c.json", "p", 6) };
    let entries = [proved("a", "a.json", "p", 3), weird, failed("b.json", 4), copy];
    write(out.path(), Shard::WHOLE, &entries);
    let journal = Journal::load(out.path()).unwrap();
    assert_eq!(all(&journal), entries);
    assert!(journal.complaints.is_empty());
    let text = fs::read(file_of(out.path(), Shard::WHOLE)).unwrap();
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 4, "one line each");
    assert_eq!(entries[2].outcome.fault(), Some(Fault::Input));
    assert_eq!(entries[0].outcome.fault(), None);
}

/// The names of the fields are read by other programs.
#[test]
fn a_line_is_one_flat_object() {
    let line = proved("a", "a.json", "p", 3).to_line().unwrap();
    let object: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(object["journal"], 1);
    assert_eq!(object["outcome"], "proved");
    assert_eq!(object["proof_file"], "a.json.proof.json");
    assert_eq!(object["parameters"]["digest"], "d1");
    let object: serde_json::Value = serde_json::from_slice(&failed("x", 1).to_line().unwrap()).unwrap();
    assert_eq!((&object["outcome"], &object["fault"]), (&json!("failed"), &json!("input")));
}

#[test]
fn every_fault_reads_back() {
    for (fault, ..) in Fault::TABLE {
        assert_eq!(Outcome::failed(&Error::new(*fault, "x")).fault(), Some(*fault));
    }
    let other = Outcome::Failed { fault: "weather".into(), message: String::new() };
    assert_eq!(other.fault(), Some(Fault::Internal));
}

#[test]
fn no_folder_and_no_journal_are_empty_journals() {
    let out = tempfile::tempdir().unwrap();
    assert_eq!(all(&Journal::load(out.path()).unwrap()), []);
    assert_eq!(all(&Journal::load(&out.path().join("none")).unwrap()), []);
    // What is no journal by its name is not read.
    for name in ["cuzk-journal.1-of-1.jsonl.bak", "cuzk-journal.x.jsonl", "cuzk-journal.3-of-2.jsonl"] {
        fs::write(out.path().join(name), "garbage\n").unwrap();
    }
    assert!(Journal::load(out.path()).unwrap().complaints.is_empty());
}

#[test]
fn a_last_line_cut_at_any_byte_is_ignored_and_the_next_starts_its_own() {
    let entries = [proved("a", "a.json", "p", 1), proved("ü", "ü\u{1}\n%.json", "p", 2), failed("ü.json", 3)];
    for (last, next) in [(1, 2), (2, 1)] {
        let whole = entries[last].to_line().unwrap();
        for cut in 0..=whole.len() {
            let out = tempfile::tempdir().unwrap();
            let content = [&entries[0].to_line().unwrap(), &whole[..cut]].concat();
            fs::write(file_of(out.path(), Shard::WHOLE), content).unwrap();
            // All but the line's end is a whole entry.
            let survives = cut + 1 >= whole.len();
            let mut expected = vec![entries[0].clone()];
            expected.extend(survives.then(|| entries[last].clone()));
            let journal = Journal::load(out.path()).unwrap();
            assert_eq!(all(&journal), expected, "{cut}");
            assert!(journal.complaints.is_empty(), "{cut}: {:?}", journal.complaints);

            write(out.path(), Shard::WHOLE, &entries[next..=next]);
            expected.push(entries[next].clone());
            let journal = Journal::load(out.path()).unwrap();
            assert_eq!(all(&journal), expected, "{cut}");
            assert!(journal.complaints.is_empty(), "{cut}: {:?}", journal.complaints);
        }
    }
}

#[test]
fn garbage_is_reported_with_its_line_and_stops_nothing() {
    let out = tempfile::tempdir().unwrap();
    let entries = [proved("a", "a", "p", 1), proved("b", "b", "p", 2)];
    write(out.path(), Shard::WHOLE, &entries[..1]);
    let path = file_of(out.path(), Shard::WHOLE);
    let newer = String::from_utf8(entries[0].to_line().unwrap()).unwrap().replace("\"journal\":1", "\"journal\":2");
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(b"\0\0\0\n\n{\"a\":1}\nnot json\n\xff\xfe\n").unwrap();
    file.write_all(newer.as_bytes()).unwrap();
    // Begun and ended as an entry, and damaged between.
    file.write_all(b"{\"journal\":1,\0\0}\n{\"a\":[\n").unwrap();
    write(out.path(), Shard::WHOLE, &entries[1..]);
    let journal = Journal::load(out.path()).unwrap();
    assert_eq!(all(&journal), entries);
    let [complaint] = &journal.complaints[..] else { panic!("{:?}", journal.complaints) };
    let said = "cuzk-journal.1-of-1.jsonl, line 2 and 6 more: not entries, ignored; the first: ";
    assert!(complaint.contains(said), "{complaint}");
    // Another journal has a line of its own.
    fs::write(file_of(out.path(), shard(2, 3)), newer).unwrap();
    let complaints = Journal::load(out.path()).unwrap().complaints;
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    let said = "cuzk-journal.2-of-3.jsonl, line 1: not an entry, ignored: expected format 1, got 2";
    assert!(complaints[1].contains(said), "{complaints:?}");
}

#[test]
fn what_was_proved_is_found_by_content_and_parameters() {
    let out = tempfile::tempdir().unwrap();
    let mut retried = failed("a", 9);
    retried.c1 = Some(content_hash(b"A"));
    write(out.path(), Shard::WHOLE, &[proved("A", "a", "first", 1), proved("A", "b", "second", 2), retried]);
    let journal = Journal::load(out.path()).unwrap();
    let a = content_hash(b"A");
    assert_eq!(journal.find(&a, "d1").unwrap().name, "b", "the newest that was proved");
    assert!(journal.find(&a, "d2").is_none(), "other parameters");
    assert!(journal.find(&content_hash(b"B"), "d1").is_none(), "another file");
    assert!(journal.find_valid(&a, "d1", out.path()).is_none(), "no proof is there");
    fs::write(out.path().join("a.proof.json"), "first").unwrap();
    assert_eq!(journal.find_valid(&a, "d1", out.path()).unwrap().name, "a", "the newest whose proof is there");
}

#[test]
fn a_proof_is_valid_while_it_is_what_was_written() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("a.proof.json");
    let entry = proved("A", "a", "proof", 1);
    assert!(!still_valid(&entry, out.path()), "missing");
    fs::write(&path, "proof").unwrap();
    assert!(still_valid(&entry, out.path()));
    for other in ["", "proog", "proof\n"] {
        fs::write(&path, other).unwrap();
        assert!(!still_valid(&entry, out.path()), "{other:?}");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(!still_valid(&entry, out.path()), "a folder");
    assert!(!still_valid(&failed("a", 1), out.path()));
}

/// A C1 replaced under its name: the proof that is there belongs to the old content, until the new one's replaces it.
#[test]
fn a_replaced_c1_is_another_job() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("a.proof.json");
    write(out.path(), Shard::WHOLE, &[proved("old", "a", "old proof", 1)]);
    fs::write(&path, "old proof").unwrap();
    let (old, new) = (content_hash(b"old"), content_hash(b"new"));
    let journal = Journal::load(out.path()).unwrap();
    assert!(journal.find(&new, "d1").is_none());
    assert_eq!(journal.orphan(out.path(), Path::new("a.proof.json")).unwrap(), None, "known, of the old content");
    // Killed here: the new proof is there, its line is not.
    fs::write(&path, "new proof").unwrap();
    assert!(journal.find_valid(&old, "d1", out.path()).is_none(), "the old job's proof is gone");
    assert_eq!(journal.orphan(out.path(), Path::new("a.proof.json")).unwrap().unwrap(), b"new proof");
    write(out.path(), Shard::WHOLE, &[proved("new", "a", "new proof", 2)]);
    let journal = Journal::load(out.path()).unwrap();
    assert!(journal.find_valid(&new, "d1", out.path()).is_some());
    assert_eq!(journal.orphan(out.path(), Path::new("a.proof.json")).unwrap(), None);
}

#[test]
fn orphans_are_proofs_of_which_no_entry_knows() {
    let out = tempfile::tempdir().unwrap();
    write(out.path(), Shard::WHOLE, &[proved("A", "a", "proof", 1)]);
    let journal = Journal::load(out.path()).unwrap();
    let orphan = |name: &str| journal.orphan(out.path(), Path::new(name));
    assert_eq!(orphan("b.proof.json").unwrap(), None, "nothing there");
    fs::write(out.path().join("b.proof.json"), "proof").unwrap();
    assert_eq!(orphan("b.proof.json").unwrap().unwrap(), b"proof", "known under another name only");
    File::create(out.path().join("b.proof.json")).unwrap().set_len(MAX_PROOF_BYTES + 1).unwrap();
    let error = orphan("b.proof.json").unwrap_err();
    assert_eq!(error.fault(), Fault::Output);
    assert!(error.to_string().contains("expected at most 1048576"), "{error}");
}

#[test]
fn shards_merge_and_the_newest_entry_of_a_file_wins() {
    let out = tempfile::tempdir().unwrap();
    // Within one journal the order counts (its clock was set back); between two the clock does.
    write(out.path(), shard(1, 2), &[proved("a", "a", "1", 50), proved("a2", "a", "2", 20), proved("b", "b", "1", 30)]);
    write(out.path(), shard(2, 2), &[proved("c", "c", "1", 10), failed("b", 40), failed("c", 5)]);
    write(out.path(), Shard::WHOLE, &[failed("c", 4)]);
    let journal = Journal::load(out.path()).unwrap();
    assert_eq!(journal.entries().count(), 7);
    let latest: Vec<_> = journal.latest().iter().map(|e| (e.name.as_str(), e.ended_ms, e.outcome.fault())).collect();
    assert_eq!(latest, [("a", 20, None), ("b", 40, Some(Fault::Input)), ("c", 5, Some(Fault::Input))]);
    assert!(journal.find(&content_hash(b"c"), "d1").is_some(), "a later failure unproves nothing");
}

#[test]
fn a_journal_that_cannot_be_read_or_written_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    fs::create_dir(out.path().join("cuzk-journal.1-of-1.jsonl")).unwrap();
    for error in [Journal::load(out.path()).unwrap_err(), Writer::open(out.path(), Shard::WHOLE).unwrap_err()] {
        assert_eq!(error.fault(), Fault::Output);
        assert!(error.to_string().contains("cuzk-journal.1-of-1.jsonl"), "{error}");
    }
    let missing = Writer::open(&out.path().join("none"), Shard::WHOLE).unwrap_err();
    assert_eq!(missing.fault(), Fault::Output);
}

/// A device that takes nothing stands for a full disk.
#[test]
fn after_a_full_disk_the_next_entry_starts_its_own_line() {
    let out = tempfile::tempdir().unwrap();
    write(out.path(), Shard::WHOLE, &[proved("a", "a", "1", 1)]);
    let mut writer = Writer::open(out.path(), Shard::WHOLE).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let good = std::mem::replace(&mut writer.file, full);
    let error = writer.append(&proved("b", "b", "1", 2)).unwrap_err();
    assert_eq!(error.fault(), Fault::Output);
    assert!(error.to_string().contains("No space left"), "{error}");
    // As much of the line as fitted.
    writer.file = good;
    writer.file.write_all(b"{\"journal\":1,\"c1\":\"ab").unwrap();
    writer.append(&proved("c", "c", "1", 3)).unwrap();
    let journal = Journal::load(out.path()).unwrap();
    assert_eq!(journal.entries().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    assert!(journal.complaints.is_empty(), "{:?}", journal.complaints);
}
