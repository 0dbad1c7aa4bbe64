//! The CUDA driver, found at run time, its devices, and the kernels of this build; the only user of `cust`.
//!
//! `cust` is linked against an empty `libcuda.a` (see `build.rs`). The driver calls it makes are defined in [`forward`],
//! each of which hands its arguments to the driver library of the machine, if there is one.

mod advice;
mod context;
mod devices;
mod driver;
pub mod forward;
mod image;
pub mod kernels;
mod memory;
mod operations;
mod staging;
mod status;
mod stream;
mod usable;

pub use context::{Gpu, Shape};
pub use devices::{devices, Answer, Device, DeviceReport, NoDevice};
pub use image::{image, Capability, Code, Image, SUPPORTED};
pub use memory::{Buffer, Plain, View, ViewMut};
pub use status::Status;
pub use stream::Stream;
pub use usable::{all_usable, candidates, first_usable, usable, Candidate, Runs, Usable};
