//! The reference interpreter: what a module means, before and after the passes, and the checked mode of every device.
//!
//! [`Machine::new`] verifies the module and flattens its functions into instructions (`code`); `exec` runs them, one explicit stack of
//! frames a thread, so that a thread can stop where it meets others; `grid` runs blocks and warps, `meet` is what their threads do together; `views` and `memory` hold what views and buffers do; `check` finds races and
//! reads of uninitialised memory. No module, argument or memory access can make it panic.

mod check;
mod code;
mod exec;
mod grid;
mod meet;
mod memory;
mod mma;
mod ops;
mod parallel;
mod sums;
mod trap;
mod value;
mod views;

pub use memory::BufferId;
pub use trap::{Fault, Trap};
pub use value::{RtValue, View};

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::module::{ArrayId, FuncId, FuncKind, Module, Span};
use crate::op::{Const, ThreadState};
use crate::types::{Scalar, Type};
use crate::verify::{VerifyError, verify};
use code::Program;
use exec::{Failure, Frame, Place, Stop, Thread};
use memory::Memory;

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Find data races between threads of a block (and points of a parallel loop), reads of uninitialised memory and locals, divergent
    /// barriers, and views that are not laid out as their type says.
    pub checked: bool,
    /// Barriers must be reached by all threads of the block together, as in checked mode.
    pub in_step: bool,
    /// Asked now and then; true ends the run with [`Fault::Interrupted`].
    pub interrupted: Option<fn() -> bool>,
}

/// A block's shared arrays and dynamic shared memory, as far as they have been used.
#[derive(Debug, Default)]
struct Shared {
    arrays: HashMap<(FuncId, ArrayId), BufferId>,
    dynamic: Option<BufferId>,
}

/// A module with memory to run on.
#[derive(Debug)]
pub struct Machine<'m> {
    program: Rc<Program<'m>>,
    memory: Memory,
    output: String,
    options: Options,
    place: Place,
    /// The shared memory of the block that runs.
    shared: Shared,
    /// Bytes of dynamic shared memory.
    dynamic: u32,
    /// What belongs to the thread that runs all this, as far as it has been asked for or lent.
    thread_states: HashMap<ThreadState, BufferId>,
    /// Frames to use again, by function.
    spare: Vec<Vec<Frame>>,
    /// Instructions run since the host was last asked whether to stop.
    ticks: u32,
}

