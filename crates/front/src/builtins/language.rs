//! `weft.language`: the words that only the library's texts know. They are about what is known when a function is compiled.

use weft_ir::{Kind, Layout, Libm, Op, Routine, Scalar, Space, ThreadState, Type, ViewType};

use super::{Class, Entry};
use crate::Items;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::signature::{casts_within_kind, is_safe};
use crate::stop::Res;
use crate::types::{Num, Ty, sum_type};
use crate::value::{Iter, Lit, Number, Val};

/// More turns than this are no loop to write out.
const MOST_TURNS: i128 = 1000;

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "unrolled" => Entry::of(unrolled),
        "refuse" => Entry::of(refuse),
        "axis_of" => Entry::of(axis_of),
        "axes_of" => Entry::of(axes_of),
        "sum_type" => Entry::of(|l, c| of_dtype(l, c, |s| sum_type(s).scalar)),
        "float_type" => Entry::of(|l, c| of_dtype(l, c, |s| crate::types::to_float(Num::strong(s)).scalar)),
        "lowest" => Entry::of(|l, c| end(l, c, false)),
        "highest" => Entry::of(|l, c| end(l, c, true)),
        "routine" => Entry::of(routine),
        "thread_state" => Entry::of(thread_state),
        "libm" => Entry::of(libm),
        "first_true" => Entry::of(first_true),
        "lies_along" => Entry::of(lies_along),
        "is_contiguous" => Entry::of(is_contiguous),
        "stretched" => Entry::of(stretched),
        "for_numba" => Entry::of(|l, c| {
            let [] = c.exactly()?;
            Ok(Val::Lit(Lit::bool(l.unit.options.for_numba)))
        }),
        "is_constant" => Entry::of(|_, c| {
            let [x] = c.exactly()?;
            Ok(Val::Lit(Lit::bool(!matches!(x, Val::Num(..) | Val::View(..) | Val::Lazy(_)))))
        }),
        _ => return None,
    })
}

/// `for i in unrolled(range(3))`: the body is written out for each item of a tuple or of a constant range. What a turn assigns is a new
/// variable, of a type of its own: tuples may grow.
fn unrolled(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [items] = call.exactly()?;
    let items = match items {
        Val::Tuple(items) => items.to_vec(),
        Val::Iter(iter) => match &**iter {
            Iter::Range { start, stop, step, .. } => numbers(l, [start, stop, step], call)?,
            _ => return Err(l.typing(call.span, "unrolled takes a tuple or a constant range")),
        },
        other => return Err(l.typing(call.span, format!("unrolled takes a tuple or a constant range, not {}", other.ty()))),
    };
    Ok(Val::Tuple(Items::unrolled(items)))
}

fn numbers(l: &Lower<'_>, bounds: [&Val; 3], call: &Call) -> Res<Vec<Val>> {
    let [Some(start), Some(stop), Some(step)] = bounds.map(Val::const_int) else {
        return Err(l.typing(call.span, "the range that unrolled takes must be constant"));
    };
    let mut found = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        if found.len() as i128 >= MOST_TURNS {
            return Err(l.unsupported(call.span, format!("a loop of more than {MOST_TURNS} turns cannot be written out")));
        }
        found.push(Val::int(at));
        at += step;
    }
    Ok(found)
}

/// `refuse("what is wrong")`: an error of the user's program, found when it is compiled.
fn refuse(_: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [message] = call.exactly()?;
    Err(Diagnostic::new(DiagnosticKind::Typing, call.span, text(message)).into())
}

/// A string with what is known now put in.
fn text(val: &Val) -> String {
    match val {
        Val::Str(text) => text.clone(),
        Val::Format(pieces) => pieces.iter().map(text).collect(),
        Val::Dtype(s) => s.numpy_name().to_owned(),
        Val::Lit(Lit { value, .. }) => match value {
            Number::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            Number::Int(i) => i.to_string(),
            Number::Float(f) => f.to_string(),
            Number::Complex(re, im) => format!("({re}+{im}j)"),
        },
        other => other.ty().to_string(),
    }
}

