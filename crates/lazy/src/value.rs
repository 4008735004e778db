//! Values: immutable nodes of the graph of what was asked for. A node is pending, made of other nodes, or stored in memory.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use weft_ir::Scalar;

use crate::dims::{self, AxisMap, Dims, Strides};
use crate::error::Error;
use crate::machine;
use crate::memory::Piece;
use crate::operation::Operation;
use crate::program::Program;
use crate::tape;

/// A node, shared.
pub type Value = Arc<Node>;

/// The operands of a map.
pub type Args = SmallVec<[Value; 2]>;

/// A map of so many pending operations is stored before others are made of it: larger kernels cost more than they save.
pub const MOST_OPERATIONS: u32 = 96;

/// Numbers that a thread keeps.
const NUMBERS: usize = 32;

type Kept = [Option<((Scalar, [u64; 2]), Value)>; NUMBERS];

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new([const { None }; NUMBERS]) };
}

#[derive(Debug)]
pub struct Node {
    pub elem: Scalar,
    pub shape: Dims,
    /// Where it is computed and stored: a number of `machine`'s.
    pub device: u8,
    state: Mutex<State>,
    /// Operations of the kernel that it would be computed in.
    operations: AtomicU32,
    /// It was computed on the way to something else, and not kept.
    passed: AtomicBool,
    /// Of a full kernel: KiB that it keeps waiting work hold.
    held: AtomicU32,
}

/// What a node is at the moment.
#[derive(Debug)]
pub enum State {
    Pending(Kind),
    Stored(Piece),
    /// What was to be computed was lost for this reason, which whoever asks for it is told.
    Failed(Arc<Error>),
    /// Taken apart by the one who drops or executes it.
    Empty,
}

/// What a pending node's elements are.
#[derive(Clone, Debug)]
pub enum Kind {
    /// One number: its bits as memory has them.
    Fill([u64; 2]),
    /// `start + index * step` along its only axis, in its own type.
    Iota(Box<Progression>),
    /// An operation of the elements of nodes that are broadcast to its shape.
    Map { operation: &'static Operation, args: Args },
    /// The elements of another node, found through a map of axes.
    View { of: Value, map: Box<AxisMap> },
    /// The same elements in the same order.
    Reshape(Value),
    /// What lies at these places of another node's bytes, as if they lay dense.
    Strided { of: Value, offset: i64, strides: Box<Strides> },
    /// Another node's elements, of which some are replaced.
    Update { base: Value, region: Box<Region>, value: Value },
    /// Elements combined along some axes.
    Fold { fold: Fold, of: Value },
    /// The elements of a node of another device.
    Moved(Value),
    /// An update that could not be done, as where there was no memory: what it was made of was let go of, and it is tried again.
    Unfinished(Box<Unfinished>),
    /// Nothing that has elements: what stands for a value while a function is captured.
    StandIn,
}

impl Kind {
    /// The nodes that it is made of.
    pub fn operands(&self) -> impl Iterator<Item = &Value> {
        let (many, two): (&[Value], [Option<&Value>; 2]) = match self {
            Kind::Fill(_) | Kind::Iota(_) | Kind::Unfinished(_) | Kind::StandIn => (&[], [None, None]),
            Kind::Map { args, .. } => (args, [None, None]),
            Kind::View { of, .. } | Kind::Reshape(of) | Kind::Strided { of, .. } | Kind::Fold { of, .. } | Kind::Moved(of) => {
                (&[], [Some(of), None])
            }
            Kind::Update { base, value, .. } => (&[], [Some(base), Some(value)]),
        };
        many.iter().chain(two.into_iter().flatten())
    }

    /// The same of other nodes, as many as it is made of; none where these are too few.
    pub fn of(&self, operands: &mut dyn Iterator<Item = Value>) -> Option<Kind> {
        Some(match self {
            Kind::Fill(bits) => Kind::Fill(*bits),
            Kind::Iota(numbers) => Kind::Iota(numbers.clone()),
            Kind::Unfinished(rest) => Kind::Unfinished(rest.clone()),
            Kind::StandIn => Kind::StandIn,
            Kind::Map { operation, args } => {
                let made: Args = operands.take(args.len()).collect();
                (made.len() == args.len()).then_some(Kind::Map { operation, args: made })?
            }
            Kind::View { map, .. } => Kind::View {
                of: operands.next()?,
                map: map.clone(),
            },
            Kind::Reshape(_) => Kind::Reshape(operands.next()?),
            Kind::Moved(_) => Kind::Moved(operands.next()?),
            Kind::Strided { offset, strides, .. } => Kind::Strided {
                of: operands.next()?,
                offset: *offset,
                strides: strides.clone(),
            },
            Kind::Update { region, .. } => Kind::Update {
                base: operands.next()?,
                region: region.clone(),
                value: operands.next()?,
            },
            Kind::Fold { fold, .. } => Kind::Fold {
                fold: fold.clone(),
                of: operands.next()?,
            },
        })
    }
}

/// Numbers of the same distance from each other: bits of the node's type.
#[derive(Clone, Copy, Debug)]
pub struct Progression {
    pub start: [u64; 2],
    pub step: [u64; 2],
}

/// Places in a node's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub shape: Dims,
    pub offset: i64,
    pub strides: Strides,
}

