//! Inlining: every call becomes the callee's body, so that back ends see no calls; where a back end can call, some stay (see `calls`).
//!
//! Parameters are values and values are immutable, so a callee's parameter simply is the argument. A `Return` that is the last statement
//! of the body hands its value over as it is. Any other return sets result locals and leaves a `Scope` around the body. A tuple comes
//! back item by item: no local of tuple type is made, and an `Item` of a returned tuple is that item.
//!
//! What comes from a function without `fastmath` into one with it is marked `exact`: the math library counts on every rounding.

mod extent;

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, Const, FuncId, Function, Id, Label, Local, Module, Op, Rename, Span, Stmt, StmtKind, Type, Value};

use crate::error::PassError;
use crate::{calls, compact, operands};
use extent::{Depth, inlined_depth, inlined_size};

/// Inlines every call in every function the entry reaches and drops the functions that are no longer reached.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    inline(module, vec![false; module.functions.len()])
}

/// The same, but for calls of functions that call themselves.
pub fn run_for_stack(module: &mut Module) -> Result<(), PassError> {
    let stay = calls::recursive(module);
    inline(module, stay)
}

/// The same, but for calls that stay on the CPU.
pub fn run_for_cpu(module: &mut Module) -> Result<(), PassError> {
    let stay = calls::staying(module);
    inline(module, stay)
}

/// Inlines every call in the functions that are reached, but for calls of functions that stay (by number); keeps all of these.
pub(crate) fn entry_but(module: &mut Module, stay: Vec<bool>) -> Result<(), PassError> {
    let recursive = calls::recursive(module);
    let stay = stay
        .into_iter()
        .zip(recursive)
        .map(|(stays, recursive)| stays || recursive)
        .collect();
    inline_with(module, stay, false)
}

/// Drops the functions that the entry does not reach.
pub(crate) fn drop_unreached(module: &mut Module) {
    drop_unreachable(module);
}

/// Inlines all calls but of functions that stay.
fn inline(module: &mut Module, stay: Vec<bool>) -> Result<(), PassError> {
    inline_with(module, stay, true)
}

fn inline_with(module: &mut Module, stay: Vec<bool>, drops: bool) -> Result<(), PassError> {
    for (func, stays) in module.functions.iter_mut().zip(&stay) {
        if !stays {
            never_out_of_stack(&mut func.body);
        }
    }
    let mut sizes = vec![0; module.functions.len()];
    let mut depths = vec![Depth::default(); module.functions.len()];
    for id in callees_first(module, &stay)? {
        let size = inlined_size(module, id, &sizes)?;
        let depth = inlined_depth(&module.function(id).body, Depth { blocks: 1, loops: 0 }, &depths)?;
        // A call that stays is as large as any statement.
        if !stay[id.index()] {
            (sizes[id.index()], depths[id.index()]) = (size, depth);
        }
        let mut func = mem::replace(&mut module.functions[id.index()], Function::new("", weft_ir::FuncKind::Device));
        Inliner::new(module, &mut func, &stay).run();
        compact::function(&mut func);
        module.functions[id.index()] = func;
    }
    if drops {
        drop_unreachable(module);
    }
    Ok(())
}

/// A function that is taken in has no frame of its own: it may ask for the stack though nothing calls it again.
fn never_out_of_stack(block: &mut Block) {
    for stmt in &mut block.0 {
        if let StmtKind::Let(_, op @ Op::OutOfStack) = &mut stmt.kind {
            *op = Op::Const(Const::Bool(false));
        }
        stmt.kind.blocks_mut().for_each(never_out_of_stack);
    }
}

/// The functions that the entry reaches, each after those whose bodies it takes in.
fn callees_first(module: &Module, stay: &[bool]) -> Result<Vec<FuncId>, PassError> {
    let mut walk = Order {
        module,
        stay,
        states: vec![State::New; module.functions.len()],
        order: Vec::new(),
        apart: vec![module.entry],
    };
    while let Some(id) = walk.apart.pop() {
        walk.visit(id, Span::NONE)?;
    }
    Ok(walk.order)
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

struct Order<'a> {
    module: &'a Module,
    stay: &'a [bool],
    states: Vec<State>,
    order: Vec<FuncId>,
    /// Those that are called and not taken in.
    apart: Vec<FuncId>,
}

impl Order<'_> {
    fn visit(&mut self, id: FuncId, at: Span) -> Result<(), PassError> {
        match self.states[id.index()] {
            State::Done => return Ok(()),
            State::Open => {
                let name = &self.module.function(id).name;
                return Err(PassError::new(
                    at,
                    format!("`{name}` calls itself and never asks for the stack that is left"),
                ));
            }
            State::New => {}
        }
        self.states[id.index()] = State::Open;
        for (callee, span) in references(&self.module.function(id).body) {
            match self.stay[callee.index()] {
                true => self.apart.push(callee),
                false => self.visit(callee, span)?,
            }
        }
        self.states[id.index()] = State::Done;
        self.order.push(id);
        Ok(())
    }
}

