//! Lookup, refusal and inventory, on a circuit of a few rows and a catalogue of our own.

mod generation;
mod prepared;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use tempfile::TempDir;

use super::catalogue::OfficialFile;
use super::development::Record;
use super::development::MARKER;
use super::generate::{generate, Generated, Request};
use super::inventory::{check_listed, list_listed, Verdict};
use super::progress::{silent, Progress, Stage};
use super::*;

/// x * x = y, y * (x + 1) = p.
#[derive(Clone, Copy)]
struct Small;

impl Circuit<Fr> for Small {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let none = || Err(SynthesisError::AssignmentMissing);
        let x = cs.alloc(|| "x", none)?;
        let y = cs.alloc(|| "y", none)?;
        let p = cs.alloc_input(|| "p", none)?;
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + y);
        cs.enforce(|| "product", |lc| lc + y, |lc| lc + x + CS::one(), |lc| lc + p);
        Ok(())
    }
}

fn identity() -> CircuitIdentity {
    let [params, vk, meta] = ["params", "vk", "meta"].map(|e| format!("v28-stacked-proof-of-replication-small.{e}"));
    CircuitIdentity { params, vk, meta }
}

fn run(folder: &Path, seed: Option<&str>) -> Result<Generated> {
    let identity = identity();
    let request = Request { identity: &identity, sector_bytes: 2048, folder, folder_source: "--params", seed };
    generate(&request, Small, &silent)
}

fn lookup(folder: &Path) -> Lookup {
    Lookup { folder: folder.into(), folder_source: "--params".into(), recheck: false }
}

/// A catalogue in which the files of `folder` are the official ones.
fn official(folder: &Path) -> Catalogue {
    let identity = identity();
    Catalogue::new([identity.params, identity.vk].map(|name| {
        let digest = digest::of_bytes(&fs::read(folder.join(&name)).unwrap());
        (name, OfficialFile { digest, sector_bytes: 2048 })
    }))
}

fn open_in(catalogue: &Catalogue, folder: &Path) -> Result<Srs> {
    open_listed(catalogue, &identity(), &lookup(folder), Some(&folder.join("verdicts.json")), &silent)
}

/// The message of an expected refusal, which must name the path and its source.
fn refusal(catalogue: &Catalogue, folder: &Path) -> String {
    let error = open_in(catalogue, folder).err().expect("should be refused");
    assert_eq!(error.fault(), Fault::Parameters, "{error}");
    let message = error.to_string();
    assert!(message.contains(&*folder.to_string_lossy()), "no path: {message}");
    message
}

/// Development parameters, and a copy of them without marker and record that a catalogue holds official.
fn two_folders() -> (TempDir, TempDir, Catalogue) {
    let (dev, off) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(dev.path(), None).unwrap();
    run(off.path(), Some("ceremony")).unwrap();
    let names = identity();
    fs::remove_file(off.path().join(MARKER)).unwrap();
    fs::remove_file(off.path().join(format!("{}.dev.json", names.params))).unwrap();
    let catalogue = official(off.path());
    (dev, off, catalogue)
}

