//! One compilation: the module being made, its sources, constants and functions, and the syntax of functions inside others.

mod calls;
mod constants;
mod inner;
mod sources;

use std::rc::Rc;

use weft_ir::{FuncId, FuncKind, Function, Module, Op, SourceId, StmtKind};

pub use calls::Callee;
use calls::Calls;
use constants::Constants;
use inner::Inner;
pub use inner::Place;
use sources::Sources;

use crate::lower::{self, Job};
use crate::parse::{Parsed, parse};
use crate::stop::Res;
use crate::types::Ty;
use crate::{FunctionSource, Inferred, Options, Role};

/// How deep expressions, blocks and calls may be nested, all together: lowering walks them by recursion.
pub const DEEPEST: usize = 400;

pub struct Compiler {
    /// What the entry becomes, or what runs the function that is being compiled now.
    role: Role,
    /// A function asked to run in checked mode.
    pub checked: bool,
    options: Options,
    pub sources: Sources,
    pub constants: Constants,
    /// The functions found inside others.
    pub inner: Inner,
    functions: Vec<Function>,
    calls: Calls,
    /// What was inferred in the user's functions.
    pub types: Vec<Inferred>,
    /// How deep what is being lowered now is nested.
    pub depth: usize,
}

impl Compiler {
    pub fn new(options: Options) -> Compiler {
        Compiler {
            role: options.role,
            checked: false,
            options,
            sources: Sources::default(),
            constants: Constants::default(),
            inner: Inner::default(),
            functions: Vec::new(),
            calls: Calls::default(),
            types: Vec::new(),
            depth: 0,
        }
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// What the functions called from now on are compiled for; gives what they were compiled for before.
    pub fn in_role(&mut self, role: Role) -> Role {
        std::mem::replace(&mut self.role, role)
    }

    pub fn kind_of(&self, id: FuncId) -> Option<&FuncKind> {
        self.functions.get(id.index()).map(|f| &f.kind)
    }

    /// A function's syntax, and the number its spans carry.
    pub fn tree(&mut self, function: &FunctionSource) -> Res<(Rc<Parsed>, SourceId)> {
        let source = self.sources.id(function);
        let tree = match self.inner.tree(function.key) {
            Some(tree) => tree,
            None => parse(function, source)?,
        };
        Ok((tree, source))
    }

    /// The entry function, compiled as the role asks.
    pub fn entry(&mut self, function: &Rc<FunctionSource>, args: &[Ty]) -> Res<(FuncId, Ty)> {
        let kind = match self.role {
            Role::Host => FuncKind::Host,
            Role::Kernel => FuncKind::Kernel,
            Role::Device | Role::Ufunc => FuncKind::Device,
        };
        let (made, ty) = self.specialise(function, lower::Args::Entry(args), kind, false, self.options)?;
        Ok((self.add(made, None), ty))
    }

    fn specialise(
        &mut self,
        function: &Rc<FunctionSource>,
        args: lower::Args<'_>,
        kind: FuncKind,
        in_parallel: bool,
        options: Options,
    ) -> Res<(Function, Ty)> {
        self.checked |= options.checked;
        let job = Job {
            function: function.clone(),
            args,
            kind,
            in_parallel,
            options,
            frame: self.calls.depth().checked_sub(1),
        };
        lower::function(self, &job)
    }

    /// A function's number, which may have been given out before it was there.
    fn add(&mut self, function: Function, id: Option<FuncId>) -> FuncId {
        let id = id.unwrap_or_else(|| self.new_id(&function.name));
        self.functions[id.index()] = function;
        id
    }

    /// A function that is not compiled yet: what calls it runs where it will.
    fn new_id(&mut self, name: &str) -> FuncId {
        let kind = match self.role {
            Role::Host => FuncKind::Host,
            Role::Kernel | Role::Device | Role::Ufunc => FuncKind::Device,
        };
        self.functions.push(Function::new(name, kind));
        FuncId(self.functions.len() as u32 - 1)
    }

    /// Does a statement raise or print, itself or in what it calls?
    pub fn shows(&self, kind: &StmtKind) -> bool {
        let mut seen = vec![false; self.functions.len()];
        let mut todo = Vec::new();
        let mut look = |kind: &StmtKind, todo: &mut Vec<FuncId>| match kind {
            StmtKind::Raise { .. } | StmtKind::Print(_) => true,
            StmtKind::Let(_, Op::Call(callee, _)) => {
                if !std::mem::replace(&mut seen[callee.index()], true) {
                    todo.push(*callee);
                }
                false
            }
            _ => false,
        };
        let mut shows = look(kind, &mut todo);
        while let Some(callee) = todo.pop() {
            self.functions[callee.index()].body.walk(&mut |kind| shows |= look(kind, &mut todo));
        }
        shows
    }

    /// Does a function of the module call itself?
    pub fn has_recursion(&self) -> bool {
        self.calls.has_recursion()
    }

    /// The finished module: copies for constants that made no difference are one, and functions that only provisional types asked for are left
    /// out.
    pub fn finish(mut self, entry: FuncId) -> Module {
        crate::share::share(&mut self.functions, self.calls.copies_by_constants());
        let module = Module {
            sources: self.sources.list,
            constants: self.constants.list,
            functions: self.functions,
            entry,
        };
        crate::prune::prune(module)
    }
}
