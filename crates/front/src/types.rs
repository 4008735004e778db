//! The front end's types: numbers that are weak or strong, views, tuples, and things known only while compiling.
//!
//! This file owns the unification rules. They are NumPy 2's promotion (NEP 50); `docs/types.md` is their guide and test.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use weft_ir::{Kind, Layout, Scalar, Type, ViewType};

use crate::{ArgType, Decorated, Items};

/// The type of a number. A weak number is a Python number: it takes the type of a strong one it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Num {
    pub scalar: Scalar,
    pub weak: bool,
}

impl Num {
    pub const INT: Num = Num::weak(Scalar::I64);
    pub const FLOAT: Num = Num::weak(Scalar::F64);
    pub const BOOL: Num = Num::weak(Scalar::Bool);
    pub const COMPLEX: Num = Num::weak(Scalar::C128);

    pub const fn weak(scalar: Scalar) -> Num {
        Num { scalar, weak: true }
    }

    pub const fn strong(scalar: Scalar) -> Num {
        Num { scalar, weak: false }
    }

    /// As a device without float64 has it: a weak float is a float32 there, and a weak complex number a complex64.
    pub const fn narrowed(self) -> Num {
        match (self.weak, self.scalar) {
            (true, Scalar::F64) => Num::weak(Scalar::F32),
            (true, Scalar::C128) => Num::weak(Scalar::C64),
            _ => self,
        }
    }

    /// The same strength at another width or kind.
    pub const fn with(self, scalar: Scalar) -> Num {
        Num { scalar, weak: self.weak }
    }
}

impl fmt::Display for Num {
    /// `float32` when strong; `int`, `float`, `complex`, `bool` when weak.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.weak, self.scalar.kind()) {
            (false, _) => self.scalar.numpy_name(),
            (true, Kind::Bool) => "bool",
            (true, Kind::Unsigned | Kind::Signed) => "int",
            (true, Kind::Float) => "float",
            (true, Kind::Complex) => "complex",
        })
    }
}

/// The type of a variable, parameter or result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Num(Num),
    View(ViewType),
    Tuple(Items<Ty>),
    None,
    Static(Static),
}

/// A thing that exists only while compiling; its value is its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Static {
    Str(String),
    Dtype(Scalar),
    /// A module or function the front end knows, by its path.
    Path(String),
    /// A function to compile: its key, its name, and what its decorator asked for.
    Function(u64, String, Option<Rc<Decorated>>),
    /// A function made inside another one: likewise, and the types of what it was handed on with.
    Closure {
        key: u64,
        name: String,
        decorated: Option<Rc<Decorated>>,
        captured: Vec<Ty>,
    },
    /// An enumeration: its key and name.
    Enum(u64, String),
    /// A member of one: its key and how it is shown.
    Member(u64, String),
    /// The class of a named tuple: its key and name.
    TupleClass(u64, String),
    /// A class of exceptions: the host's number for it and its name.
    Exception(u32, String),
    Ellipsis,
    /// A slice of constants.
    Slice([Option<i64>; 3]),
    /// A number that a text of the library is compiled for, as it is shown.
    Constant(String),
    /// An object that the host passes: its key and how it is shown.
    Argument(u64, String),
    /// Something of the host language that means nothing here: its key and its Python type.
    Other(u64, String),
    /// What can be used where it stands but not kept: a range, a method, a formatted string.
    Passing(String),
}

impl Ty {
    /// The IR type that carries a value of this type; compile-time things carry nothing.
    pub fn ir(&self) -> Type {
        match self {
            Ty::Num(n) => Type::Scalar(n.scalar),
            Ty::View(v) => Type::View(*v),
            Ty::Tuple(items) => Type::Tuple(items.iter().map(Ty::ir).collect()),
            Ty::None | Ty::Static(_) => Type::unit(),
        }
    }

    /// The keys of functions in it that read variables where they were made.
    pub fn inner_functions(&self) -> Vec<u64> {
        match self {
            Ty::Static(Static::Closure { key, captured, .. }) if captured.is_empty() => vec![*key],
            Ty::Tuple(items) => items.iter().flat_map(Ty::inner_functions).collect(),
            _ => Vec::new(),
        }
    }

