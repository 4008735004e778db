//! The rules that the table of operations names: what its columns cannot say of operands and results.

use super::body::{Body, Checked, operand, same};
use super::error::Fault;
use crate::module::{ArrayId, ConstId, FuncId, FuncKind, Local, Value};
use crate::op::{AtomicOp, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Index, Libm, Part, Routine, ThreadState, UnOp, WarpOp};
use crate::types::{Layout, Scalar, Space, Type, ViewType};

/// Arithmetic.
impl Body<'_> {
    pub(super) fn constant(&self, &c: &Const, result: &Type) -> Checked {
        same(result, &c.scalar().into(), "the constant")?;
        match c {
            Const::Int(scalar, _) if !scalar.is_int() => Err(operand("an integer constant", result)),
            Const::Int(scalar, v) if scalar.wrap(v) != v => Err(Fault::ConstRange),
            _ => Ok(()),
        }
    }

    pub(super) fn get(&self, &local: &Local, result: &Type) -> Checked {
        same(result, self.local(local)?, "the result of get")
    }

    pub(super) fn unary(&self, &op: &UnOp, &a: &Value, result: &Type) -> Checked {
        let scalar = self.scalar(a, op.name())?;
        takes(op.takes(scalar), op.name(), scalar)?;
        let given = op.gives(scalar);
        let called = if given == scalar { "the result" } else { "the result of a test" };
        same(result, &given.into(), called)
    }

    pub(super) fn binary(&self, &op: &BinOp, &a: &Value, &b: &Value, result: &Type) -> Checked {
        let (scalar, right) = (self.scalar(a, op.name())?, self.scalar(b, op.name())?);
        takes(op.takes(scalar), op.name(), scalar)?;
        if op.takes_count() {
            takes(right.is_int(), op.name(), right)?;
        } else {
            same(&right.into(), &scalar.into(), "the right operand")?;
        }
        same(result, &op.gives(scalar).into(), "the result")
    }

    pub(super) fn compare(&self, &op: &CmpOp, &a: &Value, &b: &Value, _result: &Type) -> Checked {
        let scalar = self.scalar(a, op.name())?;
        takes(op.takes(scalar), op.name(), scalar)?;
        self.is(b, &scalar.into(), "the right operand")
    }

    pub(super) fn fma(&self, result: &Type) -> Checked {
        match result.scalar() {
            Some(scalar) if scalar.is_float() => Ok(()),
            _ => Err(operand("fma", result)),
        }
    }

    pub(super) fn cast(&self, result: &Type) -> Checked {
        result.scalar().map(|_| ()).ok_or_else(|| operand("cast", result))
    }

    pub(super) fn bitcast(&self, &a: &Value, result: &Type) -> Checked {
        let from = self.scalar(a, "bitcast")?;
        let plain = |s: Scalar| s.is_int() || s.is_float();
        match result.scalar() {
            Some(to) if plain(from) && plain(to) && from.size() == to.size() => Ok(()),
            _ => Err(operand("bitcast", result)),
        }
    }

    pub(super) fn complex(&self, &re: &Value, &im: &Value, result: &Type) -> Checked {
        match result.scalar() {
            Some(scalar) if scalar.is_complex() => {
                self.is(re, &scalar.part().into(), "the real part")?;
                self.is(im, &scalar.part().into(), "the imaginary part")
            }
            _ => Err(operand("complex", result)),
        }
    }

    pub(super) fn part(&self, &a: &Value, result: &Type) -> Checked {
        let scalar = self.scalar(a, "a part")?;
        takes(scalar.is_complex(), "a part", scalar)?;
        same(result, &scalar.part().into(), "the part")
    }

    fn scalar(&self, value: Value, op: &str) -> Checked<Scalar> {
        let ty = self.ty(value)?;
        ty.scalar().ok_or_else(|| operand(op, ty))
    }
}

fn takes(fits: bool, op: &str, scalar: Scalar) -> Checked {
    if fits { Ok(()) } else { Err(operand(op, &scalar.into())) }
}

