//! Explicit signatures: how they are read from `weft.types` objects, which one a call takes, and what it converts.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use weft_front::{ArgType, Items, TupleClass};
use weft_ir::{Kind, Layout, Scalar, Space, ViewType};

use crate::key;
use crate::members;
use crate::named;

/// `float64(float64[:], int64)`.
#[derive(Clone, Debug)]
pub struct Signature {
    pub args: Vec<ArgType>,
    pub result: Option<ArgType>,
}

/// One scalar that changes its type between the call and the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Its first slot before the conversion.
    pub slot: usize,
    pub from: Scalar,
    pub to: Scalar,
}

impl Signature {
    /// From `(result, (args...))`, each as the `_spec_` of a `weft.types` object or None.
    pub fn from_spec(spec: &Bound<'_, PyAny>) -> PyResult<Signature> {
        let (result, args): (Bound<'_, PyAny>, Bound<'_, PyTuple>) = spec.extract()?;
        Ok(Signature {
            args: args.iter().map(|arg| read(&arg)).collect::<PyResult<_>>()?,
            result: if result.is_none() { None } else { Some(read(&result)?) },
        })
    }

    /// Whether arguments of these types may be passed, and at what cost: 0 is an exact match.
    pub fn cost(&self, given: &[ArgType]) -> Option<u32> {
        if self.args.len() != given.len() {
            return None;
        }
        self.args.iter().zip(given).map(|(want, have)| cost(want, have)).sum()
    }

    /// The types to compile for: those declared, but read-only where the argument is.
    pub fn adapted(&self, given: &[ArgType]) -> Vec<ArgType> {
        self.args.iter().zip(given).map(|(want, have)| adapt(want, have)).collect()
    }
}

/// What to convert so that arguments of types `given` become those of `wanted`.
pub fn conversions(wanted: &[ArgType], given: &[ArgType]) -> Vec<Conversion> {
    let mut found = Vec::new();
    let mut slot = 0;
    for (want, have) in wanted.iter().zip(given) {
        convert(want, have, &mut slot, &mut found);
    }
    found
}

fn convert(want: &ArgType, have: &ArgType, slot: &mut usize, found: &mut Vec<Conversion>) {
    match (want, have) {
        (ArgType::Tuple(want), ArgType::Tuple(have)) => want.iter().zip(have).for_each(|(w, h)| convert(w, h, slot, found)),
        (ArgType::Strong(to) | ArgType::Weak(to), ArgType::Strong(from) | ArgType::Weak(from)) => {
            if to != from {
                found.push(Conversion {
                    slot: *slot,
                    from: *from,
                    to: *to,
                });
            }
            *slot += key::slots(have);
        }
        _ => *slot += key::slots(have),
    }
}

fn cost(want: &ArgType, have: &ArgType) -> Option<u32> {
    match (want, have) {
        (ArgType::Strong(want), ArgType::Weak(have) | ArgType::Strong(have)) => scalar_cost(*want, *have),
        (ArgType::Array(want), ArgType::Array(have)) => {
            let layout = want.layout == Layout::Any || want.layout == have.layout || (have.rank <= 1 && have.layout == Layout::C);
            (want.elem == have.elem && want.rank == have.rank && layout).then_some(0)
        }
        (ArgType::Tuple(want), ArgType::Tuple(have)) if want.len() == have.len() => {
            // A named tuple is a plain one too, and no other named one.
            let class = match want.class() {
                None => u32::from(have.class().is_some()),
                Some(class) if have.class() == Some(class) => 0,
                Some(_) => return None,
            };
            let items = want.iter().zip(have).map(|(w, h)| cost(w, h)).sum::<Option<u32>>()?;
            Some(items + class)
        }
        (ArgType::None, ArgType::None) => Some(0),
        (ArgType::Member { .. }, _) if want == have => Some(0),
        _ => None,
    }
}

