//! Prepared files: what is taken, what is refused, and what nobody can tell from the outside.

use super::*;
use crate::backend::bases::Form;
use crate::srs::inventory::{CheckedPrepared, PreparedEntry};
use crate::srs::prepared::{path_beside, write, Found};

const PAGE: usize = 4096;

fn open_dev(folder: &Path) -> Srs {
    open(&identity(), &lookup(folder), Some(&folder.join("verdicts.json")), &silent).unwrap()
}

/// Parameters, and the file that is prepared from them.
fn prepared_in(folder: &Path, form: Form) -> (Srs, PathBuf) {
    run(folder, None).unwrap();
    let srs = open_dev(folder);
    let path = path_beside(srs.path());
    write(&srs, form, &path, &silent).unwrap();
    (srs, path)
}

fn find(srs: &Srs, path: &Path, form: Form) -> Result<Found> {
    let verdicts = path.with_file_name("verdicts.json");
    srs.find_prepared(path, form, Some(&verdicts), false, &silent)
}

/// Why it is not taken.
fn refused(srs: &Srs, path: &Path) -> String {
    let error = find(srs, path, Form::Scalar).err().expect("should be refused");
    assert_eq!(error.fault(), Fault::Parameters);
    let message = error.to_string();
    assert!(message.starts_with(&*path.to_string_lossy()), "no path: {message}");
    message
}

#[test]
fn points_are_read_from_the_prepared_file_page_by_page() {
    for form in [Form::Scalar, Form::Ifma] {
        let folder = tempfile::tempdir().unwrap();
        let (srs, path) = prepared_in(folder.path(), form);
        assert_eq!(path.file_name().unwrap(), "v28-stacked-proof-of-replication-small.params.prepared");
        let bytes = fs::read(&path).unwrap();
        let Found::Prepared(prepared) = find(&srs, &path, form).unwrap() else { panic!("not taken") };
        assert_eq!((prepared.form(), prepared.bytes()), (form, bytes.len() as u64));
        assert!(srs.l().prepared(form).is_none());
        let srs = srs.with_prepared(*prepared);
        let pages = [srs.h(), srs.l(), srs.a(), srs.b_g1()].map(|bases| {
            let points = bases.prepared(form).unwrap();
            assert_eq!(points.len(), bases.len());
            points.as_flattened()
        });
        let pages = pages.into_iter().chain([srs.b_g2().prepared(form).unwrap().as_flattened()]);
        for (k, points) in pages.enumerate() {
            assert_eq!(points, &bytes[(k + 1) * PAGE..][..points.len()], "query {k}");
        }
        // In 2^384: what is as blst has it.
        if form == Form::Scalar {
            use crate::backend::cpu::curve::{Curve, G1, G2};
            let (l, b) = (srs.l(), srs.b_g2());
            assert!(G1::load(&l.prepared(form).unwrap()[1]) == G1::decode(l.point(1)));
            assert!(G2::load(&b.prepared(form).unwrap()[1]) == G2::decode(b.point(1)));
        }
        // Somebody writes into it while it is used.
        srs.unchanged().unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        let error = srs.unchanged().unwrap_err().to_string();
        assert!(error.contains(".prepared: changed while it was in use"), "{error}");
    }
}

#[test]
fn none_and_one_for_other_arithmetic_are_told_apart_from_wrong_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (srs, path) = prepared_in(folder.path(), Form::Ifma);
    assert!(matches!(find(&srs, &path, Form::Scalar), Ok(Found::Other(Form::Ifma))));
    fs::remove_file(&path).unwrap();
    assert!(matches!(find(&srs, &path, Form::Scalar), Ok(Found::Nothing)));
}

