//! Generation: which folders, reuse, what is left behind, progress.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::thread;

use super::*;
use crate::srs::development::Record;
use crate::srs::progress::Stage;

/// The same with a variable in no constraint.
struct Loose;

impl Circuit<Fr> for Loose {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        cs.alloc(|| "loose", || Err(SynthesisError::AssignmentMissing))?;
        Small.synthesize(cs)
    }
}

#[test]
fn generation_is_repeatable_and_reuses_what_is_there() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = run(one.path(), None).unwrap();
    assert!(!first.reused);
    let again = run(one.path(), None).unwrap();
    assert!(again.reused && again.record == first.record);
    assert_eq!(run(other.path(), None).unwrap().record, first.record);
    // Other secrets replace the files; so does a lost file.
    let seeded = run(one.path(), Some("s")).unwrap();
    assert!(!seeded.reused && seeded.record.digest != first.record.digest);
    assert_eq!(open_in(Catalogue::official(), one.path()).unwrap().digest(), seeded.record.digest);
    fs::remove_file(one.path().join(identity().meta)).unwrap();
    assert!(!run(one.path(), Some("s")).unwrap().reused);
}

#[test]
fn folders_that_may_be_official_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("v28-other.params"), b"").unwrap();
    let error = run(folder.path(), None).unwrap_err();
    assert_eq!(error.fault(), Fault::Usage);
    assert!(error.to_string().contains("v28-other.params") && error.to_string().contains("--params"), "{error}");
    assert!(!folder.path().join(MARKER).exists());
    // In a marked folder, a file that was not generated is left alone.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(MARKER), b"").unwrap();
    fs::write(folder.path().join(identity().params), b"precious").unwrap();
    let error = run(folder.path(), None).unwrap_err();
    assert!(error.to_string().contains("left alone"), "{error}");
    assert_eq!(fs::read(folder.path().join(identity().params)).unwrap(), b"precious");
}

#[test]
fn nothing_is_left_of_failed_and_interrupted_runs() {
    let folder = tempfile::tempdir().unwrap();
    let names = identity();
    let request =
        Request { identity: &names, sector_bytes: 2048, folder: folder.path(), folder_source: "x", seed: None };
    let error = generate(&request, Loose, &silent).unwrap_err();
    assert!(error.to_string().contains("aux variable 0") && error.to_string().contains("no constraint"), "{error}");

    let stale = folder.path().join(format!(".{}.tmp-abc", names.params));
    let other = folder.path().join(".other.params.tmp-abc");
    fs::write(&stale, b"half").unwrap();
    fs::write(folder.path().join(format!(".{MARKER}.tmp-abc")), b"half").unwrap();
    fs::write(&other, b"half").unwrap();
    // What a run leaves that was killed between the record and the .params.
    let record = run(tempfile::tempdir().unwrap().path(), None).unwrap().record;
    fs::write(Record::path(folder.path(), &names), serde_json::to_vec(&record).unwrap()).unwrap();
    assert!(refusal(Catalogue::official(), folder.path()).contains("no such file"));
    assert!(!run(folder.path(), None).unwrap().reused);
    let present: BTreeSet<String> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let expected = [
        ".other.params.tmp-abc".into(),
        format!(".{}.lock", names.params),
        format!("{}.dev.json", names.params),
        MARKER.into(),
        names.params,
        names.vk,
        names.meta,
    ];
    assert_eq!(present, BTreeSet::from(expected));
}

#[test]
fn two_runs_at_once_make_the_parameters_once() {
    let folder = tempfile::tempdir().unwrap();
    let made: Vec<Generated> = thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| run(folder.path(), None).unwrap())).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|generated| !generated.reused).count(), 1);
    assert!(made.iter().all(|generated| generated.record == made[0].record));
    open_in(Catalogue::official(), folder.path()).unwrap();
}

#[test]
fn progress_ends_at_its_total() {
    let folder = tempfile::tempdir().unwrap();
    let names = identity();
    let request =
        Request { identity: &names, sector_bytes: 2048, folder: folder.path(), folder_source: "x", seed: None };
    let seen = Mutex::new(Vec::new());
    generate(&request, Small, &|p| seen.lock().unwrap().push(p)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen[0], Progress::Work { stage: Stage::Recording, done: 0, total: 0 });
    let Progress::Note(note) = &seen[1] else { panic!("{:?}", seen[1]) };
    assert_eq!(*note, format!("development parameters for 2KiB: 2.46 KiB to write into {}", folder.path().display()));
    // 3 of h, 2 of l, 4 of a, 2 of b_g1 and of b_g2.
    assert_eq!(seen[2], Progress::Work { stage: Stage::Generating, done: 0, total: 13 });
    assert_eq!(seen.last(), Some(&Progress::Work { stage: Stage::Generating, done: 13, total: 13 }));
}

#[test]
fn damaged_files_are_made_again_and_foreign_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), None).unwrap();
    let (params, vk) = (folder.path().join(identity().params), folder.path().join(identity().vk));
    let (whole, key) = (fs::read(&params).unwrap(), fs::read(&vk).unwrap());
    for (path, bytes) in [(&vk, &key[..key.len() - 1]), (&vk, b"<html>"), (&params, &whole[..whole.len() - 1])] {
        fs::write(path, bytes).unwrap();
        assert!(!run(folder.path(), None).unwrap().reused);
        assert_eq!((fs::read(&params).unwrap(), fs::read(&vk).unwrap()), (whole.clone(), key.clone()));
    }
    // Sparse: an attempt to read it all would be noticed.
    fs::File::options().write(true).open(&vk).unwrap().set_len(1 << 40).unwrap();
    assert!(refusal(Catalogue::official(), folder.path()).contains("expected at most"));
    assert!(!run(folder.path(), None).unwrap().reused);
    // The same files where no marker says that they may be development ones.
    fs::remove_file(folder.path().join(MARKER)).unwrap();
    assert_eq!(run(folder.path(), None).unwrap_err().fault(), Fault::Usage);
    assert_eq!(fs::read(&params).unwrap(), whole);
    fs::write(folder.path().join(MARKER), b"").unwrap();
    let record = Record::path(folder.path(), &identity());
    fs::File::options().write(true).open(&record).unwrap().set_len(1 << 40).unwrap();
    assert!(run(folder.path(), None).unwrap_err().to_string().contains("left alone"));
    fs::write(&record, serde_json::to_vec(&made.record).unwrap()).unwrap();
    assert!(run(folder.path(), None).unwrap().reused);
}

#[test]
fn what_is_there_is_used_without_writing() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), None).unwrap();
    fs::remove_file(folder.path().join(format!(".{}.lock", identity().params))).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let again = run(folder.path(), None);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(again.unwrap(), Generated { reused: true, ..made });
    // Also for a user whom permissions do not stop: no lock was made.
    assert!(!folder.path().join(format!(".{}.lock", identity().params)).exists());
}
