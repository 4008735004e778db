//! Linear code: structured statements flattened into instructions with jumps, so that a thread's state is a program counter and can be
//! kept.

use crate::module::{Block, ErrorKind, FuncId, Function, Label, Local, Module, PrintItem, Reduction, Span, Stmt, StmtKind, Value};
use crate::op::{BarrierOp, Index, Op, Part, WarpOp};
use crate::types::Scalar;

#[derive(Debug)]
pub(super) struct Program<'m> {
    pub module: &'m Module,
    pub codes: Vec<Code<'m>>,
}

/// One function's instructions, each with its span.
#[derive(Debug, Default)]
pub(super) struct Code<'m> {
    pub instrs: Vec<Instr<'m>>,
    pub spans: Vec<Span>,
    /// How many `for` loops the function has: each keeps its state in a slot of its own.
    pub loops: usize,
}

/// A position among the instructions.
pub(super) type Pc = usize;

#[derive(Debug)]
pub(super) enum Instr<'m> {
    Let(Value, &'m Op),
    Set(Local, Value),
    Jump(Pc),
    JumpUnless(Value, Pc),
    ForStart {
        slot: usize,
        start: Value,
        stop: Value,
        step: Value,
    },
    /// Gives the loop's next index, or jumps to the end.
    ForNext {
        slot: usize,
        var: Value,
        step: Value,
        end: Pc,
    },
    ParFor(Box<ParFor<'m>>),
    /// The end of a `ParFor`'s body.
    EndPoint,
    Launch {
        func: FuncId,
        extents: &'m [Value],
        args: &'m [Value],
        results: &'m [Local],
    },
    Return(Option<Value>),
    Store {
        view: Value,
        indices: &'m [Index],
        value: Value,
        part: Part,
    },
    /// What each lane does once its warp has met: see `mma`.
    Mma {
        elem: Scalar,
        sums: Value,
        factors: [Value; 2],
        transposed: [bool; 2],
    },
    /// Waits for other threads: see `meet`.
    Meet(Meeting),
    Raise(ErrorKind, &'m str),
    Print(&'m [PrintItem]),
    /// What means nothing where threads run one at a time: fences, sleep.
    Nothing,
}

/// What a thread waits for, and what it contributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meeting {
    Barrier,
    GridBarrier,
    Reduce {
        into: Value,
        op: BarrierOp,
        value: Value,
    },
    SyncWarp {
        mask: Value,
    },
    Warp {
        into: Value,
        op: WarpOp,
        mask: Value,
        value: Value,
        lane: Option<Value>,
    },
    ActiveMask {
        into: Value,
    },
    /// All lanes of the warp, which multiply the same matrices.
    Mma {
        sums: Value,
        factors: [Value; 2],
    },
}

#[derive(Debug)]
pub(super) struct ParFor<'m> {
    pub vars: &'m [Value],
    pub extents: &'m [Value],
    pub reductions: &'m [Reduction],
    /// Locals the body sets: each point starts with what they hold outside.
    pub private: Vec<Local>,
    /// The instruction after the loop; the body starts after the `ParFor` itself.
    pub end: Pc,
}

impl<'m> Program<'m> {
    pub fn new(module: &'m Module) -> Program<'m> {
        Program {
            module,
            codes: module.functions.iter().map(flatten).collect(),
        }
    }
}

fn flatten(function: &Function) -> Code<'_> {
    let mut flattener = Flattener::default();
    flattener.block(&function.body);
    flattener.push(Instr::Return(None), Span::NONE);
    flattener.code
}

/// Where `break` and `continue` of the innermost loop go, once that is known.
#[derive(Default)]
struct Exits {
    breaks: Vec<Pc>,
    continues: Vec<Pc>,
}

#[derive(Default)]
struct Flattener<'m> {
    code: Code<'m>,
    loops: Vec<Exits>,
    scopes: Vec<(Label, Vec<Pc>)>,
}

impl<'m> Flattener<'m> {
    fn here(&self) -> Pc {
        self.code.instrs.len()
    }

    fn push(&mut self, instr: Instr<'m>, span: Span) -> Pc {
        self.code.instrs.push(instr);
        self.code.spans.push(span);
        self.here() - 1
    }

    /// Sets where a jump goes.
    fn patch(&mut self, at: Pc, target: Pc) {
        match &mut self.code.instrs[at] {
            Instr::Jump(to) | Instr::JumpUnless(_, to) | Instr::ForNext { end: to, .. } => *to = target,
            Instr::ParFor(par) => par.end = target,
            _ => {}
        }
    }

    fn patch_all(&mut self, jumps: Vec<Pc>, target: Pc) {
        jumps.into_iter().for_each(|at| self.patch(at, target));
    }

