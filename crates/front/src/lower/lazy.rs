//! Array expressions: kept as one function of their leaves' elements and computed in one loop, where their result is needed.

use std::rc::Rc;

use ruff_python_ast::Operator;
use weft_ir::{BinOp, CmpOp, ErrorKind, Kind, Layout, Op, Scalar, Space, Span, TOO_BIG, Value, ViewType};

use super::Lower;
use super::call::Call;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::{Number, Val};

/// An array read by an expression.
pub type Leaf = (Value, ViewType);

pub type Elementwise = Rc<dyn Fn(&mut Lower<'_>, &[Val]) -> Res<Val>>;

/// An array expression: `f` gives an element from the leaves' elements.
pub struct Lazy {
    pub elem: Scalar,
    pub rank: u8,
    pub leaves: Vec<Leaf>,
    pub f: Elementwise,
}

impl Lazy {
    /// The type of the array it becomes.
    pub fn result_type(&self) -> ViewType {
        fresh_type(self.elem, self.rank)
    }
}

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
            && let Some(name) = array_power(a, b)
        {
            let call = Call::new(name.to_owned(), vec![a.clone()], Vec::new(), span);
            return self.known_call(&format!("numpy.{name}"), &call);
        }
        self.array_map(&[a.clone(), b.clone()], span, move |l, v| l.binary(op, &v[0], &v[1], span))
    }

    /// `f` of every element of arrays broadcast against each other and against numbers. Of 0-d arrays it is a number, as in NumPy.
    pub fn array_map(&mut self, args: &[Val], span: Span, f: impl Fn(&mut Lower<'_>, &[Val]) -> Res<Val> + 'static) -> Res<Val> {
        let lazy = self.expression(args, span, f)?;
        if lazy.rank == 0 {
            return self.element_at(&lazy.f, &lazy.leaves, &[]);
        }
        Ok(Val::Lazy(Rc::new(lazy)))
    }

    /// An array or number as an expression that gives its elements.
    pub fn as_expression(&mut self, val: &Val, span: Span) -> Res<Rc<Lazy>> {
        match val {
            Val::Lazy(lazy) => Ok(lazy.clone()),
            _ => Ok(Rc::new(self.expression(std::slice::from_ref(val), span, |_, v| Ok(v[0].clone()))?)),
        }
    }

    fn expression(&mut self, args: &[Val], span: Span, f: impl Fn(&mut Lower<'_>, &[Val]) -> Res<Val> + 'static) -> Res<Lazy> {
        let mut leaves: Vec<Leaf> = Vec::new();
        let mut rank = 0;
        let mut parts = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                Val::View(value, ty) => {
                    rank = rank.max(ty.rank);
                    parts.push(Source::Leaf(leaf(&mut leaves, (*value, *ty))));
                }
                Val::Lazy(lazy) => {
                    rank = rank.max(lazy.rank);
                    let at = lazy.leaves.iter().map(|l| leaf(&mut leaves, *l)).collect();
                    parts.push(Source::Nested(at, lazy.f.clone()));
                }
                Val::Num(..) | Val::Lit(_) => parts.push(Source::Scalar(arg.clone())),
                other => return Err(self.typing(span, format!("an array does not go with {}", other.ty()))),
            }
        }
        let f = Rc::new(f);
        let whole: Elementwise = Rc::new(move |l: &mut Lower<'_>, elems: &[Val]| {
            let mut vals = Vec::with_capacity(parts.len());
            for part in &parts {
                vals.push(part.element(l, elems)?);
            }
            l.by_elements(|l| f(l, &vals))
        });
        let elem = self.probe(&leaves, &whole, span)?;
        Ok(Lazy {
            elem,
            rank,
            leaves,
            f: whole,
        })
    }

    /// The element type `f` gives: it is run on a scratch block, of which nothing is kept.
    fn probe(&mut self, leaves: &[Leaf], f: &Elementwise, span: Span) -> Res<Scalar> {
        let (values, locals) = (self.b.func.values.len(), self.b.func.locals.len());
        self.open_block();
        let elems: Vec<Val> = leaves
            .iter()
            .map(|(_, ty)| Val::Num(self.zero(ty.elem), Num::strong(ty.elem)))
            .collect();
        let result = f(self, &elems);
        self.close_block();
        self.b.func.values.truncate(values);
        self.b.func.locals.truncate(locals);
        self.nonneg.retain(|v| v.index() < values);
        self.ones.retain(|v| v.index() < values);
        self.dims.retain(|_, (v, _)| v.index() < values);
        self.parts.retain(|v, _| v.index() < values);
        match result?.num() {
            Some(num) => Ok(num.scalar),
            None => Err(self.typing(span, "the elements of an array must be numbers")),
        }
    }

    /// Computes an array expression into a fresh array; anything else is given back.
    pub fn materialise(&mut self, val: Val) -> Res<Val> {
        let Val::Lazy(lazy) = val else { return Ok(val) };
        let span = self.b.span;
        self.compute(&lazy, span)
    }

    /// A fresh array with the elements of an expression.
    pub fn compute(&mut self, lazy: &Lazy, span: Span) -> Res<Val> {
        let aligned = self.align(&lazy.leaves, None, span)?;
        let out = self.alloc(lazy.elem, &aligned.shape, false, span)?;
        self.fill(out, lazy.result_type(), lazy, &aligned, span)?;
        Ok(Val::View(out, lazy.result_type()))
    }

    /// A fresh array. Only functions on the host may have one.
    pub fn alloc(&mut self, elem: Scalar, shape: &[Value], zeroed: bool, span: Span) -> Res<Value> {
        if !self.in_host() {
            let message = "this makes a new array, which kernels and device functions cannot";
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
            return Err(diag.help("write a loop over the elements, or store into an array argument").into());
        }
        self.needs_host = true;
        let shape = shape.to_vec();
        let ty = fresh_type(elem, shape.len() as u8);
        let value = self.b.emit(
            ty,
            Op::Alloc {
                shape: shape.clone(),
                zeroed,
            },
        );
        self.fresh.insert(value);
        self.shapes.insert(value, shape);
        Ok(value)
    }

    pub fn shape(&mut self, array: &Val) -> Res<Vec<Value>> {
        match array {
            Val::View(view, ty) => Ok(self.shape_of(*view, *ty)),
            Val::Lazy(lazy) => Ok(self.align(&lazy.leaves, None, self.b.span)?.shape),
            other => Err(self.typing(self.b.span, format!("an array is needed here, and this is {}", other.ty()))),
        }
    }

    pub fn shape_of(&mut self, view: Value, ty: ViewType) -> Vec<Value> {
        (0..ty.rank).map(|axis| self.dim(view, axis)).collect()
    }

    pub fn product(&mut self, factors: &[Value]) -> Value {
        let product = factors.iter().copied().reduce(|a, b| {
            let p = self.b.binary(BinOp::Mul, a, b);
            self.nonneg.insert(p);
            p
        });
        product.unwrap_or_else(|| self.b.i64(1))
    }

    /// How many elements an array or an expression has. Arrays that exist fit 64 bits; what several are broadcast to may not.
    pub fn size(&mut self, array: &Val) -> Res<Value> {
        let shape = self.shape(array)?;
        match array {
            Val::Lazy(lazy) if lazy.leaves.len() > 1 => self.checked_size(lazy.elem, &shape, TOO_BIG),
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

/// What NumPy computes instead of a power of a whole array by a number that is written out, where the two differ.
fn array_power(a: &Val, b: &Val) -> Option<&'static str> {
    let (Ty::View(array), Some(lit)) = (a.ty(), b.lit()) else {
        return None;
    };
    match (lit.value, array.elem.kind()) {
        (Number::Float(0.5), Kind::Float | Kind::Complex) => Some("sqrt"),
        (Number::Int(2), Kind::Bool) => Some("square"),
        (Number::Float(-1.0) | Number::Int(-1), Kind::Complex) => Some("reciprocal"),
        _ => None,
    }
}

/// Where an argument of an elementwise function comes from.
enum Source {
    Scalar(Val),
    Leaf(usize),
    Nested(Vec<usize>, Elementwise),
}

impl Source {
    fn element(&self, l: &mut Lower<'_>, elems: &[Val]) -> Res<Val> {
        match self {
            Source::Scalar(val) => Ok(val.clone()),
            Source::Leaf(i) => Ok(elems[*i].clone()),
            Source::Nested(at, f) => {
                let inner: Vec<Val> = at.iter().map(|&i| elems[i].clone()).collect();
                f(l, &inner)
            }
        }
    }
}

/// The leaf's number among the leaves; one view is read once.
fn leaf(leaves: &mut Vec<Leaf>, new: Leaf) -> usize {
    match leaves.iter().position(|l| *l == new) {
        Some(at) => at,
        None => {
            leaves.push(new);
            leaves.len() - 1
        }
    }
}
