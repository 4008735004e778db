//! What an expression evaluates to while lowering: IR values, constants not yet emitted, and compile-time things.

use std::fmt;
use std::rc::Rc;

use weft_array::Expr;
use weft_ir::{Const, Kind, Scalar, Value, ViewType, eval};

use crate::builtins::Does;
use crate::lower::lazy::fresh_type;
use crate::lower::points::Points;
use crate::types::{Num, Static, Ty};
use crate::{EnumClass, EnumMember, FunctionSource, Items, TupleMaker};

#[derive(Clone)]
pub enum Val {
    /// A number held by an IR value.
    Num(Value, Num),
    /// A number known now; it becomes an IR constant where it is used, at the width it is used in.
    Lit(Lit),
    View(Value, ViewType),
    /// An array expression not yet computed.
    Lazy(Rc<Expr>),
    Tuple(Items<Val>),
    /// The class of a named tuple, to be called.
    TupleClass(Rc<TupleMaker>),
    None,
    Str(String),
    Dtype(Scalar),
    /// A module or function the front end knows.
    Path(String),
    Function(Rc<FunctionSource>),
    /// A function made inside another one.
    Closure(Rc<Closure>),
    Enum(Rc<EnumClass>),
    Member(Rc<EnumMember>),
    /// A class of exceptions, which can be raised: the host's number and its name.
    Exception(u32, String),
    /// An attribute that is called: the receiver, the method's name and what it does.
    Method(Box<Val>, String, Does),
    Iter(Box<Iter>),
    Ellipsis,
    /// A slice of constants: start, stop and step.
    Slice([Option<i64>; 3]),
    /// A number that the called text of the library is compiled for.
    Constant(Lit),
    /// A formatted string, in pieces: only `print` takes it.
    Format(Vec<Val>),
    /// Anything else: its key and its Python type.
    Other(u64, String),
}

/// A function made inside another one, and what it has from there.
#[derive(Clone)]
pub struct Closure {
    pub function: Rc<FunctionSource>,
    /// The variables around it that it reads.
    pub names: Vec<String>,
    /// Their values, where it was handed to another function. In the function that made it, and in that function itself where it calls itself,
    /// they are read at each call, as in Python.
    pub captured: Option<Vec<Val>>,
    /// Constants, by parameter.
    pub defaults: Vec<(String, Val)>,
}

impl Closure {
    /// The same function with other values of what it captures.
    pub fn with(&self, captured: Vec<Val>) -> Val {
        Val::Closure(Rc::new(Closure {
            captured: Some(captured),
            ..self.clone()
        }))
    }

    /// How many functions and values it holds.
    pub fn size(&self) -> usize {
        let of = |val: &Val| match val {
            Val::Closure(inner) => inner.size(),
            _ => 1,
        };
        self.handed().iter().map(of).fold(1, usize::saturating_add)
    }

    /// The values that it was handed on with.
    pub fn handed(&self) -> &[Val] {
        self.captured.as_deref().unwrap_or_default()
    }
}

/// Something to loop over.
#[derive(Clone)]
pub enum Iter {
    Range { start: Val, stop: Val, step: Val, parallel: bool },
    Enumerate(Val, Val),
    Reversed(Val),
    Zip(Vec<Val>),
    Points(Points),
}

/// A number known while compiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lit {
    pub num: Num,
    pub value: Number,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    pub fn complex(self) -> (f64, f64) {
        match self {
            Number::Bool(b) => (f64::from(u8::from(b)), 0.0),
            Number::Int(i) => (i as f64, 0.0),
            Number::Float(f) => (f, 0.0),
            Number::Complex(re, im) => (re, im),
        }
    }

    pub fn truth(self) -> bool {
        match self {
            Number::Bool(b) => b,
            Number::Int(i) => i != 0,
            Number::Float(f) => f != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// The value as an integer, if it is a bool or an integer.
    pub fn int(self) -> Option<i128> {
        match self {
            Number::Bool(b) => Some(i128::from(b)),
            Number::Int(i) => Some(i),
            Number::Float(_) | Number::Complex(..) => None,
        }
    }
}

/// Told apart to the last bit.
impl fmt::Display for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Number::Float(x) => write!(f, "{} {:x}", self.num, x.to_bits()),
            Number::Complex(re, im) => write!(f, "{} {:x} {:x}", self.num, re.to_bits(), im.to_bits()),
            Number::Int(i) => write!(f, "{} {i}", self.num),
            Number::Bool(b) => write!(f, "{} {b}", self.num),
        }
    }
}

impl Lit {
    pub const fn int(v: i128) -> Lit {
        Lit {
            num: Num::INT,
            value: Number::Int(v),
        }
    }

    pub const fn float(v: f64) -> Lit {
        Lit {
            num: Num::FLOAT,
            value: Number::Float(v),
        }
    }

    pub const fn bool(v: bool) -> Lit {
        Lit {
            num: Num::BOOL,
            value: Number::Bool(v),
        }
    }

