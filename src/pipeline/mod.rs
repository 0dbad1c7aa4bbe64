//! One C1 output to one verified proof.

pub mod available;
pub mod budget;
pub mod clock;
pub mod compiled;
pub mod device;
pub mod job;
pub mod output;
pub mod parameters;
pub mod proof_file;
pub mod run;
pub mod stages;
pub mod stop;
