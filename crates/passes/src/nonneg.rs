//! Check elimination: clears `wrap` on indices that cannot be negative, so that back ends need not count from the end, and drops checks
//! that cannot fail: a `range` over `gridsize`, say, never has a step of zero.
//!
//! A walk in program order keeps a [`range::Range`] for every integer value, narrowed by the conditions that hold where control stands
//! ([`facts::Facts`]). A local is followed from its `Set` to its `Get`s where control is straight, and through the sides of an `if`; across
//! loops a local has one range that holds for everything it is ever set to. Those ranges are found by walking the function again until they
//! stand still, and growth is cut short so that this takes a handful of walks.

mod facts;
mod range;

use std::collections::VecDeque;
use std::mem;

use weft_ir::{BinOp, Block, FuncKind, Function, Local, Module, Op, Scalar, Stmt, StmtKind, Value};

use crate::error::PassError;
use crate::operands::ends;
use facts::{Choice, Facts};
use range::Range;

/// Walks after which a growing range is widened, and after which nothing is assumed of locals any more.
const PATIENCE: usize = 2;
const MAX_WALKS: usize = 10;

/// Clears `wrap` in every function of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in &mut module.functions {
        let mut found = findings(func);
        let mut body = mem::take(&mut func.body);
        clear(&mut body, &mut found);
        func.body = body;
    }
    Ok(())
}

/// What a walk found out, each in the order in which it and [`clear`] meet them.
#[derive(Default)]
struct Findings {
    /// Is an index known not to be negative?
    nonneg: VecDeque<bool>,
    /// Which side an `if` takes, if that is known.
    decided: VecDeque<Option<bool>>,
}

fn findings(func: &Function) -> Findings {
    let mut locals = initial_ranges(func);
    for round in 0.. {
        let mut walker = Walker::new(func, &locals);
        walker.params();
        walker.block(&func.body);
        let next: Vec<_> = (0..locals.len())
            .map(|i| grown(round, locals[i], walker.set_to[i], func.locals[i].ty.scalar()))
            .collect();
        if next == locals {
            return walker.found;
        }
        locals = next;
    }
    Findings::default()
}

/// Nothing is known yet to reach a local; what reductions hold is never known.
fn initial_ranges(func: &Function) -> Vec<Option<Range>> {
    let mut ranges = vec![None; func.locals.len()];
    let mut unknown = |local: Local| ranges[local.index()] = Some(Range::full(func.local_ty(local).scalar().unwrap_or(Scalar::F64)));
    if let FuncKind::Loop { reductions, .. } = &func.kind {
        reductions.iter().for_each(|r| unknown(r.local));
    }
    func.body.walk(&mut |kind| match kind {
        StmtKind::ParFor { reductions, .. } => reductions.iter().for_each(|r| unknown(r.local)),
        StmtKind::Launch { results, .. } => results.iter().for_each(|local| unknown(*local)),
        _ => {}
    });
    ranges
}

/// The range to try next for a local tried with `old` and then set to `new`.
fn grown(round: usize, old: Option<Range>, new: Option<Range>, scalar: Option<Scalar>) -> Option<Range> {
    let scalar = scalar.unwrap_or(Scalar::F64);
    let (Some(old), Some(new)) = (old, new) else {
        return old.or(new);
    };
    let joined = old.join(new);
    if joined == old || round < PATIENCE {
        Some(joined)
    } else if round < MAX_WALKS {
        Some(old.widened(joined, scalar))
    } else {
        Some(Range::full(scalar))
    }
}

struct Walker<'f> {
    func: &'f Function,
    facts: Facts<'f>,
    /// What every local is assumed to hold, whatever its last `Set` was.
    locals: &'f [Option<Range>],
    /// The join of what each local was set to in this walk.
    set_to: Vec<Option<Range>>,
    /// What each local holds here, if that is known.
    holds: Vec<Holds>,
    found: Findings,
}

#[derive(Clone, Copy, Debug)]
enum Holds {
    Anything,
    This(Value),
    OneOf(Choice, Option<Range>),
}