    /// The IR constant of a type; `None` where an integer does not fit it.
    pub fn constant(self, to: Scalar) -> Option<Const> {
        let (re, im) = self.value.complex();
        Some(match to {
            Scalar::Bool => Const::Bool(self.value.truth()),
            Scalar::F16 | Scalar::BF16 => eval::cast(Const::f64(re), to)?,
            Scalar::F32 => Const::f32(re as f32),
            Scalar::F64 => Const::f64(re),
            Scalar::C64 => Const::C64((re as f32).to_bits(), (im as f32).to_bits()),
            Scalar::C128 => Const::C128(re.to_bits(), im.to_bits()),
            int => Const::Int(int, int_constant(self.value, int)?),
        })
    }
}

fn int_constant(value: Number, to: Scalar) -> Option<i64> {
    let v = value.int().unwrap_or_else(|| value.complex().0 as i128);
    let (low, high) = int_range(to);
    (low <= v && v <= high).then_some(v as i64)
}

/// The least and greatest value of an integer type.
pub fn int_range(s: Scalar) -> (i128, i128) {
    let bits = s.bits();
    if s.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

impl Val {
    pub const fn int(v: i128) -> Val {
        Val::Lit(Lit::int(v))
    }

    /// A plain tuple.
    pub fn tuple(items: impl Into<Items<Val>>) -> Val {
        Val::Tuple(items.into())
    }

    pub fn ty(&self) -> Ty {
        match self {
            Val::Num(_, n) => Ty::Num(*n),
            Val::Lit(l) => Ty::Num(l.num),
            Val::View(_, v) => Ty::View(*v),
            Val::Lazy(expr) => Ty::View(fresh_type(expr.elem, expr.rank)),
            Val::Tuple(items) => Ty::Tuple(items.map(Val::ty)),
            Val::TupleClass(maker) => Ty::Static(Static::TupleClass(maker.class.key, maker.class.name.clone())),
            Val::None => Ty::None,
            Val::Str(s) => Ty::Static(Static::Str(s.clone())),
            Val::Dtype(s) => Ty::Static(Static::Dtype(*s)),
            Val::Path(p) => Ty::Static(Static::Path(p.clone())),
            Val::Function(f) => Ty::Static(Static::Function(f.key, f.name.clone(), f.decorated.clone())),
            Val::Closure(c) => Ty::Static(Static::Closure {
                key: c.function.key,
                name: c.function.name.clone(),
                decorated: c.function.decorated.clone(),
                captured: c.handed().iter().map(Val::ty).collect(),
            }),
            Val::Enum(class) => Ty::Static(Static::Enum(class.key, class.name.clone())),
            Val::Member(member) => Ty::Static(Static::Member(member.key, member.path.clone())),
            Val::Exception(number, name) => Ty::Static(Static::Exception(*number, name.clone())),
            Val::Method(_, name, _) => Ty::Static(Static::Passing(name.clone())),
            Val::Iter(_) => Ty::Static(Static::Passing("range".into())),
            Val::Ellipsis => Ty::Static(Static::Ellipsis),
            Val::Slice(bounds) => Ty::Static(Static::Slice(*bounds)),
            Val::Constant(lit) => Ty::Static(Static::Constant(lit.to_string())),
            Val::Format(_) => Ty::Static(Static::Passing("formatted string".into())),
            Val::Other(key, t) => Ty::Static(Static::Other(*key, t.clone())),
        }
    }

    /// Do the types of two things that are no numbers say whether they are equal? An unknown object may have an equality of its own;
    /// a dtype equals its name, a type of that name does not.
    pub fn equals_by_type(&self, other: &Val) -> bool {
        let unknown = |val: &Val| matches!(val, Val::Other(..) | Val::Iter(_) | Val::Method(..) | Val::Format(_));
        let named = |val: &Val| matches!(val, Val::Str(_) | Val::Path(_));
        let by_name = |a: &Val, b: &Val| matches!(a, Val::Dtype(_)) && named(b);
        !(unknown(self) || unknown(other) || by_name(self, other) || by_name(other, self))
    }

    /// The number's type, if it is one.
    pub fn num(&self) -> Option<Num> {
        match self {
            Val::Num(_, n) => Some(*n),
            Val::Lit(l) => Some(l.num),
            _ => None,
        }
    }

    pub fn lit(&self) -> Option<Lit> {
        match self {
            Val::Lit(l) => Some(*l),
            _ => None,
        }
    }

    /// A constant integer, if it is one.
    pub fn const_int(&self) -> Option<i128> {
        let lit = self.lit()?;
        matches!(lit.num.scalar.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned)
            .then(|| lit.value.int())
            .flatten()
    }

    /// A constant Python float, if it is one.
    pub fn weak_float(&self) -> Option<f64> {
        match self.lit()? {
            Lit {
                num: Num { weak: true, .. },
                value: Number::Float(v),
            } => Some(v),
            _ => None,
        }
    }

    /// A constant of an integer type.
    pub fn integer_constant(&self) -> Option<i128> {
        self.const_int().filter(|_| self.num().is_some_and(|n| n.scalar.is_int()))
    }

    /// Is it a number that a called function may take as a constant: an integer or a bool? Two of one type are told apart by `const_int`.
    pub fn passes_as_constant(&self) -> bool {
        self.const_int().is_some()
    }

    /// The points that a loop over it would go over.
    pub fn points(&self) -> Option<&Points> {
        match self {
            Val::Iter(iter) => match &**iter {
                Iter::Points(points) => Some(points),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn is_array(&self) -> bool {
        matches!(self, Val::View(..) | Val::Lazy(_))
    }
}
