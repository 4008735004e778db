//! Parallel loops: in a `prange` every index is a point of its own; variables that only accumulate are reductions (arrays: see `copies`).
//!
//! Points are lanes, and gangs of them run on all threads. Where the body makes arrays or draws random numbers, which lanes cannot, each point runs by itself.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Operator, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};
use weft_ir::{BinOp, Block, FuncKind, Op, ReduceOp, Reduction, Spread, StmtKind, Type, Value};

use super::Lower;
use super::loops::{LoopFrame, LoopKind};
use crate::Object;
use crate::builtins::{self, About, Entry, Func, Joins};
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::Val;

/// The iterations of a loop, numbered from 0.
#[derive(Clone, Copy)]
pub struct Iterations {
    start: Value,
    step: Value,
    /// The step, if it is written out.
    known: Option<i128>,
    from_zero: bool,
    pub count: Value,
}

/// A variable that a loop only accumulates into.
pub struct Accumulated {
    pub name: String,
    pub op: ReduceOp,
    /// By `acc += x`, never by `acc = acc + x`.
    pub in_place: bool,
}

impl Lower<'_> {
    /// A loop runs in order where what it accumulates cannot be combined.
    pub fn needs_order(&self, s: &StmtFor) -> bool {
        self.find_reductions(s).iter().any(|(name, how)| match self.type_before(name) {
            // Devices combine only sums of complex numbers.
            Some(Ty::Num(num)) => !how.combines(*num) || num.scalar.is_complex() && how.op != ReduceOp::Add,
            // Either the array itself is changed or a new one is made.
            Some(Ty::View(v)) => !how.combines(Num::strong(v.elem)) || how.in_place && how.rebinds,
            _ => false,
        })
    }

    /// Does the loop only accumulate into the variable?
    pub fn accumulates(&self, s: &StmtFor, name: &str) -> bool {
        self.find_reductions(s).contains_key(name)
    }

    /// Variables that the loop only accumulates into, with how.
    fn find_reductions(&self, s: &StmtFor) -> BTreeMap<String, How> {
        let means = |function: &Expr| self.known_function(function);
        let mut scan = Scan {
            means: &means,
            reads: &|name| self.read_by(name),
            found: BTreeMap::new(),
            used: BTreeSet::new(),
        };
        // The index is assigned by every iteration.
        scan.visit_expr(&s.target);
        visitor::walk_body(&mut scan, &s.body);
        scan.found.retain(|name, _| !scan.used.contains(name));
        scan.found
    }

    /// The function of the compiler's that an expression means here.
    pub fn known_function(&self, expr: &Expr) -> Option<Func> {
        match builtins::find(&self.path_of(expr)?)? {
            Entry::Func(function) => Some(function),
            _ => None,
        }
    }

    /// The path of a function or module that the compiler knows: `builtins.max`, `numpy.maximum`.
    fn path_of(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) if !self.is_local(&name.id) => match self.unit.function.env.lookup(&name.id)? {
                Object::Known(path) | Object::Module(path) => Some(builtins::canonical(&path)),
                _ => None,
            },
            Expr::Attribute(a) => Some(builtins::canonical(&format!("{}.{}", self.path_of(&a.value)?, a.attr))),
            _ => None,
        }
    }

    /// Refuses an array that is changed in one iteration and read in the next. Of other variables `parallel` knows more.
    fn refuse_carried(&self, s: &StmtFor, found: &BTreeMap<String, How>) -> Res<()> {
        for (name, range) in carried(&s.body, &|function| self.known_function(function), &|name| self.read_by(name)) {
            if found.contains_key(&name) || !matches!(self.type_before(&name), Some(Ty::View(_))) {
                continue;
            }
            let message = format!("'{name}' carries a value from one iteration of this prange to the next");
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, self.span(range), message);
            let help = "only sums, products, min, max, &, | and ^ of one variable combine, written as `acc += x` or `acc = max(acc, x)`; else use range";
            return Err(diag.help(help).into());
        }
        Ok(())
    }

    pub fn prange_loop(&mut self, s: &StmtFor, bounds: [&Val; 3], spread: Spread) -> Res<()> {
        let span = self.span(s.iter.range());
        let known = bounds[2].const_int();
        let from_zero = bounds[0].const_int() == Some(0);
        let [start, stop, step] = self.range_bounds(bounds, span)?;
        let count = self.range_length(start, stop, step, known);
        let of = Iterations {
            start,
            step,
            known,
            from_zero,
            count,
        };
        self.found.needs_host = true;
        self.b.span = self.span(s.range());
        if !self.vars.parallel.ended.contains(&self.b.span.start) {
            return self.spread_iterations(s, of, spread);
        }
        // What the iterations assign is read behind the loop: the last one runs by itself, in the function's own variables.
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let others = self.b.binary(BinOp::Sub, count, one);
        let others = self.b.binary(BinOp::Max, others, zero);
        self.facts.mark_nonneg(others);
        self.spread_iterations(s, Iterations { count: others, ..of }, spread)?;
        let var = self.b.func.new_value(Type::I64);
        self.facts.mark_nonneg(var);
        let lanes = !self.vars.loops_of_arrays.contains(&s.range().start().to_u32());
        let body = self.points_body(s, of, var, lanes)?;
        self.b.span = self.span(s.range());
        self.b.push(StmtKind::For {
            var,
            start: others,
            stop: count,
            step: one,
            body,
        });
        Ok(())
    }

    fn spread_iterations(&mut self, s: &StmtFor, of: Iterations, spread: Spread) -> Res<()> {
        let found = self.find_reductions(s);
        self.refuse_carried(s, &found)?;
        let accumulated = |(name, how): (String, How)| Accumulated {
            name,
            op: how.op,
            in_place: how.in_place,
        };
        let found: Vec<Accumulated> = found.into_iter().map(accumulated).collect();
        // Made before the loop, so that their values from before the loop are in them.
        for acc in &found {
            let _ = self.local_of(&acc.name);
        }
        if found.iter().any(|acc| matches!(self.type_before(&acc.name), Some(Ty::View(_)))) {
            self.vars.parallel.chunked.insert(self.b.span.start);
            return self.prange_into_arrays(s, of, &found);
        }
        let lanes = !self.vars.loops_of_arrays.contains(&s.range().start().to_u32());
        let var = self.b.func.new_value(Type::I64);
        self.facts.mark_nonneg(var);
        let body = self.points_body(s, of, var, lanes)?;
        if lanes && self.makes_arrays(&body) {
            self.vars.loops_of_arrays.insert(s.range().start().to_u32());
            self.found.changed = true;
        }
        let reductions = self.reductions(&found);
        self.b.span = self.span(s.range());
        self.b.push(StmtKind::ParFor {
            vars: vec![var],
            extents: vec![of.count],
            reductions,
            spread: if lanes { spread } else { Spread::Threads },
            body,
        });
        Ok(())
    }

    /// The loop's body for the iteration with number `var`.
    pub fn points_body(&mut self, s: &StmtFor, of: Iterations, var: Value, lanes: bool) -> Res<Block> {
        self.open_block();
        self.nest
            .frames
            .push(LoopFrame::parallel(if lanes { LoopKind::Lanes } else { LoopKind::Points }));
        let index = if of.known == Some(1) && of.from_zero {
            var
        } else {
            let offset = self.b.binary(BinOp::Mul, var, of.step);
            let index = self.b.binary(BinOp::Add, of.start, offset);
            if of.known.is_some_and(|k| k > 0) && self.facts.is_nonneg(of.start) {
                self.facts.mark_nonneg(index);
            }
            index
        };
        self.assign_target(&s.target, Val::Num(index, Num::INT))?;
        self.block(&s.body);
        self.nest.frames.pop();
        Ok(self.close_block())
    }

    /// Those of the variables that hold numbers, as the IR has them.
    pub fn reductions(&mut self, found: &[Accumulated]) -> Vec<Reduction> {
        let mut reductions = Vec::new();
        for acc in found {
            if let Some((local, Ty::Num(_))) = self.local_of(&acc.name) {
                reductions.push(Reduction::free(local, acc.op));
            }
        }
        reductions
    }

    /// Does the block allocate or ask for what its thread has, itself or in a function it calls?
    fn makes_arrays(&self, block: &Block) -> bool {
        block.0.iter().any(|stmt| match &stmt.kind {
            StmtKind::Let(_, Op::Alloc { .. } | Op::ThreadState(_)) => true,
            StmtKind::Let(_, Op::Call(id, _)) => self.cx.kind_of(*id) == Some(&FuncKind::Host),
            kind => kind.blocks().any(|inner| self.makes_arrays(inner)),
        })
    }
}

