//! Divergent barriers: those that not all threads of a block come to, where the threads that stay away go on to the kernel's end without
//! meeting another: `if i < n:` around code with a barrier, a `return` before it, a loop of barriers that threads leave at different turns.
//! Hardware counts threads that have ended as arrived, so these end first: each gets a copy of what is left for it to do, and a `return`.
//!
//! - `if c { barrier; … }; rest` is `if not c { rest; return }; barrier; …; rest`.
//! - A jump that some threads take past a barrier, out of a scope or a loop, is what follows there, and a `return`.
//! - A counted loop of barriers whose threads have different bounds is first written as a loop that is left ([`counted`]).
//!
//! Where threads that stay away come to another barrier, those of a block would wait for each other for ever: these are left as they are
//! and refused by the back ends.

mod behind;
mod counted;

use std::mem;

use weft_ir::{Block, Builder, FuncKind, Function, Label, Module, Span, Stmt, StmtKind, Value};

use crate::counting::Range;
use crate::error::PassError;
use crate::operands::{ends, has_barrier, is_barrier};
use crate::uniformity::{self, Calls, Class, Lanes, Uniformity};
use crate::{compact, duplicate, inline};
use behind::{Behind, Kind, has, replace, scope};

/// How many statements all copies in a kernel may have: each place where threads leave copies all that follows. What is more is refused.
const MOST_COPIED: usize = 10_000;

const TOO_MUCH: &str = "some threads leave here and come to no other barrier, so that they get a copy of all that follows, and the copies of \
                        this kernel are more than 10,000 statements; let them leave in fewer places, or put what follows into a kernel of its own";

/// Lets threads end early in every kernel of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    let calls = Calls::of(module);
    for func in module.functions.iter_mut().filter(|func| func.kind == FuncKind::Kernel) {
        if has_barrier(&func.body.0) {
            kernel(func, &calls)?;
        }
    }
    Ok(())
}

fn kernel(func: &mut Function, calls: &Calls) -> Result<(), PassError> {
    let info = uniformity::analyze(func, Lanes::Threads(weft_ir::Axis::X), calls);
    let mut body = mem::take(&mut func.body);
    let mut next_label = inline::label_count(&body);
    close_ends(&mut body, &mut next_label);
    let mut arrive = Arrive {
        info: &info,
        labels: next_label,
        next_label,
        copied: 0,
        too_much: None,
        b: Builder::new(mem::replace(func, Function::new("", FuncKind::Kernel))),
    };
    arrive.block(body, None);
    let too_much = arrive.too_much;
    *func = arrive.b.finish();
    compact::function(func);
    too_much.map_or(Ok(()), |span| Err(PassError::new(span, TOO_MUCH)))
}

/// Jumps behind the last barrier of a scope leave one of their own, in which there is none: they are no control around barriers.
fn close_ends(block: &mut Block, next_label: &mut u32) {
    for stmt in &mut block.0 {
        stmt.kind.blocks_mut().for_each(|inner| close_ends(inner, next_label));
        let StmtKind::Scope(label, body) = &mut stmt.kind else { continue };
        let Some(last) = body.0.iter().rposition(|stmt| stmt.kind.any(&mut is_barrier)) else {
            continue;
        };
        let mut end = Block(body.0.split_off(last + 1));
        let own = Label(*next_label);
        if replace(&mut end, &StmtKind::Leave(*label), own) {
            *next_label += 1;
            end = scope(own, end);
        }
        body.0.extend(end.0);
    }
}

struct Arrive<'a> {
    b: Builder,
    info: &'a Uniformity,
    /// How many labels the kernel had.
    labels: u32,
    next_label: u32,
    copied: usize,
    /// Where more would have to be copied than may be.
    too_much: Option<Span>,
}

