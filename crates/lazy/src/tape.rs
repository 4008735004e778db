//! Tapes: what was recorded of values that somebody follows, in the order in which it was, for gradients and other transforms of functions.
//! A tape keeps what each node was made of, which a node itself forgets as soon as it is computed.

mod batch;
mod transpose;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use smallvec::SmallVec;

use crate::array::{Array, Storage};
use crate::capture;
use crate::dims;
use crate::value::{Kind, Node, Value};

/// Tapes under way, on all threads.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Tapes that there have been.
static BEGUN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Those of this thread, the innermost last.
    static TAPES: RefCell<Vec<Tape>> = const { RefCell::new(Vec::new()) };
    /// How many of them, from the outermost on, take no notice: those that were there when a pause began.
    static PAUSED: Cell<usize> = const { Cell::new(0) };
    /// Was something read in a pause that a tape follows that takes no notice?
    static LOOKED: Cell<bool> = const { Cell::new(false) };
}

/// A value of a tape, by its number.
pub type Place = usize;

/// What a tape takes notice of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Values that have a gradient, of what it began with.
    Gradients,
    /// The same of whatever storages are read meanwhile.
    Everything,
    /// All values of what it began with, whose elements there are none of yet.
    Shapes,
}

/// What was recorded.
#[derive(Debug)]
pub struct Tape {
    pub follow: Follow,
    /// By the address of the node.
    places: HashMap<usize, Place>,
    /// The values, which keeps their addresses theirs.
    values: Vec<Value>,
    pub entries: Vec<Entry>,
    /// The storages whose values it began with, or found.
    leaves: Vec<(Arc<Storage>, Place)>,
    /// How many storages there had been when it began.
    began: u64,
    /// Which one it is, of all that there have been.
    number: u64,
}

/// Some values that were made of others.
#[derive(Debug)]
pub struct Entry {
    pub results: SmallVec<[Option<Place>; 1]>,
    /// Of each operand its place; none of what nobody follows.
    pub operands: SmallVec<[Option<Place>; 2]>,
    pub made: Made,
}

/// How they were made.
#[derive(Debug)]
pub enum Made {
    /// A node: the only result, and what it is made of.
    Node(Value, Kind),
    /// By a function that the caller knows.
    Call(Arc<dyn Any + Send + Sync>),
}

/// Is there a tape, on whatever thread?
#[inline]
pub fn is_on() -> bool {
    OPEN.load(Ordering::Relaxed) > 0
}

/// Does a tape of this thread take notice?
#[inline]
pub fn is_here() -> bool {
    is_any(|_| true)
}

/// Is any tape of this thread as wanted, of those that take notice?
fn is_any(wanted: impl Fn(&Tape) -> bool) -> bool {
    is_on() && TAPES.with_borrow(|tapes| tapes.iter().skip(PAUSED.get()).any(wanted))
}

/// Is there such a tape on this thread, in a pause, too?
pub fn is_among_shapes() -> bool {
    is_on() && TAPES.with_borrow(|tapes| tapes.iter().any(|tape| tape.follow == Follow::Shapes))
}

/// Does any tape of this thread follow values without elements?
pub fn has_shapes() -> bool {
    is_any(|tape| tape.follow == Follow::Shapes)
}

/// Are any of these followed by such a tape?
pub fn lacks_elements(values: &[Value]) -> bool {
    let lacks = |tape: &Tape| tape.follow == Follow::Shapes && values.iter().any(|value| tape.place(value).is_some());
    is_any(lacks)
}

/// Has the tapes of this thread take no notice until the result is dropped. Those that begin meanwhile do.
pub fn pause() -> Pause {
    Pause {
        before: PAUSED.replace(TAPES.with_borrow(Vec::len)),
        looked: LOOKED.replace(false),
    }
}

/// Tapes take no notice.
#[derive(Debug)]
pub struct Pause {
    before: usize,
    looked: bool,
}

impl Pause {
    /// Was something read meanwhile that a tape follows? What is made of it is lost for that tape.
    pub fn has_looked(&self) -> bool {
        LOOKED.get()
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        PAUSED.set(self.before);
        LOOKED.set(self.looked);
    }
}

/// Begins a tape: the arrays as it follows them, which share nothing with those that were given.
pub fn begin(follow: Follow, arrays: &[Array]) -> Vec<Array> {
    let mut tape = Tape::new(follow);
    // Tapes around this one see that its values are made of theirs.
    let made: Vec<(Array, Value)> = arrays.iter().map(|array| followed(array, follow)).collect();
    for (array, leaf) in &made {
        let place = tape.know(leaf);
        tape.leaves.push((array.storage.clone(), place));
    }
    push(tape);
    made.into_iter().map(|(array, _)| array).collect()
}

