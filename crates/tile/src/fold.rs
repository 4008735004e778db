//! Folds of elements along axes, in the order that the extents fix (`weft_ir::order`): the bits of compiled code.
//!
//! A [`Fold`] is made of extents and strides. Its points are cut into *units* (neighbouring points of the result) and the order's *chunks*: both
//! may be shared among threads.

#![allow(unsafe_code)]

mod arg;
mod kernel;
mod load;
mod number;
mod shape;
mod wide;

use std::cell::Cell;
use std::ops::Range;

use weft_ir::Scalar;
use weft_ir::order::{BLOCK, CHAINS};

use kernel::{Blocks, Clear, Join, Join4, Kernel, Order};
use load::{Load, Loads, Store};
use shape::{Block, Inner};

pub use arg::{ArgFold, arg_fold};
pub use shape::{Axis, Outer};

/// What elements are combined by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldOp {
    Add,
    Multiply,
    /// A NaN wins.
    Maximum,
    Minimum,
    /// A number wins over NaN.
    Fmax,
    Fmin,
    And,
    Or,
    Xor,
}

/// The operator that a ufunc of NumPy's folds by, computed in a type: bools are added by `or`. Nothing where there is none: extremes of complex
/// numbers, sums in 16-bit floats, truth of what is no bool.
pub fn find(ufunc: &str, compute: Scalar) -> Option<FoldOp> {
    let is_bool = compute == Scalar::Bool;
    let op = match ufunc {
        "add" | "logical_or" if is_bool => FoldOp::Or,
        "multiply" | "logical_and" if is_bool => FoldOp::And,
        "logical_xor" if is_bool => FoldOp::Xor,
        "maximum" | "fmax" if is_bool => FoldOp::Or,
        "minimum" | "fmin" if is_bool => FoldOp::And,
        "add" => FoldOp::Add,
        "multiply" => FoldOp::Multiply,
        "fmax" if compute.is_float() => FoldOp::Fmax,
        "fmin" if compute.is_float() => FoldOp::Fmin,
        "maximum" | "fmax" => FoldOp::Maximum,
        "minimum" | "fmin" => FoldOp::Minimum,
        "bitwise_and" => FoldOp::And,
        "bitwise_or" => FoldOp::Or,
        "bitwise_xor" => FoldOp::Xor,
        _ => return None,
    };
    kernel::find(op, computed_in(op, compute)).map(|_| op)
}

/// 16-bit floats are compared as float32, which is exact.
fn computed_in(op: FoldOp, compute: Scalar) -> Scalar {
    match op {
        FoldOp::Maximum | FoldOp::Minimum | FoldOp::Fmax | FoldOp::Fmin if compute.is_half() => Scalar::F32,
        _ => compute,
    }
}

/// The types of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types {
    /// Of the input's elements, which are converted while they are loaded.
    pub elem: Scalar,
    pub compute: Scalar,
    /// Of the results: the type computed in, or a 16-bit float where that is float32.
    pub result: Scalar,
}

impl Types {
    /// All the same.
    pub fn all(scalar: Scalar) -> Types {
        Types {
            elem: scalar,
            compute: scalar,
            result: scalar,
        }
    }
}

/// What lies side by side in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The elements of a point.
    Along,
    /// Points of the result.
    Across,
}

/// Points of the result are worth being neighbours in vectors from here on.
const FEW: u64 = 8;
/// Fewer elements than this are not worth vectors of their own.
const SHORT: u64 = 16;
/// Bytes of a row of points whose 32 chains lie in the second-level cache.
const PANEL: u64 = 4096;
/// Elements of a unit whose points are folded one after the other, at the least where there are so many.
const UNIT: u64 = 1 << 16;

/// A fold of certain types, extents and strides.
#[derive(Clone, Debug)]
pub struct Fold {
    kernel: Kernel,
    /// Where elements are not computed with as they lie.
    load: Load,
    same: bool,
    store: Store,
    others: Vec<Outer>,
    lanes: Outer,
    panel: u64,
    inner: Inner,
    form: Form,
}

