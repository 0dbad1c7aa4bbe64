//! The rows that a circuit enforces, built again in one container after the other.
//!
//! What is replayed is what reaches a constraint system: the three linear combinations of each row, term by term in their order,
//! all three alive until the row is evaluated, as in bellperson's prover. What gadgets build on their way to them (combinations
//! of single bits, sums carried from row to row) reaches no constraint system and is not replayed; how much that is, the share
//! of bellperson's allocations that the replay makes tells.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bellperson::{Circuit, Index, LinearCombination, SynthesisError};
use blst::blst_fr;
use blstrs::Scalar as Fr;
use ff::Field;
use smallvec::SmallVec;

use super::containers::{Combination, Container, Term, Variable};
use super::measure::with_counters;
use super::proving;
use super::strategy::Subject;
use crate::circuit::proof_type::sector_size_name;
use crate::error::{Fault, OrFault, Result};
use crate::fail;
use crate::report::comparison::{Comparison, Cost, Entry, Sample};
use crate::report::units::count;
use crate::report::{percent, Progress, Unit};
use crate::witness::{nameless, Nameless};

/// Whole partitions of at most so many challenges; of larger ones the first.
const WHOLE: usize = 2;

/// Values of A, B and C, row by row.
pub type Rows = [Vec<Fr>; 3];

/// A circuit's rows as they were enforced, and its values.
#[derive(Default)]
pub struct Stream {
    /// Terms of inputs and of aux variables: of A, B and C of each row.
    lengths: Vec<[u32; 2]>,
    /// Variable among its kind, and place of the coefficient.
    terms: Vec<(u32, u32)>,
    coefficients: Vec<Fr>,
    places: HashMap<[u64; 4], u32>,
    inputs: Vec<Fr>,
    aux: Vec<Fr>,
}

impl Stream {
    /// Runs `circuit` and takes down its rows; those of the inputs are not replayed, since no circuit builds them.
    ///
    /// # Errors
    /// Those of the circuit; an `IoError` where there are 2^32 variables of a kind.
    pub fn record(circuit: impl Circuit<Fr>) -> Result<Self, SynthesisError> {
        let mut stream = Self::default();
        stream.input(|| Ok(Fr::ONE))?;
        nameless::run(circuit, stream)
    }

    pub fn rows(&self) -> usize {
        self.lengths.len() / 3
    }

    pub fn terms(&self) -> usize {
        self.terms.len()
    }

    fn take_down(&mut self, combination: &LinearCombination<Fr>) {
        let (mut inputs, mut aux) = (0, 0);
        for (variable, coefficient) in combination.iter() {
            let places = self.coefficients.len() as u32;
            let place = *self.places.entry(blst_fr::from(*coefficient).l).or_insert(places);
            if place == places {
                self.coefficients.push(*coefficient);
            }
            let (index, length) = match variable.get_unchecked() {
                Index::Input(i) => (i, &mut inputs),
                Index::Aux(i) => (i, &mut aux),
            };
            *length += 1;
            self.terms.push((index as u32, place));
        }
        self.lengths.push([inputs, aux]);
    }

    /// Builds all rows in containers of one kind, with room made in advance or not, and evaluates them.
    pub fn replay<C: Container>(&self, room: bool) -> Rows {
        let mut rows: Rows = [(); 3].map(|()| Vec::with_capacity(self.rows()));
        let mut terms = &self.terms[..];
        for lengths in self.lengths.chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|i: usize| self.build::<C>(lengths[i], &mut terms, room));
            rows[0].push(a.evaluate(&self.inputs, &self.aux));
            rows[1].push(b.evaluate(&self.inputs, &self.aux));
            rows[2].push(c.evaluate(&self.inputs, &self.aux));
        }
        rows
    }

    #[inline]
    fn build<C: Container>(&self, [inputs, aux]: [u32; 2], terms: &mut &[(u32, u32)], room: bool) -> Combination<C> {
        let (of_inputs, rest) = terms.split_at(inputs as usize);
        let (of_aux, rest) = rest.split_at(aux as usize);
        *terms = rest;
        let mut combination =
            if room { Combination::with_room(of_inputs.len(), of_aux.len()) } else { Combination::default() };
        for (index, coefficient) in of_inputs {
            combination = combination + (Variable::Input(*index as usize), self.coefficients[*coefficient as usize]);
        }
        for (index, coefficient) in of_aux {
            combination = combination + (Variable::Aux(*index as usize), self.coefficients[*coefficient as usize]);
        }
        combination
    }
}

/// The next variable of a kind, or an error where its index no longer fits 32 bits.
fn next(values: &mut Vec<Fr>, value: Fr) -> Result<usize, SynthesisError> {
    if values.len() > u32::MAX as usize {
        return Err(std::io::Error::other("more than 2^32 variables of one kind").into());
    }
    values.push(value);
    Ok(values.len() - 1)
}

impl Nameless for Stream {
    fn aux(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        next(&mut self.aux, value()?)
    }

    fn input(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        next(&mut self.inputs, value()?)
    }

