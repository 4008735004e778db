//! Events.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::c_uint;

use super::stream::stream_of;
use super::{calls, put};
use crate::codes;
use crate::driver::handles::{self, Handle, Object};
use crate::driver::operation::Operation;
use crate::driver::stream::{Event, Recorded};
use crate::driver::{Outcome, context, driver, lock};

fn record(event: Handle, stream: Handle) -> Outcome {
    let context = context::healthy()?;
    let event = handles::event(event)?;
    let stream = stream_of(&context, stream)?;
    if event.context != context.handle {
        return Err(codes::INVALID_HANDLE);
    }
    let captured = lock(&stream.capture).clone();
    let recorded = match captured {
        Some((capture, tips)) => Recorded::Captured(capture, tips),
        None => Recorded::Work(stream.enqueue(&context, Operation::Nothing)?),
    };
    *lock(&event.recorded) = recorded;
    Ok(())
}

unsafe fn elapsed(to: *mut f32, start: Handle, end: Handle) -> Outcome {
    let context = context::healthy()?;
    let (start, end) = (handles::event(start)?, handles::event(end)?);
    if !start.timing || !end.timing {
        return Err(codes::INVALID_HANDLE);
    }
    let time = |event: &Event| match event.recorded() {
        Recorded::Work(completion) => completion.when().ok_or(codes::NOT_READY),
        _ => Err(codes::INVALID_HANDLE),
    };
    let (start, end) = (time(&start)?, time(&end)?);
    context.check()?;
    let seconds = if end >= start {
        (end - start).as_secs_f64()
    } else {
        -(start - end).as_secs_f64()
    };
    // SAFETY: the caller's pointer.
    unsafe { put(to, (seconds * 1e3) as f32) }
}

calls! {
    fn cuEventCreate(to: *mut Handle, flags: c_uint) {
        let context = context::healthy()?;
        if flags & !0b111 != 0 {
            return Err(codes::INVALID_VALUE);
        }
        let handle = handles::reserve();
        handles::insert(handle, Object::Event(Event::new(context.handle, flags & 2 == 0)));
        put(to, handle)
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, _flags: c_uint) {
        record(event, stream)
    }

    fn cuEventQuery(event: Handle) {
        let context = context::healthy()?;
        match handles::event(event)?.recorded() {
            Recorded::Nothing => Ok(()),
            Recorded::Work(completion) if completion.when().is_some() => context.check(),
            Recorded::Work(_) => Err(codes::NOT_READY),
            Recorded::Captured(..) => Err(codes::CAPTURED_EVENT),
        }
    }

    fn cuEventSynchronize(event: Handle) {
        let context = context::current()?;
        match handles::event(event)?.recorded() {
            Recorded::Nothing => {}
            Recorded::Work(completion) => completion.wait(),
            Recorded::Captured(..) => return Err(codes::CAPTURED_EVENT),
        }
        driver()?.memory.trim_to_thresholds(context.device);
        context.check()
    }

    fn cuEventElapsedTime(to: *mut f32, start: Handle, end: Handle) {
        elapsed(to, start, end)
    }

    fn cuEventElapsedTime_v2(to: *mut f32, start: Handle, end: Handle) {
        elapsed(to, start, end)
    }

    fn cuEventDestroy_v2(event: Handle) {
        driver()?;
        handles::event(event)?;
        handles::remove(event);
        Ok(())
    }
}