impl Fold {
    /// Nothing where the operator is not defined for the type computed in, or elements or results cannot be converted here: these are cast
    /// before and after.
    pub fn new(op: FoldOp, types: Types, outer: &[Outer], inner: &[Axis]) -> Option<Fold> {
        let compute = computed_in(op, types.compute);
        if compute != types.compute && types.result != types.compute {
            return None;
        }
        let kernel = kernel::find(op, compute)?;
        let load = load::find(types.elem, compute)?;
        let store = load::storing(compute, types.result)?;
        let inner = match kernel.order {
            Order::Free => Inner::free(inner),
            Order::Fixed | Order::Sequence => Inner::ordered(inner),
        };
        let (others, lanes) = shape::outer(outer);
        let form = form(&inner, lanes);
        let (points, size) = (inner.points().max(1), kernel.size as u64);
        let widest = match form {
            Form::Along => (UNIT / points).clamp(1, 1024),
            Form::Across => PANEL / size,
        };
        let panel = match lanes.extent.div_ceil(widest) {
            0 | 1 => lanes.extent.max(1),
            panels => lanes.extent.div_ceil(panels).next_multiple_of(SHORT).min(widest),
        };
        Some(Fold {
            kernel,
            load,
            same: types.elem.size() == kernel.size && (types.elem == compute || types.elem.is_int() && compute.is_int()),
            store,
            others,
            lanes,
            panel,
            inner,
            form,
        })
    }

    /// Into how many units the points of the result are cut.
    pub fn units(&self) -> u64 {
        self.others
            .iter()
            .fold(self.panels(), |units, axis| units.saturating_mul(axis.extent))
    }

    fn panels(&self) -> u64 {
        self.lanes.extent.div_ceil(self.panel)
    }

    /// Elements that are folded for a unit.
    pub fn elements_per_unit(&self) -> u64 {
        self.panel.saturating_mul(self.inner.points())
    }

    /// Folds the elements of some units.
    ///
    /// # Safety
    /// Every element that extents and strides reach from `input` can be read, every place that they reach from `out` can be written, and nobody
    /// writes to either meanwhile.
    pub unsafe fn run(&self, input: *const u8, out: *mut u8, units: Range<u64>) {
        let mut scratch = Scratch::take(self);
        for unit in units {
            let place = self.place(unit);
            let totals = scratch.totals;
            // SAFETY: the caller's promise; the scratch memory has room for a unit.
            unsafe {
                let from = input.offset(place.input as isize);
                match self.chunks() {
                    1 => self.fold_chunk(from, place.points, 0, totals, &mut scratch),
                    chunks => {
                        (self.kernel.clear)(Clear {
                            to: totals,
                            count: place.points,
                        });
                        for chunk in 0..chunks {
                            let part = scratch.part;
                            self.fold_chunk(from, place.points, chunk, part, &mut scratch);
                            (self.kernel.join)(Join {
                                into: totals,
                                base: totals,
                                from: part,
                                count: place.points,
                            });
                        }
                    }
                }
                self.finish(totals, place.points, out.offset(place.output as isize));
            }
        }
    }

    /// Into how many chunks the elements of each point are cut. Each may be folded by itself ([`Fold::part`]), and then all are joined
    /// ([`Fold::join`]).
    pub fn chunks(&self) -> u64 {
        match self.kernel.order {
            Order::Sequence => 1,
            Order::Free | Order::Fixed => self.inner.cut.chunks(),
        }
    }

    /// Bytes of what a chunk of a unit is folded to.
    pub fn part_size(&self) -> usize {
        self.panel as usize * self.kernel.size
    }

    /// Folds one chunk of a unit's elements into memory that is aligned to 16 bytes and has room for [`Fold::part_size`].
    ///
    /// # Safety
    /// As for [`Fold::run`].
    pub unsafe fn part(&self, input: *const u8, unit: u64, chunk: u64, part: *mut u8) {
        let mut scratch = Scratch::take(self);
        let place = self.place(unit);
        // SAFETY: the caller's promise.
        unsafe { self.fold_chunk(input.offset(place.input as isize), place.points, chunk, part, &mut scratch) };
    }

