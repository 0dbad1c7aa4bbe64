//! What a sum's multiplications alone would take.

use std::fmt;
use std::time::{Duration, Instant};

use blst::{blst_fp, blst_fp_mul};

use crate::input::{Group, Input, Kind};

/// The measured cost of a multiplication in the base field, in seconds.
pub struct Counted {
    portable: f64,
    /// Of eight at once, an eighth.
    lanes: Option<f64>,
}

const COUNT: u32 = 1 << 20;
/// Multiplications of an affine addition where hundreds share an inversion: slope, its square, ordinate, and three for the inverse.
const ADDITION: f64 = 6.0;

impl Counted {
    pub fn measure() -> Self {
        Self { portable: portable(), lanes: lanes() }
    }

    pub fn has_lanes(&self) -> bool {
        self.lanes.is_some()
    }

    /// Seconds of the fewest additions that buckets take for this sum, on all threads: of full scalars one in each window of the best
    /// length, of bits one for each that is set.
    pub fn seconds<G: Group>(&self, input: &Input<G>) -> Duration {
        let count = input.scalars.len() as f64;
        let windows = |n: f64| {
            (2..=20).map(|bits| (256.0 / bits as f64).ceil() * (n + f64::from(1u32 << bits))).fold(f64::MAX, f64::min)
        };
        let additions = match input.kind {
            Kind::Full => windows(count),
            Kind::Bits => count / 2.0,
            Kind::Mixed => count * 0.495 + windows(count / 100.0),
        };
        let product = self.lanes.unwrap_or(self.portable);
        Duration::from_secs_f64(product * additions * ADDITION * G::PRODUCTS / rayon::current_num_threads() as f64)
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a multiplication in the base field: {:.1} ns portable", self.portable * 1e9)?;
        match self.lanes {
            Some(lanes) => write!(f, ", {:.1} ns in lanes", lanes * 1e9),
            None => Ok(()),
        }
    }
}

fn portable() -> f64 {
    let mut x = [blst_fp { l: [3, 1, 4, 1, 5, 9] }, blst_fp { l: [2, 7, 1, 8, 2, 8] }];
    let y = x[0];
    let start = Instant::now();
    for _ in 0..COUNT / 2 {
        for x in &mut x {
            // SAFETY: all pointers are of live values; the result may be an operand.
            unsafe { blst_fp_mul(x, x, &y) };
        }
    }
    std::hint::black_box(x);
    start.elapsed().as_secs_f64() / f64::from(COUNT)
}

#[cfg(target_arch = "x86_64")]
fn lanes() -> Option<f64> {
    cuzk::backend::cpu::ifma::time_of_products(COUNT / 8).map(|time| time.as_secs_f64() / f64::from(COUNT))
}

#[cfg(not(target_arch = "x86_64"))]
fn lanes() -> Option<f64> {
    None
}
