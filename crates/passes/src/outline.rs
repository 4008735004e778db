//! Outlining: every `ParFor` of a host function becomes a `Loop` function and a `Launch` of it.
//!
//! What the body takes from outside becomes parameters after the indices: values, and the values that locals hold when the loop starts.
//! Constants and lengths of views are not passed but made again inside, where later passes can see what they are. The reductions are the
//! `Loop` function's own locals; the launch combines them into the host's.
//!
//! Points that run one by one (`Spread::Threads`) launch index spaces of their own. A `ParFor` inside lanes, or in a function that is not
//! the host's, becomes a nest of `For`s ([`nest`]).

mod blocks;
mod capture;
mod lanes;
mod panels;
mod rows;

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, FuncId, FuncKind, Function, Local, Module, Op, Reduction, Span, Spread, Stmt, StmtKind, Type, Value};

use crate::error::PassError;
use crate::liveness::live_into;
use crate::{compact, nest};

/// Outlines every function of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for i in 0..module.functions.len() {
        let mut func = mem::replace(&mut module.functions[i], Function::new("", FuncKind::Device));
        let blocks = lanes::run(&mut func)?;
        nest::function(&mut func, blocks)?;
        if func.kind == FuncKind::Host {
            host(&mut func, module)?;
        }
        compact::function(&mut func);
        module.functions[i] = func;
    }
    Ok(())
}

fn host(func: &mut Function, module: &mut Module) -> Result<(), PassError> {
    let (host, first) = (func.name.clone(), module.functions.len());
    outline_body(func, module, &host, first)
}

fn outline_body(func: &mut Function, module: &mut Module, host: &str, first: usize) -> Result<(), PassError> {
    let mut outliner = Outliner {
        remakable: capture::remakable(&func.body),
        set_somewhere: capture::set_counts(func, &func.body),
        host,
        first,
        module,
    };
    let mut body = mem::take(&mut func.body);
    outliner.block(func, &mut body)?;
    func.body = body;
    Ok(())
}

struct Outliner<'a> {
    module: &'a mut Module,
    /// The function whose loops these are.
    host: &'a str,
    /// How many functions there were before the host's loops.
    first: usize,
    /// Values that a loop can make itself.
    remakable: HashMap<Value, Op>,
    /// How often each local is set in the whole function.
    set_somewhere: Vec<u32>,
}

/// A `ParFor` taken apart.
struct Points {
    vars: Vec<Value>,
    extents: Vec<Value>,
    reductions: Vec<Reduction>,
    spread: Spread,
    body: Block,
    span: Span,
}

impl Outliner<'_> {
    fn block(&mut self, func: &mut Function, block: &mut Block) -> Result<(), PassError> {
        for stmt in mem::take(&mut block.0) {
            let span = stmt.span;
            match stmt.kind {
                StmtKind::ParFor {
                    vars,
                    extents,
                    reductions,
                    spread,
                    body,
                } => {
                    let points = Points {
                        vars,
                        extents,
                        reductions,
                        spread,
                        body,
                        span,
                    };
                    self.outline(func, points, &mut block.0)?;
                }
                mut kind => {
                    for inner in kind.blocks_mut() {
                        self.block(func, inner)?;
                    }
                    block.0.push(Stmt { kind, span });
                }
            }
        }
        Ok(())
    }

    /// Makes a `Loop` function of the points, and statements that launch it.
    fn outline(&mut self, func: &mut Function, mut points: Points, out: &mut Vec<Stmt>) -> Result<(), PassError> {
        let span = points.span;
        end_points_by_return(&mut points.body)?;
        let captures = capture::captures(&points.vars, &points.body, &self.remakable);
        let locals = self.captured_locals(func, &points);

        // The loop function starts with its host's numbering: what it captures keeps its number.
        let mut made = Function {
            name: String::new(),
            kind: FuncKind::Loop {
                rank: points.vars.len() as u8,
                reductions: points.reductions.clone(),
            },
            params: [points.vars, captures.values.clone()].concat(),
            result: Type::unit(),
            body: Block::default(),
            ..func.clone()
        };
        let mut body = Vec::new();
        for (value, op) in captures.remade {
            let kind = StmtKind::Let(value, op);
            body.push(Stmt { kind, span });
        }
        let mut args = captures.values;
        for local in locals {
            let data = func.locals[local.index()].clone();
            let param = made.new_param(data.ty.clone(), data.name);
            let kind = StmtKind::Set(local, param);
            body.push(Stmt { kind, span });
            let arg = func.new_value(data.ty);
            let kind = StmtKind::Let(arg, Op::Get(local));
            out.push(Stmt { kind, span });
            args.push(arg);
        }
        body.append(&mut points.body.0);
        made.body = Block(body);
        if points.spread == Spread::Threads {
            outline_body(&mut made, self.module, self.host, self.first)?;
        }
        compact::function(&mut made);
        made.name = format!("{}.loop{}", self.host, self.module.functions.len() - self.first);
        self.module.functions.push(made);

        let kind = StmtKind::Launch {
            func: FuncId(self.module.functions.len() as u32 - 1),
            extents: points.extents,
            args,
            results: points.reductions.iter().map(|reduction| reduction.local).collect(),
            spread: points.spread,
        };
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// Locals a point may read before it sets them, and that something outside the loop sets.
    fn captured_locals(&self, func: &Function, points: &Points) -> Vec<Local> {
        let reduced = points.reductions.iter().map(|reduction| reduction.local).collect();
        let set_inside = capture::set_counts(func, &points.body);
        let outside = |local: &Local| self.set_somewhere[local.index()] > set_inside[local.index()];
        let is_reduced = |local: &Local| points.reductions.iter().any(|reduction| reduction.local == *local);
        live_into(&points.body, &reduced)
            .iter()
            .filter(|local| outside(local) && !is_reduced(local))
            .collect()
    }
}

/// A `Continue` of the points themselves ends the point: in the function made of them, that is a `Return`.
fn end_points_by_return(block: &mut Block) -> Result<(), PassError> {
    for stmt in &mut block.0 {
        match &mut stmt.kind {
            StmtKind::Continue => stmt.kind = StmtKind::Return(None),
            StmtKind::Break => return Err(PassError::new(stmt.span, "`break` cannot end a parallel loop")),
            StmtKind::Return(_) => return Err(no_return(stmt.span)),
            StmtKind::Loop(body) | StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } => refuse_return(body)?,
            kind => kind.blocks_mut().try_for_each(end_points_by_return)?,
        }
    }
    Ok(())
}

fn refuse_return(block: &mut Block) -> Result<(), PassError> {
    for stmt in &mut block.0 {
        if let StmtKind::Return(_) = stmt.kind {
            return Err(no_return(stmt.span));
        }
        stmt.kind.blocks_mut().try_for_each(refuse_return)?;
    }
    Ok(())
}

fn no_return(span: Span) -> PassError {
    PassError::new(span, "`return` cannot stand inside a parallel loop")
}
