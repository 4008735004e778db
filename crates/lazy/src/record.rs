//! Recording: nodes for what is asked, with every check that needs no elements: shapes, types, numbers that are out of range.

use smallvec::SmallVec;
use weft_ir::{Const, Scalar};

use crate::at_once;
use crate::budget;
use crate::capture;
use crate::dims::{self, Axis, AxisMap, Dims};
use crate::error::{Error, Result};
use crate::number::{self, Bits, Weak};
use crate::operation;
pub use crate::operation::ufunc_name;
use crate::tape;
use crate::value::{Args, Fold, FoldKind, Kind, Node, Progression, Value};
use crate::{machine, schedule};

/// NumPy's limit.
pub const MOST_AXES: usize = 64;

/// What a ufunc is applied to.
#[derive(Clone, Debug)]
pub enum Operand {
    Value(Value),
    /// A number of Python's.
    Weak(Weak),
}

impl Operand {
    fn ty(&self) -> (Scalar, bool) {
        match self {
            Operand::Value(value) => (value.elem, false),
            Operand::Weak(value) => (value.scalar(), true),
        }
    }
}

/// A shape as NumPy shows it.
pub fn shown(shape: &[u64]) -> String {
    let items: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if items.len() == 1 { "," } else { "" };
    format!("({}{comma})", items.join(","))
}

/// The shape that operands have together.
pub fn common_shape(shapes: &[&[u64]]) -> Result<Dims> {
    let first = shapes.first().copied().unwrap_or(&[]);
    let shape = match shapes.iter().all(|shape| *shape == first) {
        true => Dims::from_slice(first),
        false => weft_array::broadcast_shapes(shapes)
            .map(Dims::from_vec)
            .map_err(|error| Error::Value(format!("{error} ")))?,
    };
    check_size(&shape, 1)?;
    Ok(shape)
}

/// Refuses what no memory could hold.
pub fn check_size(shape: &[u64], item: usize) -> Result<()> {
    if shape.len() > MOST_AXES {
        return Err(Error::Value(format!(
            "maximum supported dimension for an ndarray is currently {MOST_AXES}, found {}",
            shape.len()
        )));
    }
    match dims::bytes(shape, item) {
        Some(_) => Ok(()),
        None => Err(Error::Value(
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.".into(),
        )),
    }
}

pub fn check_broadcast(from: &[u64], to: &[u64]) -> Result<()> {
    let missing = to.len().checked_sub(from.len());
    let fits = |missing: usize| from.iter().zip(&to[missing..]).all(|(&n, &m)| n == m || n == 1);
    match missing.is_some_and(fits) {
        true => check_size(to, 1),
        false => Err(Error::Value(format!(
            "could not broadcast input array from shape {} into shape {}",
            shown(from),
            shown(to)
        ))),
    }
}

/// A ufunc of operands: its results. `dtype` asks for the loop that gives it.
pub fn ufunc(name: &'static str, operands: &[Operand], dtype: Option<Scalar>) -> Result<SmallVec<[Value; 2]>> {
    let types = operands
        .iter()
        .map(|operand| dtype.map_or_else(|| operand.ty(), |dtype| (dtype, false)));
    let Some(resolved) = operation::resolve(name, types) else {
        return Err(no_loop(name, operands));
    };
    if is_comparison(name)
        && let Some(truth) = beyond_range(name, operands, &resolved.operands)?
    {
        return Ok(SmallVec::from_elem(truth, 1));
    }
    let mut args = Args::new();
    for (operand, &to) in operands.iter().zip(&resolved.operands) {
        args.push(match operand {
            Operand::Value(value) => cast(value, to),
            Operand::Weak(value) => Node::fill(to, Dims::new(), number::weak_in(*value, to)?),
        });
    }
    on_one_device(&mut args)?;
    let shape = match args.as_slice() {
        [only] => dims::copy(&only.shape),
        [a, b] if a.shape == b.shape || b.shape.is_empty() => dims::copy(&a.shape),
        [a, b] if a.shape.is_empty() => dims::copy(&b.shape),
        _ => common_shape(&args.iter().map(|arg| arg.shape.as_slice()).collect::<SmallVec<[&[u64]; 3]>>())?,
    };
    if name == "power" && resolved.operands[0].is_signed() && !shape.contains(&0) {
        refuse_negative(&args[1])?;
    }
    if name == "power"
        && let Some(found) = power_by_one(&resolved.operations, &args, &shape)?
    {
        return Ok(SmallVec::from_elem(found, 1));
    }
    if shape.len() > 1
        && let Some(stretched) = before_stretching(&resolved.operations, &args, &shape)
    {
        return Ok(stretched);
    }
    let mut results = SmallVec::new();
    if let [operation] = resolved.operations.as_slice() {
        results.push(map(operation, args, shape)?);
        return Ok(results);
    }
    for operation in &resolved.operations {
        results.push(map(operation, args.clone(), dims::copy(&shape))?);
    }
    Ok(results)
}

