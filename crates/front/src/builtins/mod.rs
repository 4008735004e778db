//! The functions, constants and types the front end knows, by canonical path: one file per namespace.

mod arrays;
mod complex;
mod cuda;
mod elementary;
mod exact;
mod floats;
mod half;
mod integers;
mod intrinsics;
pub mod language;
pub mod loops;
mod math;
pub mod methods;
pub mod numpy;
mod operators;
mod order;
pub mod products;
mod python;
mod reductions;
mod round;
mod through;
mod warp;

pub use arrays::{elements, fresh};
use weft_ir::{Geometry, Scalar};
use weft_library::Row;

use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::value::Val;

/// What a path means.
#[derive(Clone, Copy)]
pub enum Entry {
    Module,
    Float(f64),
    Int(i64),
    Dtype(Scalar),
    Geometry(Geometry),
    Func(Func),
}

/// A function: what it does, and whether it applies element by element when given arrays.
#[derive(Clone, Copy)]
pub struct Func {
    pub does: Does,
    pub elementwise: bool,
}

/// What a function does when it is called.
#[derive(Clone, Copy)]
pub enum Does {
    /// Written here.
    Run(Handler),
    /// A text of the library: a definition of a row's file.
    Text {
        row: &'static Row,
        definition: &'static str,
        /// So many arguments behind the first are taken by position only.
        by_position: usize,
    },
}

pub type Handler = fn(&mut Lower<'_>, &Call) -> Res<Val>;

impl Entry {
    /// A function of whole values.
    const fn of(run: Handler) -> Entry {
        Entry::Func(Func {
            does: Does::Run(run),
            elementwise: false,
        })
    }

    /// A function of numbers, applied to arrays element by element.
    const fn each(run: Handler) -> Entry {
        Entry::Func(Func {
            does: Does::Run(run),
            elementwise: true,
        })
    }

    /// A function of NumPy's that is a text of the library.
    fn text(name: &str) -> Option<Entry> {
        weft_library::find(name).map(|row| {
            Entry::Func(Func {
                does: Does::Text {
                    row,
                    definition: row.name,
                    by_position: 0,
                },
                elementwise: false,
            })
        })
    }
}

/// One spelling for things that several modules export: `weft.numba.prange` and `numba.prange` are `weft.prange`.
pub fn canonical(path: &str) -> String {
    let path = path
        .strip_prefix("weft.numba")
        .map_or(path.to_owned(), |rest| format!("weft{rest}"));
    match path.strip_prefix("numba") {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("weft{rest}"),
        _ => path,
    }
}

pub fn find(path: &str) -> Option<Entry> {
    if matches!(
        path,
        "math"
            | "cmath"
            | "operator"
            | "numpy"
            | "numpy.linalg"
            | "weft"
            | "weft.cuda"
            | "weft.intrinsics"
            | "weft.language"
            | "weft.math"
            | "builtins"
    ) {
        return Some(Entry::Module);
    }
    let (module, name) = path.split_once('.')?;
    match module {
        "builtins" => python::find(name),
        "math" => math::find(name),
        "cmath" => complex::find(name),
        "operator" => operators::find(name),
        "numpy" => numpy::find(name),
        "weft" => match name.split_once('.') {
            Some(("cuda", name)) => cuda::find(name),
            Some(("intrinsics", name)) => intrinsics::find(name),
            Some(("language", name)) => language::find(name),
            Some(("math", name)) => math::weft(name),
            Some(_) => None,
            None => weft(name),
        },
        _ => None,
    }
}

/// `weft`'s own names: loops, and the scalar types by NumPy's names.
fn weft(name: &str) -> Option<Entry> {
    match name {
        "prange" => Some(Entry::of(python::prange)),
        "pi" => Some(Entry::Float(std::f64::consts::PI)),
        "boolean" | "bool_" => Some(Entry::Dtype(Scalar::Bool)),
        _ => Scalar::from_numpy_name(name).map(Entry::Dtype),
    }
}
