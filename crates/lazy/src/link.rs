//! Linking: programs with steps that users wrote are made of the modules of their steps, joined to one.

use std::collections::HashMap;

use weft_ir::{Block, Builder, ConstId, FuncId, FuncKind, Function, Module, Op, Scalar, Source, SourceId, Span, StmtKind, Type, Value};

use crate::error::{Error, Result};
use crate::program::{Program, Slot, Step};
use crate::text;

/// What a program's function of one point is compiled from, without its memory and numbers.
#[derive(Debug)]
pub struct Recipe {
    operands: Vec<Scalar>,
    loads: usize,
    steps: Vec<Step>,
    result: Option<Slot>,
}

impl Recipe {
    pub fn of(program: &Program) -> Recipe {
        Recipe {
            operands: operands(program),
            loads: program.loads.len(),
            steps: program.steps.clone(),
            result: program.result,
        }
    }

    /// A module whose entry is the function: calls of the steps' own functions, one after the other.
    pub fn module(&self) -> Result<Module> {
        let mut linker = Linker::default();
        let mut known: HashMap<u32, FuncId> = HashMap::new();
        let mut builder = Builder::new(Function::new("fused", FuncKind::Device));
        let params: Vec<Value> = (self.operands.iter().enumerate())
            .map(|(at, &elem)| builder.func.new_param(Type::Scalar(elem), format!("x{at}")))
            .collect();
        let mut values: Vec<Value> = Vec::new();
        let place = |slot: &Slot, values: &[Value]| {
            let found = match *slot {
                Slot::Load(at) => params.get(at as usize),
                Slot::Constant(at) => params.get(self.loads + at as usize),
                Slot::Step(at) => values.get(at as usize),
                Slot::Iota(_) => None,
            };
            found.copied().ok_or_else(|| Error::Internal("a step of what is no operand".into()))
        };
        for step in &self.steps {
            let id = match known.get(&step.operation.number) {
                Some(id) => *id,
                None => {
                    let id = linker.add(&text::of_operation(step.operation)?);
                    known.insert(step.operation.number, id);
                    id
                }
            };
            let args = step.args.iter().map(|slot| place(slot, &values)).collect::<Result<_>>()?;
            values.push(builder.emit(step.operation.result, Op::Call(id, args)));
        }
        let result = self
            .result
            .as_ref()
            .ok_or_else(|| Error::Internal("a program without a result".into()))?;
        let result = place(result, &values)?;
        builder.func.result = builder.func.ty(result).clone();
        builder.push(StmtKind::Return(Some(result)));
        Ok(linker.finish(builder.finish()))
    }
}

/// The types of a program's parameters: its operands in memory, then its numbers.
fn operands(program: &Program) -> Vec<Scalar> {
    let loads = program.loads.iter().map(|load| load.elem);
    loads.chain(program.constants.iter().map(|(elem, _)| *elem)).collect()
}

/// Modules joined to one.
#[derive(Debug, Default)]
struct Linker {
    sources: Vec<Source>,
    constants: Vec<weft_ir::ConstArray>,
    functions: Vec<Function>,
}

/// By how much numbers of a module move.
#[derive(Clone, Copy, Debug)]
struct Moves {
    source: u32,
    constant: u32,
    function: u32,
}

impl Linker {
    /// Adds all of a module: its entry.
    fn add(&mut self, module: &Module) -> FuncId {
        let moves = Moves {
            source: self.sources.len() as u32,
            constant: self.constants.len() as u32,
            function: self.functions.len() as u32,
        };
        self.sources.extend(module.sources.iter().cloned());
        self.constants.extend(module.constants.iter().cloned());
        for function in &module.functions {
            let mut function = function.clone();
            moves.block(&mut function.body);
            self.functions.push(function);
        }
        FuncId(module.entry.0 + moves.function)
    }

    fn finish(mut self, entry: Function) -> Module {
        let id = FuncId(self.functions.len() as u32);
        self.functions.push(entry);
        Module {
            sources: self.sources,
            constants: self.constants,
            functions: self.functions,
            entry: id,
        }
    }
}

impl Moves {
    fn block(self, block: &mut Block) {
        for stmt in &mut block.0 {
            if stmt.span != Span::NONE {
                stmt.span.source = SourceId(stmt.span.source.0 + self.source);
            }
            match &mut stmt.kind {
                StmtKind::Let(_, Op::Call(callee, _)) => callee.0 += self.function,
                StmtKind::Let(_, Op::ConstArray(id)) => *id = ConstId(id.0 + self.constant),
                StmtKind::Launch { func, .. } => func.0 += self.function,
                _ => {}
            }
            stmt.kind.blocks_mut().for_each(|inner| self.block(inner));
        }
    }
}