    /// Is there something in it that exists only while compiling?
    pub fn has_static(&self) -> bool {
        match self {
            Ty::Static(_) => true,
            Ty::Tuple(items) => items.iter().any(Ty::has_static),
            Ty::Num(_) | Ty::View(_) | Ty::None => false,
        }
    }

    /// Is it a list, or is there one in it?
    pub fn has_list(&self) -> bool {
        matches!(self, Ty::Tuple(items) if items.is_list() || items.iter().any(Ty::has_list))
    }

    /// Is there something in it that can only be looped over?
    pub fn has_passing(&self) -> bool {
        match self {
            Ty::Tuple(items) => items.is_passing() || items.iter().any(Ty::has_passing),
            Ty::Static(Static::Passing(_)) => true,
            _ => false,
        }
    }

    pub fn from_arg(arg: &ArgType) -> Ty {
        match arg {
            ArgType::Weak(s) => Ty::Num(Num::weak(*s)),
            ArgType::Strong(s) => Ty::Num(Num::strong(*s)),
            ArgType::Array(v) => Ty::View(*v),
            ArgType::Tuple(items) => Ty::Tuple(items.map(Ty::from_arg)),
            ArgType::Object { key, shown } => Ty::Static(Static::Argument(*key, shown.clone())),
            ArgType::None => Ty::None,
        }
    }

    /// `None` for things that cannot be handed to the caller.
    pub fn to_arg(&self) -> Option<ArgType> {
        Some(match self {
            Ty::Num(Num { scalar, weak: true }) => ArgType::Weak(*scalar),
            Ty::Num(Num { scalar, weak: false }) => ArgType::Strong(*scalar),
            Ty::View(v) => ArgType::Array(*v),
            Ty::Tuple(items) => ArgType::Tuple(items.with(items.iter().map(Ty::to_arg).collect::<Option<_>>()?)),
            Ty::None => ArgType::None,
            Ty::Static(_) => return None,
        })
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Num(n) => n.fmt(f),
            Ty::View(v) if v.rank == 1 => write!(f, "1-d array of {}", v.elem.numpy_name()),
            Ty::View(v) => write!(f, "{}-d array of {}", v.rank, v.elem.numpy_name()),
            Ty::Tuple(items) => {
                write!(f, "{}(", items.class().map_or("tuple", |class| &class.name))?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(field) = items.class().and_then(|class| class.fields.get(i)) {
                        write!(f, "{field}=")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str(")")
            }
            Ty::None => f.write_str("None"),
            Ty::Static(s) => s.fmt(f),
        }
    }
}

impl fmt::Display for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Static::Str(_) => f.write_str("str"),
            Static::Dtype(s) => write!(f, "the type {}", s.numpy_name()),
            Static::Path(p) => write!(f, "'{p}'"),
            Static::Function(_, name, _) | Static::Closure { name, .. } => write!(f, "the function '{name}'"),
            Static::Enum(_, name) => write!(f, "the enumeration '{name}'"),
            Static::Member(_, path) => write!(f, "the constant '{path}'"),
            Static::Argument(_, shown) => write!(f, "'{shown}'"),
            Static::TupleClass(_, name) => write!(f, "the class '{name}'"),
            Static::Ellipsis => f.write_str("..."),
            Static::Slice(_) => f.write_str("a slice"),
            Static::Constant(shown) => f.write_str(shown),
            Static::Exception(_, name) => write!(f, "the exception '{name}'"),
            Static::Other(_, name) | Static::Passing(name) => write!(f, "a Python object of type '{name}'"),
        }
    }
}

/// What sums of a type come as: those of small integers have 64 bits, as NumPy's.
pub fn sum_type(s: Scalar) -> Num {
    Num::strong(match s.kind() {
        Kind::Bool | Kind::Signed => Scalar::I64,
        Kind::Unsigned => Scalar::U64,
        Kind::Float | Kind::Complex => s,
    })
}

