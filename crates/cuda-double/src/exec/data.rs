//! Instructions that only move data between registers.

use super::inst::*;
use super::lanes::{Row, Rows, Slot, lanes};
use super::launch::Launch;
use super::table::Kind;
use super::warp::{Group, Warp};
use crate::ptx::syntax::Space;

impl Warp {
    /// What only moves data between registers.
    pub(super) fn data(&mut self, launch: &Launch, constants: &[Row], group: &Group, op: &Op, mask: u32) {
        let local_base = self.local_base;
        let (mut carry, number) = (self.carry, self.number);
        let (rows, preds) = self.rows(launch, constants, group);
        match *op {
            Op::SetValue {
                test,
                a,
                b,
                to,
                one,
                combine,
                with,
            } => {
                let value = combined(combine, test(&rows, a, b, mask), with.mask(preds));
                for lane in lanes(mask) {
                    rows.set(to, lane, if value >> lane & 1 == 1 { one } else { 0 });
                }
            }
            Op::Carry(op) => carry = carried(&rows, &op, carry, mask),
            Op::Pack { to, from, count, bits } => {
                for lane in lanes(mask) {
                    let piece = |i: usize| (rows.get(from[i], lane) & ones(bits)) << (i * usize::from(bits));
                    rows.set(to, lane, (0..usize::from(count)).fold(0, |all, i| all | piece(i)));
                }
            }
            Op::Unpack { to, from, count, bits } => {
                for lane in lanes(mask) {
                    let value = rows.get(from, lane);
                    for (index, slot) in to.iter().take(usize::from(count)).enumerate() {
                        rows.set(*slot, lane, value >> (index * usize::from(bits)) & ones(bits));
                    }
                }
            }
            Op::Special { to, what } => {
                for lane in lanes(mask) {
                    rows.set(to, lane, launch.special(what, number));
                }
            }
            Op::FrameAddress { to, offset, generic } => {
                let start = if generic { window::LOCAL } else { 0 };
                for lane in lanes(mask) {
                    rows.set(to, lane, start + u64::from(local_base[lane] + offset));
                }
            }
            Op::InSpace { space, to, address } => {
                let mut value = 0;
                for lane in lanes(mask) {
                    let address = rows.get(address, lane);
                    let within = |start: u64| (start..start + window::SIZE).contains(&address);
                    let inside = match space {
                        Space::Shared => within(window::SHARED),
                        Space::Local => within(window::LOCAL),
                        Space::Param => within(window::PARAM),
                        Space::Const => launch.table.containing(address).is_some_and(|r| r.kind == Kind::Constant),
                        _ => !within(window::SHARED) && !within(window::LOCAL) && !within(window::PARAM),
                    };
                    value |= u32::from(inside) << lane;
                }
                let old = &mut preds[to as usize];
                *old = *old & !mask | value;
            }
            _ => {}
        }
        self.carry = carry;
    }
}

fn ones(bits: u8) -> u64 {
    (1 << bits) - 1
}

#[inline(always)]
pub(super) fn combined(combine: Combine, value: u32, with: u32) -> u32 {
    match combine {
        Combine::None => value,
        Combine::And => value & with,
        Combine::Or => value | with,
        Combine::Xor => value ^ with,
    }
}

/// Sums, differences and products with the carry flag; gives the flag of all lanes.
fn carried(rows: &Rows<'_>, op: &Carry, mut carry: u32, mask: u32) -> u32 {
    let bits = if op.wide { 64 } else { 32 };
    let width = if op.wide { u128::from(u64::MAX) } else { u128::from(u32::MAX) };
    for lane in lanes(mask) {
        let get = |slot: Slot| u128::from(rows.get(slot, lane)) & width;
        let (mut a, mut b) = (get(op.a), get(op.b));
        if let Some(c) = op.c {
            let signed = |x: u128| {
                if op.signed {
                    ((x << (128 - bits)) as i128) >> (128 - bits)
                } else {
                    x as i128
                }
            };
            let product = signed(a).wrapping_mul(signed(b)) as u128;
            (a, b) = ((if op.high { product >> bits } else { product }) & width, get(c));
        }
        let flag = |unused: bool| u128::from(if op.uses { carry >> lane & 1 == 1 } else { unused });
        // A difference is a sum with the complement, as in the hardware: its flag is the carry of that, which is set where nothing is
        // borrowed. Code that reads the flag of a difference with `addc` relies on it.
        let result = if op.subtract {
            a + (!b & width) + flag(true)
        } else {
            a + b + flag(false)
        };
        rows.set(op.to, lane, (result & width) as u64);
        if op.sets {
            carry = carry & !(1 << lane) | ((result >> bits & 1) as u32) << lane;
        }
    }
    carry
}
