//! Deferred array expressions: element-wise operations are recorded as nodes and fused into one loop where the result is needed.

use std::rc::Rc;

use ruff_python_ast::Operator;
use weft_array::{Expr, Mark, ScalarFn};
use weft_ir::{BinOp, CmpOp, ErrorKind, Kind, Layout, Op, Scalar, Space, Span, TOO_BIG, Value, ViewType};

use super::Lower;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::{Number, Val};

pub fn fresh_type(elem: Scalar, rank: u8) -> ViewType {
    ViewType {
        elem,
        rank,
        layout: Layout::C,
        space: Space::Global,
        writable: true,
    }
}

impl Lower<'_> {
    pub fn array_binary(&mut self, op: Operator, a: &Val, b: &Val, span: Span) -> Res<Val> {
        if op == Operator::MatMult {
            return crate::builtins::products::matmul(self, a, b, span);
        }
        if op == Operator::Pow
            && !self.numba()
            && let Some(function) = array_power(a, b)
        {
            return self.call_of(function, vec![a.clone()], span);
        }
        self.array_map(&[a.clone(), b.clone()], span, move |l, v| l.binary(op, &v[0], &v[1], span))
    }

    /// `f` of every element of arrays broadcast against each other and against numbers. Of 0-d arrays it is a number, as in NumPy.
    pub fn array_map(&mut self, args: &[Val], span: Span, f: impl FnOnce(&mut Lower<'_>, &[Val]) -> Res<Val>) -> Res<Val> {
        let expr = self.expression(args, span, f)?;
        if expr.rank == 0 {
            return Ok(self.element_at(&expr, &expr.leaves, &[]));
        }
        Ok(Val::Lazy(Rc::new(expr)))
    }

    /// An array or number as an expression that gives its elements.
    pub fn as_expression(&mut self, val: &Val, span: Span) -> Res<Rc<Expr>> {
        match val {
            Val::Lazy(expr) => Ok(expr.clone()),
            Val::View(view, ty) => Ok(Rc::new(Expr::leaf((*view, *ty)))),
            _ => match val.num() {
                Some(num) => Ok(Rc::new(Expr::given(self.number_as(val, num.scalar, span)?, num.scalar))),
                None => Err(self.typing(span, format!("an array does not go with {}", val.ty()))),
            },
        }
    }

    /// Records what `f` does to elements as a function of scalars, which is written out where they are computed.
    fn expression(&mut self, args: &[Val], span: Span, f: impl FnOnce(&mut Lower<'_>, &[Val]) -> Res<Val>) -> Res<Expr> {
        let mark = Mark::of(&self.b.func);
        let (mut exprs, mut vals) = (Vec::new(), Vec::with_capacity(args.len()));
        for arg in args {
            let expr = match arg {
                Val::View(value, ty) => Expr::leaf((*value, *ty)),
                Val::Lazy(expr) => (**expr).clone(),
                Val::Num(..) | Val::Lit(_) => {
                    vals.push(arg.clone());
                    continue;
                }
                other => return Err(self.typing(span, format!("an array does not go with {}", other.ty()))),
            };
            vals.push(Val::Num(self.b.func.new_value(expr.elem.into()), Num::strong(expr.elem)));
            exprs.push(expr);
        }
        self.open_block();
        let recorded = self.by_elements(|l| f(l, &vals)).and_then(|val| self.element_of(&val, span));
        let body = self.close_block();
        self.facts.forget_since(mark);
        self.arrays.forget_since(mark);
        let (value, elem) = recorded?;
        let Ok((function, free)) = ScalarFn::take(&mut self.b.func, mark, exprs.len(), body, value) else {
            return Err(self.unsupported(span, "a function of elements cannot read variables that change"));
        };
        Ok(self.nodes.map(function, elem, &exprs, &free))
    }

    /// What a function of elements gives, as a value of its own type.
    fn element_of(&mut self, val: &Val, span: Span) -> Res<(Value, Scalar)> {
        match val.num() {
            Some(num) => Ok((self.number_as(val, num.scalar, span)?, num.scalar)),
            None => Err(self.typing(span, "the elements of an array must be numbers")),
        }
    }

    /// Computes an array expression into a fresh array; anything else is given back.
    pub fn materialise(&mut self, val: Val) -> Res<Val> {
        let Val::Lazy(expr) = val else { return Ok(val) };
        let span = self.b.span;
        self.compute(&expr, span)
    }

    /// A fresh array with the elements of an expression.
    pub fn compute(&mut self, expr: &Expr, span: Span) -> Res<Val> {
        let aligned = self.align(&expr.leaves, None, span)?;
        let out = self.alloc(expr.elem, &aligned.shape, false, span)?;
        let ty = fresh_type(expr.elem, expr.rank);
        self.fill(out, ty, expr, &aligned, span)?;
        Ok(Val::View(out, ty))
    }

    /// A fresh array. Only functions on the host may have one.
    pub fn alloc(&mut self, elem: Scalar, shape: &[Value], zeroed: bool, span: Span) -> Res<Value> {
        if !self.in_host() {
            let message = "this makes a new array, which kernels and device functions cannot";
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
            return Err(diag.help("write a loop over the elements, or store into an array argument").into());
        }
        self.found.needs_host = true;
        let shape = shape.to_vec();
        let ty = fresh_type(elem, shape.len() as u8);
        let value = self.b.emit(
            ty,
            Op::Alloc {
                shape: shape.clone(),
                zeroed,
            },
        );
        self.arrays.fresh.insert(value);
        self.arrays.shapes.insert(value, shape);
        Ok(value)
    }

    pub fn shape(&mut self, array: &Val) -> Res<Vec<Value>> {
        match array {
            Val::View(view, ty) => Ok(self.shape_of(*view, *ty)),
            Val::Lazy(expr) => Ok(self.align(&expr.leaves, None, self.b.span)?.shape),
            other => Err(self.typing(self.b.span, format!("an array is needed here, and this is {}", other.ty()))),
        }
    }

    pub fn shape_of(&mut self, view: Value, ty: ViewType) -> Vec<Value> {
        (0..ty.rank).map(|axis| self.dim(view, axis)).collect()
    }

    pub fn product(&mut self, factors: &[Value]) -> Value {
        let product = factors.iter().copied().reduce(|a, b| {
            let p = self.b.binary(BinOp::Mul, a, b);
            self.facts.mark_nonneg(p);
            p
        });
        product.unwrap_or_else(|| self.b.i64(1))
    }

    /// How many elements an array or an expression has. Arrays that exist fit 64 bits; what several are broadcast to may not.
    pub fn size(&mut self, array: &Val) -> Res<Value> {
        let shape = self.shape(array)?;
        match array {
            Val::Lazy(expr) if expr.leaves.len() > 1 => self.checked_size(expr.elem, &shape, TOO_BIG),
            _ => Ok(self.product(&shape)),
        }
    }

    /// The number of elements of a shape, none of whose lengths is negative. Raises a ValueError where no array could have that shape.
    pub fn checked_size(&mut self, elem: Scalar, shape: &[Value], message: &str) -> Res<Value> {
        if shape.len() > 1 {
            let mut room = self.b.i64(elem.size() as i64);
            for &n in shape {
                room = self.checked_room(room, n, message)?;
            }
        }
        Ok(self.product(shape))
    }

    /// `room` times a length, or times 1 in place of 0. Factors of less than 32 bits need no division to tell that it fits.
    fn checked_room(&mut self, room: Value, n: Value, message: &str) -> Res<Value> {
        let (one, small, most) = (self.b.i64(1), self.b.i64(1 << 31), self.b.i64(i64::MAX));
        let n = self.b.binary(BinOp::Max, n, one);
        let bits = self.b.binary(BinOp::Or, room, n);
        let large = self.b.compare(CmpOp::Ge, bits, small);
        self.emit_if(large, |l| {
            let fits = l.b.binary(BinOp::FloorDiv, most, n);
            let over = l.b.compare(CmpOp::Gt, room, fits);
            l.raise_if(over, ErrorKind::Value, message)
        })?;
        Ok(self.b.binary(BinOp::Mul, room, n))
    }
}

/// The function that NumPy computes instead of a power of a whole array by a number that is written out, where the two differ.
fn array_power(a: &Val, b: &Val) -> Option<&'static str> {
    let (Ty::View(array), Some(lit)) = (a.ty(), b.lit()) else {
        return None;
    };
    match (lit.value, array.elem.kind()) {
        (Number::Float(0.5), Kind::Float | Kind::Complex) => Some("numpy.sqrt"),
        (Number::Int(2), Kind::Bool) => Some("numpy.square"),
        (Number::Float(-1.0) | Number::Int(-1), Kind::Complex) => Some("numpy.reciprocal"),
        _ => None,
    }
}
