//! Activity records: what is read of CUPTI's structures, and where it lies.
//!
//! Each version of CUPTI has a structure of its own for a kind of record, made by adding to the end. The fields below lie where the headers
//! of CUDA 11.7, 11.8, 12.0, 12.1, 12.4, 12.6, 12.8, 12.9, 13.0, 13.2 and 13.5 have them, as a C compiler said of `CUpti_ActivityKernel7`
//! to `13`, `Memcpy5` to `7`, `MemcpyPtoP4`, `Memset4` and `5`, `GraphTrace` and `GraphTrace2`, and `CUpti_CallbackData`.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::offset_of;

/// Numbers of `CUpti_ActivityKind`.
pub mod kinds {
    pub const MEMCPY: u32 = 1;
    pub const MEMSET: u32 = 2;
    pub const CONCURRENT_KERNEL: u32 = 10;
    /// From one device to another.
    pub const MEMCPY2: u32 = 22;
    /// A graph as a whole; without it come the records of its nodes.
    pub const GRAPH_TRACE: u32 = 51;
}

/// `CUpti_CallbackData`: a call of the driver's begins or ends.
#[repr(C)]
#[derive(Debug)]
pub struct CallData {
    /// 0 before the call, 1 after it.
    pub site: u32,
    _function: [*const c_void; 6],
    _correlation_data: *mut u64,
    /// The number of the call, which records of its work have, too.
    pub call: u32,
}

#[repr(C)]
struct Kernel {
    kind: u32,
    _caches: [u32; 3],
    start: u64,
    end: u64,
    _completed: u64,
    _place: [u32; 3],
    _shape: [u32; 6],
    _memory: [u32; 4],
    call: u32,
}

/// Fills, too, and copies between devices, which have the call later.
#[repr(C)]
struct Copy {
    kind: u32,
    _memories: u32,
    bytes: u64,
    start: u64,
    end: u64,
    _place: [u32; 3],
    call: u32,
    _devices: [u32; 3],
    call_of_peers: u32,
}

#[repr(C)]
struct Graph {
    kind: u32,
    call: u32,
    start: u64,
    end: u64,
}

const _: () = {
    assert!(offset_of!(CallData, site) == 0 && offset_of!(CallData, call) == 64 && size_of::<CallData>() == 72);
    assert!(offset_of!(Kernel, kind) == 0 && offset_of!(Kernel, start) == 16 && offset_of!(Kernel, end) == 24);
    assert!(offset_of!(Kernel, call) == 92 && size_of::<Kernel>() <= 176);
    assert!(offset_of!(Copy, kind) == 0 && offset_of!(Copy, bytes) == 8 && offset_of!(Copy, start) == 16 && offset_of!(Copy, end) == 24);
    assert!(offset_of!(Copy, call) == 44 && offset_of!(Copy, call_of_peers) == 60 && size_of::<Copy>() <= 88);
    assert!(offset_of!(Graph, call) == 4 && offset_of!(Graph, start) == 8 && offset_of!(Graph, end) == 16 && size_of::<Graph>() <= 48);
};

/// When something ran, on CUPTI's clock, and the bytes it moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u64,
    pub end: u64,
    pub bytes: u64,
}

impl Span {
    /// Of nothing.
    pub const NONE: Span = Span {
        start: u64::MAX,
        end: 0,
        bytes: 0,
    };

