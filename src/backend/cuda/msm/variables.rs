//! Lists of scalars cut into pieces, as their kernels take them.

use blstrs::Scalar as Fr;

use crate::backend::scalars::{set_bits, Scalars, Variables};
use crate::gpu::Plain;

/// 64 variables of a piece; its name in kernels/msm/variables.cuh is the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableWord {
    /// Which variables are scalars of the piece.
    pub selected: u64,
    /// Which of those are one.
    pub ones: u64,
    /// Which variables, scalars or not, are elements.
    pub mask: u64,
    /// Place of the word's first element among the piece's.
    pub element: u32,
    /// Number of the word's first scalar in the piece.
    pub base: u32,
    /// Number of scalars before the word that are elements.
    pub scalar: u32,
    pub padding: u32,
}

const _: () = assert!(size_of::<VariableWord>() == 40);
// SAFETY: C's layout, 3 * 8 + 4 * 4 bytes without padding; integers, so any bytes are a value.
unsafe impl Plain for VariableWord {
    const NAME: &'static str = "VariableWord";
}

/// Scalars that are next to each other, of one run.
#[derive(Debug)]
pub enum Piece<'a> {
    Elements(&'a [Fr]),
    Variables {
        words: Vec<VariableWord>,
        /// Those of the words, scalars or not.
        elements: &'a [Fr],
        /// Number of scalars that are elements, and of all.
        full: usize,
        len: usize,
    },
}

impl Piece<'_> {
    /// Number of scalars.
    pub fn count(&self) -> usize {
        match self {
            Piece::Elements(elements) => elements.len(),
            Piece::Variables { len, .. } => *len,
        }
    }
}

/// Where a list of runs is read next.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    runs: &'a [Scalars<'a>],
    /// In the first run: scalars that were taken, and the next word, if it has any.
    taken: usize,
    word: usize,
    /// Which variables of that word were taken.
    done: u64,
}

impl<'a> Pieces<'a> {
    pub fn new(runs: &'a [Scalars<'a>]) -> Self {
        Self { runs, taken: 0, word: 0, done: 0 }
    }

    /// The next at most `most` scalars, from at most `words` words; `None` at the end. Neither is zero.
    pub fn next(&mut self, most: usize, words: usize) -> Option<Piece<'a>> {
        loop {
            let (first, rest) = self.runs.split_first()?;
            if self.taken == first.len() {
                *self = Self::new(rest);
                continue;
            }
            let most = most.min(first.len() - self.taken);
            return Some(match first {
                Scalars::Elements(elements) => {
                    let piece = &elements[self.taken..self.taken + most];
                    self.taken += most;
                    Piece::Elements(piece)
                }
                Scalars::Variables(variables) => self.variables(variables, most, words),
            });
        }
    }

    /// At most `most` scalars of these, of which there are as many left.
    fn variables(&mut self, variables: &Variables<'a>, most: usize, words: usize) -> Piece<'a> {
        let mut taken = Vec::new();
        let (mut full, mut len) = (0, 0);
        let mut elements = 0..0;
        while len < most && taken.len() < words {
            let word = variables.word(self.word);
            let left = word.selected & !self.done;
            let selected = lowest(left, most - len);
            if selected != 0 {
                if taken.is_empty() {
                    elements.start = word.first as usize;
                }
                elements.end = (word.first + word.mask.count_ones()) as usize;
                let element = word.first - elements.start as u32;
                let (base, scalar) = (len as u32, full as u32);
                let ones = word.ones & selected;
                taken.push(VariableWord { selected, ones, mask: word.mask, element, base, scalar, padding: 0 });
                full += (word.mask & selected).count_ones() as usize;
                len += selected.count_ones() as usize;
            }
            if selected == left {
                (self.word, self.done) = (self.word + 1, 0);
            } else {
                self.done |= selected;
            }
        }
        self.taken += len;
        Piece::Variables { words: taken, elements: &variables.elements()[elements], full, len }
    }
}

/// The `count` lowest set bits of `word`, or all.
fn lowest(word: u64, count: usize) -> u64 {
    match set_bits(word).nth(count) {
        Some(bit) => word & ((1 << bit) - 1),
        None => word,
    }
}

