//! Field arithmetic in eight lanes of AVX-512 IFMA, for processors that have it: what the sums and transforms of a proof and the hashes
//! of a witness have in common. The portable code of those is the reference.

pub mod fr;
pub mod limbs;

/// Whether this processor has what the code here needs. The answer is remembered by the standard library.
pub fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512ifma")
}
