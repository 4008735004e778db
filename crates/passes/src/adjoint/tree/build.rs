//! Makes the tree of a function's statements: exits become flags, index spaces that go in turn loops, and loops that go side by side index
//! spaces.

use std::collections::HashMap;

use weft_ir::{BinOp, Block, CmpOp, Const, Id, Label, Local, Op, Reduction, Rename, Span, Spread, Stmt, StmtKind, Type, UnOp, Value};

use super::exits::{Exits, exits_at_end, followed};
use super::{BlockId, Frame, FrameId, FrameKind, Node, NodeId, NodeKind, TOP, Tree};
use crate::adjoint::independent::Lanes;
use crate::error::PassError;

/// Fills a tree with the statements of its function.
pub fn build(tree: Tree, body: &Block, sequential: &[usize], lanes: &Lanes) -> Result<Tree, PassError> {
    let mut maker = Maker {
        tree,
        place: Place {
            frame: TOP,
            block: 0,
            conds: Vec::new(),
        },
        levels: vec![Level::default()],
        results: None,
        tuples: HashMap::new(),
        loops: 0,
        sequential,
        lanes,
        span: Span::NONE,
    };
    maker.function(body)?;
    Ok(maker.tree)
}

/// Where an exit leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Return,
    Label(Label),
    /// The end of the loop, and of the turn, at a level.
    Break(usize),
    Continue(usize),
}

/// A loop around the statements that are taken, or the function.
#[derive(Default)]
struct Level {
    stop: Option<Local>,
    skip: Option<Local>,
    /// Labels whose scopes are open in this turn, with their flags.
    labels: Vec<(Label, Local)>,
    returned: Option<Local>,
}

#[derive(Clone)]
struct Place {
    frame: FrameId,
    block: BlockId,
    conds: Vec<Value>,
}

struct Maker<'a> {
    tree: Tree,
    place: Place,
    levels: Vec<Level>,
    /// The locals that results travel through, where a function returns from several places.
    results: Option<Vec<Local>>,
    tuples: HashMap<Value, Vec<Value>>,
    loops: usize,
    sequential: &'a [usize],
    lanes: &'a Lanes,
    span: Span,
}

