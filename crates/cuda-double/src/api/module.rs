//! Modules, functions, occupancy.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use super::device::{BLOCKS_PER_PROCESSOR, PROCESSORS, THREADS_PER_PROCESSOR, shared_limit};
use super::{calls, put, put_if, text};
use crate::codes;
use crate::driver::handles::{self, Handle, Object};
use crate::driver::module::{Function, Module};
use crate::driver::{Outcome, context, driver, lock, report};

/// Where a log goes, from the options of a load.
#[derive(Default)]
struct Log {
    buffer: usize,
    size: usize,
    size_at: usize,
}

const INFO_BUFFER: u32 = 3;
const INFO_SIZE: u32 = 4;
const ERROR_BUFFER: u32 = 5;
const ERROR_SIZE: u32 = 6;

/// The info and the error log.
unsafe fn logs(count: c_uint, options: *const c_uint, values: *const *mut c_void) -> (Log, Log) {
    let (mut info, mut error) = (Log::default(), Log::default());
    if options.is_null() || values.is_null() {
        return (info, error);
    }
    for index in 0..count as usize {
        // SAFETY: the caller says there are so many options and values.
        let (option, value) = unsafe { (*options.add(index), *values.add(index) as usize) };
        // SAFETY: as above.
        let at = unsafe { values.add(index) } as usize;
        match option {
            INFO_BUFFER => info.buffer = value,
            INFO_SIZE => (info.size, info.size_at) = (value & 0xffff_ffff, at),
            ERROR_BUFFER => error.buffer = value,
            ERROR_SIZE => (error.size, error.size_at) = (value & 0xffff_ffff, at),
            _ => {}
        }
    }
    (info, error)
}

/// Writes a log and, in place of the size of its buffer, how much was written.
unsafe fn write_log(log: &Log, message: &str) {
    let mut written = 0;
    if log.buffer != 0 && log.size > 0 {
        let count = message.len().min(log.size - 1);
        let to = log.buffer as *mut u8;
        // SAFETY: the caller gave a buffer of this size.
        unsafe {
            to.copy_from_nonoverlapping(message.as_ptr(), count);
            to.add(count).write(0);
        }
        written = count + usize::from(count > 0);
    }
    if log.size_at != 0 {
        // SAFETY: the place of an option's value, which the driver overwrites.
        unsafe { (log.size_at as *mut usize).write(written) };
    }
}

unsafe fn load(to: *mut Handle, image: *const c_void, count: c_uint, options: *const c_uint, values: *const *mut c_void) -> Outcome {
    let context = context::healthy()?;
    let driver = driver()?;
    if image.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: PTX ends with a zero, and a binary image is longer than this.
    let start = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), 4) };
    if start == b"\x7fELF" || start == [0x50, 0xed, 0x55, 0xba] {
        report("binary images cannot be loaded: the double reads PTX only");
        return Err(codes::NO_BINARY_FOR_GPU);
    }
    // SAFETY: PTX ends with a zero.
    let image = unsafe { CStr::from_ptr(image.cast()) };
    let image = image.to_str().map_err(|_| codes::INVALID_IMAGE)?;
    // SAFETY: the caller's options.
    let (info, error) = unsafe { logs(count, options, values) };
    match Module::load(driver, context.device, image) {
        Ok(module) => {
            // SAFETY: as above.
            unsafe {
                write_log(&info, "");
                write_log(&error, "");
            }
            let handle = handles::reserve();
            handles::insert(handle, Object::Module(module));
            // SAFETY: as above.
            unsafe { put(to, handle) }
        }
        Err((code, message)) => {
            report(&message);
            // SAFETY: as above.
            unsafe { write_log(&error, &message) };
            Err(code)
        }
    }
}

