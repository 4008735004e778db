//! What the free names of a Python function stand for.
//!
//! The front end knows modules and functions by canonical paths; this file finds the path of a Python object, or freezes its value.

use std::collections::HashMap;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCode, PyComplex, PyComplexMethods, PyDict, PyFloat, PyFunction, PyInt, PyModule, PyString, PyTuple, PyType,
};
use weft_front::{Decorated, EnumClass, EnumMember, Environment, FunctionSource, Items, Object};
use weft_ir::{Scalar, Source};

use crate::dispatcher::Dispatcher;
use crate::errors;
use crate::frozen::Frozen;
use crate::lazy::{NdArray, calls};
use crate::numpy::Numpy;
use crate::objects;
use crate::slots::Number;

/// `co_flags` of a function with `*args` and `**kwargs`.
const VARARGS: u32 = 0x4;
const VARKEYWORDS: u32 = 0x8;

/// A function object with its source text, ready to be compiled or called from others.
pub struct Captured {
    pub function: Py<PyFunction>,
    pub name: String,
    /// Its name in the source, which it may have lost since.
    defined_as: String,
    pub source: Source,
    /// Names of its parameters, keyword-only ones last.
    pub params: Vec<String>,
    /// How many of them may be given by position, and of those how many may not be given by name.
    pub positional: usize,
    positional_only: usize,
    /// The default value of each parameter that has one.
    pub defaults: Vec<Option<Py<PyAny>>>,
    /// Its last parameter is `*args`.
    pub variadic: bool,
    /// It has `**kwargs`.
    keywords: bool,
}

impl Captured {
    /// Reads a function's source. Fails with a `weft.errors.SourceError` that says what to do where there is none.
    pub fn new(function: &Bound<'_, PyFunction>) -> PyResult<Captured> {
        let py = function.py();
        let (file, first_line, text): (String, u32, String) =
            py.import("weft._source")?.call_method1("source_of", (function,))?.extract()?;
        let code = function.getattr("__code__")?.cast_into::<PyCode>()?;
        let positional: usize = code.getattr("co_argcount")?.extract()?;
        let count = positional + code.getattr("co_kwonlyargcount")?.extract::<usize>()?;
        let mut params: Vec<String> = code.getattr("co_varnames")?.extract()?;
        let flags: u32 = code.getattr("co_flags")?.extract()?;
        let variadic = flags & VARARGS != 0;
        params.truncate(count + usize::from(variadic));
        Ok(Captured {
            function: function.clone().unbind(),
            name: function.getattr("__name__")?.extract()?,
            defined_as: code.getattr("co_name")?.extract()?,
            source: Source { file, first_line, text },
            defaults: defaults(function, &params, positional)?,
            params,
            positional,
            positional_only: code.getattr("co_posonlyargcount")?.extract()?,
            variadic,
            keywords: flags & VARKEYWORDS != 0,
        })
    }

    /// Refuses `*args` where arguments come one type for each parameter.
    pub fn refuse_variadic(&self, py: Python<'_>, where_: &str) -> PyResult<()> {
        match self.variadic {
            false => Ok(()),
            true => Err(errors::unsupported(
                py,
                format!(
                    "{}() has *{}, which {where_} cannot have; name its parameters",
                    self.name,
                    self.params[self.params.len() - 1]
                ),
            )),
        }
    }

