//! Writes the adjoint: the replay of each frame, and the way back through it.

mod back;
mod forth;
mod shadows;
mod tape;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use weft_ir::{
    Axis, Block, Builder, CmpOp, ErrorKind, FuncKind, Function, Geometry, Index, Local, Op, Part, Scalar, Span, StmtKind, Type, Value,
    ViewType,
};

use super::activity::Activity;
use super::own::Own;
use super::plan::{Plan, is_remade};
use super::roots::{Root, Roots};
use super::rules::{Book, number};
use super::scoped::Scoped;
use super::tree::{BlockId, FrameId, NodeId, NodeKind, TOP, Tree};
use crate::error::PassError;

/// What is given to the adjoint besides the arguments, and what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Derive {
    /// It is a constant.
    None,
    /// An array of the same shape takes its gradient; of a scalar, one with one element.
    Shadow(ViewType),
    /// A scalar, whose gradient is returned.
    Return,
}

/// The cotangent of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cotangent {
    None,
    /// A number, of the result's type or another.
    Scalar(Scalar),
    /// It is 1.
    One,
    /// A number that is given and has no use: the result has no derivative.
    Ignored(Scalar),
    View(ViewType),
}

pub struct Parts<'a> {
    pub tree: &'a Tree,
    pub roots: &'a Roots,
    pub activity: &'a Activity,
    pub book: &'a Book,
    pub plan: &'a Plan,
    pub own: &'a Own,
    pub params: &'a [Derive],
    pub results: &'a [Cotangent],
    /// The one gradient is returned as it is, not in a tuple.
    pub single: bool,
    /// Parameters and results that are imaginary parts, whose gradients have the other sign.
    pub imaginary: &'a HashSet<Value>,
    pub imaginary_results: &'a HashSet<usize>,
}

pub struct Emitter<'a> {
    parts: Parts<'a>,
    tree: &'a Tree,
    b: Builder,
    /// What stands for a value of the primal here.
    values: Scoped<Value, Value>,
    shadows: Scoped<Value, Value>,
    /// Values that travel from a block of a replay to the way back in locals.
    spilled: HashMap<Value, Local>,
    shadows_spilled: HashMap<Value, Local>,
    locals: HashMap<Local, Local>,
    shadow_locals: HashMap<Local, Local>,
    adjoint_locals: HashMap<Local, Local>,
    adjoint_values: HashMap<Value, Local>,
    /// Cotangents of values of the block that is gone through.
    pending: HashMap<Value, Value>,
    /// Values with cotangents from other blocks than their own.
    crossing: HashSet<Value>,
    arrays: HashMap<weft_ir::ArrayId, weft_ir::ArrayId>,
    tapes: tape::Tapes,
    cotangents: BTreeMap<usize, Value>,
    /// Roots whose shadows are laid out like themselves.
    alike: HashSet<Root>,
    failed: Option<PassError>,
}

/// The adjoint as a function.
pub fn function(parts: Parts<'_>, name: String) -> Result<Function, PassError> {
    let tree = parts.tree;
    let mut func = Function::new(name, tree.func.kind.clone());
    func.flags = tree.func.flags;
    func.origin = tree.func.origin.clone();
    let mut emitter = Emitter {
        tree,
        b: Builder::new(func),
        values: Scoped::new(),
        shadows: Scoped::new(),
        spilled: HashMap::new(),
        shadows_spilled: HashMap::new(),
        locals: HashMap::new(),
        shadow_locals: HashMap::new(),
        adjoint_locals: HashMap::new(),
        adjoint_values: HashMap::new(),
        pending: HashMap::new(),
        crossing: HashSet::new(),
        arrays: HashMap::new(),
        tapes: tape::Tapes::default(),
        cotangents: BTreeMap::new(),
        alike: HashSet::new(),
        failed: None,
        parts,
    };
    emitter.run();
    match emitter.failed {
        Some(error) => Err(error),
        None => Ok(on_one_thread(emitter.b.finish(), tree)),
    }
}

/// What adds atomically is faster on one thread of a CPU, which needs no atomic steps, than on all of them.
fn on_one_thread(mut func: Function, tree: &Tree) -> Function {
    let has_own = tree
        .nodes
        .iter()
        .any(|node| matches!(node.kind, NodeKind::Let(_, Op::Atomic { .. })));
    let adds = func.body.any(&mut |kind| matches!(kind, StmtKind::Let(_, Op::Atomic { .. })));
    func.flags.one_thread = adds && (tree.func.kind == FuncKind::Kernel || !has_own);
    func
}

