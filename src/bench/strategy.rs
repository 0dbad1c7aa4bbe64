//! Ways from a partition to its assignment.

use std::hint::black_box;

use bellperson::{util_cs::witness_cs::WitnessCS, ConstraintSystem};
use blst::blst_fr;
use blstrs::Scalar as Fr;

use super::clock;
use super::kinds::{Kind, Split, Watched};
use super::measure::Plan;
use super::native::Native;
use super::sizes::Counts;
use super::{daemon, proving};
use crate::circuit::{PartitionCircuit, PoRep, Statement, VanillaProofs};
use crate::constraints::RowValues;
use crate::error::{Fault, OrFault, Result};
use crate::report::Progress;
use crate::witness::{Assignment, CompactWitness};

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
    pub made: Made,
}

/// What it made; in memory until dropped.
pub enum Made {
    /// The values, a, b and c.
    Assignment(Box<Assignment>, Vec<Fr>),
    /// The values, and a, b, c, unless only a part of them was computed.
    Witness(Box<WitnessCS<Fr>>, Option<[Vec<Fr>; 3]>),
    /// The values, a and b, in compact form.
    Compact(Box<CompactWitness>, Box<[RowValues; 2]>),
}

/// Hashes that tell whether two strategies made the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// Of inputs and aux.
    pub values: [u8; 32],
    /// Of a, b and c.
    pub rows: Option<[u8; 32]>,
}

/// Elements, and how many.
type Elements<'a> = (usize, Box<dyn Iterator<Item = Fr> + 'a>);

fn slice(elements: &[Fr]) -> Elements<'_> {
    (elements.len(), Box::new(elements.iter().copied()))
}

fn values(rows: &RowValues) -> Elements<'_> {
    (rows.len(), Box::new((0..rows.len()).map(|row| rows.get(row))))
}

impl Made {
    /// How many inputs and aux variables there are.
    pub fn values(&self) -> u64 {
        let (inputs, aux) = match self {
            Self::Assignment(made, _) => (made.inputs.len(), made.aux.len()),
            Self::Witness(made, _) => (made.inputs_slice().len(), made.aux_slice().len()),
            Self::Compact(made, _) => (made.inputs().len(), made.layout().aux()),
        };
        (inputs + aux) as u64
    }

    /// Of the compact form c is computed for this, as the prover does: a times b.
    pub fn digests(&self) -> Digests {
        match self {
            Self::Assignment(made, c) => Digests {
                values: digest([slice(&made.inputs), slice(&made.aux)]),
                rows: Some(digest([slice(&made.a), slice(&made.b), slice(c)])),
            },
            Self::Witness(made, rows) => Digests {
                values: digest([slice(made.inputs_slice()), slice(made.aux_slice())]),
                rows: rows.as_ref().map(|rows| digest([0, 1, 2].map(|i| slice(&rows[i])))),
            },
            Self::Compact(made, rows) => {
                let count = made.layout().aux();
                let aux: Elements<'_> = (count, Box::new((0..count).map(|i| made.aux(i))));
                let [a, b] = &**rows;
                let c = RowValues::product(a, b);
                Digests {
                    values: digest([slice(made.inputs()), aux]),
                    rows: Some(digest([values(a), values(b), values(&c)])),
                }
            }
        }
    }
}

/// Elements hashed together in one step.
const CHUNK: usize = 1 << 11;

fn digest<const N: usize>(vectors: [Elements<'_>; N]) -> [u8; 32] {
    let mut state = blake2b_simd::Params::new().hash_length(32).to_state();
    let mut bytes = Vec::with_capacity(CHUNK * size_of::<Fr>());
    for (length, mut elements) in vectors {
        state.update(&(length as u64).to_le_bytes());
        for start in (0..length).step_by(CHUNK) {
            bytes.clear();
            let chunk = elements.by_ref().take(CHUNK.min(length - start));
            bytes.extend(chunk.flat_map(|value| blst_fr::from(value).l).flat_map(u64::to_le_bytes));
            state.update(&bytes);
        }
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(state.finalize().as_bytes());
    digest
}

/// The strategies of `plan`, the slowest first, ready for `subject`.
///
/// # Errors
/// Those of the circuit.
pub fn strategies(
    subject: &Subject<'_>,
    counts: &Counts,
    plan: &Plan,
    progress: &Progress,
) -> Result<Vec<Box<dyn Strategy>>> {
    let wanted = |name: &str| plan.names.is_empty() || plan.names.contains(&name);
    let mut all: Vec<Box<dyn Strategy>> = Vec::new();
    if wanted(Bellperson::NAME) {
        all.push(Box::new(Bellperson));
    }
    if wanted(Daemon::NAME) {
        all.push(Box::new(Daemon::new(subject, counts, MOST_MATRICES)?));
    }
    if wanted(Native::NAME) {
        all.push(Box::new(Native::new(subject, plan.cache.as_deref(), progress)?));
    }
    Ok(all)
}

/// The names that [`strategies`] knows.
pub const NAMES: [&str; 3] = [Bellperson::NAME, Daemon::NAME, Native::NAME];

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
            Ok(Run { split, made: Made::Assignment(Box::new(assignment), c) })
        }))
    }
}

/// Bytes of matrices that are made.
const MOST_MATRICES: u64 = 2 << 30;
/// Bytes of A, B and C by row of a PoRep circuit: 5.5 nonzeros of 36 bytes, and three row starts.
const BYTES_BY_ROW: u64 = 212;

/// The cuzk daemon's way.
pub struct Daemon {
    matrices: daemon::Matrices,
    /// How many challenges the matrices stand for; `None` where they are whole.
    stand_for: Option<u32>,
}

impl Daemon {
    const NAME: &'static str = "daemon";

    /// Matrices of more than about `most` bytes are not made: one challenge's stand for all, and are multiplied as often as there are
    /// challenges.
    ///
    /// # Errors
    /// Those of the circuit.
    pub fn new(subject: &Subject<'_>, counts: &Counts, most: u64) -> Result<Self> {
        let whole = counts.rows as u64 * BYTES_BY_ROW <= most;
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
            Some(n) => format!(
                "{how}. Extrapolated: those of one challenge {n} times over, since those of all take too much memory; its own \
                 memory has a, b and c of that one alone"
            ),
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
            let evaluate = || self.matrices.evaluate(one.as_ref().unwrap_or(&witness));
            let (time, rows) = clock::part(|| match self.stand_for {
                None => Some(evaluate()),
                Some(n) => {
                    (0..n).for_each(|_| drop(black_box(evaluate())));
                    None
                }
            });
            split.add(Kind::Evaluation, time, 0);
            Ok(Run { split, made: Made::Witness(Box::new(witness), rows) })
        }))
    }
}
