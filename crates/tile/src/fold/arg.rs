//! Where the greatest or the least elements are: the first of them, or the first NaN.

use std::marker::PhantomData;

use weft_ir::Scalar;

use super::load::{self, Load, Loads};
use super::shape::{self, Axis, Outer};
use super::wide::{Body, widest};

/// Elements that are looked at together.
const BLOCK: usize = 1024;
/// The same, where elements are compared as they lie.
const LONG_BLOCK: usize = 8192;
/// Elements of one point that are gone through side by side.
const SIDE: usize = 32;
/// Points that are gone through side by side.
const LANES: usize = 256;
/// Fewer points than this are not.
const FEW: u64 = 8;

/// A type with an order, in which a NaN comes before all.
trait Ordered: Copy + PartialOrd {
    /// Bits as many as its own, of which vectors of truths are made.
    type Mask: Copy + Default + PartialEq + std::ops::BitOr<Output = Self::Mask>;

    fn mask(truth: bool) -> Self::Mask;
    fn is_nan(self) -> bool;
    /// Does it come before the best so far?
    fn beats<const MAX: bool>(self, best: Self) -> bool;
    /// Is it the best, or as good? Only a NaN is as good as one.
    fn is_as(self, best: Self) -> bool;
    /// The better one of two that are no NaNs, or the other.
    fn or<const MAX: bool>(self, other: Self) -> Self;
}

macro_rules! ordered {
    ($($ty:ident $mask:ident)*; $nan:expr) => {$(
        impl Ordered for $ty {
            type Mask = $mask;

            #[inline(always)]
            fn mask(truth: bool) -> $mask {
                if truth { $mask::MAX } else { 0 }
            }

            #[inline(always)]
            #[allow(clippy::redundant_closure_call)]
            fn is_nan(self) -> bool {
                $nan(self == self)
            }

            #[inline(always)]
            fn beats<const MAX: bool>(self, best: Self) -> bool {
                let better = if MAX { self > best } else { self < best };
                better | (self.is_nan() & !best.is_nan())
            }

            #[inline(always)]
            fn is_as(self, best: Self) -> bool {
                (self == best) | (self.is_nan() & best.is_nan())
            }

            #[inline(always)]
            fn or<const MAX: bool>(self, other: Self) -> Self {
                let better = if MAX { self > other } else { self < other };
                if better { self } else { other }
            }
        }
    )*};
}

ordered!(i8 u8 i16 u16 i32 u32 i64 u64 u8 u8 u16 u16 u32 u32 u64 u64; |_| false);
ordered!(f32 u32 f64 u64; |equal: bool| !equal);

/// Elements side by side: whether one beats the best so far, which becomes the best of them.
#[derive(Clone, Copy, Debug)]
struct Best {
    from: *const u8,
    count: usize,
    best: *mut u8,
    found: *mut bool,
}

/// The first element that is as good as the best.
#[derive(Clone, Copy, Debug)]
struct First {
    from: *const u8,
    count: usize,
    best: *const u8,
    at: *mut usize,
}

/// Elements of neighbouring points, of one number along the axis.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: *const u8,
    count: usize,
    best: *mut u8,
    at: *mut i64,
    number: i64,
}