impl Maker<'_> {
    fn function(&mut self, body: &Block) -> Result<(), PassError> {
        let mut returns = 0;
        body.walk(&mut |kind| returns += usize::from(matches!(kind, StmtKind::Return(_))));
        let types = match &self.tree.func.result {
            Type::Tuple(items) => items.clone(),
            one => vec![one.clone()],
        };
        let at_end = matches!(body.0.last().map(|stmt| &stmt.kind), Some(StmtKind::Return(_)));
        if returns == 1 && at_end {
            let (last, rest) = body
                .0
                .split_last()
                .ok_or_else(|| PassError::defect(Span::NONE, "a body without an end"))?;
            let (mut nodes, _) = self.list(rest)?;
            self.span = last.span;
            if let StmtKind::Return(value) = &last.kind {
                let items = value.map_or_else(Vec::new, |value| self.items(value));
                nodes.push(self.node(NodeKind::Result(items)));
            }
            self.tree.frames[TOP].body = nodes;
            return Ok(());
        }
        let locals: Vec<Local> = types.iter().map(|ty| self.tree.func.new_local(ty.clone(), "result")).collect();
        self.results = Some(locals.clone());
        let flag = self.flag("returned");
        self.levels[0].returned = Some(flag);
        let mut nodes = Vec::new();
        self.set_bool(flag, false, &mut nodes);
        let (rest, _) = self.list(&body.0)?;
        nodes.extend(rest);
        let mut values = Vec::new();
        for local in locals {
            values.push(self.get(local, &mut nodes));
        }
        nodes.push(self.node(NodeKind::Result(values)));
        self.tree.frames[TOP].body = nodes;
        Ok(())
    }

    fn items(&self, value: Value) -> Vec<Value> {
        self.tuples.get(&value).cloned().unwrap_or_else(|| vec![value])
    }

    fn node(&mut self, kind: NodeKind) -> NodeId {
        let id = self.tree.nodes.len();
        match &kind {
            NodeKind::Let(value, _) => drop(self.tree.defs.insert(*value, id)),
            NodeKind::Set(local, _) => self.tree.sets.entry(*local).or_default().push(id),
            _ => {}
        }
        self.tree.nodes.push(Node {
            kind,
            span: self.span,
            order: 0,
            frame: self.place.frame,
            block: self.place.block,
            conds: self.place.conds.clone(),
        });
        id
    }

    fn define(&mut self, ty: Type, op: Op, out: &mut Vec<NodeId>) -> Value {
        let value = self.tree.func.new_value(ty);
        out.push(self.node(NodeKind::Let(value, op)));
        value
    }

    fn get(&mut self, local: Local, out: &mut Vec<NodeId>) -> Value {
        let ty = self.tree.func.local_ty(local).clone();
        self.define(ty, Op::Get(local), out)
    }

    fn flag(&mut self, name: &str) -> Local {
        self.tree.func.new_local(Type::BOOL, name)
    }

    fn set_bool(&mut self, local: Local, to: bool, out: &mut Vec<NodeId>) {
        let value = self.define(Type::BOOL, Op::Const(Const::Bool(to)), out);
        out.push(self.node(NodeKind::Set(local, value)));
    }

    /// Takes what stands in another block.
    fn inside<T>(&mut self, frame: FrameId, conds: Vec<Value>, branch: Option<usize>, what: impl FnOnce(&mut Self) -> T) -> T {
        let block = self.tree.blocks.len();
        self.tree.blocks.push(self.place.block);
        self.tree.sides.push(branch);
        let outer = std::mem::replace(&mut self.place, Place { frame, block, conds });
        let done = what(self);
        self.place = outer;
        done
    }

    fn branch(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Result<Listed, PassError>,
        other: impl FnOnce(&mut Self) -> Result<Listed, PassError>,
    ) -> Result<Listed, PassError> {
        let conds: Vec<Value> = self.place.conds.iter().copied().chain([cond]).collect();
        let span = self.span;
        let frame = self.place.frame;
        let branch = self.tree.blocks.len();
        let (then, mut exits) = self.inside(frame, conds.clone(), Some(branch), then)?;
        let (other, more) = self.inside(frame, conds, Some(branch), other)?;
        self.span = span;
        join(&mut exits, more);
        let node = self.node(NodeKind::If { cond, then, other });
        Ok((vec![node], exits))
    }

    /// Takes statements, and says where they may exit to.
    fn list(&mut self, stmts: &[Stmt]) -> Result<Listed, PassError> {
        let mut out = Vec::new();
        let mut exits = Vec::new();
        for (i, stmt) in stmts.iter().enumerate() {
            self.span = stmt.span;
            let rest = &stmts[i + 1..];
            match &stmt.kind {
                StmtKind::If { cond, then, other } if !rest.is_empty() && exits_at_end(then) != exits_at_end(other) => {
                    // What follows moves into the side that goes on.
                    let (a, b): (Vec<Stmt>, Vec<Stmt>) = match exits_at_end(then) {
                        true => (then.0.clone(), followed(other, rest)),
                        false => (followed(then, rest), other.0.clone()),
                    };
                    let (nodes, more) = self.branch(*cond, |m| m.list(&a), |m| m.list(&b))?;
                    out.extend(nodes);
                    join(&mut exits, more);
                    return Ok((out, exits));
                }
                _ => {}
            }
            let (nodes, more) = self.stmt(stmt)?;
            out.extend(nodes);
            if more.is_empty() {
                continue;
            }
            let flags = self.flags(&more);
            join(&mut exits, more);
            if rest.is_empty() {
                break;
            }
            self.span = stmt.span;
            let go = self.none_of(&flags, &mut out);
            let (nodes, more) = self.branch(go, |m| m.list(rest), |_| Ok(Listed::default()))?;
            out.extend(nodes);
            join(&mut exits, more);
            break;
        }
        Ok((out, exits))
    }

    /// The flags that tell, here, that control is on its way to one of the targets.
    fn flags(&self, targets: &[Target]) -> Vec<Local> {
        let here = self.levels.len() - 1;
        let mut flags = Vec::new();
        for target in targets {
            let own = match target {
                Target::Return => (here == 0).then(|| self.levels[0].returned).flatten(),
                Target::Label(label) => self.levels[here].labels.iter().find(|(l, _)| l == label).map(|(_, flag)| *flag),
                Target::Continue(level) => (*level == here).then(|| self.levels[here].skip).flatten(),
                Target::Break(_) => None,
            };
            let flag = own.or(self.levels[here].stop);
            flags.extend(flag.filter(|flag| !flags.contains(flag)));
        }
        flags
    }

    fn none_of(&mut self, flags: &[Local], out: &mut Vec<NodeId>) -> Value {
        let mut any = None;
        for flag in flags {
            let value = self.get(*flag, out);
            any = Some(match any {
                None => value,
                Some(before) => self.define(Type::BOOL, Op::Binary(BinOp::Or, before, value), out),
            });
        }
        match any {
            Some(any) => self.define(Type::BOOL, Op::Unary(UnOp::Not, any), out),
            None => self.define(Type::BOOL, Op::Const(Const::Bool(true)), out),
        }
    }

    /// An exit: sets the flag of where it leads, and stops the loops that it leaves.
    fn exit(&mut self, target: Target) -> Result<Listed, PassError> {
        let here = self.levels.len() - 1;
        let (flag, level) = match target {
            Target::Return => (self.levels[0].returned, 0),
            Target::Label(label) => {
                let found = self.levels.iter().enumerate().rev().find_map(|(at, level)| {
                    let (_, flag) = level.labels.iter().find(|(l, _)| *l == label)?;
                    Some((Some(*flag), at))
                });
                found.ok_or_else(|| PassError::defect(self.span, "a label that is not open"))?
            }
            Target::Break(level) => (self.levels[level].stop, level),
            Target::Continue(level) => (self.levels[level].skip, level),
        };
        let mut out = Vec::new();
        if let Some(flag) = flag {
            self.set_bool(flag, true, &mut out);
        }
        for left in level + 1..=here {
            match self.levels[left].stop {
                Some(stop) => self.set_bool(stop, true, &mut out),
                None => return Err(PassError::new(self.span, "leaving an index space early has no derivative")),
            }
        }
        Ok((out, vec![target]))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Listed, PassError> {
        let here = self.levels.len() - 1;
        let plain = match &stmt.kind {
            StmtKind::Let(value, op) => {
                if let Op::Tuple(items) = op {
                    self.tuples.insert(*value, items.clone());
                }
                NodeKind::Let(*value, op.clone())
            }
            StmtKind::Set(local, value) => NodeKind::Set(*local, *value),
            StmtKind::If { cond, then, other } => {
                return self.branch(*cond, |m| m.list(&then.0), |m| m.list(&other.0));
            }
            StmtKind::Loop(body) => return self.looped(FrameKind::Endless, body),
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => {
                let number = self.next_loop();
                if let Some(sums) = self.lanes.get(&number) {
                    return self.turns_in_lanes(*var, (*start, *stop), sums, number, body);
                }
                let kind = FrameKind::Counted {
                    var: *var,
                    start: *start,
                    stop: *stop,
                    step: *step,
                    number,
                };
                return self.looped(kind, body);
            }
            StmtKind::ParFor {
                vars,
                extents,
                reductions,
                spread,
                body,
            } => {
                let number = self.next_loop();
                self.loops += vars.len();
                if self.sequential.contains(&number) {
                    let body = self.with_own_locals(body, reductions);
                    return self.points_in_turn(vars, extents, number + 1, &body);
                }
                let kind = FrameKind::Points {
                    vars: vars.clone(),
                    extents: extents.clone(),
                    reductions: reductions.clone(),
                    spread: *spread,
                    number,
                };
                return self.looped(kind, body);
            }
            StmtKind::Scope(label, body) => {
                let flag = self.flag("left");
                let mut out = Vec::new();
                self.set_bool(flag, false, &mut out);
                self.levels[here].labels.push((*label, flag));
                let (nodes, mut exits) = self.list(&body.0)?;
                self.levels[here].labels.pop();
                out.extend(nodes);
                exits.retain(|exit| *exit != Target::Label(*label));
                return Ok((out, exits));
            }
            StmtKind::Leave(label) => return self.exit(Target::Label(*label)),
            StmtKind::Break => return self.exit(Target::Break(here)),
            StmtKind::Continue => return self.exit(Target::Continue(here)),
            StmtKind::Return(value) => {
                let items = value.map_or_else(Vec::new, |value| self.items(value));
                let locals = self.results.clone().unwrap_or_default();
                let mut out: Vec<NodeId> = Vec::new();
                for (local, value) in locals.into_iter().zip(items) {
                    out.push(self.node(NodeKind::Set(local, value)));
                }
                let (nodes, exits) = self.exit(Target::Return)?;
                out.extend(nodes);
                return Ok((out, exits));
            }
            StmtKind::Launch { .. } => return Err(PassError::defect(stmt.span, "a loop that is already a function")),
            StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. }
            | StmtKind::Print(_) => NodeKind::Plain(stmt.kind.clone()),
        };
        Ok((vec![self.node(plain)], Vec::new()))
    }

    /// The body of an index space with locals that are its own: they begin as those around, which it does not change.
    fn with_own_locals(&mut self, body: &Block, reductions: &[Reduction]) -> Block {
        let mut own = OwnLocals::default();
        let mut first = Vec::new();
        let mut set: Vec<Local> = Vec::new();
        body.walk(&mut |kind| kind.sets(&mut |local| set.push(local)));
        set.retain(|local| !reductions.iter().any(|reduction| reduction.local == *local));
        set.sort_unstable();
        set.dedup();
        for local in set {
            let data = self.tree.func.locals[local.index()].clone();
            let value = self.tree.func.new_value(data.ty.clone());
            let new = self.tree.func.new_local(data.ty, data.name);
            let span = self.span;
            let (kind, copy) = (StmtKind::Let(value, Op::Get(local)), StmtKind::Set(new, value));
            first.extend([Stmt { kind, span }, Stmt { kind: copy, span }]);
            own.locals.insert(local, new);
        }
        let mut body = body.clone();
        body.rename(&mut own);
        first.append(&mut body.0);
        Block(first)
    }

    /// An index space as loops, one in the other.
    fn points_in_turn(&mut self, vars: &[Value], extents: &[Value], number: usize, body: &Block) -> Result<Listed, PassError> {
        let mut out = Vec::new();
        let zero = self.define(Type::I64, Op::Const(Const::i64(0)), &mut out);
        let one = self.define(Type::I64, Op::Const(Const::i64(1)), &mut out);
        let (nodes, exits) = self.axis_in_turn(vars, extents, (zero, one), number, body)?;
        out.extend(nodes);
        Ok((out, exits))
    }

    fn axis_in_turn(
        &mut self,
        vars: &[Value],
        extents: &[Value],
        ends: (Value, Value),
        number: usize,
        body: &Block,
    ) -> Result<Listed, PassError> {
        let (Some((var, vars)), Some((extent, extents))) = (vars.split_first(), extents.split_first()) else {
            return self.list(&body.0);
        };
        let kind = match self.lanes.get(&number) {
            Some(sums) => in_lanes(*var, *extent, sums, number),
            None => FrameKind::Counted {
                var: *var,
                start: ends.0,
                stop: *extent,
                step: ends.1,
                number,
            },
        };
        match vars.is_empty() {
            true => self.looped(kind, body),
            false => self.looped_with(kind, Exits::default(), |m| m.axis_in_turn(vars, extents, ends, number + 1, body)),
        }
    }

    fn next_loop(&mut self) -> usize {
        let number = self.loops;
        self.loops += 1;
        number
    }

    /// A loop that goes up by one as an index space.
    fn turns_in_lanes(
        &mut self,
        var: Value,
        (start, stop): (Value, Value),
        sums: &[Reduction],
        number: usize,
        body: &Block,
    ) -> Result<Listed, PassError> {
        let mut out = Vec::new();
        let zero = self.define(Type::I64, Op::Const(Const::i64(0)), &mut out);
        let far = self.define(Type::I64, Op::Binary(BinOp::Sub, stop, start), &mut out);
        let any = self.define(Type::BOOL, Op::Compare(CmpOp::Lt, start, stop), &mut out);
        let turns = self.define(Type::I64, Op::Select(any, far, zero), &mut out);
        let turn = self.tree.func.new_value(Type::I64);
        let kind = StmtKind::Let(var, Op::Binary(BinOp::Add, start, turn));
        let span = self.span;
        let body = Block(std::iter::once(Stmt { kind, span }).chain(body.0.iter().cloned()).collect());
        let (nodes, exits) = self.looped(in_lanes(turn, turns, sums, number), &body)?;
        out.extend(nodes);
        Ok((out, exits))
    }

    fn looped(&mut self, kind: FrameKind, body: &Block) -> Result<Listed, PassError> {
        let exits = Exits::of(body, matches!(kind, FrameKind::Endless));
        self.looped_with(kind, exits, |m| m.list(&body.0))
    }

    fn looped_with(
        &mut self,
        kind: FrameKind,
        exits: Exits,
        take: impl FnOnce(&mut Self) -> Result<Listed, PassError>,
    ) -> Result<Listed, PassError> {
        let span = self.span;
        let mut out = Vec::new();
        let stop = (exits.stops && !kind.is_points()).then(|| self.flag("stop"));
        if let Some(stop) = stop {
            self.set_bool(stop, false, &mut out);
        }
        let skip = exits.skips.then(|| self.flag("skip"));
        let frame = self.tree.frames.len();
        for var in kind.vars() {
            self.tree.vars.insert(var, frame);
        }
        if let FrameKind::Points { reductions, .. } = &kind {
            for reduction in reductions {
                self.tree.reduced.entry(reduction.local).or_default().push(frame);
            }
        }
        let node = self.node(NodeKind::Loop(frame));
        self.tree.frames.push(Frame {
            kind,
            parent: self.place.frame,
            node,
            body: Vec::new(),
            block: 0,
            stop,
        });
        self.levels.push(Level {
            stop,
            skip,
            ..Level::default()
        });
        let here = self.levels.len() - 1;
        let taken = self.inside(frame, Vec::new(), None, |m| {
            m.tree.frames[frame].block = m.place.block;
            let mut nodes = Vec::new();
            if let Some(skip) = skip {
                m.set_bool(skip, false, &mut nodes);
            }
            let (rest, exits) = take(m)?;
            nodes.extend(rest);
            Ok((nodes, exits))
        });
        self.levels.pop();
        let (nodes, mut targets): Listed = taken?;
        self.tree.frames[frame].body = nodes;
        self.span = span;
        targets.retain(|target| !matches!(target, Target::Break(level) | Target::Continue(level) if *level == here));
        out.push(node);
        Ok((out, targets))
    }
}

type Listed = (Vec<NodeId>, Vec<Target>);

fn join(into: &mut Vec<Target>, more: Vec<Target>) {
    for target in more {
        if !into.contains(&target) {
            into.push(target);
        }
    }
}

/// Other locals for some.
#[derive(Default)]
struct OwnLocals {
    locals: HashMap<Local, Local>,
}

impl Rename for OwnLocals {
    fn operand(&mut self, _value: &mut Value) {}

    fn id(&mut self, id: Id<'_>) {
        if let Id::Local(local) = id
            && let Some(new) = self.locals.get(local)
        {
            *local = *new;
        }
    }
}

/// One thread's index space of a loop's turns.
fn in_lanes(var: Value, extent: Value, sums: &[Reduction], number: usize) -> FrameKind {
    FrameKind::Points {
        vars: vec![var],
        extents: vec![extent],
        reductions: sums.to_vec(),
        spread: Spread::Lanes,
        number,
    }
}
