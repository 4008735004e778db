//! `cvt`: every pair of types, rounding and saturation.

use super::float::{format_of, rounding};
use super::int::Run;
use super::mods::Mods;
use crate::exec::lanes::lanewise;
use crate::exec::softfloat::{self, Format, Round};
use crate::ptx::PtxError;
use crate::ptx::syntax::Ty;

const TYPES: [Ty; 12] = [
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S8,
    Ty::S16,
    Ty::S32,
    Ty::S64,
    Ty::F16,
    Ty::BF16,
    Ty::F32,
    Ty::F64,
];
const ROUNDS: [Round; 5] = [Round::Nearest, Round::Zero, Round::Down, Round::Up, Round::Away];

/// TensorFloat-32, which lies in the upper bits of a float32.
const TF32: Format = Format { fraction: 10, exponent: 8 };
const DROPPED: u32 = softfloat::F32.fraction - TF32.fraction;

#[derive(Clone, Copy, Debug)]
struct Mode {
    to: Ty,
    from: Ty,
    round: Round,
    integral: bool,
    sat: bool,
    ftz: bool,
    relu: bool,
    satfinite: bool,
    /// Bytes of the destination register.
    register: u32,
}

impl Mode {
    /// Whether an integer type has all values of the other.
    fn holds_all(self) -> bool {
        let (to, from) = (self.to.bytes(), self.from.bytes());
        match (self.to.signed(), self.from.signed()) {
            (true, false) => to > from,
            (false, true) => false,
            _ => to >= from,
        }
    }

    fn encode(self) -> u32 {
        let ty = |t: Ty| TYPES.iter().position(|x| *x == t).unwrap_or(0) as u32;
        let round = ROUNDS.iter().position(|r| *r == self.round).unwrap_or(0) as u32;
        let flags = [self.integral, self.sat, self.ftz, self.relu, self.satfinite];
        let flags = flags.iter().enumerate().fold(0, |all, (i, f)| all | u32::from(*f) << i);
        ty(self.to) | ty(self.from) << 4 | round << 8 | flags << 12 | self.register << 20
    }

    fn decode(mode: u32) -> Mode {
        let flag = |bit: u32| mode >> (12 + bit) & 1 == 1;
        Mode {
            to: TYPES[(mode & 0xf) as usize],
            from: TYPES[(mode >> 4 & 0xf) as usize],
            round: ROUNDS[(mode >> 8 & 0xf) as usize],
            integral: flag(0),
            sat: flag(1),
            ftz: flag(2),
            relu: flag(3),
            satfinite: flag(4),
            register: mode >> 20,
        }
    }

    fn run(self, a: u64) -> u64 {
        match (format_of(self.from), format_of(self.to)) {
            (None, None) => self.extend(self.fit(integer(a, self.from), self.sat)),
            (None, Some(to)) => softfloat::from_integer(integer(a, self.from), to, self.round),
            (Some(from), None) => {
                let value = softfloat::to_integer(self.flush(a, from), from, self.round);
                self.extend(value.map_or(self.of_nan(), |v| self.fit(v, true)))
            }
            (Some(from), Some(to)) => self.float(a, from, to),
        }
    }

    /// The integer of a NaN: zero, or where either type has 64 bits the highest bit alone.
    fn of_nan(self) -> i128 {
        let wide = self.from == Ty::F64 || self.to.bytes() == 8;
        if wide { 1 << (8 * self.to.bytes() - 1) } else { 0 }
    }

    /// `.ftz` is about singles, whatever the other type is.
    fn flush(self, a: u64, format: Format) -> u64 {
        let tiny = a & format.infinity() == 0;
        if self.ftz && tiny && format == softfloat::F32 {
            a & format.sign()
        } else {
            a
        }
    }

    fn float(self, a: u64, from: Format, to: Format) -> u64 {
        let a = self.flush(a & (from.sign() | (from.sign() - 1)), from);
        let mut result = if self.integral {
            softfloat::convert(softfloat::round_integral(a, from, self.round), from, to, Round::Nearest)
        } else {
            softfloat::convert(a, from, to, self.round)
        };
        if self.satfinite && to.is_infinite(result) {
            result -= 1;
        }
        result = self.flush(result, to);
        if self.relu && !to.is_nan(result) && result & to.sign() != 0 {
            return 0;
        }
        if self.sat {
            let one = softfloat::from_integer(1, to, Round::Nearest);
            return if to.is_nan(result) || result & to.sign() != 0 {
                0
            } else {
                result.min(one)
            };
        }
        result
    }