fn attribute(function: &Function, number: u32) -> Outcome<i32> {
    let driver = driver()?;
    let code = function.code();
    let version = |(major, minor): (u32, u32)| (major * 10 + minor) as i32;
    let (major, minor) = driver.settings.capability;
    let constants: u64 = function.module.program.globals.iter().filter(|g| g.constant).map(|g| g.bytes).sum();
    Ok(match number {
        0 => function.max_threads() as i32,
        1 => code.shared_bytes as i32,
        2 => constants as i32,
        3 => code.local_bytes as i32,
        4 => function.registers() as i32,
        5 => version(function.module.program.version),
        6 => major * 10 + minor,
        7 => 0,
        8 => function.dynamic_limit() as i32,
        9 => -1,
        10..=16 => 0,
        _ => return Err(codes::INVALID_VALUE),
    })
}

/// Blocks of a size that a multiprocessor holds.
pub fn occupancy(function: &Function, threads: u32, dynamic: u64) -> Outcome<i32> {
    let limit = shared_limit(driver()?.settings.capability);
    if threads == 0 || threads > function.max_threads() {
        return Ok(0);
    }
    let shared = u64::from(function.code().shared_bytes) + dynamic;
    if shared > u64::from(limit) {
        return Ok(0);
    }
    let rounded = threads.next_multiple_of(32);
    let by_threads = THREADS_PER_PROCESSOR as u32 / rounded;
    let by_registers = 65536 / (function.registers().next_multiple_of(8) * rounded);
    let by_shared = if shared == 0 {
        u32::MAX
    } else {
        (u64::from(limit + 1024) / (shared + 1024)) as u32
    };
    Ok(by_threads.min(by_registers).min(by_shared).min(BLOCKS_PER_PROCESSOR as u32) as i32)
}

type SharedForBlock = Option<unsafe extern "C" fn(c_int) -> usize>;

unsafe fn best_block(
    min_grid: *mut c_int,
    block: *mut c_int,
    function: Handle,
    shared_for: SharedForBlock,
    dynamic: usize,
    limit: c_int,
) -> Outcome {
    let function = handles::function(function)?;
    let most = if limit <= 0 {
        function.max_threads()
    } else {
        function.max_threads().min(limit as u32)
    };
    let (mut best, mut best_threads) = ((0, 0), 0);
    for threads in (1..=most / 32).map(|n| n * 32).chain((most < 32).then_some(most)) {
        // SAFETY: the caller's function, for its very purpose.
        let dynamic = shared_for.map_or(dynamic, |f| unsafe { f(threads as c_int) });
        let blocks = occupancy(&function, threads, dynamic as u64)?;
        let resident = blocks * threads as i32;
        if resident >= best_threads {
            (best, best_threads) = ((blocks, threads as i32), resident);
        }
    }
    // SAFETY: the caller's pointers.
    unsafe {
        put(min_grid, best.0 * PROCESSORS)?;
        put(block, best.1)
    }
}

unsafe fn get_function(to: *mut Handle, module: &Arc<Module>, name: *const c_char) -> Outcome {
    // SAFETY: the caller's string.
    let name = unsafe { text(name)? };
    let function = module.function(name).ok_or(codes::NOT_FOUND)?;
    let handle = handles::reserve();
    handles::insert(handle, Object::Function(function));
    // SAFETY: the caller's pointer.
    unsafe { put(to, handle) }
}

