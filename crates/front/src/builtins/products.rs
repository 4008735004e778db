//! Matrix products: `np.dot`, `@`, `np.vecdot`. Their elements have the type of the products, as NumPy's: integers wrap.

use ruff_python_ast::Operator;
use weft_array::Leaf;
use weft_array::loops::{point, store};
use weft_ir::{BinOp, CmpOp, ErrorKind, Index, Layout, Op, Outcome, ReduceOp, Reduction, Routine, Scalar, Span, Type, Value, ViewType};

use super::reductions;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, Ty, promote};
use crate::value::Val;

/// The product over the last axis of `a` and the first of `b`, each of one or two axes.
pub fn dot(l: &mut Lower<'_>, a: &Val, b: &Val, span: Span) -> Res<Val> {
    let (Ty::View(x), Ty::View(y)) = (a.ty(), b.ty()) else {
        return l.binary(Operator::Mult, a, b, span);
    };
    match (x.rank, y.rank) {
        (1, 1) => {
            let elem = promote(x.elem, y.elem);
            if elem.is_half() {
                return half_dot(l, a, b, elem, span);
            }
            let product = l.binary(Operator::Mult, a, b, span)?;
            reductions::sum_as(l, &product, None, Num::strong(elem), span)
        }
        (1 | 2, 1 | 2) => matrix_product(l, a, b, span),
        _ => Err(l.unsupported(span, "only vectors and matrices can be multiplied this way")),
    }
}

