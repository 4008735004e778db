//! Legalisation: complex numbers become pairs of floats, tuples become their items, everywhere.
//!
//! Afterwards every value and local is a scalar or a view. Tuples are left in two places only: a function that returned a complex number or
//! a tuple returns one flat tuple of scalars and views, built right before its `Return`, and a call to it gives that tuple, taken apart by
//! `Item`s. Accesses to complex elements name their part. Slots of argument blocks stay as they were, since a complex number already
//! travels as its two parts and a tuple as its items.
//!
//! When a complex local is set, both of its parts are known before either is set: they are values.

mod complex;
mod flat;

use std::collections::HashMap;
use std::mem;

use weft_ir::{
    BinOp, Block, CmpOp, FuncKind, Function, Local, Module, Op, Part, PrintItem, ReduceOp, Reduction, Scalar, Span, Stmt, StmtKind, Type,
    UnOp, Value,
};

use crate::compact;
use crate::error::PassError;
use flat::{flatten, is_flat};

/// Legalises every function of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    let results: Vec<Type> = module.functions.iter().map(|func| func.result.clone()).collect();
    for func in &mut module.functions {
        Legalizer::new(func, &results).run()?;
        compact::function(func);
    }
    Ok(())
}

struct Legalizer<'a> {
    func: &'a mut Function,
    /// Result types of the module's functions before legalisation.
    results: &'a [Type],
    /// The flat values that stand for an old one. A scalar or view that is defined as before stands for itself and is not in here.
    parts: HashMap<Value, Vec<Value>>,
    /// The flat locals that stand for a complex or tuple local.
    locals: HashMap<Local, Vec<Local>>,
    out: Vec<Stmt>,
    span: Span,
}

