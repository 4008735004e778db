//! Python's builtin functions: conversions, `len`, `range`, `zip`, `abs`, `divmod`, `print`.

use ruff_python_ast::Operator;
use weft_ir::{BinOp, ErrorKind, Kind, Op, PrintItem, Scalar, StmtKind, UnOp};

use super::{About, Class, Entry};
use crate::Items;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::fold;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::numba;
use crate::stop::Res;
use crate::types::{Num, Ty, to_float};
use crate::value::{Iter, Lit, Number, Val};

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "range" => Entry::of(range),
        "abs" => Entry::each(abs),
        "round" => Entry::of(super::round::python),
        "int" => Entry::known(About::Class(Class::Int), int),
        "float" => Entry::known(About::Class(Class::Float), float),
        "bool" => Entry::known(About::Class(Class::Bool), bool),
        "complex" => Entry::known(About::Class(Class::Complex), complex),
        "pow" => Entry::of(pow),
        "divmod" => Entry::of(|l, c| super::floats::pair(l, c, divmod)),
        "len" => Entry::known(About::AsksShape, len),
        "enumerate" => Entry::of(enumerate),
        "zip" => Entry::of(zip),
        "reversed" => Entry::of(reversed),
        "print" => Entry::of(print),
        "isinstance" => Entry::of(super::language::isinstance),
        "slice" => Entry::of(super::language::slice),
        "str" => Entry::Class(Class::Str),
        "tuple" => Entry::known(About::Class(Class::Tuple), |l, c| sequence(l, c, Items::from)),
        "list" => Entry::known(About::Class(Class::List), |l, c| sequence(l, c, Items::list)),
        _ => return super::through::find(name),
    })
}

fn range(_: &mut Lower<'_>, call: &Call) -> Res<Val> {
    range_of(call, false)
}

/// `prange`: a range whose points are independent, where parallel loops are on.
pub fn prange(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let parallel = l.unit.options.parallel && l.in_host() && !l.in_lanes();
    range_of(call, parallel)
}

fn range_of(call: &Call, parallel: bool) -> Res<Val> {
    let [first, second, step] = call.bind(["/start", "/stop", "/step"], 1)?;
    let first = first.unwrap_or(Val::int(0));
    let (start, stop) = match second {
        Some(stop) => (first, stop),
        None => (Val::int(0), first),
    };
    let step = step.unwrap_or(Val::int(1));
    for bound in [&start, &stop, &step] {
        if bound.num().is_none_or(|n| n.scalar.is_float() || n.scalar.is_complex()) {
            let message = format!("range takes integers, not {}", bound.ty());
            let diag = Diagnostic::new(DiagnosticKind::Typing, call.span, message);
            return Err(diag.help("convert it with int(...)").into());
        }
    }
    Ok(Val::Iter(Box::new(Iter::Range {
        start,
        stop,
        step,
        parallel,
    })))
}

pub fn abs(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num() else {
        return Err(l.typing(call.span, format!("abs does not go with {}", x.ty())));
    };
    if let Some(size) = x.lit().filter(|lit| lit.num.weak).and_then(fold::absolute) {
        return Ok(Val::Lit(size));
    }
    match num.scalar.kind() {
        Kind::Complex => {
            let value = l.number_as(x, num.scalar, call.span)?;
            let (re, im) = l.parts(value, num);
            l.library_call("hypot", &[re, im], call.span)
        }
        Kind::Bool if l.numba_scalars() => l.cast(x, Num::strong(Scalar::I8), call.span),
        Kind::Bool if num.weak => l.cast(x, Num::INT, call.span),
        Kind::Bool | Kind::Unsigned => Ok(x.clone()),
        Kind::Signed | Kind::Float => {
            let value = l.number_as(x, num.scalar, call.span)?;
            Ok(Val::Num(l.b.unary(UnOp::Abs, value), num))
        }
    }
}

fn int(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    convert(l, call, Num::INT, Number::Int(0))
}

fn float(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let float = l.sized(Num::FLOAT);
    convert(l, call, float, Number::Float(0.0))
}

pub fn bool(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [Some(x)] = call.bind(["/x"], 0)? else {
        return Ok(Val::Lit(Lit::bool(false)));
    };
    let value = l.truth_value(&x, call.span)?;
    Ok(Val::Num(value, Num::BOOL))
}

fn convert(l: &mut Lower<'_>, call: &Call, to: Num, empty: Number) -> Res<Val> {
    let [Some(x)] = call.bind(["/x"], 0)? else {
        return Ok(Val::Lit(Lit { num: to, value: empty }));
    };
    let x = &x;
    if let Val::Str(text) = x
        && to.scalar.is_float()
    {
        return match text.trim().to_ascii_lowercase().parse::<f64>() {
            Ok(v) => Ok(Val::Lit(Lit::float(v))),
            Err(_) => Err(l.typing(call.span, "this string is not a number")),
        };
    }
    if let (Some(num), true) = (x.num(), l.numba()) {
        // Numba's `int` and `float` keep what is one already as wide as it is.
        let kept = if to == Num::INT {
            num.scalar.is_int()
        } else {
            num.scalar.is_float()
        };
        if kept {
            return Ok(x.clone());
        }
    }
    if let (Some(i), true) = (x.const_int(), to == Num::INT) {
        return Ok(Val::int(i));
    }
    if let (Some(v), true) = (x.weak_float(), to == Num::INT) {
        return whole(l, v, call);
    }
    if let (Val::Lit(lit), true) = (x, to.scalar.is_float() && !x.num().is_some_and(|n| n.scalar.is_complex())) {
        return Ok(Val::Lit(Lit::float(lit.value.complex().0)));
    }
    l.cast(x, to, call.span)
}

