//! The quotient polynomial in lanes: the algorithm of [`crate::backend::cpu::quotient`], six transforms in few passes.

use blstrs::Scalar as Fr;
use ff::Field;

use super::is_available;
use super::levels::{Levels, Scale, MIN_LOG_SIZE};
use super::shared::Shared;
use crate::backend::cpu::ntt::root_of_unity;
use crate::backend::cpu::quotient::Rows;

/// Can this be computed in lanes?
pub fn takes(log_size: u32) -> bool {
    log_size >= MIN_LOG_SIZE && is_available()
}

/// See [`crate::backend::Backend::quotient`]. Beside the rows' three vectors no memory of the domain's size is needed: the
/// result comes in that of b.
///
/// # Panics
/// When the processor lacks what [`is_available`] looks for, or the domain is too small: see [`takes`].
pub fn quotient(rows: Rows) -> Vec<Fr> {
    assert!(takes(rows.log_size), "AVX-512 IFMA and a domain of 2^{MIN_LOG_SIZE} or more");
    // SAFETY: the processor has the features that the function needs, as was just asserted.
    unsafe { quotient_in(&Levels::new(rows.log_size), rows) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn quotient_in(levels: &Levels, rows: Rows) -> Vec<Fr> {
    let Rows { log_size, mut a, mut b, mut c } = rows;
    let n = Fr::from(1u64 << log_size);
    let inverse = |x: Fr| x.invert().unwrap_or(Fr::ZERO);
    let g = root_of_unity(log_size + 1);

    // n a and n b on the coset, but for the first level.
    let onto_coset = Scale { first: Fr::ONE, base: g };
    for vector in [&mut a, &mut b] {
        inverse_but_rows(levels, vector, onto_coset);
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
    // And those of c / 2.
    inverse_but_rows(levels, &mut c, Scale { first: inverse(n + n), base: Fr::ONE });
    levels.inverse_rows_subtracted(&c, &a, from_coset, &mut b);
    // The degree of h is at most n - 2.
    b.pop();
    b
}

/// The inverse transform but for the last level, in place.
#[target_feature(enable = "avx512f,avx512ifma")]
fn inverse_but_rows(levels: &Levels, vector: &mut [Fr], scale: Scale) {
    let shared = Shared::new(vector);
    for level in levels.of_columns() {
        levels.inverse_columns(level, &shared, &shared, scale);
    }
}
