//! One compilation: the module being made, the functions specialised so far, and the chain of calls being compiled.

use std::collections::{BTreeSet, HashMap, HashSet};
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
    /// Something has no type yet; another round may know it.
    Pending(Pending),
}

/// What has no type yet.
#[derive(Clone, Debug)]
pub enum Pending {
    /// A variable, and where it is read.
    Variable(String, Span),
    /// The result of a function being compiled, by its place among these, and where it is called.
    Result(usize, String, Span),
}

impl Pending {
    /// What it means if no round comes to know it.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Pending::Variable(name, span) => read_too_early(name, *span),
            Pending::Result(_, name, span) => {
                let message = format!("'{name}' calls itself on every path, so that nothing says what it returns");
                Diagnostic::new(DiagnosticKind::Typing, *span, message).help("return something on one path that does not call it")
            }
        }
    }
}

fn read_too_early(name: &str, span: Span) -> Diagnostic {
    let message = format!("the variable '{name}' is read before anything is assigned to it");
    Diagnostic::new(DiagnosticKind::Name, span, message)
}

impl From<Diagnostic> for Stop {
    fn from(d: Diagnostic) -> Stop {
        Stop::Error(Box::new(d))
    }
}

pub type Res<T> = Result<T, Stop>;

/// How deep calls may be nested: functions are compiled by recursion.
const DEEPEST_CALLS: usize = 100;

/// For how many rows of argument types one function is compiled in one compilation.
const MOST_SPECIALISATIONS: usize = 1000;

/// How often a function may call itself for other types each time: they may grow from call to call without end.
const MOST_INSIDE_ITSELF: usize = 16;

/// How many of the calls that led to an error its message shows, and how much of each call's types.
const MOST_SHOWN: usize = 10;
const LONGEST_SHOWN: usize = 80;

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
    /// What it waits for, where it is not compiled yet but its type is known so far: enough for this round of its caller to learn more.
    pub waits: Option<Pending>,
}

impl Callee {
    fn new(id: FuncId, ty: Ty, by_constants: bool) -> Callee {
        Callee {
            id,
            ty,
            by_constants,
            waits: None,
        }
    }
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

/// What became of a specialisation.
struct Specialised {
    done: Result<(FuncId, Ty), Box<Diagnostic>>,
    /// The functions being compiled, by their place, whose results it took to have the type they had by then.
    relies: BTreeSet<usize>,
}

/// A function being compiled, which those it calls may call again.
struct Frame {
    name: String,
    what: Specialisation,
    /// The number that it will have, once somebody calls it.
    id: Option<FuncId>,
    /// The type of its result so far.
    result: Option<Ty>,
    /// What was compiled relying on that type.
    relying: HashSet<Specialisation>,
    /// As in [`Specialised`].
    relies: BTreeSet<usize>,
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
    specialised: HashMap<Specialisation, Specialised>,
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
        let (made, ty) = self.specialise(function, lower::Args::Entry(args), kind, false, self.options)?;
        Ok((self.add(made, None), ty))
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
        if let Some(known) = self.specialised.get(what) {
            let (done, relies) = (known.done.clone(), known.relies.clone());
            relies.into_iter().for_each(|at| self.rely(at));
            let (id, ty) = done.map_err(|diag| called_from(Stop::Error(diag), function, args, call))?;
            return Ok(Callee::new(id, ty, by_constants));
        }
        if let Some(at) = self.stack.iter().position(|f| f.what == *what) {
            return self.recursion(at, by_constants, call);
        }
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
        if self.stack.iter().filter(|frame| frame.what.key == what.key).count() >= MOST_INSIDE_ITSELF {
            let message = format!("'{}' calls itself for other argument types again and again", function.name);
            let diag = Diagnostic::new(DiagnosticKind::Typing, call, message);
            return Err(diag.help("pass arguments of the types it was called with").into());
        }
        let given = if by_constants {
            lower::Args::Constants(args)
        } else {
            lower::Args::Call(args)
        };
        self.stack.push(Frame {
            name: function.name.clone(),
            what: what.clone(),
            id: None,
            result: None,
            relying: HashSet::new(),
            relies: BTreeSet::new(),
        });
        let done = self.specialise(function, given, FuncKind::Device, what.in_parallel, what.options);
        let so_far = self.stack.last().and_then(|frame| frame.result.clone());
        match (self.close_frame(done), so_far) {
            (Ok((id, ty)), _) => Ok(Callee::new(id, ty, by_constants)),
            (Err(Stop::Pending(pending)), Some(ty)) => Ok(Callee {
                waits: Some(pending),
                ..Callee::new(self.new_id(&function.name), ty, by_constants)
            }),
            (Err(stop), _) => Err(called_from(stop, function, args, call)),
        }
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
        let args_of_entry = matches!(args, lower::Args::Entry(_));
        let job = Job {
            function: function.clone(),
            args,
            kind,
            in_parallel,
            options,
            frame: match args_of_entry {
                true => None,
                false => self.stack.len().checked_sub(1),
            },
        };
        lower::function(self, &job)
    }

