//! Unaligned copies of bytes: wgpu copies whole words, and so a kernel does the rest.
//!
//! The kernel is written by hand, in naga's form: thread `i` makes word `first + i` of the destination, each byte of it from the source or
//! as it was.

use naga::{
    AddressSpace, BinaryOperator, Binding, Block, BuiltIn, Expression, Function, GlobalVariable, Handle, Literal, Module, Range,
    ResourceBinding, Scalar, Span, Statement, StorageAccess, Type, TypeInner, VectorSize,
};
use weft_runtime::{CompileError, RunError};

use crate::batch::{Dispatch, Given, UNNUMBERED};
use crate::emit::ClassUse;
use crate::live::{Live, State};
use crate::pipelines::{self, Pipeline};

/// Threads of a block.
const BLOCK: u32 = 256;
/// Bytes that are done at once, so that positions fit 32 bits and bindings their limit.
const PART: u64 = 16 << 20;
/// Bytes of the parameters.
const PARAMS: usize = 32;

#[derive(Debug)]
pub struct Splice {
    pipeline: Pipeline,
    own: wgpu::BindGroup,
}

/// Some bytes of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    pub buffer: &'a wgpu::Buffer,
    pub start: u64,
}

impl<'a> Bytes<'a> {
    /// A binding of so many bytes from here on that begins at `base`.
    fn window(self, base: u64, bytes: u64) -> wgpu::BindingResource<'a> {
        let size = (self.start - base + bytes).next_multiple_of(4).min(self.buffer.size() - base);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: self.buffer,
            offset: base,
            size: wgpu::BufferSize::new(size),
        })
    }
}

impl Live {
    fn splicer(&self) -> Result<&Splice, RunError> {
        if let Some(made) = self.splice.get() {
            return Ok(made);
        }
        let made = Splice::new(self).map_err(RunError::Compile)?;
        Ok(self.splice.get_or_init(|| made))
    }

    /// Copies bytes between different buffers.
    pub fn splice(&self, state: &mut State, to: Bytes<'_>, from: Bytes<'_>, bytes: u64) -> Result<(), RunError> {
        let splice = self.splicer()?;
        let mut done = 0;
        while done < bytes {
            let part = PART.min(bytes - done);
            splice.part(
                self,
                state,
                Bytes {
                    start: to.start + done,
                    ..to
                },
                Bytes {
                    start: from.start + done,
                    ..from
                },
                part,
            );
            done += part;
        }
        Ok(())
    }
}

impl Splice {
    fn new(live: &Live) -> Result<Splice, CompileError> {
        let module = kernel();
        let info = pipelines::validate(&module, &live.features)?;
        let uses = [(true, false), (true, true)].map(|(read, written)| ClassUse { read, written });
        let code = pipelines::code(module, &info, &live.features, false)?;
        let pipeline = Pipeline::new(live, code, &uses, false, false)?;
        let own = live.params_group(PARAMS as u64);
        Ok(Splice { pipeline, own })
    }

    fn part(&self, live: &Live, state: &mut State, to: Bytes<'_>, from: Bytes<'_>, bytes: u64) {
        // Windows of both that begin where bindings may.
        let align = live.alignment;
        let (to_base, from_base) = (to.start / align * align, from.start / align * align);
        let (resources, layout) = (
            [from.window(from_base, bytes), to.window(to_base, bytes)],
            &self.pipeline.views.layout,
        );
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let views = live.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        });
        let (start, source) = ((to.start - to_base) as u32, (from.start - from_base) as u32);
        let end = start + bytes as u32;
        let (first, words) = (start / 4, end.div_ceil(4) - start / 4);
        let (params, room) = state.batch.reserve(live, PARAMS, live.alignment as usize);
        for (place, word) in room.chunks_exact_mut(4).zip([first, words, start, end, source.wrapping_sub(start)]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        state.batch.dispatch(
            live,
            &Dispatch {
                pipeline: &self.pipeline.pipeline,
                pipeline_number: self.pipeline.number,
                own: &self.own,
                params: Given::Arena(params as u32),
                views: &views,
                views_number: UNNUMBERED,
                groups: [words.div_ceil(BLOCK), 1, 1],
            },
        );
    }
}

/// Writes expressions one after the other.
struct Code {
    function: Function,
    body: Block,
}

type Value = Handle<Expression>;

impl Code {
    /// An expression that is computed where it stands.
    fn put(&mut self, expression: Expression) -> Value {
        let made = self.function.expressions.append(expression, Span::UNDEFINED);
        self.body.push(Statement::Emit(Range::new_from_bounds(made, made)), Span::UNDEFINED);
        made
    }

