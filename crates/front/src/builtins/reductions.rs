//! Reductions of whole arrays or along some axes: `sum`, `mean`, `min` and their like, and the types they are computed in.

use ruff_python_ast::Operator;
use weft_array::Leaf;
use weft_array::loops::{point, store};
use weft_ir::{AxisSlice, BinOp, CmpOp, Const, ErrorKind, Local, Op, Part, ReduceOp, Scalar, Span, UnOp, Value};

use super::Code;
use super::numpy::extreme_constant;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::library;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::lower::reduce::Reduce;
use crate::signature::casts_within_kind;
use crate::stop::Res;
use crate::types::{Num, Ty, sum_type, to_float};
use crate::value::{Lit, Number, Val};

/// A type for sums of a float: 16-bit floats are summed in float32 and the sum is rounded, as NumPy does.
fn summed_in(num: Num) -> Num {
    if num.scalar.is_half() { num.with(Scalar::F32) } else { num }
}

/// A number or an array of numbers in a type.
fn converted(l: &mut Lower<'_>, val: Val, to: Num, span: Span) -> Res<Val> {
    if val.num() == Some(to) || matches!(val.ty(), Ty::View(v) if v.elem == to.scalar) {
        return Ok(val);
    }
    if val.is_array() {
        return l.array_map(&[val], span, move |l, v| l.cast(&v[0], to, span));
    }
    l.cast(&val, to, span)
}

fn constant_of(num: Num, value: Number) -> Const {
    let lit = Lit { num, value };
    lit.constant(num.scalar).unwrap_or(Const::Bool(false))
}

fn reduce(op: ReduceOp, num: Num, start: Number) -> Reduce {
    let start = constant_of(num, start);
    Reduce { op, num, start }
}

/// What an array's elements are folded into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Sum,
    Prod,
    Mean,
    Min,
    Max,
    Any,
    All,
    ArgMin,
    ArgMax,
    Var,
    Std,
}

impl Fold {
    /// The library's text that does it with all of NumPy's keywords.
    const fn text(self) -> &'static str {
        match self {
            Fold::Sum => "sum",
            Fold::Prod => "prod",
            Fold::Mean => "mean",
            Fold::Min => "min",
            Fold::Max => "max",
            Fold::Any => "any",
            Fold::All => "all",
            Fold::ArgMin => "argmin",
            Fold::ArgMax => "argmax",
            Fold::Var => "var",
            Fold::Std => "std",
        }
    }
}

/// `fold(array, axis=…)`.
pub fn call(l: &mut Lower<'_>, call: &Call, fold: Fold) -> Res<Val> {
    let (array, rest) = call.split_first("a")?;
    check_axis(l, &rest)?;
    // Kernels and lanes take elements one by one; the host looks at blocks of them.
    let by_blocks = matches!(fold, Fold::ArgMin | Fold::ArgMax) && array.is_array() && l.in_host() && !l.in_lanes();
    let is_variance = matches!(fold, Fold::Var | Fold::Std);
    let of_others = is_variance && !matches!(array.ty(), Ty::View(v) if v.rank > 0 && !v.elem.is_complex());
    let by_text = !is_plain(&rest, fold) || by_blocks || of_others || matches!(array, Val::Tuple(_));
    match library::texts::helper("reductions", fold.text()) {
        Some(text) if by_text => l.user_call(&text, call),
        _ => along(l, &array, &rest, fold),
    }
}

/// A ufunc's result as it is, or in the array that the call gives for it, by the name `out` or behind so many other arguments: there it is
/// converted within a kind of numbers, and broadcast. `run` is given the call without that array.
pub fn into_given(l: &mut Lower<'_>, call: &Call, others: usize, run: Code) -> Res<Val> {
    let (rest, out) = call.without("out", others)?;
    let result = run(l, &rest)?;
    rest.refuse_unread()?;
    let (view, ty) = match out {
        None | Some(Val::None) => return Ok(result),
        Some(Val::View(view, ty)) => (view, ty),
        Some(other) => return Err(l.typing(call.span, format!("'out' is an array, not {}", other.ty()))),
    };
    let elem = match result.num() {
        Some(num) => num.scalar,
        None => l.elem_of(&result, call.span)?,
    };
    if !casts_within_kind(elem, ty.elem) {
        let message = format!(
            "the result is of {}, which does not go into an array of {}",
            elem.numpy_name(),
            ty.elem.numpy_name()
        );
        return Err(l.typing(call.span, message));
    }
    l.refuse_read_only(ty, call.span)?;
    l.store_array(view, ty, &result, call.span)?;
    Ok(Val::View(view, ty))
}

