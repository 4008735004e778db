//! `math.fsum` and `math.sumprod`: sums of an array's or a tuple's numbers that are rounded once.

use ruff_python_ast::Operator;
use weft_ir::{CmpOp, ErrorKind};

use super::python::common_type;
use super::{Entry, reductions};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, Ty, to_float};
use crate::value::{Lit, Val};

pub fn math(name: &str) -> Option<Entry> {
    Some(match name {
        "fsum" => Entry::of(fsum),
        "sumprod" => Entry::of(sumprod),
        _ => return None,
    })
}

/// The type of a sum's terms: of a one-dimensional array or of a tuple. None of an empty tuple.
fn terms(l: &mut Lower<'_>, x: &Val, call: &Call) -> Res<Option<Num>> {
    let num = match (x, x.ty()) {
        (Val::Tuple(items), _) if items.is_empty() => return Ok(None),
        (Val::Tuple(items), _) => common_type(l, items, call)?,
        (_, Ty::View(view)) if view.rank == 1 => Num::strong(view.elem),
        (_, other) => {
            return Err(l.typing(call.span, format!("{} takes a 1-d array or a tuple, not {other}", call.name)));
        }
    };
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes real numbers, not {num}", call.name)));
    }
    Ok(Some(num))
}

fn fsum(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = terms(l, x, call)? else {
        return Ok(Val::Lit(Lit::float(0.0)));
    };
    let x = l.materialise(x.clone())?;
    l.library_sum("fsum", &[x], l.sized(to_float(num)), call.span)
}

/// Of integers a whole number that wraps at 64 bits, of floats a float.
fn sumprod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [p, q] = call.exactly()?;
    let types = (terms(l, p, call)?, terms(l, q, call)?);
    same_length(l, p, q, call)?;
    let (Some(x), Some(y)) = types else {
        return Ok(Val::int(0));
    };
    let num = l.unify(x, y);
    if !num.scalar.is_float() {
        return whole(l, p, q, call);
    }
    let (p, q) = (l.materialise(p.clone())?, l.materialise(q.clone())?);
    l.library_sum("sumprod", &[p, q], num, call.span)
}

fn same_length(l: &mut Lower<'_>, p: &Val, q: &Val, call: &Call) -> Res<()> {
    let uneven = "Inputs are not the same length";
    match (p, q) {
        (Val::Tuple(p), Val::Tuple(q)) if p.len() == q.len() => Ok(()),
        (Val::Tuple(_), Val::Tuple(_)) => Err(l.typing(call.span, uneven)),
        (p, q) if p.is_array() && q.is_array() => {
            let (n, m) = (l.shape(p)?[0], l.shape(q)?[0]);
            let misfit = l.b.compare(CmpOp::Ne, n, m);
            l.raise_if(misfit, ErrorKind::Value, uneven)
        }
        _ => Err(l.typing(call.span, "sumprod takes two arrays or two tuples")),
    }
}

/// The sum of products of integers.
fn whole(l: &mut Lower<'_>, p: &Val, q: &Val, call: &Call) -> Res<Val> {
    let span = call.span;
    if let (Val::Tuple(p), Val::Tuple(q)) = (p, q) {
        let mut sum = Val::int(0);
        for (x, y) in p.iter().zip(q) {
            let product = l.binary(Operator::Mult, x, y, span)?;
            sum = l.binary(Operator::Add, &sum, &product, span)?;
        }
        return Ok(sum);
    }
    let product = l.array_map(&[p.clone(), q.clone()], span, move |l, v| {
        let (x, y) = (l.cast(&v[0], Num::INT, span)?, l.cast(&v[1], Num::INT, span)?);
        l.binary(Operator::Mult, &x, &y, span)
    })?;
    let sum = reductions::total(l, &product, span)?;
    l.cast(&sum, Num::INT, span)
}
