//! Equal slices stored once.

/// Slices of words, each distinct one stored once and known by its number, in the order of their first appearance.
///
/// Found by hash, then compared in full. Numbers are 32 bits: whoever interns keeps below 2^32 - 1 distinct slices.
pub(super) struct Interner {
    /// The slices, one after the other.
    words: Vec<u64>,
    /// Where each one ends.
    ends: Vec<usize>,
    hashes: Vec<u64>,
    /// Open addressing: a slice's number, or [`EMPTY`]. A power of two, at most half full.
    slots: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

/// Mixes a word into a hash: the two halves of a product with an odd constant (the golden ratio's bits).
#[inline(always)]
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from((hash ^ word).wrapping_add(0x2545_f491_4f6c_dd1d)) * 0x9e37_79b9_7f4a_7c15;
    (product as u64 ^ (product >> 64) as u64).rotate_left(23)
}

impl Interner {
    pub fn new() -> Self {
        Self { words: Vec::new(), ends: Vec::new(), hashes: Vec::new(), slots: vec![EMPTY; 64] }
    }

    /// Number of distinct slices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Words of all slices together.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The slice of a number.
    pub fn get(&self, number: u32) -> &[u64] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[number]]
    }

    /// All slices in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> + '_ {
        (0..self.len() as u32).map(|number| self.get(number))
    }

    /// The number of a slice, a fresh one where it is seen for the first time.
    pub fn intern(&mut self, slice: &[u64]) -> u32 {
        let hash = slice.iter().fold(slice.len() as u64, |hash, word| mix(hash, *word));
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != EMPTY {
            let number = self.slots[slot];
            if self.hashes[number as usize] == hash && self.get(number) == slice {
                return number;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let number = self.len() as u32;
        self.slots[slot] = number;
        self.words.extend_from_slice(slice);
        self.ends.push(self.words.len());
        self.hashes.push(hash);
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let len = 2 * self.slots.len();
        self.slots = vec![EMPTY; len];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & (len - 1);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = number as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_those_of_a_map() {
        let mut interner = Interner::new();
        let mut map: HashMap<Vec<u64>, u32> = HashMap::new();
        for i in 0..5000u64 {
            // Lengths 0 to 6, contents that repeat, prefixes of each other among them.
            let slice: Vec<u64> = (0..i % 7).map(|j| mix(i % 613, 0) % 3 + j / 2).collect();
            let fresh = map.len() as u32;
            let expected = *map.entry(slice.clone()).or_insert(fresh);
            assert_eq!(interner.intern(&slice), expected);
            assert_eq!(interner.get(expected), slice);
        }
        assert_eq!(interner.len(), map.len());
        assert!(interner.iter().enumerate().all(|(i, slice)| map[slice] == i as u32));
    }
}
