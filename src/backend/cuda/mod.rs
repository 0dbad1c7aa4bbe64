//! The CUDA backend: launches of the kernels in kernels/, over `gpu`.

pub mod msm;
