//! Tier 0: runs a program operation by operation over tiles that stay in the cache, with loops that were made when Weft was built.

#![allow(unsafe_code)] // Operands are places in memory that programs keep alive.

use std::cell::RefCell;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use weft_ir::Scalar;
use weft_tile::{Arg, Rows};

use crate::compiled;
use crate::dims::{self, Strides};
use crate::error::{Error, Result};
use crate::flat;
use crate::machine;
use crate::memory::{Block, Piece};
use crate::program::{Program, Slot, Step};

/// Bytes of a register at the most, so that those of a program stay in the first cache.
pub const TILE: usize = 8192;
/// Rows that are shorter than this share a tile.
const SHORT: u64 = 128;

/// Where results go.
#[derive(Clone, Debug)]
pub struct Target {
    pub elem: Scalar,
    pub address: u64,
    pub strides: Strides,
    /// How many results there are.
    pub points: u64,
    /// The memory, where it is not the CPU's.
    pub block: Option<Arc<Block>>,
}

impl Target {
    /// Places in a piece of memory from an offset on.
    pub fn of(elem: Scalar, piece: &Piece, offset: i64, shape: &[u64], strides: Strides) -> Target {
        Target {
            elem,
            address: piece.address().wrapping_add_signed(offset),
            strides,
            points: dims::size(shape).unwrap_or(0),
            block: (piece.block.device() != machine::CPU).then(|| piece.block.clone()),
        }
    }

    /// The device that it is on.
    pub fn device(&self) -> u8 {
        self.block.as_ref().map_or(machine::CPU, |block| block.device())
    }
}

thread_local! {
    /// Registers, kept from run to run.
    static ROOM: RefCell<Vec<[u64; 2]>> = const { RefCell::new(Vec::new()) };
}

/// Computes the program's result at every point and stores it. All operands are addressed by the host.
pub fn run(program: &Program, target: &Target) -> Result<()> {
    if program.extents.contains(&0) {
        return Ok(());
    }
    if flat::run(program, target)? {
        return Ok(());
    }
    let walk = Walk::new(program, target);
    let plan = Registers::new(program, &walk);
    with_room(plan.count * walk.tile_words(), |room| {
        Machine {
            program,
            walk: &walk,
            plan: &plan,
            room,
        }
        .run()
    })
}

/// Runs one step over a tile: `place` says where each operand is, and whether it is one number for all points. The result has a place apart.
pub fn apply(step: &Step, to: *mut u8, place: &dyn Fn(Slot) -> (u64, bool), count: u64) -> Result<()> {
    let Some(run) = step.operation.tile else {
        let args: SmallVec<[(u64, bool); 3]> = step.args.iter().map(|slot| place(*slot)).collect();
        return step.operation.single.run(step.operation, to as u64, &args, count);
    };
    let arg = |slot: &Slot| match place(*slot) {
        (address, true) => Arg::one(address as *const u8),
        (address, false) => Arg::run(address as *const u8),
    };
    let args: SmallVec<[Arg; 3]> = step.args.iter().map(arg).collect();
    // SAFETY: operands are tiles of so many elements, or one; results have registers of their own, or a place apart.
    unsafe { (run.run)(to, args.as_ptr(), count as usize) };
    Ok(())
}

/// Lends so many words for registers.
pub fn with_room<T>(words: usize, work: impl FnOnce(*mut u8) -> Result<T>) -> Result<T> {
    ROOM.with(|room| {
        let Ok(mut room) = room.try_borrow_mut() else {
            return Err(Error::Internal("tiles are computed within tiles".into()));
        };
        // Vectors are loaded faster where they do not straddle lines of the cache.
        const LINE: usize = 64;
        let words = words + LINE / 16;
        if room.len() < words {
            room.resize(words, [0; 2]);
        }
        let start = room.as_mut_ptr().cast::<u8>();
        work(start.wrapping_add(start.align_offset(LINE)))
    })
}

