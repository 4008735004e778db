//! Capturing: what a function records of arrays, kept to be recorded again of others. While it is captured it runs on stand-ins of its
//! arguments, and of whatever arrays it finds besides, whose elements nobody can look at.

mod general;
mod loaded;
mod read;
mod running;
mod write;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use smallvec::SmallVec;
use weft_ir::Scalar;

use crate::array::{Array, Storage};
use crate::dims::{self, Dims};
use crate::error::{Error, Result};
use crate::planned::Operand;
use crate::value::{Kind, Node, Value};

/// Captures under way, on all threads.
static OPEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Those of this thread, the innermost last.
    static CAPTURES: RefCell<Vec<Capture>> = const { RefCell::new(Vec::new()) };
}

/// Is anything captured, on whatever thread?
#[inline]
pub fn is_on() -> bool {
    OPEN.load(Ordering::Relaxed) > 0
}

/// Is something captured on this thread?
pub fn is_here() -> bool {
    is_on() && CAPTURES.with_borrow(|captures| !captures.is_empty())
}

/// A number that this thread's innermost capture has and no other one; none where nothing is captured.
pub fn number() -> Option<u64> {
    innermost(|capture| Some(capture.number))
}

/// A capture under way.
#[derive(Debug, Default)]
pub struct Capture {
    number: u64,
    /// The storages that were made since it began, kept so that nothing else has their addresses.
    own: HashMap<*const Storage, Arc<Storage>>,
    /// For each stand-in of an argument's storage: the stand-in, what stands for its value, and the first argument of that storage.
    args: Vec<(Arc<Storage>, Value, usize)>,
    /// Storages that were there before, and are no argument's.
    outside: Vec<Outside>,
    calls: Vec<Called>,
    /// A size was looked at: another one might lead to something else.
    sized: bool,
}

/// Notes that a size was looked at.
#[inline]
pub fn sized() {
    if is_on() {
        innermost(|capture| {
            capture.sized = true;
            Some(())
        });
    }
}

/// What is done at once when a graph is recorded again: no combination of nodes.
pub trait Call: Debug + Send + Sync {
    /// The results for operands.
    fn call(self: Arc<Self>, operands: &[Value]) -> Result<Vec<Value>>;

    /// Of how many operands it reads elements in memory: it is a routine that `run` runs, and that notes itself (`planned::call`). Else 0.
    fn reads(&self) -> usize {
        0
    }

    /// Runs it on elements in memory: what it reads, and behind it where it puts what it gives.
    fn run(&self, _operands: &[&Operand]) -> Result<()> {
        Err(Error::Internal("a call that is no routine".into()))
    }

    /// The operand that a result of a routine may be put over: each of its elements is read before that of the result is written.
    fn replaces(&self, _result: usize) -> Option<usize> {
        None
    }

    /// The types and shapes of its results for operands that are not there yet; what is wrong with these.
    fn gives(&self, _operands: &[Value]) -> Result<Vec<(Scalar, Dims)>> {
        Err(Error::Internal("a call that does not say what it gives".into()))
    }

    /// What a graph's text says of it; none where it cannot be written.
    fn text(&self) -> Option<String> {
        None
    }
}

#[derive(Debug)]
struct Called {
    call: Arc<dyn Call>,
    operands: Vec<Value>,
    /// What stands for its results.
    results: Vec<Value>,
}

/// Records a call: what stands for its results, which are like other arrays. None where nothing is captured.
pub fn call(call: Arc<dyn Call>, operands: Vec<Value>, like: &[Array]) -> Option<Vec<Value>> {
    let like: Vec<Given> = (like.iter())
        .map(|like| (like.elem, dims::copy(&like.shape), like.device()))
        .collect();
    record_call(call, operands, &like)
}

/// What a call gives: its type, shape and device.
pub type Given = (Scalar, Dims, u8);

/// The same, where it is known what it gives.
pub fn record_call(call: Arc<dyn Call>, operands: Vec<Value>, gives: &[Given]) -> Option<Vec<Value>> {
    innermost(|capture| {
        let stand_in = |(elem, shape, device): &Given| Node::pending_on(*device, *elem, dims::copy(shape), Kind::StandIn);
        let results: Vec<Value> = gives.iter().map(stand_in).collect();
        capture.calls.push(Called {
            call,
            operands,
            results: results.clone(),
        });
        Some(results)
    })
}

