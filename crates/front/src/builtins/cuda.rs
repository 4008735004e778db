//! `weft.cuda`: thread geometry, shared, local and constant arrays, atomics, bits. What threads do together is in `warp`.

use weft_ir::{ArrayDecl, AtomicOp, Axis, BinOp, CmpOp, Geometry, Op, Scalar, Space, Span, Type, UnOp, Value, ViewType};

use super::{Class, Entry};
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "threadIdx" | "blockIdx" | "blockDim" | "gridDim" | "shared" | "local" | "const" | "atomic" | "fp16" => Entry::Module,
        "grid" => Entry::of(|l, c| grid(l, c, false)),
        "gridsize" => Entry::of(|l, c| grid(l, c, true)),
        "laneid" => Entry::Geometry(Geometry::LaneId),
        "warpsize" => Entry::Int(32),
        "shared.array" => Entry::of(|l, c| array(l, c, Space::Shared)),
        "local.array" => Entry::of(local_array),
        "const.array_like" => Entry::of(constant),
        "fma" => return super::math::find("fma"),
        "selp" => return super::intrinsics::find("select"),
        "popc" => Entry::of(|l, c| super::intrinsics::integer(l, c, UnOp::Popcount)),
        "clz" => Entry::of(|l, c| super::intrinsics::integer(l, c, UnOp::Clz)),
        "brev" => Entry::of(brev),
        "ffs" => Entry::of(ffs),
        "cbrt" => return super::math::find("cbrt"),
        _ => {
            return atomic_entry(name)
                .or_else(|| axis_entry(name))
                .or_else(|| super::warp::find(name))
                .or_else(|| super::half::find(name.strip_prefix("fp16.")?));
        }
    })
}

fn atomic_entry(name: &str) -> Option<Entry> {
    Some(match name.strip_prefix("atomic.")? {
        "add" => Entry::of(|l, c| atomic(l, c, AtomicOp::Add)),
        "sub" => Entry::of(|l, c| atomic(l, c, AtomicOp::Sub)),
        "min" => Entry::of(|l, c| atomic(l, c, AtomicOp::Min)),
        "max" => Entry::of(|l, c| atomic(l, c, AtomicOp::Max)),
        "and_" => Entry::of(|l, c| atomic(l, c, AtomicOp::And)),
        "or_" => Entry::of(|l, c| atomic(l, c, AtomicOp::Or)),
        "xor" => Entry::of(|l, c| atomic(l, c, AtomicOp::Xor)),
        "exch" => Entry::of(|l, c| atomic(l, c, AtomicOp::Exch)),
        "inc" => Entry::of(|l, c| atomic(l, c, AtomicOp::Inc)),
        "dec" => Entry::of(|l, c| atomic(l, c, AtomicOp::Dec)),
        "nanmin" => Entry::of(|l, c| atomic(l, c, AtomicOp::NanMin)),
        "nanmax" => Entry::of(|l, c| atomic(l, c, AtomicOp::NanMax)),
        "cas" => Entry::of(cas),
        "compare_and_swap" => Entry::of(compare_and_swap),
        _ => return None,
    })
}

fn axis_entry(name: &str) -> Option<Entry> {
    let (what, axis) = name.split_once('.')?;
    let axis = match axis {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => return None,
    };
    Some(Entry::Geometry(match what {
        "threadIdx" => Geometry::ThreadIdx(axis),
        "blockIdx" => Geometry::BlockIdx(axis),
        "blockDim" => Geometry::BlockDim(axis),
        "gridDim" => Geometry::GridDim(axis),
        _ => return None,
    }))
}

impl Lower<'_> {
    pub fn geometry(&mut self, g: Geometry, span: Span) -> Res<Val> {
        self.kernel_only("thread geometry", span)?;
        Ok(Val::Num(self.geometry_value(g), Num::INT))
    }

    fn geometry_value(&mut self, g: Geometry) -> Value {
        let value = self.b.emit(Type::I64, Op::Geometry(g));
        self.facts.mark_nonneg(value);
        value
    }

    pub fn kernel_only(&self, what: &str, span: Span) -> Res<()> {
        if !self.in_host() {
            return Ok(());
        }
        let message = format!("{what} exists only in kernels");
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
        Err(diag.help("compile the function with cuda.jit and launch it over a grid").into())
    }
}

/// `cuda.grid(n)` and `cuda.gridsize(n)`: a number for one axis, a tuple in order x, y, z for more.
fn grid(l: &mut Lower<'_>, call: &Call, size: bool) -> Res<Val> {
    let [n] = call.bind(["ndim"], 1)?;
    l.kernel_only("thread geometry", call.span)?;
    let n = match n.as_ref().and_then(Val::const_int) {
        Some(n @ 1..=3) => n as usize,
        _ => {
            let message = format!("{} takes the constant 1, 2 or 3", call.name);
            return Err(Diagnostic::new(DiagnosticKind::Value, call.span, message).into());
        }
    };
    let values: Vec<Val> = Axis::XYZ[..n]
        .iter()
        .map(|&axis| Val::Num(grid_axis(l, axis, size), Num::INT))
        .collect();
    match <[Val; 1]>::try_from(values) {
        Ok([only]) => Ok(only),
        Err(values) => Ok(Val::tuple(values)),
    }
}

