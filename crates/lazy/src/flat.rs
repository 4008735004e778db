//! Programs whose operands and result all lie dense: one walk over all elements, whatever the shape, with nothing to plan. The most common
//! case, and all that small arrays need.

use smallvec::{SmallVec, smallvec};

use crate::compiled;
use crate::dims;
use crate::error::Result;
use crate::program::{Program, Slot};
use crate::tiles::{TILE, Target, apply, with_room};

/// Runs the program, if it is such a one; else false.
pub fn run(program: &Program, target: &Target) -> Result<bool> {
    let Some(Slot::Step(last)) = program.result else { return Ok(false) };
    let dense = |strides: &[i64], item: usize| dims::is_dense(&program.extents, strides, item);
    if !program.iotas.is_empty() || last as usize + 1 != program.steps.len() || !dense(&target.strides, target.elem.size()) {
        return Ok(false);
    }
    if program.has_singles() && !compiled::is_aligned(program, target) {
        return Ok(false);
    }
    let mut item = target.elem.size();
    for load in &program.loads {
        let one = load.strides.iter().all(|stride| *stride == 0);
        // What is written is not read beside: the last step has a place of its own.
        if load.address() == target.address || !(one || dense(&load.strides, load.elem.size())) {
            return Ok(false);
        }
    }
    program.steps.iter().for_each(|step| item = item.max(step.operation.result.size()));
    let count: u64 = program.extents.iter().product();
    let each = ((TILE / item) as u64).min(count);
    let registers = Registers::of(program);
    let words = (each as usize * item).div_ceil(64) * 4;
    with_room(registers.count * words, |room| {
        let mut done = 0;
        while done < count {
            let some = each.min(count - done);
            tile(program, target, &registers, (room, words * 16), done, some)?;
            done += some;
        }
        Ok(true)
    })
}

/// The register that each step's value is in until it is last read.
struct Registers {
    count: usize,
    steps: SmallVec<[u8; 64]>,
}

impl Registers {
    fn of(program: &Program) -> Registers {
        let mut last: SmallVec<[u16; 64]> = smallvec![0; program.steps.len()];
        for (at, step) in program.steps.iter().enumerate() {
            for arg in &step.args {
                if let Slot::Step(of) = arg {
                    last[*of as usize] = at as u16;
                }
            }
        }
        let mut free: SmallVec<[u8; 16]> = SmallVec::new();
        let mut steps: SmallVec<[u8; 64]> = SmallVec::new();
        let mut count = 0u8;
        for (at, step) in program.steps.iter().enumerate() {
            // An operand's register is free for the next step, not for this one's result.
            steps.push(free.pop().unwrap_or_else(|| {
                count = count.saturating_add(1);
                count - 1
            }));
            for (place, arg) in step.args.iter().enumerate() {
                if let Slot::Step(of) = arg
                    && last[*of as usize] == at as u16
                    && !step.args[..place].contains(arg)
                {
                    free.push(steps[*of as usize]);
                }
            }
        }
        Registers {
            count: count.into(),
            steps,
        }
    }
}

/// Elements from one on.
fn tile(program: &Program, target: &Target, registers: &Registers, (room, size): (*mut u8, usize), first: u64, count: u64) -> Result<()> {
    let register = |step: usize| room.wrapping_add(registers.steps[step] as usize * size);
    let place = |slot: Slot| -> (u64, bool) {
        match slot {
            Slot::Constant(at) => (program.constants[at as usize].1.as_ptr() as u64, true),
            Slot::Step(at) => (register(at as usize) as u64, false),
            Slot::Load(at) => {
                let load = &program.loads[at as usize];
                match load.strides.iter().all(|stride| *stride == 0) {
                    true => (load.address(), true),
                    false => (load.address() + first * load.elem.size() as u64, false),
                }
            }
            Slot::Iota(_) => (0, true),
        }
    };
    let end = program.steps.len() - 1;
    for (at, step) in program.steps.iter().enumerate() {
        let to = match at == end {
            true => (target.address + first * target.elem.size() as u64) as *mut u8,
            false => register(at),
        };
        apply(step, to, &place, count)?;
    }
    Ok(())
}
