//! Handles: numbers that stand for objects, so that a stale one is an error and not a crash.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::capture::{Graph, GraphExec};
use super::context::Context;
use super::memory::Pool;
use super::module::{Function, Module};
use super::stream::{Event, Stream};
use super::{Outcome, lock};
use crate::codes::INVALID_HANDLE;

/// An opaque pointer as C programs see it.
pub type Handle = u64;

#[derive(Clone, Debug)]
pub enum Object {
    Context(Arc<Context>),
    Stream(Arc<Stream>),
    Event(Arc<Event>),
    Module(Arc<Module>),
    Function(Arc<Function>),
    Graph(Arc<Graph>),
    GraphExec(Arc<GraphExec>),
    Pool(Arc<Pool>),
}

struct Registry {
    next: Handle,
    objects: Option<HashMap<Handle, Object>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    next: 0x00d0_b1e0_0000_0010,
    objects: None,
});

/// A number for an object to be.
pub fn reserve() -> Handle {
    let mut registry = lock(&REGISTRY);
    registry.next += 16;
    registry.next
}

pub fn insert(handle: Handle, object: Object) {
    lock(&REGISTRY).objects.get_or_insert_default().insert(handle, object);
}

pub fn remove(handle: Handle) -> Option<Object> {
    lock(&REGISTRY).objects.get_or_insert_default().remove(&handle)
}

/// Removes what belongs to something that is gone.
pub fn remove_where(gone: impl Fn(&Object) -> bool) {
    let removed: Vec<_> = lock(&REGISTRY)
        .objects
        .get_or_insert_default()
        .extract_if(|_, object| gone(object))
        .collect();
    // Dropped only now: an object may look for others while it goes.
    drop(removed);
}

pub fn get(handle: Handle) -> Option<Object> {
    lock(&REGISTRY).objects.as_ref()?.get(&handle).cloned()
}

/// The handle of an object.
pub fn find(wanted: impl Fn(&Object) -> bool) -> Option<Handle> {
    lock(&REGISTRY)
        .objects
        .as_ref()?
        .iter()
        .find(|(_, object)| wanted(object))
        .map(|(handle, _)| *handle)
}

/// What `f` makes of the first object it makes something of.
pub fn find_map<T>(f: impl Fn(&Object) -> Option<T>) -> Option<T> {
    lock(&REGISTRY).objects.as_ref()?.values().find_map(f)
}

macro_rules! getters {
    ($($name:ident: $kind:ident;)*) => { $(
        pub fn $name(handle: Handle) -> Outcome<Arc<$kind>> {
            match get(handle) {
                Some(Object::$kind(object)) => Ok(object),
                _ => Err(INVALID_HANDLE),
            }
        }
    )* };
}

getters! {
    event: Event;
    module: Module;
    function: Function;
    graph: Graph;
    graph_exec: GraphExec;
    pool: Pool;
    context: Context;
    stream: Stream;
}
