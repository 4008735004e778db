//! Uniformity: which values and locals are the same in all lanes of a gang, which ones step from lane to lane, and where control diverges.
//!
//! The lanes of a gang run in lockstep. A jump under a condition that differs between lanes parks them at its target until the others come
//! there. A `Set` made while lanes are parked where its local may still be read has to keep their old values; it *blends*, and its local
//! differs between lanes. Each depends on the others, so it is computed as one least fixpoint.

mod ops;

use std::collections::{HashMap, HashSet};

use weft_ir::{Axis, Const, FuncId, FuncKind, Function, Label, Local, Module, Op, Space, StmtKind, Type, Value};

use crate::alone::is_alone;
use crate::liveness::{Liveness, LocalSet};
use crate::numbering::{Node, Numbered, Numbering, StmtId};

/// What is wrong with a barrier under a condition that is not the same for all threads of a block.
pub const DIVERGENT_BARRIER: &str =
    "a barrier that not all threads of a block may reach: the condition it stands under differs between threads";

/// How a value relates to the lanes, from knowing most to knowing least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Never computed.
    #[default]
    Unset,
    /// The same in all threads of a block.
    Block,
    /// The same in all lanes of a gang.
    Gang,
    /// `i64`: each lane holds the one before's value plus this step, which is not 0.
    Affine(i64),
    Varying,
}

impl Class {
    pub const fn is_uniform(self) -> bool {
        matches!(self, Class::Unset | Class::Block | Class::Gang)
    }

    /// The class of something that may be of either.
    pub fn join(self, other: Class) -> Class {
        match (self, other) {
            (Class::Unset, c) | (c, Class::Unset) => c,
            (Class::Block, Class::Block) => Class::Block,
            (a, b) if a.is_uniform() && b.is_uniform() => Class::Gang,
            (Class::Affine(s), Class::Affine(t)) if s == t => self,
            _ => Class::Varying,
        }
    }

    /// The class of what is computed from both, lane by lane.
    fn with(self, other: Class) -> Class {
        match self.join(other) {
            _ if self == Class::Unset || other == Class::Unset => Class::Unset,
            Class::Affine(_) => Class::Varying,
            joined => joined,
        }
    }

    fn stepping(step: i64) -> Class {
        if step == 0 { Class::Gang } else { Class::Affine(step) }
    }
}

/// What the lanes of a function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// There is one only.
    Single,
    /// Threads along an axis of the block; axes before it have dimension 1.
    Threads(Axis),
    /// The threads of a warp. They lie along an axis, or else along several: then no index is a step from lane to lane.
    Warp(Option<Axis>),
    /// Neighbours along the last axis of a `Loop` function's index space.
    Points,
    /// Those of the caller: each parameter has a value a lane.
    Callers,
}

/// What is known of an `If`, a loop or a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Lanes may arrive behind it while others still run inside. (Not for `If`.)
    pub waits: bool,
    /// A loop some lanes may `Break` from while others run on.
    pub breaks: bool,
    /// A loop some lanes may `Continue` while others run on in the same iteration.
    pub next_waits: bool,
    /// Lanes may jump past its end while others do not.
    pub lossy: bool,
    /// Some gangs of a block may leave it, or an iteration of it, by a jump that others do not take.
    pub uneven: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Uniformity {
    pub values: Vec<Class>,
    pub locals: Vec<Class>,
    pub facts: HashMap<StmtId, Facts>,
    /// `Set`s that keep the old value in lanes that are off.
    pub blends: HashSet<StmtId>,
    /// Some lanes may return while others run on.
    pub returns: bool,
    /// Some gangs of a block may return while others run on.
    pub uneven_returns: bool,
}

impl Uniformity {
    pub fn facts_of(&self, id: StmtId) -> Facts {
        self.facts.get(&id).copied().unwrap_or_default()
    }
}

/// Which functions of a module may give lanes different results where their arguments are the same.
#[derive(Clone, Debug, Default)]
pub struct Calls(Vec<bool>);

impl Calls {
    /// Of functions that are called alone: those that change memory or say something, and those that read arrays of the thread's own.
    /// What is called otherwise gives what its arguments are.
    pub fn of(module: &Module) -> Calls {
        let effects = crate::calls::effects(module);
        let differs = |(func, has_effects): (&Function, bool)| {
            let own = |ty: &Type| matches!(ty, Type::View(v) if v.space == Space::Local);
            is_alone(func) && (has_effects || func.params.iter().any(|param| own(func.ty(*param))))
        };
        Calls(module.functions.iter().zip(effects).map(differs).collect())
    }