    fn row(
        &mut self,
        a: impl FnOnce() -> LinearCombination<Fr>,
        b: impl FnOnce() -> LinearCombination<Fr>,
        c: impl FnOnce() -> LinearCombination<Fr>,
    ) {
        self.take_down(&a());
        self.take_down(&b());
        self.take_down(&c());
    }
}

/// A kind of container, and a replay in it.
pub struct Replay {
    pub name: &'static str,
    pub meaning: &'static str,
    pub run: fn(&Stream) -> Rows,
}

/// All containers. The first one is bellpepper's.
pub const REPLAYS: [Replay; 8] = [
    Replay { name: "Vec", meaning: "bellpepper's own", run: |s| s.replay::<Vec<Term>>(false) },
    Replay { name: "Vec, sized", meaning: "room for all terms made in advance", run: |s| s.replay::<Vec<Term>>(true) },
    Replay {
        name: "1 inline",
        meaning: "SmallVec with room for 1 term",
        run: |s| s.replay::<SmallVec<[Term; 1]>>(false),
    },
    Replay { name: "1, sized", meaning: "the same, sized", run: |s| s.replay::<SmallVec<[Term; 1]>>(true) },
    Replay {
        name: "2 inline",
        meaning: "SmallVec with room for 2 terms",
        run: |s| s.replay::<SmallVec<[Term; 2]>>(false),
    },
    Replay { name: "2, sized", meaning: "the same, sized", run: |s| s.replay::<SmallVec<[Term; 2]>>(true) },
    Replay {
        name: "4 inline",
        meaning: "SmallVec with room for 4 terms",
        run: |s| s.replay::<SmallVec<[Term; 4]>>(false),
    },
    Replay { name: "4, sized", meaning: "the same, sized", run: |s| s.replay::<SmallVec<[Term; 4]>>(true) },
];

/// Replays the rows of the first partition (of more than two challenges: of its first one) into every container, `runs` times
/// in turn, after one run for allocations and for the values, which must be those of bellperson's synthesis.
///
/// # Errors
/// Those of the circuit; `Internal` where a replay yields other rows.
pub fn compare_containers(subject: &Subject<'_>, runs: usize, progress: &Progress) -> Result<Comparison> {
    let challenges = match subject.porep.challenges_per_partition() {
        few if few <= WHOLE => few,
        _ => 1,
    };
    let stream =
        Stream::record(subject.challenges(0, challenges)?).or_fault(Fault::Input, || "recording rows".into())?;
    let task = progress.task("replaying", (REPLAYS.len() * (runs + 1)) as u64, Unit::Runs);
    let circuit = subject.challenges(0, challenges)?;
    let (theirs, expected) = with_counters(|| proving::synthesize(circuit));
    let (assignment, c) = expected.or_fault(Fault::Input, || "synthesis".into())?;
    let expected = [&assignment.a, &assignment.b, &c];
    let mut entries = Vec::new();
    for replay in &REPLAYS {
        let (cost, rows) = with_counters(|| (replay.run)(&stream));
        // The inputs' rows, at the end, are not replayed.
        if rows.iter().zip(expected).any(|(ours, theirs)| ours[..] != theirs[..stream.rows()]) {
            fail!(Fault::Internal, "{}: the replay yields other rows than the circuit", replay.name);
        }
        let entry = Entry::new(replay.name, replay.meaning, stream.terms() as u64);
        entries.push(Entry { cost: Some(cost), ..entry });
        task.advance(1);
    }
    for _ in 0..runs {
        for (replay, entry) in REPLAYS.iter().zip(&mut entries) {
            entry.samples.push(time(|| (replay.run)(&stream)));
            task.advance(1);
        }
    }
    task.finish();
    let notes = share(&theirs, entries[0].cost.as_ref()).into_iter().collect();
    Ok(Comparison { entries, notes, ..described(subject, challenges, &stream) })
}

fn time(work: impl FnOnce() -> Rows) -> Sample {
    let start = Instant::now();
    let rows = work();
    let wall: Duration = start.elapsed();
    drop(rows);
    Sample { wall, parts: Vec::new() }
}

/// How much of the synthesis the replay stands for.
fn share(theirs: &Cost, ours: Option<&Cost>) -> Option<String> {
    let (theirs, ours) = (theirs.allocations?, ours?.allocations?);
    Some(format!(
        "Rows are replayed as they reach the constraint system: {} of the {} allocations of bellperson's synthesis ({}). The \
         others are made by gadgets on the way there.",
        count(ours as f64),
        count(theirs as f64),
        percent(ours as f64 / theirs.max(1) as f64)
    ))
}

fn described(subject: &Subject<'_>, challenges: usize, stream: &Stream) -> Comparison {
    let sector = sector_size_name(subject.porep.sector_bytes());
    let whole = challenges == subject.porep.challenges_per_partition();
    let what = if whole { "a whole partition".to_owned() } else { "one challenge".to_owned() };
    let (rows, terms) = (count(stream.rows() as f64), count(stream.terms() as f64));
    Comparison {
        title: format!("containers of linear combinations, {sector} sector, {what}: {rows} rows, {terms} terms"),
        sector,
        partitions: 1,
        threads: 1,
        unit: "terms",
        ..Comparison::default()
    }
}
