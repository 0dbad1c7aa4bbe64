//! The same 2 KiB C1 with the same development parameters, through cuzk and through filecoin-proofs on the CPU, alternately.
//! Both read the file, prove and verify; cuzk also checks the vanilla proofs, as `cuzk prove` does.
//!
//! `cargo bench --bench prove [-- --runs N]`; the parameters are made on first use, which takes a minute.

mod common;
#[path = "../tests/common/parameters.rs"]
mod parameters;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cuzk::backend::cpu::CpuBackend;
use cuzk::c1;
use cuzk::circuit::{PoRep, SealProof};
use cuzk::pipeline::parameters::Source;
use cuzk::pipeline::Prover;
use cuzk::report::{Progress, Timings};
use cuzk::srs::Lookup;
use filecoin_proofs_api::seal::{seal_commit_phase2, SealCommitPhase1Output};

/// Miner and number of the sector in [`sample`].
const SECTOR: (u64, u64) = (1000, 1);

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/2KiB.json")
}

fn main() -> ExitCode {
    let folder = parameters::shared_dev_params(&Progress::lines());
    match common::flag("--child").as_deref() {
        Some("cuzk") => common::report_run(|| cuzk(&folder)),
        Some("filecoin-proofs") => {
            // filecoin-proofs reads its settings once, on first use.
            std::env::set_var("FIL_PROOFS_PARAMETER_CACHE", &folder);
            common::report_run(filecoin_proofs);
        }
        Some(other) => panic!("unknown child {other}"),
        None => {
            let porep = PoRep::new(SealProof::StackedDrg2KiBV1_1).expect("2 KiB PoRep");
            let params = folder.join(porep.identity().params);
            // Into the page cache, for both.
            std::io::copy(&mut std::fs::File::open(params).expect("parameters"), &mut std::io::sink()).expect("read");
            let runs = common::flag("--runs").map_or(3, |n| n.parse().expect("--runs takes a number"));
            return common::compare(runs, "cuzk", "filecoin-proofs");
        }
    }
    ExitCode::SUCCESS
}

fn cuzk(folder: &Path) {
    let bytes = std::fs::read(sample()).expect("sample");
    let (timings, progress) = (Timings::default(), Progress::silent());
    let c1 = c1::read("sample", bytes, &Default::default()).expect("sample is sound");
    let porep = PoRep::new(c1.statement.proof).expect("2 KiB PoRep");
    porep.check_vanilla(&c1.statement, &c1.vanilla).expect("sample's vanilla proofs hold");
    let lookup = Lookup { folder: folder.into(), folder_source: "bench".into(), recheck: false };
    let srs = Source { lookup, development: true, verdicts: Some(folder.join("verdicts.json")) }
        .open(&porep, &progress)
        .expect("parameters");
    let prover = Prover { porep: &porep, srs: &srs, backend: &CpuBackend, timings: &timings, progress: &progress };
    let proof = prover.prove(&c1.statement, &c1.vanilla).expect("proof");
    assert_eq!(proof.len(), 192);
}

fn filecoin_proofs() {
    let bytes = std::fs::read(sample()).expect("sample");
    let phase1: SealCommitPhase1Output = serde_json::from_slice(&bytes).expect("sample");
    let output = seal_commit_phase2(phase1, c1::prover_id(SECTOR.0), SECTOR.1.into()).expect("proof");
    assert_eq!(output.proof.len(), 192);
}
