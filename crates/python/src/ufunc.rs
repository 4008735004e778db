//! `vectorize`: scalar functions called on arrays, with NumPy's broadcasting, casting and memory rules.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use smallvec::SmallVec;
use weft_array::{Access, Operand, OperandPlan, Plan, plan, ufunc_loop};
use weft_front::ArgType;
use weft_ir::{Module, Scalar, SourceId};
use weft_lazy::operation::Operation;
use weft_lazy::{machine, record};
use weft_runtime::{CallOptions, Device, DeviceId, Executable, Launch, Stream, lock};

use crate::array::DeviceArray;
use crate::bind::Args;
use crate::dispatcher::Dispatcher;
use crate::lazy::vectorized::{self, Call};
use crate::lazy::{self, NdArray, taping};
use crate::numpy::Numpy;
use crate::operand::{
    Geometry, Input, Order, check_casting, check_inputs, check_output, check_result, common_shape, elem_of, new_device_output, new_output,
    shape_of,
};
use crate::signature::show;
use crate::stream::PyStream;
use crate::{adjoint, core, devices, dlpack, errors};

/// A scalar function as a ufunc, over the dispatcher that compiles the function itself.
#[pyclass(frozen, weakref, subclass, module = "weft._weft")]
pub struct Ufunc {
    #[pyo3(get)]
    _weft_dispatcher_: Py<Dispatcher>,
    /// Runs on the current device instead of the CPU.
    follows_device: bool,
    /// It is the function of the operands and a cotangent that gives the gradient by this operand, or that of this one by another, and so on.
    pullbacks: Vec<usize>,
    scalars: Mutex<HashMap<ScalarKey, Arc<ScalarLoop>>>,
    /// What draws of random numbers apply, with the types of their parameters.
    drawn: OnceLock<(String, &'static Operation)>,
    loops: Mutex<HashMap<LoopKey, Arc<Compiled>>>,
    /// What the last call took of these two, which the next one often takes again.
    last: Mutex<Option<(ScalarKey, Arc<ScalarLoop>)>>,
    last_loop: Mutex<Option<(LoopKey, Arc<Compiled>)>>,
}

/// The scalar function for one row of types, and its result's type.
struct ScalarLoop {
    module: Module,
    params: Vec<Scalar>,
    result: Scalar,
    checked: bool,
    library: HashSet<SourceId>,
    /// What it is to lazy arrays, once it has been applied to some: none if it is run at once.
    operation: OnceLock<Option<&'static Operation>>,
}

impl ScalarLoop {
    fn operation(&self, name: &str) -> PyResult<Option<&'static Operation>> {
        if let Some(known) = self.operation.get() {
            return Ok(*known);
        }
        let made = match !self.checked && vectorized::is_pure(&self.module, self.params.len()) {
            true => Some(vectorized::operation(name, &self.module, &self.library, &self.params)?),
            false => None,
        };
        Ok(*self.operation.get_or_init(|| made))
    }
}

/// Types, and whether the device has float64.
type ScalarKey = (Vec<ArgType>, bool);

type LoopKey = (DeviceId, Vec<ArgType>, usize, SmallVec<[Access; 4]>, bool);

/// Where the results of a call go: to an output, or a new array of a dtype, whose elements lie in an order.
struct Target<'py> {
    out: Option<Bound<'py, PyAny>>,
    dtype: Option<Bound<'py, PyAny>>,
    order: Order,
}

struct Compiled {
    module: Arc<Module>,
    executable: Arc<dyn Executable>,
}

#[pymethods]
impl Ufunc {
    #[new]
    #[pyo3(signature = (dispatcher, follows_device, pullbacks=Vec::new()))]
    fn new(py: Python<'_>, dispatcher: Py<Dispatcher>, follows_device: bool, pullbacks: Vec<usize>) -> PyResult<Ufunc> {
        let operands = dispatcher.get().core.captured.params.len();
        // Each derivative has one operand more than the one before.
        let beyond = pullbacks.iter().enumerate().find(|(at, by)| **by >= operands + at);
        if let Some((_, by)) = beyond {
            return Err(PyTypeError::new_err(format!("there is no operand {by}: there are {operands}")));
        }
        dispatcher.get().core.captured.refuse_variadic(py, "a ufunc")?;
        Ok(Ufunc {
            _weft_dispatcher_: dispatcher,
            follows_device,
            pullbacks,
            scalars: Mutex::default(),
            drawn: OnceLock::new(),
            loops: Mutex::default(),
            last: Mutex::default(),
            last_loop: Mutex::default(),
        })
    }

