//! One compilation: the module being made, the functions specialised so far, and the chain of calls being compiled.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use weft_ir::{ConstArray, ConstId, FuncId, FuncKind, Function, Module, Scalar, Source, SourceId, Span};

use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::{self, Job};
use crate::parse::{Parsed, parse};
use crate::types::Ty;
use crate::value::Val;
use crate::{FunctionSource, Inferred, Options, Role};

/// Why lowering of a statement or function stopped.
#[derive(Debug)]
pub enum Stop {
    Error(Box<Diagnostic>),
    /// A variable has no type yet; another round may know it.
    Pending(String, Span),
}

impl From<Diagnostic> for Stop {
    fn from(d: Diagnostic) -> Stop {
        Stop::Error(Box::new(d))
    }
}

pub type Res<T> = Result<T, Stop>;

/// How deep calls may be nested: functions are compiled by recursion.
const DEEPEST_CALLS: usize = 100;

/// For how many rows of argument types one function is compiled in one compilation: types may grow from call to call without end.
const MOST_SPECIALISATIONS: usize = 1000;

/// How deep expressions, blocks and calls may be nested, all together: lowering walks them by recursion.
pub const DEEPEST: usize = 400;

/// Keys of functions inside others have this bit set, those of the host and the library have not.
const INNER: u64 = 1 << 62;

/// A function called from another one, as it was compiled for the call.
#[derive(Clone)]
pub struct Callee {
    pub id: FuncId,
    pub ty: Ty,
    /// Integers that the call writes out are constants in the function and no parameters of it.
    pub by_constants: bool,
}

/// What a called function is compiled for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Specialisation {
    key: u64,
    args: Vec<Ty>,
    in_parallel: bool,
    /// Where it is compiled for the constants among the arguments: what they are.
    constants: Option<Vec<Option<i128>>>,
    /// Its own, or those of its caller.
    options: Options,
}

/// A function being compiled.
struct Frame {
    name: String,
    what: Specialisation,
}

pub struct Compiler {
    /// What the entry becomes.
    pub role: Role,
    /// A function asked to run in checked mode.
    pub checked: bool,
    options: Options,
    pub sources: Vec<Source>,
    /// What was inferred in the user's functions.
    pub types: Vec<Inferred>,
    source_ids: HashMap<(String, u32, String), SourceId>,
    constants: Vec<ConstArray>,
    /// By the arrays' keys.
    constant_ids: HashMap<u64, ConstId>,
    /// Those that are nobody's array, by what they hold.
    made: HashMap<ConstArray, ConstId>,
    functions: Vec<Function>,
    /// What became of each: an error, too, is found once, however many calls and rounds of inference ask for it.
    specialised: HashMap<Specialisation, Result<(FuncId, Ty), Box<Diagnostic>>>,
    /// How often each function was compiled, by key.
    counts: HashMap<u64, usize>,
    /// Functions that cannot do without the constants among their arguments.
    by_constants: HashSet<Specialisation>,
    /// The functions found inside others, by the function and their place in its text: their keys, and by these their syntax.
    inner: HashMap<(u64, u32), u64>,
    trees: Vec<Rc<Parsed>>,
    stack: Vec<Frame>,
    /// How deep what is being lowered now is nested.
    pub depth: usize,
}

impl Compiler {
    pub fn new(options: Options) -> Compiler {
        Compiler {
            role: options.role,
            checked: false,
            options,
            sources: Vec::new(),
            types: Vec::new(),
            source_ids: HashMap::new(),
            constants: Vec::new(),
            constant_ids: HashMap::new(),
            made: HashMap::new(),
            functions: Vec::new(),
            specialised: HashMap::new(),
            counts: HashMap::new(),
            by_constants: HashSet::new(),
            inner: HashMap::new(),
            trees: Vec::new(),
            stack: Vec::new(),
            depth: 0,
        }
    }

    pub fn kind_of(&self, id: FuncId) -> Option<&FuncKind> {
        self.functions.get(id.index()).map(|f| &f.kind)
    }

