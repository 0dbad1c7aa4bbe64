//! The witness as evaluation reads it: windows of bits, and single elements.

use blstrs::Scalar as Fr;

use crate::witness::{CompactWitness, PADDING};

/// Slices of one witness.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    bits: &'a [u64],
    mask: &'a [u64],
    ranks: &'a [u32],
    wide: &'a [Fr],
    pub inputs: &'a [Fr],
}

impl<'a> Operands<'a> {
    pub fn new(witness: &'a CompactWitness) -> Self {
        let layout = witness.layout();
        Self {
            bits: witness.bits(),
            mask: layout.mask(),
            ranks: layout.ranks(),
            wide: witness.wide(),
            inputs: witness.inputs(),
        }
    }

    /// Of the 64 variables from `column` on: which are one, and which are elements. Past the last variable: neither.
    ///
    /// # Safety
    /// `column` is below the witness's number of aux variables.
    #[inline(always)]
    pub unsafe fn window(&self, column: usize) -> (u64, u64) {
        let (word, shift) = (PADDING + column / 64, column % 64);
        debug_assert!(word + 1 < self.bits.len() && self.bits.len() == self.mask.len());
        // SAFETY: the word of a variable is followed by at least PADDING more, in the bits and in the mask.
        let load = |words: &[u64]| unsafe {
            let (low, high) = (*words.get_unchecked(word), *words.get_unchecked(word + 1));
            // In two steps: a shift by 64 is none.
            low >> shift | high << 1 << (63 - shift)
        };
        (load(self.bits), load(self.mask))
    }

    /// The value of a variable that is an element.
    #[inline(always)]
    pub fn element(&self, column: usize) -> &'a Fr {
        let (word, bit) = (PADDING + column / 64, column % 64);
        let below = self.mask[word] & ((1 << bit) - 1);
        &self.wide[self.ranks[word] as usize + below.count_ones() as usize]
    }
}

/// Bits 0, 2, 4 and so on, moved together.
#[inline(always)]
pub(super) fn every_second(bits: u64) -> u64 {
    let mut x = bits & 0x5555_5555_5555_5555;
    x = (x | x >> 1) & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) & 0x0000_0000_ffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;

    #[test]
    fn windows_are_the_variables_from_a_column_on() {
        for aux in [1, 63, 64, 65, 128, 200] {
            let value = |i: usize| [Fr::ZERO, Fr::ONE, Fr::from(i as u64 + 2)][(i * i / 3) % 3];
            let values: Vec<Fr> = (0..aux).map(value).collect();
            let witness = CompactWitness::from_values(vec![Fr::ONE], &values).unwrap();
            let operands = Operands::new(&witness);
            for column in 0..aux {
                // SAFETY: below `aux`.
                let (bits, mask) = unsafe { operands.window(column) };
                for i in 0..64 {
                    let value = values.get(column + i).copied().unwrap_or(Fr::ZERO);
                    assert_eq!(bits >> i & 1 == 1, value == Fr::ONE);
                    assert_eq!(mask >> i & 1 == 1, value != Fr::ONE && value != Fr::ZERO);
                    if mask >> i & 1 == 1 {
                        assert_eq!(*operands.element(column + i), value);
                    }
                }
            }
        }
    }

    #[test]
    fn every_second_bit_is_kept() {
        for bits in [0, 1, 2, 3, u64::MAX, 0x0123_4567_89ab_cdef, 1 << 62, 1 << 63] {
            let expected = (0..32).fold(0, |sum, i| sum | (bits >> (2 * i) & 1) << i);
            assert_eq!(every_second(bits), expected);
        }
    }
}
