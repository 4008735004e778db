//! Running instructions: frames, calls, control flow.

use std::rc::Rc;

use super::check::Access;
use super::code::{Instr, Meeting, Pc, Program};
use super::memory::BufferId;
use super::trap::{Fault, Trap};
use super::value::{RtValue, View};
use super::{Machine, views};
use crate::eval;
use crate::module::{FuncId, Function, PrintItem, Span, Value};
use crate::op::{Const, Index, Op, Part, WARP};
use crate::repr;

/// Calls that may be in progress in a thread: frames are large, and take memory that programs do not ask for.
const DEEPEST_CALLS: usize = 10_000;

/// One call in progress.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub func: FuncId,
    pub pc: Pc,
    pub values: Vec<RtValue>,
    pub locals: Vec<RtValue>,
    /// State of each `for` loop.
    counters: Vec<Counter>,
    /// The local arrays that have been used.
    pub arrays: Vec<Option<BufferId>>,
    /// Where the caller wants the result.
    into: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    next: i64,
    left: u64,
}

/// A stack of calls that can be left where threads meet and taken up again.
#[derive(Debug)]
pub(super) struct Thread {
    pub frames: Vec<Frame>,
    pub index: [i64; 3],
    pub block: [i64; 3],
    /// Among the threads of the block.
    pub number: u32,
    /// What it waits for.
    pub waits: Option<Meeting>,
}

/// Why a thread stopped.
#[derive(Debug)]
pub(super) enum Stop {
    Done(RtValue),
    /// It waits for other threads; the instruction before its program counter says for what.
    Meet(Meeting),
    /// The end of a `ParFor`'s body.
    Point,
}

/// Where in a launch the running code is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub in_kernel: bool,
    pub thread: [i64; 3],
    pub block: [i64; 3],
    pub block_dim: [i64; 3],
    pub grid_dim: [i64; 3],
    pub point: Vec<i64>,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            in_kernel: false,
            thread: [0; 3],
            block: [0; 3],
            block_dim: [1; 3],
            grid_dim: [1; 3],
            point: Vec::new(),
        }
    }
}

impl Thread {
    pub fn new(frame: Frame) -> Thread {
        Thread {
            frames: vec![frame],
            index: [0; 3],
            block: [0; 3],
            number: 0,
            waits: None,
        }
    }
}

impl Frame {
    pub fn scalar(&self, value: Value) -> Result<Const, Fault> {
        self.values[value.index()].scalar().ok_or(Fault::Malformed)
    }

    pub fn int(&self, value: Value) -> Result<i64, Fault> {
        self.values[value.index()].as_i64().ok_or(Fault::Malformed)
    }

    pub fn ints(&self, values: &[Value]) -> Result<Vec<i64>, Fault> {
        values.iter().map(|v| self.int(*v)).collect()
    }

    pub fn bool(&self, value: Value) -> Result<bool, Fault> {
        self.values[value.index()].as_bool().ok_or(Fault::Malformed)
    }

    pub fn view(&self, value: Value) -> Result<&View, Fault> {
        self.values[value.index()].as_view().map(AsRef::as_ref).ok_or(Fault::Malformed)
    }

    pub fn list(&self, values: &[Value]) -> Vec<RtValue> {
        values.iter().map(|v| self.values[v.index()].clone()).collect()
    }
}

/// What to do after an instruction.
enum Next {
    Go,
    Stop(Stop),
}

impl<'m> Machine<'m> {
    /// A frame at a function's start.
    pub(super) fn frame(&mut self, func: FuncId, args: &[RtValue], into: Option<Value>) -> Frame {
        let module = self.program.module;
        let function = module.function(func);
        let mut frame = self.spare[func.index()].pop().unwrap_or_else(|| Frame {
            func,
            pc: 0,
            values: vec![RtValue::Undefined; function.values.len()],
            locals: vec![RtValue::Undefined; function.locals.len()],
            counters: vec![Counter::default(); self.program.codes[func.index()].loops],
            arrays: vec![None; function.arrays.len()],
            into: None,
        });
        frame.pc = 0;
        frame.into = into;
        self.unset_locals(function, &mut frame);
        let params = function.params.len().saturating_sub(args.len());
        for (param, arg) in function.params[params..].iter().zip(args) {
            frame.values[param.index()] = name_view(arg, function.values[param.index()].name.as_deref());
        }
        frame
    }

