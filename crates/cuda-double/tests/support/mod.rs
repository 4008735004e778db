// Calls of the C interface, with pointers to locals; no test uses all of them.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    missing_debug_implementations
)]
//! The driver as tests use it: one at a time, fresh for each test, with calls that return values.

use std::ffi::{CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[allow(unused_imports)]
pub use weft_cuda_double::api::{
    context::*, copy::*, device::*, event::*, graph::*, launch::*, lookup::*, memory::*, module::*, pointer::*, pool::*, stream::*,
};

pub type Code = u32;

static ONE: Mutex<()> = Mutex::new(());

/// The driver with the context of device 0 current, for one test.
pub struct Gpu {
    _one: MutexGuard<'static, ()>,
    pub context: u64,
}

impl Gpu {
    pub fn new() -> Gpu {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut context = 0;
        unsafe {
            weft_double_fail(c"".as_ptr());
            assert_eq!(cuInit(0), 0);
            assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), 0);
            assert_eq!(cuCtxSetCurrent(context), 0);
        }
        Gpu { _one: one, context }
    }

    pub fn load(&self, ptx: &str) -> u64 {
        match self.try_load(ptx) {
            Ok(module) => module,
            Err((code, log)) => panic!("code {code}: {log}"),
        }
    }

    /// The module, or the code and the error log.
    pub fn try_load(&self, ptx: &str) -> Result<u64, (Code, String)> {
        let text = CString::new(ptx).unwrap();
        let mut log = vec![0u8; 1024];
        let (options, values) = ([5u32, 6], [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void]);
        let mut module = 0;
        let code = unsafe { cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_ptr(), values.as_ptr()) };
        let end = log.iter().position(|b| *b == 0).unwrap();
        log.truncate(end);
        if code == 0 {
            Ok(module)
        } else {
            Err((code, String::from_utf8(log).unwrap()))
        }
    }

    pub fn function(&self, module: u64, name: &str) -> u64 {
        let name = CString::new(name).unwrap();
        let mut function = 0;
        assert_eq!(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) }, 0, "{name:?}");
        function
    }

    /// Loads a module and finds its kernel `k`.
    pub fn kernel(&self, ptx: &str) -> u64 {
        self.function(self.load(ptx), "k")
    }

    pub fn alloc(&self, bytes: usize) -> u64 {
        let mut address = 0;
        assert_eq!(unsafe { cuMemAlloc_v2(&mut address, bytes) }, 0);
        address
    }

    pub fn upload<T: Copy>(&self, data: &[T]) -> u64 {
        let address = self.alloc(size_of_val(data).max(1));
        assert_eq!(unsafe { cuMemcpyHtoD_v2(address, data.as_ptr().cast(), size_of_val(data)) }, 0);
        address
    }

    pub fn download<T: Copy + Default>(&self, address: u64, count: usize) -> Vec<T> {
        let mut data = vec![T::default(); count];
        let code = unsafe { cuMemcpyDtoH_v2(data.as_mut_ptr().cast(), address, count * size_of::<T>()) };
        assert_eq!(code, 0, "{}", self.report());
        data
    }

    pub fn launch(&self, function: u64, grid: u32, block: u32, args: &[u64]) -> Code {
        self.launch_on(0, function, [grid, 1, 1], [block, 1, 1], 0, args)
    }

    pub fn launch_on(&self, stream: u64, function: u64, grid: [u32; 3], block: [u32; 3], shared: u32, args: &[u64]) -> Code {
        let pointers: Vec<*const c_void> = args.iter().map(|a| std::ptr::from_ref(a).cast()).collect();
        unsafe {
            cuLaunchKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                stream,
                pointers.as_ptr(),
                std::ptr::null(),
            )
        }
    }

    /// Launches and waits.
    pub fn run(&self, function: u64, grid: u32, block: u32, args: &[u64]) {
        assert_eq!(self.launch(function, grid, block, args), 0);
        assert_eq!(unsafe { cuCtxSynchronize() }, 0, "{}", self.report());
    }

    /// Launches and waits for the error; gives the code and the report.
    pub fn fails(&self, function: u64, grid: u32, block: u32, args: &[u64]) -> (Code, String) {
        assert_eq!(self.launch(function, grid, block, args), 0);
        (unsafe { cuCtxSynchronize() }, self.report())
    }

    pub fn report(&self) -> String {
        let mut text = vec![0u8; 4096];
        let length = unsafe { weft_double_last_report(text.as_mut_ptr().cast(), text.len()) };
        text.truncate(length);
        String::from_utf8(text).unwrap()
    }

    pub fn stream(&self, flags: u32) -> u64 {
        let mut stream = 0;
        assert_eq!(unsafe { cuStreamCreate(&mut stream, flags) }, 0);
        stream
    }

    pub fn event(&self) -> u64 {
        let mut event = 0;
        assert_eq!(unsafe { cuEventCreate(&mut event, 0) }, 0);
        event
    }

    pub fn fail(&self, plan: &str) {
        let plan = CString::new(plan).unwrap();
        unsafe { weft_double_fail(plan.as_ptr()) };
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        unsafe {
            weft_double_fail(c"".as_ptr());
            cuDevicePrimaryCtxReset_v2(0);
            cuDevicePrimaryCtxRelease_v2(0);
            cuCtxSetCurrent(0);
        }
    }
}

pub const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A kernel `k` of so many pointers, `%rd0` and so on, with registers of every kind, and `%r0` its thread number in the grid.
pub fn kernel(pointers: usize, body: &str) -> String {
    let params: Vec<String> = (0..pointers).map(|i| format!(".param .u64 p{i}")).collect();
    let loads: String = (0..pointers).map(|i| format!("  ld.param.u64 %rd{i}, [p{i}];\n")).collect();
    format!(
        "{HEADER}.visible .entry k({})\n{{\n  .reg .pred %p<20>;\n  .reg .b16 %h<40>;\n  .reg .b32 %r<60>;\n  .reg .b64 %rd<60>;\n{loads}\
         \x20 mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n  mad.lo.s32 %r0, %r1, %r2, %r3;\n{body}\n}}\n",
        params.join(", ")
    )
}
