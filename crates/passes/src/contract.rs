//! Contraction: a float product that is only read by one addition or subtraction of its block becomes part of it, as an `Fma`.
//!
//! The rule is fixed, so that every device rounds alike. Of two products the left one is fused and the right one rounded first:
//! `a*b + c*d` is `fma(a, b, c*d)`. Subtractions negate what has to be negated, which is exact: `a*b - c` is `fma(a, b, -c)` and
//! `c - a*b` is `fma(-a, b, c)`. The sum of one product with itself, `a*b + b*a`, as the square of a complex number has it, is the product
//! `(a+a)*b`, which may be fused in its turn (and, unlike the sum, overflows where `a+a` does). Only functions with the `contract` flag
//! are touched, so this runs before inlining mixes functions.

use std::collections::HashMap;
use std::mem;

use weft_ir::{BinOp, Block, Function, Local, Module, Op, Scalar, Stmt, StmtKind, UnOp, Value};

use crate::compact;
use crate::error::PassError;
use crate::operands::use_counts;

/// Contracts every function that allows it.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in module.functions.iter_mut().filter(|func| func.flags.contract) {
        let uses = use_counts(func);
        let mut body = mem::take(&mut func.body);
        Contractor {
            func,
            uses,
            first: HashMap::new(),
        }
        .block(&mut body);
        func.body = body;
        compact::function(func);
    }
    Ok(())
}

struct Contractor<'a> {
    func: &'a mut Function,
    uses: Vec<u32>,
    /// Of several reads of a local between which it does not change, the first.
    first: HashMap<Value, Value>,
}

/// Where a product stands in the block being built, and its factors.
struct Product {
    at: usize,
    factors: (Value, Value),
}

impl Contractor<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut products = HashMap::new();
        let mut read: HashMap<Local, Value> = HashMap::new();
        let mut out: Vec<Option<Stmt>> = Vec::with_capacity(block.0.len());
        for mut stmt in mem::take(&mut block.0) {
            let mut nested = false;
            stmt.kind.blocks_mut().for_each(|inner| {
                nested = true;
                self.block(inner);
            });
            if nested {
                read.clear();
            }
            match stmt.kind {
                StmtKind::Let(value, Op::Get(local)) => {
                    let first = *read.entry(local).or_insert(value);
                    self.first.insert(value, first);
                }
                StmtKind::Set(local, _) => {
                    read.remove(&local);
                }
                StmtKind::Let(value, Op::Binary(BinOp::Mul, a, b)) if self.is_float(value) && self.uses[value.index()] == 1 => {
                    let product = Product {
                        at: out.len(),
                        factors: (a, b),
                    };
                    products.insert(value, product);
                }
                StmtKind::Let(value, Op::Binary(op @ (BinOp::Add | BinOp::Sub), a, b)) if self.is_float(value) => {
                    if op == BinOp::Add && a != b && self.same_product(products.get(&a), products.get(&b)) {
                        let factors = self.doubled(products.remove(&a), products.remove(&b), &stmt, &mut out);
                        if let Some((double, factor)) = factors {
                            stmt.kind = StmtKind::Let(value, Op::Binary(BinOp::Mul, double, factor));
                            if self.uses[value.index()] == 1 {
                                let product = Product {
                                    at: out.len(),
                                    factors: (double, factor),
                                };
                                products.insert(value, product);
                            }
                        }
                    } else if let Some(product) = products.remove(&a) {
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

    fn same_product(&self, a: Option<&Product>, b: Option<&Product>) -> bool {
        let (Some(a), Some(b)) = (a, b) else {
            return false;
        };
        let first = |value: Value| self.first.get(&value).copied().unwrap_or(value);
        let (x, y) = (first(a.factors.0), first(a.factors.1));
        let (u, v) = (first(b.factors.0), first(b.factors.1));
        (x, y) == (u, v) || (x, y) == (v, u)
    }

    /// The factors of `a*b + a*b`, as one product.
    fn doubled(&mut self, a: Option<Product>, b: Option<Product>, at: &Stmt, out: &mut Vec<Option<Stmt>>) -> Option<(Value, Value)> {
        let (a, b) = (a?, b?);
        out[a.at] = None;
        out[b.at] = None;
        let (x, y) = a.factors;
        let double = self.func.new_value(self.func.ty(x).clone());
        let kind = StmtKind::Let(double, Op::Binary(BinOp::Add, x, x));
        out.push(Some(Stmt { kind, span: at.span }));
        Some((double, y))
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
