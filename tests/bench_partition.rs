//! `cuzk bench partition`: what is right passes, and whatever a device gets wrong is found and named.

mod circuits;
mod common;

use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use circuits::RandomCircuit;
use common::{repository, Place};
use cuzk::backend::bases::{G1Bases, G2Bases, RawBases};
use cuzk::backend::memory::Lent;
use cuzk::backend::scalars::{expand, Scalars};
use cuzk::backend::{cpu::CpuBackend, cpu::PortableCpu, reference::Reference, Backend};
use cuzk::bench::partition::{KnownBases, Tiles, Work};
use cuzk::constraints::{Constraints, Rows};
use cuzk::error::Result;
use cuzk::groth16::{Circuit, Lengths};
use cuzk::report::partition::Check;
use cuzk::report::{Phase, Progress, Timings};
use cuzk::witness::{synthesize, CompactWitness};
use ff::Field;
use group::Group;
use rayon::ThreadPoolBuilder;
use serde_json::Value;

const CHECKED: [Phase; 6] = [Phase::Quotient, Phase::SumH, Phase::SumL, Phase::SumA, Phase::SumBG1, Phase::SumBG2];

/// A circuit with its witness and bases.
struct Case {
    circuit: Circuit,
    witness: CompactWitness,
    bases: KnownBases,
}

impl Case {
    /// The tiles are as small as can be: of most queries they repeat.
    fn new(rows: usize, inputs: usize) -> Self {
        let circuit = RandomCircuit { rows, inputs, seed: rows as u64 };
        let witness = synthesize(circuit).unwrap().witness().unwrap();
        let circuit = Circuit::new(Constraints::build(circuit).unwrap());
        let bases = KnownBases::new(Lengths::of(&circuit), Tiles::SMALL).unwrap();
        Self { circuit, witness, bases }
    }

    /// What the checks find wrong.
    fn wrong(&self, backend: &dyn Backend) -> Vec<Phase> {
        let threads = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let work = Work { backend, threads: &threads, circuit: &self.circuit, witness: &self.witness };
        let timings = Timings::default();
        let checks = work.measure(&self.bases, &timings, &Progress::silent()).unwrap().checks;
        assert_eq!(checks.iter().map(|check| check.phase).collect::<Vec<_>>(), CHECKED);
        let json = timings.json(&Default::default()).to_string();
        assert!(CHECKED.iter().all(|phase| json.contains(phase.name())), "{json}");
        checks.iter().filter(|check| !check.equal).map(|check: &Check| check.phase).collect()
    }
}

/// With the inputs' rows the domain is just full and just overfull.
#[test]
fn whoever_computes_right_passes() {
    for (rows, inputs) in [(3, 0), (61, 2), (62, 2), (5000, 20), (16_000, 3)] {
        let case = Case::new(rows, inputs);
        assert_eq!(case.wrong(&CpuBackend::default()), [], "{rows}");
        assert_eq!(case.wrong(&PortableCpu::default()), [], "{rows}");
        if rows < 100 {
            assert_eq!(case.wrong(&Reference), [], "{rows}");
        }
    }
}

/// How a backend errs.
#[derive(Clone, Copy, PartialEq)]
enum Error {
    /// The sum is the generator too much.
    Generator,
    /// One base is another point.
    Base,
    /// One scalar is one too much.
    Scalar,
}

/// A backend that gets one result wrong.
struct Erring {
    right: PortableCpu,
    phase: Phase,
    error: Error,
    /// Sums in G1 so far: those over l, a and b_g1, in a proof's order.
    sums: AtomicUsize,
}

impl Erring {
    fn new(phase: Phase, error: Error) -> Self {
        Self { right: PortableCpu::default(), phase, error, sums: AtomicUsize::new(0) }
    }

