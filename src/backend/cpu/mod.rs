//! The CPU backend: everything on the rayon pool it is called from.

pub mod accumulators;
pub mod affine;
mod classify;
pub mod curve;
pub mod field;
#[cfg(target_arch = "x86_64")]
pub mod ifma;
pub mod msm;
pub mod ntt;
mod quotient;
mod zeros;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use super::bases::{G1Bases, G2Bases, G1_BYTES, G2_BYTES};
use super::scalars::Scalars;
use super::{check_lengths, Backend, Rows};
use crate::error::Result;
use curve::{G1, G2};
use msm::{msm, Portable};
use quotient::Operands;

/// Proves on the host's cores, with the widest arithmetic this processor has.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuBackend;

/// The same with the arithmetic that every processor has: the reference for the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortableCpu;

/// Does this processor compute in lanes?
fn has_lanes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return ifma::is_available();
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        let arithmetic = if has_lanes() { ", AVX-512 IFMA" } else { "" };
        format!("cpu ({} threads{arithmetic})", rayon::current_num_threads())
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Vec<Fr>> {
        let operands = Operands::new(a, b)?;
        #[cfg(target_arch = "x86_64")]
        if ifma::quotient::takes(operands.log_size) {
            return Ok(ifma::quotient::quotient(operands));
        }
        Ok(quotient::quotient(operands))
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        check_lengths(bases.len(), scalars)?;
        #[cfg(target_arch = "x86_64")]
        if has_lanes() {
            return Ok(msm::<ifma::G1Lanes, G1_BYTES>(bases, scalars));
        }
        PortableCpu.sum_g1(bases, scalars)
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        check_lengths(bases.len(), scalars)?;
        #[cfg(target_arch = "x86_64")]
        if has_lanes() {
            return Ok(msm::<ifma::G2Lanes, G2_BYTES>(bases, scalars));
        }
        PortableCpu.sum_g2(bases, scalars)
    }
}

impl Backend for PortableCpu {
    fn name(&self) -> String {
        format!("cpu ({} threads, portable)", rayon::current_num_threads())
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Vec<Fr>> {
        Ok(quotient::quotient(Operands::new(a, b)?))
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        check_lengths(bases.len(), scalars)?;
        Ok(msm::<Portable<G1>, G1_BYTES>(bases, scalars))
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        check_lengths(bases.len(), scalars)?;
        Ok(msm::<Portable<G2>, G2_BYTES>(bases, scalars))
    }
}
