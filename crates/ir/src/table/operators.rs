//! The tables of operators, one row each: name in the text form, the scalars it takes, the scalar it gives.
//!
//! They become the enums `UnOp`, `BinOp` and so on; parsing, printing and the verifier know no more of an operator than its row.

use super::columns::{Class, Gives};
use crate::types::Scalar;

macro_rules! operators {
    ($(#[$doc:meta])* $ty:ident { $($(#[$row_doc:meta])* $op:ident $name:literal: $takes:ident -> $gives:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $ty {
            $($(#[$row_doc])* $op,)*
        }

        impl $ty {
            pub const ALL: &'static [$ty] = &[$($ty::$op),*];

            /// The name of the text form.
            pub const fn name(self) -> &'static str {
                match self { $($ty::$op => $name),* }
            }

            pub fn from_name(name: &str) -> Option<$ty> {
                match name { $($name => Some($ty::$op),)* _ => None }
            }

            /// Is it defined for operands of this type?
            pub const fn takes(self, scalar: Scalar) -> bool {
                match self { $($ty::$op => Class::$takes.has(scalar)),* }
            }

            /// The type of the result for operands of a type that it takes.
            pub const fn gives(self, operand: Scalar) -> Scalar {
                match self { $($ty::$op => Gives::$gives.from(operand)),* }
            }
        }
    };
}

operators! {
    UnOp {
        /// Arithmetic negation; integers wrap.
        Neg "neg": NUMBER -> Same,
        /// Bitwise complement of integers, logical not of bool.
        Not "not": BITS -> Same,
        /// Magnitude of integers (wraps at the minimum) and floats. Not for complex (the front end calls `hypot`).
        Abs "abs": REAL -> Same,
        /// IEEE square root, correctly rounded.
        Sqrt "sqrt": FLOAT -> Same,
        Floor "floor": FLOAT -> Same,
        Ceil "ceil": FLOAT -> Same,
        Trunc "trunc": FLOAT -> Same,
        /// Round half to even.
        Rint "rint": FLOAT -> Same,
        /// Complex conjugate.
        Conj "conj": COMPLEX -> Same,
        /// Population count, leading and trailing zeros of an integer.
        Popcount "popcount": INT -> Same,
        Clz "clz": INT -> Same,
        Ctz "ctz": INT -> Same,
        /// The bits of an integer in reverse order.
        BitReverse "bit_reverse": INT -> Same,
        /// Is the float a NaN; is it ±infinity; is its sign bit set.
        IsNan "is_nan": FLOAT -> Bool,
        IsInf "is_inf": FLOAT -> Bool,
        SignBit "sign_bit": FLOAT -> Bool,
    }
}

operators! {
    /// Both operands have one type, but for those whose right one [is a count](BinOp::takes_count).
    BinOp {
        Add "add": NUMBER -> Same,
        Sub "sub": NUMBER -> Same,
        Mul "mul": NUMBER -> Same,
        /// True division of floats and complex numbers, the latter by Smith's method as NumPy has it.
        Div "div": FIELD -> Same,
        /// Python's `//`: floors. On integers a zero divisor gives 0 (NumPy); on floats as NumPy's `floor_divide`.
        FloorDiv "floor_div": REAL -> Same,
        /// Python's `%`: has the divisor's sign. On integers a zero divisor gives 0; on floats as NumPy's `remainder`.
        Mod "mod": REAL -> Same,
        /// C's `%`/`fmod`: has the dividend's sign.
        Rem "rem": REAL -> Same,
        /// Integer power by squaring, wrapping; negative exponents give 0 (1 and -1 excepted). Floats call the math library.
        IntPow "int_pow": INT -> Same,
        And "and": BITS -> Same,
        Or "or": BITS -> Same,
        Xor "xor": BITS -> Same,
        /// Counts outside 0..bits give 0, or the sign for a signed right shift.
        Shl "shl": INT -> Same,
        Shr "shr": INT -> Same,
        /// `a if a < b else b`, NaN-propagating like `np.minimum` and `np.maximum`.
        Min "min": ORDERED -> Same,
        Max "max": ORDERED -> Same,
        /// The first operand's magnitude with the second's sign.
        CopySign "copysign": FLOAT -> Same,
    }
}

impl BinOp {
    /// Is the right operand an integer of any type, a shift's count or a power's exponent?
    pub const fn takes_count(self) -> bool {
        matches!(self, BinOp::Shl | BinOp::Shr | BinOp::IntPow)
    }
}

operators! {
    CmpOp {
        Eq "eq": ANY -> Bool,
        Ne "ne": ANY -> Bool,
        Lt "lt": ORDERED -> Bool,
        Le "le": ORDERED -> Bool,
        Gt "gt": ORDERED -> Bool,
        Ge "ge": ORDERED -> Bool,
    }
}

impl CmpOp {
    /// True exactly where this is false, for operands that are not NaN.
    pub const fn opposite(self) -> CmpOp {
        match self {
            CmpOp::Eq => CmpOp::Ne,
            CmpOp::Ne => CmpOp::Eq,
            CmpOp::Lt => CmpOp::Ge,
            CmpOp::Le => CmpOp::Gt,
            CmpOp::Gt => CmpOp::Le,
            CmpOp::Ge => CmpOp::Lt,
        }
    }

    /// What holds of `b` and `a` where this holds of `a` and `b`.
    pub const fn mirrored(self) -> CmpOp {
        match self {
            CmpOp::Eq | CmpOp::Ne => self,
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
        }
    }
}

operators! {
    AtomicOp {
        Add "add": REAL -> Same,
        Sub "sub": REAL -> Same,
        /// The value where it is less or greater than the element. So a NaN, as either, changes nothing.
        Min "min": REAL -> Same,
        Max "max": REAL -> Same,
        And "and": INT -> Same,
        Or "or": INT -> Same,
        Xor "xor": INT -> Same,
        Exch "exch": REAL -> Same,
        /// `Min` and `Max` of floats that take a NaN for a missing value: an element that is one becomes the value.
        NanMin "nan_min": FLOAT -> Same,
        NanMax "nan_max": FLOAT -> Same,
        /// `old + 1`, or 0 if `old >= value`.
        Inc "inc": UNSIGNED -> Same,
        /// `old - 1`, or `value` if `old` is 0 or over `value`.
        Dec "dec": UNSIGNED -> Same,
        /// Compare and swap; takes the extra operand `expected`.
        Cas "cas": REAL -> Same,
    }
}

operators! {
    /// How the points of an index space combine a local.
    ReduceOp {
        Add "add": NUMBER -> Same,
        Mul "mul": NUMBER -> Same,
        Min "min": ORDERED -> Same,
        Max "max": ORDERED -> Same,
        And "and": BITS -> Same,
        Or "or": BITS -> Same,
        Xor "xor": BITS -> Same,
    }
}

operators! {
    /// What the lanes of a warp do together, see [`Op::Warp`](crate::Op::Warp). Lanes of the *group* are those that meet at the operation.
    WarpOp {
        /// The value of lane `lane & 31`.
        ShuffleIdx "shuffle_idx": NUMBER -> Same,
        /// The value of the lane `lane & 31` below, above; the own value where the warp has no such lane number.
        ShuffleUp "shuffle_up": NUMBER -> Same,
        ShuffleDown "shuffle_down": NUMBER -> Same,
        /// The value of the lane whose number is the own one's exclusive or with `lane & 31`.
        ShuffleXor "shuffle_xor": NUMBER -> Same,
        /// Is the bool true in all lanes of the group, in any of them, the same in all of them.
        All "all": BOOL -> Bool,
        Any "any": BOOL -> Bool,
        Equal "equal": BOOL -> Bool,
        /// The lanes of the group in which the bool is true.
        Ballot "ballot": BOOL -> U32,
        /// The lanes of the group that have the own value. Floats are compared by their bits.
        MatchAny "match_any": REAL -> U32,
        /// All lanes of the group if they have the same value, else 0. Floats are compared by their bits.
        MatchAll "match_all": REAL -> U32,
    }
}

impl WarpOp {
    /// Takes a value of one lane to others; has the operand `lane`.
    pub const fn is_shuffle(self) -> bool {
        matches!(
            self,
            WarpOp::ShuffleIdx | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor
        )
    }

    /// Takes a bool of every lane.
    pub const fn is_vote(self) -> bool {
        matches!(self, WarpOp::All | WarpOp::Any | WarpOp::Equal | WarpOp::Ballot)
    }
}

operators! {
    /// What a barrier tells every thread of the block about a bool of each.
    BarrierOp {
        /// In how many threads it is true.
        Count "count": BOOL -> I32,
        /// Whether it is true in all, in any.
        And "and": BOOL -> Bool,
        Or "or": BOOL -> Bool,
    }
}