/// NumPy's `promote_types`; bfloat16 meets other types as in `ml_dtypes`, and float16 in float32.
pub fn promote(a: Scalar, b: Scalar) -> Scalar {
    use Kind::{Bool, Complex, Float, Signed, Unsigned};
    match (a.kind(), b.kind()) {
        _ if a == b => a,
        (Bool, _) => b,
        (_, Bool) => a,
        (Complex, _) | (_, Complex) => match promote(a.part(), b.part()) {
            Scalar::F32 => Scalar::C64,
            _ => Scalar::C128,
        },
        (Float, Float) if a.size() <= 4 && b.size() <= 4 => Scalar::F32,
        (Float, Float) => Scalar::F64,
        (Float, _) => float_with_int(a, b),
        (_, Float) => float_with_int(b, a),
        (Signed, Signed) | (Unsigned, Unsigned) => wider(a, b),
        (Signed, Unsigned) => signed_with_unsigned(a, b),
        (Unsigned, Signed) => signed_with_unsigned(b, a),
    }
}

fn wider(a: Scalar, b: Scalar) -> Scalar {
    if a.size() >= b.size() { a } else { b }
}

fn float_with_int(float: Scalar, int: Scalar) -> Scalar {
    match int.size() {
        1 => float,
        2 if float != Scalar::F64 => Scalar::F32,
        _ => Scalar::F64,
    }
}

fn signed_with_unsigned(signed: Scalar, unsigned: Scalar) -> Scalar {
    if signed.size() > unsigned.size() {
        return signed;
    }
    match unsigned.size() {
        1 => Scalar::I16,
        2 => Scalar::I32,
        4 => Scalar::I64,
        _ => Scalar::F64,
    }
}

/// Bool, int, float, complex as 0 to 3: what decides whether a weak number gives way.
pub fn rank_of_kind(s: Scalar) -> u8 {
    match s.kind() {
        Kind::Bool => 0,
        Kind::Unsigned | Kind::Signed => 1,
        Kind::Float => 2,
        Kind::Complex => 3,
    }
}

/// The type two numbers share.
pub fn unify(a: Num, b: Num) -> Num {
    match (a.weak, b.weak) {
        (true, true) => {
            // Of the same kind they differ only where a literal meets what a device without float64 has computed.
            match rank_of_kind(a.scalar).cmp(&rank_of_kind(b.scalar)) {
                Ordering::Less => b,
                Ordering::Equal if b.scalar.size() < a.scalar.size() => b,
                _ => a,
            }
        }
        (false, false) => Num::strong(promote(a.scalar, b.scalar)),
        (true, false) => weak_with_strong(a.scalar, b.scalar),
        (false, true) => weak_with_strong(b.scalar, a.scalar),
    }
}

fn weak_with_strong(weak: Scalar, strong: Scalar) -> Num {
    if rank_of_kind(weak) <= rank_of_kind(strong) {
        return Num::strong(strong);
    }
    Num::strong(match (weak.kind(), strong) {
        (Kind::Complex, Scalar::F16 | Scalar::BF16 | Scalar::F32) => Scalar::C64,
        (Kind::Complex, Scalar::F64) => Scalar::C128,
        (Kind::Complex | Kind::Float, _) => weak,
        _ => Scalar::I64,
    })
}

/// The type a variable takes that is assigned both, whose numbers meet in `unify`; `None` if there is none.
pub fn join(a: &Ty, b: &Ty, unify: fn(Num, Num) -> Num) -> Option<Ty> {
    match (a, b) {
        _ if a == b => Some(a.clone()),
        (Ty::Num(a), Ty::Num(b)) => Some(Ty::Num(unify(*a, *b))),
        (Ty::View(a), Ty::View(b)) => join_views(*a, *b).map(Ty::View),
        (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
            let class = a.common_class(b)?;
            let items = a.iter().zip(b).map(|(a, b)| join(a, b, unify)).collect::<Option<_>>()?;
            Some(Ty::Tuple(Items::of(class, items)))
        }
        _ => None,
    }
}

pub fn join_views(a: ViewType, b: ViewType) -> Option<ViewType> {
    if (a.elem, a.rank, a.space) != (b.elem, b.rank, b.space) {
        return None;
    }
    let layout = match (a.layout, b.layout) {
        (x, y) if x == y => x,
        (Layout::C | Layout::Row, Layout::C | Layout::Row) => Layout::Row,
        _ => Layout::Any,
    };
    let writable = a.writable && b.writable;
    Some(ViewType { layout, writable, ..a })
}

/// The float a number is computed in by functions such as `math.sin`: floats and complex numbers keep their width.
pub fn to_float(n: Num) -> Num {
    match n.scalar.kind() {
        Kind::Float | Kind::Complex => n,
        _ => n.with(Scalar::F64),
    }
}
