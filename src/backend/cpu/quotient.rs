//! The quotient polynomial h = (a * b - c) / (X^n - 1) in six transforms.
//!
//! On the coset g of the domain, with g a primitive 2n-th root of unity, X^n - 1 is the constant g^n - 1 = -2. Reduced
//! modulo X^n + 1 (which is what the inverse coset transform does), a * b = h * (X^n - 1) + c becomes c - 2h: so h is had
//! from one transform back of a * b, and the coefficients of c, which need no coset transform. h does not depend on g.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::ntt::{bit_reverse, root_of_unity, scale_by_powers_reversed, Domain, MAX_LOG_SIZE};
use crate::backend::memory::{Lent, Memory};
use crate::constraints::Rows;
use crate::error::{Fault, Result};
use crate::fail;

/// Values per parallel task of a pointwise pass.
const TASK: usize = 1 << 12;
/// Rows of b that are kept beside those of a while both are multiplied: 8 KB of a first-level cache.
const PIECE: usize = 1 << 8;

/// The rows of a and b, and the size of their domain, beyond whose rows there are zeros.
pub struct Operands<'a> {
    pub log_size: u32,
    pub a: &'a dyn Rows,
    pub b: &'a dyn Rows,
}

impl<'a> Operands<'a> {
    /// # Errors
    /// As [`crate::backend::Backend::quotient`].
    pub fn new(a: &'a dyn Rows, b: &'a dyn Rows) -> Result<Self> {
        let rows = a.len();
        if b.len() != rows {
            fail!(Fault::Internal, "quotient of {rows} and {} rows: expected equally many", b.len());
        }
        let log_size = rows.max(1).next_power_of_two().ilog2();
        if log_size >= MAX_LOG_SIZE {
            fail!(Fault::Input, "circuit of {rows} rows: at most 2^{} are possible over this field", MAX_LOG_SIZE - 1);
        }
        Ok(Self { log_size, a, b })
    }

    /// Writes the values of c, the products of those of a and b, from row `first` on.
    fn multiply_into(&self, first: usize, values: &mut [Fr]) {
        let mut factors = [Fr::ZERO; PIECE];
        for (i, values) in values.chunks_mut(PIECE).enumerate() {
            let factors = &mut factors[..values.len()];
            expand_into(self.a, first + i * PIECE, values);
            expand_into(self.b, first + i * PIECE, factors);
            values.iter_mut().zip(&*factors).for_each(|(value, factor)| *value *= factor);
        }
    }
}

/// Writes the values of the rows from `first` on.
fn expand_into(rows: &dyn Rows, first: usize, values: &mut [Fr]) {
    rows.expand_into(first..first + values.len(), values);
}

/// See [`crate::backend::Backend::quotient`]. Two vectors of the domain's size are needed: a, and b, whose memory c takes next. Rows are
/// expanded in the first pass over them, those of c once more.
pub fn quotient(operands: Operands, memory: &Arc<Memory>) -> Lent<Fr> {
    let log_size = operands.log_size;
    let domain = Domain::new(log_size);
    let n = domain.size();
    let (mut a, mut b) = (memory.lend::<Fr>(n), memory.lend::<Fr>(n));
    // n is a power of two below 2^32 and so invertible.
    let size_inverse = Fr::from(n as u64).invert().unwrap_or(Fr::ZERO);
    let g = root_of_unity(log_size + 1);

    for (rows, values) in [(operands.a, &mut a), (operands.b, &mut b)] {
        domain.inverse_unscaled_of(|first, values| expand_into(rows, first, values), values);
        scale_by_powers_reversed(values, size_inverse, g);
        domain.forward(values);
    }
    a.par_iter_mut().zip(&*b).with_min_len(TASK).for_each(|(a, b)| *a *= b);
    drop(b);
    domain.inverse_unscaled(&mut a);
    let mut c = memory.lend::<Fr>(n);
    domain.inverse_unscaled_of(|first, values| operands.multiply_into(first, values), &mut c);

    // a holds n * g^i * (c - 2h)_i and c holds n * c_i, both bit-reversed.
    let g_inverse = g.invert().unwrap_or(Fr::ZERO);
    scale_by_powers_reversed(&mut a, Fr::ONE, g_inverse);
    let half_size_inverse = size_inverse * Fr::from(2).invert().unwrap_or(Fr::ZERO);
    a.par_iter_mut().zip(&*c).with_min_len(TASK).for_each(|(a, c)| *a = (*c - *a) * half_size_inverse);
    // The degree of h is at most n - 2.
    c.truncate(n - 1);
    c.par_iter_mut().enumerate().with_min_len(TASK).for_each(|(i, h)| *h = a[bit_reverse(i, log_size)]);
    c
}
