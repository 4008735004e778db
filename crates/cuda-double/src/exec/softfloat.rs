//! Software floats: exact arithmetic rounded to any binary format in any direction: what the processor's own floats do not offer.
//!
//! A number is `mant * 2^exp`, the lowest bit of `mant` standing for anything nonzero below it ("sticky").

/// How to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// To nearest, ties away from zero (`rna`).
    Away,
}

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the fraction, without the leading one.
    pub fraction: u32,
    pub exponent: u32,
}

pub const F16: Format = Format { fraction: 10, exponent: 5 };
pub const BF16: Format = Format { fraction: 7, exponent: 8 };
pub const F32: Format = Format { fraction: 23, exponent: 8 };
pub const F64: Format = Format {
    fraction: 52,
    exponent: 11,
};

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    pub fn nan(self) -> u64 {
        match self {
            F64 => 0x7ff8_0000_0000_0000,
            _ => (1 << (self.fraction + self.exponent)) - 1,
        }
    }

    pub fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub fn is_infinite(self, bits: u64) -> bool {
        bits & !self.sign() == self.infinity()
    }
}

/// A finite number.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    exp: i32,
    mant: u128,
}

fn unpack(bits: u64, format: Format) -> Number {
    let fraction = bits & ((1 << format.fraction) - 1);
    let exponent = (bits >> format.fraction & ((1 << format.exponent) - 1)) as i32;
    let (mant, exponent) = if exponent == 0 {
        (fraction, 1)
    } else {
        (fraction | 1 << format.fraction, exponent)
    };
    Number {
        negative: bits & format.sign() != 0,
        exp: exponent - format.bias() - format.fraction as i32,
        mant: u128::from(mant),
    }
}

/// Shifts right, keeping whether anything was lost in the lowest bit.
fn shift_sticky(mant: u128, by: u32) -> u128 {
    match by {
        0 => mant,
        1..=127 => mant >> by | u128::from(mant << (128 - by) != 0),
        _ => u128::from(mant != 0),
    }
}

fn low_bits(count: u32) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// `up` of a magnitude: whether to take the next larger one, given what is cut off.
fn rounds_up(kept: u128, half: bool, rest: bool, negative: bool, round: Round) -> bool {
    match round {
        Round::Nearest => half && (rest || kept & 1 == 1),
        Round::Away => half,
        Round::Zero => false,
        Round::Down => negative && (half || rest),
        Round::Up => !negative && (half || rest),
    }
}

fn pack(number: Number, format: Format, round: Round) -> u64 {
    let sign = if number.negative { format.sign() } else { 0 };
    if number.mant == 0 {
        return sign;
    }
    let top = 127 - number.mant.leading_zeros() as i32;
    let smallest = 1 - format.bias() - format.fraction as i32;
    // The exponent of the result's last bit.
    let last = (number.exp + top - format.fraction as i32).max(smallest);
    let by = last - number.exp;
    let (kept, half, rest) = if by <= 0 {
        (number.mant << -by, false, false)
    } else {
        let by = by as u32;
        let kept = if by > 127 { 0 } else { number.mant >> by };
        let half = by <= 128 && number.mant >> (by - 1) & 1 == 1;
        (kept, half, by > 1 && number.mant & low_bits(by - 1) != 0)
    };
    let kept = kept + u128::from(rounds_up(kept, half, rest, number.negative, round));
    let biased = if kept >> format.fraction == 0 { 0 } else { last - smallest + 1 };
    // A carry out of the fraction moves into the exponent by itself.
    let magnitude = if biased == 0 {
        kept as u64
    } else {
        ((biased as u64) << format.fraction) + (kept as u64 - (1 << format.fraction))
    };
    if magnitude >= format.infinity() {
        let to_infinity = match round {
            Round::Nearest | Round::Away => true,
            Round::Zero => false,
            Round::Down => number.negative,
            Round::Up => !number.negative,
        };
        return sign | if to_infinity { format.infinity() } else { format.infinity() - 1 };
    }
    sign | magnitude
}

