//! `numpy`: array constructors (`zeros`, `arange`, `array`), and transposing, reshaping, products and attributes by NumPy's names.

use ruff_python_ast::Operator;
use weft_array::loops::store;
use weft_ir::{BinOp, Const, ErrorKind, Layout, Scalar, Span, TOO_BIG, UnOp, Value, ViewType};

use super::cuda::dtype_of;
use super::{Entry, products, python};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::lower::points::Points;
use crate::stop::Res;
use crate::types::{Num, Ty, to_float};
use crate::value::{Iter, Number, Val};

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "zeros" => Entry::of(|l, c| filled(l, c, Some(0))),
        "ones" => Entry::of(|l, c| filled(l, c, Some(1))),
        "empty" => Entry::of(|l, c| filled(l, c, None)),
        "full" => Entry::of(full),
        "zeros_like" => Entry::of(|l, c| like(l, c, Some(0))),
        "ones_like" => Entry::of(|l, c| like(l, c, Some(1))),
        "empty_like" => Entry::of(|l, c| like(l, c, None)),
        "full_like" => Entry::of(full_like),
        "arange" => Entry::of(arange),
        "linspace" => Entry::of(linspace),
        "array" => Entry::of(|l, c| array(l, c, "object")),
        "asarray" => Entry::of(|l, c| as_array(l, c, false)),
        "ascontiguousarray" => Entry::of(|l, c| as_array(l, c, true)),
        "transpose" => Entry::of(transpose),
        "reshape" => Entry::of(reshape),
        "dot" => Entry::of(dot),
        "matmul" => Entry::of(matmul),
        "ndindex" => Entry::of(ndindex),
        "ndenumerate" => Entry::of(ndenumerate),
        "vecdot" => Entry::of(products::vecdot),
        "matvec" => Entry::of(products::matvec),
        "vecmat" => Entry::of(products::vecmat),
        "size" => Entry::of(|l, c| attribute(l, c, "size")),
        "shape" => Entry::of(|l, c| attribute(l, c, "shape")),
        "ndim" => Entry::of(|l, c| attribute(l, c, "ndim")),
        _ => return super::methods::shared(name),
    })
}

/// `transpose(a, axes)`: the axes are one tuple.
fn transpose(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, axes] = call.bind(["a", "axes"], 1)?;
    let axes = match axes {
        None | Some(Val::None) => Vec::new(),
        Some(Val::Tuple(items)) => items.to_vec(),
        Some(axis) => vec![axis],
    };
    super::methods::transpose(l, &array.unwrap_or(Val::None), &axes, call)
}

/// `reshape(a, shape)`: the shape is one tuple, or the length of one axis.
fn reshape(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, shape, order] = call.bind(["/a", "shape", "order"], 2)?;
    c_order(l, order, call)?;
    super::methods::reshaped(l, &array.unwrap_or(Val::None), &shape.unwrap_or(Val::None), call)
}

fn attribute(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Val> {
    let [array] = call.all(["a"])?;
    if array.num().is_some() {
        return Ok(match name {
            "shape" => Val::tuple(Vec::new()),
            "size" => Val::int(1),
            _ => Val::int(0),
        });
    }
    l.attribute(array, name, call.span)
}

fn dot(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.all(["a", "b"])?;
    products::dot(l, &a, &b, call.span)
}

fn matmul(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    products::matmul(l, a, b, call.span)
}

// ---- points of arrays ----

/// `np.ndindex(shape)` or of one length per argument: all positions in C order.
fn ndindex(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let shape = match call.any_number()? {
        [shape @ Val::Tuple(_)] => shape.clone(),
        lengths => Val::tuple(lengths.to_vec()),
    };
    let extents = shape_argument(l, &shape, call.span)?;
    l.checked_size(Scalar::Bool, &extents, TOO_BIG)?;
    let points = Points {
        extents,
        array: None,
        numbered: true,
    };
    Ok(Val::Iter(Box::new(Iter::Points(points))))
}

/// `np.ndenumerate(array)`: positions and elements.
fn ndenumerate(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array] = call.all(["arr"])?;
    elements(l, &array, true, call.span)
}

