//! The Groth16 prover (Groth, "On the Size of Pairing-based Non-interactive Arguments", 2016), generic over the backend.
//!
//! ```text
//! A = alpha + sum(z_i u_i(x)) + r delta
//! B = beta  + sum(z_i v_i(x)) + s delta
//! C = (sum(aux_i (beta u_i(x) + alpha v_i(x) + w_i(x))) + h(x) t(x)) / delta + s A + r B - r s delta
//! ```

mod blinding;
mod circuit;
mod queries;
pub mod simulate;
mod verify;

pub use blinding::Blinding;
pub use circuit::Circuit;
pub use queries::{Lengths, Queries};
pub use verify::{check_proofs, verify};

use std::time::Instant;

use bellperson::groth16::{Proof, VerifyingKey};
use blstrs::{Bls12, G1Projective, G2Projective, Scalar as Fr};
use group::{prime::PrimeCurveAffine, Curve};

use crate::backend::{bases::G1Bases, scalars::Scalars, Backend};
use crate::constraints::Densities;
use crate::error::{Fault, Result};
use crate::fail;
use crate::report::{Phase, Timings};
use crate::srs::Srs;
use crate::witness::CompactWitness;

/// What a device computes of a proof: the sums over the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    pub h: G1Projective,
    pub l: G1Projective,
    pub a: G1Projective,
    pub b_g1: G1Projective,
    pub b_g2: G2Projective,
}

/// The sums whose scalars are the witness itself: all but that of h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WitnessSums {
    pub l: G1Projective,
    pub a: G1Projective,
    pub b_g1: G1Projective,
    pub b_g2: G2Projective,
}

impl WitnessSums {
    /// All sums, with that of h.
    pub fn with(self, h: G1Projective) -> Sums {
        let Self { l, a, b_g1, b_g2 } = self;
        Sums { h, l, a, b_g1, b_g2 }
    }
}

/// Proves that `witness` satisfies `circuit`. For equal `blinding` the proof is bellperson's, byte for byte.
///
/// # Errors
/// Those of [`sums`].
pub fn prove(
    backend: &dyn Backend,
    srs: &Srs,
    circuit: &Circuit,
    witness: &CompactWitness,
    blinding: &Blinding,
    timings: &Timings,
) -> Result<Proof<Bls12>> {
    let sums = sums(backend, srs, circuit, witness, timings)?;
    Ok(timings.time(Phase::Assembly, 1, || assemble(srs.vk(), &sums, blinding)))
}

/// Sums and quotient for one witness, one after another, each in parallel by itself.
///
/// # Errors
/// Those of [`sums_of_witnesses`] and [`sum_of_quotient`].
pub fn sums(
    backend: &dyn Backend,
    srs: &Srs,
    circuit: &Circuit,
    witness: &CompactWitness,
    timings: &Timings,
) -> Result<Sums> {
    let of_witness = sums_of_witnesses(backend, srs, circuit, &[(witness, timings)])?;
    Ok(of_witness[0].with(sum_of_quotient(backend, srs, circuit, witness, timings)?))
}

/// The sums of several witnesses of one circuit, each query's together, so that its bases are gone through once. Each witness's
/// timings get an equal part of the time.
///
/// # Errors
/// A witness of another circuit; parameters of another circuit (the query lengths differ); the backend's failures. A witness
/// that does not satisfy the circuit is not noticed here: its proof does not verify.
pub fn sums_of_witnesses(
    backend: &dyn Backend,
    srs: &Srs,
    circuit: &Circuit,
    witnesses: &[(&CompactWitness, &Timings)],
) -> Result<Vec<WitnessSums>> {
    check_shape(srs, circuit)?;
    sums_over(backend, &Queries::of(srs), circuit, witnesses)
}

