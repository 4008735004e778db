//! Memory that values are stored in.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use weft_ir::Scalar;
use weft_runtime::{Buffer, DeviceId, RunError};

use crate::dims;
use crate::error::{Error, Result};
use crate::machine;
use crate::planned;

/// A block of memory, shared by the values that are stored in it.
#[derive(Debug)]
pub struct Block {
    buffer: Box<dyn Buffer>,
    device: u8,
    /// What keeps memory that is another library's.
    owner: Option<Owner>,
}

/// Whatever is to be dropped with memory.
pub type Owner = Box<dyn Any + Send + Sync>;

impl Block {
    /// Memory of the CPU.
    pub fn new(bytes: u64) -> Result<Arc<Block>> {
        let buffer = machine::cpu()?.allocate(bytes as usize, None)?;
        let block = Arc::new(Block {
            buffer,
            device: machine::CPU,
            owner: None,
        });
        planned::made(&block);
        Ok(block)
    }

    /// Memory of a device.
    pub fn on(device: u8, bytes: u64) -> Result<Arc<Block>> {
        if device == machine::CPU {
            return Block::new(bytes);
        }
        let buffer = allocate(device, bytes)?;
        note(device, buffer.bytes() as u64, true);
        Ok(Arc::new(Block {
            buffer,
            device,
            owner: None,
        }))
    }

    /// Memory of the host that somebody else made and gave away, with what has to be kept for it.
    pub fn of(buffer: Box<dyn Buffer>, owner: Option<Owner>) -> Arc<Block> {
        debug_assert_eq!(buffer.device(), DeviceId::CPU);
        Arc::new(Block {
            buffer,
            device: machine::CPU,
            owner,
        })
    }

    pub fn address(&self) -> u64 {
        self.buffer.address()
    }

    pub fn bytes(&self) -> usize {
        self.buffer.bytes()
    }

    pub fn device(&self) -> u8 {
        self.device
    }

    pub fn buffer(&self) -> &dyn Buffer {
        &*self.buffer
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.device != machine::CPU {
            note(self.device, self.buffer.bytes() as u64, false);
        }
        if let Some(owner) = self.owner.take() {
            let_go(owner);
        }
    }
}

thread_local! {
    /// Owners of memory that was freed during a flush of this thread.
    static FREED: RefCell<Option<Vec<Owner>>> = const { RefCell::new(None) };
}

/// Drops an owner, during a flush when that is over: what is dropped may run code of the host language, which may want a flush itself.
fn let_go(owner: Owner) {
    let kept = FREED.try_with(|freed| match &mut *freed.borrow_mut() {
        Some(freed) => {
            freed.push(owner);
            None
        }
        None => Some(owner),
    });
    drop(kept);
}

/// Does what owners of memory must not be dropped meanwhile; they are the second result.
pub fn keeping_owners<T>(work: impl FnOnce() -> T) -> (T, Vec<Owner>) {
    FREED.with_borrow_mut(|freed| *freed = Some(Vec::new()));
    let done = work();
    (done, FREED.with_borrow_mut(Option::take).unwrap_or_default())
}

/// How many arrays there are of each size, on each device but the CPU.
static HELD: Mutex<BTreeMap<(u8, u64), u64>> = Mutex::new(BTreeMap::new());
/// So many sizes are named when there is no memory.
const NAMED: usize = 4;

fn note(device: u8, bytes: u64, comes: bool) {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let count = held.entry((device, bytes)).or_insert(0);
    *count = if comes { *count + 1 } else { count.saturating_sub(1) };
    if *count == 0 {
        held.remove(&(device, bytes));
    }
}

/// Memory of a device. What it frees once its work is done is waited for, and its pool emptied, before it is said that there is none.
fn allocate(number: u8, bytes: u64) -> Result<Box<dyn Buffer>> {
    let device = machine::device(number)?;
    // There is no memory of no bytes on some devices.
    let bytes = bytes.max(1) as usize;
    match device.allocate(bytes, None) {
        Err(RunError::OutOfMemory(_)) => {}
        other => return Ok(other?),
    }
    device.synchronize()?;
    device.free_all()?;
    match device.allocate(bytes, None) {
        Err(RunError::OutOfMemory(short)) => Err(Error::Memory(format!("{}: {}{}", device.id(), short, held_by(number)))),
        other => Ok(other?),
    }
}

/// The arrays of a device, the greatest first.
fn held_by(device: u8) -> String {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let mine = || {
        held.range((device, 0)..=(device, u64::MAX))
            .rev()
            .map(|((_, bytes), count)| (*bytes, *count))
    };
    let total: u64 = mine().map(|(bytes, count)| bytes.saturating_mul(count)).sum();
    let mut text = format!("; weft arrays hold {total} of them");
    for (at, (bytes, count)) in mine().take(NAMED).enumerate() {
        let _ = write!(text, "{} {count} of {bytes} bytes", if at == 0 { ":" } else { "," });
    }
    if mine().count() > NAMED {
        text.push_str(" and smaller ones");
    }
    text
}

/// How many bytes a shape of elements takes.
pub fn needed(shape: &[u64], elem: Scalar) -> Result<u64> {
    dims::bytes(shape, elem.size()).ok_or_else(|| Error::Memory("array is too big".into()))
}

/// Elements that lie dense, in C order, from an offset of a block on.
#[derive(Clone, Debug)]
pub struct Piece {
    pub block: Arc<Block>,
    pub offset: u64,
}

impl Piece {
    /// Memory of a device for elements of a shape.
    pub fn fresh(device: u8, shape: &[u64], elem: Scalar) -> Result<Piece> {
        Ok(Piece::whole(Block::on(device, needed(shape, elem)?)?))
    }

    pub fn whole(block: Arc<Block>) -> Piece {
        Piece { block, offset: 0 }
    }

    pub fn address(&self) -> u64 {
        self.block.address() + self.offset
    }

    /// May it be written to by one who holds so many references of his own to the block?
    pub fn is_own(&self, references: usize) -> bool {
        let own = Arc::strong_count(&self.block) <= references;
        if own {
            // Who let go of it last may have read it on another thread (`at_once`).
            fence(Ordering::Acquire);
        }
        own
    }
}
