//! Subgroup operations: what neighbouring lanes of a warp do by themselves.
//!
//! All lanes of a group come here together (`weft_passes::lower_for_gpu`), and a group's lanes are a subgroup's in order: the kernel's threads
//! then lie along one axis, by their number in the block, since nothing says in what order a driver takes the threads of more axes.

use naga::{Barrier, BinaryOperator, Expression, GatherMode, Statement, TypeInner, VectorSize};
use weft_ir::{Axis, Geometry, Op, StmtKind, Value, WARP, WarpOp};
use weft_thread::{Code, Numbers};

use super::func::Fx;
use super::operand::{Operand, Ty};
use super::values::{Num, Res};

impl Fx<'_> {
    /// Do lanes work together by themselves?
    pub fn has_groups(&self) -> bool {
        self.f.body.any(&mut |kind| {
            matches!(
                kind,
                StmtKind::SyncWarp(_) | StmtKind::Mma { .. } | StmtKind::Let(_, Op::Warp { .. })
            )
        })
    }

    pub fn of_group(&mut self, op: WarpOp, value: Value, lane: Option<Value>) -> Res<Num> {
        match op {
            WarpOp::Ballot => {
                let holds = self.operand(value)?;
                Ok(Num::Reg(self.group_ballot(holds)))
            }
            WarpOp::ShuffleIdx => {
                let Some(lane) = lane else {
                    return self.internal("a shuffle from no lane");
                };
                let (value, lane) = (self.operand(value)?, self.operand(lane)?);
                Ok(Num::Reg(self.group_take(value, lane)))
            }
            WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor | WarpOp::All | WarpOp::Any => self.is_lowered(op),
            WarpOp::Equal | WarpOp::MatchAny | WarpOp::MatchAll => self.is_lowered(op),
        }
    }

    fn is_lowered<T>(&self, op: WarpOp) -> Res<T> {
        self.internal(format!("{op:?}, which passes lower"))
    }

    /// The lanes of the group in which a bool is true, as bits of the warp.
    fn group_ballot(&mut self, holds: Operand) -> Operand {
        self.w.ty(TypeInner::Vector {
            size: VectorSize::Quad,
            scalar: Ty::U32.naga(),
        });
        let predicate = Some(self.w.expr(holds));
        let base = self.w.name(Expression::SubgroupBallotResult);
        self.w.push(Statement::SubgroupBallot { result: base, predicate });
        let lanes = self.w.eval(Expression::AccessIndex { base, index: 0 });
        let lanes = Operand::new(Ty::U32, lanes);
        let group = self.cx.request.group;
        if group >= WARP {
            return lanes;
        }
        let lane = self.geometry(Geometry::LaneId);
        let lane = self.take_short(lane);
        let first = self.w.binary(BinaryOperator::And, lane, Ty::I32.int((WARP - group).into()));
        let first = self.w.bitcast(first, Ty::U32);
        self.w.binary(BinaryOperator::ShiftLeft, lanes, first)
    }

    /// The value of a lane of the group.
    fn group_take(&mut self, value: Operand, lane: Operand) -> Operand {
        let group = self.cx.request.group;
        let place = self
            .w
            .binary(BinaryOperator::And, lane, Ty::I32.int(i64::from(group.min(WARP)) - 1));
        let place = self.w.bitcast(place, Ty::U32);
        let ty = self.w.scalar_ty(value.ty);
        let (argument, place) = (self.w.expr(value), self.w.expr(place));
        let result = self.w.name(Expression::SubgroupOperationResult { ty });
        self.w.push(Statement::SubgroupGather {
            mode: GatherMode::Shuffle(place),
            argument,
            result,
        });
        Operand::new(value.ty, result)
    }

    /// Lanes of a warp see what the others did to memory.
    pub fn sync_lanes(&mut self) {
        let alone = match self.cx.request.features.group_barriers {
            true => Barrier::SUB_GROUP,
            // All threads of the block come here.
            false => Barrier::empty(),
        };
        self.w
            .push(Statement::ControlBarrier(Barrier::STORAGE | Barrier::WORK_GROUP | alone));
    }

    /// The index along an axis of a thread whose number in the block is known.
    pub fn index_of(&mut self, thread: Operand, axis: Axis) -> Operand {
        let [width, height, depth] = self.cx.request.block.map(i64::from);
        let (below, own, above) = match axis {
            Axis::X => (1, width, height * depth),
            Axis::Y => (width, height, depth),
            Axis::Z => (width * height, depth, 1),
        };
        let thread = self.w.bitcast(thread, Ty::U32);
        let rows = match below {
            1 => thread,
            _ => self.w.binary(BinaryOperator::Divide, thread, Ty::U32.int(below)),
        };
        let index = match above {
            1 => rows,
            _ => self.w.binary(BinaryOperator::Modulo, rows, Ty::U32.int(own)),
        };
        self.w.bitcast(index, Ty::I32)
    }
}
