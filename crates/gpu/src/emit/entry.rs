//! The entry function: its parameters, and for a loop the points each thread takes.

use std::rc::Rc;

use naga::valid::ValidationFlags;
use naga::{BinaryOperator, Binding, BuiltIn, EntryPoint, Expression, FunctionArgument, ShaderStage, Statement, TypeInner, VectorSize};
use weft_ir::{Axis, BinOp, FuncKind, Geometry, Module, Scalar, StmtKind, Type, Value};
use weft_passes::range::Range;

use super::control::FrameKind;
use super::func::Fx;
use super::number::Num;
use super::values::{Res, Val};
use super::views::Reach;
use super::writer::{Operand, Ty};
use super::{ClassUse, EmitError, Emitted, Request, Word, storage};

pub fn emit(module: &Module, request: &Request) -> Res<Emitted> {
    let f = module.entry_function();
    let views = f.params.iter().filter(|p| f.ty(**p).view().is_some()).count();
    if views != request.classes.len() {
        return Err(EmitError::Internal(format!("{} classes of {views} views", request.classes.len())));
    }
    // What locals lie between is seen when the code has been written. It is written anew until it sets them to nothing else than was
    // supposed of them.
    let mut locals = vec![Reach::default(); f.locals.len()];
    for round in 0.. {
        let mut fx = Fx::new(module, request, storage::find(f, request), locals.clone());
        fx.arguments();
        fx.look_around();
        fx.hide_zeros();
        match &f.kind {
            FuncKind::Kernel => fx.kernel()?,
            FuncKind::Loop { rank, reductions } if reductions.is_empty() => fx.points(*rank as usize)?,
            FuncKind::Loop { .. } => return fx.unsupported("a reduction over a loop on a GPU"),
            kind => return Err(EmitError::Internal(format!("an entry of kind {kind:?} for a GPU"))),
        }
        let mut settled = true;
        for (known, found) in locals.iter_mut().zip(&fx.found) {
            settled &= !known.grow(*found, round);
        }
        if settled {
            return match fx.refused.take() {
                Some(refusal) => Err(refusal),
                None => fx.finish(),
            };
        }
    }
    Err(EmitError::Internal(format!("{}: its locals", f.name)))
}

/// Arguments of the entry function that say where a thread is.
const LOCAL: u32 = 0;
const GROUP: u32 = 1;