/// `axis_of(axis, ndim)`: an axis counted from the front.
fn axis_of(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [axis, rank] = call.exactly()?;
    front(l, axis, rank, call).map(Val::int)
}

/// `axes_of(axis, ndim)`: likewise a tuple of axes, of one axis, or all for `None`.
fn axes_of(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [axes, rank] = call.exactly()?;
    let axes = match axes {
        Val::None => (0..rank.const_int().unwrap_or(0)).map(Val::int).collect(),
        Val::Tuple(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    let axes = axes.iter().map(|axis| front(l, axis, rank, call)).collect::<Res<Vec<_>>>()?;
    if let Some(i) = (1..axes.len()).find(|i| axes[..*i].contains(&axes[*i])) {
        return Err(l.typing(call.span, format!("the axis {} is given twice", axes[i])));
    }
    Ok(Val::tuple(axes.into_iter().map(Val::int).collect::<Vec<_>>()))
}

fn front(l: &Lower<'_>, axis: &Val, rank: &Val, call: &Call) -> Res<i128> {
    let rank = rank.const_int().unwrap_or(0);
    match axis.const_int() {
        Some(a) if (-rank..rank).contains(&a) => Ok(a.rem_euclid(rank)),
        Some(a) => Err(l.typing(call.span, format!("there is no axis {a} in a {rank}-d array"))),
        None => Err(l.typing(call.span, format!("an axis is an integer, not {}", axis.ty()))),
    }
}

/// `routine("solve", a, b, out)`: has a routine of a library done, with threads where the caller has them; gives the number of an
/// [`Outcome`]. All arrays are of one type of floats but for real and complex results; those that are written are fresh ones.
fn routine(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let Some((Val::Str(name), arrays)) = call.any_number()?.split_first() else {
        return Err(l.typing(call.span, "routine takes a name and arrays"));
    };
    let Some(routine) = Routine::from_name(name.as_str()) else {
        return Err(l.typing(call.span, format!("there is no routine {name}")));
    };
    if !l.in_host() || l.in_lanes() {
        return Err(l.unsupported(
            call.span,
            "linear algebra and Fourier transforms are done by functions of the host, outside of kernels",
        ));
    }
    let mut operands = Vec::with_capacity(arrays.len());
    for array in arrays {
        match l.materialise(array.clone())? {
            Val::View(view, _) => operands.push(view),
            other => return Err(l.typing(call.span, format!("an array is needed here, and this is {}", other.ty()))),
        }
    }
    let threads = l.unit.options.parallel;
    let outcome = l.b.emit(
        Type::I64,
        Op::Routine {
            routine,
            threads,
            operands,
        },
    );
    Ok(Val::Num(outcome, Num::strong(Scalar::I64)))
}

/// `thread_state("numpy_words")`: memory of the thread that runs this, an array that other calls on the thread see, too.
fn thread_state(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [name] = call.exactly()?;
    let Some(state) = str_of(name).and_then(ThreadState::from_name) else {
        return Err(l.typing(call.span, format!("threads have no {}", text(name))));
    };
    if !l.in_host() {
        let message = "numpy.random and random draw from a state of the host's thread, which neither kernels nor ufuncs have";
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, call.span, message);
        return Err(diag
            .help("draw with weft.cuda.random in a kernel, or into an array before it")
            .into());
    }
    l.stays_on_host();
    let ty = ViewType {
        elem: state.elem(),
        rank: 1,
        layout: Layout::C,
        space: Space::Global,
        writable: true,
    };
    let view = l.b.emit(ty, Op::ThreadState(state));
    Ok(Val::View(view, ty))
}

/// `libm("log", x)`: a function of the host's C library, for results that have its bits. Only behind a `thread_state`, which sees to it that
/// this runs on the host.
fn libm(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let Some((name, args)) = call.any_number()?.split_first() else {
        return Err(l.typing(call.span, "libm takes a name and numbers"));
    };
    let Some(function) = str_of(name).and_then(Libm::from_name).filter(|f| f.arity() == args.len()) else {
        return Err(l.typing(call.span, format!("the C library has no {} of so many numbers", text(name))));
    };
    if !l.in_host() {
        return Err(l.unsupported(call.span, "the C library is the host's"));
    }
    l.stays_on_host();
    let args = args
        .iter()
        .map(|arg| l.number_as(arg, Scalar::F64, call.span))
        .collect::<Res<Vec<_>>>()?;
    Ok(Val::Num(l.b.emit(Type::F64, Op::Libm { function, args }), Num::strong(Scalar::F64)))
}

fn str_of(val: &Val) -> Option<&str> {
    match val {
        Val::Str(text) => Some(text),
        _ => None,
    }
}

/// `first_true(mask)`: the position of a vector's first true element; its length if there is none. All of it is looked at, in lanes.
fn first_true(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [mask] = call.exactly()?;
    if !matches!(mask.ty(), Ty::View(ty) if ty.rank == 1) {
        return Err(l.typing(call.span, format!("a vector is needed here, and this is {}", mask.ty())));
    }
    l.first_true(mask, call.span)
}

/// `lies_along(a, axis)`: are neighbours along this axis neighbours in memory, as far as the array's type tells? Of one whose strides are known
/// at run time only, those along the last axis count as such.
fn lies_along(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, axis] = call.exactly()?;
    let Ty::View(ty) = array.ty() else {
        return Err(l.typing(call.span, format!("an array is needed here, and this is {}", array.ty())));
    };
    let along = if ty.layout == Layout::F { 0 } else { i128::from(ty.rank) - 1 };
    Ok(Val::Lit(Lit::bool(axis.const_int() == Some(along))))
}

