//! `cuzk bench synth`: the strategies make the same, the replays yield the real rows, the report holds what it says.

mod circuits;
mod common;

use std::time::Instant;

use bellperson::{Circuit, ConstraintSystem};
use blstrs::Scalar as Fr;
use circuits::RandomCircuit;
use common::{repository, Place};
use cuzk::bench::{daemon, proving, Counts, Daemon, Kind, Made, Split, Strategy, Stream, Subject, Watched, REPLAYS};
use cuzk::circuit::PoRep;
use cuzk::witness::porep::{Gadget, Generator};
use cuzk::witness::synthesize;
use serde_json::Value;

/// All ways to the assignment of a circuit, and all replays of its rows.
fn check<C: Circuit<Fr>>(circuit: impl Fn() -> C) {
    let expected = synthesize(circuit()).unwrap();
    let c = expected.c();

    let (ours, our_c) = proving::synthesize(circuit()).unwrap();
    assert!(ours == expected && our_c == c);

    let witness = daemon::witness(circuit()).unwrap();
    assert!(witness.inputs_slice() == expected.inputs && witness.aux_slice() == expected.aux);
    let rows = daemon::Matrices::record(circuit()).unwrap().evaluate(&witness);
    assert!(rows == [expected.a.clone(), expected.b.clone(), c.clone()]);

    let counts = Counts::of(circuit()).unwrap();
    let made = Counts { inputs: expected.inputs.len(), aux: expected.aux.len(), rows: expected.a.len() };
    assert_eq!(counts, made);

    let stream = Stream::record(circuit()).unwrap();
    assert_eq!(stream.rows(), made.rows - made.inputs);
    for replay in &REPLAYS {
        let rows = (replay.run)(&stream);
        for (ours, theirs) in rows.iter().zip([&expected.a, &expected.b, &c]) {
            assert!(ours[..] == theirs[..stream.rows()], "{}", replay.name);
        }
    }
}

/// Watching changes nothing, and every value is of some kind.
fn watch<C: Circuit<Fr>>(circuit: impl Fn() -> C) -> Split {
    let mut split = Split::default();
    let watched = synthesize(Watched { circuit: circuit(), split: &mut split }).unwrap();
    assert!(watched == synthesize(circuit()).unwrap());
    let values: u64 = Kind::ALL.into_iter().map(|kind| split.values(kind)).sum();
    // ONE is not the circuit's.
    assert_eq!(values as usize, watched.inputs.len() + watched.aux.len() - 1);
    split
}

#[test]
fn every_way_makes_the_same_of_random_circuits() {
    for rows in [0, 1, 2, 3, 7, 64, 65, 500] {
        for inputs in [0, 1, 5] {
            let circuit = || RandomCircuit { rows, inputs, seed: (rows * 10 + inputs) as u64 };
            check(circuit);
            let split = watch(circuit);
            assert_eq!(split.values(Kind::Labels), 0);
        }
    }
}

#[test]
fn every_way_makes_the_same_of_porep_and_its_challenges_are_alike() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let circuit = || porep.circuit(&c1.statement, &c1.vanilla, 0).unwrap();
    check(circuit);
    let split = watch(circuit);
    // By counting: two labels of 20 SHA-256 blocks in each of two challenges, against six levels of two blocks.
    let (labels, tree_d) = (split.values(Kind::Labels), split.values(Kind::TreeD));
    assert!(labels > 5 * tree_d / 2 && tree_d > split.values(Kind::Paths), "{split:?}");
    for kind in [Kind::Labels, Kind::TreeD, Kind::Columns, Kind::Paths, Kind::Rest] {
        assert!(split.values(kind) > 0 && !split.time(kind).is_zero(), "{kind:?}: {split:?}");
    }

    // The generator's gadgets are the circuit's, but that inputs are of none: one a path, and in each challenge the node.
    let partition = porep.partition(&c1.statement, &c1.vanilla, 0).unwrap();
    for lanes in [false, true] {
        let generator = Generator::with_lanes(&porep.shape(), lanes).unwrap();
        let (witness, times) = generator.generate_watched(&partition).unwrap();
        assert!(witness == generator.generate(&partition).unwrap());
        for (gadget, kind, inputs) in [
            (Gadget::Labels, Kind::Labels, 0),
            (Gadget::TreeD, Kind::TreeD, 2),
            (Gadget::Columns, Kind::Columns, 0),
            (Gadget::Paths, Kind::Paths, 2 * 16),
            (Gadget::Rest, Kind::Rest, 2 + 3),
        ] {
            assert_eq!(times.variables(gadget) + inputs, split.values(kind), "{gadget:?}");
            assert!(!times.time(gadget).is_zero(), "{gadget:?}");
        }
    }

    let few = |n| porep.circuit_of_challenges(&c1.statement, &c1.vanilla, 0, n);
    let (one, two) = (Counts::of(few(1).unwrap()).unwrap(), Counts::of(few(2).unwrap()).unwrap());
    assert_eq!(two, Counts::of(circuit()).unwrap());
    assert!(one.rows < two.rows && two.rows < 2 * one.rows, "{one:?} {two:?}");
    assert!(few(3).is_err());
}

