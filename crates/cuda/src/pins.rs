//! Pinning: host memory of others that is page-locked: whole pages, each once, however many arrays lie on them and on however many devices
//! they are used.
//!
//! The driver refuses to lock a page twice, and small arrays share pages. What is locked is kept apart from what was asked for: a neighbour on
//! the same page is no pinned array, and a copy of it must not be put off.

use std::collections::BTreeMap;
use std::sync::Mutex;

use weft_runtime::lock;

use crate::driver::{Context, Failure};

/// All of this process, which the driver sees as one.
#[derive(Debug, Default)]
pub struct Pins(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Pieces that the driver has locked, by their first address. None overlap.
    pieces: BTreeMap<u64, Piece>,
    /// Address and bytes of what was asked for.
    asked: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    /// Arrays on it.
    users: u32,
    /// What a device adds to the host's addresses.
    offset: u64,
}

impl Pins {
    /// Locks the pages of an array; gives the address that kernels have for it if it is to be `mapped`, else the host's own. Pages that were
    /// locked apart may lie apart for kernels.
    pub fn pin(&self, context: &Context, address: u64, bytes: u64, mapped: bool) -> Result<u64, PinError> {
        let mut known = lock(&self.0);
        let (low, high) = pages(address, bytes);
        let gaps = known.gaps(low, high);
        let mut made = Vec::new();
        for (start, end) in gaps {
            match lock_pages(context, start, end) {
                Ok(offset) => made.push((start, Piece { end, users: 0, offset })),
                Err(failure) => {
                    made.iter().for_each(|(start, _)| _ = context.unpin(*start));
                    return Err(PinError::Refused(failure));
                }
            }
        }
        known.pieces.extend(made.iter().copied());
        known.over(low, high).for_each(|piece| piece.users += 1);
        known.asked.push((address, bytes));
        if !mapped {
            return Ok(address);
        }
        let offsets: Vec<u64> = known.over(low, high).map(|piece| piece.offset).collect();
        let first = offsets.first().copied().unwrap_or(0);
        if offsets.iter().any(|offset| *offset != first) {
            known.forget(context, address, bytes);
            return Err(PinError::InPieces);
        }
        Ok(address.wrapping_add(first))
    }

    /// Unlocks what no other array is on.
    pub fn unpin(&self, context: &Context, address: u64, bytes: u64) {
        lock(&self.0).forget(context, address, bytes);
    }

    /// Has this been pinned, and in one piece? Nothing where the memory is none of ours.
    pub fn holds(&self, address: u64, bytes: u64) -> Option<bool> {
        let mut known = lock(&self.0);
        let end = address.checked_add(bytes)?;
        let pieces = known.over(address, end).count();
        if pieces == 0 {
            return None;
        }
        let asked = known.asked.iter().any(|(at, size)| *at <= address && end <= at + size);
        let whole = known.over(address, end).any(|piece| piece.end >= end);
        Some(asked && pieces == 1 && whole)
    }
}

/// Why memory was not pinned.
#[derive(Clone, Copy, Debug)]
pub enum PinError {
    Refused(Failure),
    /// Parts of it are pinned already, and a device has them elsewhere.
    InPieces,
}

impl Known {
    /// What of a span is not locked.
    fn gaps(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        let (mut gaps, mut at) = (Vec::new(), low);
        for (start, piece) in &self.pieces {
            if piece.end <= at || *start >= high {
                continue;
            }
            if *start > at {
                gaps.push((at, *start));
            }
            at = piece.end;
        }
        if at < high {
            gaps.push((at, high));
        }
        gaps
    }

    /// The pieces that a span touches.
    fn over(&mut self, low: u64, high: u64) -> impl Iterator<Item = &mut Piece> {
        self.pieces
            .range_mut(..high)
            .map(|(_, piece)| piece)
            .filter(move |piece| piece.end > low)
    }

    fn forget(&mut self, context: &Context, address: u64, bytes: u64) {
        if let Some(at) = self.asked.iter().position(|asked| *asked == (address, bytes)) {
            self.asked.swap_remove(at);
        }
        let (low, high) = pages(address, bytes);
        self.over(low, high).for_each(|piece| piece.users -= 1);
        self.pieces.retain(|start, piece| {
            if piece.users == 0 {
                // There is nobody to tell of what fails here.
                let _ = context.unpin(*start);
            }
            piece.users > 0
        });
    }
}

fn lock_pages(context: &Context, start: u64, end: u64) -> Result<u64, Failure> {
    context.pin(start, (end - start) as usize)?;
    match context.device_address(start) {
        Ok(address) => Ok(address.wrapping_sub(start)),
        Err(failure) => {
            let _ = context.unpin(start);
            Err(failure)
        }
    }
}

/// The pages that bytes lie on.
fn pages(address: u64, bytes: u64) -> (u64, u64) {
    let size = page_size();
    (address / size * size, (address + bytes.max(1)).next_multiple_of(size))
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn page_size() -> u64 {
    // SAFETY: asks the system for a number.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(not(unix))]
fn page_size() -> u64 {
    4096
}