#[test]
fn generated_parameters_open_as_development() {
    let folder = tempfile::tempdir().unwrap();
    let generated = run(folder.path(), None).unwrap();
    let srs = open(&identity(), &lookup(folder.path()), None, &silent).unwrap();
    assert_eq!(srs.origin(), Origin::Development);
    assert_eq!(srs.digest(), generated.record.digest);
    assert_eq!(srs.path(), generated.path);
    // 2 rows and 2 inputs: domain 4; x occurs in A and B, y in A, ONE in B.
    assert_eq!((srs.h().len(), srs.l().len(), srs.a().len()), (3, 2, 4));
    assert_eq!((srs.b_g1().len(), srs.b_g2().len(), srs.vk().ic.len()), (2, 2, 2));
    assert_eq!((generated.record.constraints, generated.record.inputs, generated.record.aux), (4, 2, 2));
    srs.check_points(&silent).unwrap();
    let meta = fs::read_to_string(folder.path().join(identity().meta)).unwrap();
    assert_eq!(meta, r#"{"sector_size":2048}"#);
    let key = open_vk(&identity(), &lookup(folder.path())).unwrap();
    assert_eq!((key.origin, key.digest), (Origin::Development, generated.record.vk_digest));
}

#[test]
fn official_files_are_told_by_their_digests() {
    let (_dev, off, catalogue) = two_folders();
    let srs = open_in(&catalogue, off.path()).unwrap();
    assert_eq!(srs.origin(), Origin::Official);
    assert_eq!(srs.digest(), catalogue.get(&identity().params).unwrap().digest);
    // A marker does not make them development ones.
    fs::write(off.path().join(MARKER), b"").unwrap();
    assert_eq!(open_in(&catalogue, off.path()).unwrap().origin(), Origin::Official);
}

#[test]
fn the_digest_is_computed_once() {
    let (_dev, off, catalogue) = two_folders();
    let hashed = AtomicUsize::new(0);
    let report = |p| {
        if let Progress::Work { stage: Stage::Hashing, done: 0, .. } = p {
            hashed.fetch_add(1, Ordering::Relaxed);
        }
    };
    let verdicts = off.path().join("cache/verdicts.json");
    let open = |recheck| {
        let lookup = Lookup { recheck, ..lookup(off.path()) };
        let before = hashed.load(Ordering::Relaxed);
        let srs = open_listed(&catalogue, &identity(), &lookup, Some(&verdicts), &report).unwrap();
        let after = hashed.load(Ordering::Relaxed);
        assert_eq!(srs.hashed_bytes(), if after > before { srs.layout().file_bytes() as u64 } else { 0 });
        after
    };
    assert_eq!((open(false), open(false), open(true), open(false)), (1, 1, 2, 2));
}

#[test]
fn development_files_do_not_pass_for_official_ones() {
    let (dev, off, catalogue) = two_folders();
    let names = identity();
    assert_eq!(open_in(&catalogue, dev.path()).unwrap().origin(), Origin::Development);

    // The .params alone, under the official name beside the official key.
    let params = fs::read(off.path().join(&names.params)).unwrap();
    fs::copy(dev.path().join(&names.params), off.path().join(&names.params)).unwrap();
    assert!(refusal(&catalogue, off.path()).contains("not the official file"));
    // Both.
    fs::copy(dev.path().join(&names.vk), off.path().join(&names.vk)).unwrap();
    assert!(refusal(&catalogue, off.path()).contains("not the official file: its digest is"));
    // And the record.
    let record = format!("{}.dev.json", names.params);
    fs::copy(dev.path().join(&record), off.path().join(&record)).unwrap();
    let message = refusal(&catalogue, off.path());
    assert!(message.contains("not the official file") && message.contains("--dev-params"), "{message}");
    assert!(message.contains(&format!("{MARKER} is missing here")), "{message}");
    // A development key beside official parameters.
    fs::write(off.path().join(&names.params), params).unwrap();
    fs::write(off.path().join(MARKER), b"").unwrap();
    let message = refusal(&catalogue, off.path());
    assert!(message.contains("differs from"), "{message}");
    // A marked folder without the record.
    fs::remove_file(dev.path().join(&record)).unwrap();
    assert!(refusal(&catalogue, dev.path()).contains("not recorded"));
}

#[test]
fn damaged_and_missing_files_are_refused() {
    let (_dev, off, catalogue) = two_folders();
    let names = identity();
    let (params, vk) = (off.path().join(&names.params), off.path().join(&names.vk));
    let (whole, key) = (fs::read(&params).unwrap(), fs::read(&vk).unwrap());
    let layout = Layout::parse(&whole, &params).unwrap();
    let with = |offset: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[offset] = value;
        fs::write(&params, bytes).unwrap();
        refusal(&catalogue, off.path())
    };
    // The last byte of a point of h; its flags; the verifying key within.
    assert!(with(layout.h.offset + 95, !whole[layout.h.offset + 95]).contains("point 0 of h"));
    assert!(with(layout.b_g2.point_offset(1), 0x40).contains("point 1 of b_g2"));
    assert!(with(layout.a.point_offset(0), 0x80).contains("flag bits"));
    assert!(with(95, !whole[95]).contains("verifying key within differs"));
    fs::write(&params, &whole[..whole.len() - 1]).unwrap();
    assert!(refusal(&catalogue, off.path()).contains("truncated"));
    fs::write(&params, "<html>404</html>").unwrap();
    assert!(refusal(&catalogue, off.path()).contains("HTML"));
    fs::write(&params, "").unwrap();
    assert!(refusal(&catalogue, off.path()).contains("an empty file"));
    // Two points swapped: only the digest tells.
    let mut swapped = whole.clone();
    swapped[layout.l.range()].rotate_left(96);
    fs::write(&params, swapped).unwrap();
    assert!(refusal(&catalogue, off.path()).contains("its digest is"));

    fs::write(&params, &whole).unwrap();
    for (bytes, what) in [
        (&key[..key.len() - 1], "truncated"),
        (&key[..100], "truncated"),
        (&[key.clone(), vec![0]].concat()[..], "too long"),
        (b"<html>", "HTML"),
        (b"", "an empty file"),
        (&[&[0x40][..], &key[1..]].concat()[..], "flag bits at offset 0"),
        (&[&key[..95], &[!key[95]], &key[96..]].concat()[..], "not a verifying key"),
    ] {
        fs::write(&vk, bytes).unwrap();
        let message = refusal(&catalogue, off.path());
        assert!(message.contains(what), "{what}: {message}");
    }
    fs::remove_file(&vk).unwrap();
    assert!(refusal(&catalogue, off.path()).contains("no such file"));
    fs::remove_file(&params).unwrap();
    let message = refusal(&catalogue, off.path());
    assert!(
        message.contains("no such file") && message.contains("(--params)") && message.contains("2KiB"),
        "{message}"
    );
}

