//! Checks of the points themselves: encoding, on the curve, in the subgroup, not the identity.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use blstrs::{G1Affine, G2Affine};
use rayon::prelude::*;

use super::development::expected_origin;
use super::layout::{Layout, Section};
use super::progress::{Progress, Report, Stage};
use super::verifying_key::remedy;
use crate::backend::bases::{G1_BYTES, G2_BYTES};
use crate::error::{Fault, Result};
use crate::fail;

/// Points looked at in each query when a file is opened: a tenth of a millisecond each.
const SAMPLE: usize = 48;

/// Points between two progress reports of a full check.
const REPORT_EVERY: usize = 4096;

/// Checks evenly spread points of each query, the first and the last among them.
pub fn check_sample(bytes: &[u8], layout: &Layout, path: &Path) -> Result<()> {
    layout.queries().par_iter().try_for_each(|(name, section)| {
        spread(section.count).try_for_each(|i| check_point(bytes, section, i, name, path))
    })
}

/// Checks every point: minutes for a test sector's file, hours for a 32 GiB one's.
pub fn check_all(bytes: &[u8], layout: &Layout, path: &Path, report: &Report) -> Result<()> {
    let total = layout.queries().iter().map(|(_, s)| s.count as u64).sum();
    let done = AtomicU64::new(0);
    report(Progress::Work { stage: Stage::Points, done: 0, total });
    for (name, section) in layout.queries() {
        let starts: Vec<usize> = (0..section.count).step_by(REPORT_EVERY).collect();
        starts.into_par_iter().try_for_each(|start| {
            let end = section.count.min(start + REPORT_EVERY);
            (start..end).try_for_each(|i| check_point(bytes, &section, i, name, path))?;
            let count = (end - start) as u64;
            let done = done.fetch_add(count, Ordering::Relaxed) + count;
            report(Progress::Work { stage: Stage::Points, done, total });
            Ok(())
        })?;
    }
    Ok(())
}

/// Up to `SAMPLE` places below `count`, from the first to the last.
pub(super) fn spread(count: usize) -> impl Iterator<Item = usize> {
    let picks = count.min(SAMPLE);
    (0..picks).map(move |k| if picks == 1 { 0 } else { k * (count - 1) / (picks - 1) })
}

fn check_point(bytes: &[u8], section: &Section, i: usize, query: &str, path: &Path) -> Result<()> {
    let offset = section.point_offset(i);
    let point = &bytes[offset..offset + section.point_bytes];
    let Some(wrong) = fault_of(point) else { return Ok(()) };
    fail!(
        Fault::Parameters,
        "{}: point {i} of {query} (offset {offset}) {wrong}; the file is damaged: {}",
        path.display(),
        remedy(expected_origin(path))
    )
}

/// What is wrong with an encoded point of G1 or G2.
fn fault_of(point: &[u8]) -> Option<&'static str> {
    if point[0] & 0xe0 != 0 {
        return Some("has flag bits set: expected an uncompressed point that is not the identity");
    }
    let in_subgroup = if let Ok(point) = <&[u8; G1_BYTES]>::try_from(point) {
        // Fails for coordinates not below the modulus and off the curve.
        Option::from(G1Affine::from_uncompressed_unchecked(point)).map(|p: G1Affine| p.is_torsion_free().into())
    } else if let Ok(point) = <&[u8; G2_BYTES]>::try_from(point) {
        Option::from(G2Affine::from_uncompressed_unchecked(point)).map(|p: G2Affine| p.is_torsion_free().into())
    } else {
        return Some("has a length that is neither G1's nor G2's");
    };
    match in_subgroup {
        Some(true) => None,
        Some(false) => Some("is not in the subgroup of prime order"),
        None => Some("is not a point of the curve"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use group::prime::PrimeCurveAffine;

    #[test]
    fn samples_reach_from_first_to_last() {
        for count in [0, 1, 2, SAMPLE - 1, SAMPLE, SAMPLE + 1, 1001, 4_194_303] {
            let places: Vec<usize> = spread(count).collect();
            assert_eq!(places.len(), count.min(SAMPLE));
            assert!(places.windows(2).all(|w| w[0] < w[1]), "{count}: {places:?}");
            let ends = (places.first().copied(), places.last().copied());
            assert_eq!(ends, if count == 0 { (None, None) } else { (Some(0), Some(count - 1)) });
        }
    }

    #[test]
    fn points_are_told_from_non_points() {
        assert_eq!(fault_of(&G1Affine::generator().to_uncompressed()), None);
        assert_eq!(fault_of(&G2Affine::generator().to_uncompressed()), None);
        for identity in [&G1Affine::identity().to_uncompressed()[..], &G2Affine::identity().to_uncompressed()] {
            assert!(fault_of(identity).unwrap().contains("flag bits"));
        }
        assert!(fault_of(&G1Affine::generator().to_uncompressed()[..95]).unwrap().contains("length"));
        for off in [&[0; G1_BYTES][..], &[0; G2_BYTES]] {
            assert!(fault_of(off).unwrap().contains("not a point of the curve"));
        }
        let mut off = G2Affine::generator().to_uncompressed();
        off[191] ^= 1;
        assert!(fault_of(&off).unwrap().contains("not a point of the curve"));
        let mut large = G1Affine::generator().to_uncompressed();
        large[..48].fill(0x1f);
        assert!(fault_of(&large).unwrap().contains("not a point of the curve"));
        // Of the points with small abscissas hardly one is in the subgroup.
        let points: Vec<G1Affine> = (1..20u8)
            .filter_map(|x| {
                let mut compressed = [0; 48];
                (compressed[0], compressed[47]) = (0x80, x);
                G1Affine::from_compressed_unchecked(&compressed).into()
            })
            .collect();
        assert!(points.len() > 3);
        assert!(points.iter().all(|point| fault_of(&point.to_uncompressed()).unwrap().contains("subgroup")));
    }
}
