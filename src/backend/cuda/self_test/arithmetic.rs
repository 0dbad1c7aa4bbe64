//! The fields' and the curves' operations, one a kernel.

use blst::{blst_fp, blst_fr};
use blstrs::{Fp, Fp2, G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use ff::Field;
use group::{prime::PrimeCurveAffine, Curve as _, Group};
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::super::msm::curve::{Curve, Xyzz, G1, G2};
use super::super::CudaBackend;
use super::{difference, Checks};
use crate::error::Result;
use crate::gpu::{kernels, Plain, Shape, Stream, View, ViewMut};

const THREADS: u32 = 128;

/// A kernel over one array, and one over two.
type Unary<A, T> = fn(&Stream, Shape, View<'_, A>, ViewMut<'_, T>, u32) -> Result<()>;
type Binary<A, B, T> = fn(&Stream, Shape, View<'_, A>, View<'_, B>, ViewMut<'_, T>, u32) -> Result<()>;

pub(super) fn run(checks: &mut Checks) {
    field(checks, "Fr", &FR);
    field(checks, "Fp", &FP);
    field(checks, "Fp2", &FP2);
    canonical(checks);
    curve::<G1>(checks, &ON_G1);
    curve::<G2>(checks, &ON_G2);
}

/// The kernels of a field.
struct FieldKernels<F: Plain> {
    unary: &'static [OneToOne<F>],
    binary: &'static [TwoToOne<F>],
}

/// An operation, its kernel, and what the CPU computes.
struct OneToOne<F: Plain>(&'static str, Unary<F, F>, fn(F) -> F);
struct TwoToOne<F: Plain>(&'static str, Binary<F, F, F>, fn(F, F) -> F);

const FR: FieldKernels<Fr> = FieldKernels {
    unary: &[OneToOne("negation", kernels::fr_negate, |x| -x)],
    binary: &[
        TwoToOne("addition", kernels::fr_add, |x, y| x + y),
        TwoToOne("subtraction", kernels::fr_sub, |x, y| x - y),
        TwoToOne("multiplication", kernels::fr_mul, |x, y| x * y),
        TwoToOne("comparison", kernels::fr_compare, compared),
    ],
};

const FP: FieldKernels<Fp> = FieldKernels {
    unary: &[OneToOne("negation", kernels::fp_negate, |x| -x)],
    binary: &[
        TwoToOne("addition", kernels::fp_add, |x, y| x + y),
        TwoToOne("subtraction", kernels::fp_sub, |x, y| x - y),
        TwoToOne("multiplication", kernels::fp_mul, |x, y| x * y),
        TwoToOne("sum of products", kernels::fp_sum_of_products, |x, y| x * y + y * y),
        TwoToOne("comparison", kernels::fp_compare, compared),
    ],
};

const FP2: FieldKernels<Fp2> = FieldKernels {
    unary: &[
        OneToOne("negation", kernels::fp2_negate, |x| -x),
        OneToOne("square", kernels::fp2_square, |x| x.square()),
    ],
    binary: &[
        TwoToOne("addition", kernels::fp2_add, |x, y| x + y),
        TwoToOne("subtraction", kernels::fp2_sub, |x, y| x - y),
        TwoToOne("multiplication", kernels::fp2_mul, |x, y| x * y),
        TwoToOne("comparison", kernels::fp2_compare, compared),
    ],
};

/// What kernels named `compare` compute.
fn compared<F: Field>(x: F, y: F) -> F {
    if x == y || bool::from(x.is_zero()) {
        x
    } else {
        x.double()
    }
}

/// All pairs of values where carries and borrows are, and random ones.
fn elements<F: Field>() -> (Vec<F>, Vec<F>) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let two = F::ONE.double();
    let half = two.invert().unwrap_or(F::ONE);
    let edges = [F::ZERO, F::ONE, -F::ONE, two, -two, half, -half, half - F::ONE];
    let pairs = edges.iter().flat_map(|x| edges.iter().map(move |y| (*x, *y)));
    let random: Vec<_> = (0..500).map(|_| (F::random(&mut rng), F::random(&mut rng))).collect();
    pairs.chain(random).unzip()
}

fn field<F: Field + Plain>(checks: &mut Checks, name: &str, of: &FieldKernels<F>) {
    let (x, y) = elements::<F>();
    for OneToOne(operation, kernel, expected) in of.unary {
        let cpu: Vec<F> = x.iter().map(|x| expected(*x)).collect();
        checks.check(format!("{name}: {operation}"), |cuda| Ok(difference(&mapped(cuda, &x, *kernel)?, &cpu)));
    }
    for TwoToOne(operation, kernel, expected) in of.binary {
        let cpu: Vec<F> = x.iter().zip(&y).map(|(x, y)| expected(*x, *y)).collect();
        checks.check(format!("{name}: {operation}"), |cuda| Ok(difference(&zipped(cuda, &x, &y, *kernel)?, &cpu)));
    }
}

/// The conversion to integers, whose limbs are the CPU's, and back.
fn canonical(checks: &mut Checks) {
    let (fr, _) = elements::<Fr>();
    checks.check("Fr: to and from integers", |cuda| {
        let integers = mapped(cuda, &fr, kernels::fr_to_canonical)?;
        let bytes = |x: &Fr| blst_fr::from(*x).l.map(u64::to_le_bytes).concat();
        let device: Vec<_> = integers.iter().map(bytes).collect();
        let cpu: Vec<_> = fr.iter().map(|x| x.to_bytes_le().to_vec()).collect();
        let back = mapped(cuda, &integers, kernels::fr_from_canonical)?;
        Ok(difference(&device, &cpu).or_else(|| difference(&back, &fr)))
    });
    let (fp, _) = elements::<Fp>();
    checks.check("Fp: to and from integers", |cuda| {
        let integers = mapped(cuda, &fp, kernels::fp_to_canonical)?;
        let bytes = |x: &Fp| blst_fp::from(*x).l.map(u64::to_le_bytes).concat();
        let device: Vec<_> = integers.iter().map(bytes).collect();
        let cpu: Vec<_> = fp.iter().map(|x| x.to_bytes_le().to_vec()).collect();
        let back = mapped(cuda, &integers, kernels::fp_from_canonical)?;
        Ok(difference(&device, &cpu).or_else(|| difference(&back, &fp)))
    });
}

/// The kernels of a curve, and the CPU's groups.
struct CurveKernels<C: Curve> {
    add_affine: Binary<C::Xyzz, C::Affine, C::Xyzz>,
    add: Binary<C::Xyzz, C::Xyzz, C::Xyzz>,
    double: Unary<C::Xyzz, C::Xyzz>,
    negate: Unary<C::Xyzz, C::Xyzz>,
    affine: fn(C::Projective) -> C::Affine,
    /// The same point with another zz, made of the number.
    xyzz: fn(C::Affine, u64) -> C::Xyzz,
}

const ON_G1: CurveKernels<G1> = CurveKernels {
    add_affine: kernels::g1_add_affine,
    add: kernels::g1_add,
    double: kernels::g1_double,
    negate: kernels::g1_negate,
    affine: |p: G1Projective| p.to_affine(),
    xyzz: |p: G1Affine, z| scaled(p.x(), p.y(), p.is_identity().into(), z),
};

const ON_G2: CurveKernels<G2> = CurveKernels {
    add_affine: kernels::g2_add_affine,
    add: kernels::g2_add,
    double: kernels::g2_double,
    negate: kernels::g2_negate,
    affine: |p: G2Projective| p.to_affine(),
    xyzz: |p: G2Affine, z| scaled(p.x(), p.y(), p.is_identity().into(), z),
};

fn scaled<F: Field>(x: F, y: F, infinity: bool, z: u64) -> Xyzz<F> {
    let z = if infinity { F::ZERO } else { (1..z).fold(F::ONE, |sum, _| sum + F::ONE) };
    let (zz, zzz) = (z.square(), z.square() * z);
    Xyzz { x: x * zz, y: y * zzz, zz, zzz }
}

/// All pairs of small multiples of the generator, their negatives and infinity: equal, opposite, and neither.
fn curve<C: Curve>(checks: &mut Checks, of: &CurveKernels<C>) {
    let multiples = [0u64, 1, 2, 3, 1000].map(|k| C::Projective::generator() * Fr::from(k));
    let points: Vec<C::Projective> = multiples.iter().flat_map(|p| [*p, -*p]).collect();
    let pairs: Vec<_> = points.iter().flat_map(|p| points.iter().map(move |q| (*p, *q))).collect();
    let sums: Vec<C::Projective> = pairs.iter().map(|(p, q)| *p + *q).collect();
    let left: Vec<C::Xyzz> = (2..).zip(&pairs).map(|(z, (p, _))| (of.xyzz)((of.affine)(*p), z)).collect();
    let right: Vec<C::Xyzz> = (1..).zip(&pairs).map(|(z, (_, q))| (of.xyzz)((of.affine)(*q), z)).collect();
    let affine: Vec<C::Affine> = pairs.iter().map(|(_, q)| (of.affine)(*q)).collect();
    let projective = |points: Vec<C::Xyzz>| points.iter().map(C::projective).collect::<Vec<_>>();

    let name = |operation: &str| format!("{}: {operation}", C::NAME);
    checks.check(name("addition of an affine point"), |cuda| {
        Ok(difference(&projective(zipped(cuda, &left, &affine, of.add_affine)?), &sums))
    });
    checks.check(name("addition"), |cuda| Ok(difference(&projective(zipped(cuda, &left, &right, of.add)?), &sums)));
    let twice: Vec<_> = pairs.iter().map(|(p, _)| p.double()).collect();
    checks.check(name("doubling"), |cuda| Ok(difference(&projective(mapped(cuda, &left, of.double)?), &twice)));
    let negated: Vec<_> = pairs.iter().map(|(p, _)| -*p).collect();
    checks.check(name("negation"), |cuda| Ok(difference(&projective(mapped(cuda, &left, of.negate)?), &negated)));
}

/// What a kernel makes of an array.
fn mapped<A: Plain, T: Plain + Default>(cuda: &CudaBackend, x: &[A], kernel: Unary<A, T>) -> Result<Vec<T>> {
    let stream = cuda.stream();
    let (mut a, mut out) = (stream.buffer("x", x.len())?, stream.buffer("results", x.len())?);
    stream.upload("x", a.view_mut(), x)?;
    kernel(stream, Shape::of(x.len(), THREADS), a.view(), out.view_mut(), x.len() as u32)?;
    received(stream, out.view())
}

/// What a kernel makes of two arrays.
fn zipped<A: Plain, B: Plain, T: Plain + Default>(
    cuda: &CudaBackend,
    x: &[A],
    y: &[B],
    kernel: Binary<A, B, T>,
) -> Result<Vec<T>> {
    let stream = cuda.stream();
    let (mut a, mut b) = (stream.buffer("x", x.len())?, stream.buffer("y", y.len())?);
    let mut out = stream.buffer("results", x.len())?;
    stream.upload("x", a.view_mut(), x)?;
    stream.upload("y", b.view_mut(), y)?;
    kernel(stream, Shape::of(x.len(), THREADS), a.view(), b.view(), out.view_mut(), x.len() as u32)?;
    received(stream, out.view())
}

fn received<T: Plain + Default>(stream: &Stream, from: View<'_, T>) -> Result<Vec<T>> {
    let mut values = vec![T::default(); from.len()];
    stream.download("results", from, &mut values)?;
    Ok(values)
}
