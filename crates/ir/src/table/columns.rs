//! The columns of the tables: which scalars an operator takes and gives, what an operation asks of an operand, what it does.

use crate::types::{Kind, Scalar};

/// A set of families of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    pub const BOOL: Class = Class::of(&[Kind::Bool]);
    pub const UNSIGNED: Class = Class::of(&[Kind::Unsigned]);
    pub const INT: Class = Class::of(&[Kind::Unsigned, Kind::Signed]);
    pub const FLOAT: Class = Class::of(&[Kind::Float]);
    pub const COMPLEX: Class = Class::of(&[Kind::Complex]);
    /// What has bits that mean something: integers and bools.
    pub const BITS: Class = Class::BOOL.or(Class::INT);
    pub const REAL: Class = Class::INT.or(Class::FLOAT);
    /// What has a fraction.
    pub const FIELD: Class = Class::FLOAT.or(Class::COMPLEX);
    pub const NUMBER: Class = Class::REAL.or(Class::COMPLEX);
    pub const ORDERED: Class = Class::BOOL.or(Class::REAL);
    pub const ANY: Class = Class::BOOL.or(Class::NUMBER);

    const fn of(kinds: &[Kind]) -> Class {
        let (mut bits, mut i) = (0, 0);
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u8;
            i += 1;
        }
        Class(bits)
    }

    const fn or(self, other: Class) -> Class {
        Class(self.0 | other.0)
    }

    pub const fn has(self, scalar: Scalar) -> bool {
        self.0 >> scalar.kind() as u8 & 1 == 1
    }
}

/// The scalar an operator gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// That of its operand.
    Same,
    Bool,
    I32,
    U32,
}

impl Gives {
    pub const fn from(self, operand: Scalar) -> Scalar {
        match self {
            Gives::Same => operand,
            Gives::Bool => Scalar::Bool,
            Gives::I32 => Scalar::I32,
            Gives::U32 => Scalar::U32,
        }
    }
}

/// What is asked of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing, or what the row's own rule says.
    Any,
    Scalar,
    View,
    /// The type of the result.
    Same,
    /// `bool`.
    Condition,
    /// `i64`.
    Index,
    Extent,
    Bound,
    /// `u32`.
    Mask,
    Time,
    /// `i32`.
    Lane,
    /// They are the operands of an operation, whose row has the rules.
    Inner,
    /// It is no operand: the statement defines it.
    Defined,
}

impl Rule {
    pub const fn is_operand(self) -> bool {
        !matches!(self, Rule::Defined)
    }

    /// The one type that will do, and what messages call the operand.
    pub const fn fixed(self) -> Option<(Scalar, &'static str)> {
        match self {
            Rule::Any | Rule::Scalar | Rule::View | Rule::Same | Rule::Inner | Rule::Defined => None,
            Rule::Condition => Some((Scalar::Bool, "a condition")),
            Rule::Index => Some((Scalar::I64, "an index")),
            Rule::Extent => Some((Scalar::I64, "an extent")),
            Rule::Bound => Some((Scalar::I64, "a range's bound")),
            Rule::Mask => Some((Scalar::U32, "a mask of lanes")),
            Rule::Time => Some((Scalar::U32, "a time to sleep")),
            Rule::Lane => Some((Scalar::I32, "a lane")),
        }
    }
}

/// What an operation does besides giving a value, or a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: wherever in its thread it is evaluated, and however often, the same operands give the same value.
    Pure,
    /// Reads a local.
    Get,
    /// Sets a local.
    Set,
    /// Reads memory, and may fail where it should not have been evaluated.
    Load,
    /// Writes memory.
    Store,
    /// Reads and writes memory.
    Atomic,
    /// Makes an array, or raises.
    Alloc,
    /// Whatever the function or the points of an index space do.
    Call,
    /// Depends on which lanes of a warp come here together.
    Lanes,
    /// Lanes of a warp meet here.
    Warp,
    /// All threads of a block meet here.
    Barrier,
    /// All threads of the grid meet here.
    Grid,
    /// Orders what the thread does to memory.
    Fence,
    /// Says where control goes on.
    Flow,
    /// Is seen by who started the program.
    Output,
}

impl Effect {
    /// May an operation be evaluated where it was not, by lanes that would not come there, and be dropped where nobody reads its value?
    pub const fn is_free(self) -> bool {
        matches!(self, Effect::Pure | Effect::Get)
    }
}

/// The functions an operation or statement may stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Kernels and what they call: the others have no barriers, geometry and shared memory.
    Threads,
    /// What runs once, and points that run one by one; not lanes.
    Host,
}