/// `is_contiguous(a)`: do the elements follow each other in C's order, as far as the array's type tells?
fn is_contiguous(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array] = call.exactly()?;
    match array.ty() {
        Ty::View(ty) => Ok(Val::Lit(Lit::bool(ty.layout == Layout::C))),
        other => Err(l.typing(call.span, format!("an array is needed here, and this is {other}"))),
    }
}

/// `stretched(a, shape)`: a read-only view of an array in a larger shape, of which axes of length 1 and new ones have stride 0.
fn stretched(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, shape] = call.exactly()?;
    let Val::View(view, ty) = l.materialise(array.clone())? else {
        return Err(l.typing(call.span, format!("an array is needed here, and this is {}", array.ty())));
    };
    let shape = super::arrays::shape_argument(l, shape, call.span)?;
    if shape.len() < usize::from(ty.rank) {
        return Err(l.typing(
            call.span,
            format!("a {}-d array cannot be broadcast to {} axes", ty.rank, shape.len()),
        ));
    }
    let (view, ty) = l.broadcast_to(view, ty, &shape)?;
    Ok(Val::View(view, ty))
}

fn of_dtype(l: &mut Lower<'_>, call: &Call, f: fn(Scalar) -> Scalar) -> Res<Val> {
    let [dtype] = call.exactly()?;
    Ok(Val::Dtype(f(super::cuda::dtype_of(l, dtype, call)?)))
}

/// `lowest(dtype)` and `highest(dtype)`: the ends of a type's range, infinity among them.
fn end(l: &mut Lower<'_>, call: &Call, most: bool) -> Res<Val> {
    let [dtype] = call.exactly()?;
    let scalar = super::cuda::dtype_of(l, dtype, call)?;
    if scalar.kind() == Kind::Complex {
        return Err(l.typing(call.span, "complex numbers have no order"));
    }
    let (num, value) = (Num::strong(scalar), super::numpy::extreme_constant(scalar, most));
    Ok(Val::Lit(Lit { num, value }))
}

