//! A ufunc's operands: what a Python object is to the loop, NumPy's casting rules, common shapes, and outputs.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};
use smallvec::{SmallVec, smallvec};
use weft_array::broadcast_shapes;
use weft_front::ArgType;
use weft_ir::{Layout, Scalar};
use weft_runtime::Device;

use crate::array::{DeviceArray, Memory, dense_strides};
use crate::bind::Args;
use crate::dlpack::Peeked;
use crate::lazy::NdArray;
use crate::numpy::Numpy;
use crate::signature::is_safe;
use crate::slots::Number;
use crate::{errors, slots};

/// One operand of a call.
pub struct Input<'py> {
    /// Keeps the memory alive. For scalars, the object itself.
    object: Bound<'py, PyAny>,
    /// The type the function sees: weak for Python numbers.
    pub ty: ArgType,
    pub elem: Scalar,
    pub array: Option<Geometry>,
    /// The memory of an array on a device.
    pub memory: Option<Py<Memory>>,
    /// A scalar's bits; its address is its view's data pointer.
    bits: [u64; 2],
}

/// An array's place in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    pub data: u64,
    pub shape: SmallVec<[u64; 4]>,
    pub strides: SmallVec<[i64; 4]>,
    pub item: u64,
    layout: Option<Layout>,
}

impl<'py> Input<'py> {
    pub fn new(numpy: &Numpy, object: Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        let mut bound = Args::default();
        let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        if is_list {
            return Input::array(numpy, object.py().import("numpy")?.call_method1("asarray", (&object,))?);
        }
        crate::bind::bind(numpy, &object, &|| "operand".into(), &mut bound)?;
        match crate::key::decode(&bound.key).pop() {
            Some(ty @ (ArgType::Strong(elem) | ArgType::Weak(elem))) => {
                let slots = [bound.slots[0], bound.slots.get(1).copied().unwrap_or(0)];
                Ok(Input {
                    object,
                    ty,
                    elem,
                    array: None,
                    memory: None,
                    bits: slots::slots_to_memory(elem, slots),
                })
            }
            Some(ArgType::Array(_)) => Input::array(numpy, object),
            _ => Err(errors::typing(
                object.py(),
                format!("an operand is {object}, which is neither a number nor an array"),
            )),
        }
    }

    /// What a capsule of DLPack's tells of; it keeps the memory.
    pub fn of_tensor(capsule: Bound<'py, PyAny>, tensor: &Peeked<'_>) -> PyResult<Input<'py>> {
        if tensor.device.is_some() {
            return Err(errors::internal(capsule.py(), "an operand is not in the host's memory".into()));
        }
        let item = tensor.elem.size() as i64;
        let mut strides: SmallVec<[i64; 4]> = tensor.strides.iter().map(|stride| stride * item).collect();
        if strides.len() != tensor.shape.len() {
            strides = SmallVec::from_vec(dense_strides(tensor.shape, item));
        }
        Ok(Input {
            ty: ArgType::Strong(tensor.elem),
            elem: tensor.elem,
            array: Some(Geometry {
                data: tensor.address,
                shape: tensor.shape.iter().map(|&n| n as u64).collect(),
                strides,
                item: item as u64,
                layout: None,
            }),
            memory: None,
            object: capsule,
            bits: [0; 2],
        })
    }

    pub fn array(numpy: &Numpy, object: Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        let mut bound = Args::default();
        crate::bind::bind(numpy, &object, &|| "operand".into(), &mut bound)?;
        let Some(ArgType::Array(view)) = crate::key::decode(&bound.key).pop() else {
            return Err(PyTypeError::new_err("expected an array"));
        };
        let rank = view.rank as usize;
        Ok(Input {
            ty: ArgType::Strong(view.elem),
            elem: view.elem,
            array: Some(Geometry {
                data: bound.slots[0],
                shape: SmallVec::from_slice(&bound.slots[1..1 + rank]),
                strides: bound.slots[1 + rank..].iter().map(|&s| s as i64).collect(),
                item: view.elem.size() as u64,
                layout: Some(view.layout),
            }),
            memory: bound.memories.pop().filter(|_| !object.is_instance_of::<NdArray>()),
            object,
            bits: [0; 2],
        })
    }

    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// A number's bits, as memory has them.
    pub fn bits(&self) -> Option<[u64; 2]> {
        self.array.is_none().then_some(self.bits)
    }

    /// Where the loop finds the operand: its array, or its own bits as an array of rank 0.
    pub fn geometry(&self) -> Geometry {
        self.array.clone().unwrap_or_else(|| Geometry {
            data: self.bits.as_ptr() as u64,
            item: self.elem.size() as u64,
            ..Geometry::default()
        })
    }

    /// Makes a Python float a float32, as which a device without float64 takes it, and a Python complex number a complex64.
    pub fn narrow(&mut self) {
        let (from, ArgType::Weak(to)) = (self.elem, self.ty.narrowed()) else {
            return;
        };
        if from != to && self.array.is_none() {
            let slots = Number::from_slots(from, slots::memory_to_slots(from, self.bits)).to_slots(to);
            self.bits = slots::slots_to_memory(to, slots);
            self.elem = to;
        }
    }

    pub fn casts_to(&self, param: Scalar) -> bool {
        match self.ty {
            ArgType::Weak(scalar) => scalar.kind() <= param.kind() || (scalar.is_int() && param.is_int()),
            _ => is_safe(self.elem, param),
        }
    }

    /// Copies an array that shares memory with the output, unless both are the very same elements in the same places.
    pub fn part_from(&mut self, numpy: &Numpy, output: &Input<'_>) -> PyResult<()> {
        let (Some(mine), Some(theirs)) = (&self.array, &output.array) else {
            return Ok(());
        };
        if !mine.overlaps(theirs) || (mine == theirs && self.elem == output.elem) {
            return Ok(());
        }
        *self = Input::array(numpy, self.object.call_method0("copy")?)?;
        Ok(())
    }
}

