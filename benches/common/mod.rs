//! What the end-to-end benches share: two programs run alternately, each in a process of its own, and compared.

// Each bench compiles this file and uses a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cuzk::report::MemorySampler;

/// One run of one program.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub wall: Duration,
    /// Peak of anonymous memory; mapped parameter pages are not in it.
    pub anonymous: u64,
}

/// The line by which a child process reports its [`Run`].
const RESULT: &str = "bench-result";

/// Runs `work` in this process and prints its time and memory for the parent.
pub fn report_run(work: impl FnOnce()) {
    let sampler = MemorySampler::start();
    let start = Instant::now();
    work();
    let wall = start.elapsed();
    println!("{RESULT} {} {}", wall.as_nanos(), sampler.peak().anonymous.unwrap_or(0));
}

/// Runs this bench again as a child that does `what`.
pub fn run_child(what: &str) -> Result<Run, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program).args(["--child", what]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix(RESULT));
    let numbers: Option<Vec<u64>> = line.and_then(|l| l.split_whitespace().map(|n| n.parse().ok()).collect());
    match numbers.as_deref() {
        Some([nanos, anonymous]) if output.status.success() => {
            Ok(Run { wall: Duration::from_nanos(*nanos), anonymous: *anonymous })
        }
        _ => Err(format!("{what}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// Runs the real binary on `files` with the development parameters in `folder`; time from its start to its exit. Digests
/// of parameters are remembered beside the parameters, as a second run's are.
pub fn run_cuzk(args: &[&str], files: &[PathBuf], folder: &Path) -> Result<Run, String> {
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_cuzk"))
        .args(args)
        .args(files)
        .args(["--dev-params".as_ref(), "--params".as_ref(), folder.as_os_str()])
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .map_err(|e| e.to_string())?;
    let wall = start.elapsed();
    let text = String::from_utf8_lossy(&output.stderr);
    // "peak memory: anonymous 533 MiB, ..."
    let peak = text.lines().find_map(|line| line.strip_prefix("peak memory: anonymous "));
    let mut words = peak.unwrap_or_default().split([' ', ',']);
    let number = words.next().and_then(|n| n.parse::<f64>().ok());
    match (output.status.success(), number, words.next()) {
        (true, Some(number), Some(unit)) => {
            let factor = match unit {
                "KiB" => 1024.0,
                "MiB" => 1048576.0,
                _ => 1073741824.0,
            };
            Ok(Run { wall, anonymous: (number * factor) as u64 })
        }
        _ => Err(format!("cuzk {args:?}: {}\n{text}", output.status)),
    }
}

/// The value after a flag of this bench's own, e.g. `cargo bench --bench prove -- --runs 5`.
pub fn flag(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned()
}

/// A program's name, and how to run it once.
pub type Program<'a> = (&'a str, &'a dyn Fn() -> Result<Run, String>);

/// What is required of the first program.
#[derive(Clone, Copy, Debug)]
pub struct Required {
    /// The second one's time by its own, at least.
    pub time: f64,
    /// Bytes of anonymous memory that each of its runs stays below.
    pub memory: u64,
    /// The second one's peak of it by its own, at least.
    pub memory_ratio: f64,
}

/// Runs both programs alternately, the first one first in every round, and prints each run, the medians and the ratio. A
/// failure where the first does not do what is required.
pub fn compare(runs: usize, first: Program<'_>, second: Program<'_>, required: Required) -> ExitCode {
    let (ours, theirs) = (first.0, second.0);
    let mut all = [Vec::new(), Vec::new()];
    for round in 1..=runs {
        for ((name, run), runs) in [first, second].iter().zip(&mut all) {
            match run() {
                Ok(run) => {
                    println!("round {round}  {name:16} {}", describe(run));
                    runs.push(run);
                }
                Err(error) => {
                    eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    let peak = all[0].iter().map(|run| run.anonymous).max().unwrap_or(0);
    let [a, b] = all.map(|runs| median(&runs));
    println!("median   {ours:16} {}", describe(a));
    println!("median   {theirs:16} {}", describe(b));
    let ratio = b.wall.as_secs_f64() / a.wall.as_secs_f64();
    let memory = b.anonymous as f64 / a.anonymous.max(1) as f64;
    println!(
        "ratio    {theirs} / {ours}: time {ratio:.2} (required {}), memory {memory:.2} (required {})",
        required.time, required.memory_ratio
    );
    if required.memory < u64::MAX {
        println!("peak     {ours}: {:.0} MB (required: below {:.0})", peak as f64 / 1e6, required.memory as f64 / 1e6);
    }
    // A run whose memory could not be read shows nothing of it.
    let within = required.memory == u64::MAX || (1..required.memory).contains(&peak);
    if ratio >= required.time && memory >= required.memory_ratio && within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn describe(run: Run) -> String {
    format!("{:8.2} s  {:7.0} MB anonymous at peak", run.wall.as_secs_f64(), run.anonymous as f64 / 1e6)
}

/// Median of each measure on its own.
fn median(runs: &[Run]) -> Run {
    let mut walls: Vec<_> = runs.iter().map(|r| r.wall).collect();
    let mut memories: Vec<_> = runs.iter().map(|r| r.anonymous).collect();
    walls.sort();
    memories.sort();
    Run { wall: walls[walls.len() / 2], anonymous: memories[memories.len() / 2] }
}
