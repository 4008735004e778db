//! Integer and bit instructions.

use super::mods::Mods;
use crate::exec::lanes::{Bits, Lanewise, Rows, lanewise};
use crate::ptx::PtxError;
use crate::ptx::syntax::Ty;

pub type Run = fn(&Rows<'_>, &Lanewise, u32);

/// `e` for each integer type, as `T`.
macro_rules! by_int {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Ty::U16 | Ty::B16 => {
                type $T = u16;
                Some($e)
            }
            Ty::S16 => {
                type $T = i16;
                Some($e)
            }
            Ty::U32 | Ty::B32 => {
                type $T = u32;
                Some($e)
            }
            Ty::S32 => {
                type $T = i32;
                Some($e)
            }
            Ty::U64 | Ty::B64 => {
                type $T = u64;
                Some($e)
            }
            Ty::S64 => {
                type $T = i64;
                Some($e)
            }
            _ => None,
        }
    };
}

/// The same for bit strings only.
macro_rules! by_bits {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Ty::B16 | Ty::U16 | Ty::S16 => {
                type $T = u16;
                Some($e)
            }
            Ty::B32 | Ty::U32 | Ty::S32 => {
                type $T = u32;
                Some($e)
            }
            Ty::B64 | Ty::U64 | Ty::S64 => {
                type $T = u64;
                Some($e)
            }
            _ => None,
        }
    };
}

