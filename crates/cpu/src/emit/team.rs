//! Unroll and jam of gangs, as teams: several gangs of a block written in lockstep, statement by statement, where a region's control is the
//! same for the whole block.
//!
//! A sum that a gang carries round a loop is one chain of additions, each waiting for the last. Several gangs side by side are several
//! chains, and what they read alike (the row of a tile) is read once for all of them. So a team runs along the axis behind the lanes where
//! the kernel has one: its gangs are rows that share their columns.

use std::mem;

use weft_ir::{Geometry, Op, StmtKind, Value};
use weft_passes::numbering::Node;
use weft_passes::uniformity::{Class, Facts};

use super::barriers::Member;
use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, Val};
use super::width;
use super::writer::{Label, Operand, Ty};

/// Vectors of sums that are enough to keep the arithmetic busy: two units, each with results four cycles on their way.
const CHAINS: usize = 8;
/// Statements of a region, times its gangs, that are written at most.
const STATEMENTS: usize = 400;

/// Where a gang of a team stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub thread: [Num; 3],
    /// Its number in the block.
    pub gang: Operand,
}

impl<'m> Fx<'_, 'm> {
    /// How many gangs to write together for a region in which all lanes are on.
    pub fn team_size(&self, nodes: &[Node<'m>]) -> usize {
        let bits = self.gang.lanes * width::widest(self.f);
        let vectors = bits.div_ceil(self.cx.target.vector_bits) as usize;
        let mut held = 0;
        width::each_innermost_loop(nodes.iter().map(|node| node.stmt), &mut |looping, body| {
            held = held.max(width::held(self.f, &self.info, looping, body))
        });
        if held == 0 || !nodes.iter().all(|node| self.is_common(*node)) {
            return 1;
        }
        let statements: usize = nodes.iter().map(|node| node.size()).sum();
        let most = (CHAINS / (held * vectors)).min(STATEMENTS / statements.max(1));
        if most < 2 { 1 } else { 1 << most.ilog2() }
    }

    /// Does a statement neither end nor part what the threads of a block do alike?
    fn is_common(&self, node: Node<'_>) -> bool {
        let alike = |v: &Value| matches!(self.info.values[v.index()], Class::Block | Class::Unset);
        let inside = || node.blocks().all(|block| block.iter().all(|inner| self.is_common(inner)));
        match &node.stmt.kind {
            StmtKind::Let(..) | StmtKind::Set(..) | StmtKind::Store { .. } => true,
            StmtKind::If { cond, .. } => alike(cond) && inside(),
            StmtKind::For { start, stop, step, .. } => {
                self.facts(node) == Facts::default() && [start, stop, step].into_iter().all(alike) && inside()
            }
            _ => false,
        }
    }

    /// The axis that a team lies along.
    fn team_axis(&self, lane_axis: usize) -> usize {
        let rows = self
            .f
            .body
            .any(&mut |kind| matches!(kind, StmtKind::Let(_, Op::Geometry(Geometry::ThreadIdx(axis))) if *axis as usize == lane_axis + 1));
        lane_axis + usize::from(rows)
    }

    /// Writes `body` in loops over a block that has only whole gangs: once for teams of `members`, and once for the gangs left over.
    pub fn teams_of_block(
        &mut self,
        lane_axis: usize,
        members: usize,
        mut body: impl FnMut(&mut Self, &[Place], Label) -> Res<()>,
    ) -> Res<()> {
        let Some(geometry) = self.gang.geometry else {
            return self.internal("threads outside a kernel");
        };
        let (axis, lanes, dim) = (self.team_axis(lane_axis), i64::from(self.gang.lanes), geometry.block_dim);
        let mut thread = geometry.thread;
        let (mut outer, mut row) = (Vec::new(), Operand::Int(0));
        for further in (axis + 1..3).rev() {
            let counter = self.count(Operand::Int(0), dim[further], 1);
            thread[further] = Num::Uniform(counter.at);
            row = self.mul_scalar(row, dim[further]);
            row = self.add_scalar(row, counter.at);
            outer.push(counter);
        }
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, Operand::Int(0), slot);
        let per_row = self.scalar_int("udiv", dim[lane_axis], Operand::Int(lanes));
        for members in [members as i64, 1] {
            let step = if axis == lane_axis { lanes } else { 1 };
            let team = self.count_whole(slot, dim[axis], members * step);
            let inner = (axis != lane_axis).then(|| self.count(Operand::Int(0), dim[lane_axis], lanes));
            let first = inner.as_ref().map_or(team.at, |counter| counter.at);
            let column = self.scalar_int("udiv", first, Operand::Int(lanes));
            let row = if axis == lane_axis { row } else { self.mul_scalar(row, dim[axis]) };
            let mut places = Vec::new();
            for k in 0..members {
                let at = self.add_scalar(team.at, Operand::Int(k * step));
                let (mut thread, mut row, mut column) = (thread, row, column);
                if axis == lane_axis {
                    thread[axis] = Num::Affine(at, 1);
                    column = self.add_scalar(column, Operand::Int(k));
                } else {
                    thread[axis] = Num::Uniform(at);
                    thread[lane_axis] = Num::Affine(first, 1);
                    row = self.add_scalar(row, at);
                }
                let before = self.mul_scalar(row, per_row);
                let gang = self.add_scalar(before, column);
                places.push(Place { thread, gang });
            }
            self.gang.mask = Mask::Full;
            let next = inner.as_ref().map_or(team.next, |counter| counter.next);
            body(self, &places, next)?;
            if let Some(inner) = inner {
                self.end_count(&inner);
            }
            self.end_count(&team);
        }
        for counter in outer.iter().rev() {
            self.end_count(counter);
        }
        Ok(())
    }

    /// Memory of a further member.
    pub fn new_member(&mut self) -> Res<Member> {
        let f = self.f;
        let mut member = Member {
            arrays: self.arrays.memory.clone(),
            ..Member::default()
        };
        for (i, local) in f.locals.iter().enumerate() {
            let class = self.info.locals[i];
            member.slots.push(self.make_slot(class, &local.ty)?);
        }
        for value in self.kept_values() {
            let class = self.info.values[value.index()];
            let slot = self.make_slot(class, f.ty(value))?;
            member.kept.insert(value, slot);
        }
        Ok(member)
    }

    /// Changes places with a member.
    fn exchange(&mut self, member: &mut Member) {
        mem::swap(&mut self.known.vals, &mut member.vals);
        mem::swap(&mut self.slots, &mut member.slots);
        mem::swap(&mut self.arrays.memory, &mut member.arrays);
        if let Some(geometry) = &mut self.gang.geometry {
            for (ours, theirs) in geometry.thread.iter_mut().zip(&mut member.thread) {
                let before = *ours;
                *ours = theirs.unwrap_or(before);
                *theirs = Some(before);
            }
        }
        if let Some(kept) = self.kept_slots() {
            mem::swap(kept, &mut member.kept);
        }
    }

    /// Writes something for every member of the team in turn, or for the only gang.
    pub fn each_member(&mut self, write: &mut dyn FnMut(&mut Self, usize) -> Res<()>) -> Res<()> {
        let mut team = mem::take(&mut self.barriers.team);
        let mut done = write(self, 0);
        for (i, member) in team.iter_mut().enumerate() {
            self.exchange(member);
            done = done.and_then(|()| write(self, i + 1));
            self.exchange(member);
        }
        self.barriers.team = team;
        done
    }

    /// Defines what is the same for all members.
    pub fn define_common(&mut self, value: Value, val: &Val) {
        for member in &mut self.barriers.team {
            member.vals[value.index()] = Some(val.clone());
        }
        self.define(value, val.clone());
    }
}