fn supports(op: ReduceOp, num: Num) -> bool {
    match op {
        ReduceOp::Min | ReduceOp::Max => !num.scalar.is_complex(),
        ReduceOp::Add | ReduceOp::Mul => num.scalar != weft_ir::Scalar::Bool,
        _ => num.scalar.is_int() || num.scalar == weft_ir::Scalar::Bool,
    }
}

/// How a variable is accumulated into.
#[derive(Clone, Copy, Debug)]
struct How {
    op: ReduceOp,
    /// Somewhere by `acc += x`.
    in_place: bool,
    /// Somewhere by `acc = acc + x`.
    rebinds: bool,
    /// Somewhere by a function whose results do not combine where NaNs are: see [`Joins`].
    by_turns: bool,
}

impl How {
    fn combines(self, num: Num) -> bool {
        supports(self.op, num) && !(self.by_turns && num.scalar.is_float())
    }
}

/// What expressions mean: see `known_function`.
type Means<'m> = &'m dyn Fn(&Expr) -> Option<Func>;

/// What calls of a function inside this one read of its variables.
type Reads<'m> = &'m dyn Fn(&str) -> Vec<String>;

struct Scan<'m> {
    means: Means<'m>,
    reads: Reads<'m>,
    found: BTreeMap<String, How>,
    /// Variables read or written in any other way, or accumulated in two.
    used: BTreeSet<String>,
}

