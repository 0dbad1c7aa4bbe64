//! Where generators put the variables, in the order in which the circuit allocates them.

use std::mem::MaybeUninit;

use blstrs::Scalar as Fr;

use super::gadget::{Gadget, GadgetTimes, Stopwatch};
use crate::error::{Fault, Result};
use crate::fail;

/// Takes a circuit's aux variables one after the other.
pub trait Sink {
    /// The lowest `count` (at most 64) bits of `value`, lowest first, one variable each. The bits above are zero.
    fn bits(&mut self, value: u64, count: u32);

    /// One variable that is kept as an element.
    fn element(&mut self, value: Fr);

    /// Several of them, one after the other.
    fn elements(&mut self, values: impl Iterator<Item = Fr>) {
        values.for_each(|value| self.element(value));
    }

    /// What comes next is for this gadget. Some forty times a challenge: nobody pays for it who does not watch.
    fn enter(&mut self, _gadget: Gadget) {}
}

/// Writes a run of variables into its part of a witness.
///
/// Runs are independent of each other, so they can be written at once. A run that begins amidst a word shares that word with
/// the run before: it is no part of `words`, but handed back by [`Writer::finish`], to be joined by OR.
pub struct Writer<'a> {
    /// The words of bits that begin within the run, zero before.
    words: &'a mut [u64],
    /// Words finished, the shared one included.
    at: usize,
    shared: u64,
    /// The word being filled, and its bits in use: below 64.
    word: u64,
    used: u32,
    elements: &'a mut [MaybeUninit<Fr>],
    element_count: usize,
    watch: Option<Stopwatch>,
}

impl<'a> Writer<'a> {
    /// A writer of the run that begins with variable `start`. `words` has one word for each multiple of 64 among the run's
    /// variables, all zero; `elements` one place for each of its elements.
    pub fn new(start: usize, words: &'a mut [u64], elements: &'a mut [MaybeUninit<Fr>]) -> Self {
        let used = (start % 64) as u32;
        // A run that begins with a word shares none: it starts as if that were finished.
        let at = usize::from(used == 0);
        Self { words, at, shared: 0, word: 0, used, elements, element_count: 0, watch: None }
    }

    /// With a watch on its gadgets.
    pub fn watched(mut self) -> Self {
        self.watch = Some(Stopwatch::start(self.position()));
        self
    }

    /// Variables since the word in which the run begins.
    fn position(&self) -> usize {
        64 * self.at + self.used as usize
    }

    #[inline(always)]
    fn store(&mut self, word: u64) {
        if let Some(slot) = self.words.get_mut(self.at.wrapping_sub(1)) {
            *slot = word;
        } else if self.at == 0 {
            self.shared = word;
        }
    }

    /// Ends the run, which is `count` variables long by the layout, and returns its bits in the word shared with the run before
    /// and the times of its gadgets, if they were watched.
    ///
    /// # Errors
    /// [`Fault::Internal`] where another number of variables or elements was written than there was to be. Where it
    /// succeeds, every place for an element has been written.
    pub fn finish(mut self, start: usize, count: usize) -> Result<(u64, Option<GadgetTimes>)> {
        // What the last bits left over.
        self.store(self.word);
        let end = 64 * (start / 64 + self.at - usize::from(start.is_multiple_of(64))) + self.used as usize;
        if end != start + count || self.element_count != self.elements.len() {
            fail!(
                Fault::Internal,
                "witness from variable {start} on: {} variables and {} elements, its layout has {count} and {}",
                end.wrapping_sub(start),
                self.element_count,
                self.elements.len()
            );
        }
        let position = self.position();
        Ok((self.shared, self.watch.map(|watch| watch.stop(position))))
    }
}

