//! The operations: what can stand on the right of `%v = …`.
//!
//! An operation reads values, gives one value, and is evaluated where it stands, in order. `Load`, `Atomic`, `Alloc` and `Call`
//! have effects. `Warp`, `ActiveMask` and `BarrierReduce` are evaluated by several threads together: they may not be moved, dropped or
//! repeated, nor may the conditions they stand under change. All others may be moved or dropped.

use crate::module::{ArrayId, ConstId, FuncId, Local, Value};
use crate::types::Scalar;

/// A scalar constant. Floats are kept as bits so that constants compare, hash and round-trip exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    Bool(bool),
    /// Any signed or unsigned integer type; the value as it is held in 64 bits (unsigned reinterpreted).
    Int(Scalar, i64),
    F16(u16),
    BF16(u16),
    F32(u32),
    F64(u64),
    C64(u32, u32),
    C128(u64, u64),
}

impl Const {
    pub const fn scalar(self) -> Scalar {
        match self {
            Const::Bool(_) => Scalar::Bool,
            Const::Int(s, _) => s,
            Const::F16(_) => Scalar::F16,
            Const::BF16(_) => Scalar::BF16,
            Const::F32(_) => Scalar::F32,
            Const::F64(_) => Scalar::F64,
            Const::C64(..) => Scalar::C64,
            Const::C128(..) => Scalar::C128,
        }
    }

    pub fn i64(v: i64) -> Const {
        Const::Int(Scalar::I64, v)
    }

    /// The element as it stands in memory (little-endian). Nothing if the length is wrong or a bool is neither 0 nor 1.
    pub fn from_bytes(scalar: Scalar, bytes: &[u8]) -> Option<Const> {
        if bytes.len() != scalar.size() {
            return None;
        }
        let word = |from: usize, len: usize| bytes[from..from + len].iter().rev().fold(0u64, |acc, &b| acc << 8 | u64::from(b));
        let size = scalar.size();
        Some(match scalar {
            Scalar::Bool => match bytes[0] {
                0 => Const::Bool(false),
                1 => Const::Bool(true),
                _ => return None,
            },
            Scalar::F16 => Const::F16(word(0, 2) as u16),
            Scalar::BF16 => Const::BF16(word(0, 2) as u16),
            Scalar::F32 => Const::F32(word(0, 4) as u32),
            Scalar::F64 => Const::F64(word(0, 8)),
            Scalar::C64 => Const::C64(word(0, 4) as u32, word(4, 4) as u32),
            Scalar::C128 => Const::C128(word(0, 8), word(8, 8)),
            _ => Const::Int(scalar, scalar.wrap(word(0, size) as i64)),
        })
    }

    pub fn f64(v: f64) -> Const {
        Const::F64(v.to_bits())
    }

    pub fn f32(v: f32) -> Const {
        Const::F32(v.to_bits())
    }

