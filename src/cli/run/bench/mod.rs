//! `cuzk bench`.

pub mod partition;
pub mod synth;
