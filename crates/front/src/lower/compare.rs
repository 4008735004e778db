//! Comparisons: chained, of mixed types, of tuples, identity, membership.

use std::cmp::Ordering;

use ruff_python_ast::{CmpOp as PyCmp, ExprCompare};
use ruff_text_size::Ranged;
use weft_ir::{BinOp, CmpOp, Const, Kind, Scalar, Span, Value};

use super::Lower;
use super::number::Truth;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::fold;
use crate::stop::Res;
use crate::types::{Num, Static, Ty};
use crate::value::{Lit, Val, int_range};

impl Lower<'_> {
    /// `a < b <= c`: each operand once, the later ones only if needed.
    pub fn comparison(&mut self, e: &ExprCompare) -> Res<Val> {
        let left = self.expr(&e.left)?;
        let links: Vec<_> = e.ops.iter().copied().zip(e.comparators.iter()).collect();
        self.links(left, &links, e.left.range().start())
    }

    fn links(&mut self, left: Val, links: &[(PyCmp, &ruff_python_ast::Expr)], start: ruff_text_size::TextSize) -> Res<Val> {
        let Some(((op, right), rest)) = links.split_first() else {
            return Ok(Val::Lit(Lit::bool(true)));
        };
        let span = self.span(ruff_text_size::TextRange::new(start, right.range().end()));
        let next = self.expr(right)?;
        let first = self.compare(*op, &left, &next, span);
        let first = first.map_err(|stop| self.explain(stop, &[right]))?;
        if rest.is_empty() {
            return Ok(first);
        }
        self.and_then(first, span, |l| l.links(next, rest, right.range().start()))
    }

    pub fn compare(&mut self, op: PyCmp, a: &Val, b: &Val, span: Span) -> Res<Val> {
        match op {
            PyCmp::Is | PyCmp::IsNot => return self.identity(op == PyCmp::Is, a, b, span),
            PyCmp::In | PyCmp::NotIn => return self.membership(op == PyCmp::In, a, b, span),
            _ => {}
        }
        if a.is_array() || b.is_array() {
            return self.array_map(&[a.clone(), b.clone()], span, move |l, v| l.compare(op, &v[0], &v[1], span));
        }
        let cmp = ordering(op);
        match (a, b) {
            (Val::Tuple(x), Val::Tuple(y)) if x.is_passing() || y.is_passing() => self.compare_static(cmp, a, b, span),
            (Val::Tuple(x), Val::Tuple(y)) if matches!(cmp, CmpOp::Eq | CmpOp::Ne) && x.is_list() != y.is_list() => {
                Ok(Val::Lit(Lit::bool(cmp == CmpOp::Ne)))
            }
            (Val::Tuple(x), Val::Tuple(y)) if matches!(cmp, CmpOp::Eq | CmpOp::Ne) => self.compare_tuples(cmp, x, y, span),
            (Val::Lit(x), Val::Lit(y)) if x.num.weak && y.num.weak => match fold::compare(cmp, *x, *y) {
                Some(known) => Ok(Val::Lit(Lit::bool(known))),
                None => self.compare_numbers(cmp, a, b, span),
            },
            _ if a.num().is_some() && b.num().is_some() => self.compare_numbers(cmp, a, b, span),
            _ => self.compare_static(cmp, a, b, span),
        }
    }

    fn compare_numbers(&mut self, op: CmpOp, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let (Some(x), Some(y)) = (a.num(), b.num()) else {
            return self.compare_static(op, a, b, span);
        };
        let num = Num {
            scalar: Scalar::Bool,
            weak: x.weak && y.weak,
        };
        let is_int = |n: Num| matches!(n.scalar.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned);
        let value = if is_int(x) && is_int(y) {
            self.compare_ints(op, a, x, b, y, span)?
        } else {
            let common = self.unify(x, y).scalar;
            if common.is_complex() && !matches!(op, CmpOp::Eq | CmpOp::Ne) {
                return Err(self.typing(span, "complex numbers have no order"));
            }
            let (x, y) = (self.number_as(a, common, span)?, self.number_as(b, common, span)?);
            self.b.compare(op, x, y)
        };
        Ok(Val::Num(value, num))
    }

    /// Integers compare by value, whatever their types.
    fn compare_ints(&mut self, op: CmpOp, a: &Val, x: Num, b: &Val, y: Num, span: Span) -> Res<Value> {
        if let Some(order) = beyond(b, x).or_else(|| beyond(a, y).map(Ordering::reverse)) {
            return Ok(self.b.constant(Const::Bool(fold::holds(op, Some(order)))));
        }
        if x.scalar == y.scalar || fits(b, x) || fits(a, y) {
            let common = if x.scalar == y.scalar || fits(b, x) { x.scalar } else { y.scalar };
            let (x, y) = (self.number_as(a, common, span)?, self.number_as(b, common, span)?);
            return Ok(self.b.compare(op, x, y));
        }
        match (x.scalar == Scalar::U64, y.scalar == Scalar::U64) {
            (true, false) => self.compare_u64(op.mirrored(), b, a, span),
            (false, true) => self.compare_u64(op, a, b, span),
            _ => {
                let (x, y) = (self.number_as(a, Scalar::I64, span)?, self.number_as(b, Scalar::I64, span)?);
                Ok(self.b.compare(op, x, y))
            }
        }
    }

    /// A signed integer against a `uint64`: a negative one is less than all of them.
    fn compare_u64(&mut self, op: CmpOp, signed: &Val, unsigned: &Val, span: Span) -> Res<Value> {
        let s = self.number_as(signed, Scalar::I64, span)?;
        let u = self.number_as(unsigned, Scalar::U64, span)?;
        let zero = self.zero(Scalar::I64);
        let as_unsigned = self.b.cast(s, Scalar::U64);
        let compared = self.b.compare(op, as_unsigned, u);
        let negative = self.b.compare(CmpOp::Lt, s, zero);
        Ok(if matches!(op, CmpOp::Lt | CmpOp::Le | CmpOp::Ne) {
            self.b.binary(BinOp::Or, negative, compared)
        } else {
            let natural = self.not(negative);
            self.b.binary(BinOp::And, natural, compared)
        })
    }

    fn compare_tuples(&mut self, op: CmpOp, a: &[Val], b: &[Val], span: Span) -> Res<Val> {
        if a.len() != b.len() {
            return Ok(Val::Lit(Lit::bool(op == CmpOp::Ne)));
        }
        let mut all = Val::Lit(Lit::bool(true));
        for (x, y) in a.iter().zip(b) {
            all = self.and_then(all, span, |l| l.compare(PyCmp::Eq, x, y, span))?;
        }
        // Python's bool, whatever the items' comparisons are.
        Ok(match self.truth(&all, span)? {
            Truth::Known(equal) => Val::Lit(Lit::bool(equal == (op == CmpOp::Eq))),
            Truth::Value(equal) if op == CmpOp::Eq => Val::Num(equal, Num::BOOL),
            Truth::Value(equal) => Val::Num(self.not(equal), Num::BOOL),
        })
    }

    fn compare_static(&mut self, op: CmpOp, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let (x, y) = (a.ty(), b.ty());
        if !a.equals_by_type(b) {
            let diag = Diagnostic::new(DiagnosticKind::Typing, span, format!("{x} and {y} cannot be compared"));
            return Err(match (a, b) {
                (Val::Other(..), _) | (_, Val::Other(..)) => diag.help("whether they are one object says 'is'").into(),
                _ => diag.into(),
            });
        }
        let comparable = matches!((&x, &y), (Ty::Static(_) | Ty::None, _) | (_, Ty::Static(_) | Ty::None));
        match op {
            CmpOp::Eq if comparable => Ok(Val::Lit(Lit::bool(x == y))),
            CmpOp::Ne if comparable => Ok(Val::Lit(Lit::bool(x != y))),
            _ => Err(self.typing(span, format!("{x} and {y} cannot be compared"))),
        }
    }

    fn identity(&mut self, is: bool, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let same = match (a.ty(), b.ty()) {
            (Ty::Static(Static::Passing(_)), _) | (_, Ty::Static(Static::Passing(_))) => {
                return Err(self.unsupported(span, format!("'is' does not compare {} with {}", a.ty(), b.ty())));
            }
            (Ty::None, Ty::None) => true,
            (Ty::None, _) | (_, Ty::None) => false,
            (Ty::Static(x), Ty::Static(y)) => x == y,
            (Ty::Num(x), Ty::Num(y)) if x.scalar == Scalar::Bool && y.scalar == Scalar::Bool => {
                let op = if is { PyCmp::Eq } else { PyCmp::NotEq };
                return self.compare(op, a, b, span);
            }
            _ => return Err(self.unsupported(span, "'is' compares only with None, True, False, types and functions")),
        };
        Ok(Val::Lit(Lit::bool(same == is)))
    }

    fn membership(&mut self, is_in: bool, a: &Val, b: &Val, span: Span) -> Res<Val> {
        if let (Val::Str(part), Val::Str(whole)) = (a, b) {
            return Ok(Val::Lit(Lit::bool(whole.contains(part.as_str()) == is_in)));
        }
        let Val::Tuple(items) = b else {
            return Err(self.unsupported(span, format!("'in' looks only into tuples, and this is {}", b.ty())));
        };
        let mut any = Val::Lit(Lit::bool(false));
        for item in items {
            any = self.or_else(any, span, |l| l.compare(PyCmp::Eq, a, item, span))?;
        }
        if is_in {
            return Ok(any);
        }
        self.unary(ruff_python_ast::UnaryOp::Not, &any, span)
    }

    /// `first and second`, both conditions, the second one evaluated only if needed unless it is cheap.
    fn and_then(&mut self, first: Val, span: Span, second: impl FnOnce(&mut Self) -> Res<Val>) -> Res<Val> {
        match self.truth(&first, span)? {
            Truth::Known(false) => Ok(first),
            Truth::Known(true) => second(self),
            Truth::Value(_) => self.short_circuit(true, first, span, None, second),
        }
    }

    fn or_else(&mut self, first: Val, span: Span, second: impl FnOnce(&mut Self) -> Res<Val>) -> Res<Val> {
        match self.truth(&first, span)? {
            Truth::Known(true) => Ok(first),
            Truth::Known(false) => second(self),
            Truth::Value(_) => self.short_circuit(false, first, span, None, second),
        }
    }
}

/// Is the value a Python integer constant that the other's type can hold?
fn fits(val: &Val, other: Num) -> bool {
    let Some(v) = val.const_int() else { return false };
    if !other.scalar.is_int() {
        return false;
    }
    let (low, high) = int_range(other.scalar);
    low <= v && v <= high
}

/// How all numbers of a type compare with a Python integer that is outside 64 bits.
fn beyond(val: &Val, other: Num) -> Option<Ordering> {
    let v = val.const_int().filter(|_| val.num().is_some_and(|num| num.weak))?;
    let unsigned = other.scalar == Scalar::U64;
    if v < i128::from(i64::MIN) {
        Some(Ordering::Greater)
    } else if v > i128::from(u64::MAX) || (!unsigned && v > i128::from(i64::MAX)) {
        Some(Ordering::Less)
    } else {
        None
    }
}

fn ordering(op: PyCmp) -> CmpOp {
    match op {
        PyCmp::Lt => CmpOp::Lt,
        PyCmp::LtE => CmpOp::Le,
        PyCmp::Gt => CmpOp::Gt,
        PyCmp::GtE => CmpOp::Ge,
        PyCmp::NotEq => CmpOp::Ne,
        _ => CmpOp::Eq,
    }
}
