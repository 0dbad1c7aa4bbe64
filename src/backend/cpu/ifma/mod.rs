//! Sums and the quotient in eight lanes of AVX-512 IFMA, where the processor has it. The portable code is the reference;
//! results are equal bit for bit.

mod accumulators;
mod extension;
mod fp;
mod fr;
mod levels;
mod limbs;
mod points;
pub(super) mod quotient;
mod rows;
mod shared;
mod transform;

pub use accumulators::LaneAccumulators;
pub use points::{G1Lanes, G2Lanes, Point};

/// Whether this processor has what the code here needs. The answer is remembered by the standard library.
pub fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512ifma")
}
