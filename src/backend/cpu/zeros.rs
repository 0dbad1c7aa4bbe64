//! Large vectors, in huge pages.

use std::mem::ManuallyDrop;

use blstrs::Scalar as Fr;

use crate::pages::ask_for_huge;

/// `count` zeros. The system hands out their pages when they are first touched, which parallel tasks then do, and in huge ones
/// where it can.
pub fn zeros(count: usize) -> Vec<Fr> {
    const { assert!(size_of::<Fr>() == size_of::<[u64; 4]>() && align_of::<Fr>() == align_of::<u64>()) };
    let mut words = ManuallyDrop::new(vec![0u64; 4 * count]);
    ask_for_huge(&mut words);
    let (start, capacity) = (words.as_mut_ptr().cast::<Fr>(), words.capacity() / 4);
    assert!(words.capacity() == 4 * capacity, "a vector of whole elements");
    // SAFETY: the memory is a vector's, no one else's any more, of `capacity` elements' size and of their alignment; four zero
    // words are an element, zero.
    unsafe { Vec::from_raw_parts(start, count, capacity) }
}

/// Makes room for `count` elements in an empty vector.
pub fn reserve<T>(vector: &mut Vec<T>, count: usize) {
    if vector.capacity() < count {
        vector.reserve_exact(count);
        ask_for_huge(vector.spare_capacity_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::HUGE;
    use ff::Field;

    #[test]
    fn zeros_are_zero_and_the_vectors_own() {
        for count in [0, 1, 2, 1000, HUGE / 32 - 1, HUGE / 32, HUGE / 16 + 3] {
            let mut zeros = zeros(count);
            assert_eq!(zeros.len(), count);
            assert!(zeros.iter().all(|zero| *zero == Fr::ZERO));
            zeros.iter_mut().for_each(|value| *value = Fr::ONE);
            zeros.push(-Fr::ONE);
            assert!(zeros[..count].iter().all(|one| *one == Fr::ONE) && zeros[count] == -Fr::ONE);
        }
    }
}
