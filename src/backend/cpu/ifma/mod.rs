//! Sums and the quotient in eight lanes of AVX-512 IFMA, where the processor has it. The portable code is the reference;
//! results are equal bit for bit.

mod accumulators;
mod decode;
mod extension;
mod fp;
mod levels;
mod points;
pub(super) mod quotient;
mod rows;
mod shared;
mod transform;

pub use crate::lanes::fr::time_of_products as time_of_scalar_products;
pub use crate::lanes::is_available;
use crate::lanes::{fr, limbs};
pub use accumulators::LaneAccumulators;
pub use fp::time_of_products;
pub use points::{G1Lanes, G2Lanes, Point};