    fn known(&mut self, expression: Expression) -> Value {
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    fn number(&mut self, n: u32) -> Value {
        self.known(Expression::Literal(Literal::U32(n)))
    }

    fn binary(&mut self, op: BinaryOperator, left: Value, right: Value) -> Value {
        self.put(Expression::Binary { op, left, right })
    }

    fn with(&mut self, op: BinaryOperator, left: Value, right: u32) -> Value {
        let right = self.number(right);
        self.binary(op, left, right)
    }

    fn element(&mut self, base: Value, index: Value) -> Value {
        self.put(Expression::Access { base, index })
    }

    fn load(&mut self, base: Value, index: Value) -> Value {
        let pointer = self.element(base, index);
        self.put(Expression::Load { pointer })
    }

    /// Byte `k` of the word at byte `at` of the destination: its bits in place, or 0 where it is not to be written.
    fn byte(&mut self, source: Value, at: Value, k: u32, [start, end, delta]: [Value; 3]) -> (Value, Value) {
        use BinaryOperator::{Add, And, GreaterEqual, Less, LogicalAnd, Multiply, ShiftLeft, ShiftRight};
        let byte = self.with(Add, at, k);
        let (behind, before) = (self.binary(GreaterEqual, byte, start), self.binary(Less, byte, end));
        let inside = self.binary(LogicalAnd, behind, before);
        let from = self.binary(Add, byte, delta);
        // A byte outside is read from the first word, which there is.
        let zero = self.number(0);
        let from = self.put(Expression::Select {
            condition: inside,
            accept: from,
            reject: zero,
        });
        let index = self.with(ShiftRight, from, 2);
        let word = self.load(source, index);
        let low = self.with(And, from, 3);
        let shift = self.with(Multiply, low, 8);
        let bits = self.binary(ShiftRight, word, shift);
        let bits = self.with(And, bits, 255);
        let placed = self.with(ShiftLeft, bits, 8 * k);
        let mask = self.number(255 << (8 * k));
        let mut choose = |accept| {
            self.put(Expression::Select {
                condition: inside,
                accept,
                reject: zero,
            })
        };
        (choose(placed), choose(mask))
    }
}

fn kernel() -> Module {
    let mut module = Module::default();
    let mut ty = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
    let word = ty(TypeInner::Scalar(Scalar::U32));
    let words = ty(TypeInner::Array {
        base: word,
        size: naga::ArraySize::Dynamic,
        stride: 4,
    });
    let place = ty(TypeInner::Vector {
        size: VectorSize::Tri,
        scalar: Scalar::U32,
    });
    let mut global = |group, binding, access| {
        let variable = GlobalVariable {
            name: None,
            space: AddressSpace::Storage { access },
            binding: Some(ResourceBinding { group, binding }),
            ty: words,
            init: None,
            memory_decorations: naga::MemoryDecorations::empty(),
        };
        module.global_variables.append(variable, Span::UNDEFINED)
    };
    let params = global(0, 0, StorageAccess::LOAD);
    let source = global(1, 0, StorageAccess::LOAD);
    let target = global(1, 1, StorageAccess::LOAD | StorageAccess::STORE);
    let function = Function {
        arguments: vec![naga::FunctionArgument {
            name: None,
            ty: place,
            binding: Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)),
        }],
        ..Function::default()
    };
    let code = Code {
        function,
        body: Block::new(),
    };
    module
        .entry_points
        .push(crate::emit::entry_point(body(code, [params, source, target]), [BLOCK, 1, 1]));
    module
}

fn body(mut code: Code, globals: [Handle<GlobalVariable>; 3]) -> Function {
    use BinaryOperator::{Add, And, InclusiveOr, Less, Multiply};
    let [params, source, target] = globals.map(|global| code.known(Expression::GlobalVariable(global)));
    let place = code.known(Expression::FunctionArgument(0));
    let thread = code.put(Expression::AccessIndex { base: place, index: 0 });
    let param = |code: &mut Code, index| {
        let pointer = code.put(Expression::AccessIndex { base: params, index });
        code.put(Expression::Load { pointer })
    };
    let count = param(&mut code, 1);
    let works = code.binary(Less, thread, count);
    let outer = std::mem::take(&mut code.body);
    let first = param(&mut code, 0);
    let ends = [2, 3, 4].map(|index| param(&mut code, index));
    let index = code.binary(Add, first, thread);
    let at = code.with(Multiply, index, 4);
    let bytes = [0, 1, 2, 3].map(|k| code.byte(source, at, k, ends));
    let mut all = |one: fn((Value, Value)) -> Value| {
        let [a, b, c, d] = bytes.map(one);
        let (low, high) = (code.binary(InclusiveOr, a, b), code.binary(InclusiveOr, c, d));
        code.binary(InclusiveOr, low, high)
    };
    let (value, mask) = (all(|byte| byte.0), all(|byte| byte.1));
    let pointer = code.element(target, index);
    let old = code.put(Expression::Load { pointer });
    let kept = code.put(Expression::Unary {
        op: naga::UnaryOperator::BitwiseNot,
        expr: mask,
    });
    let kept = code.binary(And, old, kept);
    let value = code.binary(InclusiveOr, kept, value);
    code.body.push(Statement::Store { pointer, value }, Span::UNDEFINED);
    let accept = std::mem::replace(&mut code.body, outer);
    let either = Statement::If {
        condition: works,
        accept,
        reject: Block::new(),
    };
    code.body.push(either, Span::UNDEFINED);
    code.body.push(Statement::Return { value: None }, Span::UNDEFINED);
    code.function.body = code.body;
    code.function
}