impl Geometry {
    fn overlaps(&self, other: &Geometry) -> bool {
        match (self.bounds(), other.bounds()) {
            (Some((a, b)), Some((c, d))) => a < d && c < b,
            _ => false,
        }
    }

    fn bounds(&self) -> Option<(u64, u64)> {
        let shape: SmallVec<[isize; 4]> = self.shape.iter().map(|&n| n as isize).collect();
        let strides: SmallVec<[isize; 4]> = self.strides.iter().map(|&n| n as isize).collect();
        crate::numpy::bounds(self.data, &shape, &strides, self.item as usize)
    }
}

pub fn elem_of(numpy: &Numpy, dtype: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Some(scalar) = numpy.scalar_of_dtype(dtype) {
        return Ok(scalar);
    }
    let py = dtype.py();
    let full = py.import("numpy")?.call_method1("dtype", (dtype,))?;
    let ty = full.getattr("type")?.cast_into::<PyType>()?;
    numpy
        .scalar_of_type(py, ty.as_type_ptr())
        .ok_or_else(|| errors::typing(py, format!("dtype {full} has no type in Weft")))
}

/// Refuses a rule of casting that NumPy does not have.
pub fn check_casting(casting: &str) -> PyResult<()> {
    match casting {
        "no" | "equiv" | "safe" | "same_kind" | "unsafe" => Ok(()),
        _ => Err(PyValueError::new_err(format!(
            "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{casting}')"
        ))),
    }
}

/// An input is cast to the function's parameter. A weak number becomes any type of its own kind or a higher one.
pub fn check_inputs(inputs: &[Input<'_>], params: &[Scalar], casting: &str) -> PyResult<()> {
    for (input, &param) in inputs.iter().zip(params) {
        let fits = match input.ty {
            ArgType::Strong(_) => can_cast(input.elem, param, casting),
            _ => casting == "unsafe" || rank(input.elem) <= rank(param),
        };
        if !fits {
            return Err(cannot_cast("input", input.elem, param, casting));
        }
    }
    Ok(())
}

/// Bools, integers, floats, complex numbers.
fn rank(scalar: Scalar) -> u8 {
    match scalar.kind() {
        weft_ir::Kind::Bool => 0,
        weft_ir::Kind::Signed | weft_ir::Kind::Unsigned => 1,
        weft_ir::Kind::Float => 2,
        weft_ir::Kind::Complex => 3,
    }
}

/// The result is cast to the type of the output.
pub fn check_result(result: Scalar, elem: Scalar, casting: &str) -> PyResult<()> {
    if can_cast(result, elem, casting) {
        return Ok(());
    }
    Err(cannot_cast("output", result, elem, casting))
}

fn cannot_cast(what: &str, from: Scalar, to: Scalar, casting: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "cannot cast the {what} from {} to {} with casting rule '{casting}'",
        from.numpy_name(),
        to.numpy_name()
    ))
}

