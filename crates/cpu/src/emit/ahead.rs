//! Prefetch: what later gangs load is fetched while this one computes.
//!
//! A core works ahead of itself by a few hundred instructions, which is less than a gang of long straight code: its loads start when the
//! gang before is nearly done, and wait. What hardware fetches by itself helps half of the way. (AVX-512, 4 MiB of float32 in the third-level
//! cache, 30 dependent operations on four vectors: 0.34 ns an element, with this 0.30, from the first-level cache 0.29.)

use weft_ir::{Function, Op, Scalar, Space, StmtKind};

use super::control::FrameKind;
use super::func::Fx;
use super::mask::Mask;
use super::values::ViewVal;
use super::writer::{Operand, Ty};

/// Shorter code waits for the memory whatever it does, and more requests only get in each other's way: up to 8 % slower.
const LEAST_OPERATIONS: usize = 28;
/// How far ahead. Anything from 512 bytes to 4 KiB measured the same.
const DISTANCE: i64 = 1024;
const LINE: i64 = 64;

impl Fx<'_, '_> {
    /// A load of neighbouring elements by a whole gang: fetches those of a later gang, once for every array.
    pub fn fetch_ahead(&mut self, view: &ViewVal, at: Operand, s: Scalar) {
        if view.ty.space != Space::Global || self.fetched.contains(&view.base) || !self.works_long() {
            return;
        }
        self.fetched.push(view.base);
        self.cx.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)".to_owned());
        for line in 0..(i64::from(self.gang.lanes) * s.size() as i64).div_euclid(LINE).max(1) {
            let at = self.add_scalar(at, Operand::Int(DISTANCE + line * LINE));
            let ptr = self.w.offset(view.base, at);
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