    fn block(&mut self, block: &'m Block) {
        block.0.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'m Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::If { cond, then, other } => self.branch(*cond, then, other, span),
            StmtKind::Loop(body) => {
                let start = self.here();
                let exits = self.body(body);
                self.push(Instr::Jump(start), span);
                self.patch_all(exits.continues, start);
                let end = self.here();
                self.patch_all(exits.breaks, end);
            }
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => {
                let slot = self.code.loops;
                self.code.loops += 1;
                let (start, stop, step) = (*start, *stop, *step);
                self.push(Instr::ForStart { slot, start, stop, step }, span);
                let next = self.push(
                    Instr::ForNext {
                        slot,
                        var: *var,
                        step,
                        end: 0,
                    },
                    span,
                );
                let exits = self.body(body);
                self.push(Instr::Jump(next), span);
                self.patch_all(exits.continues, next);
                let end = self.here();
                self.patch(next, end);
                self.patch_all(exits.breaks, end);
            }
            StmtKind::ParFor {
                vars,
                extents,
                reductions,
                body,
                ..
            } => self.par_for(vars, extents, reductions, body, span),
            StmtKind::Scope(label, body) => {
                self.scopes.push((*label, Vec::new()));
                self.block(body);
                let leaves = self.scopes.pop().map(|(_, leaves)| leaves).unwrap_or_default();
                let end = self.here();
                self.patch_all(leaves, end);
            }
            StmtKind::Leave(label) => {
                let at = self.push(Instr::Jump(0), span);
                if let Some((_, leaves)) = self.scopes.iter_mut().rev().find(|(l, _)| l == label) {
                    leaves.push(at);
                }
            }
            StmtKind::Break | StmtKind::Continue => {
                let at = self.push(Instr::Jump(0), span);
                if let Some(exits) = self.loops.last_mut() {
                    let list = if stmt.kind == StmtKind::Break {
                        &mut exits.breaks
                    } else {
                        &mut exits.continues
                    };
                    list.push(at);
                }
            }
            StmtKind::Mma {
                elem,
                sums,
                left,
                right,
                left_transposed,
                right_transposed,
            } => {
                let (elem, sums, factors) = (*elem, *sums, [*left, *right]);
                self.push(Instr::Meet(Meeting::Mma { sums, factors }), span);
                let transposed = [*left_transposed, *right_transposed];
                self.push(
                    Instr::Mma {
                        elem,
                        sums,
                        factors,
                        transposed,
                    },
                    span,
                );
            }
            other => {
                if let Some(instr) = simple(other) {
                    self.push(instr, span);
                }
            }
        }
    }

    fn body(&mut self, body: &'m Block) -> Exits {
        self.loops.push(Exits::default());
        self.block(body);
        self.loops.pop().unwrap_or_default()
    }

    fn branch(&mut self, cond: Value, then: &'m Block, other: &'m Block, span: Span) {
        let skip = self.push(Instr::JumpUnless(cond, 0), span);
        self.block(then);
        if other.0.is_empty() {
            let end = self.here();
            self.patch(skip, end);
            return;
        }
        let over = self.push(Instr::Jump(0), span);
        let start = self.here();
        self.patch(skip, start);
        self.block(other);
        let end = self.here();
        self.patch(over, end);
    }

    fn par_for(&mut self, vars: &'m [Value], extents: &'m [Value], reductions: &'m [Reduction], body: &'m Block, span: Span) {
        let mut private = sets(body);
        private.retain(|local| reductions.iter().all(|r| r.local != *local));
        let par = ParFor {
            vars,
            extents,
            reductions,
            private,
            end: 0,
        };
        let at = self.push(Instr::ParFor(Box::new(par)), span);
        let exits = self.body(body);
        let point = self.push(Instr::EndPoint, span);
        self.patch_all(exits.continues, point);
        let end = self.here();
        self.patch(at, end);
    }
}

/// A statement that is one instruction.
fn simple(kind: &StmtKind) -> Option<Instr<'_>> {
    Some(match kind {
        StmtKind::Let(value, op) => meeting(*value, op).map_or(Instr::Let(*value, op), Instr::Meet),
        StmtKind::Set(local, value) => Instr::Set(*local, *value),
        StmtKind::Launch {
            func,
            extents,
            args,
            results,
            ..
        } => Instr::Launch {
            func: *func,
            extents,
            args,
            results,
        },
        StmtKind::Return(value) => Instr::Return(*value),
        StmtKind::Store {
            view,
            indices,
            value,
            part,
        } => Instr::Store {
            view: *view,
            indices,
            value: *value,
            part: *part,
        },
        StmtKind::Barrier => Instr::Meet(Meeting::Barrier),
        StmtKind::GridBarrier => Instr::Meet(Meeting::GridBarrier),
        StmtKind::SyncWarp(mask) => Instr::Meet(Meeting::SyncWarp { mask: *mask }),
        StmtKind::Raise { kind, message } => Instr::Raise(*kind, message),
        StmtKind::Print(items) => Instr::Print(items),
        StmtKind::Fence(_) | StmtKind::Sleep(_) => Instr::Nothing,
        StmtKind::If { .. } | StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. } | StmtKind::Scope(..) => return None,
        StmtKind::Mma { .. } | StmtKind::Leave(_) | StmtKind::Break | StmtKind::Continue => return None,
    })
}

/// An operation of several threads; the others are evaluated by `Machine::op`, which knows all there are.
fn meeting(into: Value, op: &Op) -> Option<Meeting> {
    Some(match *op {
        Op::BarrierReduce(op, value) => Meeting::Reduce { into, op, value },
        Op::Warp { op, mask, value, lane } => Meeting::Warp {
            into,
            op,
            mask,
            value,
            lane,
        },
        Op::ActiveMask => Meeting::ActiveMask { into },
        _ => return None,
    })
}

/// The locals a block sets, each once.
fn sets(block: &Block) -> Vec<Local> {
    let mut found = Vec::new();
    block.walk(&mut |kind| {
        kind.sets(&mut |local| {
            if !found.contains(&local) {
                found.push(local);
            }
        });
    });
    found
}
