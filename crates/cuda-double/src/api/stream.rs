//! Streams and their capture.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::{calls, put, put_if};
use crate::codes;
use crate::driver::capture::Capture;
use crate::driver::context::{self, Context};
use crate::driver::handles::{self, Handle, Object};
use crate::driver::operation::Operation;
use crate::driver::stream::{Recorded, Stream};
use crate::driver::{Outcome, driver, lock};

const LEGACY: Handle = 1;
const PER_THREAD: Handle = 2;
const NON_BLOCKING: u32 = 1;

thread_local! {
    /// The per-thread default stream of each context.
    static OWN: RefCell<HashMap<Handle, Arc<Stream>>> = RefCell::default();
}

fn add(context: &Context, flags: u32, priority: i32) -> Arc<Stream> {
    let stream = Stream::new(context.handle, context.device, flags & NON_BLOCKING == 0, flags, priority);
    context.streams.write().unwrap_or_else(PoisonError::into_inner).push(stream.clone());
    stream
}

/// The stream a handle stands for; 0 and 1 are the legacy default stream.
pub fn stream_of(context: &Context, handle: Handle) -> Outcome<Arc<Stream>> {
    match handle {
        0 | LEGACY => Ok(context.default.clone()),
        PER_THREAD => OWN.with_borrow_mut(|own| Ok(own.entry(context.handle).or_insert_with(|| add(context, 0, 0)).clone())),
        handle => {
            let stream = handles::stream(handle)?;
            if stream.context == context.handle {
                Ok(stream)
            } else {
                Err(codes::INVALID_HANDLE)
            }
        }
    }
}

/// Refuses what must not be done while a stream is captured, which ends the capture.
pub fn refuse_capture(stream: &Stream) -> Outcome {
    match stream.capturing() {
        Some(capture) => {
            capture.invalidate();
            Err(codes::STREAM_CAPTURE_UNSUPPORTED)
        }
        None => Ok(()),
    }
}

/// Refuses what might wait for the device while somebody captures in a mode that forbids it.
pub fn refuse_unsafe(context: &Context) -> Outcome {
    // The thread may have said that it knows what it does.
    if MODE.with_borrow(|mode| *mode == 2) {
        return Ok(());
    }
    let me = std::thread::current().id();
    for stream in context.all_streams() {
        let Some(capture) = stream.capturing() else { continue };
        if capture.mode == 0 || (capture.mode == 1 && capture.thread == me) {
            capture.invalidate();
            return Err(codes::STREAM_CAPTURE_UNSUPPORTED);
        }
    }
    Ok(())
}

static CAPTURES: AtomicU64 = AtomicU64::new(1);

unsafe fn capture_info(handle: Handle, status: *mut c_uint, id: *mut u64) -> Outcome {
    let context = context::healthy()?;
    let stream = stream_of(&context, handle)?;
    // The default stream waits for blocking ones, so that it is neither in their captures nor outside of them.
    let implicit = |other: &Arc<Stream>| other.blocking && other.capturing().is_some();
    if stream.handle == context.default.handle && context.all_streams().iter().any(implicit) {
        return Err(codes::STREAM_CAPTURE_IMPLICIT);
    }
    let capture = stream.capturing();
    // SAFETY: the caller's pointers.
    unsafe {
        put(status, capture.as_ref().map_or(0, |c| if c.valid() { 1 } else { 2 }))?;
        if let Some(capture) = capture {
            put_if(id, capture.id);
        }
    }
    Ok(())
}