#[test]
fn files_without_an_official_name_need_the_marker() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), None).unwrap();
    fs::remove_file(folder.path().join(MARKER)).unwrap();
    assert!(refusal(Catalogue::official(), folder.path()).contains("no official file has this name"));
}

#[test]
fn the_list_tells_official_development_and_foreign_files() {
    let (dev, off, catalogue) = two_folders();
    let (params, verdicts) = (identity().params, off.path().join("verdicts.json"));
    let list = |folder: &Path| list_listed(&catalogue, &lookup(folder), Some(&verdicts)).unwrap();
    let one = |folder: &Path| {
        let mut entries = list(folder);
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.remove(0)
    };
    let entry = one(off.path());
    assert_eq!(
        (entry.origin, entry.verdict, entry.sector_bytes),
        (Some(Origin::Official), Verdict::Unchecked, Some(2048))
    );
    open_listed(&catalogue, &identity(), &lookup(off.path()), Some(&verdicts), &silent).unwrap();
    assert_eq!(one(off.path()).verdict, Verdict::Verified);
    assert_eq!(one(dev.path()).origin, Some(Origin::Development));
    let missing = one(&off.path().join("none"));
    assert_eq!((missing.verdict, missing.bytes, missing.name), (Verdict::Missing, None, params.clone()));

    fs::write(off.path().join("zzz.params"), "<html>").unwrap();
    fs::copy(dev.path().join(&params), off.path().join(&params)).unwrap();
    let entries = list(off.path());
    assert_eq!(entries.len(), 2);
    assert!(matches!(&entries[0].verdict, Verdict::Refused(why) if why.contains("differs")), "{entries:?}");
    assert_eq!((entries[1].origin, entries[1].sector_bytes, entries[1].bytes), (None, None, Some(6)));
    assert!(matches!(&entries[1].verdict, Verdict::Refused(_)));
}

