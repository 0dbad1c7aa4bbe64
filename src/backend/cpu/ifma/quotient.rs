//! The quotient polynomial in lanes: the algorithm of [`crate::backend::cpu::quotient`], six transforms in few passes.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;

use super::is_available;
use super::levels::{Levels, Scale, MIN_LOG_SIZE};
use super::rows::{Expanded, Product};
use super::shared::{Shared, Source};
use crate::backend::cpu::ntt::root_of_unity;
use crate::backend::cpu::quotient::Operands;
use crate::backend::memory::{Lent, Memory};

/// Can this be computed in lanes?
pub fn takes(log_size: u32) -> bool {
    log_size >= MIN_LOG_SIZE && is_available()
}

/// See [`crate::backend::Backend::quotient`]. Three vectors of the domain's size are needed: a, b, which becomes the result, and c.
/// Rows are expanded in the first pass over them.
///
/// # Panics
/// When the processor lacks what [`is_available`] looks for, or the domain is too small: see [`takes`].
pub fn quotient(operands: Operands, memory: &Arc<Memory>) -> Lent<Fr> {
    assert!(takes(operands.log_size), "AVX-512 IFMA and a domain of 2^{MIN_LOG_SIZE} or more");
    // SAFETY: the processor has the features that the function needs, as was just asserted.
    unsafe { quotient_in(&Levels::new(operands.log_size), operands, memory) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn quotient_in(levels: &Levels, operands: Operands, memory: &Arc<Memory>) -> Lent<Fr> {
    let size = 1 << operands.log_size;
    let (mut a, mut b) = (memory.lend::<Fr>(size), memory.lend::<Fr>(size));
    let n = Fr::from(size as u64);
    let inverse = |x: Fr| x.invert().unwrap_or(Fr::ZERO);
    let g = root_of_unity(operands.log_size + 1);

    // n a and n b on the coset, but for the first level.
    let onto_coset = Scale { first: Fr::ONE, base: g };
    for (vector, rows) in [(&mut a, operands.a), (&mut b, operands.b)] {
        inverse_but_rows(levels, &Expanded(rows), vector, onto_coset);
        levels.inverse_and_forward_rows(vector, onto_coset);
        let shared = Shared::new(vector);
        for level in levels.of_columns()[1..].iter().rev() {
            levels.forward_columns(level, &shared);
        }
    }
    // Of n^2 a b / 16, transformed back to n times as much, the coefficients of (c - 2h) / 2.
    let from_coset = Scale { first: Fr::from(8) * inverse(n * n * n), base: inverse(g) };
    let shared = Shared::new(&mut a);
    levels.multiply_columns(&shared, &Shared::new(&mut b), from_coset);
    for level in &levels.of_columns()[1..] {
        levels.inverse_columns(level, &shared, &shared, from_coset);
    }
    // And those of c / 2, whose rows come times 2^-4.
    let mut c = memory.lend::<Fr>(size);
    let halved = Scale { first: Fr::from(8) * inverse(n), base: Fr::ONE };
    inverse_but_rows(levels, &Product(operands.a, operands.b), &mut c, halved);
    levels.inverse_rows_subtracted(&c, &a, from_coset, &mut b);
    // The degree of h is at most n - 2.
    b.truncate(size - 1);
    b
}

/// The inverse transform of `rows` but for the last level, to `vector`.
#[target_feature(enable = "avx512f,avx512ifma")]
fn inverse_but_rows(levels: &Levels, rows: &impl Source, vector: &mut [Fr], scale: Scale) {
    let shared = Shared::new(vector);
    let all = levels.of_columns();
    levels.inverse_columns(&all[0], rows, &shared, scale);
    for level in &all[1..] {
        levels.inverse_columns(level, &shared, &shared, scale);
    }
}
