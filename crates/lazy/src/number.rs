//! Numbers that stand beside arrays: Python's, which are weak, as bits of the type that a loop computes in.

use weft_ir::{Const, Scalar, eval};

use crate::error::{Error, Result};

/// A number's bits as memory has them, in the low bytes of two words.
pub type Bits = [u64; 2];

pub fn bits(value: Const) -> Bits {
    match value {
        Const::Bool(b) => [b.into(), 0],
        Const::Int(_, v) => [v as u64, 0],
        Const::F16(b) | Const::BF16(b) => [b.into(), 0],
        Const::F32(b) => [b.into(), 0],
        Const::F64(b) => [b, 0],
        Const::C64(re, im) => [u64::from(re) | u64::from(im) << 32, 0],
        Const::C128(re, im) => [re, im],
    }
}

pub fn constant(scalar: Scalar, bits: Bits) -> Const {
    let low = bits[0];
    match scalar {
        Scalar::Bool => Const::Bool(low as u8 != 0),
        Scalar::F16 => Const::F16(low as u16),
        Scalar::BF16 => Const::BF16(low as u16),
        Scalar::F32 => Const::F32(low as u32),
        Scalar::F64 => Const::F64(low),
        Scalar::C64 => Const::C64(low as u32, (low >> 32) as u32),
        Scalar::C128 => Const::C128(low, bits[1]),
        int => Const::Int(int, int.wrap(low as i64)),
    }
}

/// A number's bits as argument blocks have them: see "Argument blocks" in `docs/architecture/runtime.md`.
pub fn memory_to_slots(scalar: Scalar, memory: Bits) -> [u64; 2] {
    let low = memory[0];
    match scalar {
        Scalar::Bool => [u64::from(low as u8 != 0), 0],
        Scalar::I8 => [low as i8 as i64 as u64, 0],
        Scalar::I16 => [low as i16 as i64 as u64, 0],
        Scalar::I32 => [low as i32 as i64 as u64, 0],
        Scalar::U8 => [u64::from(low as u8), 0],
        Scalar::U16 | Scalar::F16 | Scalar::BF16 => [u64::from(low as u16), 0],
        Scalar::U32 | Scalar::F32 => [u64::from(low as u32), 0],
        Scalar::I64 | Scalar::U64 | Scalar::F64 => [low, 0],
        Scalar::C64 => [low & 0xffff_ffff, low >> 32],
        Scalar::C128 => memory,
    }
}

/// A number of Python's own classes.
#[derive(Clone, Copy, Debug)]
pub enum Weak {
    Number(Const),
    /// An integer that is neither one of int64's nor of uint64's.
    Beyond {
        negative: bool,
        /// The float64 next to it; an infinity where it lies beyond these, too.
        nearest: f64,
    },
}

impl Weak {
    /// What kind of number it is, as the type that promotion looks at. An integer is one of int64 whatever its value, as NumPy's.
    pub fn scalar(self) -> Scalar {
        match self {
            Weak::Number(Const::Int(..)) | Weak::Beyond { .. } => Scalar::I64,
            Weak::Number(number) => number.scalar(),
        }
    }

    pub fn is_positive(self) -> bool {
        match self {
            Weak::Number(Const::Int(Scalar::U64, v)) => v != 0,
            Weak::Number(Const::Int(_, v)) => v > 0,
            Weak::Number(_) => false,
            Weak::Beyond { negative, .. } => !negative,
        }
    }

    /// Is the integer one of the type's?
    pub fn fits(self, to: Scalar) -> bool {
        match self {
            Weak::Number(number) => fits(number, to),
            Weak::Beyond { .. } => !to.is_int(),
        }
    }
}

fn fits(value: Const, to: Scalar) -> bool {
    let Const::Int(of, v) = value else { return true };
    if !to.is_int() {
        return true;
    }
    let v = match of {
        Scalar::U64 => i128::from(v as u64),
        _ => i128::from(v),
    };
    let least = if to.is_signed() { -(1i128 << (to.bits() - 1)) } else { 0 };
    let most = (1i128 << (to.bits() - u32::from(to.is_signed()))) - 1;
    (least..=most).contains(&v)
}

/// Python's number in a type, as NumPy puts it there.
pub fn weak_in(value: Weak, to: Scalar) -> Result<Bits> {
    if value.fits(to) {
        return cut(value, to);
    }
    Err(Error::Overflow(match value {
        Weak::Number(Const::Int(Scalar::I64, v)) => format!("Python integer {v} out of bounds for {}", to.numpy_name()),
        _ => TOO_LARGE.into(),
    }))
}

/// An integer of 64 bits is cut to the bits that its type has, as casts do.
fn cut(value: Weak, to: Scalar) -> Result<Bits> {
    match value {
        Weak::Number(number) => converted(number, to),
        Weak::Beyond { .. } if to.is_int() => Err(Error::Overflow(TOO_LARGE.into())),
        Weak::Beyond { nearest, .. } if nearest.is_infinite() && to != Scalar::Bool => {
            Err(Error::Overflow("int too large to convert to float".into()))
        }
        Weak::Beyond { nearest, .. } => converted(Const::f64(nearest), to),
    }
}

const TOO_LARGE: &str = "Python int too large to convert to C long";

pub fn converted(value: Const, to: Scalar) -> Result<Bits> {
    let cast = eval::cast(value, to).ok_or_else(|| Error::Internal(format!("no cast to {}", to.numpy_name())))?;
    Ok(bits(cast))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_fit_what_has_room_for_them() {
        let int = |v| Const::Int(Scalar::I64, v);
        assert!(fits(int(255), Scalar::U8) && !fits(int(256), Scalar::U8) && !fits(int(-1), Scalar::U64));
        assert!(fits(int(i64::MIN), Scalar::I64) && fits(Const::Int(Scalar::U64, -1), Scalar::U64));
        // However wide what is no integer is.
        assert!(fits(int(-1), Scalar::C128) && fits(int(300), Scalar::Bool) && fits(int(300), Scalar::F16));
    }
}
