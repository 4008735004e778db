//! Lowering: one walk over the syntax tree both infers types and emits IR.
//!
//! A walk is a *round*. Reading a variable gives the type known so far; assigning joins into it. When a type has grown after it was
//! used, the round's IR is thrown away and another round starts from the types found, until nothing changes. Most functions need one.

mod arguments;
mod arith;
mod assign;
mod attr;
mod broadcast;
pub mod call;
mod closures;
mod compare;
mod copies;
mod dialect;
pub mod elementwise;
mod enums;
mod expr;
mod facts;
mod gather;
mod index;
pub mod lazy;
mod loops;
pub mod number;
mod parts;
pub mod points;
mod prange;
mod recursion;
pub mod reduce;
mod result;
mod state;
mod stmt;
mod sums;
mod tuples;
mod vars;

use std::rc::Rc;

use ruff_text_size::TextRange;
use weft_array::Nodes;
use weft_ir::{Block, Builder, ErrorKind, Flags, FuncKind, Function, Origin, Span, StmtKind, Type, Value};

use crate::compiler::Compiler;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::parse::Body;
use crate::stop::{Pending, Res, Stop};
use crate::types::Ty;
use crate::value::{Closure, Val};
use crate::{Bounds, Dialect, FunctionSource, Inferred, Object, Options, Role, library, parallel, rewrite, unset};
use facts::{Arrays, Facts};
use loops::Nest;
use state::{Blocks, Found, Unit};
use vars::Vars;

/// Types that have not settled by then never will; joins can only climb a short ladder.
const MAX_ROUNDS: usize = 40;

/// The arguments a function is compiled for.
pub enum Args<'a> {
    /// Called by the host: tuples stay whole.
    Entry(&'a [Ty]),
    /// Called by another function: tuples are spread, compile-time things are substituted.
    Call(&'a [Val]),
    /// As `Call`, and integers and bools that are constants are substituted, too.
    Constants(&'a [Val]),
}

/// One function to compile.
pub struct Job<'a> {
    pub function: Rc<FunctionSource>,
    pub args: Args<'a>,
    pub kind: FuncKind,
    /// Called from the body of a loop whose iterations are lanes.
    pub in_parallel: bool,
    pub options: Options,
    /// Its place among the functions being compiled; the entry, which nobody calls, has none.
    pub frame: Option<usize>,
}

/// Compiles one function; gives it and the type of its result.
pub fn function(cx: &mut Compiler, job: &Job<'_>) -> Res<(Function, Ty)> {
    let (parsed, source) = cx.tree(&job.function)?;
    let mut vars = Vars::new(&parsed, library::is_text(job.function.key));
    let whole = parsed.span(source, parsed.range);
    let learnt = job.frame.and_then(|frame| cx.learnt_result(frame).cloned());
    let mut result = learnt.map(|ty| (ty, whole));
    for _ in 0..MAX_ROUNDS {
        job.frame.iter().for_each(|frame| cx.start_round(*frame));
        let mut round = Lower::new(cx, job, Unit::new(job, parsed.clone(), source), vars, result);
        round.run(job)?;
        if round.found.changed || (round.found.failed.is_some() && (round.vars.progress || round.found.learnt)) {
            vars = round.vars.next_round();
            result = round.found.result;
            continue;
        }
        match round.finish()? {
            Finished::Function(function, ty) => return Ok((*function, ty)),
            Finished::Again(round) => (vars, result) = *round,
        }
    }
    let message = format!("the types of '{}' do not settle", job.function.name);
    Err(Diagnostic::new(DiagnosticKind::Typing, whole, message).into())
}

fn origin(function: &FunctionSource) -> Origin {
    match library::is_text(function.key) {
        true => Origin::Library(function.name.clone()),
        false => Origin::User,
    }
}

/// What passes and devices have to know of a function.
fn flags(job: &Job<'_>) -> Flags {
    let bounds = match job.kind {
        FuncKind::Kernel => job.options.bounds,
        _ => Bounds::default(),
    };
    Flags {
        contract: job.options.contract,
        fastmath: job.options.fastmath,
        numba: job.options.dialect == Dialect::Numba,
        rare: library::is_rare(job.function.key),
        streams: false,
        one_thread: false,
        max_threads: bounds.max_threads,
        min_blocks: bounds.min_blocks,
        max_registers: bounds.max_registers,
    }
}

/// What a round came to.
enum Finished {
    Function(Box<Function>, Ty),
    /// Another round is needed; what this one found out.
    Again(Box<(Vars, Option<(Ty, Span)>)>),
}

/// The state of one round over one function.
pub struct Lower<'c> {
    /// The module that this function becomes a part of.
    pub cx: &'c mut Compiler,
    /// The statements being written.
    pub b: Builder,
    /// What is compiled, and how.
    pub unit: Unit,
    vars: Vars,
    /// What the round came to know of the whole function.
    found: Found,
    blocks: Blocks,
    nest: Nest,
    /// What is known of values.
    pub facts: Facts,
    pub arrays: Arrays,
    /// The nodes of its array expressions.
    nodes: Nodes,
    /// The functions whose values are being handed on, each as a part of the one before.
    closing: Vec<Rc<Closure>>,
    /// What is lowered now is done with elements of arrays, or by a function of NumPy's.
    of_elements: bool,
}

