//! Comparisons of `setp` and `set`.

use super::float;
use super::mods::Mods;
use crate::exec::inst::{Combine, Test};
use crate::exec::lanes::{Bits, Rows, Slot};
use crate::exec::softfloat::{self, Round};
use crate::ptx::PtxError;
use crate::ptx::syntax::Ty;

/// A value that comparisons of its type order.
trait Ordered: Bits + PartialOrd {
    const FLOAT: bool;
    fn nan(self) -> bool;
}

macro_rules! ordered {
    ($($t:ty)*) => { $( impl Ordered for $t {
        const FLOAT: bool = false;
        #[inline(always)]
        fn nan(self) -> bool { false }
    } )* };
}
ordered! { u16 i16 u32 i32 u64 i64 }

impl Ordered for f32 {
    const FLOAT: bool = true;
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }
}

impl Ordered for f64 {
    const FLOAT: bool = true;
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }
}

/// A half of a packed register, or a short float, as a double; `$flush`: its subnormals count as zero.
macro_rules! small_float {
    ($name:ident, $format:expr, $shift:expr, $flush:expr) => {
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        struct $name(f64);
        impl Bits for $name {
            fn of(register: u64) -> Self {
                let value = register >> $shift & 0xffff;
                let value = if $flush && value & $format.infinity() == 0 { 0 } else { value };
                $name(f64::from_bits(softfloat::convert(
                    value,
                    $format,
                    softfloat::F64,
                    Round::Nearest,
                )))
            }
            fn bits(self) -> u64 {
                self.0.to_bits()
            }
        }
        impl Ordered for $name {
            const FLOAT: bool = true;
            fn nan(self) -> bool {
                self.0.is_nan()
            }
        }
    };
}
small_float!(Half, softfloat::F16, 0, false);
small_float!(HighHalf, softfloat::F16, 16, false);
small_float!(FlushedHalf, softfloat::F16, 0, true);
small_float!(FlushedHighHalf, softfloat::F16, 16, true);
small_float!(Brain, softfloat::BF16, 0, false);
small_float!(HighBrain, softfloat::BF16, 16, false);

/// A single whose subnormals count as zero.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Flushed(f32);
impl Bits for Flushed {
    fn of(register: u64) -> Self {
        let value = f32::of(register);
        Flushed(if value.is_subnormal() { 0.0 } else { value })
    }
    fn bits(self) -> u64 {
        self.0.bits()
    }
}
impl Ordered for Flushed {
    const FLOAT: bool = true;
    fn nan(self) -> bool {
        self.0.is_nan()
    }
}

fn test_of<T: Ordered>(name: &str) -> Option<Test> {
    macro_rules! test {
        (|$a:ident, $b:ident| $e:expr) => {{
            fn run<T: Ordered>(rows: &Rows<'_>, a: Slot, b: Slot, mask: u32) -> u32 {
                rows.test2(a, b, mask, |a, b| {
                    let ($a, $b) = (T::of(a), T::of(b));
                    $e
                })
            }
            run::<T> as Test
        }};
    }
    Some(match name {
        "eq" => test!(|a, b| a == b),
        // Of floats, "ne" is ordered.
        "ne" => test!(|a, b| a != b && !a.nan() && !b.nan()),
        "lt" => test!(|a, b| a < b),
        "le" => test!(|a, b| a <= b),
        "gt" => test!(|a, b| a > b),
        "ge" => test!(|a, b| a >= b),
        "equ" if T::FLOAT => test!(|a, b| a == b || a.nan() || b.nan()),
        "neu" if T::FLOAT => test!(|a, b| a != b),
        "ltu" if T::FLOAT => test!(|a, b| a < b || a.nan() || b.nan()),
        "leu" if T::FLOAT => test!(|a, b| a <= b || a.nan() || b.nan()),
        "gtu" if T::FLOAT => test!(|a, b| a > b || a.nan() || b.nan()),
        "geu" if T::FLOAT => test!(|a, b| a >= b || a.nan() || b.nan()),
        "num" if T::FLOAT => test!(|a, b| !a.nan() && !b.nan()),
        "nan" if T::FLOAT => test!(|a, b| a.nan() || b.nan()),
        _ => return None,
    })
}

