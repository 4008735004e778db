//! Memory that values are stored in.

use std::fmt::Debug;
use std::sync::Arc;

use weft_runtime::{Buffer, Device, RunError};

/// A block of memory, shared by the values that are stored in it.
#[derive(Debug)]
pub struct Block {
    buffer: Box<dyn Buffer>,
    /// Nothing is written to it: it is lent to others, or theirs.
    frozen: bool,
}

impl Block {
    pub fn new(device: &Arc<dyn Device>, bytes: u64) -> Result<Arc<Block>, RunError> {
        let buffer = device.allocate(bytes as usize, None)?;
        Ok(Arc::new(Block { buffer, frozen: false }))
    }

    /// Memory that somebody else made and gave away, or keeps to himself: then it is never written to.
    pub fn of(buffer: Box<dyn Buffer>, frozen: bool) -> Arc<Block> {
        Arc::new(Block { buffer, frozen })
    }

    pub fn address(&self) -> u64 {
        self.buffer.address()
    }

    pub fn bytes(&self) -> usize {
        self.buffer.bytes()
    }

    pub fn buffer(&self) -> &dyn Buffer {
        &*self.buffer
    }
}

/// Elements that lie dense, in C order, from an offset of a block on.
#[derive(Clone, Debug)]
pub struct Piece {
    pub block: Arc<Block>,
    pub offset: u64,
}

impl Piece {
    pub fn whole(block: Arc<Block>) -> Piece {
        Piece { block, offset: 0 }
    }

    pub fn address(&self) -> u64 {
        self.block.address() + self.offset
    }

    /// May it be written to by one who holds so many references of his own to the block?
    pub fn is_own(&self, references: usize) -> bool {
        !self.block.frozen && Arc::strong_count(&self.block) <= references
    }
}
