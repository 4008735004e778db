//! The state of the function being written, and what every part of the emitter asks of it.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use weft_ir::{Function, Scalar};
use weft_passes::written;
use weft_thread::{Code, Sizes, Thread};

use super::EmitError;
use super::calls::Frames;
use super::control::Frame;
use super::entry::Candidate;
use super::grid::Meeting;
use super::mailbox::Raising;
use super::module::ModuleCx;
use super::number::NARROW;
use super::values::Nvptx;
use super::writer::{Label, Operand, Writer};

/// Writes one function.
pub struct Fx<'a, 'm> {
    pub cx: &'a mut ModuleCx<'m>,
    pub thread: Thread<'m, Nvptx>,
    pub w: Writer,
    /// The parameters that the entry could have.
    pub candidates: Vec<Candidate>,
    /// The shared and local arrays' memory.
    pub arrays: Vec<Operand>,
    /// Loops and scopes that control stands in, innermost last.
    pub frames: Vec<Frame>,
    /// Where `Return` goes.
    pub end: Label,
    /// Where it leaves the scalars that a function gives back; a kernel gives none.
    pub results: Vec<(Scalar, Operand)>,
    pub raising: Option<Raising>,
    /// Barriers of the grid, if there are any.
    pub meeting: Option<Meeting>,
    /// Special registers that are read, by name.
    pub registers: HashMap<String, Operand>,
    /// May other threads write what this one reads while it runs?
    pub threads_meet: bool,
    /// A function that others call, which tells its caller that it has raised.
    pub is_called: bool,
    /// Where frames lie, once that is asked.
    pub stack_frames: Option<Frames>,
}

impl<'m> Deref for Fx<'_, 'm> {
    type Target = Thread<'m, Nvptx>;

    fn deref(&self) -> &Thread<'m, Nvptx> {
        &self.thread
    }
}

impl<'m> DerefMut for Fx<'_, 'm> {
    fn deref_mut(&mut self) -> &mut Thread<'m, Nvptx> {
        &mut self.thread
    }
}

impl<'m> Code<'m> for Fx<'_, 'm> {
    type Operand = Operand;
    type Machine = Nvptx;
    type Error = EmitError;
}

impl<'a, 'm> Fx<'a, 'm> {
    /// Of a module's entry.
    pub fn new(cx: &'a mut ModuleCx<'m>) -> Fx<'a, 'm> {
        let sizes = Sizes {
            narrow: cx.facts.narrow,
            small: cx.facts.small,
            limit: NARROW,
        };
        let f = cx.module.entry_function();
        Fx::of(cx, f, sizes)
    }

    pub fn of(cx: &'a mut ModuleCx<'m>, f: &'m Function, sizes: Sizes) -> Fx<'a, 'm> {
        let mut w = Writer::default();
        let end = w.label();
        let thread = Thread::of(cx.module, f, sizes);
        Fx {
            threads_meet: written::threads_meet(thread.f),
            thread,
            cx,
            w,
            candidates: Vec::new(),
            arrays: Vec::new(),
            frames: Vec::new(),
            end,
            results: Vec::new(),
            raising: None,
            meeting: None,
            registers: HashMap::new(),
            is_called: false,
            stack_frames: None,
        }
    }

    /// The flags float arithmetic carries. Never `contract`: fma is explicit in the IR.
    pub fn fast(&self) -> &'static str {
        if self.f.flags.fastmath && !self.exact {
            "reassoc nnan ninf nsz arcp afn "
        } else {
            ""
        }
    }
}
