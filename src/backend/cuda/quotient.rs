//! The quotient polynomial h = (a * b - c) / (X^n - 1) on the device: the algorithm of [`crate::backend::cpu`]'s, six transforms.
//!
//! What lies between two transforms is part of the passes beside it: of 2^20 rows or more, a and b take five passes each onto the coset (three
//! to coefficients, the last of which begins the way back, and two more), the last of a's being also the first of the product's; that takes
//! two more, and c three.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;

use super::ntt::{Load, Store, Transforms};
use crate::backend::cpu::ntt::bit_reverse;
use crate::backend::memory::{Lent, Memory};
use crate::constraints::Rows;
use crate::error::Result;
use crate::gpu::{Buffer, Stream, View};

/// Rows that are expanded and sent at a time: 2 MB.
const CHUNK: usize = 1 << 16;

/// The coefficients of the quotient, in bit-reversed order: coefficient i, of those from 0 to n - 2, is element [`bit_reverse`] of i; the
/// last element, whose place is its own, is zero. `a` and `b` are the values of the rows, zeros past the last one, in domains of the
/// transforms' size n. Three such vectors are in device memory at a time: those given, and c, until b's is no longer needed.
///
/// # Errors
/// Vectors of other lengths, and the device's own failures. Work is enqueued when this returns.
pub fn quotient(stream: &Stream, transforms: &Transforms, mut a: Buffer<Fr>, mut b: Buffer<Fr>) -> Result<Buffer<Fr>> {
    transforms.check(a.len())?;
    transforms.check(b.len())?;
    let (last, columns) = transforms.split();

    // c / 2, in coefficients.
    let mut c = stream.buffer("c", transforms.size())?;
    let mut load = Load::Product(a.view(), b.view());
    for pass in columns {
        transforms.inverse_pass(stream, *pass, load, c.view_mut())?;
        load = Load::InPlace;
    }
    let halved = Store { scale: Some(transforms.half_size_inverse()), ..Store::default() };
    transforms.inverse_pass_to(stream, last, load, c.view_mut(), halved)?;

    // a and b on the coset, where a lacks its last pass if there are several.
    for vector in [&mut a, &mut b] {
        for pass in columns {
            transforms.inverse_pass(stream, *pass, Load::InPlace, vector.view_mut())?;
        }
        transforms.onto_coset(stream, last, vector.view_mut())?;
        for pass in columns.iter().skip(1).rev() {
            transforms.forward_pass(stream, *pass, vector.view_mut())?;
        }
    }
    let load = match columns.split_first() {
        Some((first, others)) => {
            transforms.forward_pass(stream, *first, b.view_mut())?;
            transforms.multiply(stream, *first, a.view_mut(), b.view())?;
            for pass in others {
                transforms.inverse_pass(stream, *pass, Load::InPlace, a.view_mut())?;
            }
            Load::InPlace
        }
        None => Load::InPlaceTimes(b.view()),
    };
    // Their product is (c - 2h) / 2, in coefficients.
    let scale = Some(transforms.half_coset_inverse());
    let store = Store { scale, minuend: Some(c.view()), from_coset: true };
    transforms.inverse_pass_to(stream, last, load, a.view_mut(), store)?;
    Ok(a)
}

/// Values of rows that the host has, and zeros past the last one, as a vector of the domain's size on the device.
///
/// # Errors
/// The device's failures.
///
/// # Panics
/// When there are more rows than the domain has elements.
pub fn upload_rows(stream: &Stream, name: &'static str, rows: &dyn Rows, log_size: u32) -> Result<Buffer<Fr>> {
    let mut values = stream.buffer(name, 1 << log_size)?;
    let mut chunk = vec![Fr::ZERO; CHUNK.min(rows.len())];
    let (mut to, past) = values.view_mut().split(rows.len());
    for first in (0..rows.len()).step_by(CHUNK) {
        let chunk = &mut chunk[..CHUNK.min(rows.len() - first)];
        rows.expand_into(first..first + chunk.len(), chunk);
        stream.upload(name, to.again().slice(first..first + chunk.len()), chunk)?;
    }
    stream.zero(name, past)?;
    Ok(values)
}

/// A quotient from the device in natural order: n - 1 coefficients, lowest first.
///
/// # Errors
/// The device's failures, also of earlier work.
pub fn coefficients(stream: &Stream, quotient: View<'_, Fr>, memory: &Arc<Memory>) -> Result<Lent<Fr>> {
    let n = quotient.len();
    let mut coefficients = memory.lend::<Fr>(n);
    stream.download("h", quotient, &mut coefficients)?;
    let bits = n.max(1).ilog2();
    for i in 0..n {
        let j = bit_reverse(i, bits);
        if i < j {
            coefficients.swap(i, j);
        }
    }
    coefficients.truncate(n.saturating_sub(1));
    Ok(coefficients)
}
