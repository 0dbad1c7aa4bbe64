//! Scalars told apart by what they cost: zeros nothing, ones an addition, the others a place in every window's buckets.

use std::ops::Range;

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use crate::backend::scalars::{set_bits, Scalars, Variables};

/// Scalars that are classified at a time: their index lists take at most 32 MB, twice while the tasks' parts become one.
const BLOCK: usize = 1 << 22;
/// Scalars per parallel task.
const TASK: usize = 1 << 14;

/// Consecutive scalars of a sum.
pub struct Block<'a> {
    pub classes: Classes,
    /// What [`Classes::places`] are places in.
    pub elements: &'a [Fr],
}

/// Which scalars are one, and which are neither zero nor one; indices count from the block's first scalar.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Classes {
    pub ones: Vec<u32>,
    pub full: Vec<u32>,
    /// For each of `full` its place among the elements.
    pub places: Vec<u32>,
}

impl Classes {
    fn push(&mut self, index: u32, place: u32, value: &Fr) {
        if *value == Fr::ONE {
            self.ones.push(index);
        } else if *value != Fr::ZERO {
            self.full.push(index);
            self.places.push(place);
        }
    }

    fn concat(parts: Vec<Self>) -> Self {
        let mut all = Self::default();
        all.ones.reserve_exact(parts.iter().map(|p| p.ones.len()).sum());
        all.full.reserve_exact(parts.iter().map(|p| p.full.len()).sum());
        all.places.reserve_exact(all.full.capacity());
        for part in parts {
            all.ones.extend(part.ones);
            all.full.extend(part.full);
            all.places.extend(part.places);
        }
        all
    }
}

/// How many scalars are neither zero nor one; of a witness's elements none is looked at.
pub fn count_full(runs: &[Scalars<'_>]) -> usize {
    let is_full = |s: &&Fr| **s != Fr::ZERO && **s != Fr::ONE;
    let count = |run: &Scalars<'_>| -> usize {
        match run {
            Scalars::Elements(e) => e.par_chunks(TASK).map(|task| task.iter().filter(is_full).count()).sum(),
            Scalars::Variables(v) => {
                let full = |w| (v.word(w).mask & v.word(w).selected).count_ones() as usize;
                (0..v.words()).into_par_iter().with_min_len(TASK / 64).map(full).sum()
            }
        }
    };
    runs.iter().map(count).sum()
}

/// Scalars that make up a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of scalars before it.
    pub first: usize,
    /// Number of scalars.
    pub len: usize,
    /// Which run they are in.
    run: usize,
    /// Which of its elements, or of its words of variables.
    range: Range<usize>,
}