/// The axes that are left when those are merged along which all operands move as along one; and what moves along them.
struct Walk {
    extents: SmallVec<[u64; 4]>,
    /// Loads, then iotas (in indices, not bytes), then the target.
    moving: SmallVec<[Moving; 6]>,
    loads: usize,
    /// Points of a tile, and rows of the last axis in one.
    tile: u64,
    rows: u64,
    item: usize,
}

struct Moving {
    start: i64,
    strides: Strides,
}

impl Walk {
    fn new(program: &Program, target: &Target) -> Walk {
        let rank = program.extents.len();
        let mut moving: SmallVec<[Moving; 6]> = SmallVec::new();
        for load in &program.loads {
            moving.push(Moving {
                start: load.address() as i64,
                strides: load.strides.clone(),
            });
        }
        for iota in &program.iotas {
            let mut strides: Strides = smallvec![0; rank];
            if let Some(axis) = iota.along {
                strides[axis as usize] = iota.by;
            }
            moving.push(Moving {
                start: iota.first,
                strides,
            });
        }
        moving.push(Moving {
            start: target.address as i64,
            strides: target.strides.clone(),
        });
        let extents = merge(&program.extents, &mut moving);
        let item = (program.loads.iter().map(|load| load.elem))
            .chain(program.steps.iter().map(|step| step.operation.result))
            .chain(program.iotas.iter().map(|iota| iota.elem))
            .chain([target.elem])
            .map(Scalar::size)
            .max()
            .unwrap_or(1);
        let most = (TILE / item) as u64;
        let inner = extents.last().copied().unwrap_or(1);
        let outer = extents[..extents.len().saturating_sub(1)].iter().product::<u64>();
        let rows = if inner < SHORT { (most / inner).clamp(1, outer) } else { 1 };
        Walk {
            tile: (inner * rows).min(most.max(inner.min(SHORT) * rows)),
            rows,
            extents,
            moving,
            loads: program.loads.len(),
            item,
        }
    }

    fn inner(&self) -> u64 {
        self.extents.last().copied().unwrap_or(1)
    }

    /// 16-byte words of a register.
    fn tile_words(&self) -> usize {
        (self.tile as usize * self.item).div_ceil(64) * 4
    }

    fn stride(&self, moving: usize) -> i64 {
        self.moving[moving].strides.last().copied().unwrap_or(0)
    }
}

/// Drops axes of length 1, orders the others by the last operand's strides, merges neighbours.
fn merge(shape: &[u64], moving: &mut [Moving]) -> SmallVec<[u64; 4]> {
    let Some((target, _)) = moving.split_last() else {
        return SmallVec::new();
    };
    let mut order: SmallVec<[usize; 4]> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    if !order.is_sorted_by_key(|&axis| std::cmp::Reverse(target.strides[axis].unsigned_abs())) {
        order.sort_by_key(|&axis| std::cmp::Reverse(target.strides[axis].unsigned_abs()));
    }
    let mut extents: SmallVec<[u64; 4]> = SmallVec::new();
    // The innermost axis of each group.
    let mut groups: SmallVec<[usize; 4]> = SmallVec::new();
    for axis in order {
        let as_one = |&outer: &usize| {
            moving
                .iter()
                .all(|m| Some(m.strides[outer]) == m.strides[axis].checked_mul(shape[axis] as i64))
        };
        match (groups.last_mut(), extents.last_mut()) {
            (Some(group), Some(extent)) if as_one(group) => {
                *group = axis;
                *extent *= shape[axis];
            }
            _ => {
                groups.push(axis);
                extents.push(shape[axis]);
            }
        }
    }
    for m in moving {
        m.strides = groups.iter().map(|&axis| m.strides[axis]).collect();
    }
    extents
}