impl<'f> Walker<'f> {
    fn new(func: &'f Function, locals: &'f [Option<Range>]) -> Walker<'f> {
        Walker {
            func,
            facts: Facts::new(func),
            locals,
            set_to: vec![None; locals.len()],
            holds: vec![Holds::Anything; locals.len()],
            found: Findings::default(),
        }
    }

    fn params(&mut self) {
        let rank = match self.func.kind {
            FuncKind::Loop { rank, .. } => rank as usize,
            _ => 0,
        };
        for (i, param) in self.func.params.iter().enumerate() {
            let range = if i < rank { Range::LENGTH } else { self.full(*param) };
            self.facts.define(*param, None, Some(range));
        }
    }

    fn full(&self, value: Value) -> Range {
        Range::full(self.facts.scalar(value))
    }

    /// Facts learnt in a block end with it.
    fn block(&mut self, block: &'f Block) {
        let mark = self.facts.mark();
        for stmt in &block.0 {
            self.stmt(&stmt.kind);
        }
        self.facts.forget(mark);
    }

    fn stmt(&mut self, kind: &'f StmtKind) {
        kind.indices(&mut |index| {
            let known = self.facts.range(index.value).is_some_and(|range| range.lo >= 0);
            self.found.nonneg.push_back(known);
        });
        match kind {
            StmtKind::Let(value, op) => self.define(*value, op),
            StmtKind::Set(local, value) => self.set(*local, *value),
            StmtKind::If { cond, then, other } => {
                self.found.decided.push_back(self.facts.decided(*cond));
                self.branch(*cond, then, other);
            }
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => self.counted(*var, [*start, *stop, *step], body),
            StmtKind::ParFor { vars, extents, body, .. } => self.points(vars, extents, body),
            StmtKind::Launch { .. } => kind.sets(&mut |local| self.holds[local.index()] = Holds::Anything),
            StmtKind::Loop(body) => {
                self.lose_locals_set_in(body);
                self.block(body);
                self.lose_locals_set_in(body);
            }
            StmtKind::Scope(_, body) => {
                self.block(body);
                self.lose_locals_set_in(body);
            }
            StmtKind::Leave(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. }
            | StmtKind::Print(_) => {}
        }
    }

    fn set(&mut self, local: Local, value: Value) {
        let range = self.facts.range(value);
        let all = &mut self.set_to[local.index()];
        *all = match (*all, range) {
            (Some(a), Some(b)) => Some(a.join(b)),
            (a, b) => a.or(b),
        };
        self.holds[local.index()] = Holds::This(value);
    }

    fn branch(&mut self, cond: Value, then: &'f Block, other: &'f Block) {
        let before = self.holds.clone();
        let after_then = self.side(cond, true, then);
        let then_holds = mem::replace(&mut self.holds, before);
        let after_other = self.side(cond, false, other);
        match (ends(then), ends(other)) {
            (true, false) => self.facts.assume(cond, false),
            (false, true) => {
                self.holds = then_holds;
                self.facts.assume(cond, true);
            }
            _ => {
                for (i, then) in then_holds.into_iter().enumerate() {
                    self.holds[i] = merged(cond, (then, after_then[i]), (self.holds[i], after_other[i]));
                }
            }
        }
    }

    /// Walks a side of an `if`; gives the ranges that the locals it set have at its end.
    fn side(&mut self, cond: Value, truth: bool, block: &'f Block) -> Vec<Option<Range>> {
        let mark = self.facts.mark();
        self.facts.assume(cond, truth);
        // The statements are walked here and not by `block`, so that what they teach still holds when the ranges are read.
        for stmt in &block.0 {
            self.stmt(&stmt.kind);
        }
        let ranges = self.holds.iter().map(|holds| self.range_held(*holds)).collect();
        self.facts.forget(mark);
        ranges
    }

    fn range_held(&self, holds: Holds) -> Option<Range> {
        match holds {
            Holds::Anything => None,
            Holds::This(value) => self.facts.range(value),
            Holds::OneOf(_, range) => range,
        }
    }

    fn counted(&mut self, var: Value, [start, stop, step]: [Value; 3], body: &'f Block) {
        let [from, to, by] = [start, stop, step].map(|v| self.facts.range(v));
        let range = match (from, to, by) {
            (Some(from), Some(to), Some(by)) => Some(Range::counter(from, to, by)),
            _ => None,
        };
        self.facts.define(var, None, range);
        self.lose_locals_set_in(body);
        let mark = self.facts.mark();
        if by.is_some_and(|by| by.lo > 0) {
            self.facts.at_most(var, stop, -1);
            self.facts.at_most(start, var, 0);
        } else if by.is_some_and(|by| by.hi < 0) {
            self.facts.at_most(stop, var, -1);
            self.facts.at_most(var, start, 0);
        }
        self.block(body);
        self.facts.forget(mark);
        self.lose_locals_set_in(body);
    }

    fn points(&mut self, vars: &[Value], extents: &[Value], body: &'f Block) {
        self.lose_locals_set_in(body);
        let mark = self.facts.mark();
        for (var, extent) in vars.iter().zip(extents) {
            self.facts.define(*var, None, Some(Range::LENGTH));
            self.facts.at_most(*var, *extent, -1);
        }
        self.block(body);
        self.facts.forget(mark);
        self.lose_locals_set_in(body);
    }

    fn lose_locals_set_in(&mut self, block: &Block) {
        block.walk(&mut |kind| kind.sets(&mut |local| self.holds[local.index()] = Holds::Anything));
    }

    fn define(&mut self, value: Value, op: &'f Op) {
        match op {
            Op::Get(local) => self.get(value, *local),
            Op::Dim(view, axis) => self.facts.define_length(value, op, *view, *axis),
            _ => {
                let range = self.range_of(value, op);
                self.facts.define(value, Some(op), range);
            }
        }
    }

    fn get(&mut self, value: Value, local: Local) {
        match self.holds[local.index()] {
            Holds::This(held) => self.facts.define_same(value, held),
            Holds::OneOf(choice, range) => {
                self.facts.define(value, None, range.or(self.locals[local.index()]));
                self.facts.choices.insert(value, choice);
                self.holds[local.index()] = Holds::This(value);
            }
            Holds::Anything => {
                self.facts.define(value, None, self.locals[local.index()]);
                self.holds[local.index()] = Holds::This(value);
            }
        }
    }

    /// `None` if an operand has not been reached.
    fn range_of(&mut self, value: Value, op: &Op) -> Option<Range> {
        let scalar = self.facts.scalar(value);
        if !scalar.is_int() && scalar != Scalar::Bool {
            return Some(Range::full(scalar));
        }
        Some(match op {
            Op::Const(c) => Range::constant(*c),
            Op::Geometry(geometry) => Range::geometry(*geometry),
            Op::Unary(op, a) if scalar.is_int() => range::unary(*op, scalar, self.facts.range(*a)?),
            Op::Binary(op, a, b) if scalar.is_int() => self.binary(*op, scalar, *a, *b)?,
            Op::Cast(a) if !self.facts.scalar(*a).is_float() && scalar.is_int() => range::cast(scalar, self.facts.range(*a)?),
            Op::Select(cond, a, b) => {
                let a = self.range_if(*cond, true, *a)?;
                a.join(self.range_if(*cond, false, *b)?)
            }
            _ => Range::full(scalar),
        })
    }

    fn binary(&self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Option<Range> {
        let (x, y) = (self.facts.range(a)?, self.facts.range(b)?);
        let range = range::binary(op, scalar, x, y);
        if op != BinOp::Sub || x.hi - y.lo > Range::full(scalar).hi {
            return Some(range);
        }
        let least = self.facts.least_difference(a, b);
        Some(least.and_then(|least| range.meet(least, i128::MAX)).unwrap_or(range))
    }

    fn range_if(&mut self, cond: Value, truth: bool, value: Value) -> Option<Range> {
        let mark = self.facts.mark();
        self.facts.assume(cond, truth);
        let range = self.facts.range(value);
        self.facts.forget(mark);
        range
    }
}