    /// The inverse of [`Const::from_bytes`].
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; self.scalar().size()];
        self.write_bytes(&mut bytes);
        bytes
    }

    /// Writes the element to the start of `into`; nothing where it does not fit.
    pub fn write_bytes(self, into: &mut [u8]) {
        let wide = |re: u64, im: u64| u128::from(re) | u128::from(im) << 64;
        let word = match self {
            Const::Bool(b) => u128::from(b),
            Const::Int(_, v) => u128::from(v as u64),
            Const::F16(b) | Const::BF16(b) => u128::from(b),
            Const::F32(b) => u128::from(b),
            Const::F64(b) => u128::from(b),
            Const::C64(re, im) => u128::from(u64::from(re) | u64::from(im) << 32),
            Const::C128(re, im) => wide(re, im),
        };
        let size = self.scalar().size();
        if let Some(into) = into.get_mut(..size) {
            into.copy_from_slice(&word.to_le_bytes()[..size]);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// Arithmetic negation; integers wrap.
    Neg,
    /// Bitwise complement of integers, logical not of bool.
    Not,
    /// Magnitude of integers (wraps at the minimum) and floats. Not for complex (the front end calls `hypot`).
    Abs,
    /// IEEE square root, correctly rounded.
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// Round half to even.
    Rint,
    /// Complex conjugate.
    Conj,
    /// Population count, leading and trailing zeros of an integer; the result has the operand's type.
    Popcount,
    Clz,
    Ctz,
    /// The bits of an integer in reverse order; the result has the operand's type.
    BitReverse,
    /// Is the float a NaN; is it ±infinity; is its sign bit set. The result is bool.
    IsNan,
    IsInf,
    SignBit,
}

/// Both operands and the result have one type, except shifts (any integer count) and `Pow`'s integer exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// True division of floats and complex numbers, the latter by Smith's method as NumPy has it.
    Div,
    /// Python's `//`: floors. On integers a zero divisor gives 0 (NumPy); on floats as NumPy's `floor_divide`.
    FloorDiv,
    /// Python's `%`: has the divisor's sign. On integers a zero divisor gives 0; on floats as NumPy's `remainder`.
    Mod,
    /// C's `%`/`fmod`: has the dividend's sign.
    Rem,
    /// Integer power by squaring, wrapping; negative exponents give 0 (1 and -1 excepted). Floats call the math library.
    IntPow,
    And,
    Or,
    Xor,
    /// Counts outside 0..bits give 0, or the sign for a signed right shift.
    Shl,
    Shr,
    /// `a if a < b else b`, NaN-propagating like `np.minimum` and `np.maximum`.
    Min,
    Max,
    /// The first operand's magnitude with the second's sign.
    CopySign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Add,
    Sub,
    /// The value where it is less or greater than the element. So a NaN, as either, changes nothing.
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    /// `Min` and `Max` of floats that take a NaN for a missing value: an element that is one becomes the value.
    NanMin,
    NanMax,
    /// `old + 1`, or 0 if `old >= value`; unsigned integers.
    Inc,
    /// `old - 1`, or `value` if `old` is 0 or over `value`; unsigned integers.
    Dec,
    /// Compare and swap; takes the extra operand `expected`.
    Cas,
}

/// Thread geometry. All are `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Geometry {
    ThreadIdx(Axis),
    BlockIdx(Axis),
    BlockDim(Axis),
    GridDim(Axis),
    /// Linear thread index in the block modulo 32.
    LaneId,
}

/// What a fresh array is refused with whose bytes would overflow.
pub const TOO_BIG: &str = "array is too big: its elements would take more than 2**63 - 1 bytes";

/// Threads of a warp: 32 with consecutive linear indices in their block (x fastest). The last warp of a block may have fewer.
pub const WARP: u32 = 32;

/// What the lanes of a warp do together, see [`Op::Warp`]. Lanes of the *group* are those that meet at the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpOp {
    /// The value of lane `lane & 31`.
    ShuffleIdx,
    /// The value of the lane `lane & 31` below, above; the own value where the warp has no such lane number.
    ShuffleUp,
    ShuffleDown,
    /// The value of the lane whose number is the own one's exclusive or with `lane & 31`.
    ShuffleXor,
    /// Is the bool true in all lanes of the group, in any of them, the same in all of them.
    All,
    Any,
    Equal,
    /// `u32`: the lanes of the group in which the bool is true.
    Ballot,
    /// `u32`: the lanes of the group that have the own value. Floats are compared by their bits.
    MatchAny,
    /// `u32`: all lanes of the group if they have the same value, else 0. Floats are compared by their bits.
    MatchAll,
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

/// What a barrier tells every thread of the block about a bool of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// `i32`: in how many threads it is true.
    Count,
    /// `bool`: whether it is true in all, in any.
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// One entry of an access's index list, an `i64` value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Index {
    pub value: Value,
    /// A negative value counts from the end. Cleared where it is known not to be negative.
    pub wrap: bool,
}

/// How one axis of a view is turned into the next view's axes. All values are `i64` and already normalised
/// (inside the axis, lengths not negative).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisSlice {
    /// Drops the axis at a position.
    At(Index),
    /// Keeps `len` entries from `start`, `step` apart.
    Range { start: Value, len: Value, step: Value },
    /// Keeps the axis whole.
    Full,
    /// A new axis of length 1; consumes none of the old ones.
    New,
}