    pub(super) fn unset_locals(&self, function: &Function, frame: &mut Frame) {
        for (slot, local) in frame.locals.iter_mut().zip(&function.locals) {
            *slot = if self.options.checked {
                RtValue::Undefined
            } else {
                RtValue::zero(&local.ty)
            };
        }
    }

    /// Frees a frame's arrays and keeps it for another call.
    pub(super) fn retire(&mut self, mut frame: Frame) {
        self.free_arrays(&mut frame);
        self.spare[frame.func.index()].push(frame);
    }

    pub(super) fn free_arrays(&mut self, frame: &mut Frame) {
        for array in &mut frame.arrays {
            if let Some(buffer) = array.take() {
                self.memory.free(buffer);
            }
        }
    }

    /// Runs a thread until it ends or stops. Its last frame stays when it ends.
    pub(super) fn run(&mut self, thread: &mut Thread) -> Result<Stop, Box<Trap>> {
        let program = Rc::clone(&self.program);
        loop {
            let (func, pc) = match thread.frames.last() {
                Some(frame) => (frame.func, frame.pc),
                None => return Err(Trap::malformed()),
            };
            let stop = match self.step(&program, thread) {
                Ok(Next::Go) => continue,
                Ok(Next::Stop(stop)) => Ok(stop),
                Err(Failure::Here(fault)) => {
                    let span = program.codes[func.index()].spans.get(pc).copied().unwrap_or(Span::NONE);
                    Err(self.trap(fault, func, span))
                }
                Err(Failure::Inside(trap)) => Err(trap),
            };
            return stop.map_err(|trap| shown_outside(&program, thread, trap));
        }
    }

    pub(super) fn trap(&self, fault: Fault, func: FuncId, span: Span) -> Box<Trap> {
        let place = &self.place;
        let mut trap = Trap::new(fault, span);
        trap.in_library = self.program.module.function(func).origin.is_library();
        trap.function = self.program.module.function(func).name.clone();
        trap.point = place.point.clone();
        if place.in_kernel {
            let [x, y, z] = place.thread;
            let [bx, by, bz] = place.block;
            trap.thread = Some([x, y, z, bx, by, bz]);
        }
        trap
    }

