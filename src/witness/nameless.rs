//! Constraint systems for circuits that are only run: what a circuit calls its variables, rows and namespaces is not asked for.

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

/// What becomes of a circuit's variables and rows.
pub trait Nameless: Send {
    /// Takes an aux variable; the answer is its index.
    ///
    /// # Errors
    /// That of the value.
    fn aux(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError>;

    /// The same for an input.
    ///
    /// # Errors
    /// That of the value.
    fn input(&mut self, value: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError>;

    /// Takes a row, the combinations of A, B and C: those that are not asked for are not built.
    fn row(
        &mut self,
        a: impl FnOnce() -> LinearCombination<Fr>,
        b: impl FnOnce() -> LinearCombination<Fr>,
        c: impl FnOnce() -> LinearCombination<Fr>,
    );
}

/// Runs `circuit` in `system`.
///
/// # Errors
/// Those of the circuit, and of the system.
pub fn run<S: Nameless>(circuit: impl Circuit<Fr>, system: S) -> Result<S, SynthesisError> {
    let mut system = Running(system);
    circuit.synthesize(&mut system)?;
    Ok(system.0)
}

struct Running<S>(S);

impl<S: Nameless> ConstraintSystem<Fr> for Running<S> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.aux(value).map(|i| Variable::new_unchecked(Index::Aux(i)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.input(value).map(|i| Variable::new_unchecked(Index::Input(i)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        let zero = LinearCombination::zero;
        self.0.row(|| a(zero()), || b(zero()), || c(zero()));
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
