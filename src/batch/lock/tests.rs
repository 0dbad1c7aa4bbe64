use std::fs::File;
use std::sync::atomic::AtomicUsize;
use std::sync::Barrier;
use std::time::SystemTime;

use tempfile::TempDir;

use super::file::{beat, held_by};
use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn us() -> Holder {
    Holder::this_process().unwrap()
}

/// A run of this machine whose process is gone.
fn dead() -> Holder {
    Holder { started: Some(1), pid: u32::MAX, ..us() }
}

fn elsewhere() -> Holder {
    Holder { host: "elsewhere".into(), pid: 77, ..us() }
}

/// Writes a lock file as `holder` would have, so long ago.
fn plant(path: &Path, holder: &Holder, ago: Duration) {
    fs::write(path, serde_json::to_string(holder).unwrap() + "\n").unwrap();
    age(path, ago);
}

fn age(path: &Path, ago: Duration) {
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - ago).unwrap();
}

fn whole(folder: &Path) -> PathBuf {
    path_of(folder, Shard::WHOLE)
}

fn acquire(folder: &Path) -> Result<Lock> {
    Lock::acquire(folder, Shard::WHOLE, &LockOptions::default())
}

#[track_caller]
fn refused(result: Result<Lock>, parts: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.fault(), Fault::Output);
    for part in parts {
        assert!(error.to_string().contains(part), "expected {part:?} in: {error}");
    }
}

#[test]
fn a_lock_is_a_file_that_names_its_run_and_goes_with_it() {
    let folder = folder();
    let out = folder.path().join("made/on demand");
    let lock = acquire(&out).unwrap();
    assert_eq!(names(&out), ["cuzk-lock.1-of-1"]);
    let written: Holder = serde_json::from_slice(&fs::read(lock.path()).unwrap()).unwrap();
    assert_eq!(&written, lock.holder());
    lock.check().unwrap();
    drop(lock);
    assert_eq!(names(&out), [""; 0]);
}

#[test]
fn a_second_run_is_told_who_is_at_work() {
    let folder = folder();
    let first = acquire(folder.path()).unwrap();
    age(first.path(), Duration::from_millis(30_500));
    let pid = format!("process {} on {}", std::process::id(), host_name());
    refused(acquire(folder.path()), &["shard 1/1", &pid, "last sign of life was 30 seconds ago"]);
    // Alive without a sign of life: stopped, perhaps. It is still there.
    age(first.path(), HOUR + Duration::from_secs(30));
    refused(acquire(folder.path()), &["60 minutes ago"]);
    assert_eq!(names(folder.path()), ["cuzk-lock.1-of-1"]);
    first.check().unwrap();
    drop(first);
    acquire(folder.path()).unwrap();
}

#[test]
fn shards_of_one_division_work_side_by_side() {
    let folder = folder();
    let take = |index| Lock::acquire(folder.path(), Shard::new(index, 3).unwrap(), &LockOptions::default());
    let locks = [take(1).unwrap(), take(2).unwrap(), take(3).unwrap()];
    assert_eq!(names(folder.path()), ["cuzk-lock.1-of-3", "cuzk-lock.2-of-3", "cuzk-lock.3-of-3"]);
    refused(take(2), &["shard 2/3"]);
    drop(locks);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn another_division_waits_until_the_first_is_dead() {
    let folder = folder();
    let other = path_of(folder.path(), Shard::new(2, 3).unwrap());
    plant(&other, &elsewhere(), Duration::ZERO);
    refused(acquire(folder.path()), &["shard 2/3", "process 77 on elsewhere", "by 3 and by 1 do not go together"]);
    assert_eq!(names(folder.path()), ["cuzk-lock.2-of-3"], "nothing is left of the attempt");
    age(&other, HOUR);
    let lock = acquire(folder.path()).unwrap();
    assert_eq!(names(folder.path()), ["cuzk-lock.1-of-1"], "the dead one's file is gone");
    drop(lock);
}

#[test]
fn a_dead_process_is_followed_at_once() {
    let folder = folder();
    plant(&whole(folder.path()), &dead(), Duration::ZERO);
    let lock = acquire(folder.path()).unwrap();
    lock.check().unwrap();
    assert_eq!(names(folder.path()), ["cuzk-lock.1-of-1"]);
}

#[test]
fn a_run_elsewhere_is_dead_after_a_minute_without_a_sign_of_life() {
    let folder = folder();
    for other in
        [elsewhere(), Holder { boot: "other".into(), ..dead() }, Holder { pid_namespace: "n".into(), ..dead() }]
    {
        plant(&whole(folder.path()), &other, Duration::from_secs(50));
        refused(acquire(folder.path()), &[&other.name(), "ago"]);
        age(&whole(folder.path()), Duration::from_secs(62));
        acquire(folder.path()).unwrap();
        // A clock ahead of ours is no reason.
        plant(&whole(folder.path()), &other, Duration::ZERO);
        date_ahead(&whole(folder.path()));
        let named = whole(folder.path()).display().to_string();
        refused(
            acquire(folder.path()),
            &[&named, &other.name(), "minutes in the future", "--wait finds out within 60 s"],
        );
    }
}

/// Dates a file an hour ahead.
fn date_ahead(path: &Path) {
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() + HOUR).unwrap();
}