    /// Do calls of a function by lanes give each its own? Of one that nothing is known of, yes.
    pub fn differ(&self, func: FuncId) -> bool {
        self.0.get(func.index()).copied().unwrap_or(true)
    }
}

/// Analyses a function without complex values or nested tuples.
pub fn analyze(func: &Function, lanes: Lanes, calls: &Calls) -> Uniformity {
    let mut walk = Walk::new(func, lanes, calls);
    if lanes == Lanes::Single {
        walk.out.values.fill(Class::Block);
        walk.out.locals.fill(Class::Block);
        return walk.out;
    }
    let numbering = Numbering::of(&func.body);
    loop {
        walk.changed = false;
        walk.block(numbering.body());
        if !walk.changed && !walk.settle() {
            return walk.out;
        }
    }
}

/// A place where lanes may wait; see [`Facts`].
struct Frame {
    kind: FrameKind,
    owner: Option<StmtId>,
    waits: bool,
    /// What a waiting lane may still read.
    live: LocalSet,
    /// Not all gangs of the block come through the inside alike.
    uneven: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    Side,
    Next,
    After,
    Scope(Label),
    End,
}

struct Walk<'a> {
    func: &'a Function,
    lanes: Lanes,
    calls: &'a Calls,
    live: Liveness,
    consts: HashMap<Value, i64>,
    /// Class of a view value's shape; the entry in `values` is that of its address.
    shapes: Vec<Class>,
    frames: Vec<Frame>,
    out: Uniformity,
    changed: bool,
}