pub fn can_cast(from: Scalar, to: Scalar, casting: &str) -> bool {
    match casting {
        "unsafe" => true,
        "same_kind" => is_safe(from, to) || same_kind(from, to),
        "safe" => is_safe(from, to),
        _ => from == to,
    }
}

fn same_kind(from: Scalar, to: Scalar) -> bool {
    from.kind() <= to.kind() && !(from.kind() == weft_ir::Kind::Bool && to.kind() != weft_ir::Kind::Bool)
}

pub fn common_shape(inputs: &[Input<'_>], mask: Option<&Input<'_>>, out: Option<&[isize]>) -> PyResult<SmallVec<[u64; 4]>> {
    let out: Option<SmallVec<[u64; 4]>> = out.map(|shape| shape.iter().map(|&n| n as u64).collect());
    let mut shapes: SmallVec<[&[u64]; 4]> = smallvec![];
    for input in inputs.iter().chain(mask) {
        shapes.push(input.array.as_ref().map_or(&[][..], |a| &a.shape));
    }
    let common = broadcast_shapes(&shapes).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let Some(out) = &out else { return Ok(SmallVec::from_vec(common)) };
    // The output takes part in broadcasting but is never broadcast itself.
    shapes.push(out);
    match broadcast_shapes(&shapes) {
        Ok(whole) if whole[..] == out[..] => Ok(out.clone()),
        Ok(_) => Err(PyValueError::new_err(format!(
            "non-broadcastable output operand with shape {out:?} doesn't match the broadcast shape {common:?}"
        ))),
        Err(e) => Err(PyValueError::new_err(e.to_string())),
    }
}

pub fn check_output<'py>(numpy: &Numpy, out: Bound<'py, PyAny>, result: Scalar, casting: &str) -> PyResult<Bound<'py, PyAny>> {
    let elem = if let Ok(array) = out.cast::<DeviceArray>() {
        Some(array.get().elem())
    } else if let Ok(array) = out.cast::<NdArray>() {
        if array.get().array.read_only {
            return Err(PyValueError::new_err("output array is read-only"));
        }
        Some(array.get().array.elem)
    } else if numpy.is_array(&out) {
        let fields = numpy.fields(&out);
        if !fields.writable {
            return Err(PyValueError::new_err("output array is read-only"));
        }
        fields.elem
    } else {
        return Err(PyTypeError::new_err("the output must be an array"));
    };
    if let Some(elem) = elem {
        check_result(result, elem, casting)?;
    }
    Ok(out)
}

/// The shape of an output, on the host or on a device.
pub fn shape_of(numpy: &Numpy, out: &Bound<'_, PyAny>) -> PyResult<SmallVec<[isize; 4]>> {
    match out.cast::<DeviceArray>() {
        Ok(array) => Ok(SmallVec::from_slice(array.get().extents())),
        Err(_) if out.is_instance_of::<NdArray>() => out.getattr("shape")?.extract::<Vec<isize>>().map(SmallVec::from_vec),
        Err(_) if numpy.is_array(out) => Ok(SmallVec::from_slice(numpy.fields(out).shape)),
        Err(_) => Err(PyTypeError::new_err("the output must be an array")),
    }
}

/// How a new array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    C,
    F,
    /// Fortran's if all inputs have it, else C's.
    Any,
    /// As the inputs lie.
    Keep,
}

impl Order {
    /// By NumPy's letter, in either case.
    pub fn of(name: Option<&str>) -> PyResult<Order> {
        Ok(match name {
            Some("C" | "c") => Order::C,
            Some("F" | "f") => Order::F,
            Some("A" | "a") => Order::Any,
            Some("K" | "k") | None => Order::Keep,
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "order must be one of 'C', 'F', 'A', or 'K' (got '{other}')"
                )));
            }
        })
    }

    /// The axes of a result for these inputs, the outermost in memory first.
    fn axes(self, inputs: &[Input<'_>], shape: &[u64]) -> Vec<usize> {
        let arrays = || inputs.iter().filter_map(|i| i.array.as_ref());
        let fortran = match self {
            Order::C => false,
            Order::F => true,
            Order::Any => arrays().all(Geometry::is_dense_in_columns) && arrays().next().is_some(),
            Order::Keep => return kept(&arrays().map(|a| a.steps(shape)).collect::<Vec<_>>(), shape.len()),
        };
        match fortran {
            true => (0..shape.len()).rev().collect(),
            false => (0..shape.len()).collect(),
        }
    }
}

