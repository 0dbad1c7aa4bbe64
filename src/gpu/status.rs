//! What the driver answers: result codes, known and unknown ones.

use std::cell::Cell;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_int;

use cust::error::CudaError;
use cust::sys::CUresult;

thread_local! {
    /// The driver's last answer in this thread that is no success: cust and its bindings have no names for some.
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// A driver's answer other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    code: c_int,
}

impl Status {
    /// CUDA_ERROR_NO_DEVICE.
    pub(super) const NO_DEVICE: Self = Self::answer(CUresult::CUDA_ERROR_NO_DEVICE);

    /// The answer of that name.
    pub(super) const fn answer(result: CUresult) -> Self {
        Self { code: result as c_int }
    }

    /// Success as `Ok`, anything else with the code that the driver really gave. Meant for the value of the driver call
    /// made last in this thread.
    pub(super) fn check(result: CUresult) -> Result<(), Status> {
        match result {
            CUresult::CUDA_SUCCESS => Ok(()),
            CUresult::CUDA_ERROR_UNKNOWN => Err(Status { code: LAST.get() }),
            other => Err(Status { code: other as c_int }),
        }
    }

    /// What the driver really answered where cust says this. Meant for the outcome of the call of cust's made last in this thread.
    pub(super) fn of(error: CudaError) -> Status {
        match error {
            // cust's own, for sizes that no memory has.
            CudaError::InvalidMemoryAllocation => Status { code: CUresult::CUDA_ERROR_OUT_OF_MEMORY as c_int },
            CudaError::UnknownError => Status { code: LAST.get() },
            named => Status { code: named as c_int },
        }
    }

    /// Is there not enough memory on the device?
    pub(super) fn is_out_of_memory(self) -> bool {
        self.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY as c_int
    }

    /// Is the context spoilt, so that everything after it fails too (CUDA driver API, "leaves the process in an inconsistent state")?
    pub(super) fn stays(self) -> bool {
        matches!(self.code, 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721)
    }

    /// Does another process have the device, or may none have it?
    pub(super) fn is_unavailable(self) -> bool {
        self.code == DEVICE_UNAVAILABLE
    }

    /// The driver's number for it.
    pub fn code(self) -> i32 {
        self.code
    }
}

