//! Which loop a ufunc has for operands of these types.

use weft_ir::{Kind, Scalar};

use crate::element::{C, Elem};
use crate::run::{Choose, Found, One, TileLoop, one, select as selecting};
use crate::{complex, floats, integers, truths};

/// The loop of NumPy's ufunc of a name for operands that have the types of that loop, and the type of its result; none where there is none, as
/// of elementary functions, which are compiled. `real` and `imag` go with the ufuncs. An `int64` and a `uint64` compare by value.
pub fn find(name: &str, operands: &[Scalar]) -> Option<(TileLoop, Scalar)> {
    let name = known_as(name);
    match *operands {
        [s] if copies(name, s) => Some((copy(s), s)),
        [s] => match s.kind() {
            Kind::Bool => truths::find_one(name),
            Kind::Signed | Kind::Unsigned => integers::find_one(name, s),
            Kind::Float => floats::find_one(name, s),
            Kind::Complex => complex::find_one(name, s),
        },
        [a, b] if a != b => integers::find_mixed(name, a, b),
        [s, _] => match s.kind() {
            Kind::Bool => truths::find_two(name),
            Kind::Signed | Kind::Unsigned => integers::find_two(name, s),
            Kind::Float => floats::find_two(name, s),
            Kind::Complex => complex::find_two(name, s),
        },
        _ => None,
    }
}

/// The loops of both results of `divmod`, `modf` or `frexp`, likewise.
pub fn find_pair(name: &str, operands: &[Scalar]) -> Option<[(TileLoop, Scalar); 2]> {
    match (name, operands) {
        ("divmod", _) => Some([find("floor_divide", operands)?, find("remainder", operands)?]),
        (_, [s]) => floats::find_pair(name, *s),
        _ => None,
    }
}

/// The first of a ufunc's names.
fn known_as(name: &str) -> &str {
    match name {
        "true_divide" => "divide",
        "mod" => "remainder",
        "abs" => "absolute",
        "pow" => "power",
        "conj" => "conjugate",
        "bitwise_not" | "bitwise_invert" => "invert",
        "bitwise_left_shift" => "left_shift",
        "bitwise_right_shift" => "right_shift",
        "radians" => "deg2rad",
        "degrees" => "rad2deg",
        _ => name,
    }
}

/// Does a ufunc give its operand as it is?
fn copies(name: &str, s: Scalar) -> bool {
    match name {
        "positive" => s != Scalar::Bool,
        "conjugate" => s.is_int() || s.is_float(),
        "real" => !s.is_complex(),
        "floor" | "ceil" | "trunc" => s.is_int(),
        _ => false,
    }
}

struct Same;

impl<A: Elem> One<A> for Same {
    type R = A;
    #[inline(always)]
    fn of(a: A) -> A {
        a
    }
}

/// Copies elements, or fills a tile with one.
pub fn copy(elem: Scalar) -> TileLoop {
    let found: Found = match elem.size() {
        1 => one::<Same, u8>(),
        2 => one::<Same, u16>(),
        4 => one::<Same, u32>(),
        8 => one::<Same, u64>(),
        _ => one::<Same, C<f64>>(),
    };
    found.0
}

macro_rules! chosen_by_mask {
    ($($ty:ident)*) => {$(
        impl Choose for $ty {
            #[inline(always)]
            fn choose(first: bool, a: $ty, b: $ty) -> $ty {
                let mask = $ty::from(first).wrapping_neg();
                a & mask | b & !mask
            }
        }
    )*};
}

chosen_by_mask!(u8 u16 u32 u64);

impl Choose for C<f64> {
    #[inline(always)]
    fn choose(first: bool, a: C<f64>, b: C<f64>) -> C<f64> {
        if first { a } else { b }
    }
}

/// `where(condition, a, b)`: of a bool and two elements.
pub fn select(elem: Scalar) -> TileLoop {
    match elem.size() {
        1 => selecting::<u8>(),
        2 => selecting::<u16>(),
        4 => selecting::<u32>(),
        8 => selecting::<u64>(),
        _ => selecting::<C<f64>>(),
    }
}
