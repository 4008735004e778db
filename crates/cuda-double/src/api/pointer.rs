//! What the driver knows of a pointer.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_void};

use super::{calls, put};
use crate::codes;
use crate::driver::{Outcome, context, driver};
use crate::exec::table::{Kind, Region};

/// Writes an attribute; of a pointer nobody knows, nothing and null.
unsafe fn write(to: *mut c_void, number: c_uint, address: u64, region: Option<&Region>) -> Outcome {
    let driver = driver()?;
    let known = |f: &dyn Fn(&Region) -> u64| region.map_or(0, f);
    let kind = region.map(|r| r.kind);
    let host = kind.is_some_and(Kind::host);
    // SAFETY: the attribute's type is this; the caller's pointer.
    unsafe {
        match number {
            1 => put(
                to.cast(),
                known(&|r| driver.device(r.device).ok().and_then(|d| d.active()).map_or(0, |c| c.handle)),
            ),
            // Host or device.
            2 => put(
                to.cast::<c_uint>(),
                region.map_or(0, |_| if kind == Some(Kind::Managed) || !host { 2 } else { 1 }),
            ),
            3 => put(to.cast(), known(&|r| r.for_devices(address))),
            4 => put(to.cast(), if host { known(&|r| r.for_host(address)) } else { 0 }),
            6 => put(to.cast::<c_int>(), 0),
            7 => put(to.cast(), known(&|r| r.id)),
            8 => put(to.cast::<u32>(), u32::from(kind == Some(Kind::Managed))),
            9 => put(to.cast::<c_int>(), region.map_or(-2, |r| r.device)),
            10 => put(to.cast::<u32>(), 0),
            11 => put(to.cast(), known(&|r| r.start)),
            12 => put(to.cast(), known(&|r| r.bytes)),
            13 => put(to.cast::<u32>(), u32::from(region.is_some())),
            14 => put(to.cast::<u64>(), 0),
            16 => put(to.cast::<u32>(), 3),
            17 => put(to.cast(), known(&|r| r.pool)),
            _ => Err(codes::INVALID_VALUE),
        }
    }
}

calls! {
    fn cuPointerGetAttribute(to: *mut c_void, number: c_uint, address: u64) {
        context::healthy()?;
        let region = driver()?.memory.containing(address).ok_or(codes::INVALID_VALUE)?;
        if number == 4 && !region.kind.host() {
            return Err(codes::INVALID_VALUE);
        }
        write(to, number, address, Some(&region))
    }

    fn cuPointerGetAttributes(count: c_uint, numbers: *const c_uint, to: *const *mut c_void, address: u64) {
        context::healthy()?;
        if numbers.is_null() || to.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let region = driver()?.memory.containing(address);
        for index in 0..count as usize {
            write(*to.add(index), *numbers.add(index), address, region.as_ref())?;
        }
        Ok(())
    }

    fn cuPointerSetAttribute(_value: *const c_void, number: c_uint, address: u64) {
        context::healthy()?;
        driver()?.memory.containing(address).ok_or(codes::INVALID_VALUE)?;
        if number == 6 { Ok(()) } else { Err(codes::INVALID_VALUE) }
    }
}