#[test]
fn every_flipped_bit_and_every_other_length_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (srs, path) = prepared_in(folder.path(), Form::Scalar);
    let whole = fs::read(&path).unwrap();
    // Of the zeros between queries some; of the rest all.
    let zeros = |place: &usize| whole[*place] == 0 && !place.is_multiple_of(61);
    for place in (0..whole.len()).filter(|place| !zeros(place)) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(&path, bytes).unwrap();
        refused(&srs, &path);
    }
    let with = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        refused(&srs, &path)
    };
    let [mut point, mut zero, mut header] = [whole.clone(), whole.clone(), whole.clone()];
    point[3 * PAGE + 96] ^= 1;
    assert!(with(&point).contains("differs from the original in a, from point 1 (offset 12384) on"));
    zero[2 * PAGE - 1] = 1;
    assert!(with(&zero).contains("damaged: its points' digest is "));
    header[PAGE - 1] = 1;
    assert!(with(&header).contains("its header is damaged"));
    for length in (0..whole.len()).step_by(127).chain([PAGE - 1, PAGE, whole.len() - 1]) {
        let message = with(&whole[..length]);
        let expected = if length < 25 { "no prepared parameter file" } else { "truncated: " };
        assert!(message.contains(expected), "{length}: {message}");
    }
    assert!(with(&[&whole[..], &[0]].concat()).contains("too long: "));
    assert!(with(b"<html>").contains("no prepared parameter file"));
    let later = String::from_utf8_lossy(&whole[..PAGE]).replace("\"version\":1", "\"version\":2");
    assert!(with(&[later.as_bytes(), &whole[PAGE..]].concat()).contains("of version 2, and this cuzk reads version 1"));
    fs::write(&path, &whole).unwrap();
    assert!(matches!(find(&srs, &path, Form::Scalar), Ok(Found::Prepared(_))));
}

#[test]
fn a_file_of_other_parameters_is_refused_and_so_is_one_that_calls_itself_theirs() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (srs, path) = prepared_in(folder.path(), Form::Scalar);
    run(other.path(), Some("other")).unwrap();
    let theirs = open_dev(other.path());
    let (ours, copy) = (fs::read(&path).unwrap(), path_beside(theirs.path()));
    fs::copy(&path, &copy).unwrap();
    let message = refused(&theirs, &copy);
    assert!(message.contains("made from another file: from v28-") && message.contains(srs.digest()), "{message}");
    assert!(message.contains(theirs.digest()), "{message}");
    // With their header before our points.
    write(&theirs, Form::Scalar, &copy, &silent).unwrap();
    let header = &fs::read(&copy).unwrap()[..PAGE];
    fs::write(&copy, [header, &ours[PAGE..]].concat()).unwrap();
    assert!(refused(&theirs, &copy).contains("differs from the original in h, from point 0"));
    // The original is replaced: what was made from the old one is stale.
    fs::remove_file(srs.path()).unwrap();
    fs::remove_file(srs.path().with_extension("vk")).unwrap();
    run(folder.path(), Some("other")).unwrap();
    assert!(refused(&open_dev(folder.path()), &path).contains("made from another file"));
}

#[test]
fn its_digest_is_computed_once() {
    let folder = tempfile::tempdir().unwrap();
    let (srs, path) = prepared_in(folder.path(), Form::Scalar);
    let hashed = AtomicUsize::new(0);
    let report = |event| {
        if let Progress::Work { stage: Stage::Hashing, done: 0, total } = event {
            assert_eq!(total, fs::metadata(&path).unwrap().len() - PAGE as u64);
            hashed.fetch_add(1, Ordering::Relaxed);
        }
    };
    let verdicts = folder.path().join("verdicts.json");
    let find = |recheck| {
        srs.find_prepared(&path, Form::Scalar, Some(&verdicts), recheck, &report).unwrap();
        hashed.load(Ordering::Relaxed)
    };
    assert_eq!((find(false), find(false), find(true), find(false)), (1, 1, 2, 2));
}