/// Number of scalars that are elements, in all runs.
pub fn count_elements(runs: &[Scalars<'_>]) -> usize {
    let of_variables = |variables: &Variables<'_>| -> usize {
        (0..variables.words())
            .map(|w| variables.word(w))
            .map(|word| (word.mask & word.selected).count_ones() as usize)
            .sum()
    };
    runs.iter()
        .map(|run| match run {
            Scalars::Elements(elements) => elements.len(),
            Scalars::Variables(variables) => of_variables(variables),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::scalars::expand;
    use ff::Field;

    /// The scalars of a piece, as the kernels find them.
    fn scalars(piece: &Piece<'_>) -> Vec<Fr> {
        let (words, elements) = match piece {
            Piece::Elements(elements) => return elements.to_vec(),
            Piece::Variables { words, elements, .. } => (words, elements),
        };
        let mut scalars = vec![Fr::ZERO; piece.count()];
        let mut full = 0;
        for word in words {
            let below = |of: u64, bit: u32| (of & ((1 << bit) - 1)).count_ones();
            assert_eq!(word.scalar, full);
            for bit in set_bits(word.mask & word.selected) {
                scalars[(word.base + below(word.selected, bit)) as usize] =
                    elements[(word.element + below(word.mask, bit)) as usize];
                full += 1;
            }
            for bit in set_bits(word.ones) {
                scalars[(word.base + below(word.selected, bit)) as usize] = Fr::ONE;
            }
        }
        scalars
    }

    #[test]
    fn pieces_are_the_scalars_in_their_order() {
        let count = 260;
        let words = |f: &dyn Fn(usize) -> bool| -> Vec<u64> {
            let mut words = vec![0u64; count / 64 + 1];
            (0..count).for_each(|i| words[i / 64] |= u64::from(f(i)) << (i % 64));
            words
        };
        let (bits, mask) = (words(&|i| i % 2 == 0 && i % 5 != 0), words(&|i| i % 5 == 0));
        // One word has none.
        let selected = words(&|i| i / 64 != 2 && i % 3 != 1);
        let ranks: Vec<u32> =
            mask.iter().scan(0, |rank, word| Some(std::mem::replace(rank, *rank + word.count_ones()))).collect();
        let elements: Vec<Fr> = (0..52).map(|i| Fr::from(i + 100)).collect();
        for selected in [None, Some(&selected[..])] {
            let variables = Variables::new(count, (&bits, &mask, &ranks), &elements, selected).unwrap();
            let none = Variables::new(0, (&[], &[], &[]), &[], None).unwrap();
            let runs = [
                Scalars::Variables(none),
                Scalars::Elements(&elements[..7]),
                Scalars::Elements(&[]),
                Scalars::Variables(variables),
                Scalars::Elements(&elements[9..10]),
            ];
            let expected = expand(&runs);
            for (most, words) in [(1, 1), (5, 100), (64, 1), (100, 2), (1000, 1000)] {
                let mut pieces = Pieces::new(&runs);
                let (mut got, mut full) = (Vec::new(), 0);
                while let Some(piece) = pieces.next(most, words) {
                    assert!((1..=most).contains(&piece.count()), "{piece:?}");
                    if let Piece::Variables { words: of, full: elements, .. } = &piece {
                        assert!(of.len() <= words);
                        full += elements;
                    }
                    got.extend(scalars(&piece));
                }
                assert_eq!(got, expected, "{most} scalars from {words} words");
                assert_eq!(full + 8, count_elements(&runs));
            }
        }
    }

    #[test]
    fn lowest_bits() {
        assert_eq!(lowest(0b1011_0100, 0), 0);
        assert_eq!(lowest(0b1011_0100, 2), 0b0001_0100);
        assert_eq!(lowest(0b1011_0100, 4), 0b1011_0100);
        assert_eq!((lowest(u64::MAX, 63), lowest(u64::MAX, 64)), (u64::MAX >> 1, u64::MAX));
        assert_eq!(lowest(0, 3), 0);
    }
}
