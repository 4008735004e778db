//! Tracing: following work through CUPTI: which calls of the driver a piece of work made, and when what they asked for ran.
//!
//! CUPTI tells a listener of every call, on the calling thread, with a number; the records of what ran have that number. The numbers of
//! calls that are followed are put down before the driver gets the call, so that no record can come too early.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Mutex;

use weft_runtime::{lock, profile};

use super::library::{Cupti, SubscriberHandle};
use super::records::{self, CallData, Span, kinds};
use crate::driver::Failure;

const DRIVER_CALLS: c_int = 1;
const BEFORE_CALL: u32 = 0;
/// 1 MiB: some five thousand records.
const BUFFER_WORDS: usize = 1 << 17;
const KINDS: [u32; 4] = [kinds::CONCURRENT_KERNEL, kinds::MEMCPY, kinds::MEMCPY2, kinds::MEMSET];

/// Calls that are followed, by number, and what has been told of their work.
static TIMES: Mutex<Option<HashMap<u32, Span>>> = Mutex::new(None);

thread_local! {
    /// The calls of the work this thread follows.
    static CALLS: RefCell<Option<Vec<u32>>> = const { RefCell::new(None) };
}

/// CUPTI, subscribed to.
#[derive(Debug)]
pub struct Tracer {
    cupti: &'static Cupti,
    subscriber: SubscriberHandle,
    /// What is added to CUPTI's times to make them those of profiles.
    offset: i64,
}

/// Which buffers CUPTI hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Those whose records are all complete.
    Complete = 0,
    /// All.
    Forced = 1,
}

impl Tracer {
    pub fn start(cupti: &'static Cupti) -> Result<Tracer, String> {
        let mut subscriber = SubscriberHandle::NULL;
        // SAFETY: writes the handle; the listener may be called as long as the process lives. This comes first, since it is what is refused
        // while another profiler is at work, and the calls below would disturb that.
        let subscribed = unsafe { cupti.subscribe(&mut subscriber, on_call, ptr::null_mut()) };
        subscribed.map_err(|failure| cupti.describe(failure))?;
        let mut tracer = Tracer {
            cupti,
            subscriber,
            offset: 0,
        };
        *lock(&TIMES) = Some(HashMap::new());
        match tracer.enable() {
            Ok(()) => Ok(tracer),
            Err(failure) => {
                tracer.stop();
                Err(cupti.describe(failure))
            }
        }
    }

    fn enable(&mut self) -> Result<(), Failure> {
        let cupti = self.cupti;
        self.offset = offset(cupti)?;
        // SAFETY: functions that stay, and numbers.
        unsafe {
            cupti.register_callbacks(want_buffer, buffer_done)?;
            KINDS.into_iter().try_for_each(|kind| cupti.enable(kind))?;
            // Drivers before 515 have it not, and give the records of a graph's nodes: the graph's time follows from those, too.
            let _ = cupti.enable(kinds::GRAPH_TRACE);
            cupti.enable_domain(1, self.subscriber, DRIVER_CALLS)
        }
    }

    /// Lets CUPTI go, for other profilers and since it slows launches down. What fails here cannot be helped.
    pub fn stop(&self) {
        for kind in KINDS.into_iter().chain([kinds::GRAPH_TRACE]) {
            // SAFETY: a number.
            let _ = unsafe { self.cupti.disable(kind) };
        }
        self.flush(Flush::Forced);
        // SAFETY: our own handle, which is not used again.
        let _ = unsafe { self.cupti.unsubscribe(self.subscriber) };
        *lock(&TIMES) = None;
    }

    /// Does work; the numbers of the calls it made.
    pub fn follow<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<u32>) {
        let before = CALLS.replace(Some(Vec::new()));
        let result = work();
        (result, CALLS.replace(before).unwrap_or_default())
    }

    /// Has records of work that is done delivered.
    pub fn flush(&self, how: Flush) {
        // SAFETY: a number. Where it fails no records come, which profiles tell.
        let _ = unsafe { self.cupti.flush_all(how as u32) };
    }

    /// Start and duration of what calls asked for, as profiles have them; none before the records of all the bytes are there.
    pub fn times(&self, calls: &[u32], bytes: u64) -> Option<(u64, u64)> {
        let times = lock(&TIMES);
        let spans = calls.iter().filter_map(|call| times.as_ref()?.get(call));
        let whole = spans.fold(Span::NONE, |whole, span| whole.with(*span));
        let start = whole.start.checked_add_signed(self.offset)?;
        (whole.end > 0 && whole.bytes >= bytes).then(|| (start, whole.end - whole.start))
    }

    /// Nobody asks for these again.
    pub fn forget(&self, calls: &[u32]) {
        if let Some(times) = &mut *lock(&TIMES) {
            calls.iter().for_each(|call| _ = times.remove(call));
        }
    }
}

/// What is to be added to CUPTI's clock: from the reading that took the least time of a few.
fn offset(cupti: &Cupti) -> Result<i64, Failure> {
    let mut best = (u64::MAX, 0);
    for _ in 0..5 {
        let (before, mut time) = (profile::now_ns(), 0);
        // SAFETY: writes the time.
        unsafe { cupti.get_timestamp(&mut time) }?;
        let took = profile::now_ns() - before;
        best = best.min((took, (before + took / 2).wrapping_sub(time) as i64));
    }
    Ok(best.1)
}

/// CUPTI tells of a call.
unsafe extern "C" fn on_call(_: *mut c_void, domain: c_int, _: u32, data: *const CallData) {
    if domain != DRIVER_CALLS {
        return;
    }
    // SAFETY: in this domain it is CUPTI's `CallData`, or nothing.
    let Some(CallData {
        site: BEFORE_CALL, call, ..
    }) = (unsafe { data.as_ref() })
    else {
        return;
    };
    // A thread that ends has no calls to follow any more.
    let _ = CALLS.try_with(|calls| {
        if let Ok(mut calls) = calls.try_borrow_mut()
            && let Some(calls) = &mut *calls
            && let Some(times) = &mut *lock(&TIMES)
        {
            calls.push(*call);
            times.insert(*call, Span::NONE);
        }
    });
}

/// CUPTI wants room for records.
unsafe extern "C" fn want_buffer(buffer: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    let words = Box::into_raw(vec![0u64; BUFFER_WORDS].into_boxed_slice());
    // SAFETY: CUPTI gives places for the three; 0 stands for as many records as fit.
    unsafe {
        buffer.write(words.cast());
        size.write(BUFFER_WORDS * size_of::<u64>());
        most_records.write(0);
    }
}

/// CUPTI gives a buffer back, with so many bytes of records.
unsafe extern "C" fn buffer_done(_: *mut c_void, _: u32, buffer: *mut u8, _: usize, bytes: usize) {
    if buffer.is_null() {
        return;
    }
    // SAFETY: one of ours, which CUPTI has done with.
    let words = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(buffer.cast::<u64>(), BUFFER_WORDS)) };
    let Some(cupti) = Cupti::opened() else { return };
    let mut record = ptr::null_mut();
    // SAFETY: the buffer is alive until `words` is dropped; CUPTI goes from record to record.
    while unsafe { cupti.get_next_record(buffer, bytes, &mut record) }.is_ok() {
        // SAFETY: it has just given the record.
        if let Some((call, span)) = unsafe { records::read(record) }
            && let Some(known) = lock(&TIMES).as_mut().and_then(|times| times.get_mut(&call))
        {
            *known = known.with(span);
        }
    }
    drop(words);
}