/// Codes that are newer than cust's bindings (cuda.h of CUDA 13.0).
const UNNAMED: [(c_int, &str); 14] = [
    (36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"),
    (DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"),
    (225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"),
    (226, "CUDA_ERROR_CONTAINED"),
    (402, "CUDA_ERROR_LOSSY_QUERY"),
    (721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"),
    (810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"),
    (811, "CUDA_ERROR_CDP_NOT_SUPPORTED"),
    (812, "CUDA_ERROR_CDP_VERSION_MISMATCH"),
    (912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"),
    (913, "CUDA_ERROR_FUNCTION_NOT_LOADED"),
    (914, "CUDA_ERROR_INVALID_RESOURCE_TYPE"),
    (915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"),
    (916, "CUDA_ERROR_KEY_ROTATION"),
];

/// Another process has the device for itself, or its compute mode lets none have it.
const DEVICE_UNAVAILABLE: c_int = 46;

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match named(self.code) {
            Some(result) => write!(f, "{} ({})", name(result).to_string_lossy(), self.code),
            None => match UNNAMED.iter().find(|(code, _)| *code == self.code) {
                Some((code, name)) => write!(f, "{name} ({code})"),
                None => write!(f, "code {} (not in this build's list of codes)", self.code),
            },
        }
    }
}

/// The driver's answer as a value that `CUresult` can hold: an unnamed code would be an invalid enum value, so it becomes
/// CUDA_ERROR_UNKNOWN, and is kept aside for [`Status::check`].
pub(super) fn from_driver(code: c_int) -> CUresult {
    if code != CUresult::CUDA_SUCCESS as c_int {
        LAST.set(code);
    }
    named(code).unwrap_or(CUresult::CUDA_ERROR_UNKNOWN)
}

/// The `CUresult` of each code that cust names, and its name.
macro_rules! codes {
    ($($name:ident)+) => {
        fn named(code: c_int) -> Option<CUresult> {
            match code {
                $(c if c == CUresult::$name as c_int => Some(CUresult::$name),)+
                _ => None,
            }
        }

        /// The name of a result, as the CUDA headers write it.
        pub(super) fn name(result: CUresult) -> &'static CStr {
            // No wildcard arm: the compiler checks that no code of cust's is left out.
            let bytes = match result {
                $(CUresult::$name => concat!(stringify!($name), "\0").as_bytes(),)+
            };
            CStr::from_bytes_with_nul(bytes).unwrap_or(c"CUDA error")
        }
    };
}

codes! {
    CUDA_SUCCESS
    CUDA_ERROR_INVALID_VALUE
    CUDA_ERROR_OUT_OF_MEMORY
    CUDA_ERROR_NOT_INITIALIZED
    CUDA_ERROR_DEINITIALIZED
    CUDA_ERROR_PROFILER_DISABLED
    CUDA_ERROR_PROFILER_NOT_INITIALIZED
    CUDA_ERROR_PROFILER_ALREADY_STARTED
    CUDA_ERROR_PROFILER_ALREADY_STOPPED
    CUDA_ERROR_STUB_LIBRARY
    CUDA_ERROR_NO_DEVICE
    CUDA_ERROR_INVALID_DEVICE
    CUDA_ERROR_DEVICE_NOT_LICENSED
    CUDA_ERROR_INVALID_IMAGE
    CUDA_ERROR_INVALID_CONTEXT
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT
    CUDA_ERROR_MAP_FAILED
    CUDA_ERROR_UNMAP_FAILED
    CUDA_ERROR_ARRAY_IS_MAPPED
    CUDA_ERROR_ALREADY_MAPPED
    CUDA_ERROR_NO_BINARY_FOR_GPU
    CUDA_ERROR_ALREADY_ACQUIRED
    CUDA_ERROR_NOT_MAPPED
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY
    CUDA_ERROR_NOT_MAPPED_AS_POINTER
    CUDA_ERROR_ECC_UNCORRECTABLE
    CUDA_ERROR_UNSUPPORTED_LIMIT
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    CUDA_ERROR_INVALID_PTX
    CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
    CUDA_ERROR_NVLINK_UNCORRECTABLE
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    CUDA_ERROR_JIT_COMPILATION_DISABLED
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
    CUDA_ERROR_INVALID_SOURCE
    CUDA_ERROR_FILE_NOT_FOUND
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    CUDA_ERROR_OPERATING_SYSTEM
    CUDA_ERROR_INVALID_HANDLE
    CUDA_ERROR_ILLEGAL_STATE
    CUDA_ERROR_NOT_FOUND
    CUDA_ERROR_NOT_READY
    CUDA_ERROR_ILLEGAL_ADDRESS
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    CUDA_ERROR_LAUNCH_TIMEOUT
    CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
    CUDA_ERROR_CONTEXT_IS_DESTROYED
    CUDA_ERROR_ASSERT
    CUDA_ERROR_TOO_MANY_PEERS
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
    CUDA_ERROR_HARDWARE_STACK_ERROR
    CUDA_ERROR_ILLEGAL_INSTRUCTION
    CUDA_ERROR_MISALIGNED_ADDRESS
    CUDA_ERROR_INVALID_ADDRESS_SPACE
    CUDA_ERROR_INVALID_PC
    CUDA_ERROR_LAUNCH_FAILED
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    CUDA_ERROR_NOT_PERMITTED
    CUDA_ERROR_NOT_SUPPORTED
    CUDA_ERROR_SYSTEM_NOT_READY
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    CUDA_ERROR_MPS_CONNECTION_FAILED
    CUDA_ERROR_MPS_RPC_FAILURE
    CUDA_ERROR_MPS_SERVER_NOT_READY
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
    CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    CUDA_ERROR_STREAM_CAPTURE_MERGE
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    CUDA_ERROR_CAPTURED_EVENT
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
    CUDA_ERROR_TIMEOUT
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
    CUDA_ERROR_EXTERNAL_DEVICE
    CUDA_ERROR_UNKNOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_cust_names_stay_and_others_become_unknown() {
        assert_eq!(from_driver(0), CUresult::CUDA_SUCCESS);
        assert_eq!(from_driver(100), CUresult::CUDA_ERROR_NO_DEVICE);
        assert_eq!(from_driver(911), CUresult::CUDA_ERROR_EXTERNAL_DEVICE);
        for unnamed in [-1, 912, 4711, c_int::MIN, c_int::MAX] {
            let result = from_driver(unnamed);
            assert_eq!(result, CUresult::CUDA_ERROR_UNKNOWN);
            assert_eq!(Status::check(result).map_err(Status::code), Err(unnamed));
        }
    }

    #[test]
    fn a_plain_unknown_error_is_not_taken_for_an_earlier_unnamed_code() {
        from_driver(4711);
        let status = Status::check(from_driver(999)).unwrap_err();
        assert_eq!(status.to_string(), "CUDA_ERROR_UNKNOWN (999)");
    }

    #[test]
    fn a_status_prints_its_name_and_its_number() {
        assert_eq!(Status { code: 801 }.to_string(), "CUDA_ERROR_NOT_SUPPORTED (801)");
        assert_eq!(Status { code: 46 }.to_string(), "CUDA_ERROR_DEVICE_UNAVAILABLE (46)");
        assert_eq!(Status { code: 4711 }.to_string(), "code 4711 (not in this build's list of codes)");
    }
}
