//! Index spaces: `ParFor`, `Launch` and `Loop` functions. Points run one after the other, last axis fastest.

use super::Machine;
use super::code::ParFor;
use super::exec::{Failure, Frame, Stop, Thread};
use super::sums::{self, Sums};
use super::trap::Fault;
use super::value::RtValue;
use super::views;
use crate::module::{FuncId, FuncKind, Function, Local, Reduction, Value};

impl Machine<'_> {
    /// Runs every point of a `ParFor` on a copy of the frame, and combines its reductions into the frame's locals.
    pub(super) fn par_for(&mut self, function: &Function, frame: &mut Frame, par: &ParFor<'_>) -> Result<(), Failure> {
        let body = frame.pc;
        let extents = frame.ints(par.extents)?;
        let mut point = frame.clone();
        point.arrays.fill(None);
        let mut sums = Sums::new(function, par.reductions, &extents)?;
        let mut thread = Thread::new(point);
        self.each_point(&extents, |machine, index| {
            let Some(point) = thread.frames.first_mut() else {
                return Err(Fault::Malformed.into());
            };
            point.pc = body;
            for (var, i) in par.vars.iter().zip(index) {
                point.values[var.index()] = RtValue::i64(*i);
            }
            for local in &par.private {
                point.locals[local.index()] = frame.locals[local.index()].clone();
            }
            sums.enter(index, point)?;
            let stop = machine.run(&mut thread)?;
            let (Stop::Point, Some(point)) = (stop, thread.frames.first_mut()) else {
                return Err(Fault::Malformed.into());
            };
            sums.leave(point);
            machine.free_arrays(point);
            Ok(())
        })?;
        for (reduction, part) in par.reductions.iter().zip(sums.finish()?) {
            combine(frame, reduction.local, *reduction, &part)?;
        }
        frame.pc = par.end;
        Ok(())
    }

    /// A `Launch` statement.
    pub(super) fn launch_points(
        &mut self,
        frame: &mut Frame,
        func: FuncId,
        extents: &[Value],
        args: &[Value],
        results: &[Local],
    ) -> Result<(), Failure> {
        let extents = frame.ints(extents)?;
        let parts = self.points(func, &extents, &frame.list(args))?;
        let FuncKind::Loop { reductions, .. } = &self.program.module.function(func).kind else {
            return Err(Fault::Malformed.into());
        };
        for ((local, reduction), part) in results.iter().zip(reductions).zip(&parts) {
            combine(frame, *local, *reduction, part)?;
        }
        Ok(())
    }

    /// Runs a `Loop` function over an index space; gives its reductions.
    pub(super) fn points(&mut self, func: FuncId, extents: &[i64], args: &[RtValue]) -> Result<Vec<RtValue>, Failure> {
        let function = self.program.module.function(func);
        let FuncKind::Loop { reductions, .. } = &function.kind else {
            return Err(Fault::Malformed.into());
        };
        let mut sums = Sums::new(function, reductions, extents)?;
        let mut thread = Thread::new(self.frame(func, args, None));
        self.each_point(extents, |machine, index| {
            let Some(frame) = thread.frames.first_mut() else {
                return Err(Fault::Malformed.into());
            };
            frame.pc = 0;
            machine.unset_locals(function, frame);
            for (param, i) in function.params.iter().zip(index) {
                frame.values[param.index()] = RtValue::i64(*i);
            }
            sums.enter(index, frame)?;
            let stop = machine.run(&mut thread)?;
            let (Stop::Done(_), Some(frame)) = (stop, thread.frames.first_mut()) else {
                return Err(Fault::Malformed.into());
            };
            sums.leave(frame);
            machine.free_arrays(frame);
            Ok(())
        })?;
        if let Some(frame) = thread.frames.pop() {
            self.retire(frame);
        }
        Ok(sums.finish()?)
    }

    /// Calls `run` for every point. In checked mode each point of the outermost index space is a thread of its own for the race check, but
    /// inside of a kernel's.
    fn each_point(&mut self, extents: &[i64], mut run: impl FnMut(&mut Self, &[i64]) -> Result<(), Failure>) -> Result<(), Failure> {
        let depth = self.place.point.len();
        let outermost = depth == 0 && self.memory.races.as_ref().is_none_or(|races| races.actor.is_none());
        for (number, index) in (0u32..).zip(views::points(extents)) {
            self.place.point.truncate(depth);
            self.place.point.extend_from_slice(&index);
            if let (true, Some(races)) = (outermost, &mut self.memory.races) {
                races.actor = Some(number);
            }
            run(self, &index)?;
        }
        self.place.point.truncate(depth);
        if let (true, Some(races)) = (outermost, &mut self.memory.races) {
            races.actor = None;
            races.next_interval();
        }
        Ok(())
    }
}

/// `into = into op part`
fn combine(frame: &mut Frame, into: Local, reduction: Reduction, part: &RtValue) -> Result<(), Fault> {
    let slot = &mut frame.locals[into.index()];
    *slot = sums::combine(reduction, slot, part)?;
    Ok(())
}
