//! A constraint system that evaluates every row as it comes, with bellpepper's `LinearCombination::eval`.

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;

/// What a circuit allocates, and its rows' values.
#[derive(Default)]
pub struct Rows {
    /// ONE first.
    pub inputs: Vec<Fr>,
    pub aux: Vec<Fr>,
    /// Rows so far, and those in which a * b is not c.
    pub count: usize,
    pub unsatisfied: usize,
    /// The values of A, B and C; `None` where nobody asked for them.
    pub values: Option<[Vec<Fr>; 3]>,
    /// Who occurs in A and B, by the definition: with a coefficient that is not zero.
    pub a_aux: Vec<bool>,
    pub b_input: Vec<bool>,
    pub b_aux: Vec<bool>,
}

impl Rows {
    /// Runs the circuit and keeps its assignment alone: a circuit of millions of rows takes little memory.
    pub fn count(circuit: impl Circuit<Fr>) -> Self {
        Self::default().run(circuit)
    }

    /// Runs the circuit and keeps the rows' values too.
    pub fn keep(circuit: impl Circuit<Fr>) -> Self {
        Self { values: Some(Default::default()), ..Self::default() }.run(circuit)
    }

    fn run(mut self, circuit: impl Circuit<Fr>) -> Self {
        self.alloc_input(|| "one", || Ok(Fr::ONE)).unwrap();
        circuit.synthesize(&mut self).unwrap();
        self
    }

    pub fn row(&mut self, combinations: [LinearCombination<Fr>; 3]) {
        let row @ [a, b, c] = [0, 1, 2].map(|i: usize| combinations[i].eval(&self.inputs, &self.aux));
        self.count += 1;
        self.unsatisfied += usize::from(a * b != c);
        for (values, value) in self.values.iter_mut().flatten().zip(row) {
            values.push(value);
        }
        let [a, b, _] = &combinations;
        for (combination, is_b) in [(a, false), (b, true)] {
            for (variable, _) in combination.iter().filter(|(_, coefficient)| **coefficient != Fr::ZERO) {
                match (variable.get_unchecked(), is_b) {
                    (Index::Input(i), true) => self.b_input[i] = true,
                    (Index::Input(_), false) => {}
                    (Index::Aux(i), true) => self.b_aux[i] = true,
                    (Index::Aux(i), false) => self.a_aux[i] = true,
                }
            }
        }
    }
}

impl ConstraintSystem<Fr> for Rows {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(f()?);
        self.a_aux.push(false);
        self.b_aux.push(false);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        self.b_input.push(false);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.row([a(LinearCombination::zero()), b(LinearCombination::zero()), c(LinearCombination::zero())]);
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}
    fn pop_namespace(&mut self) {}
    fn get_root(&mut self) -> &mut Self {
        self
    }
}