impl<'a> Legalizer<'a> {
    fn new(func: &'a mut Function, results: &'a [Type]) -> Legalizer<'a> {
        Legalizer {
            func,
            results,
            parts: HashMap::new(),
            locals: HashMap::new(),
            out: Vec::new(),
            span: Span::NONE,
        }
    }

    fn run(&mut self) -> Result<(), PassError> {
        self.params();
        self.split_locals();
        if let FuncKind::Loop { rank, reductions } = &self.func.kind {
            let rank = *rank;
            let reductions = self.reductions(&reductions.clone())?;
            self.func.kind = FuncKind::Loop { rank, reductions };
        }
        if !is_flat(&self.func.result) {
            self.func.result = Type::Tuple(flatten(&self.func.result));
        }
        let body = mem::take(&mut self.func.body);
        self.func.body = self.block(body)?;
        Ok(())
    }

    fn params(&mut self) {
        for param in mem::take(&mut self.func.params) {
            let data = self.func.values[param.index()].clone();
            if is_flat(&data.ty) {
                self.func.params.push(param);
                continue;
            }
            let name = data.name.unwrap_or_default();
            let types = flatten(&data.ty).into_iter().enumerate();
            let parts = types
                .map(|(i, ty)| self.func.new_param(ty, part_name(&name, &data.ty, i)))
                .collect();
            self.parts.insert(param, parts);
        }
    }

    fn split_locals(&mut self) {
        for i in 0..self.func.locals.len() {
            let data = self.func.locals[i].clone();
            if is_flat(&data.ty) {
                continue;
            }
            let types = flatten(&data.ty).into_iter().enumerate();
            let parts = types
                .map(|(i, ty)| self.func.new_local(ty, part_name(&data.name, &data.ty, i)))
                .collect();
            self.locals.insert(Local(i as u32), parts);
        }
    }

    /// Splits reductions into complex locals; a sum is the sums of the parts.
    fn reductions(&self, reductions: &[Reduction]) -> Result<Vec<Reduction>, PassError> {
        let mut split = Vec::new();
        for reduction in reductions {
            match self.locals.get(&reduction.local) {
                None => split.push(*reduction),
                Some(parts) if reduction.op == ReduceOp::Add => {
                    split.extend(parts.iter().map(|local| Reduction {
                        local: *local,
                        ..*reduction
                    }));
                }
                Some(_) => {
                    let name = &self.func.locals[reduction.local.index()].name;
                    let message = format!("`{name}` is complex: only sums of complex numbers can be reduced in parallel");
                    return Err(PassError::new(self.span, message));
                }
            }
        }
        Ok(split)
    }

    fn block(&mut self, block: Block) -> Result<Block, PassError> {
        let outer = mem::take(&mut self.out);
        for stmt in block.0 {
            self.span = stmt.span;
            self.stmt(stmt.kind)?;
        }
        Ok(Block(mem::replace(&mut self.out, outer)))
    }

    fn stmt(&mut self, mut kind: StmtKind) -> Result<(), PassError> {
        match kind {
            StmtKind::Let(value, op) => return self.define(value, op),
            StmtKind::Set(local, value) => {
                let values = self.parts(value);
                let locals = self.locals.get(&local).cloned().unwrap_or_else(|| vec![local]);
                for (local, value) in locals.into_iter().zip(values) {
                    self.push(StmtKind::Set(local, value));
                }
                return Ok(());
            }
            StmtKind::Return(Some(value)) => {
                self.ret(value);
                return Ok(());
            }
            StmtKind::Store {
                view,
                indices,
                value,
                part: Part::Whole,
            } if self.is_complex_view(view) => {
                let (re, im) = self.pair(value);
                for (value, part) in [(re, Part::Re), (im, Part::Im)] {
                    let mut kind = StmtKind::Store {
                        view,
                        indices: indices.clone(),
                        value,
                        part,
                    };
                    kind.operands_mut(&mut |v| self.rename(v));
                    self.push(kind);
                }
                return Ok(());
            }
            StmtKind::Print(items) => {
                let kind = StmtKind::Print(self.print_items(items)?);
                self.push(kind);
                return Ok(());
            }
            StmtKind::If { .. }
            | StmtKind::Loop(_)
            | StmtKind::For { .. }
            | StmtKind::ParFor { .. }
            | StmtKind::Launch { .. }
            | StmtKind::Scope(..)
            | StmtKind::Leave(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. } => {}
        }
        kind.operands_mut(&mut |v| self.rename(v));
        let span = self.span;
        match &mut kind {
            StmtKind::If { then, other, .. } => {
                *then = self.block(mem::take(then))?;
                *other = self.block(mem::take(other))?;
            }
            StmtKind::ParFor { reductions, body, .. } => {
                *reductions = self.reductions(reductions)?;
                *body = self.block(mem::take(body))?;
            }
            StmtKind::Loop(body) | StmtKind::Scope(_, body) | StmtKind::For { body, .. } => *body = self.block(mem::take(body))?,
            StmtKind::Launch { results, .. } => {
                let split = results.iter().flat_map(|l| self.locals.get(l).cloned().unwrap_or_else(|| vec![*l]));
                *results = split.collect();
            }
            StmtKind::Let(..)
            | StmtKind::Set(..)
            | StmtKind::Leave(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. }
            | StmtKind::Print(_) => {}
        }
        self.span = span;
        self.push(kind);
        Ok(())
    }

    fn ret(&mut self, value: Value) {
        let parts = self.parts(value);
        let result = self.func.result.clone();
        let returned = match &result {
            Type::Tuple(items) if items.is_empty() => None,
            Type::Tuple(_) => Some(self.emit(result, Op::Tuple(parts))),
            _ => Some(parts[0]),
        };
        self.push(StmtKind::Return(returned));
    }

    fn print_items(&mut self, items: Vec<PrintItem>) -> Result<Vec<PrintItem>, PassError> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            out.push(match item {
                PrintItem::Value(value) => match self.func.ty(value) {
                    Type::Scalar(s) if s.is_complex() => {
                        let (re, im) = self.pair(value);
                        PrintItem::Complex(re, im)
                    }
                    Type::Scalar(_) => PrintItem::Value(self.parts(value)[0]),
                    _ => return Err(PassError::new(self.span, "only scalars and strings can be printed")),
                },
                PrintItem::Complex(re, im) => PrintItem::Complex(self.parts(re)[0], self.parts(im)[0]),
                text => text,
            });
        }
        Ok(out)
    }

    /// `value = op`, in parts.
    fn define(&mut self, value: Value, mut op: Op) -> Result<(), PassError> {
        let ty = self.func.ty(value).clone();
        if let Some(parts) = self.structural(&ty, &op)? {
            self.parts.insert(value, parts);
            return Ok(());
        }
        if ty.scalar().is_some_and(Scalar::is_complex) {
            let pair = self.complex(&ty, &op)?;
            self.parts.insert(value, vec![pair.0, pair.1]);
            return Ok(());
        }
        if let Some(result) = self.out_of_complex(&ty, &op)? {
            self.parts.insert(value, vec![result]);
            return Ok(());
        }
        op.operands_mut(&mut |v| self.rename(v));
        self.push(StmtKind::Let(value, op));
        Ok(())
    }

    /// Operations that only move values: what they give, as parts.
    fn structural(&mut self, ty: &Type, op: &Op) -> Result<Option<Vec<Value>>, PassError> {
        let flat = is_flat(ty);
        Ok(Some(match op {
            Op::Tuple(items) => items.iter().flat_map(|item| self.parts(*item)).collect(),
            Op::Item(tuple, i) => self.item(*tuple, *i),
            Op::Get(local) if !flat => {
                let locals = self.locals.get(local).cloned().unwrap_or_default();
                let get = |local| self.emit(self.func.local_ty(local).clone(), Op::Get(local));
                locals.into_iter().map(get).collect()
            }
            Op::Select(cond, a, b) if !flat => {
                let cond = self.parts(*cond)[0];
                let (a, b) = (self.parts(*a), self.parts(*b));
                let pick = |(a, b): (Value, Value)| self.emit(self.func.ty(a).clone(), Op::Select(cond, a, b));
                a.into_iter().zip(b).map(pick).collect()
            }
            Op::Call(callee, args) => self.call(ty, *callee, args),
            _ => return Ok(None),
        }))
    }

    fn item(&self, tuple: Value, i: u32) -> Vec<Value> {
        let parts = self.parts(tuple);
        let Type::Tuple(types) = self.func.ty(tuple) else {
            return parts;
        };
        let widths: Vec<usize> = types.iter().map(|ty| flatten(ty).len()).collect();
        let start: usize = widths[..i as usize].iter().sum();
        parts[start..start + widths[i as usize]].to_vec()
    }

    fn call(&mut self, ty: &Type, callee: weft_ir::FuncId, args: &[Value]) -> Vec<Value> {
        let args = args.iter().flat_map(|arg| self.parts(*arg)).collect();
        let result = &self.results[callee.index()];
        if is_flat(result) {
            return vec![self.emit(ty.clone(), Op::Call(callee, args))];
        }
        let types = flatten(result);
        let tuple = self.emit(Type::Tuple(types.clone()), Op::Call(callee, args));
        let item = |(i, ty)| self.emit(ty, Op::Item(tuple, i as u32));
        types.into_iter().enumerate().map(item).collect()
    }

    /// Operations that take complex numbers and give something else.
    fn out_of_complex(&mut self, ty: &Type, op: &Op) -> Result<Option<Value>, PassError> {
        Ok(match op {
            Op::Compare(cmp, a, b) if self.is_complex(*a) => {
                let ((ar, ai), (br, bi)) = (self.pair(*a), self.pair(*b));
                let re = self.emit(Type::BOOL, Op::Compare(*cmp, ar, br));
                let im = self.emit(Type::BOOL, Op::Compare(*cmp, ai, bi));
                let join = match cmp {
                    CmpOp::Eq => BinOp::And,
                    CmpOp::Ne => BinOp::Or,
                    CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => {
                        return Err(PassError::new(self.span, "complex numbers have no order"));
                    }
                };
                Some(self.emit(Type::BOOL, Op::Binary(join, re, im)))
            }
            Op::Re(a) | Op::Unary(UnOp::Conj, a) => Some(self.pair(*a).0),
            Op::Im(a) => Some(self.pair(*a).1),
            Op::Cast(a) if self.is_complex(*a) => Some(self.complex_to_real(ty, *a)),
            Op::Bitcast(a) if self.is_complex(*a) => {
                return Err(PassError::new(self.span, "the bits of a complex number cannot be reinterpreted"));
            }
            Op::Atomic { view, .. } if self.is_complex_view(*view) => {
                return Err(PassError::new(self.span, "atomic operations on complex numbers are not supported"));
            }
            Op::Const(_)
            | Op::Get(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Fma(..)
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Complex(..)
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
            | Op::OutOfStack => None,
        })
    }

    /// The flat values that stand for `value`.
    fn parts(&self, value: Value) -> Vec<Value> {
        self.parts.get(&value).cloned().unwrap_or_else(|| vec![value])
    }

    /// Real and imaginary part of a value; a real value's imaginary part is zero.
    fn pair(&mut self, value: Value) -> (Value, Value) {
        match self.parts(value).as_slice() {
            [re, im] => (*re, *im),
            parts => {
                let re = parts[0];
                let part = self.func.ty(re).scalar().unwrap_or(Scalar::F64);
                (re, self.zero(part))
            }
        }
    }

    fn rename(&self, value: &mut Value) {
        if let Some([one]) = self.parts.get(value).map(Vec::as_slice) {
            *value = *one;
        }
    }

    fn is_complex(&self, value: Value) -> bool {
        self.func.ty(value).scalar().is_some_and(Scalar::is_complex)
    }

    fn is_complex_view(&self, view: Value) -> bool {
        self.func.ty(view).view().is_some_and(|view| view.elem.is_complex())
    }

    fn push(&mut self, kind: StmtKind) {
        self.out.push(Stmt { kind, span: self.span });
    }

    fn emit(&mut self, ty: impl Into<Type>, op: Op) -> Value {
        let value = self.func.new_value(ty.into());
        self.push(StmtKind::Let(value, op));
        value
    }

    fn unary(&mut self, op: UnOp, a: Value) -> Value {
        self.emit(self.func.ty(a).clone(), Op::Unary(op, a))
    }

    fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.emit(self.func.ty(a).clone(), Op::Binary(op, a, b))
    }

    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.emit(self.func.ty(a).clone(), Op::Select(cond, a, b))
    }
}

/// `z.re`, `z.im`, `t.0`, `t.1`: names for the parts of a named thing.
fn part_name(name: &str, ty: &Type, i: usize) -> String {
    match ty {
        Type::Scalar(_) => format!("{name}.{}", ["re", "im"][i]),
        _ => format!("{name}.{i}"),
    }
}