    /// The arguments of a call in the order of the parameters, defaults filled in, and whether each is one.
    pub fn arrange<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, bool)>> {
        let py = args.py();
        let wrong = |message: String| errors::new(py, "ArgumentError", format!("{}() {message}", self.name));
        if self.keywords {
            return Err(errors::unsupported(
                py,
                format!("{}() has **kwargs; Weft compiles functions whose parameters have names", self.name),
            ));
        }
        let (count, most) = (self.params.len(), self.positional);
        let rest = if self.variadic {
            args.get_slice(most, args.len())
        } else {
            PyTuple::empty(py)
        };
        if args.len() > most && !self.variadic {
            return Err(wrong(format!(
                "takes {most} arguments ({}), {} were given",
                self.params[..most].join(", "),
                args.len()
            )));
        }
        let mut found: Vec<Option<Bound<'py, PyAny>>> = args.iter().take(most).map(Some).collect();
        found.resize(count, None);
        let by_name = count - usize::from(self.variadic);
        if self.variadic {
            found[by_name] = Some(rest.into_any());
        }
        for (name, value) in kwargs.into_iter().flatten() {
            let name: String = name.extract()?;
            let Some(at) = self.params[..by_name].iter().skip(self.positional_only).position(|p| *p == name) else {
                return Err(wrong(format!(
                    "has no parameter '{name}' to give by name; it takes ({})",
                    self.params.join(", ")
                )));
            };
            if found[self.positional_only + at].replace(value).is_some() {
                return Err(wrong(format!("got two values for '{name}'")));
            }
        }
        let complete = found.into_iter().enumerate().map(|(i, value)| {
            value
                .map(|value| (value, false))
                .or_else(|| Some((self.defaults[i].as_ref()?.bind(py).clone(), true)))
                .ok_or_else(|| wrong(format!("is missing its argument '{}'", self.params[i])))
        });
        complete.collect()
    }

    /// The same once more.
    pub fn again(&self, py: Python<'_>) -> Captured {
        Captured {
            function: self.function.clone_ref(py),
            name: self.name.clone(),
            defined_as: self.defined_as.clone(),
            source: self.source.clone(),
            params: self.params.clone(),
            positional: self.positional,
            positional_only: self.positional_only,
            defaults: self
                .defaults
                .iter()
                .map(|value| value.as_ref().map(|value| value.clone_ref(py)))
                .collect(),
            variadic: self.variadic,
            keywords: self.keywords,
        }
    }

    /// The function as one to compile, with what its compilation will meet.
    pub fn front(&self, py: Python<'_>) -> PyResult<FunctionSource> {
        self.front_in(py, &Rc::default(), None)
    }

    /// The same, in a compilation that has met some objects already, with what its decorator asked for.
    pub fn front_in(&self, py: Python<'_>, frozen: &Rc<Frozen>, decorated: Option<Rc<Decorated>>) -> PyResult<FunctionSource> {
        let function = self.function.bind(py);
        let named = self.params.iter().zip(&self.defaults);
        let defaults = named
            .filter_map(|(name, value)| Some((name.clone(), classify(value.as_ref()?.bind(py), frozen))))
            .collect();
        Ok(FunctionSource {
            name: self.defined_as.clone(),
            key: frozen.number(function),
            source: self.source.clone(),
            defaults,
            decorated: decorated.clone(),
            env: Rc::new(Scope::of(function, frozen, (self.defined_as.clone(), decorated))?),
        })
    }
}

/// The default of each parameter: of the last positional ones, and of keyword-only ones by name.
fn defaults(function: &Bound<'_, PyFunction>, params: &[String], positional: usize) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let last: Option<Vec<Py<PyAny>>> = function.getattr("__defaults__")?.extract()?;
    let by_name: Option<HashMap<String, Py<PyAny>>> = function.getattr("__kwdefaults__")?.extract()?;
    let last = last.unwrap_or_default();
    let mut by_name = by_name.unwrap_or_default();
    let mut defaults: Vec<Option<Py<PyAny>>> = (last.len()..positional).map(|_| None).collect();
    defaults.extend(last.into_iter().map(Some));
    // `*args`, which is the last of them, has none.
    defaults.extend(params.iter().skip(positional).map(|name| by_name.remove(name)));
    Ok(defaults)
}

/// The names a function sees: closure cells, then globals, then builtins.
struct Scope {
    cells: HashMap<String, Py<PyAny>>,
    globals: Py<PyDict>,
    /// The function, whose own name is not bound yet while a decorator with signatures compiles it.
    function: Py<PyFunction>,
    own: (String, Option<Rc<Decorated>>),
    frozen: Rc<Frozen>,
}

impl Scope {
    fn of(function: &Bound<'_, PyFunction>, frozen: &Rc<Frozen>, own: (String, Option<Rc<Decorated>>)) -> PyResult<Scope> {
        let names: Vec<String> = function.getattr("__code__")?.getattr("co_freevars")?.extract()?;
        let closure = function.getattr("__closure__")?;
        let mut cells = HashMap::new();
        if !closure.is_none() {
            for (name, cell) in names.into_iter().zip(closure.try_iter()?) {
                // A cell that is still empty is a name not yet bound.
                if let Ok(value) = cell?.getattr("cell_contents") {
                    cells.insert(name, value.unbind());
                }
            }
        }
        Ok(Scope {
            cells,
            globals: function.getattr("__globals__")?.cast_into::<PyDict>()?.unbind(),
            function: function.clone().unbind(),
            own,
            frozen: frozen.clone(),
        })
    }
}

