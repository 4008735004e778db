//! Lowering: from a node to the program that computes it. Walks back from the node to what is stored, with a map from the points of the index
//! space to each node's axes, so that views cost nothing. What has to be stored before comes back as a list of nodes.

use std::sync::{Arc, Weak};

use smallvec::{SmallVec, smallvec};

use crate::dims::{self, AxisMap, Dims};
use crate::error::{Error, Result};
use crate::machine;
use crate::memory::Piece;
use crate::operation::Operation;
use crate::program::{Iota, Load, Program, Slot, Step};
use crate::value::{Args, Kind, MOST_OPERATIONS, Node, State, Value};

/// More steps than this are no one's kernel: nodes read through many different maps were computed once for each.
const MOST_STEPS: usize = 128;
/// A kernel reads so many blocks of memory on a device that is not the CPU: such devices have a limit.
const MOST_BLOCKS: usize = 20;
/// Maps that were recorded as full kernels are computed with what is made of them, if they turn out to be this short, all together.
const SHORT: u32 = MOST_OPERATIONS / 2;
/// Operations that are computed again, for a second map or a second kernel, rather than stored.
pub const CHEAP: u32 = 8;

/// What became of the attempt.
#[derive(Debug)]
pub enum Lowered {
    Ready(Box<Program>),
    /// These have to be stored first.
    Needs(SmallVec<[Value; 4]>),
}

/// Nodes that will be stored when the program runs, and where.
pub type Promised<'a> = &'a [(Value, Piece)];

/// The program that computes a node's elements at the points of its shape. The node itself may be pending or stored; `kept` says that what
/// the program computes will be stored as the node's own.
pub fn lower(root: &Value, kept: bool) -> Result<Lowered> {
    let mut found = Found::default();
    let lowered = lower_with(root, kept, &[], &mut found)?;
    for node in found.passed.iter().filter_map(|node| node.upgrade()) {
        node.pass();
    }
    Ok(lowered)
}

/// What is found on the way to a program.
#[derive(Debug, Default)]
pub struct Found {
    /// Nodes that are computed on the way, and that others refer to, too.
    pub passed: SmallVec<[Weak<Node>; 8]>,
    /// References to nodes that are as good as stored.
    pub reads: SmallVec<[Read; 8]>,
}

/// A reference of a node to another.
#[derive(Debug)]
pub struct Read {
    pub node: Weak<Node>,
    /// Where it is, while that other node is pending: its own place in memory, or whatever is no other's.
    pub place: usize,
}

impl Read {
    pub fn of(node: &Value, place: usize) -> Read {
        Read {
            node: Arc::downgrade(node),
            place,
        }
    }
}

/// The same, where some nodes are as good as stored.
pub fn lower_with(root: &Value, kept: bool, promised: Promised<'_>, found: &mut Found) -> Result<Lowered> {
    let mut lowering = Lowering::of(&root.shape, promised);
    lowering.kept = kept.then_some(root);
    let slot = lowering.slot(root, None)?;
    if lowering.program.steps.len() > MOST_STEPS {
        lowering.needs = operands_of(root);
    }
    if !lowering.needs.is_empty() {
        return Ok(Lowered::Needs(lowering.needs));
    }
    *found = lowering.found;
    lowering.program.result = Some(slot);
    Ok(Lowered::Ready(Box::new(lowering.program)))
}

/// The pending operands of a node, so that something smaller is computed first.
fn operands_of(node: &Value) -> SmallVec<[Value; 4]> {
    let mut found = SmallVec::new();
    let mut add = |value: &Value| {
        if !value.is_stored() && value.look(|kind| !matches!(kind, Kind::Fill(_)), |_| false) == Some(true) {
            found.push(value.clone());
        }
    };
    match node.kind() {
        Some(Kind::Map { args, .. }) => args.iter().for_each(&mut add),
        Some(Kind::View { of, .. } | Kind::Reshape(of) | Kind::Strided { of, .. }) => add(&of),
        _ => {}
    }
    found
}