/// The axes by falling strides, as NumPy's iterator sorts them: axes that no array tells apart stay, and C's order wins where arrays differ.
fn kept(arrays: &[SmallVec<[u64; 4]>], rank: usize) -> Vec<usize> {
    // Innermost first.
    let mut sorted: Vec<usize> = (0..rank).rev().collect();
    for at in 1..rank {
        let axis = sorted[at];
        let mut place = at;
        for before in (0..at).rev() {
            let inner = sorted[before];
            let pairs = arrays
                .iter()
                .map(|steps| (steps[inner], steps[axis]))
                .filter(|&(x, y)| x != 0 && y != 0);
            let mut pairs = pairs.peekable();
            if pairs.peek().is_none() {
                continue;
            }
            if !pairs.all(|(inner, outer)| inner > outer) {
                break;
            }
            place = before;
        }
        sorted[place..=at].rotate_right(1);
    }
    sorted.reverse();
    sorted
}

impl Geometry {
    /// Sizes of the strides along a shape that this one is broadcast to; 0 where it is stretched or has one element only.
    fn steps(&self, shape: &[u64]) -> SmallVec<[u64; 4]> {
        let missing = shape.len() - self.shape.len();
        let own = self
            .shape
            .iter()
            .zip(&self.strides)
            .map(|(&n, &stride)| if n == 1 { 0 } else { stride.unsigned_abs() });
        std::iter::repeat_n(0, missing).chain(own).collect()
    }

    /// Is it dense in Fortran's order, as arrays of one axis may be as well?
    fn is_dense_in_columns(&self) -> bool {
        let mut dense = self.item as i64;
        self.shape.contains(&0)
            || self.shape.iter().zip(&self.strides).all(|(&n, &stride)| {
                let fits = n == 1 || stride == dense;
                dense = dense.saturating_mul(n as i64);
                fits
            })
    }
}

/// A new array of the result's shape in memory of a device.
pub fn new_device_output<'py>(
    py: Python<'py>,
    device: &Arc<dyn Device>,
    inputs: &[Input<'_>],
    shape: &[u64],
    elem: Scalar,
    order: Order,
) -> PyResult<Bound<'py, PyAny>> {
    let item = elem.size() as u64;
    let bytes = shape.iter().fold(item, |bytes, &extent| bytes.saturating_mul(extent.max(1)));
    let axes = order.axes(inputs, shape);
    let extents: Vec<i64> = axes.iter().map(|&axis| shape[axis] as i64).collect();
    let mut strides = vec![0; axes.len()];
    for (&axis, stride) in axes.iter().zip(dense_strides(&extents, item as i64)) {
        strides[axis] = stride;
    }
    let memory = Bound::new(py, Memory::allocate(py, device, bytes)?)?;
    let class = py.import("weft.cuda")?.getattr("DeviceNDArray")?;
    class.call1((memory, 0, PyTuple::new(py, shape)?, PyTuple::new(py, strides)?, elem.numpy_name()))
}

/// A new array of the result's shape.
pub fn new_output<'py>(
    numpy: &Numpy,
    py: Python<'py>,
    inputs: &[Input<'_>],
    shape: &[u64],
    elem: Scalar,
    order: Order,
) -> PyResult<Bound<'py, PyAny>> {
    let axes = order.axes(inputs, shape);
    let sorted: SmallVec<[isize; 8]> = axes.iter().map(|&axis| shape[axis] as isize).collect();
    if axes.is_sorted() {
        return numpy.new_array(py, &sorted, elem, false);
    }
    if axes.iter().rev().is_sorted() {
        let shape: SmallVec<[isize; 8]> = shape.iter().map(|&n| n as isize).collect();
        return numpy.new_array(py, &shape, elem, true);
    }
    let mut back = vec![0; axes.len()];
    axes.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
    numpy.new_array(py, &sorted, elem, false)?.call_method1("transpose", (back,))
}
