//! Where a kernel leaves errors and lines of print for the host (the layout is in `docs/architecture.md`).
//!
//! A mailbox belongs to one compiled kernel and one stream, or to one graph. It is read when that has been waited for.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use weft_ir::{Module, repr};
use weft_runtime::{Buffer, HostMemory, Raised, RunError, slots};

use crate::emit::{ErrorSite, PrintPart, PrintSite};
use crate::gpu::{Gpu, lock};
use crate::memory::HostBuffer;
use crate::raw;

const STATE: u64 = 0;
const SITE: u64 = 4;
const THREAD: u64 = 8;
const TAKEN: u64 = 32;
const CAPACITY: u64 = 40;
const DROPPED: u64 = 48;
const RING: u64 = 64;

/// The state in which the record is whole.
const WRITTEN: u32 = 2;

/// Slots of the ring of a kernel that prints: half a megabyte.
const RING_SLOTS: u64 = 64 << 10;

/// What the sites of a module mean.
#[derive(Debug)]
pub struct Sites {
    pub module: Arc<Module>,
    pub errors: Vec<ErrorSite>,
    pub prints: Vec<PrintSite>,
}

#[derive(Debug)]
pub struct Mailbox {
    memory: HostBuffer,
    sites: Arc<Sites>,
    ring_slots: u64,
    /// Slots of the ring that were read.
    read: Mutex<u64>,
    /// Streams whose work may write to it.
    users: AtomicU32,
}

impl Mailbox {
    pub fn new(gpu: &Arc<Gpu>, sites: &Arc<Sites>) -> Result<Arc<Mailbox>, RunError> {
        let ring_slots = if sites.prints.is_empty() { 0 } else { RING_SLOTS };
        let bytes = (RING + 8 * ring_slots) as usize;
        let memory = HostBuffer::new(gpu, bytes, HostMemory::Pinned)?;
        raw::write(memory.address(), &vec![0; bytes]);
        raw::store(memory.address() + CAPACITY, ring_slots);
        Ok(Arc::new(Mailbox {
            memory,
            sites: sites.clone(),
            ring_slots,
            read: Mutex::new(0),
            users: AtomicU32::new(0),
        }))
    }

    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// A stream's work uses it from now on, until it is collected there while the stream is quiet.
    pub fn used(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes out what is there: lines go to the GPU's output, an error is returned. `quiet`: a stream that used it is done with it.
    fn collect(&self, gpu: &Gpu, quiet: bool) -> Result<(), RunError> {
        let alone = quiet && self.users.fetch_sub(1, Ordering::Relaxed) == 1;
        let mut text = String::new();
        let mut read = lock(&self.read);
        self.lines(&mut read, &mut text);
        if alone {
            self.reset(&mut read, &mut text);
        }
        gpu.print(&text);
        self.error().map_or(Ok(()), Err)
    }

    fn at<T: raw::Word>(&self, offset: u64) -> T {
        raw::load(self.address() + offset)
    }

    /// Lines that are whole and were not read.
    fn lines(&self, read: &mut u64, text: &mut String) {
        while *read < self.ring_slots {
            let head: u64 = self.at(RING + 8 * *read);
            let (length, site) = (head & 0xffff_ffff, (head >> 32) as usize);
            if length == 0 || *read + length > self.ring_slots {
                return;
            }
            let first = *read + 1;
            let mut values = (first..first + length - 1).map(|slot| self.at(RING + 8 * slot));
            if let Some(site) = self.sites.prints.get(site) {
                line(site, &mut values, text);
            }
            *read += length;
        }
    }

    /// Empties the ring: nobody writes to it.
    fn reset(&self, read: &mut u64, text: &mut String) {
        let taken: u64 = self.at(TAKEN);
        if taken == 0 {
            return;
        }
        let dropped: u64 = self.at(DROPPED);
        if dropped > 0 {
            let _ = writeln!(
                text,
                "[{dropped} lines of print did not fit into the buffer of {} bytes]",
                8 * self.ring_slots
            );
        }
        raw::write(self.address() + RING, &vec![0; (8 * *read) as usize]);
        raw::store(self.address() + DROPPED, 0u64);
        raw::store(self.address() + TAKEN, 0u64);
        *read = 0;
    }

    fn error(&self) -> Option<RunError> {
        if self.at::<u32>(STATE) != WRITTEN {
            return None;
        }
        let site = self.at::<u32>(SITE) as usize;
        let mut place = [0; 6];
        for (i, entry) in place.iter_mut().enumerate() {
            *entry = i64::from(self.at::<u32>(THREAD + 4 * i as u64));
        }
        raw::store(self.address() + STATE, 0u32);
        let Some(site) = self.sites.errors.get(site) else {
            return Some(RunError::Invalid(format!(
                "compiled code raised at site {site}, which it does not have"
            )));
        };
        let raised = Raised {
            kind: site.kind,
            message: site.message.clone(),
            span: site.span,
            thread: Some(place),
            output: String::new(),
            module: Some(self.sites.module.clone()),
        };
        Some(raised.into())
    }
}

/// Reads mailboxes; the first error is returned.
pub fn collect_all(gpu: &Gpu, mailboxes: &[Arc<Mailbox>], quiet: bool) -> Result<(), RunError> {
    let mut result = Ok(());
    for mailbox in mailboxes {
        result = result.and(mailbox.collect(gpu, quiet));
    }
    result
}

fn line(site: &PrintSite, values: &mut impl Iterator<Item = u64>, text: &mut String) {
    for part in &site.items {
        match part {
            PrintPart::Text(words) => text.push_str(words),
            PrintPart::Value(scalar) => text.push_str(&repr::python(slots::read(*scalar, values))),
        }
    }
    text.push('\n');
}
