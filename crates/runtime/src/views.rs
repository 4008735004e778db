//! Views among a launch's arguments: where they are in the argument block, and what that says of them.

use std::collections::HashSet;

use weft_ir::{FuncKind, Function, Type, Value, ViewType};

/// Elements of a view, its extents, and threads along an axis stay below this in narrow code; small integers reach it.
pub const NARROW: u64 = 1 << 30;

/// A view among a kernel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewParam {
    /// The slot of its data address; its shape and strides follow.
    pub slot: u32,
    pub ty: ViewType,
    /// Does the kernel write to it?
    pub written: bool,
}

/// An entry's parameters that come from the argument block, with their slots. Those of a loop's extents come before them.
fn params(entry: &Function) -> impl Iterator<Item = (u32, Value)> {
    let rank = match entry.kind {
        FuncKind::Loop { rank, .. } => usize::from(rank),
        _ => 0,
    };
    let mut slot = rank as u32;
    entry.params[rank..].iter().map(move |value| {
        let here = slot;
        slot += entry.ty(*value).slots() as u32;
        (here, *value)
    })
}

/// The views among an entry's parameters, of which it may write to these.
pub fn view_params(entry: &Function, written: &HashSet<Value>) -> Vec<ViewParam> {
    let view = |(slot, value)| {
        let written = written.contains(&value);
        entry.ty(value).view().map(|ty| ViewParam { slot, ty, written })
    };
    params(entry).filter_map(view).collect()
}

/// The slots of `int64`s among an entry's parameters.
pub fn int_params(entry: &Function) -> Vec<u32> {
    let ints = params(entry).filter(|(_, value)| *entry.ty(*value) == Type::I64);
    ints.map(|(slot, _)| slot).collect()
}

/// A view as an argument block has it.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    pub data: u64,
    pub shape: &'a [u64],
    pub strides: &'a [u64],
}

impl<'a> Window<'a> {
    pub fn of(view: &ViewParam, args: &'a [u64]) -> Option<Window<'a>> {
        let rank = usize::from(view.ty.rank);
        let slots = args.get(view.slot as usize..)?;
        let (&data, rest) = slots.split_first()?;
        let (shape, rest) = rest.split_at_checked(rank)?;
        Some(Window {
            data,
            shape,
            strides: rest.get(..rank)?,
        })
    }

    /// As many as its extents can count up to: an empty view may have long ones.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1u64, |product, &n| product.saturating_mul(n.max(1)))
    }

    /// Do 32-bit numbers hold its indices and strides?
    pub fn is_narrow(&self) -> bool {
        self.elements() < NARROW && self.strides.iter().all(|&stride| i32::try_from(stride as i64).is_ok())
    }

    /// From the lowest byte of an element to the end of the highest; nothing where there are no elements.
    pub fn span(&self, ty: ViewType) -> Option<(u64, u64)> {
        if self.shape.contains(&0) {
            return None;
        }
        let (mut low, mut high) = (self.data, self.data);
        for (&extent, &stride) in self.shape.iter().zip(self.strides) {
            let reach = (extent as i64 - 1).wrapping_mul(stride as i64);
            if reach < 0 {
                low = low.wrapping_add_signed(reach);
            } else {
                high = high.wrapping_add_signed(reach);
            }
        }
        Some((low, high.wrapping_add(ty.elem.size() as u64)))
    }
}

/// Is every `int64` in these slots a number that 32 bits hold with room to spare?
pub fn are_small(slots: &[u32], args: &[u64]) -> bool {
    let is_small = |slot: &u32| args.get(*slot as usize).is_some_and(|&n| (n as i64).unsigned_abs() <= NARROW);
    slots.iter().all(is_small)
}