/// All elements of an array in C order, with their positions if they are `numbered`.
pub fn elements(l: &mut Lower<'_>, array: &Val, numbered: bool, span: Span) -> Res<Val> {
    let Val::View(view, ty) = l.materialise(array.clone())? else {
        return Err(l.typing(span, format!("an array is needed here, and this is {}", array.ty())));
    };
    let points = Points {
        extents: l.shape_of(view, ty),
        array: Some((view, ty)),
        numbered,
    };
    Ok(Val::Iter(Box::new(Iter::Points(points))))
}

// ---- making arrays ----

/// A shape argument: an integer or a tuple of integers. Negative lengths raise.
pub fn shape_argument(l: &mut Lower<'_>, shape: &Val, span: Span) -> Res<Vec<Value>> {
    let dims = match shape {
        Val::Tuple(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    let mut extents = Vec::with_capacity(dims.len());
    for dim in &dims {
        let n = l.index_value(dim, span)?;
        if !l.facts.is_nonneg(n) {
            let zero = l.b.i64(0);
            let negative = l.b.compare(weft_ir::CmpOp::Lt, n, zero);
            l.raise_if(negative, ErrorKind::Value, "negative dimensions are not allowed")?;
            l.facts.mark_nonneg(n);
        }
        extents.push(n);
    }
    Ok(extents)
}

/// Refuses any other order than `'C'`, in which all new arrays are.
pub fn c_order(l: &Lower<'_>, order: Option<Val>, call: &Call) -> Res<()> {
    match order {
        None => Ok(()),
        Some(Val::Str(order)) if order == "C" => Ok(()),
        _ => Err(l.unsupported(
            call.span,
            format!("{} makes arrays in order 'C' only in compiled functions", call.name),
        )),
    }
}

fn dtype_or(l: &Lower<'_>, dtype: Option<Val>, default: Scalar, call: &Call) -> Res<Scalar> {
    match dtype {
        None | Some(Val::None) => Ok(default),
        Some(dtype) => dtype_of(l, &dtype, call),
    }
}

pub fn fresh(l: &mut Lower<'_>, elem: Scalar, shape: &[Value], zeroed: bool, span: Span) -> Res<(Value, ViewType)> {
    let view = l.alloc(elem, shape, zeroed, span)?;
    let ty = ViewType {
        elem,
        rank: shape.len() as u8,
        layout: Layout::C,
        space: weft_ir::Space::Global,
        writable: true,
    };
    Ok((view, ty))
}

fn fill(l: &mut Lower<'_>, elem: Scalar, shape: &[Value], value: Option<Val>, span: Span) -> Res<Val> {
    let zeroed = value.as_ref().and_then(Val::lit).is_some_and(|v| v.value == Number::Int(0));
    let (view, ty) = fresh(l, elem, shape, zeroed, span)?;
    if let (Some(value), false) = (value, zeroed) {
        l.store_array(view, ty, &value, span)?;
    }
    Ok(Val::View(view, ty))
}

fn filled(l: &mut Lower<'_>, call: &Call, value: Option<i128>) -> Res<Val> {
    let [shape, dtype, order] = call.bind(["shape", "dtype", "order"], 1)?;
    c_order(l, order, call)?;
    let elem = dtype_or(l, dtype, Scalar::F64, call)?;
    let shape = shape_argument(l, &shape.unwrap_or(Val::None), call.span)?;
    fill(l, elem, &shape, value.map(Val::int), call.span)
}

fn full(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [shape, value, dtype, order] = call.bind(["shape", "fill_value", "dtype", "order"], 2)?;
    c_order(l, order, call)?;
    let value = value.unwrap_or(Val::None);
    let default = value.num().map_or(Scalar::F64, |n| n.scalar);
    let elem = dtype_or(l, dtype, default, call)?;
    let shape = shape_argument(l, &shape.unwrap_or(Val::None), call.span)?;
    fill(l, elem, &shape, Some(value), call.span)
}

fn like(l: &mut Lower<'_>, call: &Call, value: Option<i128>) -> Res<Val> {
    let [prototype, dtype] = call.bind([if value.is_some() { "a" } else { "/prototype" }, "dtype"], 1)?;
    let prototype = prototype.unwrap_or(Val::None);
    let elem = l.elem_of(&prototype, call.span)?;
    let elem = dtype_or(l, dtype, elem, call)?;
    let shape = l.shape(&prototype)?;
    fill(l, elem, &shape, value.map(Val::int), call.span)
}

fn full_like(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [prototype, value, dtype] = call.bind(["a", "fill_value", "dtype"], 2)?;
    let prototype = prototype.unwrap_or(Val::None);
    let elem = l.elem_of(&prototype, call.span)?;
    let elem = dtype_or(l, dtype, elem, call)?;
    let shape = l.shape(&prototype)?;
    fill(l, elem, &shape, value, call.span)
}

/// Of a floating range: far more than there is memory for, and as an integer far from overflow.
const MOST_STEPS: f64 = (1u64 << 62) as f64;

/// `arange(stop)`, `arange(start, stop, step)`: `start + i * step`.
fn arange(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [first, second, step, dtype] = call.bind(["/start", "stop", "step", "*dtype"], 1)?;
    let first = first.unwrap_or(Val::None);
    let (start, stop) = match second {
        Some(stop) if !matches!(stop, Val::None) => (first, stop),
        _ => (Val::int(0), first),
    };
    let step = step.unwrap_or(Val::int(1));
    let span = call.span;
    let num = python::common_type(l, &[start.clone(), stop.clone(), step.clone()], call)?;
    let elem = dtype_or(l, dtype, num.scalar, call)?;
    let count = if num.scalar.is_float() {
        let difference = l.binary(Operator::Sub, &stop, &start, span)?;
        let steps = l.binary(Operator::Div, &difference, &step, span)?;
        let steps = l.number_as(&steps, Scalar::F64, span)?;
        let steps = l.b.unary(UnOp::Ceil, steps);
        // More than an array can have, or NaN.
        let most = l.b.constant(Const::f64(MOST_STEPS));
        let fits = l.b.compare(weft_ir::CmpOp::Le, steps, most);
        let misfit = l.not(fits);
        l.raise_if(misfit, ErrorKind::Value, "Maximum allowed size exceeded")?;
        let steps = l.b.cast(steps, Scalar::I64);
        let zero = l.b.i64(0);
        l.b.binary(BinOp::Max, steps, zero)
    } else {
        let known = step.const_int();
        let [start, stop, step] = l.range_bounds([&start, &stop, &step], span)?;
        l.range_length(start, stop, step, known)
    };
    l.facts.mark_nonneg(count);
    let (view, ty) = fresh(l, elem, &[count], false, span)?;
    let num = computed_in(num);
    let (start, step) = l.unified(&start, &step, num, span)?;
    l.at_every_point(&[count], Vec::new(), &mut |l, vars| {
        let i = l.convert(vars[0], Scalar::I64, num.scalar);
        let offset = l.b.binary(BinOp::Mul, i, step);
        let value = l.b.binary(BinOp::Add, start, offset);
        let value = l.convert(value, num.scalar, elem);
        store(&mut l.b, (view, ty), vars, value);
        Ok(())
    })?;
    Ok(Val::View(view, ty))
}

/// Numbers counted up in a type: in float32 for 16-bit floats, which could not hold the count.
fn computed_in(num: Num) -> Num {
    Num::strong(if num.scalar.is_half() { Scalar::F32 } else { num.scalar })
}

/// `linspace(start, stop, num)`: `start + i * step`, the last one exactly `stop`.
fn linspace(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let names = ["start", "stop", "num", "endpoint", "retstep", "dtype"];
    let [start, stop, number, endpoint, retstep, dtype] = call.bind(names, 2)?;
    let span = call.span;
    if retstep.is_some_and(|v| v.lit().is_none_or(|lit| lit.value.truth())) {
        return Err(l.unsupported(span, "linspace with retstep cannot be compiled"));
    }
    let (start, stop) = (start.unwrap_or(Val::None), stop.unwrap_or(Val::None));
    let number = number.unwrap_or(Val::int(50));
    let closed = match endpoint {
        None => true,
        Some(Val::Lit(lit)) => lit.value.truth(),
        Some(_) => return Err(l.unsupported(span, "linspace's endpoint must be constant")),
    };
    let num = to_float(python::common_type(l, &[start.clone(), stop.clone()], call)?);
    let elem = dtype_or(l, dtype, num.scalar, call)?;
    if num.scalar.is_complex() && elem.is_int() {
        return Err(l.typing(span, "linspace gives no integers between complex numbers"));
    }
    // float16 is rounded at every step, as NumPy does; bfloat16, which NumPy has not, once.
    let num = match num.scalar {
        Scalar::BF16 => Num::strong(Scalar::F32),
        scalar => Num::strong(scalar),
    };
    let count = shape_argument(l, &number, span)?[0];
    let ends = l.unified(&start, &stop, num, span)?;
    let (view, ty) = fresh(l, elem, &[count], false, span)?;
    let spaced = Spaced::new(l, ends, num.scalar, count, closed);
    l.at_every_point(&[count], Vec::new(), &mut |l, vars| {
        let mut value = spaced.at(l, vars[0]);
        if elem.is_int() {
            value = l.b.unary(UnOp::Floor, value);
        }
        let value = l.convert(value, num.scalar, elem);
        store(&mut l.b, (view, ty), vars, value);
        Ok(())
    })?;
    Ok(Val::View(view, ty))
}

/// Numbers that are evenly spaced.
struct Spaced {
    ends: (Value, Value),
    scalar: Scalar,
    /// The number of the last one, if it is the end itself.
    last: Option<Value>,
    spaces: Value,
    width: Value,
    step: Value,
    /// The step is too small to be held.
    vanishes: Value,
}

impl Spaced {
    fn new(l: &mut Lower<'_>, ends: (Value, Value), scalar: Scalar, count: Value, closed: bool) -> Spaced {
        let one = l.b.i64(1);
        let last = l.b.binary(BinOp::Sub, count, one);
        let spaces = if closed { l.b.binary(BinOp::Max, last, one) } else { count };
        let spaces = l.convert(spaces, Scalar::I64, scalar);
        let width = l.b.binary(BinOp::Sub, ends.1, ends.0);
        let step = l.b.binary(BinOp::Div, width, spaces);
        let zero = l.zero(scalar);
        let vanishes = l.b.compare(weft_ir::CmpOp::Eq, step, zero);
        Spaced {
            ends,
            scalar,
            last: closed.then_some(last),
            spaces,
            width,
            step,
            vanishes,
        }
    }

    fn at(&self, l: &mut Lower<'_>, number: Value) -> Value {
        let i = l.convert(number, Scalar::I64, self.scalar);
        let part = l.b.binary(BinOp::Div, i, self.spaces);
        let of_width = l.b.binary(BinOp::Mul, part, self.width);
        let steps = l.b.binary(BinOp::Mul, i, self.step);
        let offset = l.b.select(self.vanishes, of_width, steps);
        let value = l.b.binary(BinOp::Add, self.ends.0, offset);
        let Some(last) = self.last else { return value };
        let at_end = l.b.compare(weft_ir::CmpOp::Eq, number, last);
        let zero = l.b.i64(0);
        let several = l.b.compare(weft_ir::CmpOp::Gt, last, zero);
        let exact = l.b.binary(BinOp::And, at_end, several);
        l.b.select(exact, self.ends.1, value)
    }
}

/// An array of one element.
pub fn array_of(l: &mut Lower<'_>, x: &Val, span: Span) -> Res<Val> {
    let elem = x.num().map_or(Scalar::F64, |num| num.scalar);
    let one = l.b.i64(1);
    fill(l, elem, &[one], Some(x.clone()), span)
}

/// `array((1, 2, 3))`, `array(((1, 2), (3, 4)))`, or a copy of an array.
fn array(l: &mut Lower<'_>, call: &Call, items: &str) -> Res<Val> {
    let [items, dtype] = call.bind([items, "dtype"], 1)?;
    let items = items.unwrap_or(Val::None);
    if items.is_array() {
        let elem = l.elem_of(&items, call.span)?;
        let elem = dtype_or(l, dtype, elem, call)?;
        return cast_array(l, &items, elem, call.span);
    }
    if let Val::Tuple(rows) = &items
        && rows.first().is_some_and(Val::is_array)
    {
        let rows = Val::tuple(rows.to_vec());
        let stacked = l.text_call("stack", &call.of(vec![rows]))?;
        let elem = l.elem_of(&stacked, call.span)?;
        return match dtype_or(l, dtype, elem, call)? {
            to if to == elem => Ok(stacked),
            to => cast_array(l, &stacked, to, call.span),
        };
    }
    let mut shape = Vec::new();
    let mut flat = Vec::new();
    flatten(l, &items, 0, &mut shape, &mut flat, call)?;
    let num = if flat.is_empty() {
        Num::FLOAT
    } else {
        python::common_type(l, &flat, call)?
    };
    let elem = dtype_or(l, dtype, num.scalar, call)?;
    let extents: Vec<Value> = shape.iter().map(|&n| l.b.i64(n as i64)).collect();
    let (view, ty) = fresh(l, elem, &extents, false, call.span)?;
    for (i, val) in flat.iter().enumerate() {
        let value = l.number_as(val, elem, call.span)?;
        let mut rest = i;
        let mut at = Vec::with_capacity(shape.len());
        for &n in shape.iter().rev() {
            at.push(l.b.i64((rest % n) as i64));
            rest /= n;
        }
        at.reverse();
        store(&mut l.b, (view, ty), &at, value);
    }
    Ok(Val::View(view, ty))
}

/// The array itself where it is one of the type asked for, and contiguous where that is asked for.
fn as_array(l: &mut Lower<'_>, call: &Call, contiguous: bool) -> Res<Val> {
    let [items, dtype] = call.bind(["a", "dtype"], 1)?;
    if contiguous && let Some(number) = items.as_ref().and_then(|v| of_no_axes(l, v)) {
        // NumPy's has at least one axis.
        let one = [Some(Val::tuple(vec![number])), dtype].into_iter().flatten().collect();
        return array(l, &call.of(one), "a");
    }
    match (&items, dtype) {
        (Some(view @ Val::View(_, ty)), dtype) if dtype_or(l, dtype.clone(), ty.elem, call)? == ty.elem => {
            if !contiguous || is_contiguous(&view.ty()) {
                return Ok(view.clone());
            }
            array(l, call, "a")
        }
        _ => array(l, call, "a"),
    }
}

/// A number, or what a 0-d array holds.
fn of_no_axes(l: &mut Lower<'_>, val: &Val) -> Option<Val> {
    match val {
        Val::View(view, ty) if ty.rank == 0 => Some(l.load(*view, *ty, Vec::new())),
        _ => val.num().map(|_| val.clone()),
    }
}

fn flatten(l: &Lower<'_>, val: &Val, depth: usize, shape: &mut Vec<usize>, flat: &mut Vec<Val>, call: &Call) -> Res<()> {
    let Val::Tuple(items) = val else {
        if val.num().is_none() || depth != shape.len() {
            return Err(l.typing(call.span, "array takes equally long rows of numbers"));
        }
        flat.push(val.clone());
        return Ok(());
    };
    match shape.get(depth) {
        None if flat.is_empty() => shape.push(items.len()),
        Some(n) if *n == items.len() => {}
        _ => return Err(l.typing(call.span, "array takes equally long rows of numbers")),
    }
    items.iter().try_for_each(|item| flatten(l, item, depth + 1, shape, flat, call))
}

/// A fresh array with the elements converted.
pub fn cast_array(l: &mut Lower<'_>, array: &Val, elem: Scalar, span: Span) -> Res<Val> {
    let cast = l.array_map(std::slice::from_ref(array), span, move |l, v| {
        l.cast(&v[0], Num::strong(elem), span)
    })?;
    l.materialise(cast)
}

/// Do the elements follow each other in memory?
pub fn is_contiguous(ty: &Ty) -> bool {
    matches!(ty, Ty::View(v) if v.layout == Layout::C || (v.rank <= 1 && v.layout != Layout::Any))
}
