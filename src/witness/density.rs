//! One bit per variable.

/// A growing bit vector that knows how many bits are set: which variables occur in a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Density {
    words: Vec<u64>,
    len: usize,
    ones: usize,
}

impl Density {
    /// The first `len` bits of `words`, lowest bit first. What lies past them is not looked at.
    ///
    /// # Panics
    /// When there are fewer bits than that.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        assert!(words.len() >= len.div_ceil(64), "{} words for {len} bits", words.len());
        words.truncate(len.div_ceil(64));
        if let (Some(last), true) = (words.last_mut(), !len.is_multiple_of(64)) {
            *last &= (1 << (len % 64)) - 1;
        }
        let ones = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { words, len, ones }
    }

    /// Appends a bit.
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
        if bit {
            self.set(self.len - 1);
        }
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    /// When `i` is not below `len()`.
    #[inline]
    pub fn set(&mut self, i: usize) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        let (word, bit) = (&mut self.words[i / 64], 1u64 << (i % 64));
        self.ones += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Bit `i`; false past the end.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        self.words.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    /// The bits, 64 to a word, lowest first; zero past the last one.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of set bits.
    pub fn count_ones(&self) -> usize {
        self.ones
    }

    /// The values whose bit is set, in order.
    ///
    /// # Panics
    /// When `values` is shorter than the last set bit requires.
    pub fn selected<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let mut selected = Vec::with_capacity(self.ones);
        for (w, word) in self.words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                selected.push(values[64 * w + rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_selects_around_word_ends() {
        for len in [0usize, 1, 63, 64, 65, 128, 130] {
            let values: Vec<usize> = (0..len).collect();
            let mut density = Density::default();
            values.iter().for_each(|i| density.push(i % 3 == 0));
            let expected: Vec<usize> = values.iter().copied().filter(|i| i % 3 == 0).collect();
            assert_eq!(density.selected(&values), expected);
            assert_eq!((density.count_ones(), density.len()), (expected.len(), len));
            let mut words = density.words.clone();
            assert_eq!(Density::from_words(words.clone(), len), density);
            // Bits past the end do not count.
            words.push(u64::MAX);
            words[len / 64] |= u64::MAX << (len % 64);
            assert_eq!(Density::from_words(words, len), density);
            assert!(!density.get(len));
            if len > 1 {
                density.set(1);
                density.set(1);
                assert_eq!(density.count_ones(), expected.len() + 1);
                assert!(density.get(1));
            }
        }
    }
}
