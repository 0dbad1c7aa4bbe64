//! Linear combinations as bellpepper keeps them, in a container of one's choice.
//!
//! [`Indexer`] does what bellpepper-core 0.2's `lc.rs` does: terms sorted by variable, a second term of a variable added to the
//! first, and no search where a term's variable is the last inserted one or the next after it.

use std::ops::{Add, DerefMut};

use blstrs::Scalar as Fr;
use ff::Field;
use smallvec::SmallVec;

/// A variable's index among its kind, and its coefficient.
pub type Term = (usize, Fr);

/// What holds terms.
pub trait Container: Default + DerefMut<Target = [Term]> {
    /// An empty one with room for `terms`.
    fn with_room(terms: usize) -> Self;
    fn push(&mut self, term: Term);
    fn insert(&mut self, place: usize, term: Term);
}

/// A vector and a small vector have these methods under the same names.
macro_rules! impl_container {
    ($container:ty $(, $n:ident)?) => {
        impl$(<const $n: usize>)? Container for $container
        $(where
            [Term; $n]: smallvec::Array<Item = Term>,)?
        {
            fn with_room(terms: usize) -> Self {
                Self::with_capacity(terms)
            }

            fn push(&mut self, term: Term) {
                self.push(term);
            }

            fn insert(&mut self, place: usize, term: Term) {
                self.insert(place, term);
            }
        }
    };
}

impl_container!(Vec<Term>);
impl_container!(SmallVec<[Term; N]>, N);

/// Terms of one kind of variables, sorted.
#[derive(Default)]
pub struct Indexer<C> {
    terms: C,
    /// Place and variable of the term that was inserted last.
    last: Option<(usize, usize)>,
}

impl<C: Container> Indexer<C> {
    fn with_room(terms: usize) -> Self {
        Self { terms: C::with_room(terms), last: None }
    }

    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Adds `coefficient` to the variable's.
    pub fn add(&mut self, variable: usize, coefficient: Fr) {
        match self.last {
            Some((place, last)) if last == variable => self.terms[place].1 += coefficient,
            Some((place, last)) if last + 1 == variable => self.add_after(place + 1, variable, coefficient),
            _ => match self.terms.binary_search_by_key(&variable, |(known, _)| *known) {
                Ok(place) => self.terms[place].1 += coefficient,
                Err(place) => {
                    self.terms.insert(place, (variable, coefficient));
                    self.last = Some((place, variable));
                }
            },
        }
    }

    /// The same where the variable belongs right behind the last inserted one, at `place`.
    fn add_after(&mut self, place: usize, variable: usize, coefficient: Fr) {
        match self.terms.get_mut(place) {
            // The place of insertion stays remembered: bellpepper's does not move either.
            Some((known, sum)) if *known == variable => {
                *sum += coefficient;
                return;
            }
            Some(_) => self.terms.insert(place, (variable, coefficient)),
            None => self.terms.push((variable, coefficient)),
        }
        self.last = Some((place, variable));
    }
}

/// A variable of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    Input(usize),
    Aux(usize),
}

/// A linear combination: terms of inputs and of aux variables.
#[derive(Default)]
pub struct Combination<C> {
    pub inputs: Indexer<C>,
    pub aux: Indexer<C>,
}

impl<C: Container> Combination<C> {
    /// An empty one with room for so many terms of each kind.
    pub fn with_room(inputs: usize, aux: usize) -> Self {
        Self { inputs: Indexer::with_room(inputs), aux: Indexer::with_room(aux) }
    }

    pub fn evaluate(&self, inputs: &[Fr], aux: &[Fr]) -> Fr {
        let mut sum = Fr::ZERO;
        for (terms, values) in [(&self.inputs, inputs), (&self.aux, aux)] {
            for (variable, coefficient) in terms.terms() {
                let mut value = values[*variable];
                if *coefficient != Fr::ONE {
                    value *= coefficient;
                }
                sum += value;
            }
        }
        sum
    }
}

/// Moves the combination in and out, as bellpepper's operators do.
impl<C: Container> Add<(Variable, Fr)> for Combination<C> {
    type Output = Self;

    #[inline]
    fn add(mut self, (variable, coefficient): (Variable, Fr)) -> Self {
        match variable {
            Variable::Input(i) => self.inputs.add(i, coefficient),
            Variable::Aux(i) => self.aux.add(i, coefficient),
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use bellperson::{Index, LinearCombination, Variable as Theirs};
    use rand_chacha::rand_core::{RngCore, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    /// bellpepper's `Debug` tells what it keeps to itself: the terms, and the last insertion.
    fn agree<C: Container>(rng: &mut ChaCha20Rng, terms: usize, variables: u32, room: usize) {
        let (mut ours, mut theirs) = (Combination::<C>::with_room(room, room), LinearCombination::<Fr>::zero());
        let mut next = 0;
        for _ in 0..terms {
            // Runs of consecutive variables, repetitions and jumps.
            next = match rng.next_u32() % 4 {
                0 => next,
                1 | 2 => next + 1,
                _ => (rng.next_u32() % variables) as usize,
            };
            let coefficient = Fr::from(u64::from(rng.next_u32() % 3)) - Fr::ONE;
            let (our, their) = match rng.next_u32() % 4 {
                0 => (Variable::Input(next), Index::Input(next)),
                _ => (Variable::Aux(next), Index::Aux(next)),
            };
            ours = ours + (our, coefficient);
            theirs = theirs + (coefficient, Theirs::new_unchecked(their));
            let shown = format!("{theirs:?}");
            let indexer =
                |i: &Indexer<C>| format!("Indexer {{ values: {:?}, last_inserted: {:?} }}", i.terms(), i.last);
            let expected =
                format!("LinearCombination {{ inputs: {}, aux: {} }}", indexer(&ours.inputs), indexer(&ours.aux));
            assert_eq!(expected, shown);
        }
    }

    fn agree_often<C: Container>() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for terms in [0, 1, 2, 3, 4, 5, 8, 9, 40] {
            for variables in [1, 3, 10, 1000] {
                for room in [0, 1, terms] {
                    agree::<C>(&mut rng, terms, variables, room);
                }
            }
        }
    }

    #[test]
    fn every_container_does_what_bellpeppers_does() {
        agree_often::<Vec<Term>>();
        agree_often::<SmallVec<[Term; 1]>>();
        agree_often::<SmallVec<[Term; 2]>>();
        agree_often::<SmallVec<[Term; 4]>>();
    }
}
