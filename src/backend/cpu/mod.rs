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
pub mod prepare;
mod quotient;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use std::sync::Arc;

use super::bases::{Form, G1Bases, G2Bases, G1_BYTES, G2_BYTES};
use super::memory::{Lent, Memory};
use super::scalars::Scalars;
use super::{check_lengths, Backend};
use crate::constraints::Rows;
use crate::error::Result;
use crate::processor;
use curve::{G1, G2};
use msm::{sums, Portable};
use quotient::Operands;

/// Proves on the host's cores, with the widest arithmetic that this processor has and may use. Between two partitions it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct CpuBackend {
    memory: Arc<Memory>,
}

/// The same with the arithmetic that every processor has: the reference for the other.
#[derive(Clone, Debug, Default)]
pub struct PortableCpu {
    memory: Arc<Memory>,
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        format!("cpu ({} threads, {})", rayon::current_num_threads(), processor::arithmetic())
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        let operands = Operands::new(a, b)?;
        #[cfg(target_arch = "x86_64")]
        if ifma::quotient::takes(operands.log_size) {
            return Ok(ifma::quotient::quotient(operands, &self.memory));
        }
        Ok(quotient::quotient(operands, &self.memory))
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        self.sums_g1(bases, &[scalars]).map(|sums| sums[0])
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        self.sums_g2(bases, &[scalars]).map(|sums| sums[0])
    }

    fn sums_g1(&self, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        lists.iter().try_for_each(|scalars| check_lengths(bases.len(), scalars))?;
        #[cfg(target_arch = "x86_64")]
        if ifma::is_available() {
            return Ok(sums::<ifma::G1Lanes, G1_BYTES>(bases, lists, &self.memory));
        }
        Ok(sums::<Portable<G1>, G1_BYTES>(bases, lists, &self.memory))
    }

    fn sums_g2(&self, bases: G2Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G2Projective>> {
        lists.iter().try_for_each(|scalars| check_lengths(bases.len(), scalars))?;
        #[cfg(target_arch = "x86_64")]
        if ifma::is_available() {
            return Ok(sums::<ifma::G2Lanes, G2_BYTES>(bases, lists, &self.memory));
        }
        Ok(sums::<Portable<G2>, G2_BYTES>(bases, lists, &self.memory))
    }

    fn form(&self) -> Option<Form> {
        Some(prepare::form())
    }
}

impl Backend for PortableCpu {
    fn name(&self) -> String {
        format!("cpu ({} threads, portable)", rayon::current_num_threads())
    }

    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        Ok(quotient::quotient(Operands::new(a, b)?, &self.memory))
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        self.sums_g1(bases, &[scalars]).map(|sums| sums[0])
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        self.sums_g2(bases, &[scalars]).map(|sums| sums[0])
    }

    fn sums_g1(&self, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G1Projective>> {
        lists.iter().try_for_each(|scalars| check_lengths(bases.len(), scalars))?;
        Ok(sums::<Portable<G1>, G1_BYTES>(bases, lists, &self.memory))
    }

    fn sums_g2(&self, bases: G2Bases<'_>, lists: &[&[Scalars<'_>]]) -> Result<Vec<G2Projective>> {
        lists.iter().try_for_each(|scalars| check_lengths(bases.len(), scalars))?;
        Ok(sums::<Portable<G2>, G2_BYTES>(bases, lists, &self.memory))
    }

    fn form(&self) -> Option<Form> {
        Some(Form::Scalar)
    }
}
