//! Adjoints of compiled functions and kernels: a call `(args, adjoints, cotangent)` becomes one of the code that `weft_passes::adjoint` makes.
//!
//! The slots of such a call are those of the arguments, then of the arrays that gradients are added to, then of the result's cotangent; the
//! code's parameters stand in the same order.

use std::collections::HashSet;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;
use weft_front::{ArgType, Compiled, Role};
use weft_ir::{Module, Scalar, SourceId, ViewType};
use weft_passes::PassError;
use weft_passes::adjoint::{self, Cotangent, Derive, Request};
use weft_runtime::{CompileError, Device};

use crate::bind::{self, Args};
use crate::core::Core;
use crate::errors;
use crate::numpy::{ArrayFields, Numpy};

/// What such a call is given, in order.
const PARAMS: [&str; 3] = ["args", "adjoints", "cotangent"];

/// Binds a call of an adjoint.
pub fn bind(numpy: &Numpy, args: &Bound<'_, PyTuple>) -> PyResult<Args> {
    if args.len() != PARAMS.len() {
        return Err(PyTypeError::new_err(
            "an adjoint takes the arguments, their adjoints and the cotangent",
        ));
    }
    let mut bound = Args::default();
    for (object, name) in args.iter().zip(PARAMS) {
        bind::bind(numpy, &object, &|| name.into(), &mut bound)?;
    }
    Ok(bound)
}

/// What is asked of the adjoint, parameter by parameter.
#[derive(Default)]
struct Asked {
    params: Vec<Derive>,
    imaginary: HashSet<usize>,
    /// The types of the gradients that are returned.
    returned: Vec<ArgType>,
    kernel: bool,
}

impl Asked {
    fn push(&mut self, derive: Derive) {
        self.params.push(derive);
    }

    fn take(&mut self, name: &str, arg: &ArgType, adjoint: &ArgType, inner: bool) -> Result<(), String> {
        match arg {
            ArgType::None | ArgType::Object { .. } => self.nothing(name, adjoint, 0),
            ArgType::Tuple(items) => match adjoint {
                ArgType::None => items.iter().try_for_each(|item| self.take(name, item, &ArgType::None, true)),
                ArgType::Tuple(given) if given.len() == items.len() => {
                    let mut pairs = items.iter().zip(given.iter());
                    pairs.try_for_each(|(item, adjoint)| self.take(name, item, adjoint, true))
                }
                _ => Err(format!("the adjoint of {name}, a tuple, is a tuple as long, or None")),
            },
            ArgType::Weak(scalar) | ArgType::Strong(scalar) => self.scalar(name, arg, *scalar, adjoint, inner),
            ArgType::Array(view) => match adjoint {
                ArgType::None => self.nothing(name, adjoint, 1),
                ArgType::Array(given) => {
                    if given.elem != view.elem || given.rank != view.rank || !given.writable {
                        return Err(format!(
                            "the adjoint of {name} has to be a writable array of the same shape and dtype: {} of {} axes",
                            view.elem.numpy_name(),
                            view.rank
                        ));
                    }
                    if !view.elem.is_float() && !view.elem.is_complex() {
                        return Err(format!(
                            "{name} is an array of {}, which has no derivative: its adjoint is None",
                            view.elem.numpy_name()
                        ));
                    }
                    self.push(Derive::Shadow(*given));
                    Ok(())
                }
                _ => Err(format!("the adjoint of {name} is an array, or None")),
            },
        }
    }

    fn scalar(&mut self, name: &str, arg: &ArgType, scalar: Scalar, adjoint: &ArgType, inner: bool) -> Result<(), String> {
        let parts = 1 + usize::from(scalar.is_complex());
        let is_float = scalar.is_float() || scalar.is_complex();
        match adjoint {
            ArgType::None if is_float && !inner && !self.kernel => {
                if parts == 2 {
                    self.imaginary.insert(self.params.len() + 1);
                }
                (0..parts).for_each(|_| self.push(Derive::Return));
                self.returned.push(arg.clone());
                Ok(())
            }
            ArgType::Array(given) if self.kernel && scalar.is_float() => {
                if given.elem != scalar || given.rank != 1 || !given.writable {
                    return Err(format!(
                        "the adjoint of {name}, a number, is a writable array of one {}",
                        scalar.numpy_name()
                    ));
                }
                self.push(Derive::Shadow(*given));
                Ok(())
            }
            adjoint => self.nothing(name, adjoint, parts),
        }
    }

    /// It has no derivative.
    fn nothing(&mut self, name: &str, adjoint: &ArgType, parts: usize) -> Result<(), String> {
        (0..parts).for_each(|_| self.push(Derive::None));
        match adjoint {
            ArgType::None => Ok(()),
            _ => Err(format!("the adjoint of {name} is None: {name} takes no array for its gradient")),
        }
    }
}

/// The cotangents of a result's parts, and which of these are imaginary.
#[derive(Default)]
struct Given {
    results: Vec<Cotangent>,
    imaginary: HashSet<usize>,
}

