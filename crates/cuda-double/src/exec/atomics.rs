//! Atomics: what they make of the old value.

use half::{bf16, f16};

use super::inst::{Atomic, AtomicOp, AtomicType};

/// The new value. For `cas`, `value` is what is expected.
pub fn apply(atomic: &Atomic, old: u64, value: u64, swap: u64, global: bool) -> u64 {
    let bits = 8 * u32::from(atomic.bytes);
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let (value, swap) = (value & mask, swap & mask);
    let signed = |x: u64| ((x << (64 - bits)) as i64) >> (64 - bits);
    let less = |a: u64, b: u64| {
        if atomic.ty == AtomicType::Signed {
            signed(a) < signed(b)
        } else {
            a < b
        }
    };
    let new = match atomic.op {
        // In global memory sums of singles take subnormals for zeros, whatever else is computed with them.
        AtomicOp::Add if global && atomic.ty == AtomicType::F32 => flushed(add(atomic.ty, flushed(old), flushed(value))),
        AtomicOp::Add => add(atomic.ty, old, value),
        AtomicOp::And => old & value,
        AtomicOp::Or => old | value,
        AtomicOp::Xor => old ^ value,
        AtomicOp::Exchange => value,
        AtomicOp::Cas => {
            if old == value {
                swap
            } else {
                old
            }
        }
        AtomicOp::Min => {
            if less(value, old) {
                value
            } else {
                old
            }
        }
        AtomicOp::Max => {
            if less(old, value) {
                value
            } else {
                old
            }
        }
        AtomicOp::Inc => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
    };
    new & mask
}

/// The bits of a single, or those of a zero of its sign.
fn flushed(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn add(ty: AtomicType, old: u64, value: u64) -> u64 {
    let half = |a: u64, b: u64| u64::from((f16::from_bits(a as u16) + f16::from_bits(b as u16)).to_bits());
    let brain = |a: u64, b: u64| u64::from((bf16::from_bits(a as u16) + bf16::from_bits(b as u16)).to_bits());
    match ty {
        AtomicType::Bits | AtomicType::Signed => old.wrapping_add(value),
        AtomicType::F32 => u64::from((f32::from_bits(old as u32) + f32::from_bits(value as u32)).to_bits()),
        AtomicType::F64 => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
        AtomicType::F16 => half(old, value),
        AtomicType::BF16 => brain(old, value),
        AtomicType::F16x2 => half(old, value) | half(old >> 16, value >> 16) << 16,
        AtomicType::BF16x2 => brain(old, value) | brain(old >> 16, value >> 16) << 16,
    }
}
