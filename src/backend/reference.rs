//! The slow, obvious backend that every other one is tested against.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use ff::{Field, PrimeField};
use group::Group;

use super::bases::{G1Bases, G2Bases};
use super::memory::Lent;
use super::scalars::{expand, Scalars};
use super::{check_lengths, Backend};
use crate::constraints::Rows;
use crate::error::{Fault, OrFault, Result};

/// Quadratic transforms and one double-and-add per scalar; everything straight from the definitions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

/// Coefficients of the polynomial of degree below n with the given values at w^0, w^1, ..., w of order n.
fn interpolate(values: &[Fr], w: Fr) -> Vec<Fr> {
    let n = values.len() as u64;
    let scale = Fr::from(n).invert().unwrap_or(Fr::ZERO);
    let w_inverse = w.invert().unwrap_or(Fr::ZERO);
    (0..n)
        .map(|i| {
            let x = w_inverse.pow_vartime([i]);
            values.iter().rev().fold(Fr::ZERO, |acc, v| acc * x + v) * scale
        })
        .collect()
}

impl Backend for Reference {
    fn name(&self) -> String {
        "reference".into()
    }

    /// a * b by the schoolbook. Since a * b = h * (X^n - 1) + c with c of degree below n, h is the upper half of the product.
    fn quotient(&self, a: &dyn Rows, b: &dyn Rows) -> Result<Lent<Fr>> {
        let n = a.len().max(1).next_power_of_two();
        let w = (n.ilog2()..Fr::S).fold(Fr::ROOT_OF_UNITY, |w, _| w.square());
        let [a, b] = [a, b].map(|rows| {
            let mut values = vec![Fr::ZERO; n];
            rows.expand_into(0..n, &mut values);
            interpolate(&values, w)
        });
        let mut product = vec![Fr::ZERO; 2 * n];
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                product[i + j] += *a * b;
            }
        }
        Ok(product[n..2 * n - 1].to_vec().into())
    }

    fn sum_g1(&self, bases: G1Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G1Projective> {
        check_lengths(bases.len(), scalars)?;
        expand(scalars).iter().enumerate().try_fold(G1Projective::identity(), |acc, (i, s)| {
            let point = Option::<G1Affine>::from(G1Affine::from_uncompressed(bases.point(i)));
            Ok(acc
                + point
                    .ok_or_else(|| anyhow::anyhow!("not a point"))
                    .or_fault(Fault::Parameters, || format!("base {i}"))?
                    * s)
        })
    }

    fn sum_g2(&self, bases: G2Bases<'_>, scalars: &[Scalars<'_>]) -> Result<G2Projective> {
        check_lengths(bases.len(), scalars)?;
        expand(scalars).iter().enumerate().try_fold(G2Projective::identity(), |acc, (i, s)| {
            let point = Option::<G2Affine>::from(G2Affine::from_uncompressed(bases.point(i)));
            Ok(acc
                + point
                    .ok_or_else(|| anyhow::anyhow!("not a point"))
                    .or_fault(Fault::Parameters, || format!("base {i}"))?
                    * s)
        })
    }
}
