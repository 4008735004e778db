//! Functions that stay functions where threads call them: those that call themselves. Each thread, each lane of a gang, calls them alone.
//!
//! What such a function raises ends its thread, and so all the calls that lead there. It gives its callers, besides its result, whether it
//! raised, and each of them asks and raises again: the error recorded first stays. So whoever looks at control flow sees the way out.
//!
//! On the CPU it is scalar code, which knows nothing of threads: their geometry becomes parameters.

use std::collections::HashMap;

use weft_ir::{Block, Const, ErrorKind, FuncId, FuncKind, Function, Geometry, Module, Op, Scalar, Span, Stmt, StmtKind, Type, Value};

use crate::calls::{asks_for_stack, called};
use crate::operands::ends;

/// What is raised again where a call has raised. Nobody reads it: another error was recorded before.
const RAISED: &str = "a function that was called has raised";

/// By function: is it one of them? Only in a module whose other calls are inlined.
pub fn is_alone(func: &Function) -> bool {
    func.kind == FuncKind::Device && asks_for_stack(&func.body)
}

/// Makes such functions of a module give whether they raised; with `geometry` they also get the geometry they ask for.
pub fn run(module: &mut Module, geometry: bool) {
    let alone: Vec<bool> = module.functions.iter().map(is_alone).collect();
    if !alone.contains(&true) {
        return;
    }
    let asked = match geometry {
        true => all_asked(module, &alone),
        false => vec![Vec::new(); alone.len()],
    };
    let results: Vec<Type> = module.functions.iter().map(|func| func.result.clone()).collect();
    for at in 0..module.functions.len() {
        let func = &mut module.functions[at];
        let mut rewriter = Rewriter {
            alone: &alone,
            asked: &asked,
            results: &results,
            is_alone: alone[at],
            known: Vec::new(),
            renamed: HashMap::new(),
            func,
        };
        rewriter.function(FuncId(at as u32));
    }
}

/// By function: the geometry that it, or one it calls, asks for.
fn all_asked(module: &Module, alone: &[bool]) -> Vec<Vec<Geometry>> {
    let mut asked: Vec<Vec<Geometry>> = module.functions.iter().map(own_geometry).collect();
    for (asked, is_alone) in asked.iter_mut().zip(alone) {
        if !is_alone {
            asked.clear();
        }
    }
    loop {
        let before = asked.clone();
        for at in (0..alone.len()).filter(|at| alone[*at]) {
            for callee in called(module, FuncId(at as u32)) {
                let more: Vec<Geometry> = before[callee.index()].iter().copied().filter(|g| !asked[at].contains(g)).collect();
                asked[at].extend(more);
            }
        }
        if asked == before {
            return asked;
        }
    }
}

fn own_geometry(func: &Function) -> Vec<Geometry> {
    let mut found = Vec::new();
    func.body.walk(&mut |kind| {
        if let StmtKind::Let(_, Op::Geometry(geometry)) = kind
            && !found.contains(geometry)
        {
            found.push(*geometry);
        }
    });
    found
}

struct Rewriter<'a> {
    alone: &'a [bool],
    asked: &'a [Vec<Geometry>],
    /// By function: what it gave before.
    results: &'a [Type],
    /// Is the function itself called alone?
    is_alone: bool,
    /// Its parameters that are geometry.
    known: Vec<(Geometry, Value)>,
    renamed: HashMap<Value, Value>,
    func: &'a mut Function,
}