impl Environment for Scope {
    fn argument(&self, key: u64) -> Option<Object> {
        Python::attach(|py| Some(classify(&objects::object(py, key)?, &self.frozen)))
    }

    fn lookup(&self, name: &str) -> Option<Object> {
        Python::attach(|py| {
            if let Some(value) = self.cells.get(name) {
                return Some(classify(value.bind(py), &self.frozen));
            }
            if let Ok(Some(value)) = self.globals.bind(py).get_item(name) {
                return Some(classify(&value, &self.frozen));
            }
            if let Ok(builtin) = py.import("builtins").ok()?.getattr(name) {
                return Some(classify(&builtin, &self.frozen));
            }
            let (own, decorated) = &self.own;
            (name == own).then(|| plain(self.function.bind(py), &self.frozen, decorated.clone()))?
        })
    }

    fn attribute(&self, module: &str, name: &str) -> Option<Object> {
        Python::attach(|py| {
            let value = py.import(module).ok()?.getattr(name).ok()?;
            Some(classify(&value, &self.frozen))
        })
    }
}

/// Freezes a Python object.
pub fn classify(object: &Bound<'_, PyAny>, frozen: &Rc<Frozen>) -> Object {
    constant(object, frozen)
        .or_else(|| enumeration(object, frozen))
        .or_else(|| member(object, frozen).map(|m| Object::Member(Rc::new(m))))
        .or_else(|| crate::named::maker(object, frozen))
        .or_else(|| errors::class(object))
        .or_else(|| named(object))
        .or_else(|| callable(object, frozen))
        .unwrap_or_else(|| Object::Other(frozen.number(object), type_name(object)))
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map(|n| n.to_string()).unwrap_or_default()
}

fn constant(object: &Bound<'_, PyAny>, frozen: &Rc<Frozen>) -> Option<Object> {
    if object.is_none() {
        return Some(Object::None);
    }
    let numpy = Numpy::get(object.py()).ok()?;
    if let Some(scalar) = numpy.scalar_of(object) {
        let number = Number::from_slots(scalar, numpy.scalar_bits(object, scalar));
        return Some(match number {
            Number::Int(i) => Object::Strong(scalar, i as f64, 0.0, i),
            Number::Float(x) => Object::Strong(scalar, x, 0.0, 0),
            Number::Complex(re, im) => Object::Strong(scalar, re, im, 0),
        });
    }
    if let Ok(b) = object.cast::<PyBool>() {
        Some(Object::Bool(b.is_true()))
    } else if object.is_instance_of::<PyInt>() {
        Some(
            object
                .extract()
                .map(Object::Int)
                .unwrap_or_else(|_| Object::Other(frozen.number(object), "int beyond 128 bits".into())),
        )
    } else if object.is_instance_of::<PyFloat>() {
        object.extract().ok().map(Object::Float)
    } else if let Ok(c) = object.cast::<PyComplex>() {
        Some(Object::Complex(c.real(), c.imag()))
    } else if let Ok(s) = object.cast::<PyString>() {
        Some(Object::Str(s.to_string_lossy().into_owned()))
    } else if let Ok(items) = object.cast::<PyTuple>() {
        if !is_small(items, crate::named::DEEPEST, &mut { crate::named::LONGEST }) {
            return Some(Object::Other(
                frozen.number(object),
                "tuple that is too large or nested too deeply".into(),
            ));
        }
        let class = crate::named::number_of(items).and_then(crate::named::described);
        Some(Object::Tuple(Items::of(
            class,
            items.iter().map(|item| classify(&item, frozen)).collect(),
        )))
    } else if numpy.is_array(object) {
        frozen.array(object, |key| array(numpy, object, key))
    } else if let Ok(lazy) = object.cast::<NdArray>() {
        let host = calls::to_numpy(object.py(), &lazy.get().array).ok()?;
        frozen.array(object, |key| array(numpy, &host, key))
    } else {
        None
    }
}