impl<'c> Lower<'c> {
    fn new(cx: &'c mut Compiler, job: &Job<'_>, unit: Unit, vars: Vars, result: Option<(Ty, Span)>) -> Lower<'c> {
        let mut func = Function::new(job.function.name.clone(), job.kind.clone());
        func.origin = origin(&job.function);
        func.flags = flags(job);
        Lower {
            cx,
            b: Builder::new(func),
            unit,
            vars,
            found: Found {
                result,
                ..Found::default()
            },
            blocks: Blocks::default(),
            nest: Nest::default(),
            facts: Facts::default(),
            arrays: Arrays::default(),
            nodes: Nodes::default(),
            closing: Vec::new(),
            of_elements: false,
        }
    }

    fn run(&mut self, job: &Job<'_>) -> Res<()> {
        self.b.span = self.span(self.unit.parsed.range);
        self.params(job)?;
        let parsed = self.unit.parsed.clone();
        match &parsed.body {
            Body::Block(stmts) => {
                if !self.block(stmts) {
                    self.fall_off();
                }
            }
            Body::Lambda(expr) => self.guarded(|l| {
                let value = l.expr(expr)?;
                l.return_value(value, l.b.span)
            }),
        }
        Ok(())
    }

    /// Defines the parameters as IR values and binds the names to them.
    fn params(&mut self, job: &Job<'_>) -> Res<()> {
        let parsed = self.unit.parsed.clone();
        let given = match job.args {
            Args::Entry(types) => types.len(),
            Args::Call(vals) | Args::Constants(vals) => vals.len(),
        };
        if given != parsed.params.len() {
            return self.wrong_count(given);
        }
        for (i, param) in parsed.params.iter().enumerate() {
            let val = match job.args {
                Args::Entry(types) => self.entry_param(&param.name, &types[i]),
                Args::Call(vals) => self.spread_param(&param.name, &vals[i], false),
                Args::Constants(vals) => self.spread_param(&param.name, &vals[i], true),
            };
            let span = self.span(param.range);
            self.define_param(&param.name, val, span)?;
        }
        Ok(())
    }

    fn wrong_count<T>(&self, given: usize) -> Res<T> {
        let takes = self.unit.parsed.params.len();
        let plural = if takes == 1 { "" } else { "s" };
        let message = format!("'{}' takes {takes} argument{plural} and was given {given}", self.unit.function.name);
        Err(Diagnostic::new(DiagnosticKind::Arguments, self.span(self.unit.parsed.range), message).into())
    }

    fn entry_param(&mut self, name: &str, ty: &Ty) -> Val {
        match ty {
            Ty::None | Ty::Static(_) => self.known_value(ty),
            _ => {
                let value = self.b.func.new_param(ty.ir(), name);
                let val = self.wrap_value(value, ty);
                self.arrays.note_given(&val);
                val
            }
        }
    }

    fn spread_param(&mut self, name: &str, val: &Val, constants: bool) -> Val {
        if constants && val.passes_as_constant() {
            return val.clone();
        }
        match val.ty() {
            Ty::Num(n) => Val::Num(self.b.func.new_param(n.scalar.into(), name), n),
            Ty::View(v) => {
                let val = Val::View(self.b.func.new_param(v.into(), name), v);
                self.arrays.note_given(&val);
                val
            }
            Ty::Tuple(_) => {
                let Val::Tuple(items) = val else { return val.clone() };
                let spread = |(i, item): (usize, &Val)| self.spread_param(&format!("{name}.{i}"), item, constants);
                Val::Tuple(items.with(items.iter().enumerate().map(spread).collect()))
            }
            Ty::None | Ty::Static(_) => {
                let closure = match val {
                    Val::Closure(closure) => closure,
                    Val::Constant(lit) => return Val::Lit(*lit),
                    _ => return val.clone(),
                };
                if closure.captured.is_none() {
                    return val.clone();
                }
                let named = closure.names.iter().zip(closure.handed());
                closure.with(
                    named
                        .map(|(n, val)| self.spread_param(&format!("{name}.{n}"), val, constants))
                        .collect(),
                )
            }
        }
    }

    fn note_type(&mut self, name: &str, span: Span, ty: &Ty) {
        if !self.unit.library {
            self.found.types.push(Inferred {
                span,
                name: name.to_owned(),
                ty: self.shown(ty),
            });
        }
    }

    fn finish(mut self) -> Res<Finished> {
        match self.found.failed {
            None => {}
            Some(Stop::Error(error)) => return Err(Stop::Error(error)),
            // A function that called this one may know more in its next round.
            Some(Stop::Pending(Pending::Result(of, name, span))) if self.unit.frame.is_some_and(|own| of < own) => {
                return Err(Stop::Pending(Pending::Result(of, name, span)));
            }
            Some(Stop::Pending(pending)) => return Err(pending.diagnostic().into()),
        }
        let unbound = self.exception("UnboundLocalError");
        let (too_deep, host) = (self.exception("RecursionError"), self.in_host());
        let mut func = self.b.finish();
        let to_end = parallel::settle(&mut func, &self.vars.parallel, unbound).map_err(|refusal| refused(&func, &refusal))?;
        if !to_end.is_empty() {
            self.vars.parallel.ended.extend(to_end);
            return Ok(Finished::Again(Box::new((self.vars.next_round(), self.found.result))));
        }
        self.cx.types.extend(self.found.types);
        let ty = self.found.result.map_or(Ty::None, |(ty, _)| ty);
        if let Err((local, span)) = unset::check_reads(&mut func, host, (!self.unit.library).then_some(unbound)) {
            let name = &func.locals[local.index()].name;
            let message = format!("the array '{name}' may be read here before it is assigned");
            let diag = Diagnostic::new(DiagnosticKind::Name, span, message);
            return Err(diag.help("assign it on every path that leads here").into());
        }
        if self.found.needs_host && func.kind == FuncKind::Device {
            func.kind = FuncKind::Host;
        }
        if self.unit.frame.is_some_and(|frame| self.cx.is_recursive(frame)) {
            recursion::ask_for_stack(&mut func, too_deep);
        }
        func.result = if ty == Ty::None { Type::unit() } else { ty.ir() };
        Ok(Finished::Function(Box::new(func), ty))
    }

    /// One of Python's exceptions, by its name.
    fn exception(&self, name: &str) -> ErrorKind {
        match self.unit.function.env.attribute("builtins", name) {
            Some(Object::Exception(number, _)) => ErrorKind::Host(number),
            _ => ErrorKind::Value,
        }
    }

    // ---- spans, errors, blocks ----

    pub fn span(&self, range: TextRange) -> Span {
        self.unit.parsed.span(self.unit.source, range)
    }

    pub fn error(&self, kind: DiagnosticKind, range: TextRange, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(kind, self.span(range), message)
    }

    pub fn typing(&self, span: Span, message: impl Into<String>) -> Stop {
        Diagnostic::new(DiagnosticKind::Typing, span, message).into()
    }

    pub fn unsupported(&self, span: Span, message: impl Into<String>) -> Stop {
        Diagnostic::new(DiagnosticKind::Unsupported, span, message).into()
    }

    /// Runs a step; if it stops, remembers why and puts the open blocks back as they were.
    fn guarded(&mut self, step: impl FnOnce(&mut Self) -> Res<()>) {
        let (blocks, loops) = (self.blocks.depth(), self.nest.frames.len());
        let Err(stop) = step(self) else { return };
        while self.blocks.depth() > blocks {
            self.close_block();
        }
        self.nest.frames.truncate(loops);
        self.found.keep_failure(stop);
    }

    pub fn open_block(&mut self) {
        self.b.open();
        self.blocks.open();
    }

    pub fn close_block(&mut self) -> Block {
        self.blocks.close();
        self.b.close()
    }

    /// `if cond { then }`, with what `then` emits.
    pub fn emit_if(&mut self, cond: Value, then: impl FnOnce(&mut Self) -> Res<()>) -> Res<()> {
        self.open_block();
        then(self)?;
        let then = self.close_block();
        self.b.push(StmtKind::If {
            cond,
            then,
            other: Block::default(),
        });
        Ok(())
    }

    /// Whether a division by zero and the like raise here, as in Python.
    pub fn python_errors(&self) -> bool {
        self.unit.options.python_errors
    }

    /// The function does what only the host can.
    pub fn stays_on_host(&mut self) {
        self.found.needs_host = true;
    }

    pub fn in_host(&self) -> bool {
        self.cx.role() == Role::Host
    }
}

/// The words for what the iterations of a parallel loop cannot do.
fn refused(func: &Function, refusal: &parallel::Refusal) -> Stop {
    match refusal {
        parallel::Refusal::Carried(local, span) => {
            let name = rewrite::variable(func, *local);
            let message = format!("'{name}' carries a value from one iteration of this prange to the next");
            let help = "only sums, products, min, max, &, | and ^ of one variable combine, written as `acc += x` or `acc = max(acc, x)`; else use range";
            Diagnostic::new(DiagnosticKind::Unsupported, *span, message).help(help).into()
        }
        parallel::Refusal::Left { local, read, of } => {
            let name = rewrite::variable(func, *local);
            let message = format!("'{name}' is read here, and only some iterations of a prange before assign it");
            Diagnostic::new(DiagnosticKind::Unsupported, *read, message)
                .label(*of, "this prange")
                .help("assign it in every iteration, which leaves the last one's value, or one constant only, or loop over a range")
                .into()
        }
    }
}