/// Puts the leading bit at bit 125, so that there is room below for what is cut off and above for a carry.
fn normalise(number: Number) -> Number {
    if number.mant == 0 {
        return number;
    }
    let up = number.mant.leading_zeros() as i32 - 2;
    let mant = if up >= 0 {
        number.mant << up
    } else {
        shift_sticky(number.mant, -up as u32)
    };
    Number {
        mant,
        exp: number.exp - up,
        ..number
    }
}

fn sum(a: Number, b: Number, round: Round) -> Number {
    let zero = |negative| Number { negative, exp: 0, mant: 0 };
    if a.mant == 0 && b.mant == 0 {
        return zero(if a.negative == b.negative {
            a.negative
        } else {
            round == Round::Down
        });
    }
    let (a, b) = (normalise(a), normalise(b));
    let (large, small) = if b.mant == 0 || (a.mant != 0 && (a.exp, a.mant) >= (b.exp, b.mant)) {
        (a, b)
    } else {
        (b, a)
    };
    if small.mant == 0 {
        return large;
    }
    let small_mant = shift_sticky(small.mant, (large.exp - small.exp) as u32);
    if large.negative == small.negative {
        return Number {
            mant: large.mant + small_mant,
            ..large
        };
    }
    match large.mant - small_mant {
        0 => zero(round == Round::Down),
        mant => Number { mant, ..large },
    }
}

pub fn add(a: u64, b: u64, format: Format, round: Round) -> u64 {
    if format.is_nan(a) || format.is_nan(b) {
        return format.nan();
    }
    match (format.is_infinite(a), format.is_infinite(b)) {
        (true, true) if a != b => format.nan(),
        (true, _) => a,
        (_, true) => b,
        _ => pack(sum(unpack(a, format), unpack(b, format), round), format, round),
    }
}

pub fn mul(a: u64, b: u64, format: Format, round: Round) -> u64 {
    // A zero addend of the product's sign changes nothing, not even a zero's sign.
    fma(a, b, (a ^ b) & format.sign(), format, round)
}

pub fn fma(a: u64, b: u64, c: u64, format: Format, round: Round) -> u64 {
    if format.is_nan(a) || format.is_nan(b) || format.is_nan(c) {
        return format.nan();
    }
    let (x, y, z) = (unpack(a, format), unpack(b, format), unpack(c, format));
    let negative = x.negative != y.negative;
    if format.is_infinite(a) || format.is_infinite(b) {
        let zero = !format.is_infinite(a) && x.mant == 0 || !format.is_infinite(b) && y.mant == 0;
        let clash = format.is_infinite(c) && z.negative != negative;
        return if zero || clash {
            format.nan()
        } else {
            format.infinity() | if negative { format.sign() } else { 0 }
        };
    }
    if format.is_infinite(c) {
        return c;
    }
    let product = Number {
        negative,
        exp: x.exp + y.exp,
        mant: x.mant * y.mant,
    };
    pack(sum(product, z, round), format, round)
}

pub fn div(a: u64, b: u64, format: Format, round: Round) -> u64 {
    if format.is_nan(a) || format.is_nan(b) {
        return format.nan();
    }
    let (x, y) = (unpack(a, format), unpack(b, format));
    let sign = (a ^ b) & format.sign();
    match (format.is_infinite(a), format.is_infinite(b), x.mant == 0, y.mant == 0) {
        (true, true, ..) | (.., true, true) => return format.nan(),
        (true, ..) | (.., true) => return sign | format.infinity(),
        (_, true, ..) | (_, _, true, _) => return sign,
        _ => {}
    }
    let (x, y) = (normalise(x), y);
    let (quotient, rest) = (x.mant / y.mant, x.mant % y.mant);
    pack(
        Number {
            negative: sign != 0,
            // One more bit, for the remainder.
            exp: x.exp - y.exp - 1,
            mant: quotient << 1 | u128::from(rest != 0),
        },
        format,
        round,
    )
}

pub fn sqrt(a: u64, format: Format, round: Round) -> u64 {
    let x = unpack(a, format);
    if format.is_nan(a) || (x.negative && x.mant != 0) {
        return format.nan();
    }
    if x.mant == 0 || format.is_infinite(a) {
        return a;
    }
    let mut x = normalise(x);
    if x.exp % 2 != 0 {
        x.mant <<= 1;
        x.exp -= 1;
    }
    let root = x.mant.isqrt();
    pack(
        Number {
            negative: false,
            exp: x.exp / 2 - 1,
            mant: root << 1 | u128::from(root * root != x.mant),
        },
        format,
        round,
    )
}

