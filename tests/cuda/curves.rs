//! Sums of points, complete in every case, against blstrs.

use blstrs::Scalar as Fr;
use cuzk::backend::cuda::msm::curve::{Xyzz, G1, G2};
use cuzk::gpu::{Gpu, Shape};
use ff::Field;
use group::Group;
use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};

use super::points::{affine, multiple, with_z, TestCurve};
use super::running::in_all_orders;

/// Multiples of the generator: none, itself, its double and its opposite, so that there are equal and opposite ones among the
/// pairs; others.
fn points<C: TestCurve>() -> Vec<C::Point> {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut factors: Vec<Fr> = [0u64, 1, 2, 3, 5].map(Fr::from).to_vec();
    factors.extend([-Fr::ONE, -Fr::from(2)]);
    factors.extend((0..2).map(|_| Fr::random(&mut rng)));
    factors.into_iter().map(multiple::<C>).collect()
}

/// All pairs, as the first is with z = 1 and with others: a pair is equal although its coordinates are not.
fn sums_are_complete<C: TestCurve>() {
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let points = points::<C>();
    let (mut a, mut b, mut c, mut expected) = (vec![], vec![], vec![], vec![]);
    for p in &points {
        for q in &points {
            for z in [C::Field::ONE, C::Field::random(&mut rng)] {
                a.push(with_z::<C>(p, z));
                b.push(*q);
                c.push(with_z::<C>(q, if expected.len() % 3 == 0 { z } else { C::Field::random(&mut rng) }));
                expected.push((*p, *q));
            }
        }
    }
    let stream = Gpu::open(0).unwrap().stream().unwrap();
    let count = a.len();
    let [mut x, mut z, mut out] = [0; 3].map(|_| stream.buffer::<Xyzz<C::Field>>("points", count).unwrap());
    let mut y = stream.buffer::<C::Point>("points", count).unwrap();
    stream.upload("a", x.view_mut(), &a).unwrap();
    stream.upload("b", y.view_mut(), &b).unwrap();
    stream.upload("c", z.view_mut(), &c).unwrap();
    let shape = Shape::of(count, 128);
    let mut results = vec![Xyzz::default(); count];
    let compare = |what: &str, results: &[Xyzz<C::Field>], sum: &dyn Fn(C::Sum, C::Sum) -> C::Sum| {
        for (result, (p, q)) in results.iter().zip(&expected) {
            let sum: C::Point = sum((*p).into(), (*q).into()).into();
            assert_eq!(affine::<C>(result), sum, "{} {what}: {p:?}, {q:?}", C::NAME);
            assert_eq!(C::projective(result), sum.into(), "{} {what} as blstrs' projective", C::NAME);
        }
    };

    C::ADD_AFFINE(&stream, shape, x.view(), y.view(), out.view_mut(), count as u32).unwrap();
    stream.download("out", out.view(), &mut results).unwrap();
    compare("affine sum", &results, &|p, q| p + q);
    C::ADD(&stream, shape, x.view(), z.view(), out.view_mut(), count as u32).unwrap();
    stream.download("out", out.view(), &mut results).unwrap();
    compare("sum", &results, &|p, q| p + q);
    C::ADD(&stream, shape, x.view(), x.view(), out.view_mut(), count as u32).unwrap();
    stream.download("out", out.view(), &mut results).unwrap();
    compare("sum with itself", &results, &|p, _| p + p);
    C::DOUBLE(&stream, shape, x.view(), out.view_mut(), count as u32).unwrap();
    stream.download("out", out.view(), &mut results).unwrap();
    compare("double", &results, &|p, _| p.double());
    C::NEGATE(&stream, shape, x.view(), out.view_mut(), count as u32).unwrap();
    stream.download("out", out.view(), &mut results).unwrap();
    compare("opposite", &results, &|p, _| -p);
}

#[test]
fn g1_sums_are_complete() {
    in_all_orders("curves::g1_sums_are_complete", sums_are_complete::<G1>);
}

#[test]
fn g2_sums_are_complete() {
    in_all_orders("curves::g2_sums_are_complete", sums_are_complete::<G2>);
}
