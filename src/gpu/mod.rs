//! The CUDA driver, found at run time, and its devices; the only user of `cust`.
//!
//! `cust` is linked against an empty `libcuda.a` (see `build.rs`). The driver calls it makes are defined in [`forward`],
//! each of which hands its arguments to the driver library of the machine, if there is one.

mod devices;
mod driver;
pub mod forward;
mod status;

pub use devices::{devices, Answer, Device, DeviceReport, NoDevice};
pub use status::Status;