impl Scan<'_> {
    fn accumulate(&mut self, name: &str, new: How) {
        let how = self.found.entry(name.to_owned()).or_insert(new);
        how.in_place |= new.in_place;
        how.rebinds |= new.rebinds;
        how.by_turns |= new.by_turns;
        if how.op != new.op {
            self.used.insert(name.to_owned());
        }
    }
}

impl Visitor<'_> for Scan<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::AugAssign(s) => {
                if let (Expr::Name(name), Some(op)) = (&*s.target, reduction_of(s.op)) {
                    let how = How {
                        op,
                        in_place: true,
                        rebinds: false,
                        by_turns: false,
                    };
                    self.accumulate(&name.id, how);
                    self.visit_expr(&s.value);
                    return;
                }
            }
            Stmt::Assign(s) => {
                if let [Expr::Name(name)] = s.targets.as_slice()
                    && let Some((how, rest)) = accumulation(&name.id, &s.value, self.means)
                {
                    self.accumulate(&name.id, how);
                    self.visit_expr(rest);
                    return;
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if asks_shape(expr, self.means) {
            return;
        }
        if let Expr::Name(name) = expr {
            self.used.insert(name.id.to_string());
            self.used.extend((self.reads)(&name.id));
        }
        visitor::walk_expr(self, expr);
    }
}

/// `a.shape`, `len(a)` and the like: they read no element.
fn asks_shape(expr: &Expr, means: Means<'_>) -> bool {
    let is_name = |e: &Expr| matches!(e, Expr::Name(_));
    match expr {
        Expr::Attribute(a) => is_name(&a.value) && matches!(a.attr.as_str(), "shape" | "size" | "ndim" | "dtype"),
        Expr::Call(call) => {
            let asks = || matches!(means(&call.func).and_then(Func::about), Some(About::AsksShape));
            matches!(&*call.arguments.args, [arg] if is_name(arg)) && asks()
        }
        _ => false,
    }
}

fn reduction_of(op: Operator) -> Option<ReduceOp> {
    match op {
        // A difference adds up negated contributions.
        Operator::Add | Operator::Sub => Some(ReduceOp::Add),
        Operator::Mult => Some(ReduceOp::Mul),
        Operator::BitAnd => Some(ReduceOp::And),
        Operator::BitOr => Some(ReduceOp::Or),
        Operator::BitXor => Some(ReduceOp::Xor),
        _ => None,
    }
}

/// `acc + x`, `x + acc`, `acc - x`, `max(acc, x)`: how it accumulates, and `x`.
fn accumulation<'a>(name: &str, value: &'a Expr, means: Means<'_>) -> Option<(How, &'a Expr)> {
    let is_it = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == name);
    let how = |op, by_turns| How {
        op,
        in_place: false,
        rebinds: true,
        by_turns,
    };
    match value {
        Expr::BinOp(e) => {
            let op = reduction_of(e.op)?;
            if is_it(&e.left) {
                Some((how(op, false), &e.right))
            } else if is_it(&e.right) && e.op != Operator::Sub {
                Some((how(op, false), &e.left))
            } else {
                None
            }
        }
        Expr::Call(call) if call.arguments.keywords.is_empty() => {
            let Some(About::Joins(Joins { op, by_turns })) = means(&call.func)?.about() else {
                return None;
            };
            match &*call.arguments.args {
                [a, b] if is_it(a) => Some((how(op, by_turns[0]), b)),
                [a, b] if is_it(b) => Some((how(op, by_turns[1]), a)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Variables that the statements read before they assign them, and where.
fn carried(body: &[Stmt], means: Means<'_>, reads: Reads<'_>) -> Vec<(String, TextRange)> {
    let mut order = Order {
        means,
        reads,
        read_first: BTreeMap::new(),
        written: BTreeSet::new(),
    };
    visitor::walk_body(&mut order, body);
    let written = order.written;
    order.read_first.into_iter().filter(|(name, _)| written.contains(name)).collect()
}

struct Order<'m> {
    means: Means<'m>,
    reads: Reads<'m>,
    read_first: BTreeMap<String, TextRange>,
    written: BTreeSet<String>,
}

impl Order<'_> {
    fn read(&mut self, name: &str, range: TextRange) {
        if !self.written.contains(name) {
            self.read_first.entry(name.to_owned()).or_insert(range);
        }
    }
}

impl Visitor<'_> for Order<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        if let Stmt::AugAssign(s) = stmt
            && let Expr::Name(name) = &*s.target
        {
            self.read(&name.id, name.range);
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if asks_shape(expr, self.means) {
            return;
        }
        if let Expr::Name(name) = expr {
            if name.ctx == ExprContext::Load {
                self.read(&name.id, name.range);
                (self.reads)(&name.id).iter().for_each(|read| self.read(read, name.range));
            } else {
                self.written.insert(name.id.to_string());
            }
        }
        visitor::walk_expr(self, expr);
    }
}