    pub fn source_id(&mut self, source: &Source) -> SourceId {
        let key = (source.file.clone(), source.first_line, source.text.clone());
        let next = SourceId(self.sources.len() as u32);
        let id = *self.source_ids.entry(key).or_insert(next);
        if id == next {
            self.sources.push(source.clone());
        }
        id
    }

    /// The key of a function inside another one at a place, whose syntax is made where it is met first.
    pub fn inner_key(&mut self, around: u64, place: u32, tree: impl FnOnce() -> Parsed) -> u64 {
        if let Some(key) = self.inner.get(&(around, place)) {
            return *key;
        }
        let key = INNER | self.trees.len() as u64;
        self.trees.push(Rc::new(tree()));
        self.inner.insert((around, place), key);
        key
    }

    /// A function's syntax, and the number its spans carry.
    pub fn tree(&mut self, function: &FunctionSource) -> Res<(Rc<Parsed>, SourceId)> {
        let source = self.source_id(&function.source);
        let tree = match function.key & INNER {
            0 => parse(function, source)?,
            _ => self.trees[(function.key & !INNER) as usize].clone(),
        };
        Ok((tree, source))
    }

    /// The module's copy of an array with a key.
    pub fn constant(&mut self, key: u64, elem: Scalar, shape: &[u64], bytes: &[u8]) -> ConstId {
        if let Some(id) = self.constant_ids.get(&key) {
            return *id;
        }
        let (shape, bytes) = (shape.to_vec(), bytes.to_vec());
        let id = self.add_constant(ConstArray { elem, shape, bytes });
        self.constant_ids.insert(key, id);
        id
    }

    /// The constant array that is one zero of a type, of so many axes.
    pub fn one_zero(&mut self, elem: Scalar, rank: usize) -> ConstId {
        let (shape, bytes) = (vec![1; rank], vec![0; elem.size()]);
        self.made(ConstArray { elem, shape, bytes })
    }

    /// The items of a tuple as an array of one axis.
    pub fn table(&mut self, elem: Scalar, bytes: Vec<u8>) -> ConstId {
        let shape = vec![(bytes.len() / elem.size()) as u64];
        self.made(ConstArray { elem, shape, bytes })
    }

    fn made(&mut self, array: ConstArray) -> ConstId {
        if let Some(id) = self.made.get(&array) {
            return *id;
        }
        let id = self.add_constant(array.clone());
        self.made.insert(array, id);
        id
    }

    fn add_constant(&mut self, array: ConstArray) -> ConstId {
        self.constants.push(array);
        ConstId(self.constants.len() as u32 - 1)
    }

    /// The entry function, compiled as the role asks.
    pub fn entry(&mut self, function: &Rc<FunctionSource>, args: &[Ty]) -> Res<(FuncId, Ty)> {
        let kind = match self.role {
            Role::Host => FuncKind::Host,
            Role::Kernel => FuncKind::Kernel,
            Role::Device => FuncKind::Device,
        };
        self.specialise(function, lower::Args::Entry(args), kind, false, self.options)
    }

    /// A function called from another one that has the options `caller`, compiled once per argument types and options. One that needs a constant where an argument stands, as the shape
    /// of a shared array, is compiled anew for the integers that the call writes out.
    pub fn callee(&mut self, function: &Rc<FunctionSource>, args: &[Val], caller: Options, in_parallel: bool, call: Span) -> Res<Callee> {
        let library = crate::library::is_library(function.key);
        let mut what = Specialisation {
            key: function.key,
            args: args.iter().map(Val::ty).collect(),
            in_parallel: in_parallel && !library,
            constants: None,
            options: match library {
                true => caller.of_library(),
                false => caller.of_callee(function.decorated.as_deref(), self.role),
            },
        };
        if !self.by_constants.contains(&what) {
            match self.called(function, args, &what, call) {
                Err(Stop::Error(diag)) if diag.wants_constants && args.iter().any(has_constant) => {
                    self.by_constants.insert(what.clone());
                }
                done => return done,
            }
        }
        let mut constants = Vec::new();
        args.iter().for_each(|arg| list_constants(arg, &mut constants));
        what.constants = Some(constants);
        self.called(function, args, &what, call)
    }

