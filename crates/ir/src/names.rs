//! The short names of operators, as the text form and messages write them.

use crate::module::{ErrorKind, FenceScope, ReduceOp};
use crate::op::{AtomicOp, Axis, BarrierOp, BinOp, CmpOp, Geometry, UnOp, WarpOp};

macro_rules! names {
    ($ty:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $ty {
            pub const ALL: &'static [$ty] = &[$($ty::$variant),*];

            /// The name of the text form.
            pub const fn name(self) -> &'static str {
                match self { $($ty::$variant => $name),* }
            }

            pub fn from_name(name: &str) -> Option<$ty> {
                match name { $($name => Some($ty::$variant),)* _ => None }
            }
        }
    };
}

names!(UnOp {
    Neg = "neg",
    Not = "not",
    Abs = "abs",
    Sqrt = "sqrt",
    Floor = "floor",
    Ceil = "ceil",
    Trunc = "trunc",
    Rint = "rint",
    Conj = "conj",
    Popcount = "popcount",
    Clz = "clz",
    Ctz = "ctz",
    BitReverse = "bit_reverse",
    IsNan = "is_nan",
    IsInf = "is_inf",
    SignBit = "sign_bit",
});

names!(BinOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    Div = "div",
    FloorDiv = "floor_div",
    Mod = "mod",
    Rem = "rem",
    IntPow = "int_pow",
    And = "and",
    Or = "or",
    Xor = "xor",
    Shl = "shl",
    Shr = "shr",
    Min = "min",
    Max = "max",
    CopySign = "copysign",
});

names!(CmpOp {
    Eq = "eq",
    Ne = "ne",
    Lt = "lt",
    Le = "le",
    Gt = "gt",
    Ge = "ge",
});

names!(AtomicOp {
    Add = "add",
    Sub = "sub",
    Min = "min",
    Max = "max",
    And = "and",
    Or = "or",
    Xor = "xor",
    Exch = "exch",
    NanMin = "nan_min",
    NanMax = "nan_max",
    Inc = "inc",
    Dec = "dec",
    Cas = "cas",
});

names!(ReduceOp {
    Add = "add",
    Mul = "mul",
    Min = "min",
    Max = "max",
    And = "and",
    Or = "or",
    Xor = "xor",
});

names!(WarpOp {
    ShuffleIdx = "shuffle_idx",
    ShuffleUp = "shuffle_up",
    ShuffleDown = "shuffle_down",
    ShuffleXor = "shuffle_xor",
    All = "all",
    Any = "any",
    Equal = "equal",
    Ballot = "ballot",
    MatchAny = "match_any",
    MatchAll = "match_all",
});

names!(BarrierOp {
    Count = "count",
    And = "and",
    Or = "or",
});

names!(FenceScope {
    Block = "block",
    Device = "device",
    System = "system",
});

names!(Axis {
    X = "x",
    Y = "y",
    Z = "z",
});

impl ErrorKind {
    /// All but those of the host's.
    pub const ALL: &'static [ErrorKind] = &[
        ErrorKind::Assertion,
        ErrorKind::ZeroDivision,
        ErrorKind::Index,
        ErrorKind::Value,
        ErrorKind::Overflow,
        ErrorKind::Memory,
    ];

    /// The name of the text form, behind which the host's have a number.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Assertion => "assertion",
            ErrorKind::ZeroDivision => "zero_division",
            ErrorKind::Index => "index",
            ErrorKind::Value => "value",
            ErrorKind::Overflow => "overflow",
            ErrorKind::Memory => "memory",
            ErrorKind::Host(_) => "host",
        }
    }

    /// Of those in [`ErrorKind::ALL`].
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        ErrorKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl Axis {
    /// Position in `[x, y, z]`.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Geometry {
    /// The name without the axis: `thread_idx`.
    pub const fn base_name(self) -> &'static str {
        match self {
            Geometry::ThreadIdx(_) => "thread_idx",
            Geometry::BlockIdx(_) => "block_idx",
            Geometry::BlockDim(_) => "block_dim",
            Geometry::GridDim(_) => "grid_dim",
            Geometry::LaneId => "lane_id",
        }
    }

    pub const fn axis(self) -> Option<Axis> {
        match self {
            Geometry::ThreadIdx(a) | Geometry::BlockIdx(a) | Geometry::BlockDim(a) | Geometry::GridDim(a) => Some(a),
            Geometry::LaneId => None,
        }
    }
}
