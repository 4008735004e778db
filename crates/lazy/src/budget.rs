//! The budget of pending work: what it holds in memory. It is counted where a kernel is full, so that what is computed for it is a kernel
//! anyway, and every turn of a loop makes the same kernels; and at folds and updates, which are computed apart from others whenever that
//! is.

use std::sync::{Arc, Weak};

use crate::capture;
use crate::error::{Error, Result};
use crate::memory::Piece;
use crate::schedule;
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
    if !node.is_full() || capture::is_here() {
        return Ok(());
    }
    within(node, held([node.clone()]))
}

/// Notes what a node holds, and computes it where that is too much.
fn within(node: &Value, held: u32) -> Result<()> {
    node.set_held(held);
    match held > BUDGET {
        true => schedule::compute(std::slice::from_ref(node)),
        false => Ok(()),
    }
}

/// Folds that nobody asked for yet, with the KiB that each holds.
static APART: weft_forks::Mutex<Apart> = weft_forks::Mutex::new(Apart {
    nodes: Vec::new(),
    held: 0,
});

#[derive(Debug)]
struct Apart {
    nodes: Vec<(Weak<Node>, u32)>,
    held: u64,
}

impl Apart {
    fn add(&mut self, node: &Value, held: u32) {
        self.nodes.push((Arc::downgrade(node), held));
        self.held += u64::from(held);
    }
}

/// Counts a new fold, which takes less memory than what it is made of. Where those that nobody asked for yet hold too much together the
/// older ones are computed: none of them knows of the others.
pub fn keep_fold(node: &Value) -> Result<()> {
    if capture::is_here() {
        return Ok(());
    }
    let Some(kind) = node.kind() else { return Ok(()) };
    let own = held(kind.operands().cloned()).saturating_add(NODE);
    let taken = {
        let mut apart = APART.lock();
        if apart.held.saturating_add(own.into()) <= BUDGET.into() {
            apart.add(node, own);
            return Ok(());
        }
        apart.held = 0;
        std::mem::take(&mut apart.nodes)
    };
    // Some are gone, others are computed.
    let waiting: Vec<(Value, u32)> = (taken.into_iter())
        .filter_map(|(node, held)| Some((node.upgrade()?, held)))
        .filter(|(node, _)| !node.is_stored())
        .collect();
    let all = waiting.iter().map(|(_, held)| u64::from(*held)).sum::<u64>() + u64::from(own);
    let too_much = all > u64::from(BUDGET / 2);
    {
        let mut apart = APART.lock();
        if !too_much {
            waiting.iter().for_each(|(node, held)| apart.add(node, *held));
        }
        apart.add(node, own);
    }
    for (other, _) in waiting.iter().filter(|_| too_much) {
        // Who asks for it is told of any other error.
        if let Err(error @ Error::Host(_)) = schedule::compute(std::slice::from_ref(other)) {
            return Err(error);
        }
    }
    Ok(())
}

/// Counts a new update, whose elements are replaced in place whenever it is computed. What it is an update of counts only where that waits,
/// too.
pub fn keep_update(node: &Value) -> Result<()> {
    if capture::is_here() {
        return Ok(());
    }
    let Some(Kind::Update { base, value, .. }) = node.kind() else {
        return Ok(());
    };
    let waits = (!base.is_stored()).then_some(base);
    within(node, held(waits.into_iter().chain([value])).saturating_add(NODE))
}

/// KiB that the pending work of nodes holds: memory that it reads, the nodes themselves, and what those below hold that were counted
/// before. What folds hold is counted for these.
fn held(roots: impl IntoIterator<Item = Value>) -> u32 {
    let mut seen: Vec<*const Node> = Vec::with_capacity(128);
    let mut left: Vec<Value> = roots.into_iter().collect();
    let mut held = 0u32;
    let memory = |piece: &Piece| (piece.block.bytes() >> 10) as u32;
    while let Some(node) = left.pop() {
        let id = Arc::as_ptr(&node);
        if seen.contains(&id) || seen.len() > MOST_NODES {
            continue;
        }
        seen.push(id);
        let more = match &*node.lock() {
            State::Stored(piece) => memory(piece),
            State::Pending(_) if node.held() > 0 => node.held(),
            State::Pending(Kind::Unfinished(rest)) => memory(&rest.memory),
            State::Pending(Kind::Fold { .. }) => NODE,
            State::Pending(kind) => {
                left.extend(kind.operands().cloned());
                NODE
            }
            State::Failed(_) | State::Empty => 0,
        };
        held = held.saturating_add(more);
    }
    held
}
