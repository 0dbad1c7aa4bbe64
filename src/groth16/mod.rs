//! The Groth16 prover (Groth, "On the Size of Pairing-based Non-interactive Arguments", 2016), generic over the backend.
//!
//! ```text
//! A = alpha + sum(z_i u_i(x)) + r delta
//! B = beta  + sum(z_i v_i(x)) + s delta
//! C = (sum(aux_i (beta u_i(x) + alpha v_i(x) + w_i(x))) + h(x) t(x)) / delta + s A + r B - r s delta
//! ```

mod blinding;
pub mod simulate;
mod verify;

pub use blinding::Blinding;
pub use verify::{check_proofs, verify};

use bellperson::groth16::{Proof, VerifyingKey};
use blstrs::{Bls12, G1Projective, G2Projective};
use group::{prime::PrimeCurveAffine, Curve};

use crate::backend::{scalars::Scalars, Backend};
use crate::error::{Fault, Result};
use crate::fail;
use crate::report::{Phase, Timings};
use crate::srs::Srs;
use crate::witness::Assignment;

/// What a device computes of a proof: the sums over the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    pub h: G1Projective,
    pub l: G1Projective,
    pub a: G1Projective,
    pub b_g1: G1Projective,
    pub b_g2: G2Projective,
}

/// Proves one assignment. For equal `blinding` the proof is bellperson's, byte for byte.
///
/// # Errors
/// Those of [`sums`].
pub fn prove(
    backend: &dyn Backend,
    srs: &Srs,
    assignment: Assignment,
    blinding: &Blinding,
    timings: &Timings,
) -> Result<Proof<Bls12>> {
    let sums = sums(backend, srs, assignment, timings, || {})?;
    Ok(timings.time(Phase::Assembly, 1, || assemble(srs.vk(), &sums, blinding)))
}

/// Quotient and sums of one assignment, one after another, each in parallel by itself. `rows_freed` is called when the
/// rows' values are no longer in memory, which is half of what an assignment takes.
///
/// # Errors
/// Parameters of another circuit (the query lengths differ), and the backend's failures. An unsatisfied assignment is not
/// noticed here: its proof does not verify.
pub fn sums(
    backend: &dyn Backend,
    srs: &Srs,
    assignment: Assignment,
    timings: &Timings,
    rows_freed: impl FnOnce(),
) -> Result<Sums> {
    check_shape(srs, &assignment)?;
    let rows = assignment.a.len();
    let c = timings.time(Phase::Evaluation, rows as u64, || assignment.c());
    let Assignment { a, b, inputs, aux, a_aux_density, b_input_density, b_aux_density } = assignment;

    let h = timings.time(Phase::Quotient, rows as u64, || backend.quotient(a, b, c))?;
    rows_freed();
    let sum_h = timings.time(Phase::SumH, h.len() as u64, || backend.sum_g1(srs.h(), &[Scalars::Elements(&h)]))?;
    drop(h);
    let sum_l = timings.time(Phase::SumL, aux.len() as u64, || backend.sum_g1(srs.l(), &[Scalars::Elements(&aux)]))?;

    let mut query = inputs.clone();
    a_aux_density.select_onto(&aux, &mut query);
    let sum_a =
        timings.time(Phase::SumA, query.len() as u64, || backend.sum_g1(srs.a(), &[Scalars::Elements(&query)]))?;
    query.clear();
    b_input_density.select_onto(&inputs, &mut query);
    b_aux_density.select_onto(&aux, &mut query);
    drop(aux);
    let sum_b_g1 =
        timings.time(Phase::SumBG1, query.len() as u64, || backend.sum_g1(srs.b_g1(), &[Scalars::Elements(&query)]))?;
    let sum_b_g2 =
        timings.time(Phase::SumBG2, query.len() as u64, || backend.sum_g2(srs.b_g2(), &[Scalars::Elements(&query)]))?;
    Ok(Sums { h: sum_h, l: sum_l, a: sum_a, b_g1: sum_b_g1, b_g2: sum_b_g2 })
}

/// The proof that the sums and the blinding make.
pub fn assemble(vk: &VerifyingKey<Bls12>, sums: &Sums, blinding: &Blinding) -> Proof<Bls12> {
    let Blinding { r, s } = *blinding;
    let (delta_g1, delta_g2) = (vk.delta_g1.to_curve(), vk.delta_g2.to_curve());
    let a = vk.alpha_g1.to_curve() + sums.a + delta_g1 * r;
    let b_g1 = vk.beta_g1.to_curve() + sums.b_g1 + delta_g1 * s;
    let b_g2 = vk.beta_g2.to_curve() + sums.b_g2 + delta_g2 * s;
    let c = sums.h + sums.l + a * s + b_g1 * r - delta_g1 * (r * s);
    Proof { a: a.to_affine(), b: b_g2.to_affine(), c: c.to_affine() }
}

/// Compares the assignment's lengths with the parameters'.
fn check_shape(srs: &Srs, assignment: &Assignment) -> Result<()> {
    let domain = assignment.a.len().max(1).next_power_of_two();
    let a = assignment.inputs.len() + assignment.a_aux_density.count_ones();
    let b = assignment.b_input_density.count_ones() + assignment.b_aux_density.count_ones();
    let queries = [
        ("h", srs.h().len(), domain - 1),
        ("l", srs.l().len(), assignment.aux.len()),
        ("a", srs.a().len(), a),
        ("b_g1", srs.b_g1().len(), b),
        ("b_g2", srs.b_g2().len(), b),
        ("ic", srs.vk().ic.len(), assignment.inputs.len()),
    ];
    for (query, got, expected) in queries {
        if got != expected {
            fail!(
                Fault::Parameters,
                "{}: the {query} query has {got} points, this circuit needs {expected}: the file belongs to another circuit",
                srs.path().display()
            );
        }
    }
    if bool::from(srs.vk().delta_g1.is_identity() | srs.vk().delta_g2.is_identity()) {
        fail!(Fault::Parameters, "{}: delta is the identity: these parameters are subverted", srs.path().display());
    }
    Ok(())
}