/// The time of the parts is spent, not counted: where several partitions run at once, nobody could say what it adds to the wall time.
#[test]
fn one_challenge_that_stands_for_all_is_multiplied_as_often() {
    let bytes = include_bytes!("../samples/2KiB.json");
    let c1 = cuzk::c1::read("samples/2KiB.json", bytes, &Default::default()).unwrap();
    let porep = PoRep::new(c1.statement.proof).unwrap();
    let subject = Subject { porep: &porep, statement: &c1.statement, vanilla: &c1.vanilla };
    let daemon = Daemon::new(&subject, &Counts::of_partition(&subject).unwrap(), 0).unwrap();
    assert!(daemon.meaning().contains("one challenge 2 times over"), "{}", daemon.meaning());
    let one = daemon::Matrices::record(subject.challenges(0, 1).unwrap()).unwrap();
    assert_eq!(daemon.kept_bytes(), 2 * one.bytes());

    let synthesis = daemon.prepare(&subject, 0).unwrap();
    let start = Instant::now();
    let run = synthesis().unwrap();
    let (wall, parts) = (start.elapsed(), Kind::ALL.map(|kind| run.split.time(kind)).iter().sum());
    assert!(wall >= parts, "{wall:?} for {:?}", run.split);
    assert!(matches!(run.made, Made::Witness(_, None)), "a part of the rows is not compared");
}

#[test]
fn the_report_and_the_picture_hold_every_strategy() {
    let place = Place::new();
    std::fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    std::fs::write(place.path("p.svg"), "an earlier one").unwrap();
    let finished = place.run("bench synth c1.json --runs 1 --threads 1 --json --plot p.svg --force --quiet");
    let object: Value = serde_json::from_str(finished.ok()).unwrap();
    assert!(finished.stderr.is_empty(), "{}", finished.stderr);
    assert_eq!(
        (&object["sector"], &object["partitions"], &object["unit"]),
        (&"2KiB".into(), &1.into(), &"values".into())
    );
    let entries = object["entries"].as_array().unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bellperson", "daemon", "cuzk"]);
    for entry in entries {
        assert_eq!(entry["items"], 2_685_673 + 40, "{entry}");
        assert_eq!(entry["wall_seconds"]["runs"].as_array().map(Vec::len), Some(1), "{entry}");
        let median = entry["wall_seconds"]["median"].as_f64().unwrap();
        let parts = entry["parts"].as_array().unwrap();
        let sum: f64 = parts.iter().map(|part| part["seconds"].as_f64().unwrap()).sum();
        assert!(sum > 0.8 * median && sum <= median, "{sum} of {entry}");
        let values: u64 = parts.iter().map(|part| part["items"].as_u64().unwrap()).sum();
        assert_eq!(values, 2_685_673 + 39, "ONE is no part's: {entry}");
        // The program counts: the circuit makes more allocations than values, and elements of all of them.
        let (few, small) = (10..10_000, 2 << 20..20 << 20);
        let (many, large) = (1_000_000..1_000_000_000, 50 << 20..2 << 30);
        let (allocations, bytes) = if entry["name"] == "cuzk" { (few, small) } else { (many, large) };
        assert!(allocations.contains(&entry["allocations"].as_u64().unwrap()), "{entry}");
        if cfg!(target_os = "linux") {
            assert!(bytes.contains(&entry["peak_bytes"].as_u64().unwrap()), "{entry}");
        }
    }
    assert_eq!(object["notes"], serde_json::json!(["Compared: the strategies' values, a, b and c are equal."]));
    assert!(entries[2]["speedup"].as_f64().unwrap() > 20.0, "{object}");
    assert!(entries[1]["kept_bytes"].as_u64() > Some(400 << 20), "{object}");
    let svg = String::from_utf8(place.read("p.svg")).unwrap();
    assert!(names.iter().all(|name| svg.contains(&format!(">{name}<"))), "{svg}");
}

#[test]
fn containers_are_compared_and_bellpeppers_own_is_the_first() {
    let place = Place::new();
    std::fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    let finished = place.run("bench synth c1.json --containers --runs 1 --json");
    let object: Value = serde_json::from_str(finished.ok()).unwrap();
    let entries = object["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["name"]), (REPLAYS.len(), &"Vec".into()));
    assert!(entries.iter().all(|entry| entry["kept_bytes"] == 0), "{object}");
    let allocations = |i: usize| entries[i]["allocations"].as_u64().unwrap();
    // Room in the container itself saves allocations, the more the larger it is.
    assert!(allocations(0) > allocations(2) && allocations(2) > allocations(4) && allocations(4) > allocations(6));
    assert!(object["notes"][0].as_str().unwrap().contains("allocations of bellperson's synthesis"), "{object}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    std::fs::copy(repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    place.run("bench synth c1.json --partitions 2").fails(2, "the sector has 1");
    place.run("bench synth c1.json --plot ./c1.json").fails(2, "would replace the C1 file");
    place.run("bench synth c1.json --plot missing/p.svg").fails(7, "missing: no such folder");
    place.run("bench synth c1.json --plot -").fails(2, "--plot -: standard output has the figures");
    place.run("bench synth c1.json --force").fails(2, "--plot");
    std::fs::write(place.path("p.svg"), "mine").unwrap();
    place.run("bench synth c1.json --plot p.svg").fails(2, "p.svg: exists already; pass --force");
    assert_eq!(place.read("p.svg"), b"mine");
    place.run("bench synth c1.json --strategy naive").fails(2, "bellperson");
    place.run("bench synth c1.json --runs 0").fails(2, "--runs");
    place.run("bench synth c1.json --containers --partitions 1").fails(2, "--partitions");
    place.run("bench synth missing.json").fails(3, "missing.json");
}