#[derive(Debug)]
struct Outside {
    storage: Arc<Storage>,
    /// What stands for its value.
    leaf: Value,
    /// Its value, as far as the captured function would have changed it.
    now: Value,
}

fn leaf(of: &Value) -> Value {
    Node::pending_on(of.device, of.elem, of.shape.clone(), Kind::StandIn)
}

fn innermost<T>(work: impl FnOnce(&mut Capture) -> Option<T>) -> Option<T> {
    CAPTURES.with_borrow_mut(|captures| captures.last_mut().and_then(work))
}

/// Notes a new storage.
#[cold]
pub fn made(storage: &Arc<Storage>) {
    innermost(|capture| {
        capture.own.insert(Arc::as_ptr(storage), storage.clone());
        Some(())
    });
}

/// What stands for the value of a storage, if it is none of the capture's own.
#[cold]
pub fn stand_in(storage: &Arc<Storage>) -> Option<Value> {
    innermost(|capture| {
        if capture.own.contains_key(&Arc::as_ptr(storage)) {
            return None;
        }
        if let Some(known) = capture.outside.iter().find(|known| Arc::ptr_eq(&known.storage, storage)) {
            return Some(known.now.clone());
        }
        let leaf = leaf(&storage.now());
        capture.outside.push(Outside {
            storage: storage.clone(),
            leaf: leaf.clone(),
            now: leaf.clone(),
        });
        Some(leaf)
    })
}

/// Replaces what stands for the value of a storage, which was asked for before.
#[cold]
pub fn replace(storage: &Arc<Storage>, value: Value) {
    innermost(|capture| {
        let known = capture.outside.iter_mut().find(|known| Arc::ptr_eq(&known.storage, storage))?;
        // What was there is let go when nothing is borrowed any more.
        Some(std::mem::replace(&mut known.now, value))
    });
}

/// Begins a capture; stand-ins for the arguments, which are views of the same storages as these are.
pub fn begin(args: &[Array]) -> Vec<Array> {
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    let mut capture = Capture {
        number: BEGUN.fetch_add(1, Ordering::Relaxed) + 1,
        ..Capture::default()
    };
    let mut known: Vec<(*const Storage, Arc<Storage>)> = Vec::new();
    let mut made = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let found = known
            .iter()
            .find(|(of, _)| *of == Arc::as_ptr(&arg.storage))
            .map(|(_, storage)| storage.clone());
        let storage = found.unwrap_or_else(|| {
            let leaf = leaf(&arg.base());
            let storage = arg.storage.with(leaf.clone());
            known.push((Arc::as_ptr(&arg.storage), storage.clone()));
            capture.own.insert(Arc::as_ptr(&storage), storage.clone());
            capture.args.push((storage.clone(), leaf, at));
            storage
        });
        made.push(arg.of_storage(storage));
    }
    CAPTURES.with_borrow_mut(|captures| captures.push(capture));
    OPEN.fetch_add(1, Ordering::Relaxed);
    made
}

/// Ends the innermost capture of this thread.
pub fn end() -> Capture {
    let capture = CAPTURES.with_borrow_mut(Vec::pop);
    if capture.is_some() {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
    capture.unwrap_or_default()
}

/// Where the value of a storage comes from that a graph begins with.
#[derive(Clone, Debug)]
enum Source {
    Argument(usize),
    Fixed(Arc<Storage>),
}

/// A value of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Leaf(usize),
    Made(usize),
    /// It depends on none of the leaves.
    Constant(usize),
}

/// What is made again.
#[derive(Debug)]
enum Step {
    Node {
        device: u8,
        elem: Scalar,
        shape: Dims,
        kind: Kind,
        operands: SmallVec<[Place; 3]>,
    },
    /// As many values as the call has results.
    Call {
        call: Arc<dyn Call>,
        operands: SmallVec<[Place; 3]>,
        results: Vec<Given>,
    },
}

/// Of which storage a result is.
#[derive(Clone, Debug)]
enum Of {
    Leaf(usize),
    New(usize),
    Fixed(Arc<Storage>),
}

/// What a function recorded.
#[derive(Debug)]
pub struct Graph {
    leaves: Vec<Source>,
    /// What stands for them.
    likes: Vec<Value>,
    constants: Vec<Value>,
    steps: Vec<Step>,
    /// Storages of the leaves that are written to, and their values after.
    written: Vec<(usize, Place)>,
    /// Storages that the function made and returns arrays of.
    new: Vec<(Arc<Storage>, Place)>,
    results: Vec<(Array, Of)>,
    sized: bool,
    calls: bool,
    /// What it calls are routines, and some are: it runs at once, by a plan.
    is_routine: bool,
    planning: running::Lock,
}