    /// Calls the function on every point of the broadcast operands. An output may follow the inputs or be given as `out`.
    #[pyo3(signature = (*args, out=None, r#where=None, dtype=None, casting="same_kind", order=None, **others))]
    #[expect(clippy::too_many_arguments, reason = "NumPy's keywords")]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        out: Option<Bound<'py, PyAny>>,
        r#where: Option<Bound<'py, PyAny>>,
        dtype: Option<Bound<'py, PyAny>>,
        casting: &str,
        order: Option<&str>,
        others: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (args.py(), slf.get());
        let numpy = Numpy::get(py)?;
        others.map_or(Ok(()), |others| this.refuse_keywords(others))?;
        let order = Order::of(order)?;
        let (args, out) = this.output(args, out)?;
        if vectorized::is_among(&args, &[out.as_ref(), r#where.as_ref()]) {
            return Ufunc::lazily(slf, &args, out, r#where, dtype, casting, order);
        }
        let inputs = this.inputs(numpy, &args)?;
        let (target, stream) = (Target { out, dtype, order }, None);
        this.computed(py, numpy, inputs, target, r#where, casting, stream)
    }

    /// Calls the function in the order of a stream, `None` for the default one: the operands are followed by the output.
    #[pyo3(signature = (stream, *args))]
    fn _run_on<'py>(&self, stream: Option<&PyStream>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = Numpy::get(args.py())?;
        let (args, out) = self.output(args, None)?;
        let target = Target {
            out,
            dtype: None,
            order: Order::Keep,
        };
        self.computed(args.py(), numpy, self.inputs(numpy, &args)?, target, None, "same_kind", stream)
    }

    /// Calls the function on tensors of other libraries in the host's memory, which DLPack's capsules tell of, and on numbers; the output
    /// follows them. It has their common shape, lies apart from them, and has a type that the result can be cast to.
    #[pyo3(signature = (*args))]
    fn _on_tensors(&self, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = args.py();
        let numpy = Numpy::get(py)?;
        let mut inputs = args
            .iter()
            .map(|object| match dlpack::peek(&object)? {
                Some(tensor) => Input::of_tensor(object.clone(), &tensor),
                None => Input::new(numpy, object.clone()),
            })
            .collect::<PyResult<SmallVec<[Input<'_>; 4]>>>()?;
        let target = inputs.pop().filter(|_| inputs.len() == self.arity());
        let target = target.ok_or_else(|| errors::internal(py, format!("{} is not called with its operands", self.__name__())))?;
        let device = devices::cpu();
        let (types, scalar) = self.choose(py, device, &inputs, None, false)?;
        check_inputs(&inputs, &scalar.params, "same_kind")?;
        check_result(scalar.result, target.elem, "same_kind")?;
        let shape = target.geometry().shape;
        self.run(py, device, types, &scalar, &shape, &inputs, &target, None, None)
    }

    /// Records the function of whole numbers that count up from a position, one for each element of a shape, and of the same numbers for
    /// all: two of 64 bits, and further ones whose types stand in `kinds` by NumPy's letters. What it gives is converted to `dtype`.
    #[pyo3(signature = (shape, position, high, key, kinds="", numbers=None, dtype=None, device=None))]
    #[expect(clippy::too_many_arguments, reason = "what a random number is made of")]
    fn _draw<'py>(
        slf: &Bound<'py, Self>,
        shape: Vec<u64>,
        position: u64,
        high: u64,
        key: u64,
        kinds: &str,
        numbers: Option<&Bound<'py, PyTuple>>,
        dtype: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<NdArray> {
        let (py, this) = (slf.py(), slf.get());
        let wanted = devices::for_arrays(py, device)?;
        let home = match wanted {
            machine::CPU => wanted,
            _ => {
                let device = machine::device(wanted).map_err(|e| lazy::error(py, e))?;
                let limits = device.limits();
                // A device without these types has the numbers from the CPU, which are the same everywhere.
                if limits.float64 && limits.int64 { wanted } else { machine::CPU }
            }
        };
        let others = vectorized::numbers(kinds, numbers)?;
        let operation = match this.drawn.get() {
            Some((known, operation)) if known == kinds => operation,
            _ => this.drawn_with(py, kinds, others.iter().map(|(elem, _)| *elem))?,
        };
        let elem = match dtype.filter(|dtype| !dtype.is_none()) {
            Some(dtype) => elem_of(Numpy::get(py)?, dtype)?,
            None => operation.result,
        };
        let made = vectorized::counted(operation, home, &shape, [position, high, key], &others);
        made.map_err(|e| lazy::error(py, e))
            .and_then(|value| lazy::checked(py, record::moved(&record::cast(&value, elem), wanted)))
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
            lock(&self.scalars).keys().map(|(types, _)| types.clone()).collect()
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
    /// What a draw with parameters of these types applies.
    fn drawn_with(&self, py: Python<'_>, kinds: &str, others: impl Iterator<Item = Scalar>) -> PyResult<&'static Operation> {
        let types: Vec<ArgType> = [Scalar::U64; 3].into_iter().chain(others).map(ArgType::Strong).collect();
        let operation = self.scalar(py, devices::cpu(), &types)?.operation(self.__name__())?;
        let operation = operation.ok_or_else(|| errors::internal(py, format!("{} is no function of numbers alone", self.__name__())))?;
        self.drawn.get_or_init(|| (kinds.into(), operation));
        Ok(operation)
    }

    fn arity(&self) -> usize {
        self._weft_dispatcher_.get().core.captured.params.len() + self.pullbacks.len()
    }

    /// Computes it now, on a GPU in the order of a stream.
    #[expect(clippy::too_many_arguments, reason = "NumPy's keywords")]
    fn computed<'py>(
        &self,
        py: Python<'py>,
        numpy: &Numpy,
        mut inputs: Vec<Input<'py>>,
        target: Target<'py>,
        r#where: Option<Bound<'py, PyAny>>,
        casting: &str,
        stream: Option<&PyStream>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Target { out, dtype, order } = target;
        let mask = match r#where {
            Some(mask) if !mask.extract::<bool>().is_ok_and(|all| all) => Some(self.mask(numpy, &mask)?),
            _ => None,
        };
        let dtype = dtype.filter(|d| !d.is_none()).map(|d| elem_of(numpy, &d)).transpose()?;
        let device = self.device(py, &inputs, mask.as_ref(), out.as_ref())?;
        if !device.limits().float64 {
            inputs.iter_mut().for_each(Input::narrow);
        }
        check_casting(casting)?;
        let (types, scalar) = self.choose(py, &device, &inputs, dtype, matches!(casting, "no" | "equiv"))?;
        check_inputs(&inputs, &scalar.params, casting)?;

        let shape = common_shape(
            &inputs,
            mask.as_ref(),
            out.as_ref().map(|o| shape_of(numpy, o)).transpose()?.as_deref(),
        )?;
        let elem = dtype.unwrap_or(scalar.result);
        check_result(scalar.result, elem, casting)?;
        let (output, fresh) = match out {
            Some(out) => (check_output(numpy, out, scalar.result, casting)?, false),
            None if self.follows_device && inputs.iter().any(|input| input.memory.is_some()) => {
                (new_device_output(py, &device, &inputs, &shape, elem, order)?, false)
            }
            None => (new_output(numpy, py, &inputs, &shape, elem, order)?, true),
        };
        let target = Input::array(numpy, output.clone())?;
        for input in &mut inputs {
            input.part_from(numpy, &target)?;
        }
        let mask = mask.map(|mut mask| mask.part_from(numpy, &target).map(|()| mask)).transpose()?;
        self.run(py, &device, types, &scalar, &shape, &inputs, &target, mask.as_ref(), stream)?;
        if fresh && shape.is_empty() {
            output.get_item(PyTuple::empty(py))
        } else {
            Ok(output)
        }
    }

    /// The same of lazy arrays: recorded, if the function may be computed later.
    fn lazily<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        out: Option<Bound<'py, PyAny>>,
        r#where: Option<Bound<'py, PyAny>>,
        dtype: Option<Bound<'py, PyAny>>,
        casting: &str,
        order: Order,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (args.py(), slf.get());
        let numpy = Numpy::get(py)?;
        if order == Order::F {
            return Err(errors::unsupported(
                py,
                format!("{}: arrays of Weft's lie in C's order; leave order='F' out", this.__name__()),
            ));
        }
        let mut inputs = this.inputs(numpy, args)?;
        let mask = r#where
            .as_ref()
            .filter(|mask| !mask.extract::<bool>().is_ok_and(|all| all))
            .map(|mask| this.mask(numpy, mask))
            .transpose()?;
        let elem = dtype.as_ref().filter(|d| !d.is_none()).map(|d| elem_of(numpy, d)).transpose()?;
        check_casting(casting)?;
        let device = &vectorized::home(py, &inputs)?;
        if !device.limits().float64 {
            inputs.iter_mut().for_each(Input::narrow);
        }
        if this.device(py, &inputs, mask.as_ref(), out.as_ref())?.id() == DeviceId::CPU {
            let (_, scalar) = this.choose(py, device, &inputs, elem, matches!(casting, "no" | "equiv"))?;
            if let Some(operation) = scalar.operation(this.__name__())? {
                check_inputs(&inputs, &scalar.params, casting)?;
                taping::know(slf.as_any(), operation)?;
                common_shape(
                    &inputs,
                    mask.as_ref(),
                    out.as_ref().map(|o| shape_of(numpy, o)).transpose()?.as_deref(),
                )?;
                let gives = elem.unwrap_or(scalar.result);
                check_result(scalar.result, gives, casting)?;
                let out = out.map(|out| check_output(numpy, out, scalar.result, casting)).transpose()?;
                return Call {
                    operation,
                    params: &scalar.params,
                    device: machine::number(device).map_err(|e| lazy::error(py, e))?,
                    elem: gives,
                    inputs: &inputs,
                    mask: mask.as_ref(),
                    out,
                }
                .record(py, numpy);
            }
        }
        let keywords = PyDict::new(py);
        keywords.set_item("casting", casting)?;
        if let Some(dtype) = dtype {
            keywords.set_item("dtype", dtype)?;
        }
        if let Some(mask) = r#where {
            keywords.set_item("where", mask)?;
        }
        vectorized::at_once(py, slf.as_any(), args, out.as_ref(), &keywords)
    }

