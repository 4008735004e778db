//! What CUPTI knows of the driver: who wants to hear of calls, and records of what ran, in buffers that the listener gives.
//!
//! Records lie as in CUPTI 13.0 (`cupti_activity.h`: `CUpti_ActivityKernel10`, `Memcpy6`, `MemcpyPtoP4`, `Memset4`, `GraphTrace2`); what
//! is not known here is zero. A record is lost if `WEFT_DOUBLE_FAIL` says that `cuptiActivityRecord` fails.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::operation::{Operation, Side};
use super::stream::Stream;
use super::{FAILURES, Outcome, driver, lock};

/// Numbers of `CUpti_ActivityKind`.
pub const MEMCPY: u32 = 1;
pub const MEMSET: u32 = 2;
pub const CONCURRENT_KERNEL: u32 = 10;
pub const MEMCPY2: u32 = 22;
pub const GRAPH_TRACE: u32 = 51;

/// Bytes of a record of a kind.
pub fn size(kind: u32) -> Option<usize> {
    match kind {
        MEMCPY | MEMCPY2 => Some(96),
        MEMSET => Some(88),
        CONCURRENT_KERNEL => Some(216),
        GRAPH_TRACE => Some(56),
        _ => None,
    }
}

/// `CUpti_CallbackData`
#[repr(C)]
#[derive(Debug)]
pub struct CallData {
    /// 0 before the call, 1 after it.
    site: u32,
    function_name: *const c_char,
    params: *const c_void,
    result: *const c_void,
    symbol: *const c_char,
    context: *mut c_void,
    context_number: u32,
    correlation_data: *mut u64,
    correlation: u32,
}

pub type Listener = unsafe extern "C" fn(*mut c_void, u32, u32, *const CallData);
pub type WantBuffer = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
pub type BufferDone = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// The one subscriber, its argument, and whether it hears of the driver's calls.
#[derive(Clone, Copy, Debug)]
pub struct Subscriber {
    pub listener: Listener,
    pub argument: u64,
    pub hears: bool,
}

pub static SUBSCRIBER: Mutex<Option<Subscriber>> = Mutex::new(None);
/// Whether the subscriber hears of calls: a copy that is read without a lock.
pub static HEARS: AtomicBool = AtomicBool::new(false);
/// Bits of the kinds that are recorded.
pub static KINDS: AtomicU64 = AtomicU64::new(0);
pub static CALLBACKS: Mutex<Option<(WantBuffer, BufferDone)>> = Mutex::new(None);

thread_local! {
    /// The number of the call this thread is in.
    static CALL: Cell<u32> = const { Cell::new(0) };
}

/// A call of the driver's, from its begin to its end.
pub struct Call(());

impl Call {
    /// None for CUPTI's own calls.
    pub fn begin(name: &str) -> Option<Call> {
        static CALLS: AtomicU32 = AtomicU32::new(1);
        if name.starts_with("cupti") {
            return None;
        }
        CALL.set(CALLS.fetch_add(1, Ordering::Relaxed));
        tell(0);
        Some(Call(()))
    }

    /// The number of the call this thread is in.
    pub fn number() -> u32 {
        CALL.get()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        tell(1);
        CALL.set(0);
    }
}

fn tell(site: u32) {
    if !HEARS.load(Ordering::Relaxed) {
        return;
    }
    let subscriber = *lock(&SUBSCRIBER);
    let Some(subscriber) = subscriber.filter(|subscriber| subscriber.hears) else {
        return;
    };
    let data = CallData {
        site,
        function_name: ptr::null(),
        params: ptr::null(),
        result: ptr::null(),
        symbol: ptr::null(),
        context: ptr::null_mut(),
        context_number: 0,
        correlation_data: ptr::null_mut(),
        correlation: CALL.get(),
    };
    // SAFETY: the subscriber gave the function and its argument for just this; 1 is the driver's domain.
    unsafe { (subscriber.listener)(subscriber.argument as *mut c_void, 1, 0, &data) };
}

/// CUPTI's clock: nanoseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}

/// A record being written.
struct Record(Vec<u8>);

