//! `prange`: every index is a point of its own; variables that only accumulate are reductions (arrays: see `copies`).
//!
//! Points are lanes, and gangs of them run on all threads. Where the body makes arrays, which lanes cannot, each point runs by itself.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Operator, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};
use weft_ir::{BinOp, Block, FuncKind, Op, ReduceOp, Reduction, Spread, StmtKind, Type, Value};

use super::Lower;
use super::loops::{LoopFrame, LoopKind};
use crate::compiler::Res;
use crate::diag::{Diagnostic, DiagnosticKind};
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
        find_reductions(&s.body).iter().any(|(name, how)| match self.type_before(name) {
            // Devices combine only sums of complex numbers.
            Some(Ty::Num(num)) => !supports(how.op, *num) || num.scalar.is_complex() && how.op != ReduceOp::Add,
            // Either the array itself is changed or a new one is made.
            Some(Ty::View(v)) => !supports(how.op, Num::strong(v.elem)) || how.in_place && how.rebinds,
            _ => false,
        })
    }

    /// Refuses an array that is changed in one iteration and read in the next. Of other variables `parallel` knows more.
    fn refuse_carried(&self, s: &StmtFor, found: &BTreeMap<String, How>) -> Res<()> {
        for (name, range) in carried(&s.body) {
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

    pub fn prange_loop(&mut self, s: &StmtFor, bounds: [&Val; 3]) -> Res<()> {
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
        self.needs_host = true;
        self.b.span = self.span(s.range());
        if !self.vars.parallel.ended.contains(&self.b.span.start) {
            return self.spread_iterations(s, of);
        }
        // What the iterations assign is read behind the loop: the last one runs by itself, in the function's own variables.
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let others = self.b.binary(BinOp::Sub, count, one);
        let others = self.b.binary(BinOp::Max, others, zero);
        self.mark_nonneg(others);
        self.spread_iterations(s, Iterations { count: others, ..of })?;
        let var = self.b.func.new_value(Type::I64);
        self.mark_nonneg(var);
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

    fn spread_iterations(&mut self, s: &StmtFor, of: Iterations) -> Res<()> {
        let found = find_reductions(&s.body);
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
        self.nonneg.insert(var);
        let body = self.points_body(s, of, var, lanes)?;
        if lanes && self.makes_arrays(&body) {
            self.vars.loops_of_arrays.insert(s.range().start().to_u32());
            self.changed = true;
        }
        let reductions = self.reductions(&found);
        self.b.span = self.span(s.range());
        self.b.push(StmtKind::ParFor {
            vars: vec![var],
            extents: vec![of.count],
            reductions,
            spread: if lanes { Spread::Gangs } else { Spread::Threads },
            body,
        });
        Ok(())
    }

    /// The loop's body for the iteration with number `var`.
    pub fn points_body(&mut self, s: &StmtFor, of: Iterations, var: Value, lanes: bool) -> Res<Block> {
        self.open_block();
        self.loops
            .push(LoopFrame::parallel(if lanes { LoopKind::Lanes } else { LoopKind::Points }));
        let index = if of.known == Some(1) && of.from_zero {
            var
        } else {
            let offset = self.b.binary(BinOp::Mul, var, of.step);
            let index = self.b.binary(BinOp::Add, of.start, offset);
            if of.known.is_some_and(|k| k > 0) && self.nonneg.contains(&of.start) {
                self.nonneg.insert(index);
            }
            index
        };
        self.assign_target(&s.target, Val::Num(index, Num::INT))?;
        self.block(&s.body);
        self.loops.pop();
        Ok(self.close_block())
    }

    /// Those of the variables that hold numbers, as the IR has them.
    pub fn reductions(&mut self, found: &[Accumulated]) -> Vec<Reduction> {
        let mut reductions = Vec::new();
        for acc in found {
            if let Some((local, Ty::Num(_))) = self.local_of(&acc.name) {
                reductions.push(Reduction { local, op: acc.op });
            }
        }
        reductions
    }

    /// Does the block allocate, itself or in a function it calls?
    fn makes_arrays(&self, block: &Block) -> bool {
        block.0.iter().any(|stmt| match &stmt.kind {
            StmtKind::Let(_, Op::Alloc { .. }) => true,
            StmtKind::Let(_, Op::Call(id, _)) => self.cx.kind_of(*id) == Some(&FuncKind::Host),
            StmtKind::If { then, other, .. } => self.makes_arrays(then) || self.makes_arrays(other),
            StmtKind::Loop(body) | StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } | StmtKind::Scope(_, body) => {
                self.makes_arrays(body)
            }
            _ => false,
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
}

/// Variables that the statements only accumulate into, with how.
fn find_reductions(body: &[Stmt]) -> BTreeMap<String, How> {
    let mut scan = Scan::default();
    visitor::walk_body(&mut scan, body);
    scan.found.retain(|name, _| !scan.used.contains(name));
    scan.found
}

#[derive(Default)]
struct Scan {
    found: BTreeMap<String, How>,
    /// Variables read or written in any other way, or accumulated in two.
    used: BTreeSet<String>,
}

impl Scan {
    fn accumulate(&mut self, name: &str, op: ReduceOp, in_place: bool) {
        let rebinds = !in_place;
        let new = How { op, in_place, rebinds };
        let how = self.found.entry(name.to_owned()).or_insert(new);
        how.in_place |= in_place;
        how.rebinds |= rebinds;
        if how.op != op {
            self.used.insert(name.to_owned());
        }
    }
}

impl Visitor<'_> for Scan {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::AugAssign(s) => {
                if let (Expr::Name(name), Some(op)) = (&*s.target, reduction_of(s.op)) {
                    self.accumulate(&name.id, op, true);
                    self.visit_expr(&s.value);
                    return;
                }
            }
            Stmt::Assign(s) => {
                if let [Expr::Name(name)] = s.targets.as_slice()
                    && let Some((op, rest)) = accumulation(&name.id, &s.value)
                {
                    self.accumulate(&name.id, op, false);
                    self.visit_expr(rest);
                    return;
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if asks_shape(expr) {
            return;
        }
        if let Expr::Name(name) = expr {
            self.used.insert(name.id.to_string());
        }
        visitor::walk_expr(self, expr);
    }
}

/// `a.shape`, `len(a)` and the like: they read no element.
fn asks_shape(expr: &Expr) -> bool {
    let is_name = |e: &Expr| matches!(e, Expr::Name(_));
    match expr {
        Expr::Attribute(a) => is_name(&a.value) && matches!(a.attr.as_str(), "shape" | "size" | "ndim" | "dtype"),
        Expr::Call(call) => {
            let is_len = matches!(&*call.func, Expr::Name(f) if f.id.as_str() == "len");
            is_len && matches!(&*call.arguments.args, [arg] if is_name(arg))
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
fn accumulation<'a>(name: &str, value: &'a Expr) -> Option<(ReduceOp, &'a Expr)> {
    let is_it = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == name);
    match value {
        Expr::BinOp(e) => {
            let op = reduction_of(e.op)?;
            if is_it(&e.left) {
                Some((op, &e.right))
            } else if is_it(&e.right) && e.op != Operator::Sub {
                Some((op, &e.left))
            } else {
                None
            }
        }
        Expr::Call(call) if call.arguments.keywords.is_empty() => {
            let op = match &*call.func {
                Expr::Name(n) if n.id.as_str() == "max" => ReduceOp::Max,
                Expr::Name(n) if n.id.as_str() == "min" => ReduceOp::Min,
                Expr::Attribute(a) if matches!(a.attr.as_str(), "maximum" | "fmax") => ReduceOp::Max,
                Expr::Attribute(a) if matches!(a.attr.as_str(), "minimum" | "fmin") => ReduceOp::Min,
                _ => return None,
            };
            match &*call.arguments.args {
                [a, b] if is_it(a) => Some((op, b)),
                [a, b] if is_it(b) => Some((op, a)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Variables that the statements read before they assign them, and where.
fn carried(body: &[Stmt]) -> Vec<(String, TextRange)> {
    let mut order = Order::default();
    visitor::walk_body(&mut order, body);
    let written = order.written;
    order.read_first.into_iter().filter(|(name, _)| written.contains(name)).collect()
}

#[derive(Default)]
struct Order {
    read_first: BTreeMap<String, TextRange>,
    written: BTreeSet<String>,
}

impl Order {
    fn read(&mut self, name: &str, range: TextRange) {
        if !self.written.contains(name) {
            self.read_first.entry(name.to_owned()).or_insert(range);
        }
    }
}

impl Visitor<'_> for Order {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        if let Stmt::AugAssign(s) = stmt
            && let Expr::Name(name) = &*s.target
        {
            self.read(&name.id, name.range);
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if asks_shape(expr) {
            return;
        }
        if let Expr::Name(name) = expr {
            if name.ctx == ExprContext::Load {
                self.read(&name.id, name.range);
            } else {
                self.written.insert(name.id.to_string());
            }
        }
        visitor::walk_expr(self, expr);
    }
}
