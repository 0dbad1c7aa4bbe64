//! Two backends at once: each operation runs on both, and they have to agree.

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use super::bases::{G1Bases, G2Bases};
use super::memory::Lent;
use super::scalars::Scalars;
use super::Backend;
use crate::constraints::{Constraints, Rows};
use crate::error::{Fault, Result};
use crate::fail;
use crate::report::{Operation, Timings};
use crate::witness::CompactWitness;

/// Answers what the first says where the second says the same.
pub struct Dual<A, B> {
    first: A,
    second: B,
}

impl<A: Backend, B: Backend> Dual<A, B> {
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }

    /// The outcome of `operation` on both. `differ` says where two outcomes differ, if they do.
    fn compare<T>(
        &self,
        operation: &str,
        run: impl Fn(&dyn Backend) -> Result<T>,
        differ: impl Fn(&T, &T) -> Option<String>,
    ) -> Result<T> {
        let (first, second) = (run(&self.first)?, run(&self.second)?);
        match differ(&first, &second) {
            None => Ok(first),
            Some(place) => fail!(
                Fault::Device,
                "{operation} on {} and on {} differ: {place}; one of the two computes wrongly",
                self.first.name(),
                self.second.name()
            ),
        }
    }

    /// As [`Dual::compare`], of several points.
    fn compare_points<P: PartialEq>(
        &self,
        operation: &str,
        run: impl Fn(&dyn Backend) -> Result<Vec<P>>,
    ) -> Result<Vec<P>> {
        self.compare(operation, run, |a, b| first_difference(a, b).map(|k| format!("sum {k} of {}", a.len())))
    }
}

/// The first place where two slices differ, if only by one being longer.
fn first_difference<T: PartialEq>(a: &[T], b: &[T]) -> Option<usize> {
    let within = a.iter().zip(b).position(|(a, b)| a != b);
    within.or_else(|| (a.len() != b.len()).then_some(a.len().min(b.len())))
}

impl<A: Backend, B: Backend> Backend for Dual<A, B> {
    fn name(&self) -> String {
        format!("{} compared with {}", self.first.name(), self.second.name())
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        let run = |backend: &dyn Backend| backend.quotient(a, b);
        let place =
            |a: &Lent<Fr>, b: &Lent<Fr>| first_difference(a, b).map(|i| format!("coefficient {i} of {}", a.len()));
        self.compare("the quotient", run, place)
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        self.sums_g1(bases, &[scalars]).map(|sums| sums[0])
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        self.sums_g2(bases, &[scalars]).map(|sums| sums[0])
    }

    fn sums_g1(&self, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        self.compare_points(&format!("sums over {} bases in G1", bases.len()), |backend| backend.sums_g1(bases, lists))
    }

    fn sums_g2(&self, bases: G2Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G2Projective>> {
        self.compare_points(&format!("sums over {} bases in G2", bases.len()), |backend| backend.sums_g2(bases, lists))
    }

    fn sum_of_quotient(
        &self,
        constraints: &Constraints,
        witness: &CompactWitness,
        bases: G1Bases<'_>,
        timings: &Timings,
    ) -> Result<G1Projective> {
        let run = |backend: &dyn Backend| backend.sum_of_quotient(constraints, witness, bases, timings);
        let place = |a: &G1Projective, b: &G1Projective| (a != b).then(|| format!("over {} bases", bases.len()));
        self.compare("the sum of the quotient", run, place)
    }

    fn take_operations(&self) -> Vec<Vec<Operation>> {
        let mut streams = self.first.take_operations();
        streams.extend(self.second.take_operations());
        streams
    }

    fn together(&self) -> usize {
        self.first.together().min(self.second.together())
    }

    fn host_bytes(&self, rows: usize, threads: usize) -> u64 {
        self.first.host_bytes(rows, threads) + self.second.host_bytes(rows, threads)
    }
}