/// The Python integer that a constant float without a fraction is.
pub fn whole(l: &Lower<'_>, v: f64, call: &Call) -> Res<Val> {
    fold::whole(v).map(Val::int).map_err(|why| l.no_number(why, call.span))
}

/// `complex(re, im)`: as wide as its arguments.
fn complex(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [re, im] = call.bind(["real", "imag"], 0)?;
    let re = re.unwrap_or(Val::Lit(Lit::float(0.0)));
    let span = call.span;
    let (Some(x), None) = (re.num(), &im) else {
        return complex_of(l, &re, &im.unwrap_or(Val::Lit(Lit::float(0.0))), call);
    };
    let num = match x.scalar.is_complex() && l.numba() {
        true => Num::strong(Scalar::C128),
        false => complex_num(l, x),
    };
    let value = l.number_as(&re, num.scalar, span)?;
    Ok(Val::Num(value, num))
}

fn complex_of(l: &mut Lower<'_>, re: &Val, im: &Val, call: &Call) -> Res<Val> {
    let (Some(x), Some(y)) = (re.num(), im.num()) else {
        return Err(l.typing(call.span, format!("complex does not go with {} and {}", re.ty(), im.ty())));
    };
    if x.scalar.is_complex() || y.scalar.is_complex() {
        return Err(l.unsupported(call.span, "complex takes two real numbers here"));
    }
    let num = complex_num(l, l.unify(x, y));
    let (re, im) = l.unified(re, im, num.with(num.scalar.part()), call.span)?;
    Ok(Val::Num(l.b.emit(num.scalar, Op::Complex(re, im)), num))
}

/// The complex type with parts of a number's width.
pub fn complex_num(l: &Lower<'_>, num: Num) -> Num {
    let num = num.with(match to_float(num).scalar {
        Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::C64 => Scalar::C64,
        _ => Scalar::C128,
    });
    l.sized(num)
}

fn pow(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [base, exp] = call.all(["base", "exp"])?;
    l.binary(Operator::Pow, &base, &exp, call.span)
}

/// A number as one of another type; a constant stays one, which a division may have to know.
fn converted(l: &mut Lower<'_>, x: &Val, to: Num, call: &Call) -> Res<Val> {
    match x {
        Val::Lit(lit) if lit.num.scalar == to.scalar => Ok(x.clone()),
        Val::Lit(lit) if to.scalar.is_int() && !lit.num.scalar.is_float() => Ok(Val::Lit(Lit { num: to, ..*lit })),
        _ => l.cast(x, to, call.span),
    }
}

pub fn divmod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let (a, b) = match (a.num(), b.num()) {
        (Some(x), Some(y)) if l.numba_scalars() => {
            let num = Num::strong(numba::divmod(x.scalar, y.scalar));
            (converted(l, a, num, call)?, converted(l, b, num, call)?)
        }
        _ => (a.clone(), b.clone()),
    };
    let quotient = l.floor_division(BinOp::FloorDiv, &a, &b, call.span)?;
    let rest = l.floor_division(BinOp::Mod, &a, &b, call.span)?;
    Ok(Val::tuple(vec![quotient, rest]))
}

fn len(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    match x {
        Val::Tuple(items) if !items.is_passing() => Ok(Val::int(items.len() as i128)),
        Val::Str(s) => Ok(Val::int(s.chars().count() as i128)),
        Val::View(..) | Val::Lazy(_) => match l.shape(x)?.first() {
            Some(n) => Ok(Val::Num(*n, Num::INT)),
            None => Err(l.typing(call.span, "a 0-d array has no length")),
        },
        Val::Iter(iter) => match &**iter {
            Iter::Range { start, stop, step, .. } => range_len(l, [start, stop, step], call),
            _ => Err(l.typing(call.span, "only a range, an array or a tuple has a length")),
        },
        _ => Err(l.typing(call.span, format!("{} has no length", x.ty()))),
    }
}

fn range_len(l: &mut Lower<'_>, bounds: [&Val; 3], call: &Call) -> Res<Val> {
    let known = bounds[2].const_int();
    let [start, stop, step] = l.range_bounds(bounds, call.span)?;
    let count = l.range_length(start, stop, step, known);
    // Where there are more than that, the count stays there.
    let most = l.b.i64(i64::MAX);
    let over = l.b.compare(weft_ir::CmpOp::Eq, count, most);
    l.raise_if(over, ErrorKind::Overflow, "Python int too large to convert to C ssize_t")?;
    Ok(Val::Num(count, Num::INT))
}