// ---- what everybody may ask ----

/// `isinstance(x, classes)`, which is known from a type.
pub fn isinstance(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, classes] = call.exactly()?;
    let known = match classes {
        Val::Tuple(classes) => {
            let mut any = false;
            for class in classes {
                any |= is_of(l, x, class, call)?;
            }
            any
        }
        class => is_of(l, x, class, call)?,
    };
    Ok(Val::Lit(Lit::bool(known)))
}

fn is_of(l: &Lower<'_>, x: &Val, class: &Val, call: &Call) -> Res<bool> {
    Ok(match class {
        Val::Dtype(s) => x.num() == Some(Num::strong(*s)),
        Val::TupleClass(maker) => matches!(x, Val::Tuple(items) if items.class() == Some(&maker.class)),
        Val::Path(path) => match Class::of(path) {
            Some(class) => class.holds(x),
            None => return Err(l.unsupported(call.span, format!("isinstance with '{path}' cannot be compiled"))),
        },
        other => return Err(l.unsupported(call.span, format!("isinstance with {} cannot be compiled", other.ty()))),
    })
}

/// `slice(stop)`, `slice(start, stop, step)` of constants.
pub fn slice(_: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [first, second, step] = call.bind(["/start", "/stop", "/step"], 1)?;
    let (start, stop) = match second {
        Some(stop) => (first, Some(stop)),
        None => (None, first),
    };
    let mut known = [None; 3];
    for (bound, val) in known.iter_mut().zip([start, stop, step]) {
        *bound = match val {
            None | Some(Val::None) => None,
            Some(val) => match val.const_int().and_then(|i| i64::try_from(i).ok()) {
                Some(i) => Some(i),
                None => {
                    let diag = Diagnostic::new(
                        DiagnosticKind::Unsupported,
                        call.span,
                        "a slice that is a value has constant bounds",
                    );
                    return Err(diag.help("write it where it is used: a[start:stop]").into());
                }
            },
        };
    }
    if known[2] == Some(0) {
        return Err(Diagnostic::new(DiagnosticKind::Value, call.span, "a slice's step cannot be zero").into());
    }
    Ok(Val::Slice(known))
}

/// `np.result_type(*arrays_and_dtypes)`.
pub fn result_type(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let mut common: Option<Num> = None;
    for val in call.any_number()? {
        let num = match val.ty() {
            Ty::View(v) => Num::strong(v.elem),
            Ty::Num(num) => num,
            _ => Num::strong(super::cuda::dtype_of(l, val, call)?),
        };
        common = Some(common.map_or(num, |so_far| crate::types::unify(so_far, num)));
    }
    match common {
        Some(num) => Ok(Val::Dtype(num.scalar)),
        None => Err(l.typing(call.span, "result_type takes one array or dtype at least")),
    }
}

/// `np.can_cast(from_, to, casting)` of arrays and dtypes, with NumPy's words for `casting`.
pub fn can_cast(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [from, to, casting] = call.bind(["from_", "to", "casting"], 2)?;
    let [from, to] = [from, to].map(|val| val.unwrap_or(Val::None));
    let from = match from.ty() {
        Ty::View(view) => view.elem,
        _ => super::cuda::dtype_of(l, &from, call)?,
    };
    let to = super::cuda::dtype_of(l, &to, call)?;
    let can = match casting {
        None => is_safe(from, to),
        Some(Val::Str(word)) => match word.as_str() {
            "safe" => is_safe(from, to),
            "same_kind" => casts_within_kind(from, to),
            "no" | "equiv" => from == to,
            "unsafe" => true,
            _ => {
                let message = "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe'";
                return Err(Diagnostic::new(DiagnosticKind::Value, call.span, message).into());
            }
        },
        Some(_) => return Err(l.typing(call.span, "casting must be a string that is written out")),
    };
    Ok(Val::Lit(Lit::bool(can)))
}