/// Which register each value is in, from when it is made until it is last read.
struct Registers {
    count: usize,
    /// Of loads that lie apart, of iotas, of steps.
    loads: SmallVec<[Option<u16>; 6]>,
    iotas: SmallVec<[u16; 2]>,
    steps: SmallVec<[u16; 16]>,
    /// The last step writes where the result goes.
    direct: bool,
}

impl Registers {
    fn new(program: &Program, walk: &Walk) -> Registers {
        let mut uses = Uses::of(program);
        let mut free: SmallVec<[u16; 16]> = SmallVec::new();
        let mut count = 0u16;
        let mut take = |free: &mut SmallVec<[u16; 16]>| {
            free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            })
        };
        // Registers are aligned; what lies elsewhere may not be.
        let singles = program.has_singles();
        let fits = |moving: usize, elem: Scalar| {
            let Moving { start, strides } = &walk.moving[moving];
            !singles || compiled::lies_aligned(*start as u64, strides, elem, machine::CPU)
        };
        let loads: SmallVec<[Option<u16>; 6]> = (program.loads.iter().enumerate())
            .map(|(at, load)| {
                let stride = walk.stride(at);
                let in_place =
                    walk.rows == 1 && fits(at, load.elem) && (stride == 0 || stride == load.elem.size() as i64 || walk.inner() == 1);
                (!in_place).then(|| take(&mut free))
            })
            .collect();
        let iotas: SmallVec<[u16; 2]> = program.iotas.iter().map(|_| take(&mut free)).collect();
        let mut steps: SmallVec<[u16; 16]> = SmallVec::new();
        for (at, step) in program.steps.iter().enumerate() {
            // An operand's register is free for the next step, not for this one's result.
            steps.push(take(&mut free));
            for &arg in &step.args {
                if !uses.ends(arg, at as u16) {
                    continue;
                }
                match arg {
                    Slot::Load(load) => free.extend(loads[load as usize]),
                    Slot::Iota(iota) => free.push(iotas[iota as usize]),
                    Slot::Step(step) => free.push(steps[step as usize]),
                    Slot::Constant(_) => {}
                }
            }
        }
        let target = walk.moving.len() - 1;
        let last_step = Slot::Step((program.steps.len() as u16).wrapping_sub(1));
        let item = program.result.map_or(0, |slot| program.elem(slot).size() as i64);
        let out = walk.moving[target].start;
        let apart = !walk.moving[..walk.loads].iter().any(|m| m.start == out);
        let fits = program.result.is_some_and(|slot| fits(target, program.elem(slot)));
        let direct =
            walk.rows == 1 && fits && program.result == Some(last_step) && apart && (walk.stride(target) == item || walk.inner() == 1);
        Registers {
            count: count as usize,
            loads,
            iotas,
            steps,
            direct,
        }
    }
}

/// The last step that reads each value, behind the number of all steps that of the result, which is read when all is done.
struct Uses {
    loads: SmallVec<[u16; 8]>,
    iotas: SmallVec<[u16; 2]>,
    steps: SmallVec<[u16; 64]>,
}

impl Uses {
    fn of(program: &Program) -> Uses {
        let mut uses = Uses {
            loads: smallvec![0; program.loads.len()],
            iotas: smallvec![0; program.iotas.len()],
            steps: smallvec![0; program.steps.len()],
        };
        for (at, step) in program.steps.iter().enumerate() {
            step.args.iter().for_each(|&arg| uses.note(arg, at as u16));
        }
        if let Some(result) = program.result {
            uses.note(result, u16::MAX);
        }
        uses
    }

    fn note(&mut self, slot: Slot, at: u16) {
        match slot {
            Slot::Load(load) => self.loads[load as usize] = at,
            Slot::Iota(iota) => self.iotas[iota as usize] = at,
            Slot::Step(step) => self.steps[step as usize] = at,
            Slot::Constant(_) => {}
        }
    }

