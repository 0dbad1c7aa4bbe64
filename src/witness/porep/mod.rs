//! The PoRep circuit's witness, computed without the circuit: equal to its assignment value by value, and some hundred times
//! faster.
//!
//! Each gadget has a counterpart here that computes on words and elements and puts down what the gadget would have allocated, in
//! its order. The circuit is a header followed by one run of variables for each challenge; all challenges have the same layout,
//! and none needs another, so they are generated at once. The reference is the circuit itself: `witness::synthesize`.

mod challenge;
mod gadget;
mod hashes;
mod label;
mod merkle;
mod poseidon;
#[cfg(target_arch = "x86_64")]
mod poseidon_lanes;
mod scalar;
mod sha256;
mod sink;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;
use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::{CompactWitness, Layout, PADDING};
use crate::circuit::{Partition, Shape};
use crate::error::{Fault, Result};
use crate::fail;
use crate::pages::ask_for_huge;
use challenge::{Gadgets, INPUTS};
pub use gadget::{Gadget, GadgetTimes};
use sink::{Places, Writer};

/// Generates witnesses of one PoRep circuit. Made once, shared by all partitions and threads.
pub struct Generator {
    shape: Shape,
    gadgets: Gadgets,
    layout: Arc<Layout>,
    header: Run,
    challenge: Run,
}

/// Variables and elements of a part of the circuit.
#[derive(Clone, Copy)]
struct Run {
    variables: usize,
    elements: usize,
}

/// A part of the circuit and where its values go.
struct Part<'a> {
    /// Of the challenges; `None` for the header.
    challenge: Option<usize>,
    /// Its first variable.
    start: usize,
    words: &'a mut [u64],
    elements: &'a mut [MaybeUninit<Fr>],
}

impl Generator {
    /// Finds plans, constants and layout: some milliseconds. `shape` may have fewer challenges than the proof type's, which gives
    /// the circuit of that many.
    ///
    /// # Errors
    /// [`Fault::Internal`] for a shape that is none of the registered proof types'.
    pub fn new(shape: &Shape) -> Result<Self> {
        Self::with_lanes(shape, true)
    }

    /// As [`Generator::new`], without AVX-512 where `lanes` is false: the reference to compare with.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub fn with_lanes(shape: &Shape, lanes: bool) -> Result<Self> {
        let gadgets = Gadgets::new(shape, lanes)?;
        let blank = Partition::blank(&Shape { challenges_per_partition: 1, ..*shape });
        let (mut header, mut challenge) = (Places::default(), Places::default());
        gadgets.header(&blank, &mut header);
        for values in &blank.challenges {
            gadgets.challenge(blank.replica_id, values, &mut challenge);
        }
        let challenges = shape.challenges_per_partition;
        let variables = header.count + challenges * challenge.count;
        let mut mask = vec![0; variables.div_ceil(64)];
        let repeated = (0..challenges).flat_map(|i| {
            let start = header.count + i * challenge.count;
            challenge.elements.iter().map(move |place| start + place)
        });
        header.elements.iter().copied().chain(repeated).for_each(|place| mask[place / 64] |= 1 << (place % 64));
        let run = |places: &Places| Run { variables: places.count, elements: places.elements.len() };
        Ok(Self {
            shape: *shape,
            gadgets,
            layout: Arc::new(Layout::new(variables, &mask)?),
            header: run(&header),
            challenge: run(&challenge),
        })
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The layout of all its witnesses.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The witness of one partition, public inputs included. Runs on the current rayon pool.
    ///
    /// # Errors
    /// [`Fault::Internal`] for a partition of another shape.
    pub fn generate(&self, partition: &Partition) -> Result<CompactWitness> {
        self.generate_with(partition, false).map(|(witness, _)| witness)
    }

    /// The same, and what its time went into.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub fn generate_watched(&self, partition: &Partition) -> Result<(CompactWitness, GadgetTimes)> {
        self.generate_with(partition, true)
    }

    fn generate_with(&self, partition: &Partition, watched: bool) -> Result<(CompactWitness, GadgetTimes)> {
        if partition.shape != self.shape {
            fail!(Fault::Internal, "a partition of {:?} for a generator of {:?}", partition.shape, self.shape);
        }
        let mut bits = vec![0; self.layout.mask().len()];
        let mut elements = Vec::with_capacity(self.layout.wide());
        ask_for_huge(&mut bits);
        ask_for_huge(elements.spare_capacity_mut());
        let words = bits.len() - 2 * PADDING;
        let places = &mut elements.spare_capacity_mut()[..self.layout.wide()];
        let parts = self.parts(&mut bits[PADDING..][..words], places)?;
        let results: Vec<Result<Written>> =
            parts.into_par_iter().map(|part| self.write(partition, part, watched)).collect();
        let mut inputs = vec![Fr::ONE, partition.replica_id, partition.comm_d, partition.comm_r];
        let mut times = GadgetTimes::default();
        for written in results {
            let Written { start, shared, inputs: own, times: of_part } = written?;
            of_part.iter().for_each(|of_part| times.merge(of_part));
            if let Some(word) = (start / 64).checked_add(PADDING).and_then(|word| bits.get_mut(word)) {
                *word |= shared;
            }
            inputs.extend(own.into_iter().flatten().map(Fr::from));
        }
        // SAFETY: the parts share out all the places, and each, having succeeded, has written all of its own.
        unsafe { elements.set_len(self.layout.wide()) };
        Ok((CompactWitness::from_padded(self.layout.clone(), inputs, bits, elements)?, times))
    }

    /// The header and the challenges with their shares of the words and of the places for elements, of which nothing is left.
    fn parts<'a>(&self, mut words: &'a mut [u64], mut places: &'a mut [MaybeUninit<Fr>]) -> Result<Vec<Part<'a>>> {
        let mut start = 0;
        let runs = std::iter::once((None, self.header));
        let runs = runs.chain((0..self.shape.challenges_per_partition).map(|i| (Some(i), self.challenge)));
        let part = |(challenge, run): (Option<usize>, Run)| {
            // A word belongs to the part that has the word's first variable.
            let end = start + run.variables;
            let own = words.split_off_mut(..end.div_ceil(64) - start.div_ceil(64))?;
            let part = Part { challenge, start, words: own, elements: places.split_off_mut(..run.elements)? };
            start = end;
            Some(part)
        };
        let parts: Option<Vec<_>> = runs.map(part).collect();
        match parts {
            Some(parts) if words.is_empty() && places.is_empty() => Ok(parts),
            _ => fail!(Fault::Internal, "the parts of a witness do not make up its layout"),
        }
    }

    fn write(&self, partition: &Partition, part: Part, watched: bool) -> Result<Written> {
        let Part { challenge, start, words, elements } = part;
        let writer = Writer::new(start, words, elements);
        let mut writer = if watched { writer.watched() } else { writer };
        let (run, inputs) = match challenge.and_then(|i| partition.challenges.get(i)) {
            None => {
                self.gadgets.header(partition, &mut writer);
                (self.header, None)
            }
            Some(values) => {
                let inputs = self.gadgets.challenge(partition.replica_id, values, &mut writer);
                (self.challenge, Some(inputs))
            }
        };
        let (shared, times) = writer.finish(start, run.variables)?;
        Ok(Written { start, shared, inputs, times })
    }
}

/// What a part leaves to be joined.
struct Written {
    start: usize,
    /// Its bits in the word of variable `start`, where that word belongs to the part before.
    shared: u64,
    /// Public inputs of a challenge.
    inputs: Option<[u64; INPUTS]>,
    times: Option<GadgetTimes>,
}