calls! {
    fn cuStreamCreate(to: *mut Handle, flags: c_uint) {
        let context = context::healthy()?;
        if flags & !NON_BLOCKING != 0 {
            return Err(codes::INVALID_VALUE);
        }
        let stream = add(&context, flags, 0);
        handles::insert(stream.handle, Object::Stream(stream.clone()));
        put(to, stream.handle)
    }

    fn cuStreamCreateWithPriority(to: *mut Handle, flags: c_uint, priority: c_int) {
        let context = context::healthy()?;
        if flags & !NON_BLOCKING != 0 {
            return Err(codes::INVALID_VALUE);
        }
        let stream = add(&context, flags, priority.clamp(-5, 0));
        handles::insert(stream.handle, Object::Stream(stream.clone()));
        put(to, stream.handle)
    }

    fn cuStreamDestroy_v2(handle: Handle) {
        let context = context::current()?;
        let stream = handles::stream(handle)?;
        handles::remove(handle);
        // What it was given is still done.
        stream.close();
        let owner = handles::context(stream.context).unwrap_or(context);
        owner.streams.write().unwrap_or_else(PoisonError::into_inner).retain(|s| s.handle != handle || !s.idle());
        Ok(())
    }

    fn cuStreamSynchronize(handle: Handle) {
        let context = context::current()?;
        let stream = stream_of(&context, handle)?;
        refuse_capture(&stream)?;
        if stream.handle == context.default.handle {
            // The legacy stream comes after all blocking ones.
            context.check()?;
            stream.enqueue(&context, Operation::Nothing)?;
        }
        stream.wait();
        driver()?.memory.trim_to_thresholds(context.device);
        context.check()
    }

    fn cuStreamQuery(handle: Handle) {
        let context = context::healthy()?;
        let stream = stream_of(&context, handle)?;
        refuse_capture(&stream)?;
        if stream.idle() { context.check() } else { Err(codes::NOT_READY) }
    }

    fn cuStreamWaitEvent(handle: Handle, event: Handle, _flags: c_uint) {
        let context = context::healthy()?;
        let stream = stream_of(&context, handle)?;
        let event = handles::event(event)?;
        match event.recorded() {
            Recorded::Nothing => Ok(()),
            Recorded::Work(completion) => {
                if let Some(capture) = stream.capturing() {
                    capture.invalidate();
                    return Err(codes::STREAM_CAPTURE_ISOLATION);
                }
                stream.enqueue_after(&context, Operation::Nothing, vec![completion]).map(|_| ())
            }
            Recorded::Captured(capture, tips) => {
                let mut slot = lock(&stream.capture);
                match &mut *slot {
                    None => *slot = Some((capture, tips)),
                    Some((own, own_tips)) if Arc::ptr_eq(own, &capture) => {
                        own_tips.extend(tips);
                        own_tips.sort_unstable();
                        own_tips.dedup();
                    }
                    Some((own, _)) => {
                        own.invalidate();
                        capture.invalidate();
                        return Err(codes::STREAM_CAPTURE_MERGE);
                    }
                }
                Ok(())
            }
        }
    }

    fn cuStreamGetFlags(handle: Handle, flags: *mut c_uint) {
        let stream = stream_of(&*context::healthy()?, handle)?;
        put(flags, stream.flags)
    }

    fn cuStreamGetPriority(handle: Handle, priority: *mut c_int) {
        let stream = stream_of(&*context::healthy()?, handle)?;
        put(priority, stream.priority)
    }

    fn cuStreamGetId(handle: Handle, id: *mut c_ulonglong) {
        let stream = stream_of(&*context::healthy()?, handle)?;
        put(id, stream.handle)
    }

    fn cuStreamGetCtx(handle: Handle, to: *mut Handle) {
        let stream = stream_of(&*context::healthy()?, handle)?;
        put(to, stream.context)
    }

    fn cuStreamGetDevice(handle: Handle, to: *mut c_int) {
        let stream = stream_of(&*context::healthy()?, handle)?;
        put(to, stream.device)
    }

    fn cuStreamBeginCapture_v2(handle: Handle, mode: c_uint) {
        let context = context::healthy()?;
        if mode > 2 {
            return Err(codes::INVALID_VALUE);
        }
        let stream = stream_of(&context, handle)?;
        if stream.handle == context.default.handle {
            return Err(codes::STREAM_CAPTURE_UNSUPPORTED);
        }
        let mut slot = lock(&stream.capture);
        if slot.is_some() {
            return Err(codes::ILLEGAL_STATE);
        }
        let id = CAPTURES.fetch_add(1, Ordering::Relaxed);
        *slot = Some((Capture::new(id, stream.handle, mode), Vec::new()));
        Ok(())
    }

    fn cuStreamEndCapture(handle: Handle, to: *mut Handle) {
        let context = context::healthy()?;
        let stream = stream_of(&context, handle)?;
        put(to, 0)?;
        let Some((capture, tips)) = lock(&stream.capture).clone() else {
            return Err(codes::ILLEGAL_STATE);
        };
        if capture.origin != stream.handle {
            return Err(codes::STREAM_CAPTURE_UNMATCHED);
        }
        if capture.mode != 2 && capture.thread != std::thread::current().id() {
            return Err(codes::STREAM_CAPTURE_WRONG_THREAD);
        }
        for other in context.all_streams() {
            let mut slot = lock(&other.capture);
            if slot.as_ref().is_some_and(|(c, _)| Arc::ptr_eq(c, &capture)) {
                *slot = None;
            }
        }
        let graph = capture.finish(&tips)?;
        let handle = handles::reserve();
        handles::insert(handle, Object::Graph(Arc::new(graph)));
        put(to, handle)
    }

    fn cuStreamIsCapturing(handle: Handle, status: *mut c_uint) {
        capture_info(handle, status, std::ptr::null_mut())
    }

    fn cuStreamGetCaptureInfo(handle: Handle, status: *mut c_uint, id: *mut u64) {
        capture_info(handle, status, id)
    }

    fn cuStreamGetCaptureInfo_v2(
        handle: Handle,
        status: *mut c_uint,
        id: *mut u64,
        graph: *mut Handle,
        dependencies: *mut *const Handle,
        count: *mut usize,
    ) {
        put_if(graph, 0);
        put_if(dependencies, std::ptr::null());
        put_if(count, 0);
        capture_info(handle, status, id)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        driver()?;
        if mode.is_null() || *mode > 2 {
            return Err(codes::INVALID_VALUE);
        }
        MODE.with_borrow_mut(|own| core::ptr::swap(own, mode));
        Ok(())
    }
}

thread_local! {
    static MODE: RefCell<c_uint> = const { RefCell::new(0) };
}
