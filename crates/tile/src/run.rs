//! How a loop runs over its operands: element functions become functions on memory, one for each level of the machine's instructions.

#![allow(unsafe_code)] // Operands are places in memory; whoever runs a loop answers for them.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use weft_ir::Scalar;

use crate::element::{Elem, Truth};

/// Where an operand's elements lie, aligned or not.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Arg {
    place: *const u8,
    /// How far an element lies from the one before, in elements: 1, or 0 where one stands for all.
    step: usize,
}

impl Arg {
    /// Elements that follow each other.
    pub fn run(first: *const u8) -> Arg {
        Arg { place: first, step: 1 }
    }

    /// One element for all.
    pub fn one(element: *const u8) -> Arg {
        Arg { place: element, step: 0 }
    }
}

/// Computes `n` elements of `out`.
///
/// # Safety
/// `args` points to as many operands as the loop has, of its types, and each has `n` elements, or one. `out` has room for `n` elements of the
/// result. It overlaps no operand, unless both start at the same place and have elements of one size, which is slow.
pub type Run = unsafe fn(out: *mut u8, args: *const Arg, n: usize);

/// A loop, ready for the machine that it was asked for on.
#[derive(Clone, Copy)]
pub struct TileLoop {
    pub run: Run,
    levels: &'static [Run],
}

impl TileLoop {
    /// The copies of the loop that this machine can run, the last of which is `run`.
    pub fn levels(self) -> &'static [Run] {
        &self.levels[..=level().min(self.levels.len() - 1)]
    }

    fn of<B: Body>() -> TileLoop {
        let levels = Levels::<B>::RUNS;
        TileLoop {
            run: levels[level().min(levels.len() - 1)],
            levels,
        }
    }
}

impl fmt::Debug for TileLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TileLoop").field("run", &self.run).finish_non_exhaustive()
    }
}

/// A loop, and the type of its result.
pub type Found = (TileLoop, Scalar);

/// A function of one element.
pub trait One<A: Elem> {
    type R: Elem;
    fn of(a: A) -> Self::R;
}

/// A function of two elements.
pub trait Two<A: Elem, B: Elem = A> {
    type R: Elem;
    fn of(a: A, b: B) -> Self::R;
}

pub fn one<O: One<A> + 'static, A: Elem>() -> Found {
    (TileLoop::of::<Unary<O, A>>(), O::R::SCALAR)
}

pub fn two<O: Two<A, B> + 'static, A: Elem, B: Elem>() -> Found {
    (TileLoop::of::<Binary<O, A, B>>(), O::R::SCALAR)
}

/// A choice between elements.
pub trait Choose: Elem {
    fn choose(first: bool, a: Self, b: Self) -> Self;
}

/// `where(condition, a, b)`.
pub fn select<A: Choose>() -> TileLoop {
    TileLoop::of::<Select<A>>()
}

/// A function of a first element, a step, and the number of an element.
pub trait Count<A: Elem> {
    type R: Elem;
    fn of(start: A, step: A, i: i64) -> Self::R;
}

/// The loop of a function of numbers that follow each other: its third operand is the first of them.
pub fn count<O: Count<A> + 'static, A: Elem>() -> TileLoop {
    TileLoop::of::<Counted<O, A>>()
}

/// The code of a loop, to be compiled for several levels.
trait Body: 'static {
    /// # Safety
    /// That of [`Run`].
    unsafe fn run(out: *mut u8, args: *const Arg, n: usize);
}

struct Levels<B>(PhantomData<B>);

impl<B: Body> Levels<B> {
    #[cfg(target_arch = "x86_64")]
    const RUNS: &'static [Run] = &[plain::<B>, avx2::<B>];
    #[cfg(not(target_arch = "x86_64"))]
    const RUNS: &'static [Run] = &[plain::<B>];
}

/// # Safety
/// That of [`Run`].
unsafe fn plain<B: Body>(out: *mut u8, args: *const Arg, n: usize) {
    // SAFETY: the caller's promises are the same.
    unsafe { B::run(out, args, n) }
}

/// # Safety
/// That of [`Run`], on a machine of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
unsafe fn avx2<B: Body>(out: *mut u8, args: *const Arg, n: usize) {
    // SAFETY: the caller's promises are the same.
    unsafe { B::run(out, args, n) }
}