    /// A function's number, which may have been given out before it was there.
    fn add(&mut self, function: Function, id: Option<FuncId>) -> FuncId {
        let id = id.unwrap_or_else(|| self.new_id(&function.name));
        self.functions[id.index()] = function;
        id
    }

    fn new_id(&mut self, name: &str) -> FuncId {
        self.functions.push(Function::new(name, FuncKind::Host));
        FuncId(self.functions.len() as u32 - 1)
    }

    /// The type of the result of a function being compiled, as far as it is known.
    pub fn note_result(&mut self, frame: usize, ty: &Ty) {
        self.stack[frame].result = Some(ty.clone());
    }

    /// Does the function being compiled call itself?
    pub fn is_recursive(&self, frame: usize) -> bool {
        self.stack[frame].id.is_some()
    }

    /// Another round of a function: what relied on its last one is forgotten.
    pub fn start_round(&mut self, frame: usize) {
        for what in std::mem::take(&mut self.stack[frame].relying) {
            self.specialised.remove(&what);
        }
    }

    /// The functions called from that at a place, down to the one being compiled now, rely on its result.
    fn rely(&mut self, at: usize) {
        let above: Vec<Specialisation> = self.stack[at + 1..].iter().map(|frame| frame.what.clone()).collect();
        self.stack[at].relying.extend(above);
        self.stack[at + 1..].iter_mut().for_each(|frame| {
            frame.relies.insert(at);
        });
    }

    /// Takes down what became of the innermost function being compiled. Of one that failed nothing may be relied on.
    fn close_frame(&mut self, done: Res<(Function, Ty)>) -> Res<(FuncId, Ty)> {
        let at = self.stack.len() - 1;
        if done.is_err() {
            self.start_round(at);
        }
        let Some(frame) = self.stack.pop() else {
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, Span::NONE, "a call that never began").into());
        };
        for what in &frame.relying {
            if let Some(known) = self.specialised.get_mut(what) {
                known.relies.remove(&at);
            }
        }
        let done = match done {
            Ok((made, ty)) => Ok((self.add(made, frame.id), ty)),
            Err(Stop::Error(diag)) => Err(diag),
            Err(pending) => return Err(pending),
        };
        let relies = frame.relies;
        self.specialised.insert(
            frame.what,
            Specialised {
                done: done.clone(),
                relies,
            },
        );
        done.map_err(Stop::Error)
    }

    /// A call of a function that is being compiled for these types. For other types, or other functions among its arguments, it is another.
    fn recursion(&mut self, at: usize, by_constants: bool, call: Span) -> Res<Callee> {
        if self.role != Role::Host {
            return Err(self.refuse_recursion(at, call).into());
        }
        let Frame { name, id, result, .. } = &self.stack[at];
        let Some(ty) = result.clone() else {
            return Err(Stop::Pending(Pending::Result(at, name.clone(), call)));
        };
        let id = match *id {
            Some(id) => id,
            None => {
                let name = name.clone();
                self.new_id(&name)
            }
        };
        self.stack[at].id = Some(id);
        self.rely(at);
        Ok(Callee::new(id, ty, by_constants))
    }

    fn refuse_recursion(&self, at: usize, call: Span) -> Diagnostic {
        let name = &self.stack[at].name;
        let chain: Vec<&str> = self.stack[at..].iter().map(|f| f.name.as_str()).collect();
        let message = format!("'{name}' calls itself, which functions of the host can, but no kernel and no ufunc");
        let chain = format!("the chain of calls: {} -> {name}", chain.join(" -> "));
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, call, message).caret(chain);
        diag.help("write it as a loop, with a local array as the stack where one is needed")
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
    if diag.labels.len() > MOST_SHOWN {
        return Stop::Error(diag);
    }
    let types: Vec<String> = args.iter().map(|a| a.ty().to_string()).collect();
    let mut types = types.join(", ");
    if let Some((end, _)) = types.char_indices().nth(LONGEST_SHOWN) {
        types.replace_range(end.., "...");
    }
    Stop::Error(Box::new(diag.label(call, format!("in this call: {}({types})", function.name))))
}
