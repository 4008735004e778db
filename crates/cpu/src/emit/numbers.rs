//! Numbers in steps from lane to lane, made vectors where they are needed, and index arithmetic that folds what is known.

use super::func::Fx;
use super::values::Num;
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    /// A number of the shape a type says.
    pub fn wrap(&self, op: Operand, ty: Ty) -> Num {
        if ty.lanes == 0 { Num::Uniform(op) } else { Num::Varying(op) }
    }

    /// The operand for a place of type `ty`: broadcast or laid out over the lanes where it is a vector.
    pub fn take(&mut self, n: Num, ty: Ty) -> Operand {
        match n {
            Num::Uniform(op) if ty.lanes == 0 => op,
            Num::Uniform(op) => self.splat(op, ty),
            Num::Affine(base, step) => {
                let base = self.splat(base, ty);
                let lanes = self.lane_steps(step);
                match base {
                    Operand::Int(0) => lanes,
                    _ => self.w.inst(format_args!("add {}, {}", base.typed(ty), lanes.of(ty))),
                }
            }
            Num::Strided(base, step) => {
                let (base, step, lanes) = (self.splat(base, ty), self.splat(step, ty), self.lane_steps(1));
                let steps = self.w.inst(format_args!("mul {}, {}", lanes.typed(ty), step.of(ty)));
                self.w.inst(format_args!("add {}, {}", base.typed(ty), steps.of(ty)))
            }
            Num::Varying(op) => op,
        }
    }

    /// A vector with one scalar in every lane.
    pub fn splat(&mut self, op: Operand, ty: Ty) -> Operand {
        if op.is_const() && !matches!(op, Operand::Global(_)) {
            return op;
        }
        let scalar = Ty::scalar(ty.elem);
        let first = self.w.inst(format_args!("insertelement {ty} poison, {}, i64 0", op.typed(scalar)));
        let lanes = ty.lanes;
        self.w.inst(format_args!(
            "shufflevector {}, {ty} poison, <{lanes} x i32> zeroinitializer",
            first.typed(ty)
        ))
    }

    /// The vector `0, step, 2 * step, …`, computed once in the entry block.
    pub fn lane_steps(&mut self, step: i64) -> Operand {
        if let Some(op) = self.gang.steps.get(&step) {
            return *op;
        }
        let ty = self.gang.vector_ty(Elem::I64);
        let op = if step == 1 {
            let name = format!("llvm.stepvector.{}", ty.suffix());
            self.cx.declare(format!("declare {ty} @{name}()"));
            self.w.entry_inst(format_args!("call {ty} @{name}()"))
        } else {
            let one = self.lane_steps(1);
            self.w
                .entry_inst(format_args!("mul {}, {}", one.typed(ty), Operand::Int(step).of(ty)))
        };
        self.gang.steps.insert(step, op);
        op
    }

    pub fn add(&mut self, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Varying(_), Num::Uniform(Operand::Int(0))) => a,
            (Num::Uniform(Operand::Int(0)), Num::Varying(_)) => b,
            _ => match (self.in_steps(a), self.in_steps(b)) {
                (Some((x, s)), Some((y, t))) => {
                    let (base, step) = (self.add_scalar(x, y), self.add_scalar(s, t));
                    strided(base, step)
                }
                _ => self.vector_int("add", a, b),
            },
        }
    }

    pub fn sub(&mut self, a: Num, b: Num) -> Num {
        match (self.in_steps(a), self.in_steps(b)) {
            (Some((x, s)), Some((y, t))) => {
                let (base, step) = (self.sub_scalar(x, y), self.sub_scalar(s, t));
                strided(base, step)
            }
            _ => self.vector_int("sub", a, b),
        }
    }

    pub fn mul(&mut self, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Varying(_), Num::Uniform(Operand::Int(1))) => a,
            (_, Num::Uniform(factor)) => self.scaled(a, factor).unwrap_or_else(|| self.vector_int("mul", a, b)),
            (Num::Uniform(factor), _) => self.scaled(b, factor).unwrap_or_else(|| self.vector_int("mul", a, b)),
            _ => self.vector_int("mul", a, b),
        }
    }

    /// A number that steps from lane to lane, times one that is the same in all.
    fn scaled(&mut self, n: Num, factor: Operand) -> Option<Num> {
        let (base, step) = self.in_steps(n)?;
        let (base, step) = (self.mul_scalar(base, factor), self.mul_scalar(step, factor));
        Some(strided(base, step))
    }

    /// The number of the first lane, and what each adds to that of the lane before.
    pub fn in_steps(&self, n: Num) -> Option<(Operand, Operand)> {
        match n {
            Num::Uniform(op) => Some((op, Operand::Int(0))),
            Num::Affine(base, step) => Some((base, Operand::Int(step))),
            Num::Strided(base, step) => Some((base, step)),
            Num::Varying(_) => None,
        }
    }

    fn vector_int(&mut self, op: &str, a: Num, b: Num) -> Num {
        let ty = self.gang.vector_ty(Elem::I64);
        let (x, y) = (self.take(a, ty), self.take(b, ty));
        Num::Varying(self.w.inst(format_args!("{op} {}, {}", x.typed(ty), y.of(ty))))
    }

    pub fn add_scalar(&mut self, x: Operand, y: Operand) -> Operand {
        match (x, y) {
            (Operand::Int(a), Operand::Int(b)) => Operand::Int(a.wrapping_add(b)),
            (op, Operand::Int(0)) | (Operand::Int(0), op) => op,
            _ => self.scalar_int("add", x, y),
        }
    }

    pub fn sub_scalar(&mut self, x: Operand, y: Operand) -> Operand {
        match (x, y) {
            (Operand::Int(a), Operand::Int(b)) => Operand::Int(a.wrapping_sub(b)),
            (op, Operand::Int(0)) => op,
            _ => self.scalar_int("sub", x, y),
        }
    }

    pub fn mul_scalar(&mut self, x: Operand, y: Operand) -> Operand {
        match (x, y) {
            (Operand::Int(a), Operand::Int(b)) => Operand::Int(a.wrapping_mul(b)),
            (op, Operand::Int(1)) | (Operand::Int(1), op) => op,
            (_, Operand::Int(0)) | (Operand::Int(0), _) => Operand::Int(0),
            _ => self.scalar_int("mul", x, y),
        }
    }

    pub fn scalar_int(&mut self, op: &str, x: Operand, y: Operand) -> Operand {
        self.w.inst(format_args!("{op} {}, {}", x.typed(Ty::I64), y.of(Ty::I64)))
    }
}

fn strided(base: Operand, step: Operand) -> Num {
    match step {
        Operand::Int(0) => Num::Uniform(base),
        Operand::Int(step) => Num::Affine(base, step),
        _ => Num::Strided(base, step),
    }
}