/// An operation of operands that broadcast to a shape.
fn map(operation: &'static operation::Operation, args: Args, shape: Dims) -> Result<Value> {
    if let Some(done) = at_once::map(operation, &args, &shape) {
        return Ok(done);
    }
    let node = Node::pending(operation.result, shape, Kind::Map { operation, args });
    budget::keep(&node)?;
    Ok(node)
}

/// Powers of 32 and 64-bit floats by one exponent. NumPy's loop has other functions for some, which give something else for -inf and -0.
fn power_by_one(operations: &[&'static operation::Operation], args: &Args, shape: &[u64]) -> Result<Option<Value>> {
    let ([base, exponent], [operation]) = (args.as_slice(), operations) else {
        return Ok(None);
    };
    // One element and one exponent, with axes, are to NumPy elements with an exponent each.
    let is_one = |&n: &u64| n == 1;
    let is_for_all = exponent.shape.is_empty() || (exponent.shape.iter().all(is_one) && !shape.iter().all(is_one));
    if !exponent.shape.is_empty() {
        capture::sized();
    }
    if !is_for_all || !matches!(exponent.elem, Scalar::F32 | Scalar::F64) {
        return Ok(None);
    }
    let operand = |value: &Value| Operand::Value(value.clone());
    let of = |name: &'static str, operands: &[Operand]| Ok::<_, Error>(ufunc(name, operands, None)?.pop());
    if let Some(bits) = fill_of(exponent)
        && exponent.shape.is_empty()
    {
        let by = |number: f64| number::converted(Const::f64(number), exponent.elem).is_ok_and(|found| found == bits);
        let name = match () {
            () if by(0.5) => "sqrt",
            () if by(2.0) => "square",
            () if by(-1.0) => "reciprocal",
            () => return Ok(None),
        };
        return of(name, &[operand(base)]);
    }
    let kind = Kind::Map {
        operation,
        args: args.clone(),
    };
    let chosen = {
        // A tape sees a power: the derivative of a choice of the two functions is not that of either by the exponent.
        let _pause = tape::is_on().then(tape::pause);
        let plain = Node::pending(operation.result, Dims::from_slice(shape), kind.clone());
        let is_half = of("equal", &[operand(exponent), Operand::Weak(Weak::Number(Const::f64(0.5)))])?;
        let root = of("sqrt", &[operand(base)])?;
        match (is_half, root) {
            (Some(is_half), Some(root)) => select(&is_half, &root, &plain)?,
            _ => return Ok(None),
        }
    };
    if tape::is_on() {
        tape::note(&chosen, &kind);
    }
    Ok(Some(chosen))
}

/// A map of operands that were all stretched in the same way is the stretched map of what they were before, which has fewer points.
fn before_stretching(operations: &[&'static operation::Operation], args: &Args, shape: &[u64]) -> Option<SmallVec<[Value; 2]>> {
    let mut way: Option<(AxisMap, Dims)> = None;
    let mut inner = Args::new();
    for arg in args {
        if fill_of(arg).is_some() && arg.shape.is_empty() {
            inner.push(arg.clone());
            continue;
        }
        let (of, map) = arg.look(
            |kind| match kind {
                Kind::View { of, map } if arg.shape.as_slice() == shape && is_stretched(map, &of.shape, shape) => {
                    Some((of.clone(), map.clone()))
                }
                _ => None,
            },
            |_| None,
        )??;
        match &way {
            Some((known, size)) if *known != *map || *size != of.shape => return None,
            Some(_) => {}
            None => way = Some((*map, dims::copy(&of.shape))),
        }
        inner.push(of);
    }
    let (map, size) = way?;
    let made = |operation: &&'static operation::Operation| {
        let args = inner.clone();
        let of = Node::pending(operation.result, dims::copy(&size), Kind::Map { operation, args });
        let map = Box::new(map.clone());
        Node::pending(operation.result, Dims::from_slice(shape), Kind::View { of, map })
    };
    Some(operations.iter().map(made).collect())
}

/// Does a view repeat all elements, and those only, that it looks at?
fn is_stretched(map: &[Axis], from: &[u64], to: &[u64]) -> bool {
    let whole = |(axis, &n): (&Axis, &u64)| match axis.along {
        Some(along) => axis.start == 0 && axis.step == 1 && to[along as usize] == n,
        None => n == 1 && axis.start == 0,
    };
    map.iter().zip(from).all(whole) && dims::size(from) < dims::size(to)
}

/// A user's operation of values of the types that it takes.
pub fn apply(operation: &'static operation::Operation, mut args: Args) -> Result<Value> {
    on_one_device(&mut args)?;
    let shape = common_shape(&args.iter().map(|arg| arg.shape.as_slice()).collect::<SmallVec<[&[u64]; 3]>>())?;
    map(operation, args, shape)
}

/// The type of a ufunc's first result; none where it has no loop.
pub fn result_type(name: &'static str, operands: &[Operand]) -> Option<Scalar> {
    Some(
        operation::resolve(name, operands.iter().map(Operand::ty))?
            .operations
            .first()?
            .result,
    )
}

/// Powers of integers by negative ones do not exist; of an array it has to be looked.
fn refuse_negative(exponent: &Value) -> Result<()> {
    let least = match fill_of(exponent) {
        Some(bits) => number::constant(exponent.elem, bits),
        None => {
            let axes: Vec<usize> = (0..exponent.shape.len()).collect();
            let least = fold(FoldKind::Ufunc("minimum", exponent.elem), exponent, &axes)?;
            number::constant(exponent.elem, schedule::element(&least)?)
        }
    };
    match least {
        Const::Int(_, v) if v < 0 => Err(Error::Value("Integers to negative integer powers are not allowed.".into())),
        _ => Ok(()),
    }
}

fn no_loop(name: &str, operands: &[Operand]) -> Error {
    let subtracts_bools = |operand: &Operand| operand.ty().0 == Scalar::Bool;
    match name {
        "subtract" if operands.iter().all(subtracts_bools) => Error::Type(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.".into(),
        ),
        "negative" if operands.iter().all(subtracts_bools) => Error::Type(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.".into(),
        ),
        _ => Error::Type(format!(
            "ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''"
        )),
    }
}

fn is_comparison(name: &str) -> bool {
    matches!(name, "equal" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal")
}

/// The result of comparing integers with one of Python's that their type does not have: it lies beyond all of them.
fn beyond_range(name: &str, operands: &[Operand], types: &[Scalar]) -> Result<Option<Value>> {
    let (at, value) = match operands {
        [Operand::Value(value), Operand::Weak(number)] if !number.fits(types[1]) => (number, value),
        [Operand::Weak(number), Operand::Value(value)] if !number.fits(types[0]) => (number, value),
        _ => return Ok(None),
    };
    // NumPy compares truths as integers of 64 bits.
    if value.elem == Scalar::Bool {
        return Ok(None);
    }
    let number_first = matches!(operands[0], Operand::Weak(_));
    // Is the first operand the greater one?
    let greater = at.is_positive() == number_first;
    let truth = match name {
        "not_equal" => true,
        "equal" => false,
        "less" | "less_equal" => !greater,
        _ => greater,
    };
    capture::sized();
    Ok(Some(Node::fill_on(
        value.device,
        Scalar::Bool,
        dims::copy(&value.shape),
        [truth.into(), 0],
    )))
}

/// The same elements in another type.
pub fn cast(value: &Value, to: Scalar) -> Value {
    if value.elem == to {
        return value.clone();
    }
    if let Some(Ok(bits)) = fill_of(value).map(|bits| number::converted(number::constant(value.elem, bits), to)) {
        return Node::fill_on(value.device, to, dims::copy(&value.shape), bits);
    }
    let operation = operation::cast(value.elem, to);
    let args = SmallVec::from_elem(value.clone(), 1);
    match at_once::map(operation, &args, &value.shape) {
        Some(done) => done,
        None => Node::pending(to, dims::copy(&value.shape), Kind::Map { operation, args }),
    }
}

/// The number that all elements are.
pub fn fill_of(value: &Value) -> Option<Bits> {
    value.look(
        |kind| match kind {
            Kind::Fill(bits) => Some(*bits),
            _ => None,
        },
        |_| None,
    )?
}

/// `where(condition, a, b)` of elements of one type.
pub fn select(condition: &Value, a: &Value, b: &Value) -> Result<Value> {
    let shape = common_shape(&[&condition.shape, &a.shape, &b.shape])?;
    let mut args = SmallVec::from_vec(vec![cast(condition, Scalar::Bool), a.clone(), cast(b, a.elem)]);
    on_one_device(&mut args)?;
    map(operation::select(a.elem), args, shape)
}

/// The elements in C order in another shape of the same size.
pub fn reshaped(value: &Value, to: &[u64]) -> Value {
    if value.shape.as_slice() == to {
        return value.clone();
    }
    let shape = Dims::from_slice(to);
    if let Some(bits) = fill_of(value) {
        return Node::fill_on(value.device, value.elem, shape, bits);
    }
    let through = value.look(
        |kind| match kind {
            Kind::Reshape(of) => Some(of.clone()),
            _ => None,
        },
        |_| None,
    );
    let of = through.flatten().unwrap_or_else(|| value.clone());
    if of.shape.as_slice() == to {
        return of;
    }
    Node::pending(value.elem, shape, Kind::Reshape(of))
}

/// A value in the shape of where it is written to: axes of length 1 in front of it may be dropped, as NumPy does.
pub fn broadcast_into(value: &Value, to: &[u64]) -> Result<Value> {
    if value.shape.as_slice() == to {
        return Ok(value.clone());
    }
    let more = value.shape.len().saturating_sub(to.len());
    let value = match value.shape[..more].iter().all(|&n| n == 1) {
        true => reshaped(value, &value.shape[more..]),
        false => value.clone(),
    };
    check_broadcast(&value.shape, to)?;
    if let Some(bits) = fill_of(&value) {
        capture::sized();
        return Ok(Node::fill_on(value.device, value.elem, Dims::from_slice(to), bits));
    }
    let map = dims::broadcast(&value.shape, to);
    Ok(Node::pending(
        value.elem,
        Dims::from_slice(to),
        Kind::View {
            of: value,
            map: Box::new(map),
        },
    ))
}

/// `start + index * step` for so many indices.
pub fn iota(device: u8, elem: Scalar, count: u64, start: Const, step: Const) -> Result<Value> {
    check_size(&[count], elem.size())?;
    if elem == Scalar::Bool {
        return Err(Error::Type("there are no numbers of the same distance among bools".into()));
    }
    // 16-bit floats are counted in float32.
    let counted = if elem.is_half() { Scalar::F32 } else { elem };
    let kind = Kind::Iota(Box::new(Progression {
        start: number::converted(start, counted)?,
        step: number::converted(step, counted)?,
    }));
    Ok(Node::pending_on(device, elem, SmallVec::from_slice(&[count]), kind))
}

/// The same elements on another device.
pub fn moved(value: &Value, device: u8) -> Value {
    if value.device == device {
        return value.clone();
    }
    match fill_of(value) {
        Some(bits) => Node::fill_on(device, value.elem, value.shape.clone(), bits),
        None => Node::pending_on(device, value.elem, value.shape.clone(), Kind::Moved(value.clone())),
    }
}

/// A value for one that is on a device: of no axes it moves there; any other has to be there.
pub fn beside(value: &Value, device: u8) -> Result<Value> {
    match value.device == device || value.shape.is_empty() {
        true => Ok(moved(value, device)),
        false => Err(on_different_devices(device, value.device)),
    }
}

fn on_different_devices(one: u8, other: u8) -> Error {
    let (one, other) = (machine::name(one), machine::name(other));
    Error::Value(format!(
        "operands are on different devices, {one} and {other}: move one with x.to({one:?}) or x.to({other:?})"
    ))
}

/// Moves operands of no axes to where the others are, which is one device.
fn on_one_device(args: &mut Args) -> Result<()> {
    match args.split_first() {
        Some((first, rest)) if rest.iter().any(|arg| arg.device != first.device) => {}
        _ => return Ok(()),
    }
    let with_axes = args.iter().find(|arg| !arg.shape.is_empty()).map(|arg| arg.device);
    let device = with_axes.unwrap_or_else(|| args.iter().map(|arg| arg.device).max().unwrap_or(machine::CPU));
    for arg in args.iter_mut() {
        *arg = beside(arg, device)?;
    }
    Ok(())
}

/// Elements combined along some axes, which the result no longer has. Sums and products of 16-bit floats are computed in float32.
pub fn fold(what: FoldKind, of: &Value, axes: &[usize]) -> Result<Value> {
    let folded = axes.iter().fold(0u64, |mask, &axis| mask | 1 << axis);
    let empty = axes.iter().any(|&axis| of.shape[axis] == 0);
    let shape: Dims = (of.shape.iter().enumerate())
        .filter(|(axis, _)| folded & (1 << axis) == 0)
        .map(|(_, n)| *n)
        .collect();
    let made = |what: FoldKind, elem: Scalar, of: Value| {
        let fold = Fold { what, axes: folded };
        let node = Node::pending(elem, shape.clone(), Kind::Fold { fold, of });
        budget::keep_fold(&node)?;
        Ok(node)
    };
    match what {
        FoldKind::Ufunc("maximum" | "minimum" | "fmax" | "fmin", _) if empty => {
            let FoldKind::Ufunc(name, _) = what else {
                return Err(no_identity(""));
            };
            Err(no_identity(name))
        }
        FoldKind::ArgMax | FoldKind::ArgMin if empty => {
            let name = if what == FoldKind::ArgMax { "argmax" } else { "argmin" };
            Err(Error::Value(format!("attempt to get {name} of an empty sequence")))
        }
        FoldKind::ArgMax | FoldKind::ArgMin => made(what, Scalar::I64, of.clone()),
        // NumPy begins with the identity even so: -0 + 0 is 0.
        FoldKind::Ufunc(name @ ("add" | "multiply"), elem) if folded == 0 && (elem.is_float() || elem.is_complex()) => {
            let identity = number::converted(Const::Int(Scalar::I64, i64::from(name == "multiply")), elem)?;
            let operands = [Node::fill_on(of.device, elem, Dims::new(), identity), cast(of, elem)].map(Operand::Value);
            let mut results = ufunc(name, &operands, None)?;
            results.pop().ok_or_else(|| Error::Internal(format!("'{name}' without a result")))
        }
        FoldKind::Ufunc(name @ ("add" | "multiply"), elem) if elem.is_half() => {
            let wide = made(FoldKind::Ufunc(name, Scalar::F32), Scalar::F32, cast(of, Scalar::F32))?;
            Ok(cast(&wide, elem))
        }
        FoldKind::Ufunc(name, elem) => {
            let by_search = elem.is_complex() && matches!(name, "maximum" | "minimum" | "fmax" | "fmin");
            if !by_search && weft_tile::fold::find(name, elem).is_none() {
                return Err(Error::Type(format!("'{name}' does not fold elements of {}", elem.numpy_name())));
            }
            made(what, elem, cast(of, elem))
        }
    }
}

fn no_identity(name: &str) -> Error {
    Error::Value(format!("zero-size array to reduction operation {name} which has no identity"))
}
