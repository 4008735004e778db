//! Copies and fills.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use super::calls;
use super::stream::{refuse_capture, stream_of};
use crate::codes;
use crate::driver::handles::{self, Handle};
use crate::driver::operation::{Operation, Rows, Side};
use crate::driver::{Outcome, context, driver};

/// What the caller said of an address.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    Device(u64),
    Host(u64),
    /// The driver is to find out.
    Either(u64),
}

#[derive(Clone, Copy, PartialEq)]
enum When {
    Now,
    Later(Handle),
}

/// Whether the driver knows all bytes of a range: memory of a device, or pinned.
fn is_known(address: u64, bytes: u64) -> Outcome<bool> {
    Ok(driver()?.memory.span(address, bytes).is_some())
}

fn resolve(said: Said, bytes: u64) -> Outcome<Side> {
    match said {
        Said::Device(address) if bytes == 0 || is_known(address, bytes)? => Ok(Side::Known(address)),
        Said::Device(_) => Err(codes::INVALID_VALUE),
        Said::Host(0) if bytes > 0 => Err(codes::INVALID_VALUE),
        Said::Host(address) | Said::Either(address) => {
            let own = address >= crate::exec::inst::window::DEVICE;
            match is_known(address, bytes)? {
                true => Ok(Side::Known(address)),
                // A device's address where a host's is due, or beyond an allocation.
                false if own => Err(codes::INVALID_VALUE),
                false => Ok(Side::Host(address)),
            }
        }
    }
}

fn copy(to: Said, from: Said, rows: Rows, when: When) -> Outcome {
    let context = context::healthy()?;
    let mut to = resolve(to, rows.extent(rows.to_pitch))?;
    let mut from = resolve(from, rows.extent(rows.from_pitch))?;
    let stream = stream_of(&context, if let When::Later(stream) = when { stream } else { 0 })?;
    if when == When::Now {
        refuse_capture(&stream)?;
    }
    if rows.bytes == 0 || rows.count == 0 {
        return Ok(());
    }
    let mut wait = when == When::Now;
    if stream.capturing().is_none() {
        // Pageable memory is read before the call returns, and written before it does.
        if let (When::Later(_), Side::Host(address)) = (when, &from) {
            let bytes = rows.extent(rows.from_pitch);
            from = Side::Taken(crate::exec::table::Span::host(*address).bytes(bytes));
        }
        if let (When::Later(_), Side::Host(_)) = (when, &mut to) {
            wait = true;
        }
    }
    let completion = stream.enqueue(&context, Operation::Copy { to, from, rows })?;
    if wait {
        completion.wait();
        context.check()?;
    }
    Ok(())
}

fn fill(to: u64, value: u32, unit: u64, rows: Rows, when: When) -> Outcome {
    let context = context::healthy()?;
    if !to.is_multiple_of(unit) || (rows.count > 1 && !rows.to_pitch.is_multiple_of(unit)) {
        return Err(codes::INVALID_VALUE);
    }
    if rows.bytes > 0 && !is_known(to, rows.extent(rows.to_pitch))? {
        return Err(codes::INVALID_VALUE);
    }
    let stream = stream_of(&context, if let When::Later(stream) = when { stream } else { 0 })?;
    if when == When::Now {
        refuse_capture(&stream)?;
    }
    if rows.bytes == 0 || rows.count == 0 {
        return Ok(());
    }
    let completion = stream.enqueue(&context, Operation::Fill { to, value, unit, rows })?;
    if when == When::Now {
        completion.wait();
        context.check()?;
    }
    Ok(())
}

fn elements(count: usize, unit: u64) -> Outcome<Rows> {
    let bytes = (count as u64).checked_mul(unit).ok_or(codes::INVALID_VALUE)?;
    Ok(Rows::one(bytes))
}

fn pitched(width: usize, height: usize, pitch: usize, unit: u64) -> Outcome<Rows> {
    let bytes = (width as u64).checked_mul(unit).ok_or(codes::INVALID_VALUE)?;
    if height > 1 && bytes > pitch as u64 {
        return Err(codes::INVALID_VALUE);
    }
    Ok(Rows {
        bytes,
        count: height as u64,
        to_pitch: pitch as u64,
        from_pitch: 0,
    })
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Debug)]
pub struct Copy2D {
    from_x: usize,
    from_y: usize,
    from_kind: c_uint,
    from_host: *const c_void,
    from_device: u64,
    from_array: *mut c_void,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: c_uint,
    to_host: *mut c_void,
    to_device: u64,
    to_array: *mut c_void,
    to_pitch: usize,
    width: usize,
    height: usize,
}

