//! Scopes: what names mean in a function, block by block: those of an inner block hide the ones outside and end with it.

use std::collections::HashMap;

use super::function::{Place, Register};

/// What a name stands for. Registers, variables and labels share one space of names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Register(Register),
    Place(Place),
    /// The number of the instruction behind it.
    Label(u32),
    /// The number of a branch table.
    Targets(u32),
}

/// The number of a block of a function, from 0, which is the whole function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockId(u32);

struct Block {
    outer: Option<BlockId>,
    names: HashMap<String, Meaning>,
}

/// All blocks of a function so far, and the one that is open.
pub(super) struct Names {
    blocks: Vec<Block>,
    open: BlockId,
}

impl Names {
    pub fn new() -> Names {
        Names {
            blocks: vec![Block {
                outer: None,
                names: HashMap::new(),
            }],
            open: BlockId(0),
        }
    }

    pub fn open_block(&mut self) {
        let inner = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block {
            outer: Some(self.open),
            names: HashMap::new(),
        });
        self.open = inner;
    }

    pub fn close_block(&mut self) {
        self.open = self.blocks[self.open.0 as usize].outer.unwrap_or(BlockId(0));
    }

    /// The block that statements are in now.
    pub fn block(&self) -> BlockId {
        self.open
    }

    /// Gives a name its meaning in the open block; false where it has one there.
    pub fn define(&mut self, name: &str, meaning: Meaning) -> bool {
        let names = &mut self.blocks[self.open.0 as usize].names;
        names.insert(name.to_owned(), meaning).is_none()
    }

    /// What a name means in the open block, of what has been declared so far.
    pub fn find(&self, name: &str) -> Option<Meaning> {
        self.outwards(self.open).find_map(|block| block.names.get(name).copied())
    }

    /// Where a jump to a label goes that stands in `block`; labels may come after the jump.
    pub fn label(&self, block: BlockId, name: &str) -> Option<u32> {
        self.outwards(block).find_map(|block| match block.names.get(name) {
            Some(Meaning::Label(at)) => Some(*at),
            _ => None,
        })
    }

    fn outwards(&self, from: BlockId) -> impl Iterator<Item = &Block> {
        let block = |id: BlockId| &self.blocks[id.0 as usize];
        std::iter::successors(Some(block(from)), move |inner| inner.outer.map(block))
    }
}
