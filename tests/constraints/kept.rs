//! Constraints in a file: what was saved is loaded, and nothing else is.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cuzk::constraints::cache::{self, Found, Kept};
use cuzk::constraints::Constraints;

use super::circuits::{blocks::BlockCircuit, RandomCircuit};
use super::Expected;

const IDENTITY: &str = "v28-some-circuit.params";

fn small() -> RandomCircuit {
    RandomCircuit { rows: 12, inputs: 2, seed: 4 }
}

/// Loads or builds; tells whether the circuit was run.
fn ask(path: &Path) -> (Found, bool) {
    let built = Cell::new(false);
    let circuit = || {
        built.set(true);
        small()
    };
    (cache::load_or_build(Some(path), IDENTITY, circuit).unwrap(), built.get())
}

#[test]
fn what_is_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let circuit = BlockCircuit { seed, wide: 100 };
        let path = folder.path().join(format!("deep/{seed}"));
        let constraints = Constraints::build(circuit).unwrap();
        let length = cache::save(&constraints, &path, IDENTITY).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), length);
        let (loaded, bytes) = cache::load(&path, IDENTITY).unwrap();
        assert_eq!(bytes, length);
        assert!(loaded == constraints);
        Expected::of(circuit).check(&loaded);
    }
    assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 40, "no temporaries are left");
}

#[test]
fn a_circuit_is_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = cache::path(folder.path(), IDENTITY);
    assert!(path.ends_with("v28-some-circuit.constraints"));
    let (first, built) = ask(&path);
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(built && first.kept == Kept::Saved { bytes, replaced: None });
    let (second, built) = ask(&path);
    assert!(!built && second.kept == Kept::Loaded { bytes } && second.constraints == first.constraints);
}

#[test]
fn damage_of_any_byte_is_noticed_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let sound = ask(&path).0.constraints;
    let bytes = fs::read(&path).unwrap();
    for i in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[i] ^= 1 << (i % 8);
        fs::write(&path, &damaged).unwrap();
        assert!(cache::load(&path, IDENTITY).unwrap_err().is_some(), "byte {i}");
    }
    let lengths = (0..bytes.len()).step_by(7).chain([bytes.len() - 1]);
    for damaged in lengths.map(|length| bytes[..length].to_vec()).chain([[&bytes[..], b"x"].concat()]) {
        fs::write(&path, &damaged).unwrap();
        assert!(cache::load(&path, IDENTITY).unwrap_err().is_some(), "{} bytes", damaged.len());
    }
    let (again, built) = ask(&path);
    assert!(built && again.constraints == sound);
    assert!(matches!(again.kept, Kept::Saved { replaced: Some(_), .. }), "{:?}", again.kept);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_file_of_another_circuit_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let other = Constraints::build(BlockCircuit { seed: 1, wide: 0 }).unwrap();
    cache::save(&other, &path, "v28-other-circuit.params").unwrap();
    let (found, built) = ask(&path);
    let Kept::Saved { replaced: Some(reason), .. } = found.kept else { panic!("{:?}", found.kept) };
    assert!(built && reason.contains("another circuit"), "{reason}");
    assert!(!ask(&path).1);
}

#[test]
fn where_nothing_can_be_kept_they_are_built_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    // A file where a folder is needed; a folder where the file is.
    for path in [file.join("below"), folder.path().to_owned()] {
        for _ in 0..2 {
            let (found, built) = ask(&path);
            assert!(built && matches!(found.kept, Kept::InMemory { .. }), "{:?}", found.kept);
        }
    }
    let found = cache::load_or_build(None, IDENTITY, small).unwrap();
    assert!(matches!(found.kept, Kept::InMemory { .. }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporaries are left");
}

#[test]
fn the_file_is_its_owners_alone_and_a_sparse_giant_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    ask(&path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    let reason = cache::load(&path, IDENTITY).unwrap_err().unwrap();
    assert!(reason.contains("bytes too many"), "{reason}");
    assert!(ask(&path).1 && !ask(&path).1);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_others_may_have_written_is_not_believed_but_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/file");
    let sound = ask(&path).0.constraints;
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o077, 0, "made for this user");
    for mode in [0o620, 0o602, 0o666] {
        set_mode(&path, mode);
        let (found, built) = ask(&path);
        let note = found.note();
        assert!(built && found.constraints == sound && found.loaded_from().is_none(), "{mode:o}: {note}");
        assert!(note.contains("deep/file: others can write to it") && note.contains("replaced"), "{note}");
        let (found, built) = ask(&path);
        assert!(!built && found.loaded_from() == Some(&*path), "{mode:o}: {}", found.note());
    }
    for mode in [0o644, 0o400] {
        set_mode(&path, mode);
        assert!(!ask(&path).1, "{mode:o}");
    }
}

#[test]
fn another_users_file_is_not_believed_but_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    ask(&path);
    // Only root can give files away; what is decided of an owner is tested for every user in `files`.
    if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
        return;
    }
    let (found, built) = ask(&path);
    assert!(built && found.note().contains("it belongs to user 12345"), "{}", found.note());
    assert!(!ask(&path).1);
    std::os::unix::fs::chown(folder.path(), Some(12345), None).unwrap();
    let (found, built) = ask(&path);
    assert!(built && found.note().contains("it belongs to user 12345"), "{}", found.note());
    assert!(matches!(found.kept, Kept::InMemory { .. }));
}

#[test]
fn in_a_folder_where_others_can_replace_it_no_file_is_read_or_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for kept in [false, true] {
        for (mode, believed) in [(0o777, false), (0o770, false), (0o1777, true), (0o755, true)] {
            set_mode(folder.path(), mode);
            let (found, built) = ask(&path);
            assert_eq!(!built, believed && kept, "{mode:o}: {}", found.note());
            assert_eq!(matches!(found.kept, Kept::InMemory { .. }), !believed, "{mode:o}");
            assert_eq!(path.exists(), believed || kept);
            if !believed {
                let expected = format!("{}: others can write to it", folder.path().display());
                assert!(found.note().starts_with(&expected), "{}", found.note());
            } else if !kept {
                fs::remove_file(&path).unwrap();
            }
        }
        ask(&path);
    }
}
