//! The compact witness: one bit per aux variable, and the few values that are no bits as field elements.
//!
//! About 99 % of a PoRep circuit's variables are bits. Which ones may be something else is fixed for a circuit and kept once,
//! in its [`Layout`]; a partition's witness is then 1/8 byte a variable plus 32 bytes for each of the others. All of it is
//! flat arrays, so that a device can take them as they are.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;

use crate::error::{Fault, Result};
use crate::fail;

/// Zero words before and after the bits: a reader may load whole words from a little outside the variables.
pub const PADDING: usize = 2;

/// Which aux variables are kept as field elements. The same for every witness of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    aux: usize,
    wide: usize,
    /// Bit i of word `PADDING + i / 64`: is variable i kept as an element? Padded like the bits.
    mask: Vec<u64>,
    /// Elements before each word of the mask.
    ranks: Vec<u32>,
}

impl Layout {
    /// The layout of `aux` variables of which those in `mask` (64 to a word, lowest bit first, no padding) are elements.
    ///
    /// # Errors
    /// [`Fault::Internal`] for a mask of another length, or with bits past the last variable.
    pub fn new(aux: usize, mask: &[u64]) -> Result<Self> {
        if mask.len() != aux.div_ceil(64) {
            fail!(Fault::Internal, "layout of {aux} variables: {} words, expected {}", mask.len(), aux.div_ceil(64));
        }
        if !aux.is_multiple_of(64) && mask[mask.len() - 1] >> (aux % 64) != 0 {
            fail!(Fault::Internal, "layout of {aux} variables has bits past the last one");
        }
        if u32::try_from(aux).is_err() {
            fail!(Fault::Internal, "layout of {aux} variables: at most {} are possible", u32::MAX);
        }
        let mask = padded(mask);
        let mut wide = 0;
        let ranks = mask
            .iter()
            .map(|word| {
                let before = wide;
                wide += word.count_ones();
                before
            })
            .collect();
        Ok(Self { aux, wide: wide as usize, mask, ranks })
    }

    /// Number of aux variables.
    pub fn aux(&self) -> usize {
        self.aux
    }

    /// Number of variables that are kept as elements.
    pub fn wide(&self) -> usize {
        self.wide
    }

    /// The words of the mask, [`PADDING`] zero words at both ends.
    pub fn mask(&self) -> &[u64] {
        &self.mask
    }

    /// For each word of [`Layout::mask`] the number of elements before it.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Place of variable `i` among the elements, if it is one.
    ///
    /// # Panics
    /// When `i` is not below `aux()`.
    #[inline]
    pub fn place(&self, i: usize) -> Option<usize> {
        assert!(i < self.aux, "variable {i} of {}", self.aux);
        let (word, bit) = (PADDING + i / 64, i % 64);
        let below = self.mask[word] & ((1 << bit) - 1);
        (self.mask[word] >> bit & 1 == 1).then(|| self.ranks[word] as usize + below.count_ones() as usize)
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.mask[..]) + size_of_val(&self.ranks[..])
    }
}

/// The words with [`PADDING`] zero words at both ends.
fn padded(words: &[u64]) -> Vec<u64> {
    [&[0; PADDING], words, &[0; PADDING]].concat()
}

/// One partition's witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactWitness {
    layout: Arc<Layout>,
    inputs: Vec<Fr>,
    /// As [`Layout::mask`]: variable i is bit i % 64 of word `PADDING + i / 64`; zero where the layout has an element.
    bits: Vec<u64>,
    wide: Vec<Fr>,
}

impl CompactWitness {
    /// Puts a witness together: `inputs` with ONE first; `bits` as [`CompactWitness::bits`] describes them, without padding;
    /// `wide` the elements in order.
    ///
    /// # Errors
    /// [`Fault::Internal`] where the parts are not of the layout's lengths, or a bit stands where the layout has an element.
    pub fn new(layout: Arc<Layout>, inputs: Vec<Fr>, bits: &[u64], wide: Vec<Fr>) -> Result<Self> {
        Self::from_padded(layout, inputs, padded(bits), wide)
    }

    /// As [`CompactWitness::new`], with `bits` already padded: they are kept, not copied.
    ///
    /// # Errors
    /// As [`CompactWitness::new`], and where the padding is not zero.
    pub fn from_padded(layout: Arc<Layout>, inputs: Vec<Fr>, bits: Vec<u64>, wide: Vec<Fr>) -> Result<Self> {
        if bits.len() != layout.mask.len() || wide.len() != layout.wide {
            fail!(
                Fault::Internal,
                "witness of {} words, {PADDING} at both ends included, and {} elements; its layout has {} and {}",
                bits.len(),
                wide.len(),
                layout.mask.len(),
                layout.wide
            );
        }
        let end = PADDING + layout.aux / 64;
        let past = bits[end] >> (layout.aux % 64) != 0 || bits[end + 1..].iter().any(|word| *word != 0);
        let before = bits[..PADDING].iter().any(|word| *word != 0);
        if past || before || bits.iter().zip(&layout.mask).any(|(bits, mask)| bits & mask != 0) {
            fail!(Fault::Internal, "a bit of the witness stands where its layout has none");
        }
        Ok(Self { layout, inputs, bits, wide })
    }

