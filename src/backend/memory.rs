//! Memory that one partition leaves to the next. The system clears each page that it hands out: of a 2 KiB proof's 3.8 s on two cores
//! that takes 0.14.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use blstrs::Scalar as Fr;

use crate::pages::ask_for_huge;

/// Bytes that every lent slice is aligned to: two cache lines.
const ALIGNMENT: usize = 128;
const WORD: usize = size_of::<u64>();

/// Values of which any words are one.
///
/// # Safety
/// The type consists of 64-bit words, all of them, without padding, and any content of them is a valid value; its alignment is at most 128.
pub unsafe trait Plain: Copy + Send + Sync {}

// SAFETY: four words, transparently. Words that are not below the modulus are a wrong number, not an invalid value.
unsafe impl Plain for Fr {}

/// Memory that was given back, for those who need some next.
#[derive(Debug, Default)]
pub struct Memory {
    free: Mutex<Vec<Vec<u64>>>,
}

/// A slice of `T` in memory that goes back where it came from.
#[derive(Debug)]
pub struct Lent<T: Plain> {
    words: Vec<u64>,
    /// Words before the first element.
    offset: usize,
    count: usize,
    home: Arc<Memory>,
    elements: PhantomData<T>,
}

impl Memory {
    /// `count` elements of any values: what is there was left by someone else, or is zeros.
    pub fn lend<T: Plain>(self: &Arc<Self>, count: usize) -> Lent<T> {
        const { assert!(align_of::<T>() <= ALIGNMENT && size_of::<T>().is_multiple_of(WORD)) };
        let words = self.words((count * size_of::<T>() + ALIGNMENT) / WORD);
        let offset = words.as_ptr().align_offset(ALIGNMENT);
        assert!(offset + count * size_of::<T>() / WORD <= words.len(), "{count} elements in {} words", words.len());
        Lent { words, offset, count, home: self.clone(), elements: PhantomData }
    }

    /// The smallest vector that is free and has `count` words; else a new one, and those that are too small are let go. A large one is lent
    /// for little where no other is free: who lends to several at a time has to ask for the largest first.
    fn words(&self, count: usize) -> Vec<u64> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = (0..free.len()).filter(|i| free[*i].len() >= count).min_by_key(|i| free[*i].len());
        if let Some(i) = fitting {
            return free.swap_remove(i);
        }
        free.clear();
        drop(free);
        let mut words = vec![0; count];
        ask_for_huge(&mut words);
        words
    }
}

impl<T: Plain> Lent<T> {
    /// Keeps the first `count` elements; all if there are fewer.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }
}

impl<T: Plain> From<Vec<T>> for Lent<T> {
    fn from(elements: Vec<T>) -> Self {
        let mut lent = Arc::<Memory>::default().lend(elements.len());
        lent.copy_from_slice(&elements);
        lent
    }
}

impl<T: Plain> Deref for Lent<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let first = self.words[self.offset..].as_ptr().cast();
        // SAFETY: `lend` asserted that the words from `offset` on hold `count` elements, which nothing makes more; they are aligned, since
        // a vector's memory does not move; any words are a T; and they are borrowed as `self` is.
        unsafe { std::slice::from_raw_parts(first, self.count) }
    }
}

impl<T: Plain> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let first = self.words[self.offset..].as_mut_ptr().cast();
        // SAFETY: as in `deref`; `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(first, self.count) }
    }
}

impl<T: Plain> Drop for Lent<T> {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.words);
        self.home.free.lock().unwrap_or_else(PoisonError::into_inner).push(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;

    #[test]
    fn memory_is_lent_again_and_grows() {
        let memory = Arc::<Memory>::default();
        let mut first = memory.lend::<Fr>(1000);
        assert!(first.len() == 1000 && first.iter().all(|zero| *zero == Fr::ZERO));
        assert!(first.as_ptr().cast::<u8>().align_offset(ALIGNMENT) == 0);
        first.fill(Fr::ONE);
        let place = first.as_ptr();
        let other = memory.lend::<Fr>(2000);
        drop(first);
        // Of two that would do the smaller one.
        drop(other);
        let mut again = memory.lend::<Fr>(999);
        assert_eq!(again.as_ptr(), place);
        assert_eq!(again[998], Fr::ONE);
        again.truncate(10);
        again.truncate(20);
        assert_eq!(again.len(), 10);
        drop(again);
        assert_eq!(memory.free.lock().unwrap().len(), 2);
        let large = memory.lend::<Fr>(3000);
        assert_eq!(memory.free.lock().unwrap().len(), 0, "what is too small is let go");
        drop(large);
        assert!(memory.lend::<Fr>(0).is_empty());
    }

    #[test]
    fn elements_are_copied_in() {
        let elements: Vec<_> = (0..77).map(Fr::from).collect();
        assert_eq!(*Lent::from(elements.clone()), elements);
        assert!(Lent::<Fr>::from(Vec::new()).is_empty());
    }
}