    /// Into the range of the destination, or its low bits.
    fn fit(self, value: i128, clamp: bool) -> i128 {
        let bits = self.to.bytes() * 8;
        if !clamp {
            return value;
        }
        if self.to.signed() {
            value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            value.clamp(0, (1 << bits) - 1)
        }
    }

    /// The low bits of the type, extended to the register.
    fn extend(self, value: i128) -> u64 {
        let by = 64 - self.to.bytes() * 8;
        let low = (value as u64) << by;
        let wide = if self.to.signed() { (low as i64 >> by) as u64 } else { low >> by };
        wide & register_mask(self.register)
    }
}

fn register_mask(bytes: u32) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

fn integer(a: u64, ty: Ty) -> i128 {
    let by = 64 - ty.bytes() * 8;
    if ty.signed() {
        i128::from(((a << by) as i64) >> by)
    } else {
        i128::from(a << by >> by)
    }
}

/// Integral rounding, to an integer or to an integral float.
fn integral(name: &str) -> Option<Round> {
    Some(match name {
        "rni" => Round::Nearest,
        "rzi" => Round::Zero,
        "rmi" => Round::Down,
        "rpi" => Round::Up,
        _ => return None,
    })
}

/// Conversions that kernels are full of.
fn native(to: Ty, from: Ty, round: Option<Round>, integral: Option<Round>, register: u32) -> Option<Run> {
    let nearest = round == Some(Round::Nearest);
    let truncates = integral == Some(Round::Zero);
    Some(match (to, from) {
        (Ty::U64, Ty::U32) => lanewise!(a: u32 => a),
        (Ty::S64, Ty::S32) => lanewise!(a: i32 => i64::from(a)),
        (Ty::U32 | Ty::S32, Ty::U64 | Ty::S64) if register == 4 => lanewise!(a: u32 => a),
        (Ty::F32, Ty::S32) if nearest => lanewise!(a: i32 => a as f32),
        (Ty::F32, Ty::U32) if nearest => lanewise!(a: u32 => a as f32),
        (Ty::F32, Ty::S64) if nearest => lanewise!(a: i64 => a as f32),
        (Ty::F32, Ty::U64) if nearest => lanewise!(a: u64 => a as f32),
        (Ty::F64, Ty::S32) if nearest => lanewise!(a: i32 => f64::from(a)),
        (Ty::F64, Ty::U32) if nearest => lanewise!(a: u32 => f64::from(a)),
        (Ty::F64, Ty::S64) if nearest => lanewise!(a: i64 => a as f64),
        (Ty::F64, Ty::U64) if nearest => lanewise!(a: u64 => a as f64),
        (Ty::F64, Ty::F32) if integral.is_none() => lanewise!(a: f32 => f64::from(a)),
        (Ty::F32, Ty::F64) if nearest => lanewise!(a: f64 => a as f32),
        (Ty::S32, Ty::F32) if truncates && register == 4 => lanewise!(a: f32 => a as i32),
        (Ty::U32, Ty::F32) if truncates && register == 4 => lanewise!(a: f32 => a as u32),
        (Ty::S64, Ty::F32) if truncates => lanewise!(a: f32 => if a.is_nan() { i64::MIN } else { a as i64 }),
        (Ty::U64, Ty::F32) if truncates => lanewise!(a: f32 => if a.is_nan() { 1 << 63 } else { a as u64 }),
        (Ty::S32, Ty::F64) if truncates && register == 4 => lanewise!(a: f64 => if a.is_nan() { i32::MIN } else { a as i32 }),
        (Ty::U32, Ty::F64) if truncates && register == 4 => lanewise!(a: f64 => if a.is_nan() { 1 << 31 } else { a as u32 }),
        (Ty::S64, Ty::F64) if truncates => lanewise!(a: f64 => if a.is_nan() { i64::MIN } else { a as i64 }),
        (Ty::U64, Ty::F64) if truncates => lanewise!(a: f64 => if a.is_nan() { 1 << 63 } else { a as u64 }),
        _ => return None,
    })
}

