//! Numba's type promotion, where it differs from NumPy's: which type an operation is done in.
//!
//! Python's ints and floats are int64 and float64 like any other. Arithmetic on scalars is done in 64 bits; that on elements of arrays, and
//! NumPy's functions, in the first loop of the ufunc that takes the operands. All of it was measured, see `tests/numba_dialect`.

use weft_ir::{Kind, Scalar};

use crate::types::promote;

/// An integer or bool.
pub fn is_whole(s: Scalar) -> bool {
    matches!(s.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned)
}

/// What arithmetic on one scalar is done in: integers have 64 bits, and bools are integers.
pub fn widened(s: Scalar) -> Scalar {
    match s.kind() {
        Kind::Bool | Kind::Signed => Scalar::I64,
        Kind::Unsigned => Scalar::U64,
        Kind::Float | Kind::Complex => s,
    }
}

/// `+ - * / // %` and the bits of two scalars.
pub fn arithmetic(a: Scalar, b: Scalar) -> Scalar {
    if is_whole(a) && is_whole(b) {
        let unsigned = a.kind() == Kind::Unsigned && b.kind() == Kind::Unsigned;
        return if unsigned { Scalar::U64 } else { Scalar::I64 };
    }
    // No float32 holds a uint16, to Numba, though an int16.
    let whole = |s: Scalar| if s == Scalar::U16 { Scalar::I32 } else { s };
    if a.is_half() || b.is_half() {
        return promote(a, b);
    }
    promote(whole(a), whole(b))
}

/// A bool or an integer that a float32 holds, to Numba's operators.
pub fn is_small(s: Scalar) -> bool {
    matches!(s, Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::U8)
}

/// `divmod` of two scalars: there are ones of int64, uint64 and floats, and the closest is taken.
pub fn divmod(a: Scalar, b: Scalar) -> Scalar {
    let (unsigned, signed) = (
        a.kind() == Kind::Unsigned || b.kind() == Kind::Unsigned,
        a.is_signed() || b.is_signed(),
    );
    match (is_whole(a) && is_whole(b), unsigned, signed) {
        (true, true, false) => Scalar::U64,
        (true, true, true) if a == Scalar::U64 || b == Scalar::U64 => Scalar::F64,
        _ => arithmetic(a, b),
    }
}

/// `**` of two scalars: a float keeps its width, whatever the integer.
pub fn power(base: Scalar, exponent: Scalar) -> Scalar {
    match (base, exponent) {
        // Where Numba has several signatures to choose from, and takes this one.
        (Scalar::Bool, Scalar::I32) => Scalar::F32,
        _ if base.is_float() && is_whole(exponent) => base,
        _ => arithmetic(base, exponent),
    }
}

/// Shifts: the first operand's sign decides.
pub fn shift(a: Scalar, b: Scalar) -> Scalar {
    if is_whole(a) && is_whole(b) { widened(a) } else { promote(a, b) }
}

/// The loop of a ufunc for two operands: as NumPy's for arrays of these types, but that any integer goes with any float.
pub fn elements(a: Scalar, b: Scalar) -> Scalar {
    match (a.is_int(), b.is_int()) {
        (true, false) if b != Scalar::Bool && !b.is_half() => b,
        (false, true) if a != Scalar::Bool && !a.is_half() => a,
        _ => promote(a, b),
    }
}

/// What a ufunc of floats takes an integer as: there are none of 16 bits.
pub fn float_of(s: Scalar) -> Scalar {
    match s.kind() {
        Kind::Float | Kind::Complex => s,
        _ if s.size() <= 2 => Scalar::F32,
        _ => Scalar::F64,
    }
}