impl<'a> Walk<'a> {
    fn new(func: &'a Function, lanes: Lanes, calls: &'a Calls) -> Walk<'a> {
        let mut consts = HashMap::new();
        func.body.walk(&mut |kind| {
            if let StmtKind::Let(value, Op::Const(Const::Int(_, v))) = kind {
                consts.insert(*value, *v);
            }
        });
        let mut out = Uniformity {
            values: vec![Class::Unset; func.values.len()],
            locals: vec![Class::Unset; func.locals.len()],
            ..Uniformity::default()
        };
        let params = if lanes == Lanes::Callers { Class::Varying } else { Class::Block };
        for param in &func.params {
            out.values[param.index()] = params;
        }
        let mut at_end = LocalSet::default();
        if let FuncKind::Loop { rank, reductions } = &func.kind {
            for index in &func.params[..*rank as usize] {
                out.values[index.index()] = Class::Gang;
            }
            if let (Some(last), Lanes::Points) = (func.params[..*rank as usize].last(), lanes) {
                out.values[last.index()] = Class::Affine(1);
            }
            for r in reductions {
                at_end.insert(r.local);
                out.locals[r.local.index()] = if lanes == Lanes::Points { Class::Varying } else { Class::Gang };
            }
        }
        let end = Frame {
            kind: FrameKind::End,
            owner: None,
            waits: true,
            live: at_end,
            uneven: false,
        };
        let shapes = vec![Class::Block; func.values.len()];
        Walk {
            func,
            lanes,
            calls,
            live: Liveness::of(func),
            consts,
            shapes,
            frames: vec![end],
            out,
            changed: false,
        }
    }

    /// Locals that are read but never set hold anything; says whether there were any.
    fn settle(&mut self) -> bool {
        let unset = self.out.locals.iter_mut().filter(|class| **class == Class::Unset);
        unset.map(|class| *class = Class::Block).count() > 0
    }

    fn class(&self, value: Value) -> Class {
        self.out.values[value.index()]
    }

    fn set_value(&mut self, value: Value, class: Class) {
        let joined = self.class(value).join(class);
        if joined != self.class(value) {
            self.out.values[value.index()] = joined;
            self.changed = true;
        }
    }

    fn note(&mut self, owner: StmtId, change: impl FnOnce(&mut Facts)) {
        let before = self.out.facts_of(owner);
        let mut facts = before;
        change(&mut facts);
        if facts != before {
            self.out.facts.insert(owner, facts);
            self.changed = true;
        }
    }

    fn block(&mut self, block: Numbered<'_>) {
        block.iter().for_each(|node| self.stmt(node));
    }

    fn stmt(&mut self, node: Node<'_>) {
        let id = node.id;
        match &node.stmt.kind {
            StmtKind::Let(value, op) => self.define(*value, op),
            StmtKind::Set(local, value) => self.set(id, *local, *value),
            StmtKind::If { cond, then, other } => {
                let [then, other] = node.sides(then, other);
                self.branch(id, *cond, then, other);
            }
            StmtKind::Loop(body) => self.looping(id, false, node.body(body)),
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => {
                let (start, stop, step) = (self.class(*start), self.class(*stop), self.class(*step));
                self.set_value(*var, counter(start, step));
                let range = start.with(stop).with(step);
                if !range.is_uniform() {
                    self.note(id, |f| f.waits = true);
                }
                self.looping(id, !matches!(range, Class::Block | Class::Unset), node.body(body));
            }
            StmtKind::Scope(label, body) => {
                let facts = self.out.facts_of(id);
                let live = self.live.after(id).clone();
                self.inside(FrameKind::Scope(*label), id, facts.waits, facts.uneven, live, node.body(body));
            }
            StmtKind::Leave(label) => self.jump(FrameKind::Scope(*label)),
            StmtKind::Break => self.jump(FrameKind::After),
            StmtKind::Continue => self.jump(FrameKind::Next),
            StmtKind::Return(_) | StmtKind::Raise { .. } => self.jump(FrameKind::End),
            // Only host functions have index spaces, and they have no lanes.
            StmtKind::ParFor { .. } | StmtKind::Launch { .. } => {}
            StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Print(_) => {}
        }
    }

    fn inside(&mut self, kind: FrameKind, owner: StmtId, waits: bool, uneven: bool, live: LocalSet, body: Numbered<'_>) {
        self.frames.push(Frame {
            kind,
            owner: Some(owner),
            waits,
            live,
            uneven,
        });
        self.block(body);
        self.frames.pop();
    }

    fn branch(&mut self, id: StmtId, cond: Value, then: Numbered<'_>, other: Numbered<'_>) {
        let class = self.class(cond);
        let (diverges, uneven) = (!class.is_uniform(), !matches!(class, Class::Block | Class::Unset));
        let after = self.live.after(id).clone();
        let mut live = after.clone();
        live.union(self.live.other(id));
        self.inside(FrameKind::Side, id, diverges, uneven, live, then);
        self.inside(FrameKind::Side, id, diverges, uneven, after, other);
    }

    fn looping(&mut self, id: StmtId, uneven: bool, body: Numbered<'_>) {
        let facts = self.out.facts_of(id);
        let uneven = uneven || facts.uneven;
        let (after, head) = (self.live.after(id).clone(), self.live.head(id).clone());
        self.frames.push(Frame {
            kind: FrameKind::After,
            owner: Some(id),
            waits: facts.waits,
            live: after,
            uneven,
        });
        self.inside(FrameKind::Next, id, facts.next_waits, uneven, head, body);
        self.frames.pop();
    }

    /// Lanes that jump while others may be parked on the way leave those others behind.
    fn jump(&mut self, target: FrameKind) {
        let Some(at) = self.frames.iter().rposition(|f| f.kind == target) else {
            return;
        };
        let owner = self.frames[at].owner;
        if self.frames[at + 1..].iter().any(|f| f.uneven) {
            match owner {
                Some(owner) => self.note(owner, |f| f.uneven = true),
                None => {
                    self.changed |= !self.out.uneven_returns;
                    self.out.uneven_returns = true;
                }
            }
        }
        if !self.frames[at + 1..].iter().any(|f| f.waits) {
            return;
        }
        match (target, owner) {
            (FrameKind::Next, Some(owner)) => self.note(owner, |f| f.next_waits = true),
            (FrameKind::After, Some(owner)) => self.note(owner, |f| {
                f.breaks = true;
                f.waits = true;
            }),
            (FrameKind::Scope(_), Some(owner)) => self.note(owner, |f| f.waits = true),
            _ if !self.out.returns => {
                self.out.returns = true;
                self.changed = true;
            }
            _ => {}
        }
        let passed: Vec<StmtId> = self.frames[at + 1..]
            .iter()
            .filter(|f| f.kind != FrameKind::Next)
            .filter_map(|f| f.owner)
            .collect();
        for owner in passed {
            self.note(owner, |f| f.lossy = true);
        }
    }

    fn set(&mut self, id: StmtId, local: Local, value: Value) {
        let blend = self.frames.iter().any(|f| f.waits && f.live.contains(local));
        let mut class = self.class(value);
        if matches!(self.func.local_ty(local), Type::View(_)) && !class.is_uniform() {
            class = Class::Varying;
        }
        if blend {
            class = Class::Varying;
            self.changed |= self.out.blends.insert(id);
        }
        if class == Class::Block && self.frames.iter().any(|f| f.uneven) {
            class = Class::Gang;
        }
        let old = self.out.locals[local.index()];
        let joined = old.join(class);
        if joined != old {
            self.out.locals[local.index()] = joined;
            self.changed = true;
        }
    }

    fn define(&mut self, value: Value, op: &Op) {
        let class = self.op(op, value);
        self.set_value(value, class);
        let shape = self.shape(op);
        let joined = self.shapes[value.index()].join(shape);
        if joined != self.shapes[value.index()] {
            self.shapes[value.index()] = joined;
            self.changed = true;
        }
    }
}

