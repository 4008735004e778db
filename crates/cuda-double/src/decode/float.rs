//! Floating-point instructions.
//!
//! Correctly rounded forms are exact. The approximate ones (`.approx`, `div.full`) are computed in double precision and rounded once,
//! so they are at least as near as what the hardware promises; kernels must not rely on either.

use half::{bf16, f16};

use super::int::Run;
use super::mods::Mods;
use crate::exec::lanes::lanewise;
use crate::exec::softfloat::{self, Format, Round};
use crate::ptx::PtxError;
use crate::ptx::syntax::Ty;

pub fn format_of(ty: Ty) -> Option<Format> {
    Some(match ty {
        Ty::F16 | Ty::F16x2 => softfloat::F16,
        Ty::BF16 | Ty::BF16x2 => softfloat::BF16,
        Ty::F32 | Ty::F32x2 => softfloat::F32,
        Ty::F64 => softfloat::F64,
        _ => return None,
    })
}

pub fn rounding(name: &str) -> Option<Round> {
    Some(match name {
        "rn" => Round::Nearest,
        "rz" => Round::Zero,
        "rm" => Round::Down,
        "rp" => Round::Up,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(u32)]
enum Kind {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Sqrt,
    Rcp,
    Min,
    Max,
    Abs,
    Neg,
    Rsqrt,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
    CopySign,
}

const KINDS: [Kind; 18] = [
    Kind::Add,
    Kind::Sub,
    Kind::Mul,
    Kind::Fma,
    Kind::Div,
    Kind::Sqrt,
    Kind::Rcp,
    Kind::Min,
    Kind::Max,
    Kind::Abs,
    Kind::Neg,
    Kind::Rsqrt,
    Kind::Ex2,
    Kind::Lg2,
    Kind::Sin,
    Kind::Cos,
    Kind::Tanh,
    Kind::CopySign,
];
const FORMATS: [Format; 4] = [softfloat::F16, softfloat::BF16, softfloat::F32, softfloat::F64];
const ROUNDS: [Round; 5] = [Round::Nearest, Round::Zero, Round::Down, Round::Up, Round::Away];

/// All that modifies an operation, in the 32 bits an instruction has for it.
#[derive(Clone, Copy, Debug)]
struct Mode {
    kind: Kind,
    format: Format,
    round: Round,
    packed: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
    /// A NaN operand makes the result of `min` and `max` NaN.
    nan: bool,
    xorsign: bool,
}

impl Mode {
    fn encode(self) -> u32 {
        let format = FORMATS.iter().position(|f| *f == self.format).unwrap_or(0) as u32;
        let round = ROUNDS.iter().position(|r| *r == self.round).unwrap_or(0) as u32;
        let flags = [self.packed, self.ftz, self.sat, self.relu, self.nan, self.xorsign];
        let flags = flags.iter().enumerate().fold(0, |all, (i, f)| all | u32::from(*f) << i);
        self.kind as u32 | format << 8 | round << 12 | flags << 16
    }

    #[inline]
    fn decode(mode: u32) -> Mode {
        let flag = |bit: u32| mode >> (16 + bit) & 1 == 1;
        Mode {
            kind: KINDS[(mode & 0xff) as usize],
            format: FORMATS[(mode >> 8 & 0xf) as usize],
            round: ROUNDS[(mode >> 12 & 0xf) as usize],
            packed: flag(0),
            ftz: flag(1),
            sat: flag(2),
            relu: flag(3),
            nan: flag(4),
            xorsign: flag(5),
        }
    }

    /// A subnormal as zero of its sign.
    fn flush(self, a: u64) -> u64 {
        let tiny = a & self.format.infinity() == 0;
        if self.ftz && tiny { a & self.format.sign() } else { a }
    }

    fn run(self, a: u64, b: u64, c: u64) -> u64 {
        if !self.packed {
            return self.one(a, b, c);
        }
        let bits = self.format.fraction + self.format.exponent + 1;
        let mask = (1u64 << bits) - 1;
        let low = self.one(a & mask, b & mask, c & mask);
        let high = self.one(a >> bits & mask, b >> bits & mask, c >> bits & mask);
        low | high << bits
    }

    fn one(self, a: u64, b: u64, c: u64) -> u64 {
        let (a, b, c) = (self.flush(a), self.flush(b), self.flush(c));
        let result = self.flush(self.raw(a, b, c));
        self.clamp(result)
    }

    fn raw(self, a: u64, b: u64, c: u64) -> u64 {
        let (format, round) = (self.format, self.round);
        let one = softfloat::from_integer(1, format, round);
        match self.kind {
            Kind::Add => softfloat::add(a, b, format, round),
            Kind::Sub => softfloat::add(a, b ^ format.sign(), format, round),
            Kind::Mul => softfloat::mul(a, b, format, round),
            Kind::Fma => softfloat::fma(a, b, c, format, round),
            Kind::Div => softfloat::div(a, b, format, round),
            Kind::Sqrt => softfloat::sqrt(a, format, round),
            Kind::Rcp => softfloat::div(one, a, format, round),
            Kind::Min => self.extreme(a, b, true),
            Kind::Max => self.extreme(a, b, false),
            Kind::Abs => a & !format.sign(),
            Kind::Neg => a ^ format.sign(),
            // `copysign d, a, b`: the sign of a on the magnitude of b.
            Kind::CopySign => a & format.sign() | b & !format.sign(),
            _ => self.approximate(a),
        }
    }

    fn approximate(self, a: u64) -> u64 {
        let x = f64::from_bits(softfloat::convert(a, self.format, softfloat::F64, Round::Nearest));
        let y = match self.kind {
            Kind::Rsqrt => 1.0 / x.sqrt(),
            Kind::Ex2 => x.exp2(),
            Kind::Lg2 => x.log2(),
            Kind::Sin => x.sin(),
            Kind::Cos => x.cos(),
            _ => x.tanh(),
        };
        softfloat::convert(y.to_bits(), softfloat::F64, self.format, Round::Nearest)
    }

    fn extreme(self, a: u64, b: u64, min: bool) -> u64 {
        let format = self.format;
        let sign = (a ^ b) & format.sign();
        let (a, b) = if self.xorsign {
            (a & !format.sign(), b & !format.sign())
        } else {
            (a, b)
        };
        let result = match (format.is_nan(a), format.is_nan(b)) {
            (true, true) => return format.nan(),
            (true, _) | (_, true) if self.nan => return format.nan(),
            (true, _) => b,
            (_, true) => a,
            _ => {
                // Order of magnitudes with the sign folded in; -0 is below +0.
                let key = |x: u64| {
                    if x & format.sign() != 0 {
                        -((x & !format.sign()) as i128) - 1
                    } else {
                        x as i128
                    }
                };
                if (key(a) < key(b)) == min { a } else { b }
            }
        };
        if self.xorsign { result & !format.sign() | sign } else { result }
    }

    fn clamp(self, a: u64) -> u64 {
        let format = self.format;
        if self.relu {
            return if format.is_nan(a) {
                format.nan()
            } else if a & format.sign() != 0 {
                0
            } else {
                a
            };
        }
        if !self.sat {
            return a;
        }
        let one = softfloat::from_integer(1, format, Round::Nearest);
        if format.is_nan(a) || a & format.sign() != 0 {
            0
        } else {
            a.min(one)
        }
    }
}

fn kind_of(opcode: &str) -> Option<Kind> {
    Some(match opcode {
        "add" => Kind::Add,
        "sub" => Kind::Sub,
        "mul" => Kind::Mul,
        "fma" | "mad" => Kind::Fma,
        "div" => Kind::Div,
        "sqrt" => Kind::Sqrt,
        "rcp" => Kind::Rcp,
        "min" => Kind::Min,
        "max" => Kind::Max,
        "abs" => Kind::Abs,
        "neg" => Kind::Neg,
        "rsqrt" => Kind::Rsqrt,
        "ex2" => Kind::Ex2,
        "lg2" => Kind::Lg2,
        "sin" => Kind::Sin,
        "cos" => Kind::Cos,
        "tanh" => Kind::Tanh,
        "copysign" => Kind::CopySign,
        _ => return None,
    })
}

fn min32(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

fn max32(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a > b || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    }
}

/// What the processor computes just so, without the detour over exact arithmetic.
fn native(kind: Kind, ty: Ty) -> Option<Run> {
    Some(match (kind, ty) {
        (Kind::Add, Ty::F32) => lanewise!(a: f32, b: f32 => a + b),
        (Kind::Sub, Ty::F32) => lanewise!(a: f32, b: f32 => a - b),
        (Kind::Mul, Ty::F32) => lanewise!(a: f32, b: f32 => a * b),
        (Kind::Div, Ty::F32) => lanewise!(a: f32, b: f32 => a / b),
        (Kind::Fma, Ty::F32) => lanewise!(a: f32, b: f32, c: f32 => a.mul_add(b, c)),
        (Kind::Sqrt, Ty::F32) => lanewise!(a: f32 => a.sqrt()),
        (Kind::Rcp, Ty::F32) => lanewise!(a: f32 => 1.0 / a),
        (Kind::Min, Ty::F32) => lanewise!(a: f32, b: f32 => min32(a, b)),
        (Kind::Max, Ty::F32) => lanewise!(a: f32, b: f32 => max32(a, b)),
        (Kind::Abs, Ty::F32) => lanewise!(a: u32 => a & 0x7fff_ffff),
        (Kind::Neg, Ty::F32) => lanewise!(a: u32 => a ^ 0x8000_0000),
        (Kind::Rsqrt, Ty::F32) => lanewise!(a: f32 => (1.0 / f64::from(a).sqrt()) as f32),
        (Kind::Ex2, Ty::F32) => lanewise!(a: f32 => f64::from(a).exp2() as f32),
        (Kind::Lg2, Ty::F32) => lanewise!(a: f32 => f64::from(a).log2() as f32),
        (Kind::Sin, Ty::F32) => lanewise!(a: f32 => f64::from(a).sin() as f32),
        (Kind::Cos, Ty::F32) => lanewise!(a: f32 => f64::from(a).cos() as f32),
        (Kind::Add, Ty::F64) => lanewise!(a: f64, b: f64 => a + b),
        (Kind::Sub, Ty::F64) => lanewise!(a: f64, b: f64 => a - b),
        (Kind::Mul, Ty::F64) => lanewise!(a: f64, b: f64 => a * b),
        (Kind::Div, Ty::F64) => lanewise!(a: f64, b: f64 => a / b),
        (Kind::Fma, Ty::F64) => lanewise!(a: f64, b: f64, c: f64 => a.mul_add(b, c)),
        (Kind::Sqrt, Ty::F64) => lanewise!(a: f64 => a.sqrt()),
        (Kind::Rcp, Ty::F64) => lanewise!(a: f64 => 1.0 / a),
        (Kind::Abs, Ty::F64) => lanewise!(a: u64 => a & !(1 << 63)),
        (Kind::Neg, Ty::F64) => lanewise!(a: u64 => a ^ 1 << 63),
        // Twice the precision and two bits more make rounding twice harmless.
        (Kind::Add, Ty::F16) => lanewise!(a: f16, b: f16 => f16::from_f32(a.to_f32() + b.to_f32())),
        (Kind::Sub, Ty::F16) => lanewise!(a: f16, b: f16 => f16::from_f32(a.to_f32() - b.to_f32())),
        (Kind::Mul, Ty::F16) => lanewise!(a: f16, b: f16 => f16::from_f32(a.to_f32() * b.to_f32())),
        _ => return None,
    })
}

/// The 16-bit type of the operands but the last where an instruction on `.f32` takes such: `add.f32.bf16`, from `sm_100` on.
pub fn short_operands(mods: &mut Mods<'_>, ty: Ty) -> Option<Ty> {
    if ty != Ty::F32 || !matches!(mods.opcode, "add" | "sub" | "fma") {
        return None;
    }
    mods.find(|name| Ty::parse(name).filter(|ty| matches!(ty, Ty::F16 | Ty::BF16)))
}

/// A 16-bit float as a `.f32`, which loses nothing.
pub fn widen(short: Ty) -> Run {
    match short {
        Ty::BF16 => lanewise!(a: bf16 => a.to_f32()),
        _ => lanewise!(a: f16 => a.to_f32()),
    }
}

/// A floating-point instruction and its mode; `None` if the opcode is another's.
pub fn arithmetic(mods: &mut Mods<'_>, ty: Ty) -> Result<Option<(Run, u32)>, PtxError> {
    let Some(kind) = kind_of(mods.opcode) else {
        return Ok(None);
    };
    let Some(format) = format_of(ty) else {
        return Ok(None);
    };
    let approximate = mods.take("approx") || (kind == Kind::Div && mods.take("full"));
    let round = mods.find(rounding);
    let mode = Mode {
        kind,
        format,
        round: round.unwrap_or(Round::Nearest),
        packed: matches!(ty, Ty::F16x2 | Ty::BF16x2 | Ty::F32x2),
        ftz: mods.take("ftz"),
        sat: mods.take("sat"),
        relu: mods.take("relu"),
        nan: mods.take("NaN"),
        xorsign: mods.take("xorsign"),
    };
    // `.xorsign.abs` go together.
    if mode.xorsign && !mods.take("abs") {
        return Err(mods.error("expected .abs after .xorsign"));
    }
    let needs_rounding = matches!(kind, Kind::Fma | Kind::Div | Kind::Sqrt | Kind::Rcp);
    let only_approximate = matches!(kind, Kind::Rsqrt | Kind::Ex2 | Kind::Lg2 | Kind::Sin | Kind::Cos | Kind::Tanh);
    if needs_rounding && round.is_none() && !approximate {
        return Err(mods.error("expected a rounding"));
    }
    if only_approximate && !approximate || approximate && !only_approximate && !matches!(kind, Kind::Div | Kind::Sqrt | Kind::Rcp) {
        return Err(mods.error(".approx belongs to approximate functions"));
    }
    let plain = mode.round == Round::Nearest && !(mode.ftz || mode.sat || mode.relu || mode.nan || mode.xorsign);
    if plain && let Some(run) = native(kind, ty) {
        return Ok(Some((run, 0)));
    }
    let run: Run = match kind {
        Kind::Fma => lanewise!(mode m; a: u64, b: u64, c: u64 => Mode::decode(m).run(a, b, c)),
        Kind::Add | Kind::Sub | Kind::Mul | Kind::Div | Kind::Min | Kind::Max | Kind::CopySign => {
            lanewise!(mode m; a: u64, b: u64 => Mode::decode(m).run(a, b, 0))
        }
        _ => lanewise!(mode m; a: u64 => Mode::decode(m).run(a, 0, 0)),
    };
    Ok(Some((run, mode.encode())))
}

/// The test of `testp`, as a comparison of the operand with itself.
pub fn property(name: &str, ty: Ty) -> Option<fn(u64) -> bool> {
    const fn class(a: u64, f: Format) -> (bool, bool, bool) {
        let magnitude = a & !(1u64 << (f.fraction + f.exponent));
        let infinity = ((1u64 << f.exponent) - 1) << f.fraction;
        (magnitude > infinity, magnitude == infinity, magnitude >> f.fraction == 0)
    }
    macro_rules! tests {
        ($f:expr) => {
            Some(match name {
                "finite" => |a| {
                    let (nan, inf, _) = class(a, $f);
                    !nan && !inf
                },
                "infinite" => |a| class(a, $f).1,
                "number" => |a| !class(a, $f).0,
                "notanumber" => |a| class(a, $f).0,
                "normal" => |a| {
                    let (nan, inf, small) = class(a, $f);
                    !nan && !inf && !small
                },
                "subnormal" => |a| class(a, $f).2 && a & ((1 << $f.fraction) - 1) != 0,
                _ => return None,
            })
        };
    }
    match ty {
        Ty::F32 => tests!(softfloat::F32),
        Ty::F64 => tests!(softfloat::F64),
        _ => None,
    }
}
