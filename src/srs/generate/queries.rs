//! The queries' scalars: the QAP polynomials at tau, without a transform.

use blstrs::Scalar as Fr;
use ff::{BatchInvert, Field, PrimeField};
use rayon::prelude::*;

use super::toxic::ToxicWaste;
use crate::constraints::R1cs;
use crate::error::{Fault, Result};
use crate::fail;

/// Elements that one task computes: a power and an inversion to begin with are spread over them.
const CHUNK: usize = 1024;

/// Discrete logarithms of a parameter file's points, to the bases g1 and g2.
pub struct Queries {
    /// `(beta u_i(tau) + alpha v_i(tau) + w_i(tau)) / gamma` for each input.
    pub ic: Vec<Fr>,
    /// The same, divided by delta, for each aux variable.
    pub l: Vec<Fr>,
    /// `u_i(tau)` where it is not zero, inputs first.
    pub a: Vec<Fr>,
    /// `v_i(tau)` where it is not zero, inputs first.
    pub b: Vec<Fr>,
    /// Size of the evaluation domain; h has one element less.
    pub domain: usize,
}

impl Queries {
    /// Evaluates the circuit's polynomials at tau. Takes the constraints, to free them before the points are computed.
    ///
    /// # Errors
    /// A domain that the field has no roots for; an input or aux variable that no constraint holds; secrets that are zero
    /// or a root of unity.
    pub fn new(r1cs: R1cs, toxic: &ToxicWaste) -> Result<Self> {
        let domain = r1cs.constraints().next_power_of_two();
        if domain.trailing_zeros() > Fr::S {
            fail!(
                Fault::Input,
                "the circuit has {} constraints, at most 2^{} are possible in this field",
                r1cs.constraints(),
                Fr::S
            );
        }
        let weights = lagrange(toxic.tau, domain, r1cs.constraints())?;
        let columns = |matrix: &crate::constraints::Matrix| matrix.weighted_columns(&r1cs, &weights);
        let (mut a, (mut b, mut l)) =
            rayon::join(|| columns(&r1cs.a), || rayon::join(|| columns(&r1cs.b), || columns(&r1cs.c)));
        drop(weights);
        let inputs = r1cs.inputs;
        drop(r1cs);

        combine(&a, &b, &mut l, inputs, toxic)?;
        let ic = l.drain(..inputs).collect();
        a.retain(|u| !bool::from(u.is_zero()));
        b.retain(|v| !bool::from(v.is_zero()));
        Ok(Self { ic, l, a, b, domain })
    }
}

/// Turns `w_i(tau)` into `(beta u_i + alpha v_i + w_i)(tau)` over gamma for inputs, over delta for the others.
fn combine(u: &[Fr], v: &[Fr], w: &mut [Fr], inputs: usize, toxic: &ToxicWaste) -> Result<()> {
    let (gamma, delta) = (invert(toxic.gamma, "gamma")?, invert(toxic.delta, "delta")?);
    w.par_iter_mut().zip(u).zip(v).enumerate().for_each(|(i, ((w, u), v))| {
        *w += toxic.beta * u + toxic.alpha * v;
        *w *= if i < inputs { gamma } else { delta };
    });
    if let Some(i) = w.par_iter().position_any(|w| w.is_zero().into()) {
        let (kind, index) = if i < inputs { ("input", i) } else { ("aux", i - inputs) };
        fail!(
            Fault::Input,
            "{kind} variable {index} of the circuit is in no constraint; a proof could give it any value, so no parameters \
             are made"
        );
    }
    Ok(())
}

/// `tau^i (tau^n - 1) / delta` for `i` below `n - 1`.
pub fn h(domain: usize, toxic: &ToxicWaste) -> Result<Vec<Fr>> {
    let first = (toxic.tau.pow_vartime([domain as u64]) - Fr::ONE) * invert(toxic.delta, "delta")?;
    let mut powers = vec![Fr::ZERO; domain - 1];
    fill_powers(&mut powers, first, toxic.tau);
    Ok(powers)
}

/// The first `count` Lagrange polynomials over the roots of unity of order `n`, at tau:
/// `L_i(tau) = (tau^n - 1) / n * w^i / (tau - w^i)`.
fn lagrange(tau: Fr, n: usize, count: usize) -> Result<Vec<Fr>> {
    let scale = (tau.pow_vartime([n as u64]) - Fr::ONE) * invert(Fr::from(n as u64), "the domain's size")?;
    if scale.is_zero().into() {
        fail!(
            Fault::Usage,
            "tau is a root of unity of order {n}, where the parameters would be zero; take another seed"
        );
    }
    let mut values = vec![Fr::ZERO; count];
    fill_powers(&mut values, Fr::ONE, root_of_unity(n));
    values.par_chunks_mut(CHUNK).for_each(|values| {
        // None is zero: tau is no root of unity.
        let mut differences: Vec<Fr> = values.iter().map(|w| tau - w).collect();
        differences.iter_mut().batch_invert();
        for (value, inverse) in values.iter_mut().zip(&differences) {
            *value *= scale * inverse;
        }
    });
    Ok(values)
}

/// Sets `out[i] = first * base^i`.
fn fill_powers(out: &mut [Fr], first: Fr, base: Fr) {
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(k, out)| {
        let mut power = first * base.pow_vartime([(k * CHUNK) as u64]);
        for value in out {
            *value = power;
            power *= base;
        }
    });
}

/// The root of unity of order `n`, a power of two up to `2^S`, that bellperson's domains use.
fn root_of_unity(n: usize) -> Fr {
    (n.trailing_zeros()..Fr::S).fold(Fr::ROOT_OF_UNITY, |w, _| w.square())
}

fn invert(value: Fr, name: &str) -> Result<Fr> {
    match Option::from(value.invert()) {
        Some(inverse) => Ok(inverse),
        None => fail!(Fault::Usage, "{name} is zero; take another seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lagrange_polynomials_interpolate_powers() {
        let tau = Fr::from(0xdead_beef);
        for n in [1usize, 2, 8, 2048] {
            let values = lagrange(tau, n, n).unwrap();
            let w = root_of_unity(n);
            // sum(L_i(tau) * (w^i)^k) = tau^k for k below n.
            for k in [0, 1, n / 2, n - 1].into_iter().filter(|&k| k < n) {
                let sum: Fr = values.iter().enumerate().map(|(i, l)| *l * w.pow_vartime([(i * k) as u64])).sum();
                assert_eq!(sum, tau.pow_vartime([k as u64]), "n {n}, k {k}");
            }
            assert_eq!(lagrange(tau, n, n.div_ceil(2)).unwrap(), values[..n.div_ceil(2)]);
        }
    }

    #[test]
    fn a_tau_within_the_domain_is_refused() {
        let message = lagrange(root_of_unity(8), 16, 9).unwrap_err().to_string();
        assert!(message.contains("root of unity of order 16"), "{message}");
        assert!(lagrange(root_of_unity(32), 16, 9).is_ok());
    }
}
