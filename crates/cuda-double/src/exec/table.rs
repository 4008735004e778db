//! Device memory: host memory behind addresses of its own, so that a pointer of one kind used as the other is noticed.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Host memory that backs an allocation.
#[derive(Debug)]
pub struct Backing {
    start: *mut u8,
    owned: Option<(*mut u8, Layout)>,
}

// SAFETY: the memory is only reached through `Span`, whose accesses are atomic or said to be exclusive by their callers.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

/// Alignment of every allocation.
pub const ALIGN: u64 = 512;
const PAGE: usize = 4096;
/// Fresh memory up to this size is filled with a pattern, so that reading before writing shows.
const FILLED: usize = 4 << 20;

impl Backing {
    pub fn new(bytes: u64) -> Option<Backing> {
        let size = usize::try_from(bytes).ok()?;
        // Aligned by hand: the allocator gives zeroed pages unseen only for small alignments.
        let layout = Layout::from_size_align(size.checked_add(PAGE)?, 16).ok()?;
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            return None;
        }
        // SAFETY: there is a page to spare.
        let start = unsafe { memory.add(memory.align_offset(PAGE)) };
        if size <= FILLED {
            // SAFETY: fresh memory of this size that nobody else knows.
            unsafe { start.write_bytes(0xcb, size) };
        }
        Some(Backing {
            start,
            owned: Some((memory, layout)),
        })
    }

    /// Memory of the program, which it promises to keep.
    pub fn borrowed(start: u64) -> Backing {
        Backing {
            start: start as *mut u8,
            owned: None,
        }
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if let Some((memory, layout)) = self.owned {
            // SAFETY: allocated with this layout, and the last owner is gone.
            unsafe { dealloc(memory, layout) };
        }
    }
}

/// What an allocation was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Device,
    /// A module's constant variables.
    Constant,
    /// A module's global variables.
    Variable,
    Pinned,
    Registered,
    Managed,
    /// Host memory as devices see it where their address for it is another.
    Mapped,
}

impl Kind {
    /// Whether it is the host's memory.
    pub fn host(self) -> bool {
        matches!(self, Kind::Pinned | Kind::Registered | Kind::Managed | Kind::Mapped)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Device => "device memory",
            Kind::Constant => "constant variable",
            Kind::Variable => "global variable",
            Kind::Pinned => "pinned host memory",
            Kind::Registered => "registered host memory",
            Kind::Managed => "managed memory",
            Kind::Mapped => "host memory mapped for devices",
        }
    }
}

/// An allocation, alive or freed.
#[derive(Clone, Debug)]
pub struct Region {
    pub start: u64,
    pub bytes: u64,
    pub device: i32,
    pub kind: Kind,
    /// None once it is freed.
    pub backing: Option<Arc<Backing>>,
    /// The pool it came from; 0: none.
    pub pool: u64,
    pub id: u64,
    /// Where the same memory begins for the other side: for devices, of host memory that they see elsewhere; for the host, of what
    /// they see. 0: both have one address.
    pub twin: u64,
}

impl Region {
    pub fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// What devices have for an address in it.
    pub fn for_devices(&self, address: u64) -> u64 {
        match (self.kind, self.twin) {
            (Kind::Mapped, _) | (_, 0) => address,
            (_, twin) => twin + (address - self.start),
        }
    }

    /// What the host has for an address in it.
    pub fn for_host(&self, address: u64) -> u64 {
        if self.kind == Kind::Mapped {
            self.twin + (address - self.start)
        } else {
            address
        }
    }

    /// The part of a range, if it lies within.
    #[inline(always)]
    pub fn span(&self, address: u64, bytes: u64) -> Option<Span> {
        let offset = address.wrapping_sub(self.start);
        if offset > self.bytes || bytes > self.bytes - offset {
            return None;
        }
        let backing = self.backing.as_ref()?;
        // SAFETY: the offset is within the allocation.
        Some(Span(unsafe { backing.start.add(offset as usize) }))
    }

    pub fn describe(&self) -> String {
        let state = if self.backing.is_some() { "" } else { ", freed" };
        format!(
            "{} of {} bytes at 0x{:x} on device {}{state}",
            self.kind.name(),
            self.bytes,
            self.start,
            self.device
        )
    }
}

/// Bytes within an allocation that somebody keeps alive.
#[derive(Clone, Copy, Debug)]
pub struct Span(*mut u8);

// SAFETY: accesses through it are atomic, or bulk copies that streams order.
unsafe impl Send for Span {}

impl Span {
    /// Bytes further on, still within what the span was made for.
    #[inline(always)]
    pub fn at(self, offset: usize) -> Span {
        // Only the size the span was checked for is ever reached.
        Span(self.0.wrapping_add(offset))
    }

    /// The start of the bytes.
    pub fn pointer(self) -> *mut u8 {
        self.0
    }

