//! The inner loops of folds: of one type and operator each, in copies for the vectors that the processor has.

use std::marker::PhantomData;

use weft_ir::Scalar;
use weft_ir::order::CHAINS;

use super::FoldOp;
use super::number::{Add, All, And, Fmax, Fmin, Maximum, Minimum, Multiply, Operator, Or, Xor};
use super::wide::{Body, widest};

const CHAIN: usize = CHAINS as usize;
/// Of complex numbers, whose parts are added apart.
const PAIRS: usize = 2 * CHAIN;
/// Chains of the shortest rows: the others stay the identity, which changes nothing in the tree.
const FEW: usize = 8;
const FEW_PAIRS: usize = 2 * FEW;

/// Elements as they are computed with, one behind the other: counts are of elements.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Bytes of an element.
    pub size: usize,
    /// Makes elements the identity.
    pub clear: unsafe fn(Clear),
    /// Joins elements with others, place by place: `base` may be `into` itself.
    pub join: unsafe fn(Join),
    /// The same with four others, one after the other.
    pub join4: unsafe fn(Join4),
    /// Joins what is first with what has been folded, where that is not the identity.
    pub start: Option<unsafe fn(Clear)>,
    /// Folds blocks by chains.
    blocks: unsafe fn(Blocks),
    short: unsafe fn(Blocks),
    shortest: unsafe fn(Blocks),
    /// Elements that lie side by side.
    whole: usize,
    pub order: Order,
}

/// Does the order of the elements show in the result?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Free,
    /// That of `weft_ir::order`.
    Fixed,
    /// One element after the other, in C order.
    Sequence,
}

impl Kernel {
    /// # Safety
    /// The elements can be read, and `into` has as many as there are blocks.
    pub unsafe fn blocks(&self, blocks: Blocks) {
        let run = match blocks.columns {
            0..=FEW => self.shortest,
            columns if columns < self.whole => self.short,
            _ => self.blocks,
        };
        // SAFETY: the caller's promise.
        unsafe { run(blocks) }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Clear {
    pub to: *mut u8,
    pub count: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Join {
    pub into: *mut u8,
    pub base: *const u8,
    pub from: *const u8,
    pub count: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Join4 {
    pub into: *mut u8,
    pub from: [*const u8; 4],
    pub count: usize,
}

/// Blocks, at a stride in bytes, of rows at another, in which elements lie side by side. Each is joined with an element of `into`.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub from: *const u8,
    pub count: usize,
    pub stride: i64,
    pub rows: usize,
    pub row_stride: i64,
    pub columns: usize,
    /// Bytes of an element.
    pub size: usize,
    pub into: *mut u8,
}

/// Loops over elements of `P` parts of type `T`, with `L` parts side by side.
struct Loops<T, O, const P: usize, const L: usize>(PhantomData<(T, O)>);

impl<T: Copy, O: Operator<T>, const P: usize, const L: usize> Body<Clear> for Loops<T, O, P, L> {
    #[inline(always)]
    unsafe fn run(Clear { to, count }: Clear) {
        for i in 0..count * P {
            // SAFETY: by contract there is room for so many.
            unsafe { to.cast::<T>().add(i).write(O::IDENTITY) };
        }
    }
}

/// Sums start from 0.0: one of nothing but -0.0 is 0.0, as in NumPy.
struct Start<T, const P: usize>(PhantomData<T>);

impl<T: Copy + Default + std::ops::Add<Output = T>, const P: usize> Body<Clear> for Start<T, P> {
    #[inline(always)]
    unsafe fn run(Clear { to, count }: Clear) {
        // SAFETY: by contract there are so many, which nobody else has.
        let all = unsafe { std::slice::from_raw_parts_mut(to.cast::<T>(), count * P) };
        for each in all {
            *each = T::default() + *each;
        }
    }
}

impl<T: Copy, O: Operator<T>, const P: usize, const L: usize> Body<Join> for Loops<T, O, P, L> {
    #[inline(always)]
    unsafe fn run(Join { into, base, from, count }: Join) {
        // SAFETY: by contract there are so many.
        let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<T>(), count * P) };
        // SAFETY: by contract there are so many on all sides; arrays need not be aligned.
        let at = |from: *const u8, i: usize| unsafe { from.cast::<T>().add(i).read_unaligned() };
        // Memory that is read and written would keep the compiler from vectors.
        if base.cast() == into.as_ptr() {
            for (i, each) in into.iter_mut().enumerate() {
                *each = O::join(*each, at(from, i));
            }
            return;
        }
        for (i, each) in into.iter_mut().enumerate() {
            *each = O::join(at(base, i), at(from, i));
        }
    }
}

impl<T: Copy, O: Operator<T>, const P: usize, const L: usize> Body<Join4> for Loops<T, O, P, L> {
    #[inline(always)]
    unsafe fn run(Join4 { into, from, count }: Join4) {
        // SAFETY: by contract there are so many on all sides.
        let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<T>(), count * P) };
        for (i, each) in into.iter_mut().enumerate() {
            // SAFETY: as above; arrays need not be aligned.
            let [a, b, c, d] = from.map(|from| unsafe { from.cast::<T>().add(i).read_unaligned() });
            *each = O::join(O::join(O::join(O::join(*each, a), b), c), d);
        }
    }
}