impl Given {
    /// That of a whole result: 1 for a float, where none is given.
    fn whole(&mut self, result: &ArgType, cotangent: &ArgType) -> Result<(), String> {
        match (result, cotangent) {
            (ArgType::Weak(scalar) | ArgType::Strong(scalar), ArgType::None) if scalar.is_float() => {
                self.results.push(Cotangent::One);
                Ok(())
            }
            (ArgType::None | ArgType::Object { .. }, _) => self.take(result, cotangent),
            (_, ArgType::None) => Err("give the cotangent of what the function returns: without one it returns a float".into()),
            _ => self.take(result, cotangent),
        }
    }

    fn take(&mut self, result: &ArgType, cotangent: &ArgType) -> Result<(), String> {
        match (result, cotangent) {
            (ArgType::None | ArgType::Object { .. }, ArgType::None) => Ok(()),
            (ArgType::None | ArgType::Object { .. }, _) => Err("the function returns nothing: there is no cotangent to give".into()),
            (ArgType::Tuple(items), ArgType::Tuple(given)) if items.len() == given.len() => {
                items.iter().zip(given.iter()).try_for_each(|(item, given)| self.take(item, given))
            }
            (ArgType::Tuple(items), ArgType::None) => items.iter().try_for_each(|item| self.take(item, &ArgType::None)),
            (ArgType::Tuple(items), _) => Err(format!(
                "the function returns {} values: the cotangent is a tuple of as many",
                items.len()
            )),
            (ArgType::Weak(scalar) | ArgType::Strong(scalar), ArgType::None) => {
                (0..1 + usize::from(scalar.is_complex())).for_each(|_| self.results.push(Cotangent::None));
                Ok(())
            }
            (ArgType::Weak(scalar) | ArgType::Strong(scalar), ArgType::Weak(given) | ArgType::Strong(given)) => {
                if scalar.is_complex() != given.is_complex() || !(given.is_float() || given.is_complex()) {
                    return Err(format!(
                        "the function returns {}: its cotangent is one, too, not {}",
                        scalar.numpy_name(),
                        given.numpy_name()
                    ));
                }
                if scalar.is_complex() {
                    self.imaginary.insert(self.results.len() + 1);
                    self.results.push(Cotangent::Scalar(given.part()));
                }
                let active = scalar.is_float() || scalar.is_complex();
                self.results.push(if active {
                    Cotangent::Scalar(given.part())
                } else {
                    Cotangent::Ignored(*given)
                });
                Ok(())
            }
            (ArgType::Array(_), ArgType::None) => {
                self.results.push(Cotangent::None);
                Ok(())
            }
            (ArgType::Array(view), ArgType::Array(given)) if view.elem == given.elem && view.rank == given.rank => {
                self.results.push(Cotangent::View(ViewType { writable: false, ..*given }));
                Ok(())
            }
            (ArgType::Array(view), _) => Err(format!(
                "the function returns an array: its cotangent is one of the same shape and dtype ({} of {} axes)",
                view.elem.numpy_name(),
                view.rank
            )),
            (_, _) => Err("the cotangent does not fit what the function returns".into()),
        }
    }
}

/// The adjoint for a call with these types.
pub fn compiled(core: &Core, py: Python<'_>, device: &std::sync::Arc<dyn Device>, types: &[ArgType]) -> PyResult<Compiled> {
    let [ArgType::Tuple(args), ArgType::Tuple(adjoints), cotangent] = types else {
        return Err(PyTypeError::new_err("the arguments and their adjoints are tuples"));
    };
    let name = &core.captured.name;
    if args.len() != adjoints.len() {
        return Err(PyValueError::new_err(format!(
            "{name}: {} arguments and {} adjoints were given; there is one for each, or None",
            args.len(),
            adjoints.len()
        )));
    }
    let float64 = device.limits().float64;
    let args: Vec<ArgType> = args.iter().map(|arg| if float64 { arg.clone() } else { arg.narrowed() }).collect();
    let cotangent = if float64 { cotangent.clone() } else { cotangent.narrowed() };
    let primal = core.front_of_primal(py, device, &args)?;
    let mut asked = Asked {
        kernel: core.options.role == Role::Kernel,
        ..Asked::default()
    };
    let mut given = Given::default();
    let names = core
        .captured
        .params
        .iter()
        .map(String::as_str)
        .chain(std::iter::repeat("an argument"));
    let mut pairs = args.iter().zip(adjoints.iter()).zip(names);
    let fits = pairs
        .try_for_each(|((arg, adjoint), name)| asked.take(name, arg, adjoint, false))
        .and_then(|()| given.whole(&primal.result, &cotangent));
    fits.map_err(|message| errors::typing(py, format!("{name}: {message}")))?;
    let request = Request {
        params: asked.params,
        results: given.results,
        imaginary_params: asked.imaginary,
        imaginary_results: given.imaginary,
        library: &|name, by| weft_front::derivative(name, by, float64),
    };
    let module = adjoint::run(&primal.module, &request).map_err(|e| refused(py, e, &primal.module))?;
    Ok(Compiled {
        library: library_sources(&module, primal.library),
        module,
        result: match core.options.role {
            Role::Kernel => ArgType::None,
            _ => ArgType::Tuple(asked.returned.into()),
        },
        types: Vec::new(),
        checked: primal.checked,
    })
}

