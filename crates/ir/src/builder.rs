//! The builder: a cursor that appends statements to a function, block by block.

use crate::module::{Block, Function, Local, Span, Stmt, StmtKind, Value};
use crate::op::{BinOp, CmpOp, Const, Op, UnOp};
use crate::types::Type;

/// Appends to the innermost open block of a function. Blocks are opened with [`Builder::open`] and taken with [`Builder::close`].
#[derive(Debug)]
pub struct Builder {
    pub func: Function,
    pub span: Span,
    open: Vec<Block>,
}

impl Builder {
    pub fn new(func: Function) -> Builder {
        Builder {
            func,
            span: Span::NONE,
            open: vec![Block::default()],
        }
    }

    pub fn open(&mut self) {
        self.open.push(Block::default());
    }

    /// Takes the innermost open block.
    pub fn close(&mut self) -> Block {
        self.open.pop().unwrap_or_default()
    }

    pub fn finish(mut self) -> Function {
        while self.open.len() > 1 {
            self.close();
        }
        self.func.body = self.close();
        self.func
    }

    pub fn push(&mut self, kind: StmtKind) {
        let span = self.span;
        if let Some(block) = self.open.last_mut() {
            block.0.push(Stmt { kind, span });
        }
    }

    pub fn emit(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let value = self.func.new_value(ty.into());
        self.push(StmtKind::Let(value, op));
        value
    }

    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value).clone()
    }

    pub fn constant(&mut self, c: Const) -> Value {
        self.emit(c.scalar(), Op::Const(c))
    }

    pub fn i64(&mut self, v: i64) -> Value {
        self.constant(Const::i64(v))
    }

    pub fn get(&mut self, local: Local) -> Value {
        let ty = self.func.local_ty(local).clone();
        self.emit(ty, Op::Get(local))
    }

    pub fn set(&mut self, local: Local, value: Value) {
        self.push(StmtKind::Set(local, value));
    }

    pub fn unary(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.ty(a);
        let ty = ty.scalar().map_or(ty, |scalar| op.gives(scalar).into());
        self.emit(ty, Op::Unary(op, a))
    }

    pub fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(ty, Op::Binary(op, a, b))
    }

    pub fn compare(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Compare(op, a, b))
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(ty, Op::Select(cond, a, b))
    }

    /// Converts, or gives the value back if it has the type already.
    pub fn cast(&mut self, a: Value, to: impl Into<Type>) -> Value {
        let to = to.into();
        if *self.func.ty(a) == to {
            return a;
        }
        self.emit(to, Op::Cast(a))
    }
}
