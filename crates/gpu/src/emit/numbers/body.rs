//! Writing a function of naga's, one expression after the other.

use naga::{
    BinaryOperator, Binding, Block, Expression, Function, FunctionArgument, FunctionResult, GatherMode, GlobalVariable, Handle, Literal,
    LocalVariable, MathFunction, Module, Scalar, ScalarKind, Span, Statement, Type, TypeInner, UnaryOperator, VectorSize,
};
use weft_ir::CmpOp;

use super::plain::Plain;
use super::{Number, Numbers};
use crate::features::Features;

/// An expression and its type.
#[derive(Clone, Copy, Debug)]
pub struct Val {
    pub at: Handle<Expression>,
    pub ty: Scalar,
}

/// A local variable and its type.
#[derive(Clone, Copy, Debug)]
pub struct Var {
    pointer: Handle<Expression>,
    ty: Scalar,
}

/// A function being written.
pub struct Body<'a> {
    numbers: &'a mut Numbers,
    module: &'a mut Module,
    pub features: &'a Features,
    function: Function,
    /// The innermost block is the last.
    blocks: Vec<Block>,
}

impl<'a> Body<'a> {
    pub fn new(
        numbers: &'a mut Numbers,
        module: &'a mut Module,
        features: &'a Features,
        operands: &[Scalar],
        result: Option<Scalar>,
    ) -> Body<'a> {
        let mut body = Body {
            numbers,
            module,
            features,
            function: Function::default(),
            blocks: vec![Block::new()],
        };
        for (n, &operand) in operands.iter().enumerate() {
            let ty = body.type_of(operand);
            body.function.arguments.push(FunctionArgument {
                name: Some(format!("x{n}")),
                ty,
                binding: None,
            });
        }
        body.function.result = result.map(|result| FunctionResult {
            ty: body.type_of(result),
            binding: None,
        });
        body
    }

    pub fn arguments(&mut self) -> Vec<Val> {
        let types: Vec<_> = self
            .function
            .arguments
            .iter()
            .map(|arg| self.module.types[arg.ty].inner.scalar())
            .collect();
        let mut values = Vec::new();
        for (n, ty) in types.into_iter().enumerate() {
            let ty = ty.unwrap_or(Scalar::BOOL);
            values.push(self.push(Expression::FunctionArgument(n as u32), ty));
        }
        values
    }

    /// The first part of three that the device gives.
    pub fn entry_vector(&mut self, binding: Binding) -> Val {
        let inner = TypeInner::Vector {
            size: VectorSize::Tri,
            scalar: Scalar::U32,
        };
        let ty = self.module.types.insert(Type { name: None, inner }, Span::default());
        let base = self.entry_argument(ty, binding).at;
        self.push(Expression::AccessIndex { base, index: 0 }, Scalar::U32)
    }

    /// A word that the device gives.
    pub fn entry_word(&mut self, binding: Binding) -> Val {
        let ty = self.type_of(Scalar::U32);
        self.entry_argument(ty, binding)
    }

    fn entry_argument(&mut self, ty: Handle<Type>, binding: Binding) -> Val {
        let n = self.function.arguments.len() as u32;
        self.function.arguments.push(FunctionArgument {
            name: None,
            ty,
            binding: Some(binding),
        });
        self.push(Expression::FunctionArgument(n), Scalar::U32)
    }

    pub fn finish(mut self, result: Option<Val>) -> Function {
        self.statement(Statement::Return {
            value: result.map(|v| v.at),
        });
        self.function.body = self.blocks.pop().unwrap_or_default();
        self.function
    }

    fn type_of(&mut self, scalar: Scalar) -> Handle<Type> {
        let ty = Type {
            name: None,
            inner: TypeInner::Scalar(scalar),
        };
        self.module.types.insert(ty, Span::default())
    }

    fn statement(&mut self, statement: Statement) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement, Span::default());
        }
    }

    fn push(&mut self, expression: Expression, ty: Scalar) -> Val {
        use Expression as E;
        let made = matches!(
            expression,
            E::CallResult(_) | E::SubgroupBallotResult | E::SubgroupOperationResult { .. }
        );
        let evaluated = !expression.needs_pre_emit() && !made;
        let at = self.function.expressions.append(expression, Span::default());
        if evaluated {
            self.statement(Statement::Emit(naga::Range::new_from_bounds(at, at)));
        }
        Val { at, ty }
    }

    /// An integer of a type; its low bits.
    pub fn int(&mut self, ty: Scalar, v: i64) -> Val {
        let literal = match (ty.kind, ty.width) {
            (ScalarKind::Sint, 8) => Literal::I64(v),
            (ScalarKind::Uint, 8) => Literal::U64(v as u64),
            (ScalarKind::Sint, _) => Literal::I32(v as i32),
            (ScalarKind::Bool, _) => Literal::Bool(v != 0),
            _ => Literal::U32(v as u32),
        };
        self.push(Expression::Literal(literal), ty)
    }

    pub fn u32(&mut self, v: u32) -> Val {
        self.int(Scalar::U32, v.into())
    }

    /// A finite float of a type.
    pub fn float(&mut self, ty: Scalar, v: f64) -> Val {
        let literal = if ty.width == 8 { Literal::F64(v) } else { Literal::F32(v as f32) };
        self.push(Expression::Literal(literal), ty)
    }

    pub fn binary(&mut self, op: BinaryOperator, x: Val, y: Val) -> Val {
        use BinaryOperator as B;
        let compares = matches!(op, B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual);
        let ty = if compares { Scalar::BOOL } else { x.ty };
        let (left, right) = (x.at, y.at);
        self.push(Expression::Binary { op, left, right }, ty)
    }

    pub fn add(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Add, x, y)
    }

    pub fn sub(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Subtract, x, y)
    }

    pub fn mul(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Multiply, x, y)
    }

    /// Of unsigned integers.
    pub fn rem(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Modulo, x, y)
    }

    pub fn div(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Divide, x, y)
    }

    /// Of integers and bools.
    pub fn and(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::And, x, y)
    }

    pub fn or(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::InclusiveOr, x, y)
    }

    pub fn xor(&mut self, x: Val, y: Val) -> Val {
        let op = if x.ty == Scalar::BOOL {
            BinaryOperator::NotEqual
        } else {
            BinaryOperator::ExclusiveOr
        };
        self.binary(op, x, y)
    }

    /// `n` is a `u32` below the width.
    pub fn shl(&mut self, x: Val, n: Val) -> Val {
        self.binary(BinaryOperator::ShiftLeft, x, n)
    }

    pub fn shr(&mut self, x: Val, n: Val) -> Val {
        self.binary(BinaryOperator::ShiftRight, x, n)
    }

    pub fn eq(&mut self, x: Val, y: Val) -> Val {
        self.compared(CmpOp::Eq, BinaryOperator::Equal, x, y)
    }

    pub fn lt(&mut self, x: Val, y: Val) -> Val {
        self.compared(CmpOp::Lt, BinaryOperator::Less, x, y)
    }

    pub fn gt(&mut self, x: Val, y: Val) -> Val {
        self.compared(CmpOp::Gt, BinaryOperator::Greater, x, y)
    }

    /// Floats by the IR's comparison: the device's own may take subnormal numbers for zeros.
    fn compared(&mut self, op: CmpOp, operator: BinaryOperator, x: Val, y: Val) -> Val {
        let float = match x.ty {
            Scalar::F32 => Some(weft_ir::Scalar::F32),
            Scalar::F64 => Some(weft_ir::Scalar::F64),
            _ => None,
        };
        match float.and_then(|s| self.number(Number::Compare(op, s), &[x, y])) {
            Some(result) => result,
            None => self.binary(operator, x, y),
        }
    }

    /// Of integers.
    pub fn le(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::LessEqual, x, y)
    }

    /// Of integers, or as [`Body::below`].
    pub fn ge(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::GreaterEqual, x, y)
    }

    /// Is a float less than another one, where a subnormal number is as good as zero or there is none.
    pub fn below(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Less, x, y)
    }

    /// The same, greater.
    pub fn above(&mut self, x: Val, y: Val) -> Val {
        self.binary(BinaryOperator::Greater, x, y)
    }

    pub fn is_zero(&mut self, x: Val) -> Val {
        let zero = self.int(x.ty, 0);
        self.eq(x, zero)
    }

    pub fn is_some(&mut self, x: Val) -> Val {
        let zero = self.int(x.ty, 0);
        self.binary(BinaryOperator::NotEqual, x, zero)
    }

    /// Of a bool.
    pub fn not(&mut self, x: Val) -> Val {
        self.unary(UnaryOperator::LogicalNot, x)
    }

    pub fn unary(&mut self, op: UnaryOperator, x: Val) -> Val {
        self.push(Expression::Unary { op, expr: x.at }, x.ty)
    }

    pub fn select(&mut self, condition: Val, accept: Val, reject: Val) -> Val {
        let expression = Expression::Select {
            condition: condition.at,
            accept: accept.at,
            reject: reject.at,
        };
        self.push(expression, accept.ty)
    }

    pub fn math(&mut self, fun: MathFunction, args: &[Val]) -> Val {
        let arg = |n: usize| args.get(n).map(|v| v.at);
        let expression = Expression::Math {
            fun,
            arg: args[0].at,
            arg1: arg(1),
            arg2: arg(2),
            arg3: None,
        };
        self.push(expression, args[0].ty)
    }

    /// Of integers.
    pub fn min(&mut self, x: Val, y: Val) -> Val {
        self.math(MathFunction::Min, &[x, y])
    }

    pub fn max(&mut self, x: Val, y: Val) -> Val {
        self.math(MathFunction::Max, &[x, y])
    }

    /// The same bits as another type of the same width.
    pub fn reinterpret(&mut self, x: Val, kind: ScalarKind) -> Val {
        if x.ty.kind == kind {
            return x;
        }
        let ty = Scalar { kind, width: x.ty.width };
        let (expr, convert) = (x.at, None);
        self.push(Expression::As { expr, kind, convert }, ty)
    }

    /// The bits as an unsigned integer.
    pub fn bits(&mut self, x: Val) -> Val {
        self.reinterpret(x, ScalarKind::Uint)
    }

    pub fn float_of_bits(&mut self, x: Val) -> Val {
        self.reinterpret(x, ScalarKind::Float)
    }

    /// naga's conversion, not between floats, for which there is a [`Number`]. Integers must not change width and sign at once, since naga extends by the sign of the result.
    pub fn convert(&mut self, x: Val, to: Scalar) -> Val {
        let (expr, kind, convert) = (x.at, to.kind, Some(to.width));
        self.push(Expression::As { expr, kind, convert }, to)
    }

    /// An integer in another width and of another sign: cut off, or extended by its own sign.
    pub fn resize(&mut self, x: Val, to: Scalar) -> Val {
        if x.ty == Scalar::BOOL {
            return self.convert(x, to);
        }
        let ty = Scalar { width: to.width, ..x.ty };
        let resized = if ty == x.ty { x } else { self.convert(x, ty) };
        self.reinterpret(resized, to.kind)
    }

    pub fn plain(&mut self, plain: Plain, args: &[Val]) -> Option<Val> {
        let handles: Vec<_> = args.iter().map(|arg| arg.at).collect();
        let ty = plain.result(args.first()?.ty);
        match plain.expression(&handles) {
            Some(expression) => Some(self.push(expression, ty)),
            None => args.first().copied(),
        }
    }

    /// Another operation.
    pub fn number(&mut self, which: Number, args: &[Val]) -> Option<Val> {
        if let Some(plain) = which.plain(self.features) {
            return self.plain(plain, args);
        }
        let function = self.numbers.function(self.module, self.features, which)?;
        let result = self.push(Expression::CallResult(function), super::register(which.result()));
        self.statement(Statement::Call {
            function,
            arguments: args.iter().map(|arg| arg.at).collect(),
            result: Some(result.at),
        });
        Some(result)
    }

    pub fn var(&mut self, init: Val) -> Var {
        let ty = self.type_of(init.ty);
        let local = LocalVariable {
            name: None,
            ty,
            init: None,
        };
        let local = self.function.local_variables.append(local, Span::default());
        let pointer = self.function.expressions.append(Expression::LocalVariable(local), Span::default());
        let var = Var { pointer, ty: init.ty };
        self.set(var, init);
        var
    }

    pub fn get(&mut self, var: Var) -> Val {
        self.push(Expression::Load { pointer: var.pointer }, var.ty)
    }

    pub fn set(&mut self, var: Var, value: Val) {
        self.statement(Statement::Store {
            pointer: var.pointer,
            value: value.at,
        });
    }

    fn element(&mut self, array: Handle<GlobalVariable>, index: Val) -> Handle<Expression> {
        let base = self.push(Expression::GlobalVariable(array), Scalar::U32).at;
        let index = index.at;
        self.push(Expression::Access { base, index }, Scalar::U32).at
    }

    /// A word of a buffer.
    pub fn load(&mut self, array: Handle<GlobalVariable>, index: Val) -> Val {
        let pointer = self.element(array, index);
        self.push(Expression::Load { pointer }, Scalar::U32)
    }

    pub fn store(&mut self, array: Handle<GlobalVariable>, index: Val, value: Val) {
        let pointer = self.element(array, index);
        self.statement(Statement::Store { pointer, value: value.at });
    }

    fn block(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        self.blocks.push(Block::new());
        write(self);
        self.blocks.pop().unwrap_or_default()
    }

    pub fn when(&mut self, condition: Val, write: impl FnOnce(&mut Self)) {
        let accept = self.block(write);
        self.statement(Statement::If {
            condition: condition.at,
            accept,
            reject: Block::new(),
        });
    }

    pub fn return_when(&mut self, condition: Val, value: Val) {
        self.when(condition, |b| b.ret(value));
    }

    /// Repeats while `condition`, which is written in front of each time, is true.
    pub fn repeat(&mut self, condition: impl FnOnce(&mut Self) -> Val, write: impl FnOnce(&mut Self)) {
        let body = self.block(|b| {
            let more = condition(b);
            let stop = Statement::If {
                condition: more.at,
                accept: Block::new(),
                reject: b.block(|b| b.statement(Statement::Break)),
            };
            b.statement(stop);
            write(b);
        });
        self.statement(Statement::Loop {
            body,
            continuing: Block::new(),
            break_if: None,
        });
    }

    pub fn fence(&mut self) {
        self.statement(Statement::MemoryBarrier(naga::Barrier::STORAGE));
    }

    /// In which of the first 32 lanes of the subgroup a bool is true.
    pub fn ballot(&mut self, holds: Val) -> Val {
        let inner = TypeInner::Vector {
            size: VectorSize::Quad,
            scalar: Scalar::U32,
        };
        self.module.types.insert(Type { name: None, inner }, Span::default());
        let result = self.push(Expression::SubgroupBallotResult, Scalar::U32).at;
        self.statement(Statement::SubgroupBallot {
            result,
            predicate: Some(holds.at),
        });
        self.push(Expression::AccessIndex { base: result, index: 0 }, Scalar::U32)
    }

    /// The value of a lane of the subgroup.
    pub fn take(&mut self, value: Val, lane: Val) -> Val {
        let ty = self.type_of(value.ty);
        let taken = self.push(Expression::SubgroupOperationResult { ty }, value.ty);
        self.statement(Statement::SubgroupGather {
            mode: GatherMode::Shuffle(lane.at),
            argument: value.at,
            result: taken.at,
        });
        taken
    }

    pub fn ret(&mut self, value: Val) {
        self.statement(Statement::Return { value: Some(value.at) });
    }
}