    /// Reads 1, 2, 4 or 8 aligned bytes. The caller has checked size and alignment.
    #[inline(always)]
    pub fn read(self, bytes: u8) -> u64 {
        // SAFETY: `Region::span` has checked that the bytes are there, the caller that they are aligned; atomics may race.
        unsafe {
            match bytes {
                1 => u64::from(AtomicU8::from_ptr(self.0).load(Ordering::Relaxed)),
                2 => u64::from(AtomicU16::from_ptr(self.0.cast()).load(Ordering::Relaxed)),
                4 => u64::from(AtomicU32::from_ptr(self.0.cast()).load(Ordering::Relaxed)),
                _ => AtomicU64::from_ptr(self.0.cast()).load(Ordering::Relaxed),
            }
        }
    }

    #[inline(always)]
    pub fn write(self, bytes: u8, value: u64) {
        // SAFETY: as for `read`.
        unsafe {
            match bytes {
                1 => AtomicU8::from_ptr(self.0).store(value as u8, Ordering::Relaxed),
                2 => AtomicU16::from_ptr(self.0.cast()).store(value as u16, Ordering::Relaxed),
                4 => AtomicU32::from_ptr(self.0.cast()).store(value as u32, Ordering::Relaxed),
                _ => AtomicU64::from_ptr(self.0.cast()).store(value, Ordering::Relaxed),
            }
        }
    }

    /// Replaces the value by what `update` makes of it, as one step; gives the old one.
    pub fn update(self, bytes: u8, update: impl Fn(u64) -> u64) -> u64 {
        macro_rules! update {
            ($atomic:ty, $int:ty) => {{
                // SAFETY: as for `read`.
                let cell = unsafe { <$atomic>::from_ptr(self.0.cast()) };
                let f = |old: $int| Some(update(u64::from(old)) as $int);
                match cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, f) {
                    Ok(old) | Err(old) => u64::from(old),
                }
            }};
        }
        match bytes {
            1 => update!(AtomicU8, u8),
            2 => update!(AtomicU16, u16),
            4 => update!(AtomicU32, u32),
            _ => update!(AtomicU64, u64),
        }
    }

    /// Copies bytes that both spans have; they may overlap.
    pub fn copy_from(self, from: Span, bytes: u64) {
        // SAFETY: both ranges were checked by `Region::span` for this size; streams order copies as the program asked.
        unsafe { self.0.copy_from(from.0, bytes as usize) };
    }

    pub fn bytes(self, bytes: u64) -> Vec<u8> {
        // SAFETY: the range was checked by `Region::span` for this size.
        unsafe { std::slice::from_raw_parts(self.0, bytes as usize) }.to_vec()
    }

    pub fn store(self, from: &[u8]) {
        // SAFETY: the range was checked by `Region::span` for this size.
        unsafe { self.0.copy_from(from.as_ptr(), from.len()) };
    }

    /// Host memory of the program, which vouches for it.
    pub fn host(address: u64) -> Span {
        Span(address as *mut u8)
    }
}

/// All allocations by address, freed ones too.
#[derive(Clone, Debug, Default)]
pub struct Table {
    regions: Vec<Region>,
}

impl Table {
    pub fn insert(&mut self, region: Region) {
        let at = self.regions.partition_point(|r| r.start < region.start);
        // Host memory may come again at an address that was freed.
        let overlaps = |r: &Region| r.start < region.end() && region.start < r.end();
        let mut end = at;
        while end < self.regions.len() && overlaps(&self.regions[end]) {
            end += 1;
        }
        let begin = if at > 0 && overlaps(&self.regions[at - 1]) { at - 1 } else { at };
        self.regions.splice(begin..end, [region]);
        self.forget();
    }

    /// Bounds how many freed allocations are remembered.
    fn forget(&mut self) {
        const MANY: usize = 8192;
        if self.regions.len() < 2 * MANY || self.regions.iter().filter(|r| r.backing.is_none()).count() < MANY {
            return;
        }
        let mut ids: Vec<u64> = self.regions.iter().filter(|r| r.backing.is_none()).map(|r| r.id).collect();
        ids.sort_unstable();
        let limit = ids[ids.len() / 2];
        self.regions.retain(|r| r.backing.is_some() || r.id > limit);
    }

    /// The last allocation that starts at or before an address.
    pub fn index(&self, address: u64) -> Option<usize> {
        self.regions.partition_point(|r| r.start <= address).checked_sub(1)
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&Region> {
        self.regions.get(index)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Region> {
        self.regions.get_mut(index)
    }

    /// The allocation an address lies in.
    pub fn containing(&self, address: u64) -> Option<&Region> {
        let region = self.regions.get(self.index(address)?)?;
        (address < region.end().max(region.start + 1)).then_some(region)
    }

    /// The allocation nearest to an address, for error messages.
    pub fn nearest(&self, address: u64) -> Option<&Region> {
        let distance = |r: &Region| {
            if address < r.start {
                r.start - address
            } else {
                address.saturating_sub(r.end())
            }
        };
        let at = self.index(address).map_or(0, |i| i);
        let around = self.regions.get(at).into_iter().chain(self.regions.get(at + 1));
        around.min_by_key(|r| distance(r)).filter(|r| distance(r) < 1 << 32)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter()
    }

    pub fn remove_where(&mut self, gone: impl Fn(&Region) -> bool) {
        self.regions.retain(|r| !gone(r));
    }
}
