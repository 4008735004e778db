//! naga's functions, built statement by statement.
//!
//! naga wants to be told where expressions are evaluated: by `Emit` statements over ranges of them. The writer keeps the range that is
//! open and closes it before every other statement. Constants and variables are evaluated nowhere and interrupt a range.

use std::collections::HashMap;

use naga::{
    AtomicFunction, BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, MathFunction, Module, PredeclaredType,
    ScalarKind, Span, Statement, SwitchCase, SwitchValue, Type, TypeInner, UnaryOperator,
};

use super::operand::{Operand, Ty, Variable, What};

/// Writes one function of a module.
pub struct Writer {
    pub module: Module,
    pub f: Function,
    /// Open blocks, innermost last.
    blocks: Vec<Block>,
    /// What is evaluated before anything else.
    prologue: Block,
    /// Is the innermost open block the prologue?
    is_early: bool,
    /// Where the range that is open starts.
    open: Option<usize>,
    constants: HashMap<(Ty, u64), Handle<Expression>>,
    variables: HashMap<Handle<naga::GlobalVariable>, Handle<Expression>>,
    /// Types of more bits than every device has, once code has used them.
    pub used_int64: bool,
    pub used_float64: bool,
}

impl Writer {
    pub fn new(module: Module) -> Writer {
        Writer {
            module,
            f: Function::default(),
            blocks: vec![Block::new()],
            prologue: Block::new(),
            is_early: false,
            open: None,
            constants: HashMap::new(),
            variables: HashMap::new(),
            used_int64: false,
            used_float64: false,
        }
    }

    /// Ends the function, of which there is one block left.
    pub fn finish(mut self) -> (Module, Function) {
        self.close();
        let mut body = self.prologue;
        for block in self.blocks {
            body.extend_block(block);
        }
        let mut f = self.f;
        f.body = body;
        (self.module, f)
    }

    pub fn ty(&mut self, inner: TypeInner) -> Handle<Type> {
        self.module.types.insert(Type { name: None, inner }, Span::UNDEFINED)
    }

    pub fn scalar_ty(&mut self, ty: Ty) -> Handle<Type> {
        self.ty(TypeInner::Scalar(ty.naga()))
    }

    // Expressions.

    fn close(&mut self) {
        if let Some(start) = self.open.take()
            && start < self.f.expressions.len()
        {
            let range = self.f.expressions.range_from(start);
            self.block().push(Statement::Emit(range), Span::UNDEFINED);
        }
    }

