//! Scalars between memory, argument slots and one another.
//!
//! A slot is 8 bytes with the scalar in its low bytes: bools as 0 or 1, small ints sign- or zero-extended (see "Argument blocks" in
//! `docs/architecture/runtime.md`). Complex numbers take two.

use weft_ir::{Const, Kind, Scalar, eval};
pub use weft_lazy::number::memory_to_slots;

/// The reverse of [`memory_to_slots`].
pub fn slots_to_memory(scalar: Scalar, slots: [u64; 2]) -> [u64; 2] {
    match scalar {
        Scalar::C64 => [(slots[0] & 0xffff_ffff) | (slots[1] << 32), 0],
        Scalar::C128 => slots,
        _ => [slots[0], 0],
    }
}

/// A scalar's value, wide enough for every type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    pub fn from_slots(scalar: Scalar, slots: [u64; 2]) -> Number {
        match scalar {
            Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Number::Int(i128::from(slots[0])),
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Number::Int(i128::from(slots[0] as i64)),
            Scalar::F16 | Scalar::BF16 => Number::Float(half(scalar, slots[0])),
            Scalar::F32 => Number::Float(f64::from(single(slots[0]))),
            Scalar::F64 => Number::Float(f64::from_bits(slots[0])),
            Scalar::C64 => Number::Complex(f64::from(single(slots[0])), f64::from(single(slots[1]))),
            Scalar::C128 => Number::Complex(f64::from_bits(slots[0]), f64::from_bits(slots[1])),
        }
    }

    /// The slots of this number converted to `scalar`: ints wrap, floats truncate toward zero.
    pub fn to_slots(self, scalar: Scalar) -> [u64; 2] {
        let (re, im) = self.parts();
        match scalar.kind() {
            Kind::Bool => [u64::from(self.is_true()), 0],
            Kind::Signed | Kind::Unsigned => memory_to_slots(scalar, [self.int() as u64, 0]),
            Kind::Float => [float_slot(scalar, re), 0],
            Kind::Complex => [float_slot(scalar.part(), re), float_slot(scalar.part(), im)],
        }
    }

    /// Whether it is, or truncates to, a number of an integer type.
    pub fn fits(self, to: Scalar) -> bool {
        let least = if to.is_signed() { -(1_i128 << (to.bits() - 1)) } else { 0 };
        let most = (1_i128 << (to.bits() - u32::from(to.is_signed()))) - 1;
        match self {
            Number::Int(i) => (least..=most).contains(&i),
            Number::Float(x) | Number::Complex(x, _) => x.is_finite() && (least..=most).contains(&(x as i128)),
        }
    }

    /// As messages have it.
    pub fn show(self) -> String {
        match self {
            Number::Int(i) => i.to_string(),
            Number::Float(x) => x.to_string(),
            Number::Complex(re, im) => format!("{re}{im:+}j"),
        }
    }

    fn parts(self) -> (f64, f64) {
        match self {
            Number::Int(i) => (i as f64, 0.0),
            Number::Float(x) => (x, 0.0),
            Number::Complex(re, im) => (re, im),
        }
    }

    fn int(self) -> i128 {
        match self {
            Number::Int(i) => i,
            _ => self.parts().0 as i128,
        }
    }

    fn is_true(self) -> bool {
        match self {
            Number::Int(i) => i != 0,
            _ => self.parts() != (0.0, 0.0),
        }
    }
}

fn single(slot: u64) -> f32 {
    f32::from_bits(slot as u32)
}

fn half(scalar: Scalar, slot: u64) -> f64 {
    let bits = slot as u16;
    let value = if scalar == Scalar::F16 {
        Const::F16(bits)
    } else {
        Const::BF16(bits)
    };
    match eval::cast(value, Scalar::F64) {
        Some(Const::F64(bits)) => f64::from_bits(bits),
        _ => f64::NAN,
    }
}

fn float_slot(scalar: Scalar, x: f64) -> u64 {
    match eval::cast(Const::f64(x), scalar) {
        Some(Const::F16(bits) | Const::BF16(bits)) => bits.into(),
        Some(Const::F32(bits)) => bits.into(),
        _ => x.to_bits(),
    }
}