    /// The compact form of any assignment: what is neither 0 nor 1 becomes an element. The fallback for circuits without a
    /// native generator; the layout is then this witness's own.
    ///
    /// # Errors
    /// [`Fault::Internal`] for more variables than a layout can have.
    pub fn from_values(inputs: Vec<Fr>, aux: &[Fr]) -> Result<Self> {
        let (mut bits, mut mask, mut wide) =
            (vec![0u64; aux.len().div_ceil(64)], vec![0u64; aux.len().div_ceil(64)], vec![]);
        for (i, value) in aux.iter().enumerate() {
            if *value == Fr::ONE {
                bits[i / 64] |= 1 << (i % 64);
            } else if *value != Fr::ZERO {
                mask[i / 64] |= 1 << (i % 64);
                wide.push(*value);
            }
        }
        Self::new(Arc::new(Layout::new(aux.len(), &mask)?), inputs, &bits, wide)
    }

    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Public inputs, ONE first.
    pub fn inputs(&self) -> &[Fr] {
        &self.inputs
    }

    /// The bits, 64 variables to a word, [`PADDING`] zero words at both ends; zero where the layout has an element.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// The variables that the layout keeps as elements, in order.
    pub fn wide(&self) -> &[Fr] {
        &self.wide
    }

    /// Value of aux variable `i`.
    ///
    /// # Panics
    /// When `i` is not below the layout's `aux()`.
    #[inline]
    pub fn aux(&self, i: usize) -> Fr {
        match self.layout.place(i) {
            Some(place) => self.wide[place],
            None => Fr::from(self.bits[PADDING + i / 64] >> (i % 64) & 1),
        }
    }

    /// The whole aux assignment, 32 bytes a variable.
    pub fn expand(&self) -> Vec<Fr> {
        let values = [Fr::ZERO, Fr::ONE];
        let mut aux = Vec::with_capacity(self.layout.aux);
        let mut wide = self.wide.iter();
        let words = self.bits[PADDING..].iter().zip(&self.layout.mask[PADDING..]);
        for (w, (bits, mask)) in words.take(self.layout.aux.div_ceil(64)).enumerate() {
            for bit in 0..64.min(self.layout.aux - 64 * w) {
                // The mask has as many bits as there are elements.
                let element = if mask >> bit & 1 == 1 { wide.next().copied() } else { None };
                aux.push(element.unwrap_or(values[(bits >> bit & 1) as usize]));
            }
        }
        aux
    }

    /// Bytes in memory, the shared layout apart.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.bits[..]) + size_of_val(&self.wide[..]) + size_of_val(&self.inputs[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values in turn: bits, small ones that are no bits, full ones.
    fn values(aux: usize, step: usize) -> Vec<Fr> {
        let value = |i: usize| match i % step {
            0 => -Fr::from(i as u64 + 1),
            1 => Fr::ZERO,
            2 => Fr::from(2),
            _ => Fr::ONE,
        };
        (0..aux).map(value).collect()
    }

    #[test]
    fn holds_what_it_was_made_from() {
        for aux in [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000] {
            for step in [1, 2, 3, 5, 64, 2000] {
                let values = values(aux, step);
                let witness = CompactWitness::from_values(vec![Fr::ONE, Fr::from(7)], &values).unwrap();
                assert_eq!(witness.expand(), values, "{aux} {step}");
                assert!((0..aux).all(|i| witness.aux(i) == values[i]), "{aux} {step}");
                assert_eq!(witness.inputs(), [Fr::ONE, Fr::from(7)]);
                let wide = values.iter().filter(|v| **v != Fr::ZERO && **v != Fr::ONE).count();
                assert_eq!((witness.layout().aux(), witness.layout().wide()), (aux, wide));
                let ends =
                    |words: &[u64]| words[..PADDING].iter().chain(&words[words.len() - PADDING..]).all(|w| *w == 0);
                assert!(ends(witness.bits()) && ends(witness.layout().mask()));
                assert_eq!(witness.bits().len(), aux.div_ceil(64) + 2 * PADDING);
                assert_eq!(witness.layout().ranks().len(), witness.bits().len());
            }
        }
    }

    #[test]
    fn elements_may_be_bits_too() {
        let layout = Arc::new(Layout::new(3, &[0b010]).unwrap());
        let witness = CompactWitness::new(layout, vec![Fr::ONE], &[0b100], vec![Fr::ONE]).unwrap();
        assert_eq!(witness.expand(), [Fr::ZERO, Fr::ONE, Fr::ONE]);
    }

    #[test]
    fn parts_of_other_lengths_are_refused() {
        let layout = Arc::new(Layout::new(65, &[1, 1]).unwrap());
        let witness =
            |bits: &[u64], wide| CompactWitness::new(layout.clone(), vec![Fr::ONE], bits, vec![Fr::ONE; wide]);
        assert!(witness(&[2, 0], 2).is_ok());
        for (bits, wide) in [(&[2u64][..], 2), (&[2, 0, 0], 2), (&[2, 0], 1), (&[2, 0], 3), (&[1, 0], 2), (&[2, 2], 2)]
        {
            assert_eq!(witness(bits, wide).unwrap_err().fault(), Fault::Internal, "{bits:?} {wide}");
        }
        for (aux, mask) in [(64, &[0u64, 0][..]), (65, &[0]), (1, &[2]), (65, &[0, 2])] {
            assert_eq!(Layout::new(aux, mask).unwrap_err().fault(), Fault::Internal, "{aux} {mask:?}");
        }
    }
}
