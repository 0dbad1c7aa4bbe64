//! The lanes in one register, for processors with AVX-512BW.

use std::arch::x86_64::{
    __m512i, _mm512_mask_add_epi8, _mm512_mask_storeu_epi8, _mm512_set1_epi8, _mm512_setzero_si512, _pdep_u64,
};

use super::lanes::Lanes;
use super::operands::Operands;
use super::tile::{evaluate, Piece};
use crate::constraints::tables::Tables;

pub(super) struct Avx512(__m512i);

impl Lanes for Avx512 {
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm512_setzero_si512())
    }

    #[inline(always)]
    unsafe fn add(&mut self, mask: u64, value: i8) {
        self.0 = _mm512_mask_add_epi8(self.0, mask, self.0, _mm512_set1_epi8(value));
    }

    #[inline(always)]
    unsafe fn store(&self, values: &mut [i8]) {
        // Only the lanes in the mask touch memory.
        _mm512_mask_storeu_epi8(values.as_mut_ptr(), u64::MAX >> (64 - values.len()), self.0);
    }

    #[inline(always)]
    unsafe fn deposit(bits: u64, mask: u64) -> u64 {
        _pdep_u64(bits, mask)
    }
}

/// [`evaluate`] compiled for what [`has_avx512_bytes`](crate::processor::has_avx512_bytes) asks for.
///
/// # Safety
/// That of [`evaluate`], and the processor has it.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,adx,popcnt,lzcnt")]
pub(super) unsafe fn evaluate_avx512(tables: &Tables, operands: Operands, piece: &mut Piece) {
    // SAFETY: the caller's.
    unsafe { evaluate::<Avx512>(tables, operands, piece) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_a_register_add_where_the_mask_says() {
        if crate::processor::has_avx512_bytes() {
            // SAFETY: the processor has what they need.
            unsafe { super::super::lanes::tests::check::<Avx512>() };
        }
    }
}