/// Looks every 5 ms, and gives up after `looks`.
fn watching(folder: &Path, looks: usize) -> Result<Lock> {
    let looked = AtomicUsize::new(0);
    let waiting = |_: &str| match looked.fetch_add(1, Ordering::Relaxed) {
        n if n < looks => Ok(()),
        _ => fail!(Fault::Interrupted, "gave up"),
    };
    let options = LockOptions {
        wait: Some(&waiting),
        stale_after: Duration::from_millis(200),
        poll: Duration::from_millis(5),
        ..LockOptions::default()
    };
    Lock::acquire(folder, Shard::WHOLE, &options)
}

#[test]
fn a_dead_run_of_the_future_is_followed_when_it_gives_no_sign_of_life() {
    let folder = folder();
    for other in [whole(folder.path()), path_of(folder.path(), Shard::new(2, 3).unwrap())] {
        plant(&other, &elsewhere(), Duration::ZERO);
        date_ahead(&other);
        watching(folder.path(), 2000).unwrap().check().unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }
    // One that gives them is not, whatever their dates.
    let (path, run, stop) = (whole(folder.path()), elsewhere(), AtomicBool::new(false));
    plant(&path, &run, Duration::ZERO);
    date_ahead(&path);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut ahead = SystemTime::now() + 2 * HOUR;
            while !stop.load(Ordering::Relaxed) {
                ahead -= Duration::from_secs(1);
                File::options().write(true).open(&path).unwrap().set_modified(ahead).unwrap();
                thread::sleep(Duration::from_millis(10));
            }
        });
        assert_eq!(watching(folder.path(), 100).unwrap_err().fault(), Fault::Interrupted);
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_is_no_lock_file_is_refused_at_once() {
    use rustix::fs::{mkfifoat, Mode, CWD};
    use std::os::unix::fs::symlink;
    let folder = folder();
    let path = whole(folder.path());
    let claim = folder.path().join("cuzk-lock.1-of-1.after-r");
    type Make<'a> = &'a dyn Fn(&Path);
    let cases: [(Make<'_>, &str); 4] = [
        (&|path| symlink("nothing", path).unwrap(), "a symbolic link to nothing"),
        (&|path| mkfifoat(CWD, path, Mode::RWXU).unwrap(), "expected a regular file, got a pipe"),
        (&|path| fs::create_dir(path).unwrap(), "expected a regular file, got a folder"),
        (&|path| symlink(path.file_name().unwrap(), path).unwrap(), "symbolic links"),
    ];
    let remove = |path: &Path| fs::remove_file(path).or_else(|_| fs::remove_dir(path)).unwrap();
    for (make, part) in cases {
        make(&path);
        refused(acquire(folder.path()), &["cuzk-lock.1-of-1", part]);
        remove(&path);
        // And where a takeover's file belongs.
        plant(&path, &Holder { run: "r".into(), ..dead() }, Duration::ZERO);
        make(&claim);
        refused(acquire(folder.path()), &["cuzk-lock.1-of-1", part]);
        remove(&claim);
        remove(&path);
    }
    plant(&path, &Holder { run: "r".into(), ..dead() }, Duration::ZERO);
    plant(&claim, &Holder { run: "r".into(), ..dead() }, Duration::ZERO);
    refused(acquire(folder.path()), &["names a run before it"]);
}

#[test]
fn a_lock_file_that_names_nobody_is_someone_for_a_minute() {
    let folder = folder();
    for content in ["", "garbage", "{\"run\":\"../../x\"}"] {
        fs::write(whole(folder.path()), content).unwrap();
        refused(acquire(folder.path()), &["a run that has just started"]);
        age(&whole(folder.path()), Duration::from_secs(62));
        acquire(folder.path()).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }
    let out = Holder { run: "../x".into(), ..elsewhere() };
    plant(&whole(folder.path()), &out, HOUR);
    acquire(folder.path()).unwrap();
}

/// Every state in which a kill can leave the folder.
#[test]
fn whoever_died_while_taking_over_or_giving_back_is_followed_too() {
    let after = |folder: &Path, run: &Holder| folder.join(format!("cuzk-lock.1-of-1.after-{}", run.run));
    let (r, a, b) = (dead(), dead(), dead());
    let closing = Holder { run: format!("{}-closing", r.run), ..r.clone() };
    let states: [&[(&Holder, &Holder)]; 4] = [
        // Claimed, not renamed; that twice; giving back; renamed, and an older claim not removed.
        &[(&r, &a)],
        &[(&r, &a), (&a, &b)],
        &[(&r, &closing)],
        &[(&a, &b)],
    ];
    for state in states {
        let folder = folder();
        plant(&whole(folder.path()), &r, Duration::ZERO);
        state.iter().for_each(|(before, next)| plant(&after(folder.path(), before), next, Duration::ZERO));
        let lock = acquire(folder.path()).unwrap();
        lock.check().unwrap();
        assert_eq!(names(folder.path()), ["cuzk-lock.1-of-1"]);
        drop(lock);
        assert_eq!(names(folder.path()), [""; 0]);
    }
    // Given back, and the claim not removed.
    let folder = folder();
    plant(&after(folder.path(), &r), &closing, Duration::ZERO);
    drop(acquire(folder.path()).unwrap());
    assert_eq!(names(folder.path()), [""; 0]);
    // One that is just taking over has it.
    plant(&whole(folder.path()), &r, Duration::ZERO);
    plant(&after(folder.path(), &r), &elsewhere(), Duration::ZERO);
    refused(acquire(folder.path()), &["process 77 on elsewhere"]);
}

#[test]
fn a_candidate_that_slept_takes_nothing_over() {
    let folder = folder();
    let path = whole(folder.path());
    let slow = us();
    plant(&path, &dead(), Duration::ZERO);
    let seen = [held_by(&path).unwrap().unwrap()];
    // Meanwhile another takes over.
    let lock = acquire(folder.path()).unwrap();
    let watch = Watch::new(HOUR);
    let judge = Judge { us: &slow, stale_after: HOUR, watch: &watch };
    assert!(!judge.follow(&path, &seen).unwrap());
    lock.check().unwrap();
    assert_eq!(names(folder.path()), ["cuzk-lock.1-of-1"]);
    drop(lock);
    // And now it is free: still nothing, by this way.
    assert!(!judge.follow(&path, &seen).unwrap());
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn of_many_candidates_one_takes_over() {
    for round in 0..60 {
        let folder = folder();
        let (path, r) = (whole(folder.path()), dead());
        match round % 3 {
            0 => plant(&path, &r, Duration::ZERO),
            1 => {
                plant(&path, &r, Duration::ZERO);
                plant(&path.with_file_name(format!("cuzk-lock.1-of-1.after-{}", r.run)), &dead(), Duration::ZERO);
            }
            _ => {}
        }
        let (start, end, winners) = (Barrier::new(8), Barrier::new(8), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let lock = acquire(folder.path());
                    winners.fetch_add(usize::from(lock.is_ok()), Ordering::Relaxed);
                    // Held until all have tried.
                    end.wait();
                    if let Ok(lock) = lock {
                        lock.check().unwrap();
                    }
                });
            }
        });
        assert_eq!(winners.into_inner(), 1, "{round}");
        assert_eq!(names(folder.path()), [""; 0], "{round}");
    }
}