/// Which part of a complex element an access means. Legalised code has only `Re` and `Im` on complex views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Whole,
    Re,
    Im,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Const(Const),
    /// The current value of a local.
    Get(Local),
    Unary(UnOp, Value),
    Binary(BinOp, Value, Value),
    /// Ordered comparison of two values of one scalar type; any comparison with NaN but `Ne` is false. Complex: `Eq`, `Ne` only.
    Compare(CmpOp, Value, Value),
    /// `cond ? a : b`, both evaluated.
    Select(Value, Value, Value),
    /// `a * b + c` with one rounding, in the 16-bit floats too.
    Fma(Value, Value, Value),
    /// Numeric conversion to the result's scalar type. Integers keep their low bits; `bool` is whether the operand is not zero; a complex
    /// number becomes real by its real part. What a float type cannot hold is rounded once,
    /// half to even, but on the way to `bf16` to `f32` first, as elsewhere in Python. Floats to integers truncate towards zero; out of range is the same on every device, as
    /// x86's conversions have it: to `i32` and `i64` the minimum of the type (NaN too); to `i8`, `i16`, `u8`, `u16` the low bits of the
    /// conversion to `i32`; to `u32` the low bits of the conversion to `i64`; to `u64` the conversion to `i64` if that is in range,
    /// else exact below 2^64, else (NaN too) 0.
    Cast(Value),
    /// Same bits, other type of the same size.
    Bitcast(Value),
    Complex(Value, Value),
    Re(Value),
    Im(Value),
    Tuple(Vec<Value>),
    Item(Value, u32),
    Call(FuncId, Vec<Value>),
    /// Length of an axis.
    Dim(Value, u8),
    Load {
        view: Value,
        indices: Vec<Index>,
        part: Part,
    },
    /// Basic indexing: integers, slices, new axes.
    Slice {
        view: Value,
        axes: Vec<AxisSlice>,
    },
    /// Axes permuted: result axis `i` is the operand's axis `perm[i]`.
    Transpose(Value, Vec<u8>),
    /// One part of every element of a complex view, as a view: the same axes, in the same memory. `Re` or `Im`.
    PartView(Value, Part),
    /// Another shape on a C-contiguous view of as many elements.
    Reshape(Value, Vec<Value>),
    /// A fresh C-contiguous global array; freed by the runtime when no result refers to it. Host functions only. Raises a ValueError
    /// where the bytes of its shape, with 1 in place of zeros, pass `i64::MAX`.
    Alloc {
        shape: Vec<Value>,
        zeroed: bool,
    },
    /// The function's shared or local array.
    Array(ArrayId),
    /// The module's constant array.
    ConstArray(ConstId),
    /// Reads, changes and writes one element as one step; gives the old element.
    Atomic {
        op: AtomicOp,
        view: Value,
        indices: Vec<Index>,
        value: Value,
        expected: Option<Value>,
    },
    Geometry(Geometry),
    /// The lanes of a warp that `mask` (`u32`, bit `n` for lane `n`) names meet here: none goes on before all have come, and what each
    /// did to memory before is seen by the others after. All of them must execute this operation with the same mask, which must name
    /// the executing lane; lanes that have ended, or that the block does not have, are not waited for and take no part. Threads need
    /// not all run through the code around it, but lanes of one mask have to. `lane` is an `i32`, for shuffles only. A shuffle from a
    /// lane that takes no part gives the own value on some devices, anything on others. Checked mode faults where a rule is broken.
    Warp {
        op: WarpOp,
        mask: Value,
        value: Value,
        lane: Option<Value>,
    },
    /// `u32`: lanes of the warp that execute this together with the own one, which is always among them. Which others are is up to the
    /// device where lanes went different ways before.
    ActiveMask,
    /// A `Barrier` that combines a bool of every thread of the block that reaches it; all get the same result.
    BarrierReduce(BarrierOp, Value),
    /// The block's dynamic shared memory as a C-contiguous view of rank 1 on as many whole elements as the launch's byte count holds.
    /// All of them, of whatever element type, start at the same address, which is aligned to 16 bytes.
    DynamicShared,
    /// `bool`, in code that runs once and not in lanes: can elements of one view be stored in any order while those of the other at the same places are read? They
    /// can where the two lie in different memory, or are the very same view.
    Apart(Value, Value),
    /// `bool`, in host functions: is there too little stack left to call this function once more? One that calls itself asks at its start.
    OutOfStack,
}
