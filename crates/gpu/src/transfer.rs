//! Copies: bytes between the host and the device, and from one place of the device to another.
//!
//! wgpu copies words of 4 bytes. What lies behind the end of what was asked for is nobody's, so that copies up to there are rounded up;
//! other odd ends go through [`Live::splice`].

use std::collections::VecDeque;

use weft_runtime::{RunError, raw};

use crate::batch::Ticket;
use crate::gpu::Gpu;
use crate::live::{Live, State};
use crate::splice::Bytes;
use crate::staging::{LARGE, Slot};

const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;
/// Uploads up to this many bytes travel with the launches around them.
const SMALL: usize = 16 << 10;
/// Larger ones are done in parts, of which a few are on their way at a time.
const PART: usize = 16 << 20;
const PARTS: usize = 3;
/// Bytes of the arena for parameters, and for what aligns them.
const ROOM: usize = 4 << 10;
/// Bytes that a fill repeats.
const PATTERN: u64 = 1 << 20;

/// A place in a block, which is used without holding on to the table.
#[derive(Clone, Debug)]
struct Place {
    buffer: wgpu::Buffer,
    block: u64,
    offset: u64,
    /// Offsets from here on are nobody's.
    end: u64,
}

impl Place {
    fn at(&self, distance: u64) -> Bytes<'_> {
        Bytes {
            buffer: &self.buffer,
            start: self.offset + distance,
        }
    }

    /// May a copy of so many bytes be rounded up?
    fn is_to_end(&self, bytes: u64) -> bool {
        self.offset + bytes >= self.end
    }
}

fn place(gpu: &Gpu, state: &State, address: u64, bytes: u64) -> Result<Place, RunError> {
    let inside = |end: u64, size: u64| end.checked_add(bytes).is_some_and(|end| end <= size);
    match state.memory.find(address) {
        Some(block) if inside(address - block.base, block.size) => Ok(Place {
            buffer: block.buffer.clone(),
            block: block.base,
            offset: address - block.base,
            end: block.bytes,
        }),
        _ => Err(gpu.no_memory(address, bytes)),
    }
}

impl Gpu {
    /// The error of an address that is no memory of the device's.
    #[cold]
    pub fn no_memory(&self, address: u64, bytes: u64) -> RunError {
        let why = match self.owns(address) {
            true => "memory that was freed, lost with the device, or ends before that",
            false => "no memory of the device: its kernels and copies do not address the host's",
        };
        RunError::Invalid(format!("{bytes} bytes at {address:#x} are not on {}: {why}", self.id))
    }
}

impl Live {
    /// Copies from the host, whose memory has been read when this returns.
    pub fn upload(&self, gpu: &Gpu, to: u64, from: &[u8]) -> Result<(), RunError> {
        let mut tickets = VecDeque::new();
        for (at, part) in (0..).step_by(PART).zip(from.chunks(PART)) {
            let mut state = self.state();
            let place = place(gpu, &state, to + at, part.len() as u64)?;
            self.put_bytes(&mut state, &place, part)?;
            if from.len() <= PART {
                break;
            }
            tickets.push_back(self.submit_now(&mut state));
            drop(state);
            if tickets.len() >= PARTS
                && let Some(ticket) = tickets.pop_front()
            {
                self.wait(&ticket)?;
            }
        }
        self.check()
    }

    /// Submits also what was only written to the queue.
    fn submit_now(&self, state: &mut State) -> Ticket {
        let _ = state.batch.encoder(self);
        state.batch.submit(self)
    }

    fn put_bytes(&self, state: &mut State, to: &Place, from: &[u8]) -> Result<(), RunError> {
        if !to.offset.is_multiple_of(WORD) {
            return self.splice_in(state, to.at(0), from);
        }
        let (words, rest) = from.split_at(from.len() & !(WORD as usize - 1));
        self.put_words(state, to.at(0), words);
        if rest.is_empty() {
            return Ok(());
        }
        let behind = to.at(words.len() as u64);
        if to.is_to_end(from.len() as u64) {
            let mut last = [0; WORD as usize];
            last[..rest.len()].copy_from_slice(rest);
            self.put_words(state, behind, &last);
            return Ok(());
        }
        self.splice_in(state, behind, rest)
    }

    fn put_words(&self, state: &mut State, to: Bytes<'_>, from: &[u8]) {
        if from.is_empty() {
            return;
        }
        if state.batch.is_open() {
            if from.len() <= SMALL {
                return state.batch.put(self, (to.buffer, to.start), from);
            }
            // What is written to the queue comes before what is recorded.
            state.batch.submit(self);
        }
        self.queue.write_buffer(to.buffer, to.start, from);
    }

    /// Bytes to any place.
    fn splice_in(&self, state: &mut State, to: Bytes<'_>, from: &[u8]) -> Result<(), RunError> {
        let size = from.len().next_multiple_of(WORD as usize);
        if from.len() <= SMALL {
            // What is copied and the parameters of the copy lie in one arena.
            state.batch.make_room(self, size + ROOM);
            let (start, room) = state.batch.reserve(self, size, self.alignment as usize);
            room[..from.len()].copy_from_slice(from);
            let source = Bytes {
                buffer: &self.arena,
                start: start as u64,
            };
            return self.splice(state, to, source, from.len() as u64);
        }
        let scratch = self.buffer(size as u64, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST)?;
        // Nothing recorded uses it yet, so that it does not matter that the write comes first.
        let (words, rest) = from.split_at(from.len() & !(WORD as usize - 1));
        self.queue.write_buffer(&scratch, 0, words);
        if !rest.is_empty() {
            let mut last = [0; WORD as usize];
            last[..rest.len()].copy_from_slice(rest);
            self.queue.write_buffer(&scratch, words.len() as u64, &last);
        }
        let source = Bytes {
            buffer: &scratch,
            start: 0,
        };
        self.splice(state, to, source, from.len() as u64)
    }

