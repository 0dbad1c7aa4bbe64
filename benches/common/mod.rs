//! What the end-to-end benches share: two programs run alternately, each in a process of its own, and compared.

// Each bench compiles this file and uses a part of it.
#![allow(dead_code)]

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

/// The value after a flag of this bench's own, e.g. `cargo bench --bench prove -- --runs 5`.
pub fn flag(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned()
}

/// Runs both programs alternately, the first one first in every round, and prints each run, the medians and the ratio.
pub fn compare(runs: usize, ours: &str, theirs: &str) -> ExitCode {
    let mut all = [Vec::new(), Vec::new()];
    for round in 1..=runs {
        for (name, runs) in [ours, theirs].iter().zip(&mut all) {
            match run_child(name) {
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
    let [a, b] = all.map(|runs| median(&runs));
    println!("median   {ours:16} {}", describe(a));
    println!("median   {theirs:16} {}", describe(b));
    println!(
        "ratio    {theirs} / {ours}: time {:.2}, memory {:.2}",
        b.wall.as_secs_f64() / a.wall.as_secs_f64(),
        b.anonymous as f64 / a.anonymous.max(1) as f64
    );
    ExitCode::SUCCESS
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
