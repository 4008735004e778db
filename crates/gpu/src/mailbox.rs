//! Mailboxes of kernels that raise or print: a buffer for each compiled form of a kernel.
//!
//! All launches of a device are in one queue, so that they share it. Every wait first looks at the heads of the mailboxes that were used
//! since the last one, in the same batch; only one that has something in it is read whole, and emptied by the copy's next neighbour in the
//! queue, so that nothing that another thread's launch writes meanwhile is lost.

use std::sync::{Arc, Mutex};
use std::thread;

pub use weft_runtime::mailbox::Sites;
use weft_runtime::mailbox::{CAPACITY, DROPPED, RING, STATE, TAKEN, WRITTEN, Words};
use weft_runtime::{RunError, lock};

use crate::batch::Ticket;
use crate::gpu::Gpu;
use crate::live::{Live, State};
use crate::staging::{SMALL, Slot};
use crate::waits::Launchers;

/// Bytes of a mailbox without its ring.
const HEAD: u64 = RING;

#[derive(Debug)]
pub struct Mailbox {
    pub buffer: wgpu::Buffer,
    sites: Arc<Sites>,
    bytes: u64,
    /// Who launched what writes to it since it was last looked at; nobody: it is not among those that the next wait looks at.
    launchers: Mutex<Launchers>,
}

impl Mailbox {
    pub fn new(live: &Live, sites: Arc<Sites>) -> Result<Arc<Mailbox>, RunError> {
        let bytes = HEAD + 8 * sites.ring_slots();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let buffer = live.buffer(bytes, usage)?;
        live.queue.write_buffer(&buffer, CAPACITY, &sites.ring_slots().to_le_bytes());
        Ok(Arc::new(Mailbox {
            buffer,
            sites,
            bytes,
            launchers: Mutex::default(),
        }))
    }

    /// A launch that may write to it was recorded.
    #[inline]
    pub fn used(self: &Arc<Self>, pending: &mut Vec<Arc<Mailbox>>) {
        let me = thread::current().id();
        let mut launchers = lock(&self.launchers);
        if launchers.is_empty() {
            pending.push(self.clone());
        }
        if launchers.last() != Some(&me) && !launchers.contains(&me) {
            launchers.push(me);
        }
    }

    /// Takes out what is there: lines go to the GPU's output, an error is returned.
    fn empty(&self, live: &Live, gpu: &Gpu) -> Result<(), RunError> {
        // Rings are larger than a small buffer and smaller than a large one.
        let slot = live.slot(self.bytes)?;
        let ticket = {
            let mut state = live.state();
            let batch = &mut state.batch;
            batch.copy(live, (&self.buffer, 0), (&slot.buffer, 0), self.bytes);
            batch.encoder(live).clear_buffer(&self.buffer, 0, None);
            let capacity = self.sites.ring_slots().to_le_bytes();
            batch.put(live, (&self.buffer, CAPACITY), &capacity);
            batch.submit(live)
        };
        let (text, error) = live.open_slot(slot, &ticket, self.bytes, |memory| {
            let mut text = String::new();
            self.sites.lines(memory, &mut 0, &mut text);
            self.sites.dropped(memory, &mut text);
            (text, self.sites.error(memory))
        })?;
        gpu.output.push(&text);
        error.map_or(Ok(()), Err)
    }
}

/// Mailboxes whose heads a batch copies out. Unless that is read, they are left to the next wait.
#[derive(Debug)]
pub struct Peek<'a> {
    live: &'a Live,
    /// Others wait for what is found.
    number: u64,
    boxes: Vec<(Arc<Mailbox>, Launchers)>,
    slot: Option<Slot>,
}

impl Live {
    /// Records a look at all mailboxes that were used.
    pub fn peek(&self, state: &mut State) -> Result<Option<Peek<'_>>, RunError> {
        if state.mailboxes.is_empty() {
            return Ok(None);
        }
        let slot = self.slot(SMALL)?;
        let most = state.mailboxes.len().min((SMALL / HEAD) as usize);
        let boxes: Vec<_> = state.mailboxes.drain(..most).collect();
        let take = |mailbox: Arc<Mailbox>| {
            let launchers = std::mem::take(&mut *lock(&mailbox.launchers));
            (mailbox, launchers)
        };
        let boxes: Vec<_> = boxes.into_iter().map(take).collect();
        for (at, (mailbox, _)) in (0..).step_by(HEAD as usize).zip(&boxes) {
            state.batch.copy(self, (&mailbox.buffer, 0), (&slot.buffer, at), HEAD);
        }
        Ok(Some(Peek {
            live: self,
            number: state.waits.begin_read(),
            boxes,
            slot: Some(slot),
        }))
    }

    /// Waits for a batch and takes out what kernels left by then. The first error is returned.
    pub fn settle(&self, gpu: &Gpu, ticket: &Ticket, peek: Option<Peek<'_>>) -> Result<(), RunError> {
        let Some(mut peek) = peek else {
            return self.wait(ticket);
        };
        let Some(slot) = peek.slot.take() else { return Ok(()) };
        let bytes = peek.boxes.len() as u64 * HEAD;
        let heads = self.open_slot(slot, ticket, bytes, <[u8]>::to_vec)?;
        let boxes = std::mem::take(&mut peek.boxes);
        let mut result = Ok(());
        for (head, (mailbox, launchers)) in heads.chunks_exact(HEAD as usize).zip(&boxes) {
            if head.u32(STATE) != WRITTEN && head.u64(TAKEN) == 0 && head.u64(DROPPED) == 0 {
                continue;
            }
            if let Err(error) = mailbox.empty(self, gpu) {
                self.state().waits.tell(launchers, &error);
                result = result.and(Err(error));
            }
        }
        result
    }

    /// Gathers what kernels left that are done, and waits for those that are not.
    pub fn synchronize_mailboxes(&self, gpu: &Gpu) -> Result<(), RunError> {
        if self.state().mailboxes.is_empty() {
            return Ok(());
        }
        self.synchronize(gpu)
    }

    /// Waits for all work so far.
    pub fn synchronize(&self, gpu: &Gpu) -> Result<(), RunError> {
        self.check()?;
        let waiting = self.begin_wait();
        loop {
            let (ticket, peek, more) = {
                let mut state = self.state();
                let peek = self.peek(&mut state)?;
                (state.batch.submit(self), peek, !state.mailboxes.is_empty())
            };
            self.settle(gpu, &ticket, peek)?;
            if !more {
                waiting.end()?;
                return gpu.callbacks.wait();
            }
        }
    }
}

impl Drop for Peek<'_> {
    fn drop(&mut self) {
        let mut state = self.live.state();
        for (mailbox, before) in &self.boxes {
            let mut launchers = lock(&mailbox.launchers);
            if launchers.is_empty() {
                state.mailboxes.push(mailbox.clone());
            }
            let new: Launchers = before.iter().filter(|thread| !launchers.contains(thread)).copied().collect();
            launchers.extend(new);
        }
        state.waits.end_read(self.number);
        self.live.told.notify_all();
    }
}

impl Gpu {
    /// Waits for all work so far; a device that was never opened has none.
    pub fn synchronize(&self) -> Result<(), RunError> {
        if self.is_forked() {
            return Err(RunError::Forked(self.id));
        }
        self.opened().map_or(Ok(()), |live| live.synchronize(self))
    }
}
