//! `vectorize`: scalar functions called on arrays, with NumPy's broadcasting, casting and memory rules.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::{SmallVec, smallvec};
use weft_array::{Access, Operand, OperandPlan, Plan, broadcast_shapes, plan, ufunc_loop};
use weft_front::ArgType;
use weft_ir::{Layout, Module, Scalar};
use weft_runtime::{Executable, Launch};

use crate::bind::Args;
use crate::core::lock;
use crate::dispatcher::Dispatcher;
use crate::numpy::Numpy;
use crate::signature::{is_safe, show};
use crate::{core, errors, slots};

/// A scalar function as a ufunc, over the dispatcher that compiles the function itself.
#[pyclass(frozen, weakref, subclass, module = "weft._weft")]
pub struct Ufunc {
    #[pyo3(get)]
    _weft_dispatcher_: Py<Dispatcher>,
    scalars: Mutex<HashMap<Vec<ArgType>, Arc<ScalarLoop>>>,
    loops: Mutex<HashMap<LoopKey, Arc<Compiled>>>,
}

/// The scalar function for one row of types, and its result's type.
struct ScalarLoop {
    module: Module,
    params: Vec<Scalar>,
    result: Scalar,
}

type LoopKey = (Vec<ArgType>, usize, SmallVec<[Access; 4]>, bool);

struct Compiled {
    module: Arc<Module>,
    executable: Arc<dyn Executable>,
}

/// One operand of a call.
struct Input<'py> {
    /// Keeps the memory alive. For scalars, the object itself.
    object: Bound<'py, PyAny>,
    /// The type the function sees: weak for Python numbers.
    ty: ArgType,
    elem: Scalar,
    array: Option<Geometry>,
    /// A scalar's bits; its address is its view's data pointer.
    bits: [u64; 2],
}

/// An array's place in memory.
#[derive(Clone, Debug, Default, PartialEq)]
struct Geometry {
    data: u64,
    shape: SmallVec<[u64; 4]>,
    strides: SmallVec<[i64; 4]>,
    item: u64,
    layout: Option<Layout>,
}

#[pymethods]
impl Ufunc {
    #[new]
    fn new(dispatcher: Py<Dispatcher>) -> Ufunc {
        Ufunc {
            _weft_dispatcher_: dispatcher,
            scalars: Mutex::default(),
            loops: Mutex::default(),
        }
    }

    /// Calls the function on every point of the broadcast operands. An output may follow the inputs or be given as `out`.
    #[pyo3(signature = (*args, out=None, r#where=None, dtype=None, casting="same_kind", order="K"))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        out: Option<Bound<'py, PyAny>>,
        r#where: Option<Bound<'py, PyAny>>,
        dtype: Option<Bound<'py, PyAny>>,
        casting: &str,
        order: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let numpy = Numpy::get(py)?;
        let (mut inputs, out) = self.operands(numpy, args, out)?;
        let mask = match r#where {
            Some(mask) if !mask.extract::<bool>().is_ok_and(|all| all) => Some(self.mask(numpy, &mask)?),
            _ => None,
        };
        let dtype = dtype.filter(|d| !d.is_none()).map(|d| elem_of(numpy, &d)).transpose()?;
        let (types, scalar) = self.choose(py, &inputs, dtype)?;
        check_inputs(&inputs, &scalar, casting)?;

        let shape = common_shape(&inputs, mask.as_ref(), out.as_ref().map(|o| numpy.fields(o).shape))?;
        let (output, fresh) = match out {
            Some(out) => (check_output(numpy, out, scalar.result, casting)?, false),
            None => (new_output(numpy, py, &inputs, &shape, dtype.unwrap_or(scalar.result), order)?, true),
        };
        let target = Input::array(numpy, output.clone())?;
        for input in &mut inputs {
            input.part_from(numpy, &target)?;
        }
        let mask = mask.map(|mut mask| mask.part_from(numpy, &target).map(|()| mask)).transpose()?;
        self.run(py, types, &scalar, &shape, &inputs, &target, mask.as_ref())?;
        if fresh && shape.is_empty() {
            output.get_item(PyTuple::empty(py))
        } else {
            Ok(output)
        }
    }

    /// Number of inputs.
    #[getter]
    fn nin(&self) -> usize {
        self.arity()
    }

    /// Number of outputs.
    #[getter]
    fn nout(&self) -> usize {
        1
    }

    #[getter]
    fn nargs(&self) -> usize {
        self.arity() + 1
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self._weft_dispatcher_.get().core.captured.name
    }

    /// Argument types of every loop, as specs that `weft.types` makes objects of.
    fn _known<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let declared = &self._weft_dispatcher_.get().core.signatures;
        let rows: Vec<Vec<ArgType>> = if declared.is_empty() {
            lock(&self.scalars).keys().cloned().collect()
        } else {
            declared.iter().map(|s| s.args.clone()).collect()
        };
        let specs = rows.iter().map(|row| {
            let types = row.iter().map(|ty| crate::signature::write(py, ty)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, types)
        });
        specs.collect()
    }

    /// `[text]` of every compiled loop, in the form the device has it.
    fn _inspect<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyList>> {
        let loops: Vec<Arc<Compiled>> = lock(&self.loops).values().cloned().collect();
        let kind = crate::dispatcher::inspect_kind(what);
        let texts = loops.iter().map(|compiled| {
            let text = py.detach(|| compiled.executable.inspect(kind));
            text.map_err(|e| errors::compile(py, &e, &compiled.module.sources))
        });
        PyList::new(py, texts.collect::<PyResult<Vec<_>>>()?)
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self._weft_dispatcher_.get().core.captured.function.bind(py).getattr(name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self._weft_dispatcher_)
    }

    fn __repr__(&self) -> String {
        format!("<weft ufunc {}>", self.__name__())
    }
}

