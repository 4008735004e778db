//! `prange` loops that accumulate into arrays: chunks of the iterations run on all threads, each into copies of its own that start at the
//! operator's identity. The copies are combined pairwise, neighbours first, and at last into the arrays themselves.
//!
//! Where the chunks are cut depends on the number of iterations and the size of the arrays alone, so that the result does not depend on
//! the number of threads.

use ruff_python_ast::StmtFor;
use ruff_text_size::Ranged;
use weft_array::loops::{point, store};
use weft_ir::{AxisSlice, BinOp, CmpOp, Index, Op, ReduceOp, Spread, StmtKind, Type, Value, ViewType};

use super::Lower;
use super::lazy::fresh_type;
use super::prange::{Accumulated, Iterations};
use crate::stop::Res;
use crate::value::Val;

/// Most chunks of a loop: more than there are cores as a rule, so that the last ones to finish are not waited for long.
const MOST_CHUNKS: i64 = 64;
/// Most bytes of an array's copies. An array of more than half of that gets one copy: what is parallel then is each addition.
const MOST_BYTES: i64 = 32 << 20;

/// An array that a loop accumulates into.
struct Target {
    name: String,
    op: ReduceOp,
    /// By `acc += x`, which changes the array itself; else by `acc = acc + x`, which makes a new one.
    in_place: bool,
    view: Value,
    ty: ViewType,
    shape: Vec<Value>,
    /// Elements.
    count: Value,
    /// One row for each chunk.
    copies: Value,
}

/// How iterations are cut.
#[derive(Clone, Copy)]
struct Chunks {
    count: Value,
    /// Iterations of each but the last.
    size: Value,
}

