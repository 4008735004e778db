//! The operations: what can stand on the right of `%v = …`, and what they are made of.
//!
//! The [`Effect`] of an operation says whether it may be moved, dropped or repeated; for those that several threads evaluate together, not
//! even the conditions they stand under may change.

use crate::module::{ArrayId, ConstId, FuncId, Id, Local, Value};
pub use crate::table::{AtomicOp, BarrierOp, BinOp, CmpOp, Effect, UnOp, WarpOp};
use crate::table::{Field, define, operations, rule};
use crate::types::Scalar;

/// The routines of [`Op::Routine`], by the names that their libraries have for them.
macro_rules! routines {
    ($($op:ident $name:literal $reads:literal $writes:literal,)*) => {
        /// What is done with each matrix of stacks, or with the lines of an array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Routine {
            $($op,)*
        }

        impl Routine {
            pub const ALL: &'static [Routine] = &[$(Routine::$op),*];

            pub const fn name(self) -> &'static str {
                match self { $(Routine::$op => $name),* }
            }

            pub fn from_name(name: &str) -> Option<Routine> {
                match name { $($name => Some(Routine::$op),)* _ => None }
            }

            /// How many operands are read, and how many are written behind them.
            pub const fn arity(self) -> (usize, usize) {
                match self { $(Routine::$op => ($reads, $writes)),* }
            }
        }
    };
}

// Compiled code that is kept names them by number: new ones come last.
routines! {
    Matmul "matmul" 2 1,
    CholeskyLower "cholesky_lower" 1 1,
    CholeskyUpper "cholesky_upper" 1 1,
    Solve "solve" 2 1,
    Inv "inv" 1 1,
    Det "det" 1 1,
    Slogdet "slogdet" 1 2,
    QrReduced "qr_reduced" 1 2,
    QrComplete "qr_complete" 1 2,
    QrTriangle "qr_triangle" 1 1,
    QrRaw "qr_raw" 1 2,
    SvdReduced "svd_reduced" 1 3,
    SvdFull "svd_full" 1 3,
    SvdValues "svd_values" 1 1,
    EighLower "eigh_lower" 1 2,
    EighUpper "eigh_upper" 1 2,
    EigvalshLower "eigvalsh_lower" 1 1,
    EigvalshUpper "eigvalsh_upper" 1 1,
    Eig "eig" 1 2,
    Eigvals "eigvals" 1 1,
    Fft "fft" 2 1,
    FftOfReals "fft_of_reals" 2 1,
    FftToReals "fft_to_reals" 2 1,
}

/// What [`Op::Routine`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Outcome {
    Done = 0,
    Singular = 1,
    NotPositiveDefinite = 2,
    NoConvergence = 3,
    OutOfMemory = 4,
    /// There is no library of routines here.
    Absent = 5,
}

/// What of a thread's random numbers [`Op::ThreadState`] gives a view of: those of `numpy.random` and of `random`, each a Mersenne Twister.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadState {
    /// The twister's 624 words and, behind them, how many of them have been used.
    NumpyWords,
    /// A normal number that was made along with the last one, and 1 if it is still to be given, else 0.
    NumpyNormal,
    PythonWords,
    PythonNormal,
}

impl ThreadState {
    // Compiled code that is kept names them by number: new ones come last.
    pub const ALL: &'static [ThreadState] = &[
        ThreadState::NumpyWords,
        ThreadState::NumpyNormal,
        ThreadState::PythonWords,
        ThreadState::PythonNormal,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            ThreadState::NumpyWords => "numpy_words",
            ThreadState::NumpyNormal => "numpy_normal",
            ThreadState::PythonWords => "python_words",
            ThreadState::PythonNormal => "python_normal",
        }
    }

    pub fn from_name(name: &str) -> Option<ThreadState> {
        ThreadState::ALL.iter().copied().find(|state| state.name() == name)
    }

    pub const fn elem(self) -> Scalar {
        match self {
            ThreadState::NumpyWords | ThreadState::PythonWords => Scalar::U32,
            ThreadState::NumpyNormal | ThreadState::PythonNormal => Scalar::F64,
        }
    }

    /// How many elements there are.
    pub const fn len(self) -> usize {
        match self {
            ThreadState::NumpyWords | ThreadState::PythonWords => 625,
            ThreadState::NumpyNormal | ThreadState::PythonNormal => 2,
        }
    }

    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// The functions of [`Op::Libm`], of float64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Libm {
    Log,
    Exp,
    Pow,
    Cos,
    Acos,
}

impl Libm {
    pub const ALL: &'static [Libm] = &[Libm::Log, Libm::Exp, Libm::Pow, Libm::Cos, Libm::Acos];

    pub const fn name(self) -> &'static str {
        match self {
            Libm::Log => "log",
            Libm::Exp => "exp",
            Libm::Pow => "pow",
            Libm::Cos => "cos",
            Libm::Acos => "acos",
        }
    }

    pub fn from_name(name: &str) -> Option<Libm> {
        Libm::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// How many arguments it takes.
    pub const fn arity(self) -> usize {
        match self {
            Libm::Pow => 2,
            Libm::Log | Libm::Exp | Libm::Cos | Libm::Acos => 1,
        }
    }

    /// Its value; `b` is for those that take two arguments.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Libm::Log => a.ln(),
            Libm::Exp => a.exp(),
            Libm::Pow => a.powf(b),
            Libm::Cos => a.cos(),
            Libm::Acos => a.acos(),
        }
    }
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub const XYZ: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];
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

operations!(define);
