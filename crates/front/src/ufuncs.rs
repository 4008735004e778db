//! NumPy's ufuncs by name, for those who apply them to arrays of their own: which types they compute in.

use weft_ir::Scalar;

use crate::ArgType;
use crate::builtins::loops;
use crate::types::{Num, unify};

pub use crate::builtins::loops::Loop;

/// Both operands in one type, and a truth.
const COMPARISONS: &[&str] = &["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"];
/// Of the truths of their operands.
const LOGICAL: &[&str] = &["logical_and", "logical_or", "logical_xor", "logical_not"];
/// Questions about one number.
const TESTS: &[&str] = &["isnan", "isinf", "isfinite"];

/// How many operands and results the ufunc of a name has; none where there is none of that name.
pub fn arity(name: &str) -> Option<(usize, usize)> {
    const BINARY: &str = "add subtract multiply divide true_divide floor_divide remainder mod fmod divmod power pow float_power \
        maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift \
        gcd lcm arctan2 atan2 hypot copysign nextafter heaviside logaddexp logaddexp2 ldexp logical_and logical_or logical_xor";
    let known = COMPARISONS.contains(&name) || LOGICAL.contains(&name) || TESTS.contains(&name);
    let found = loops::find(name);
    if !known && found.is_none() {
        return None;
    }
    let binary = COMPARISONS.contains(&name) || BINARY.split_whitespace().any(|n| n == name);
    Some((1 + usize::from(binary), 1 + usize::from(found.is_some_and(loops::Ufunc::is_pair))))
}

/// The loop that NumPy takes for operands of these types, weak ones among them; none where it raises `TypeError`.
pub fn resolve(name: &str, operands: &[ArgType]) -> Option<Loop> {
    let nums = operands.iter().map(num).collect::<Option<Vec<Num>>>()?;
    if let Some(ufunc) = loops::find(name) {
        return ufunc.resolve(&nums);
    }
    let (operands, result) = match name {
        _ if COMPARISONS.contains(&name) => (compared(&nums)?, Scalar::Bool),
        _ if LOGICAL.contains(&name) => (vec![Scalar::Bool; nums.len()], Scalar::Bool),
        _ if TESTS.contains(&name) => (nums.iter().map(|n| n.scalar).collect(), Scalar::Bool),
        _ => return None,
    };
    Some(Loop {
        operands,
        results: vec![result],
    })
}

/// The type of numbers that meet in an array, of which some are Python's.
pub fn common(operands: &[ArgType]) -> Option<Scalar> {
    let nums = operands.iter().map(num).collect::<Option<Vec<Num>>>()?;
    settle(&nums)
}

fn num(ty: &ArgType) -> Option<Num> {
    match ty {
        ArgType::Strong(scalar) => Some(Num::strong(*scalar)),
        ArgType::Weak(scalar) => Some(Num::weak(*scalar)),
        _ => None,
    }
}

/// Signed and unsigned integers of 64 bits are compared as they are, which NumPy has loops for.
fn compared(nums: &[Num]) -> Option<Vec<Scalar>> {
    let mixed = |a: Scalar, b: Scalar| a == Scalar::U64 && b.is_int() && b.is_signed();
    if let [a, b] = nums
        && !a.weak
        && !b.weak
        && (mixed(a.scalar, b.scalar) || mixed(b.scalar, a.scalar))
    {
        let wide = |n: &Num| if n.scalar == Scalar::U64 { Scalar::U64 } else { Scalar::I64 };
        return Some(vec![wide(a), wide(b)]);
    }
    Some(vec![settle(nums)?; nums.len()])
}

/// NumPy's result type: of the strong types, then of Python's numbers beside it.
fn settle(nums: &[Num]) -> Option<Scalar> {
    let of = |weak: bool| nums.iter().copied().filter(|n| n.weak == weak).reduce(unify);
    let both = of(false).into_iter().chain(of(true)).reduce(unify)?;
    Some(both.scalar)
}