unsafe fn copy_2d(copy_: *const Copy2D, when: When) -> Outcome {
    if copy_.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: the caller's structure.
    let c = unsafe { &*copy_ };
    let side = |kind: u32, host: u64, device: u64, x: usize, y: usize, pitch: usize| {
        let offset = (y * pitch + x) as u64;
        match kind {
            1 => Ok(Said::Host(host + offset)),
            2 => Ok(Said::Device(device + offset)),
            4 => Ok(Said::Either(device + offset)),
            _ => Err(codes::NOT_SUPPORTED),
        }
    };
    // A pitch of 0 means rows without gaps.
    let pitch = |pitch: usize| if pitch == 0 { c.width } else { pitch };
    let (from_pitch, to_pitch) = (pitch(c.from_pitch), pitch(c.to_pitch));
    if c.height > 1 && (from_pitch < c.width || to_pitch < c.width) {
        return Err(codes::INVALID_VALUE);
    }
    let from = side(c.from_kind, c.from_host as u64, c.from_device, c.from_x, c.from_y, from_pitch)?;
    let to = side(c.to_kind, c.to_host as u64, c.to_device, c.to_x, c.to_y, to_pitch)?;
    let rows = Rows {
        bytes: c.width as u64,
        count: c.height as u64,
        to_pitch: to_pitch as u64,
        from_pitch: from_pitch as u64,
    };
    copy(to, from, rows, when)
}

fn peer(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, when: When) -> Outcome {
    for handle in [to_context, from_context] {
        handles::context(handle).map_err(|_| codes::INVALID_CONTEXT)?.check()?;
    }
    copy(Said::Device(to), Said::Device(from), Rows::one(bytes as u64), when)
}

calls! {
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        copy(Said::Either(to), Said::Either(from), Rows::one(bytes as u64), When::Now)
    }

    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(Said::Either(to), Said::Either(from), Rows::one(bytes as u64), When::Later(stream))
    }

    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        copy(Said::Device(to), Said::Host(from as u64), Rows::one(bytes as u64), When::Now)
    }

    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        copy(Said::Host(to as u64), Said::Device(from), Rows::one(bytes as u64), When::Now)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        copy(Said::Device(to), Said::Device(from), Rows::one(bytes as u64), When::Now)
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) {
        copy(Said::Device(to), Said::Host(from as u64), Rows::one(bytes as u64), When::Later(stream))
    }

    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: Handle) {
        copy(Said::Host(to as u64), Said::Device(from), Rows::one(bytes as u64), When::Later(stream))
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(Said::Device(to), Said::Device(from), Rows::one(bytes as u64), When::Later(stream))
    }

    fn cuMemcpyPeer(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize) {
        peer(to, to_context, from, from_context, bytes, When::Now)
    }

    fn cuMemcpyPeerAsync(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, stream: Handle) {
        peer(to, to_context, from, from_context, bytes, When::Later(stream))
    }

    fn cuMemcpy2D_v2(what: *const Copy2D) {
        copy_2d(what, When::Now)
    }

    fn cuMemcpy2DUnaligned_v2(what: *const Copy2D) {
        copy_2d(what, When::Now)
    }

    fn cuMemcpy2DAsync_v2(what: *const Copy2D, stream: Handle) {
        copy_2d(what, When::Later(stream))
    }

    fn cuMemsetD8_v2(to: u64, value: c_uchar, count: usize) {
        fill(to, u32::from(value), 1, elements(count, 1)?, When::Now)
    }

    fn cuMemsetD16_v2(to: u64, value: c_ushort, count: usize) {
        fill(to, u32::from(value), 2, elements(count, 2)?, When::Now)
    }

    fn cuMemsetD32_v2(to: u64, value: c_uint, count: usize) {
        fill(to, value, 4, elements(count, 4)?, When::Now)
    }

    fn cuMemsetD8Async(to: u64, value: c_uchar, count: usize, stream: Handle) {
        fill(to, u32::from(value), 1, elements(count, 1)?, When::Later(stream))
    }

    fn cuMemsetD16Async(to: u64, value: c_ushort, count: usize, stream: Handle) {
        fill(to, u32::from(value), 2, elements(count, 2)?, When::Later(stream))
    }

    fn cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: Handle) {
        fill(to, value, 4, elements(count, 4)?, When::Later(stream))
    }

    fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: c_uchar, width: usize, height: usize) {
        fill(to, u32::from(value), 1, pitched(width, height, pitch, 1)?, When::Now)
    }

    fn cuMemsetD2D16_v2(to: u64, pitch: usize, value: c_ushort, width: usize, height: usize) {
        fill(to, u32::from(value), 2, pitched(width, height, pitch, 2)?, When::Now)
    }

    fn cuMemsetD2D32_v2(to: u64, pitch: usize, value: c_uint, width: usize, height: usize) {
        fill(to, value, 4, pitched(width, height, pitch, 4)?, When::Now)
    }

    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: c_uchar, width: usize, height: usize, stream: Handle) {
        fill(to, u32::from(value), 1, pitched(width, height, pitch, 1)?, When::Later(stream))
    }

    fn cuMemsetD2D32Async(to: u64, pitch: usize, value: c_uint, width: usize, height: usize, stream: Handle) {
        fill(to, value, 4, pitched(width, height, pitch, 4)?, When::Later(stream))
    }
}
