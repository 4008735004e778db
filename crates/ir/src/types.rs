//! The types of the IR: scalars, views of arrays, tuples.
//!
//! Weakness of Python numbers is not a type here: the front end has decided every width before it builds IR.

use std::fmt;

/// A scalar as NumPy names it. `Bool` takes one byte in memory and one bit in a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// IEEE 754's half precision: 11 bits of significand, up to 65504.
    F16,
    /// The upper half of a float32: 8 bits of significand, float32's range.
    BF16,
    F32,
    F64,
    C64,
    C128,
}

/// The family a scalar belongs to, ordered as NumPy's promotion orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Bool,
    Unsigned,
    Signed,
    Float,
    Complex,
}

impl Scalar {
    pub const ALL: [Scalar; 15] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F16,
        Scalar::BF16,
        Scalar::F32,
        Scalar::F64,
        Scalar::C64,
        Scalar::C128,
    ];

    /// The short name of the text form: `f64`, `u8`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::BF16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::C64 => "c64",
            Scalar::C128 => "c128",
        }
    }

    /// NumPy's name, for messages to people: `float64`, `uint8`, `bool`.
    pub const fn numpy_name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "int8",
            Scalar::I16 => "int16",
            Scalar::I32 => "int32",
            Scalar::I64 => "int64",
            Scalar::U8 => "uint8",
            Scalar::U16 => "uint16",
            Scalar::U32 => "uint32",
            Scalar::U64 => "uint64",
            Scalar::F16 => "float16",
            Scalar::BF16 => "bfloat16",
            Scalar::F32 => "float32",
            Scalar::F64 => "float64",
            Scalar::C64 => "complex64",
            Scalar::C128 => "complex128",
        }
    }

    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    pub fn from_numpy_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.numpy_name() == name)
    }

    /// Bytes an element takes in memory.
    pub const fn size(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 | Scalar::C64 => 8,
            Scalar::C128 => 16,
        }
    }

    pub const fn bits(self) -> u32 {
        8 * self.size() as u32
    }

    pub const fn kind(self) -> Kind {
        match self {
            Scalar::Bool => Kind::Bool,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Kind::Signed,
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Kind::Unsigned,
            Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => Kind::Float,
            Scalar::C64 | Scalar::C128 => Kind::Complex,
        }
    }

    pub const fn is_int(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed)
    }

    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Is it one of the 16-bit floats, which compute as float32 and round?
    pub const fn is_half(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::BF16)
    }

    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// An integer brought into the type's range by keeping its low bits, as it is held in 64 bits: sign- or zero-extended.
    pub const fn wrap(self, v: i64) -> i64 {
        match self {
            Scalar::I8 => v as i8 as i64,
            Scalar::I16 => v as i16 as i64,
            Scalar::I32 => v as i32 as i64,
            Scalar::U8 => v as u8 as i64,
            Scalar::U16 => v as u16 as i64,
            Scalar::U32 => v as u32 as i64,
            _ => v,
        }
    }

    /// The type of the real and imaginary part of a complex scalar; any other scalar is its own part.
    pub const fn part(self) -> Scalar {
        match self {
            Scalar::C64 => Scalar::F32,
            Scalar::C128 => Scalar::F64,
            other => other,
        }
    }
}

/// Where the elements of a view live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Memory every thread of every block sees.
    Global,
    /// Memory of one block.
    Shared,
    /// Memory of one thread.
    Local,
    /// Read-only data frozen into the module.
    Constant,
}

/// What is known of a view's strides when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layout {
    /// C-contiguous: strides follow from the shape, the last axis has unit stride.
    C,
    /// Fortran-contiguous: strides follow from the shape, the first axis has unit stride.
    F,
    /// The last axis has unit stride, the others any.
    Row,
    /// Any strides.
    Any,
}

/// A typed window on a buffer: element type, rank, layout, space. Shape and strides are values at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewType {
    pub elem: Scalar,
    pub rank: u8,
    pub layout: Layout,
    pub space: Space,
    pub writable: bool,
}

/// The type of a value or local. The empty tuple is "nothing" (Python's `None` as a result).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Scalar(Scalar),
    View(ViewType),
    Tuple(Vec<Type>),
}

impl Type {
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    pub const I64: Type = Type::Scalar(Scalar::I64);
    pub const F64: Type = Type::Scalar(Scalar::F64);

    pub const fn unit() -> Type {
        Type::Tuple(Vec::new())
    }

    pub fn is_unit(&self) -> bool {
        matches!(self, Type::Tuple(items) if items.is_empty())
    }

    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    pub fn view(&self) -> Option<ViewType> {
        match self {
            Type::View(v) => Some(*v),
            _ => None,
        }
    }

    /// How many 8-byte slots a value of this type takes in an argument block (see `docs/architecture/runtime.md`, "Argument blocks").
    pub fn slots(&self) -> usize {
        match self {
            Type::Scalar(Scalar::C64 | Scalar::C128) => 2,
            Type::Scalar(_) => 1,
            Type::View(v) => 1 + 2 * v.rank as usize,
            Type::Tuple(items) => items.iter().map(Type::slots).sum(),
        }
    }
}

impl From<Scalar> for Type {
    fn from(s: Scalar) -> Type {
        Type::Scalar(s)
    }
}

impl From<ViewType> for Type {
    fn from(v: ViewType) -> Type {
        Type::View(v)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Space {
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Constant => "const",
        }
    }
}

impl Layout {
    pub const fn name(self) -> &'static str {
        match self {
            Layout::C => "C",
            Layout::F => "F",
            Layout::Row => "row",
            Layout::Any => "any",
        }
    }
}

impl fmt::Display for ViewType {
    /// `view<f64, 2, C, global>`, with a trailing `, ro` when it may not be written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "view<{}, {}, {}, {}",
            self.elem,
            self.rank,
            self.layout.name(),
            self.space.name()
        )?;
        f.write_str(if self.writable { ">" } else { ", ro>" })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(s) => s.fmt(f),
            Type::View(v) => v.fmt(f),
            Type::Tuple(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}
