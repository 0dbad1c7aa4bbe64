//! Ways from a partition to its assignment.

use std::time::{Duration, Instant};

use bellperson::{util_cs::witness_cs::WitnessCS, ConstraintSystem};
use blst::blst_fr;
use blstrs::Scalar as Fr;

use super::kinds::{Kind, Split, Watched};
use super::sizes::Counts;
use super::{daemon, proving};
use crate::circuit::{PartitionCircuit, PoRep, Statement, VanillaProofs};
use crate::error::{Fault, OrFault, Result};
use crate::witness::{synthesize_sized, Assignment};

/// What is synthesized.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub porep: &'a PoRep,
    pub statement: &'a Statement,
    pub vanilla: &'a VanillaProofs,
}

impl Subject<'_> {
    /// The circuit of partition `k`.
    pub fn circuit(&self, k: usize) -> Result<PartitionCircuit> {
        self.porep.circuit(self.statement, self.vanilla, k)
    }

    /// The circuit of its first `n` challenges.
    pub fn challenges(&self, k: usize, n: usize) -> Result<PartitionCircuit> {
        self.porep.circuit_of_challenges(self.statement, self.vanilla, k, n)
    }
}

/// One way to synthesize.
pub trait Strategy: Sync {
    /// As the command line and the reports call it.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn meaning(&self) -> String;

    /// Bytes that it keeps from one synthesis to the next.
    fn kept_bytes(&self) -> u64 {
        0
    }

    /// Makes ready for partition `k` what is no part of synthesis; the answer is the synthesis, to be called under the clock.
    ///
    /// # Errors
    /// Those of the circuit's making.
    fn prepare<'s>(&'s self, subject: &Subject<'s>, k: usize) -> Result<Synthesis<'s>>;
}

/// A synthesis about to begin.
pub type Synthesis<'s> = Box<dyn FnOnce() -> Result<Run> + Send + 's>;

/// A synthesis that was.
pub struct Run {
    pub split: Split,
    /// Time that was not spent but counted: of challenges that stand for by one that was evaluated.
    pub extrapolated: Duration,
    pub made: Made,
}

/// What it made; in memory until dropped.
pub enum Made {
    /// The values, a and b; c where it was computed.
    Assignment(Box<Assignment>, Option<Vec<Fr>>),
    /// The values, and a, b, c, unless only a part of them was computed.
    Witness(Box<WitnessCS<Fr>>, Option<[Vec<Fr>; 3]>),
}

/// Hashes that tell whether two strategies made the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// Of inputs and aux.
    pub values: [u8; 32],
    /// Of a and b.
    pub rows: Option<[u8; 32]>,
}

impl Made {
    /// How many inputs and aux variables there are.
    pub fn values(&self) -> u64 {
        let (inputs, aux) = self.parts();
        (inputs.len() + aux.len()) as u64
    }

    fn parts(&self) -> (&[Fr], &[Fr]) {
        match self {
            Self::Assignment(made, _) => (&made.inputs, &made.aux),
            Self::Witness(made, _) => (made.inputs_slice(), made.aux_slice()),
        }
    }

    pub fn digests(&self) -> Digests {
        let (inputs, aux) = self.parts();
        let rows = match self {
            Self::Assignment(made, _) => Some((&made.a, &made.b)),
            Self::Witness(_, rows) => rows.as_ref().map(|[a, b, _]| (a, b)),
        };
        Digests { values: digest([inputs, aux]), rows: rows.map(|(a, b)| digest([a, b])) }
    }
}