impl<'a> Emitter<'a> {
    fn run(&mut self) {
        let tree = self.tree;
        let mut gradients = Vec::new();
        for param in &tree.func.params {
            let mut name = tree.func.values[param.index()].name.clone().unwrap_or_default();
            if self.parts.roots.is_written(Root::Param(*param)) {
                name.push_str(super::WRITTEN);
            }
            let new = self.b.func.new_param(tree.ty(*param).clone(), name);
            self.values.insert(*param, new);
        }
        let derived: Vec<(Value, Derive)> = tree.func.params.iter().copied().zip(self.parts.params.iter().copied()).collect();
        for (param, derive) in &derived {
            if let Derive::Shadow(ty) = derive {
                let name = format!("d_{}", tree.func.values[param.index()].name.as_deref().unwrap_or_default());
                let shadow = self.b.func.new_param(Type::View(*ty), name);
                gradients.push((*param, shadow));
            }
        }
        for (at, cotangent) in self.parts.results.iter().enumerate() {
            let ty = match cotangent {
                Cotangent::None | Cotangent::One => continue,
                Cotangent::Scalar(scalar) | Cotangent::Ignored(scalar) => Type::Scalar(*scalar),
                Cotangent::View(ty) => Type::View(*ty),
            };
            let given = self.b.func.new_param(ty, format!("cotangent{at}"));
            match cotangent {
                Cotangent::Ignored(_) => {}
                _ => drop(self.cotangents.insert(at, given)),
            }
        }
        for (at, given) in self.cotangents.clone() {
            // Numbers are converted to the result's type.
            if let (Some(value), Some(_)) = (self.result_values().get(at), self.b.ty(given).scalar()) {
                let converted = self.b.cast(given, tree.ty(*value).clone());
                self.cotangents.insert(at, converted);
            }
        }
        for (at, cotangent) in self.parts.results.iter().enumerate() {
            let scalar = self.result_values().get(at).and_then(|value| tree.ty(*value).scalar());
            if let (Cotangent::One, Some(scalar)) = (cotangent, scalar) {
                let one = number(&mut self.b, scalar, 1.0);
                self.cotangents.insert(at, one);
            }
        }
        self.prepare();
        for (param, shadow) in &gradients {
            if let Some(view) = tree.ty(*param).view() {
                self.shadow_param(*param, view, *shadow);
            }
        }
        self.copy_params();
        let body = tree.frame(TOP).body.clone();
        self.check_blocks();
        self.open_tapes();
        self.whole(TOP, tree.frame(TOP).block, &body);
        self.gradients(&derived, &gradients);
    }

    /// Hands out the gradients of scalar parameters.
    fn gradients(&mut self, derived: &[(Value, Derive)], shadows: &[(Value, Value)]) {
        let mut returned = Vec::new();
        for (param, derive) in derived {
            let Some(scalar) = self.tree.ty(*param).scalar() else { continue };
            if *derive == Derive::None {
                continue;
            }
            let total = self.take(*param);
            let total = match (total, self.parts.imaginary.contains(param)) {
                (Some(total), true) => Some(self.b.unary(weft_ir::UnOp::Neg, total)),
                (total, _) => total,
            };
            if *derive == Derive::Return {
                let value = total.unwrap_or_else(|| number(&mut self.b, scalar, 0.0));
                returned.push(value);
            } else if let (Some(total), Some((_, shadow))) = (total, shadows.iter().find(|(of, _)| of == param)) {
                let at = self.b.i64(0);
                let indices = vec![Index { value: at, wrap: false }];
                self.add_to(
                    *shadow,
                    indices,
                    Part::Whole,
                    total,
                    !matches!(self.tree.func.kind, FuncKind::Kernel),
                );
            }
        }
        let result = match (self.tree.func.kind == FuncKind::Kernel, self.parts.single, returned.as_slice()) {
            (true, ..) => None,
            (_, true, [one]) => {
                self.b.func.result = self.b.ty(*one);
                Some(*one)
            }
            _ => {
                let ty = Type::Tuple(returned.iter().map(|value| self.b.ty(*value)).collect());
                self.b.func.result = ty.clone();
                match returned.is_empty() {
                    true => None,
                    false => Some(self.b.emit(ty, Op::Tuple(returned))),
                }
            }
        };
        self.b.push(StmtKind::Return(result));
    }

