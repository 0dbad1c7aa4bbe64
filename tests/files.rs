//! What ends the process removes what is temporary. The list of temporaries is the process's own, so these tests have
//! theirs, and take turns.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::{mpsc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use cuzk::cli;
use cuzk::error::{Error, Fault};
use cuzk::files::{abandon, deliver, stream, Existing, Temporary, TemporaryFolder};

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn temporary(folder: &Path) -> Temporary {
    let mut temporary = Temporary::create(folder, ".x-", ".tmp", 0o666).unwrap();
    temporary.file().write_all(b"half").unwrap();
    temporary
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn abandoning_removes_what_is_temporary_says_what_is_finished_and_stops_the_rest() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("result");
    deliver(temporary(folder.path()), &name, Existing::Refuse).unwrap();
    stream("a stream", || Ok(())).unwrap();
    stream("a pipe", || Err(ErrorKind::BrokenPipe.into())).unwrap_err();
    let _half = temporary(folder.path());
    let inside = TemporaryFolder::create().unwrap();
    fs::write(inside.path().join("file"), b"half").unwrap();
    assert_eq!(names(folder.path()).len(), 2);
    let (made, making) = mpsc::channel();
    thread::scope(|scope| {
        let at = folder.path();
        abandon(|outcomes| {
            let whole = |wanted: &str| outcomes.iter().find(|o| o.name == wanted).map(|o| o.whole);
            assert_eq!(whole(&name.display().to_string()), Some(true));
            assert_eq!((whole("a stream"), whole("a pipe")), (Some(true), Some(false)));
            assert_eq!(names(at), ["result"]);
            assert!(!inside.path().exists());
            scope.spawn(move || {
                drop(temporary(at));
                made.send(())
            });
            assert!(making.recv_timeout(Duration::from_millis(100)).is_err(), "nothing new is made meanwhile");
        });
    });
    assert!(!inside.path().with_extension("gone").exists());
}

#[test]
fn a_panic_is_an_internal_error_and_leaves_nothing_temporary() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    // Panics of worker threads come through rayon.
    let planted = || {
        let _dropped = temporary(folder.path());
        std::mem::forget(temporary(folder.path()));
        rayon::join(|| (), || panic!("planted: {}", names(folder.path()).len()));
        Ok(())
    };
    let error = cli::guarded(planted).unwrap_err();
    assert_eq!(error.fault(), Fault::Internal);
    assert_eq!(error.fault().exit_code(), 1);
    assert!(error.to_string().contains("planted: 2"), "{error}");
    assert_eq!(names(folder.path()), [""; 0]);

    assert!(cli::guarded(|| Ok(())).is_ok());
    let usage = cli::guarded(|| Err(Error::new(Fault::Usage, "x"))).unwrap_err();
    assert_eq!((usage.fault(), usage.to_string()), (Fault::Usage, "x".into()));
}