fn digest(vectors: [&[Fr]; 2]) -> [u8; 32] {
    let mut state = blake2b_simd::Params::new().hash_length(32).to_state();
    let mut bytes = Vec::with_capacity(1 << 16);
    for vector in vectors {
        state.update(&(vector.len() as u64).to_le_bytes());
        for values in vector.chunks(1 << 11) {
            bytes.clear();
            bytes.extend(values.iter().flat_map(|value| blst_fr::from(*value).l).flat_map(u64::to_le_bytes));
            state.update(&bytes);
        }
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(state.finalize().as_bytes());
    digest
}

/// All strategies, the slowest first, ready for `subject`; only those of the names, if there are any.
///
/// # Errors
/// Those of the circuit.
pub fn strategies(subject: &Subject<'_>, counts: &Counts, names: &[&str]) -> Result<Vec<Box<dyn Strategy>>> {
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut all: Vec<Box<dyn Strategy>> = Vec::new();
    if wanted(Bellperson::NAME) {
        all.push(Box::new(Bellperson));
    }
    if wanted(Daemon::NAME) {
        all.push(Box::new(Daemon::new(subject, counts)?));
    }
    if wanted(Cuzk::NAME) {
        all.push(Box::new(Cuzk { counts: *counts }));
    }
    Ok(all)
}

/// The names that [`strategies`] knows.
pub const NAMES: [&str; 3] = [Bellperson::NAME, Daemon::NAME, Cuzk::NAME];

struct Bellperson;

impl Bellperson {
    const NAME: &'static str = "bellperson";
}

fn in_partition(k: usize) -> impl Fn() -> String {
    move || format!("synthesis of partition {k}")
}

impl Strategy for Bellperson {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn meaning(&self) -> String {
        "as bellperson's prover: a, b, c and densities while the circuit runs".into()
    }

    fn prepare<'s>(&'s self, subject: &Subject<'s>, k: usize) -> Result<Synthesis<'s>> {
        let circuit = subject.circuit(k)?;
        Ok(Box::new(move || {
            let mut split = Split::default();
            let made = proving::synthesize(Watched { circuit, split: &mut split });
            let (assignment, c) = made.or_fault(Fault::Input, in_partition(k))?;
            Ok(Run { split, extrapolated: Duration::ZERO, made: Made::Assignment(Box::new(assignment), Some(c)) })
        }))
    }
}

/// Matrices of more bytes than this are not made: one challenge's stand for all.
const MOST_MATRICES: u64 = 2 << 30;
/// Bytes of A, B and C by row of a PoRep circuit: 5.5 nonzeros of 36 bytes, and three row starts.
const BYTES_BY_ROW: u64 = 212;

struct Daemon {
    matrices: daemon::Matrices,
    /// How many challenges the matrices stand for; `None` where they are whole.
    stand_for: Option<u32>,
}

impl Daemon {
    const NAME: &'static str = "daemon";

    fn new(subject: &Subject<'_>, counts: &Counts) -> Result<Self> {
        let whole = counts.rows as u64 * BYTES_BY_ROW <= MOST_MATRICES;
        let challenges = subject.porep.challenges_per_partition();
        let circuit = if whole { subject.circuit(0)? } else { subject.challenges(0, 1)? };
        let matrices = daemon::Matrices::record(circuit).or_fault(Fault::Input, || "recording the matrices".into())?;
        Ok(Self { matrices, stand_for: (!whole).then_some(challenges as u32) })
    }
}

impl Strategy for Daemon {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn meaning(&self) -> String {
        let how = "as the cuzk daemon: the circuit for its witness alone, then A, B and C times it, in sparse rows";
        match self.stand_for {
            None => how.into(),
            Some(n) => format!("{how}; those of one challenge, times {n}: all of them do not fit into memory"),
        }
    }

    fn kept_bytes(&self) -> u64 {
        self.matrices.bytes() * u64::from(self.stand_for.unwrap_or(1))
    }

    fn prepare<'s>(&'s self, subject: &Subject<'s>, k: usize) -> Result<Synthesis<'s>> {
        let circuit = subject.circuit(k)?;
        // The one challenge's own witness, for its matrices.
        let one = match self.stand_for {
            None => None,
            Some(_) => Some(daemon::witness(subject.challenges(k, 1)?).or_fault(Fault::Input, in_partition(k))?),
        };
        Ok(Box::new(move || {
            let mut split = Split::default();
            let witness =
                daemon::witness(Watched { circuit, split: &mut split }).or_fault(Fault::Input, in_partition(k))?;
            let start = Instant::now();
            let rows = self.matrices.evaluate(one.as_ref().unwrap_or(&witness));
            let wall = start.elapsed();
            let extrapolated = wall * (self.stand_for.unwrap_or(1) - 1);
            split.add(Kind::Evaluation, wall + extrapolated, 0);
            let rows = self.stand_for.is_none().then_some(rows);
            Ok(Run { split, extrapolated, made: Made::Witness(Box::new(witness), rows) })
        }))
    }
}

struct Cuzk {
    counts: Counts,
}

impl Cuzk {
    const NAME: &'static str = "cuzk";
}

impl Strategy for Cuzk {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn meaning(&self) -> String {
        "cuzk's generic synthesis: a, b and densities while the circuit runs, no c, room made in advance".into()
    }

    fn prepare<'s>(&'s self, subject: &Subject<'s>, k: usize) -> Result<Synthesis<'s>> {
        let circuit = subject.circuit(k)?;
        Ok(Box::new(move || {
            let mut split = Split::default();
            let assignment = synthesize_sized(Watched { circuit, split: &mut split }, self.counts.sizes())?;
            Ok(Run { split, extrapolated: Duration::ZERO, made: Made::Assignment(Box::new(assignment), None) })
        }))
    }
}