/// From one format to another.
pub fn convert(a: u64, from: Format, to: Format, round: Round) -> u64 {
    let sign = if a & from.sign() != 0 { to.sign() } else { 0 };
    if from.is_nan(a) {
        to.nan()
    } else if from.is_infinite(a) {
        sign | to.infinity()
    } else {
        pack(unpack(a, from), to, round)
    }
}

pub fn from_integer(value: i128, to: Format, round: Round) -> u64 {
    pack(
        Number {
            negative: value < 0,
            exp: 0,
            mant: value.unsigned_abs(),
        },
        to,
        round,
    )
}

/// The integer a number rounds to, clamped to 127 bits; `None` for NaN.
pub fn to_integer(a: u64, from: Format, round: Round) -> Option<i128> {
    if from.is_nan(a) {
        return None;
    }
    let x = unpack(a, from);
    let magnitude = if from.is_infinite(a) || (x.exp > 0 && x.exp > x.mant.leading_zeros() as i32 - 2) {
        i128::MAX as u128
    } else if x.exp >= 0 {
        x.mant << x.exp
    } else {
        let by = -x.exp as u32;
        let kept = if by > 127 { 0 } else { x.mant >> by };
        let half = by <= 128 && x.mant >> (by - 1) & 1 == 1;
        let rest = by > 1 && x.mant & low_bits(by - 1) != 0;
        kept + u128::from(rounds_up(kept, half, rest, x.negative, round))
    };
    Some(if x.negative { -(magnitude as i128) } else { magnitude as i128 })
}