fn grid_axis(l: &mut Lower<'_>, axis: Axis, size: bool) -> Value {
    let dim = l.geometry_value(Geometry::BlockDim(axis));
    let value = if size {
        let blocks = l.geometry_value(Geometry::GridDim(axis));
        l.b.binary(BinOp::Mul, blocks, dim)
    } else {
        let block = l.geometry_value(Geometry::BlockIdx(axis));
        let thread = l.geometry_value(Geometry::ThreadIdx(axis));
        let first = l.b.binary(BinOp::Mul, block, dim);
        l.b.binary(BinOp::Add, first, thread)
    };
    l.facts.mark_nonneg(value);
    value
}

/// The bits of an integer in reverse: of 32 bits, or of 64 if it has as many.
fn brev(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let num = integer_num(l, x, call)?;
    let to = if num.scalar.size() == 8 { Scalar::U64 } else { Scalar::U32 };
    let value = l.number_as(x, num.scalar, call.span)?;
    let value = l.convert(value, num.scalar, to);
    Ok(Val::Num(l.b.unary(UnOp::BitReverse, value), Num::strong(to)))
}

/// The position of the lowest bit that is set, from 1; 0 where none is.
fn ffs(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let num = integer_num(l, x, call)?;
    let value = l.number_as(x, num.scalar, call.span)?;
    let (zero, one) = (l.zero(num.scalar), l.small(Scalar::U32, 1));
    let none = l.b.compare(CmpOp::Eq, value, zero);
    let below = l.b.unary(UnOp::Ctz, value);
    let below = l.convert(below, num.scalar, Scalar::U32);
    let position = l.b.binary(BinOp::Add, below, one);
    let zero = l.zero(Scalar::U32);
    Ok(Val::Num(l.b.select(none, zero, position), Num::strong(Scalar::U32)))
}

fn integer_num(l: &Lower<'_>, x: &Val, call: &Call) -> Res<Num> {
    let num = x.num().filter(|num| num.scalar.is_int());
    num.ok_or_else(|| l.typing(call.span, format!("{} takes an integer, not {}", call.name, x.ty())))
}

pub fn local_array(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    array(l, call, Space::Local)
}

/// `cuda.shared.array(shape, dtype)` and `cuda.local.array`. A shared array of length 0 is the launch's dynamic shared memory.
fn array(l: &mut Lower<'_>, call: &Call, space: Space) -> Res<Val> {
    let [shape, dtype] = call.bind(["shape", "dtype"], 2)?;
    if space == Space::Shared {
        l.kernel_only("shared memory", call.span)?;
    }
    let shape = constant_shape(&shape.unwrap_or(Val::None), call)?;
    let elem = dtype_of(l, &dtype.unwrap_or(Val::None), call)?;
    if space == Space::Local && shape.contains(&0) {
        let message = format!("{} makes an array of no elements, which is of no use", call.name);
        return Err(Diagnostic::new(DiagnosticKind::Value, call.span, message).into());
    }
    if space == Space::Shared && shape == [0] {
        return Ok(dynamic_shared(l, elem));
    }
    if space == Space::Shared && shape.contains(&0) {
        let diag = Diagnostic::new(DiagnosticKind::Value, call.span, "dynamic shared memory has one axis");
        return Err(diag.help("make an array of shape 0 and .reshape it").into());
    }
    let bytes = shape.iter().try_fold(elem.size() as u64, |n, &d| n.checked_mul(d));
    if bytes.is_none_or(|b| b > u64::from(u32::MAX)) {
        return Err(Diagnostic::new(DiagnosticKind::Value, call.span, "the array is too large").into());
    }
    let decl = ArrayDecl {
        name: format!("{}{}", space.name(), l.b.func.arrays.len()),
        elem,
        shape: shape.clone(),
        space,
    };
    let id = l.b.func.new_array(decl);
    let view = ViewType {
        elem,
        rank: shape.len() as u8,
        layout: weft_ir::Layout::C,
        space,
        writable: true,
    };
    let val = Val::View(l.b.emit(view, Op::Array(id)), view);
    l.arrays.note_given(&val);
    Ok(val)
}

fn dynamic_shared(l: &mut Lower<'_>, elem: Scalar) -> Val {
    let view = ViewType {
        elem,
        rank: 1,
        layout: weft_ir::Layout::C,
        space: Space::Shared,
        writable: true,
    };
    let val = Val::View(l.b.emit(view, Op::DynamicShared), view);
    l.arrays.note_given(&val);
    val
}