/// What a local holds after an `if`, from what it holds at the ends of the sides.
fn merged(cond: Value, (then, a): (Holds, Option<Range>), (other, b): (Holds, Option<Range>)) -> Holds {
    match (then, other) {
        (Holds::This(x), Holds::This(y)) if x == y => Holds::This(x),
        (Holds::This(then), Holds::This(other)) => {
            let range = a.zip(b).map(|(a, b)| a.join(b));
            Holds::OneOf(Choice { cond, then, other }, range)
        }
        _ => Holds::Anything,
    }
}

/// Clears `wrap` where the findings say so, and drops checks, over the statements in program order.
fn clear(block: &mut Block, found: &mut Findings) {
    for mut stmt in mem::take(&mut block.0) {
        let decided = match stmt.kind {
            StmtKind::If { .. } => found.decided.pop_front().flatten(),
            _ => None,
        };
        stmt.kind
            .indices_mut(&mut |index| index.wrap &= found.nonneg.pop_front() != Some(true));
        for inner in stmt.kind.blocks_mut() {
            clear(inner, found);
        }
        match passed(&mut stmt.kind, decided) {
            _ if ends(block) => {}
            Some(rest) => block.0.extend(rest),
            None => block.0.push(stmt),
        }
    }
}

/// What is left of a check that cannot fail.
fn passed(kind: &mut StmtKind, decided: Option<bool>) -> Option<Vec<Stmt>> {
    let StmtKind::If { then, other, .. } = kind else {
        return None;
    };
    let (taken, failed) = if decided? { (then, other) } else { (other, then) };
    let raises = failed.0.last().is_some_and(|stmt| matches!(stmt.kind, StmtKind::Raise { .. }));
    raises.then(|| mem::take(&mut taken.0))
}