/// Rounds to an integer of the same format.
pub fn round_integral(a: u64, format: Format, round: Round) -> u64 {
    if format.is_nan(a) {
        return format.nan();
    }
    if format.is_infinite(a) || unpack(a, format).exp >= 0 {
        return a;
    }
    let integer = to_integer(a, format, round).unwrap_or(0);
    if integer == 0 {
        a & format.sign()
    } else {
        from_integer(integer, format, Round::Zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    /// Bit patterns with many special cases and many close to each other.
    fn patterns(bits: u32) -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut all = vec![0, 1, 2, 1 << (bits - 1), 1 << (bits - 1) | 1];
        for format in [F16, BF16, F32, F64] {
            if 1 + format.fraction + format.exponent == bits {
                all.extend([
                    format.infinity(),
                    format.infinity() - 1,
                    format.nan(),
                    format.infinity() | format.sign(),
                ]);
                all.extend([1u64 << format.fraction, (1 << format.fraction) - 1]);
                let one = (format.bias() as u64) << format.fraction;
                all.extend([one, one + 1, one - 1, one | format.sign(), one + (1 << format.fraction)]);
            }
        }
        for _ in 0..60 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            all.push(state >> (64 - bits));
        }
        all
    }

    fn same32(a: u64, b: f32) -> bool {
        f32::from_bits(a as u32).to_bits() == b.to_bits() || (F32.is_nan(a) && b.is_nan())
    }

    fn same64(a: u64, b: f64) -> bool {
        a == b.to_bits() || (F64.is_nan(a) && b.is_nan())
    }

    #[test]
    fn nearest_is_what_the_processor_does() {
        let n = Round::Nearest;
        for &a in &patterns(32) {
            let x = f32::from_bits(a as u32);
            assert!(same32(sqrt(a, F32, n), x.sqrt()), "sqrt {x}");
            assert!(same64(convert(a, F32, F64, n), f64::from(x)));
            for &b in &patterns(32) {
                let y = f32::from_bits(b as u32);
                assert!(same32(add(a, b, F32, n), x + y), "{x} + {y}");
                assert!(same32(mul(a, b, F32, n), x * y), "{x} * {y}");
                assert!(same32(div(a, b, F32, n), x / y), "{x} / {y}");
                let c = a.rotate_left(7) & 0xffff_ffff ^ b;
                let z = f32::from_bits(c as u32);
                assert!(same32(fma(a, b, c, F32, n), x.mul_add(y, z)), "{x} * {y} + {z}");
                assert!(same32(fma(a, b, mul(a, b, F32, n) ^ F32.sign(), F32, n), x.mul_add(y, -(x * y))));
            }
        }
        for &a in &patterns(64) {
            let x = f64::from_bits(a);
            assert!(same64(sqrt(a, F64, n), x.sqrt()), "sqrt {x}");
            assert!(same32(convert(a, F64, F32, n), x as f32), "{x} as f32");
            for &b in &patterns(64) {
                let y = f64::from_bits(b);
                assert!(same64(add(a, b, F64, n), x + y), "{x} + {y}");
                assert!(same64(mul(a, b, F64, n), x * y), "{x} * {y}");
                assert!(same64(div(a, b, F64, n), x / y), "{x} / {y}");
                assert!(same64(fma(a, b, mul(a, b, F64, n) ^ F64.sign(), F64, n), x.mul_add(y, -(x * y))));
            }
        }
    }

    #[test]
    fn directed_results_enclose_the_nearest() {
        for &a in &patterns(32) {
            for &b in &patterns(32) {
                type Op = fn(u64, u64, Format, Round) -> u64;
                for op in [add as Op, mul, div] {
                    let [near, zero, down, up] =
                        [Round::Nearest, Round::Zero, Round::Down, Round::Up].map(|r| f32::from_bits(op(a, b, F32, r) as u32));
                    if near.is_nan() {
                        continue;
                    }
                    assert!(down <= near && near <= up, "{down} {near} {up}");
                    assert!(up == down || up == down.next_up() || (up.is_infinite() || down.is_infinite()));
                    assert!(zero.abs() <= near.abs());
                    assert!(zero == if near < 0.0 { up } else { down } || near == 0.0);
                }
            }
        }
    }

    #[test]
    fn half_precision_agrees_with_double_rounded_once() {
        for bits in 0..=0xffffu64 {
            let x = f16::from_bits(bits as u16);
            assert_eq!(
                f64::from(x).to_bits(),
                if x.is_nan() {
                    f64::from(x).to_bits()
                } else {
                    convert(bits, F16, F64, Round::Nearest)
                }
            );
            let b = bf16::from_bits(bits as u16);
            if !b.is_nan() {
                assert_eq!(f64::from(b.to_f32()).to_bits(), convert(bits, BF16, F64, Round::Nearest));
                assert_eq!(convert(u64::from(b.to_f32().to_bits()), F32, BF16, Round::Nearest), bits);
            }
        }
        for &a in &patterns(16) {
            for &b in &patterns(16) {
                let (x, y) = (f16::from_bits(a as u16), f16::from_bits(b as u16));
                let exact = f64::from(x) * f64::from(y);
                let product = mul(a, b, F16, Round::Nearest);
                assert!(F16.is_nan(product) && exact.is_nan() || product == convert(exact.to_bits(), F64, F16, Round::Nearest));
            }
        }
    }

    #[test]
    fn integers() {
        for &a in &patterns(64) {
            let x = f64::from_bits(a);
            if x.abs() < 1e30 {
                assert_eq!(to_integer(a, F64, Round::Zero), Some(x as i128), "{x}");
                assert_eq!(to_integer(a, F64, Round::Down), Some(x.floor() as i128), "{x}");
                assert_eq!(to_integer(a, F64, Round::Up), Some(x.ceil() as i128), "{x}");
                assert_eq!(to_integer(a, F64, Round::Nearest), Some(x.round_ties_even() as i128), "{x}");
            }
            if !x.is_nan() {
                assert_eq!(round_integral(a, F64, Round::Down), x.floor().to_bits(), "{x}");
                assert_eq!(round_integral(a, F64, Round::Nearest), x.round_ties_even().to_bits(), "{x}");
            }
            let i = a as i64;
            assert_eq!(from_integer(i128::from(i), F64, Round::Nearest), (i as f64).to_bits());
            assert_eq!(from_integer(i128::from(a), F32, Round::Nearest), u64::from((a as f32).to_bits()));
        }
    }
}