impl Graph {
    fn empty() -> Graph {
        Graph {
            leaves: Vec::new(),
            likes: Vec::new(),
            constants: Vec::new(),
            steps: Vec::new(),
            written: Vec::new(),
            new: Vec::new(),
            results: Vec::new(),
            sized: true,
            calls: false,
            is_routine: false,
            planning: running::Lock::default(),
        }
    }

    /// Says what its steps are.
    fn settle(&mut self) {
        let mut calls = self.steps.iter().filter_map(|step| match step {
            Step::Call { call, .. } => Some(call),
            Step::Node { .. } => None,
        });
        self.is_routine = calls.clone().all(|call| call.reads() > 0);
        self.calls = calls.next().is_some();
        // Elements of an argument that are replaced are replaced in place, where nobody else has it: who records knows that.
        let writes = |step: &Step| match step {
            Step::Node { kind, operands, .. } => matches!((kind, operands.first()), (Kind::Update { .. }, Some(Place::Leaf(_)))),
            Step::Call { .. } => false,
        };
        self.is_routine &= self.calls && !self.steps.iter().any(writes);
    }
}

impl Capture {
    /// What was recorded, and gives these results.
    pub fn graph(self, results: &[Array]) -> Result<Graph> {
        let mut leaves = Vec::new();
        let mut likes = Vec::new();
        let mut ends: Vec<(Arc<Storage>, Value)> = Vec::new();
        let mut walk = Walk {
            calls: &self.calls,
            ..Walk::default()
        };
        for (storage, leaf, arg) in &self.args {
            walk.known.insert(Arc::as_ptr(leaf), Place::Leaf(leaves.len()));
            leaves.push(Source::Argument(*arg));
            ends.push((storage.clone(), storage.now()));
            likes.push(leaf.clone());
            walk.kept.push(leaf.clone());
        }
        for outside in &self.outside {
            walk.known.insert(Arc::as_ptr(&outside.leaf), Place::Leaf(leaves.len()));
            leaves.push(Source::Fixed(outside.storage.clone()));
            ends.push((outside.storage.clone(), outside.now.clone()));
            likes.push(outside.leaf.clone());
            walk.kept.push(outside.leaf.clone());
        }
        let mut graph = Graph {
            leaves,
            likes,
            sized: self.sized,
            ..Graph::empty()
        };
        for (at, (_, end)) in ends.iter().enumerate() {
            match walk.place(end)? {
                Place::Leaf(leaf) if leaf == at => {}
                place => graph.written.push((at, place)),
            }
        }
        for result in results {
            let leaf = ends.iter().position(|(storage, _)| Arc::ptr_eq(storage, &result.storage));
            let of = match leaf {
                Some(leaf) => Of::Leaf(leaf),
                None if self.own.contains_key(&Arc::as_ptr(&result.storage)) => {
                    let known = graph.new.iter().position(|(storage, _)| Arc::ptr_eq(storage, &result.storage));
                    Of::New(match known {
                        Some(known) => known,
                        None => {
                            let place = walk.place(&result.storage.now())?;
                            graph.new.push((result.storage.clone(), place));
                            graph.new.len() - 1
                        }
                    })
                }
                None => Of::Fixed(result.storage.clone()),
            };
            graph.results.push((result.clone(), of));
        }
        (graph.constants, graph.steps) = (walk.constants, walk.steps);
        graph.settle();
        Ok(graph)
    }
}

/// Finds what values are made of, each once, operands first.
#[derive(Default)]
struct Walk<'a> {
    calls: &'a [Called],
    known: HashMap<*const Node, Place>,
    /// Keeps the nodes whose addresses are known.
    kept: Vec<Value>,
    constants: Vec<Value>,
    steps: Vec<Step>,
    /// Values that the steps make.
    made: usize,
}

