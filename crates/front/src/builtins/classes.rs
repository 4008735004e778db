//! Classes, Python's and NumPy's: what `isinstance` asks for, and the element type that a class of Python's stands for.

use weft_ir::{Kind, Scalar};

use super::{About, Entry, find};
use crate::types::Num;
use crate::value::Val;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Bool,
    Int,
    Float,
    Complex,
    Str,
    Tuple,
    List,
    Array,
    /// NumPy's numbers, by their kinds.
    Generic,
    Number,
    Integer,
    Signed,
    Unsigned,
    Inexact,
    Floating,
    ComplexFloating,
}

/// NumPy's classes that are no element types.
pub fn numpy(name: &str) -> Option<Entry> {
    Some(Entry::Class(match name {
        "ndarray" => Class::Array,
        "generic" => Class::Generic,
        "number" => Class::Number,
        "integer" => Class::Integer,
        "signedinteger" => Class::Signed,
        "unsignedinteger" => Class::Unsigned,
        "inexact" => Class::Inexact,
        "floating" => Class::Floating,
        "complexfloating" => Class::ComplexFloating,
        _ => return None,
    }))
}

impl Class {
    /// The class that a path means.
    pub fn of(path: &str) -> Option<Class> {
        match find(path)? {
            Entry::Class(class) => Some(class),
            Entry::Func(func) => match func.about() {
                Some(About::Class(class)) => Some(class),
                _ => None,
            },
            _ => None,
        }
    }

    /// Is a value an instance?
    pub fn holds(self, x: &Val) -> bool {
        let number = |weak: bool, test: fn(Kind) -> bool| x.num().is_some_and(|n| n.weak == weak && test(n.scalar.kind()));
        let python = |test: fn(Kind) -> bool| number(true, test);
        let numpy = |test: fn(Kind) -> bool| number(false, test);
        let is = |scalar: Scalar| x.num() == Some(Num::strong(scalar));
        match self {
            Class::Bool => python(|k| k == Kind::Bool),
            Class::Int => python(|k| matches!(k, Kind::Bool | Kind::Signed | Kind::Unsigned)),
            // NumPy's float64 is one of Python's floats, complex128 likewise.
            Class::Float => python(|k| k == Kind::Float) || is(Scalar::F64),
            Class::Complex => python(|k| k == Kind::Complex) || is(Scalar::C128),
            Class::Str => matches!(x, Val::Str(_)),
            Class::Tuple => matches!(x, Val::Tuple(items) if items.is_tuple()),
            Class::List => matches!(x, Val::Tuple(items) if items.is_list()),
            Class::Array => x.is_array(),
            Class::Generic => numpy(|_| true),
            Class::Number => numpy(|k| k != Kind::Bool),
            Class::Integer => numpy(|k| matches!(k, Kind::Signed | Kind::Unsigned)),
            Class::Signed => numpy(|k| k == Kind::Signed),
            Class::Unsigned => numpy(|k| k == Kind::Unsigned),
            Class::Inexact => numpy(|k| matches!(k, Kind::Float | Kind::Complex)),
            Class::Floating => numpy(|k| k == Kind::Float),
            Class::ComplexFloating => numpy(|k| k == Kind::Complex),
        }
    }

    /// The element type that it stands for as a `dtype`.
    pub fn element(self) -> Option<Scalar> {
        match self {
            Class::Bool => Some(Scalar::Bool),
            Class::Int => Some(Scalar::I64),
            Class::Float => Some(Scalar::F64),
            Class::Complex => Some(Scalar::C128),
            _ => None,
        }
    }
}