impl Sink for Writer<'_> {
    #[inline(always)]
    fn bits(&mut self, value: u64, count: u32) {
        debug_assert!(count == 64 || value >> count == 0);
        let word = self.word | value << self.used;
        // Stored whether full or not: a store that is soon repeated costs less than a branch that is often mispredicted.
        self.store(word);
        let used = self.used + count;
        // What did not fit; the shift is in two steps, since by 64 it would be none.
        self.word = if used >= 64 { value >> 1 >> (63 - self.used) } else { word };
        self.at += (used / 64) as usize;
        self.used = used % 64;
    }

    #[inline(always)]
    fn element(&mut self, value: Fr) {
        self.bits(0, 1);
        if let Some(slot) = self.elements.get_mut(self.element_count) {
            slot.write(value);
        }
        self.element_count += 1;
    }

    fn elements(&mut self, values: impl Iterator<Item = Fr>) {
        let mut count = 0;
        for value in values {
            if let Some(place) = self.elements.get_mut(self.element_count + count) {
                place.write(value);
            }
            count += 1;
        }
        self.element_count += count;
        while count > 0 {
            let bits = count.min(64);
            self.bits(0, bits as u32);
            count -= bits;
        }
    }

    fn enter(&mut self, gadget: Gadget) {
        let position = self.position();
        if let Some(watch) = &mut self.watch {
            watch.switch(gadget, position);
        }
    }
}

/// Counts variables and notes which are elements.
#[derive(Default)]
pub struct Places {
    /// Variables so far.
    pub count: usize,
    /// Those that are elements, in order.
    pub elements: Vec<usize>,
}

impl Sink for Places {
    fn bits(&mut self, _: u64, count: u32) {
        self.count += count as usize;
    }

    fn element(&mut self, _: Fr) {
        self.elements.push(self.count);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of every alignment, joined, against one bit after the other.
    #[test]
    fn runs_of_any_alignment_join_to_what_was_written() {
        let lengths = [1u32, 64, 63, 2, 0, 31, 32, 33, 35, 64, 64, 7, 1, 5];
        let values = |count: u32, i: usize| {
            let value = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(i as u64 + 1);
            if count == 0 {
                0
            } else {
                value >> (64 - count)
            }
        };
        let length: usize = lengths.iter().map(|l| *l as usize).sum::<usize>() + 131;
        for start in 0..130usize {
            let (first, end) = (start.div_ceil(64), (start + length).div_ceil(64));
            let mut words = vec![0; end];
            let mut places = [Fr::from(0); 131].map(MaybeUninit::new);
            let (before, own) = words.split_at_mut(first);
            let mut writer = Writer::new(start, own, &mut places);
            let mut expected = vec![false; start];
            for (i, count) in lengths.into_iter().enumerate() {
                if i == 5 {
                    writer.element(Fr::from(9));
                    writer.elements((0..130).map(Fr::from));
                    expected.extend([false; 131]);
                }
                writer.bits(values(count, i), count);
                expected.extend((0..count).map(|bit| values(count, i) >> bit & 1 == 1));
            }
            let (shared, times) = writer.finish(start, length).unwrap();
            assert_eq!(times, None);
            match before.last_mut() {
                Some(word) => *word |= shared,
                None => assert_eq!(shared, 0),
            }
            let got: Vec<bool> = (0..start + length).map(|i| words[i / 64] >> (i % 64) & 1 == 1).collect();
            assert_eq!(got, expected, "{start}");
            // SAFETY: they were initialised from the start.
            let elements = places.map(|place| unsafe { place.assume_init() });
            assert!(elements.iter().copied().eq([9].into_iter().chain(0..130).map(Fr::from)), "{start}");
        }
    }

    #[test]
    fn a_run_of_another_length_is_refused() {
        let run = |bits: u32, elements: usize, start: usize| {
            let (mut words, mut places) = ([0; 2], [MaybeUninit::uninit(); 2]);
            let words = &mut words[..(start + 70).div_ceil(64) - start.div_ceil(64)];
            let mut writer = Writer::new(start, words, &mut places);
            writer.elements(vec![Fr::from(1); elements / 2].into_iter());
            (elements / 2..elements).for_each(|_| writer.element(Fr::from(1)));
            (0..bits).for_each(|_| writer.bits(1, 1));
            writer.finish(start, 70).map(|(shared, _)| shared)
        };
        for start in [0, 1, 57, 58, 59, 63, 64, 100] {
            assert!(run(68, 2, start).is_ok(), "{start}");
            for (bits, elements) in [(67, 2), (69, 2), (69, 1), (67, 3), (0, 0), (300, 2), (68, 300)] {
                assert_eq!(
                    run(bits, elements, start).unwrap_err().fault(),
                    Fault::Internal,
                    "{start} {bits} {elements}"
                );
            }
        }
    }
}