/// Begins a tape that follows arrays as they are, or whatever is read where there are none: its number. `began`: one goes on that began when
/// there had been so many storages.
pub fn watch(arrays: &[Array], began: Option<u64>) -> u64 {
    let mut tape = Tape::new(if arrays.is_empty() { Follow::Everything } else { Follow::Gradients });
    for array in arrays {
        tape.find(&array.storage);
    }
    tape.began = began.unwrap_or(tape.began);
    let number = tape.number;
    push(tape);
    number
}

/// The number of the innermost tape of this thread.
pub fn innermost() -> Option<u64> {
    TAPES.with_borrow(|tapes| tapes.last().map(|tape| tape.number))
}

fn push(tape: Tape) {
    TAPES.with_borrow_mut(|tapes| tapes.push(tape));
    OPEN.fetch_add(1, Ordering::Relaxed);
}

/// Ends the innermost tape of this thread.
pub fn end() -> Option<Tape> {
    let tape = TAPES.with_borrow_mut(Vec::pop);
    if tape.is_some() {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
    tape
}

/// An array of a storage of its own that has the elements of another one, and the storage's value, which nothing else is.
fn followed(array: &Array, follow: Follow) -> (Array, Value) {
    // What is a view of all of a storage lies in the order of its memory; others are what they show.
    let whole = match array.turn() {
        Some(_) => array.clone(),
        None => Array::of(array.read()),
    };
    let leaf = match follow {
        Follow::Shapes => {
            let base = whole.base();
            Node::pending_on(base.device, base.elem, dims::copy(&base.shape), Kind::StandIn)
        }
        _ => another(&whole.base()),
    };
    let storage = whole.storage.with(leaf.clone());
    if capture::is_on() {
        capture::made(&storage);
    }
    (whole.of_storage(storage), leaf)
}

/// A node that is no other, of the same elements.
pub fn another(value: &Value) -> Value {
    let map = Box::new(dims::identity(value.shape.len()));
    let kind = Kind::View { of: value.clone(), map };
    match value.piece() {
        // What is in memory need not be copied.
        Some(piece) => {
            let node = Node::stored(value.elem, dims::copy(&value.shape), piece);
            if is_on() {
                note(&node, &kind);
            }
            node
        }
        None => Node::pending_on(value.device, value.elem, dims::copy(&value.shape), kind),
    }
}

/// Which is no other node's while the tape keeps it.
fn address(value: &Value) -> usize {
    Arc::as_ptr(value) as usize
}

fn has_gradient(value: &Value) -> bool {
    value.elem.is_float() || value.elem.is_complex()
}

impl Tape {
    /// How many storages there had been when it began.
    pub fn began(&self) -> u64 {
        self.began
    }

    fn new(follow: Follow) -> Tape {
        Tape {
            follow,
            places: HashMap::new(),
            values: Vec::new(),
            entries: Vec::new(),
            leaves: Vec::new(),
            began: Storage::count(),
            number: BEGUN.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn know(&mut self, value: &Value) -> Place {
        let place = self.values.len();
        self.values.push(value.clone());
        self.places.insert(address(value), place);
        place
    }

    fn takes(&self, value: &Value) -> bool {
        self.follow == Follow::Shapes || has_gradient(value)
    }

    /// The number of a value, if it is followed.
    pub fn place(&self, value: &Value) -> Option<Place> {
        self.places.get(&address(value)).copied()
    }

    /// The values that it began with or found, and the storages that these were of.
    pub fn leaves(&self) -> &[(Arc<Storage>, Place)] {
        &self.leaves
    }

    /// Was a storage there before? What was made meanwhile is followed if it was made of what is.
    fn may_find(&self, storage: &Storage) -> bool {
        storage.number() < self.began
    }

    /// Follows a storage's value, unless it does.
    fn find(&mut self, storage: &Arc<Storage>) {
        if !self.may_find(storage) {
            return;
        }
        let value = Storage::value(storage);
        let is_leaf = |known: &Arc<Storage>| Arc::ptr_eq(known, storage);
        if !has_gradient(&value) || self.leaves.iter().any(|(known, _)| is_leaf(known)) {
            return;
        }
        let leaf = match self.place(&value) {
            // The value of another storage, of which this one has a copy.
            Some(place) if self.leaves.iter().any(|(_, leaf)| *leaf == place) => storage.other_value(&value),
            Some(_) => return,
            None => storage.own_value(&value),
        };
        let place = self.know(&leaf);
        self.leaves.push((storage.clone(), place));
    }

    /// Takes down a new node, if any of its operands is followed.
    fn note(&mut self, node: &Value, kind: &Kind) {
        if !self.takes(node) {
            return;
        }
        let operands: SmallVec<[Option<Place>; 2]> = kind.operands().map(|operand| self.place(operand)).collect();
        if operands.iter().all(Option::is_none) {
            return;
        }
        let result = self.know(node);
        self.entries.push(Entry {
            results: SmallVec::from_elem(Some(result), 1),
            operands,
            made: Made::Node(node.clone(), kind.clone()),
        });
    }

    fn note_call(&mut self, call: &Arc<dyn Any + Send + Sync>, operands: &[Value], results: &[Value]) {
        let operands: SmallVec<[Option<Place>; 2]> = operands.iter().map(|operand| self.place(operand)).collect();
        if operands.iter().all(Option::is_none) {
            return;
        }
        let results = results.iter().map(|result| self.takes(result).then(|| self.know(result))).collect();
        self.entries.push(Entry {
            results,
            operands,
            made: Made::Call(call.clone()),
        });
    }
}

/// Every tape of this thread takes a new node down that is made of what it follows.
#[cold]
pub fn note(node: &Value, kind: &Kind) {
    TAPES.with_borrow_mut(|tapes| tapes.iter_mut().skip(PAUSED.get()).for_each(|tape| tape.note(node, kind)));
}

/// A storage is read: tapes that follow everything follow it.
#[cold]
pub fn read(storage: &Arc<Storage>) {
    let paused = PAUSED.get();
    if paused > 0 && !LOOKED.get() {
        let value = storage.now();
        let would = |tape: &Tape| tape.follow == Follow::Everything && tape.may_find(storage) && has_gradient(&value);
        let follows = |tape: &Tape| tape.place(&value).is_some() || would(tape);
        LOOKED.set(TAPES.with_borrow(|tapes| tapes.iter().take(paused).any(follows)));
    }
    let count = TAPES.with_borrow(Vec::len);
    for at in paused..count {
        // What finds a storage makes a node that the other tapes take notice of: this one is taken out meanwhile.
        let taken = TAPES.with_borrow_mut(|tapes| match tapes.get_mut(at) {
            Some(tape) if tape.follow == Follow::Everything => Some(std::mem::replace(tape, Tape::new(Follow::Gradients))),
            _ => None,
        });
        if let Some(mut tape) = taken {
            tape.find(storage);
            TAPES.with_borrow_mut(|tapes| tapes[at] = tape);
        }
    }
}

/// Takes down that a function made arrays of others: the arrays to give away, each of a value that nothing else is.
pub fn call(call: &Arc<dyn Any + Send + Sync>, operands: &[Array], results: &[Array]) -> Vec<Array> {
    let operands: Vec<Value> = operands.iter().map(Array::read).collect();
    let is_shape = lacks_elements(&operands);
    let given: Vec<Array> = {
        let _pause = pause();
        let stand_in = |like: &Array| Array::of(Node::pending_on(like.device(), like.elem, dims::copy(&like.shape), Kind::StandIn));
        let of = |result: &Array| {
            if is_shape {
                stand_in(result)
            } else {
                Array::of(another(&result.read()))
            }
        };
        results.iter().map(of).collect()
    };
    // What nobody else reads yet is read as a whole.
    let results: Vec<Value> = given.iter().map(Array::base).collect();
    TAPES.with_borrow_mut(|tapes| {
        let here = tapes.iter_mut().skip(PAUSED.get());
        here.for_each(|tape| tape.note_call(call, &operands, &results));
    });
    given
}

/// A storage of its own for an array that shows all of one.
fn own(array: &Array) -> Arc<Storage> {
    let storage = array.storage.with(another(&array.base()));
    if capture::is_on() {
        capture::made(&storage);
    }
    storage
}

/// Does a tape of this thread that takes notice follow an array's elements?
pub fn follows(array: &Array) -> bool {
    is_here() && {
        let value = array.base();
        is_any(|tape| tape.place(&value).is_some())
    }
}

/// Would a value without elements be written to a storage that there was before the tape that follows it?
pub fn leaves_shapes(storage: &Storage, value: &Value) -> bool {
    is_any(|tape| tape.follow == Follow::Shapes && storage.number() < tape.began && tape.place(value).is_some())
}

/// The place of an array's elements on the innermost tape of this thread.
pub fn place_of(array: &Array) -> Option<Place> {
    let value = array.read();
    TAPES.with_borrow(|tapes| tapes.last().and_then(|tape| tape.place(&value)))
}

/// An array of a storage of its own with the elements that another one has now, which it shows in the same way.
pub fn as_it_is(array: &Array) -> Array {
    let storage = array.storage.with(array.base());
    if capture::is_on() {
        capture::made(&storage);
    }
    array.of_storage(storage)
}

/// Do two arrays show values that are the same node?
pub fn is_same(a: &Array, b: &Array) -> bool {
    Arc::ptr_eq(&a.storage.now(), &b.storage.now())
}

/// The same elements, which no tape follows.
pub fn unfollowed(array: &Array) -> Array {
    let _pause = pause();
    array.of_storage(own(array))
}
