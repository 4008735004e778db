//! What elements are combined by: operators on the types that folds compute in.

/// An operator on a type: what it joins to, and what changes nothing when joined.
pub trait Operator<T> {
    const IDENTITY: T;
    fn join(a: T, b: T) -> T;
}

#[derive(Debug)]
pub struct Add;
#[derive(Debug)]
pub struct Multiply;
#[derive(Debug)]
pub struct Maximum;
#[derive(Debug)]
pub struct Minimum;
#[derive(Debug)]
pub struct Fmax;
#[derive(Debug)]
pub struct Fmin;
#[derive(Debug)]
pub struct And;
/// `And` of bools.
#[derive(Debug)]
pub struct All;
#[derive(Debug)]
pub struct Or;
#[derive(Debug)]
pub struct Xor;

macro_rules! operator {
    ($op:ident, $($ty:ident)*, $identity:expr, |$a:ident, $b:ident| $join:expr) => {$(
        impl Operator<$ty> for $op {
            const IDENTITY: $ty = $identity;
            #[inline(always)]
            fn join($a: $ty, $b: $ty) -> $ty {
                $join
            }
        }
    )*};
}

operator!(Add, u8 u16 u32 u64, 0, |a, b| a.wrapping_add(b));
operator!(Multiply, u8 u16 u32 u64, 1, |a, b| a.wrapping_mul(b));
operator!(And, u8 u16 u32 u64, !0, |a, b| a & b);
operator!(All, u8, 1, |a, b| a & b);
operator!(Or, u8 u16 u32 u64, 0, |a, b| a | b);
operator!(Xor, u8 u16 u32 u64, 0, |a, b| a ^ b);
operator!(Add, f32 f64, -0.0, |a, b| a + b);
operator!(Multiply, f32 f64, 1.0, |a, b| a * b);

macro_rules! extremes {
    ($($ty:ident)*) => {$(
        operator!(Maximum, $ty, $ty::MIN, |a, b| if a > b { a } else { b });
        operator!(Minimum, $ty, $ty::MAX, |a, b| if a < b { a } else { b });
    )*};
}

extremes!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! float_extremes {
    ($($ty:ident)*) => {$(
        operator!(Maximum, $ty, $ty::NEG_INFINITY, |a, b| {
            let greater = if a > b { a } else { b };
            if a.is_nan() { a } else { greater }
        });
        operator!(Minimum, $ty, $ty::INFINITY, |a, b| {
            let less = if a < b { a } else { b };
            if a.is_nan() { a } else { less }
        });
        // Numbers win over NaN.
        operator!(Fmax, $ty, $ty::NAN, |a, b| if a > b || b.is_nan() { a } else { b });
        operator!(Fmin, $ty, $ty::NAN, |a, b| if a < b || b.is_nan() { a } else { b });
    )*};
}

float_extremes!(f32 f64);

macro_rules! complex_products {
    ($($ty:ident)*) => {$(
        impl Operator<[$ty; 2]> for Multiply {
            const IDENTITY: [$ty; 2] = [1.0, 0.0];
            #[inline(always)]
            fn join([ar, ai]: [$ty; 2], [br, bi]: [$ty; 2]) -> [$ty; 2] {
                [ar * br - ai * bi, ar * bi + ai * br]
            }
        }
    )*};
}

complex_products!(f32 f64);
