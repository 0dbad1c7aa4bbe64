//! The driver library of this machine, found once, and the addresses of its calls.

use std::ffi::{c_void, OsString};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::OnceLock;

use cust::sys::CUresult;
use libloading::os::unix;
use libloading::Library;

/// Names the driver library in place of [`DEFAULT`]: another driver, or an emulated device.
pub(super) const VARIABLE: &str = "CUZK_LIBCUDA";
/// What the NVIDIA driver installs, found by the dynamic linker.
const DEFAULT: &str = "libcuda.so.1";

/// The driver library, or why there is none.
pub(super) struct Driver {
    /// What was or would have been loaded.
    pub path: PathBuf,
    /// Whether [`VARIABLE`] named it.
    pub chosen: bool,
    /// The library, or the reason why it cannot be used.
    pub library: Result<Library, String>,
}

impl Driver {
    fn load() -> Self {
        let variable: Option<OsString> = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let chosen = variable.is_some();
        let path = PathBuf::from(variable.unwrap_or_else(|| DEFAULT.into()));
        // SAFETY: loading runs the library's initialisers. It is the system's CUDA driver, or a library the user named to
        // stand for it: trusted like every other library that the dynamic linker loads for this process.
        // Its symbols are bound at once: one that is missing is an error here, and later would end the process.
        let loaded = unsafe { unix::Library::open(Some(&path), unix::RTLD_NOW | unix::RTLD_LOCAL) };
        let loaded = loaded.map(Library::from).map_err(|e| e.to_string());
        // The linker begins with the name, as messages do that name it anyway.
        let named = format!("{}: ", path.display());
        let loaded = loaded.map_err(|reason| reason.strip_prefix(&named).map_or(reason.clone(), str::to_owned));
        let library = loaded.and_then(|library| match address(&library, c"cuInit".to_bytes_with_nul()) {
            Some(_) => Ok(library),
            None => Err("it has no cuInit, so it is not a CUDA driver".to_owned()),
        });
        Self { path, chosen, library }
    }
}

/// The driver of this process. The first call loads it.
pub(super) fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(Driver::load)
}

/// What the emulated device (kernels/emulator) defines and no CUDA driver does.
const EMULATED: &[u8] = b"cuzk_emulated_device\0";
const POISON_OF_EMULATED: &[u8] = b"cuzk_emulated_poison\0";

/// Is the driver the emulated device? It stands in for a real one in tests; its kernels are its own.
pub(super) fn is_emulated() -> bool {
    driver().library.as_ref().is_ok_and(|library| address(library, EMULATED).is_some())
}

/// What the emulated device's memory holds where nothing has written it; `None` on a real device, whose memory holds anything.
pub(super) fn poison() -> Option<u8> {
    static POISON: OnceLock<Option<u8>> = OnceLock::new();
    *POISON.get_or_init(|| {
        let library = driver().library.as_ref().ok()?;
        // SAFETY: only the emulated device defines this name, as a function without arguments that answers a byte
        // (kernels/emulator/driver_module.cpp). It reads the settings, which stay as they are from cuInit on.
        unsafe { library.get::<unsafe extern "C" fn() -> u8>(POISON_OF_EMULATED).ok().map(|poison| poison()) }
    })
}

/// CUDA_VISIBLE_DEVICES, by which the driver leaves devices out, where it is set.
pub(super) fn visible_devices() -> Option<String> {
    std::env::var_os("CUDA_VISIBLE_DEVICES").map(|value| value.to_string_lossy().into_owned())
}

/// The address of the symbol; `None` where the library has none of that name.
fn address(library: &Library, name_with_nul: &[u8]) -> Option<*mut c_void> {
    // SAFETY: the symbol is taken as an untyped address and not used here; whoever calls it argues for its type.
    let symbol = unsafe { library.get::<*mut c_void>(name_with_nul) }.ok()?;
    Some(*symbol).filter(|p| !p.is_null())
}

/// One driver call by name, looked up at its first use. The address stays valid: the library is never unloaded.
pub(super) struct Call {
    name_with_nul: &'static str,
    address: AtomicPtr<c_void>,
}

impl Call {
    pub(super) const fn new(name_with_nul: &'static str) -> Self {
        Self { name_with_nul, address: AtomicPtr::new(null_mut()) }
    }

    /// The call's address, never null; CUDA_ERROR_NO_DEVICE without a driver library, CUDA_ERROR_NOT_SUPPORTED where the
    /// library has no such call (an older driver).
    #[inline]
    pub(super) fn address(&self) -> Result<*mut c_void, CUresult> {
        // Pairs with the store in `look_up`: whoever calls through the address must also see what loading the library wrote (its
        // relocated code and data), and a thread that finds the address here has not gone through `driver()`.
        let known = self.address.load(Ordering::Acquire);
        if known.is_null() {
            self.look_up()
        } else {
            Ok(known)
        }
    }

    #[cold]
    fn look_up(&self) -> Result<*mut c_void, CUresult> {
        let library = driver().library.as_ref().map_err(|_| CUresult::CUDA_ERROR_NO_DEVICE)?;
        let address = address(library, self.name_with_nul.as_bytes()).ok_or(CUresult::CUDA_ERROR_NOT_SUPPORTED)?;
        // After the library was loaded, by this thread or by one that `driver()` has synchronised with. Threads that look the same
        // call up together store the same address.
        self.address.store(address, Ordering::Release);
        Ok(address)
    }
}