/// The scalar function `(x1, …, xn, g)` that gives the gradient by the parameter `by`.
pub fn pullback(py: Python<'_>, primal: Compiled, by: usize, float64: bool) -> PyResult<Compiled> {
    let library = |name: &str, by: usize| weft_front::derivative(name, by, float64);
    let module = adjoint::pullback(&primal.module, by, &library).map_err(|e| refused(py, e, &primal.module))?;
    let entry = module.entry_function();
    let result = entry.result.scalar().unwrap_or(Scalar::F64);
    Ok(Compiled {
        library: library_sources(&module, primal.library),
        module,
        result: ArgType::Strong(result),
        types: Vec::new(),
        checked: primal.checked,
    })
}

/// Which sources are Weft's own: those that were, and those that came with derivatives.
fn library_sources(module: &Module, known: HashSet<SourceId>) -> HashSet<SourceId> {
    let own = module
        .sources
        .iter()
        .enumerate()
        .filter(|(_, source)| source.file.starts_with("<weft "));
    known.into_iter().chain(own.map(|(at, _)| SourceId(at as u32))).collect()
}

fn refused(py: Python<'_>, error: PassError, module: &Module) -> PyErr {
    let error = CompileError::Unsupported {
        message: error.message,
        span: error.span,
    };
    errors::compile(py, &error, &module.sources)
}

/// Refuses arguments that share memory with one that the primal writes to: the adjoint takes them for apart.
pub fn check_apart(name: &str, module: &Module, slots: &[u64]) -> PyResult<()> {
    let entry = module.entry_function();
    let mut spans: Vec<(&str, u64, u64)> = Vec::new();
    let mut at = 0;
    for param in &entry.params {
        let ty = entry.ty(*param);
        if let Some(view) = ty.view() {
            let rank = usize::from(view.rank);
            let row = |from: usize| -> Vec<isize> { slots.iter().skip(from).take(rank).map(|n| *n as isize).collect() };
            let (data, shape, strides) = (slots.get(at).copied().unwrap_or(0), row(at + 1), row(at + 1 + rank));
            if let Some((low, high)) = crate::numpy::bounds(data, &shape, &strides, view.elem.size()) {
                spans.push((entry.values[param.index()].name.as_deref().unwrap_or_default(), low, high));
            }
        }
        at += ty.slots();
    }
    for (i, (first, low, high)) in spans.iter().enumerate() {
        for (second, start, end) in &spans[..i] {
            let written = first.ends_with(adjoint::WRITTEN) || second.ends_with(adjoint::WRITTEN);
            if written && low < end && start < high {
                let plain = |name: &str| name.trim_end_matches(adjoint::WRITTEN).to_owned();
                return Err(PyValueError::new_err(format!(
                    "{name}: {} and {} may share memory, and the function writes to it; its gradient takes arrays that are apart",
                    plain(second),
                    plain(first)
                )));
            }
        }
    }
    Ok(())
}

/// Are these plain cases, of which most calls of adjoints are: NumPy's arrays whose adjoints have their shapes and lie nowhere near others,
/// and arguments without adjoints? What this is not sure of is looked at more closely, in Python.
#[pyfunction]
#[pyo3(name = "_fits_plainly")]
pub fn fits_plainly(args: &Bound<'_, PyTuple>, adjoints: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let numpy = Numpy::get(args.py())?;
    let mut spans: SmallVec<[(bool, u64, u64); 8]> = SmallVec::new();
    for (arg, adjoint) in args.iter().zip(adjoints.iter()) {
        let given = numpy.is_exact_array(&arg);
        if !given && !(adjoint.is_none() && (arg.is_exact_instance_of::<PyFloat>() || arg.is_exact_instance_of::<PyInt>())) {
            return Ok(false);
        }
        if !given {
            continue;
        }
        let of = numpy.fields(&arg);
        let Some(elem) = of.elem else { return Ok(false) };
        spans.extend(span(&of, elem).map(|(low, high)| (false, low, high)));
        if adjoint.is_none() {
            continue;
        }
        if !numpy.is_exact_array(&adjoint) {
            return Ok(false);
        }
        let own = numpy.fields(&adjoint);
        let Some(elem) = own.elem.filter(|_| own.shape == of.shape && !own.shape.is_empty()) else {
            return Ok(false);
        };
        spans.extend(span(&own, elem).map(|(low, high)| (true, low, high)));
    }
    let meets = |(at, (is_adjoint, low, high)): (usize, &(bool, u64, u64))| {
        let others = spans[..at].iter().filter(|(other, ..)| *is_adjoint || *other);
        others.clone().any(|(_, start, end)| low < end && start < high)
    };
    Ok(!spans.iter().enumerate().any(meets))
}

/// The addresses between which an array lies, which has elements.
fn span(fields: &ArrayFields<'_>, elem: Scalar) -> Option<(u64, u64)> {
    crate::numpy::bounds(fields.data, fields.shape, fields.strides, elem.size())
}
