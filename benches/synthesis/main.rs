//! Synthesis of one partition of 32 GiB, side by side: as bellperson's prover does it, as the cuzk daemon does it, and natively; then the
//! constraints, all partitions of a file, and its reading and checking. Each in a process of its own, so that peaks of memory are apart.
//!
//! `cargo bench --bench synthesis`: about five minutes and 17 GB. What is native has its turn before, between and after the peers, which
//! run once each. It fails where a figure of [`required`] is missed, or where the native values, a, b or c differ from bellperson's.
//! `-- --size 2KiB` tries it on another size, of which only that they are equal is required.

mod child;
#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use cuzk::c1::{self, Format, SampleOptions};
use cuzk::circuit::proof_type::default_proof;
use cuzk::circuit::PoRep;

/// What the children measured: seconds, bytes, and counts, each by its child and name.
type Figures = BTreeMap<String, f64>;

/// What is measured, in order: the later ones load the constraints that the first one saves. Of those that come more than once the
/// median of times counts, and the highest peak.
const CHILDREN: [&str; 11] = [
    "constraints",
    "all",
    "check",
    "native",
    "compact",
    "daemon",
    "native",
    "compact",
    "bellperson",
    "native",
    "compact",
];

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// What a figure says, the figure by the others, and its bound.
type Required = (&'static str, fn(&Figures) -> f64, Bound);

const MEGABYTE: f64 = 1e6;

/// What is required of any size.
const EQUAL: Required = ("native values, a, b and c equal bellperson's", |f| f["equal"], Bound::AtLeast(1.0));

/// Of one partition of 32 GiB, on one thread where nothing else is said. Where Poseidon is computed in lanes, which doubles the witness'
/// speed and more, twice as much is required of it.
fn required() -> [Required; 13] {
    let lanes = if has_lanes() { 2.0 } else { 1.0 };
    [
        (
            "bellperson's synthesis / native witness",
            |f| f["bellperson.seconds"] / f["native.seconds"],
            Bound::AtLeast(400.0 * lanes),
        ),
        (
            "witness-only synthesis / native witness",
            |f| f["daemon.seconds"] / f["native.seconds"],
            Bound::AtLeast(140.0 * lanes),
        ),
        ("native witness, peak of memory, MB", |f| f["native.peak"] / MEGABYTE, Bound::AtMost(200.0)),
        (
            "bellperson's synthesis / native witness, a and b",
            |f| f["bellperson.seconds"] / f["compact.seconds"],
            Bound::AtLeast(120.0),
        ),
        ("the daemon's way / native witness, a and b", |f| daemon(f) / f["compact.seconds"], Bound::AtLeast(70.0)),
        ("constraints, MB on disk", |f| f["constraints.file"] / MEGABYTE, Bound::AtMost(4.0)),
        ("constraints, MB in memory", |f| f["constraints.bytes"] / MEGABYTE, Bound::AtMost(4.0)),
        ("constraints built, s", |f| f["constraints.seconds"], Bound::AtMost(90.0)),
        ("constraints built, peak of memory, MB", |f| f["constraints.peak"] / MEGABYTE, Bound::AtMost(300.0)),
        ("constraints loaded, ms", |f| f["constraints.load"] * 1e3, Bound::AtMost(20.0)),
        ("all partitions as compact witnesses, s", |f| f["all.seconds"], Bound::AtMost(2.5)),
        ("their peak of memory, the C1 included, MB", |f| f["all.peak"] / MEGABYTE, Bound::AtMost(1000.0)),
        ("C1 file read and checked, two threads, s", |f| f["check.seconds"], Bound::AtMost(2.0)),
    ]
}

fn has_lanes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512ifma");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Seconds of witness-only synthesis and of the CSR matrices of all challenges.
fn daemon(figures: &Figures) -> f64 {
    figures["daemon.seconds"] + figures["daemon.csr"] * figures["daemon.challenges"]
}

fn main() -> ExitCode {
    let outcome = match common::flag("--child") {
        Some(name) => child::run(&name, Path::new(&common::flag("--folder").expect("--folder"))).map(|()| true),
        None => compare(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing required is missed.
fn compare() -> Result<bool, String> {
    let size = common::flag("--size").unwrap_or_else(|| "32GiB".into());
    let bytes = match size.as_str() {
        "2KiB" => 2 << 10,
        "8MiB" => 8 << 20,
        "512MiB" => 512 << 20,
        "32GiB" => 32 << 30,
        "64GiB" => 64 << 30,
        other => return Err(format!("--size {other}: expected 2KiB, 8MiB, 512MiB, 32GiB or 64GiB")),
    };
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let proof = default_proof(bytes).map_err(|e| e.to_string())?;
    let c1 = c1::sample(proof, &SampleOptions::default()).map_err(|e| e.to_string())?;
    let text = c1::write(&c1, Format::Json).map_err(|e| e.to_string())?;
    std::fs::write(folder.path().join(child::C1_FILE), text).map_err(|e| e.to_string())?;
    let porep = PoRep::new(proof).map_err(|e| e.to_string())?;
    println!("{size}, partition 0 of {}; one thread where nothing else is said", porep.partitions());
    drop(c1);
    let (mut measured, mut digests) = (BTreeMap::<String, Vec<f64>>::new(), BTreeMap::new());
    for name in CHILDREN {
        for (key, value) in run_child(name, folder.path())? {
            match value.parse() {
                Ok(number) => measured.entry(format!("{name}.{key}")).or_default().push(number),
                Err(_) => _ = digests.insert(name, value),
            }
        }
    }
    let mut figures: Figures = measured.iter().map(|(key, values)| (key.clone(), figure(key, values))).collect();
    figures.insert("equal".into(), f64::from(u8::from(digests["compact"] == digests["bellperson"])));
    print_rows(&figures);
    for name in ["native", "compact"] {
        let rounds = measured[&format!("{name}.seconds")].iter().map(|seconds| format!("{seconds:.3}"));
        println!("{name}, before, between and after the peers: {} s", rounds.collect::<Vec<_>>().join(", "));
    }
    let equal = print_required(&figures, &[EQUAL], true);
    Ok(print_required(&figures, &required(), bytes == 32 << 30) && equal)
}

/// What counts of the values of one figure.
fn figure(key: &str, values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[if key.ends_with(".peak") { sorted.len() - 1 } else { sorted.len() / 2 }]
}

/// What a child measured: keys and values.
fn run_child(name: &str, folder: &Path) -> Result<Vec<(String, String)>, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program)
        .args(["--child", name, "--folder"])
        .arg(folder)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{name}: {}; the memory may not be enough", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text.lines().filter_map(|line| line.strip_prefix(child::RESULT)?.split_once('='));
    Ok(figures.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

fn print_rows(f: &Figures) {
    let row = |what: &str, seconds: f64, peak: f64| println!("{what:52} {seconds:9.3} s {:9.1} MB", peak / MEGABYTE);
    println!("{:52} {:>11} {:>12}", "", "time", "peak memory");
    row("bellperson's proving synthesis: a, b, c, densities", f["bellperson.seconds"], f["bellperson.peak"]);
    row("witness-only synthesis", f["daemon.seconds"], f["daemon.peak"]);
    let csr = f["daemon.csr"] * f["daemon.challenges"];
    row("a, b and c from CSR, of one challenge", f["daemon.csr"], f["daemon.matrices"]);
    let all = format!("  times {}: those of all are not made", f["daemon.challenges"]);
    row(&all, csr, f["daemon.matrices"] * f["daemon.challenges"]);
    row(
        "the daemon's way: witness-only and CSR",
        daemon(f),
        f["daemon.peak"] + f["daemon.matrices"] * f["daemon.challenges"],
    );
    row("native witness", f["native.seconds"], f["native.peak"]);
    row("native witness, a and b", f["compact.seconds"], f["compact.peak"]);
    row("native witnesses of all partitions", f["all.seconds"], f["all.peak"]);
    row("constraints from the blank circuit", f["constraints.seconds"], f["constraints.peak"]);
    row("C1 file (JSON) read", f["check.read"], f["check.peak"]);
    row("C1 file read and checked, two threads", f["check.seconds"], f["check.peak"]);
}

/// Whether all is well, or nothing is `required`.
fn print_required(figures: &Figures, rows: &[Required], required: bool) -> bool {
    let mut missed = 0;
    for (what, of, bound) in rows {
        let got = of(figures);
        let (relation, limit, met) = match bound {
            Bound::AtLeast(limit) => ("at least", limit, got >= *limit),
            Bound::AtMost(limit) => ("at most", limit, got <= *limit),
        };
        missed += usize::from(required && !met);
        let verdict = match (required, met) {
            (true, false) => format!("{relation} {limit}: MISSED"),
            (true, true) => format!("{relation} {limit}"),
            (false, _) => String::new(),
        };
        println!("{what:52} {got:9.2}   {verdict}");
    }
    missed == 0
}