struct Loops<T, const MAX: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool> Body<Best> for Loops<T, MAX> {
    #[inline(always)]
    unsafe fn run(Best { from, count, best, found }: Best) {
        let from = from.cast::<T>();
        // SAFETY: by contract it is one element, and there are so many.
        unsafe {
            let before = best.cast::<T>().read();
            // Nothing comes before the first NaN.
            if before.is_nan() {
                found.write(false);
                return;
            }
            let mut lanes = [before; SIDE];
            let mut nans = [T::Mask::default(); SIDE];
            // The last ones may be looked at twice.
            let turns = if count < SIDE { 0 } else { count.div_ceil(SIDE) };
            for i in 0..turns {
                let start = (i * SIDE).min(count - SIDE);
                for (k, (lane, nan)) in lanes.iter_mut().zip(&mut nans).enumerate() {
                    let x = from.add(start + k).read_unaligned();
                    // One instruction each: a NaN is not greater, and is noted apart.
                    *lane = x.or::<MAX>(*lane);
                    *nan = *nan | T::mask(x.is_nan());
                }
            }
            let lanes = halved::<T, MAX, 16>(lanes);
            let lanes = halved::<T, MAX, 8>(lanes);
            let lanes = halved::<T, MAX, 4>(lanes);
            let lanes = halved::<T, MAX, 2>(lanes);
            let mut last = lanes[1].or::<MAX>(lanes[0]);
            // The lanes know nothing of NaNs: where there are any, all is looked at once more.
            let all_seen = turns > 0 && !some(&nans);
            let rest = if all_seen { count } else { 0 };
            for i in rest..count {
                let x = from.add(i).read_unaligned();
                last = if x.beats::<MAX>(last) { x } else { last };
            }
            found.write(last.beats::<MAX>(before));
            best.cast::<T>().write(last);
        }
    }
}

/// The better ones of twice as many lanes, which are no NaNs. By value: arrays with an address do not stay in registers.
#[inline(always)]
fn halved<T: Ordered, const MAX: bool, const N: usize>(mut lanes: [T; SIDE]) -> [T; SIDE] {
    for k in 0..N {
        lanes[k] = lanes[k + N].or::<MAX>(lanes[k]);
    }
    lanes
}

/// Is one of them set?
#[inline(always)]
fn some<M: Copy + Default + PartialEq + std::ops::BitOr<Output = M>>(lanes: &[M; SIDE]) -> bool {
    let mut all = M::default();
    for lane in lanes {
        all = all | *lane;
    }
    all != M::default()
}

impl<T: Ordered, const MAX: bool> Body<First> for Loops<T, MAX> {
    #[inline(always)]
    unsafe fn run(First { from, count, best, at }: First) {
        // SAFETY: by contract they are elements, and there are so many.
        unsafe {
            let best = best.cast::<T>().read();
            let from = from.cast::<T>();
            // A NaN is equal to none, and looked for one by one.
            let in_vectors = if best.is_nan() { 0 } else { count };
            let mut start = skipped::<T, 4>(from, 0, in_vectors, best);
            start = skipped::<T, 1>(from, start, in_vectors, best);
            while start < count && !from.add(start).read_unaligned().is_as(best) {
                start += 1;
            }
            at.write(if start < count { start } else { 0 });
        }
    }
}

/// Leaves out elements that are not equal to the best, so many times as lie side by side at a time.
#[inline(always)]
unsafe fn skipped<T: Ordered, const TIMES: usize>(from: *const T, mut start: usize, count: usize, best: T) -> usize {
    while start + TIMES * SIDE <= count {
        let mut here = [T::Mask::default(); SIDE];
        for (k, each) in here.iter_mut().enumerate() {
            for of in 0..TIMES {
                // SAFETY: by contract there are so many.
                let x = unsafe { from.add(start + of * SIDE + k).read_unaligned() };
                *each = *each | T::mask(x == best);
            }
        }
        if some(&here) {
            break;
        }
        start += TIMES * SIDE;
    }
    start
}