/// A comparison, and one of the upper halves for packed types.
#[derive(Debug)]
pub struct Comparison {
    pub test: Test,
    pub high: Option<Test>,
    pub combine: Combine,
}

const NAMES: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs",
];

pub fn comparison(mods: &mut Mods<'_>, ty: Ty) -> Result<Comparison, PtxError> {
    let Some(name) = mods.find(|part| NAMES.iter().find(|n| **n == part).copied()) else {
        return Err(mods.error("expected a comparison"));
    };
    let combine = mods.find(|part| match part {
        "and" => Some(Combine::And),
        "or" => Some(Combine::Or),
        "xor" => Some(Combine::Xor),
        _ => None,
    });
    let ftz = mods.take("ftz");
    // `lo` and its kin compare unsigned whatever the type says.
    let unsigned_name = match name {
        "lo" => Some("lt"),
        "ls" => Some("le"),
        "hi" => Some("gt"),
        "hs" => Some("ge"),
        _ => None,
    };
    let (name, ty) = match (unsigned_name, ty.bytes()) {
        (Some(name), 2) => (name, Ty::U16),
        (Some(name), 4) => (name, Ty::U32),
        (Some(name), _) => (name, Ty::U64),
        (None, _) => (name, ty),
    };
    if ftz && !matches!(ty, Ty::F32 | Ty::F16 | Ty::F16x2) {
        return Err(mods.error("this type has no .ftz"));
    }
    let (test, high) = match ty {
        Ty::U16 | Ty::B16 => (test_of::<u16>(name), None),
        Ty::S16 => (test_of::<i16>(name), None),
        Ty::U32 | Ty::B32 => (test_of::<u32>(name), None),
        Ty::S32 => (test_of::<i32>(name), None),
        Ty::U64 | Ty::B64 => (test_of::<u64>(name), None),
        Ty::S64 => (test_of::<i64>(name), None),
        Ty::F32 if ftz => (test_of::<Flushed>(name), None),
        Ty::F32 => (test_of::<f32>(name), None),
        Ty::F64 => (test_of::<f64>(name), None),
        Ty::F16 if ftz => (test_of::<FlushedHalf>(name), None),
        Ty::F16x2 if ftz => (test_of::<FlushedHalf>(name), test_of::<FlushedHighHalf>(name)),
        Ty::F16 => (test_of::<Half>(name), None),
        Ty::BF16 => (test_of::<Brain>(name), None),
        Ty::F16x2 => (test_of::<Half>(name), test_of::<HighHalf>(name)),
        Ty::BF16x2 => (test_of::<Brain>(name), test_of::<HighBrain>(name)),
        _ => (None, None),
    };
    let test = test.ok_or_else(|| mods.error("unsupported comparison"))?;
    Ok(Comparison {
        test,
        high,
        combine: combine.unwrap_or(Combine::None),
    })
}

/// `testp`, as a comparison of the operand with itself.
pub fn property(mods: &mut Mods<'_>, ty: Ty) -> Result<Test, PtxError> {
    const NAMES: [&str; 6] = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
    let Some(name) = mods.find(|part| NAMES.iter().find(|n| **n == part).copied()) else {
        return Err(mods.error("expected a property"));
    };
    macro_rules! tests {
        ($($n:literal)*) => {
            match (name, ty) {
                $( ($n, Ty::F32) => Some((|rows, a, b, mask| rows.test2(a, b, mask, |a, _| float::property($n, Ty::F32).is_some_and(|f| f(a)))) as Test),
                   ($n, Ty::F64) => Some((|rows, a, b, mask| rows.test2(a, b, mask, |a, _| float::property($n, Ty::F64).is_some_and(|f| f(a)))) as Test), )*
                _ => None,
            }
        };
    }
    tests!("finite" "infinite" "number" "notanumber" "normal" "subnormal").ok_or_else(|| mods.error("unsupported type"))
}
