//! Distinct coefficients and their places.

use blst::blst_fr;
use blstrs::Scalar as Fr;
use ff::Field;

use super::intern::Interner;

/// The limbs of the Montgomery form, lowest first: equal for equal values.
#[inline(always)]
pub(super) fn limbs(value: &Fr) -> [u64; 4] {
    blst_fr::from(*value).l
}

/// Distinct coefficients in the order of their first appearance, 1 and -1 before all. These two, seven eighths of a PoRep
/// circuit's, are told without hashing.
pub(super) struct Coefficients {
    values: Vec<Fr>,
    first: [[u64; 4]; 2],
    places: Interner,
}

impl Coefficients {
    /// Place of 1.
    pub const ONE: u32 = 0;
    /// Place of -1.
    pub const MINUS_ONE: u32 = 1;

    pub fn new() -> Self {
        let values = vec![Fr::ONE, -Fr::ONE];
        let first = [limbs(&values[0]), limbs(&values[1])];
        let mut places = Interner::new();
        first.iter().for_each(|limbs| _ = places.intern(limbs));
        Self { values, first, places }
    }

    /// Place of a coefficient; `None` for zero, which is no term.
    #[inline]
    pub fn intern(&mut self, value: &Fr) -> Option<u32> {
        let limbs = limbs(value);
        if limbs == self.first[0] {
            return Some(Self::ONE);
        }
        if limbs == self.first[1] {
            return Some(Self::MINUS_ONE);
        }
        if limbs == [0; 4] {
            return None;
        }
        let place = self.places.intern(&limbs);
        if place as usize == self.values.len() {
            self.values.push(*value);
        }
        Some(place)
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn into_values(self) -> Vec<Fr> {
        self.values
    }
}
