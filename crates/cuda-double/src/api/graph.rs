//! Graphs.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_uint, c_ulonglong};
use std::sync::{Arc, Mutex};

use super::stream::stream_of;
use super::{calls, put, put_if};
use crate::codes;
use crate::driver::capture::{Graph, GraphExec};
use crate::driver::handles::{self, Handle, Object};
use crate::driver::operation::Operation;
use crate::driver::{Outcome, context, lock};

unsafe fn instantiate(to: *mut Handle, graph: Handle) -> Outcome {
    context::healthy()?;
    let graph = handles::graph(graph)?;
    let nodes = lock(&graph.nodes).clone();
    let exec = GraphExec {
        nodes: Mutex::new(Arc::new(nodes)),
        _graph: graph,
    };
    let handle = handles::reserve();
    handles::insert(handle, Object::GraphExec(Arc::new(exec)));
    // SAFETY: the caller's pointer.
    unsafe { put(to, handle) }
}

/// `CUgraphExecUpdateResultInfo`
#[repr(C)]
#[derive(Debug)]
pub struct UpdateResult {
    result: c_uint,
    node: Handle,
    from: Handle,
}

calls! {
    fn cuGraphCreate(to: *mut Handle, _flags: c_uint) {
        context::healthy()?;
        let handle = handles::reserve();
        handles::insert(handle, Object::Graph(Arc::new(Graph::default())));
        put(to, handle)
    }

    fn cuGraphDestroy(graph: Handle) {
        handles::graph(graph)?;
        handles::remove(graph);
        Ok(())
    }

    fn cuGraphInstantiateWithFlags(to: *mut Handle, graph: Handle, _flags: c_ulonglong) {
        instantiate(to, graph)
    }

    fn cuGraphInstantiate_v2(to: *mut Handle, graph: Handle, node: *mut Handle, log: *mut c_char, size: usize) {
        put_if(node, 0);
        if size > 0 {
            put_if(log, 0);
        }
        instantiate(to, graph)
    }

    fn cuGraphExecDestroy(exec: Handle) {
        handles::graph_exec(exec)?;
        handles::remove(exec);
        Ok(())
    }

    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, result: *mut UpdateResult) {
        let (exec, graph) = (handles::graph_exec(exec)?, handles::graph(graph)?);
        let new = lock(&graph.nodes).clone();
        let mut old = lock(&exec.nodes);
        let alike = new.len() == old.len()
            && new.iter().zip(old.iter()).all(|(a, b)| a.operation.node_type() == b.operation.node_type() && a.after == b.after);
        let answer = UpdateResult {
            // Success, or: the topology has changed.
            result: if alike { 0 } else { 2 },
            node: 0,
            from: 0,
        };
        put_if(result, answer);
        if !alike {
            // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
            return Err(910);
        }
        *old = Arc::new(new);
        Ok(())
    }

    fn cuGraphUpload(exec: Handle, stream: Handle) {
        handles::graph_exec(exec)?;
        stream_of(&*context::healthy()?, stream).map(|_| ())
    }

    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        let context = context::healthy()?;
        let exec = handles::graph_exec(exec)?;
        let stream = stream_of(&context, stream)?;
        let nodes = lock(&exec.nodes).clone();
        stream.enqueue(&context, Operation::Graph(nodes)).map(|_| ())
    }

    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let graph = handles::graph(graph)?;
        let all = lock(&graph.nodes);
        if count.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let room = *count;
        if !nodes.is_null() {
            for (index, node) in all.iter().enumerate().take(room) {
                nodes.add(index).write(node.handle);
            }
        }
        put(count, if nodes.is_null() { all.len() } else { all.len().min(room) })
    }

    fn cuGraphNodeGetType(node: Handle, to: *mut c_uint) {
        let found = handles::find_map(|object| match object {
            Object::Graph(graph) => lock(&graph.nodes).iter().find(|n| n.handle == node).map(|n| n.operation.node_type()),
            _ => None,
        });
        put(to, found.ok_or(codes::INVALID_VALUE)?)
    }
}