/// What an update comes down to when its operands are stored.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// The elements as they were.
    pub memory: Piece,
    pub region: Region,
    pub elem: Scalar,
    /// What computes those that replace some of them.
    pub program: Program,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fold {
    pub what: FoldKind,
    /// Axes of the operand that are folded: one bit each.
    pub axes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldKind {
    /// A ufunc's name; computed in the type.
    Ufunc(&'static str, Scalar),
    ArgMax,
    ArgMin,
}

impl Kind {
    /// The device of what it is made of. Operands of a map are on one, but for numbers, which are on none but count as on the first.
    fn device(&self) -> u8 {
        match self {
            Kind::Fill(_) | Kind::Iota(_) | Kind::StandIn => machine::CPU,
            Kind::Map { args, .. } => args.iter().map(|arg| arg.device).max().unwrap_or(machine::CPU),
            Kind::View { of, .. } | Kind::Reshape(of) | Kind::Strided { of, .. } | Kind::Fold { of, .. } | Kind::Moved(of) => of.device,
            Kind::Update { base, .. } => base.device,
            Kind::Unfinished(rest) => rest.memory.block.device(),
        }
    }
}

/// Operations that an operand in memory counts as, if it is large.
pub const READING: u32 = 6;
/// Bytes from which on one is.
pub const LARGE: u64 = 1 << 18;

/// What a kernel pays for reading so much memory: as much as for some operations, so that it reads few arrays that are large.
fn reading(shape: &[u64], elem: Scalar) -> u32 {
    match dims::bytes(shape, elem.size()) {
        Some(bytes) if bytes < LARGE => 0,
        _ => READING,
    }
}

/// Operations of a kernel below a map, about: operands may share much of theirs, so that beside the longest one the others count little.
fn below(args: &Args) -> u32 {
    let each = |arg: &Value| arg.operations();
    let longest = args.iter().map(each).max().unwrap_or(0);
    let counted = |n: u32| n.min(READING) + n.saturating_sub(READING) / 4;
    longest + args.iter().map(each).map(counted).sum::<u32>() - counted(longest)
}

impl Node {
    /// On the device of what it is made of; of one number or an iota, on the CPU.
    pub fn pending(elem: Scalar, shape: Dims, kind: Kind) -> Value {
        Node::pending_on(kind.device(), elem, shape, kind)
    }

    pub fn pending_on(device: u8, elem: Scalar, shape: Dims, kind: Kind) -> Value {
        let operations = match &kind {
            Kind::Map { args, operation } => operation.cost + below(args),
            // A view costs nothing, but kernels go down to what they are made of, and chains of views may be longer than the stack.
            Kind::View { of, .. } | Kind::Reshape(of) => of.operations() + 1,
            Kind::Iota(_) => 1,
            _ => 0,
        };
        let noted = tape::is_on().then(|| kind.clone());
        let node = Arc::new(Node {
            elem,
            shape,
            device,
            state: Mutex::new(State::Pending(kind)),
            operations: AtomicU32::new(operations),
            passed: AtomicBool::new(false),
            held: AtomicU32::new(0),
        });
        if let Some(kind) = noted {
            tape::note(&node, &kind);
        }
        node
    }

    pub fn stored(elem: Scalar, shape: Dims, piece: Piece) -> Value {
        Arc::new(Node {
            operations: AtomicU32::new(reading(&shape, elem)),
            elem,
            shape,
            device: piece.block.device(),
            state: Mutex::new(State::Stored(piece)),
            passed: AtomicBool::new(false),
            held: AtomicU32::new(0),
        })
    }

    /// One number, for any shape.
    pub fn fill(elem: Scalar, shape: Dims, bits: [u64; 2]) -> Value {
        match shape.is_empty() {
            true => Node::number(elem, bits),
            false => Node::pending(elem, shape, Kind::Fill(bits)),
        }
    }

    /// One number. The last ones are kept, since loops ask for the same again and again; nobody writes to what a number is.
    fn number(elem: Scalar, bits: [u64; 2]) -> Value {
        let mixed = bits[0] ^ bits[0] >> 32 ^ bits[0] >> 52 ^ bits[1] ^ elem as u64;
        let place = mixed as usize % NUMBERS;
        KEPT.with_borrow_mut(|kept| match &kept[place] {
            Some((known, node)) if *known == (elem, bits) && !node.is_stored() => node.clone(),
            _ => {
                let node = Node::pending(elem, Dims::new(), Kind::Fill(bits));
                kept[place] = Some(((elem, bits), node.clone()));
                node
            }
        })
    }

    /// The same on a device.
    pub fn fill_on(device: u8, elem: Scalar, shape: Dims, bits: [u64; 2]) -> Value {
        match device {
            machine::CPU => Node::fill(elem, shape, bits),
            _ => Node::pending_on(device, elem, shape, Kind::Fill(bits)),
        }
    }

    pub fn size(&self) -> u64 {
        dims::size(&self.shape).unwrap_or(u64::MAX)
    }

    /// What others pay who are computed with it; nothing where it will be stored first.
    fn operations(&self) -> u32 {
        let own = self.operations.load(Ordering::Relaxed);
        if own > MOST_OPERATIONS { 0 } else { own }
    }

    /// Operations of the kernel that it would be computed in.
    pub fn costs(&self) -> u32 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Its kernel is long enough.
    pub fn is_full(&self) -> bool {
        self.operations.load(Ordering::Relaxed) > MOST_OPERATIONS
    }

    pub fn held(&self) -> u32 {
        self.held.load(Ordering::Relaxed)
    }

    pub fn set_held(&self, held: u32) {
        self.held.store(held, Ordering::Relaxed);
    }

    /// Says that it was computed on the way to something else; was it before?
    pub fn pass(&self) -> bool {
        self.passed.swap(true, Ordering::Relaxed)
    }

    pub fn was_passed(&self) -> bool {
        self.passed.load(Ordering::Relaxed)
    }

    /// Its state, for as long as the result lives. Who holds a node's may take those of what it is made of, never the other way round.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it is stored, if it is.
    pub fn piece(&self) -> Option<Piece> {
        match &*self.lock() {
            State::Stored(piece) => Some(piece.clone()),
            _ => None,
        }
    }

    pub fn is_stored(&self) -> bool {
        matches!(&*self.lock(), State::Stored(_))
    }

    /// Looks at what it is, without a copy of it.
    pub fn look<T>(&self, pending: impl FnOnce(&Kind) -> T, stored: impl FnOnce(&Piece) -> T) -> Option<T> {
        match &*self.lock() {
            State::Pending(kind) => Some(pending(kind)),
            State::Stored(piece) => Some(stored(piece)),
            State::Failed(_) | State::Empty => None,
        }
    }

    /// What it is made of, while it is pending.
    pub fn kind(&self) -> Option<Kind> {
        match &*self.lock() {
            State::Pending(kind) => Some(kind.clone()),
            _ => None,
        }
    }

    /// Takes away what it is made of. The caller stores it or puts it back.
    pub fn take(&self) -> Option<Kind> {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Empty) {
            State::Pending(kind) => Some(kind),
            other => {
                *state = other;
                None
            }
        }
    }

    pub fn put_back(&self, kind: Kind) {
        *self.lock() = State::Pending(kind);
    }

    /// From here on it is an error to ask for it.
    pub fn fail(&self, error: Arc<Error>) {
        *self.lock() = State::Failed(error);
    }

    /// From here on it is what memory has, and nothing that it was made of is kept for it.
    pub fn store(&self, piece: Piece) {
        let before = std::mem::replace(&mut *self.lock(), State::Stored(piece));
        self.operations.store(reading(&self.shape, self.elem), Ordering::Relaxed);
        if let State::Pending(kind) = before {
            release(kind);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Pending(kind) = std::mem::replace(state, State::Empty) {
            release(kind);
        }
    }
}

/// Lets go of what a node was made of, and of what that was made of, one after the other: chains may be longer than the stack.
pub fn release(kind: Kind) {
    let mut left: SmallVec<[Value; 8]> = SmallVec::new();
    operands(kind, &mut left);
    while let Some(value) = left.pop() {
        if let Some(mut node) = Arc::into_inner(value) {
            let state = node.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            if let State::Pending(kind) = std::mem::replace(state, State::Empty) {
                operands(kind, &mut left);
            }
        }
    }
}

fn operands(kind: Kind, into: &mut SmallVec<[Value; 8]>) {
    match kind {
        Kind::Fill(_) | Kind::Iota(_) | Kind::Unfinished(_) | Kind::StandIn => {}
        Kind::Map { args, .. } => into.extend(args),
        Kind::View { of, .. } | Kind::Reshape(of) | Kind::Strided { of, .. } | Kind::Fold { of, .. } | Kind::Moved(of) => into.push(of),
        Kind::Update { base, value, .. } => into.extend([base, value]),
    }
}
