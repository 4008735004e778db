//! Memory of devices and pinned memory of the host.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_void};

use super::stream::{refuse_unsafe, stream_of};
use super::{calls, put, put_if};
use crate::codes;
use crate::driver::context::Context;
use crate::driver::handles::Handle;
use crate::driver::memory::Pool;
use crate::driver::operation::Operation;
use crate::driver::{Outcome, context, driver, lock};
use crate::exec::table::Kind;
use std::sync::Arc;

/// Room from a pool, for a stream: it is there at once, and its end is ordered by the stream.
pub(super) fn allocate_async(context: &Context, pool: &Arc<Pool>, bytes: usize, stream: Handle) -> Outcome<u64> {
    let stream = stream_of(context, stream)?;
    if bytes == 0 {
        return Err(codes::INVALID_VALUE);
    }
    let address = driver()?.memory.allocate_from(pool, bytes as u64)?;
    if let Some(capture) = stream.capturing() {
        lock(&capture.memory).push(address);
    }
    Ok(address)
}

fn free(address: u64, kinds: &[Kind], missing: u32) -> Outcome {
    let context = context::current()?;
    if address == 0 {
        return context.check();
    }
    let memory = &driver()?.memory;
    let region = memory.at(address).filter(|r| kinds.contains(&r.kind));
    if region.is_none() {
        context.check()?;
        return Err(missing);
    }
    // Like the real one, it waits for what may still use it.
    _ = context.wait();
    memory.free(address, kinds).map_err(|_| missing)?;
    context.check()
}

calls! {
    fn cuMemAlloc_v2(to: *mut u64, bytes: usize) {
        let context = context::healthy()?;
        if bytes == 0 {
            return Err(codes::INVALID_VALUE);
        }
        refuse_unsafe(&context)?;
        let address = driver()?.memory.allocate(context.device, bytes as u64, Kind::Device)?;
        put(to, address)
    }

    fn cuMemAllocPitch_v2(to: *mut u64, pitch: *mut usize, width: usize, height: usize, _element: c_uint) {
        let context = context::healthy()?;
        let row = width.next_multiple_of(512);
        if width == 0 || height == 0 {
            return Err(codes::INVALID_VALUE);
        }
        let bytes = row.checked_mul(height).ok_or(codes::OUT_OF_MEMORY)?;
        let address = driver()?.memory.allocate(context.device, bytes as u64, Kind::Device)?;
        put(pitch, row)?;
        put(to, address)
    }

    fn cuMemFree_v2(address: u64) {
        free(address, &[Kind::Device, Kind::Managed], codes::INVALID_VALUE)
    }

    fn cuMemAllocAsync(to: *mut u64, bytes: usize, stream: Handle) {
        let context = context::healthy()?;
        let pool = driver()?.device(context.device)?.current_pool();
        let address = allocate_async(&context, &pool, bytes, stream)?;
        put(to, address)
    }

    fn cuMemFreeAsync(address: u64, stream: Handle) {
        let context = context::healthy()?;
        let stream = stream_of(&context, stream)?;
        driver()?.memory.at(address).filter(|r| r.kind == Kind::Device).ok_or(codes::INVALID_VALUE)?;
        // What a graph allocates lives as long as the graph.
        let operation = if stream.capturing().is_some() { Operation::Nothing } else { Operation::Free(address) };
        stream.enqueue(&context, operation).map(|_| ())
    }

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let context = context::healthy()?;
        let driver = driver()?;
        put(free, driver.memory.free_bytes(context.device) as usize)?;
        put(total, driver.settings.memory as usize)
    }

    fn cuMemAllocManaged(to: *mut u64, bytes: usize, flags: c_uint) {
        let context = context::healthy()?;
        if bytes == 0 || !matches!(flags, 1 | 2) {
            return Err(codes::INVALID_VALUE);
        }
        let address = driver()?.memory.host(context.device, bytes as u64, Kind::Managed)?;
        put(to, address)
    }

    fn cuMemHostAlloc(to: *mut u64, bytes: usize, flags: c_uint) {
        let context = context::healthy()?;
        if bytes == 0 || flags > 7 {
            return Err(codes::INVALID_VALUE);
        }
        const WRITE_COMBINED: c_uint = 4;
        let driver = driver()?;
        let address = if flags & WRITE_COMBINED != 0 {
            driver.memory.host_apart(context.device, bytes as u64)?
        } else {
            driver.memory.host(context.device, bytes as u64, Kind::Pinned)?
        };
        put(to, address)
    }

    fn cuMemAllocHost_v2(to: *mut u64, bytes: usize) {
        let context = context::healthy()?;
        if bytes == 0 {
            return Err(codes::INVALID_VALUE);
        }
        let address = driver()?.memory.host(context.device, bytes as u64, Kind::Pinned)?;
        put(to, address)
    }

    fn cuMemFreeHost(pointer: *mut c_void) {
        free(pointer as u64, &[Kind::Pinned], codes::INVALID_VALUE)
    }

    fn cuMemHostGetDevicePointer_v2(to: *mut u64, pointer: *mut c_void, flags: c_uint) {
        context::healthy()?;
        let address = pointer as u64;
        let region = driver()?.memory.containing(address).filter(|r| r.kind.host()).ok_or(codes::INVALID_VALUE)?;
        if flags != 0 {
            return Err(codes::INVALID_VALUE);
        }
        put(to, region.for_devices(address))
    }

    fn cuMemHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) {
        context::healthy()?;
        driver()?.memory.containing(pointer as u64).filter(|r| r.kind.host()).ok_or(codes::INVALID_VALUE)?;
        // Mapped, as all of it is.
        put(flags, 2)
    }

    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, _flags: c_uint) {
        let context = context::healthy()?;
        if pointer.is_null() || bytes == 0 {
            return Err(codes::INVALID_VALUE);
        }
        let driver = driver()?;
        driver.memory.register(context.device, pointer as u64, bytes as u64)
    }

    fn cuMemHostUnregister(pointer: *mut c_void) {
        free(pointer as u64, &[Kind::Registered], codes::HOST_MEMORY_NOT_REGISTERED)
    }

    fn cuMemPrefetchAsync(address: u64, _bytes: usize, _device: c_int, stream: Handle) {
        let context = context::healthy()?;
        driver()?.memory.containing(address).filter(|r| r.kind == Kind::Managed).ok_or(codes::INVALID_VALUE)?;
        stream_of(&context, stream).map(|_| ())
    }

    fn cuMemAdvise(address: u64, _bytes: usize, _advice: c_uint, _device: c_int) {
        context::healthy()?;
        driver()?.memory.containing(address).map(|_| ()).ok_or(codes::INVALID_VALUE)
    }

    fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, address: u64) {
        context::healthy()?;
        let region = driver()?.memory.containing(address).ok_or(codes::NOT_FOUND)?;
        put_if(base, region.start);
        put_if(bytes, region.bytes as usize);
        Ok(())
    }
}