impl<T: Copy, O: Operator<T>, const P: usize, const L: usize> Body<Blocks> for Loops<T, O, P, L> {
    #[inline(always)]
    unsafe fn run(blocks: Blocks) {
        for i in 0..blocks.count {
            let mut chains = [O::IDENTITY; L];
            for row in 0..blocks.rows {
                // SAFETY: by contract there are so many blocks, of so many rows.
                unsafe { take_row::<T, O, L>(&mut chains, blocks.row(i, row), blocks.columns * P) };
            }
            // SAFETY: there is an element for each block.
            unsafe { tree::<T, O, P, L>(&mut chains, blocks.into.cast::<T>().add(i * P)) };
        }
    }
}

/// Blocks of rows that are shorter than there are chains. They are read as if they were whole, where memory allows it, and what does not belong
/// to them is masked: lanes for each number of columns would be as many loops.
struct Short<T, O, const P: usize, const L: usize>(PhantomData<(T, O)>);

impl<T: Copy, O: Operator<T>, const P: usize, const L: usize> Body<Blocks> for Short<T, O, P, L> {
    #[inline(always)]
    unsafe fn run(blocks: Blocks) {
        let (end, count) = (blocks.end().cast::<T>(), blocks.columns * P);
        for i in 0..blocks.count {
            let mut chains = [O::IDENTITY; L];
            for row in 0..blocks.rows {
                // SAFETY: by contract there are so many blocks, of so many rows.
                unsafe {
                    let from = blocks.row::<T>(i, row);
                    match from.wrapping_add(L) <= end {
                        true => take_masked::<T, O, L>(&mut chains, from, count),
                        false => take_few::<T, O, L>(&mut chains, from, count),
                    }
                }
            }
            // SAFETY: there is an element for each block.
            unsafe { tree::<T, O, P, L>(&mut chains, blocks.into.cast::<T>().add(i * P)) };
        }
    }
}

impl Blocks {
    unsafe fn row<T>(&self, block: usize, row: usize) -> *const T {
        let offset = block as i64 * self.stride + row as i64 * self.row_stride;
        // SAFETY: by contract.
        unsafe { self.from.offset(offset as isize).cast() }
    }

    /// Where the last row ends; nowhere if rows do not follow each other upwards.
    fn end(&self) -> *const u8 {
        if self.stride < 0 || self.row_stride < 0 || self.count == 0 || self.rows == 0 {
            return std::ptr::null();
        }
        let last = (self.count as i64 - 1) * self.stride + (self.rows as i64 - 1) * self.row_stride;
        self.from.wrapping_offset(last as isize).wrapping_add(self.columns * self.size)
    }
}

#[inline(always)]
unsafe fn take_row<T: Copy, O: Operator<T>, const L: usize>(chains: &mut [T; L], from: *const T, count: usize) {
    // A copy stays in registers.
    let mut held = *chains;
    let whole = count / L;
    for i in 0..whole {
        for (k, chain) in held.iter_mut().enumerate() {
            // SAFETY: by contract there are so many elements; arrays need not be aligned.
            *chain = O::join(*chain, unsafe { from.add(i * L + k).read_unaligned() });
        }
    }
    *chains = held;
    for (k, chain) in chains.iter_mut().enumerate().take(count % L) {
        // SAFETY: as above.
        *chain = O::join(*chain, unsafe { from.add(whole * L + k).read_unaligned() });
    }
}