impl Ufunc {
    fn arity(&self) -> usize {
        self._weft_dispatcher_.get().core.captured.params.len()
    }

    /// The inputs, and the output if one was passed by position or name.
    fn operands<'py>(
        &self,
        numpy: &Numpy,
        args: &Bound<'py, PyTuple>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Input<'py>>, Option<Bound<'py, PyAny>>)> {
        let arity = self.arity();
        let mut out = match out.filter(|o| !o.is_none()) {
            Some(out) => match out.cast::<PyTuple>() {
                Ok(items) if items.len() == 1 => Some(items.get_item(0)?),
                _ => Some(out),
            },
            None => None,
        };
        if args.len() == arity + 1 && out.is_none() {
            out = Some(args.get_item(arity)?);
        } else if args.len() != arity {
            return Err(errors::new(
                args.py(),
                "ArgumentError",
                format!(
                    "{}() takes {arity} operands and an optional output, {} were given",
                    self.__name__(),
                    args.len()
                ),
            ));
        }
        let inputs = args
            .iter()
            .take(arity)
            .map(|object| Input::new(numpy, object))
            .collect::<PyResult<_>>()?;
        Ok((inputs, out))
    }

    fn mask<'py>(&self, numpy: &Numpy, object: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        let mask = Input::new(numpy, object.clone())?;
        if mask.elem != Scalar::Bool {
            return Err(PyTypeError::new_err(format!(
                "where must be an array of bool, not of {}",
                mask.elem.numpy_name()
            )));
        }
        Ok(mask)
    }

    /// The types to call the scalar function with: of the inputs, or of the first declared signature they can be cast to safely.
    fn choose(&self, py: Python<'_>, inputs: &[Input<'_>], dtype: Option<Scalar>) -> PyResult<(Vec<ArgType>, Arc<ScalarLoop>)> {
        let declared = &self._weft_dispatcher_.get().core.signatures;
        if declared.is_empty() {
            let types: Vec<ArgType> = match dtype {
                Some(dtype) => vec![ArgType::Strong(dtype); inputs.len()],
                None => inputs.iter().map(|input| input.ty.clone()).collect(),
            };
            let scalar = self.scalar(py, &types)?;
            return Ok((types, scalar));
        }
        for signature in declared {
            if signature.args.len() != inputs.len() {
                continue;
            }
            let scalar = self.scalar(py, &signature.args)?;
            let fits = match dtype {
                Some(dtype) => scalar.result == dtype,
                None => inputs.iter().zip(&scalar.params).all(|(input, &param)| input.casts_to(param)),
            };
            if fits {
                return Ok((signature.args.clone(), scalar));
            }
        }
        let given: Vec<ArgType> = inputs.iter().map(|input| input.ty.clone()).collect();
        let known: Vec<String> = declared.iter().map(|s| format!("  {}", show(&s.args))).collect();
        Err(errors::typing(
            py,
            format!(
                "{} has no loop for {}; it was declared for\n{}",
                self.__name__(),
                show(&given),
                known.join("\n")
            ),
        ))
    }

    fn scalar(&self, py: Python<'_>, types: &[ArgType]) -> PyResult<Arc<ScalarLoop>> {
        if let Some(found) = lock(&self.scalars).get(types) {
            return Ok(found.clone());
        }
        let core = &self._weft_dispatcher_.get().core;
        let (module, result) = core.front(py, types)?;
        let entry = module.entry_function();
        let params: Option<Vec<Scalar>> = entry.params.iter().map(|&p| entry.ty(p).scalar()).collect();
        let declared = core.signatures.iter().find(|s| s.args == types).and_then(|s| s.result.clone());
        let (Some(params), Some(_), ArgType::Strong(result) | ArgType::Weak(result)) =
            (params, entry.result.scalar(), declared.unwrap_or(result))
        else {
            return Err(errors::typing(
                py,
                format!(
                    "{} takes or returns something that is not a number, which an array cannot hold",
                    self.__name__()
                ),
            ));
        };
        let made = Arc::new(ScalarLoop { module, params, result });
        lock(&self.scalars).insert(types.to_vec(), made.clone());
        Ok(made)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    fn run(
        &self,
        py: Python<'_>,
        types: Vec<ArgType>,
        scalar: &ScalarLoop,
        shape: &[u64],
        inputs: &[Input<'_>],
        target: &Input<'_>,
        mask: Option<&Input<'_>>,
    ) -> PyResult<()> {
        // The output goes last into the plan, whose axes follow its strides; the loop wants the mask after it.
        let walked: Vec<&Input<'_>> = inputs.iter().chain(mask).chain([target]).collect();
        let geometry: Vec<Geometry> = walked.iter().map(|input| input.geometry()).collect();
        let operands: Vec<Operand<'_>> = geometry
            .iter()
            .map(|g| Operand {
                shape: &g.shape,
                strides: &g.strides,
                item: g.item,
            })
            .collect();
        let plan = plan(shape, &operands);
        if plan.extents.contains(&0) {
            return Ok(());
        }
        let compiled = self.compiled(py, types, scalar, &plan, &walked, mask.is_some())?;
        let mut args = Args::default();
        let n = inputs.len();
        let last = walked.len() - 1;
        for at in (0..n).chain([last]).chain(n..last) {
            push_view(&mut args, geometry[at].data, &plan.operands[at]);
        }
        core::run(
            py,
            &compiled.executable,
            &compiled.module,
            Launch::Loop(plan.extents),
            &args.slots,
            &mut [],
        )?;
        Ok(())
    }

    fn compiled(
        &self,
        py: Python<'_>,
        types: Vec<ArgType>,
        scalar: &ScalarLoop,
        plan: &Plan,
        walked: &[&Input<'_>],
        masked: bool,
    ) -> PyResult<Arc<Compiled>> {
        let access: SmallVec<[Access; 4]> = walked
            .iter()
            .zip(&plan.operands)
            .map(|(input, operand)| access(input.elem, operand))
            .collect();
        let rank = plan.extents.len();
        let key = (types, rank, access, masked);
        if let Some(found) = lock(&self.loops).get(&key) {
            return Ok(found.clone());
        }
        let access = &key.2;
        let last = access.len() - 1;
        let inputs = last - usize::from(masked);
        let mask = masked.then(|| access[inputs]);
        let module = ufunc_loop(scalar.module.clone(), rank as u8, &access[..inputs], access[last], mask)
            .map_err(|e| errors::typing(py, format!("{}: {e}", self.__name__())))?;
        let module = Arc::new(module);
        let executable = self._weft_dispatcher_.get().core.device(py, module.clone())?;
        let made = Arc::new(Compiled { module, executable });
        lock(&self.loops).insert(key, made.clone());
        Ok(made)
    }
}

fn access(elem: Scalar, operand: &OperandPlan) -> Access {
    Access {
        elem,
        axes: operand.axes,
        layout: operand.layout,
    }
}

fn push_view(args: &mut Args, data: u64, operand: &OperandPlan) {
    args.slots.push(data);
    args.slots.extend_from_slice(&operand.shape);
    args.slots.extend(operand.strides.iter().map(|&s| s as u64));
}

impl<'py> Input<'py> {
    fn new(numpy: &Numpy, object: Bound<'py, PyAny>) -> PyResult<Input<'py>> {
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

    fn array(numpy: &Numpy, object: Bound<'py, PyAny>) -> PyResult<Input<'py>> {
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
            object,
            bits: [0; 2],
        })
    }

    /// Where the loop finds the operand: its array, or its own bits as an array of rank 0.
    fn geometry(&self) -> Geometry {
        self.array.clone().unwrap_or_else(|| Geometry {
            data: self.bits.as_ptr() as u64,
            item: self.elem.size() as u64,
            ..Geometry::default()
        })
    }

    fn casts_to(&self, param: Scalar) -> bool {
        match self.ty {
            ArgType::Weak(scalar) => scalar.kind() <= param.kind() || (scalar.is_int() && param.is_int()),
            _ => is_safe(self.elem, param),
        }
    }

    /// Copies an array that shares memory with the output, unless both are the very same elements in the same places.
    fn part_from(&mut self, numpy: &Numpy, output: &Input<'_>) -> PyResult<()> {
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

fn elem_of(numpy: &Numpy, dtype: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    let py = dtype.py();
    let full = py.import("numpy")?.call_method1("dtype", (dtype,))?;
    let ty = full.getattr("type")?.cast_into::<pyo3::types::PyType>()?;
    numpy
        .scalar_of_type(ty.as_type_ptr())
        .ok_or_else(|| errors::typing(py, format!("dtype {full} has no type in Weft")))
}

/// An input is cast to the function's parameter; weak numbers always may be.
fn check_inputs(inputs: &[Input<'_>], scalar: &ScalarLoop, casting: &str) -> PyResult<()> {
    for (input, &param) in inputs.iter().zip(&scalar.params) {
        if matches!(input.ty, ArgType::Strong(_)) && !can_cast(input.elem, param, casting) {
            return Err(cannot_cast("input", input.elem, param, casting));
        }
    }
    Ok(())
}

fn cannot_cast(what: &str, from: Scalar, to: Scalar, casting: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "cannot cast the {what} from {} to {} with casting rule '{casting}'",
        from.numpy_name(),
        to.numpy_name()
    ))
}

fn can_cast(from: Scalar, to: Scalar, casting: &str) -> bool {
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

fn common_shape(inputs: &[Input<'_>], mask: Option<&Input<'_>>, out: Option<&[isize]>) -> PyResult<SmallVec<[u64; 4]>> {
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

fn check_output<'py>(numpy: &Numpy, out: Bound<'py, PyAny>, result: Scalar, casting: &str) -> PyResult<Bound<'py, PyAny>> {
    if !numpy.is_array(&out) {
        return Err(PyTypeError::new_err("the output must be an array"));
    }
    let fields = numpy.fields(&out);
    if !fields.writable {
        return Err(PyValueError::new_err("output array is read-only"));
    }
    if let Some(elem) = fields.elem
        && !can_cast(result, elem, casting)
    {
        return Err(cannot_cast("output", result, elem, casting));
    }
    Ok(out)
}

/// The axes by falling strides, if the array inputs of full rank agree on an order that is not C's.
fn axis_order(inputs: &[Input<'_>], rank: usize) -> Option<Vec<usize>> {
    let orders = inputs
        .iter()
        .filter_map(|i| i.array.as_ref())
        .filter(|a| a.shape.len() == rank)
        .map(|array| {
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.sort_by_key(|&axis| std::cmp::Reverse(array.strides[axis].unsigned_abs()));
            axes
        });
    let mut orders = orders.peekable();
    let first = orders.peek()?.clone();
    (orders.all(|other| other == first) && !first.is_sorted()).then_some(first)
}

/// A new array of the result's shape; `K` keeps Fortran order where every array input has it.
fn new_output<'py>(
    numpy: &Numpy,
    py: Python<'py>,
    inputs: &[Input<'_>],
    shape: &[u64],
    elem: Scalar,
    order: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let mut arrays = inputs
        .iter()
        .filter_map(|i| i.array.as_ref())
        .filter(|a| !a.shape.is_empty())
        .peekable();
    let fortran = arrays.peek().is_some() && arrays.all(|a| a.layout == Some(Layout::F));
    let fortran = match order {
        "F" => true,
        "C" => false,
        _ => fortran,
    };
    let shape: SmallVec<[isize; 8]> = shape.iter().map(|&n| n as isize).collect();
    match axis_order(inputs, shape.len()) {
        Some(axes) if order == "K" && !fortran => {
            let sorted: SmallVec<[isize; 8]> = axes.iter().map(|&axis| shape[axis]).collect();
            let mut back = vec![0; axes.len()];
            axes.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
            numpy.new_array(py, &sorted, elem, false)?.call_method1("transpose", (back,))
        }
        _ => numpy.new_array(py, &shape, elem, fortran),
    }
}
