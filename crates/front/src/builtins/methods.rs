//! Methods of arrays, numbers and tuples: lookup by name and receiver, and those that are written here.

use weft_ir::{BinOp, CmpOp, ErrorKind, Kind, Layout, Op, Scalar, UnOp, Value, ViewType};

use super::reductions::{self, Fold};
use super::{Applied, Code, Does, Entry, Func, Handler, arrays, cuda, numpy, order, products, round};
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

/// The methods that arrays and numbers have, as functions whose first argument is the array or number. Those that NumPy has as functions of the
/// same name, too, are `shared`.
pub fn find(name: &str) -> Option<Method> {
    let (run, of): (Code, Of) = match name {
        "copy" => (copy, Of::Arrays),
        "flatten" => (flatten, Of::Arrays),
        "fill" => (fill, Of::Arrays),
        "astype" => (astype, Of::Both),
        "ravel" => (ravel, Of::Both),
        "reshape" => (reshape_method, Of::Arrays),
        "transpose" => (transpose_method, Of::Arrays),
        "dot" => (dot, Of::Arrays),
        "conj" | "conjugate" => (conjugate, Of::Both),
        "clip" => (order::clip_method, Of::NumPys),
        "round" => (round::numpy, Of::NumPys),
        "item" => (item, Of::Both),
        "is_integer" => (is_integer, Of::Numbers),
        "bit_count" => (bit_count, Of::Numbers),
        "_replace" => (replace_fields, Of::Tuples),
        _ => return fold(name).or_else(|| text(name)),
    };
    Some(Method::new(run, of))
}

/// Sums and their like.
fn fold(name: &str) -> Option<Method> {
    let of_both = |run: Code| Some(Method::new(run, Of::Both));
    let of_arrays = |run: Code| Some(Method::new(run, Of::Arrays));
    match name {
        "sum" => of_both(|l, c| reductions::call(l, c, Fold::Sum)),
        "prod" => of_both(|l, c| reductions::call(l, c, Fold::Prod)),
        "mean" => of_both(|l, c| reductions::call(l, c, Fold::Mean)),
        "min" => of_both(|l, c| reductions::call(l, c, Fold::Min)),
        "max" => of_both(|l, c| reductions::call(l, c, Fold::Max)),
        "any" => of_both(|l, c| reductions::call(l, c, Fold::Any)),
        "all" => of_both(|l, c| reductions::call(l, c, Fold::All)),
        "argmin" => of_arrays(|l, c| reductions::call(l, c, Fold::ArgMin)),
        "argmax" => of_arrays(|l, c| reductions::call(l, c, Fold::ArgMax)),
        "var" => of_arrays(|l, c| reductions::call(l, c, Fold::Var)),
        "std" => of_arrays(|l, c| reductions::call(l, c, Fold::Std)),
        _ => None,
    }
}

fn text(name: &str) -> Option<Method> {
    let row = weft_library::find(name)?;
    let method = row.method?;
    Some(Method {
        does: Does::Text {
            row,
            definition: method.text,
            by_position: method.by_position,
        },
        of: Of::Arrays,
    })
}

/// NumPy's function that is the method of the same name.
pub fn shared(name: &str) -> Option<Entry> {
    let name = match name {
        "amin" => "min",
        "amax" => "max",
        name => name,
    };
    let does = match name {
        "copy" | "ravel" => find(name)?.does,
        _ => fold(name)?.does,
    };
    Some(Entry::Func(Func {
        does,
        applied: Applied::Whole,
    }))
}

/// A method: what it does, and what has it.
#[derive(Clone, Copy)]
pub struct Method {
    pub does: Does,
    pub of: Of,
}