/// Tuples, calls, and what threads do together.
impl Body<'_> {
    pub(super) fn tuple(&self, items: &[Value], result: &Type) -> Checked {
        let types = items.iter().map(|v| self.ty(*v).cloned()).collect::<Checked<Vec<_>>>()?;
        same(result, &Type::Tuple(types), "the tuple")
    }

    pub(super) fn item(&self, &tuple: &Value, &i: &u32, result: &Type) -> Checked {
        match self.ty(tuple)? {
            Type::Tuple(items) => match items.get(i as usize) {
                Some(ty) => same(result, ty, "the item"),
                None => Err(rank_fault("item", i as usize + 1, items.len())),
            },
            other => Err(operand("item", other)),
        }
    }

    pub(super) fn call(&mut self, &func: &FuncId, args: &[Value], result: &Type) -> Checked {
        let module = self.module;
        self.callee(func)?;
        let callee = module.function(func);
        match callee.kind {
            FuncKind::Device => {}
            FuncKind::Host => self.host_only("call").map_err(|_| Fault::NotCallable(func))?,
            FuncKind::Kernel | FuncKind::Loop { .. } => return Err(Fault::NotCallable(func)),
        }
        self.args(callee, 0, args)?;
        same(result, &callee.result, "the result of the call")
    }

    pub(super) fn out_of_stack(&self, _result: &Type) -> Checked {
        match self.function.kind {
            FuncKind::Host | FuncKind::Device => Ok(()),
            FuncKind::Kernel | FuncKind::Loop { .. } => Err(Fault::NoStack),
        }
    }

    pub(super) fn warp(&self, &op: &WarpOp, &value: &Value, lane: &Option<Value>, result: &Type) -> Checked {
        let scalar = self.scalar(value, op.name())?;
        takes(op.takes(scalar), op.name(), scalar)?;
        if lane.is_some() != op.is_shuffle() {
            return Err(Fault::Lane);
        }
        same(result, &op.gives(scalar).into(), "the result of a warp's operation")
    }

    pub(super) fn barrier_reduce(&self, &op: &BarrierOp, result: &Type) -> Checked {
        same(result, &op.gives(Scalar::Bool).into(), "the result of a barrier")
    }
}