impl<'a> Walk<'a> {
    /// Without recursion: chains may be longer than the stack.
    fn place(&mut self, value: &Value) -> Result<Place> {
        let mut waiting = vec![value.clone()];
        while let Some(node) = waiting.last().cloned() {
            if self.found(&node).is_some() {
                waiting.pop();
                continue;
            }
            let kind = node.kind();
            let called = matches!(kind, Some(Kind::StandIn)).then(|| self.called(&node)).transpose()?;
            let operands: SmallVec<[Value; 3]> = match (called, &kind) {
                (Some(called), _) => called.operands.iter().cloned().collect(),
                (None, Some(kind)) => kind.operands().cloned().collect(),
                (None, None) => SmallVec::new(),
            };
            let before = waiting.len();
            waiting.extend(operands.iter().filter(|operand| self.found(operand).is_none()).cloned());
            if waiting.len() > before {
                continue;
            }
            let places: SmallVec<[Place; 3]> = operands.iter().filter_map(|operand| self.found(operand)).collect();
            match (called, kind) {
                (Some(called), _) => self.call(called, places),
                (None, Some(kind)) if places.iter().any(|place| !matches!(place, Place::Constant(_))) => {
                    self.steps.push(Step::Node {
                        device: node.device,
                        elem: node.elem,
                        shape: node.shape.clone(),
                        kind,
                        operands: places,
                    });
                    self.make(&node);
                }
                _ => {
                    self.constants.push(node.clone());
                    self.know(&node, Place::Constant(self.constants.len() - 1));
                }
            }
            waiting.pop();
        }
        self.found(value).ok_or_else(|| Error::Internal("a value was not found".into()))
    }

    fn found(&self, node: &Value) -> Option<Place> {
        self.known.get(&Arc::as_ptr(node)).copied()
    }

    fn know(&mut self, node: &Value, place: Place) {
        self.known.insert(Arc::as_ptr(node), place);
        self.kept.push(node.clone());
    }

    fn make(&mut self, node: &Value) {
        self.know(node, Place::Made(self.made));
        self.made += 1;
    }

    /// The call that gives what a node stands for.
    fn called(&self, node: &Value) -> Result<&'a Called> {
        let gives = |called: &&Called| called.results.iter().any(|result| Arc::ptr_eq(result, node));
        self.calls.iter().find(gives).ok_or(Error::StandIn)
    }

    fn call(&mut self, called: &Called, operands: SmallVec<[Place; 3]>) {
        self.steps.push(Step::Call {
            call: called.call.clone(),
            operands,
            results: called
                .results
                .iter()
                .map(|result| (result.elem, result.shape.clone(), result.device))
                .collect(),
        });
        called.results.iter().for_each(|result| self.make(result));
    }
}

impl Graph {
    /// Does it call what is no combination of nodes?
    pub fn calls(&self) -> bool {
        self.calls
    }

    /// How many arrays it gives.
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// How many nodes it makes.
    pub fn nodes(&self) -> usize {
        self.steps.len()
    }
}

/// The same without sizes, but for which are 0, 1 or more: of arrays that are all of their storages. None where some are not.
pub fn key_of_ranks(args: &[Array]) -> Option<Vec<u64>> {
    let mut key = Vec::new();
    for (arg, first) in args.iter().zip(first_of_each(args)) {
        // What is recorded starts from the storages' values: a reshaped array has another shape than these.
        if !arg.is_whole() || !arg.own || arg.read_only || arg.shape != arg.storage.now().shape {
            return None;
        }
        key.extend([first, arg.elem as u64, u64::from(arg.device()), arg.rank() as u64]);
        key.extend(arg.shape.iter().map(|&n| n.min(2)));
    }
    Some(key)
}

/// What a capture depends on besides the function: of each argument its types, its shape, where it lies in its storage, and which arguments
/// share one.
pub fn key(args: &[Array]) -> Vec<u64> {
    let mut key = Vec::new();
    for (arg, first) in args.iter().zip(first_of_each(args)) {
        key.push(first);
        arg.describe(&mut key);
    }
    key
}

/// More arguments than that are looked up, not compared with each other.
const FEW: usize = 12;

/// For each argument the first one that has its storage.
fn first_of_each(args: &[Array]) -> SmallVec<[u64; FEW]> {
    if args.len() <= FEW {
        let first = |arg: &Array| args.iter().position(|other| Arc::ptr_eq(&other.storage, &arg.storage));
        return args.iter().map(|arg| first(arg).map_or(0, |at| at as u64)).collect();
    }
    let mut known: HashMap<*const Storage, u64> = HashMap::with_capacity(args.len());
    let first = |(at, arg): (usize, &Array)| *known.entry(Arc::as_ptr(&arg.storage)).or_insert(at as u64);
    args.iter().enumerate().map(first).collect()
}