    /// Is this step the last to read the value? Then it is not asked for again.
    fn ends(&mut self, slot: Slot, at: u16) -> bool {
        let last = match slot {
            Slot::Load(load) => &mut self.loads[load as usize],
            Slot::Iota(iota) => &mut self.iotas[iota as usize],
            Slot::Step(step) => &mut self.steps[step as usize],
            Slot::Constant(_) => return false,
        };
        // A step may have the same operand twice.
        let ends = *last == at;
        if ends {
            *last = u16::MAX;
        }
        ends
    }
}

/// Neighbouring rows: where the first one is, and how many there are.
struct Run {
    places: SmallVec<[i64; 6]>,
    rows: u64,
}

struct Machine<'a> {
    program: &'a Program,
    walk: &'a Walk,
    plan: &'a Registers,
    room: *mut u8,
}

impl Machine<'_> {
    fn run(&self) -> Result<()> {
        let inner = self.walk.inner();
        let outer = &self.walk.extents[..self.walk.extents.len().saturating_sub(1)];
        let rows: u64 = outer.iter().product();
        let mut point: SmallVec<[u64; 4]> = smallvec![0; outer.len()];
        let mut places: SmallVec<[i64; 6]> = self.walk.moving.iter().map(|m| m.start).collect();
        if self.walk.rows == 1 {
            for _ in 0..rows {
                let mut done = 0;
                while done < inner {
                    let count = self.walk.tile.min(inner - done);
                    let at = |moving: usize| places[moving] + done as i64 * self.walk.stride(moving);
                    self.tile(&at, count)?;
                    done += count;
                }
                self.step(&mut point, &mut places);
            }
            return Ok(());
        }
        self.short_rows(rows, places)
    }

    /// Tiles of several rows: runs of these along the last axis but one.
    fn short_rows(&self, rows: u64, mut places: SmallVec<[i64; 6]>) -> Result<()> {
        // Tiles of several rows are of more than one axis (`Walk::new`).
        let axis = self.walk.extents.len() - 2;
        let extent = self.walk.extents[axis];
        let mut point: SmallVec<[u64; 4]> = smallvec![0; axis];
        let (mut done, mut at) = (0, 0);
        let mut runs: Vec<Run> = Vec::new();
        while done < rows {
            runs.clear();
            let mut room = self.walk.rows;
            while room > 0 && done < rows {
                let some = room.min(extent - at);
                runs.push(Run {
                    places: places.clone(),
                    rows: some,
                });
                (done, at, room) = (done + some, at + some, room - some);
                let back = if at == extent { extent } else { 0 };
                for (place, moving) in places.iter_mut().zip(&self.walk.moving) {
                    let steps = some as i64 - back as i64;
                    *place = place.wrapping_add(moving.strides[axis].wrapping_mul(steps));
                }
                if back != 0 {
                    at = 0;
                    self.step(&mut point, &mut places);
                }
            }
            self.packed(&runs)?;
        }
        Ok(())
    }

    /// To the next row.
    fn step(&self, point: &mut [u64], places: &mut [i64]) {
        for axis in (0..point.len()).rev() {
            point[axis] += 1;
            let back = point[axis] == self.walk.extents[axis];
            for (place, moving) in places.iter_mut().zip(&self.walk.moving) {
                let stride = moving.strides[axis];
                *place = match back {
                    true => place.wrapping_sub(stride.wrapping_mul(self.walk.extents[axis] as i64 - 1)),
                    false => place.wrapping_add(stride),
                };
            }
            if !back {
                return;
            }
            point[axis] = 0;
        }
    }

    fn register(&self, at: u16) -> *mut u8 {
        // SAFETY: there is room for as many registers as the plan has.
        unsafe { self.room.add(at as usize * self.walk.tile_words() * 16) }
    }

    /// A part of one row.
    fn tile(&self, at: &dyn Fn(usize) -> i64, count: u64) -> Result<()> {
        for (load, what) in self.program.loads.iter().enumerate() {
            if let Some(register) = self.plan.loads[load] {
                // SAFETY: the program's operands reach over all points, and registers have room for a tile.
                unsafe {
                    weft_tile::load(what.elem)(
                        self.register(register),
                        at(load) as *const u8,
                        self.walk.stride(load) as isize,
                        count as usize,
                    )
                };
            }
        }
        for iota in 0..self.program.iotas.len() {
            self.count(
                iota,
                at(self.walk.loads + iota),
                self.walk.stride(self.walk.loads + iota),
                self.register(self.plan.iotas[iota]),
                count,
            );
        }
        let arg = |slot: Slot| self.arg(slot, at, count);
        let target = self.walk.moving.len() - 1;
        self.steps(&arg, self.plan.direct.then(|| at(target) as *mut u8), count)?;
        if !self.plan.direct {
            self.store(at(target), self.walk.stride(target), 0, count, &arg);
        }
        Ok(())
    }

    /// Several short rows, which lie one behind the other in registers.
    fn packed(&self, runs: &[Run]) -> Result<()> {
        let inner = self.walk.inner();
        let mut count = 0;
        for run in runs {
            let offset = (count * inner) as usize;
            for (load, what) in self.program.loads.iter().enumerate() {
                if let Some(register) = self.plan.loads[load] {
                    // SAFETY: as in `tile`.
                    unsafe {
                        let to = self.register(register).add(offset * what.elem.size());
                        weft_tile::load_rows(what.elem)(to, run.places[load] as *const u8, self.rows(load, run));
                    }
                }
            }
            for (iota, what) in self.program.iotas.iter().enumerate() {
                // SAFETY: as above.
                let to = unsafe { self.register(self.plan.iotas[iota]).add(offset * what.elem.size()) };
                self.count_rows(iota, run, to);
            }
            count += run.rows;
        }
        let points = inner * count;
        let arg = |slot: Slot| self.arg(slot, &|_| 0, points);
        self.steps(&arg, None, points)?;
        self.store_runs(runs, &arg);
        Ok(())
    }

    /// How the rows of a run lie.
    fn rows(&self, moving: usize, run: &Run) -> Rows {
        let strides = &self.walk.moving[moving].strides;
        Rows {
            rows: run.rows as usize,
            row_stride: strides[strides.len() - 2] as isize,
            n: self.walk.inner() as usize,
            stride: self.walk.stride(moving) as isize,
        }
    }

    /// Numbers of an iota at the points of a run.
    fn count_rows(&self, iota: usize, run: &Run, to: *mut u8) {
        let moving = self.walk.loads + iota;
        let Rows { row_stride, n, stride, .. } = self.rows(moving, run);
        let (first, unit) = (run.places[moving], n * self.program.iotas[iota].elem.size());
        // Rows differ where it counts along their axis.
        let different = if row_stride == 0 { 1 } else { run.rows };
        for row in 0..different {
            // SAFETY: registers have room for a tile.
            let to = unsafe { to.add(row as usize * unit) };
            self.count(
                iota,
                first.wrapping_add(row_stride as i64 * row as i64),
                stride as i64,
                to,
                n as u64,
            );
        }
        if row_stride == 0 {
            // SAFETY: as above; the first row has been counted.
            unsafe { weft_tile::repeat(to, unit, run.rows as usize) };
        }
    }

    /// Copies the result of runs to where it goes.
    fn store_runs(&self, runs: &[Run], arg: &dyn Fn(Slot) -> (u64, bool)) {
        let (Some(result), target) = (self.program.result, self.walk.moving.len() - 1) else {
            return;
        };
        let (elem, (address, one), inner) = (self.program.elem(result), arg(result), self.walk.inner());
        let mut count = 0;
        for run in runs {
            let rows = self.rows(target, run);
            let offset = (count * inner) as usize;
            match one {
                true => (0..run.rows).for_each(|row| {
                    let to = run.places[target].wrapping_add(rows.row_stride as i64 * row as i64);
                    self.store(to, rows.stride as i64, 0, inner, arg);
                }),
                // SAFETY: the target reaches over all points; the result has as many elements.
                false => unsafe {
                    let from = (address as *const u8).add(offset * elem.size());
                    weft_tile::store_rows(elem)(run.places[target] as *mut u8, from, rows);
                },
            }
            count += run.rows;
        }
    }

    /// Numbers of an iota, from an index on.
    fn count(&self, iota: usize, first: i64, by: i64, to: *mut u8, count: u64) {
        let what = &self.program.iotas[iota];
        let Some(run) = weft_tile::iota(what.elem) else { return };
        let one = |first: &i64, to: *mut u8, count: u64| {
            let place = |bits: &[u64; 2]| Arg::one(bits.as_ptr().cast());
            let args = [place(&what.start), place(&what.step), Arg::one(std::ptr::from_ref(first).cast())];
            // SAFETY: three operands of one element each, and a register with room for the numbers.
            unsafe { (run.run)(to, args.as_ptr(), count as usize) };
        };
        match by {
            1 => one(&first, to, count),
            0 if count > 0 => {
                one(&first, to, 1);
                // SAFETY: inside of the register, whose first number has been counted.
                unsafe { weft_tile::repeat(to, what.elem.size(), count as usize) };
            }
            _ => (0..count).for_each(|i| {
                // SAFETY: inside of the register.
                let to = unsafe { to.add(i as usize * what.elem.size()) };
                one(&first.wrapping_add(by.wrapping_mul(i as i64)), to, 1);
            }),
        }
    }

    /// A value's place in a tile, and whether it is one number for all points.
    fn arg(&self, slot: Slot, at: &dyn Fn(usize) -> i64, count: u64) -> (u64, bool) {
        match slot {
            Slot::Constant(constant) => (self.program.constants[constant as usize].1.as_ptr() as u64, true),
            Slot::Iota(iota) => (self.register(self.plan.iotas[iota as usize]) as u64, false),
            Slot::Step(step) => (self.register(self.plan.steps[step as usize]) as u64, false),
            Slot::Load(load) => match self.plan.loads[load as usize] {
                Some(register) => (self.register(register) as u64, false),
                None => (at(load as usize) as u64, self.walk.stride(load as usize) == 0 && count != 1),
            },
        }
    }

    fn steps(&self, arg: &dyn Fn(Slot) -> (u64, bool), last: Option<*mut u8>, count: u64) -> Result<()> {
        let end = self.program.steps.len().wrapping_sub(1);
        for (at, step) in self.program.steps.iter().enumerate() {
            let to = match last {
                Some(target) if at == end => target,
                _ => self.register(self.plan.steps[at]),
            };
            apply(step, to, arg, count)?;
        }
        Ok(())
    }

    /// Copies the result of a tile, from an element of it on, to where it goes.
    fn store(&self, to: i64, stride: i64, from: usize, count: u64, arg: &dyn Fn(Slot) -> (u64, bool)) {
        let Some(result) = self.program.result else { return };
        let elem = self.program.elem(result);
        let (address, one) = arg(result);
        let item = elem.size();
        // SAFETY: the target reaches over all points; the result has as many elements, or is one.
        unsafe {
            match one {
                true => {
                    let mut tile = [0u8; 16 * 64];
                    let each = 64.min(count);
                    weft_tile::load(elem)(tile.as_mut_ptr(), address as *const u8, 0, each as usize);
                    let mut done = 0;
                    while done < count {
                        let some = each.min(count - done);
                        let to = to.wrapping_add(stride.wrapping_mul(done as i64)) as *mut u8;
                        weft_tile::store(elem)(to, stride as isize, tile.as_ptr(), some as usize);
                        done += some;
                    }
                }
                false => {
                    let from = (address as *const u8).add(from * item);
                    weft_tile::store(elem)(to as *mut u8, stride as isize, from, count as usize);
                }
            }
        }
    }
}