impl Fx<'_> {
    fn arguments(&mut self) {
        let ty = self.w.ty(TypeInner::Vector {
            size: VectorSize::Tri,
            scalar: naga::Scalar::U32,
        });
        for built_in in [BuiltIn::LocalInvocationId, BuiltIn::WorkGroupId] {
            self.w.f.arguments.push(FunctionArgument {
                name: None,
                ty,
                binding: Some(Binding::BuiltIn(built_in)),
            });
        }
    }

    fn look_around(&mut self) {
        let mut fences = false;
        self.f.body.walk(&mut |kind| fences |= matches!(kind, StmtKind::Fence(_)));
        self.coherent = fences && self.cx.request.features.coherent;
        self.in_a_row = self.has_groups();
    }

    fn kernel(&mut self) -> Res<()> {
        let f = self.f;
        self.params(&f.params, 0)?;
        self.make_slots()?;
        self.block(&f.body)
    }

    /// A loop: every thread takes each point as far as there are threads from the last.
    fn points(&mut self, rank: usize) -> Res<()> {
        let f = self.f;
        let extents: Vec<Num> = (0..rank as u32).map(|slot| self.extent(slot)).collect();
        let (indices, rest) = f.params.split_at(rank);
        self.params(rest, rank as u32)?;
        self.make_slots()?;
        let total = extents.iter().copied().fold(Num::int(1), |total, n| self.count(total, n));
        let first = self.grid_thread(Axis::X);
        let (blocks, threads) = (
            self.geometry(Geometry::GridDim(Axis::X)),
            self.geometry(Geometry::BlockDim(Axis::X)),
        );
        let stride = self.grid_count(blocks, threads);
        let [first, total, stride] = [first, total, stride].map(|n| self.linear(n));
        let variable = self.w.variable(first.ty);
        self.w.set(variable, first);
        self.w.begin();
        let at = self.w.get(variable);
        let done = self.w.compare(BinaryOperator::GreaterEqual, at, total);
        self.w.when(done, Statement::Break);
        self.point(indices, &extents, at)?;
        let mut returns = false;
        f.body.walk(&mut |kind| returns |= matches!(kind, StmtKind::Return(_)));
        if returns {
            self.scope(FrameKind::Point, |fx| fx.block(&f.body))?;
        } else {
            self.block(&f.body)?;
        }
        let at = self.w.get(variable);
        let next = self.w.binary(BinaryOperator::Add, at, stride);
        self.w.set(variable, next);
        let body = self.w.end();
        self.w.endless(body);
        Ok(())
    }

    /// Numbers of points are 32-bit in narrow code.
    fn linear(&mut self, n: Num) -> Operand {
        if self.cx.request.facts.narrow {
            self.take_short(n)
        } else {
            self.take(n)
        }
    }

    fn numbered(&self, op: Operand) -> Num {
        if op.ty == Ty::I32 {
            Num::Short(op, self.lengths())
        } else {
            Num::Reg(op)
        }
    }

    fn count(&mut self, a: Num, b: Num) -> Num {
        if a.const_int() == Some(1) {
            return b;
        }
        let (x, y) = (self.linear(a), self.linear(b));
        let product = self.w.binary(BinaryOperator::Multiply, x, y);
        self.numbered(product)
    }

    /// The indices of a point from its number, the last axis fastest.
    fn point(&mut self, indices: &[Value], extents: &[Num], number: Operand) -> Res<()> {
        let mut rest = number;
        for (axis, index) in indices.iter().enumerate().rev() {
            let at = if axis == 0 {
                rest
            } else {
                let extent = self.linear(extents[axis]);
                let (x, n) = (self.w.bitcast(rest, rest.ty.unsigned()), self.w.bitcast(extent, rest.ty.unsigned()));
                let quotient = self.w.binary(BinaryOperator::Divide, x, n);
                let rows = self.w.binary(BinaryOperator::Multiply, quotient, n);
                let at = self.w.binary(BinaryOperator::Subtract, x, rows);
                let ty = rest.ty;
                rest = self.w.bitcast(quotient, ty);
                self.w.bitcast(at, ty)
            };
            let at = self.numbered(at);
            self.define(*index, Val::Num(at));
        }
        Ok(())
    }

    fn params(&mut self, params: &[Value], first: u32) -> Res<()> {
        let (mut slot, mut views) = (first, 0);
        for value in params {
            let ty = self.f.ty(*value);
            let val = match ty {
                Type::Scalar(Scalar::F64) if !self.cx.request.features.float64 => {
                    self.doubles.insert(*value, slot);
                    slot += 1;
                    continue;
                }
                Type::Scalar(s) if !s.is_complex() => Val::Num(self.scalar_param(*s, slot)),
                Type::View(v) => {
                    views += 1;
                    Val::View(Rc::new(self.view_param(*v, views - 1, slot)?))
                }
                _ => return self.internal(format!("a parameter of type {ty}")),
            };
            self.define(*value, val);
            slot += ty.slots() as u32;
        }
        Ok(())
    }

    fn scalar_param(&mut self, s: Scalar, slot: u32) -> Num {
        if s == Scalar::I64 && self.cx.request.facts.small {
            return Num::Short(self.slot(slot, Scalar::I32), Range::new(-self.narrow(), self.narrow()));
        }
        Num::Reg(self.slot(slot, s))
    }

    pub fn geometry(&mut self, query: Geometry) -> Num {
        if let Some(known) = self.places.get(&query) {
            return *known;
        }
        let block = self.cx.request.block.map(i64::from);
        // In narrow code a grid has few threads along an axis, and so the fewer blocks.
        let most = match self.cx.request.facts.narrow {
            true => block.map(|threads| (self.narrow() / threads.max(1)).max(1)),
            false => [i64::from(i32::MAX); 3],
        };
        let n = match query {
            Geometry::BlockDim(axis) => Num::int(block[axis as usize]),
            Geometry::ThreadIdx(axis) if block[axis as usize] == 1 => Num::int(0),
            Geometry::ThreadIdx(axis) => {
                let op = match self.in_a_row {
                    false => self.built_in(LOCAL, axis),
                    true => {
                        let thread = self.built_in(LOCAL, Axis::X);
                        self.w.begin_early();
                        let index = self.index_of(thread, axis);
                        self.w.end_early();
                        index
                    }
                };
                Num::Short(op, Range::new(0, block[axis as usize] - 1))
            }
            Geometry::BlockIdx(axis) => {
                let group = self.built_in(GROUP, axis);
                let first = self.signed_word(Word::FirstBlock(axis as u8));
                self.w.begin_early();
                let op = self.w.binary(BinaryOperator::Add, group, first);
                self.w.end_early();
                Num::Short(op, Range::new(0, most[axis as usize] - 1))
            }
            Geometry::GridDim(axis) => {
                let op = self.signed_word(Word::GridDim(axis as u8));
                Num::Short(op, Range::new(1, most[axis as usize]))
            }
            Geometry::LaneId => self.lane(),
        };
        self.places.insert(query, n);
        n
    }

    fn built_in(&mut self, argument: u32, axis: Axis) -> Operand {
        let base = self.w.name(Expression::FunctionArgument(argument));
        self.w.begin_early();
        let index = axis as u32;
        let component = self.w.eval(Expression::AccessIndex { base, index });
        let op = self.w.bitcast(Operand::new(Ty::U32, component), Ty::I32);
        self.w.end_early();
        op
    }

    /// The linear thread index in the block modulo 32.
    fn lane(&mut self) -> Num {
        let [x, y, z] = [Axis::X, Axis::Y, Axis::Z].map(|axis| self.geometry(Geometry::ThreadIdx(axis)));
        let [width, height, _] = self.cx.request.block.map(|n| Num::int(n.into()));
        self.w.begin_early();
        let rows = self.whole(BinOp::Mul, z, height);
        let rows = self.whole(BinOp::Add, rows, y);
        let start = self.whole(BinOp::Mul, rows, width);
        let linear = self.whole(BinOp::Add, start, x);
        let linear = self.take_short(linear);
        let lane = self.w.binary(BinaryOperator::And, linear, Ty::I32.int(31));
        self.w.end_early();
        Num::Short(lane, Range::new(0, 31))
    }

    fn finish(self) -> Res<Emitted> {
        let request = self.cx.request;
        let uses: Vec<ClassUse> = self.storages.classes.iter().map(|id| self.storages.list[id.index()].uses).collect();
        let uses_constants = self.storages.constants.is_some_and(|id| self.homes[id.index()].is_some());
        let constants = if uses_constants { self.constant_bytes() } else { Vec::new() };
        let uses_dynamic = self.storages.dynamic.is_some_and(|id| self.homes[id.index()].is_some());
        let dynamic = if uses_dynamic { u64::from(request.shared_bytes) } else { 0 };
        let inexact = self.f.flags.fastmath && self.f.values.iter().all(|value| !value.exact);
        let mailbox = self.mailbox_variable.is_some();
        let workgroup_size = match self.in_a_row {
            true => [request.block.iter().product(), 1, 1],
            false => request.block,
        };
        let (mut module, function) = self.w.finish();
        module.entry_points.push(entry_point(function, workgroup_size));
        // Where control is uniform is the passes' business, and they see more than naga does.
        let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
        let info = request
            .features
            .validator(flags)
            .validate(&module)
            .map_err(|error| EmitError::Internal(format!("{}: naga: {:?}", self.f.name, error.into_inner())))?;
        Ok(Emitted {
            module,
            info,
            words: self.cx.words,
            classes: uses,
            constants,
            mailbox,
            shared_bytes: self.cx.shared_bytes + dynamic,
            error_sites: self.cx.error_sites,
            print_sites: self.cx.print_sites,
            inexact,
        })
    }

    fn constant_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for array in &self.cx.module.constants {
            bytes.extend_from_slice(&array.bytes);
            bytes.resize(bytes.len().next_multiple_of(16), 0);
        }
        bytes
    }
}

/// What devices are asked to run by name: a module's one entry point.
pub const ENTRY: &str = "main";

/// A function as the entry point of its module, in blocks of so many threads.
pub fn entry_point(function: naga::Function, workgroup_size: [u32; 3]) -> EntryPoint {
    EntryPoint {
        name: ENTRY.to_owned(),
        stage: ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size,
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    }
}
