//! The budget of pending work: what it holds in memory. It is counted where a kernel is full, so that what is computed for it is a kernel
//! anyway, and every turn of a loop makes the same kernels; and at folds and updates, which are computed apart from others whenever that
//! is.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::capture;
use crate::error::{Error, Result};
use crate::memory::{Block, Piece};
use crate::schedule;
use crate::tape;
use crate::value::{Kind, Node, State, Value};

/// KiB that pending work may hold.
const BUDGET: u32 = 64 << 10;
/// What a node and the array that names it take themselves, in KiB: about.
const NODE: u32 = 1;
/// How many nodes are looked at: a full kernel has fewer.
const MOST_NODES: usize = 512;

/// Computes a new node whose kernel is full, if what it keeps waiting holds too much.
pub fn keep(node: &Value) -> Result<()> {
    // What is captured has no elements; it is counted where it is recorded again.
    if !node.is_full() || has_no_elements() {
        return Ok(());
    }
    within(node, held([node.clone()]))
}

/// Is there a capture, or a tape of shapes, on this thread? What it records cannot be computed.
fn has_no_elements() -> bool {
    capture::is_here() || tape::is_among_shapes()
}

/// Notes what a node holds, and computes it where that is too much.
fn within(node: &Value, held: u32) -> Result<()> {
    node.set_held(held);
    match held > BUDGET {
        true => schedule::compute(std::slice::from_ref(node)),
        false => Ok(()),
    }
}

/// Folds that nobody asked for yet.
static APART: weft_forks::Mutex<Apart> = weft_forks::Mutex::new(Apart {
    nodes: Vec::new(),
    blocks: BTreeMap::new(),
    memory: 0,
    others: 0,
});

/// What folds hold together. None of them knows of the others, and what several hold counts once.
#[derive(Debug, Default)]
struct Apart {
    nodes: Vec<Weak<Node>>,
    /// The memory that was counted, by its place, which no other block gets while it is remembered.
    blocks: BTreeMap<usize, Weak<Block>>,
    /// KiB of the memory.
    memory: u64,
    /// KiB of nodes.
    others: u64,
}

impl Apart {
    /// Would this be too much, of which some is new?
    fn overflows(&self, new: &Holds) -> bool {
        let is_new = |block: &&(Weak<Block>, u32)| !self.blocks.contains_key(&place(&block.0));
        let more: u64 = new.blocks.iter().filter(is_new).map(|(_, kib)| u64::from(*kib)).sum();
        let others = self.others + u64::from(new.others);
        others > u64::from(BUDGET) || more > 0 && self.memory + more + others > u64::from(BUDGET)
    }

    fn add(&mut self, node: &Value, holds: &Holds) {
        self.nodes.push(Arc::downgrade(node));
        self.others += u64::from(holds.others);
        for (block, kib) in &holds.blocks {
            if self.blocks.insert(place(block), block.clone()).is_none() {
                self.memory += u64::from(*kib);
            }
        }
    }
}

fn place(block: &Weak<Block>) -> usize {
    block.as_ptr() as usize
}

/// Counts a new fold, which takes less memory than what it is made of. Where those that nobody asked for yet hold too much together the
/// older ones are computed.
pub fn keep_fold(node: &Value) -> Result<()> {
    if has_no_elements() {
        return Ok(());
    }
    let Some(kind) = node.kind() else { return Ok(()) };
    let own = holds_of_fold(&kind);
    let taken = {
        let mut apart = APART.lock();
        if !apart.overflows(&own) {
            apart.add(node, &own);
            return Ok(());
        }
        std::mem::take(&mut *apart).nodes
    };
    // Some are gone, others are computed.
    let waiting = taken.into_iter().filter_map(|node| node.upgrade()).filter(|node| !node.is_stored());
    let waiting: Vec<(Value, Holds)> = waiting
        .filter_map(|node| Some((node.clone(), holds_of_fold(&node.kind()?))))
        .collect();
    let mut now = Apart::default();
    waiting.iter().for_each(|(node, holds)| now.add(node, holds));
    now.add(node, &own);
    let too_much = now.memory + now.others > u64::from(BUDGET / 2);
    {
        let mut apart = APART.lock();
        let some = if too_much { &[] } else { waiting.as_slice() };
        some.iter().for_each(|(node, holds)| apart.add(node, holds));
        apart.add(node, &own);
    }
    for (other, _) in waiting.iter().filter(|_| too_much) {
        // Who asks for it is told of any other error.
        if let Err(error @ Error::Host(_)) = schedule::compute(std::slice::from_ref(other)) {
            return Err(error);
        }
    }
    Ok(())
}

fn holds_of_fold(kind: &Kind) -> Holds {
    let mut holds = Holds::of(kind.operands().cloned());
    holds.others = holds.others.saturating_add(NODE);
    holds
}

/// Counts a new update, whose elements are replaced in place whenever it is computed. What it is an update of counts only where that waits,
/// too.
pub fn keep_update(node: &Value) -> Result<()> {
    if has_no_elements() {
        return Ok(());
    }
    let Some(Kind::Update { base, value, .. }) = node.kind() else {
        return Ok(());
    };
    let waits = (!base.is_stored()).then_some(base);
    within(node, held(waits.into_iter().chain([value])).saturating_add(NODE))
}

/// KiB that the pending work of nodes holds.
fn held(roots: impl IntoIterator<Item = Value>) -> u32 {
    let holds = Holds::of(roots);
    holds.blocks.iter().fold(holds.others, |held, (_, kib)| held.saturating_add(*kib))
}

/// What the pending work of nodes holds: memory that it reads, the nodes themselves, and what those below hold that were counted before, in
/// KiB. What folds hold is counted for these.
#[derive(Debug, Default)]
struct Holds {
    blocks: SmallVec<[(Weak<Block>, u32); 4]>,
    others: u32,
}

impl Holds {
    fn of(roots: impl IntoIterator<Item = Value>) -> Holds {
        let mut holds = Holds::default();
        let mut seen: Vec<*const Node> = Vec::with_capacity(128);
        let mut left: Vec<Value> = roots.into_iter().collect();
        while let Some(node) = left.pop() {
            let id = Arc::as_ptr(&node);
            if seen.contains(&id) || seen.len() > MOST_NODES {
                continue;
            }
            seen.push(id);
            let more = match &*node.lock() {
                State::Stored(piece) => holds.memory(piece),
                State::Pending(_) if node.held() > 0 => node.held(),
                State::Pending(Kind::Unfinished(rest)) => holds.memory(&rest.memory),
                State::Pending(Kind::Fold { .. }) => NODE,
                State::Pending(kind) => {
                    left.extend(kind.operands().cloned());
                    NODE
                }
                State::Failed(_) | State::Empty => 0,
            };
            holds.others = holds.others.saturating_add(more);
        }
        holds
    }

    /// Adds memory, once; it takes nothing else. Who counts it does not hold it.
    fn memory(&mut self, piece: &Piece) -> u32 {
        let kib = u32::try_from(piece.block.bytes() >> 10).unwrap_or(u32::MAX);
        let is_known = |(known, _): &(Weak<Block>, u32)| known.as_ptr() == Arc::as_ptr(&piece.block);
        if kib > 0 && !self.blocks.iter().any(is_known) {
            self.blocks.push((Arc::downgrade(&piece.block), kib));
        }
        0
    }
}
