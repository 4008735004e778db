//! Transfer functions of uniformity: what class an operation's value is of, and the shape of a view.

use weft_ir::{AxisSlice, BinOp, Geometry, Op, Scalar, Space, Type, UnOp, Value, WarpOp};

use super::walk::Walk;
use super::{Class, Lanes};

impl Walk<'_> {
    fn all(&self, values: &[Value]) -> Class {
        values.iter().fold(Class::Block, |c, v| c.with(self.class(*v)))
    }

    fn operands(&self, op: &Op) -> Class {
        let mut class = Class::Block;
        op.operands(&mut |v| class = class.with(self.class(v)));
        class
    }

    pub(super) fn shape(&self, op: &Op) -> Class {
        match op {
            Op::Get(local) if matches!(self.func.local_ty(*local), Type::View(_)) => self.out.locals[local.index()],
            Op::Transpose(view, _) | Op::PartView(view, _) => self.shapes[view.index()],
            Op::Slice { view, axes } => axes.iter().fold(self.shapes[view.index()], |class, axis| match axis {
                AxisSlice::Range { len, .. } => class.with(self.class(*len)),
                AxisSlice::At(_) | AxisSlice::Full | AxisSlice::New => class,
            }),
            Op::Reshape(view, shape) => self.all(shape).with(self.shapes[view.index()]),
            Op::Call(..) => self.operands(op),
            // Arrays that all threads have alike.
            Op::Alloc { .. } | Op::Array(_) | Op::ConstArray(_) | Op::DynamicShared | Op::ThreadState(_) => Class::Block,
            // No views.
            Op::Const(_)
            | Op::Get(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Fma(..)
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Complex(..)
            | Op::Re(_)
            | Op::Im(_)
            | Op::Tuple(_)
            | Op::Item(..)
            | Op::Dim(..)
            | Op::Load { .. }
            | Op::Atomic { .. }
            | Op::Geometry(_)
            | Op::Warp { .. }
            | Op::ActiveMask
            | Op::BarrierReduce(..)
            | Op::Apart(..)
            | Op::Routine { .. }
            | Op::Libm { .. }
            | Op::OutOfStack => Class::Block,
        }
    }

    pub(super) fn op(&self, op: &Op, value: Value) -> Class {
        match op {
            Op::Get(local) => self.out.locals[local.index()],
            Op::Geometry(g) => self.geometry(*g),
            Op::Dim(view, _) => self.shapes[view.index()],
            Op::Atomic { .. } => Class::Varying,
            // Each gang has its own.
            Op::Array(id) if self.func.arrays[id.index()].space == Space::Local => Class::Gang,
            Op::Call(func, _) if self.calls.differ(*func) => Class::Varying,
            Op::Warp { op: warp, .. } => self.warp(*warp, op),
            Op::ActiveMask => Class::Gang,
            Op::BarrierReduce(..) => Class::Block,
            Op::Load { view, .. } => match self.func.ty(*view) {
                Type::View(v) if v.space == Space::Local => Class::Varying,
                _ => self.operands(op),
            },
            Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Fma(..)
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Complex(..)
            | Op::Re(_)
            | Op::Im(_)
            | Op::Tuple(_)
            | Op::Item(..)
            | Op::Call(..)
            | Op::Slice { .. }
            | Op::Transpose(..)
            | Op::PartView(..)
            | Op::Reshape(..)
            | Op::Alloc { .. }
            | Op::Array(_)
            | Op::ConstArray(_)
            | Op::DynamicShared
            | Op::Apart(..)
            | Op::Routine { .. }
            | Op::ThreadState(_)
            | Op::Libm { .. }
            | Op::OutOfStack => match self.func.ty(value) {
                Type::Scalar(Scalar::I64) => self.integer(op),
                _ => self.operands(op),
            },
        }
    }

    /// Integer arithmetic keeps a step from lane to lane where it can.
    fn integer(&self, op: &Op) -> Class {
        let plain = self.operands(op);
        if plain.is_uniform() || plain == Class::Unset {
            return plain;
        }
        match op {
            Op::Unary(UnOp::Neg, a) => scaled(self.class(*a), -1),
            Op::Binary(BinOp::Add, a, b) => stepped(self.class(*a), self.class(*b), i64::wrapping_add),
            Op::Binary(BinOp::Sub, a, b) => stepped(self.class(*a), self.class(*b), i64::wrapping_sub),
            Op::Binary(BinOp::Mul, a, b) => match (self.consts.get(a), self.consts.get(b)) {
                (_, Some(c)) => scaled(self.class(*a), *c),
                (Some(c), _) => scaled(self.class(*b), *c),
                _ => Class::Varying,
            },
            Op::Select(cond, a, b) if self.class(*cond).is_uniform() => self.class(*a).join(self.class(*b)),
            Op::Cast(a) if *self.func.ty(*a) == Type::I64 => self.class(*a),
            _ => Class::Varying,
        }
    }

    /// A gang is one warp. Lanes with one mask get one answer, unless it is about their own value.
    fn warp(&self, warp: WarpOp, op: &Op) -> Class {
        let Op::Warp { mask, value, lane, .. } = op else {
            return Class::Varying;
        };
        let from_one = warp == WarpOp::ShuffleIdx && lane.is_some_and(|lane| self.class(lane).is_uniform());
        let (mask, value) = (self.class(*mask), self.class(*value));
        match warp {
            _ if mask == Class::Unset || value == Class::Unset => Class::Unset,
            _ if from_one && !value.is_uniform() => Class::Gang,
            _ if warp.is_shuffle() => {
                if value.is_uniform() {
                    value
                } else {
                    Class::Varying
                }
            }
            WarpOp::MatchAny if !value.is_uniform() => Class::Varying,
            WarpOp::All | WarpOp::Any | WarpOp::Equal | WarpOp::Ballot | WarpOp::MatchAny | WarpOp::MatchAll if mask.is_uniform() => {
                Class::Gang
            }
            _ => Class::Varying,
        }
    }

    fn geometry(&self, g: Geometry) -> Class {
        match (g, self.lanes) {
            (Geometry::ThreadIdx(axis), Lanes::Threads(lane) | Lanes::Warp(Some(lane))) if axis == lane => Class::Affine(1),
            (Geometry::ThreadIdx(_), Lanes::Warp(None)) => Class::Varying,
            (Geometry::ThreadIdx(_), _) => Class::Gang,
            (Geometry::LaneId, Lanes::Warp(_)) => Class::Affine(1),
            (Geometry::LaneId, _) => Class::Varying,
            (Geometry::BlockIdx(_) | Geometry::BlockDim(_) | Geometry::GridDim(_), _) => Class::Block,
        }
    }
}

fn step_of(class: Class) -> Option<i64> {
    match class {
        Class::Affine(step) => Some(step),
        c if c.is_uniform() => Some(0),
        _ => None,
    }
}

fn stepped(a: Class, b: Class, combine: impl Fn(i64, i64) -> i64) -> Class {
    match (step_of(a), step_of(b)) {
        (Some(s), Some(t)) => Class::stepping(combine(s, t)),
        _ => Class::Varying,
    }
}

fn scaled(class: Class, factor: i64) -> Class {
    step_of(class).map_or(Class::Varying, |step| Class::stepping(step.wrapping_mul(factor)))
}
