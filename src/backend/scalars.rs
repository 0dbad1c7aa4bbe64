//! The scalars of a sum, in the forms in which a prover has them.

use blstrs::Scalar as Fr;
use ff::Field;

use crate::error::{Fault, Result};
use crate::fail;
use crate::witness::{CompactWitness, Density, PADDING};

/// A run of scalars. What a sum takes is a list of runs, one after another.
#[derive(Clone, Copy, Debug)]
pub enum Scalars<'a> {
    Elements(&'a [Fr]),
    Variables(Variables<'a>),
}

/// Variables of a compact witness, all or some: one bit each, or an element.
///
/// Bits are 64 to a word, lowest first; every slice of words covers the same variables.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    /// Zero where a variable is an element.
    bits: &'a [u64],
    /// Which variables are elements.
    mask: &'a [u64],
    /// For each word of the mask the number of elements before it.
    ranks: &'a [u32],
    elements: &'a [Fr],
    /// Which variables are among the scalars; `None` for all.
    selected: Option<&'a [u64]>,
    /// How many are.
    len: usize,
}

impl<'a> Variables<'a> {
    /// The first `count` variables of these bits, mask, ranks and elements (see [`Variables`]), of which those in `selected`
    /// are meant.
    ///
    /// # Errors
    /// Slices that are not as long as `count` wants, fewer elements than bits in the mask.
    pub fn new(
        count: usize,
        (bits, mask, ranks): (&'a [u64], &'a [u64], &'a [u32]),
        elements: &'a [Fr],
        selected: Option<&'a [u64]>,
    ) -> Result<Self> {
        let words = count.div_ceil(64);
        for (what, len) in [
            ("bits", bits.len()),
            ("mask", mask.len()),
            ("ranks", ranks.len()),
            ("selection", selected.map_or(words, <[u64]>::len)),
        ] {
            if len != words {
                fail!(Fault::Internal, "{count} variables: the {what} are {len} words, expected {words}");
            }
        }
        // The ranks grow from word to word, so the last one bounds all.
        let used = mask.last().zip(ranks.last()).map_or(0, |(mask, rank)| *rank as usize + mask.count_ones() as usize);
        if used != elements.len() {
            fail!(Fault::Internal, "{count} variables: {} elements, expected {used}", elements.len());
        }
        let len = selected.map_or(count, |words| words.iter().map(|w| w.count_ones() as usize).sum());
        Ok(Self { bits, mask, ranks, elements, selected, len })
    }

    /// Number of scalars.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of words that hold the variables.
    pub fn words(&self) -> usize {
        self.bits.len()
    }

    /// The variables that are elements, in order; also those that are not selected.
    pub fn elements(&self) -> &'a [Fr] {
        self.elements
    }

    /// Word `w`: which of its variables are scalars, of those which are one and which are elements, and the place of its
    /// first element.
    ///
    /// # Panics
    /// When `w` is not below `words()`.
    #[inline]
    pub fn word(&self, w: usize) -> Word {
        // Without a selection, bits past the last variable count for nothing: they are neither ones nor elements.
        let selected = self.selected.map_or(u64::MAX, |words| words[w]);
        Word { selected, ones: self.bits[w] & selected, mask: self.mask[w], first: self.ranks[w] }
    }
}

/// 64 variables; see [`Variables::word`].
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub selected: u64,
    pub ones: u64,
    pub mask: u64,
    pub first: u32,
}

impl Word {
    /// The selected variables that are elements: place in the word, and place among the elements.
    #[inline]
    pub fn elements(self) -> impl Iterator<Item = (u32, u32)> {
        set_bits(self.mask & self.selected).map(move |bit| (bit, self.first + below(self.mask, bit)))
    }

    /// Number of the word's scalars before variable `bit`.
    #[inline]
    pub fn scalars_before(self, bit: u32) -> u32 {
        below(self.selected, bit)
    }
}

/// Set bits of `word` below `bit`, which is below 64.
#[inline]
fn below(word: u64, bit: u32) -> u32 {
    (word & ((1 << bit) - 1)).count_ones()
}

/// Places of the set bits, lowest first.
#[inline]
pub fn set_bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

