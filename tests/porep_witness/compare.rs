//! A constraint system that compares what a circuit allocates with a witness, value by value, and keeps nothing: a whole 32 GiB
//! partition takes no more memory than its circuit.

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use cuzk::witness::CompactWitness;
use ff::Field;

struct Compared<'a> {
    witness: &'a CompactWitness,
    /// Values so far, and the first that differs.
    inputs: usize,
    aux: usize,
    input_differs: Option<usize>,
    aux_differs: Option<usize>,
}

/// Panics with the first variable that differs, or with the numbers of variables.
#[track_caller]
pub fn assert_is_assignment_of(witness: &CompactWitness, circuit: impl Circuit<Fr>) {
    let mut compared = Compared { witness, inputs: 0, aux: 0, input_differs: None, aux_differs: None };
    compared.alloc_input(|| "one", || Ok(Fr::ONE)).unwrap();
    circuit.synthesize(&mut compared).unwrap();
    assert_eq!((compared.input_differs, compared.aux_differs), (None, None), "the first input and aux that differ");
    assert_eq!((compared.inputs, compared.aux), (witness.inputs().len(), witness.layout().aux()));
}

impl ConstraintSystem<Fr> for Compared<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let i = self.aux;
        if i >= self.witness.layout().aux() || self.witness.aux(i) != f()? {
            self.aux_differs.get_or_insert(i);
        }
        self.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(i)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let i = self.inputs;
        if self.witness.inputs().get(i) != Some(&f()?) {
            self.input_differs.get_or_insert(i);
        }
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(i)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}
    fn pop_namespace(&mut self) {}
    fn get_root(&mut self) -> &mut Self {
        self
    }
}
