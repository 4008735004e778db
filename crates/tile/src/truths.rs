//! Loops of bools, which NumPy adds and multiplies as `or` and `and`.

use crate::element::Truth;
use crate::run::{Found, One, Two, one, two};

macro_rules! loops {
    ($trait:ident: $($name:ident($($x:ident),*) = $body:expr;)*) => {$(
        struct $name;
        impl $trait<Truth> for $name {
            type R = Truth;
            #[inline(always)]
            fn of($($x: Truth),*) -> Truth {
                $(let $x = $x.holds();)*
                Truth::of($body)
            }
        }
    )*};
}

loops! {
    One:
    Not(x) = !x;
    Same(x) = x;
    Never(_x) = false;
    Always(_x) = true;
}

loops! {
    Two:
    And(x, y) = x & y;
    Or(x, y) = x | y;
    Xor(x, y) = x ^ y;
    Equal(x, y) = x == y;
    Less(x, y) = !x & y;
    LessEqual(x, y) = !x | y;
    Greater(x, y) = x & !y;
    GreaterEqual(x, y) = x | !y;
}

pub fn find_one(name: &str) -> Option<Found> {
    match name {
        "invert" | "logical_not" => Some(one::<Not, Truth>()),
        "absolute" | "floor" | "ceil" | "trunc" | "real" => Some(one::<Same, Truth>()),
        "isnan" | "isinf" | "imag" => Some(one::<Never, Truth>()),
        "isfinite" => Some(one::<Always, Truth>()),
        _ => None,
    }
}

pub fn find_two(name: &str) -> Option<Found> {
    match name {
        "multiply" | "minimum" | "fmin" | "bitwise_and" | "logical_and" => Some(two::<And, Truth, Truth>()),
        "add" | "maximum" | "fmax" | "bitwise_or" | "logical_or" => Some(two::<Or, Truth, Truth>()),
        "bitwise_xor" | "logical_xor" | "not_equal" => Some(two::<Xor, Truth, Truth>()),
        "equal" => Some(two::<Equal, Truth, Truth>()),
        "less" => Some(two::<Less, Truth, Truth>()),
        "less_equal" => Some(two::<LessEqual, Truth, Truth>()),
        "greater" => Some(two::<Greater, Truth, Truth>()),
        "greater_equal" => Some(two::<GreaterEqual, Truth, Truth>()),
        _ => None,
    }
}
