//! Picking bits out of a word: portable, and with the BMI2 instructions of x86.

/// Two permutations of bits.
pub trait Pick {
    /// The bits of `value` under the ones of `mask`, side by side from the lowest place on; zero above.
    fn pick(value: u64, mask: u64) -> u64;

    /// The bits of `even` in the even places, those of `odd` in the odd ones.
    fn interleave(even: u32, odd: u32) -> u64;
}

pub struct Portable;

impl Pick for Portable {
    #[inline(always)]
    fn pick(value: u64, mask: u64) -> u64 {
        // Nearly all masks of a witness are all ones or, of shifts, the lowest ones.
        if mask & mask.wrapping_add(1) == 0 {
            return value & mask;
        }
        pick_runs(value, mask)
    }

    #[inline(always)]
    fn interleave(even: u32, odd: u32) -> u64 {
        spread(even) | spread(odd) << 1
    }
}

/// One run of ones after the other.
fn pick_runs(value: u64, mut mask: u64) -> u64 {
    let (mut picked, mut count) = (0, 0);
    while mask != 0 {
        let first = mask.trailing_zeros();
        let length = (mask >> first).trailing_ones();
        let run = u64::MAX >> (64 - length);
        picked |= (value >> first & run) << count;
        count += length;
        mask &= !(run << first);
    }
    picked
}

/// The bits in the even places.
#[inline(always)]
fn spread(bits: u32) -> u64 {
    let mut word = u64::from(bits);
    for (by, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        word = (word | word << by) & mask;
    }
    word
}

/// To be used only where [`has_bmi2`](crate::processor::has_bmi2) says so.
#[cfg(target_arch = "x86_64")]
pub struct Bmi2;

#[cfg(target_arch = "x86_64")]
impl Pick for Bmi2 {
    #[inline(always)]
    fn pick(value: u64, mask: u64) -> u64 {
        // SAFETY: whoever chooses this type has looked for the instructions.
        unsafe { std::arch::x86_64::_pext_u64(value, mask) }
    }

    #[inline(always)]
    fn interleave(even: u32, odd: u32) -> u64 {
        use std::arch::x86_64::_pdep_u64;
        const EVEN: u64 = 0x5555_5555_5555_5555;
        // SAFETY: as in `pick`.
        unsafe { _pdep_u64(even.into(), EVEN) | _pdep_u64(odd.into(), EVEN << 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bit after the other.
    fn reference(value: u64, mask: u64) -> u64 {
        let picked = (0..64).filter(|i| mask >> i & 1 == 1).enumerate();
        picked.map(|(place, i)| (value >> i & 1) << place).sum()
    }

    fn check<P: Pick>() {
        let words = (0..200u64).map(|i| i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32));
        let words: Vec<u64> =
            words.chain([0, u64::MAX, 1, 1 << 63, u64::MAX >> 1, u64::MAX << 1, 0xffff_ffff]).collect();
        for value in &words {
            for mask in &words {
                assert_eq!(P::pick(*value, *mask), reference(*value, *mask), "{value:x} {mask:x}");
                let (even, odd) = (*value as u32, *mask as u32);
                let expected: u64 = (0..32).map(|i| u64::from(even >> i & 1) << (2 * i)).sum::<u64>()
                    | (0..32).map(|i| u64::from(odd >> i & 1) << (2 * i + 1)).sum::<u64>();
                assert_eq!(P::interleave(even, odd), expected);
            }
        }
    }

    #[test]
    fn bits_are_picked_one_by_one() {
        check::<Portable>();
        #[cfg(target_arch = "x86_64")]
        if crate::processor::has_bmi2() {
            check::<Bmi2>();
        }
    }
}