    fn block(&mut self) -> &mut Block {
        if self.blocks.is_empty() {
            self.blocks.push(Block::new());
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// An expression that is evaluated where it stands.
    pub fn eval(&mut self, e: Expression) -> Handle<Expression> {
        if self.open.is_none() {
            self.open = Some(self.f.expressions.len());
        }
        self.f.expressions.append(e, Span::UNDEFINED)
    }

    /// An expression that is a constant or a variable, or that a statement evaluates.
    pub fn name(&mut self, e: Expression) -> Handle<Expression> {
        self.close();
        self.f.expressions.append(e, Span::UNDEFINED)
    }

    /// What follows is evaluated when the function starts, until [`Writer::end_early`]. It may use constants, variables and other values of
    /// that kind.
    pub fn begin_early(&mut self) {
        self.close();
        let prologue = std::mem::replace(&mut self.prologue, Block::new());
        self.blocks.push(prologue);
        self.is_early = true;
    }

    pub fn end_early(&mut self) {
        self.close();
        self.prologue = self.blocks.pop().unwrap_or_default();
        self.is_early = false;
    }

    /// An expression that is evaluated when the function starts.
    fn early(&mut self, e: Expression) -> Handle<Expression> {
        if self.is_early {
            return self.eval(e);
        }
        self.begin_early();
        let handle = self.eval(e);
        self.end_early();
        handle
    }

    pub fn inst(&mut self, ty: Ty, e: Expression) -> Operand {
        self.note(ty);
        Operand::new(ty, self.eval(e))
    }

    /// Code has to do with a type.
    pub fn note(&mut self, ty: Ty) {
        match ty {
            Ty::I64 | Ty::U64 => self.used_int64 = true,
            Ty::F64 => self.used_float64 = true,
            _ => {}
        }
    }

    /// The operand as an expression.
    pub fn expr(&mut self, op: Operand) -> Handle<Expression> {
        match op.what {
            What::Expr(handle) => handle,
            What::Known(bits) => self.constant(op.ty, bits),
        }
    }

    fn constant(&mut self, ty: Ty, bits: u64) -> Handle<Expression> {
        if let Some(handle) = self.constants.get(&(ty, bits)) {
            return *handle;
        }
        self.note(ty);
        let literal = match ty {
            Ty::Bool => Literal::Bool(bits != 0),
            Ty::I32 => Literal::I32(bits as i32),
            Ty::U32 => Literal::U32(bits as u32),
            Ty::I64 => Literal::I64(bits as i64),
            Ty::U64 => Literal::U64(bits),
            Ty::F32 => Literal::F32(f32::from_bits(bits as u32)),
            Ty::F64 => Literal::F64(f64::from_bits(bits)),
        };
        let finite = match literal {
            Literal::F32(v) => v.is_finite(),
            Literal::F64(v) => v.is_finite(),
            _ => true,
        };
        let handle = if finite {
            self.name(Expression::Literal(literal))
        } else {
            // naga has no constants that are infinite or no numbers.
            let expr = self.constant(ty.unsigned(), bits);
            self.early(Expression::As {
                expr,
                kind: ScalarKind::Float,
                convert: None,
            })
        };
        self.constants.insert((ty, bits), handle);
        handle
    }

    /// Has a value stand for a constant from now on. It must be evaluated when the function starts.
    pub fn replace_constant(&mut self, ty: Ty, bits: u64, by: Operand) {
        if let What::Expr(handle) = by.what {
            self.constants.insert((ty, bits), handle);
        }
    }

    pub fn binary(&mut self, op: BinaryOperator, a: Operand, b: Operand) -> Operand {
        let (left, right) = (self.expr(a), self.expr(b));
        self.inst(a.ty, Expression::Binary { op, left, right })
    }

    pub fn compare(&mut self, op: BinaryOperator, a: Operand, b: Operand) -> Operand {
        let (left, right) = (self.expr(a), self.expr(b));
        self.inst(Ty::Bool, Expression::Binary { op, left, right })
    }

    /// Of two bools.
    pub fn or(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.known(), b.known()) {
            (Some(1), _) | (_, Some(0)) => a,
            (_, Some(1)) | (Some(0), _) => b,
            _ => self.binary(BinaryOperator::LogicalOr, a, b),
        }
    }

    pub fn not(&mut self, a: Operand) -> Operand {
        match a.known() {
            Some(v) => Operand::bool(v == 0),
            None => self.unary(UnaryOperator::LogicalNot, a),
        }
    }

    pub fn unary(&mut self, op: UnaryOperator, a: Operand) -> Operand {
        let expr = self.expr(a);
        self.inst(a.ty, Expression::Unary { op, expr })
    }

    pub fn select(&mut self, cond: Operand, a: Operand, b: Operand) -> Operand {
        match cond.known() {
            _ if a == b => return a,
            Some(0) => return b,
            Some(_) => return a,
            None => {}
        }
        let (condition, accept, reject) = (self.expr(cond), self.expr(a), self.expr(b));
        self.inst(a.ty, Expression::Select { condition, accept, reject })
    }

    pub fn math(&mut self, fun: MathFunction, args: &[Operand]) -> Operand {
        let mut exprs = args.iter().map(|arg| self.expr(*arg)).collect::<Vec<_>>().into_iter();
        let ty = args.first().map_or(Ty::U32, |arg| arg.ty);
        let Some(arg) = exprs.next() else {
            return ty.int(0);
        };
        self.inst(
            ty,
            Expression::Math {
                fun,
                arg,
                arg1: exprs.next(),
                arg2: exprs.next(),
                arg3: None,
            },
        )
    }

    /// The same number in another type, integers extended or cut as the operand's sign says.
    pub fn convert(&mut self, a: Operand, to: Ty) -> Operand {
        if a.ty == to {
            return a;
        }
        if let (Some(v), false) = (a.known(), to.is_float()) {
            return match to {
                Ty::Bool => Operand::bool(v != 0),
                _ => to.int(v),
            };
        }
        let ints = [a.ty, to].iter().all(|ty| !ty.is_float() && *ty != Ty::Bool);
        if ints && a.ty.is_signed() != to.is_signed() {
            // naga extends as the result's sign says.
            let sized = self.convert(a, if a.ty.is_signed() { to.signed() } else { to.unsigned() });
            return self.bitcast(sized, to);
        }
        let expr = self.expr(a);
        let scalar = to.naga();
        self.inst(
            to,
            Expression::As {
                expr,
                kind: scalar.kind,
                convert: Some(scalar.width),
            },
        )
    }

    /// The same bits in another type of the same size.
    pub fn bitcast(&mut self, a: Operand, to: Ty) -> Operand {
        if a.ty == to {
            return a;
        }
        if let What::Known(bits) = a.what {
            return Operand::bits(to, bits);
        }
        let expr = self.expr(a);
        self.inst(
            to,
            Expression::As {
                expr,
                kind: to.naga().kind,
                convert: None,
            },
        )
    }

    // Variables and memory.

    pub fn variable(&mut self, ty: Ty) -> Variable {
        let handle = self.scalar_ty(ty);
        Variable {
            ty,
            pointer: self.local(handle),
        }
    }

    /// A variable of any type; gives its address.
    pub fn local(&mut self, ty: Handle<Type>) -> Handle<Expression> {
        let variable = self.f.local_variables.append(
            LocalVariable {
                name: None,
                ty,
                init: None,
            },
            Span::UNDEFINED,
        );
        self.name(Expression::LocalVariable(variable))
    }

    /// The address of a global variable.
    pub fn global(&mut self, variable: Handle<naga::GlobalVariable>) -> Handle<Expression> {
        if let Some(handle) = self.variables.get(&variable) {
            return *handle;
        }
        let handle = self.name(Expression::GlobalVariable(variable));
        self.variables.insert(variable, handle);
        handle
    }

    pub fn get(&mut self, variable: Variable) -> Operand {
        self.load(variable.ty, variable.pointer)
    }

    pub fn set(&mut self, variable: Variable, value: Operand) {
        self.store(variable.pointer, value);
    }

    pub fn load(&mut self, ty: Ty, pointer: Handle<Expression>) -> Operand {
        self.inst(ty, Expression::Load { pointer })
    }

    pub fn store(&mut self, pointer: Handle<Expression>, value: Operand) {
        let value = self.expr(value);
        self.push(Statement::Store { pointer, value });
    }

    /// The address of an array's element.
    pub fn element(&mut self, base: Handle<Expression>, index: Operand) -> Handle<Expression> {
        match index.known().and_then(|v| u32::try_from(v).ok()) {
            Some(index) => self.eval(Expression::AccessIndex { base, index }),
            None => {
                let index = self.expr(index);
                self.eval(Expression::Access { base, index })
            }
        }
    }

    /// The old value.
    pub fn atomic(&mut self, pointer: Handle<Expression>, fun: AtomicFunction, value: Operand) -> Operand {
        let ty = self.scalar_ty(value.ty);
        let value_expr = self.expr(value);
        let result = self.name(Expression::AtomicResult { ty, comparison: false });
        self.push(Statement::Atomic {
            pointer,
            fun,
            value: value_expr,
            result: Some(result),
        });
        Operand::new(value.ty, result)
    }

    /// The old value, and whether it has been replaced.
    pub fn compare_and_swap(&mut self, pointer: Handle<Expression>, expected: Operand, new: Operand) -> (Operand, Operand) {
        let special = PredeclaredType::AtomicCompareExchangeWeakResult(new.ty.naga());
        let ty = self.module.generate_predeclared_type(special);
        let (compare, value) = (self.expr(expected), self.expr(new));
        let base = self.name(Expression::AtomicResult { ty, comparison: true });
        self.push(Statement::Atomic {
            pointer,
            fun: AtomicFunction::Exchange { compare: Some(compare) },
            value,
            result: Some(base),
        });
        let old = self.eval(Expression::AccessIndex { base, index: 0 });
        let swapped = self.eval(Expression::AccessIndex { base, index: 1 });
        (Operand::new(new.ty, old), Operand::new(Ty::Bool, swapped))
    }

    /// A call of a function that gives a value of a type.
    pub fn call(&mut self, function: Handle<Function>, args: &[Operand], result: Ty) -> Operand {
        self.note(result);
        let arguments = args.iter().map(|arg| self.expr(*arg)).collect();
        let handle = self.name(Expression::CallResult(function));
        self.push(Statement::Call {
            function,
            arguments,
            result: Some(handle),
        });
        Operand::new(result, handle)
    }

    // Statements.

    pub fn push(&mut self, statement: Statement) {
        self.close();
        self.block().push(statement, Span::UNDEFINED);
    }

    /// Statements go to a block of their own until [`Writer::end`].
    pub fn begin(&mut self) {
        self.close();
        self.blocks.push(Block::new());
    }

    pub fn end(&mut self) -> Block {
        self.close();
        self.blocks.pop().unwrap_or_default()
    }

    pub fn branch(&mut self, cond: Operand, accept: Block, reject: Block) {
        let condition = self.expr(cond);
        self.push(Statement::If { condition, accept, reject });
    }

    /// `if cond { statement }`.
    pub fn when(&mut self, cond: Operand, statement: Statement) {
        self.branch(cond, Block::from_vec(vec![statement]), Block::new());
    }

    pub fn endless(&mut self, body: Block) {
        self.push(Statement::Loop {
            body,
            continuing: Block::new(),
            break_if: None,
        });
    }

    /// A block that `Break` leaves.
    pub fn scope(&mut self, body: Block) {
        let selector = self.expr(Ty::I32.int(0));
        self.push(Statement::Switch {
            selector,
            cases: vec![SwitchCase {
                value: SwitchValue::Default,
                body,
                fall_through: false,
            }],
        });
    }
}