/// NumPy takes no lists of axes, and no bools.
fn check_axis(l: &Lower<'_>, call: &Call) -> Res<()> {
    let (pos, kw) = call.given();
    let axis = pos
        .first()
        .or_else(|| kw.iter().find(|(name, _)| name == "axis").map(|(_, axis)| axis));
    let is_none = |axis: &&Val| match axis {
        Val::Tuple(items) => items.is_list(),
        axis => axis.num().is_some_and(|num| num.scalar == Scalar::Bool),
    };
    match axis.filter(is_none) {
        Some(axis) => {
            let message = format!("an axis is an integer, a tuple of integers or None, not {}", axis.ty());
            Err(l.typing(call.span, message))
        }
        None => Ok(()),
    }
}

/// Of the whole array, or along some axes.
fn along(l: &mut Lower<'_>, array: &Val, call: &Call, fold: Fold) -> Res<Val> {
    let [axis] = call.bind(["axis"], 0)?;
    let rank = match array.ty() {
        Ty::View(v) => v.rank,
        _ if axis.is_none_or(|axis| matches!(axis, Val::None)) => return of_number(l, array, fold, call),
        _ => return Err(l.typing(call.span, format!("{} has no axes", array.ty()))),
    };
    let axes = match axis {
        None | Some(Val::None) => None,
        Some(val) => Some(constant_axes(l, &val, rank, call)?),
    };
    let over = Over {
        array: array.clone(),
        axes,
        span: call.span,
    };
    over.run(l, fold)
}

/// Is nothing asked but an axis, at the most, or several where the loops here go along several?
fn is_plain(call: &Call, fold: Fold) -> bool {
    let (pos, kw) = call.given();
    let several = !matches!(fold, Fold::ArgMin | Fold::ArgMax | Fold::Var | Fold::Std);
    let axes = |axis: &Val| match axis {
        Val::Tuple(items) => several && !items.is_empty(),
        _ => true,
    };
    pos.len() <= 1 && pos.iter().all(axes) && kw.iter().all(|(name, axis)| name == "axis" && axes(axis))
}

fn constant_axes(l: &Lower<'_>, val: &Val, rank: u8, call: &Call) -> Res<Vec<usize>> {
    let Val::Tuple(items) = val else {
        return Ok(vec![constant_axis(l, val, rank, call)?]);
    };
    let mut axes = Vec::new();
    for item in items.iter() {
        let axis = constant_axis(l, item, rank, call)?;
        if axes.contains(&axis) {
            return Err(l.typing(call.span, format!("the axis {axis} is given twice")));
        }
        axes.push(axis);
    }
    Ok(axes)
}

fn constant_axis(l: &Lower<'_>, axis: &Val, rank: u8, call: &Call) -> Res<usize> {
    let rank = i128::from(rank);
    match axis.const_int() {
        Some(a) if (-rank..rank).contains(&a) => Ok(a.rem_euclid(rank) as usize),
        Some(a) => Err(l.typing(call.span, format!("there is no axis {a} in a {rank}-d array"))),
        None => {
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, call.span, "the axis must be a constant integer");
            Err(diag.wanting_constants().into())
        }
    }
}

/// A reduction of a number: a 0-d array to NumPy.
fn of_number(l: &mut Lower<'_>, x: &Val, fold: Fold, call: &Call) -> Res<Val> {
    let name = fold.text();
    let Some(num) = x.num() else {
        return Err(l.typing(call.span, format!("{name} does not go with {}", x.ty())));
    };
    let to = match fold {
        Fold::Sum | Fold::Prod => sum_type(num.scalar),
        Fold::Mean => to_float(Num::strong(num.scalar)),
        Fold::Any | Fold::All => return Ok(Val::Num(l.truth_value(x, call.span)?, Num::strong(Scalar::Bool))),
        Fold::Min | Fold::Max => Num::strong(num.scalar),
        Fold::ArgMin | Fold::ArgMax | Fold::Var | Fold::Std => {
            return Err(l.unsupported(call.span, format!("'{name}' needs an array")));
        }
    };
    l.cast(x, to, call.span)
}