/// The blocks of a list of runs, in order.
pub fn extents(runs: &[Scalars<'_>]) -> Vec<Extent> {
    let mut extents = Vec::new();
    let mut first = 0;
    for (run, scalars) in runs.iter().enumerate() {
        let (units, step) = match scalars {
            Scalars::Elements(elements) => (elements.len(), BLOCK),
            Scalars::Variables(variables) => (variables.words(), BLOCK / 64),
        };
        let end = first + scalars.len();
        for start in (0..units).step_by(step) {
            let range = start..units.min(start + step);
            let len = match scalars {
                Scalars::Elements(_) => range.len(),
                // The last word may say that variables past the end are selected.
                Scalars::Variables(variables) => count_selected(variables, range.clone()).min(end - first),
            };
            extents.push(Extent { first, len, run, range });
            first += len;
        }
    }
    extents
}

impl<'a> Block<'a> {
    /// Classifies the scalars of one of these runs' [`extents`], in parallel.
    ///
    /// # Panics
    /// May panic for an extent of other runs.
    pub fn new(runs: &[Scalars<'a>], extent: &Extent) -> Self {
        match runs[extent.run] {
            Scalars::Elements(elements) => {
                let elements = &elements[extent.range.clone()];
                Self { classes: of_elements(elements), elements }
            }
            Scalars::Variables(variables) => {
                let classes = of_variables(&variables, extent.range.clone());
                Self { classes, elements: variables.elements() }
            }
        }
    }
}

fn count_selected(variables: &Variables<'_>, words: Range<usize>) -> usize {
    let selected = |w| variables.word(w).selected.count_ones() as usize;
    words.into_par_iter().with_min_len(TASK / 64).map(selected).sum()
}

fn of_elements(elements: &[Fr]) -> Classes {
    let parts = elements.par_chunks(TASK).enumerate().map(|(task, chunk)| {
        let mut classes = Classes::default();
        for (i, value) in chunk.iter().enumerate() {
            let index = (task * TASK + i) as u32;
            classes.push(index, index, value);
        }
        classes
    });
    Classes::concat(parts.collect())
}

/// The classes of some words' scalars.
fn of_variables(variables: &Variables<'_>, words: Range<usize>) -> Classes {
    let tasks: Vec<_> = words.clone().step_by(TASK / 64).map(|w| w..words.end.min(w + TASK / 64)).collect();
    let selected = |task: &Range<usize>| -> u32 { task.clone().map(|w| variables.word(w).selected.count_ones()).sum() };
    let mut total = 0;
    let starts: Vec<u32> = tasks
        .iter()
        .map(|task| {
            total += selected(task);
            total - selected(task)
        })
        .collect();
    let parts = tasks.into_par_iter().zip(starts).map(|(task, mut index)| {
        let mut classes = Classes::default();
        for w in task {
            let word = variables.word(w);
            classes.ones.extend(set_bits(word.ones).map(|bit| index + word.scalars_before(bit)));
            for (bit, place) in word.elements() {
                classes.push(index + word.scalars_before(bit), place, &variables.elements()[place as usize]);
            }
            index += word.selected.count_ones();
        }
        classes
    });
    Classes::concat(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::scalars::expand;

    /// The value of every scalar as the blocks have it.
    fn from_blocks(runs: &[Scalars<'_>]) -> Vec<Fr> {
        let mut values = Vec::new();
        for extent in extents(runs) {
            let block = Block::new(runs, &extent);
            assert_eq!(extent.first, values.len());
            let mut of_block = vec![Fr::ZERO; extent.len];
            block.classes.ones.iter().for_each(|i| of_block[*i as usize] += Fr::ONE);
            for (i, place) in block.classes.full.iter().zip(&block.classes.places) {
                of_block[*i as usize] += block.elements[*place as usize];
            }
            values.extend(of_block);
        }
        values
    }

    #[test]
    fn blocks_hold_every_scalar_once() {
        // Around the ends of words and tasks, and more than a block.
        for count in [0, 1, 63, 64, 65, 1000, TASK - 1, TASK, TASK + 1, 3 * TASK + 65, BLOCK + 70] {
            let bit = |i: usize, step: usize| u64::from(i.is_multiple_of(step));
            let words = |f: &dyn Fn(usize) -> u64| -> Vec<u64> {
                let mut words = vec![0; count.div_ceil(64)];
                (0..count).for_each(|i| words[i / 64] |= f(i) << (i % 64));
                words
            };
            let mask = words(&|i| bit(i, 7));
            let bits = words(&|i| bit(i, 3) & !bit(i, 7) & 1);
            let selected = words(&|i| bit(i, 2) | bit(i, 21));
            let mut ranks = vec![0u32];
            mask.iter().for_each(|word| ranks.push(ranks[ranks.len() - 1] + word.count_ones()));
            let elements: Vec<Fr> = (0..ranks[ranks.len() - 1]).map(|i| Fr::from(u64::from(i % 11))).collect();
            ranks.pop();
            let head = [Fr::ONE, -Fr::ONE, Fr::ZERO];
            for selected in [None, Some(&selected[..])] {
                let variables = Variables::new(count, (&bits, &mask, &ranks), &elements, selected).unwrap();
                let runs = [Scalars::Elements(&head), Scalars::Variables(variables)];
                let expected = expand(&runs);
                assert!(from_blocks(&runs) == expected, "{count} {}", selected.is_some());
                let full = expected.iter().filter(|v| **v != Fr::ZERO && **v != Fr::ONE).count();
                assert!((full..=full + elements.len()).contains(&count_full(&runs)));
                // The same scalars as elements.
                assert!(from_blocks(&[Scalars::Elements(&expected)]) == expected, "{count}");
            }
        }
    }
}
