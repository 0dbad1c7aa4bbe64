//! How large a circuit is, without its values.

use bellperson::{Circuit, LinearCombination, SynthesisError};
use blstrs::Scalar as Fr;

use super::Subject;
use crate::error::{Fault, OrFault, Result};
use crate::witness::{nameless, Nameless};

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
        let count = Count(Self { inputs: 1, aux: 0, rows: 1 });
        nameless::run(circuit, count)
            .map(|count| count.0)
            .or_fault(Fault::Input, || "counting the circuit's rows".into())
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

impl Nameless for Count {
    fn aux(&mut self, _: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        self.0.aux += 1;
        Ok(self.0.aux - 1)
    }

    fn input(&mut self, _: impl FnOnce() -> Result<Fr, SynthesisError>) -> Result<usize, SynthesisError> {
        (self.0.inputs, self.0.rows) = (self.0.inputs + 1, self.0.rows + 1);
        Ok(self.0.inputs - 1)
    }

    fn row(
        &mut self,
        _: impl FnOnce() -> LinearCombination<Fr>,
        _: impl FnOnce() -> LinearCombination<Fr>,
        _: impl FnOnce() -> LinearCombination<Fr>,
    ) {
        self.0.rows += 1;
    }
}
