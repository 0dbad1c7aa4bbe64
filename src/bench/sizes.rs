//! How large a circuit is, without its values.

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

use super::Subject;
use crate::error::{Fault, OrFault, Result};

/// Variables and rows, the inputs' rows included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub inputs: usize,
    pub aux: usize,
    pub rows: usize,
}

impl Counts {
    /// Counts what `circuit` allocates and enforces.
    ///
    /// # Errors
    /// Those of the circuit.
    pub fn of(circuit: impl Circuit<Fr>) -> Result<Self> {
        // ONE, and its row.
        let mut count = Count(Self { inputs: 1, aux: 0, rows: 1 });
        circuit.synthesize(&mut count).or_fault(Fault::Input, || "counting the circuit's rows".into())?;
        Ok(count.0)
    }

    /// The counts of a partition, from the circuits of its first one and two challenges: every further challenge adds the same.
    ///
    /// # Errors
    /// Those of the circuit.
    pub fn of_partition(subject: &Subject<'_>) -> Result<Self> {
        let challenges = subject.porep.challenges_per_partition();
        let count = |n: usize| Self::of(subject.challenges(0, n)?);
        if challenges < 3 {
            return count(challenges);
        }
        let (one, two) = (count(1)?, count(2)?);
        let of = |part: fn(&Self) -> usize| part(&one) + (challenges - 1) * (part(&two) - part(&one));
        Ok(Self { inputs: of(|c| c.inputs), aux: of(|c| c.aux), rows: of(|c| c.rows) })
    }

    /// Values of an assignment.
    pub fn values(&self) -> u64 {
        (self.inputs + self.aux) as u64
    }
}

struct Count(Counts);

impl ConstraintSystem<Fr> for Count {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.0.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        (self.0.inputs, self.0.rows) = (self.0.inputs + 1, self.0.rows + 1);
        Ok(Variable::new_unchecked(Index::Input(self.0.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.0.rows += 1;
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