    /// Joins the parts of all chunks of a unit, which lie one behind the other, and stores the results.
    ///
    /// # Safety
    /// As for [`Fold::run`].
    pub unsafe fn join(&self, unit: u64, parts: *const u8, out: *mut u8) {
        let scratch = Scratch::take(self);
        let (place, totals) = (self.place(unit), scratch.totals);
        // SAFETY: the caller's promise; the scratch memory has room for a unit.
        unsafe {
            match self.chunks() {
                1 => parts.copy_to_nonoverlapping(totals, place.points * self.kernel.size),
                chunks => {
                    (self.kernel.clear)(Clear {
                        to: totals,
                        count: place.points,
                    });
                    for chunk in 0..chunks as usize {
                        (self.kernel.join)(Join {
                            into: totals,
                            base: totals,
                            from: parts.add(chunk * self.part_size()),
                            count: place.points,
                        });
                    }
                }
            }
            self.finish(totals, place.points, out.offset(place.output as isize));
        }
    }

    fn place(&self, unit: u64) -> Place {
        let (panels, mut rest) = (self.panels().max(1), unit);
        let first = rest % panels * self.panel;
        rest /= panels;
        let mut place = Place {
            input: self.inner.offset + first as i64 * self.lanes.input,
            output: first as i64 * self.lanes.output,
            points: self.panel.min(self.lanes.extent - first) as usize,
        };
        for axis in self.others.iter().rev() {
            let at = (rest % axis.extent) as i64;
            place.input += at * axis.input;
            place.output += at * axis.output;
            rest /= axis.extent;
        }
        place
    }

    unsafe fn finish(&self, totals: *mut u8, points: usize, out: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            if let Some(start) = self.kernel.start {
                start(Clear { to: totals, count: points });
            }
            (self.store)(totals, points, out, self.lanes.output);
        }
    }

    unsafe fn fold_chunk(&self, from: *const u8, points: usize, chunk: u64, part: *mut u8, scratch: &mut Scratch) {
        let across = Across { fold: self, from, points };
        // SAFETY: by contract.
        unsafe { (self.kernel.clear)(Clear { to: part, count: points }) };
        let mut take = |block| match self.form {
            // SAFETY: by contract.
            Form::Along => unsafe { self.along(from, points, block, part, scratch) },
            // SAFETY: by contract.
            Form::Across => unsafe { across.block(block, part, scratch) },
        };
        match self.kernel.order {
            Order::Sequence => (0..self.inner.cut.chunks()).for_each(|chunk| self.inner.blocks(chunk, &mut take)),
            Order::Free | Order::Fixed => self.inner.blocks(chunk, take),
        }
    }

    /// Folds a block of each of some points, one point after the other.
    unsafe fn along(&self, from: *const u8, points: usize, block: Block, into: *mut u8, scratch: &mut Scratch) {
        let step = self.inner.columns.stride;
        let side_by_side = self.same && (step == self.kernel.size as i64 || block.columns == 1);
        let row_stride = if block.rows == 1 { Some(0) } else { self.inner.row_stride() };
        let first = self.inner.row_offset(block.row) + block.column as i64 * step;
        let mut blocks = Blocks {
            // SAFETY: by contract.
            from: unsafe { from.offset(first as isize) },
            count: points,
            stride: self.lanes.input,
            rows: block.rows as usize,
            row_stride: row_stride.unwrap_or(0),
            columns: block.columns as usize,
            size: self.kernel.size,
            into,
        };
        if let (true, Some(_)) = (side_by_side, row_stride) {
            // SAFETY: by contract.
            return unsafe { self.kernel.blocks(blocks) };
        }
        blocks.row_stride = (block.columns as usize * self.kernel.size) as i64;
        blocks.count = 1;
        blocks.from = scratch.tile;
        for point in 0..points {
            // SAFETY: by contract; a tile has room for a block.
            unsafe {
                self.gather(from.offset((point as i64 * self.lanes.input) as isize), block, scratch.tile);
                self.kernel.blocks(Blocks {
                    into: into.add(point * self.kernel.size),
                    ..blocks
                });
            }
        }
    }

    /// Loads the elements of a block, one behind the other.
    unsafe fn gather(&self, from: *const u8, block: Block, to: *mut u8) {
        let Axis { stride, .. } = self.inner.columns;
        let load = |offset: i64, count: u64, to: *mut u8| {
            let loads = Loads {
                // SAFETY: by contract.
                from: unsafe { from.offset(offset as isize) },
                stride,
                count: count as usize,
                to,
            };
            // SAFETY: by contract.
            unsafe { (self.load)(loads) };
        };
        let first = self.inner.row_offset(block.row) + block.column as i64 * stride;
        if block.rows == 1 || self.inner.row_stride() == Some(block.columns as i64 * stride) {
            return load(first, block.rows * block.columns, to);
        }
        for row in 0..block.rows {
            // SAFETY: a tile has room for a block.
            let to = unsafe { to.add((row * block.columns) as usize * self.kernel.size) };
            load(self.inner.row_offset(block.row + row), block.columns, to);
        }
    }
}

