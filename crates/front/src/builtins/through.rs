//! Python's builtins that iterate over items, one after the other: `sum`, `min`, `max`, `any`, `all`, and `math.prod`. Of an array they do
//! with its elements, or with its rows, what Python's own would: `sum` stays in the elements' type, `max` keeps what no later element exceeds.

use ruff_python_ast::Operator;
use weft_ir::{BinOp, CmpOp, Const, ErrorKind, ReduceOp, Scalar, Value};

use super::reductions::{self, Fold};
use super::{About, Entry, Joins};
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::{Lit, Val};

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "sum" => Entry::of(sum),
        "min" => Entry::known(About::Joins(Joins::of(ReduceOp::Min, [false, true])), |l, c| {
            extreme(l, c, CmpOp::Lt)
        }),
        "max" => Entry::known(About::Joins(Joins::of(ReduceOp::Max, [false, true])), |l, c| {
            extreme(l, c, CmpOp::Gt)
        }),
        "any" => Entry::of(|l, c| truth(l, c, false)),
        "all" => Entry::of(|l, c| truth(l, c, true)),
        _ => return None,
    })
}

// ---- sums and products ----

fn sum(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [items, start] = call.bind(["/iterable", "start"], 1)?;
    combined(l, Operator::Add, &items.unwrap_or(Val::None), start, Val::int(0), call)
}

/// The product of a tuple's items, or of an array's elements.
pub fn prod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [items, start] = call.bind(["/iterable", "*start"], 1)?;
    combined(l, Operator::Mult, &items.unwrap_or(Val::None), start, Val::int(1), call)
}

fn combined(l: &mut Lower<'_>, op: Operator, items: &Val, start: Option<Val>, neutral: Val, call: &Call) -> Res<Val> {
    match (items, rank(items)) {
        (Val::Tuple(items), _) => {
            let mut so_far = start.unwrap_or(neutral);
            for item in items {
                so_far = l.binary(op, &so_far, item, call.span)?;
            }
            Ok(so_far)
        }
        (array, Some(0)) => Err(no_items(l, array, call)),
        (array, Some(1)) => of_elements(l, op, array, &start.unwrap_or(neutral), call),
        (array, Some(_)) if op == Operator::Add && start.is_none() => sum_of_rows(l, array, call),
        (array, Some(_)) => {
            let message = format!(
                "{} goes through the rows of a {} here, which cannot be compiled",
                call.name,
                array.ty()
            );
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, call.span, message);
            Err(diag.help("use the methods .sum() and .prod(), which take an axis").into())
        }
        (other, None) => Err(l.typing(call.span, format!("{} does not go with {}", call.name, other.ty()))),
    }
}

/// `start + a[0] + a[1] + …`, in the type that each of these additions has.
fn of_elements(l: &mut Lower<'_>, op: Operator, array: &Val, start: &Val, call: &Call) -> Res<Val> {
    let span = call.span;
    let elem = Num::strong(l.elem_of(array, span)?);
    let Some(first) = start.num() else {
        return Err(l.typing(span, format!("{} does not go with {} and {}", call.name, start.ty(), array.ty())));
    };
    let num = l.unify(l.unify(first, elem), elem);
    if num.scalar.is_int() {
        // Integers wrap alike in any order.
        let op_of_all = if op == Operator::Add { ReduceOp::Add } else { ReduceOp::Mul };
        let all = reductions::in_type(l, array, None, op_of_all, Num::strong(num.scalar), span)?;
        return l.binary(op, start, &all, span);
    }
    let total = l.b.func.new_local(num.scalar.into(), "");
    let first = l.number_as(start, num.scalar, span)?;
    l.b.set(total, first);
    in_order(l, array, call, &mut |l, _, value| {
        let so_far = Val::Num(l.b.get(total), num);
        let next = l.binary(op, &so_far, value, span)?;
        let next = l.number_as(&next, num.scalar, span)?;
        l.b.set(total, next);
        Ok(())
    })?;
    Ok(Val::Num(l.b.get(total), num))
}

/// Row on row: an array of one dimension less.
fn sum_of_rows(l: &mut Lower<'_>, array: &Val, call: &Call) -> Res<Val> {
    let span = call.span;
    let elem = Num::strong(l.elem_of(array, span)?);
    if elem.scalar.is_half() || l.numba() {
        let message = format!("sum adds up the rows of a {} here, which cannot be compiled", array.ty());
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
        return Err(diag.help("use the method .sum(), which takes an axis").into());
    }
    let rows = l.shape(array)?[0];
    let zero = l.b.i64(0);
    let none = l.b.compare(CmpOp::Eq, rows, zero);
    l.raise_if(none, ErrorKind::Value, "the sum of no rows is no array")?;
    let num = l.unify(Num::INT, elem);
    reductions::in_type(l, array, Some(vec![0]), ReduceOp::Add, num, span)
}

// ---- least and greatest ----

/// Python's `min` and `max`: a later item is taken only if it compares as less or greater, so that a NaN stays or is passed over.
fn extreme(l: &mut Lower<'_>, call: &Call, op: CmpOp) -> Res<Val> {
    let items = match call.any_number()? {
        [Val::Tuple(items)] => items.to_vec(),
        [one] => return of_array(l, one, op, call),
        items => items.to_vec(),
    };
    let mut rest = items.into_iter();
    let Some(mut best) = rest.next() else {
        return Err(l.typing(call.span, format!("{} needs at least one value", call.name)));
    };
    for item in rest {
        best = pick(l, op, best, item, call)?;
    }
    Ok(best)
}