impl Method {
    fn new(run: Code, of: Of) -> Method {
        Method {
            does: Does::Run(Handler::Own(run)),
            of,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Arrays,
    Numbers,
    Both,
    /// Arrays, and numbers that are not Python's.
    NumPys,
    Tuples,
}

/// The method of a value by its name, if it has one.
pub fn of(receiver: &Val, name: &str) -> Option<Val> {
    let method = find(name)?;
    let has = match method.of {
        Of::Arrays => receiver.is_array(),
        Of::Numbers => receiver.num().is_some(),
        Of::Both => receiver.is_array() || receiver.num().is_some(),
        Of::NumPys => receiver.is_array() || receiver.num().is_some_and(|num| !num.weak),
        Of::Tuples => matches!(receiver, Val::Tuple(items) if items.is_tuple()),
    };
    has.then(|| Val::Method(Box::new(receiver.clone()), name.to_owned(), method.does))
}

/// What a method is called on, and its other arguments.
fn receiver(call: &Call) -> Res<(Val, Call)> {
    call.split_first("a")
}

fn copy(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (array, rest) = receiver(call)?;
    let [order] = rest.bind(["order"], 0)?;
    arrays::c_order(l, order, call)?;
    l.copy_array(&array, call.span)
}

fn flatten(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let copy = copy(l, call)?;
    reshape(l, &copy, &Val::int(-1), call)
}

fn fill(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (array, rest) = receiver(call)?;
    let [value] = rest.all(["value"])?;
    let Val::View(view, ty) = array else {
        return Err(l.typing(call.span, "only an array can be filled"));
    };
    l.refuse_read_only(ty, call.span)?;
    l.store_array(view, ty, &value, call.span)?;
    Ok(Val::None)
}

fn astype(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, rest) = receiver(call)?;
    let [dtype] = rest.all(["dtype"])?;
    let (to, span) = (Num::strong(cuda::dtype_of(l, &dtype, call)?), call.span);
    match x.is_array() {
        true => l.array_map(&[x], span, move |l, v| l.cast(&v[0], to, span)),
        false => l.cast(&x, to, span),
    }
}

fn ravel(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, rest) = receiver(call)?;
    let [order] = rest.bind(["order"], 0)?;
    arrays::c_order(l, order, call)?;
    let array = match x.num() {
        Some(_) => arrays::array_of(l, &x, call.span)?,
        None => contiguous(l, &x, call)?,
    };
    reshape(l, &array, &Val::int(-1), call)
}

fn reshape_method(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (array, rest) = receiver(call)?;
    let (lengths, [order]) = rest.any_number_and(["order"])?;
    arrays::c_order(l, order, call)?;
    let shape = match lengths {
        [] => return Err(call.misfit("reshape needs a shape".into())),
        [one] => one.clone(),
        several => Val::tuple(several.to_vec()),
    };
    reshaped(l, &array, &shape, call)
}

fn transpose_method(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (array, rest) = receiver(call)?;
    let axes = match rest.any_number()? {
        [Val::Tuple(items)] => items.to_vec(),
        items => items.to_vec(),
    };
    transpose(l, &array, &axes, call)
}

fn dot(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, other] = call.exactly()?;
    products::dot(l, array, other, call.span)
}

fn conjugate(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    if !x.is_array() {
        return numpy::conjugate(l, call);
    }
    let span = call.span;
    l.array_map(std::slice::from_ref(x), span, move |l, v| {
        let element = Call::new("conjugate".into(), v.to_vec(), Vec::new(), span);
        numpy::conjugate(l, &element)
    })
}

fn item(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, rest) = receiver(call)?;
    match x.num() {
        Some(num) if !num.weak => {
            let [] = rest.exactly()?;
            python_number(l, &x, call)
        }
        Some(_) => Err(l.typing(call.span, format!("{} has no method 'item'", x.ty()))),
        None => element(l, &x, &rest),
    }
}

fn bit_count(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [_] = call.exactly()?;
    let abs = super::python::abs(l, call)?;
    let bits = super::intrinsics::integer(l, &call.of(vec![abs]), UnOp::Popcount)?;
    l.cast(&bits, Num::INT, call.span)
}

fn replace_fields(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (tuple, rest) = receiver(call)?;
    match &tuple {
        Val::Tuple(items) => l.replace_fields(items, &rest),
        other => Err(l.typing(call.span, format!("{} has no method '_replace'", other.ty()))),
    }
}

fn is_integer(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let num = x.num().unwrap_or(Num::FLOAT);
    if !num.scalar.is_float() {
        return Ok(Val::Lit(crate::value::Lit::bool(num.scalar.is_int())));
    }
    let value = l.number_as(x, num.scalar, call.span)?;
    let whole = l.b.unary(UnOp::Trunc, value);
    let same = l.b.compare(CmpOp::Eq, value, whole);
    let infinite = l.b.unary(UnOp::IsInf, value);
    let finite = l.not(infinite);
    Ok(Val::Num(l.b.binary(BinOp::And, same, finite), Num::BOOL))
}

