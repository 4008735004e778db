//! Alias checks: do two views share memory? Asked when the program runs, before elements are stored while others are read.

use weft_ir::{CmpOp, Scalar};

use super::func::Fx;
use super::values::{Num, Res, ViewVal};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// Neither has elements between the first and the last of the other, or both are the very same view.
    pub fn apart(&mut self, a: &ViewVal, b: &ViewVal) -> Res<Num> {
        let (a_start, a_end) = self.span_of(a)?;
        let (b_start, b_end) = self.span_of(b)?;
        let before = self.compare(CmpOp::Le, Scalar::U64, a_end, b_start);
        let behind = self.compare(CmpOp::Le, Scalar::U64, b_end, a_start);
        let mut apart = self.either("or", before, behind)?;
        if a.shape.len() == b.shape.len() && a.ty.elem == b.ty.elem {
            let (x, y) = (self.address(a)?, self.address(b)?);
            let mut same = self.compare(CmpOp::Eq, Scalar::U64, x, y);
            let numbers = a.shape.iter().chain(&a.strides).zip(b.shape.iter().chain(&b.strides));
            for (&x, &y) in numbers {
                let equal = self.compare(CmpOp::Eq, Scalar::I64, x, y);
                same = self.either("and", same, equal)?;
            }
            apart = self.either("or", apart, same)?;
        }
        Ok(apart)
    }

    /// The first address of a view's elements, and the one behind the last.
    fn span_of(&mut self, view: &ViewVal) -> Res<(Num, Num)> {
        let mut start = self.address(view)?;
        let mut end = self.add(start, Num::int(view.ty.elem.size() as i64));
        for (&n, &stride) in view.shape.iter().zip(&view.strides) {
            let last = self.sub(n, Num::int(1));
            let reach = self.mul(last, stride);
            let zero = Num::int(0);
            let below = self.smaller(CmpOp::Lt, reach, zero)?;
            let above = self.smaller(CmpOp::Gt, reach, zero)?;
            start = self.add(start, below);
            end = self.add(end, above);
        }
        Ok((start, end))
    }

    fn address(&mut self, view: &ViewVal) -> Res<Num> {
        let base = self.w.inst(format_args!("ptrtoint {} to i64", view.base.typed(Ty::PTR)));
        Ok(self.add(Num::Uniform(base), view.offset))
    }

    /// The number itself where it compares so with a bound, else the bound.
    fn smaller(&mut self, op: CmpOp, n: Num, bound: Num) -> Res<Num> {
        let cond = self.compare(op, Scalar::I64, n, bound);
        let (cond, n, bound) = (self.scalar_operand(cond)?, self.scalar_operand(n)?, self.scalar_operand(bound)?);
        Ok(Num::Uniform(self.select_op(Ty::I64, cond, n, bound)))
    }

    fn either(&mut self, op: &str, a: Num, b: Num) -> Res<Num> {
        let (a, b) = (self.scalar_operand(a)?, self.scalar_operand(b)?);
        Ok(Num::Uniform(self.w.inst(format_args!(
            "{op} {}, {}",
            a.typed(Ty::BOOL),
            b.of(Ty::BOOL)
        ))))
    }

    fn scalar_operand(&self, n: Num) -> Res<Operand> {
        match n {
            Num::Uniform(op) => Ok(op),
            _ => self.internal("views are compared in code that runs once"),
        }
    }
}
