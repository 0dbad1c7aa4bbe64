//! Points of both curves in the kernels' forms, and blstrs' own.

use std::fmt::Debug;

use blstrs::{Fp, Fp2, G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use cuzk::backend::cuda::msm::curve::{Coordinate, Curve, Xyzz, G1, G2};
use cuzk::error::Result;
use cuzk::gpu::{kernels, Shape, Stream, View, ViewMut};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::Group;

pub type Both<C, T> = fn(
    &Stream,
    Shape,
    View<'_, Xyzz<<C as TestCurve>::Field>>,
    View<'_, T>,
    ViewMut<'_, Xyzz<<C as TestCurve>::Field>>,
    u32,
) -> Result<()>;
pub type One<C> = fn(
    &Stream,
    Shape,
    View<'_, Xyzz<<C as TestCurve>::Field>>,
    ViewMut<'_, Xyzz<<C as TestCurve>::Field>>,
    u32,
) -> Result<()>;

/// A curve with what tests need beside.
pub trait TestCurve: Curve<Xyzz = Xyzz<Self::Field>, Affine = Self::Point, Projective = Self::Sum> {
    type Field: Field + Coordinate;
    type Point: PrimeCurveAffine<Scalar = Fr, Curve = Self::Sum> + cuzk::gpu::Plain + Debug + Eq;
    type Sum: Group<Scalar = Fr> + From<Self::Point> + Into<Self::Point> + Debug;
    const ADD_AFFINE: Both<Self, Self::Point>;
    const ADD: Both<Self, Xyzz<Self::Field>>;
    const DOUBLE: One<Self>;
    const NEGATE: One<Self>;

    fn coordinates(point: &Self::Point) -> (Self::Field, Self::Field);
    fn point(x: Self::Field, y: Self::Field) -> Self::Point;
    /// As the parameter file has it.
    fn bytes(point: &Self::Point) -> Vec<u8>;
}

macro_rules! test_curve {
    ($curve:ty, $field:ty, $point:ty, $sum:ty, $add_affine:ident, $add:ident, $double:ident, $negate:ident) => {
        impl TestCurve for $curve {
            type Field = $field;
            type Point = $point;
            type Sum = $sum;
            const ADD_AFFINE: Both<Self, $point> = kernels::$add_affine;
            const ADD: Both<Self, Xyzz<$field>> = kernels::$add;
            const DOUBLE: One<Self> = kernels::$double;
            const NEGATE: One<Self> = kernels::$negate;

            fn coordinates(point: &$point) -> ($field, $field) {
                (point.x(), point.y())
            }

            fn point(x: $field, y: $field) -> $point {
                <$point>::from_raw_unchecked(x, y, false)
            }

            fn bytes(point: &$point) -> Vec<u8> {
                point.to_uncompressed().to_vec()
            }
        }
    };
}
test_curve!(G1, Fp, G1Affine, G1Projective, g1_add_affine, g1_add, g1_double, g1_negate);
test_curve!(G2, Fp2, G2Affine, G2Projective, g2_add_affine, g2_add, g2_double, g2_negate);

/// The generator so many times.
pub fn multiple<C: TestCurve>(factor: Fr) -> C::Point {
    (C::Sum::generator() * factor).into()
}

/// The point in XYZZ coordinates, of which zz = z^2.
pub fn with_z<C: TestCurve>(point: &C::Point, z: C::Field) -> Xyzz<C::Field> {
    let (x, y) = C::coordinates(point);
    let zz = if bool::from(point.is_identity()) { C::Field::ZERO } else { z.square() };
    let zzz = zz * z;
    Xyzz { x: x * zz, y: y * zzz, zz, zzz }
}

/// The affine point, from the definition.
pub fn affine<C: TestCurve>(p: &Xyzz<C::Field>) -> C::Point {
    assert_eq!(p.zz.square() * p.zz, p.zzz.square(), "zz^3 = zzz^2");
    match p.zz.is_zero_vartime() {
        true => C::Point::identity(),
        false => C::point(p.x * p.zz.invert().unwrap(), p.y * p.zzz.invert().unwrap()),
    }
}
