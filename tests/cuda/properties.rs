//! What every backend passes, at lengths that the emulated device can afford.

#[expect(dead_code, reason = "the long sums and quotients would take the emulated device hours")]
#[path = "../backend/properties.rs"]
mod shared;

use cuzk::backend::cuda::CudaBackend;
use cuzk::gpu::Gpu;

use super::running::emulated;

fn cuda() -> CudaBackend {
    CudaBackend::new(&Gpu::open(0).unwrap()).unwrap()
}

#[test]
fn sums_of_every_kind() {
    emulated("properties::sums_of_every_kind", &[("EMULATOR_STREAMS", "lazy")], || {
        shared::sums_equal_reference(&cuda(), &[0, 1, 2, 9]);
    });
}

#[test]
fn sums_at_once() {
    emulated("properties::sums_at_once", &[("EMULATOR_STREAMS", "lazy")], || {
        shared::sums_at_once_are_the_sums(&cuda(), &[0, 1, 33]);
    });
}

#[test]
fn sums_of_variables() {
    emulated("properties::sums_of_variables", &[("EMULATOR_ORDER", "random:3")], || {
        shared::sums_of_variables_are_right(&cuda(), &[0, 1, 2, 63, 64, 65]);
    });
}

#[test]
fn quotients() {
    emulated("properties::quotients", &[("EMULATOR_ORDER", "random:4")], || {
        shared::quotients_equal_reference(&cuda(), &shared::ROWS);
        shared::quotients_of_compact_rows_are_the_same(&cuda());
        shared::unequal_lengths_are_errors(&cuda());
    });
}