/// `np.vecdot`: products of vectors along the last axis, the first of them conjugated.
pub fn vecdot(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let (Ty::View(x), Ty::View(y)) = (a.ty(), b.ty()) else {
        return Err(l.typing(call.span, format!("{} takes arrays, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let a = conjugate(l, a, call)?;
    if (x.rank, y.rank) == (1, 1) {
        return dot(l, &a, b, call.span);
    }
    let product = l.binary(Operator::Mult, &a, b, call.span)?;
    let last = usize::from(x.rank.max(y.rank)) - 1;
    reductions::sum_as(l, &product, Some(last), Num::strong(promote(x.elem, y.elem)), call.span)
}

/// `@`, `np.matmul`: of arrays only.
pub fn matmul(l: &mut Lower<'_>, a: &Val, b: &Val, span: Span) -> Res<Val> {
    if let Some(number) = [a, b].into_iter().find(|v| !matches!(v.ty(), Ty::View(t) if t.rank > 0)) {
        let message = format!("matmul takes arrays, not {}", number.ty());
        return Err(Diagnostic::new(DiagnosticKind::Typing, span, message)
            .help("multiply by a number with *")
            .into());
    }
    dot(l, a, b, span)
}

/// `np.matvec`: a matrix times a vector.
pub fn matvec(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    ranks(l, [a, b], [2, 1], call)?;
    matmul(l, a, b, call.span)
}

/// `np.vecmat`: a vector, conjugated, times a matrix.
pub fn vecmat(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    ranks(l, [a, b], [1, 2], call)?;
    let a = conjugate(l, a, call)?;
    dot(l, &a, b, call.span)
}

fn ranks(l: &Lower<'_>, args: [&Val; 2], want: [u8; 2], call: &Call) -> Res<()> {
    for (arg, rank) in args.into_iter().zip(want) {
        if !matches!(arg.ty(), Ty::View(v) if v.rank == rank) {
            return Err(l.typing(call.span, format!("{} takes a {rank}-d array here, not {}", call.name, arg.ty())));
        }
    }
    Ok(())
}

/// An array's complex conjugate; one of real numbers as it is.
fn conjugate(l: &mut Lower<'_>, array: &Val, call: &Call) -> Res<Val> {
    let span = call.span;
    if !l.elem_of(array, span)?.is_complex() {
        return Ok(array.clone());
    }
    let of_element =
        move |l: &mut Lower<'_>, v: &[Val]| super::numpy::conjugate(l, &Call::new("conj".into(), v.to_vec(), Vec::new(), span));
    l.array_map(std::slice::from_ref(array), span, of_element)
}

/// Products of 16-bit floats are exact in float32; their sum is rounded at the end.
fn half_dot(l: &mut Lower<'_>, a: &Val, b: &Val, elem: Scalar, span: Span) -> Res<Val> {
    let single = Num::strong(Scalar::F32);
    let wide = l.array_map(std::slice::from_ref(a), span, move |l, v| l.cast(&v[0], single, span))?;
    let product = l.binary(Operator::Mult, &wide, b, span)?;
    let sum = reductions::total(l, &product, span)?;
    l.cast(&sum, Num::strong(elem), span)
}

/// A factor of a matrix product and the length of the axis summed over.
struct Factor {
    view: Value,
    ty: ViewType,
    shape: Vec<Value>,
}

fn factor(l: &mut Lower<'_>, val: &Val, span: Span) -> Res<Factor> {
    match l.materialise(val.clone())? {
        Val::View(view, ty) => Ok(Factor {
            view,
            ty,
            shape: l.shape_of(view, ty),
        }),
        other => Err(l.typing(span, format!("an array is needed here, and this is {}", other.ty()))),
    }
}

fn matrix_product(l: &mut Lower<'_>, a: &Val, b: &Val, span: Span) -> Res<Val> {
    let elem = promote(l.elem_of(a, span)?, l.elem_of(b, span)?);
    let is_routine = has_routine(l, a, b, elem);
    let (a, b) = match is_routine {
        true => (of_elem(l, a, elem, span)?, of_elem(l, b, elem, span)?),
        false => (a.clone(), b.clone()),
    };
    let (a, b) = (factor(l, &a, span)?, factor(l, &b, span)?);
    let (rows, n) = a.shape.split_at(a.shape.len() - 1);
    let (m, columns) = b.shape.split_at(1);
    let misfit = l.b.compare(CmpOp::Ne, n[0], m[0]);
    l.raise_if(misfit, ErrorKind::Value, "matrices do not fit: the inner lengths differ")?;
    let extents = [rows, columns].concat();
    let (out, out_ty) = super::arrays::fresh(l, elem, &extents, false, span)?;
    let sum = if elem.is_half() { Scalar::F32 } else { elem };
    let rows_lie = matches!(a.ty.layout, Layout::C | Layout::Row) && matches!(b.ty.layout, Layout::C | Layout::Row);
    if columns.is_empty() && rows_lie && sum == elem && elem != Scalar::Bool && l.in_host() && !l.in_lanes() {
        rows_by_vector(l, [&a, &b], (out, out_ty), n, span)?;
        return Ok(Val::View(out, out_ty));
    }
    let product = Product {
        factors: [&a, &b],
        out: (out, out_ty),
        extents: &extents,
        n,
        elem,
        sum,
    };
    if !is_routine {
        by_points(l, &product, span)?;
        return Ok(Val::View(out, out_ty));
    }
    // What is small is done here: a call costs more.
    let outcome = l.b.func.new_local(Type::I64, "");
    let (absent, few) = (l.b.i64(Outcome::Absent as i64), l.b.i64(FEW));
    l.b.set(outcome, absent);
    let work = extents.iter().fold(n[0], |work, &length| l.b.binary(BinOp::Mul, work, length));
    let is_large = l.b.compare(CmpOp::Gt, work, few);
    let threads = l.unit.options.parallel;
    l.emit_if(is_large, |l| {
        let op = Op::Routine {
            routine: Routine::Matmul,
            threads,
            operands: vec![a.view, b.view, out],
        };
        let done = l.b.emit(Type::I64, op);
        l.b.set(outcome, done);
        Ok(())
    })?;
    let (found, done) = (l.b.get(outcome), l.b.i64(Outcome::Done as i64));
    let is_left = l.b.compare(CmpOp::Ne, found, done);
    l.emit_if(is_left, |l| by_points(l, &product, span))?;
    Ok(Val::View(out, out_ty))
}

/// Products of matrices of at most so many multiplications are done in place.
const FEW: i64 = 256;

/// Whether the library of routines has the product: that of two matrices of floats, in code of the host.
fn has_routine(l: &Lower<'_>, a: &Val, b: &Val, elem: Scalar) -> bool {
    let is_matrix = |val: &Val| matches!(val.ty(), Ty::View(v) if v.rank == 2);
    let is_known = matches!(elem, Scalar::F32 | Scalar::F64 | Scalar::C64 | Scalar::C128);
    is_known && is_matrix(a) && is_matrix(b) && l.in_host() && !l.in_lanes()
}

/// An array in an element type.
fn of_elem(l: &mut Lower<'_>, array: &Val, elem: Scalar, span: Span) -> Res<Val> {
    if l.elem_of(array, span)? == elem {
        return Ok(array.clone());
    }
    l.array_map(std::slice::from_ref(array), span, move |l, v| {
        l.cast(&v[0], Num::strong(elem), span)
    })
}

/// A product of matrices or of a matrix and a vector: its factors, its result and the result's lengths, the length summed over, the types of
/// elements and of sums.
struct Product<'a> {
    factors: [&'a Factor; 2],
    out: Leaf,
    extents: &'a [Value],
    n: &'a [Value],
    elem: Scalar,
    sum: Scalar,
}

/// Every element by itself.
fn by_points(l: &mut Lower<'_>, product: &Product<'_>, span: Span) -> Res<()> {
    let Product {
        factors: [a, b],
        out,
        extents,
        n,
        elem,
        sum,
    } = *product;
    let (times, plus) = match elem {
        Scalar::Bool => (BinOp::And, BinOp::Or),
        _ => (BinOp::Mul, BinOp::Add),
    };
    let num = Num::strong(sum);
    let rows = a.shape.len() - 1;
    l.at_every_point(extents, Vec::new(), &mut |l, vars| {
        let (row, column) = vars.split_at(rows);
        let local = l.b.func.new_local(sum.into(), "");
        let zero = l.zero(sum);
        l.b.set(local, zero);
        l.in_order(n, &mut |l, along| {
            let x = l.load(a.view, a.ty, indices(&[row, along].concat()));
            let y = l.load(b.view, b.ty, indices(&[along, column].concat()));
            let (x, y) = l.unified(&x, &y, num, span)?;
            let product = l.b.binary(times, x, y);
            let so_far = l.b.get(local);
            let next = l.b.binary(plus, so_far, product);
            l.b.set(local, next);
            Ok(())
        })?;
        let value = l.b.get(local);
        let value = l.convert(value, sum, elem);
        store(&mut l.b, out, vars, value);
        Ok(())
    })
}

/// A matrix whose rows lie in memory element by element times a vector: row by row, the elements of a row as lanes.
fn rows_by_vector(l: &mut Lower<'_>, [a, b]: [&Factor; 2], (out, ty): Leaf, n: &[Value], span: Span) -> Res<()> {
    let num = Num::strong(ty.elem);
    l.in_order(&a.shape[..1], &mut |l, row| {
        let local = l.b.func.new_local(ty.elem.into(), "");
        let zero = l.zero(ty.elem);
        l.b.set(local, zero);
        let sum = Reduction::fixed(local, ReduceOp::Add);
        l.in_lanes_here(n, vec![sum], &mut |l, along| {
            let x = l.load(a.view, a.ty, indices(&[row, along].concat()));
            let y = l.load(b.view, b.ty, indices(along));
            let (x, y) = l.unified(&x, &y, num, span)?;
            let product = l.b.binary(BinOp::Mul, x, y);
            let so_far = l.b.get(local);
            let next = l.b.binary(BinOp::Add, so_far, product);
            l.b.set(local, next);
            Ok(())
        })?;
        let value = l.b.get(local);
        store(&mut l.b, (out, ty), row, value);
        Ok(())
    })
}

fn indices(vars: &[Value]) -> Vec<Index> {
    point(vars, vars.len() as u8)
}