#[test]
fn check_looks_at_every_point_when_asked() {
    // 4096 rows: enough points for the sample to miss some.
    struct Large;
    impl Circuit<Fr> for Large {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            (0..300).try_for_each(|_| {
                let x = cs.alloc(|| "x", || Err(SynthesisError::AssignmentMissing))?;
                cs.enforce(|| "bit", |lc| lc + x, |lc| lc + x - CS::one(), |lc| lc);
                Ok(())
            })
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let names = identity();
    let request =
        Request { identity: &names, sector_bytes: 2048, folder: folder.path(), folder_source: "x", seed: None };
    let mut record = generate(&request, Large, &silent).unwrap().record;
    let params = folder.path().join(&names.params);
    let check = |target: &Path, full| {
        let mut checked = check_listed(Catalogue::official(), target, "--params", full, None, &silent).unwrap();
        assert_eq!(checked.len(), 1);
        checked.remove(0).outcome
    };
    let sound = check(&params, true).unwrap();
    assert!(sound.all_points && sound.origin == Origin::Development && sound.bytes == record.bytes);
    assert!(!check(folder.path(), false).unwrap().all_points);

    // A wrong point between those sampled, with a digest to match.
    let mut bytes = fs::read(&params).unwrap();
    let layout = Layout::parse(&bytes, &params).unwrap();
    bytes[layout.l.point_offset(1) + 95] ^= 1;
    fs::write(&params, &bytes).unwrap();
    assert!(check(&params, true).unwrap_err().to_string().contains("digest"));
    record.digest = digest::of_bytes(&bytes);
    fs::write(Record::path(folder.path(), &names), serde_json::to_vec(&record).unwrap()).unwrap();
    check(&params, false).unwrap();
    let message = check(&params, true).unwrap_err().to_string();
    assert!(message.contains("point 1 of l") && message.contains("not a point of the curve"), "{message}");

    let error =
        |target: &Path| check_listed(Catalogue::official(), target, "--params", false, None, &silent).unwrap_err();
    assert!(error(&folder.path().join("none")).to_string().contains("(--params)"));
    assert!(error(&folder.path().join(&names.vk)).to_string().contains("ends in .params"));
    assert!(error(tempfile::tempdir().unwrap().path()).to_string().contains("no .params files"));
}

#[test]
fn a_file_that_is_written_into_while_it_is_used_is_noticed() {
    let (_dev, off, catalogue) = two_folders();
    let params = off.path().join(identity().params);
    let srs = open_in(&catalogue, off.path()).unwrap();
    srs.unchanged().unwrap();
    // Another file under the name is no matter: the one that is mapped stays as it is.
    fs::copy(&params, off.path().join("copy")).unwrap();
    fs::rename(off.path().join("copy"), &params).unwrap();
    srs.unchanged().unwrap();

    let srs = open_in(&catalogue, off.path()).unwrap();
    let file = fs::File::options().write(true).open(&params).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let error = srs.unchanged().unwrap_err();
    assert_eq!(error.fault(), Fault::Parameters);
    assert!(error.to_string().contains("changed while it was in use"), "{error}");
    let srs = open_in(&catalogue, off.path()).unwrap();
    let longer = file.metadata().unwrap().len() + 1;
    file.set_len(longer).unwrap();
    assert!(srs.unchanged().unwrap_err().to_string().contains(&format!("now {longer}")));
}

#[test]
fn the_remedy_is_that_of_the_folder() {
    let (dev, off, catalogue) = two_folders();
    for (folder, remedy) in [(dev.path(), "cuzk params generate` again"), (off.path(), "lotus fetch-params")] {
        let (params, vk) = (folder.join(identity().params), folder.join(identity().vk));
        let whole = fs::read(&params).unwrap();
        let layout = Layout::parse(&whole, &params).unwrap();
        let mut wrong_point = whole.clone();
        wrong_point[layout.h.offset + 95] ^= 1;
        let mut wrong_key = whole.clone();
        wrong_key[95] ^= 1;
        let damages = [&whole[..100], b"<html>", &[&whole[..], &[0]].concat()[..], &wrong_point, &wrong_key];
        for damaged in damages {
            fs::write(&params, damaged).unwrap();
            let message = refusal(&catalogue, folder);
            assert!(message.contains(remedy), "{message}");
        }
        fs::write(&params, &whole).unwrap();
        fs::write(&vk, b"<html>").unwrap();
        assert!(refusal(&catalogue, folder).contains(remedy));
    }
    fs::remove_file(dev.path().join(identity().vk)).unwrap();
    let message = refusal(&catalogue, dev.path());
    assert!(
        message.contains("make development parameters with `cuzk params generate") && !message.contains("lotus"),
        "{message}"
    );
}