/// The functions a block calls or launches, and where.
pub fn references(block: &Block) -> Vec<(FuncId, Span)> {
    let mut found = Vec::new();
    for stmt in &block.0 {
        found.extend(stmt.kind.function().map(|func| (func, stmt.span)));
        for inner in stmt.kind.blocks() {
            found.extend(references(inner));
        }
    }
    found
}

fn drop_unreachable(module: &mut Module) {
    let mut keep = vec![false; module.functions.len()];
    let mut todo = vec![module.entry];
    while let Some(id) = todo.pop() {
        if !mem::replace(&mut keep[id.index()], true) {
            todo.extend(references(&module.function(id).body).into_iter().map(|(func, _)| func));
        }
    }
    let mut new_ids = Vec::with_capacity(keep.len());
    let mut count = 0;
    for kept in &keep {
        new_ids.push(FuncId(count));
        count += u32::from(*kept);
    }
    let mut kept = keep.iter();
    module.functions.retain(|_| kept.next() == Some(&true));
    module.entry = new_ids[module.entry.index()];
    for func in &mut module.functions {
        renumber_references(&mut func.body, &new_ids);
    }
}

fn renumber_references(block: &mut Block, new_ids: &[FuncId]) {
    for stmt in &mut block.0 {
        if let StmtKind::Let(_, Op::Call(func, _)) | StmtKind::Launch { func, .. } = &mut stmt.kind {
            *func = new_ids[func.index()];
        }
        for inner in stmt.kind.blocks_mut() {
            renumber_references(inner, new_ids);
        }
    }
}

/// Rewrites one function whose callees hold no calls any more.
struct Inliner<'a> {
    module: &'a Module,
    func: &'a mut Function,
    /// What a value is known as after inlining; values not in here keep their name.
    renamed: HashMap<Value, Value>,
    /// Items of the tuples built so far, so that an `Item` of one needs no tuple.
    tuples: HashMap<Value, Vec<Value>>,
    next_label: u32,
    /// By function: its calls stay.
    stay: &'a [bool],
}

impl<'a> Inliner<'a> {
    fn new(module: &'a Module, func: &'a mut Function, stay: &'a [bool]) -> Inliner<'a> {
        let next_label = label_count(&func.body);
        Inliner {
            module,
            func,
            renamed: HashMap::new(),
            tuples: HashMap::new(),
            next_label,
            stay,
        }
    }

    fn run(&mut self) {
        let body = mem::take(&mut self.func.body);
        self.func.body = self.block(body);
    }

    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.0.len());
        for mut stmt in block.0 {
            stmt.kind.operands_mut(&mut |v| {
                if let Some(new) = self.renamed.get(v) {
                    *v = *new;
                }
            });
            match stmt.kind {
                StmtKind::Let(value, Op::Call(callee, args)) if !self.stay[callee.index()] => {
                    self.call(value, callee, &args, stmt.span, &mut out)
                }
                StmtKind::Let(value, Op::Item(tuple, i)) if self.tuples.contains_key(&tuple) => {
                    let item = self.tuples[&tuple][i as usize];
                    self.renamed.insert(value, item);
                }
                mut kind => {
                    if let StmtKind::Let(value, Op::Tuple(items)) = &kind {
                        self.tuples.insert(*value, items.clone());
                    }
                    for inner in kind.blocks_mut() {
                        *inner = self.block(mem::take(inner));
                    }
                    out.push(Stmt { kind, span: stmt.span });
                }
            }
        }
        Block(out)
    }

    /// Puts the body of `callee` where `value = callee(args)` stands.
    fn call(&mut self, value: Value, callee: FuncId, args: &[Value], span: Span, out: &mut Vec<Stmt>) {
        let callee = self.module.function(callee);
        // What the library raises is shown where the user's function calls it.
        let shown = (callee.origin.is_library() && !self.func.origin.is_library()).then_some(span);
        let mut body = callee.body.clone();
        body.rename(&mut Copy::new(callee, args, self));
        if let Some(span) = shown {
            show_at(&mut body, span);
        }
        let returned = if returns_once_at_end(&body) {
            match body.0.pop().map(|stmt| stmt.kind) {
                Some(StmtKind::Return(value)) => value,
                _ => None,
            }
        } else {
            None
        };
        if let Some(result) = returned {
            let inlined = self.block(body);
            out.extend(inlined.0);
            self.renamed.insert(value, self.renamed.get(&result).copied().unwrap_or(result));
            return;
        }
        let results = ResultLocals::new(self.func, callee);
        if has_return(&body) || operands::ends(&body) {
            let label = Label(self.next_label);
            self.next_label += 1;
            results.replace_returns(self.func, &mut body, label);
            let inlined = self.block(body);
            out.push(Stmt {
                kind: StmtKind::Scope(label, inlined),
                span,
            });
        } else {
            out.extend(self.block(body).0);
        }
        let items = results.get(self.func, span, out);
        match (&results.ty, items.as_slice()) {
            (Type::Tuple(_), _) => {
                self.tuples.insert(value, items.clone());
                let kind = StmtKind::Let(value, Op::Tuple(items));
                out.push(Stmt { kind, span });
            }
            (_, [item]) => {
                self.renamed.insert(value, *item);
            }
            _ => {}
        }
    }
}