    /// Copies to the host and waits; what kernels left in mailboxes is gathered, and errors of theirs arrive here.
    pub fn download(&self, gpu: &Gpu, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.check()?;
        let waiting = self.begin_wait();
        let bytes = bytes as u64;
        // From the first word that has one of the bytes to the last.
        let skip = from % WORD;
        let (start, length) = (from - skip, (skip + bytes).next_multiple_of(WORD));
        let mut under_way: VecDeque<(Slot, Ticket, u64, u64)> = VecDeque::new();
        let mut peeked = None;
        let take_out = |(slot, ticket, at, part): (Slot, Ticket, u64, u64)| {
            self.open_slot(slot, &ticket, part, |words| {
                let first = skip.saturating_sub(at);
                let last = part.min(skip + bytes - at);
                let place = to + at + first - skip;
                raw::write(place, &words[first as usize..last as usize]);
            })
        };
        for at in (0..length).step_by(LARGE as usize) {
            let part = LARGE.min(length - at);
            let slot = self.slot(part)?;
            let ticket = {
                let mut state = self.state();
                let place = place(gpu, &state, start + at, part)?;
                state.batch.copy(self, (&place.buffer, place.offset), (&slot.buffer, 0), part);
                let peek = if at == 0 { self.peek(&mut state)? } else { None };
                let ticket = state.batch.submit(self);
                peeked = peeked.or(peek.map(|peek| (peek, ticket.clone())));
                ticket
            };
            under_way.push_back((slot, ticket, at, part));
            if under_way.len() >= PARTS
                && let Some(first) = under_way.pop_front()
            {
                take_out(first)?;
            }
        }
        under_way.into_iter().try_for_each(take_out)?;
        if let Some((peek, ticket)) = peeked {
            self.settle(gpu, &ticket, Some(peek))?;
        }
        waiting.end()
    }

    pub fn copy_on_device(&self, gpu: &Gpu, to: u64, from: u64, bytes: u64) -> Result<(), RunError> {
        self.check()?;
        let mut state = self.state();
        let state = &mut *state;
        let (to, from) = (place(gpu, state, to, bytes)?, place(gpu, state, from, bytes)?);
        if to.block != from.block {
            return self.copy_apart(state, &to, &from, bytes);
        }
        // wgpu copies between different buffers only.
        let skip = from.offset % WORD;
        let size = (skip + bytes).next_multiple_of(WORD);
        let uses = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let scratch = Place {
            buffer: self.buffer(size, uses)?,
            block: 0,
            offset: skip,
            end: size,
        };
        state
            .batch
            .copy(self, (&from.buffer, from.offset - skip), (&scratch.buffer, 0), size);
        self.copy_apart(state, &to, &scratch, bytes)
    }

    /// Copies between different buffers.
    fn copy_apart(&self, state: &mut State, to: &Place, from: &Place, bytes: u64) -> Result<(), RunError> {
        let skip = to.offset % WORD;
        if skip != from.offset % WORD {
            return self.splice(state, to.at(0), from.at(0), bytes);
        }
        let head = ((WORD - skip) % WORD).min(bytes);
        if head > 0 {
            self.splice(state, to.at(0), from.at(0), head)?;
        }
        let rest = bytes - head;
        let words = match to.is_to_end(bytes) {
            true => rest.next_multiple_of(WORD),
            false => rest / WORD * WORD,
        };
        if words > 0 {
            let (to, from) = (to.at(head), from.at(head));
            state.batch.copy(self, (from.buffer, from.start), (to.buffer, to.start), words);
        }
        match rest.checked_sub(words) {
            None | Some(0) => Ok(()),
            Some(tail) => self.splice(state, to.at(head + words), from.at(head + words), tail),
        }
    }

    pub fn fill(&self, gpu: &Gpu, address: u64, value: u8, bytes: u64) -> Result<(), RunError> {
        self.check()?;
        let mut state = self.state();
        let state = &mut *state;
        let place = place(gpu, state, address, bytes)?;
        let head = ((WORD - place.offset % WORD) % WORD).min(bytes);
        if head > 0 {
            self.splice_in(state, place.at(0), &[value; WORD as usize][..head as usize])?;
        }
        let words = (bytes - head) / WORD * WORD;
        self.fill_words(state, place.at(head), value, words)?;
        let tail = bytes - head - words;
        if tail > 0 {
            self.splice_in(state, place.at(head + words), &[value; WORD as usize][..tail as usize])?;
        }
        Ok(())
    }

    fn fill_words(&self, state: &mut State, to: Bytes<'_>, value: u8, bytes: u64) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        if value == 0 {
            state.batch.encoder(self).clear_buffer(to.buffer, to.start, Some(bytes));
            return Ok(());
        }
        if bytes <= SMALL as u64 {
            state.batch.put(self, (to.buffer, to.start), &vec![value; bytes as usize]);
            return Ok(());
        }
        let size = bytes.min(PATTERN);
        let pattern = self.buffer(size, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST)?;
        self.queue.write_buffer(&pattern, 0, &vec![value; size as usize]);
        for at in (0..bytes).step_by(PATTERN as usize) {
            let part = size.min(bytes - at);
            state.batch.copy(self, (&pattern, 0), (to.buffer, to.start + at), part);
        }
        Ok(())
    }
}