    fn result_values(&self) -> Vec<Value> {
        let last = self.tree.frame(TOP).body.last();
        match last.map(|id| &self.tree.node(*id).kind) {
            Some(NodeKind::Result(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    /// Finds which cotangents come from other blocks, and zeroes those of locals.
    fn prepare(&mut self) {
        let tree = self.tree;
        for node in &tree.nodes {
            for value in self.receivers(node) {
                if self.is_active(value) && tree.block_of(value) != node.block {
                    self.crossing.insert(value);
                }
            }
        }
        let locals: Vec<Local> = (0..tree.func.locals.len() as u32).map(Local).collect();
        for local in locals {
            if self.parts.activity.is_active_local(tree, local) {
                self.zero_adjoint(local);
            }
        }
    }

    /// The values that a node gives cotangents to on the way back.
    fn receivers(&self, node: &super::tree::Node) -> Vec<Value> {
        match &node.kind {
            NodeKind::Let(_, Op::Atomic { value, .. }) => vec![*value],
            NodeKind::Let(value, op) => {
                let edges = super::rules::edges(self.tree, self.parts.book, *value, op);
                edges.into_iter().map(|(operand, _)| operand).collect()
            }
            NodeKind::Set(_, value) => vec![*value],
            NodeKind::Plain(StmtKind::Store { value, .. }) => {
                let added = match self.tree.op(*value) {
                    Some(Op::Binary(_, a, b)) => vec![*a, *b],
                    _ => Vec::new(),
                };
                added.into_iter().chain([*value]).collect()
            }
            NodeKind::Result(values) => values.clone(),
            _ => Vec::new(),
        }
    }

    fn zero_adjoint(&mut self, local: Local) {
        let (to, scalar) = (self.adjoint_local(local), self.tree.func.local_ty(local).scalar());
        if let Some(scalar) = scalar {
            let zero = number(&mut self.b, scalar, 0.0);
            self.b.set(to, zero);
        }
    }

    fn is_active(&self, value: Value) -> bool {
        self.parts.activity.is_active(self.tree, value)
    }

    fn fail(&mut self, span: Span, message: &str) -> Value {
        if self.failed.is_none() {
            self.failed = Some(PassError::new(span, message));
        }
        self.b.i64(0)
    }

    /// The local that stands for one of the primal in replays.
    fn local(&mut self, local: Local) -> Local {
        let data = &self.tree.func.locals[local.index()];
        let (name, ty) = (data.name.clone(), data.ty.clone());
        let func = &mut self.b.func;
        *self.locals.entry(local).or_insert_with(|| func.new_local(ty, name))
    }

    fn adjoint_local(&mut self, local: Local) -> Local {
        let data = &self.tree.func.locals[local.index()];
        let (name, ty) = (format!("d_{}", data.name), data.ty.clone());
        let func = &mut self.b.func;
        *self.adjoint_locals.entry(local).or_insert_with(|| func.new_local(ty, name))
    }

    fn adjoint_value(&mut self, value: Value) -> Local {
        let ty = self.tree.ty(value).clone();
        let func = &mut self.b.func;
        *self.adjoint_values.entry(value).or_insert_with(|| func.new_local(ty, "d"))
    }

    /// What stands for a value of the primal here.
    fn value(&mut self, value: Value) -> Value {
        if let Some(found) = self.values.get(value) {
            return found;
        }
        if let Some(op) = self.tree.op(value).cloned()
            && is_remade(&op)
        {
            let ty = self.tree.ty(value).clone();
            let op = self.with_arrays(op);
            let made = self.b.emit(ty, op);
            self.values.insert(value, made);
            return made;
        }
        if let Some(local) = self.spilled.get(&value).copied() {
            let got = self.b.get(local);
            self.values.insert(value, got);
            return got;
        }
        let span = self.tree.defs.get(&value).map_or(Span::NONE, |node| self.tree.node(*node).span);
        self.fail(span, "a defect of Weft: the way back misses a value")
    }

    /// Names the adjoint's own copies of shared and local arrays.
    fn with_arrays(&mut self, op: Op) -> Op {
        match op {
            Op::Array(id) => Op::Array(self.array(id)),
            op => op,
        }
    }

    fn array(&mut self, id: weft_ir::ArrayId) -> weft_ir::ArrayId {
        let decl = self.tree.func.arrays[id.index()].clone();
        let func = &mut self.b.func;
        *self.arrays.entry(id).or_insert_with(|| func.new_array(decl))
    }

    fn indices(&mut self, indices: &[Index]) -> Vec<Index> {
        indices
            .iter()
            .map(|index| Index {
                value: self.value(index.value),
                wrap: index.wrap,
            })
            .collect()
    }

    fn open(&mut self) {
        self.b.open();
        self.values.open();
        self.shadows.open();
    }

    fn close(&mut self) -> Block {
        self.values.close();
        self.shadows.close();
        self.b.close()
    }

    /// An operation with what stands for its operands.
    fn translated(&mut self, op: &Op) -> Op {
        let mut op = op.clone();
        let mut operands = Vec::new();
        op.operands(&mut |value| operands.push(value));
        let mut new: Vec<Value> = operands.into_iter().map(|value| self.value(value)).collect();
        new.reverse();
        op.operands_mut(&mut |value| {
            if let Some(next) = new.pop() {
                *value = next;
            }
        });
        self.with_arrays(op)
    }

    /// The blocks that hold a frame's nodes in the primal, at whose starts cotangents from outside of them are zero.
    fn zero_crossing(&mut self, block: BlockId) {
        let mut values: Vec<Value> = self
            .crossing
            .iter()
            .copied()
            .filter(|value| self.tree.block_of(*value) == block)
            .collect();
        values.sort_unstable();
        for value in values {
            if let Some(scalar) = self.tree.ty(value).scalar() {
                let zero = number(&mut self.b, scalar, 0.0);
                let local = self.adjoint_value(value);
                self.b.set(local, zero);
            }
        }
    }

    /// A frame, or a branch at its end: forwards through it, and back.
    fn whole(&mut self, frame: FrameId, block: BlockId, list: &[NodeId]) {
        self.zero_crossing(block);
        let relevant = |id: &NodeId| self.parts.plan.reversed.contains(id) || self.in_slice(frame, *id);
        let last = list.iter().rposition(relevant);
        let Some(last) = last else { return };
        if frame != TOP && self.meets(frame, block) {
            // What the turn before reads has to be read before it is filled anew.
            self.b.push(StmtKind::Barrier);
        }
        let tail = match &self.tree.node(list[last]).kind {
            NodeKind::If { cond, then, other } if self.parts.plan.reversed.contains(&list[last]) => {
                Some((*cond, then.clone(), other.clone()))
            }
            _ => None,
        };
        let head = if tail.is_some() { &list[..last] } else { &list[..=last] };
        self.forth(frame, head, false, false);
        if self.meets(frame, block) {
            self.b.push(StmtKind::Barrier);
        }
        if let Some((cond, then, other)) = tail {
            let span = self.tree.node(list[last]).span;
            let cond = self.value(cond);
            self.open();
            self.whole_branch(frame, &then);
            let then = self.close();
            self.open();
            self.whole_branch(frame, &other);
            let other = self.close();
            self.b.span = span;
            self.b.push(StmtKind::If { cond, then, other });
        }
        self.back(frame, head);
    }

    /// Do threads wait for each other between the ways forth and back of a frame?
    fn meets(&self, frame: FrameId, block: BlockId) -> bool {
        let fills = self.parts.roots.filled.values().any(|filled| filled.frame == frame);
        block == self.tree.frame(frame).block && self.parts.plan.meets && (frame == TOP || fills)
    }

    /// Refuses blocks whose threads do not fill the shared arrays that they were found to.
    fn check_blocks(&mut self) {
        let mut wanted: Vec<(Axis, u64)> = Vec::new();
        for (root, filled) in &self.parts.roots.filled {
            if self.parts.plan.fills.contains(root) {
                wanted.extend(filled.threads.iter().copied());
            }
        }
        wanted.sort_unstable_by_key(|(axis, len)| (*axis as u8, *len));
        wanted.dedup();
        for (axis, len) in wanted {
            let width = self.b.emit(Type::I64, Op::Geometry(Geometry::BlockDim(axis)));
            let len = self.b.i64(len as i64);
            let other = self.b.compare(CmpOp::Ne, width, len);
            self.open();
            let message = "the gradient of this kernel takes blocks with a thread for each element of its shared arrays".to_owned();
            self.b.push(StmtKind::Raise {
                kind: ErrorKind::Value,
                message,
            });
            let then = self.close();
            self.b.push(StmtKind::If {
                cond: other,
                then,
                other: Block::default(),
            });
        }
    }

    fn whole_branch(&mut self, frame: FrameId, list: &[NodeId]) {
        if let Some(first) = list.first() {
            let block = self.tree.node(*first).block;
            self.whole(frame, block, list);
        }
    }

    /// Has the frame's replay something to do for a node?
    fn in_slice(&self, frame: FrameId, id: NodeId) -> bool {
        let Some(slice) = self.parts.plan.slices.get(&frame) else {
            return false;
        };
        match &self.tree.node(id).kind {
            NodeKind::Let(value, _) => slice.values.contains(value) || slice.nodes.contains(&id),
            NodeKind::If { then, other, .. } => then.iter().chain(other).any(|id| self.in_slice(frame, *id)),
            NodeKind::Loop(inner) => {
                slice.loops.contains(inner)
                    || self.tree.frame(*inner).parent == frame && self.parts.plan.before.keys().any(|(of, _)| of == inner)
            }
            NodeKind::Set(..) | NodeKind::Plain(_) => slice.nodes.contains(&id),
            NodeKind::Result(_) => false,
        }
    }

    /// The locals of the primal that are set inside of a frame.
    fn locals_set_in(&self, frame: FrameId) -> BTreeSet<Local> {
        let all = (0..self.tree.func.locals.len() as u32).map(Local);
        all.filter(|local| {
            let own = self.tree.sets.get(local).into_iter().flatten();
            own.map(|node| self.tree.node(*node).frame).any(|at| self.tree.within(at, frame)) || self.tree.sets_within(*local, frame)
        })
        .collect()
    }
}