/// What a node is a view of, unless that has more elements.
fn behind_views(node: &Value) -> Value {
    let mut found = node.clone();
    while let Some(Kind::View { of, .. } | Kind::Reshape(of)) = found.kind() {
        if of.size() > found.size() {
            break;
        }
        found = of;
    }
    found
}

/// How a node is read: through a map of its axes, or, where there is none, each of its points at the same point of the index space.
type Through<'a> = Option<&'a AxisMap>;

struct Lowering<'a> {
    rank: usize,
    program: Program,
    /// What was lowered that others may ask for again, through which map.
    seen: SmallVec<[(*const Node, Option<AxisMap>, Slot); 8]>,
    needs: SmallVec<[Value; 4]>,
    found: Found,
    /// What the program is for.
    kept: Option<&'a Value>,
    promised: Promised<'a>,
    /// It is inside of a full map, or of one that turned out to be short.
    inside: bool,
    /// What such maps have cost so far.
    short: u32,
}

impl<'a> Lowering<'a> {
    fn of(extents: &Dims, promised: Promised<'a>) -> Self {
        Lowering {
            rank: extents.len(),
            program: Program {
                extents: dims::copy(extents),
                ..Program::default()
            },
            seen: SmallVec::new(),
            needs: SmallVec::new(),
            found: Found::default(),
            kept: None,
            promised,
            inside: false,
            short: 0,
        }
    }

    fn slot(&mut self, node: &Value, through: Through<'_>) -> Result<Slot> {
        // Nobody comes twice to what has one reference.
        let shared = Arc::strong_count(node) > 1;
        let id = Arc::as_ptr(node);
        let mut other_map = false;
        let promised = self.promised.iter().find(|(known, _)| Arc::ptr_eq(known, node));
        if promised.is_some() {
            self.found.reads.push(Read::of(node, std::ptr::from_ref(node) as usize));
        }
        if shared {
            for (seen, map, slot) in self.seen.iter().rev() {
                if *seen == id {
                    if map.as_ref() == through {
                        return Ok(*slot);
                    }
                    other_map = true;
                }
            }
        }
        let state = node.lock();
        let slot = match &*state {
            State::Stored(piece) => self.load(node, piece.clone(), through),
            State::Pending(kind) => match promised {
                Some((_, piece)) => self.load(node, piece.clone(), through),
                None => self.pending(node, kind, through, other_map, shared)?,
            },
            State::Failed(error) => return Err(error.again()),
            State::Empty => return Err(Error::Internal("a value was taken while it is computed".into())),
        };
        drop(state);
        // Equal numbers may be one node or two, which must not decide what is compiled.
        if shared && !matches!(slot, Slot::Constant(_)) {
            self.seen.push((id, through.cloned(), slot));
        }
        Ok(slot)
    }

    fn pending(&mut self, node: &Value, kind: &Kind, through: Through<'_>, other_map: bool, shared: bool) -> Result<Slot> {
        let is_root = self.kept.is_some_and(|root| Arc::ptr_eq(node, root));
        if !is_root && node.is_full() {
            match kind {
                Kind::Map { .. } if self.inside || other_map || node.was_passed() => return self.need(node),
                Kind::Map { operation, args } => return self.full(node, operation, args, through),
                // A view may have more elements than what it looks at.
                Kind::View { of, .. } | Kind::Reshape(of) if !of.is_stored() => return self.need(of),
                _ => {}
            }
        }
        match kind {
            Kind::Fill(bits) => Ok(self.program.constant((node.elem, *bits))),
            Kind::Iota(numbers) => {
                let axis = through.map_or(dims::identity(1)[0], |map| map[0]);
                self.program.iotas.push(Iota {
                    elem: node.elem,
                    start: numbers.start,
                    step: numbers.step,
                    along: axis.along,
                    first: axis.start,
                    by: axis.step,
                });
                Ok(Slot::Iota(self.program.iotas.len() as u16 - 1))
            }
            Kind::Map { operation, args } => {
                let costly = other_map && node.costs() > CHEAP;
                if !is_root && (costly || (node.was_passed() && node.costs() > CHEAP)) {
                    return self.need(node);
                }
                if !is_root && shared {
                    self.found.passed.push(Arc::downgrade(node));
                }
                self.map(node, operation, args, through)
            }
            Kind::View { of, map } => self.behind(of, map, through),
            Kind::Reshape(of) => self.reshape(node, of, through),
            Kind::Strided { of, offset, strides } => match of.piece() {
                Some(piece) => {
                    let (further, strides) = match through {
                        Some(map) => dims::through(map, strides, self.rank),
                        None => (0, (**strides).clone()),
                    };
                    Ok(self.program.loaded(Load {
                        elem: node.elem,
                        piece,
                        offset: offset + further,
                        strides,
                    }))
                }
                None => self.need(of),
            },
            Kind::Update { .. } | Kind::Unfinished(_) | Kind::Fold { .. } | Kind::Moved(_) => self.need(node),
            Kind::StandIn => Err(Error::StandIn),
        }
    }

