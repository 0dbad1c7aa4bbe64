//! Device memory: named buffers, views of them, and what may be copied to and from them.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use blstrs::{Fp, Fp2, G1Affine, G2Affine, Scalar as Fr};

use super::context::Argument;
use super::stream::Pool;

/// A type that kernels know too.
///
/// # Safety
/// `repr(C)` or transparent over such, without padding; any bytes are a value of it; and kernels' type of that name has the same size and fields.
pub unsafe trait Plain: Copy + Send + Sync + 'static {
    /// What kernels call it.
    const NAME: &'static str;
}

macro_rules! plain {
    ($($rust:ty, $name:literal, $size:literal;)+) => {$(
        const _: () = assert!(size_of::<$rust>() == $size);
        // SAFETY: integers, or arrays of 64-bit words in structs that are C's or transparent over C's (blst's), whose size was asserted just
        // now. Words that are no element below the modulus are a wrong number, not an invalid value.
        unsafe impl Plain for $rust {
            const NAME: &'static str = $name;
        }
    )+};
}

plain! {
    u8, "uint8_t", 1;
    i8, "int8_t", 1;
    u32, "uint32_t", 4;
    i32, "int32_t", 4;
    u64, "uint64_t", 8;
    Fr, "Fr", 32;
    Fp, "Fp", 48;
    Fp2, "Fp2", 96;
    G1Affine, "G1Affine", 96;
    G2Affine, "G2Affine", 192;
}

/// `len` elements of device memory, which belong to a stream. What is in them at first is whatever was there.
///
/// Dropped, the memory goes back to its stream, which gives it to later work of its own only: work that is still enqueued may use it.
#[derive(Debug)]
pub struct Buffer<T: Plain> {
    pub(super) address: u64,
    len: usize,
    bytes: usize,
    home: Arc<Pool>,
    elements: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// `bytes` of memory at `address`, which is the pool's to lend and holds `len` elements.
    pub(super) fn new(address: u64, len: usize, bytes: usize, home: Arc<Pool>) -> Self {
        Self { address, len, bytes, home, elements: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of it, to read.
    pub fn view(&self) -> View<'_, T> {
        View { address: self.address, len: self.len, borrowed: PhantomData }
    }

    /// All of it, to write.
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut { address: self.address, len: self.len, borrowed: PhantomData }
    }
}

impl<T: Plain> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.home.take_back(self.address, self.bytes);
    }
}

/// Part of a buffer, to read.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T: Plain> {
    address: u64,
    len: usize,
    borrowed: PhantomData<&'a T>,
}

/// Part of a buffer, to write.
#[derive(Debug)]
pub struct ViewMut<'a, T: Plain> {
    address: u64,
    len: usize,
    borrowed: PhantomData<&'a mut T>,
}

impl<T: Plain> View<'_, T> {
    /// Nothing: a null pointer.
    pub fn none() -> Self {
        Self { address: 0, len: 0, borrowed: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Elements `range`.
    ///
    /// # Panics
    /// When the range is not within the view.
    pub fn slice(self, range: Range<usize>) -> Self {
        let (address, len) = part::<T>(self.address, self.len, range);
        Self { address, len, ..self }
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn argument(&self) -> Argument {
        Argument::from(self.address)
    }
}

impl<'a, T: Plain> ViewMut<'a, T> {
    /// Nothing: a null pointer.
    pub fn none() -> Self {
        Self { address: 0, len: 0, borrowed: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Elements `range`.
    ///
    /// # Panics
    /// When the range is not within the view.
    pub fn slice(self, range: Range<usize>) -> Self {
        let (address, len) = part::<T>(self.address, self.len, range);
        Self { address, len, ..self }
    }

    /// The same for a shorter time.
    pub fn again(&mut self) -> ViewMut<'_, T> {
        ViewMut { address: self.address, len: self.len, borrowed: PhantomData }
    }

    /// The first `at` elements, and the others.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn split(self, at: usize) -> (Self, Self) {
        let of = |range| {
            let (address, len) = part::<T>(self.address, self.len, range);
            Self { address, len, borrowed: PhantomData }
        };
        (of(0..at), of(at..self.len))
    }

    /// The same, to read.
    pub fn read(self) -> View<'a, T> {
        View { address: self.address, len: self.len, borrowed: PhantomData }
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn argument(&self) -> Argument {
        Argument::from(self.address)
    }
}

/// The address and the length of elements `range` of `len` at `address`.
fn part<T>(address: u64, len: usize, range: Range<usize>) -> (u64, usize) {
    assert!(range.start <= range.end && range.end <= len, "elements {range:?} of {len}");
    (address + (range.start * size_of::<T>()) as u64, range.len())
}
