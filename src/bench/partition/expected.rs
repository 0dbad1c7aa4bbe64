//! What sums over known bases have to be: the scalars times the bases' logarithms, in the field alone.

use std::iter::once;

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::bases::Logarithms;
use crate::witness::{CompactWitness, Density};

/// Scalars of a parallel task.
const TASK: usize = 1 << 14;

/// The sum of each element times the logarithm of its base, the first of which is base `first`.
pub fn of_elements(elements: &[Fr], logarithms: Logarithms<'_>, first: usize) -> Fr {
    let tasks = elements.par_chunks(TASK).enumerate();
    tasks
        .map(|(k, chunk)| products(chunk.iter().copied(), logarithms, first + k * TASK))
        .reduce(|| Fr::ZERO, |x, y| x + y)
}

/// The same of a witness's aux variables: all, or those of a density. Each is looked up by itself, not as the backends have them.
pub fn of_aux(witness: &CompactWitness, density: Option<&Density>, logarithms: Logarithms<'_>, first: usize) -> Fr {
    let count = witness.layout().aux();
    let is_in = |i: &usize| density.is_none_or(|density| density.get(*i));
    let tasks: Vec<_> = (0..count).step_by(TASK).map(|start| start..count.min(start + TASK)).collect();
    // Which base a task's first variable has, the number of those before it tells.
    let counts: Vec<usize> = tasks.par_iter().map(|task| task.clone().filter(is_in).count()).collect();
    let starts = once(first).chain(counts.iter().scan(first, |next, count| {
        *next += count;
        Some(*next)
    }));
    let tasks: Vec<_> = tasks.into_iter().zip(starts).collect();
    let sums = tasks.into_par_iter().map(|(task, start)| {
        let values = task.filter(is_in).map(|i| witness.aux(i));
        products(values, logarithms, start)
    });
    sums.reduce(|| Fr::ZERO, |x, y| x + y)
}

fn products(scalars: impl Iterator<Item = Fr>, logarithms: Logarithms<'_>, first: usize) -> Fr {
    scalars.zip(logarithms.starting_at(first)).fold(Fr::ZERO, |sum, (scalar, logarithm)| sum + scalar * logarithm)
}
