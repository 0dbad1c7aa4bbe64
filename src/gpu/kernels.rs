//! The kernels' launchers: one function for each kernel, made by build.rs from its signature in kernels/.
//!
//! Arguments are views of device memory, whose element types are compared with the kernel's when they are compiled, and integers.
//! Kernels run in their stream's order, after these functions return; a kernel that reads or writes past its views harms no memory but
//! the device's, and is a fault that the emulated device reports.

// As many as the kernel has.
#![allow(clippy::too_many_arguments)]

use super::context::{Argument, Shape};
use super::memory::{Plain, View, ViewMut};
use super::stream::Stream;
use crate::error::Result;

include!(concat!(env!("OUT_DIR"), "/launchers.rs"));

/// Are the texts equal? At compile time.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn texts_are_the_same_or_not() {
        assert!(same("", "") && same("Fr", "Fr"));
        assert!(!same("Fr", "Fp") && !same("Fp", "Fp2") && !same("Fp2", "Fp") && !same("", "x"));
    }
}
