//! The same 2 KiB C1 with the same development parameters, through cuzk and through filecoin-proofs on the CPU, alternately.
//! Both read the file, prove and verify, each in a process of its own; cuzk is the real binary, from its start to its exit.
//!
//! `[CUZK_CPU=scalar] cargo bench --bench prove [-- --runs N]`; the parameters are made on first use, which takes a minute.

mod common;
#[path = "../tests/common/parameters.rs"]
mod parameters;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cuzk::circuit::{PoRep, SealProof};
use cuzk::processor::{arithmetic, Arithmetic};
use cuzk::report::Progress;
use filecoin_proofs_api::seal::{seal_commit_phase2, SealCommitPhase1Output};

/// filecoin-proofs' time by ours in lanes of AVX-512 IFMA, and in portable arithmetic.
const REQUIRED: [f64; 2] = [10.0, 3.0];

/// What is required here: half of its memory, and its time by what this CPU and `CUZK_CPU`, which the binary reads, let us compute in.
fn required() -> common::Required {
    let portable = std::env::var_os("CUZK_CPU").is_some_and(|value| value == "scalar");
    let [lanes, scalar] = REQUIRED;
    let time = if arithmetic() == Arithmetic::Ifma && !portable { lanes } else { scalar };
    common::Required { time, memory: u64::MAX, memory_ratio: 2.0 }
}

/// Miner and number of the sector in [`sample`].
const SECTOR: (u64, u64) = (1000, 1);

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/2KiB.json")
}

fn main() -> ExitCode {
    let folder = parameters::shared_dev_params(&Progress::lines());
    if common::flag("--child").is_some() {
        // filecoin-proofs reads its settings once, on first use.
        std::env::set_var("FIL_PROOFS_PARAMETER_CACHE", &folder);
        common::report_run(filecoin_proofs);
        return ExitCode::SUCCESS;
    }
    let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).expect("2 KiB PoRep");
    // Into the page cache, for both.
    let params = std::fs::File::open(folder.join(porep.identity().params));
    std::io::copy(&mut params.expect("parameters"), &mut std::io::sink()).expect("parameters");
    let runs = common::flag("--runs").map_or(3, |n| n.parse().expect("--runs takes a number"));
    let cuzk = || common::run_cuzk(&["prove", "--format", "raw", "-o", "-"], &[sample()], &folder);
    common::compare(runs, ("cuzk", &cuzk), ("filecoin-proofs", &|| common::run_child("filecoin-proofs")), required())
}

fn filecoin_proofs() {
    let bytes = std::fs::read(sample()).expect("sample");
    let phase1: SealCommitPhase1Output = serde_json::from_slice(&bytes).expect("sample");
    let output = seal_commit_phase2(phase1, cuzk::c1::prover_id(SECTOR.0), SECTOR.1.into()).expect("proof");
    assert_eq!(output.proof.len(), 192);
}
