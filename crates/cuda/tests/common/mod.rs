//! Devices of the driver's double, and kernels in the IR's text form to run on them.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, unsafe_code)]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use weft_cuda::driver::Choice;
use weft_cuda::{CudaDevice, Platform};
use weft_ir::text;
use weft_runtime::{Buffer, CallOptions, CompileOptions, Device, Executable, GridShape, HostArray, Launch, Outcome, RunError, Stream};

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

pub fn kernel_on(device: &CudaDevice, source: &str) -> Arc<dyn Executable> {
    let module = Arc::new(text::parse(source).unwrap());
    device.compile(module, CompileOptions::default()).unwrap()
}

pub fn kernel(source: &str) -> Arc<dyn Executable> {
    kernel_on(device(0), source)
}

pub fn grid(grid: u32, block: u32) -> Launch {
    Launch::Grid(GridShape {
        block: [block, 1, 1],
        grid: [grid, 1, 1],
    })
}

pub fn launch(exe: &dyn Executable, launch: Launch, args: &[u64]) -> Result<Outcome, RunError> {
    exe.run(launch, args, &mut [], &CallOptions::default())
}

pub fn launch_on(exe: &dyn Executable, launch: Launch, args: &[u64], stream: &dyn Stream) -> Result<Outcome, RunError> {
    let options = CallOptions {
        stream: Some(stream),
        ..CallOptions::default()
    };
    exe.run(launch, args, &mut [], &options)
}

/// The slots of a C-contiguous array of one axis on the device.
pub fn line(buffer: &dyn Buffer, elem: usize) -> [u64; 3] {
    [buffer.address(), (buffer.bytes() / elem) as u64, elem as u64]
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

pub fn upload(device: &CudaDevice, values: &[i64]) -> Box<dyn Buffer> {
    let buffer = device.allocate(8 * values.len(), None).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

pub fn download(buffer: &dyn Buffer) -> Vec<i64> {
    let mut bytes = vec![0; buffer.bytes()];
    buffer.read(0, &mut bytes).unwrap();
    bytes.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// `out[i] += by`, for the threads inside the array.
pub const ADD: &str = "
entry kernel @add(%0 out: view<i64, 1, C, global>, %1 by: i64) {
  %2: i64 = thread_idx.x
  %3: i64 = block_idx.x
  %4: i64 = block_dim.x
  %5: i64 = mul %3, %4
  %6: i64 = add %5, %2
  %7: i64 = dim %0, 0
  %8: bool = lt %6, %7
  if %8 {
    %9: i64 = load %0[%6]
    %10: i64 = add %9, %1
    store %0[%6] = %10
  }
}
";
