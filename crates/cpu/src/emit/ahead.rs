//! Prefetch: what later gangs load is fetched while this one computes.
//!
//! A core works ahead of itself by a few hundred instructions, which is less than a gang of long straight code: its loads start when the
//! gang before is nearly done, and wait. What hardware fetches by itself helps half of the way. (AVX-512, 4 MiB of float32 in the third-level
//! cache, 30 dependent operations on four vectors: 0.34 ns an element, with this 0.30, from the first-level cache 0.29.)
//!
//! A loop that goes from row to row, with lanes along the row, comes to another page with every load, and what hardware fetches by itself
//! ends where a page does. Such loops fetch what they load some rows later. (Sums of the columns of 4000 x 1000 float32 in the third-level
//! cache: 0.97 ms, with this 0.45.)

use weft_ir::{BinOp, Block, Function, Index, Op, Scalar, Space, StmtKind, Value};
use weft_passes::uniformity::Class;

use super::frames::FrameKind;
use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, ViewVal};
use super::walk::Walk;
use super::writer::{Operand, Ty};

/// Shorter code waits for the memory whatever it does, and more requests only get in each other's way: up to 8 % slower.
const LEAST_OPERATIONS: usize = 28;
/// How far ahead. Anything from 512 bytes to 4 KiB measured the same.
const DISTANCE: i64 = 1024;
const LINE: i64 = 64;
/// How many rows ahead. From 8 to 32 measured the same.
const ROWS: i64 = 16;

impl Fx<'_, '_> {
    /// Is this such a loop: does each load of it that depends on the row take the row's neighbours to the lanes? What all lanes load of
    /// another array in every row (as products of matrices do) is work enough, and comes from nearer caches. The loop is at the row `at`,
    /// before `stop`.
    pub fn walk_of(&mut self, var: Value, [at, stop]: [Operand; 2], body: &Block) -> Walk {
        if self.gang.lanes == 0 || self.gang.is_warp || self.gang.mask != Mask::Full {
            return Walk::default();
        }
        let mut rows = vec![var];
        let (mut loops, mut columns, mut others) = (false, 0, 0);
        body.walk(&mut |kind| match kind {
            StmtKind::Loop(_) | StmtKind::For { .. } => loops = true,
            StmtKind::Let(value, Op::Binary(BinOp::Add, a, b)) if [a, b].contains(&&var) && self.is_uniform(*value) => rows.push(*value),
            StmtKind::Let(value, Op::Load { view, indices, .. }) if self.f.ty(*view).view().is_some_and(|v| v.space == Space::Global) => {
                let by_row = indices.iter().any(|index| rows.contains(&index.value));
                match self.info.values[value.index()] {
                    Class::Varying if by_row => columns += 1,
                    _ if by_row => others += 1,
                    _ => {}
                }
            }
            _ => {}
        });
        if loops || columns == 0 || others > 0 {
            return Walk::default();
        }
        let last = self.sub_scalar(stop, Operand::Int(1));
        let left = self.sub_scalar(last, at);
        Walk {
            rows,
            ahead: self.call("smin", Ty::I64, &[left, Operand::Int(ROWS)]),
            fetched: Vec::new(),
        }
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.info.values[value.index()].is_uniform()
    }

    /// A load of neighbouring elements by a whole gang: fetches those of a later one, once for every array.
    pub fn fetch_ahead(&mut self, view: &ViewVal, indices: &[Index], at: Operand, s: Scalar) {
        if view.ty.space != Space::Global {
            return;
        }
        if let Some(axis) = self.walked_axis(view, indices)
            && let Num::Uniform(stride) = view.strides[axis]
        {
            self.walk.fetched.push(view.base);
            let rows = self.mul_scalar(stride, self.walk.ahead);
            let later = self.add_scalar(at, rows);
            return self.fetch(view.base, later, s);
        }
        if !self.fetched.contains(&view.base) && self.works_long() {
            self.fetched.push(view.base);
            let later = self.add_scalar(at, Operand::Int(DISTANCE));
            self.fetch(view.base, later, s);
        }
    }

    /// Along which axis the loop around walks, where it is to fetch this array's rows.
    fn walked_axis(&self, view: &ViewVal, indices: &[Index]) -> Option<usize> {
        let whole = self.gang.mask == Mask::Full && !self.walk.fetched.contains(&view.base);
        indices.iter().position(|index| whole && self.walk.rows.contains(&index.value))
    }

    fn fetch(&mut self, base: Operand, at: Operand, s: Scalar) {
        self.cx.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)".to_owned());
        for line in 0..(i64::from(self.gang.lanes) * s.size() as i64).div_euclid(LINE).max(1) {
            let at = self.add_scalar(at, Operand::Int(line * LINE));
            let ptr = self.w.offset(base, at);
            // For reading, to stay in all caches, as data.
            self.w.line(format_args!(
                "call void @llvm.prefetch.p0({}, i32 0, i32 3, i32 1)",
                ptr.typed(Ty::PTR)
            ));
        }
    }

    /// Is this straight code of whole gangs, one after the other, and much of it? In a loop inside, a gang's next load is the loop's.
    fn works_long(&self) -> bool {
        let straight = !self.control.frames.iter().any(|f| f.kind == FrameKind::Next);
        let alone = !self.gang.is_warp && self.barriers.team.is_empty() && self.barriers.regions.is_none();
        self.gang.mask == Mask::Full && straight && alone && computes_long(self.f)
    }
}

/// Does a function compute for longer than its loads and stores take?
pub fn computes_long(f: &Function) -> bool {
    let mut count = 0;
    f.body.walk(&mut |kind| {
        count += usize::from(matches!(kind, StmtKind::Let(_, op) if !matches!(op, Op::Const(_) | Op::Get(_))));
    });
    count >= LEAST_OPERATIONS
}
