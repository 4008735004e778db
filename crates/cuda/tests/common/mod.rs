//! Devices of the driver's double, and kernels to run on them.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, unsafe_code)]

pub mod foreign;
mod kernels;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use weft_cuda::driver::Choice;
use weft_cuda::{CudaDevice, Platform};
use weft_runtime::{Executable, HostArray};

pub use kernels::*;

/// The double's library: a dependency of these tests, so cargo has built it beside them.
pub fn double() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().unwrap();
    let name = format!("{}weft_cuda_double{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = folder.join(&name);
    assert!(path.exists(), "{} is not there", path.display());
    path
}

/// Two devices of the double.
pub fn platform() -> &'static Platform {
    static PLATFORM: LazyLock<Platform> = LazyLock::new(|| Platform::open(&Choice::Path(double())).unwrap());
    &PLATFORM
}

pub fn device(index: usize) -> &'static CudaDevice {
    &platform().devices[index]
}

/// Calls that are to fail while this lives, as `WEFT_DOUBLE_FAIL` has them. Tests that count on calls to succeed hold one of none.
pub struct Failing(#[allow(dead_code)] MutexGuard<'static, ()>);

pub fn failing(plan: &str) -> Failing {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    set_failures(plan);
    Failing(one)
}

pub fn set_failures(plan: &str) {
    type Fail = unsafe extern "C" fn(*const std::ffi::c_char);
    let plan = std::ffi::CString::new(plan).unwrap();
    // SAFETY: the double's own function takes a text.
    unsafe {
        let library = libloading::Library::new(double()).unwrap();
        let fail: libloading::Symbol<'_, Fail> = library.get(b"weft_double_fail").unwrap();
        fail(plan.as_ptr());
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        set_failures("");
    }
}

pub fn kernel(source: &str) -> Arc<dyn Executable> {
    kernel_on(device(0), source)
}

/// The slots of a host array, and its entry for a launch.
pub fn host_line<T>(data: &mut [T], slot: usize, writable: bool) -> ([u64; 3], HostArray) {
    let address = data.as_mut_ptr() as u64;
    let array = HostArray {
        slot,
        address,
        bytes: size_of_val(data) as u64,
        writable,
    };
    ([address, data.len() as u64, size_of::<T>() as u64], array)
}
