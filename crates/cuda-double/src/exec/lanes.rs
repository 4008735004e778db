//! Registers of a warp: one row of 32 values per register, and the loops over a row that arithmetic is made of.

use std::cell::Cell;

use half::{bf16, f16};

pub const WARP: usize = 32;
pub const FULL: u32 = u32::MAX;

/// One register of every lane. Values narrower than 64 bits have zeros above.
pub type Row = [Cell<u64>; WARP];

pub fn row_of(value: u64) -> Row {
    std::array::from_fn(|_| Cell::new(value))
}

/// Which row an operand is: a register of the frame, a constant of the kernel, or a special register of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

const KIND: u32 = 30;

impl Slot {
    pub fn register(number: u32) -> Slot {
        Slot(number)
    }

    pub fn constant(number: u32) -> Slot {
        Slot(1 << KIND | number)
    }

    pub fn special(number: u32) -> Slot {
        Slot(2 << KIND | number)
    }
}

/// The rows an instruction may name.
#[derive(Debug)]
pub struct Rows<'a> {
    pub frame: &'a [Row],
    pub constants: &'a [Row],
    pub specials: &'a [Row],
}

impl Rows<'_> {
    #[inline(always)]
    pub fn row(&self, slot: Slot) -> &Row {
        let number = (slot.0 & ((1 << KIND) - 1)) as usize;
        match slot.0 >> KIND {
            0 => &self.frame[number],
            1 => &self.constants[number],
            _ => &self.specials[number],
        }
    }

    #[inline(always)]
    pub fn get(&self, slot: Slot, lane: usize) -> u64 {
        self.row(slot)[lane].get()
    }

    #[inline(always)]
    pub fn set(&self, slot: Slot, lane: usize, value: u64) {
        self.row(slot)[lane].set(value);
    }
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// Operands of an instruction that computes one row from up to three. `mode` is what the function makes of it.
#[derive(Clone, Copy, Debug)]
pub struct Lanewise {
    pub run: fn(&Rows<'_>, &Lanewise, u32),
    pub to: Slot,
    pub from: [Slot; 3],
    pub mode: u32,
}

impl Rows<'_> {
    #[inline(always)]
    pub fn map1(&self, op: &Lanewise, mask: u32, f: impl Fn(u64) -> u64) {
        let (d, a) = (self.row(op.to), self.row(op.from[0]));
        if mask == FULL {
            for (d, a) in d.iter().zip(a) {
                d.set(f(a.get()));
            }
        } else {
            for lane in lanes(mask) {
                d[lane].set(f(a[lane].get()));
            }
        }
    }

    #[inline(always)]
    pub fn map2(&self, op: &Lanewise, mask: u32, f: impl Fn(u64, u64) -> u64) {
        let (d, a, b) = (self.row(op.to), self.row(op.from[0]), self.row(op.from[1]));
        if mask == FULL {
            for lane in 0..WARP {
                d[lane].set(f(a[lane].get(), b[lane].get()));
            }
        } else {
            for lane in lanes(mask) {
                d[lane].set(f(a[lane].get(), b[lane].get()));
            }
        }
    }

    #[inline(always)]
    pub fn map3(&self, op: &Lanewise, mask: u32, f: impl Fn(u64, u64, u64) -> u64) {
        let (d, a, b, c) = (self.row(op.to), self.row(op.from[0]), self.row(op.from[1]), self.row(op.from[2]));
        if mask == FULL {
            for lane in 0..WARP {
                d[lane].set(f(a[lane].get(), b[lane].get(), c[lane].get()));
            }
        } else {
            for lane in lanes(mask) {
                d[lane].set(f(a[lane].get(), b[lane].get(), c[lane].get()));
            }
        }
    }

    /// The lanes of `mask` for which `f` holds.
    #[inline(always)]
    pub fn test2(&self, a: Slot, b: Slot, mask: u32, f: impl Fn(u64, u64) -> bool) -> u32 {
        let (a, b) = (self.row(a), self.row(b));
        let mut result = 0;
        if mask == FULL {
            for lane in 0..WARP {
                result |= u32::from(f(a[lane].get(), b[lane].get())) << lane;
            }
        } else {
            for lane in lanes(mask) {
                result |= u32::from(f(a[lane].get(), b[lane].get())) << lane;
            }
        }
        result
    }
}

