//! Ctrl-C, SIGTERM and those that job schedulers send in its place: remove what is half-written, say so, exit.

use std::fs;
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::Terminal;
use crate::batch::lock;
use crate::error::{Error, Fault, OrFault, Result};
use crate::files::{self, Outcome};
use crate::pipeline::stop::Stop;

/// More results than these are counted, not named.
const NAMED: usize = 5;

/// Signals so soon after the first one are not asked by a person.
const SAME: Duration = Duration::from_millis(300);

/// Starts the thread that waits for a signal. The work needs no cooperation: results are published in one step. With
/// `stop`, the first signal only asks for an end: what is on a device is finished, and the second one ends the process.
pub fn install(terminal: Terminal, stop: Option<&'static Stop>) -> Result<()> {
    // A write beyond the limit of a file's size is then an error like that of a full disk, and not the end.
    flag::register(SIGXFSZ, Arc::default()).or_fault(Fault::Internal, || "installing a signal handler".into())?;
    // `nohup` has SIGHUP ignored, and means it. The other two announce the end of a job's time where Slurm is told so.
    let others = [SIGHUP, SIGUSR1, SIGUSR2].into_iter().filter(|signal| !is_ignored(*signal));
    let signals = [SIGINT, SIGTERM].into_iter().chain(others);
    let mut signals = Signals::new(signals).or_fault(Fault::Internal, || "installing the signal handler".into())?;
    let wait = move || {
        if let Some(stop) = stop.filter(|_| signals.forever().next().is_some()) {
            stop.signal();
            terminal.warn("stopping when the partitions that are on a device are done; once more to stop at once");
            // `timeout` and others signal a process and then its group: the same stop, twice.
            thread::sleep(SAME);
            signals.pending().for_each(drop);
        }
        if signals.forever().next().is_some() {
            files::abandon(|outcomes| {
                // A run on another machine would have to wait until the lock looks old.
                lock::release_all();
                // A batch goes on from what is there; a single proof begins anew.
                let more = if stop.is_some() { "; the same command continues" } else { "" };
                terminal.error(&Error::new(Fault::Interrupted, message(outcomes) + more));
                process::exit(Fault::Interrupted.exit_code().into());
            });
        }
    };
    let thread = thread::Builder::new().name("signals".into()).spawn(wait);
    thread.map(drop).or_fault(Fault::Internal, || "starting the signal thread".into())
}

/// Whether the process was started with the signal ignored; no where the system does not tell (not Linux).
fn is_ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignored_mask(&status) >> (signal - 1) & 1 == 1)
}

fn ignored_mask(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// What became of the results.
fn message(outcomes: &[Outcome]) -> String {
    let names = |whole| {
        let names: Vec<_> = outcomes.iter().filter(|o| o.whole == whole).map(|o| o.name.as_str()).collect();
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        names[..names.len().min(NAMED)].join(", ") + &more
    };
    let (complete, cut) = (names(true), names(false));
    match (complete.as_str(), cut.as_str()) {
        ("", "") => "interrupted; no result was written".into(),
        (complete, "") => format!("interrupted; complete before that: {complete}"),
        ("", cut) => format!("interrupted while writing to {cut}"),
        (complete, cut) => format!("interrupted while writing to {cut}; complete before that: {complete}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_was_written() {
        let outcome = |name: &str, whole| Outcome { name: name.into(), whole };
        assert_eq!(message(&[]), "interrupted; no result was written");
        let (a, b, c) = (outcome("a", true), outcome("b", true), outcome("c", false));
        assert_eq!(message(&[a.clone(), b]), "interrupted; complete before that: a, b");
        assert_eq!(message(std::slice::from_ref(&c)), "interrupted while writing to c");
        let batch = vec![a.clone(); 8];
        assert_eq!(message(&batch), "interrupted; complete before that: a, a, a, a, a and 3 more");
        assert_eq!(message(&[a, c]), "interrupted while writing to c; complete before that: a");
    }

    #[test]
    fn ignored_signals_are_read_from_the_status_file() {
        assert_eq!(ignored_mask("SigBlk:\t00000000000000ff\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored_mask("Name:\tx\n"), 0);
    }
}