/// What is reduced, and along which axes: all of it if none are given.
struct Over {
    array: Val,
    axes: Option<Vec<usize>>,
    span: Span,
}

impl Over {
    fn run(&self, l: &mut Lower<'_>, fold: Fold) -> Res<Val> {
        let elem = l.elem_of(&self.array, self.span)?;
        match fold {
            Fold::Sum => {
                let num = sum_type(elem);
                sum_along(l, &self.array, self.axes.clone(), num, self.span)
            }
            Fold::Prod => in_type(l, &self.array, self.axes.clone(), ReduceOp::Mul, sum_type(elem), self.span),
            Fold::Mean => {
                let mean = self.mean(l)?;
                self.as_element(l, mean)
            }
            Fold::Min => self.extreme(l, ReduceOp::Min),
            Fold::Max => self.extreme(l, ReduceOp::Max),
            Fold::Any => self.truth(l, ReduceOp::Or),
            Fold::All => self.truth(l, ReduceOp::And),
            Fold::ArgMin => self.position(l, CmpOp::Lt),
            Fold::ArgMax => self.position(l, CmpOp::Gt),
            Fold::Var => {
                let variance = self.variance(l)?;
                self.as_element(l, variance)
            }
            Fold::Std => {
                let variance = self.variance(l)?;
                let deviation = square_root(l, &variance, self.span)?;
                self.as_element(l, deviation)
            }
        }
    }

    fn reduce(&self, l: &mut Lower<'_>, how: Reduce) -> Res<Val> {
        match &self.axes {
            Some(axes) => l.reduce_axes(&self.array, axes, how, self.span),
            None => l.reduce(&self.array, how, self.span),
        }
    }

    /// How many elements are combined into one.
    fn count(&self, l: &mut Lower<'_>) -> Res<Value> {
        let Some(axes) = &self.axes else { return l.size(&self.array) };
        let shape = l.shape(&self.array)?;
        let lengths = axes.iter().map(|&axis| shape[axis]).reduce(|a, b| l.b.binary(BinOp::Mul, a, b));
        Ok(lengths.unwrap_or_else(|| l.b.i64(1)))
    }

    /// A mean of 16-bit floats, which was computed in float32, in the array's type.
    fn as_element(&self, l: &mut Lower<'_>, val: Val) -> Res<Val> {
        let elem = l.elem_of(&self.array, self.span)?;
        if !elem.is_half() {
            return Ok(val);
        }
        converted(l, val, Num::strong(elem), self.span)
    }

    /// In the array's own float type, of 16-bit floats in float32, of integers in float64.
    fn mean(&self, l: &mut Lower<'_>) -> Res<Val> {
        let num = summed_in(to_float(Num::strong(l.elem_of(&self.array, self.span)?)));
        let sum = self.reduce(l, reduce(ReduceOp::Add, num, Number::Float(0.0)))?;
        let count = self.count(l)?;
        let count = Val::Num(l.convert(count, Scalar::I64, num.scalar), num);
        quotient(l, &sum, &count, self.span)
    }

    /// The mean squared distance from the mean.
    fn variance(&self, l: &mut Lower<'_>) -> Res<Val> {
        if l.elem_of(&self.array, self.span)?.is_complex() {
            return Err(l.unsupported(self.span, "the variance of complex arrays cannot be compiled"));
        }
        let array = l.materialise(self.array.clone())?;
        let mut mean = self.mean(l)?;
        if let (Some([axis]), true) = (self.axes.as_deref(), mean.is_array()) {
            mean = with_axis(l, mean, *axis)?;
        }
        let distance = l.binary(Operator::Sub, &array, &mean, self.span)?;
        let array = l.binary(Operator::Mult, &distance, &distance, self.span)?;
        // Numba adds up the squares, which are float32, in float64.
        let array = match l.numba() && l.elem_of(&array, self.span)? == Scalar::F32 {
            true => converted(l, array, Num::strong(Scalar::F64), self.span)?,
            false => array,
        };
        let squares = Over {
            array,
            axes: self.axes.clone(),
            ..*self
        };
        squares.mean(l)
    }