/// Twice as wide.
trait Wide: Bits {
    type Twice: Bits;
    fn product(self, other: Self) -> Self::Twice;
    fn high(self, other: Self) -> Self;
    fn quotient(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
    fn magnitude(self) -> Self;
}

macro_rules! wide {
    ($($t:ty, $twice:ty, $i128:ty, $abs:expr;)*) => { $(
        impl Wide for $t {
            type Twice = $twice;
            #[inline(always)]
            fn product(self, other: Self) -> $twice { (self as $twice).wrapping_mul(other as $twice) }
            #[inline(always)]
            fn high(self, other: Self) -> Self { ((self as $i128).wrapping_mul(other as $i128) >> Self::BITS) as Self }
            /// Dividing by zero gives all ones, as the hardware does.
            #[inline(always)]
            fn quotient(self, other: Self) -> Self { if other == 0 { !0 } else { self.wrapping_div(other) } }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self { if other == 0 { self } else { self.wrapping_rem(other) } }
            #[inline(always)]
            fn magnitude(self) -> Self { let f: fn(Self) -> Self = $abs; f(self) }
        }
    )* };
}

wide! {
    u16, u32, u128, |x| x; i16, i32, i128, i16::wrapping_abs;
    u32, u64, u128, |x| x; i32, i64, i128, i32::wrapping_abs;
    u64, u64, u128, |x| x; i64, i64, i128, i64::wrapping_abs;
}

fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Arithmetic of integers; `None` if the opcode is another's.
pub fn arithmetic(mods: &mut Mods<'_>, ty: Ty) -> Result<Option<Run>, PtxError> {
    let saturate = mods.take("sat");
    if saturate && !(ty == Ty::S32 && matches!(mods.opcode, "add" | "sub")) {
        return Err(mods.error(".sat is for .s32 sums"));
    }
    if matches!((mods.opcode, ty), ("min" | "max", Ty::S32 | Ty::S16x2)) && mods.take("relu") {
        return Ok(Some(extreme_or_zero(mods.opcode, ty)));
    }
    if matches!(ty, Ty::U16x2 | Ty::S16x2) {
        return Ok(packed(mods.opcode, ty));
    }
    Ok(match mods.opcode {
        "add" if saturate => Some(lanewise!(a: i32, b: i32 => a.saturating_add(b))),
        "sub" if saturate => Some(lanewise!(a: i32, b: i32 => a.saturating_sub(b))),
        "add" => by_bits!(ty, T => lanewise!(a: T, b: T => a.wrapping_add(b))),
        "sub" => by_bits!(ty, T => lanewise!(a: T, b: T => a.wrapping_sub(b))),
        "mul" | "mad" => product(mods, ty)?,
        "mul24" | "mad24" => return product24(mods, ty).map(Some),
        "div" => by_int!(ty, T => lanewise!(a: T, b: T => a.quotient(b))),
        "rem" => by_int!(ty, T => lanewise!(a: T, b: T => a.remainder(b))),
        "abs" => by_int!(ty, T => lanewise!(a: T => a.magnitude())),
        "neg" => by_bits!(ty, T => lanewise!(a: T => a.wrapping_neg())),
        "min" => by_int!(ty, T => lanewise!(a: T, b: T => a.min(b))),
        "max" => by_int!(ty, T => lanewise!(a: T, b: T => a.max(b))),
        "sad" => by_int!(ty, T => lanewise!(a: T, b: T, c: T => if a > b { a.wrapping_sub(b) } else { b.wrapping_sub(a) }.wrapping_add(c))),
        _ => None,
    })
}

fn packed(opcode: &str, ty: Ty) -> Option<Run> {
    Some(match (opcode, ty) {
        ("add", _) => lanewise!(a: u32, b: u32 => halves(a, b, u16::wrapping_add)),
        ("sub", _) => lanewise!(a: u32, b: u32 => halves(a, b, u16::wrapping_sub)),
        ("min", Ty::U16x2) => lanewise!(a: u32, b: u32 => halves(a, b, u16::min)),
        ("max", Ty::U16x2) => lanewise!(a: u32, b: u32 => halves(a, b, u16::max)),
        ("min", _) => lanewise!(a: u32, b: u32 => halves(a, b, |a, b| (a as i16).min(b as i16) as u16)),
        ("max", _) => lanewise!(a: u32, b: u32 => halves(a, b, |a, b| (a as i16).max(b as i16) as u16)),
        ("neg", _) => lanewise!(a: u32 => halves(a, a, |a, _| a.wrapping_neg())),
        _ => return None,
    })
}

/// `min.relu` and `max.relu`: what is below zero is zero.
fn extreme_or_zero(opcode: &str, ty: Ty) -> Run {
    match (opcode, ty) {
        ("min", Ty::S32) => lanewise!(a: i32, b: i32 => a.min(b).max(0)),
        ("max", Ty::S32) => lanewise!(a: i32, b: i32 => a.max(b).max(0)),
        ("min", _) => lanewise!(a: u32, b: u32 => halves(a, b, |a, b| (a as i16).min(b as i16).max(0) as u16)),
        _ => lanewise!(a: u32, b: u32 => halves(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16)),
    }
}

fn product(mods: &mut Mods<'_>, ty: Ty) -> Result<Option<Run>, PtxError> {
    let sum = mods.opcode == "mad";
    if mods.take("wide") {
        if ty.bytes() > 4 {
            return Err(mods.error(".wide is for 16 and 32 bits"));
        }
        return Ok(if sum {
            by_int!(ty, T => lanewise!(a: T, b: T, c: <T as Wide>::Twice => a.product(b).wrapping_add(c)))
        } else {
            by_int!(ty, T => lanewise!(a: T, b: T => a.product(b)))
        });
    }
    if mods.take("hi") {
        return Ok(if sum {
            by_int!(ty, T => lanewise!(a: T, b: T, c: T => a.high(b).wrapping_add(c)))
        } else {
            by_int!(ty, T => lanewise!(a: T, b: T => a.high(b)))
        });
    }
    if !mods.take("lo") {
        return Err(mods.error("expected .lo, .hi or .wide"));
    }
    Ok(if sum {
        by_bits!(ty, T => lanewise!(a: T, b: T, c: T => a.wrapping_mul(b).wrapping_add(c)))
    } else {
        by_bits!(ty, T => lanewise!(a: T, b: T => a.wrapping_mul(b)))
    })
}

fn low24(a: u32, signed: bool) -> i64 {
    if signed {
        i64::from((a << 8) as i32 >> 8)
    } else {
        i64::from(a & 0xff_ffff)
    }
}

fn product24(mods: &mut Mods<'_>, ty: Ty) -> Result<Run, PtxError> {
    let high = mods.take("hi");
    if !high && !mods.take("lo") {
        return Err(mods.error("expected .lo or .hi"));
    }
    Ok(match (mods.opcode, ty, high) {
        ("mul24", Ty::U32, false) => lanewise!(a: u32, b: u32 => (low24(a, false) * low24(b, false)) as u32),
        ("mul24", Ty::S32, false) => lanewise!(a: u32, b: u32 => (low24(a, true) * low24(b, true)) as u32),
        ("mul24", Ty::U32, true) => lanewise!(a: u32, b: u32 => ((low24(a, false) * low24(b, false)) >> 16) as u32),
        ("mul24", Ty::S32, true) => lanewise!(a: u32, b: u32 => ((low24(a, true) * low24(b, true)) >> 16) as u32),
        ("mad24", Ty::U32, false) => lanewise!(a: u32, b: u32, c: u32 => ((low24(a, false) * low24(b, false)) as u32).wrapping_add(c)),
        ("mad24", Ty::S32, false) => lanewise!(a: u32, b: u32, c: u32 => ((low24(a, true) * low24(b, true)) as u32).wrapping_add(c)),
        _ => return Err(mods.error("unsupported form")),
    })
}

fn shift_left<T: Bits>(a: T, by: u32) -> u64 {
    if by >= 64 { 0 } else { a.bits() << by }
}

fn lut(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..8).filter(|i| table >> i & 1 == 1).fold(0, |result, i| {
        let pick = |x: u32, bit: u32| if i >> bit & 1 == 1 { x } else { !x };
        result | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

/// `bfe`: a field of at most the type's width, sign- or zero-extended.
fn field(a: u64, at: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (at, len) = (at & 0xff, len & 0xff);
    let mask = |n: u32| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    if len == 0 {
        return 0;
    }
    let sign_at = (at + len - 1).min(bits - 1);
    let sign = signed && a >> sign_at & 1 == 1;
    let taken = if at >= bits { 0 } else { (a & mask(bits)) >> at & mask(len) };
    let known = len.min(bits.saturating_sub(at));
    let value = if sign { taken | !mask(known) } else { taken };
    value & mask(bits)
}

fn insert(a: u64, b: u64, at: u32, len: u32, bits: u32) -> u64 {
    let (at, len) = (at & 0xff, len & 0xff);
    if at >= bits || len == 0 {
        return b;
    }
    let len = len.min(bits - at);
    let mask = (if len >= 64 { u64::MAX } else { (1 << len) - 1 }) << at;
    b & !mask | a << at & mask
}

fn find(a: u64, bits: u32, shift_amount: bool) -> u32 {
    if a == 0 {
        return u32::MAX;
    }
    let at = 63 - a.leading_zeros();
    if shift_amount { bits - 1 - at } else { at }
}

fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, i| {
        let pick = selector >> (4 * i) & 0xf;
        let byte = (bytes >> (8 * (pick & 7))) as u8;
        let byte = if pick & 8 == 0 {
            byte
        } else if byte & 0x80 == 0 {
            0
        } else {
            0xff
        };
        result | u32::from(byte) << (8 * i)
    })
}

/// The selector of a `prmt` mode, from the low two bits of its third operand.
fn permute_mode(mode: u32, c: u32) -> u32 {
    let c = c & 3;
    match mode {
        1 => [0x3210, 0x4321, 0x5432, 0x6543][c as usize],
        2 => [0x5670, 0x6701, 0x7012, 0x0123][c as usize],
        3 => c * 0x1111,
        4 => [0x3210, 0x3211, 0x3222, 0x3333][c as usize],
        5 => [0x0000, 0x1110, 0x2210, 0x3210][c as usize],
        _ => [0x1010, 0x3232, 0x1010, 0x3232][c as usize],
    }
}

fn dot4(a: u32, b: u32, c: u32, signed: (bool, bool)) -> u32 {
    let byte = |x: u32, i: u32, signed: bool| {
        let byte = (x >> (8 * i)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..4).fold(c, |sum, i| sum.wrapping_add((byte(a, i, signed.0) * byte(b, i, signed.1)) as u32))
}

fn dot2(a: u32, b: u32, c: u32, signed: (bool, bool), high: bool) -> u32 {
    let half = |i: u32| {
        if signed.0 {
            i32::from((a >> (16 * i)) as i16)
        } else {
            i32::from((a >> (16 * i)) as u16)
        }
    };
    let byte = |i: u32| {
        if signed.1 {
            i32::from((b >> (8 * i)) as i8)
        } else {
            i32::from((b >> (8 * i)) as u8)
        }
    };
    let from = if high { 2 } else { 0 };
    (0..2).fold(c, |sum, i| sum.wrapping_add(half(i).wrapping_mul(byte(from + i)) as u32))
}

/// Bit instructions, with their mode; `None` if the opcode is another's.
pub fn bits(mods: &mut Mods<'_>) -> Result<Option<(Run, u32)>, PtxError> {
    if matches!(mods.opcode, "dp4a" | "dp2a") {
        return dot(mods).map(Some);
    }
    let opcodes = [
        "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "bfe", "bfi", "bfind", "brev", "clz", "popc", "prmt", "lop3", "bmsk",
        "szext", "fns",
    ];
    if !opcodes.contains(&mods.opcode) {
        return Ok(None);
    }
    let ty = mods.ty()?;
    let (run, mode) = match mods.opcode {
        "and" => (by_bits!(ty, T => lanewise!(a: T, b: T => a & b)), 0),
        "or" => (by_bits!(ty, T => lanewise!(a: T, b: T => a | b)), 0),
        "xor" => (by_bits!(ty, T => lanewise!(a: T, b: T => a ^ b)), 0),
        "not" => (by_bits!(ty, T => lanewise!(a: T => !a)), 0),
        "cnot" => (by_bits!(ty, T => lanewise!(a: T => T::from(a == 0))), 0),
        "shl" => (by_bits!(ty, T => lanewise!(a: T, b: u32 => shift_left(a, b) as T)), 0),
        "shr" => (by_int!(ty, T => lanewise!(a: T, b: u32 => shift_right(i128::from(a), b) as T)), 0),
        "shf" => return funnel(mods).map(|run| Some((run, 0))),
        "bfe" => (
            by_int!(ty, T => lanewise!(a: T, b: u32, c: u32 => field(a.bits(), b, c, T::BITS, T::MIN != 0) as T)),
            0,
        ),
        "bfi" => return Ok(Some((insertion(mods, ty)?, 0))),
        "bfind" => {
            let mode = u32::from(mods.take("shiftamt"));
            (
                by_int!(ty, T => lanewise!(mode m; a: T => find(if T::MIN != 0 && a >> (T::BITS - 1) != 0 { (!a).bits() } else { a.bits() }, T::BITS, m == 1))),
                mode,
            )
        }
        "fns" => (Some(lanewise!(a: u32, b: u32, c: i32 => nth_set(a, b, c)) as Run), 0),
        "brev" => (by_bits!(ty, T => lanewise!(a: T => a.reverse_bits())), 0),
        "clz" => (by_bits!(ty, T => lanewise!(a: T => a.leading_zeros())), 0),
        "popc" => (by_bits!(ty, T => lanewise!(a: T => a.count_ones())), 0),
        "prmt" => {
            let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
            let mode = mods.find(|part| modes.iter().position(|m| *m == part)).map_or(0, |i| i as u32 + 1);
            let run: Run = if mode == 0 {
                lanewise!(a: u32, b: u32, c: u32 => permute(a, b, c))
            } else {
                lanewise!(mode m; a: u32, b: u32, c: u32 => permute(a, b, permute_mode(m, c)))
            };
            (Some(run), mode)
        }
        // The table is the fourth operand; the caller makes it the mode.
        "lop3" => (Some(lanewise!(mode table; a: u32, b: u32, c: u32 => lut(a, b, c, table)) as Run), 0),
        "bmsk" => {
            let wrap = mods.take("wrap");
            if !wrap && !mods.take("clamp") {
                return Err(mods.error("expected .clamp or .wrap"));
            }
            (
                Some(lanewise!(mode m; a: u32, b: u32 => mask_of(a, b, m == 1)) as Run),
                u32::from(wrap),
            )
        }
        _ => {
            let wrap = mods.take("wrap");
            if !wrap && !mods.take("clamp") {
                return Err(mods.error("expected .clamp or .wrap"));
            }
            let mode = u32::from(wrap) | u32::from(ty == Ty::S32) << 1;
            (
                Some(lanewise!(mode m; a: u32, b: u32 => extend(a, if m & 1 == 1 { b & 31 } else { b.min(32) }, m & 2 != 0)) as Run),
                mode,
            )
        }
    };
    let run = run.ok_or_else(|| mods.error("unsupported type"))?;
    Ok(Some((run, mode)))
}

/// `fns`: the n-th bit that is set, counted from `base` on up, below it where n is negative; all ones if there is none.
fn nth_set(mask: u32, base: u32, n: i32) -> u32 {
    let mut found = n.unsigned_abs();
    let places: &mut dyn Iterator<Item = u32> = if n < 0 { &mut (0..=base.min(31)).rev() } else { &mut (base..32) };
    if n == 0 {
        return if base < 32 && mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    for at in places {
        found -= mask >> at & 1;
        if found == 0 {
            return at;
        }
    }
    u32::MAX
}

fn shift_right(a: i128, by: u32) -> i128 {
    a >> by.min(127)
}

fn mask_of(at: u32, len: u32, wrap: bool) -> u32 {
    let (at, len) = if wrap { (at & 31, len & 31) } else { (at.min(32), len.min(32)) };
    (((1u64 << len) - 1) << at) as u32
}

fn extend(a: u32, bits: u32, signed: bool) -> u32 {
    if bits == 0 {
        return 0;
    }
    let by = 32 - bits;
    if signed { ((a << by) as i32 >> by) as u32 } else { a << by >> by }
}

fn funnel(mods: &mut Mods<'_>) -> Result<Run, PtxError> {
    let left = mods.take("l");
    if !left && !mods.take("r") {
        return Err(mods.error("expected .l or .r"));
    }
    let wrap = mods.take("wrap");
    if !wrap && !mods.take("clamp") {
        return Err(mods.error("expected .clamp or .wrap"));
    }
    Ok(match (left, wrap) {
        (true, true) => lanewise!(a: u32, b: u32, c: u32 => ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32),
        (true, false) => lanewise!(a: u32, b: u32, c: u32 => ((u64::from(b) << 32 | u64::from(a)) << c.min(32) >> 32) as u32),
        (false, true) => lanewise!(a: u32, b: u32, c: u32 => ((u64::from(b) << 32 | u64::from(a)) >> (c & 31)) as u32),
        (false, false) => lanewise!(a: u32, b: u32, c: u32 => ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32),
    })
}

/// `bfi d, a, b, at, len`: the caller packs `at` and `len` into one operand, which the instruction takes as its third.
fn insertion(mods: &mut Mods<'_>, ty: Ty) -> Result<Run, PtxError> {
    match ty {
        Ty::B32 => Ok(lanewise!(a: u32, b: u32, c: u32 => insert(u64::from(a), u64::from(b), c & 0xff, c >> 8, 32) as u32)),
        Ty::B64 => Ok(lanewise!(a: u64, b: u64, c: u32 => insert(a, b, c & 0xff, c >> 8, 64))),
        _ => Err(mods.error("unsupported type")),
    }
}

/// `c = at & 0xff | (len & 0xff) << 8`, for `bfi`.
pub fn pack_field() -> Run {
    lanewise!(a: u32, b: u32 => a & 0xff | (b & 0xff) << 8)
}

/// The bits of both of two words.
pub fn either() -> Run {
    lanewise!(a: u32, b: u32 => a | b)
}

fn dot(mods: &mut Mods<'_>) -> Result<(Run, u32), PtxError> {
    let high = mods.opcode == "dp2a" && mods.take("hi");
    if mods.opcode == "dp2a" && !high && !mods.take("lo") {
        return Err(mods.error("expected .lo or .hi"));
    }
    let (a, b) = (mods.ty()?, mods.ty()?);
    let mode = u32::from(a == Ty::S32) | u32::from(b == Ty::S32) << 1 | u32::from(high) << 2;
    let run: Run = if mods.opcode == "dp4a" {
        lanewise!(mode m; a: u32, b: u32, c: u32 => dot4(a, b, c, (m & 1 != 0, m & 2 != 0)))
    } else {
        lanewise!(mode m; a: u32, b: u32, c: u32 => dot2(a, b, c, (m & 1 != 0, m & 2 != 0), m & 4 != 0))
    };
    Ok((run, mode))
}

/// A copy of a register of so many bytes.
pub fn copy(bytes: u32) -> Option<Run> {
    Some(match bytes {
        1 | 2 => lanewise!(a: u16 => a),
        4 => lanewise!(a: u32 => a),
        8 => lanewise!(a: u64 => a),
        _ => return None,
    })
}

/// `slct`
pub fn select_by_sign(ty: Ty, by: Ty) -> Option<Run> {
    match by {
        Ty::S32 => by_width(ty.bytes(), false),
        Ty::F32 => by_width(ty.bytes(), true),
        _ => None,
    }
}

fn by_width(bytes: u32, float: bool) -> Option<Run> {
    Some(match (bytes, float) {
        (2 | 4 | 8, false) => lanewise!(a: u64, b: u64, c: i32 => if c >= 0 { a } else { b }),
        (2 | 4 | 8, true) => lanewise!(a: u64, b: u64, c: f32 => if c >= 0.0 { a } else { b }),
        _ => return None,
    })
}
