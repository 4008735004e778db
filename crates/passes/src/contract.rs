//! Contraction: a float product that is only read by one addition or subtraction of its block becomes part of it, as an `Fma`.
//!
//! The rule is fixed, so that every device rounds alike. Of two products the left one is fused and the right one rounded first:
//! `a*b + c*d` is `fma(a, b, c*d)`. Subtractions negate what has to be negated, which is exact: `a*b - c` is `fma(a, b, -c)` and
//! `c - a*b` is `fma(-a, b, c)`. Only functions with the `contract` flag are touched, so this runs before inlining mixes functions.

use std::collections::HashMap;
use std::mem;

use weft_ir::{BinOp, Block, Function, Module, Op, Scalar, Stmt, StmtKind, UnOp, Value};

use crate::compact;
use crate::error::PassError;
use crate::operands::{blocks_mut, use_counts};

/// Contracts every function that allows it.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in module.functions.iter_mut().filter(|func| func.flags.contract) {
        let uses = use_counts(func);
        let mut body = mem::take(&mut func.body);
        Contractor { func, uses }.block(&mut body);
        func.body = body;
        compact::function(func);
    }
    Ok(())
}

struct Contractor<'a> {
    func: &'a mut Function,
    uses: Vec<u32>,
}

/// Where a product stands in the block being built, and its factors.
struct Product {
    at: usize,
    factors: (Value, Value),
}

impl Contractor<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut products = HashMap::new();
        let mut out: Vec<Option<Stmt>> = Vec::with_capacity(block.0.len());
        for mut stmt in mem::take(&mut block.0) {
            blocks_mut(&mut stmt.kind).for_each(|inner| self.block(inner));
            match stmt.kind {
                StmtKind::Let(value, Op::Binary(BinOp::Mul, a, b)) if self.is_float(value) && self.uses[value.index()] == 1 => {
                    let product = Product {
                        at: out.len(),
                        factors: (a, b),
                    };
                    products.insert(value, product);
                }
                StmtKind::Let(value, Op::Binary(op @ (BinOp::Add | BinOp::Sub), a, b)) if self.is_float(value) => {
                    if let Some(product) = products.remove(&a) {
                        out[product.at] = None;
                        stmt.kind = StmtKind::Let(value, self.fused_left(op, product.factors, b, &stmt, &mut out));
                    } else if let Some(product) = products.remove(&b) {
                        out[product.at] = None;
                        stmt.kind = StmtKind::Let(value, self.fused_right(op, a, product.factors, &stmt, &mut out));
                    }
                }
                _ => {}
            }
            out.push(Some(stmt));
        }
        block.0 = out.into_iter().flatten().collect();
    }

    /// `a*b + c` or `a*b - c`.
    fn fused_left(&mut self, op: BinOp, (a, b): (Value, Value), c: Value, at: &Stmt, out: &mut Vec<Option<Stmt>>) -> Op {
        let c = if op == BinOp::Sub { self.negated(c, at, out) } else { c };
        Op::Fma(a, b, c)
    }

    /// `c + a*b` or `c - a*b`.
    fn fused_right(&mut self, op: BinOp, c: Value, (a, b): (Value, Value), at: &Stmt, out: &mut Vec<Option<Stmt>>) -> Op {
        let a = if op == BinOp::Sub { self.negated(a, at, out) } else { a };
        Op::Fma(a, b, c)
    }

    fn negated(&mut self, value: Value, at: &Stmt, out: &mut Vec<Option<Stmt>>) -> Value {
        let negated = self.func.new_value(self.func.ty(value).clone());
        let kind = StmtKind::Let(negated, Op::Unary(UnOp::Neg, value));
        out.push(Some(Stmt { kind, span: at.span }));
        negated
    }

    fn is_float(&self, value: Value) -> bool {
        self.func.ty(value).scalar().is_some_and(Scalar::is_float)
    }
}
