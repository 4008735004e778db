//! Array expressions: kept as one function of their leaves' elements and computed in one loop, where their result is needed.

use std::rc::Rc;

use ruff_python_ast::Operator;
use weft_ir::{
    AxisSlice, BinOp, Block, CmpOp, Const, ErrorKind, Index, Layout, Local, Op, Part, ReduceOp, Reduction, Scalar, Space, Span, StmtKind,
    Type, Value, ViewType,
};

use super::Lower;
use crate::compiler::Res;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::types::{Num, Ty};
use crate::value::Val;

/// Emits a loop over leaves that have one shape.
type MakeLoop<'a, L> = dyn FnMut(&mut L, &[(Value, ViewType)]) -> Res<()> + 'a;

type Elementwise = Rc<dyn Fn(&mut Lower<'_>, &[Val]) -> Res<Val>>;

/// An array expression: `f` gives an element from the leaves' elements.
pub struct Lazy {
    pub elem: Scalar,
    pub rank: u8,
    leaves: Vec<(Value, ViewType)>,
    f: Elementwise,
}

impl Lazy {
    /// The type of the array it becomes.
    pub fn result_type(&self) -> ViewType {
        fresh_type(self.elem, self.rank)
    }
}

fn fresh_type(elem: Scalar, rank: u8) -> ViewType {
    ViewType {
        elem,
        rank,
        layout: Layout::C,
        space: Space::Global,
        writable: true,
    }
}

/// Leaves brought to one shape. `views` are as they were; where `equal` is false at run time, `stretched` makes broadcast ones of them.
struct Aligned {
    shape: Vec<Value>,
    /// None: all shapes are known to be equal, or to differ only in rank.
    equal: Option<Value>,
}

impl Lower<'_> {
    pub fn array_binary(&mut self, op: Operator, a: &Val, b: &Val, span: Span) -> Res<Val> {
        if op == Operator::MatMult {
            return crate::builtins::numpy::dot(self, a, b, span);
        }
        self.array_map(&[a.clone(), b.clone()], span, move |l, v| l.binary(op, &v[0], &v[1], span))
    }

    /// `f` of every element of arrays broadcast against each other and against numbers.
    pub fn array_map(&mut self, args: &[Val], span: Span, f: impl Fn(&mut Lower<'_>, &[Val]) -> Res<Val> + 'static) -> Res<Val> {
        let mut leaves: Vec<(Value, ViewType)> = Vec::new();
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
            f(l, &vals)
        });
        let elem = self.probe(&leaves, &whole, span)?;
        Ok(Val::Lazy(Rc::new(Lazy {
            elem,
            rank,
            leaves,
            f: whole,
        })))
    }

    /// The element type `f` gives: it is run on a scratch block, of which nothing is kept.
    fn probe(&mut self, leaves: &[(Value, ViewType)], f: &Elementwise, span: Span) -> Res<Scalar> {
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
        match result?.num() {
            Some(num) => Ok(num.scalar),
            None => Err(self.typing(span, "the elements of an array must be numbers")),
        }
    }

    /// Computes an array expression into a fresh array; anything else is given back.
    pub fn materialise(&mut self, val: Val) -> Res<Val> {
        let Val::Lazy(lazy) = val else { return Ok(val) };
        let span = self.b.span;
        let aligned = self.align(&lazy.leaves, None, span)?;
        let out = self.alloc(lazy.elem, &aligned.shape, false, span)?;
        self.fill(out, lazy.result_type(), &lazy, &aligned, span)?;
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
        if let Some(shape) = self.shapes.get(&view) {
            return shape.clone();
        }
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

    // ---- broadcasting ----

    /// The common shape of the leaves: `target`'s if given, else what they broadcast to. Raises where they do not fit.
    fn align(&mut self, leaves: &[(Value, ViewType)], target: Option<&[Value]>, span: Span) -> Res<Aligned> {
        let shapes: Vec<Vec<Value>> = leaves.iter().map(|(v, ty)| self.shape_of(*v, *ty)).collect();
        let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
        let mut shape: Vec<Option<Value>> = match target {
            Some(target) if rank > target.len() => {
                let message = format!("a {rank}-d value cannot be stored into a {}-d array", target.len());
                return Err(self.typing(span, message));
            }
            Some(target) => target.iter().copied().map(Some).collect(),
            None => vec![None; rank],
        };
        let mut equal: Option<Value> = None;
        for dims in &shapes {
            let offset = shape.len() - dims.len();
            for (axis, &n) in dims.iter().enumerate() {
                let common = &mut shape[offset + axis];
                match *common {
                    None => *common = Some(n),
                    Some(m) if m == n => {}
                    Some(m) => {
                        let same = self.b.compare(CmpOp::Eq, m, n);
                        *common = Some(self.broadcast_axis(m, n, same, target.is_some())?);
                        equal = Some(match equal {
                            Some(so_far) => self.b.binary(BinOp::And, so_far, same),
                            None => same,
                        });
                    }
                }
            }
        }
        let shape = shape.into_iter().flatten().collect();
        Ok(Aligned { shape, equal })
    }

    fn broadcast_axis(&mut self, m: Value, n: Value, same: Value, fixed: bool) -> Res<Value> {
        let one = self.b.i64(1);
        let n_one = self.b.compare(CmpOp::Eq, n, one);
        let mut fits = self.b.binary(BinOp::Or, same, n_one);
        let mut common = m;
        if !fixed {
            let m_one = self.b.compare(CmpOp::Eq, m, one);
            fits = self.b.binary(BinOp::Or, fits, m_one);
            common = self.b.select(m_one, n, m);
            self.nonneg.insert(common);
        }
        let misfit = self.not(fits);
        self.raise_if(misfit, ErrorKind::Value, "operands could not be broadcast together")?;
        Ok(common)
    }

    pub fn raise_if(&mut self, cond: Value, kind: ErrorKind, message: &str) -> Res<()> {
        let message = message.to_owned();
        self.emit_if(cond, |l| {
            l.b.push(StmtKind::Raise { kind, message });
            Ok(())
        })
    }

    /// A view stretched to a shape: axes of length 1 get stride 0.
    fn stretch(&mut self, view: Value, ty: ViewType, shape: &[Value]) -> (Value, ViewType) {
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let dims = self.shape_of(view, ty);
        let offset = shape.len() - dims.len();
        let axes = dims
            .iter()
            .enumerate()
            .map(|(axis, &n)| {
                let len = shape[offset + axis];
                let single = self.b.compare(CmpOp::Eq, n, one);
                let step = self.b.select(single, zero, one);
                AxisSlice::Range { start: zero, len, step }
            })
            .collect();
        let stretched = ViewType {
            layout: Layout::Any,
            writable: false,
            ..ty
        };
        let value = self.b.emit(stretched, Op::Slice { view, axes });
        self.derived(value, view);
        (value, stretched)
    }

    /// Emits `make` for leaves of one shape: twice where only the run can tell whether they must be stretched.
    fn with_leaves(&mut self, leaves: &[(Value, ViewType)], aligned: &Aligned, make: &mut MakeLoop<'_, Self>) -> Res<()> {
        let Some(equal) = aligned.equal else {
            return make(self, leaves);
        };
        self.open_block();
        make(self, leaves)?;
        let then = self.close_block();
        self.open_block();
        let stretched: Vec<_> = leaves.iter().map(|(v, ty)| self.stretch(*v, *ty, &aligned.shape)).collect();
        make(self, &stretched)?;
        let other = self.close_block();
        self.b.push(StmtKind::If { cond: equal, then, other });
        Ok(())
    }

    // ---- loops ----

    /// Runs `body` at every point of a shape: lanes and threads on the host, a nest of loops elsewhere.
    pub fn at_every_point(
        &mut self,
        extents: &[Value],
        reductions: Vec<Reduction>,
        body: &mut dyn FnMut(&mut Self, &[Value]) -> Res<()>,
    ) -> Res<()> {
        let vars: Vec<Value> = extents.iter().map(|_| self.b.func.new_value(Type::I64)).collect();
        self.nonneg.extend(vars.iter().copied());
        if self.in_host() && !extents.is_empty() && !self.in_parallel_loop() {
            self.needs_host = true;
            self.open_block();
            body(self, &vars)?;
            let block = self.close_block();
            self.b.push(StmtKind::ParFor {
                vars,
                extents: extents.to_vec(),
                reductions,
                parallel: self.cx.options.parallel,
                body: block,
            });
            return Ok(());
        }
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        for _ in extents {
            self.open_block();
        }
        body(self, &vars)?;
        for (&var, &stop) in vars.iter().zip(extents).rev() {
            let body: Block = self.close_block();
            self.b.push(StmtKind::For {
                var,
                start: zero,
                stop,
                step: one,
                body,
            });
        }
        Ok(())
    }

    pub fn in_parallel_loop(&self) -> bool {
        self.loops.iter().any(|l| l.parallel)
    }

    fn element_at(&mut self, f: &Elementwise, leaves: &[(Value, ViewType)], vars: &[Value]) -> Res<Val> {
        let mut elems = Vec::with_capacity(leaves.len());
        for (view, ty) in leaves {
            let indices = point(vars, ty.rank);
            elems.push(self.load(*view, *ty, indices));
        }
        f(self, &elems)
    }

    /// One element of an expression that has only one array in it; others are computed whole.
    pub fn lazy_element(&mut self, lazy: &Lazy, indices: &[Index]) -> Res<Option<Val>> {
        let [(view, ty)] = lazy.leaves.as_slice() else { return Ok(None) };
        if ty.rank as usize != indices.len() {
            return Ok(None);
        }
        let element = self.load(*view, *ty, indices.to_vec());
        (lazy.f)(self, &[element]).map(Some)
    }

    /// Stores every element of an expression into an array of the aligned shape.
    fn fill(&mut self, out: Value, ty: ViewType, lazy: &Lazy, aligned: &Aligned, span: Span) -> Res<()> {
        let extents = aligned.shape.clone();
        self.with_leaves(&lazy.leaves, aligned, &mut |l, leaves| {
            l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
                let val = l.element_at(&lazy.f, leaves, vars)?;
                let value = l.number_as(&val, ty.elem, span)?;
                l.b.push(StmtKind::Store {
                    view: out,
                    indices: point(vars, ty.rank),
                    value,
                    part: Part::Whole,
                });
                Ok(())
            })
        })
    }

    /// `view[...] = val`.
    pub fn store_array(&mut self, view: Value, ty: ViewType, val: &Val, span: Span) -> Res<()> {
        let val = match val {
            Val::Num(..) | Val::Lit(_) => {
                let number = Val::Num(self.number_as(val, ty.elem, span)?, Num::strong(ty.elem));
                self.array_map(&[number], span, |_, v| Ok(v[0].clone()))?
            }
            Val::View(..) => self.array_map(std::slice::from_ref(val), span, |_, v| Ok(v[0].clone()))?,
            Val::Lazy(_) => val.clone(),
            other => return Err(self.typing(span, format!("{} cannot be stored into an array", other.ty()))),
        };
        let Val::Lazy(mut lazy) = val else { return Ok(()) };
        let overlaps = match lazy.leaves.iter().find(|(leaf, _)| !self.apart(view, *leaf)) {
            Some((leaf, _)) if !self.in_host() => {
                if self.root(*leaf) == self.root(view) {
                    let message = "this reads elements of the array while it overwrites them, which takes a temporary array";
                    let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
                    return Err(diag
                        .help("kernels and device functions have none: write a loop in the right order")
                        .into());
                }
                false
            }
            found => found.is_some(),
        };
        if overlaps {
            // The value may read what the store overwrites: it is computed first, as in NumPy.
            let whole = self.materialise(Val::Lazy(lazy))?;
            let Val::Lazy(copy) = self.array_map(&[whole], span, |_, v| Ok(v[0].clone()))? else {
                return Ok(());
            };
            lazy = copy;
        }
        let shape = self.shape_of(view, ty);
        let aligned = self.align(&lazy.leaves, Some(&shape), span)?;
        self.fill(view, ty, &lazy, &aligned, span)
    }

    /// `view[mask] = val` for a number: stored where the mask is true.
    pub fn store_masked(&mut self, (view, ty): (Value, ViewType), mask: &Val, val: &Val, span: Span) -> Res<()> {
        let value = self.number_as(val, ty.elem, span)?;
        let mask = self.materialise_unless_simple(view, mask)?;
        let Val::Lazy(lazy) = self.array_map(&[mask], span, |_, v| Ok(v[0].clone()))? else {
            return Ok(());
        };
        if lazy.rank != ty.rank {
            return Err(self.typing(span, format!("a {}-d mask for a {}", lazy.rank, Ty::View(ty))));
        }
        let shape = self.shape_of(view, ty);
        let aligned = self.align(&lazy.leaves, Some(&shape), span)?;
        let extents = aligned.shape.clone();
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
                let test = l.element_at(&lazy.f, leaves, vars)?;
                let test = l.truth_value(&test, span)?;
                l.emit_if(test, |l| {
                    l.b.push(StmtKind::Store {
                        view,
                        indices: point(vars, ty.rank),
                        value,
                        part: Part::Whole,
                    });
                    Ok(())
                })
            })
        })
    }

    /// A mask is computed first where it reads what the store overwrites.
    fn materialise_unless_simple(&mut self, view: Value, mask: &Val) -> Res<Val> {
        match mask {
            Val::Lazy(lazy) if self.in_host() && lazy.leaves.iter().any(|(leaf, _)| !self.apart(view, *leaf)) => {
                self.materialise(mask.clone())
            }
            _ => Ok(mask.clone()),
        }
    }

    /// Can elements be stored one by one while the leaf is read: is it the same view, or certainly other memory?
    fn apart(&self, view: Value, leaf: Value) -> bool {
        let (a, b) = (self.root(view), self.root(leaf));
        let known = |v: Value| self.fresh.contains(&v) || self.given.contains(&v);
        let fresh = |v: Value| self.fresh.contains(&v);
        view == leaf || (a != b && known(a) && known(b) && (fresh(a) || fresh(b)))
    }

    fn root(&self, view: Value) -> Value {
        self.roots.get(&view).copied().unwrap_or(view)
    }

    /// Remembers that a view is made from another one.
    pub fn derived(&mut self, view: Value, from: Value) {
        let root = self.root(from);
        self.roots.insert(view, root);
    }

    pub fn copy_array(&mut self, val: &Val, span: Span) -> Res<Val> {
        let copy = self.array_map(std::slice::from_ref(val), span, |_, v| Ok(v[0].clone()))?;
        self.materialise(copy)
    }

    // ---- reductions ----

    /// Combines all elements of an array expression, in `num`; `step` turns an element and the sum so far into the next.
    pub fn reduce(&mut self, val: &Val, op: ReduceOp, num: Num, start: Const, span: Span) -> Res<Value> {
        let Val::Lazy(lazy) = self.array_map(std::slice::from_ref(val), span, |_, v| Ok(v[0].clone()))? else {
            return Err(self.typing(span, "an array is needed here"));
        };
        let aligned = self.align(&lazy.leaves, None, span)?;
        let local: Local = self.b.func.new_local(num.scalar.into(), "");
        let first = self.b.constant(start);
        self.b.set(local, first);
        let extents = aligned.shape.clone();
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            l.at_every_point(&extents, vec![Reduction { local, op }], &mut |l, vars| {
                let val = l.element_at(&lazy.f, leaves, vars)?;
                let value = l.number_as(&val, num.scalar, span)?;
                let so_far = l.b.get(local);
                let next = l.b.binary(reduce_step(op), so_far, value);
                l.b.set(local, next);
                Ok(())
            })
        })?;
        Ok(self.b.get(local))
    }

    /// The element type of an array.
    pub fn elem_of(&self, val: &Val, span: Span) -> Res<Scalar> {
        match val.ty() {
            Ty::View(v) => Ok(v.elem),
            other => Err(self.typing(span, format!("an array is needed here, and this is {other}"))),
        }
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
fn leaf(leaves: &mut Vec<(Value, ViewType)>, new: (Value, ViewType)) -> usize {
    match leaves.iter().position(|l| *l == new) {
        Some(at) => at,
        None => {
            leaves.push(new);
            leaves.len() - 1
        }
    }
}

/// The last `rank` indices of a point.
pub fn point(vars: &[Value], rank: u8) -> Vec<Index> {
    let at = |&value: &Value| Index { value, wrap: false };
    vars[vars.len() - rank as usize..].iter().map(at).collect()
}

fn reduce_step(op: ReduceOp) -> BinOp {
    match op {
        ReduceOp::Add => BinOp::Add,
        ReduceOp::Mul => BinOp::Mul,
        ReduceOp::Min => BinOp::Min,
        ReduceOp::Max => BinOp::Max,
        ReduceOp::And => BinOp::And,
        ReduceOp::Or => BinOp::Or,
        ReduceOp::Xor => BinOp::Xor,
    }
}
