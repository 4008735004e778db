//! Hoisting: what depends on some of the axes only is computed once for these, not once for every point. The sine of a mesh's latitudes is
//! a sine for each latitude.

use smallvec::{SmallVec, smallvec};

use crate::dims;
use crate::error::Result;
use crate::memory::Piece;
use crate::program::{Load, Program, Slot, Step};
use crate::run;
use crate::tiles::Target;

/// It has to have so many points less than all.
const LESS: u64 = 8;

/// The program without what was hoisted, which lies in memory now; none where nothing was.
pub fn hoist(program: &Program, device: u8) -> Result<Option<Program>> {
    hoist_ready(program, device, &|_| true)
}

/// The same where some operands are not there yet: nothing that reads them is hoisted.
pub fn hoist_ready(program: &Program, device: u8, is_ready: &dyn Fn(&Load) -> bool) -> Result<Option<Program>> {
    let long = (program.extents.iter().enumerate())
        .filter(|(_, n)| **n > 1)
        .fold(0u64, |mask, (axis, _)| mask | 1 << axis);
    if (long.count_ones() < 2 && !has_scalars(program)) || program.steps.is_empty() {
        return Ok(None);
    }
    let masks = masks(program);
    let ready = ready(program, is_ready);
    let points = |mask: u64| -> u64 {
        (program.extents.iter().enumerate())
            .filter(|(axis, _)| mask & (1 << axis) != 0)
            .map(|(_, n)| *n)
            .product()
    };
    let few = |mask: u64| mask != long && points(mask).saturating_mul(LESS) <= points(long);
    // Steps that others with more axes read, and that are worth it.
    let mut wanted: SmallVec<[usize; 4]> = smallvec![];
    let mut want = |slot: Slot| {
        if let Slot::Step(at) = slot
            && few(masks[at as usize])
            && ready[at as usize]
            && !wanted.contains(&(at as usize))
            && weight(program, at as usize) > 1
        {
            wanted.push(at as usize);
        }
    };
    for (at, step) in program.steps.iter().enumerate() {
        if !few(masks[at]) || !ready[at] {
            step.args.iter().for_each(|&arg| want(arg));
        }
    }
    if let Some(result) = program.result {
        want(result);
    }
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut loads: SmallVec<[(usize, Load); 4]> = smallvec![];
    for at in wanted {
        loads.push((at, computed(program, at, masks[at], device)?));
    }
    Ok(Some(replaced(program, &loads)))
}

/// Are there operands of one element, of which something is computed?
fn has_scalars(program: &Program) -> bool {
    let is_one = |load: &Load| load.strides.iter().zip(&program.extents).all(|(stride, n)| *stride == 0 || *n == 1);
    program.loads.iter().any(is_one)
}

/// Which steps read nothing but operands that are there.
fn ready(program: &Program, is_ready: &dyn Fn(&Load) -> bool) -> Vec<bool> {
    let mut ready: Vec<bool> = Vec::with_capacity(program.steps.len());
    for step in &program.steps {
        let all = step.args.iter().all(|&arg| match arg {
            Slot::Load(at) => is_ready(&program.loads[at as usize]),
            Slot::Step(at) => ready[at as usize],
            Slot::Constant(_) | Slot::Iota(_) => true,
        });
        ready.push(all);
    }
    ready
}

/// The axes that each step's value depends on.
fn masks(program: &Program) -> Vec<u64> {
    let mut masks: Vec<u64> = Vec::with_capacity(program.steps.len());
    for step in &program.steps {
        let mask = step.args.iter().fold(0, |mask, &arg| mask | program.axes(arg, &masks));
        masks.push(mask);
    }
    masks
}

/// How much it takes to compute a step's value, as far as it matters here.
fn weight(program: &Program, at: usize) -> u32 {
    let step = &program.steps[at];
    let below = step.args.iter().map(|arg| match arg {
        Slot::Step(at) => program.steps[*at as usize].operation.cost,
        Slot::Iota(_) => 1,
        Slot::Load(_) | Slot::Constant(_) => 0,
    });
    step.operation.cost + below.sum::<u32>()
}

/// A step's value at the points of its own axes, in memory.
fn computed(program: &Program, at: usize, mask: u64, device: u8) -> Result<Load> {
    let mut part = needed(program, Slot::Step(at as u16), &[]);
    for (axis, extent) in part.extents.iter_mut().enumerate() {
        if mask & (1 << axis) == 0 {
            *extent = 1;
        }
    }
    let elem = program.steps[at].operation.result;
    let piece = Piece::fresh(device, &part.extents, elem)?;
    let mut strides = dims::dense(&part.extents, elem.size());
    let target = Target::of(elem, &piece, 0, &part.extents, strides.clone());
    run::run(&part, &target)?;
    for (axis, stride) in strides.iter_mut().enumerate() {
        if mask & (1 << axis) == 0 {
            *stride = 0;
        }
    }
    Ok(Load {
        elem,
        piece,
        offset: 0,
        strides,
    })
}

fn replaced(program: &Program, loads: &[(usize, Load)]) -> Program {
    needed(program, program.result.unwrap_or(Slot::Constant(0)), loads)
}

/// The program of one slot's value, where some steps' values lie in memory.
fn needed(program: &Program, result: Slot, stored: &[(usize, Load)]) -> Program {
    let mut made = Program {
        extents: program.extents.clone(),
        ..Program::default()
    };
    // Which steps it takes.
    let mut takes = vec![false; program.steps.len()];
    let is_stored = |at: usize| stored.iter().any(|(known, _)| *known == at);
    let mark = |slot: Slot, takes: &mut [bool]| {
        if let Slot::Step(at) = slot {
            takes[at as usize] |= !is_stored(at as usize);
        }
    };
    mark(result, &mut takes);
    for at in (0..program.steps.len()).rev() {
        if takes[at] {
            program.steps[at].args.iter().for_each(|&arg| mark(arg, &mut takes));
        }
    }
    let mut places: Vec<Option<Slot>> = vec![None; program.steps.len()];
    for (at, step) in program.steps.iter().enumerate() {
        if takes[at] {
            let args = step
                .args
                .iter()
                .map(|&arg| moved(program, &mut made, arg, &places, stored))
                .collect();
            made.steps.push(Step {
                operation: step.operation,
                args,
            });
            places[at] = Some(Slot::Step(made.steps.len() as u16 - 1));
        }
    }
    made.result = Some(moved(program, &mut made, result, &places, stored));
    made
}

/// Where an operand is in the new program.
fn moved(from: &Program, to: &mut Program, slot: Slot, places: &[Option<Slot>], stored: &[(usize, Load)]) -> Slot {
    match slot {
        Slot::Load(at) => to.loaded(from.loads[at as usize].clone()),
        Slot::Constant(at) => to.constant(from.constants[at as usize]),
        Slot::Iota(at) => {
            to.iotas.push(from.iotas[at as usize]);
            Slot::Iota(to.iotas.len() as u16 - 1)
        }
        Slot::Step(at) => match stored.iter().find(|(known, _)| *known == at as usize) {
            Some((_, load)) => to.loaded(load.clone()),
            None => places[at as usize].unwrap_or(slot),
        },
    }
}
