//! The emulated CUDA device (kernels/emulator): correct kernels compute what they should in every order of threads, and each
//! planted fault is caught with its message.
//!
//! A process finds its driver once, so each test runs itself again as a child whose driver is the emulated device.

#[path = "emulator/device.rs"]
mod device;
#[path = "emulator/failures.rs"]
mod failures;
#[path = "emulator/faults.rs"]
mod faults;
#[path = "emulator/memory.rs"]
mod memory;
#[path = "emulator/results.rs"]
mod results;
#[path = "emulator/running.rs"]
mod running;
#[path = "emulator/streams.rs"]
mod streams;