/// A row behind which there is memory for a whole one.
#[inline(always)]
unsafe fn take_masked<T: Copy, O: Operator<T>, const L: usize>(chains: &mut [T; L], from: *const T, count: usize) {
    for (k, chain) in chains.iter_mut().enumerate() {
        // SAFETY: by contract.
        let value = unsafe { from.add(k).read_unaligned() };
        *chain = O::join(*chain, if k < count { value } else { O::IDENTITY });
    }
}

#[inline(always)]
unsafe fn take_few<T: Copy, O: Operator<T>, const L: usize>(chains: &mut [T; L], from: *const T, count: usize) {
    let mut padded = [O::IDENTITY; L];
    for (k, each) in padded.iter_mut().enumerate().take(count) {
        // SAFETY: by contract there are so many elements.
        *each = unsafe { from.add(k).read_unaligned() };
    }
    for (chain, value) in chains.iter_mut().zip(padded) {
        *chain = O::join(*chain, value);
    }
}

/// Joins the first half of the chains with the second, until the parts of one are left, and these with what is at `into`.
#[inline(always)]
unsafe fn tree<T: Copy, O: Operator<T>, const P: usize, const L: usize>(chains: &mut [T; L], into: *mut T) {
    let mut left = L;
    while left > P {
        left /= 2;
        for k in 0..left {
            chains[k] = O::join(chains[k], chains[k + left]);
        }
    }
    for (part, chain) in chains.iter().enumerate().take(P) {
        // SAFETY: by contract there is an element.
        unsafe {
            let place = into.add(part);
            place.write(O::join(place.read(), *chain));
        }
    }
}

fn of<T: Copy, O: Operator<T>, const P: usize, const L: usize>() -> Kernel {
    Kernel {
        order: Order::Free,
        size: size_of::<T>() * P,
        clear: widest::<Loops<T, O, P, L>, Clear>(),
        join: widest::<Loops<T, O, P, L>, Join>(),
        join4: widest::<Loops<T, O, P, L>, Join4>(),
        start: None,
        blocks: widest::<Loops<T, O, P, L>, Blocks>(),
        short: widest::<Short<T, O, P, L>, Blocks>(),
        shortest: match P {
            1 => widest::<Short<T, O, P, FEW>, Blocks>(),
            _ => widest::<Short<T, O, P, FEW_PAIRS>, Blocks>(),
        },
        whole: L / P,
    }
}

/// Of what rounds.
fn rounding<T: Copy, O: Operator<T>, const P: usize, const L: usize>() -> Kernel {
    Kernel {
        order: Order::Fixed,
        ..of::<T, O, P, L>()
    }
}

/// The loops of an operator on a type, if it is defined.
pub fn find(op: FoldOp, scalar: Scalar) -> Option<Kernel> {
    match op {
        FoldOp::Add => by_bits::<Add>(scalar).or_else(|| sums(scalar)),
        FoldOp::Multiply => by_bits::<Multiply>(scalar).or_else(|| products(scalar)),
        FoldOp::Maximum => extremes::<Maximum>(scalar),
        FoldOp::Minimum => extremes::<Minimum>(scalar),
        FoldOp::Fmax => floats::<Fmax>(scalar),
        FoldOp::Fmin => floats::<Fmin>(scalar),
        FoldOp::And if scalar == Scalar::Bool => Some(of::<u8, All, 1, 128>()),
        FoldOp::Or if scalar == Scalar::Bool => Some(of::<u8, Or, 1, 128>()),
        FoldOp::Xor if scalar == Scalar::Bool => Some(of::<u8, Xor, 1, 128>()),
        FoldOp::And => by_bits::<And>(scalar),
        FoldOp::Or => by_bits::<Or>(scalar),
        FoldOp::Xor => by_bits::<Xor>(scalar),
    }
}

