//! Primary contexts, the thread's current context, limits, peers.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_ulonglong};

use super::{calls, put, put_if};
use crate::codes;
use crate::driver::handles::{self, Handle};
use crate::driver::{context, driver, lock};

calls! {
    fn cuDevicePrimaryCtxRetain(to: *mut Handle, device: c_int) {
        let context = driver()?.device(device)?.retain()?;
        put(to, context.handle)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        driver()?.device(device)?.release()
    }

    fn cuDevicePrimaryCtxReset_v2(device: c_int) {
        driver()?.device(device)?.reset()
    }

    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) {
        let (value, is_active) = driver()?.device(device)?.state();
        put(flags, value)?;
        put(active, c_int::from(is_active))
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint) {
        driver()?.device(device)?.set_flags(flags);
        Ok(())
    }

    fn cuCtxSetCurrent(handle: Handle) {
        driver()?;
        if handle != 0 {
            handles::context(handle).map_err(|_| codes::INVALID_CONTEXT)?;
        }
        context::set_current(handle);
        Ok(())
    }

    fn cuCtxGetCurrent(to: *mut Handle) {
        driver()?;
        put(to, context::current_handle())
    }

    fn cuCtxPushCurrent_v2(handle: Handle) {
        driver()?;
        handles::context(handle).map_err(|_| codes::INVALID_CONTEXT)?;
        context::push(handle);
        Ok(())
    }

    fn cuCtxPopCurrent_v2(to: *mut Handle) {
        driver()?;
        let handle = context::pop().ok_or(codes::INVALID_CONTEXT)?;
        put_if(to, handle);
        Ok(())
    }

    fn cuCtxGetDevice(to: *mut c_int) {
        let context = context::current()?;
        put(to, context.device)
    }

    fn cuCtxGetFlags(to: *mut c_uint) {
        let context = context::current()?;
        let (flags, _) = driver()?.device(context.device)?.state();
        put(to, flags)
    }

    fn cuCtxGetId(handle: Handle, to: *mut c_ulonglong) {
        let handle = if handle == 0 { context::current_handle() } else { handle };
        handles::context(handle).map_err(|_| codes::INVALID_CONTEXT)?;
        put(to, handle)
    }

    fn cuCtxGetApiVersion(handle: Handle, to: *mut c_uint) {
        if handle != 0 {
            handles::context(handle).map_err(|_| codes::INVALID_CONTEXT)?;
        }
        put(to, 3020)
    }

    fn cuCtxSynchronize() {
        let context = context::current()?;
        for stream in context.all_streams() {
            if let Some(capture) = stream.capturing() {
                capture.invalidate();
                return Err(codes::STREAM_CAPTURE_UNSUPPORTED);
            }
        }
        context.wait()
    }

    fn cuCtxGetLimit(value: *mut usize, limit: c_uint) {
        let context = context::healthy()?;
        let found = lock(&context.limits).get(&limit).copied().ok_or(codes::UNSUPPORTED_LIMIT)?;
        put(value, found)
    }

    fn cuCtxSetLimit(limit: c_uint, value: usize) {
        let context = context::healthy()?;
        match lock(&context.limits).get_mut(&limit) {
            Some(old) => {
                *old = value;
                Ok(())
            }
            None => Err(codes::UNSUPPORTED_LIMIT),
        }
    }

    fn cuCtxGetCacheConfig(to: *mut c_uint) {
        context::healthy()?;
        put(to, 0)
    }

    fn cuCtxSetCacheConfig(_config: c_uint) {
        context::healthy().map(|_| ())
    }

    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        context::healthy()?;
        put_if(least, 0);
        put_if(greatest, -5);
        Ok(())
    }

    fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) {
        let context = context::healthy()?;
        let peer = handles::context(peer).map_err(|_| codes::INVALID_CONTEXT)?;
        if flags != 0 {
            return Err(codes::INVALID_VALUE);
        }
        if peer.device == context.device {
            return Err(codes::INVALID_CONTEXT);
        }
        let mut peers = lock(&context.peers);
        if peers.contains(&peer.device) {
            return Err(codes::PEER_ACCESS_ALREADY_ENABLED);
        }
        peers.push(peer.device);
        Ok(())
    }

    fn cuCtxDisablePeerAccess(peer: Handle) {
        let context = context::healthy()?;
        let peer = handles::context(peer).map_err(|_| codes::INVALID_CONTEXT)?;
        let mut peers = lock(&context.peers);
        let index = peers.iter().position(|d| *d == peer.device).ok_or(codes::PEER_ACCESS_NOT_ENABLED)?;
        peers.remove(index);
        Ok(())
    }
}