impl<'a> Scalars<'a> {
    /// The aux variables of a witness: all, or those of a density.
    ///
    /// # Errors
    /// A density of other variables.
    pub fn of_witness(witness: &'a CompactWitness, density: Option<&'a Density>) -> Result<Self> {
        let layout = witness.layout();
        let words = PADDING..PADDING + layout.aux().div_ceil(64);
        let (bits, mask) = (&witness.bits()[words.clone()], &layout.mask()[words.clone()]);
        let parts = (bits, mask, &layout.ranks()[words]);
        let variables = Variables::new(layout.aux(), parts, witness.wide(), density.map(Density::words))?;
        Ok(Scalars::Variables(variables))
    }

    /// Number of scalars.
    pub fn len(&self) -> usize {
        match self {
            Scalars::Elements(elements) => elements.len(),
            Scalars::Variables(variables) => variables.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Number of scalars of all runs.
pub fn total(runs: &[Scalars<'_>]) -> usize {
    runs.iter().map(Scalars::len).sum()
}

/// All scalars as field elements, the slow way.
pub fn expand(runs: &[Scalars<'_>]) -> Vec<Fr> {
    let mut scalars = Vec::with_capacity(total(runs));
    for run in runs {
        match run {
            Scalars::Elements(elements) => scalars.extend_from_slice(elements),
            Scalars::Variables(variables) => {
                let start = scalars.len();
                for w in 0..variables.words() {
                    let word = variables.word(w);
                    let values = set_bits(word.selected).map(|bit| {
                        if word.mask >> bit & 1 == 1 {
                            variables.elements[(word.first + below(word.mask, bit)) as usize]
                        } else if word.ones >> bit & 1 == 1 {
                            Fr::ONE
                        } else {
                            Fr::ZERO
                        }
                    });
                    scalars.extend(values);
                }
                scalars.truncate(start + variables.len);
            }
        }
    }
    scalars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_other_lengths_are_refused() {
        let variables =
            |count, bits: &[u64], mask: &[u64], ranks: &[u32], elements: usize, selected: Option<&[u64]>| {
                Variables::new(count, (bits, mask, ranks), &vec![Fr::ONE; elements], selected).map(|v| v.len())
            };
        assert_eq!(variables(0, &[], &[], &[], 0, None).unwrap(), 0);
        assert_eq!(variables(65, &[0, 0], &[1, 1], &[0, 1], 2, None).unwrap(), 65);
        assert_eq!(variables(65, &[0, 0], &[1, 1], &[0, 1], 2, Some(&[3, 1])).unwrap(), 3);
        for result in [
            variables(65, &[0], &[1, 1], &[0, 1], 2, None),
            variables(65, &[0, 0], &[1], &[0, 1], 2, None),
            variables(65, &[0, 0], &[1, 1], &[0], 2, None),
            variables(65, &[0, 0], &[1, 1], &[0, 1], 1, None),
            variables(65, &[0, 0], &[1, 1], &[0, 1], 3, None),
            variables(65, &[0, 0], &[1, 1], &[0, 1], 2, Some(&[3])),
            variables(64, &[0, 0], &[1, 1], &[0, 1], 2, None),
        ] {
            assert_eq!(result.unwrap_err().fault(), Fault::Internal);
        }
    }

    #[test]
    fn expands_what_is_selected() {
        let [x, y] = [Fr::from(7), Fr::from(9)];
        let elements = [x, y];
        let words = (&[0b0001u64, 0b1][..], &[0b0100u64, 0b10][..], &[0u32, 1][..]);
        let all = Variables::new(66, words, &elements, None).unwrap();
        let mut expected = vec![Fr::ZERO; 66];
        (expected[0], expected[2], expected[64], expected[65]) = (Fr::ONE, x, Fr::ONE, y);
        assert_eq!(expand(&[Scalars::Variables(all)]), expected);
        let some = Variables::new(66, words, &elements, Some(&[0b1110, 0b11])).unwrap();
        let runs = [Scalars::Elements(&[y]), Scalars::Variables(some), Scalars::Elements(&[])];
        assert_eq!(expand(&runs), [y, Fr::ZERO, x, Fr::ZERO, Fr::ONE, y]);
        assert_eq!(total(&runs), 6);
    }
}