/// A NumPy number as Python's: weak.
fn python_number(l: &mut Lower<'_>, x: &Val, call: &Call) -> Res<Val> {
    let to = match x.num().map(|n| n.scalar.kind()) {
        Some(Kind::Bool) => Num::BOOL,
        Some(Kind::Signed | Kind::Unsigned) => Num::INT,
        Some(Kind::Complex) => Num::COMPLEX,
        _ => Num::FLOAT,
    };
    l.cast(x, to, call.span)
}

/// `array.item()` of the one element there is, or `array.item(i, j)` of one per axis.
fn element(l: &mut Lower<'_>, array: &Val, call: &Call) -> Res<Val> {
    let Val::View(view, ty) = l.materialise(array.clone())? else {
        return Err(l.typing(call.span, "an array is needed here"));
    };
    let at = match call.any_number()? {
        [] => {
            let shape = l.shape_of(view, ty);
            let (size, one) = (l.product(&shape), l.b.i64(1));
            let several = l.b.compare(CmpOp::Ne, size, one);
            l.raise_if(several, ErrorKind::Value, "can only convert an array of size 1 to a Python scalar")?;
            Val::tuple(vec![Val::int(0); usize::from(ty.rank)])
        }
        [Val::Tuple(items)] if items.len() == usize::from(ty.rank) => Val::Tuple(items.clone()),
        items if items.len() == usize::from(ty.rank) => Val::tuple(items.to_vec()),
        _ => return Err(l.unsupported(call.span, format!("item takes one index for each of the {} axes here", ty.rank))),
    };
    let selected = l.select_value(view, ty, &at, call.span)?;
    let element = l.load_selected(&selected, call.span)?;
    match element.num() {
        Some(_) => python_number(l, &element, call),
        None => Err(l.typing(call.span, "item takes integers")),
    }
}

/// The array itself where its elements follow each other, else a copy.
fn contiguous(l: &mut Lower<'_>, array: &Val, call: &Call) -> Res<Val> {
    if arrays::is_contiguous(&array.ty()) && matches!(array, Val::View(..)) {
        return Ok(array.clone());
    }
    l.copy_array(array, call.span)
}

/// The array in another shape: a view of it, whose elements follow each other. Of others it depends on strides and shape whether NumPy gives a
/// view, through which one can write, or a copy.
pub fn reshaped(l: &mut Lower<'_>, array: &Val, shape: &Val, call: &Call) -> Res<Val> {
    if matches!(array, Val::View(..)) && !arrays::is_contiguous(&array.ty()) {
        let message = "only an array whose elements follow each other in C's order can be reshaped";
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, call.span, message);
        return Err(diag.help("a.copy().reshape(...) reshapes a copy").into());
    }
    let array = contiguous(l, array, call)?;
    reshape(l, &array, shape, call)
}

const SIZES_DIFFER: &str = "cannot reshape array: the sizes differ";
/// What a -1 beside a 0 is answered.
const OF_ANY_LENGTH: &str = "cannot reshape array: -1 beside an axis of length 0 could be any length";