fn sums(scalar: Scalar) -> Option<Kernel> {
    let (kernel, start) = match scalar {
        Scalar::F32 => (rounding::<f32, Add, 1, CHAIN>(), widest::<Start<f32, 1>, Clear>()),
        Scalar::F64 => (rounding::<f64, Add, 1, CHAIN>(), widest::<Start<f64, 1>, Clear>()),
        Scalar::C64 => (rounding::<f32, Add, 2, PAIRS>(), widest::<Start<f32, 2>, Clear>()),
        Scalar::C128 => (rounding::<f64, Add, 2, PAIRS>(), widest::<Start<f64, 2>, Clear>()),
        _ => return None,
    };
    Some(Kernel {
        start: Some(start),
        ..kernel
    })
}

fn products(scalar: Scalar) -> Option<Kernel> {
    match scalar {
        Scalar::F32 => Some(rounding::<f32, Multiply, 1, CHAIN>()),
        Scalar::F64 => Some(rounding::<f64, Multiply, 1, CHAIN>()),
        Scalar::C64 => Some(sequence::<[f32; 2], Multiply>()),
        Scalar::C128 => Some(sequence::<[f64; 2], Multiply>()),
        _ => None,
    }
}

/// Integers of either sign. Where the order does not show, as many lie side by side as vectors have room for.
fn by_bits<O: Operator<u8> + Operator<u16> + Operator<u32> + Operator<u64>>(scalar: Scalar) -> Option<Kernel> {
    match scalar {
        int if !int.is_int() => None,
        int if int.size() == 1 => Some(of::<u8, O, 1, 128>()),
        int if int.size() == 2 => Some(of::<u16, O, 1, 64>()),
        int if int.size() == 4 => Some(of::<u32, O, 1, CHAIN>()),
        _ => Some(of::<u64, O, 1, CHAIN>()),
    }
}

fn floats<O: Operator<f32> + Operator<f64>>(scalar: Scalar) -> Option<Kernel> {
    match scalar {
        Scalar::F32 => Some(of::<f32, O, 1, CHAIN>()),
        Scalar::F64 => Some(of::<f64, O, 1, CHAIN>()),
        _ => None,
    }
}

fn extremes<O>(scalar: Scalar) -> Option<Kernel>
where
    O: Operator<i8> + Operator<i16> + Operator<i32> + Operator<i64> + Operator<f32> + Operator<f64>,
    O: Operator<u8> + Operator<u16> + Operator<u32> + Operator<u64>,
{
    match scalar {
        Scalar::I8 => Some(of::<i8, O, 1, 128>()),
        Scalar::I16 => Some(of::<i16, O, 1, 64>()),
        Scalar::I32 => Some(of::<i32, O, 1, CHAIN>()),
        Scalar::I64 => Some(of::<i64, O, 1, CHAIN>()),
        Scalar::U8 => Some(of::<u8, O, 1, 128>()),
        Scalar::U16 => Some(of::<u16, O, 1, 64>()),
        Scalar::U32 => Some(of::<u32, O, 1, CHAIN>()),
        Scalar::U64 => Some(of::<u64, O, 1, CHAIN>()),
        _ => floats::<O>(scalar),
    }
}

/// Blocks whose elements are joined one after the other.
struct Sequence<T, O>(PhantomData<(T, O)>);

impl<T: Copy, O: Operator<T>> Body<Blocks> for Sequence<T, O> {
    #[inline(always)]
    unsafe fn run(blocks: Blocks) {
        for i in 0..blocks.count {
            // SAFETY: by contract there are so many blocks, of so many rows, and an element for each block.
            unsafe {
                let place = blocks.into.cast::<T>().add(i);
                let mut so_far = place.read();
                for row in 0..blocks.rows {
                    let offset = i as i64 * blocks.stride + row as i64 * blocks.row_stride;
                    let from = blocks.from.offset(offset as isize).cast::<T>();
                    for k in 0..blocks.columns {
                        so_far = O::join(so_far, from.add(k).read_unaligned());
                    }
                }
                place.write(so_far);
            }
        }
    }
}

fn sequence<T: Copy, O: Operator<T>>() -> Kernel {
    Kernel {
        order: Order::Sequence,
        blocks: widest::<Sequence<T, O>, Blocks>(),
        short: widest::<Sequence<T, O>, Blocks>(),
        shortest: widest::<Sequence<T, O>, Blocks>(),
        ..of::<T, O, 1, 1>()
    }
}
