//! Instructions that compute: operands looked up, and the function that does the work.

use super::function::{Decoder, Result};
use super::mods::Mods;
use super::{compare, convert, float, int, video};
use crate::exec::inst::{Carry, Combine, Op, Pred, PredOp, Test};
use crate::exec::lanes::{Lanewise, Slot};
use crate::ptx::syntax::{Operand, Ty};

impl Decoder<'_> {
    fn lanes(&mut self, run: int::Run, to: Slot, from: &[Slot], mode: u32) {
        let first = from.first().copied().unwrap_or(to);
        let mut slots = [first; 3];
        for (slot, from) in slots.iter_mut().zip(from) {
            *slot = *from;
        }
        self.push(Op::Lanes(Lanewise {
            run,
            to,
            from: slots,
            mode,
        }));
    }

    pub(super) fn arithmetic(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if let Some((run, mode)) = int::bits(mods)? {
            return self.bits(mods, operands, run, mode);
        }
        if let Some((run, mode)) = video::simd(mods)? {
            return self.ternary(operands, run, mode);
        }
        let ty = mods.ty()?;
        let short = float::short_operands(mods, ty);
        let (run, mode) = if ty.float() || mods.opcode == "copysign" {
            float::arithmetic(mods, ty)?
        } else {
            int::arithmetic(mods, ty)?.map(|run| (run, 0))
        }
        .ok_or_else(|| mods.error("unknown instruction"))?;
        let Some((to, from)) = operands.split_first() else {
            return self.error("expected operands");
        };
        let arity = match mods.opcode {
            "abs" | "neg" | "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => 1,
            "fma" | "mad" | "mad24" | "sad" => 3,
            _ => 2,
        };
        let (to, _) = self.destination(to)?;
        let mut from = from.iter().map(|o| self.source(o, ty)).collect::<Result<Vec<_>>>()?;
        if let Some(short) = short {
            // All but the last are of the shorter type.
            let widen = float::widen(short);
            for slot in from.iter_mut().take(arity - 1) {
                let wide = self.temporary();
                self.lanes(widen, wide, &[*slot], 0);
                *slot = wide;
            }
        }
        if let ([a, b, c], "min" | "max") = (from.as_slice(), mods.opcode) {
            let level = self.linker.level;
            if ty != Ty::F32 || mods.parts().any(|part| part == "xorsign") || level.sm < 100 || level.ptx < 88 {
                return Err(mods.error("three operands are for .f32, from sm_100 and PTX 8.8 on"));
            }
            let between = self.temporary();
            self.lanes(run, between, &[*a, *b], mode);
            self.lanes(run, to, &[between, *c], mode);
            return Ok(());
        }
        self.count(operands, arity + 1)?;
        self.lanes(run, to, &from, mode);
        Ok(())
    }

    /// Three words to one.
    fn ternary(&mut self, operands: &[Operand], run: int::Run, mode: u32) -> Result<()> {
        self.count(operands, 4)?;
        let (to, _) = self.destination(&operands[0])?;
        let from = operands[1..].iter().map(|o| self.source(o, Ty::B32)).collect::<Result<Vec<_>>>()?;
        self.lanes(run, to, &from, mode);
        Ok(())
    }

    fn bits(&mut self, mods: &Mods<'_>, operands: &[Operand], run: int::Run, mode: u32) -> Result<()> {
        let Some((to, from)) = operands.split_first() else {
            return self.error("expected operands");
        };
        // Shift amounts and fields are 32 bits wide whatever the type.
        let wide = mods.whole.ends_with("64");
        let mut slots = Vec::new();
        for (index, operand) in from.iter().enumerate() {
            let amount = match mods.opcode {
                "shl" | "shr" | "bfe" => index >= 1,
                "bfi" => index >= 2,
                _ => false,
            };
            if amount && mods.opcode.starts_with("bf") && matches!(operand, Operand::Int(n) if !(0..256).contains(n)) {
                return self.error("places and lengths of fields are from 0 to 255");
            }
            slots.push(self.source(operand, if wide && !amount { Ty::B64 } else { Ty::B32 })?);
        }
        let (to, _) = self.destination(to)?;
        match (mods.opcode, slots.as_slice()) {
            ("lop3", [a, b, c, _]) => match &from[3] {
                Operand::Int(table) => self.lanes(run, to, &[*a, *b, *c], *table as u32),
                _ => return self.error("the table of lop3 is a number"),
            },
            ("bfi", [a, b, at, len]) => {
                let field = self.temporary();
                self.lanes(int::pack_field(), field, &[*at, *len], 0);
                self.lanes(run, to, &[*a, *b, field], mode);
            }
            (opcode, slots) => {
                let arity = match opcode {
                    "not" | "cnot" | "bfind" | "brev" | "clz" | "popc" => 1,
                    "shf" | "bfe" | "prmt" | "dp4a" | "dp2a" | "fns" => 3,
                    _ => 2,
                };
                self.count(operands, arity + 1)?;
                self.lanes(run, to, slots, mode);
            }
        }
        Ok(())
    }

    pub(super) fn mov(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let ty = mods.ty()?;
        self.count(operands, 2)?;
        if ty == Ty::Pred {
            let (to, a) = (self.to_pred(&operands[0])?, self.pred(&operands[1])?);
            if let Some(to) = to {
                self.push(Op::Preds {
                    op: PredOp::And,
                    to,
                    a,
                    b: Pred::TRUE,
                });
            }
            return Ok(());
        }
        match (&operands[0], &operands[1]) {
            (Operand::Vector(to), from) => self.unpack(to, from, ty),
            (to, Operand::Vector(from)) => self.pack(to, from, ty),
            (to, from) => {
                let (to, _) = self.destination(to)?;
                let from = self.source(from, ty)?;
                let run = int::copy(ty.bytes()).ok_or_else(|| mods.error("unsupported type"))?;
                self.lanes(run, to, &[from], 0);
                Ok(())
            }
        }
    }

    fn pieces(&self, count: usize, ty: Ty) -> Result<u8> {
        let fits = match ty {
            Ty::B32 | Ty::B64 => matches!(count, 2 | 4),
            _ => false,
        };
        if !fits {
            return self.error("a vector of two or four pieces of .b32 or .b64 is expected");
        }
        Ok((ty.bytes() as usize * 8 / count) as u8)
    }

    fn pack(&mut self, to: &Operand, from: &[Operand], ty: Ty) -> Result<()> {
        let bits = self.pieces(from.len(), ty)?;
        self.fit_pieces(from, bits)?;
        self.fit_whole(to, ty)?;
        let piece = match bits {
            8 => Ty::B8,
            16 => Ty::B16,
            _ => Ty::B32,
        };
        let (to, _) = self.destination(to)?;
        let mut slots = [to; 4];
        for (slot, operand) in slots.iter_mut().zip(from) {
            *slot = self.source(operand, piece)?;
        }
        self.push(Op::Pack {
            to,
            from: slots,
            count: from.len() as u8,
            bits,
        });
        Ok(())
    }

    fn unpack(&mut self, to: &[Operand], from: &Operand, ty: Ty) -> Result<()> {
        let bits = self.pieces(to.len(), ty)?;
        self.fit_pieces(to, bits)?;
        self.fit_whole(from, ty)?;
        let from = self.source(from, ty)?;
        let mut slots = [from; 4];
        for (slot, operand) in slots.iter_mut().zip(to) {
            *slot = self.destination(operand)?.0;
        }
        self.push(Op::Unpack {
            to: slots,
            from,
            count: to.len() as u8,
            bits,
        });
        Ok(())
    }

    pub(super) fn logic(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        mods.take("pred");
        let Some(to) = self.to_pred(&operands[0])? else {
            return Ok(());
        };
        if mods.opcode == "not" {
            self.count(operands, 2)?;
            let a = self.pred(&operands[1])?;
            self.push(Op::Preds {
                op: PredOp::And,
                to,
                a: Pred { negated: !a.negated, ..a },
                b: Pred::TRUE,
            });
            return Ok(());
        }
        self.count(operands, 3)?;
        let (a, b) = (self.pred(&operands[1])?, self.pred(&operands[2])?);
        let op = match mods.opcode {
            "and" => PredOp::And,
            "or" => PredOp::Or,
            _ => PredOp::Xor,
        };
        self.push(Op::Preds { op, to, a, b });
        Ok(())
    }

    pub(super) fn compare(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if mods.opcode == "testp" {
            let ty = mods.ty()?;
            let test = compare::property(mods, ty)?;
            self.count(operands, 2)?;
            let (to, a) = (self.to_pred(&operands[0])?, self.source(&operands[1], ty)?);
            self.compare_op(test, a, a, to, None, Combine::None, Pred::TRUE);
            return Ok(());
        }
        let to_ty = if mods.opcode == "set" { Some(mods.ty()?) } else { None };
        let ty = mods.ty()?;
        let comparison = compare::comparison(mods, ty)?;
        self.count(operands, if comparison.combine == Combine::None { 3 } else { 4 })?;
        let (a, b) = (self.source(&operands[1], ty)?, self.source(&operands[2], ty)?);
        let with = operands.get(3).map_or(Ok(Pred::TRUE), |o| self.pred(o))?;
        if let Some(to_ty) = to_ty {
            return self.set(&operands[0], to_ty, &comparison, (a, b), with);
        }
        let (first, second) = match &operands[0] {
            Operand::Pair(first, second) => (self.to_pred(first)?, self.to_pred(second)?),
            single => (self.to_pred(single)?, None),
        };
        if comparison.high.is_some() != matches!(operands[0], Operand::Pair(..)) && ty.packed() {
            return self.error("a comparison of packed halves has two results");
        }
        if matches!(ty, Ty::F16 | Ty::BF16) && matches!(operands[0], Operand::Pair(..)) {
            return self.error("a comparison of halves has one result");
        }
        if let Some(high) = comparison.high {
            self.compare_op(comparison.test, a, b, first, None, comparison.combine, with);
            self.compare_op(high, a, b, second, None, comparison.combine, with);
        } else {
            self.compare_op(comparison.test, a, b, first, second, comparison.combine, with);
        }
        Ok(())
    }

    /// `set`: of packed types each half by itself.
    fn set(&mut self, to: &Operand, ty: Ty, comparison: &compare::Comparison, (a, b): (Slot, Slot), with: Pred) -> Result<()> {
        let one = match (ty, comparison.high.is_some()) {
            (Ty::U32 | Ty::S32, false) => u64::from(u32::MAX),
            (Ty::F32, false) => u64::from(1f32.to_bits()),
            (Ty::U16 | Ty::S16, false) | (Ty::U32 | Ty::S32, true) => u64::from(u16::MAX),
            (Ty::F16, false) | (Ty::F16x2, true) => 0x3c00,
            (Ty::BF16, false) | (Ty::BF16x2, true) => 0x3f80,
            _ => return self.error("unsupported type"),
        };
        let (to, _) = self.destination(to)?;
        let value = |test: Test, to: Slot, one: u64| Op::SetValue {
            test,
            a,
            b,
            to,
            one,
            combine: comparison.combine,
            with,
        };
        let Some(high) = comparison.high else {
            self.push(value(comparison.test, to, one));
            return Ok(());
        };
        let (first, second) = (self.temporary(), self.temporary());
        self.push(value(comparison.test, first, one));
        self.push(value(high, second, one << 16));
        self.lanes(int::either(), to, &[first, second], 0);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn compare_op(&mut self, test: Test, a: Slot, b: Slot, to: Option<u32>, opposite: Option<u32>, combine: Combine, with: Pred) {
        self.push(Op::Compare {
            test,
            a,
            b,
            to,
            opposite,
            combine,
            with,
        });
    }

    pub(super) fn select(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let ty = mods.ty()?;
        self.count(operands, 4)?;
        let (to, _) = self.destination(&operands[0])?;
        let (a, b) = (self.source(&operands[1], ty)?, self.source(&operands[2], ty)?);
        if mods.opcode == "selp" {
            let by = self.pred(&operands[3])?;
            self.push(Op::Select { to, a, b, by });
            return Ok(());
        }
        mods.take("ftz");
        let by = mods.ty()?;
        let run = int::select_by_sign(ty, by).ok_or_else(|| mods.error("unsupported type"))?;
        let c = self.source(&operands[3], by)?;
        self.lanes(run, to, &[a, b, c], 0);
        Ok(())
    }

    pub(super) fn convert(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if mods.take("pack") {
            return self.error("cvt.pack is not supported");
        }
        let Some((to, from)) = operands.split_first() else {
            return self.error("expected operands");
        };
        if mods.parts().any(|part| part == "tf32") && matches!(from, [Operand::Float(_) | Operand::F64(_)]) {
            return self.error("arguments mismatch: a number of another type");
        }
        let (to, register) = self.destination(to)?;
        let conversion = convert::conversion(mods, register)?;
        self.count(operands, conversion.operands + 1)?;
        let ty = if mods.whole.ends_with("f32") { Ty::F32 } else { Ty::B64 };
        let from = from.iter().map(|o| self.source(o, ty)).collect::<Result<Vec<_>>>()?;
        self.lanes(conversion.run, to, &from, conversion.mode);
        Ok(())
    }

    pub(super) fn carry(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let sets = mods.take("cc");
        self.carry_common(mods, operands, true, sets)
    }

    pub(super) fn carry_out(&mut self, mods: &mut Mods<'_>, operands: &[Operand], uses: bool) -> Result<()> {
        self.carry_common(mods, operands, uses, true)
    }

    fn carry_common(&mut self, mods: &mut Mods<'_>, operands: &[Operand], uses: bool, sets: bool) -> Result<()> {
        let product = mods.opcode.starts_with("mad");
        let high = mods.take("hi");
        if product && !high && !mods.take("lo") {
            return Err(mods.error("expected .lo or .hi"));
        }
        let ty = mods.ty()?;
        if !matches!(ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64) {
            return Err(mods.error("unsupported type"));
        }
        self.count(operands, if product { 4 } else { 3 })?;
        let (to, _) = self.destination(&operands[0])?;
        let (a, b) = (self.source(&operands[1], ty)?, self.source(&operands[2], ty)?);
        let c = if product { Some(self.source(&operands[3], ty)?) } else { None };
        self.push(Op::Carry(Carry {
            to,
            a,
            b,
            c,
            high,
            signed: ty.signed(),
            wide: ty.bytes() == 8,
            subtract: mods.opcode.starts_with("sub"),
            uses,
            sets,
        }));
        Ok(())
    }
}