    fn extreme(&self, l: &mut Lower<'_>, op: ReduceOp) -> Res<Val> {
        let elem = l.elem_of(&self.array, self.span)?;
        if elem.is_complex() {
            return Err(l.typing(self.span, "complex numbers have no order"));
        }
        self.refuse_empty(l)?;
        self.reduce(l, reduce(op, Num::strong(elem), extreme_constant(elem, op == ReduceOp::Min)))
    }

    fn refuse_empty(&self, l: &mut Lower<'_>) -> Res<()> {
        let count = self.count(l)?;
        let zero = l.b.i64(0);
        let empty = l.b.compare(CmpOp::Eq, count, zero);
        l.raise_if(empty, ErrorKind::Value, "zero-size array has no minimum or maximum")
    }

    /// Is any element true; are all.
    fn truth(&self, l: &mut Lower<'_>, op: ReduceOp) -> Res<Val> {
        let span = self.span;
        let array = l.array_map(std::slice::from_ref(&self.array), span, move |l, v| {
            Ok(Val::Num(l.truth_value(&v[0], span)?, Num::strong(Scalar::Bool)))
        })?;
        let tests = Over {
            array,
            axes: self.axes.clone(),
            ..*self
        };
        tests.reduce(l, reduce(op, Num::strong(Scalar::Bool), Number::Bool(op == ReduceOp::And)))
    }

    fn position(&self, l: &mut Lower<'_>, op: CmpOp) -> Res<Val> {
        self.refuse_empty(l)?;
        let axis = self.axes.as_ref().and_then(|axes| axes.first().copied());
        position(l, &self.array, axis, op, self.span)
    }
}

/// An array with an axis of length 1 put in, which stands against a whole one.
fn with_axis(l: &mut Lower<'_>, array: Val, axis: usize) -> Res<Val> {
    let Val::View(view, ty) = l.materialise(array)? else {
        return Err(l.typing(l.b.span, "an array is needed here"));
    };
    let mut axes = vec![AxisSlice::Full; usize::from(ty.rank)];
    axes.insert(axis, AxisSlice::New);
    let (view, ty) = l.slice(view, ty, axes);
    Ok(Val::View(view, ty))
}

/// Of a number or of every element, in its own float type.
fn square_root(l: &mut Lower<'_>, val: &Val, span: Span) -> Res<Val> {
    let root = move |l: &mut Lower<'_>, v: &[Val]| {
        let num = v[0].num().unwrap_or(Num::FLOAT);
        let value = l.number_as(&v[0], num.scalar, span)?;
        Ok(Val::Num(l.b.unary(UnOp::Sqrt, value), num))
    };
    match val.is_array() {
        true => l.array_map(std::slice::from_ref(val), span, root),
        false => root(l, std::slice::from_ref(val)),
    }
}

/// A sum divided by a count; an empty array's is NaN, whatever the error model.
fn quotient(l: &mut Lower<'_>, sum: &Val, count: &Val, span: Span) -> Res<Val> {
    let divide = move |l: &mut Lower<'_>, v: &[Val]| {
        let num = v[0].num().unwrap_or(Num::FLOAT);
        let (x, n) = l.unified(&v[0], &v[1], num, span)?;
        Ok(Val::Num(l.b.binary(BinOp::Div, x, n), num))
    };
    if sum.is_array() {
        return l.array_map(&[sum.clone(), count.clone()], span, divide);
    }
    divide(l, &[sum.clone(), count.clone()])
}

/// The sum of all elements.
pub fn total(l: &mut Lower<'_>, array: &Val, span: Span) -> Res<Val> {
    let over = Over {
        array: array.clone(),
        axes: None,
        span,
    };
    over.run(l, Fold::Sum)
}

/// The sum in a type: of all elements, or along an axis. Bools are added as NumPy's, by `or`.
pub fn sum_as(l: &mut Lower<'_>, array: &Val, axis: Option<usize>, num: Num, span: Span) -> Res<Val> {
    sum_along(l, array, axis.map(|axis| vec![axis]), num, span)
}