fn pick(l: &mut Lower<'_>, op: CmpOp, best: Val, item: Val, call: &Call) -> Res<Val> {
    let (Some(x), Some(y)) = (best.num(), item.num()) else {
        return Err(l.typing(call.span, format!("{} does not go with {} and {}", call.name, best.ty(), item.ty())));
    };
    let num = l.join_numbers(x, y);
    let better = l.compare(python(op), &item, &best, call.span)?;
    if let Val::Lit(lit) = better {
        return Ok(if lit.value.truth() { item } else { best });
    }
    let better = l.truth_value(&better, call.span)?;
    let (a, b) = l.unified(&item, &best, num, call.span)?;
    Ok(Val::Num(l.b.select(better, a, b), num))
}

fn python(op: CmpOp) -> ruff_python_ast::CmpOp {
    match op {
        CmpOp::Lt => ruff_python_ast::CmpOp::Lt,
        _ => ruff_python_ast::CmpOp::Gt,
    }
}

fn of_array(l: &mut Lower<'_>, array: &Val, op: CmpOp, call: &Call) -> Res<Val> {
    let span = call.span;
    match rank(array) {
        Some(1) => {}
        Some(_) => return Err(rows_have_no_truth(call, array, call.short_name())),
        None => {
            let message = format!("{} of one argument takes a tuple or an array, not {}", call.name, array.ty());
            return Err(l.typing(span, message));
        }
    }
    let elem = Num::strong(l.elem_of(array, span)?);
    if !elem.scalar.is_float() {
        let fold = if op == CmpOp::Lt { Fold::Min } else { Fold::Max };
        return reductions::call(l, &call.of(vec![array.clone()]), fold);
    }
    let (count, zero) = (l.shape(array)?[0], l.b.i64(0));
    let empty = l.b.compare(CmpOp::Eq, count, zero);
    l.raise_if(
        empty,
        ErrorKind::Value,
        &format!("{}() iterable argument is empty", call.short_name()),
    )?;
    let best = l.b.func.new_local(elem.scalar.into(), "");
    let nothing = l.zero(elem.scalar);
    l.b.set(best, nothing);
    in_order(l, array, call, &mut |l, at, value| {
        let value = l.number_as(value, elem.scalar, span)?;
        let so_far = l.b.get(best);
        let zero = l.b.i64(0);
        let first = l.b.compare(CmpOp::Eq, at, zero);
        let better = l.b.compare(op, value, so_far);
        let better = l.b.binary(BinOp::Or, first, better);
        let next = l.b.select(better, value, so_far);
        l.b.set(best, next);
        Ok(())
    })?;
    Ok(Val::Num(l.b.get(best), elem))
}

// ---- truth ----

/// `any` and `all`: Python's bool.
fn truth(l: &mut Lower<'_>, call: &Call, all: bool) -> Res<Val> {
    let [items] = call.exactly()?;
    let span = call.span;
    match (items, rank(items)) {
        (Val::Tuple(items), _) => {
            let mut so_far = l.b.constant(Const::Bool(all));
            for item in items {
                let next = l.truth_value(item, span)?;
                so_far = l.b.binary(if all { BinOp::And } else { BinOp::Or }, so_far, next);
            }
            Ok(if items.is_empty() {
                Val::Lit(Lit::bool(all))
            } else {
                Val::Num(so_far, Num::BOOL)
            })
        }
        (array, Some(1)) => {
            let fold = if all { Fold::All } else { Fold::Any };
            let found = reductions::call(l, &call.of(vec![array.clone()]), fold)?;
            let found = l.number_as(&found, Scalar::Bool, span)?;
            Ok(Val::Num(found, Num::BOOL))
        }
        (array, Some(_)) => Err(rows_have_no_truth(call, array, call.short_name())),
        (other, None) => Err(l.typing(span, format!("{} takes a tuple or an array, not {}", call.name, other.ty()))),
    }
}

// ---- arrays ----

fn no_items(l: &Lower<'_>, array: &Val, call: &Call) -> crate::stop::Stop {
    l.typing(
        call.span,
        format!("{} does not go with a {}: there is no iteration over it", call.name, array.ty()),
    )
}

/// How many dimensions an array has; none of what is no array.
fn rank(val: &Val) -> Option<u8> {
    match val.ty() {
        Ty::View(view) if val.is_array() => Some(view.rank),
        _ => None,
    }
}

fn rows_have_no_truth(call: &Call, array: &Val, name: &str) -> crate::stop::Stop {
    let message = format!("{name} looks at the rows of a {}, whose truth is not one value", array.ty());
    let diag = Diagnostic::new(DiagnosticKind::Typing, call.span, message);
    diag.help(format!(
        "use the method .{name}(), which looks at all elements or goes along an axis"
    ))
    .into()
}

/// Runs `body` with the number and the value of each element of a one-dimensional array expression, one after the other.
fn in_order(l: &mut Lower<'_>, array: &Val, call: &Call, body: &mut dyn FnMut(&mut Lower<'_>, Value, &Val) -> Res<()>) -> Res<()> {
    let lazy = l.as_expression(array, call.span)?;
    let aligned = l.align(&lazy.leaves, None, call.span)?;
    let extents = aligned.shape.clone();
    l.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
        l.in_order(&extents, &mut |l, vars| {
            let value = l.element_at(&lazy, leaves, vars);
            body(l, vars[0], &value)
        })
    })
}