/// What `cvt` does, and how many operands it has besides the destination.
#[derive(Debug)]
pub struct Conversion {
    pub run: Run,
    pub mode: u32,
    pub operands: usize,
}

/// `register` is the size of the destination register.
pub fn conversion(mods: &mut Mods<'_>, register: u32) -> Result<Conversion, PtxError> {
    if mods.take("tf32") {
        mods.take("rna");
        mods.ty()?;
        return Ok(Conversion {
            run: lanewise!(a: u64 => softfloat::convert(a, softfloat::F32, TF32, Round::Away) << DROPPED),
            mode: 0,
            operands: 1,
        });
    }
    let (to, from) = (mods.ty()?, mods.ty()?);
    if matches!(to, Ty::F16x2 | Ty::BF16x2) {
        return packed(mods, to, from);
    }
    let round = mods.find(|part| if part == "rna" { Some(Round::Away) } else { rounding(part) });
    let integral = mods.find(integral);
    let mode = Mode {
        to: unsigned(to),
        from: unsigned(from),
        round: round.or(integral).unwrap_or(Round::Nearest),
        integral: integral.is_some(),
        sat: mods.take("sat"),
        ftz: mods.take("ftz"),
        relu: mods.take("relu"),
        satfinite: mods.take("satfinite"),
        register,
    };
    for ty in [mode.to, mode.from] {
        if !TYPES.contains(&ty) {
            return Err(mods.error("unsupported type"));
        }
    }
    check_rounding(mods, mode, round, integral)?;
    if mode.sat && !mode.to.float() && !mode.from.float() && mode.holds_all() {
        return Err(mods.error("illegal .sat: the type has every value of the other"));
    }
    let plain = !(mode.sat || mode.ftz || mode.relu || mode.satfinite);
    let (run, mode) = match native(mode.to, mode.from, round, integral, register) {
        Some(run) if plain => (run, 0),
        _ => (lanewise!(mode m; a: u64 => Mode::decode(m).run(a)) as Run, mode.encode()),
    };
    Ok(Conversion { run, mode, operands: 1 })
}

fn unsigned(ty: Ty) -> Ty {
    match ty {
        Ty::B8 => Ty::U8,
        Ty::B16 => Ty::U16,
        Ty::B32 => Ty::U32,
        Ty::B64 => Ty::U64,
        other => other,
    }
}

fn check_rounding(mods: &Mods<'_>, mode: Mode, round: Option<Round>, integral: Option<Round>) -> Result<(), PtxError> {
    let ok = match (mode.from.float(), mode.to.float()) {
        (false, false) => round.is_none() && integral.is_none(),
        (false, true) => round.is_some() && integral.is_none(),
        (true, false) => round.is_none() && integral.is_some(),
        // Only where bits can be lost; an integral rounding may stand between equal types.
        (true, true) if mode.from == mode.to => round.is_none(),
        (true, true) => {
            let (from, to) = (format_of(mode.from), format_of(mode.to));
            let lossy = from
                .zip(to)
                .is_some_and(|(f, t)| f.fraction > t.fraction || f.exponent > t.exponent);
            round.is_some() == lossy && integral.is_none()
        }
    };
    if ok {
        Ok(())
    } else {
        Err(mods.error("this rounding does not fit these types"))
    }
}

/// `cvt.rn.f16x2.f32 d, a, b`: a in the upper half.
fn packed(mods: &mut Mods<'_>, to: Ty, from: Ty) -> Result<Conversion, PtxError> {
    let Some(round) = mods.find(|part| if part == "rna" { Some(Round::Away) } else { rounding(part) }) else {
        return Err(mods.error("expected a rounding"));
    };
    if from != Ty::F32 {
        return Err(mods.error("unsupported source type"));
    }
    let mode = Mode {
        to: if to == Ty::F16x2 { Ty::F16 } else { Ty::BF16 },
        from,
        round,
        integral: false,
        sat: false,
        ftz: mods.take("ftz"),
        relu: mods.take("relu"),
        satfinite: mods.take("satfinite"),
        register: 4,
    };
    Ok(Conversion {
        run: lanewise!(mode m; a: u64, b: u64 => Mode::decode(m).run(a) << 16 | Mode::decode(m).run(b)),
        mode: mode.encode(),
        operands: 2,
    })
}
