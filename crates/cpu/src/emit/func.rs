//! The state of the function being written, and what every part of the emitter asks of it.

use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::{FuncId, FuncKind, Function, Local, Op, Scalar, Span, Type, Value};
use weft_passes::numbering::Numbered;
use weft_passes::uniformity::Uniformity;

use super::EmitError;
use super::control::Frame;
use super::fixed::Fixed;
use super::kernel::Geometry;
use super::mask::Mask;
use super::module::ModuleCx;
use super::points;
use super::regions::Regions;
use super::team::Member;
use super::values::{Num, Res, Val, ViewVal};
use super::views::Slot;
use super::writer::{Elem, Label, Operand, Writer};

/// Writes one function.
pub struct Fx<'a, 'm> {
    pub cx: &'a mut ModuleCx<'m>,
    pub f: &'m Function,
    /// The function's body.
    pub body: Numbered<'m>,
    pub info: Rc<Uniformity>,
    pub w: Writer,
    /// Lanes of the gang; 0 in scalar code.
    pub lanes: u32,
    /// The gang is a warp.
    pub is_warp: bool,
    pub vals: Vec<Option<Val>>,
    /// The operation that defines each value.
    pub defs: Vec<Option<&'m Op>>,
    pub slots: Vec<Slot>,
    /// Allocations that its callers have made, where it frees its own.
    pub mark: Option<Operand>,
    /// Scalar code: where the views in scope point.
    pub views: Vec<Operand>,
    /// Loops free what they allocated, so that an allocation's memory may be that of an earlier one.
    pub frees: bool,
    /// Local arrays lie in one piece each, not interleaved: functions that are called alone are given some.
    pub in_pieces: bool,
    /// The shared, local arrays' memory.
    pub arrays: Vec<Operand>,
    pub array_bytes: Vec<u64>,
    /// Dynamic shared memory, once it is used.
    pub dynamic: Option<Operand>,
    /// How often each value is read.
    pub uses: Vec<u32>,
    pub frames: Vec<Frame>,
    /// Sums of floats across gangs, as doubles: the reduction's local and the memory of one double a lane.
    pub totals: Vec<(Local, Operand)>,
    /// Reductions of a fixed order.
    pub fixed: Fixed,
    pub mask: Mask,
    /// How a mask sits in a slot: `i1`, or an integer as wide as the lanes' data where the target has no mask registers.
    pub mask_elem: Elem,
    /// A body is being written twice already.
    pub doubled: bool,
    /// What is being written is the second of the two: for gangs that are not whole.
    pub rest: bool,
    pub geometry: Option<Geometry>,
    /// `i32`: what the function returns.
    pub status: Operand,
    pub exit: Label,
    pub lane_vectors: HashMap<i64, Operand>,
    /// The arrays whose later elements this code fetches.
    pub fetched: Vec<Operand>,
    pub span: Span,
    /// What a kernel with barriers keeps between its regions.
    pub regions: Option<Box<Regions>>,
    /// The gangs written in lockstep with this one.
    pub team: Vec<Member>,
    /// The value being computed is to be computed as written, whatever `fastmath` allows.
    pub exact: bool,
}

impl<'a, 'm> Fx<'a, 'm> {
    pub fn new(cx: &'a mut ModuleCx<'m>, id: FuncId, info: Rc<Uniformity>, lanes: u32) -> Fx<'a, 'm> {
        let (f, body) = (cx.module.function(id), cx.numberings[id.index()].body());
        let frees = lanes == 0 && (points::allocates_in_loop(cx, &f.body) || f.kind != FuncKind::Host && points::allocates(cx, &f.body));
        let mut w = Writer::default();
        let exit = w.label();
        let mut fx = Fx {
            cx,
            f,
            body,
            info,
            w,
            lanes,
            is_warp: false,
            vals: vec![None; f.values.len()],
            defs: vec![None; f.values.len()],
            slots: Vec::new(),
            mark: None,
            views: Vec::new(),
            frees,
            in_pieces: false,
            arrays: Vec::new(),
            array_bytes: Vec::new(),
            dynamic: None,
            uses: weft_passes::operands::use_counts(f),
            frames: Vec::new(),
            totals: Vec::new(),
            fixed: Fixed::default(),
            mask: Mask::Full,
            mask_elem: Elem::I1,
            doubled: false,
            rest: false,
            geometry: None,
            status: Operand::Null,
            exit,
            lane_vectors: HashMap::new(),
            fetched: Vec::new(),
            span: Span::NONE,
            regions: None,
            team: Vec::new(),
            exact: false,
        };
        fx.in_pieces = fx.hands_on_arrays();
        fx.status = fx.w.entry_inst(format_args!("alloca i32"));
        fx
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

    pub fn define(&mut self, value: Value, val: Val) {
        self.vals[value.index()] = Some(val);
    }

    pub fn val(&self, value: Value) -> Res<Val> {
        match &self.vals[value.index()] {
            Some(val) => Ok(val.clone()),
            None => self.internal(format!("%{} is used before it is defined", value.0)),
        }
    }

    pub fn num(&self, value: Value) -> Res<Num> {
        match &self.vals[value.index()] {
            Some(Val::Num(n)) => Ok(*n),
            _ => self.internal(format!("%{} is not a number here", value.0)),
        }
    }

    pub fn view(&self, value: Value) -> Res<Rc<ViewVal>> {
        match &self.vals[value.index()] {
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
        if self.f.flags.fastmath && !self.exact {
            "reassoc nnan ninf nsz arcp afn "
        } else {
            ""
        }
    }
}
