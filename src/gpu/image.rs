//! The CUDA kernels of this build: compiled from kernels/ by build.rs, if there was nvcc.

use std::fmt;

use crate::report::units::bytes;

/// Compute capability, major and minor.
pub type Capability = (i32, i32);

/// The capabilities that a build may compile for, ascending: those of build/architectures.rs.
pub const SUPPORTED: &[Capability] = &[(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)];

/// The compiled kernels.
#[derive(Debug)]
pub struct Image {
    /// Version of the nvcc that compiled them, as in `13.0.88`.
    pub nvcc: &'static str,
    /// Capabilities that there is machine code for, ascending.
    pub machine_code: &'static [Capability],
    /// The capability that there is PTX for, which the driver compiles for later ones.
    pub ptx: Capability,
    fatbin: &'static Aligned<[u8]>,
}

/// What a device runs of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Machine code compiled for this capability.
    Machine(Capability),
    /// PTX for this capability, compiled by the driver when it is loaded.
    Ptx(Capability),
}

/// The driver reads words and structures from the image, and Rust would place bytes anywhere.
#[derive(Debug)]
#[repr(C, align(16))]
struct Aligned<T: ?Sized>(T);

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The kernels of this build, or why it has none.
pub fn image() -> Result<&'static Image, &'static str> {
    IMAGE.as_ref().map_err(|reason| *reason)
}

impl Image {
    /// The fatbin, for `cuModuleLoadData`; aligned to 16 bytes.
    pub fn fatbin(&self) -> &'static [u8] {
        &self.fatbin.0
    }

    /// The CUDA version of that nvcc, major and minor.
    pub fn cuda_version(&self) -> Option<(i32, i32)> {
        let mut numbers = self.nvcc.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// What there is code for, in words.
    pub fn architectures(&self) -> String {
        let list = self.machine_code.iter().map(|(major, minor)| format!("{major}.{minor}"));
        let (major, minor) = self.ptx;
        format!("machine code for {}, PTX for {major}.{minor} and later", list.collect::<Vec<_>>().join(", "))
    }

    /// What a device of this capability runs. Machine code runs on its own major version from its minor version on, PTX
    /// from its capability on (CUDA C++ programming guide, "Binary compatibility" and "PTX compatibility").
    pub fn code_for(&self, (major, minor): Capability) -> Option<Code> {
        let runs = |code: &&Capability| code.0 == major && code.1 <= minor;
        let machine = self.machine_code.iter().rfind(runs).map(|code| Code::Machine(*code));
        machine.or_else(|| (self.ptx <= (major, minor)).then_some(Code::Ptx(self.ptx)))
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, by nvcc {}", self.architectures(), bytes(self.fatbin().len() as u64), self.nvcc)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Code::Machine((major, minor)) => write!(f, "machine code for {major}.{minor}"),
            Code::Ptx((major, minor)) => write!(f, "PTX for {major}.{minor}"),
        }
    }
}

/// Of these versions and capabilities, and empty: for tests of what only looks at those.
#[cfg(test)]
pub(super) fn image_of(nvcc: &'static str, machine_code: &'static [Capability], ptx: Capability) -> Image {
    Image { nvcc, machine_code, ptx, fatbin: &Aligned([0u8; 4]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_runs_code_of_its_major_version_and_ptx_of_an_earlier_one() {
        let image = image_of("1.2.3", &[(8, 0), (8, 6), (9, 0)], (9, 0));
        let expected = [
            ((7, 5), None),
            ((8, 0), Some(Code::Machine((8, 0)))),
            ((8, 6), Some(Code::Machine((8, 6)))),
            ((8, 7), Some(Code::Machine((8, 6)))),
            ((8, 9), Some(Code::Machine((8, 6)))),
            ((9, 0), Some(Code::Machine((9, 0)))),
            ((10, 0), Some(Code::Ptx((9, 0)))),
            ((12, 1), Some(Code::Ptx((9, 0)))),
        ];
        for (capability, code) in expected {
            assert_eq!(image.code_for(capability), code, "{capability:?}");
        }
        assert_eq!(image.to_string(), "machine code for 8.0, 8.6, 9.0, PTX for 9.0 and later, 4 B, by nvcc 1.2.3");
    }

    #[test]
    fn a_fatbin_begins_as_one_and_is_aligned() {
        if let Ok(image) = image() {
            assert_eq!(image.fatbin()[..4], 0xba55_ed50u32.to_le_bytes());
            assert_eq!(image.fatbin().as_ptr() as usize % 16, 0);
            assert!(image.machine_code.is_sorted() && !image.machine_code.is_empty());
        }
    }
}
