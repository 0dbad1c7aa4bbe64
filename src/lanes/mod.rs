//! Field arithmetic in eight lanes of AVX-512 IFMA, for processors that have it: what the sums and transforms of a proof and the hashes
//! of a witness have in common. The portable code of those is the reference.

pub mod fr;
pub mod limbs;

/// Whether this processor has what the code here needs, and that may be used.
pub use crate::processor::has_ifma as is_available;
