//! Memory pools.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_void};

use super::memory::allocate_async;
use super::{calls, put};
use crate::codes;
use crate::driver::handles::{self, Handle};
use crate::driver::memory::Pool;
use crate::driver::{context, driver, lock};

/// `CUmemPoolProps`, as far as it matters.
#[repr(C)]
#[derive(Debug)]
pub struct PoolProperties {
    kind: c_uint,
    handles: c_uint,
    location_kind: c_uint,
    location: c_int,
    security: *mut c_void,
    max: usize,
}

calls! {
    fn cuMemPoolCreate(to: *mut Handle, properties: *const PoolProperties) {
        let driver = driver()?;
        if properties.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let properties = &*properties;
        // Pinned memory on a device.
        if properties.kind != 1 || properties.location_kind != 1 {
            return Err(codes::INVALID_VALUE);
        }
        driver.device(properties.location)?;
        // The size can be given since 12.2; before that the field was reserved.
        let max = if driver.settings.driver >= 12020 { properties.max as u64 } else { 0 };
        let pool = Pool::new(properties.location, max);
        put(to, pool.handle)
    }

    fn cuMemPoolDestroy(handle: Handle) {
        let driver = driver()?;
        let pool = handles::pool(handle)?;
        let device = driver.device(pool.device)?;
        if device.default_pool().handle == handle {
            return Err(codes::INVALID_VALUE);
        }
        let mut chosen = lock(&device.pool);
        if chosen.as_ref().is_some_and(|p| p.handle == handle) {
            *chosen = None;
        }
        pool.trim(0);
        handles::remove(handle);
        driver.memory.forget_pool(handle);
        Ok(())
    }

    fn cuMemPoolTrimTo(handle: Handle, keep: usize) {
        driver()?;
        handles::pool(handle)?.trim(keep as u64);
        Ok(())
    }

    fn cuMemPoolGetAttribute(handle: Handle, number: c_uint, value: *mut c_void) {
        driver()?;
        let pool = handles::pool(handle)?;
        let state = *lock(&pool.state);
        let wide = match number {
            1..=3 => return put(value.cast(), state.reuse[number as usize - 1]),
            4 => state.threshold,
            5 => state.reserved,
            6 => state.reserved_high,
            7 => state.used,
            8 => state.used_high,
            _ => return Err(codes::INVALID_VALUE),
        };
        put(value.cast(), wide)
    }

    fn cuMemPoolSetAttribute(handle: Handle, number: c_uint, value: *mut c_void) {
        driver()?;
        let pool = handles::pool(handle)?;
        if value.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let mut state = lock(&pool.state);
        match number {
            1..=3 => state.reuse[number as usize - 1] = *value.cast::<c_int>(),
            4 => state.threshold = *value.cast::<u64>(),
            // The high-water marks can only be set back.
            6 if *value.cast::<u64>() == 0 => state.reserved_high = state.reserved,
            8 if *value.cast::<u64>() == 0 => state.used_high = state.used,
            _ => return Err(codes::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuMemPoolSetAccess(handle: Handle, _descriptions: *const c_void, _count: usize) {
        driver()?;
        handles::pool(handle).map(|_| ())
    }

    fn cuMemAllocFromPoolAsync(to: *mut u64, bytes: usize, pool: Handle, stream: Handle) {
        let context = context::healthy()?;
        let address = allocate_async(&context, &handles::pool(pool)?, bytes, stream)?;
        put(to, address)
    }

    fn cuDeviceGetDefaultMemPool(to: *mut Handle, device: c_int) {
        let pool = driver()?.device(device)?.default_pool();
        put(to, pool.handle)
    }

    fn cuDeviceGetMemPool(to: *mut Handle, device: c_int) {
        let pool = driver()?.device(device)?.current_pool();
        put(to, pool.handle)
    }

    fn cuDeviceSetMemPool(device: c_int, pool: Handle) {
        let device = driver()?.device(device)?;
        let pool = handles::pool(pool)?;
        if pool.device != device.ordinal {
            return Err(codes::INVALID_DEVICE);
        }
        *lock(&device.pool) = Some(pool);
        Ok(())
    }
}
