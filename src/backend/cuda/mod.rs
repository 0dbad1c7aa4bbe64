//! The CUDA backend's launches; kernels/ has what they launch.

pub mod evaluate;
pub mod ntt;
pub mod quotient;