fn enumerate(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [items, start] = call.bind(["iterable", "start"], 1)?;
    let items = items.unwrap_or(Val::None);
    let start = start.unwrap_or(Val::int(0));
    if let Val::Tuple(items) = items {
        let numbered = |(i, item): (usize, Val)| {
            let number = l.binary(Operator::Add, &start, &Val::int(i as i128), call.span)?;
            Ok(Val::tuple(vec![number, item]))
        };
        let numbered = items.into_iter().enumerate().map(numbered).collect::<Res<_>>()?;
        return Ok(Val::Tuple(Items::passing("enumerate", numbered)));
    }
    Ok(Val::Iter(Box::new(Iter::Enumerate(items, start))))
}

fn reversed(_: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [items] = call.exactly()?;
    if let Val::Tuple(items) = items {
        return Ok(Val::Tuple(Items::passing("reversed", items.iter().rev().cloned().collect())));
    }
    Ok(Val::Iter(Box::new(Iter::Reversed(items.clone()))))
}

fn zip(_: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let given = call.any_number()?;
    let tuples: Option<Vec<&Items<Val>>> = given
        .iter()
        .map(|v| match v {
            Val::Tuple(items) => Some(items),
            _ => None,
        })
        .collect();
    if let Some(tuples) = tuples {
        let n = tuples.iter().map(|t| t.len()).min().unwrap_or(0);
        let row = |i: usize| Val::Tuple(tuples.iter().map(|t| t[i].clone()).collect());
        return Ok(Val::Tuple(Items::passing("zip", (0..n).map(row).collect())));
    }
    Ok(Val::Iter(Box::new(Iter::Zip(given.to_vec()))))
}

/// `tuple(items)` and `list(items)`.
fn sequence(l: &mut Lower<'_>, call: &Call, make: fn(Vec<Val>) -> Items<Val>) -> Res<Val> {
    match call.any_number()? {
        [] => Ok(Val::Tuple(make(Vec::new()))),
        [Val::Tuple(items)] => Ok(Val::Tuple(make(items.to_vec()))),
        _ => Err(l.unsupported(call.span, format!("{} takes a tuple here", call.name))),
    }
}

fn print(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let mut items = Vec::new();
    for (i, val) in call.any_number()?.iter().enumerate() {
        if i > 0 {
            items.push(PrintItem::Text(" ".into()));
        }
        print_items(l, val, call, &mut items)?;
    }
    l.b.push(StmtKind::Print(join_texts(items)));
    Ok(Val::None)
}

fn print_items(l: &mut Lower<'_>, val: &Val, call: &Call, items: &mut Vec<PrintItem>) -> Res<()> {
    match val {
        Val::Num(value, _) => items.push(PrintItem::Value(*value)),
        Val::Lit(lit) => items.push(PrintItem::Value(l.number_as(val, lit.num.scalar, call.span)?)),
        Val::Str(text) => items.push(PrintItem::Text(text.clone())),
        Val::None => items.push(PrintItem::Text("None".into())),
        Val::Format(pieces) => {
            for piece in pieces {
                print_items(l, piece, call, items)?;
            }
        }
        Val::Tuple(parts) if parts.is_list() => {
            items.push(PrintItem::Text("[".into()));
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    items.push(PrintItem::Text(", ".into()));
                }
                print_items(l, part, call, items)?;
            }
            items.push(PrintItem::Text("]".into()));
        }
        Val::Tuple(parts) if parts.is_tuple() => {
            let class = parts.class();
            items.push(PrintItem::Text(format!("{}(", class.map_or("", |class| &class.name))));
            for (i, part) in parts.iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                items.push(PrintItem::Text(match class.and_then(|class| class.fields.get(i)) {
                    Some(field) => format!("{comma}{field}="),
                    None => comma.into(),
                }));
                print_items(l, part, call, items)?;
            }
            items.push(PrintItem::Text(if parts.len() == 1 && class.is_none() { ",)" } else { ")" }.into()));
        }
        other => return Err(l.unsupported(call.span, format!("{} cannot be printed; print its elements", other.ty()))),
    }
    Ok(())
}

fn join_texts(items: Vec<PrintItem>) -> Vec<PrintItem> {
    let mut joined: Vec<PrintItem> = Vec::with_capacity(items.len());
    for item in items {
        match (joined.last_mut(), item) {
            (Some(PrintItem::Text(before)), PrintItem::Text(text)) => before.push_str(&text),
            (_, item) => joined.push(item),
        }
    }
    joined
}

/// The type all values share.
pub fn common_type(l: &Lower<'_>, vals: &[Val], call: &Call) -> Res<Num> {
    let mut ty: Option<Ty> = None;
    for val in vals {
        let next = val.ty();
        ty = match ty {
            None => Some(next),
            Some(so_far) => match l.join(&so_far, &next) {
                Some(joined) => Some(joined),
                None => return Err(l.typing(call.span, format!("{so_far} and {next} have no common type"))),
            },
        };
    }
    match ty {
        Some(Ty::Num(num)) => Ok(num),
        _ => Err(l.typing(call.span, format!("{} takes numbers", call.name))),
    }
}
