//! Kernels: blocks of a grid, gangs of a block, thread geometry, the arrays of blocks and threads.

use weft_ir::{ArrayId, Axis, Geometry as Query, Space, ViewType};

use super::entry::end_frame;
use super::func::Fx;
use super::mask::Mask;
use super::module::Unroll;
use super::values::{Num, Res, ViewVal};
use super::writer::{Elem, Label, Operand, Ty};

/// Where the gang being written stands.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    pub thread: [Num; 3],
    pub block: [Operand; 3],
    pub block_dim: [Operand; 3],
    pub grid_dim: [Operand; 3],
}

/// A counting loop being written.
pub struct Counter {
    slot: Operand,
    head: Label,
    pub next: Label,
    done: Label,
    step: i64,
    pub at: Operand,
}

impl Fx<'_, '_> {
    /// Runs blocks `begin..end` of the grid.
    pub fn blocks(&mut self, lane_axis: Option<Axis>, full: bool) -> Res<()> {
        let dims: Vec<Operand> = (0..6).map(|i| self.load_extra(i)).collect();
        let linear = self.count(Operand::Arg("begin"), Operand::Arg("end"), 1);
        let (grid_x, grid_y) = (dims[3], dims[4]);
        let x = self.scalar_int("urem", linear.at, grid_x);
        let rest = self.scalar_int("udiv", linear.at, grid_x);
        let y = self.scalar_int("urem", rest, grid_y);
        let z = self.scalar_int("udiv", rest, grid_y);
        self.geometry = Some(Geometry {
            thread: [Num::int(0); 3],
            block: [x, y, z],
            block_dim: [dims[0], dims[1], dims[2]],
            grid_dim: [dims[3], dims[4], dims[5]],
        });
        let lane_axis = lane_axis.map(|axis| axis as usize);
        if super::regions::has_barrier(&self.f.body) {
            self.run_regions(lane_axis, full, linear.next)?;
        } else {
            self.gangs_of_block(lane_axis, full, &mut |fx, next| {
                fx.frames.push(end_frame(next));
                fx.forget_locals(|_| false);
                fx.block(fx.body)?;
                fx.frames.pop();
                Ok(())
            })?;
        }
        self.end_count(&linear);
        Ok(())
    }

    fn load_extra(&mut self, at: i64) -> Operand {
        let ptr = self.w.offset(Operand::Arg("extra"), Operand::Int(8 * at));
        self.w.load(Ty::I64, ptr)
    }

    /// Writes `body` once, in loops over the gangs of a block: lanes along one axis, the axes behind it outside.
    pub fn gangs_of_block(&mut self, lane_axis: Option<usize>, full: bool, body: &mut dyn FnMut(&mut Self, Label) -> Res<()>) -> Res<()> {
        let Some(mut geometry) = self.geometry else {
            return self.internal("threads outside a kernel");
        };
        let Some(lane_axis) = lane_axis else {
            return self.gangs_in_a_line(geometry, full, body);
        };
        let mut outer = Vec::new();
        for axis in (lane_axis + 1..3).rev() {
            let counter = self.count(Operand::Int(0), geometry.block_dim[axis], 1);
            geometry.thread[axis] = Num::Uniform(counter.at);
            outer.push(counter);
        }
        let length = geometry.block_dim[lane_axis];
        let gang = self.count(Operand::Int(0), length, self.lanes.into());
        geometry.thread[lane_axis] = Num::Affine(gang.at, 1);
        self.geometry = Some(geometry);
        self.mask = if full {
            Mask::Full
        } else {
            Mask::Lanes(self.lanes_below(Num::Affine(gang.at, 1), length))
        };
        body(self, gang.next)?;
        self.mask = Mask::Full;
        self.end_count(&gang);
        for counter in outer.iter().rev() {
            self.end_count(counter);
        }
        Ok(())
    }

    /// The same with lanes along the linear index of threads, which wraps round along the axes.
    fn gangs_in_a_line(&mut self, mut geometry: Geometry, full: bool, body: &mut dyn FnMut(&mut Self, Label) -> Res<()>) -> Res<()> {
        let [x, y, z] = geometry.block_dim;
        let plane = self.mul_scalar(x, y);
        let length = self.mul_scalar(plane, z);
        let gang = self.count(Operand::Int(0), length, self.lanes.into());
        let word = self.vector_ty(Elem::I32);
        let linear = self.take(Num::Affine(gang.at, 1), word.with(Elem::I64));
        let linear = self.convert("trunc", linear, word.with(Elem::I64), word);
        let (rows, in_row) = self.thread_division(linear, x, word);
        let (planes, in_plane) = self.thread_division(rows, y, word);
        geometry.thread = [in_row, in_plane, planes].map(|index| Num::Varying(self.convert("zext", index, word, word.with(Elem::I64))));
        self.geometry = Some(geometry);
        self.mask = if full {
            Mask::Full
        } else {
            Mask::Lanes(self.lanes_below(Num::Affine(gang.at, 1), length))
        };
        body(self, gang.next)?;
        self.mask = Mask::Full;
        self.end_count(&gang);
        Ok(())
    }

    /// Quotient and remainder of numbers below 2^10 by one up to 2^10, by multiplication: exact, since `n (m d - 2^20) < 2^20`.
    fn thread_division(&mut self, n: Operand, d: Operand, word: Ty) -> (Operand, Operand) {
        let inverse = self.scalar_int("udiv", Operand::Int(1 << 20), d);
        let inverse = self.add_scalar(inverse, Operand::Int(1));
        let [inverse, d] = [inverse, d].map(|op| {
            let narrow = self.convert("trunc", op, Ty::I64, Ty::I32);
            self.splat(narrow, word)
        });
        let product = self.plain("mul", word, n, inverse);
        let quotient = self.plain("lshr", word, product, Operand::Int(20));
        let back = self.plain("mul", word, quotient, d);
        (quotient, self.plain("sub", word, n, back))
    }

