//! How parallel tasks read and write columns of one vector: eight consecutive elements at a time.

use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
use std::marker::PhantomData;

use blstrs::Scalar as Fr;

use super::fr::{self, Lanes};

/// Elements that are worked on at a time.
pub const WIDTH: usize = 8;

/// Where the first level's rows come from.
pub trait Source: Sync {
    /// Elements `first` to `first + 8`, carried and below 2 r; `first` is a multiple of 8.
    ///
    /// # Safety
    /// The processor has AVX-512 F and IFMA, and no other task stores to these elements meanwhile.
    unsafe fn load(&self, first: usize) -> Lanes;
}

/// A vector of the domain that parallel tasks work on, each on eights of elements that it alone touches.
pub struct Shared<'a> {
    elements: *mut Fr,
    length: usize,
    borrow: PhantomData<&'a mut [Fr]>,
}

// SAFETY: it is a `&mut [Fr]`, which tasks may share as far as they keep to `load`'s and `store`'s conditions.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub fn new(elements: &'a mut [Fr]) -> Self {
        Self { elements: elements.as_mut_ptr(), length: elements.len(), borrow: PhantomData }
    }

    fn eight(&self, first: usize) -> *mut [Fr; WIDTH] {
        assert!(first + WIDTH <= self.length, "elements from {first} of {}", self.length);
        // SAFETY: eight elements from `first` are within the slice that this was made of, as just asserted.
        unsafe { self.elements.add(first).cast() }
    }

    /// Tells the processor that eight elements from `first` will be loaded.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn prefetch(&self, first: usize) {
        let address = self.eight(first).cast::<i8>();
        for line in 0..4 {
            _mm_prefetch::<_MM_HINT_T0>(address.wrapping_add(64 * line));
        }
    }

    /// Stores carried values below 2^256 as elements `first` to `first + 8`.
    ///
    /// # Safety
    /// The processor has AVX-512 F, and no other task loads or stores these elements meanwhile.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub unsafe fn store(&self, first: usize, values: &Lanes) {
        // SAFETY: in bounds and exclusively borrowed by `self`; no other task uses them, as the caller argues.
        fr::store(unsafe { &mut *self.eight(first) }, values);
    }
}

impl Source for Shared<'_> {
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(&self, first: usize) -> Lanes {
        // SAFETY: in bounds and borrowed by `self`; no other task stores to them, as the caller argues.
        fr::load(unsafe { &*self.eight(first) })
    }
}