    /// From the first start to the last end.
    pub fn with(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            // A record may say anything.
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// The number of the call and its work's time. None of records that were asked for by nobody here, or that have no times.
///
/// # Safety
/// A record that CUPTI gave.
pub unsafe fn read(record: *const u8) -> Option<(u32, Span)> {
    // SAFETY: CUPTI aligns records to 8 bytes; they begin with their kind, and those of a kind with what is declared above.
    let (call, span) = unsafe {
        match record.cast::<u32>().read() {
            kinds::CONCURRENT_KERNEL => {
                let Kernel { start, end, call, .. } = record.cast::<Kernel>().read();
                (call, Span { start, end, bytes: 0 })
            }
            kind @ (kinds::MEMCPY | kinds::MEMSET | kinds::MEMCPY2) => {
                let copy = record.cast::<Copy>().read();
                let call = if kind == kinds::MEMCPY2 { copy.call_of_peers } else { copy.call };
                let Copy { start, end, bytes, .. } = copy;
                (call, Span { start, end, bytes })
            }
            kinds::GRAPH_TRACE => {
                let Graph { start, end, call, .. } = record.cast::<Graph>().read();
                (call, Span { start, end, bytes: 0 })
            }
            _ => return None,
        }
    };
    (span.end > 0 && span.end >= span.start).then_some((call, span))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of 176 bytes, the least that a kernel's has, with numbers at places as the headers have them.
    fn record(kind: u32, call_at: usize, times_at: usize, times: [u64; 2], bytes: u64) -> Option<(u32, Span)> {
        let mut words = [u64::MAX; 22];
        let mut put = |at: usize, value: &[u8]| {
            // SAFETY: all of it lies within the words.
            unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), words.as_mut_ptr().cast::<u8>().add(at), value.len()) };
        };
        put(8, &bytes.to_le_bytes());
        put(times_at, &times[0].to_le_bytes());
        put(times_at + 8, &times[1].to_le_bytes());
        put(0, &kind.to_le_bytes());
        put(call_at, &7u32.to_le_bytes());
        // SAFETY: aligned to 8 bytes and as long as any that is read.
        unsafe { read(words.as_ptr().cast()) }
    }

    #[test]
    fn fields_are_where_the_headers_have_them() {
        let span = |bytes| Some((7, Span { start: 3, end: 5, bytes }));
        assert_eq!(record(kinds::CONCURRENT_KERNEL, 92, 16, [3, 5], 9), span(0));
        assert_eq!(record(kinds::MEMCPY, 44, 16, [3, 5], 9), span(9));
        assert_eq!(record(kinds::MEMSET, 44, 16, [3, 5], 9), span(9));
        assert_eq!(record(kinds::MEMCPY2, 60, 16, [3, 5], 9), span(9));
        assert_eq!(record(kinds::GRAPH_TRACE, 4, 8, [3, 5], 3), span(0));
    }

    #[test]
    fn what_has_no_times_or_is_of_another_kind_is_passed_over() {
        assert_eq!(record(kinds::CONCURRENT_KERNEL, 92, 16, [0, 0], 0), None);
        assert_eq!(record(kinds::MEMCPY, 44, 16, [5, 3], 9), None);
        assert_eq!(record(4, 44, 16, [3, 5], 9), None);
    }

    /// Whatever a record holds, it is passed over or has an end behind its start, and adding records up never fails.
    /// `WEFT_DAMAGED_RECORDS=1000000` tries as many as that.
    #[test]
    fn damaged_records_are_passed_over_or_make_sense() {
        let count = std::env::var("WEFT_DAMAGED_RECORDS")
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(20_000);
        let kinds = [1, 2, 10, 22, 51, 4, 0, u32::MAX];
        let (mut state, mut whole, mut taken) = (1u64, Span::NONE, 0);
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match state >> 60 {
                0 => 0,
                1 => u64::MAX,
                2 => state >> 40,
                _ => state ^ state >> 29,
            }
        };
        for index in 0..count {
            let mut words: [u64; 22] = std::array::from_fn(|_| next());
            if index % 8 != 0 {
                words[0] = words[0] & !0xffff_ffff | u64::from(kinds[index % kinds.len()]);
            }
            // SAFETY: aligned to 8 bytes and as long as any that is read.
            let Some((_, span)) = (unsafe { read(words.as_ptr().cast()) }) else {
                continue;
            };
            taken += 1;
            assert!(span.start <= span.end && span.end > 0, "record {index}: {span:?}");
            whole = whole.with(span);
            assert!(whole.start <= whole.end, "record {index}: {whole:?}");
        }
        assert!(taken > count / 10 && whole.bytes == u64::MAX, "{taken} of {count}");
    }
}
