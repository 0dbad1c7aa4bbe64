//! Who holds a lock: what the lock file says, and whether that run is still alive.

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::batch::clock::random_name;
use crate::error::{Fault, OrFault, Result};

/// One run, as its lock file names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Random, so that no two runs ever share it.
    pub run: String,
    pub host: String,
    pub pid: u32,
    /// Clock ticks after the boot at which the process started, with its pid the process's identity; none without /proc.
    pub started: Option<u64>,
    /// The boot that `started` counts from.
    pub boot: String,
    /// The namespace that `pid` counts in: containers may share host name and boot.
    pub pid_namespace: String,
}

impl Holder {
    /// This process, with a run of its own.
    pub fn this_process() -> Result<Self> {
        let pid = std::process::id();
        Ok(Self {
            run: random_name().or_fault(Fault::Internal, || "no random numbers from the operating system".into())?,
            host: host_name(),
            pid,
            started: process(pid).and_then(|process| process.alive.then_some(process.started)),
            boot: line("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
            pid_namespace: fs::read_link("/proc/self/ns/pid").unwrap_or_default().to_string_lossy().into_owned(),
        })
    }

    /// Whether the process is dead, as far as `self`, a live process, can see: only where it could see it alive too.
    pub(super) fn sees_dead(&self, other: &Holder) -> bool {
        // Where processes of other users are hidden, init's is too.
        self.shares_processes_with(other) && process(1).is_some() && other.started.is_some() && !other.runs_here()
    }

    /// Whether the process is alive: on the same machine, by its pid and the time it started.
    pub(super) fn sees_alive(&self, other: &Holder) -> bool {
        self.shares_processes_with(other) && other.runs_here()
    }

    fn shares_processes_with(&self, other: &Holder) -> bool {
        let place = |holder: &Holder| [&holder.host, &holder.boot, &holder.pid_namespace].map(String::to_owned);
        place(self) == place(other) && place(self).iter().all(|part| !part.is_empty())
    }

    fn runs_here(&self) -> bool {
        process(self.pid).is_some_and(|found| found.alive && Some(found.started) == self.started)
    }

    /// For messages.
    pub(super) fn name(&self) -> String {
        format!("process {} on {}", self.pid, self.host)
    }
}

/// This machine's name; "unknown" where the kernel tells none.
pub fn host_name() -> String {
    line("/proc/sys/kernel/hostname").unwrap_or_else(|| "unknown".into())
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

struct Process {
    /// Some thread of it may still change files.
    alive: bool,
    /// Clock ticks after the boot.
    started: u64,
}

/// What /proc says about a process; none where there is none.
fn process(pid: u32) -> Option<Process> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads a line of proc_pid_stat(5).
fn parse(stat: &[u8]) -> Option<Process> {
    // The second field is the name in brackets, of any bytes. The third is the state, the 20th the number of threads, the
    // 22nd the time of the start.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(&stat[end + 1..]);
    let fields: Vec<_> = rest.split_ascii_whitespace().collect();
    let (state, threads) = (fields.first()?, fields.get(17)?.parse::<u64>().ok()?);
    // The first thread of a killed process may be a zombie while another is still within a system call.
    let alive = !matches!(*state, "Z" | "X" | "x") || threads > 1;
    Some(Process { alive, started: fields.get(19)?.parse().ok()? })
}

/// How long ago, for messages: whole seconds are enough.
pub(super) fn ago(age: Duration) -> String {
    match age.as_secs() {
        0 => "less than a second ago".into(),
        1 => "1 second ago".into(),
        seconds @ 2..=119 => format!("{seconds} seconds ago"),
        seconds => format!("{} minutes ago", seconds / 60),
    }
}

/// How far ahead, likewise.
pub(super) fn ahead(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} seconds in the future"),
        seconds => format!("{} minutes in the future", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_itself_and_no_two_runs_are_the_same() {
        let (a, b) = (Holder::this_process().unwrap(), Holder::this_process().unwrap());
        assert_ne!(a.run, b.run);
        assert_eq!((a.pid, a.started, &a.boot), (b.pid, b.started, &b.boot));
        assert!(
            a.started.is_some() && !a.boot.is_empty() && !a.pid_namespace.is_empty() && !a.host.is_empty(),
            "{a:?}"
        );
        assert!(a.sees_alive(&b) && !a.sees_dead(&b));
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let me = Holder::this_process().unwrap();
        let before = Holder { started: me.started.map(|t| t - 1), ..me.clone() };
        assert!(me.sees_dead(&before) && !me.sees_alive(&before));
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let me = Holder::this_process().unwrap();
        let other = Holder { pid: child.id(), started: process(child.id()).map(|p| p.started), ..me.clone() };
        assert!(me.sees_alive(&other));
        child.kill().unwrap();
        // Dead, and not waited for: it stays in the table of processes.
        for _ in 0..500 {
            if me.sees_dead(&other) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(process(child.id()).is_some(), "still in the table");
        assert!(me.sees_dead(&other) && !me.sees_alive(&other));
        child.wait().unwrap();
        assert!(me.sees_dead(&other));
    }

    #[test]
    fn a_killed_process_is_dead_when_its_last_thread_is() {
        let stat = |state: &str, threads: u32| {
            let line = format!("7 (a) Z 1\n) {state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 4242 0 0\n");
            parse(line.as_bytes()).unwrap()
        };
        assert_eq!(stat("S", 1).started, 4242);
        assert!(stat("S", 1).alive && stat("T", 3).alive && stat("Z", 2).alive);
        assert!(!stat("Z", 1).alive && !stat("X", 0).alive);
        assert!(parse(b"7 (a) S 1").is_none() && parse(b"").is_none());
    }

    #[test]
    fn nothing_is_known_about_processes_elsewhere() {
        let me = Holder::this_process().unwrap();
        let dead = Holder { pid: u32::MAX, ..me.clone() };
        assert!(me.sees_dead(&dead));
        let elsewhere = [
            Holder { host: "other".into(), ..dead.clone() },
            Holder { boot: "other".into(), ..dead.clone() },
            Holder { pid_namespace: "pid:[1]".into(), ..dead.clone() },
            Holder { started: None, ..dead.clone() },
        ];
        for other in elsewhere {
            assert!(!me.sees_dead(&other) && !me.sees_alive(&other), "{other:?}");
        }
    }

    #[test]
    fn ages_are_short() {
        let shown = [0, 1, 59, 119, 120, 3600].map(|s| ago(Duration::from_secs(s)));
        assert_eq!(shown[0], "less than a second ago");
        assert_eq!(
            shown[1..],
            ["1 second ago", "59 seconds ago", "119 seconds ago", "2 minutes ago", "60 minutes ago"]
        );
    }
}
