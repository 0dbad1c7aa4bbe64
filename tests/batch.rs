//! Locks and journals between processes, some of which are killed. Children are this test binary again, with a role.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use cuzk::batch::journal::unix_ms;
use cuzk::batch::{content_hash, lock, Entry, Journal, Lock, LockOptions, Outcome, Shard, Writer};
use cuzk::error::Result;
use cuzk::pipeline::proof_file::UsedParameters;

const ROLE: &str = "BATCH_TEST_ROLE";
const FOLDER: &str = "BATCH_TEST_FOLDER";
const NUMBER: &str = "BATCH_TEST_NUMBER";

/// A child process; killed when dropped.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(role: &str, folder: &Path, number: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(FOLDER, folder)
            .env(NUMBER, number.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for a line that begins so; its rest. None where the child has ended.
    fn said(&mut self, beginning: &str) -> Option<String> {
        self.lines.by_ref().find_map(|line| line.ok()?.strip_prefix(beginning).map(str::to_owned))
    }

    fn kill(&mut self) {
        // SIGKILL.
        self.child.kill().unwrap();
    }

    /// Its exit code.
    fn end(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Gone already, mostly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tells the parent, at once.
fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\n{line}").and_then(|()| out.flush()).unwrap();
}

#[test]
#[ignore = "the child's side of the other tests"]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let number = std::env::var(NUMBER).unwrap().parse().unwrap();
    match role.as_str() {
        "hold" => hold(&folder),
        "contend" => contend(&folder, number),
        "append" => append(&folder, number),
        "release" => release(&folder),
        other => panic!("role {other}"),
    }
}

fn quick(wait: &dyn Fn(&str) -> Result<()>) -> LockOptions<'_> {
    LockOptions { wait: Some(wait), poll: Duration::from_millis(1), ..LockOptions::default() }
}

fn hold(folder: &Path) {
    let lock = Lock::acquire(folder, Shard::WHOLE, &LockOptions::default()).unwrap();
    say(&format!("holding {}", lock.holder().pid));
    std::thread::sleep(Duration::from_secs(600));
}

/// Takes the lock again and again, and looks each time whether somebody else is inside.
fn contend(folder: &Path, times: u64) {
    let inside = folder.join("inside");
    for _ in 0..times {
        let lock = Lock::acquire(folder, Shard::WHOLE, &quick(&|_| Ok(()))).unwrap();
        if let Ok(text) = fs::read_to_string(&inside) {
            let other: u32 = text.parse().unwrap_or(0);
            // One that was killed inside has left its file.
            if other != 0 && runs(other) {
                say(&format!("violated by {other}"));
            }
            fs::remove_file(&inside).unwrap();
        }
        let mut file = File::create_new(&inside).unwrap();
        write!(file, "{}", std::process::id()).unwrap();
        std::thread::sleep(Duration::from_micros(300));
        lock.check().unwrap();
        fs::remove_file(&inside).unwrap();
        say("round");
    }
    say("done");
}

fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie may have threads that are still dying.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z') || rest.split(' ').nth(17) != Some("1"))
}

/// Appends to the journal of shard NUMBER of 3 until killed; says what is on the disk.
fn append(folder: &Path, number: u64) {
    let shard = Shard::new(number as u32, 3).unwrap();
    let _lock = Lock::acquire(folder, shard, &quick(&|_| Ok(()))).unwrap();
    let mut writer = Writer::open(folder, shard).unwrap();
    for i in 0u64.. {
        let name = format!("{number}/{}/{i}", std::process::id());
        writer.append(&entry(&name, shard)).unwrap();
        say(&format!("appended {name}"));
    }
}

fn entry(name: &str, shard: Shard) -> Entry {
    let now = unix_ms(std::time::SystemTime::now());
    Entry {
        c1: Some(content_hash(name.as_bytes())),
        name: name.into(),
        path: name.into(),
        registered_proof: None,
        parameters: Some(UsedParameters { file: "p".into(), digest: "d".into(), development: true }),
        outcome: Outcome::Proved { proof_file: format!("{name}.proof.json").into(), proof_hash: content_hash(b"") },
        copy_of: None,
        timings: serde_json::json!({ "filler": "x".repeat(1000) }),
        started_ms: now,
        ended_ms: now,
        attempts: 1,
        cuzk: "0".into(),
        shard: shard.to_string(),
        host: lock::host_name(),
    }
}