/// Whether a result comes as the type declared for it: numbers are converted, all else must be of it.
pub fn gives(declared: &ArgType, result: &ArgType) -> bool {
    match (declared, result) {
        (ArgType::Strong(want), ArgType::Weak(have) | ArgType::Strong(have)) => scalar_cost(*want, *have).is_some(),
        (ArgType::Tuple(want), ArgType::Tuple(have)) => {
            want.len() == have.len() && want.class() == have.class() && want.iter().zip(have).all(|(w, h)| is_of(w, h))
        }
        _ => is_of(declared, result),
    }
}

/// Whether a value is of a type without any conversion.
fn is_of(want: &ArgType, have: &ArgType) -> bool {
    match (want, have) {
        (ArgType::Strong(want), ArgType::Weak(have) | ArgType::Strong(have)) => want == have,
        (ArgType::Tuple(_), ArgType::Tuple(_)) => gives(want, have),
        (ArgType::Array(_), ArgType::Array(_)) => cost(want, have) == Some(0),
        _ => want == have,
    }
}

/// Widening costs less than narrowing, narrowing within a kind less than changing it; a complex number never becomes real.
fn scalar_cost(want: Scalar, have: Scalar) -> Option<u32> {
    if want == have {
        return Some(0);
    }
    if have.is_complex() && !want.is_complex() {
        return None;
    }
    Some(if is_safe(have, want) {
        1
    } else if have.kind() == want.kind() {
        100
    } else {
        10_000
    })
}

/// NumPy's `can_cast(from, to, 'safe')`.
pub fn is_safe(from: Scalar, to: Scalar) -> bool {
    let (f, t) = (from.size(), to.size());
    match (from.kind(), to.kind()) {
        (Kind::Bool, _) => true,
        _ if from == to => true,
        (_, _) if to.is_half() => to.size() > from.size() && !from.is_float() && !from.is_complex(),
        (Kind::Unsigned, Kind::Unsigned) | (Kind::Signed, Kind::Signed) | (Kind::Float, Kind::Float) | (Kind::Complex, Kind::Complex) => {
            f <= t
        }
        (Kind::Unsigned, Kind::Signed) => f < t,
        (Kind::Unsigned | Kind::Signed, Kind::Float) => f < t || (f == 8 && t == 8),
        (Kind::Unsigned | Kind::Signed, Kind::Complex) => f < t / 2 || (f == 8 && t == 16),
        (Kind::Float, Kind::Complex) => f <= t / 2,
        _ => false,
    }
}

fn adapt(want: &ArgType, have: &ArgType) -> ArgType {
    match (want, have) {
        (ArgType::Array(want), ArgType::Array(have)) => ArgType::Array(ViewType {
            writable: want.writable && have.writable,
            ..*want
        }),
        (ArgType::Tuple(want), ArgType::Tuple(have)) => {
            ArgType::Tuple(want.with(want.iter().zip(have).map(|(w, h)| adapt(w, h)).collect()))
        }
        _ => want.clone(),
    }
}

/// `("s", name)` or, for a Python number, `("s", name, True)`, `("a", name, rank, layout, writable)`, `("t", (items...))`, of a named tuple with
/// its class behind, `("e", member)` or `("n",)`.
pub fn read(spec: &Bound<'_, PyAny>) -> PyResult<ArgType> {
    let spec = spec.cast::<PyTuple>()?;
    let tag: String = spec.get_item(0)?.extract()?;
    Ok(match tag.as_str() {
        "s" if spec.len() > 2 => ArgType::Weak(scalar(&spec.get_item(1)?)?),
        "s" => ArgType::Strong(scalar(&spec.get_item(1)?)?),
        "a" => ArgType::Array(ViewType {
            elem: scalar(&spec.get_item(1)?)?,
            rank: spec.get_item(2)?.extract()?,
            layout: match spec.get_item(3)?.extract::<String>()?.as_str() {
                "C" => Layout::C,
                "F" => Layout::F,
                _ => Layout::Any,
            },
            space: Space::Global,
            writable: spec.get_item(4)?.extract()?,
        }),
        "t" => {
            let items = spec.get_item(1)?;
            let items = items.cast::<PyTuple>()?.iter().map(|item| read(&item)).collect::<PyResult<_>>()?;
            ArgType::Tuple(Items::of(class_of(spec)?, items))
        }
        "e" => members::number(&spec.get_item(1)?)
            .and_then(members::argument)
            .unwrap_or(ArgType::None),
        _ => ArgType::None,
    })
}

