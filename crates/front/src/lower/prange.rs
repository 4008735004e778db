//! `prange`: every index is a point of its own; variables that only accumulate are reductions.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Operator, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};
use weft_ir::{BinOp, Block, FuncKind, Op, ReduceOp, Reduction, StmtKind, Type};

use super::Lower;
use super::loops::LoopFrame;
use crate::compiler::Res;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::types::{Num, Ty};
use crate::value::Val;

impl Lower<'_> {
    /// A loop that accumulates into an array runs in order: what is parallel then is each addition, over the array's elements.
    /// So does one that multiplies complex numbers, which no device combines, and one that makes arrays, which lanes cannot.
    pub fn needs_order(&self, s: &StmtFor) -> bool {
        if self.vars.ordered_loops.contains(&s.range().start().to_u32()) {
            return true;
        }
        let found = find_reductions(&s.body);
        found.iter().any(|(name, op)| match self.type_before(name) {
            Some(Ty::View(_)) => true,
            Some(Ty::Num(num)) => num.scalar.is_complex() && *op != ReduceOp::Add,
            _ => false,
        })
    }

    /// Refuses a variable that hands a value from one point to the next: points run in no order.
    fn refuse_carried(&self, s: &StmtFor, found: &BTreeMap<String, ReduceOp>) -> Res<()> {
        for (name, range) in carried(&s.body) {
            if found.contains_key(&name) || !matches!(self.type_before(&name), Some(Ty::Num(_) | Ty::Tuple(_))) {
                continue;
            }
            let message = format!("'{name}' carries a value from one iteration of this prange to the next");
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, self.span(range), message);
            let help = "only sums, products, min, max, &, | and ^ of one variable combine, written as `acc += x` or `acc = max(acc, x)`; else use range";
            return Err(diag.help(help).into());
        }
        Ok(())
    }

    pub fn prange_loop(&mut self, s: &StmtFor, [start, stop, step]: [&Val; 3]) -> Res<()> {
        let span = self.span(s.iter.range());
        let known = step.const_int();
        let from_zero = start.const_int() == Some(0);
        let [start, stop, step] = self.range_bounds([start, stop, step], span)?;
        let count = self.range_length(start, stop, step, known);
        let found = find_reductions(&s.body);
        self.refuse_carried(s, &found)?;
        let var = self.b.func.new_value(Type::I64);
        self.nonneg.insert(var);
        self.needs_host = true;
        // Made before the loop, so that its value from before the loop is in it.
        for name in found.keys() {
            let _ = self.local_of(name);
        }
        self.open_block();
        self.loops.push(LoopFrame::parallel());
        let index = if known == Some(1) && from_zero {
            var
        } else {
            let offset = self.b.binary(BinOp::Mul, var, step);
            let index = self.b.binary(BinOp::Add, start, offset);
            if known.is_some_and(|k| k > 0) && self.nonneg.contains(&start) {
                self.nonneg.insert(index);
            }
            index
        };
        self.assign_target(&s.target, Val::Num(index, Num::INT))?;
        self.block(&s.body);
        self.loops.pop();
        let body = self.close_block();
        if self.makes_arrays(&body) {
            self.vars.ordered_loops.insert(s.range().start().to_u32());
            self.changed = true;
        }
        let mut reductions = Vec::new();
        for (name, op) in &found {
            if let Some((local, Ty::Num(num))) = self.local_of(name)
                && supports(*op, num)
            {
                reductions.push(Reduction { local, op: *op });
            }
        }
        self.b.span = self.span(s.range());
        self.b.push(StmtKind::ParFor {
            vars: vec![var],
            extents: vec![count],
            reductions,
            parallel: true,
            body,
        });
        Ok(())
    }
}

impl Lower<'_> {
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

/// Variables that the statements only accumulate into, with how.
fn find_reductions(body: &[Stmt]) -> BTreeMap<String, ReduceOp> {
    let mut scan = Scan::default();
    visitor::walk_body(&mut scan, body);
    scan.found
        .into_iter()
        .filter(|(name, op)| op.is_some() && !scan.used.contains_key(name))
        .filter_map(|(name, op)| Some((name, op?)))
        .collect()
}

#[derive(Default)]
struct Scan {
    /// Accumulated variables; None when in two ways.
    found: BTreeMap<String, Option<ReduceOp>>,
    /// Variables read or written in any other way.
    used: BTreeMap<String, ()>,
}

impl Scan {
    fn accumulate(&mut self, name: &str, op: ReduceOp) {
        let entry = self.found.entry(name.to_owned()).or_insert(Some(op));
        if *entry != Some(op) {
            *entry = None;
        }
    }
}

impl Visitor<'_> for Scan {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::AugAssign(s) => {
                if let (Expr::Name(name), Some(op)) = (&*s.target, reduction_of(s.op)) {
                    self.accumulate(&name.id, op);
                    self.visit_expr(&s.value);
                    return;
                }
            }
            Stmt::Assign(s) => {
                if let [Expr::Name(name)] = s.targets.as_slice()
                    && let Some((op, rest)) = accumulation(&name.id, &s.value)
                {
                    self.accumulate(&name.id, op);
                    self.visit_expr(rest);
                    return;
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Name(name) = expr {
            self.used.insert(name.id.to_string(), ());
        }
        visitor::walk_expr(self, expr);
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