/// Views and their elements.
impl Body<'_> {
    pub(super) fn dim(&self, &view: &Value, &axis: &u8, _result: &Type) -> Checked {
        let rank = self.view(view, "dim")?.rank;
        if axis < rank {
            return Ok(());
        }
        Err(rank_fault("dim", axis as usize + 1, rank as usize))
    }

    pub(super) fn load(&self, &view: &Value, indices: &[Index], &part: &Part, result: &Type) -> Checked {
        let (_, elem) = self.access("load", view, indices, part)?;
        same(result, &elem, "the result of load")
    }

    pub(super) fn atomic(
        &self,
        &op: &AtomicOp,
        &view: &Value,
        indices: &[Index],
        &value: &Value,
        &expected: &Option<Value>,
        result: &Type,
    ) -> Checked {
        let (ty, elem) = self.access("atomic", view, indices, Part::Whole)?;
        if !ty.writable {
            return Err(Fault::ReadOnly(view));
        }
        takes(op.takes(ty.elem), op.name(), ty.elem)?;
        self.is(value, &elem, "the operand of an atomic operation")?;
        match expected {
            Some(expected) if op == AtomicOp::Cas => self.is(expected, &elem, "the expected value")?,
            None if op != AtomicOp::Cas => {}
            _ => return Err(Fault::Expected),
        }
        same(result, &elem, "the result of an atomic operation")
    }

    pub(super) fn slice(&self, &view: &Value, axes: &[AxisSlice], result: &Type) -> Checked {
        let from = self.view(view, "slice")?;
        let (mut taken, mut made) = (0, 0);
        for axis in axes {
            match axis {
                AxisSlice::At(_) => taken += 1,
                AxisSlice::Range { .. } | AxisSlice::Full => {
                    taken += 1;
                    made += 1;
                }
                AxisSlice::New => made += 1,
            }
        }
        if taken != from.rank as usize {
            return Err(rank_fault("slice", taken, from.rank as usize));
        }
        view_result("slice", from, made, result)
    }

    pub(super) fn transpose(&self, &view: &Value, perm: &[u8], result: &Type) -> Checked {
        let from = self.view(view, "transpose")?;
        let mut sorted = perm.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..from.rank) {
            return Err(Fault::Permutation);
        }
        view_result("transpose", from, perm.len(), result)
    }

    pub(super) fn part_view(&self, &view: &Value, &part: &Part, result: &Type) -> Checked {
        let from = self.view(view, "part")?;
        let expected = ViewType {
            elem: from.elem.part(),
            layout: Layout::Any,
            ..from
        };
        if part == Part::Whole || !from.elem.is_complex() {
            return Err(operand("part", &from.into()));
        }
        same(result, &expected.into(), "the part")
    }

    pub(super) fn reshape(&self, &view: &Value, shape: &[Value], result: &Type) -> Checked {
        let from = self.view(view, "reshape")?;
        let contiguous = from.layout == Layout::C || (from.rank <= 1 && from.layout != Layout::Any);
        if !contiguous {
            return Err(operand("reshape", &from.into()));
        }
        view_result("reshape", from, shape.len(), result)
    }

    pub(super) fn alloc(&self, shape: &[Value], result: &Type) -> Checked {
        fresh("alloc", shape.len(), Space::Global, result)
    }

    pub(super) fn routine(&self, &routine: &Routine, _threads: &bool, operands: &[Value], _result: &Type) -> Checked {
        let (reads, writes) = routine.arity();
        if operands.len() != reads + writes {
            return Err(rank_fault("routine", reads + writes, operands.len()));
        }
        for (at, operand_value) in operands.iter().enumerate() {
            let view = self.view(*operand_value, "routine")?;
            if !view.elem.is_float() && !view.elem.is_complex() || at >= reads && !view.writable {
                return Err(operand("routine", &view.into()));
            }
        }
        Ok(())
    }

    pub(super) fn thread_state(&self, &state: &ThreadState, result: &Type) -> Checked {
        same(result, &contiguous(state.elem(), 1, Space::Global, true), "the state of a thread")
    }

    pub(super) fn libm(&self, &function: &Libm, args: &[Value], _result: &Type) -> Checked {
        if args.len() != function.arity() {
            return Err(Fault::Count {
                op: "libm",
                expected: function.arity(),
                found: args.len(),
            });
        }
        for arg in args {
            let scalar = self.scalar(*arg, "libm")?;
            takes(scalar == Scalar::F64, "libm", scalar)?;
        }
        Ok(())
    }

    pub(super) fn dynamic_shared(&self, result: &Type) -> Checked {
        fresh("dynamic_shared", 1, Space::Shared, result)
    }

    pub(super) fn array(&mut self, &id: &ArrayId, result: &Type) -> Checked {
        let decl = self.function.arrays.get(id.index()).ok_or(Fault::UnknownArray(id))?;
        if decl.space == Space::Shared {
            self.threads_only("a shared array")?;
        }
        let ty = contiguous(decl.elem, decl.shape.len(), decl.space, true);
        same(result, &ty, "the array")
    }

    pub(super) fn const_array(&self, &id: &ConstId, result: &Type) -> Checked {
        let array = self.module.constants.get(id.index()).ok_or(Fault::UnknownConst(id))?;
        let ty = contiguous(array.elem, array.shape.len(), Space::Constant, false);
        same(result, &ty, "the constant array")
    }
}

fn rank_fault(op: &'static str, expected: usize, found: usize) -> Fault {
    Fault::Rank { op, expected, found }
}

fn contiguous(elem: Scalar, rank: usize, space: Space, writable: bool) -> Type {
    Type::View(ViewType {
        elem,
        rank: rank as u8,
        layout: Layout::C,
        space,
        writable,
    })
}

/// A writable C-contiguous view of elements of any type.
fn fresh(op: &'static str, rank: usize, space: Space, result: &Type) -> Checked {
    match result.view() {
        Some(v) if *result == contiguous(v.elem, rank, space, true) => Ok(()),
        _ => Err(Fault::ViewResult { op, found: result.clone() }),
    }
}

/// The result keeps element type and space and gains no right to write. Its layout is the front end's claim.
fn view_result(op: &'static str, from: ViewType, rank: usize, result: &Type) -> Checked {
    match result.view() {
        Some(to) if to.elem == from.elem && to.space == from.space && (from.writable || !to.writable) && to.rank as usize == rank => Ok(()),
        _ => Err(Fault::ViewResult { op, found: result.clone() }),
    }
}
