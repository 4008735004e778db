//! The entry function: its parameters, where its thread is, and for a loop how each thread goes through its points.

use std::num::NonZeroU32;

use naga::valid::ValidationFlags;
use naga::{
    AddressSpace, ArraySize, BinaryOperator, Binding, BuiltIn, EntryPoint, Expression, FunctionArgument, Handle, ShaderStage, Span,
    Statement, TypeInner, VectorSize,
};
use weft_ir::{Axis, Geometry, Module, Scalar, StmtKind, Value, ViewType};
use weft_passes::range::Range;
use weft_thread::{Basic, Code, Entry, Numbers, Param, Statements};

use super::control::FrameKind;
use super::func::Fx;
use super::operand::{Operand, Ty};
use super::reach::Reach;
use super::values::{Base, Num, Place, Res};
use super::views::wrapping;
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
        fx.entry()?;
        let mut settled = true;
        for (known, found) in locals.iter_mut().zip(&fx.locals.found) {
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

impl<'m> Entry<'m> for Fx<'m> {
    fn slot(&mut self, slot: u32, s: Scalar) -> Operand {
        self.word_of_slot(slot, s)
    }

    /// Python's floats, for devices without float64.
    fn puts_off(&mut self, value: Value, s: Scalar, slot: u32) -> bool {
        let puts_off = s == Scalar::F64 && !self.cx.request.features.float64;
        if puts_off {
            self.arguments.doubles.insert(value, slot);
        }
        puts_off
    }

    fn param_place(&mut self, param: &Param) -> Res<Place> {
        let class = self.cx.request.classes.get(param.index as usize);
        let Some(base) = class.and_then(|class| self.memory.storages.classes.get(*class as usize)) else {
            return self.internal("a view without a class");
        };
        let (base, unit) = (Base::One(*base), param.ty.elem.part().size() as u32);
        let offset = self.signed_word(Word::Offset { view: param.index, unit });
        Ok(Place { base, offset })
    }

    fn param_stride(&mut self, ty: ViewType, slot: u32) -> Num {
        let unit = ty.elem.part().size() as u32;
        wrapping(self.signed_word(Word::Stride { slot, unit }))
    }

    fn each_point(&mut self, [first, total, stride]: [Operand; 3], indices: &'m [Value], extents: &[Num]) -> Res<()> {
        let f = self.f;
        let variable = self.w.variable(first.ty);
        self.w.set(variable, first);
        self.w.begin();
        let at = self.w.get(variable);
        let done = self.w.compare(BinaryOperator::GreaterEqual, at, total);
        self.w.when(done, Statement::Break);
        self.point(indices, extents, at);
        let returns = f.body.any(&mut |kind| matches!(kind, StmtKind::Return(_)));
        if returns {
            self.framed(FrameKind::Point, |fx| fx.block(&f.body))?;
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

    fn divided(&mut self, x: Operand, by: Operand) -> (Operand, Operand) {
        let ty = x.ty;
        let (x, by) = (self.w.bitcast(x, ty.unsigned()), self.w.bitcast(by, ty.unsigned()));
        let quotient = self.w.binary(BinaryOperator::Divide, x, by);
        let rows = self.w.binary(BinaryOperator::Multiply, quotient, by);
        let rest = self.w.binary(BinaryOperator::Subtract, x, rows);
        (self.w.bitcast(quotient, ty), self.w.bitcast(rest, ty))
    }
}

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
        let fences = self.f.body.any(&mut |kind| matches!(kind, StmtKind::Fence(_)));
        self.memory.coherent = fences && self.cx.request.features.coherent;
        self.place.in_a_row = self.has_groups();
    }

    pub fn place_of_thread(&mut self, query: Geometry) -> Num {
        if let Some(known) = self.place.numbers.get(&query) {
            return *known;
        }
        let block = self.cx.request.block.map(i64::from);
        // In narrow code a grid has few threads along an axis, and so the fewer blocks.
        let most = match self.sizes.narrow {
            true => block.map(|threads| (self.sizes.limit / threads.max(1)).max(1)),
            false => [i64::from(i32::MAX); 3],
        };
        let n = match query {
            Geometry::BlockDim(axis) => Num::int(block[axis as usize]),
            Geometry::ThreadIdx(axis) if block[axis as usize] == 1 => Num::int(0),
            Geometry::ThreadIdx(axis) => {
                let op = match self.place.in_a_row {
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
        self.place.numbers.insert(query, n);
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
        let [x, y, z] = Axis::XYZ.map(|axis| self.geometry(Geometry::ThreadIdx(axis)));
        let [width, height, _] = self.cx.request.block.map(|n| Num::int(n.into()));
        self.w.begin_early();
        let rows = self.whole(Basic::Mul, z, height);
        let rows = self.whole(Basic::Add, rows, y);
        let start = self.whole(Basic::Mul, rows, width);
        let linear = self.whole(Basic::Add, start, x);
        let linear = self.take_short(linear);
        let lane = self.w.binary(BinaryOperator::And, linear, Ty::I32.int(31));
        self.w.end_early();
        Num::Short(lane, Range::new(0, 31))
    }

    fn finish(self) -> Res<Emitted> {
        let request = self.cx.request;
        let uses: Vec<ClassUse> = self
            .memory
            .storages
            .classes
            .iter()
            .map(|id| self.memory.storages.list[id.index()].uses)
            .collect();
        let uses_constants = self
            .memory
            .storages
            .constants
            .is_some_and(|id| self.memory.homes[id.index()].is_some());
        let constants = if uses_constants { self.constant_bytes() } else { Vec::new() };
        let uses_dynamic = self
            .memory
            .storages
            .dynamic
            .is_some_and(|id| self.memory.homes[id.index()].is_some());
        let dynamic = if uses_dynamic { u64::from(request.shared_bytes) } else { 0 };
        let inexact = self.f.flags.fastmath && self.f.values.iter().all(|value| !value.exact);
        let mailbox = self.mailbox.variable.is_some();
        let workgroup_size = match self.place.in_a_row {
            true => [request.block.iter().product(), 1, 1],
            false => request.block,
        };
        let words = self.cx.words;
        let immediate = 4 * words.len() as u64 <= request.features.immediates.into();
        let (mut module, function) = self.w.finish();
        if let Some(variable) = self.arguments.variable.filter(|_| immediate) {
            bring_along(&mut module, &function, variable, words.len());
        }
        module.entry_points.push(entry_point(function, workgroup_size));
        // Where control is uniform is the passes' business, and they see more than naga does.
        let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
        let info = request
            .features
            .validator(flags)
            .validate(&module)
            .map_err(|error| EmitError::Internal(format!("{}: naga: {:?}", self.thread.f.name, error.into_inner())))?;
        Ok(Emitted {
            module,
            info,
            words,
            immediate,
            classes: uses,
            constants,
            mailbox,
            shared_bytes: self.cx.shared_bytes + dynamic,
            error_sites: self.thread.error_sites,
            print_sites: self.thread.print_sites,
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

/// Has so many words of parameters come with the command instead of in a binding.
fn bring_along(module: &mut naga::Module, function: &naga::Function, variable: Handle<Expression>, words: usize) {
    let (Some(size), Expression::GlobalVariable(variable)) = (NonZeroU32::new(words as u32), &function.expressions[variable]) else {
        return;
    };
    let word = naga::Type {
        name: None,
        inner: TypeInner::Scalar(naga::Scalar::U32),
    };
    let inner = TypeInner::Array {
        base: module.types.insert(word, Span::UNDEFINED),
        size: ArraySize::Constant(size),
        stride: 4,
    };
    let ty = module.types.insert(naga::Type { name: None, inner }, Span::UNDEFINED);
    let variable = module.global_variables.get_mut(*variable);
    (variable.space, variable.binding, variable.ty) = (AddressSpace::Immediate, None, ty);
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
