//! Buffers and the elements in them.

use super::check::{Access, Conflict, Races};
use super::trap::Fault;
use super::value::View;
use crate::module::{ConstId, Module};
use crate::op::Const;
use crate::types::Scalar;

/// A buffer of a machine. Numbers are used again once a buffer is freed; the generation tells the old from the new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId {
    index: u32,
    generation: u32,
}

impl BufferId {
    /// No buffer: every access faults.
    pub const NONE: BufferId = BufferId {
        index: u32::MAX,
        generation: 0,
    };
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    generation: u32,
    live: bool,
    /// Which bytes have been written, where reading others is an error.
    written: Option<Vec<bool>>,
    /// Can only one thread reach it?
    private: bool,
}

/// What a fresh buffer is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    /// Global or shared memory whose contents do not matter yet.
    Blank,
    Zeroed,
    /// Memory of one thread.
    Private,
}

#[derive(Debug)]
pub(super) struct Memory {
    buffers: Vec<Buffer>,
    free: Vec<u32>,
    constants: Vec<BufferId>,
    /// In checked mode.
    pub races: Option<Races>,
}

impl Memory {
    pub fn new(module: &Module, checked: bool) -> Memory {
        let mut memory = Memory {
            buffers: Vec::new(),
            free: Vec::new(),
            constants: Vec::new(),
            races: checked.then(Races::new),
        };
        memory.constants = module.constants.iter().map(|c| memory.add(c.bytes.clone())).collect();
        memory
    }

    pub fn constant(&self, id: ConstId) -> BufferId {
        self.constants.get(id.index()).copied().unwrap_or(BufferId::NONE)
    }

    pub fn add(&mut self, bytes: Vec<u8>) -> BufferId {
        self.insert(Buffer {
            bytes,
            live: true,
            ..Buffer::default()
        })
    }

    /// Memory that threads do not share, so that no two of them race for it.
    pub fn add_private(&mut self, bytes: Vec<u8>) -> BufferId {
        self.insert(Buffer {
            bytes,
            live: true,
            private: true,
            ..Buffer::default()
        })
    }

    fn insert(&mut self, mut buffer: Buffer) -> BufferId {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.buffers[index as usize];
            buffer.generation = slot.generation + 1;
            let generation = buffer.generation;
            *slot = buffer;
            return BufferId { index, generation };
        }
        self.buffers.push(buffer);
        BufferId {
            index: self.buffers.len() as u32 - 1,
            generation: 0,
        }
    }

    pub fn allocate(&mut self, bytes: u64, purpose: Purpose) -> Result<BufferId, Fault> {
        let out_of_memory = |_| Fault::OutOfMemory { bytes };
        let len = usize::try_from(bytes).map_err(|_| Fault::OutOfMemory { bytes })?;
        let mut data = Vec::new();
        data.try_reserve_exact(len).map_err(out_of_memory)?;
        data.resize(len, 0);
        let mut written = None;
        if self.races.is_some() && purpose != Purpose::Zeroed {
            let mut flags = Vec::new();
            flags.try_reserve_exact(len).map_err(out_of_memory)?;
            flags.resize(len, false);
            written = Some(flags);
        }
        Ok(self.insert(Buffer {
            bytes: data,
            generation: 0,
            live: true,
            written,
            private: purpose == Purpose::Private,
        }))
    }

    pub fn free(&mut self, id: BufferId) {
        if let Some(buffer) = self.buffers.get_mut(id.index as usize)
            && buffer.live
            && buffer.generation == id.generation
        {
            buffer.live = false;
            buffer.bytes = Vec::new();
            buffer.written = None;
            self.free.push(id.index);
        }
    }

    fn get(&self, id: BufferId) -> Option<&Buffer> {
        self.buffers
            .get(id.index as usize)
            .filter(|b| b.live && b.generation == id.generation)
    }

    pub fn bytes(&self, id: BufferId) -> &[u8] {
        self.get(id).map_or(&[], |buffer| &buffer.bytes)
    }

    /// An element at a byte offset, without any check but that it is there. A bool is true unless its byte is 0.
    pub fn peek(&self, view: &View, offset: i64, scalar: Scalar) -> Result<Const, Fault> {
        let element = self.get(view.buffer).and_then(|buffer| {
            let bytes = buffer.bytes.get(range(offset, scalar)?)?;
            match scalar {
                Scalar::Bool => Some(Const::Bool(bytes[0] != 0)),
                _ => Const::from_bytes(scalar, bytes),
            }
        });
        element.ok_or_else(|| outside(view, &[]))
    }

    pub fn load(&mut self, view: &View, offset: i64, scalar: Scalar, index: &[i64], access: Access) -> Result<Const, Fault> {
        let value = self.peek(view, offset, scalar).map_err(|_| outside(view, index))?;
        if self.races.is_some() {
            self.check(view, offset, scalar, index, access)?;
        }
        Ok(value)
    }

    pub fn store(&mut self, view: &View, offset: i64, value: Const, index: &[i64], access: Access) -> Result<(), Fault> {
        let scalar = value.scalar();
        let range = range(offset, scalar).filter(|r| self.get(view.buffer).is_some_and(|b| r.end <= b.bytes.len()));
        let Some(range) = range else { return Err(outside(view, index)) };
        if self.races.is_some() && access == Access::Write {
            self.check(view, offset, scalar, index, access)?;
        }
        let buffer = &mut self.buffers[view.buffer.index as usize];
        value.write_bytes(&mut buffer.bytes[range.clone()]);
        if let Some(written) = &mut buffer.written {
            written[range].fill(true);
        }
        Ok(())
    }

    /// Checked mode: races, and reads of what was never written. The element is known to be there.
    fn check(&mut self, view: &View, offset: i64, scalar: Scalar, index: &[i64], access: Access) -> Result<(), Fault> {
        let buffer = &self.buffers[view.buffer.index as usize];
        let range = range(offset, scalar).unwrap_or_default();
        if access != Access::Write && buffer.written.as_ref().is_some_and(|w| w[range].contains(&false)) {
            return Err(Fault::Uninitialised {
                array: view.name().to_owned(),
                index: index.to_vec(),
                shape: view.shape.clone(),
            });
        }
        let (false, Some(races)) = (buffer.private, &mut self.races) else {
            return Ok(());
        };
        races
            .touch(view.buffer.index, offset as u64, scalar.size() as u64, access)
            .map_err(|Conflict(other)| Fault::Race {
                array: view.name().to_owned(),
                index: index.to_vec(),
                shape: view.shape.clone(),
                other,
                write: access != Access::Read,
            })
    }
}

fn range(offset: i64, scalar: Scalar) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    Some(start..start.checked_add(scalar.size())?)
}

fn outside(view: &View, index: &[i64]) -> Fault {
    Fault::OutsideBuffer {
        array: view.name().to_owned(),
        index: index.to_vec(),
        shape: view.shape.clone(),
    }
}