/// Where a unit's points are.
#[derive(Clone, Copy, Debug)]
struct Place {
    input: i64,
    output: i64,
    points: usize,
}

/// Neighbouring points, folded side by side.
struct Across<'a> {
    fold: &'a Fold,
    from: *const u8,
    points: usize,
}

impl Across<'_> {
    /// Folds a block of each point.
    unsafe fn block(&self, block: Block, into: *mut u8, scratch: &mut Scratch) {
        // SAFETY: by contract; a tile and the chains have room.
        unsafe {
            match self.fold.kernel.order {
                Order::Fixed => self.chains(block, into, scratch),
                Order::Free | Order::Sequence => {
                    for row in block.row..block.row + block.rows {
                        let mut place = into.cast_const();
                        self.chain((row, block.column, 1), block.columns, (into, &mut place), scratch.tile);
                    }
                }
            }
        }
    }

    /// Folds the 32 chains of a block, and these as a tree.
    unsafe fn chains(&self, block: Block, into: *mut u8, scratch: &Scratch) {
        let size = self.points * self.fold.kernel.size;
        let memory = |k: u64| scratch.chains.wrapping_add(k as usize * size);
        // Where what a chain holds lies: of one element where that lies.
        let mut held = [std::ptr::null(); CHAINS as usize];
        for row in block.row..block.row + block.rows {
            // SAFETY: by contract.
            unsafe { self.row(row, block, &memory, &mut held, scratch.tile) };
        }
        let (chains, mut left) = (CHAINS.min(block.columns), CHAINS / 2);
        while left > 0 {
            for k in 0..left.min(chains.saturating_sub(left)) {
                let (base, from) = (held[k as usize], held[(k + left) as usize]);
                // SAFETY: by contract.
                unsafe { self.join(memory(k), base, from) };
                held[k as usize] = memory(k);
            }
            left /= 2;
        }
        // SAFETY: by contract.
        unsafe { self.join(into, into, held[0]) };
    }

    unsafe fn join(&self, into: *mut u8, base: *const u8, from: *const u8) {
        let count = self.points;
        // SAFETY: by contract.
        unsafe { (self.fold.kernel.join)(Join { into, base, from, count }) };
    }

    /// Takes in a row of elements, four of a chain at a time: chains are written less often than memory is read, and that is still read as it
    /// lies, in four places.
    unsafe fn row(&self, row: u64, block: Block, memory: &dyn Fn(u64) -> *mut u8, held: &mut [*const u8], tile: *mut u8) {
        for group in (0..block.columns).step_by(4 * CHAINS as usize) {
            let left = block.columns - group;
            for k in 0..CHAINS.min(left) {
                let count = (left - k).div_ceil(CHAINS).min(4);
                let chain = (memory(k), &mut held[k as usize]);
                // SAFETY: by contract; there is room for the chains.
                unsafe { self.chain((row, block.column + group + k, CHAINS), count, chain, tile) };
            }
        }
    }

    /// Joins elements of a row, from a column on in steps, with those that are held so far, if there are any.
    unsafe fn chain(&self, (row, column, step): (u64, u64, u64), count: u64, (into, held): (*mut u8, &mut *const u8), tile: *mut u8) {
        let (kernel, stride) = (&self.fold.kernel, self.fold.inner.columns.stride);
        let first = self.fold.inner.row_offset(row) + column as i64 * stride;
        let size = self.points * kernel.size;
        let at = |n: u64, tile: *mut u8| {
            // SAFETY: by contract.
            unsafe { self.points_at(self.from.offset((first + (n * step) as i64 * stride) as isize), tile) }
        };
        let mut n = 0;
        if held.is_null() {
            (*held, n) = (at(0, into), 1);
        }
        while n < count {
            // SAFETY: by contract; a tile has room for four.
            unsafe {
                if count - n < 4 || *held != into.cast_const() {
                    self.join(into, *held, at(n, tile));
                    (*held, n) = (into, n + 1);
                    continue;
                }
                let from = [0, 1, 2, 3].map(|slot| at(n + slot as u64, tile.add(slot * size)));
                let count = self.points;
                (kernel.join4)(Join4 { into, from, count });
                n += 4;
            }
        }
    }

    /// The elements of all points, as they are computed with.
    unsafe fn points_at(&self, from: *const u8, tile: *mut u8) -> *const u8 {
        let stride = self.fold.lanes.input;
        if self.fold.same && (stride == self.fold.kernel.size as i64 || self.points == 1) {
            return from;
        }
        let loads = Loads {
            from,
            stride,
            count: self.points,
            to: tile,
        };
        // SAFETY: by contract.
        unsafe { (self.fold.load)(loads) };
        tile
    }
}