#[test]
fn lists_and_checks_tell_what_lies_beside_the_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let verdicts = folder.path().join("verdicts.json");
    let catalogue = Catalogue::new([]);
    let list = || list_listed(&catalogue, &lookup(folder.path()), Some(&verdicts)).unwrap().remove(0).prepared;
    let check = || {
        let checked = check_listed(&catalogue, folder.path(), "--params", true, Some(&verdicts), &silent);
        checked.unwrap().remove(0).prepared
    };
    run(folder.path(), None).unwrap();
    assert!(list().is_none() && check().is_none());
    let (srs, path) = prepared_in(folder.path(), Form::Ifma);
    let PreparedEntry { bytes, form, verdict, .. } = list().unwrap();
    assert_eq!((bytes, form, verdict), (fs::metadata(&path).unwrap().len(), Some(Form::Ifma), Verdict::Unchecked));
    let CheckedPrepared { outcome, .. } = check().unwrap();
    let sound = outcome.unwrap();
    assert!(sound.all_points && sound.form == Form::Ifma && sound.bytes == bytes, "{sound:?}");
    assert_eq!(list().unwrap().verdict, Verdict::Verified);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(matches!(list().unwrap().verdict, Verdict::Refused(why) if why.contains("truncated")));
    assert!(check().unwrap().outcome.unwrap_err().to_string().contains("truncated"));
    // Wrong originals have nothing beside them that is worth a look.
    fs::write(srs.path(), b"<html>").unwrap();
    assert!(list().is_none() && check().is_none());
}

/// More points than a sample has, one pair exchanged, and a header to match.
#[test]
fn a_full_check_compares_every_point() {
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
    generate(&request, Large, &silent).unwrap();
    let srs = open_dev(folder.path());
    let path = path_beside(srs.path());
    write(&srs, Form::Scalar, &path, &silent).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let before = digest::of_bytes(&bytes[PAGE..]);
    let l = (PAGE + srs.h().bytes().len()).next_multiple_of(PAGE);
    bytes[l + 96..l + 3 * 96].rotate_left(96);
    let header = String::from_utf8_lossy(&bytes[..PAGE]).replace(&before, &digest::of_bytes(&bytes[PAGE..]));
    bytes[..PAGE].copy_from_slice(header.as_bytes());
    fs::write(&path, bytes).unwrap();
    assert!(matches!(find(&srs, &path, Form::Scalar), Ok(Found::Prepared(_))), "what looks whole is taken");
    let check = |full| {
        let checked = check_listed(Catalogue::official(), folder.path(), "--params", full, None, &silent);
        checked.unwrap().remove(0).prepared.unwrap().outcome
    };
    check(false).unwrap();
    let message = check(true).unwrap_err().to_string();
    assert!(message.contains("differs from the original in l, from point 0"), "{message}");
}

#[test]
fn what_is_no_prepared_file_is_left_alone_and_leftovers_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (srs, path) = prepared_in(folder.path(), Form::Scalar);
    let write = |path: &Path| write(&srs, Form::Ifma, path, &silent);
    for (name, content) in [("mine", "text"), ("empty", "")] {
        let mine = folder.path().join(name);
        fs::write(&mine, content).unwrap();
        let error = write(&mine).unwrap_err();
        assert_eq!(error.fault(), Fault::Usage);
        assert!(error.to_string().contains("is no prepared parameter file"), "{error}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), content);
    }
    assert_eq!(write(srs.path()).unwrap_err().fault(), Fault::Usage);
    assert_eq!(write(folder.path()).unwrap_err().fault(), Fault::Usage);
    assert_eq!(write(&folder.path().join("none/x")).unwrap_err().fault(), Fault::Output);
    // One that is being written is held; one of a killed run is not.
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let [stale, held] = ["a", "b"].map(|end| folder.path().join(format!(".{name}.tmp-{end}")));
    fs::write(&stale, "").unwrap();
    let file = fs::File::create(&held).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    write(&path).unwrap();
    assert!(!stale.exists() && held.exists());
    assert!(matches!(find(&srs, &path, Form::Scalar), Ok(Found::Other(Form::Ifma))), "replaced");
    let temporaries = fs::read_dir(folder.path()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains(".tmp-")
    });
    assert_eq!(temporaries.count(), 1);
}

#[test]
fn an_original_with_a_point_at_infinity_is_not_prepared() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), None).unwrap();
    let srs = open_dev(folder.path());
    // Behind the checks, as a point that no sample has seen.
    let file = fs::File::options().write(true).open(srs.path()).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, &[0x40], srs.layout().b_g2.point_offset(1) as u64).unwrap();
    let path = path_beside(srs.path());
    let error = write(&srs, Form::Scalar, &path, &silent).unwrap_err();
    assert_eq!(error.fault(), Fault::Parameters);
    assert!(error.to_string().contains("point 1 of b_g2"), "{error}");
    assert!(!path.exists());
}
