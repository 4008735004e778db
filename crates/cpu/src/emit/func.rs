//! The state of the function being written, and what every part of the emitter asks of it.

use std::collections::HashMap;
use std::mem;
use std::rc::Rc;

use weft_ir::{FuncId, FuncKind, Function, Local, Op, Scalar, Span, Type, Value};
use weft_passes::numbering::{Node, Numbered};
use weft_passes::uniformity::{Facts, Uniformity};

use super::barriers::Barriers;
use super::frames::Control;
use super::gang::{Gang, Mask};
use super::module::ModuleCx;
use super::sums::Sums;
use super::target::EmitError;
use super::values::{Num, Res, Slot, Val, ViewVal};
use super::walk::Walk;
use super::writer::{Elem, Operand, Writer};

/// Writes one function.
pub struct Fx<'a, 'm> {
    pub cx: &'a mut ModuleCx<'m>,
    pub f: &'m Function,
    /// The function's body.
    pub body: Numbered<'m>,
    pub info: Rc<Uniformity>,
    pub w: Writer,
    pub span: Span,
    pub gang: Gang,
    pub known: Known<'m>,
    /// Where locals live.
    pub slots: Vec<Slot>,
    pub control: Control,
    pub arrays: Arrays,
    pub heap: Heap,
    /// The arrays whose later elements this code fetches.
    pub fetched: Vec<Operand>,
    /// The loop from row to row that is being written.
    pub walk: Walk,
    pub sums: Sums,
    pub barriers: Barriers,
}

/// What is known of the function's values, and how the one being computed is to be.
pub struct Known<'m> {
    pub vals: Vec<Option<Val>>,
    /// The operation that defines each value.
    pub defs: Vec<Option<&'m Op>>,
    /// How often each value is read.
    pub uses: Vec<u32>,
    /// The value being computed is to be computed as written, whatever `fastmath` allows.
    pub exact: bool,
}

/// Shared and local arrays: what `arrays` makes at the start.
#[derive(Default)]
pub struct Arrays {
    pub memory: Vec<Operand>,
    pub bytes: Vec<u64>,
    /// Local arrays lie in one piece each, not interleaved: functions that are called alone are given some.
    pub in_pieces: bool,
    /// Dynamic shared memory, once it is used.
    pub dynamic: Option<Operand>,
}

/// Allocations of scalar code: what `sweep` frees.
pub struct Heap {
    /// Loops free what they allocated, so that an allocation's memory may be that of an earlier one.
    pub frees: bool,
    /// Allocations that its callers have made, where the function frees its own.
    pub mark: Option<Operand>,
    /// Where the views in scope point.
    pub views: Vec<Operand>,
}

impl<'a, 'm> Fx<'a, 'm> {
    pub fn new(cx: &'a mut ModuleCx<'m>, id: FuncId, info: Rc<Uniformity>, lanes: u32) -> Fx<'a, 'm> {
        let (f, body) = (cx.module.function(id), cx.numberings[id.index()].body());
        let frees = lanes == 0 && (cx.allocates_in_loop(&f.body) || f.kind != FuncKind::Host && cx.allocates(&f.body));
        let mut w = Writer::default();
        let exit = w.label();
        let status = w.entry_inst(format_args!("alloca i32"));
        Fx {
            cx,
            f,
            body,
            info,
            w,
            span: Span::NONE,
            gang: Gang {
                lanes,
                is_warp: false,
                mask: Mask::Full,
                mask_elem: Elem::I1,
                geometry: None,
                streams: None,
                steps: HashMap::new(),
            },
            known: Known {
                vals: vec![None; f.values.len()],
                defs: vec![None; f.values.len()],
                uses: weft_passes::operands::use_counts(f),
                exact: false,
            },
            slots: Vec::new(),
            control: Control {
                frames: Vec::new(),
                exit,
                status,
                doubled: false,
                rest: false,
                tail: false,
            },
            arrays: Arrays::default(),
            heap: Heap {
                frees,
                mark: None,
                views: Vec::new(),
            },
            fetched: Vec::new(),
            walk: Walk::default(),
            sums: Sums::default(),
            barriers: Barriers::default(),
        }
    }

    pub fn unsupported<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(EmitError::Unsupported {
            message: message.into(),
            span: self.span,
        })
    }

    pub fn internal<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(EmitError::Internal(format!("{}: {}", self.f.name, message.into())))
    }

    /// Writes something for a gang of so many lanes instead.
    pub fn with_lanes<T>(&mut self, lanes: u32, write: impl FnOnce(&mut Self) -> T) -> T {
        let whole = mem::replace(&mut self.gang.lanes, lanes);
        let written = write(self);
        self.gang.lanes = whole;
        written
    }

    pub fn define(&mut self, value: Value, val: Val) {
        self.known.vals[value.index()] = Some(val);
    }

    pub fn val(&self, value: Value) -> Res<Val> {
        match &self.known.vals[value.index()] {
            Some(val) => Ok(val.clone()),
            None => self.internal(format!("%{} is used before it is defined", value.0)),
        }
    }

    pub fn num(&self, value: Value) -> Res<Num> {
        match &self.known.vals[value.index()] {
            Some(Val::Num(n)) => Ok(*n),
            _ => self.internal(format!("%{} is not a number here", value.0)),
        }
    }

    pub fn view(&self, value: Value) -> Res<Rc<ViewVal>> {
        match &self.known.vals[value.index()] {
            Some(Val::View(v)) => Ok(v.clone()),
            _ => self.internal(format!("%{} is not a view here", value.0)),
        }
    }

    pub fn scalar(&self, value: Value) -> Res<Scalar> {
        self.scalar_of(self.f.ty(value))
    }

    pub fn local_scalar(&self, local: Local) -> Res<Scalar> {
        self.scalar_of(self.f.local_ty(local))
    }

    fn scalar_of(&self, ty: &Type) -> Res<Scalar> {
        match ty.scalar() {
            Some(s) if !s.is_complex() => Ok(s),
            _ => self.internal(format!("a value of type {ty} where a real scalar is needed")),
        }
    }

    /// The flags float arithmetic carries. Never `contract`: fma is explicit in the IR.
    pub fn fast(&self) -> &'static str {
        if self.f.flags.fastmath && !self.known.exact {
            "reassoc nnan ninf nsz arcp afn "
        } else {
            ""
        }
    }

    pub fn facts(&self, node: Node<'_>) -> Facts {
        self.info.facts_of(node.id)
    }
}
