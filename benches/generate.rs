//! Development parameters of the 2 KiB circuit, through `cuzk params generate` and through bellperson's generator with the
//! same circuit, alternately.
//!
//! `cargo bench --bench generate [-- --runs N]`: one round by default, of which bellperson takes ten minutes on two cores.

mod common;

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;

use bellperson::groth16::generate_random_parameters;
use blstrs::Bls12;
use cuzk::circuit::{PoRep, SealProof};
use cuzk::pipeline::parameters::ensure_development;
use cuzk::report::Progress;
use rand_core::OsRng;

/// An eighth of bellperson's time, in less than 3 GB.
const REQUIRED: common::Required = common::Required { time: 8.0, memory: 3_000_000_000, memory_ratio: 1.0 };

fn main() -> ExitCode {
    let porep = || PoRep::new(SealProof::StackedDrg2KiBV1_1).expect("2 KiB PoRep");
    let folder = tempfile::tempdir().expect("temporary folder");
    match common::flag("--child").as_deref() {
        Some("cuzk") => common::report_run(|| {
            ensure_development(folder.path(), "bench", &porep(), &Progress::silent()).expect("parameters");
        }),
        Some("bellperson") => common::report_run(|| {
            let parameters =
                generate_random_parameters::<Bls12, _, _>(porep().blank(), &mut OsRng).expect("parameters");
            let file = File::create(folder.path().join("params")).expect("file");
            parameters.write(&mut BufWriter::with_capacity(1 << 20, file)).expect("written");
        }),
        Some(other) => panic!("unknown child {other}"),
        None => {
            let runs = common::flag("--runs").map_or(1, |n| n.parse().expect("--runs takes a number"));
            let child = |what: &'static str| move || common::run_child(what);
            return common::compare(runs, ("cuzk", &child("cuzk")), ("bellperson", &child("bellperson")), REQUIRED);
        }
    }
    ExitCode::SUCCESS
}