impl Record {
    fn new(kind: u32, correlation_at: usize, correlation: u32) -> Record {
        let mut record = Record(vec![0; size(kind).unwrap_or(0)]);
        record.put(0, &kind.to_le_bytes());
        record.put(correlation_at, &correlation.to_le_bytes());
        record
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn times(&mut self, at: usize, (start, end): (u64, u64)) {
        self.put(at, &start.to_le_bytes());
        self.put(at + 8, &end.max(start + 1).to_le_bytes());
    }

    /// Device, context and stream, which follow each other in all kinds but graphs.
    fn place(&mut self, at: usize, stream: &Stream) {
        let numbers = [stream.device as u32, stream.context as u32, stream.handle as u32];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.put(at, &bytes);
    }
}

/// Records what a stream has done, if anyone wants to know.
pub fn record(stream: &Stream, operation: &Operation, call: u32, times: (u64, u64)) {
    let wanted = |kind: u32| KINDS.load(Ordering::Relaxed) & 1 << kind != 0;
    if let Operation::Graph(nodes) = operation
        && !wanted(GRAPH_TRACE)
    {
        return nodes.iter().for_each(|node| record(stream, &node.operation, call, times));
    }
    let kind = match operation {
        Operation::Kernel(_) => CONCURRENT_KERNEL,
        Operation::Copy { to, from, .. } if between_devices(to, from) => MEMCPY2,
        Operation::Copy { .. } => MEMCPY,
        Operation::Fill { .. } => MEMSET,
        Operation::Graph(_) => GRAPH_TRACE,
        _ => return,
    };
    if wanted(kind) && FAILURES.check("cuptiActivityRecord").is_none() {
        BUFFER.write(&describe(kind, stream, operation, call, times).0);
    }
}

fn describe(kind: u32, stream: &Stream, operation: &Operation, call: u32, times: (u64, u64)) -> Record {
    match operation {
        Operation::Kernel(kernel) => {
            let mut record = Record::new(kind, 92, call);
            record.times(16, times);
            record.place(40, stream);
            let shape: Vec<u8> = kernel.grid.iter().chain(&kernel.block).flat_map(|n| n.to_le_bytes()).collect();
            record.put(52, &shape);
            record
        }
        Operation::Copy { rows, .. } | Operation::Fill { rows, .. } => {
            let mut record = Record::new(kind, if kind == MEMCPY2 { 60 } else { 44 }, call);
            record.put(8, &(rows.bytes * rows.count).to_le_bytes());
            record.times(16, times);
            record.place(32, stream);
            record
        }
        _ => {
            let mut record = Record::new(kind, 4, call);
            record.times(8, times);
            record.put(24, &(stream.device as u32).to_le_bytes());
            record
        }
    }
}

fn between_devices(to: &Side, from: &Side) -> bool {
    let device = |side: &Side| {
        let Side::Known(address) = side else { return None };
        let table = driver().ok()?.memory.table();
        let region = table.get(table.index(*address)?)?;
        (!region.kind.host()).then_some(region.device)
    };
    device(to).zip(device(from)).is_some_and(|(to, from)| to != from)
}

/// The buffer that records are written to.
static BUFFER: Buffers = Buffers(Mutex::new(None));

struct Buffers(Mutex<Option<Buffer>>);

struct Buffer {
    /// An address, since it goes from thread to thread.
    address: u64,
    size: usize,
    used: usize,
    /// Records there is to be room for; 0: as many as fit.
    most: usize,
    records: usize,
}

impl Buffers {
    fn write(&self, record: &[u8]) {
        loop {
            let mut current = lock(&self.0);
            match &mut *current {
                Some(buffer) if buffer.takes(record.len()) => return buffer.push(record),
                Some(_) => {
                    let full = current.take();
                    drop(current);
                    hand_over(full);
                }
                None => match Buffer::ask(record.len()) {
                    Some(buffer) => *current = Some(buffer),
                    // Dropped, as CUPTI does.
                    None => return,
                },
            }
        }
    }
}

impl Buffer {
    fn ask(least: usize) -> Option<Buffer> {
        let (want, _) = (*lock(&CALLBACKS))?;
        let (mut address, mut size, mut most) = (ptr::null_mut(), 0, 0);
        // SAFETY: the listener's function writes the three.
        unsafe { want(&mut address, &mut size, &mut most) };
        (!address.is_null() && address.cast::<u64>().is_aligned() && size >= least).then_some(Buffer {
            address: address as u64,
            size,
            used: 0,
            most,
            records: 0,
        })
    }

    fn takes(&self, bytes: usize) -> bool {
        self.used + bytes <= self.size && (self.most == 0 || self.records < self.most)
    }

    fn push(&mut self, record: &[u8]) {
        // SAFETY: the listener's buffer has `size` bytes, and the record fits behind what is used.
        unsafe { ((self.address as *mut u8).add(self.used)).copy_from_nonoverlapping(record.as_ptr(), record.len()) };
        self.used += record.len();
        self.records += 1;
    }
}

/// Gives a buffer back with what is in it.
fn hand_over(buffer: Option<Buffer>) {
    let callbacks = *lock(&CALLBACKS);
    if let (Some(buffer), Some((_, done))) = (buffer, callbacks) {
        // SAFETY: the buffer is the listener's own.
        unsafe { done(ptr::null_mut(), 0, buffer.address as *mut u8, buffer.size, buffer.used) };
    }
}

pub fn flush() {
    let buffer = lock(&BUFFER.0).take();
    hand_over(buffer);
}

/// The record behind another of a buffer, or the first.
///
/// # Safety
/// The buffer has so many bytes of records, of which `last`, if any, is one.
pub unsafe fn next(buffer: *mut u8, bytes: usize, last: *mut u8) -> Outcome<*mut u8> {
    let next = if last.is_null() {
        buffer
    } else {
        // SAFETY: a record begins with its kind.
        let kind = unsafe { last.cast::<u32>().read() };
        last.wrapping_add(size(kind).ok_or(1_u32)?)
    };
    // CUPTI_ERROR_MAX_LIMIT_REACHED
    if (next as usize) < buffer as usize + bytes {
        Ok(next)
    } else {
        Err(12)
    }
}