/// The class of a named tuple's spec.
fn class_of(spec: &Bound<'_, PyTuple>) -> PyResult<Option<Arc<TupleClass>>> {
    if spec.len() < 3 {
        return Ok(None);
    }
    Ok(named::number(&spec.get_item(2)?.cast_into()?).and_then(named::described))
}

fn scalar(name: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    let name: String = name.extract()?;
    Scalar::from_name(&name).ok_or_else(|| pyo3::exceptions::PyValueError::new_err(format!("no scalar type is named {name}")))
}

/// The spec of a type, for `weft.types` to make an object of.
pub fn write<'py>(py: Python<'py>, ty: &ArgType) -> PyResult<Bound<'py, PyAny>> {
    let spec = match ty {
        ArgType::Weak(s) => ("s", s.name(), true).into_pyobject(py)?,
        ArgType::Strong(s) => ("s", s.name()).into_pyobject(py)?,
        ArgType::Array(v) => {
            let layout = match v.layout {
                Layout::C => "C",
                Layout::F => "F",
                Layout::Row | Layout::Any => "A",
            };
            ("a", v.elem.name(), v.rank, layout, v.writable).into_pyobject(py)?
        }
        ArgType::Tuple(items) => {
            let parts = items.iter().map(|item| write(py, item)).collect::<PyResult<Vec<_>>>()?;
            let types = PyTuple::new(py, parts)?;
            match items.class().and_then(|class| named::python_class(py, class)) {
                Some(class) => ("t", types, class).into_pyobject(py)?,
                None => ("t", types).into_pyobject(py)?,
            }
        }
        ArgType::Member { key, .. } => ("e", members::object(py, *key)).into_pyobject(py)?,
        ArgType::None => ("n",).into_pyobject(py)?,
    };
    Ok(spec.into_any())
}

/// The spec of the type that an argument would be compiled for.
#[pyfunction(name = "typeof")]
pub fn typeof_<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let mut args = crate::bind::Args::default();
    crate::bind::bind(crate::numpy::Numpy::get(py)?, value, &|| "value".into(), &mut args)?;
    let ty = key::decode(&args.key).pop().unwrap_or(ArgType::None);
    write(py, &ty)
}

/// A list of types as people read them: `(float64[:, :], int)`.
pub fn show(types: &[ArgType]) -> String {
    let items: Vec<String> = types.iter().map(show_one).collect();
    format!("({})", items.join(", "))
}

pub fn show_one(ty: &ArgType) -> String {
    match ty {
        ArgType::Weak(Scalar::Bool) => "bool".into(),
        ArgType::Weak(s) if s.is_int() => "int".into(),
        ArgType::Weak(s) if s.is_float() => "float".into(),
        ArgType::Weak(_) => "complex".into(),
        ArgType::Strong(s) => s.numpy_name().into(),
        ArgType::Tuple(items) => format!("{}{}", items.class().map_or("", |class| &class.name), show(items)),
        ArgType::Member { path, .. } => path.clone(),
        ArgType::None => "None".into(),
        ArgType::Array(v) => show_array(v),
    }
}

fn show_array(view: &ViewType) -> String {
    let mut axes = vec![":"; view.rank as usize];
    match (view.layout, axes.len()) {
        (_, 0) => return format!("{} array of rank 0", view.elem.numpy_name()),
        (Layout::C, rank) => axes[rank - 1] = "::1",
        (Layout::F, _) => axes[0] = "::1",
        _ => {}
    }
    let mode = if view.writable { "" } else { " read-only" };
    format!("{}[{}]{mode}", view.elem.numpy_name(), axes.join(", "))
}