impl<'m> Machine<'m> {
    pub fn new(module: &'m Module, options: Options) -> Result<Machine<'m>, VerifyError> {
        verify(module)?;
        Ok(Machine {
            program: Rc::new(Program::new(module)),
            memory: Memory::new(module, options.checked),
            output: String::new(),
            options,
            place: Place::default(),
            shared: Shared::default(),
            dynamic: 0,
            thread_states: HashMap::new(),
            spare: module.functions.iter().map(|_| Vec::new()).collect(),
            ticks: 0,
        })
    }

    /// Memory the caller owns, as global buffers are.
    pub fn buffer(&mut self, bytes: Vec<u8>) -> BufferId {
        self.memory.add(bytes)
    }

    /// Lends the state of a thread, which runs go on from.
    pub fn lend(&mut self, state: ThreadState, bytes: Vec<u8>) {
        let buffer = self.memory.add_private(bytes);
        self.thread_states.insert(state, buffer);
    }

    /// What has become of the state of a thread; empty if nobody has asked for it or lent it.
    pub fn thread_state(&self, state: ThreadState) -> &[u8] {
        self.thread_states.get(&state).map_or(&[], |buffer| self.memory.bytes(*buffer))
    }

    /// The bytes of a buffer; empty when it is no longer there.
    pub fn bytes(&self, buffer: BufferId) -> &[u8] {
        self.memory.bytes(buffer)
    }

    /// A C-contiguous view of a whole buffer.
    pub fn view(&self, buffer: BufferId, elem: Scalar, shape: &[i64]) -> RtValue {
        RtValue::View(Arc::new(View::contiguous(buffer, elem, shape)))
    }

    /// The elements of a view in C order.
    pub fn elements(&self, elem: Scalar, view: &View) -> Result<Vec<Const>, Box<Trap>> {
        let read = |fault| Trap::new(fault, Span::NONE);
        views::offsets(view)
            .map(|offset| self.memory.peek(view, offset, elem).map_err(read))
            .collect()
    }

    /// What `print` wrote so far.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Calls the entry, a `Host` or `Device` function.
    pub fn call(&mut self, args: &[RtValue]) -> Result<RtValue, Box<Trap>> {
        let module = self.program.module;
        let entry = module.entry_function();
        if !matches!(entry.kind, FuncKind::Host | FuncKind::Device) {
            return Err(Trap::invalid("the entry is not called but launched"));
        }
        self.start(0, args)?;
        let mut thread = Thread::new(self.frame(module.entry, args, None));
        match self.run(&mut thread)? {
            Stop::Done(value) => Ok(value),
            Stop::Meet(_) => Err(Trap::invalid("a barrier outside a launch")),
            Stop::Point => Err(Trap::malformed()),
        }
    }

    /// Launches the entry, a `Kernel`, over a grid of blocks, each with `dynamic` bytes of dynamic shared memory.
    pub fn launch(&mut self, block: [u32; 3], grid: [u32; 3], dynamic: u32, args: &[RtValue]) -> Result<(), Box<Trap>> {
        if self.program.module.entry_function().kind != FuncKind::Kernel {
            return Err(Trap::invalid("the entry is no kernel"));
        }
        self.start(0, args)?;
        self.grid(block.map(i64::from), grid.map(i64::from), dynamic, args)
    }

    /// Runs the entry, a `Loop`, over an index space; `args` are the parameters after the indices. Gives its reductions.
    pub fn run_loop(&mut self, extents: &[i64], args: &[RtValue]) -> Result<Vec<RtValue>, Box<Trap>> {
        let module = self.program.module;
        let FuncKind::Loop { rank, .. } = module.entry_function().kind else {
            return Err(Trap::invalid("the entry is no loop function"));
        };
        if extents.len() != rank as usize {
            return Err(Trap::invalid("the index space has another rank than the loop function"));
        }
        self.start(rank as usize, args)?;
        self.points(module.entry, extents, args).map_err(Failure::into_trap)
    }

    /// Forgets what an earlier run left behind, and checks arguments against the entry's parameters after the first `skip`.
    fn start(&mut self, skip: usize, args: &[RtValue]) -> Result<(), Box<Trap>> {
        let entry = self.program.module.entry_function();
        let params = &entry.params[skip.min(entry.params.len())..];
        if params.len() != args.len() {
            return Err(Trap::invalid(format!(
                "{} arguments are expected, {} were given",
                params.len(),
                args.len()
            )));
        }
        self.place = Place::default();
        self.free_shared();
        if let Some(races) = &mut self.memory.races {
            races.actor = None;
            races.next_interval();
        }
        for (param, arg) in params.iter().zip(args) {
            let ty = entry.ty(*param);
            if !arg.fits(ty) {
                return Err(Trap::invalid(format!("an argument does not have the type {ty}")));
            }
            self.check_layout(arg, ty).map_err(|fault| Trap::new(fault, Span::NONE))?;
        }
        Ok(())
    }

    /// In checked mode, is a view laid out as its type says?
    fn check_layout(&self, value: &RtValue, ty: &Type) -> Result<(), Fault> {
        match (value, ty) {
            (RtValue::View(view), Type::View(ty)) if self.options.checked && !view.has_layout(ty) => Err(Fault::Layout {
                array: view.name().to_owned(),
                layout: ty.layout,
            }),
            _ => Ok(()),
        }
    }
}