/// The same over any bases.
///
/// # Errors
/// A witness or bases of another circuit; the backend's failures.
pub fn sums_over(
    backend: &dyn Backend,
    queries: &Queries<'_>,
    circuit: &Circuit,
    witnesses: &[(&CompactWitness, &Timings)],
) -> Result<Vec<WitnessSums>> {
    for (witness, _) in witnesses {
        let (got, expected) = (witness.inputs().len(), circuit.inputs());
        if got != expected {
            fail!(Fault::Internal, "a witness with {got} inputs, of a circuit with {expected}");
        }
    }
    let densities = circuit.densities();
    let b_inputs: Vec<_> = witnesses.iter().map(|(w, _)| densities.b_input.selected(w.inputs())).collect();
    let scalars = witnesses.iter().zip(&b_inputs).map(|((w, _), inputs)| WitnessScalars::new(w, inputs, densities));
    let scalars = scalars.collect::<Result<Vec<_>>>()?;
    let sums_g1 = |phase, bases: G1Bases<'_>, lists: &[&[Scalars<'_>]]| {
        timed(phase, bases.len(), witnesses, || backend.sums_g1(bases, lists))
    };
    let l = sums_g1(Phase::SumL, queries.l, &scalars.iter().map(|of| &of.l[..]).collect::<Vec<_>>())?;
    let a = sums_g1(Phase::SumA, queries.a, &scalars.iter().map(|of| &of.a[..]).collect::<Vec<_>>())?;
    let b: Vec<_> = scalars.iter().map(|of| &of.b[..]).collect();
    let b_g1 = sums_g1(Phase::SumBG1, queries.b_g1, &b)?;
    let b_g2 = timed(Phase::SumBG2, queries.b_g2.len(), witnesses, || backend.sums_g2(queries.b_g2, &b))?;
    let of_witness = |k: usize| WitnessSums { l: l[k], a: a[k], b_g1: b_g1[k], b_g2: b_g2[k] };
    Ok((0..witnesses.len()).map(of_witness).collect())
}

/// The sum over the h query: of the quotient that a witness makes.
///
/// # Errors
/// As [`sums_of_witnesses`].
pub fn sum_of_quotient(
    backend: &dyn Backend,
    srs: &Srs,
    circuit: &Circuit,
    witness: &CompactWitness,
    timings: &Timings,
) -> Result<G1Projective> {
    check_shape(srs, circuit)?;
    backend.sum_of_quotient(circuit.constraints(), witness, srs.h(), timings)
}

/// A witness as the scalars of its sums.
struct WitnessScalars<'a> {
    l: [Scalars<'a>; 1],
    a: [Scalars<'a>; 2],
    b: [Scalars<'a>; 2],
}

impl<'a> WitnessScalars<'a> {
    /// `b_inputs` are the inputs that occur in B.
    fn new(witness: &'a CompactWitness, b_inputs: &'a [Fr], densities: &'a Densities) -> Result<Self> {
        let Densities { a_aux, b_aux, .. } = densities;
        Ok(Self {
            l: [Scalars::of_witness(witness, None)?],
            a: [Scalars::Elements(witness.inputs()), Scalars::of_witness(witness, Some(a_aux))?],
            b: [Scalars::Elements(b_inputs), Scalars::of_witness(witness, Some(b_aux))?],
        })
    }
}

/// Times work on several witnesses at once: an equal part for each.
fn timed<T>(phase: Phase, items: usize, of: &[(&CompactWitness, &Timings)], work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let part = start.elapsed() / of.len().max(1) as u32;
    of.iter().for_each(|(_, timings)| timings.add(phase, part, items as u64));
    result
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

/// Compares the circuit's lengths with the parameters'.
fn check_shape(srs: &Srs, circuit: &Circuit) -> Result<()> {
    let Lengths { h, l, a, b } = Lengths::of(circuit);
    let queries = [
        ("h", srs.h().len(), h),
        ("l", srs.l().len(), l),
        ("a", srs.a().len(), a),
        ("b_g1", srs.b_g1().len(), b),
        ("b_g2", srs.b_g2().len(), b),
        ("ic", srs.vk().ic.len(), circuit.inputs()),
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