    fn map(&mut self, node: &Node, operation: &'static Operation, args: &Args, through: Through<'_>) -> Result<Slot> {
        let mut slots = smallvec![];
        for arg in args {
            slots.push(self.operand(node, arg, through)?);
        }
        if node.device != machine::CPU
            && self.program.loads.len() > MOST_BLOCKS
            && self.needs.is_empty()
            && self.program.blocks() > MOST_BLOCKS
        {
            for (arg, _) in args.iter().zip(&slots).filter(|(_, slot)| matches!(slot, Slot::Step(_))) {
                self.need(&behind_views(arg))?;
            }
        }
        self.program.steps.push(Step { operation, args: slots });
        Ok(Slot::Step(self.program.steps.len() as u16 - 1))
    }

    /// A map whose kernel was full when it was recorded. What is read through many views was counted with each, and is stored before.
    fn full(&mut self, node: &Value, operation: &'static Operation, args: &Args, through: Through<'_>) -> Result<Slot> {
        let mut alone = Lowering::of(&node.shape, self.promised);
        alone.inside = true;
        alone.map(node, operation, args, None)?;
        if !alone.needs.is_empty() {
            alone.needs.iter().try_for_each(|first| self.need(first).map(drop))?;
            return Ok(Slot::Constant(0));
        }
        let short = self.short + alone.program.costs();
        if short > SHORT {
            return self.need(node);
        }
        self.short = short;
        self.found.passed.push(Arc::downgrade(node));
        self.inside = true;
        let slot = self.map(node, operation, args, through);
        self.inside = false;
        slot
    }

    /// An operand of a map, which may have to be broadcast.
    fn operand(&mut self, node: &Node, arg: &Value, through: Through<'_>) -> Result<Slot> {
        if arg.shape == node.shape {
            return self.slot(arg, through);
        }
        self.behind(arg, &dims::broadcast(&arg.shape, &node.shape), through)
    }

    /// The same memory in another shape, or, where axes of length 1 are all that differs, the same node through another map.
    fn reshape(&mut self, node: &Value, of: &Value, through: Through<'_>) -> Result<Slot> {
        if let Some(piece) = of.piece() {
            return Ok(self.load(node, piece, through));
        }
        match dims::with_other_units(&of.shape, &node.shape) {
            Some(inner) => self.behind(of, &inner, through),
            None => self.need(of),
        }
    }

    /// A node that another one looks at through a map.
    fn behind(&mut self, of: &Value, map: &AxisMap, through: Through<'_>) -> Result<Slot> {
        match through {
            Some(outer) => self.slot(of, Some(&dims::compose(outer, map))),
            None => self.slot(of, Some(map)),
        }
    }

    fn load(&mut self, node: &Node, piece: Piece, through: Through<'_>) -> Slot {
        let dense = dims::dense(&node.shape, node.elem.size());
        let (offset, strides) = match through {
            Some(map) => dims::through(map, &dense, self.rank),
            None => (0, dense),
        };
        self.program.loaded(Load {
            elem: node.elem,
            piece,
            offset,
            strides,
        })
    }

    /// It is stored first; the slot says nothing.
    fn need(&mut self, node: &Value) -> Result<Slot> {
        if !self.needs.iter().any(|known| Arc::ptr_eq(known, node)) {
            self.needs.push(node.clone());
        }
        Ok(Slot::Constant(0))
    }
}
