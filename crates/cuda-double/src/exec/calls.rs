//! Calls and returns: each lane has a stack of frames of its own.

use super::fault::{ASSERT, Fault, HARDWARE_STACK};
use super::inst::*;
use super::lanes::{Row, WARP, lanes, row_of};
use super::launch::Launch;
use super::warp::{Group, Next, Warp};

/// What a lane returns to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Where to go on.
    pc: u32,
    site: u32,
    function: u32,
    base: u32,
    pred_base: u32,
    local_base: u32,
}

/// Bytes of local memory a thread may use where it is known beforehand how many it needs.
const MOST_LOCAL: usize = 512 << 10;

impl Warp {
    pub(super) fn call(&mut self, launch: &Launch, constants: &[Row], group: &Group, number: u32, mask: u32) -> Result<Next, Fault> {
        let site = &launch.program.sites[number as usize];
        let line = launch.program.code[group.pc as usize].line;
        let next = group.pc + 1;
        self.place(group.mask, next);
        self.ran(group.mask);
        let mut callees = [0; WARP];
        match &site.callee {
            Callee::Function(function) => callees = [*function; WARP],
            Callee::Printf => {
                for lane in lanes(mask) {
                    self.printf(launch, site, lane);
                }
                return Ok(Next::Again);
            }
            Callee::AssertFail => {
                let lane = mask.trailing_zeros() as usize;
                let message = self.failed_assertion(launch, site, lane);
                return Err(Fault::new(ASSERT, launch.describe(line, self.number, 1 << lane, None, &message)));
            }
            Callee::Indirect(slot) => {
                let (rows, _) = self.rows(launch, constants, group);
                for lane in lanes(mask) {
                    let address = rows.get(*slot, lane);
                    let function = address.wrapping_sub(window::FUNCTION);
                    let known = launch.program.functions.get(function as usize).filter(|f| !f.entry);
                    let fits = |f: &&FunctionCode| f.params.len() == site.arguments.len() && f.results.len() == site.results.len();
                    if known.filter(fits).is_none() {
                        let message = format!("indirect call of 0x{address:x}, which is no function with these parameters");
                        return Err(Fault::new(718, launch.describe(line, self.number, 1 << lane, None, &message)));
                    }
                    callees[lane] = function as u32;
                }
            }
        }
        for lane in lanes(mask) {
            self.enter(launch, site, number, lane, callees[lane], line)?;
        }
        Ok(Next::Again)
    }

    fn enter(&mut self, launch: &Launch, site: &CallSite, number: u32, lane: usize, callee: u32, line: u32) -> Result<(), Fault> {
        let caller = &launch.program.functions[self.function[lane] as usize];
        let code = &launch.program.functions[callee as usize];
        self.calls[lane].push(Frame {
            pc: self.pc[lane],
            site: number,
            function: self.function[lane],
            base: self.base[lane],
            pred_base: self.pred_base[lane],
            local_base: self.local_base[lane],
        });
        let from = self.local_base[lane];
        self.base[lane] += caller.registers;
        self.pred_base[lane] += caller.preds;
        self.local_base[lane] += caller.stack();
        self.function[lane] = callee;
        self.pc[lane] = code.start;
        let (rows, preds) = (self.base[lane] + code.registers, self.pred_base[lane] + code.preds);
        if self.registers.len() < rows as usize {
            self.registers.resize_with(rows as usize, || row_of(0));
        }
        self.preds.resize(self.preds.len().max(preds as usize), 0);
        let to = self.local_base[lane];
        let end = (to + code.stack()) as usize;
        // The driver makes room for what the code is known to need, else for what the context's limit says.
        let room = match launch.program.unbounded[launch.kernel as usize] {
            true => launch.stack.max(launch.program.functions[launch.kernel as usize].stack() as usize),
            false => MOST_LOCAL,
        };
        if end > room {
            let message = format!("the stack is over {room} bytes: recursion too deep, or CU_LIMIT_STACK_SIZE too low?");
            return Err(Fault::new(
                HARDWARE_STACK,
                launch.describe(line, self.number, 1 << lane, None, &message),
            ));
        }
        let local = &mut self.local[lane];
        local.resize(end.max(to as usize), 0xcb);
        copy_places(local, &site.arguments, from, &code.params, to);
        Ok(())
    }

    pub(super) fn return_(&mut self, launch: &Launch, mask: u32) {
        for lane in lanes(mask) {
            let Some(frame) = self.calls[lane].pop() else {
                self.live &= !(1 << lane);
                continue;
            };
            let site = &launch.program.sites[frame.site as usize];
            let code = &launch.program.functions[self.function[lane] as usize];
            copy_places(
                &mut self.local[lane],
                &code.results,
                self.local_base[lane],
                &site.results,
                frame.local_base,
            );
            self.pc[lane] = frame.pc;
            self.function[lane] = frame.function;
            self.base[lane] = frame.base;
            self.pred_base[lane] = frame.pred_base;
            self.local_base[lane] = frame.local_base;
        }
    }
}

fn copy_places(local: &mut [u8], from: &[(u32, u32)], from_base: u32, to: &[(u32, u32)], to_base: u32) {
    for ((from, from_bytes), (to, to_bytes)) in from.iter().zip(to) {
        let start = (from_base + from) as usize;
        let bytes = (*from_bytes).min(*to_bytes) as usize;
        local.copy_within(start..start + bytes, (to_base + to) as usize);
    }
}