    fn err_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        let (bytes, mut elements) = (spoiled(bases, scalars), expand(scalars));
        match self.error {
            Error::Generator => Ok(self.right.sum_g1(bases, scalars)? + G1Projective::generator()),
            Error::Base => self.right.sum_g1(RawBases::new(&bytes).unwrap(), scalars),
            Error::Scalar => {
                elements.iter_mut().last().unwrap().add_assign(Fr::ONE);
                self.right.sum_g1(bases, &[Scalars::Elements(&elements)])
            }
        }
    }
}

/// One base that counts, not far from the first, is another one.
fn spoiled<const SIZE: usize>(bases: RawBases<'_, SIZE>, scalars: &[Scalars<'_>]) -> Vec<u8> {
    let place = 10 + expand(scalars)[10..].iter().position(|scalar| *scalar != Fr::ZERO).unwrap();
    let mut bytes = bases.bytes().to_vec();
    bytes[place * SIZE..][..SIZE].copy_from_slice(bases.point(place + 20));
    bytes
}

impl Backend for Erring {
    fn name(&self) -> String {
        "erring".into()
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        let mut h = self.right.quotient(a, b)?;
        if self.phase == Phase::Quotient {
            let place = h.len() / 2;
            h[place] += Fr::ONE;
        }
        Ok(h)
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        // That over the quotient is the only one that is asked for alone.
        match self.phase {
            Phase::SumH => self.err_g1(bases, scalars),
            _ => self.right.sum_g1(bases, scalars),
        }
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        self.right.sum_g2(bases, scalars)
    }

    fn sums_g1(&self, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        let sum = [Phase::SumL, Phase::SumA, Phase::SumBG1][self.sums.fetch_add(1, Ordering::Relaxed)];
        lists
            .iter()
            .map(|scalars| match sum == self.phase {
                true => self.err_g1(bases, scalars),
                false => self.right.sum_g1(bases, scalars),
            })
            .collect()
    }

    fn sums_g2(&self, bases: G2Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G2Projective>> {
        let (bytes, mut elements) = (spoiled(bases, lists[0]), expand(lists[0]));
        elements.iter_mut().last().unwrap().add_assign(Fr::ONE);
        let wrong = match (self.phase == Phase::SumBG2, self.error) {
            (false, _) => self.right.sum_g2(bases, lists[0])?,
            (true, Error::Generator) => self.right.sum_g2(bases, lists[0])? + G2Projective::generator(),
            (true, Error::Base) => self.right.sum_g2(RawBases::new(&bytes).unwrap(), lists[0])?,
            (true, Error::Scalar) => self.right.sum_g2(bases, &[Scalars::Elements(&elements)])?,
        };
        Ok(vec![wrong])
    }
}

#[test]
fn a_wrong_sum_is_found_and_no_other_is_blamed() {
    let case = Case::new(5000, 20);
    for phase in [Phase::SumH, Phase::SumL, Phase::SumA, Phase::SumBG1, Phase::SumBG2] {
        for error in [Error::Generator, Error::Base, Error::Scalar] {
            assert_eq!(case.wrong(&Erring::new(phase, error)), [phase]);
        }
    }
}

/// The sum over it follows: it is of the same wrong coefficients.
#[test]
fn a_wrong_quotient_is_found() {
    assert_eq!(Case::new(5000, 20).wrong(&Erring::new(Phase::Quotient, Error::Scalar)), [Phase::Quotient]);
}

/// A query's bases taken for another's.
struct Confusing<'a> {
    right: PortableCpu,
    bases: &'a KnownBases,
}

impl Backend for Confusing<'_> {
    fn name(&self) -> String {
        "confusing".into()
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        self.right.quotient(a, b)
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        self.right.sum_g1(self.bases.queries().h.slice(0..bases.len()), scalars)
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        self.right.sum_g2(bases, scalars)
    }
}

#[test]
fn queries_that_are_taken_for_each_other_are_found() {
    let case = Case::new(5000, 20);
    let confusing = Confusing { right: PortableCpu::default(), bases: &case.bases };
    assert_eq!(case.wrong(&confusing), [Phase::SumL, Phase::SumA, Phase::SumBG1]);
}