/// A value as a register holds it.
pub trait Bits: Copy {
    fn of(register: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! integer_bits {
    ($($signed:ty, $unsigned:ty;)*) => { $(
        impl Bits for $signed {
            #[inline(always)]
            fn of(register: u64) -> Self { register as $signed }
            #[inline(always)]
            fn bits(self) -> u64 { self as $unsigned as u64 }
        }
        impl Bits for $unsigned {
            #[inline(always)]
            fn of(register: u64) -> Self { register as $unsigned }
            #[inline(always)]
            fn bits(self) -> u64 { self as u64 }
        }
    )* };
}

integer_bits! { i8, u8; i16, u16; i32, u32; i64, u64; }

impl Bits for f32 {
    #[inline(always)]
    fn of(register: u64) -> Self {
        f32::from_bits(register as u32)
    }
    /// Every NaN the hardware makes of single precision is the same.
    #[inline(always)]
    fn bits(self) -> u64 {
        if self.is_nan() { 0x7fff_ffff } else { u64::from(self.to_bits()) }
    }
}

impl Bits for f64 {
    #[inline(always)]
    fn of(register: u64) -> Self {
        f64::from_bits(register)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Bits for f16 {
    #[inline(always)]
    fn of(register: u64) -> Self {
        f16::from_bits(register as u16)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        if self.is_nan() { 0x7fff } else { u64::from(self.to_bits()) }
    }
}

impl Bits for bf16 {
    #[inline(always)]
    fn of(register: u64) -> Self {
        bf16::from_bits(register as u16)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        if self.is_nan() { 0x7fff } else { u64::from(self.to_bits()) }
    }
}

/// A function over rows from an expression over lanes: `lanewise!(a: u32, b: u32 => a.wrapping_add(b))`. `mode` may be named too.
macro_rules! lanewise {
    ($a:ident : $A:ty => $e:expr) => {{
        fn run(rows: &$crate::exec::lanes::Rows<'_>, op: &$crate::exec::lanes::Lanewise, mask: u32) {
            rows.map1(op, mask, |a| {
                let $a = <$A as $crate::exec::lanes::Bits>::of(a);
                $crate::exec::lanes::Bits::bits($e)
            });
        }
        run as fn(&$crate::exec::lanes::Rows<'_>, &$crate::exec::lanes::Lanewise, u32)
    }};
    ($a:ident : $A:ty, $b:ident : $B:ty => $e:expr) => {{
        fn run(rows: &$crate::exec::lanes::Rows<'_>, op: &$crate::exec::lanes::Lanewise, mask: u32) {
            rows.map2(op, mask, |a, b| {
                let $a = <$A as $crate::exec::lanes::Bits>::of(a);
                let $b = <$B as $crate::exec::lanes::Bits>::of(b);
                $crate::exec::lanes::Bits::bits($e)
            });
        }
        run as fn(&$crate::exec::lanes::Rows<'_>, &$crate::exec::lanes::Lanewise, u32)
    }};
    ($a:ident : $A:ty, $b:ident : $B:ty, $c:ident : $C:ty => $e:expr) => {{
        fn run(rows: &$crate::exec::lanes::Rows<'_>, op: &$crate::exec::lanes::Lanewise, mask: u32) {
            rows.map3(op, mask, |a, b, c| {
                let $a = <$A as $crate::exec::lanes::Bits>::of(a);
                let $b = <$B as $crate::exec::lanes::Bits>::of(b);
                let $c = <$C as $crate::exec::lanes::Bits>::of(c);
                $crate::exec::lanes::Bits::bits($e)
            });
        }
        run as fn(&$crate::exec::lanes::Rows<'_>, &$crate::exec::lanes::Lanewise, u32)
    }};
    (mode $m:ident; $a:ident : $A:ty => $e:expr) => {{
        fn run(rows: &$crate::exec::lanes::Rows<'_>, op: &$crate::exec::lanes::Lanewise, mask: u32) {
            let $m = op.mode;
            rows.map1(op, mask, |a| {
                let $a = <$A as $crate::exec::lanes::Bits>::of(a);
                $crate::exec::lanes::Bits::bits($e)
            });
        }
        run as fn(&$crate::exec::lanes::Rows<'_>, &$crate::exec::lanes::Lanewise, u32)
    }};
    (mode $m:ident; $a:ident : $A:ty, $b:ident : $B:ty => $e:expr) => {{
        fn run(rows: &$crate::exec::lanes::Rows<'_>, op: &$crate::exec::lanes::Lanewise, mask: u32) {
            let $m = op.mode;
            rows.map2(op, mask, |a, b| {
                let $a = <$A as $crate::exec::lanes::Bits>::of(a);
                let $b = <$B as $crate::exec::lanes::Bits>::of(b);
                $crate::exec::lanes::Bits::bits($e)
            });
        }
        run as fn(&$crate::exec::lanes::Rows<'_>, &$crate::exec::lanes::Lanewise, u32)
    }};
    (mode $m:ident; $a:ident : $A:ty, $b:ident : $B:ty, $c:ident : $C:ty => $e:expr) => {{
        fn run(rows: &$crate::exec::lanes::Rows<'_>, op: &$crate::exec::lanes::Lanewise, mask: u32) {
            let $m = op.mode;
            rows.map3(op, mask, |a, b, c| {
                let $a = <$A as $crate::exec::lanes::Bits>::of(a);
                let $b = <$B as $crate::exec::lanes::Bits>::of(b);
                let $c = <$C as $crate::exec::lanes::Bits>::of(c);
                $crate::exec::lanes::Bits::bits($e)
            });
        }
        run as fn(&$crate::exec::lanes::Rows<'_>, &$crate::exec::lanes::Lanewise, u32)
    }};
}
pub(crate) use lanewise;
