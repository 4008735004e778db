//! The budget of pending work: what it holds in memory, counted where a kernel is full, so that what is computed for it is a kernel anyway.
//! So every turn of a loop makes the same kernels.

use std::sync::Arc;

use crate::capture;
use crate::error::Result;
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
    let held = held(node);
    node.set_held(held);
    match held > BUDGET {
        true => schedule::compute(std::slice::from_ref(node)),
        false => Ok(()),
    }
}

/// KiB that a node's pending work holds: memory that it reads, the nodes themselves, and what full kernels below hold.
fn held(root: &Value) -> u32 {
    let mut seen: Vec<*const Node> = Vec::with_capacity(128);
    let mut left: Vec<Value> = vec![root.clone()];
    let mut held = 0u32;
    while let Some(node) = left.pop() {
        let id = Arc::as_ptr(&node);
        if seen.contains(&id) || seen.len() > MOST_NODES {
            continue;
        }
        seen.push(id);
        let state = node.lock();
        match &*state {
            State::Stored(piece) => held = held.saturating_add((piece.block.bytes() >> 10) as u32),
            State::Pending(_) if node.is_full() && !Arc::ptr_eq(&node, root) => held = held.saturating_add(node.held()),
            State::Pending(kind) => {
                held = held.saturating_add(NODE);
                match kind {
                    Kind::Map { args, .. } => left.extend(args.iter().cloned()),
                    Kind::View { of, .. } | Kind::Reshape(of) | Kind::Strided { of, .. } | Kind::Fold { of, .. } | Kind::Moved(of) => {
                        left.push(of.clone());
                    }
                    Kind::Update { base, value, .. } => left.extend([base.clone(), value.clone()]),
                    Kind::Unfinished(rest) => held = held.saturating_add((rest.memory.block.bytes() >> 10) as u32),
                    Kind::Fill(_) | Kind::Iota(_) | Kind::StandIn => {}
                }
            }
            State::Failed(_) | State::Empty => {}
        }
    }
    held
}