#[test]
fn the_report_says_what_was_measured_and_that_it_is_right() {
    let place = Place::new();
    let finished = place.run("bench partition --sector-size 2KiB --threads 2 --json --quiet");
    let object: Value = serde_json::from_str(finished.ok()).unwrap();
    assert!(finished.stderr.is_empty(), "{}", finished.stderr);
    assert_eq!((&object["sector"], &object["partitions"], &object["threads"]), (&"2KiB".into(), &1.into(), &2.into()));
    assert_eq!((&object["rows"], &object["domain"]), (&2_687_961.into(), &(1 << 22).into()));
    assert!(object["device"]["name"].as_str().unwrap().starts_with("cpu"), "{object}");
    let phases = object["phases"].as_array().unwrap();
    let items = |name: &str| {
        let phase = phases.iter().find(|phase| phase["phase"] == name).unwrap();
        assert!(phase["seconds"].as_f64().unwrap() > 0.0, "{phase}");
        (phase["items"].as_u64().unwrap(), phase["equal"].clone())
    };
    assert_eq!(items("synthesis"), (2_685_673, Value::Null));
    assert_eq!(items("evaluation"), (2_687_961, Value::Null));
    assert_eq!(items("quotient"), (2_687_961, true.into()));
    assert_eq!(items("sum_h"), ((1 << 22) - 1, true.into()));
    assert_eq!(items("sum_l"), (2_685_673, true.into()));
    let [a, b_g1, b_g2] = ["sum_a", "sum_b_g1", "sum_b_g2"].map(items);
    assert!(b_g1 == b_g2 && a.0 > b_g1.0 && a.1 == true && b_g1.1 == true, "{object}");
    assert_eq!(phases.len(), 9, "{object}");
    if cfg!(target_os = "linux") {
        // Three vectors of the domain are 403 MB.
        let peak = object["memory"]["anonymous_peak_bytes"].as_u64().unwrap();
        let planned = object["memory"]["planned_bytes"].as_u64().unwrap();
        assert!(peak > 400_000_000 && peak <= planned && planned < 800_000_000, "{peak} of {planned}");
    }
}

#[test]
fn a_file_has_a_table() {
    let place = Place::new();
    std::fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    let finished = place.run("bench partition c1.json");
    let table = finished.ok();
    assert!(table.starts_with("2KiB sector, its partition: 2.69 M rows, domain 2^22;"), "{table}");
    let lines = |end: &str| table.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!((lines("  equal"), lines("DIFFERS")), (6, 0), "{table}");
    assert!(finished.stderr.contains("quotient and the sum over it: 4.19 M bases in "), "{}", finished.stderr);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    place.run("bench partition").fails(2, "a C1 file or --sector-size is needed");
    place.run("bench partition x.json --sector-size 2KiB").fails(2, "cannot be used with");
    place.run("bench partition --sector-size 3KiB").fails(2, "2KiB");
    place.run("bench partition --sector-size 2KiB --device simulator").fails(2, "computes nothing");
    place.run("bench partition missing.json").fails(3, "missing.json");
    let mut command = place.command("bench partition --sector-size 2KiB --device cuda".split(' '));
    common::finish_soon({
        command.env("CUZK_LIBCUDA", "/nowhere/libcuda.so");
        command
    })
    .fails(5, "--device cuda");
}

#[test]
fn less_memory_than_counted_is_refused_with_what_is_missing() {
    let place = Place::new();
    let refused = place.run("bench partition --sector-size 2KiB --memory 300MiB");
    refused.fails(2, "the partition needs ");
    let (_, rest) = refused.stderr.rsplit_once("; ").unwrap();
    let missing: u64 = rest.split_once(" MiB are missing").unwrap().0.parse().unwrap();
    assert!((100..400).contains(&missing), "{}", refused.stderr);
    // So much more is enough, but for what the process takes more or less the next time.
    place.run(&format!("bench partition --sector-size 2KiB --memory {}MiB", 310 + missing)).ok();
}