fn constant_shape(shape: &Val, call: &Call) -> Res<Vec<u64>> {
    let dims: Vec<Val> = match shape {
        Val::Tuple(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    if dims.iter().filter_map(Val::const_int).any(|n| n < 0) {
        return Err(Diagnostic::new(DiagnosticKind::Value, call.span, "negative dimensions are not allowed").into());
    }
    let dim = |v: &Val| v.const_int().and_then(|n| u64::try_from(n).ok());
    dims.iter().map(dim).collect::<Option<_>>().ok_or_else(|| {
        let message = "the shape of a shared or local array must be constant";
        let mut diag = Diagnostic::new(DiagnosticKind::Value, call.span, message);
        diag.wants_constants = true;
        let help = "write integers, or names of globals or of variables assigned one constant, or hand one of these to the device function";
        diag.help(help).into()
    })
}

/// A dtype argument: a type object, or its name.
pub fn dtype_of(l: &Lower<'_>, dtype: &Val, call: &Call) -> Res<Scalar> {
    match dtype {
        Val::Dtype(s) => Ok(*s),
        Val::Str(name) => Scalar::from_numpy_name(name)
            .or_else(|| super::numpy::dtype_code(name))
            .ok_or_else(|| l.typing(call.span, format!("'{name}' is not a type Weft knows"))),
        Val::Path(p) => Class::of(p)
            .and_then(Class::element)
            .ok_or_else(|| l.typing(call.span, format!("'{p}' is not an element type"))),
        other => Err(l.typing(call.span, format!("an element type is needed, and this is {}", other.ty()))),
    }
}

/// `cuda.const.array_like(a)`: a global array is constant already.
fn constant(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array] = call.exactly()?;
    match array {
        Val::View(_, ty) if ty.space == Space::Constant => Ok(array.clone()),
        other => {
            let message = format!("const.array_like needs a global NumPy array, and this is a {}", other.ty());
            Err(l.typing(call.span, message))
        }
    }
}

// ---- atomics ----

fn atomic(l: &mut Lower<'_>, call: &Call, op: AtomicOp) -> Res<Val> {
    let [array, index, value] = call.exactly()?;
    atomic_at(l, call, op, [array, index, value], None)
}

fn cas(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, index, old, value] = call.exactly()?;
    atomic_at(l, call, AtomicOp::Cas, [array, index, value], Some(old))
}

/// `compare_and_swap(array, old, value)`: on the first element.
fn compare_and_swap(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [array, old, value] = call.exactly()?;
    let zero = Val::int(0);
    atomic_at(l, call, AtomicOp::Cas, [array, &zero, value], Some(old))
}

fn atomic_at(l: &mut Lower<'_>, call: &Call, op: AtomicOp, [array, index, value]: [&Val; 3], expected: Option<&Val>) -> Res<Val> {
    let Val::View(view, ty) = array else {
        return Err(l.typing(call.span, format!("{} works on arrays, and this is {}", call.name, array.ty())));
    };
    l.refuse_read_only(*ty, call.span)?;
    check_atomic(l, op, ty.elem, call)?;
    let op = match op {
        AtomicOp::NanMin if ty.elem.is_int() => AtomicOp::Min,
        AtomicOp::NanMax if ty.elem.is_int() => AtomicOp::Max,
        _ => op,
    };
    let indices = match index {
        Val::Tuple(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    if indices.len() != ty.rank as usize {
        let message = format!("{} indices for a {}", indices.len(), array.ty());
        return Err(l.typing(call.span, message));
    }
    let index_of = |i: &Val| {
        let i = l.atomic_index(i, call.span)?;
        l.index_of(&i, call.span)
    };
    let indices = indices.iter().map(index_of).collect::<Res<Vec<_>>>()?;
    let value = l.number_as(value, ty.elem, call.span)?;
    let expected = expected.map(|v| l.number_as(v, ty.elem, call.span)).transpose()?;
    let op = Op::Atomic {
        op,
        view: *view,
        indices,
        value,
        expected,
    };
    Ok(Val::Num(l.b.emit(ty.elem, op), Num::strong(ty.elem)))
}

fn check_atomic(l: &Lower<'_>, op: AtomicOp, elem: Scalar, call: &Call) -> Res<()> {
    let bits = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
    let counts = matches!(op, AtomicOp::Inc | AtomicOp::Dec);
    let unsigned = elem.is_int() && !elem.is_signed();
    if elem == Scalar::Bool || elem.is_complex() || (bits && !elem.is_int()) || (counts && !unsigned) {
        return Err(l.typing(call.span, format!("{} does not work on {}", call.name, elem.numpy_name())));
    }
    Ok(())
}