fn reshape(l: &mut Lower<'_>, array: &Val, shape: &Val, call: &Call) -> Res<Val> {
    let Val::View(view, ty) = array else {
        return Err(l.typing(call.span, "an array is needed here"));
    };
    let dims = match shape {
        Val::Tuple(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    let old = l.shape_of(*view, *ty);
    let total = l.product(&old);
    let open = dims.iter().position(|d| d.const_int() == Some(-1));
    let mut extents: Vec<Value> = Vec::with_capacity(dims.len());
    for dim in &dims {
        extents.push(l.index_value(dim, call.span)?);
    }
    match open {
        Some(open) => fill_open(l, &mut extents, open, total, ty.elem)?,
        None => open_extent(l, &mut extents, total, ty.elem)?,
    }
    if dims.len() > 1 || open.is_none() {
        let new = l.product(&extents);
        let misfit = l.b.compare(CmpOp::Ne, new, total);
        l.raise_if(misfit, ErrorKind::Value, SIZES_DIFFER)?;
    }
    let result = ViewType {
        rank: extents.len() as u8,
        layout: Layout::C,
        ..*ty
    };
    for (dim, n) in dims.iter().zip(&extents) {
        if dim.const_int() == Some(1) {
            l.facts.mark_one(*n);
        }
    }
    let reshaped = l.b.emit(result, Op::Reshape(*view, extents.clone()));
    l.arrays.derived(reshaped, *view);
    l.know_shape(reshaped, extents);
    Ok(Val::View(reshaped, result))
}

/// Replaces a -1 that is written out by the length that is left over.
fn fill_open(l: &mut Lower<'_>, extents: &mut [Value], open: usize, total: Value, elem: Scalar) -> Res<()> {
    let others: Vec<Value> = extents.iter().enumerate().filter(|(i, _)| *i != open).map(|(_, v)| *v).collect();
    refuse_negative(l, &others)?;
    let size = l.checked_size(elem, &others, SIZES_DIFFER)?;
    if !others.is_empty() {
        let zero = l.b.i64(0);
        let any = l.b.compare(CmpOp::Eq, size, zero);
        l.raise_if(any, ErrorKind::Value, OF_ANY_LENGTH)?;
    }
    extents[open] = l.b.binary(BinOp::FloorDiv, total, size);
    l.facts.mark_nonneg(extents[open]);
    Ok(())
}

/// Replaces the one -1 that a shape known at run time only may have. The shape that comes out is one that an array could have.
fn open_extent(l: &mut Lower<'_>, extents: &mut [Value], total: Value, elem: Scalar) -> Res<()> {
    if extents.iter().all(|n| l.facts.is_nonneg(*n)) {
        l.checked_size(elem, extents, SIZES_DIFFER)?;
        return Ok(());
    }
    let (zero, one) = (l.b.i64(0), l.b.i64(1));
    let minus_one = l.b.i64(-1);
    let mut found = zero;
    let mut others = Vec::with_capacity(extents.len());
    let mut open = Vec::with_capacity(extents.len());
    for &n in extents.iter() {
        let here = l.b.compare(CmpOp::Eq, n, minus_one);
        let counted = l.b.select(here, one, zero);
        found = l.b.binary(BinOp::Add, found, counted);
        others.push(l.b.select(here, one, n));
        open.push(here);
    }
    let several = l.b.compare(CmpOp::Gt, found, one);
    l.raise_if(several, ErrorKind::Value, "can only specify one unknown dimension")?;
    refuse_negative(l, &others)?;
    let others = l.checked_size(elem, &others, SIZES_DIFFER)?;
    let any = l.b.compare(CmpOp::Eq, others, zero);
    let asked = l.b.compare(CmpOp::Eq, found, one);
    let any = l.b.binary(BinOp::And, any, asked);
    l.raise_if(any, ErrorKind::Value, OF_ANY_LENGTH)?;
    let rest = l.b.binary(BinOp::FloorDiv, total, others);
    for (n, here) in extents.iter_mut().zip(open) {
        *n = l.b.select(here, rest, *n);
        l.facts.mark_nonneg(*n);
    }
    Ok(())
}

fn refuse_negative(l: &mut Lower<'_>, lengths: &[Value]) -> Res<()> {
    let zero = l.b.i64(0);
    for &n in lengths {
        if !l.facts.is_nonneg(n) {
            let negative = l.b.compare(CmpOp::Lt, n, zero);
            l.raise_if(negative, ErrorKind::Value, "negative dimensions are not allowed")?;
        }
    }
    Ok(())
}

/// The axes in another order; none stand for the reverse.
pub fn transpose(l: &mut Lower<'_>, array: &Val, axes: &[Val], call: &Call) -> Res<Val> {
    let array = l.materialise(array.clone())?;
    let Val::View(_, ty) = array else {
        return Err(l.typing(call.span, "an array is needed here"));
    };
    if matches!(axes, [] | [Val::None]) {
        return l.transpose(&array, &(0..ty.rank).rev().collect::<Vec<_>>(), call.span);
    }
    let rank = i128::from(ty.rank);
    let axis = |v: &Val| {
        v.const_int()
            .filter(|a| (-rank..rank).contains(a))
            .map(|a| a.rem_euclid(rank) as u8)
    };
    let order: Option<Vec<u8>> = axes.iter().map(axis).collect();
    let mut sorted = order.clone().unwrap_or_default();
    sorted.sort_unstable();
    match order {
        Some(order) if sorted.iter().copied().eq(0..ty.rank) => l.transpose(&array, &order, call.span),
        _ => Err(l.typing(call.span, "transpose takes every axis once, as constants")),
    }
}