/// Ends as a second Ctrl-C does: nothing is dropped.
fn release(folder: &Path) {
    let locks: Vec<_> = ["a", "b"]
        .iter()
        .map(|name| Lock::acquire(&folder.join(name), Shard::WHOLE, &LockOptions::default()).unwrap())
        .collect();
    assert!(locks.iter().all(|lock| lock.path().exists()));
    lock::release_all();
    assert!(locks.iter().all(|lock| lock.check().is_err()));
    say("released");
    std::process::exit(0);
}

#[test]
fn a_killed_holder_is_followed_at_once_and_a_live_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut holder = Process::start("hold", folder.path(), 0);
    let pid = holder.said("holding ").unwrap();
    let error = Lock::acquire(folder.path(), Shard::WHOLE, &LockOptions::default()).unwrap_err().to_string();
    assert!(error.contains(&format!("process {pid} on {}", lock::host_name())), "{error}");
    assert!(error.contains("second"), "{error}");
    // Dead, and not waited for yet.
    holder.kill();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    let wait = |message: &str| {
        assert!(std::time::Instant::now() < deadline, "{message}");
        Ok(())
    };
    Lock::acquire(folder.path(), Shard::WHOLE, &quick(&wait)).unwrap().check().unwrap();
}

#[test]
fn processes_never_hold_a_lock_together_even_when_some_are_killed() {
    const ROUNDS: u64 = 150;
    let folder = tempfile::tempdir().unwrap();
    let mut steady: Vec<_> = (0..3).map(|_| Process::start("contend", folder.path(), ROUNDS)).collect();
    // These die at any point of a round, taking over included.
    for i in 0..20 {
        let mut victim = Process::start("contend", folder.path(), u64::MAX);
        for _ in 0..1 + i % 3 {
            assert!(victim.said("round").is_some());
        }
        std::thread::sleep(Duration::from_micros(137 * i));
        victim.kill();
    }
    for process in &mut steady {
        let said: Vec<_> = process.lines.by_ref().map(|line| line.unwrap()).collect();
        assert!(!said.iter().any(|line| line.starts_with("violated")), "{said:?}");
        assert!(said.iter().any(|line| line == "done"), "{said:?}");
        assert_eq!(process.end(), Some(0));
    }
    // What is left of the killed does not stop the next.
    drop(Lock::acquire(folder.path(), Shard::WHOLE, &LockOptions::default()).unwrap());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("cuzk-lock")), "{left:?}");
}

#[test]
fn two_processes_append_at_once_and_a_kill_loses_nothing_that_was_appended() {
    let folder = tempfile::tempdir().unwrap();
    let mut appended = Vec::new();
    for kill in 0..24u64 {
        let mut writers = [1, 2].map(|shard| Process::start("append", folder.path(), shard));
        for writer in &mut writers {
            appended.push(writer.said("appended ").unwrap());
        }
        std::thread::sleep(Duration::from_micros(731 * kill));
        for writer in &mut writers {
            writer.kill();
        }
        for writer in &mut writers {
            while let Some(name) = writer.said("appended ") {
                appended.push(name);
            }
        }
    }
    let journal = Journal::load(folder.path()).unwrap();
    assert!(journal.complaints.is_empty(), "{:?}", journal.complaints);
    for name in &appended {
        let entry = journal.find(&content_hash(name.as_bytes()), "d").unwrap_or_else(|| panic!("{name} is lost"));
        assert_eq!(&entry.name, name);
    }
    // Each writer may have been killed after its last entry and before it said so: one more for each.
    let entries = journal.entries().count();
    assert!((appended.len()..=appended.len() + 48).contains(&entries), "{entries}, {}", appended.len());
    assert_eq!(journal.latest().len(), entries);
}

#[test]
fn locks_are_given_back_when_the_process_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::start("release", folder.path(), 0);
    assert!(process.said("released").is_some());
    assert_eq!(process.end(), Some(0));
    for name in ["a", "b"] {
        assert_eq!(fs::read_dir(folder.path().join(name)).unwrap().count(), 0);
    }
}