/// The locals a callee's result travels through: one, or one an item.
struct ResultLocals {
    ty: Type,
    locals: Vec<Local>,
}

impl ResultLocals {
    fn new(func: &mut Function, callee: &Function) -> ResultLocals {
        let ty = callee.result.clone();
        let name = format!("{}.result", callee.name);
        let locals = match &ty {
            Type::Tuple(items) => items.iter().map(|item| func.new_local(item.clone(), name.clone())).collect(),
            one => vec![func.new_local(one.clone(), name)],
        };
        ResultLocals { ty, locals }
    }

    fn replace_returns(&self, func: &mut Function, block: &mut Block, label: Label) {
        if let Some(Stmt {
            kind: StmtKind::Return(value),
            span,
        }) = block.0.last()
        {
            let (value, span) = (*value, *span);
            block.0.pop();
            if let Some(value) = value {
                self.set(func, value, span, &mut block.0);
            }
            let kind = StmtKind::Leave(label);
            block.0.push(Stmt { kind, span });
        }
        for stmt in &mut block.0 {
            for inner in stmt.kind.blocks_mut() {
                self.replace_returns(func, inner, label);
            }
        }
    }

    fn set(&self, func: &mut Function, value: Value, span: Span, out: &mut Vec<Stmt>) {
        let Type::Tuple(types) = &self.ty else {
            let kind = StmtKind::Set(self.locals[0], value);
            return out.push(Stmt { kind, span });
        };
        for (i, (local, ty)) in self.locals.iter().zip(types).enumerate() {
            let item = func.new_value(ty.clone());
            for kind in [StmtKind::Let(item, Op::Item(value, i as u32)), StmtKind::Set(*local, item)] {
                out.push(Stmt { kind, span });
            }
        }
    }

    fn get(&self, func: &mut Function, span: Span, out: &mut Vec<Stmt>) -> Vec<Value> {
        let get = |local: &Local| {
            let value = func.new_value(func.local_ty(*local).clone());
            let kind = StmtKind::Let(value, Op::Get(*local));
            out.push(Stmt { kind, span });
            value
        };
        self.locals.iter().map(get).collect()
    }
}

/// Gives statements the place of a call as their own.
fn show_at(block: &mut Block, span: Span) {
    for stmt in &mut block.0 {
        stmt.span = span;
        stmt.kind.blocks_mut().for_each(|inner| show_at(inner, span));
    }
}

/// Copies a callee's statements into the numbering of its caller.
struct Copy<'a> {
    callee: &'a Function,
    func: &'a mut Function,
    values: HashMap<Value, Value>,
    first_local: u32,
    first_array: u32,
    first_label: u32,
}

impl<'a> Copy<'a> {
    fn new(callee: &'a Function, args: &[Value], into: &'a mut Inliner<'_>) -> Copy<'a> {
        let first_label = into.next_label;
        into.next_label += label_count(&callee.body);
        let func = &mut *into.func;
        let (first_local, first_array) = (func.locals.len() as u32, func.arrays.len() as u32);
        func.locals.extend(callee.locals.iter().cloned());
        func.arrays.extend(callee.arrays.iter().cloned());
        Copy {
            callee,
            func,
            values: callee.params.iter().copied().zip(args.iter().copied()).collect(),
            first_local,
            first_array,
            first_label,
        }
    }
}

impl Rename for Copy<'_> {
    fn operand(&mut self, value: &mut Value) {
        *value = self.values.get(value).copied().unwrap_or(*value);
    }

    fn definition(&mut self, value: &mut Value) {
        let mut data = self.callee.values[value.index()].clone();
        data.exact |= self.func.flags.fastmath && !self.callee.flags.fastmath;
        self.func.values.push(data);
        let new = Value(self.func.values.len() as u32 - 1);
        self.values.insert(mem::replace(value, new), new);
    }

    fn id(&mut self, id: Id<'_>) {
        match id {
            Id::Local(local) => local.0 += self.first_local,
            Id::Array(array) => array.0 += self.first_array,
            Id::Label(label) => label.0 += self.first_label,
        }
    }
}

/// One more than the largest label of a block.
pub fn label_count(block: &Block) -> u32 {
    let mut count = 0;
    block.walk(&mut |kind| {
        if let StmtKind::Scope(label, _) = kind {
            count = count.max(label.0 + 1);
        }
    });
    count
}

fn returns_once_at_end(body: &Block) -> bool {
    let mut returns = 0;
    body.walk(&mut |kind| returns += u32::from(matches!(kind, StmtKind::Return(_))));
    returns == 1 && matches!(body.0.last().map(|stmt| &stmt.kind), Some(StmtKind::Return(Some(_))))
}

fn has_return(body: &Block) -> bool {
    body.any(&mut |kind| matches!(kind, StmtKind::Return(_)))
}
