//! Initialisation, versions, devices and their attributes.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{calls, put, put_if, text};
use crate::codes;
use crate::driver::{driver, init};

/// Multiprocessors of a device.
pub const PROCESSORS: i32 = 4;
/// Blocks a multiprocessor holds.
pub const BLOCKS_PER_PROCESSOR: i32 = 16;
pub const THREADS_PER_PROCESSOR: i32 = 2048;

fn attribute(number: u32, capability: (i32, i32), ordinal: i32) -> Option<i32> {
    let shared = match capability {
        (7, 0) => 96 << 10,
        (7, _) => 64 << 10,
        (8, 0 | 7) => 163 << 10,
        (8, _) | (12, _) => 99 << 10,
        _ => 227 << 10,
    };
    Some(match number {
        1..=3 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => 48 << 10,
        9 => 64 << 10,
        10 => 32,
        11 => i32::MAX,
        12 | 82 => 65536,
        13 => 1_500_000,
        14 => 512,
        15 => 1,
        16 => PROCESSORS,
        17 | 18 | 20 | 32 | 35 | 50 => 0,
        19 => 1,
        30 | 31 => 1,
        33 => ordinal + 1,
        34 => 0,
        36 => 2_000_000,
        37 => 256,
        38 => 4 << 20,
        39 => THREADS_PER_PROCESSOR,
        40 => 2,
        41 => 1,
        75 => capability.0,
        76 => capability.1,
        78..=80 => 1,
        81 => shared + 1024,
        83 => 1,
        84..=86 => 0,
        87 => 2,
        88 => 0,
        89 | 90 | 92..=94 => 1,
        // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: memory of the host that is registered has another address here.
        91 => 0,
        95 => 1,
        96 => 0,
        97 => shared,
        98 => 0,
        99 => 1,
        100 | 101 => 0,
        102..=105 => 0,
        106 => BLOCKS_PER_PROCESSOR,
        107..=110 => 0,
        111 => 1024,
        115 => 1,
        // Textures and other things this device has none of.
        21..=200 => 0,
        _ => return None,
    })
}

/// Shared memory a block may have if it asks.
pub fn shared_limit(capability: (i32, i32)) -> u32 {
    attribute(97, capability, 0).unwrap_or(0) as u32
}

fn uuid(ordinal: i32) -> [u8; 16] {
    let mut uuid = *b"weft-double-gpu\0";
    uuid[15] = ordinal as u8;
    uuid
}

calls! {
    fn cuInit(flags: c_uint) {
        if flags != 0 { Err(codes::INVALID_VALUE) } else { init() }
    }

    fn cuDriverGetVersion(version: *mut c_int) {
        let number = driver().map_or_else(|_| crate::settings::Settings::read().driver, |d| d.settings.driver);
        put(version, number)
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        put(count, driver()?.settings.devices)
    }

    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        driver()?.device(ordinal)?;
        put(device, ordinal)
    }

    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) {
        driver()?.device(device)?;
        let text = b"Weft CUDA double\0";
        if name.is_null() || length <= 0 {
            return Err(codes::INVALID_VALUE);
        }
        let count = text.len().min(length as usize);
        name.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), count);
        name.add(count - 1).write(0);
        Ok(())
    }

    fn cuDeviceGetAttribute(value: *mut c_int, number: c_uint, device: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        let found = attribute(number, driver.settings.capability, device).ok_or(codes::INVALID_VALUE)?;
        put(value, found)
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        put(major, driver.settings.capability.0)?;
        put(minor, driver.settings.capability.1)
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        put(bytes, driver.settings.memory as usize)
    }

    fn cuDeviceGetUuid(to: *mut [u8; 16], device: c_int) {
        driver()?.device(device)?;
        put(to, uuid(device))
    }

    fn cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int) {
        driver()?.device(device)?;
        put(to, uuid(device))
    }

    fn cuDeviceGetPCIBusId(to: *mut c_char, length: c_int, device: c_int) {
        driver()?.device(device)?;
        let id = format!("0000:{:02x}:00.0\0", device + 1);
        if to.is_null() || (length as usize) < id.len() {
            return Err(codes::INVALID_VALUE);
        }
        to.cast::<u8>().copy_from_nonoverlapping(id.as_ptr(), id.len());
        Ok(())
    }

    fn cuDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char) {
        let driver = driver()?;
        let id = text(id)?;
        let number = id.rsplit(':').nth(1).and_then(|n| i32::from_str_radix(n, 16).ok()).ok_or(codes::INVALID_VALUE)?;
        driver.device(number - 1)?;
        put(device, number - 1)
    }

    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        driver.device(peer)?;
        put(can, c_int::from(device != peer))
    }

    fn cuDeviceGetP2PAttribute(value: *mut c_int, number: c_uint, device: c_int, peer: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        driver.device(peer)?;
        // Rank, access, native atomics, arrays.
        let found = match number {
            1 => 0,
            2 => c_int::from(device != peer),
            3 | 4 => 0,
            _ => return Err(codes::INVALID_VALUE),
        };
        put(value, found)
    }

    fn cuGetErrorName(code: u32, to: *mut *const c_char) {
        match codes::name(code) {
            Some(name) => put(to, name.as_ptr().cast()),
            None => {
                put_if(to, std::ptr::null());
                Err(codes::INVALID_VALUE)
            }
        }
    }

    fn cuGetErrorString(code: u32, to: *mut *const c_char) {
        match codes::text(code) {
            Some(text) => put(to, text.as_ptr().cast()),
            None => {
                put_if(to, std::ptr::null());
                Err(codes::INVALID_VALUE)
            }
        }
    }

    fn cuProfilerStart() {
        driver().map(|_| ())
    }

    fn cuProfilerStop() {
        driver().map(|_| ())
    }

    fn cuGetExportTable(table: *mut *const c_void, _id: *const c_void) {
        put_if(table, std::ptr::null());
        Err(codes::NOT_SUPPORTED)
    }
}
