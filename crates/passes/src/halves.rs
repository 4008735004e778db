//! 16-bit floats for machines that cannot compute with them: float32 does it, and every operation rounds its result.
//!
//! Afterwards float16 and bfloat16 are only moved, loaded and stored, and converted from and to float32, which is the one conversion left
//! for a back end to write. Every 16-bit value has a *twin*, the same number in float32, which is what operations read; whichever of the
//! two nobody needs is cleaned up later. Locals are held as twins, but for those a reduction names. Operations whose result is a 16-bit
//! float again whatever the operands (negation, rounding to an integer, minimum) need not round.

use std::collections::{HashMap, HashSet};
use std::mem;

use weft_ir::{BinOp, Block, CmpOp, Const, FuncKind, Function, Local, Module, Op, Scalar, Span, Stmt, StmtKind, Type, UnOp, Value};

use crate::compact;
use crate::error::PassError;

mod round;

/// Widens the arithmetic of every function that has a 16-bit float.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in &mut module.functions {
        let is_half = |ty: &Type| ty.scalar().is_some_and(Scalar::is_half);
        if func.values.iter().any(|v| is_half(&v.ty)) || func.locals.iter().any(|l| is_half(&l.ty)) {
            Widener::new(func).run();
            compact::function(func);
        }
    }
    Ok(())
}

struct Widener<'a> {
    func: &'a mut Function,
    twins: HashMap<Value, Value>,
    /// Locals that were 16-bit floats and now hold their twins.
    wide: HashSet<Local>,
    out: Vec<Stmt>,
    span: Span,
}

