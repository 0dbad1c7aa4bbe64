//! Each kernel against the CPU, on one device: what `cuzk devices --self-test` runs.
//!
//! Arithmetic first, one operation a kernel, at values where carries and cases are; then what a proof consists of: quotients,
//! evaluation, sums. Last, that every kernel of the build was launched.

mod arithmetic;
mod steps;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::CudaBackend;
use crate::error::Result;
use crate::gpu::{kernels, Gpu};
use crate::report::self_test::{Check, Unequal};
use crate::report::OperationKind;

/// Compares everything. `log_size`: vectors have 2^`log_size` elements at most, and twice as many bases are summed; from 11 on all kernels are
/// reached. After a check that fails as a whole the others are left out: its device is not used any more.
///
/// # Errors
/// [`Fault::Device`](crate::error::Fault::Device): there cannot even be a stream.
pub fn self_test(gpu: &Arc<Gpu>, log_size: u32) -> Result<Vec<Check>> {
    let backend = CudaBackend::new(gpu)?;
    let mut checks = Checks { backend: &backend, of: Vec::new(), launched: BTreeSet::new(), over: false };
    arithmetic::run(&mut checks);
    steps::run(&mut checks, log_size);
    checks.all_kernels();
    Ok(checks.of)
}

/// The last check.
const ALL_KERNELS: &str = "all kernels were launched";

/// Checks, as they are made.
struct Checks<'a> {
    backend: &'a CudaBackend,
    of: Vec<Check>,
    /// The kernels that were.
    launched: BTreeSet<&'static str>,
    /// The device has failed.
    over: bool,
}

impl Checks<'_> {
    /// Makes a check, which answers where the two differ. The device's failure ends them all.
    fn check(&mut self, name: impl Into<String>, work: impl FnOnce(&CudaBackend) -> Result<Option<String>>) {
        if self.over {
            return;
        }
        let start = Instant::now();
        let outcome = match work(self.backend) {
            Ok(None) => Ok(()),
            Ok(Some(place)) => Err(Unequal::Differs(format!("differs from the CPU: {place}"))),
            Err(e) => {
                self.over = true;
                Err(Unequal::Stopped(e.to_string()))
            }
        };
        let operations = self.backend.stream().take_operations();
        let kernels = operations.iter().filter(|operation| operation.kind == OperationKind::Kernel);
        self.launched.extend(kernels.map(|operation| operation.name));
        self.of.push(Check { name: name.into(), outcome, time: start.elapsed() });
    }

    fn all_kernels(&mut self) {
        let missing = kernels::NAMES.iter().filter(|name| !self.launched.contains(*name) && !is_test(name));
        let missing = missing.copied().collect::<Vec<_>>().join(", ");
        if !self.over {
            let outcome = match missing.as_str() {
                "" => Ok(()),
                missing => Err(Unequal::Differs(format!(
                    "these were not: {missing}; that is a fault of cuzk, not of the device: report it"
                ))),
            };
            self.of.push(Check { name: ALL_KERNELS.into(), outcome, time: Duration::ZERO });
        }
    }
}

/// Kernels that compute with indices of sizes that nobody allocates; tests/cuda runs them.
fn is_test(name: &str) -> bool {
    name.ends_with("_places")
}

/// The first place where two slices differ.
fn difference<T: PartialEq>(device: &[T], cpu: &[T]) -> Option<String> {
    let place = device.iter().zip(cpu).position(|(a, b)| a != b);
    let place = place.or_else(|| (device.len() != cpu.len()).then_some(device.len().min(cpu.len())))?;
    Some(format!("element {place} of {}", cpu.len()))
}