    /// The function compiled as asked; anew for calls from parallel loops, in which loops are plain.
    fn called(&mut self, function: &Rc<FunctionSource>, args: &[Val], what: &Specialisation, call: Span) -> Res<Callee> {
        let by_constants = what.constants.is_some();
        match self.specialised.get(what).cloned() {
            Some(Ok((id, ty))) => return Ok(Callee { id, ty, by_constants }),
            Some(Err(diag)) => return Err(called_from(Stop::Error(diag), function, args, call)),
            None => {}
        }
        self.refuse_recursion(what, &function.name, call)?;
        if self.stack.len() > DEEPEST_CALLS {
            let message = format!("calls are nested more than {DEEPEST_CALLS} functions deep here");
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, call, message).into());
        }
        let count = self.counts.entry(what.key).or_default();
        *count += 1;
        if *count > MOST_SPECIALISATIONS {
            let message = format!(
                "'{}' is called for more than {MOST_SPECIALISATIONS} rows of argument types",
                function.name
            );
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, call, message).into());
        }
        let given = if by_constants {
            lower::Args::Constants(args)
        } else {
            lower::Args::Call(args)
        };
        self.stack.push(Frame {
            name: function.name.clone(),
            what: what.clone(),
        });
        let done = self.specialise(function, given, FuncKind::Device, what.in_parallel, what.options);
        self.stack.pop();
        if let Err(Stop::Error(diag)) = &done {
            self.specialised.insert(what.clone(), Err(diag.clone()));
        }
        let (id, ty) = done.map_err(|stop| called_from(stop, function, args, call))?;
        self.specialised.insert(what.clone(), Ok((id, ty.clone())));
        Ok(Callee { id, ty, by_constants })
    }

    fn specialise(
        &mut self,
        function: &Rc<FunctionSource>,
        args: lower::Args<'_>,
        kind: FuncKind,
        in_parallel: bool,
        options: Options,
    ) -> Res<(FuncId, Ty)> {
        self.checked |= options.checked;
        let job = Job {
            function: function.clone(),
            args,
            kind,
            in_parallel,
            options,
        };
        let (function, ty) = lower::function(self, &job)?;
        self.functions.push(function);
        Ok((FuncId(self.functions.len() as u32 - 1), ty))
    }

    /// A function that is called for the types it is being compiled for. For other types, or other functions among its arguments, it is another.
    fn refuse_recursion(&self, what: &Specialisation, name: &str, call: Span) -> Res<()> {
        let Some(at) = self.stack.iter().position(|f| f.what == *what) else {
            return Ok(());
        };
        let chain: Vec<&str> = self.stack[at..].iter().map(|f| f.name.as_str()).collect();
        let message = format!("'{name}' calls itself, and recursion cannot be compiled");
        let chain = format!("the chain of calls: {} -> {name}", chain.join(" -> "));
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, call, message).caret(chain);
        Err(diag
            .help("write it as a loop, with a local array as the stack where one is needed")
            .into())
    }

    /// The finished module, with the functions that only provisional types asked for left out.
    pub fn finish(self, entry: FuncId) -> Module {
        let module = Module {
            sources: self.sources,
            constants: self.constants,
            functions: self.functions,
            entry,
        };
        crate::prune::prune(module)
    }
}

fn has_constant(arg: &Val) -> bool {
    match arg {
        Val::Tuple(items) => items.iter().any(has_constant),
        Val::Closure(closure) => closure.handed().iter().any(has_constant),
        _ => arg.integer_constant().is_some(),
    }
}

fn list_constants(arg: &Val, into: &mut Vec<Option<i128>>) {
    match arg {
        Val::Tuple(items) => items.iter().for_each(|item| list_constants(item, into)),
        Val::Closure(closure) => closure.handed().iter().for_each(|item| list_constants(item, into)),
        _ => into.push(arg.integer_constant()),
    }
}

/// Adds to an error inside a called function where and with what it was called.
fn called_from(stop: Stop, function: &FunctionSource, args: &[Val], call: Span) -> Stop {
    let Stop::Error(diag) = stop else { return stop };
    let types: Vec<String> = args.iter().map(|a| a.ty().to_string()).collect();
    Stop::Error(Box::new(
        diag.label(call, format!("in this call: {}({})", function.name, types.join(", "))),
    ))
}
