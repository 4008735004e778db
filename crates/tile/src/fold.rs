//! Folds of elements along axes, in the order that the extents fix (`weft_ir::order`): the bits of compiled code.
//!
//! A [`Fold`] is made of extents and strides. Its points are cut into *units* (neighbouring points of the result) and the order's *chunks*: both
//! may be shared among threads.

#![allow(unsafe_code)]

mod across;
mod arg;
mod counts;
mod kernel;
mod load;
mod number;
mod scratch;
mod shape;
mod turned;
mod wide;

use std::ops::Range;

use weft_ir::Scalar;

use across::Across;
use counts::{Count, Counted};
use kernel::{Blocks, Clear, Join, Kernel, Order};
use load::{Load, Loads, Store};
use scratch::Scratch;
use shape::{Block, Inner};

pub use arg::{ArgFold, arg_fold};
pub use counts::are_counted;
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

/// Neighbours in C order that are folded by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Along the only axis.
    Points(Range<u64>),
    /// Of all axes but the last.
    Rows(Range<u64>),
}

impl Chunk {
    pub fn range(self) -> Range<u64> {
        match self {
            Chunk::Points(range) | Chunk::Rows(range) => range,
        }
    }
}

/// Points of the result are worth being neighbours in vectors from here on.
const FEW: u64 = 8;
/// Fewer elements than this are not worth vectors of their own.
const SHORT: u64 = 16;
/// Bytes of a row of points at the most: what memory reads on without a break counts for more than chains that lie in the second cache.
const PANEL: u64 = 65536;
/// Elements of a unit whose points are folded one after the other, at the least where there are so many.
const UNIT: u64 = 1 << 16;

/// A fold of certain types, extents and strides.
#[derive(Clone, Debug)]
pub struct Fold {
    kernel: Kernel,
    /// Where elements are not computed with as they lie.
    load: Load,
    /// Where elements are counted rather than added.
    count: Option<Count>,
    same: bool,
    store: Store,
    others: Vec<Outer>,
    lanes: Outer,
    panel: u64,
    inner: Inner,
    form: Form,
    /// The fold of one row, for rows that are neighbours in memory.
    turned: Option<Box<Fold>>,
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
        let same = types.elem.size() == kernel.size && (types.elem == compute || types.elem.is_int() && compute.is_int());
        let inner = match kernel.order {
            Order::Free => Inner::free(inner),
            Order::Fixed | Order::Sequence => Inner::ordered(inner),
        };
        let (others, lanes) = shape::outer(outer);
        let form = form(&inner, lanes);
        let turned = match (form, kernel.order, turned::rows(&inner)) {
            (Form::Along, Order::Fixed, Some(rows)) => Fold::new(op, types, &[rows], &[inner.columns]).map(Box::new),
            _ => None,
        };
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
            count: counts::find(op, types),
            same,
            store,
            others,
            lanes,
            panel,
            inner,
            form,
            turned,
        })
    }

    /// The same, cut into so many units if that leaves rows of points that are long enough: what several threads share.
    pub fn cut_for(mut self, units: u64) -> Fold {
        const SHORTEST: u64 = 8192;
        let others = self.others.iter().fold(1u64, |units, axis| units.saturating_mul(axis.extent));
        let wanted = units.div_ceil(others.max(1)).max(1);
        if self.form == Form::Across {
            let least = SHORTEST / self.kernel.size as u64;
            let panel = self.lanes.extent.div_ceil(wanted).next_multiple_of(SHORT).max(least);
            self.panel = self.panel.min(panel);
        }
        self
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
                    _ if self.turned.is_some() => self.fold_rows(from, place.points, 0..self.inner.cut.rows, totals),
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

    /// What a chunk has of the elements of each point.
    pub fn chunk(&self, chunk: u64) -> Chunk {
        let units = self.inner.cut.units(chunk);
        match self.inner.cut.has_rows() {
            true => Chunk::Rows(units),
            false => Chunk::Points(units),
        }
    }

    /// Is every point folded from its first element to its last? Then chunks are none by themselves.
    pub fn is_sequence(&self) -> bool {
        self.kernel.order == Order::Sequence
    }

    /// May elements be combined in any order, with the same result?
    pub fn is_free(&self) -> bool {
        self.kernel.order == Order::Free
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
        unsafe {
            let from = input.offset(place.input as isize);
            match self.turned.is_some() {
                true => self.fold_rows(from, place.points, self.inner.cut.units(chunk), part),
                false => self.fold_chunk(from, place.points, chunk, part, &mut scratch),
            }
        }
    }

    /// Joins the parts of all chunks of a unit, which lie so many bytes apart, and stores the results.
    ///
    /// # Safety
    /// As for [`Fold::run`].
    pub unsafe fn join(&self, unit: u64, parts: *const u8, apart: usize, out: *mut u8) {
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
                            from: parts.add(chunk * apart),
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
        // SAFETY: by contract.
        let start = unsafe { from.offset(first as isize) };
        if let (Some(count), 1, Some(row_stride)) = (self.count, step, row_stride) {
            for point in 0..points {
                let counted = Counted {
                    from: start.wrapping_offset((point as i64 * self.lanes.input) as isize),
                    rows: block.rows as usize,
                    row_stride,
                    columns: block.columns as usize,
                    into: into.wrapping_add(point * self.kernel.size),
                };
                // SAFETY: by contract.
                unsafe { count(counted) };
            }
            return;
        }
        let mut blocks = Blocks {
            from: start,
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
