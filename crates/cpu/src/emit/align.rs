//! Loop peeling for alignment: a short row first, so that whole gangs start where what they store is aligned.
//!
//! Arrays of other libraries start anywhere: large ones 16 bytes behind a page, as a rule. A vector of 64 bytes then lies in two cache lines, and
//! a load waits for the store before it, whose second line has the same place in its page. (AVX-512, float32 `x * x + x` in the second-level
//! cache: 0.19 ns an element, aligned 0.09; AVX2: 0.12 and 0.10.) So a row of gangs that do little but move memory is entered by one with
//! lanes off.
//!
//! So is every row whose results go past the caches to memory (`Flags::streams`), which takes whole vectors at aligned addresses. An ordinary
//! store reads what it writes over before.

use weft_ir::{Block, FuncKind, Index, Part, StmtKind, Value};

use super::ahead::computes_long;
use super::func::Fx;
use super::values::{Num, Res, Val};
use super::writer::{Operand, Ty};

/// A row of fewer gangs is not worth it.
const LEAST_GANGS: i64 = 16;

impl<'m> Fx<'_, 'm> {
    /// Where the lanes of the first gang end, so that the next one's stores are aligned: `end` if they are so anyway, or not worth it.
    pub fn first_stop(&mut self, index: Option<Value>, begin: Operand, end: Operand) -> Res<Option<Operand>> {
        let (bytes, f) = (i64::from(self.cx.target.vector_bits / 8), self.f);
        // Sums depend on where gangs start.
        if !matches!(&f.kind, FuncKind::Loop { reductions, .. } if reductions.is_empty()) {
            return Ok(None);
        }
        let streams = f.flags.streams && stores(&f.body) == 1;
        // Arrays are aligned to 16 bytes as they are.
        if !streams && (bytes <= 16 || computes_long(f)) {
            return Ok(None);
        }
        let Some(index) = index else { return Ok(None) };
        let Some((view, indices)) = self.neighbours_stored(&f.body, index) else {
            return Ok(None);
        };
        let view = self.view(view)?;
        let size = view.ty.elem.size() as i64;
        self.define(index, Val::Num(Num::Uniform(begin)));
        let Num::Uniform(offset) = self.element_offset(&view, indices, Part::Whole)? else {
            return Ok(None);
        };
        let first = self.w.offset(view.base, offset);
        let first = self.w.inst(format_args!("ptrtoint {} to i64", first.typed(Ty::PTR)));
        // No whole gang of a row that streams comes before the first aligned one.
        let bytes = if streams {
            bytes.min(i64::from(self.gang.lanes) * size)
        } else {
            bytes
        };
        let lacking = self.scalar_int("sub", Operand::Int(0), first);
        let lacking = self.scalar_int("and", lacking, Operand::Int(bytes - 1));
        let lanes = self.scalar_int("udiv", lacking, Operand::Int(size));
        let stop = self.add_scalar(begin, lanes);
        let off = |fx: &mut Self| fx.w.inst(format_args!("icmp ne {}, 0", lanes.typed(Ty::I64)));
        if streams {
            self.gang.streams = Some(bytes);
            let stop = self.call("smin", Ty::I64, &[stop, end]);
            let off = off(self);
            return Ok(Some(self.select_op(Ty::I64, off, stop, end)));
        }
        let length = self.scalar_int("sub", end, begin);
        let long = LEAST_GANGS * i64::from(self.gang.lanes);
        let long = self.w.inst(format_args!("icmp sge {}, {long}", length.typed(Ty::I64)));
        let off = off(self);
        let wanted = self.plain("and", Ty::BOOL, long, off);
        Ok(Some(self.select_op(Ty::I64, wanted, stop, end)))
    }

    /// A store to neighbours whose address can be told before the body runs.
    fn neighbours_stored(&self, body: &'m Block, last: Value) -> Option<(Value, &'m [Index])> {
        body.0.iter().find_map(|stmt| {
            let StmtKind::Store {
                view,
                indices,
                part: Part::Whole,
                ..
            } = &stmt.kind
            else {
                return stmt.kind.blocks().find_map(|inner| self.neighbours_stored(inner, last));
            };
            let (at, outer) = indices.split_last()?;
            let uniform = |i: &Index| matches!(self.known.vals[i.value.index()], Some(Val::Num(Num::Uniform(_))));
            let Some(Val::View(stored)) = &self.known.vals[view.index()] else {
                return None;
            };
            let step = stored.strides.last().copied().and_then(Num::const_int);
            let dense = step == Some(stored.ty.elem.size() as i64);
            (at.value == last && outer.iter().all(uniform) && dense).then_some((*view, indices.as_slice()))
        })
    }
}

/// How many statements store elements.
fn stores(body: &Block) -> usize {
    let mut count = 0;
    body.walk(&mut |kind| count += usize::from(matches!(kind, StmtKind::Store { .. })));
    count
}
