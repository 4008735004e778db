//! Name resolution of what the front end knows: functions, constants and types by canonical path, one file per namespace.

mod arrays;
mod classes;
mod complex;
mod cuda;
mod elementary;
mod exact;
mod floats;
mod half;
mod integers;
mod intrinsics;
pub mod language;
pub(crate) mod loops;
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
pub use classes::Class;
pub use floats::pair;
use weft_ir::{Geometry, ReduceOp, Scalar};
use weft_library::Row;

use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::value::Val;
use loops::Ufunc;

/// What a path means.
#[derive(Clone, Copy)]
pub enum Entry {
    Module,
    Float(f64),
    Int(i64),
    Dtype(Scalar),
    Geometry(Geometry),
    /// A class that is not called.
    Class(Class),
    Func(Func),
}

/// A function: what it does, and what it is applied to.
#[derive(Clone, Copy)]
pub struct Func {
    pub does: Does,
    pub applied: Applied,
}

/// What a function is applied to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// Its arguments as they are.
    Whole,
    /// Numbers, and the elements of arrays.
    Numbers,
    /// The elements of arrays, and numbers as if they were elements: NumPy's functions.
    Elements,
}

/// What a function does when it is called.
#[derive(Clone, Copy)]
pub enum Does {
    /// Written here.
    Run(Handler),
    /// A ufunc of NumPy's: the handler is given numbers of the types that one of its loops takes.
    Ufunc(Handler, Ufunc),
    /// A text of the library: a definition of a row's file.
    Text {
        row: &'static Row,
        definition: &'static str,
        /// So many arguments behind the first are taken by position only.
        by_position: usize,
    },
}

/// What is asked of functions without calling them.
#[derive(Clone, Copy)]
pub enum About {
    Joins(Joins),
    /// It reads no element of an array.
    AsksShape,
    Class(Class),
}

/// `acc = f(acc, x)` and `acc = f(x, acc)` combine what iterations of a parallel loop give.
#[derive(Clone, Copy)]
pub struct Joins {
    pub op: ReduceOp,
    /// With the variable as the first argument, and as the second: results do not combine where NaNs are. `fmax` drops a NaN that was there
    /// before the loop, `max(x, acc)` starts anew behind one.
    pub by_turns: [bool; 2],
}

impl Joins {
    const fn of(op: ReduceOp, by_turns: [bool; 2]) -> Joins {
        Joins { op, by_turns }
    }
}

/// The code of a function.
#[derive(Clone, Copy)]
pub enum Handler {
    Own(Code),
    /// Code of which more is known.
    Known(About, Code),
    /// Code for several functions of the math library, with the name of the one it calls.
    Library(LibraryCode, &'static str),
}

pub type Code = fn(&mut Lower<'_>, &Call) -> Res<Val>;
pub type LibraryCode = fn(&mut Lower<'_>, &Call, &'static str) -> Res<Val>;

impl Handler {
    pub fn run(self, l: &mut Lower<'_>, call: &Call) -> Res<Val> {
        match self {
            Handler::Own(code) | Handler::Known(_, code) => code(l, call),
            Handler::Library(code, name) => code(l, call, name),
        }
    }
}

impl Func {
    pub fn about(self) -> Option<About> {
        match self.does {
            Does::Run(Handler::Known(about, _)) | Does::Ufunc(Handler::Known(about, _), _) => Some(about),
            _ => None,
        }
    }

    /// A function of NumPy's.
    fn of_numpy(self) -> Func {
        Func {
            applied: match self.applied {
                Applied::Whole => Applied::Whole,
                Applied::Numbers | Applied::Elements => Applied::Elements,
            },
            ..self
        }
    }
}

impl Entry {
    /// A function of whole values.
    const fn of(run: Code) -> Entry {
        Entry::Func(Func {
            does: Does::Run(Handler::Own(run)),
            applied: Applied::Whole,
        })
    }

    /// A function of numbers, applied to arrays element by element.
    const fn each(run: Code) -> Entry {
        Entry::Func(Func {
            does: Does::Run(Handler::Own(run)),
            applied: Applied::Numbers,
        })
    }

    /// A function of numbers that calls a function of the math library.
    const fn each_by(run: LibraryCode, name: &'static str) -> Entry {
        Entry::Func(Func {
            does: Does::Run(Handler::Library(run, name)),
            applied: Applied::Numbers,
        })
    }

    /// A function of whole values, of which this is known.
    const fn known(about: About, run: Code) -> Entry {
        Entry::Func(Func {
            does: Does::Run(Handler::Known(about, run)),
            applied: Applied::Whole,
        })
    }

    /// A function of numbers that joins what iterations of a parallel loop give.
    const fn each_joining(joins: Joins, run: Code) -> Entry {
        Entry::Func(Func {
            does: Does::Run(Handler::Known(About::Joins(joins), run)),
            applied: Applied::Numbers,
        })
    }

    /// A function of NumPy's that is a text of the library.
    fn text(name: &str) -> Option<Entry> {
        weft_library::find(name).map(|row| Entry::of_text(row, row.definition()))
    }

    /// What makes random numbers.
    fn draw(name: &str) -> Option<Entry> {
        weft_library::draw(name).map(|draw| Entry::of_text(&draw.row, draw.definition))
    }

    fn of_text(row: &'static Row, definition: &'static str) -> Entry {
        Entry::Func(Func {
            does: Does::Text {
                row,
                definition,
                by_position: 0,
            },
            applied: Applied::Whole,
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
            | "random"
            | "numpy"
            | "numpy.linalg"
            | "numpy.random"
            | "weft"
            | "weft.cuda"
            | "weft.intrinsics"
            | "weft.language"
            | "weft.math"
            | "weft.random"
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
        "random" => weft_library::random(name).map(|row| Entry::of_text(row, row.name)),
        "numpy" => numpy::find(name),
        "weft" => match name.split_once('.') {
            Some(("cuda", name)) => cuda::find(name),
            Some(("intrinsics", name)) => intrinsics::find(name),
            Some(("language", name)) => language::find(name),
            Some(("math", name)) => math::weft(name),
            Some(("random", name)) => Entry::draw(name),
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
