//! Graphs, and recording them from streams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use super::handles::Handle;
use super::operation::Operation;
use super::{Outcome, lock};
use crate::codes;

/// The nodes that what a stream does next comes after.
pub type Tips = Vec<usize>;

#[derive(Clone, Debug)]
pub struct Node {
    pub handle: Handle,
    pub operation: Arc<Operation>,
    pub after: Tips,
}

/// A recording under way. Streams that wait for an event of it join in.
#[derive(Debug)]
pub struct Capture {
    pub id: u64,
    pub origin: Handle,
    pub thread: ThreadId,
    /// 0: unsafe calls of any thread are refused, 1: those of its own, 2: none.
    pub mode: u32,
    nodes: Mutex<Vec<Node>>,
    invalid: AtomicBool,
    /// Memory allocated while recording, which lives as long as the graph.
    pub memory: Mutex<Vec<u64>>,
}

impl Capture {
    pub fn new(id: u64, origin: Handle, mode: u32) -> Arc<Capture> {
        Arc::new(Capture {
            id,
            origin,
            thread: std::thread::current().id(),
            mode,
            nodes: Mutex::default(),
            invalid: AtomicBool::new(false),
            memory: Mutex::default(),
        })
    }

    pub fn invalidate(&self) {
        self.invalid.store(true, Ordering::Relaxed);
    }

    pub fn valid(&self) -> bool {
        !self.invalid.load(Ordering::Relaxed)
    }

    /// Adds a node after the stream's others.
    pub fn add(&self, operation: Operation, tips: &mut Tips) -> Outcome {
        if !self.valid() {
            return Err(codes::STREAM_CAPTURE_INVALIDATED);
        }
        let mut nodes = lock(&self.nodes);
        nodes.push(Node {
            handle: super::handles::reserve(),
            operation: Arc::new(operation),
            after: std::mem::take(tips),
        });
        tips.push(nodes.len() - 1);
        Ok(())
    }

    /// The graph, if everything recorded leads to where the origin stream stands.
    pub fn finish(&self, tips: &Tips) -> Outcome<Graph> {
        if !self.valid() {
            return Err(codes::STREAM_CAPTURE_INVALIDATED);
        }
        let nodes = std::mem::take(&mut *lock(&self.nodes));
        let mut reached = vec![false; nodes.len()];
        let mut open = tips.clone();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                open.extend(&nodes[node].after);
            }
        }
        if reached.contains(&false) {
            return Err(codes::STREAM_CAPTURE_UNJOINED);
        }
        Ok(Graph {
            nodes: Mutex::new(nodes),
            memory: std::mem::take(&mut *lock(&self.memory)),
        })
    }
}

#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Mutex<Vec<Node>>,
    memory: Vec<u64>,
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(driver) = super::driver() {
            for address in &self.memory {
                // The program may have freed it itself.
                _ = driver.memory.free(*address, &[crate::exec::table::Kind::Device]);
            }
        }
    }
}

/// A graph ready to be launched. Nodes are in an order in which they can run one after the other.
#[derive(Debug)]
pub struct GraphExec {
    pub nodes: Mutex<Arc<Vec<Node>>>,
    /// Keeps the memory the graph allocates.
    pub _graph: Arc<Graph>,
}