/// The level of this machine.
#[cfg(target_arch = "x86_64")]
pub(crate) fn level() -> usize {
    let has_avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    usize::from(has_avx2)
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn level() -> usize {
    0
}

/// Elements that are computed at once where an operand is one element, which is laid out as often before: one loop serves all operands.
const BLOCK: usize = 256;

/// Room for such a block, aligned to the widest vectors.
#[repr(align(64))]
struct Room<A>([MaybeUninit<A>; BLOCK]);

impl<A: Elem> Room<A> {
    #[inline(always)]
    fn new() -> Room<A> {
        Room([MaybeUninit::uninit(); BLOCK])
    }
}

/// An operand of a loop as a run of elements.
struct Laid<A> {
    first: *const A,
    step: usize,
}

impl<A: Elem> Laid<A> {
    /// # Safety
    /// `arg` has `n` elements of the type, or one.
    #[inline(always)]
    unsafe fn new(arg: Arg, room: &mut Room<A>, n: usize) -> Laid<A> {
        let place = arg.place.cast::<A>();
        if arg.step == 1 || n == 0 {
            return Laid { first: place, step: 1 };
        }
        // SAFETY: there is one element.
        let element = unsafe { place.read_unaligned() };
        for slot in &mut room.0[..n.min(BLOCK)] {
            slot.write(element);
        }
        Laid {
            first: room.0.as_ptr().cast(),
            step: 0,
        }
    }

    /// The elements from the i-th on.
    ///
    /// # Safety
    /// There are so many elements, or one.
    #[inline(always)]
    unsafe fn from(&self, i: usize) -> *const A {
        // SAFETY: the caller promises that the run has so many elements; one that is laid out stays where it is.
        unsafe { self.first.add(i * self.step) }
    }
}

/// How many elements are computed at once of operands with these steps.
#[inline(always)]
fn block(n: usize, steps: usize) -> usize {
    if steps == 1 { n } else { BLOCK }
}

struct Unary<O, A>(PhantomData<(O, A)>);

impl<O: One<A> + 'static, A: Elem> Body for Unary<O, A> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, args: *const Arg, n: usize) {
        let mut room = Room::new();
        let out = out.cast::<O::R>();
        // SAFETY: there is an operand, of `n` elements or one; the blocks are parts of it and of the room for the result.
        unsafe {
            let a = Laid::<A>::new(*args, &mut room, n);
            let (mut done, block) = (0, block(n, a.step));
            while done < n {
                let count = block.min(n - done);
                let (out, a) = (out.add(done), a.from(done));
                for i in 0..count {
                    out.add(i).write_unaligned(O::of(a.add(i).read_unaligned()));
                }
                done += count;
            }
        }
    }
}

struct Binary<O, A, B>(PhantomData<(O, A, B)>);

impl<O: Two<A, B> + 'static, A: Elem, B: Elem> Body for Binary<O, A, B> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, args: *const Arg, n: usize) {
        let (mut room_a, mut room_b) = (Room::new(), Room::new());
        let out = out.cast::<O::R>();
        // SAFETY: there are two operands, each of `n` elements or one; the blocks are parts of them and of the room for the result.
        unsafe {
            let a = Laid::<A>::new(*args, &mut room_a, n);
            let b = Laid::<B>::new(*args.add(1), &mut room_b, n);
            let (mut done, block) = (0, block(n, a.step & b.step));
            while done < n {
                let count = block.min(n - done);
                let (out, a, b) = (out.add(done), a.from(done), b.from(done));
                for i in 0..count {
                    out.add(i)
                        .write_unaligned(O::of(a.add(i).read_unaligned(), b.add(i).read_unaligned()));
                }
                done += count;
            }
        }
    }
}

struct Select<A>(PhantomData<A>);

impl<A: Choose> Body for Select<A> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, args: *const Arg, n: usize) {
        let mut room = Room::new();
        let (mut room_a, mut room_b) = (Room::new(), Room::new());
        let out = out.cast::<A>();
        // SAFETY: there are three operands, each of `n` elements or one; the blocks are parts of them and of the room for the result.
        unsafe {
            let condition = Laid::<Truth>::new(*args, &mut room, n);
            let a = Laid::<A>::new(*args.add(1), &mut room_a, n);
            let b = Laid::<A>::new(*args.add(2), &mut room_b, n);
            let (mut done, block) = (0, block(n, condition.step & a.step & b.step));
            while done < n {
                let count = block.min(n - done);
                let (out, condition) = (out.add(done), condition.from(done));
                let (a, b) = (a.from(done), b.from(done));
                for i in 0..count {
                    let (x, y) = (a.add(i).read_unaligned(), b.add(i).read_unaligned());
                    out.add(i).write_unaligned(A::choose((*condition.add(i)).holds(), x, y));
                }
                done += count;
            }
        }
    }
}

struct Counted<O, A>(PhantomData<(O, A)>);

impl<O: Count<A> + 'static, A: Elem> Body for Counted<O, A> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, args: *const Arg, n: usize) {
        if n == 0 {
            return;
        }
        let out = out.cast::<O::R>();
        // SAFETY: there are three operands of at least one element each, and room for `n` elements of the result.
        unsafe {
            let start = (*args).place.cast::<A>().read_unaligned();
            let step = (*args.add(1)).place.cast::<A>().read_unaligned();
            let first = (*args.add(2)).place.cast::<i64>().read_unaligned();
            // Vectors count faster in 32 bits.
            if let (Ok(first), Ok(n)) = (u32::try_from(first), u32::try_from(n))
                && first.checked_add(n).is_some_and(|end| end <= i32::MAX as u32)
            {
                for i in 0..n {
                    let number = (first + i) as i32;
                    out.add(i as usize).write_unaligned(O::of(start, step, number.into()));
                }
                return;
            }
            for i in 0..n {
                out.add(i).write_unaligned(O::of(start, step, first.wrapping_add(i as i64)));
            }
        }
    }
}