impl Rewriter<'_> {
    fn function(&mut self, id: FuncId) {
        for geometry in &self.asked[id.index()] {
            let param = self.func.new_value(Type::I64);
            self.func.params.push(param);
            self.known.push((*geometry, param));
        }
        let body = std::mem::take(&mut self.func.body);
        let mut body = self.block(body);
        if self.is_alone {
            if !ends(&body) {
                let span = body.0.last().map_or(Span::NONE, |stmt| stmt.span);
                self.give(None, span, &mut body.0);
            }
            self.func.result = with_flag(&self.func.result);
        }
        self.func.body = body;
    }

    fn param(&self, geometry: Geometry) -> Option<Value> {
        self.known.iter().find(|(known, _)| *known == geometry).map(|(_, param)| *param)
    }

    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.0.len());
        for Stmt { mut kind, span } in block.0 {
            kind.operands_mut(&mut |v| {
                if let Some(new) = self.renamed.get(v) {
                    *v = *new;
                }
            });
            match kind {
                StmtKind::Let(value, Op::Geometry(geometry)) if self.param(geometry).is_some() => {
                    self.renamed.extend(self.param(geometry).map(|param| (value, param)));
                }
                StmtKind::Let(value, Op::Call(callee, args)) if self.alone[callee.index()] => {
                    self.call(value, callee, args, span, &mut out);
                }
                StmtKind::Return(value) if self.is_alone => self.give(value, span, &mut out),
                mut kind => {
                    for inner in kind.blocks_mut() {
                        *inner = self.block(std::mem::take(inner));
                    }
                    out.push(Stmt { kind, span });
                }
            }
        }
        Block(out)
    }

    /// `value = callee(args)`, and the way out where that raised.
    fn call(&mut self, value: Value, callee: FuncId, mut args: Vec<Value>, span: Span, out: &mut Vec<Stmt>) {
        for geometry in &self.asked[callee.index()] {
            let given = match self.param(*geometry) {
                Some(param) => param,
                None => self.emit(Type::I64, Op::Geometry(*geometry), span, out),
            };
            args.push(given);
        }
        let result = &self.results[callee.index()];
        let both = self.emit(with_flag(result), Op::Call(callee, args), span, out);
        let items = items(result);
        let raised = self.emit(Type::BOOL, Op::Item(both, items.len() as u32), span, out);
        let again = StmtKind::Raise {
            kind: ErrorKind::Value,
            message: RAISED.to_owned(),
        };
        out.push(Stmt {
            kind: StmtKind::If {
                cond: raised,
                then: Block(vec![Stmt { kind: again, span }]),
                other: Block::default(),
            },
            span,
        });
        let op = match result {
            Type::Tuple(_) => {
                let values = (0..).zip(items).map(|(i, ty)| self.emit(ty, Op::Item(both, i), span, out));
                Op::Tuple(values.collect())
            }
            Type::Scalar(_) | Type::View(_) => Op::Item(both, 0),
        };
        out.push(Stmt {
            kind: StmtKind::Let(value, op),
            span,
        });
    }

    /// Returns a result, and that nothing was raised.
    fn give(&mut self, value: Option<Value>, span: Span, out: &mut Vec<Stmt>) {
        let mut values = Vec::new();
        match (value, self.func.result.clone()) {
            (None, _) => {}
            (Some(value), Type::Tuple(types)) => {
                for (i, ty) in (0..).zip(types) {
                    values.push(self.emit(ty, Op::Item(value, i), span, out));
                }
            }
            (Some(value), Type::Scalar(_) | Type::View(_)) => values.push(value),
        }
        let raised = self.emit(Type::BOOL, Op::Const(Const::Bool(false)), span, out);
        values.push(raised);
        let both = self.emit(with_flag(&self.func.result.clone()), Op::Tuple(values), span, out);
        out.push(Stmt {
            kind: StmtKind::Return(Some(both)),
            span,
        });
    }

    fn emit(&mut self, ty: Type, op: Op, span: Span, out: &mut Vec<Stmt>) -> Value {
        let value = self.func.new_value(ty);
        out.push(Stmt {
            kind: StmtKind::Let(value, op),
            span,
        });
        value
    }
}

fn items(result: &Type) -> Vec<Type> {
    match result {
        Type::Tuple(items) => items.clone(),
        one => vec![one.clone()],
    }
}

/// A result, and whether the function raised.
fn with_flag(result: &Type) -> Type {
    let mut types = items(result);
    types.push(Type::Scalar(Scalar::Bool));
    Type::Tuple(types)
}