calls! {
    fn cuModuleLoadData(to: *mut Handle, image: *const c_void) {
        load(to, image, 0, std::ptr::null(), std::ptr::null())
    }

    fn cuModuleLoadDataEx(to: *mut Handle, image: *const c_void, count: c_uint, options: *const c_uint, values: *const *mut c_void) {
        load(to, image, count, options, values)
    }

    fn cuModuleUnload(handle: Handle) {
        let context = context::current()?;
        let module = handles::module(handle)?;
        _ = context.wait();
        handles::remove(handle);
        handles::remove_where(|object| matches!(object, Object::Function(f) if Arc::ptr_eq(&f.module, &module)));
        module.unload(driver()?);
        context.check()
    }

    fn cuModuleGetLoadingMode(mode: *mut c_uint) {
        driver()?;
        put(mode, 1)
    }

    fn cuModuleGetFunction(to: *mut Handle, module: Handle, name: *const c_char) {
        context::healthy()?;
        let module = handles::module(module)?;
        get_function(to, &module, name)
    }

    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char) {
        context::healthy()?;
        let module = handles::module(module)?;
        let name = text(name)?;
        let global = module.program.globals.iter().find(|g| g.name == name).ok_or(codes::NOT_FOUND)?;
        put_if(address, global.address);
        put_if(bytes, global.bytes as usize);
        Ok(())
    }

    fn cuModuleGetFunctionCount(count: *mut c_uint, module: Handle) {
        let module = handles::module(module)?;
        let entries = module.program.functions.iter().filter(|f| f.entry).count();
        put(count, entries as c_uint)
    }

    fn cuFuncGetAttribute(value: *mut c_int, number: c_uint, function: Handle) {
        context::healthy()?;
        let found = attribute(&*handles::function(function)?, number)?;
        put(value, found)
    }

    fn cuFuncSetAttribute(function: Handle, number: c_uint, value: c_int) {
        context::healthy()?;
        let function = handles::function(function)?;
        match number {
            8 => {
                let most = shared_limit(driver()?.settings.capability) as i32 - function.code().shared_bytes as i32;
                if value < 0 || value > most {
                    return Err(codes::INVALID_VALUE);
                }
                *lock(&function.max_dynamic) = value as u32;
                Ok(())
            }
            9 => Ok(()),
            _ => Err(codes::INVALID_VALUE),
        }
    }

    fn cuFuncSetCacheConfig(function: Handle, _config: c_uint) {
        handles::function(function).map(|_| ())
    }

    fn cuFuncGetName(to: *mut *const c_char, function: Handle) {
        let function = handles::function(function)?;
        put(to, function.name.as_ptr())
    }

    fn cuFuncGetModule(to: *mut Handle, function: Handle) {
        let function = handles::function(function)?;
        let module = handles::find(|object| matches!(object, Object::Module(m) if Arc::ptr_eq(m, &function.module)));
        put(to, module.ok_or(codes::INVALID_HANDLE)?)
    }

    fn cuFuncLoad(function: Handle) {
        handles::function(function).map(|_| ())
    }

    fn cuFuncIsLoaded(state: *mut c_uint, function: Handle) {
        handles::function(function)?;
        put(state, 1)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(count: *mut c_int, function: Handle, threads: c_int, dynamic: usize) {
        let blocks = occupancy(&*handles::function(function)?, threads as u32, dynamic as u64)?;
        put(count, blocks)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count: *mut c_int, function: Handle, threads: c_int, dynamic: usize, _flags: c_uint) {
        let blocks = occupancy(&*handles::function(function)?, threads as u32, dynamic as u64)?;
        put(count, blocks)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        min_grid: *mut c_int,
        block: *mut c_int,
        function: Handle,
        shared_for: SharedForBlock,
        dynamic: usize,
        limit: c_int,
    ) {
        best_block(min_grid, block, function, shared_for, dynamic, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid: *mut c_int,
        block: *mut c_int,
        function: Handle,
        shared_for: SharedForBlock,
        dynamic: usize,
        limit: c_int,
        _flags: c_uint,
    ) {
        best_block(min_grid, block, function, shared_for, dynamic, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: c_int, threads: c_int) {
        let function = handles::function(function)?;
        if blocks <= 0 || threads <= 0 {
            return Err(codes::INVALID_VALUE);
        }
        let all = shared_limit(driver()?.settings.capability) + 1024;
        let each = (all / blocks as u32).saturating_sub(1024 + function.code().shared_bytes);
        put(bytes, each as usize)
    }
}