impl<T: Ordered, const MAX: bool> Body<Step> for Loops<T, MAX> {
    #[inline(always)]
    unsafe fn run(step: Step) {
        // SAFETY: by contract there are so many of all.
        let (best, at) = unsafe {
            (
                std::slice::from_raw_parts_mut(step.best.cast::<T>(), step.count),
                std::slice::from_raw_parts_mut(step.at, step.count),
            )
        };
        for (i, (best, at)) in best.iter_mut().zip(at).enumerate() {
            // SAFETY: as above; arrays need not be aligned.
            let x = unsafe { step.from.cast::<T>().add(i).read_unaligned() };
            let better = x.beats::<MAX>(*best);
            *best = if better { x } else { *best };
            *at = if better { step.number } else { *at };
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Kernel {
    size: usize,
    best: unsafe fn(Best),
    first: unsafe fn(First),
    step: unsafe fn(Step),
}

fn of<T: Ordered, const MAX: bool>() -> Kernel {
    Kernel {
        size: size_of::<T>(),
        best: widest::<Loops<T, MAX>, Best>(),
        first: widest::<Loops<T, MAX>, First>(),
        step: widest::<Loops<T, MAX>, Step>(),
    }
}

fn find<const MAX: bool>(scalar: Scalar) -> Option<Kernel> {
    Some(match scalar {
        Scalar::Bool | Scalar::U8 => of::<u8, MAX>(),
        Scalar::I8 => of::<i8, MAX>(),
        Scalar::I16 => of::<i16, MAX>(),
        Scalar::I32 => of::<i32, MAX>(),
        Scalar::I64 => of::<i64, MAX>(),
        Scalar::U16 => of::<u16, MAX>(),
        Scalar::U32 => of::<u32, MAX>(),
        Scalar::U64 => of::<u64, MAX>(),
        Scalar::F32 => of::<f32, MAX>(),
        Scalar::F64 => of::<f64, MAX>(),
        Scalar::F16 | Scalar::BF16 | Scalar::C64 | Scalar::C128 => return None,
    })
}

/// Positions along one axis, for every point of the others.
#[derive(Clone, Debug)]
pub struct ArgFold {
    kernel: Kernel,
    load: Load,
    /// Elements are compared as they lie.
    same: bool,
    others: Vec<Outer>,
    lanes: Outer,
    axis: Axis,
}

impl ArgFold {
    /// Nothing for complex numbers, which have no order, and for an axis without elements.
    pub fn new(max: bool, elem: Scalar, outer: &[Outer], axis: Axis) -> Option<ArgFold> {
        if axis.extent == 0 {
            return None;
        }
        // As float32 16-bit floats are in the same order.
        let compared = if elem.is_half() { Scalar::F32 } else { elem };
        let (others, lanes) = shape::outer(outer);
        Some(ArgFold {
            kernel: if max { find::<true>(compared) } else { find::<false>(compared) }?,
            load: load::find(elem, compared)?,
            same: elem == compared,
            others,
            lanes,
            axis,
        })
    }

    /// Into how many units the points of the result are cut.
    pub fn units(&self) -> u64 {
        let panels = self.lanes.extent.div_ceil(LANES as u64);
        self.others.iter().fold(panels, |units, axis| units.saturating_mul(axis.extent))
    }

    /// Finds the positions of some units, as int64.
    ///
    /// # Safety
    /// As for [`super::Fold::run`].
    pub unsafe fn run(&self, input: *const u8, out: *mut u8, units: std::ops::Range<u64>) {
        let panels = self.lanes.extent.div_ceil(LANES as u64).max(1);
        let mut memory = vec![0u64; BLOCK.max(2 * LANES)];
        for unit in units {
            let first = unit % panels * LANES as u64;
            let (mut from, mut to) = (first as i64 * self.lanes.input, first as i64 * self.lanes.output);
            let mut rest = unit / panels;
            for axis in self.others.iter().rev() {
                let at = (rest % axis.extent) as i64;
                (from, to) = (from + at * axis.input, to + at * axis.output);
                rest /= axis.extent;
            }
            let points = (self.lanes.extent - first).min(LANES as u64) as usize;
            let nearer = self.lanes.input.unsigned_abs() < self.axis.stride.unsigned_abs();
            // SAFETY: the caller's promise.
            unsafe {
                let (input, out) = (input.offset(from as isize), out.offset(to as isize));
                match points as u64 >= FEW && (nearer || self.axis.extent < FEW) {
                    true => self.across(input, points, out, &mut memory),
                    false => (0..points as i64).for_each(|point| {
                        let at = self.along(input.offset((point * self.lanes.input) as isize), &mut memory);
                        out.offset((point * self.lanes.output) as isize).cast::<i64>().write_unaligned(at);
                    }),
                }
            }
        }
    }

    /// So many elements side by side, as they are compared.
    unsafe fn elements(&self, from: *const u8, stride: i64, count: usize, to: *mut u8) -> *const u8 {
        if self.same && stride == self.kernel.size as i64 {
            return from;
        }
        // SAFETY: by contract.
        unsafe { (self.load)(Loads { from, stride, count, to }) };
        to
    }

    /// Block by block; only the one that has it is looked through.
    unsafe fn along(&self, from: *const u8, memory: &mut [u64]) -> i64 {
        let tile = memory.as_mut_ptr().cast::<u8>();
        let (mut best, mut start, mut found) = (0u64, 0, false);
        let each = match self.same && self.axis.stride == self.kernel.size as i64 {
            true => LONG_BLOCK,
            false => BLOCK,
        };
        let slot = (&raw mut best).cast::<u8>();
        let block = |start: u64, tile: *mut u8| {
            let count = (self.axis.extent - start).min(each as u64) as usize;
            // SAFETY: by contract.
            unsafe {
                (
                    self.elements(
                        from.offset((start as i64 * self.axis.stride) as isize),
                        self.axis.stride,
                        count,
                        tile,
                    ),
                    count,
                )
            }
        };
        // SAFETY: by contract; the first element is there.
        unsafe {
            self.elements(from, 0, 1, slot);
            for here in (0..self.axis.extent).step_by(each) {
                let (from, count) = block(here, tile);
                (self.kernel.best)(Best {
                    from,
                    count,
                    best: slot,
                    found: &raw mut found,
                });
                start = if found { here } else { start };
            }
            let (from, count) = block(start, tile);
            let mut at = 0;
            (self.kernel.first)(First {
                from,
                count,
                best: slot,
                at: &raw mut at,
            });
            start as i64 + at as i64
        }
    }

    /// Element by element of neighbouring points.
    unsafe fn across(&self, from: *const u8, points: usize, out: *mut u8, memory: &mut [u64]) {
        let (best, tile) = memory.split_at_mut(LANES);
        let (best, tile) = (best.as_mut_ptr().cast::<u8>(), tile.as_mut_ptr().cast::<u8>());
        let mut at = [0i64; LANES];
        // SAFETY: by contract; there is room for a panel.
        unsafe {
            let first = self.elements(from, self.lanes.input, points, best);
            if first != best.cast_const() {
                first.copy_to_nonoverlapping(best, points * self.kernel.size);
            }
            for number in 1..self.axis.extent as i64 {
                let from = self.elements(from.offset((number * self.axis.stride) as isize), self.lanes.input, points, tile);
                (self.kernel.step)(Step {
                    from,
                    count: points,
                    best,
                    at: at.as_mut_ptr(),
                    number,
                });
            }
            for (point, at) in at.iter().enumerate().take(points) {
                let place = out.offset((point as i64 * self.lanes.output) as isize);
                place.cast::<i64>().write_unaligned(*at);
            }
        }
    }
}

/// Positions of the first greatest (or least) elements along an axis, as int64; says whether it could (see [`ArgFold::new`]).
///
/// # Safety
/// As for [`super::Fold::run`].
pub unsafe fn arg_fold(max: bool, elem: Scalar, input: *const u8, outer: &[Outer], axis: Axis, out: *mut u8) -> bool {
    let Some(fold) = ArgFold::new(max, elem, outer, axis) else {
        return false;
    };
    // SAFETY: the caller's promise.
    unsafe { fold.run(input, out, 0..fold.units()) };
    true
}
