//! `cuzk`: a single-binary batch prover for Filecoin PoRep C2.
//!
//! The way of the data, each step a module of the same name:
//!
//! ```text
//! C1 file -> c1 -> circuit -> witness (a, b) -> groth16 (quotient, sums) on a backend -> proof
//!                                   srs: the parameters the sums run over
//! ```
//!
//! `batch` knows what lies around a proof when there are many: folders, journal, lock, shards.
//!
//! `bench` measures synthesis alone, several ways side by side.
//!
//! `lanes` is the arithmetic that `backend` and `witness` share where the processor has AVX-512 IFMA; `processor` tells whether it has.
//!
//! Imports go down only: `cli -> batch -> pipeline -> {c1, circuit, witness, constraints, srs, groth16, backend}`;
//! `tests/layering.rs` holds the modules to that.

pub mod backend;
pub mod batch;
pub mod bench;
pub mod c1;
pub mod circuit;
pub mod cli;
pub mod constraints;
pub mod error;
pub mod files;
pub mod gpu;
pub mod groth16;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod pages;
pub mod pipeline;
pub mod processor;
pub mod report;
pub mod srs;
pub mod witness;