impl Arrive<'_> {
    /// Writes the statements of a block, with what is behind it.
    fn block(&mut self, of: Block, outer: Option<&Behind<'_>>) {
        let mut rest = of.0;
        rest.reverse();
        // The next statement is the last one of `rest`.
        while let Some(Stmt { kind, span }) = rest.pop() {
            self.b.span = span;
            let here = |kind| Behind::new(kind, &rest, outer);
            match kind {
                StmtKind::If { cond, then, other } if self.differs(cond) => {
                    let spliced = self.branch(cond, then, other, &here(Kind::Block));
                    if ends(&spliced) {
                        rest.clear();
                    }
                    rest.extend(spliced.0.into_iter().rev());
                }
                StmtKind::If { cond, then, other } => {
                    let then = self.inner(then, &here(Kind::Block));
                    let other = self.inner(other, &here(Kind::Block));
                    self.b.push(StmtKind::If { cond, then, other });
                }
                StmtKind::Scope(label, body) => {
                    let body = self.inner(body, &here(Kind::Scope(label)));
                    self.b.push(StmtKind::Scope(label, body));
                }
                StmtKind::Loop(body) => {
                    let body = self.turn(body, false, &here(Kind::Loop));
                    if !has(&body, &StmtKind::Break) {
                        rest.clear();
                    }
                    self.b.push(StmtKind::Loop(body));
                }
                StmtKind::For {
                    var,
                    start,
                    stop,
                    step,
                    body,
                } => {
                    let range = Range { var, start, stop, step };
                    let differs = range.bounds().iter().any(|v| self.differs(*v));
                    let code = if differs && has_barrier(&body.0) {
                        here(Kind::Block).code(self)
                    } else {
                        None
                    };
                    let body = self.turn(body, differs, &here(Kind::Loop));
                    match code {
                        Some(over) => {
                            if !has(&body, &StmtKind::Break) {
                                rest.clear();
                            }
                            counted::written_out(&mut self.b, range, over, body);
                        }
                        None => self.b.push(range.counted(body)),
                    }
                }
                kind => self.b.push(kind),
            }
        }
    }

    fn inner(&mut self, block: Block, behind: &Behind<'_>) -> Block {
        let span = self.b.span;
        self.b.open();
        self.block(block, Some(behind));
        self.b.span = span;
        self.b.close()
    }

    /// The body of a loop; `differs`: not all threads come to each of its turns.
    fn turn(&mut self, mut body: Block, differs: bool, after: &Behind<'_>) -> Block {
        let meets = has_barrier(&body.0);
        let behind = Behind::new(Kind::Turn { meets }, &[], Some(after));
        if differs && !meets {
            behind.redirect(self, &mut body.0);
        }
        self.inner(body, &behind)
    }

    /// Is it not known to be the same for all threads of a block?
    fn differs(&self, value: Value) -> bool {
        !matches!(self.info.values.get(value.index()), Some(Class::Block | Class::Unset))
    }

    /// Writes an `if` that threads go through differently. Gives what is to follow in its place: the side with a barrier, if the threads
    /// of the other one end first.
    fn branch(&mut self, cond: Value, mut then: Block, mut other: Block, here: &Behind<'_>) -> Block {
        let (in_then, in_other) = (has_barrier(&then.0), has_barrier(&other.0));
        let mut come = Block::default();
        if in_then != in_other {
            let (meeting, away) = if in_then {
                (&mut then, &mut other)
            } else {
                (&mut other, &mut then)
            };
            let reversed: Vec<Stmt> = away.0.iter().rev().cloned().collect();
            if let Some(code) = Behind::new(Kind::Block, &reversed, Some(here)).code(self) {
                *away = code;
                come = mem::take(meeting);
            }
        } else if !in_then {
            for side in [&mut then, &mut other] {
                here.redirect(self, &mut side.0);
            }
        }
        self.b.push(StmtKind::If { cond, then, other });
        come
    }

    /// Gives code that is to stand in the kernel once more names of its own; `None` if that would be too much.
    fn copy(&mut self, mut code: Block) -> Option<Block> {
        code.walk(&mut |_| self.copied += 1);
        if self.copied > MOST_COPIED {
            self.too_much.get_or_insert(self.b.span);
            return None;
        }
        duplicate::rename(&mut self.b.func, &mut code, &mut self.next_label);
        Some(code)
    }
}
