//! The driver calls that `cust` makes (and a few more), defined here as forwarders to the driver found at run time.
//!
//! Each forwarder has the C name of its driver call, so the linker takes it where `cust` names that call. Without a driver
//! library it answers CUDA_ERROR_NO_DEVICE, for a call that the library lacks CUDA_ERROR_NOT_SUPPORTED, and a result code
//! that `cust` does not know becomes CUDA_ERROR_UNKNOWN.

/// Defines one forwarder per declaration. The compiler checks each against the declaration that `cust` calls.
macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)+) => {
        $(
            /// The driver call of this name.
            ///
            /// # Safety
            /// As the CUDA driver API says for the call of this name.
            #[no_mangle]
            #[allow(non_snake_case)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> cust::sys::CUresult {
                static CALL: $crate::gpu::driver::Call = $crate::gpu::driver::Call::new(concat!(stringify!($name), "\0"));
                let address = match CALL.address() {
                    Ok(address) => address,
                    Err(missing) => return missing,
                };
                // SAFETY: the address is the driver's call of this name, whose C declaration cust's is generated from and
                // this one is checked against, but for the result: an int here, since an enum may not hold every code.
                let call: unsafe extern "C" fn($($type),*) -> std::os::raw::c_int = unsafe { std::mem::transmute(address) };
                // SAFETY: the caller keeps the driver API's contract for these arguments, which are passed on unchanged.
                $crate::gpu::status::from_driver(unsafe { call($($argument),*) })
            }

            const _: unsafe extern "C" fn($($type),*) -> cust::sys::CUresult = cust::sys::$name;
        )+
    };
}

pub mod device;
pub mod error;
pub mod memory;
pub mod module;
pub mod stream;
pub mod texture;
