//! Runs a circuit for its rows alone: no assignment is computed, and no name is built unless it is asked for.

use std::io;

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

/// Variables allocated so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Variables {
    /// ONE among them.
    pub inputs: usize,
    pub aux: usize,
}

/// Whoever takes the rows.
pub(super) trait Sink: Send {
    /// Most variables of a kind.
    const COLUMNS: usize;
    /// Which of A, B and C are looked at. The others come empty; what would build them is not run.
    const MATRICES: [bool; 3];

    /// The next row, with the variables there are when it is made, and its own name.
    fn row(&mut self, variables: Variables, row: [LinearCombination<Fr>; 3], name: impl FnOnce() -> String);

    /// A namespace opens.
    fn enter(&mut self, _name: impl FnOnce() -> String) {}

    /// The namespace opened last closes.
    fn leave(&mut self) {}
}

/// Synthesises `circuit` (blank will do): ONE first, the circuit, then a row `input * 0 = 0` per input, which keeps every
/// input's column nonzero.
///
/// The order of rows and variables is that of bellperson's parameter generator and prover.
///
/// # Errors
/// Those of the circuit; an `IoError` when it has more variables of a kind than the sink can take.
pub(super) fn run<S: Sink>(circuit: impl Circuit<Fr>, sink: S) -> Result<(Variables, S), SynthesisError> {
    let mut recorder = Recorder { variables: Variables { inputs: 1, aux: 0 }, sink };
    circuit.synthesize(&mut recorder)?;
    let Recorder { variables, mut sink } = recorder;
    for i in 0..variables.inputs {
        let input = LinearCombination::zero() + Variable::new_unchecked(Index::Input(i));
        sink.row(variables, [input, LinearCombination::zero(), LinearCombination::zero()], || format!("input {i}"));
    }
    Ok((variables, sink))
}

/// The constraint system that hands its rows to a sink.
pub(super) struct Recorder<S> {
    variables: Variables,
    sink: S,
}

/// The next index of a kind.
fn next(count: &mut usize, limit: usize) -> Result<usize, SynthesisError> {
    let index = *count;
    if index >= limit {
        return Err(io::Error::other(format!("more than {limit} variables of one kind")).into());
    }
    *count += 1;
    Ok(index)
}

/// The combination, if it is wanted.
fn build(
    wanted: bool,
    combination: impl FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
) -> LinearCombination<Fr> {
    if wanted {
        combination(LinearCombination::zero())
    } else {
        LinearCombination::zero()
    }
}

impl<S: Sink> ConstraintSystem<Fr> for Recorder<S> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        next(&mut self.variables.aux, S::COLUMNS).map(|i| Variable::new_unchecked(Index::Aux(i)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        next(&mut self.variables.inputs, S::COLUMNS).map(|i| Variable::new_unchecked(Index::Input(i)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, name: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        let [with_a, with_b, with_c] = S::MATRICES;
        let row = [build(with_a, a), build(with_b, b), build(with_c, c)];
        self.sink.row(self.variables, row, || name().into());
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.sink.enter(|| name().into());
    }

    fn pop_namespace(&mut self) {
        self.sink.leave();
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