impl Lower<'_> {
    /// The loop, if it has iterations.
    pub fn prange_into_arrays(&mut self, s: &StmtFor, of: Iterations, found: &[Accumulated]) -> Res<()> {
        self.found.needs_host = true;
        let zero = self.b.i64(0);
        let any = self.b.compare(CmpOp::Gt, of.count, zero);
        self.emit_if(any, |l| {
            let mut targets = l.targets(s, found)?;
            let chunks = l.cut(of.count, &targets);
            for target in &mut targets {
                let shape = [chunks.count, target.count];
                target.copies = l.alloc(target.ty.elem, &shape, false, l.b.span)?;
            }
            l.run_chunks(s, of, chunks, &targets, found)?;
            for target in &targets {
                l.combine_copies(target, chunks)?;
                l.take_first_copy(target)?;
            }
            Ok(())
        })
    }

    fn targets(&mut self, s: &StmtFor, found: &[Accumulated]) -> Res<Vec<Target>> {
        let span = self.span(s.range());
        let mut targets = Vec::new();
        for acc in found {
            let Val::View(view, ty) = self.read(&acc.name, span)? else {
                continue;
            };
            let shape = self.shape_of(view, ty);
            let count = self.product(&shape);
            targets.push(Target {
                name: acc.name.clone(),
                op: acc.op,
                in_place: acc.in_place,
                view,
                ty,
                shape,
                count,
                copies: view,
            });
        }
        Ok(targets)
    }

    fn cut(&mut self, iterations: Value, targets: &[Target]) -> Chunks {
        let one = self.b.i64(1);
        let mut most = self.b.i64(MOST_CHUNKS);
        for target in targets {
            let room = self.b.i64(MOST_BYTES / target.ty.elem.size() as i64);
            let elements = self.b.binary(BinOp::Max, target.count, one);
            let fit = self.b.binary(BinOp::FloorDiv, room, elements);
            most = self.b.binary(BinOp::Min, most, fit);
        }
        most = self.b.binary(BinOp::Max, most, one);
        let size = self.ceil_div(iterations, most);
        let count = self.ceil_div(iterations, size);
        self.facts.mark_all_nonneg([size, count]);
        Chunks { count, size }
    }

    /// `a / b` rounded up, of what is not negative.
    fn ceil_div(&mut self, a: Value, b: Value) -> Value {
        let one = self.b.i64(1);
        let more = self.b.binary(BinOp::Add, a, b);
        let more = self.b.binary(BinOp::Sub, more, one);
        self.b.binary(BinOp::FloorDiv, more, b)
    }

    fn run_chunks(&mut self, s: &StmtFor, of: Iterations, chunks: Chunks, targets: &[Target], found: &[Accumulated]) -> Res<()> {
        let chunk = self.b.func.new_value(Type::I64);
        self.facts.mark_nonneg(chunk);
        let outer = self.b.span;
        self.open_block();
        for target in targets {
            self.start_copy(target, chunk)?;
        }
        let first = self.b.binary(BinOp::Mul, chunk, chunks.size);
        let end = self.b.binary(BinOp::Add, first, chunks.size);
        let last = self.b.binary(BinOp::Min, end, of.count);
        let (step, var) = (self.b.i64(1), self.b.func.new_value(Type::I64));
        self.facts.mark_all_nonneg([first, last, var]);
        let body = self.points_body(s, of, var, false)?;
        self.b.span = outer;
        self.b.push(StmtKind::For {
            var,
            start: first,
            stop: last,
            step,
            body,
        });
        for target in targets {
            self.set_private(&target.name, None);
        }
        let body = self.close_block();
        let reductions = self.reductions(found);
        self.b.push(StmtKind::ParFor {
            vars: vec![chunk],
            extents: vec![chunks.count],
            reductions,
            spread: Spread::Threads,
            body,
        });
        Ok(())
    }

    /// A chunk's own copy, filled with what changes nothing; the loop's body has it in place of the array.
    fn start_copy(&mut self, target: &Target, chunk: Value) -> Res<()> {
        let (row, row_ty) = self.row(target, chunk);
        let fill = target.op.identity(target.ty.elem);
        self.at_every_point(&[target.count], Vec::new(), &mut |l, vars| {
            let Some(fill) = fill else { return Ok(()) };
            let value = l.b.constant(fill);
            store(&mut l.b, (row, row_ty), vars, value);
            Ok(())
        })?;
        let copy = self.shaped(target, row);
        let ty = fresh_type(target.ty.elem, target.ty.rank);
        let ty = ViewType {
            writable: target.ty.writable,
            ..ty
        };
        let copy = self.relax_view(copy, fresh_type(target.ty.elem, target.ty.rank), ty);
        self.set_private(&target.name, Some((copy, ty)));
        Ok(())
    }

    /// One chunk's copy, flat.
    fn row(&mut self, target: &Target, chunk: Value) -> (Value, ViewType) {
        let at = AxisSlice::At(Index { value: chunk, wrap: false });
        self.slice(target.copies, fresh_type(target.ty.elem, 2), vec![at, AxisSlice::Full])
    }

    /// A flat copy in its array's shape.
    fn shaped(&mut self, target: &Target, row: Value) -> Value {
        let ty = fresh_type(target.ty.elem, target.ty.rank);
        let shaped = self.b.emit(ty, Op::Reshape(row, target.shape.clone()));
        self.arrays.derived(shaped, row);
        self.arrays.shapes.insert(shaped, target.shape.clone());
        shaped
    }

    /// Combines copies that are `apart`: neighbours at first, then twice as far from each other each time.
    fn combine_copies(&mut self, target: &Target, chunks: Chunks) -> Res<()> {
        let ty = fresh_type(target.ty.elem, 2);
        let apart = self.b.func.new_local(Type::I64, "");
        let one = self.b.i64(1);
        self.b.set(apart, one);
        self.open_block();
        let distance = self.b.get(apart);
        let over = self.b.compare(CmpOp::Ge, distance, chunks.count);
        self.emit_if(over, |l| {
            l.b.push(StmtKind::Break);
            Ok(())
        })?;
        let twice = self.b.binary(BinOp::Add, distance, distance);
        let rest = self.b.binary(BinOp::Sub, chunks.count, distance);
        let pairs = self.ceil_div(rest, twice);
        self.at_every_point(&[pairs, target.count], Vec::new(), &mut |l, vars| {
            let into = l.b.binary(BinOp::Mul, vars[0], twice);
            let from = l.b.binary(BinOp::Add, into, distance);
            l.facts.mark_all_nonneg([into, from]);
            let (into, from) = ([into, vars[1]], [from, vars[1]]);
            let a = l.load(target.copies, ty, point(&into, 2));
            let b = l.load(target.copies, ty, point(&from, 2));
            let value = l.joined(target, &a, &b)?;
            store(&mut l.b, (target.copies, ty), &into, value);
            Ok(())
        })?;
        self.b.set(apart, twice);
        let body = self.close_block();
        self.b.push(StmtKind::Loop(body));
        Ok(())
    }

    /// Combines the first copy, which holds all others by then, into the array or into a new one.
    fn take_first_copy(&mut self, target: &Target) -> Res<()> {
        let zero = self.b.i64(0);
        let (row, _) = self.row(target, zero);
        let copy = self.shaped(target, row);
        let ty = fresh_type(target.ty.elem, target.ty.rank);
        let into = match target.in_place {
            true => target.view,
            false => self.alloc(target.ty.elem, &target.shape, false, self.b.span)?,
        };
        self.at_every_point(&target.shape, Vec::new(), &mut |l, vars| {
            let at = point(vars, target.ty.rank);
            let (a, b) = (l.load(target.view, target.ty, at.clone()), l.load(copy, ty, at));
            let value = l.joined(target, &a, &b)?;
            store(&mut l.b, (into, ty), vars, value);
            Ok(())
        })?;
        match target.in_place {
            true => Ok(()),
            false => self.assign(&target.name, Val::View(into, ty), self.b.span),
        }
    }

    fn joined(&mut self, target: &Target, a: &Val, b: &Val) -> Res<Value> {
        let a = self.number_as(a, target.ty.elem, self.b.span)?;
        let b = self.number_as(b, target.ty.elem, self.b.span)?;
        Ok(self.b.binary(target.op.binary(), a, b))
    }

    /// `acc = acc + x` where the body has a copy of its own: into the copy.
    pub fn store_private(&mut self, (copy, ty): (Value, ViewType), val: &Val, span: weft_ir::Span) -> Res<()> {
        let rank = match val.ty() {
            crate::types::Ty::View(v) if v.elem == ty.elem => v.rank,
            other => {
                let message = format!(
                    "this makes {other} of {} that the loop accumulates into",
                    crate::types::Ty::View(ty)
                );
                return Err(self.typing(span, message));
            }
        };
        if rank != ty.rank {
            let message = format!(
                "this makes a {rank}-d array of the {}-d array that the loop accumulates into",
                ty.rank
            );
            return Err(self.typing(span, message));
        }
        self.store_array(copy, ty, val, span)
    }
}
