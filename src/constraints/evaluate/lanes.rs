//! Sixty-four bytes that are added to under a mask: one lane a row of a tile.

/// One implementation of the byte arithmetic. All of it is inlined into the loop over tiles, which has been compiled for what
/// the implementation needs.
pub(super) trait Lanes {
    /// All zero.
    ///
    /// # Safety
    /// The processor has what the implementation is made for. The same for all others.
    unsafe fn zero() -> Self;
    /// Adds to the lanes in `mask`; sums wrap.
    unsafe fn add(&mut self, mask: u64, value: i8);
    /// Writes the first lanes, 1 to 64 of them.
    unsafe fn store(&self, values: &mut [i8]);
    /// Bit i goes to the place of the i-th set bit of `mask`; other bits are zero.
    unsafe fn deposit(bits: u64, mask: u64) -> u64;
}

/// Eight lanes in each of eight words, for any processor.
pub(super) struct Portable([u64; 8]);

/// Byte i is bit i of the index.
static SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[index] |= (index as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        index += 1;
    }
    table
};

impl Lanes for Portable {
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self([0; 8])
    }

    #[inline(always)]
    unsafe fn add(&mut self, mask: u64, value: i8) {
        const TOP: u64 = 0x8080_8080_8080_8080;
        for (lanes, mask) in self.0.iter_mut().zip(mask.to_le_bytes()) {
            let values = SPREAD[usize::from(mask)] * u64::from(value as u8);
            // Without the top bits no byte carries into the next.
            *lanes = ((*lanes & !TOP) + (values & !TOP)) ^ ((*lanes ^ values) & TOP);
        }
    }

    #[inline(always)]
    unsafe fn store(&self, values: &mut [i8]) {
        for (values, lanes) in values.chunks_mut(8).zip(self.0) {
            for (value, byte) in values.iter_mut().zip(lanes.to_le_bytes()) {
                *value = byte as i8;
            }
        }
    }

    #[inline(always)]
    unsafe fn deposit(bits: u64, mask: u64) -> u64 {
        if mask == 0 {
            return 0;
        }
        let first = mask.trailing_zeros();
        let rest = mask >> first;
        if rest & rest.wrapping_add(1) == 0 {
            // Consecutive rows.
            return (bits & rest) << first;
        }
        if rest & !0x5555_5555_5555_5555 == 0 {
            // Every second row, perhaps not all of them.
            let all = spaced(bits);
            let full = u64::MAX >> rest.leading_zeros() & 0x5555_5555_5555_5555;
            if rest == full {
                return (all & rest) << first;
            }
        }
        let (mut placed, mut left, mut bits) = (0, mask, bits);
        while left != 0 {
            let lowest = left & left.wrapping_neg();
            placed |= lowest & (bits & 1).wrapping_neg();
            (left, bits) = (left ^ lowest, bits >> 1);
        }
        placed
    }
}

/// Bit i to bit 2 i.
#[inline(always)]
fn spaced(bits: u64) -> u64 {
    let mut x = bits & 0x0000_0000_ffff_ffff;
    x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::constraints::intern::mix;

    /// Holds an implementation to the definition, bit by bit.
    ///
    /// # Safety
    /// As [`Lanes::zero`].
    pub unsafe fn check<L: Lanes>() {
        let masks =
            [0, 1, 2, 3, 1 << 63, u64::MAX, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 0x0555 << 7, 0x5455, 0xff00];
        let masks: Vec<u64> = masks.into_iter().chain((0..20).map(|i| mix(i, 5))).collect();
        let mut lanes = L::zero();
        let mut expected = [0i8; 64];
        for (i, mask) in masks.iter().enumerate() {
            let value = [1, -1, 127, -127, 64, 2][i % 6];
            lanes.add(*mask, value);
            for (row, expected) in expected.iter_mut().enumerate() {
                *expected = expected.wrapping_add(if mask >> row & 1 == 1 { value } else { 0 });
            }
            for rows in [1, 2, 7, 8, 9, 63, 64] {
                let mut values = [99; 70];
                lanes.store(&mut values[3..3 + rows]);
                assert_eq!(values[3..3 + rows], expected[..rows]);
                assert!(values[..3].iter().chain(&values[3 + rows..]).all(|value| *value == 99));
            }
            for bits in masks.iter().copied() {
                let places = (0..64).filter(|place| mask >> place & 1 == 1).enumerate();
                let deposited = places.fold(0, |sum, (i, place)| sum | (bits >> i & 1) << place);
                assert_eq!(L::deposit(bits, *mask), deposited, "{bits:x} {mask:x}");
            }
        }
    }

    #[test]
    fn portable_lanes_add_where_the_mask_says() {
        // SAFETY: they need nothing.
        unsafe { check::<Portable>() };
    }
}
