//! Ten 2 KiB files as one batch, and the same files one by one, each in a process of its own, with the page cache warm.
//!
//! `cargo bench --bench batch [-- --files N]`; the parameters are made on first use, which takes a minute.

mod common;
#[path = "../tests/common/parameters.rs"]
mod parameters;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use cuzk::c1::{self, Format, SampleOptions};
use cuzk::circuit::SealProof;
use cuzk::report::Progress;

/// The batch's wall time as a share of the single runs' sum, at most. Both keep two cores 98 % busy; a batch computes less, since
/// files that wait are summed together.
const LIMIT: f64 = 0.95;

fn main() -> ExitCode {
    let parameters = parameters::shared_dev_params(&Progress::lines());
    let folder = tempfile::tempdir().expect("temporary folder");
    let files: Vec<PathBuf> = (1..=common::flag("--files").map_or(10, |n| n.parse().expect("--files takes a number")))
        .map(|seed| {
            let options = SampleOptions { seed, ..SampleOptions::default() };
            let c1 = c1::sample(SealProof::StackedDrg2KiBV1_1, &options).expect("sample");
            let path = folder.path().join(format!("{seed:02}.json"));
            std::fs::write(&path, c1::write(&c1, Format::Json).expect("sample")).expect("written");
            path
        })
        .collect();
    match compare(&parameters, folder.path().into(), &files) {
        Ok(share) if share <= LIMIT => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The share that the batch takes of the single runs' sum. Half of the single runs come before the batch and half after it,
/// so that a machine that slows down does not decide.
fn compare(parameters: &std::path::Path, folder: PathBuf, files: &[PathBuf]) -> Result<f64, String> {
    // One run beforehand: digests and the page cache.
    let single = |file: &PathBuf| {
        common::run_cuzk(&["prove", "--format", "raw", "-o", "-"], std::slice::from_ref(file), parameters)
    };
    single(&files[0])?;
    let mut sum = Duration::ZERO;
    let (before, after) = files.split_at(files.len() / 2);
    let mut run_singles = |files: &[PathBuf]| -> Result<(), String> {
        for file in files {
            let run = single(file)?;
            println!("single   {:?} {:.2} s", file.file_name().unwrap_or_default(), run.wall.as_secs_f64());
            sum += run.wall;
        }
        Ok(())
    };
    run_singles(before)?;
    let out = folder.join("out").display().to_string();
    let batch = common::run_cuzk(&["batch", "-o", &out], &[folder], parameters)?;
    run_singles(after)?;
    let share = batch.wall.as_secs_f64() / sum.as_secs_f64();
    println!("singles  {:.2} s in all", sum.as_secs_f64());
    println!("batch    {:.2} s: {share:.3} of that (at most {LIMIT})", batch.wall.as_secs_f64());
    println!("memory   {:.0} MB anonymous at the batch's peak", batch.anonymous as f64 / 1e6);
    Ok(share)
}