fn sum_along(l: &mut Lower<'_>, array: &Val, axes: Option<Vec<usize>>, num: Num, span: Span) -> Res<Val> {
    let op = match num.scalar {
        Scalar::Bool => ReduceOp::Or,
        _ => ReduceOp::Add,
    };
    in_type(l, array, axes, op, num, span)
}

/// All elements, or those along some axes, combined in a type by `+`, `*` or `or`.
pub fn in_type(l: &mut Lower<'_>, array: &Val, axes: Option<Vec<usize>>, op: ReduceOp, num: Num, span: Span) -> Res<Val> {
    let over = Over {
        array: array.clone(),
        axes,
        span,
    };
    let start = Number::Int(i128::from(op == ReduceOp::Mul));
    let result = over.reduce(l, reduce(op, summed_in(num), start))?;
    converted(l, result, num, span)
}

/// Position of the first least or greatest element: among all in C order, or along one axis.
fn position(l: &mut Lower<'_>, array: &Val, axis: Option<usize>, op: CmpOp, span: Span) -> Res<Val> {
    let Val::View(view, ty) = l.materialise(array.clone())? else {
        return Err(l.typing(span, "an array is needed here"));
    };
    if ty.elem.is_complex() {
        return Err(l.unsupported(span, "argmin and argmax of complex arrays cannot be compiled"));
    }
    let num = Num::strong(Scalar::I64);
    let mut extents = l.shape_of(view, ty);
    let Some(axis) = axis.filter(|_| ty.rank > 1) else {
        let at = first_best(l, (view, ty), &extents, op, &|vars| vars.to_vec())?;
        return Ok(Val::Num(at, num));
    };
    let count = extents.remove(axis);
    let (out, out_type) = super::arrays::fresh(l, Scalar::I64, &extents, false, span)?;
    l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
        let value = first_best(l, (view, ty), &[count], op, &|along| {
            let mut at = vars.to_vec();
            at.insert(axis, along[0]);
            at
        })?;
        store(&mut l.b, (out, out_type), vars, value);
        Ok(())
    })?;
    Ok(Val::View(out, out_type))
}

/// The first best of the elements at `place` of the points of a shape: how many points come before it.
fn first_best(l: &mut Lower<'_>, (view, ty): Leaf, extents: &[Value], op: CmpOp, place: &dyn Fn(&[Value]) -> Vec<Value>) -> Res<Value> {
    let element = |l: &mut Lower<'_>, vars: &[Value]| {
        let (indices, part) = (point(&place(vars), ty.rank), Part::Whole);
        l.b.emit(ty.elem, Op::Load { view, indices, part })
    };
    let best = l.b.func.new_local(ty.elem.into(), "");
    let at = l.b.func.new_local(weft_ir::Type::I64, "");
    let zero = l.b.i64(0);
    let first = element(l, &vec![zero; extents.len()]);
    l.b.set(best, first);
    l.b.set(at, zero);
    l.in_order(extents, &mut |l, vars| {
        let value = element(l, vars);
        let better = is_better(l, op, value, best, ty.elem);
        let number = number_of(l, vars, extents);
        l.emit_if(better, |l| {
            l.b.set(best, value);
            l.b.set(at, number);
            Ok(())
        })
    })?;
    Ok(l.b.get(at))
}

/// Whether a value comes before the best so far; the first NaN wins and stays.
fn is_better(l: &mut Lower<'_>, op: CmpOp, value: Value, best: Local, elem: Scalar) -> Value {
    let so_far = l.b.get(best);
    let better = l.b.compare(op, value, so_far);
    if !elem.is_float() {
        return better;
    }
    let (new, old) = (l.b.unary(UnOp::IsNan, value), l.b.unary(UnOp::IsNan, so_far));
    let old = l.not(old);
    let nan = l.b.binary(BinOp::And, new, old);
    l.b.binary(BinOp::Or, better, nan)
}

/// How many points of a shape come before one, in C order.
fn number_of(l: &mut Lower<'_>, vars: &[Value], extents: &[Value]) -> Value {
    let Some(&first) = vars.first() else { return l.b.i64(0) };
    let mut number = first;
    for (&var, &extent) in vars.iter().zip(extents).skip(1) {
        let rows = l.b.binary(BinOp::Mul, number, extent);
        number = l.b.binary(BinOp::Add, rows, var);
    }
    number
}