impl<'a> Widener<'a> {
    fn new(func: &'a mut Function) -> Widener<'a> {
        Widener {
            func,
            twins: HashMap::new(),
            wide: HashSet::new(),
            out: Vec::new(),
            span: Span::NONE,
        }
    }

    fn run(&mut self) {
        self.widen_locals();
        for param in self.func.params.clone() {
            self.add_twin(param);
        }
        let mut body = mem::take(&mut self.func.body);
        self.stmts(&mut body);
        self.func.body = body;
    }

    fn widen_locals(&mut self) {
        let named = reduced(self.func);
        for (i, data) in self.func.locals.iter_mut().enumerate() {
            let local = Local(i as u32);
            if data.ty.scalar().is_some_and(Scalar::is_half) && !named.contains(&local) {
                data.ty = Scalar::F32.into();
                self.wide.insert(local);
            }
        }
    }

    /// The statements of a block behind what is written so far.
    fn stmts(&mut self, block: &mut Block) {
        for stmt in mem::take(&mut block.0) {
            self.span = stmt.span;
            self.stmt(stmt.kind);
        }
        block.0 = mem::take(&mut self.out);
    }

    fn stmt(&mut self, mut kind: StmtKind) {
        match kind {
            StmtKind::Let(value, op) => return self.define(value, op),
            StmtKind::Set(local, value) if self.wide.contains(&local) => {
                let twin = self.twin(value);
                return self.push(StmtKind::Set(local, twin));
            }
            _ => {}
        }
        let span = self.span;
        for block in kind.blocks_mut() {
            let outer = mem::take(&mut self.out);
            self.stmts(block);
            self.out = outer;
        }
        self.span = span;
        self.push(kind);
    }

    fn define(&mut self, value: Value, op: Op) {
        let half = self.half(value);
        match (&op, half) {
            (Op::Get(local), Some(half)) if self.wide.contains(local) => {
                let wide = self.emit(Scalar::F32, op);
                self.exact(value, half, wide);
            }
            (Op::Const(c), Some(half)) => {
                let wide = weft_ir::eval::cast(*c, Scalar::F32).unwrap_or(Const::F32(0));
                let wide = self.emit(Scalar::F32, Op::Const(wide));
                self.exact(value, half, wide);
            }
            (Op::Unary(op, a), Some(half)) => {
                let a = self.twin(*a);
                let wide = self.emit(Scalar::F32, Op::Unary(*op, a));
                match op {
                    UnOp::Sqrt => self.rounded(value, half, wide),
                    UnOp::Neg | UnOp::Abs | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => self.exact(value, half, wide),
                    // Not for floats, or none as the result.
                    UnOp::Not
                    | UnOp::Conj
                    | UnOp::Popcount
                    | UnOp::Clz
                    | UnOp::Ctz
                    | UnOp::BitReverse
                    | UnOp::IsNan
                    | UnOp::IsInf
                    | UnOp::SignBit => self.exact(value, half, wide),
                }
            }
            (Op::Binary(op, a, b), Some(half)) => {
                let (a, b) = (self.twin(*a), self.twin(*b));
                let wide = self.emit(Scalar::F32, Op::Binary(*op, a, b));
                match op {
                    BinOp::Min | BinOp::Max | BinOp::CopySign => self.exact(value, half, wide),
                    BinOp::Add
                    | BinOp::Sub
                    | BinOp::Mul
                    | BinOp::Div
                    | BinOp::FloorDiv
                    | BinOp::Mod
                    | BinOp::Rem
                    | BinOp::IntPow
                    | BinOp::And
                    | BinOp::Or
                    | BinOp::Xor
                    | BinOp::Shl
                    | BinOp::Shr => self.rounded(value, half, wide),
                }
            }
            (Op::Select(cond, a, b), Some(half)) => {
                let (a, b) = (self.twin(*a), self.twin(*b));
                let wide = self.emit(Scalar::F32, Op::Select(*cond, a, b));
                self.exact(value, half, wide);
            }
            (Op::Fma(a, b, c), Some(half)) => {
                let wide = self.fused(half, *a, *b, *c);
                self.rounded(value, half, wide);
            }
            (Op::Cast(a), _) => self.cast(value, *a),
            (Op::Unary(op, a), None) if self.half(*a).is_some() => {
                let a = self.twin(*a);
                self.push(StmtKind::Let(value, Op::Unary(*op, a)));
            }
            (Op::Compare(op, a, b), _) if self.half(*a).is_some() => {
                let (a, b) = (self.twin(*a), self.twin(*b));
                self.push(StmtKind::Let(value, Op::Compare(*op, a, b)));
            }
            (
                Op::Const(_)
                | Op::Get(_)
                | Op::Unary(..)
                | Op::Binary(..)
                | Op::Compare(..)
                | Op::Select(..)
                | Op::Fma(..)
                | Op::Bitcast(_)
                | Op::Complex(..)
                | Op::Re(_)
                | Op::Im(_)
                | Op::Tuple(_)
                | Op::Item(..)
                | Op::Call(..)
                | Op::Dim(..)
                | Op::Load { .. }
                | Op::Slice { .. }
                | Op::Transpose(..)
                | Op::PartView(..)
                | Op::Reshape(..)
                | Op::Alloc { .. }
                | Op::Array(_)
                | Op::ConstArray(_)
                | Op::Atomic { .. }
                | Op::Geometry(_)
                | Op::Warp { .. }
                | Op::ActiveMask
                | Op::BarrierReduce(..)
                | Op::DynamicShared
                | Op::Apart(..)
                | Op::Routine { .. }
                | Op::ThreadState(_)
                | Op::Libm { .. }
                | Op::OutOfStack,
                _,
            ) => {
                self.push(StmtKind::Let(value, op));
                self.add_twin(value);
            }
        }
    }

    fn cast(&mut self, value: Value, from: Value) {
        let source = match self.half(from) {
            Some(_) => self.twin(from),
            None => from,
        };
        let Some(half) = self.half(value) else {
            return self.push(StmtKind::Let(value, Op::Cast(source)));
        };
        let wide = self.for_rounding(half, source);
        self.rounded(value, half, wide);
    }

    /// `value` is `wide`, which is a number of its type.
    fn exact(&mut self, value: Value, half: Scalar, wide: Value) {
        debug_assert!(self.half(value) == Some(half));
        self.push(StmtKind::Let(value, Op::Cast(wide)));
        self.twins.insert(value, wide);
    }

    /// `value` is `wide` rounded to its type.
    fn rounded(&mut self, value: Value, half: Scalar, wide: Value) {
        debug_assert!(self.half(value) == Some(half));
        self.push(StmtKind::Let(value, Op::Cast(wide)));
        self.add_twin(value);
    }

    fn add_twin(&mut self, value: Value) {
        if self.half(value).is_some() {
            let twin = self.emit(Scalar::F32, Op::Cast(value));
            self.twins.insert(value, twin);
        }
    }

    fn twin(&self, value: Value) -> Value {
        self.twins.get(&value).copied().unwrap_or(value)
    }

    fn half(&self, value: Value) -> Option<Scalar> {
        self.func.ty(value).scalar().filter(|s| s.is_half())
    }

    fn push(&mut self, kind: StmtKind) {
        self.out.push(Stmt { kind, span: self.span });
    }

    fn emit(&mut self, ty: Scalar, op: Op) -> Value {
        let value = self.func.new_value(ty.into());
        self.push(StmtKind::Let(value, op));
        value
    }

    fn constant(&mut self, c: Const) -> Value {
        self.emit(c.scalar(), Op::Const(c))
    }

    fn compare(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        self.emit(Scalar::Bool, Op::Compare(op, a, b))
    }
}

/// The locals that reductions name, whose type is part of a loop's signature.
fn reduced(func: &Function) -> HashSet<Local> {
    let mut named = HashSet::new();
    if let FuncKind::Loop { reductions, .. } = &func.kind {
        named.extend(reductions.iter().map(|r| r.local));
    }
    func.body.walk(&mut |kind| match kind {
        StmtKind::ParFor { reductions, .. } => named.extend(reductions.iter().map(|r| r.local)),
        StmtKind::Launch { results, .. } => named.extend(results),
        _ => {}
    });
    named
}