/// All lanes that still run have run as often, so that with a uniform step a counter is what its start is.
fn counter(start: Class, step: Class) -> Class {
    match (start.is_uniform(), step.is_uniform()) {
        (true, true) => start.join(step),
        (false, true) => start,
        _ => Class::Varying,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_ir::text::parse;

    fn of(source: &str) -> Uniformity {
        let module = parse(source).unwrap();
        analyze(module.entry_function(), Lanes::Threads(Axis::X), &Calls::default())
    }

    #[test]
    fn steps_survive_additions_and_constant_factors() {
        let info = of("
entry kernel @k(%0 n: i64) {
  local $0 i: i64
  %1: i64 = thread_idx.x
  %2: i64 = 3
  %3: i64 = mul %1, %2
  %4: i64 = add %3, %0
  set $0 = %4
  %5: i64 = get $0
  %6: i64 = sub %4, %5
  %7: i64 = mul %1, %0
  %8: i64 = thread_idx.y
}
");
        assert_eq!(
            info.values[3..=8],
            [
                Class::Affine(3),
                Class::Affine(3),
                Class::Affine(3),
                Class::Gang,
                Class::Varying,
                Class::Gang
            ]
        );
        assert_eq!(info.locals, [Class::Affine(3)]);
    }

    #[test]
    fn only_what_waiting_lanes_read_blends() {
        let info = of("
entry kernel @k(%0 n: i64, %1 x: view<i64, 1, C, global>) {
  local $0 count: i64
  local $1 result: i64
  %2: i64 = thread_idx.x
  %3: i64 = load %1[%2]
  %4: i64 = 0
  %5: i64 = 1
  set $0 = %4
  set $1 = %4
  loop {
    %6: i64 = get $0
    %7: bool = gt %6, %3
    if %7 {
      set $1 = %6
      break
    }
    %8: i64 = add %6, %5
    set $0 = %8
  }
  %9: i64 = get $1
  store %1[%2] = %9
}
");
        assert_eq!(
            info.locals,
            [Class::Block.join(Class::Gang), Class::Varying],
            "the counter is not read behind the loop, the result is"
        );
        assert_eq!(info.blends.len(), 1);
        assert!(info.facts.values().any(|f| f.breaks && f.waits && !f.lossy));
    }

    #[test]
    fn what_all_threads_of_a_block_decide_alike_ends_all_of_them() {
        let ending = |cond: &str| {
            of(&format!(
                "
entry kernel @k(%0 n: i64) {{
  %1: i64 = thread_idx.y
  %2: i64 = 0
  %3: bool = lt {cond}, %2
  if %3 {{
    return
  }}
  barrier
}}
"
            ))
        };
        assert!(!ending("%0").uneven_returns);
        assert!(ending("%1").uneven_returns && !ending("%1").returns);
    }

    #[test]
    fn a_side_keeps_what_the_other_side_reads() {
        let info = of("
entry kernel @k(%0 x: view<i64, 1, C, global>) {
  local $0 t: i64
  %1: i64 = thread_idx.x
  %2: i64 = load %0[%1]
  %3: i64 = 0
  %4: bool = lt %2, %3
  set $0 = %3
  if %4 {
    set $0 = %2
  } else {
    %5: i64 = get $0
    store %0[%1] = %5
  }
}
");
        assert_eq!(info.blends.len(), 1);
        assert_eq!(info.locals, [Class::Varying]);
    }
}