    /// Refuses keywords beyond those that a call takes, NumPy's other ones with what to do instead.
    fn refuse_keywords(&self, others: &Bound<'_, PyDict>) -> PyResult<()> {
        let Some((name, _)) = others.iter().next() else { return Ok(()) };
        let (name, of) = (name.to_string(), self.__name__());
        Err(PyTypeError::new_err(match name.as_str() {
            "signature" | "sig" => format!("{of}() takes no {name}: cast the operands, or give the result's type as dtype"),
            "subok" => format!("{of}() takes no subok: its results are plain arrays"),
            _ => format!("{of}() got an unexpected keyword argument '{name}'"),
        }))
    }

    /// The inputs, and the output if one was passed by position or name.
    fn output<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyTuple>, Option<Bound<'py, PyAny>>)> {
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
        Ok((args.get_slice(0, arity), out))
    }

    fn inputs<'py>(&self, numpy: &Numpy, args: &Bound<'py, PyTuple>) -> PyResult<Vec<Input<'py>>> {
        args.iter().map(|object| Input::new(numpy, object)).collect()
    }

    /// Where it runs: on the CPU, or where the operands are, else on the current device.
    fn device(
        &self,
        py: Python<'_>,
        inputs: &[Input<'_>],
        mask: Option<&Input<'_>>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Arc<dyn Device>> {
        let mut homes: Vec<Arc<dyn Device>> = Vec::new();
        for memory in inputs.iter().chain(mask).filter_map(|input| input.memory.as_ref()) {
            homes.push(memory.get().home().clone());
        }
        if let Some(Ok(array)) = out.map(|out| out.cast::<DeviceArray>()) {
            homes.push(array.get().home().clone());
        }
        let device = match homes.first() {
            Some(home) if self.follows_device => home.clone(),
            None if self.follows_device => return devices::current(py),
            _ => devices::cpu().clone(),
        };
        match homes.iter().find(|home| home.id() != device.id() && !home.host_accessible()) {
            None => Ok(device),
            Some(home) => Err(errors::launch(
                py,
                format!(
                    "an operand is in memory of {}, and {} runs on {}; vectorize with target='cuda' runs where the operands are",
                    home.id(),
                    self.__name__(),
                    device.id()
                ),
            )),
        }
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

    /// The types to call the scalar function with: of the inputs, or of the first declared signature they can be cast to safely, or that has
    /// just their types where it must be `exact`.
    fn choose(
        &self,
        py: Python<'_>,
        device: &Arc<dyn Device>,
        inputs: &[Input<'_>],
        dtype: Option<Scalar>,
        exact: bool,
    ) -> PyResult<(Vec<ArgType>, Arc<ScalarLoop>)> {
        let declared = &self._weft_dispatcher_.get().core.signatures;
        if declared.is_empty() {
            let types: Vec<ArgType> = match dtype {
                Some(dtype) => vec![ArgType::Strong(dtype); inputs.len()],
                None => inputs.iter().map(|input| input.ty.clone()).collect(),
            };
            let scalar = self.scalar(py, device, &types)?;
            return Ok((types, scalar));
        }
        for signature in declared {
            let mut args = signature.args.clone();
            let cotangents = inputs.len().saturating_sub(self.pullbacks.len());
            args.extend(inputs[cotangents..].iter().map(|cotangent| cotangent.ty.clone()));
            if args.len() != inputs.len() {
                continue;
            }
            let scalar = self.scalar(py, device, &args)?;
            let fits = match dtype {
                Some(dtype) => scalar.result == dtype,
                None => inputs.iter().zip(&scalar.params).all(|(input, &param)| {
                    let same = input.elem == param || !matches!(input.ty, ArgType::Strong(_));
                    input.casts_to(param) && (same || !exact)
                }),
            };
            if fits {
                return Ok((args, scalar));
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

    fn scalar(&self, py: Python<'_>, device: &Arc<dyn Device>, types: &[ArgType]) -> PyResult<Arc<ScalarLoop>> {
        let float64 = device.limits().float64;
        if let Some((key, found)) = &*lock(&self.last)
            && key.0 == types
            && key.1 == float64
        {
            return Ok(found.clone());
        }
        let key = (types.to_vec(), float64);
        let known = lock(&self.scalars).get(&key).cloned();
        if let Some(found) = known {
            *lock(&self.last) = Some((key, found.clone()));
            return Ok(found);
        }
        let core = &self._weft_dispatcher_.get().core;
        let mut compiled = core.front(py, device, &types[..types.len().saturating_sub(self.pullbacks.len())])?;
        for &by in &self.pullbacks {
            compiled = adjoint::pullback(py, compiled, by, device.limits().float64)?;
        }
        let (module, result, checked, library) = (compiled.module, compiled.result, compiled.checked, compiled.library);
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
        let made = Arc::new(ScalarLoop {
            module,
            params,
            result,
            checked,
            library,
            operation: OnceLock::new(),
        });
        lock(&self.scalars).insert(key, made.clone());
        Ok(made)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    fn run(
        &self,
        py: Python<'_>,
        device: &Arc<dyn Device>,
        types: Vec<ArgType>,
        scalar: &ScalarLoop,
        shape: &[u64],
        inputs: &[Input<'_>],
        target: &Input<'_>,
        mask: Option<&Input<'_>>,
        stream: Option<&PyStream>,
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
        let compiled = self.compiled(py, device, types, scalar, &plan, &walked, mask.is_some())?;
        let mut args = Args::default();
        let n = inputs.len();
        let last = walked.len() - 1;
        for at in (0..n).chain([last]).chain(n..last) {
            if walked[at].memory.is_none() {
                args.expect_array(plan.operands[at].shape.len(), geometry[at].item as usize, at == last);
            }
            push_view(&mut args, geometry[at].data, &plan.operands[at]);
        }
        let host_arrays = if device.host_accessible() { Vec::new() } else { args.host_arrays() };
        let options = CallOptions {
            stream: stream.map(|stream| &*stream.stream as &dyn Stream),
            host_arrays: &host_arrays,
            ..CallOptions::default()
        };
        core::run(
            py,
            &compiled.executable,
            &compiled.module,
            Launch::Loop(plan.extents),
            &args.slots,
            &mut [],
            options,
        )?;
        core::print(py, &device.take_output())
    }

    #[expect(clippy::too_many_arguments, reason = "what a loop is compiled for")]
    fn compiled(
        &self,
        py: Python<'_>,
        device: &Arc<dyn Device>,
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
        let key = (device.id(), types, rank, access, masked);
        if let Some((last, found)) = &*lock(&self.last_loop)
            && *last == key
        {
            return Ok(found.clone());
        }
        let known = lock(&self.loops).get(&key).cloned();
        if let Some(found) = known {
            *lock(&self.last_loop) = Some((key, found.clone()));
            return Ok(found);
        }
        let access = &key.3;
        let last = access.len() - 1;
        let inputs = last - usize::from(masked);
        let mask = masked.then(|| access[inputs]);
        let module = ufunc_loop(scalar.module.clone(), rank as u8, &access[..inputs], access[last], mask)
            .map_err(|e| errors::typing(py, format!("{}: {e}", self.__name__())))?;
        let module = Arc::new(module);
        let executable = self
            ._weft_dispatcher_
            .get()
            .core
            .compile(py, device, module.clone(), scalar.checked)?;
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