#[test]
fn waiting_ends_with_the_other_run_or_on_request() {
    let folder = folder();
    let first = acquire(folder.path()).unwrap();
    let (looks, give_up) = (AtomicUsize::new(0), AtomicBool::new(true));
    let waiting = |message: &str| {
        assert!(message.contains("shard 1/1 is being worked on"), "{message}");
        looks.fetch_add(1, Ordering::Relaxed);
        if give_up.load(Ordering::Relaxed) {
            fail!(Fault::Interrupted, "enough");
        }
        Ok(())
    };
    let poll = Duration::from_millis(5);
    let options = LockOptions { wait: Some(&waiting), poll, ..LockOptions::default() };
    let error = Lock::acquire(folder.path(), Shard::WHOLE, &options).unwrap_err();
    assert_eq!(error.fault(), Fault::Interrupted);
    give_up.store(false, Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            while looks.load(Ordering::Relaxed) < 4 {
                thread::sleep(poll);
            }
            drop(first);
        });
        Lock::acquire(folder.path(), Shard::WHOLE, &options).unwrap().check().unwrap();
    });
}

#[test]
fn a_live_run_gives_signs_of_life() {
    let folder = folder();
    let options = LockOptions { heartbeat: Duration::from_millis(5), ..LockOptions::default() };
    let lock = Lock::acquire(folder.path(), Shard::WHOLE, &options).unwrap();
    let before = fs::read(lock.path()).unwrap();
    age(lock.path(), HOUR);
    let modified = || fs::metadata(lock.path()).unwrap().modified().unwrap().elapsed().unwrap_or_default();
    for _ in 0..1000 {
        if modified() < HOUR / 2 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(modified() < HOUR / 2);
    assert_eq!(fs::read(lock.path()).unwrap(), before);
    lock.check().unwrap();
}

#[test]
fn a_run_that_was_taken_over_knows_and_leaves_the_other_alone() {
    let folder = folder();
    let lock = acquire(folder.path()).unwrap();
    plant(lock.path(), &elsewhere(), Duration::ZERO);
    let error = lock.check().unwrap_err();
    assert_eq!(error.fault(), Fault::Output);
    assert!(error.to_string().contains("taken over by process 77 on elsewhere"), "{error}");
    assert!(!beat(lock.path(), lock.holder()).unwrap());
    drop(lock);
    assert_eq!(names(folder.path()), ["cuzk-lock.1-of-1"]);
    assert_eq!(held_by(&whole(folder.path())).unwrap().unwrap().holder.unwrap().host, "elsewhere");
}

#[test]
fn a_run_that_is_being_taken_over_knows() {
    let folder = folder();
    let lock = acquire(folder.path()).unwrap();
    let claim = folder.path().join(format!("cuzk-lock.1-of-1.after-{}", lock.holder().run));
    plant(&claim, &elsewhere(), Duration::ZERO);
    assert!(lock.check().unwrap_err().to_string().contains("elsewhere"));
    drop(lock);
    assert_eq!(names(folder.path()).len(), 2, "both are the other's now");
}

#[test]
fn a_run_whose_lock_was_removed_stops_and_makes_no_other() {
    let folder = folder();
    let options = LockOptions { heartbeat: Duration::from_millis(1), ..LockOptions::default() };
    let lock = Lock::acquire(folder.path(), Shard::WHOLE, &options).unwrap();
    fs::remove_file(lock.path()).unwrap();
    assert!(lock.check().unwrap_err().to_string().contains("was removed"));
    thread::sleep(Duration::from_millis(50));
    assert_eq!(names(folder.path()), [""; 0], "a heartbeat creates nothing");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    refused(acquire(&folder.path().join("file/out")), &["file/out: the folder cannot be created"]);
    // Nobody creates files there, not even root.
    refused(acquire(Path::new("/proc/self")), &["/proc/self/cuzk-lock.1-of-1: the lock cannot be taken"]);
}
