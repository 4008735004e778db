//! Interleaved access to complex elements of neighbouring lanes: both parts lie between each other in memory, so that one access moves them
//! all.

use weft_ir::{Index, Part, Stmt, StmtKind};

use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, ViewVal, elem};
use super::writer::{Operand, Ty};

impl<'m> Fx<'_, 'm> {
    /// Loads one part of neighbouring complex elements: the pairs as a whole, every second of which is wanted.
    pub fn load_part(&mut self, view: &ViewVal, at: Operand, ty: Ty, part: Part) -> Operand {
        let size = view.ty.elem.part().size();
        let first = if part == Part::Im {
            self.add_scalar(at, Operand::Int(-(size as i64)))
        } else {
            at
        };
        let pairs = Ty { lanes: 2 * ty.lanes, ..ty };
        let ptr = self.element_ptr(view.base, first);
        let both = self.w.inst(format_args!("load {pairs}, {}, align {size}", ptr.typed(Ty::PTR)));
        let odd = u32::from(part == Part::Im);
        let picks: Vec<String> = (0..ty.lanes).map(|lane| format!("i32 {}", 2 * lane + odd)).collect();
        let (lanes, picks) = (ty.lanes, picks.join(", "));
        self.w.inst(format_args!(
            "shufflevector {}, {pairs} poison, <{lanes} x i32> <{picks}>",
            both.typed(pairs)
        ))
    }

    /// Are these the stores of both parts of one element?
    pub fn stores_both(a: &Stmt, b: &Stmt) -> bool {
        match (&a.kind, &b.kind) {
            (
                StmtKind::Store {
                    view,
                    indices,
                    part: Part::Re,
                    ..
                },
                StmtKind::Store {
                    view: view_b,
                    indices: indices_b,
                    part: Part::Im,
                    ..
                },
            ) => view == view_b && indices == indices_b,
            _ => false,
        }
    }

    /// Writes both parts of neighbouring elements with one store; says whether it could.
    pub fn store_both(&mut self, re: &'m Stmt, im: &'m Stmt) -> Res<bool> {
        let (
            StmtKind::Store {
                view, indices, value: re, ..
            },
            StmtKind::Store { value: im, .. },
        ) = (&re.kind, &im.kind)
        else {
            return Ok(false);
        };
        if self.gang.mask != Mask::Full || self.gang.lanes == 0 {
            return Ok(false);
        }
        let view = self.view(*view)?;
        if !self.are_neighbours(&view, indices)? {
            return Ok(false);
        }
        let Num::Affine(at, _) = self.element_offset(&view, indices, Part::Re)? else {
            return self.internal("neighbours that are none");
        };
        let ty = self.gang.vector_ty(elem(view.ty.elem.part()));
        let (re, im) = (self.num(*re)?, self.num(*im)?);
        let (re, im) = (self.take(re, ty), self.take(im, ty));
        let (lanes, pairs) = (ty.lanes, Ty { lanes: 2 * ty.lanes, ..ty });
        let picks: Vec<String> = (0..lanes)
            .flat_map(|lane| [format!("i32 {lane}"), format!("i32 {}", lane + lanes)])
            .collect();
        let picks = picks.join(", ");
        let both = self.w.inst(format_args!(
            "shufflevector {}, {}, <{} x i32> <{picks}>",
            re.typed(ty),
            im.typed(ty),
            pairs.lanes
        ));
        let (ptr, align) = (self.element_ptr(view.base, at), view.ty.elem.part().size());
        self.w
            .line(format_args!("store {}, {}, align {align}", both.typed(pairs), ptr.typed(Ty::PTR)));
        Ok(true)
    }

    /// Do the lanes step from element to element? Seen without writing anything: only the last index steps, by one.
    fn are_neighbours(&self, view: &ViewVal, indices: &[Index]) -> Res<bool> {
        let Some((last, outer)) = indices.split_last() else {
            return Ok(false);
        };
        let unit = view.strides.last().and_then(|s| s.const_int()) == Some(view.ty.elem.size() as i64);
        let steps = matches!(self.num(last.value)?, Num::Affine(_, 1)) && !last.wrap;
        let mut uniform = view.offset.is_uniform() && view.strides.iter().all(|s| s.is_uniform());
        for index in outer {
            uniform &= self.num(index.value)?.is_uniform();
        }
        uniform &= view.shape.iter().all(|n| n.is_uniform());
        Ok(unit && steps && uniform)
    }
}