/// Memory of a fold on the way: kept by the thread.
struct Scratch {
    memory: Vec<u128>,
    totals: *mut u8,
    part: *mut u8,
    tile: *mut u8,
    chains: *mut u8,
}

thread_local! {
    static SCRATCH: Cell<Vec<u128>> = const { Cell::new(Vec::new()) };
}

impl Scratch {
    fn take(fold: &Fold) -> Scratch {
        let size = fold.kernel.size;
        let panel = (fold.panel as usize * size).next_multiple_of(64);
        let (tile, chains) = match fold.form {
            Form::Along => (BLOCK as usize * size, 0),
            Form::Across if fold.kernel.order == Order::Fixed => (4 * panel, panel * fold.inner.cut.columns.min(CHAINS) as usize),
            Form::Across => (4 * panel, 0),
        };
        let bytes = 2 * panel + tile + chains;
        let mut memory = SCRATCH.take();
        memory.clear();
        memory.reserve(bytes.div_ceil(size_of::<u128>()));
        let totals = memory.as_mut_ptr().cast::<u8>();
        let part = totals.wrapping_add(panel);
        let tile_at = part.wrapping_add(panel);
        Scratch {
            totals,
            part,
            tile: tile_at,
            chains: tile_at.wrapping_add(tile),
            memory,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        SCRATCH.set(std::mem::take(&mut self.memory));
    }
}

fn form(inner: &Inner, lanes: Outer) -> Form {
    let steps = match inner.columns {
        Axis { extent: 0 | 1, .. } => inner.rows.last().map_or(0, |axis| axis.stride),
        Axis { stride, .. } => stride,
    };
    let nearer = lanes.input.unsigned_abs() < steps.unsigned_abs();
    match lanes.extent >= FEW && (nearer || inner.points() < SHORT) {
        true => Form::Across,
        false => Form::Along,
    }
}

/// Folds the elements along the inner axes for every point of the outer ones; says whether it could (see [`Fold::new`]).
///
/// # Safety
/// As for [`Fold::run`].
pub unsafe fn fold(op: FoldOp, types: Types, input: *const u8, outer: &[Outer], inner: &[Axis], out: *mut u8) -> bool {
    let Some(fold) = Fold::new(op, types, outer, inner) else {
        return false;
    };
    // SAFETY: the caller's promise.
    unsafe { fold.run(input, out, 0..fold.units()) };
    true
}
