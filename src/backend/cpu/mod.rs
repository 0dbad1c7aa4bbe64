//! The CPU backend: everything on the rayon pool it is called from.

pub mod affine;
pub mod curve;
pub mod field;
pub mod msm;
pub mod ntt;
mod quotient;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};

use super::bases::{G1Bases, G2Bases};
use super::{check_lengths, Backend};
use crate::error::Result;
use curve::{G1, G2};

/// Proves on the host's cores.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuBackend;

impl Backend for CpuBackend {
    fn name(&self) -> String {
        format!("cpu ({} threads)", rayon::current_num_threads())
    }

    fn quotient(&self, a: Vec<Fr>, b: Vec<Fr>, c: Vec<Fr>) -> Result<Vec<Fr>> {
        quotient::quotient(a, b, c)
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Fr]) -> Result<G1Projective> {
        check_lengths(bases.len(), scalars.len())?;
        Ok(msm::msm::<G1, 96>(bases, scalars))
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Fr]) -> Result<G2Projective> {
        check_lengths(bases.len(), scalars.len())?;
        Ok(msm::msm::<G2, 192>(bases, scalars))
    }
}
