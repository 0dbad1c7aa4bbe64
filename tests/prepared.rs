//! `cuzk params prepare`, and proofs with what it makes, through the real binary and byte for byte.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar as Fr};
use common::{dev_params, finish, repository, Finished, Place};
use cuzk::backend::bases::Form;
use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::Backend;
use cuzk::circuit::PoRep;
use cuzk::groth16::{prove, Blinding};
use cuzk::pipeline::parameters::Source;
use cuzk::report::{Progress, Timings};
use cuzk::srs::prepared::{path_beside, write};
use cuzk::srs::progress::silent;
use cuzk::srs::{digest, Lookup};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with links to the shared parameters, in which others can lie beside them.
fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for entry in fs::read_dir(dev_params()).unwrap() {
        let (path, name) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
        if !name.to_string_lossy().starts_with('.') {
            symlink(path, folder.path().join(name)).unwrap();
        }
    }
    folder
}

/// The only file of the folder that is prepared, by its name.
fn prepared_in(folder: &Path) -> Option<PathBuf> {
    let mut paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "prepared"))
}

/// Exchanges points of a prepared file's l query, and its digest.
fn exchange_points(path: &Path) {
    const HEADER: usize = 4096;
    let mut bytes = fs::read(path).unwrap();
    let digest = digest::of_bytes(&bytes[HEADER..]);
    // Behind h, of 2^22 - 1 points; between the first point of a sample and the next.
    let l = (HEADER + 96 * ((1 << 22) - 1usize)).next_multiple_of(HEADER);
    bytes[l + 96..l + 96 * 10_000].rotate_left(96);
    let header = String::from_utf8(bytes[..HEADER].to_vec()).unwrap();
    let header = header.replace(&digest, &digest::of_bytes(&bytes[HEADER..]));
    bytes[..HEADER].copy_from_slice(header.as_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_proof_over_prepared_parameters_is_that_over_the_originals() {
    let folder = folder();
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let (porep, silent_progress) = (PoRep::new(c1.statement.proof).unwrap(), Progress::silent());
    let lookup = Lookup { folder: folder.path().into(), folder_source: "tests".into(), recheck: false };
    let source = Source { lookup, development: true, verdicts: Some(folder.path().join("verdicts")), cache: None };
    let compiled = source.compile(&porep, &silent_progress).unwrap();
    let witness = compiled.witness(compiled.values(&porep, &c1.statement, &c1.vanilla, 0).unwrap()).unwrap();
    let blinding = Blinding { r: Fr::from(5), s: -Fr::from(6) };
    let prove = |backend: &dyn Backend, form: Option<Form>| -> Proof<Bls12> {
        let srs = source.open_for(&porep, form, &silent_progress).unwrap();
        assert_eq!(srs.prepared().map(|prepared| prepared.form()), form);
        prove(backend, &srs, &compiled.circuit, &witness, &blinding, &Timings::default()).unwrap()
    };
    let expected = prove(&CpuBackend::default(), None);
    let backends: [&dyn Backend; 2] = [&CpuBackend::default(), &PortableCpu::default()];
    for backend in backends {
        let srs = source.open(&porep, &silent_progress).unwrap();
        write(&srs, backend.form().unwrap(), &path_beside(srs.path()), &silent).unwrap();
        assert!(prove(backend, backend.form()) == expected, "{}", backend.name());
    }
}

#[test]
fn prove_takes_what_is_prepared_and_says_so_and_warns_of_what_is_wrong() {
    let (place, folder) = (Place::new(), folder());
    fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    let run = |line: &str, cpu: &str| -> Finished {
        let line = format!("{line} --dev-params --params {}", folder.path().display());
        let mut command = place.command(line.split_whitespace());
        command.env("CUZK_CPU", cpu).env("CUZK_LIBCUDA", "/nonexistent");
        finish(command, b"")
    };
    let made = run("params prepare --sector-size 2KiB", "auto");
    let path = prepared_in(folder.path()).expect("a prepared file");
    assert_eq!(made.ok(), format!("{}\n", path.display()));
    assert!(made.stderr.contains("preparing parameters: 10.9 M points"), "{}", made.stderr);
    let again = run("params prepare --sector-size 2KiB", "auto");
    assert!(again.ok().ends_with(".prepared\n") && again.stderr.contains("was there already; it is whole"));

    let prove = |flags: &str, cpu: &str| {
        let proved = run(&format!("prove c1.json --force {flags}"), cpu);
        proved.ok();
        proved.stderr
    };
    let taken = format!("points are read from {}", path.display());
    assert!(prove("", "auto").contains(&taken));
    let entry = |line: &str| -> Value {
        let list: Vec<Value> = serde_json::from_str(run(line, "auto").ok()).unwrap();
        list[0]["prepared"].clone()
    };
    let form = if cuzk::processor::has_ifma() { "ifma" } else { "scalar" };
    let listed = entry("params list --json");
    assert_eq!((listed["verdict"].as_str(), listed["form"].as_str()), (Some("verified"), Some(form)), "{listed}");
    let text = run("params list", "auto");
    let below = text.ok().lines().nth(2).unwrap();
    assert!(below.contains(&format!("verified   for {form}")) && below.ends_with(".params.prepared"), "{below}");
    assert!(run("params check", "auto").ok().contains(&format!(": prepared for {form}, digest ")));
    // Another machine's, or another form's.
    if form == "ifma" {
        let said =
            format!("{}: not used: it is for ifma arithmetic, and this run computes in scalar; ", path.display());
        let other = prove("", "scalar");
        assert!(other.contains(&said) && !other.contains("warning: /"), "{other}");
    }
    // Points that change places where no sample looks, and a digest to match: no proof comes of it, and the error says what to suspect.
    exchange_points(&path);
    let suspected = run("prove c1.json --force -q", "auto");
    suspected.fails(6, &format!("with the points of {} (`cuzk params check --full` compares them", path.display()));
    // Cut short: the original is used, and that is a warning, with -q too.
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let warned = prove("-q", "auto");
    let start = format!("warning: {}: truncated: 1048576 of 11", path.display());
    assert!(warned.contains(&start) && warned.contains("; the original is used; `cuzk params prepare`"), "{warned}");
    assert_eq!(entry("params list --json")["verdict"], "refused");
    run("params check", "auto").fails(4, "1 of 2 parameter files are wrong");
    run("verify c1.proof.json --c1 c1.json", "auto").ok();
}

#[test]
fn it_is_written_where_output_says_and_over_nothing_else() {
    let (place, folder) = (Place::new(), folder());
    place.write("mine", "text");
    let common = format!("params prepare --sector-size 2KiB --dev-params --params {}", folder.path().display());
    place.run(&format!("{common} -o mine")).fails(2, "mine: is there and is no prepared parameter file");
    place.run(&format!("{common} -o -")).fails(2, "--output -: ");
    place.run(&format!("{common} -o none/x")).fails(7, "none/x");
    let elsewhere = folder.path().join("elsewhere");
    let made = place.run(&format!("{common} -o {}", elsewhere.display()));
    assert_eq!(made.ok(), format!("{}\n", elsewhere.display()));
    assert!(made.stderr.contains("it is taken where it lies beside the original: link it to "), "{}", made.stderr);
    assert!(prepared_in(folder.path()).is_none());
    assert_eq!(place.read("mine"), b"text");
    place.run("params prepare --sector-size 2KiB --params none").fails(4, "no such file");
}