    /// Starts `for at in begin..end`.
    pub fn count(&mut self, begin: Operand, end: Operand, step: i64) -> Counter {
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, begin, slot);
        self.count_from(slot, end, step, 1)
    }

    /// The same from the number in `slot` on, and only as long as whole steps fit.
    pub fn count_whole(&mut self, slot: Operand, end: Operand, step: i64) -> Counter {
        self.count_from(slot, end, step, step)
    }

    fn count_from(&mut self, slot: Operand, end: Operand, step: i64, room: i64) -> Counter {
        let (head, start, next, done) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let at = self.w.load(Ty::I64, slot);
        let last = self.scalar_int("add nsw", at, Operand::Int(room - 1));
        let more = self.w.inst(format_args!("icmp slt {}, {}", last.typed(Ty::I64), end.of(Ty::I64)));
        self.w.cond_br(more, start, done);
        self.w.place(start);
        Counter {
            slot,
            head,
            next,
            done,
            step,
            at,
        }
    }

    pub fn end_count(&mut self, counter: &Counter) {
        self.step_count(counter);
        self.w.br(counter.head);
        self.w.place(counter.done);
    }

    /// The same for a loop of few turns, which LLVM must not unroll.
    pub fn end_short_count(&mut self, counter: &Counter) {
        self.step_count(counter);
        let (head, id) = (counter.head, self.cx.marked_loop(Unroll::Never));
        self.w.end(format_args!("br label %{head}, !llvm.loop !{id}"));
        self.w.place(counter.done);
    }

    fn step_count(&mut self, counter: &Counter) {
        self.w.place(counter.next);
        let next = self.scalar_int("add nsw", counter.at, Operand::Int(counter.step));
        self.w.store(Ty::I64, next, counter.slot);
    }

    pub fn geometry(&mut self, query: Query) -> Res<Num> {
        let Some(g) = self.geometry else {
            return self.unsupported("thread geometry outside a kernel");
        };
        Ok(match query {
            Query::ThreadIdx(axis) => g.thread[axis as usize],
            Query::BlockIdx(axis) => Num::Uniform(g.block[axis as usize]),
            Query::BlockDim(axis) => Num::Uniform(g.block_dim[axis as usize]),
            Query::GridDim(axis) => Num::Uniform(g.grid_dim[axis as usize]),
            // A warp starts at a multiple of its size.
            Query::LaneId if self.is_warp => Num::Affine(Operand::Int(0), 1),
            Query::LaneId => {
                let linear = self.linear_thread(&g);
                let ty = self.vector_ty(Elem::I64);
                let linear = self.take(linear, ty);
                Num::Varying(self.plain("and", ty, linear, Operand::Int(31)))
            }
        })
    }

    /// The thread's number in its block, x fastest.
    pub fn linear_thread(&mut self, g: &Geometry) -> Num {
        let zy = self.mul(g.thread[2], Num::Uniform(g.block_dim[1]));
        let zy = self.add(zy, g.thread[1]);
        let zyx = self.mul(zy, Num::Uniform(g.block_dim[0]));
        self.add(zyx, g.thread[0])
    }

    /// Memory for the function's arrays: shared ones once, local ones once per lane.
    pub fn make_arrays(&mut self) -> Res<()> {
        for decl in &self.f.arrays {
            let Some(count) = decl.shape.iter().try_fold(1u64, |n, axis| n.checked_mul(*axis)) else {
                return self.unsupported(format!("the array {} is too large", decl.name));
            };
            let lanes = if decl.space == Space::Local {
                u64::from(self.lanes.max(1))
            } else {
                1
            };
            let bytes = count.saturating_mul(decl.elem.size() as u64).saturating_mul(lanes);
            if bytes > 4 << 20 {
                return self.unsupported(format!("the array {} takes {bytes} bytes", decl.name));
            }
            let array = self.w.entry_inst(format_args!("alloca [{} x i8], align 64", bytes.max(1)));
            self.arrays.push(array);
            self.array_bytes.push(bytes.max(1));
        }
        Ok(())
    }

    /// The block's dynamic shared memory, as long as the launch says.
    pub fn dynamic_shared(&mut self, ty: ViewType) -> Res<ViewVal> {
        let base = match self.dynamic {
            Some(base) => base,
            None => {
                let bytes = self.w.entry_inst(format_args!("getelementptr i64, ptr %extra, i64 6"));
                let bytes = self.w.entry_inst(format_args!("load i64, {}", bytes.typed(Ty::PTR)));
                let array = self.w.entry_inst(format_args!("alloca i8, {}, align 64", bytes.typed(Ty::I64)));
                self.dynamic = Some(array);
                array
            }
        };
        let bytes = self.load_extra(6);
        let length = self.scalar_int("udiv", bytes, Operand::Int(ty.elem.size() as i64));
        Ok(self.contiguous(ty, base, Num::int(0), vec![Num::Uniform(length)]))
    }

    pub fn array(&mut self, id: ArrayId, ty: ViewType) -> Res<ViewVal> {
        let decl = &self.f.arrays[id.index()];
        let shape = decl.shape.iter().map(|n| Num::int(*n as i64)).collect();
        let local = decl.space == Space::Local && self.lanes > 0;
        let count = if self.in_pieces { decl.shape.iter().product() } else { 1 };
        let offset = if local {
            Num::Affine(Operand::Int(0), (count * decl.elem.size() as u64) as i64)
        } else {
            Num::int(0)
        };
        let ty = ViewType { space: decl.space, ..ty };
        Ok(self.contiguous(ty, self.arrays[id.index()], offset, shape))
    }
}
