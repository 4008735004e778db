//! The types of operations.

use super::body::{Body, Checked, operand, same};
use super::error::Fault;
use crate::module::{FuncId, FuncKind, Value};
use crate::op::{AtomicOp, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Index, Op, Part, UnOp, WarpOp};
use crate::types::{Kind, Layout, Scalar, Space, Type, ViewType};

impl Body<'_> {
    /// Checks an operation whose result is declared to have the type `result`.
    pub(super) fn op(&mut self, op: &Op, result: &Type) -> Checked {
        match op {
            Op::Const(c) => constant(*c, result),
            Op::Get(local) => same(result, self.local(*local)?, "the result of get"),
            Op::Unary(op, a) => self.unary(*op, *a, result),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b, result),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b, result),
            Op::Select(cond, a, b) => {
                self.is(*cond, &Type::BOOL, "a condition")?;
                self.is(*a, result, "an operand of select")?;
                self.is(*b, result, "an operand of select")
            }
            Op::Fma(a, b, c) => {
                self.float(*a, "fma")?;
                [a, b, c].into_iter().try_for_each(|v| self.is(*v, result, "an operand of fma"))
            }
            Op::Cast(a) => {
                self.scalar(*a, "cast")?;
                result.scalar().map(|_| ()).ok_or_else(|| operand("cast", result))
            }
            Op::Bitcast(a) => self.bitcast(*a, result),
            Op::Complex(re, im) => self.complex(*re, *im, result),
            Op::Re(a) | Op::Im(a) => {
                let scalar = self.scalar(*a, "a part")?;
                if !scalar.is_complex() {
                    return Err(operand("a part", &scalar.into()));
                }
                same(result, &scalar.part().into(), "the part")
            }
            Op::Tuple(items) => {
                let types = items.iter().map(|v| self.ty(*v).cloned()).collect::<Checked<Vec<_>>>()?;
                same(result, &Type::Tuple(types), "the tuple")
            }
            Op::Item(a, i) => self.item(*a, *i as usize, result),
            Op::Call(func, args) => self.call(*func, args, result),
            Op::Dim(a, axis) => {
                let rank = self.view(*a, "dim")?.rank;
                if *axis >= rank {
                    return Err(rank_fault("dim", *axis as usize + 1, rank as usize));
                }
                same(result, &Type::I64, "the result of dim")
            }
            Op::Apart(a, b) => {
                self.view(*a, "apart")?;
                self.view(*b, "apart")?;
                same(result, &Type::BOOL, "the result of apart")
            }
            Op::Load { view, indices, part } => {
                let (_, elem) = self.access("load", *view, indices, *part)?;
                same(result, &elem, "the result of load")
            }
            Op::Atomic {
                op,
                view,
                indices,
                value,
                expected,
            } => self.atomic(*op, *view, indices, *value, *expected, result),
            Op::Geometry(_) => {
                self.threads_only("thread geometry")?;
                same(result, &Type::I64, "the result of a geometry query")
            }
            Op::OutOfStack => {
                if !self.is_host() {
                    return Err(Fault::NoStack);
                }
                same(result, &Type::BOOL, "the result of out_of_stack")
            }
            Op::Warp { op, mask, value, lane } => self.warp(*op, *mask, *value, *lane, result),
            Op::ActiveMask => {
                self.threads_only("active_mask")?;
                same(result, &Scalar::U32.into(), "a mask of lanes")
            }
            Op::BarrierReduce(op, a) => {
                self.threads_only("barrier_reduce")?;
                self.is(*a, &Type::BOOL, "the operand of a barrier")?;
                let ty = if *op == BarrierOp::Count { Scalar::I32 } else { Scalar::Bool };
                same(result, &ty.into(), "the result of a barrier")
            }
            _ => self.view_op(op, result),
        }
    }

    fn warp(&mut self, op: WarpOp, mask: Value, value: Value, lane: Option<Value>, result: &Type) -> Checked {
        self.threads_only("warp")?;
        self.is(mask, &Scalar::U32.into(), "a mask of lanes")?;
        let scalar = self.scalar(value, op.name())?;
        let fits = match op {
            _ if op.is_vote() => scalar == Scalar::Bool,
            WarpOp::MatchAny | WarpOp::MatchAll => scalar.is_int() || scalar.is_float(),
            _ => scalar != Scalar::Bool,
        };
        if !fits {
            return Err(operand(op.name(), &scalar.into()));
        }
        match lane {
            Some(lane) if op.is_shuffle() => self.is(lane, &Scalar::I32.into(), "a lane")?,
            None if !op.is_shuffle() => {}
            _ => return Err(Fault::Lane),
        }
        let ty = match op {
            _ if op.is_shuffle() => scalar,
            WarpOp::All | WarpOp::Any | WarpOp::Equal => Scalar::Bool,
            _ => Scalar::U32,
        };
        same(result, &ty.into(), "the result of a warp's operation")
    }

    fn view_op(&mut self, op: &Op, result: &Type) -> Checked {
        match op {
            Op::Slice { view, axes } => self.slice(*view, axes, result),
            Op::Transpose(a, perm) => self.transpose(*a, perm, result),
            Op::PartView(a, part) => self.part_view(*a, *part, result),
            Op::Reshape(a, shape) => self.reshape(*a, shape, result),
            Op::Alloc { shape, .. } => self.alloc(shape, result),
            Op::Array(id) => {
                let decl = self.function.arrays.get(id.index()).ok_or(Fault::UnknownArray(*id))?;
                if decl.space == Space::Shared {
                    self.threads_only("a shared array")?;
                }
                let ty = contiguous(decl.elem, decl.shape.len(), decl.space, true);
                same(result, &ty, "the array")
            }
            Op::DynamicShared => {
                self.threads_only("dynamic shared memory")?;
                match result.view() {
                    Some(v) if *result == contiguous(v.elem, 1, Space::Shared, true) => Ok(()),
                    _ => Err(Fault::ViewResult {
                        op: "dynamic_shared",
                        found: result.clone(),
                    }),
                }
            }
            Op::ConstArray(id) => {
                let array = self.module.constants.get(id.index()).ok_or(Fault::UnknownConst(*id))?;
                let ty = contiguous(array.elem, array.shape.len(), Space::Constant, false);
                same(result, &ty, "the constant array")
            }
            // Everything else is typed by `op`.
            _ => Ok(()),
        }
    }

    fn scalar(&self, value: Value, op: &str) -> Checked<Scalar> {
        let ty = self.ty(value)?;
        ty.scalar().ok_or_else(|| operand(op, ty))
    }

    fn float(&self, value: Value, op: &str) -> Checked {
        let scalar = self.scalar(value, op)?;
        if scalar.is_float() {
            Ok(())
        } else {
            Err(operand(op, &scalar.into()))
        }
    }

    fn unary(&self, op: UnOp, a: Value, result: &Type) -> Checked {
        let scalar = self.scalar(a, op.name())?;
        let kind = scalar.kind();
        let fits = match op {
            UnOp::Neg => kind != Kind::Bool,
            UnOp::Not => kind == Kind::Bool || scalar.is_int(),
            UnOp::Abs => scalar.is_int() || scalar.is_float(),
            UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => scalar.is_float(),
            UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => scalar.is_float(),
            UnOp::Conj => scalar.is_complex(),
            UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => scalar.is_int(),
        };
        if !fits {
            return Err(operand(op.name(), &scalar.into()));
        }
        match op {
            UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => same(result, &Type::BOOL, "the result of a test"),
            _ => same(result, &scalar.into(), "the result"),
        }
    }

    fn binary(&self, op: BinOp, a: Value, b: Value, result: &Type) -> Checked {
        let scalar = self.scalar(a, op.name())?;
        if !binary_fits(op, scalar) {
            return Err(operand(op.name(), &scalar.into()));
        }
        let right = self.scalar(b, op.name())?;
        match op {
            BinOp::Shl | BinOp::Shr | BinOp::IntPow if right.is_int() => {}
            BinOp::Shl | BinOp::Shr | BinOp::IntPow => return Err(operand(op.name(), &right.into())),
            _ => same(&right.into(), &scalar.into(), "the right operand")?,
        }
        same(result, &scalar.into(), "the result")
    }

    fn compare(&self, op: CmpOp, a: Value, b: Value, result: &Type) -> Checked {
        let scalar = self.scalar(a, op.name())?;
        if scalar.is_complex() && !matches!(op, CmpOp::Eq | CmpOp::Ne) {
            return Err(operand(op.name(), &scalar.into()));
        }
        self.is(b, &scalar.into(), "the right operand")?;
        same(result, &Type::BOOL, "the result of a comparison")
    }

    fn bitcast(&self, a: Value, result: &Type) -> Checked {
        let from = self.scalar(a, "bitcast")?;
        let plain = |s: Scalar| s.is_int() || s.is_float();
        match result.scalar() {
            Some(to) if plain(from) && plain(to) && from.size() == to.size() => Ok(()),
            _ => Err(operand("bitcast", result)),
        }
    }

    fn complex(&self, re: Value, im: Value, result: &Type) -> Checked {
        match result.scalar() {
            Some(scalar) if scalar.is_complex() => {
                self.is(re, &scalar.part().into(), "the real part")?;
                self.is(im, &scalar.part().into(), "the imaginary part")
            }
            _ => Err(operand("complex", result)),
        }
    }

    fn item(&self, a: Value, i: usize, result: &Type) -> Checked {
        match self.ty(a)? {
            Type::Tuple(items) => match items.get(i) {
                Some(ty) => same(result, ty, "the item"),
                None => Err(rank_fault("item", i + 1, items.len())),
            },
            other => Err(operand("item", other)),
        }
    }

    fn call(&mut self, func: FuncId, args: &[Value], result: &Type) -> Checked {
        let module = self.module;
        self.callee(func)?;
        let callee = module.function(func);
        match callee.kind {
            FuncKind::Device => {}
            FuncKind::Host => self.host_only("call").map_err(|_| Fault::NotCallable(func))?,
            _ => return Err(Fault::NotCallable(func)),
        }
        self.args(callee, 0, args)?;
        same(result, &callee.result, "the result of the call")
    }

    fn atomic(&self, op: AtomicOp, view: Value, indices: &[Index], value: Value, expected: Option<Value>, result: &Type) -> Checked {
        let (ty, elem) = self.access("atomic", view, indices, Part::Whole)?;
        if !ty.writable {
            return Err(Fault::ReadOnly(view));
        }
        let fits = match op {
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => ty.elem.is_int(),
            AtomicOp::Inc | AtomicOp::Dec => ty.elem.kind() == Kind::Unsigned,
            AtomicOp::NanMin | AtomicOp::NanMax => ty.elem.is_float(),
            _ => ty.elem.is_int() || ty.elem.is_float(),
        };
        if !fits {
            return Err(operand(op.name(), &elem));
        }
        self.is(value, &elem, "the operand of an atomic operation")?;
        match expected {
            Some(expected) if op == AtomicOp::Cas => self.is(expected, &elem, "the expected value")?,
            None if op != AtomicOp::Cas => {}
            _ => return Err(Fault::Expected),
        }
        same(result, &elem, "the result of an atomic operation")
    }

    fn slice(&self, view: Value, axes: &[AxisSlice], result: &Type) -> Checked {
        let from = self.view(view, "slice")?;
        let (mut taken, mut made) = (0, 0);
        for axis in axes {
            match axis {
                AxisSlice::At(index) => {
                    self.is(index.value, &Type::I64, "an index")?;
                    taken += 1;
                }
                AxisSlice::Range { start, len, step } => {
                    self.all_i64(&[*start, *len, *step], "a slice's bound")?;
                    taken += 1;
                    made += 1;
                }
                AxisSlice::Full => {
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

    fn transpose(&self, a: Value, perm: &[u8], result: &Type) -> Checked {
        let from = self.view(a, "transpose")?;
        let mut sorted = perm.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..from.rank) {
            return Err(Fault::Permutation);
        }
        view_result("transpose", from, perm.len(), result)
    }

    fn part_view(&self, a: Value, part: Part, result: &Type) -> Checked {
        let from = self.view(a, "part")?;
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

    fn reshape(&self, a: Value, shape: &[Value], result: &Type) -> Checked {
        let from = self.view(a, "reshape")?;
        self.all_i64(shape, "an extent")?;
        let contiguous = from.layout == Layout::C || (from.rank <= 1 && from.layout != Layout::Any);
        if !contiguous {
            return Err(operand("reshape", &from.into()));
        }
        view_result("reshape", from, shape.len(), result)
    }

    fn alloc(&mut self, shape: &[Value], result: &Type) -> Checked {
        self.host_only("alloc")?;
        self.all_i64(shape, "an extent")?;
        match result.view() {
            Some(v) if *result == contiguous(v.elem, shape.len(), Space::Global, true) => Ok(()),
            _ => Err(Fault::ViewResult {
                op: "alloc",
                found: result.clone(),
            }),
        }
    }
}

fn binary_fits(op: BinOp, scalar: Scalar) -> bool {
    let kind = scalar.kind();
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul => kind != Kind::Bool,
        BinOp::Div => scalar.is_float() || scalar.is_complex(),
        BinOp::FloorDiv | BinOp::Mod | BinOp::Rem => scalar.is_int() || scalar.is_float(),
        BinOp::IntPow | BinOp::Shl | BinOp::Shr => scalar.is_int(),
        BinOp::And | BinOp::Or | BinOp::Xor => kind == Kind::Bool || scalar.is_int(),
        BinOp::Min | BinOp::Max => kind != Kind::Complex,
        BinOp::CopySign => scalar.is_float(),
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

/// The result keeps element type and space and gains no right to write. Its layout is the front end's claim.
fn view_result(op: &'static str, from: ViewType, rank: usize, result: &Type) -> Checked {
    match result.view() {
        Some(to) if to.elem == from.elem && to.space == from.space && (from.writable || !to.writable) && to.rank as usize == rank => Ok(()),
        _ => Err(Fault::ViewResult { op, found: result.clone() }),
    }
}

fn constant(c: Const, result: &Type) -> Checked {
    same(result, &c.scalar().into(), "the constant")?;
    match c {
        Const::Int(scalar, _) if !scalar.is_int() => Err(operand("an integer constant", result)),
        Const::Int(scalar, v) if scalar.wrap(v) != v => Err(Fault::ConstRange),
        _ => Ok(()),
    }
}
