//! Where a circuit's time goes: by the namespaces of its gadgets.

use std::time::{Duration, Instant};

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

/// What a circuit spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Labels of the challenged nodes, recomputed: bits of the parents, SHA-256, packing.
    Labels,
    /// The path of the data leaf in tree D.
    TreeD,
    /// Hashes of the columns.
    Columns,
    /// Paths in the trees C and R.
    Paths,
    /// Inputs, columns' values, encodings, and everything of circuits that are no PoRep.
    Rest,
    /// Not of the circuit: A, B and C times the witness.
    Evaluation,
}

impl Kind {
    pub const ALL: [Self; 6] = [Self::Labels, Self::TreeD, Self::Columns, Self::Paths, Self::Rest, Self::Evaluation];

    pub fn name(self) -> &'static str {
        match self {
            Self::Labels => "SHA-256, labels",
            Self::TreeD => "SHA-256, tree D",
            Self::Columns => "Poseidon, columns",
            Self::Paths => "Poseidon, paths",
            Self::Rest => "the rest",
            Self::Evaluation => "matrices",
        }
    }

    /// The kind of what lies in a challenge's namespace of that name, as storage-proofs-porep's
    /// `stacked/circuit/params.rs` names them.
    fn of(name: &str) -> Self {
        if name.starts_with("labeling_") {
            Self::Labels
        } else if name == "comm_d_inclusion" {
            Self::TreeD
        } else if name.ends_with("_constraint") || name.ends_with("_column_hash") {
            Self::Columns
        } else if name.ends_with("_inclusion") {
            Self::Paths
        } else {
            Self::Rest
        }
    }
}

/// Time and values of each kind, in the order of [`Kind::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split([(Duration, u64); Kind::ALL.len()]);

impl Split {
    pub fn add(&mut self, kind: Kind, time: Duration, values: u64) {
        let (sum, count) = &mut self.0[kind as usize];
        (*sum, *count) = (*sum + time, *count + values);
    }

    pub fn time(&self, kind: Kind) -> Duration {
        self.0[kind as usize].0
    }

    /// Variables that were allocated.
    pub fn values(&self, kind: Kind) -> u64 {
        self.0[kind as usize].1
    }

    /// Both together.
    pub fn plus(mut self, other: &Self) -> Self {
        Kind::ALL.into_iter().for_each(|kind| self.add(kind, other.time(kind), other.values(kind)));
        self
    }
}

/// A circuit that tells what its synthesis spent its time on, in whatever constraint system it is run.
///
/// The clock is read at the two outermost levels of namespaces, some 40 times a challenge; deeper ones, of which there is one for
/// each bit, are only counted.
pub struct Watched<'a, C> {
    pub circuit: C,
    pub split: &'a mut Split,
}

impl<C: Circuit<Fr>> Circuit<Fr> for Watched<'_, C> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut watch = Watch {
            cs,
            split: self.split,
            depth: 0,
            challenge: false,
            kind: Kind::Rest,
            since: Instant::now(),
            values: 0,
        };
        let result = self.circuit.synthesize(&mut watch);
        watch.switch(Kind::Rest);
        result
    }
}

/// The constraint system with a watch on it.
struct Watch<'a, CS> {
    cs: &'a mut CS,
    split: &'a mut Split,
    depth: usize,
    /// Whether the outermost namespace is a challenge's.
    challenge: bool,
    /// What goes on since when, and how many variables were allocated meanwhile.
    kind: Kind,
    since: Instant,
    values: u64,
}

impl<CS> Watch<'_, CS> {
    fn switch(&mut self, kind: Kind) {
        let now = Instant::now();
        self.split.add(self.kind, now - self.since, std::mem::take(&mut self.values));
        (self.kind, self.since) = (kind, now);
    }
}

impl<CS: ConstraintSystem<Fr>> ConstraintSystem<Fr> for Watch<'_, CS> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, annotation: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.values += 1;
        self.cs.alloc(annotation, value)
    }

    fn alloc_input<F, A, AR>(&mut self, annotation: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.values += 1;
        self.cs.alloc_input(annotation, value)
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.cs.enforce(annotation, a, b, c)
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        match self.depth {
            0 => self.challenge = name().into().starts_with("challenge_"),
            1 if self.challenge => {
                let kind = Kind::of(&name().into());
                self.switch(kind);
            }
            _ => {}
        }
        self.depth += 1;
    }

    fn pop_namespace(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 1 && self.challenge {
            self.switch(Kind::Rest);
        }
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }

    fn is_witness_generator(&self) -> bool {
        self.cs.is_witness_generator()
    }

    fn extend_inputs(&mut self, values: &[Fr]) {
        self.values += values.len() as u64;
        self.cs.extend_inputs(values);
    }

    fn extend_aux(&mut self, values: &[Fr]) {
        self.values += values.len() as u64;
        self.cs.extend_aux(values);
    }

    fn allocate_empty(&mut self, aux: usize, inputs: usize) -> (&mut [Fr], &mut [Fr]) {
        self.values += (aux + inputs) as u64;
        self.cs.allocate_empty(aux, inputs)
    }

    fn allocate_empty_inputs(&mut self, inputs: usize) -> &mut [Fr] {
        self.values += inputs as u64;
        self.cs.allocate_empty_inputs(inputs)
    }

    fn allocate_empty_aux(&mut self, aux: usize) -> &mut [Fr] {
        self.values += aux as u64;
        self.cs.allocate_empty_aux(aux)
    }

    fn inputs_slice(&self) -> &[Fr] {
        self.cs.inputs_slice()
    }

    fn aux_slice(&self) -> &[Fr] {
        self.cs.aux_slice()
    }
}
