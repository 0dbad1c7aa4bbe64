//! The conversion of bases from the parameter file's form, and what it refuses.

use blstrs::Scalar as Fr;
use cuzk::backend::cuda::msm::curve::{G1, G2};
use cuzk::gpu::{Gpu, Stream};
use group::prime::PrimeCurveAffine;

use super::points::{multiple, TestCurve};
use super::running::in_all_orders;

/// p, big-endian.
const MODULUS: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

/// The points that the kernel makes of these bytes, and the least number of one that is none.
fn converted<C: TestCurve>(stream: &Stream, raw: &[u8], first: u64) -> (Vec<C::Point>, u64) {
    let count = raw.len() / C::BYTES;
    let mut bytes = stream.buffer("raw", raw.len()).unwrap();
    let mut points = stream.buffer("points", count).unwrap();
    let mut bad = stream.buffer("bad", 1).unwrap();
    stream.upload("raw", bytes.view_mut(), raw).unwrap();
    stream.upload("bad", bad.view_mut(), &[u64::MAX]).unwrap();
    C::convert(stream, bytes.view(), points.view_mut(), first, bad.view_mut()).unwrap();
    let (mut result, mut least) = (vec![C::Point::identity(); count], [0]);
    stream.download("points", points.view(), &mut result).unwrap();
    stream.download("bad", bad.view(), &mut least).unwrap();
    (result, least[0])
}

fn points_are_blstrs_memory<C: TestCurve>() {
    let stream = Gpu::open(0).unwrap().stream().unwrap();
    for count in [0, 1, 2, 127, 129] {
        let points: Vec<_> = (0..count).map(|i| multiple::<C>(Fr::from(i) * Fr::from(i) - Fr::from(4))).collect();
        let raw: Vec<u8> = points.iter().flat_map(C::bytes).collect();
        assert_eq!(converted::<C>(&stream, &raw, 1 << 40), (points, u64::MAX), "{count} {} points", C::NAME);
    }
}

fn others_are_refused<C: TestCurve>() {
    let stream = Gpu::open(0).unwrap().stream().unwrap();
    let good = C::bytes(&multiple::<C>(Fr::from(3)));
    let infinity = C::bytes(&C::Point::identity());
    let modulus: Vec<u8> = (0..48).map(|i| u8::from_str_radix(&MODULUS[2 * i..2 * i + 2], 16).unwrap()).collect();
    let mut wrong: Vec<(String, Vec<u8>)> = Vec::new();
    for flag in [0x80u8, 0x20, 0xc0, 0x40, 0xe0] {
        let mut bytes = good.clone();
        bytes[0] |= flag;
        wrong.push((format!("flags {flag:#x}"), bytes));
    }
    for flag in [0x80u8, 0x20] {
        let mut bytes = infinity.clone();
        bytes[0] |= flag;
        wrong.push((format!("infinity, flags {flag:#x}"), bytes));
    }
    for place in [1, 47, 48, C::BYTES - 1] {
        let mut bytes = infinity.clone();
        bytes[place] |= 1;
        wrong.push((format!("infinity, and byte {place}"), bytes));
    }
    wrong.push(("zeros without a flag".into(), vec![0; C::BYTES]));
    for coordinate in 0..C::BYTES / 48 {
        for more in [0, 1] {
            let mut bytes = good.clone();
            bytes[48 * coordinate..][..48].copy_from_slice(&modulus);
            bytes[48 * coordinate + 47] += more;
            wrong.push((format!("coordinate {coordinate} is p + {more}"), bytes));
        }
        if coordinate > 0 {
            let mut bytes = good.clone();
            bytes[48 * coordinate] |= 0x80;
            wrong.push((format!("coordinate {coordinate} has a flag"), bytes));
        }
    }
    for (what, bytes) in &wrong {
        // Not the first, and not the only one.
        let raw: Vec<u8> = [&good, &infinity, bytes, &good, bytes].into_iter().flatten().copied().collect();
        assert_eq!(converted::<C>(&stream, &raw, 1 << 40).1, (1 << 40) + 2, "{} {what}", C::NAME);
    }
    // The largest coordinate there is: p - 1.
    let mut bytes = good.clone();
    bytes[48..96].copy_from_slice(&modulus);
    bytes[95] -= 1;
    assert_eq!(converted::<C>(&stream, &bytes, 0).1, u64::MAX, "{}", C::NAME);
    // Some beyond the first block.
    let raw: Vec<u8> =
        (0..300).flat_map(|i| if [140, 299].contains(&i) { &wrong[0].1 } else { &good }).copied().collect();
    assert_eq!(converted::<C>(&stream, &raw, 0).1, 140, "{}", C::NAME);
}

#[test]
fn g1_points_are_blstrs_memory() {
    in_all_orders("bases::g1_points_are_blstrs_memory", points_are_blstrs_memory::<G1>);
}

#[test]
fn g2_points_are_blstrs_memory() {
    in_all_orders("bases::g2_points_are_blstrs_memory", points_are_blstrs_memory::<G2>);
}

#[test]
fn bytes_that_are_no_g1_points_are_refused() {
    in_all_orders("bases::bytes_that_are_no_g1_points_are_refused", others_are_refused::<G1>);
}

#[test]
fn bytes_that_are_no_g2_points_are_refused() {
    in_all_orders("bases::bytes_that_are_no_g2_points_are_refused", others_are_refused::<G2>);
}
