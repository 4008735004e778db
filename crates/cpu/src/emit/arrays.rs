//! Shared, local and dynamic shared arrays: their memory, and views of it.

use weft_ir::{ArrayId, Space, ViewType};

use super::func::Fx;
use super::values::{Num, Res, ViewVal};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// Memory for the function's arrays: shared ones once, local ones once per lane.
    pub fn make_arrays(&mut self) -> Res<()> {
        for decl in &self.f.arrays {
            let Some(count) = decl.shape.iter().try_fold(1u64, |n, axis| n.checked_mul(*axis)) else {
                return self.unsupported(format!("the array {} is too large", decl.name));
            };
            let lanes = if decl.space == Space::Local {
                u64::from(self.gang.lanes.max(1))
            } else {
                1
            };
            let bytes = count.saturating_mul(decl.elem.size() as u64).saturating_mul(lanes);
            if bytes > 4 << 20 {
                return self.unsupported(format!("the array {} takes {bytes} bytes", decl.name));
            }
            let array = self.w.entry_inst(format_args!("alloca [{} x i8], align 64", bytes.max(1)));
            self.arrays.memory.push(array);
            self.arrays.bytes.push(bytes.max(1));
        }
        Ok(())
    }

    pub fn load_extra(&mut self, at: i64) -> Operand {
        let ptr = self.w.offset(Operand::Arg("extra"), Operand::Int(8 * at));
        self.w.load(Ty::I64, ptr)
    }

    /// The block's dynamic shared memory, as long as the launch says.
    pub fn dynamic_shared(&mut self, ty: ViewType) -> Res<ViewVal> {
        let base = match self.arrays.dynamic {
            Some(base) => base,
            None => {
                let bytes = self.w.entry_inst(format_args!("getelementptr i64, ptr %extra, i64 6"));
                let bytes = self.w.entry_inst(format_args!("load i64, {}", bytes.typed(Ty::PTR)));
                let array = self.w.entry_inst(format_args!("alloca i8, {}, align 64", bytes.typed(Ty::I64)));
                self.arrays.dynamic = Some(array);
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
        let local = decl.space == Space::Local && self.gang.lanes > 0;
        let count = if self.arrays.in_pieces { decl.shape.iter().product() } else { 1 };
        let offset = if local {
            Num::Affine(Operand::Int(0), (count * decl.elem.size() as u64) as i64)
        } else {
            Num::int(0)
        };
        let ty = ViewType { space: decl.space, ..ty };
        Ok(self.contiguous(ty, self.arrays.memory[id.index()], offset, shape))
    }
}
