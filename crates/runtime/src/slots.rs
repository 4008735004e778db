//! Scalars as argument blocks hold them: in the low bytes of a slot, complex numbers in two.

use weft_ir::{Const, Scalar};

/// The scalar that starts at the next slot.
pub fn read(scalar: Scalar, slots: &mut impl Iterator<Item = u64>) -> Const {
    let slot = slots.next().unwrap_or(0);
    let unused = 64 - scalar.bits().min(64);
    match scalar {
        Scalar::Bool => Const::Bool(slot & 1 != 0),
        Scalar::F16 => Const::F16(slot as u16),
        Scalar::BF16 => Const::BF16(slot as u16),
        Scalar::F32 => Const::F32(slot as u32),
        Scalar::F64 => Const::F64(slot),
        Scalar::C64 => Const::C64(slot as u32, slots.next().unwrap_or(0) as u32),
        Scalar::C128 => Const::C128(slot, slots.next().unwrap_or(0)),
        int if int.is_signed() => Const::Int(int, (slot as i64) << unused >> unused),
        int => Const::Int(int, (slot << unused >> unused) as i64),
    }
}

pub fn write(c: Const, slots: &mut Vec<u64>) {
    match c {
        Const::Bool(b) => slots.push(u64::from(b)),
        Const::Int(_, v) => slots.push(v as u64),
        Const::F16(bits) | Const::BF16(bits) => slots.push(u64::from(bits)),
        Const::F32(bits) => slots.push(u64::from(bits)),
        Const::F64(bits) => slots.push(bits),
        Const::C64(re, im) => slots.extend([u64::from(re), u64::from(im)]),
        Const::C128(re, im) => slots.extend([re, im]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_comes_back() {
        let cases = [
            Const::Bool(true),
            Const::Int(Scalar::I8, -5),
            Const::Int(Scalar::U8, 200),
            Const::Int(Scalar::I32, i64::from(i32::MIN)),
            Const::Int(Scalar::U64, -1),
            Const::F16(0xbc00),
            Const::BF16(0x7fc1),
            Const::f32(-0.5),
            Const::f64(f64::NAN),
            Const::C64(1, 2),
            Const::C128(3, u64::MAX),
        ];
        for c in cases {
            let mut slots = Vec::new();
            write(c, &mut slots);
            assert_eq!(read(c.scalar(), &mut slots.into_iter()), c);
        }
    }

    #[test]
    fn bytes_above_a_scalar_do_not_matter() {
        let read_one = |scalar, slot| read(scalar, &mut [slot].into_iter());
        assert_eq!(read_one(Scalar::I8, 0xabff), Const::Int(Scalar::I8, -1));
        assert_eq!(read_one(Scalar::U16, 0xffff_0001), Const::Int(Scalar::U16, 1));
        assert_eq!(read_one(Scalar::Bool, 0xff01), Const::Bool(true));
    }
}
