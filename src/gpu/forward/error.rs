//! Names and texts of result codes. These calls always have an answer, since `cust` prints errors through them, most of
//! all the error that there is no driver to ask.

use std::mem::transmute;
use std::os::raw::{c_char, c_int};
use std::ptr::null;

use cust::sys::CUresult;

use crate::gpu::driver::Call;
use crate::gpu::status::name;

type Describe = unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult;

const _: Describe = cust::sys::cuGetErrorName;
const _: Describe = cust::sys::cuGetErrorString;

/// The driver call of this name; the name as in the CUDA headers where the driver has none to give.
///
/// # Safety
/// `text` must be valid for one write.
#[no_mangle]
#[allow(non_snake_case)]
pub unsafe extern "C" fn cuGetErrorName(error: CUresult, text: *mut *const c_char) -> CUresult {
    static CALL: Call = Call::new("cuGetErrorName\0");
    // SAFETY: the caller vouches for `text`.
    unsafe { describe(&CALL, error, text) }
}

/// The driver call of this name; the name as in the CUDA headers where the driver has no text to give.
///
/// # Safety
/// `text` must be valid for one write.
#[no_mangle]
#[allow(non_snake_case)]
pub unsafe extern "C" fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult {
    static CALL: Call = Call::new("cuGetErrorString\0");
    // SAFETY: the caller vouches for `text`.
    unsafe { describe(&CALL, error, text) }
}

/// The driver's text for `error`, or its name where the driver is missing or gives none.
///
/// # Safety
/// `text` must be valid for one write.
unsafe fn describe(call: &Call, error: CUresult, text: *mut *const c_char) -> CUresult {
    let mut answer = null();
    if let Ok(address) = call.address() {
        // SAFETY: the address is the driver's call of a name that has the type `Describe`, but for the result: an int
        // here, since an enum may not hold every code.
        let describe: unsafe extern "C" fn(CUresult, *mut *const c_char) -> c_int = unsafe { transmute(address) };
        // SAFETY: `answer` is valid for the one write that the call makes.
        if unsafe { describe(error, &mut answer) } != CUresult::CUDA_SUCCESS as c_int {
            answer = null();
        }
    }
    if answer.is_null() {
        answer = name(error).as_ptr();
    }
    // SAFETY: the caller vouches for `text`; the text itself is static, of this program or of the driver.
    unsafe { *text = answer };
    CUresult::CUDA_SUCCESS
}