    /// Asks the host every 65536 instructions whether to go on.
    fn tick(&mut self) -> Result<(), Fault> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & 0xffff == 0 && self.options.interrupted.is_some_and(|ask| ask()) {
            return Err(Fault::Interrupted);
        }
        Ok(())
    }

    fn step(&mut self, program: &Program<'m>, thread: &mut Thread) -> Result<Next, Failure> {
        self.tick()?;
        let (depth, number) = (thread.frames.len(), thread.number);
        let Some(frame) = thread.frames.last_mut() else {
            return Err(Fault::Malformed.into());
        };
        let function = program.module.function(frame.func);
        let Some(instr) = program.codes[frame.func.index()].instrs.get(frame.pc) else {
            return Err(Fault::Malformed.into());
        };
        frame.pc += 1;
        match instr {
            Instr::Let(value, Op::Call(func, args)) => {
                let args = frame.list(args);
                let callee = self.frame(*func, &args, Some(*value));
                thread.frames.push(callee);
            }
            Instr::Let(value, Op::OutOfStack) => frame.values[value.index()] = RtValue::Scalar(Const::Bool(depth > DEEPEST_CALLS)),
            Instr::Let(value, op) => {
                let result = self.op(function, frame, *value, op)?;
                frame.values[value.index()] = result;
            }
            Instr::Set(local, value) => frame.locals[local.index()] = frame.values[value.index()].clone(),
            Instr::Jump(to) => frame.pc = *to,
            Instr::JumpUnless(cond, to) => {
                if !frame.bool(*cond)? {
                    frame.pc = *to;
                }
            }
            Instr::ForStart { slot, start, stop, step } => {
                let (start, stop, step) = (frame.int(*start)?, frame.int(*stop)?, frame.int(*step)?);
                frame.counters[*slot] = counter(start, stop, step)?;
            }
            Instr::ForNext { slot, var, step, end } => {
                let step = frame.int(*step)?;
                let counter = &mut frame.counters[*slot];
                if counter.left == 0 {
                    frame.pc = *end;
                } else {
                    frame.values[var.index()] = RtValue::i64(counter.next);
                    counter.next = counter.next.wrapping_add(step);
                    counter.left -= 1;
                }
            }
            Instr::ParFor(par) => self.par_for(function, frame, par)?,
            Instr::EndPoint => return Ok(Next::Stop(Stop::Point)),
            Instr::Launch {
                func,
                extents,
                args,
                results,
            } => self.launch_points(frame, *func, extents, args, results)?,
            Instr::Return(value) => return Ok(self.ret(thread, *value)),
            Instr::Store {
                view,
                indices,
                value,
                part,
            } => self.store(frame, *view, indices, *value, *part)?,
            Instr::Mma {
                elem,
                sums,
                factors,
                transposed,
            } => self.mma(frame, number % WARP, *elem, *sums, *factors, *transposed)?,
            Instr::Meet(meeting) => return Ok(Next::Stop(Stop::Meet(*meeting))),
            Instr::Raise(kind, message) => {
                return Err(Fault::Raised {
                    kind: *kind,
                    message: (*message).to_owned(),
                }
                .into());
            }
            Instr::Print(items) => self.print(frame, items)?,
            Instr::Nothing => {}
        }
        Ok(Next::Go)
    }

    fn ret(&mut self, thread: &mut Thread, value: Option<Value>) -> Next {
        let result = match (value, thread.frames.last()) {
            (Some(value), Some(frame)) => frame.values[value.index()].clone(),
            _ => RtValue::unit(),
        };
        if thread.frames.len() > 1
            && let Some(frame) = thread.frames.pop()
        {
            if let (Some(into), Some(caller)) = (frame.into, thread.frames.last_mut()) {
                caller.values[into.index()] = result;
            }
            self.retire(frame);
            return Next::Go;
        }
        Next::Stop(Stop::Done(result))
    }

    fn store(&mut self, frame: &Frame, view: Value, indices: &[Index], value: Value, part: Part) -> Result<(), Fault> {
        let value = frame.scalar(value)?;
        let view = frame.view(view)?;
        let index = super::ops::index(frame, indices)?;
        let mut offset = views::locate(view, &index, |axis| indices[axis].wrap)?;
        if part == Part::Im {
            offset += value.scalar().size() as i64;
        }
        self.memory.store(view, offset, value, &index, Access::Write)
    }

    fn print(&mut self, frame: &Frame, items: &[PrintItem]) -> Result<(), Fault> {
        for item in items {
            let text = match item {
                PrintItem::Text(text) => text.clone(),
                PrintItem::Value(value) => repr::python(frame.scalar(*value)?),
                PrintItem::Complex(re, im) => repr::python(eval::complex(frame.scalar(*re)?, frame.scalar(*im)?).ok_or(Fault::Malformed)?),
            };
            self.output.push_str(&text);
        }
        self.output.push('\n');
        Ok(())
    }
}

/// A fault of this instruction, or a trap from code it ran.
pub(super) enum Failure {
    Here(Fault),
    Inside(Box<Trap>),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Here(fault)
    }
}

impl From<Box<Trap>> for Failure {
    fn from(trap: Box<Trap>) -> Failure {
        Failure::Inside(trap)
    }
}

impl Failure {
    /// Outside any instruction.
    pub fn into_trap(self) -> Box<Trap> {
        match self {
            Failure::Here(fault) => Trap::new(fault, Span::NONE),
            Failure::Inside(trap) => trap,
        }
    }
}

fn counter(start: i64, stop: i64, step: i64) -> Result<Counter, Fault> {
    let (from, to, by) = (i128::from(start), i128::from(stop), i128::from(step));
    let count = match by {
        0 => return Err(Fault::Invalid("a range's step is zero".into())),
        1.. => (to - from + by - 1) / by,
        _ => (from - to - by - 1) / -by,
    };
    Ok(Counter {
        next: start,
        left: u64::try_from(count.max(0)).unwrap_or(u64::MAX),
    })
}

/// A view that has no name yet takes the parameter's.
fn name_view(arg: &RtValue, name: Option<&str>) -> RtValue {
    match (arg, name) {
        (RtValue::View(view), Some(name)) if view.name.is_none() => RtValue::View(view.as_ref().clone().named(name).into()),
        _ => arg.clone(),
    }
}

/// What a function of the library raises is shown where the user's function calls it.
fn shown_outside(program: &Program<'_>, thread: &Thread, mut trap: Box<Trap>) -> Box<Trap> {
    let users = |frame: &&Frame| !program.module.function(frame.func).origin.is_library();
    if let Some(frame) = thread.frames.iter().rev().find(users).filter(|_| trap.in_library) {
        let spans = &program.codes[frame.func.index()].spans;
        trap.span = spans.get(frame.pc.wrapping_sub(1)).copied().unwrap_or(trap.span);
        trap.in_library = false;
    }
    trap
}