/// Is a tuple nested no deeper than `depth`, with no more than `room` items in all?
fn is_small(items: &Bound<'_, PyTuple>, depth: usize, room: &mut usize) -> bool {
    items.iter().all(|item| {
        let Some(left) = room.checked_sub(1) else { return false };
        *room = left;
        item.cast::<PyTuple>()
            .map_or(true, |items| depth > 1 && is_small(items, depth - 1, room))
    })
}

/// A copy of an array's elements in C order.
fn array(numpy: &Numpy, object: &Bound<'_, PyAny>, key: u64) -> Option<Object> {
    let fields = numpy.fields(object);
    let elem = fields.elem?;
    let bytes = object.call_method0("tobytes").ok()?.cast_into::<PyBytes>().ok()?;
    Some(Object::Array {
        key,
        elem,
        shape: fields.shape.iter().map(|&n| n as u64).collect(),
        bytes: Rc::new(bytes.as_bytes().to_vec()),
    })
}

/// A class made from `enum.Enum`.
fn enumeration(object: &Bound<'_, PyAny>, frozen: &Rc<Frozen>) -> Option<Object> {
    let class = object.cast::<PyType>().ok()?;
    let base = object.py().import("enum").ok()?.getattr("Enum").ok()?;
    if !class.is_subclass(&base).ok()? {
        return None;
    }
    let members = class.getattr("__members__").ok()?.call_method0("items").ok()?;
    let mut found = Vec::new();
    for item in members.try_iter().ok()? {
        let (name, object): (String, Bound<'_, PyAny>) = item.ok()?.extract().ok()?;
        found.push((name, Rc::new(member(&object, frozen)?)));
    }
    Some(Object::Enum(Rc::new(EnumClass {
        key: frozen.number(object),
        name: class.name().ok()?.to_string(),
        members: found,
    })))
}

/// A member of such a class.
fn member(object: &Bound<'_, PyAny>, frozen: &Rc<Frozen>) -> Option<EnumMember> {
    let (path, name) = member_names(object)?;
    let number = objects::number(object)?;
    Some(EnumMember {
        key: u64::from(number),
        path,
        name,
        value: classify(&object.getattr("value").ok()?, frozen),
        itself: constant(object, frozen),
    })
}

/// How a member of an enumeration is shown, and its name; `None` for anything else.
pub fn member_names(object: &Bound<'_, PyAny>) -> Option<(String, String)> {
    let base = object.py().import("enum").ok()?.getattr("Enum").ok()?;
    if !object.is_instance(&base).ok()? {
        return None;
    }
    // Combinations of flags may have no name.
    let name: String = object.getattr("name").ok()?.extract().ok()?;
    Some((format!("{}.{name}", type_name(object)), name))
}

/// Is it an integer, a bool, None, a string, or a tuple of such: what an argument is that chooses what a function does?
pub fn is_choice(object: &Bound<'_, PyAny>) -> bool {
    let plain = object.is_none() || object.is_instance_of::<PyInt>() || object.is_instance_of::<PyString>();
    match object.cast_exact::<PyTuple>() {
        Ok(items) => is_small(items, crate::named::DEEPEST, &mut { crate::named::LONGEST }) && items.iter().all(|item| is_choice(&item)),
        Err(_) => plain && member_names(object).is_none(),
    }
}

/// How an object is shown that can be an argument, to which code is compiled: a function, a dtype, a member of an enumeration.
pub fn shown(object: &Bound<'_, PyAny>) -> Option<String> {
    if let Some((path, _)) = member_names(object) {
        return Some(path);
    }
    let ours = object.is_instance_of::<Dispatcher>() || object.getattr("_weft_dispatcher_").is_ok_and(|d| d.is_instance_of::<Dispatcher>());
    if ours || object.is_instance_of::<PyFunction>() || matches!(named(object), Some(Object::Known(_) | Object::Dtype(_))) {
        let name = object.getattr("__name__").or_else(|_| object.str().map(|s| s.into_any()));
        return name.ok()?.extract().ok();
    }
    None
}

/// Modules, types and functions that have a canonical path.
fn named(object: &Bound<'_, PyAny>) -> Option<Object> {
    if let Ok(module) = object.cast::<PyModule>() {
        // The front end knows some of them; of the others it asks for attributes, so `helpers.f` is the user's function.
        return module.name().ok().map(|name| Object::Module(name.to_string()));
    }
    if let Some(scalar) = dtype(object) {
        return Some(Object::Dtype(scalar));
    }
    if let Ok(path) = object.getattr("_weft_path_").and_then(|p| p.extract::<String>()) {
        return Some(Object::Known(path));
    }
    let name: String = object.getattr("__name__").ok()?.extract().ok()?;
    let owner: Option<String> = object.getattr("__module__").ok().and_then(|m| m.extract().ok());
    match owner.as_deref() {
        Some(owner @ ("math" | "cmath" | "numpy" | "builtins")) => Some(Object::Known(format!("{owner}.{name}"))),
        // Where the functions of `operator` are written in C.
        Some("_operator") => Some(Object::Known(format!("operator.{name}"))),
        Some("numpy.linalg") => Some(Object::Known(format!("numpy.linalg.{name}"))),
        // Functions of these modules are methods of one object each, and those of others are called the same.
        Some("numpy.random" | "numpy.random.mtrand") if is_of_module(object, "numpy.random", &name) => {
            Some(Object::Known(format!("numpy.random.{name}")))
        }
        Some("random") if is_of_module(object, "random", &name) => Some(Object::Known(format!("random.{name}"))),
        // Those written in C do not say where they are from.
        None if matches!(&*name, "random" | "getrandbits") && is_of_module(object, "random", &name) => {
            Some(Object::Known(format!("random.{name}")))
        }
        // Ufuncs say nothing of their module before NumPy 2.
        _ if type_name(object) == "ufunc" => Some(Object::Known(format!("numpy.{name}"))),
        _ => None,
    }
}

/// Is it a module's function of that name?
fn is_of_module(object: &Bound<'_, PyAny>, module: &str, name: &str) -> bool {
    let named = object.py().import(module).and_then(|module| module.getattr(name));
    named.is_ok_and(|named| named.eq(object).unwrap_or(false))
}

/// `np.float32`, `np.dtype('f4')`, `weft.numba.float32`.
fn dtype(object: &Bound<'_, PyAny>) -> Option<Scalar> {
    let numpy = Numpy::get(object.py()).ok()?;
    if let Ok(ty) = object.cast::<PyType>() {
        return numpy.scalar_of_type(ty.py(), ty.as_type_ptr());
    }
    if type_name(object).ends_with("DType") {
        let ty = object.getattr("type").ok()?.cast_into::<PyType>().ok()?;
        return object
            .getattr("isnative")
            .ok()?
            .is_truthy()
            .ok()?
            .then(|| numpy.scalar_of_type(object.py(), ty.as_type_ptr()))?;
    }
    let name: String = object.getattr("_weft_scalar_").ok()?.extract().ok()?;
    Scalar::from_name(&name)
}

/// Functions Weft compiles: its own, and plain Python ones.
fn callable(object: &Bound<'_, PyAny>, frozen: &Rc<Frozen>) -> Option<Object> {
    let py = object.py();
    let compiled = |dispatcher: &Bound<'_, Dispatcher>| dispatcher.get().core.source(py, frozen).ok().map(|f| Object::Function(Rc::new(f)));
    if let Ok(dispatcher) = object.cast::<Dispatcher>() {
        return compiled(dispatcher);
    }
    // Of a ufunc. Other objects may answer to any name, with anything.
    if let Ok(inner) = object.getattr("_weft_dispatcher_")
        && let Ok(dispatcher) = inner.cast::<Dispatcher>()
    {
        return compiled(dispatcher);
    }
    plain(object.cast::<PyFunction>().ok()?, frozen, None)
}

/// A Python function, with what a decorator asked for.
fn plain(function: &Bound<'_, PyFunction>, frozen: &Rc<Frozen>, decorated: Option<Rc<Decorated>>) -> Option<Object> {
    let captured = Captured::new(function).ok()?;
    let source = captured.front_in(function.py(), frozen, decorated).ok()?;
    Some(Object::Function(Rc::new(source)))
}
