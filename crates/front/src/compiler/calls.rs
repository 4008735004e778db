//! Specialisation: functions that others call are compiled once for each combination of argument types, constants and options. What is known of those being
//! compiled now is kept, too: the functions that they call may call them again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use weft_ir::{FuncId, FuncKind, Function, Span};

use super::Compiler;
use crate::diag::{Diagnostic, DiagnosticKind, Label};
use crate::lower;
use crate::stop::{Pending, Res, Stop};
use crate::types::Ty;
use crate::value::Val;
use crate::{FunctionSource, Options, Role, library};

/// How deep calls may be nested: functions are compiled by recursion.
const DEEPEST_CALLS: usize = 100;

/// How often one function is compiled in one compilation: for other types of arguments, other constants, other options.
const MOST_SPECIALISATIONS: usize = 1000;

/// How often a function may call itself for other types each time: they may grow from call to call without end.
const MOST_INSIDE_ITSELF: usize = 16;

/// How many of the calls that led to an error its message shows, and how much of each call's types.
const MOST_SHOWN: usize = 10;
const LONGEST_SHOWN: usize = 80;

/// A function called from another one, as it was compiled for the call.
#[derive(Clone)]
pub struct Callee {
    pub id: FuncId,
    pub ty: Ty,
    /// Integers and bools that the call writes out are constants in the function and no parameters of it.
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
    role: Role,
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

/// What is known of called functions.
#[derive(Default)]
pub struct Calls {
    /// What became of each: an error, too, is found once, however many calls and rounds of inference ask for it.
    specialised: HashMap<Specialisation, Specialised>,
    /// How often each function was compiled, by key.
    counts: HashMap<u64, usize>,
    /// The type of the result of each that was compiled and forgotten: where another round starts from, so that rounds of functions that
    /// call each other do not multiply.
    learnt: HashMap<Specialisation, Option<Ty>>,
    /// Those being compiled, each called by the one before.
    stack: Vec<Frame>,
    /// One of them was called again.
    recursive: bool,
}

impl Calls {
    /// How many functions are being compiled, the entry not counted.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    pub fn has_recursion(&self) -> bool {
        self.recursive
    }

    /// What each function became for different constants, in the order of their numbers.
    pub fn copies_by_constants(&self) -> Vec<Vec<FuncId>> {
        let mut copies: HashMap<u64, Vec<FuncId>> = HashMap::new();
        for (what, made) in &self.specialised {
            if let (Some(_), Ok((id, _))) = (&what.constants, &made.done) {
                copies.entry(what.key).or_default().push(*id);
            }
        }
        let mut copies: Vec<Vec<FuncId>> = copies.into_values().collect();
        copies.iter_mut().for_each(|group| group.sort());
        copies
    }
}

impl Compiler {
    /// A function called from another one that has the options `caller`, compiled once per argument types and options. One of the user's that
    /// cannot be compiled so is compiled anew for the integers and bools that the call writes out: a shape or an axis may need one, and
    /// branches that they decide may be of other types.
    pub fn callee(&mut self, function: &Rc<FunctionSource>, args: &[Val], caller: Options, in_parallel: bool, call: Span) -> Res<Callee> {
        let (library, text) = (library::is_library(function.key), library::is_text(function.key));
        let mut what = Specialisation {
            key: function.key,
            args: args.iter().map(Val::ty).collect(),
            role: self.role,
            in_parallel: in_parallel && (text || !library),
            constants: None,
            options: match library {
                true if text => library::texts::options(function.key, caller),
                true => caller.of_library(),
                false => caller.of_callee(function.decorated.as_deref(), self.role),
            },
        };
        let first = match self.called(function, args, &what, call) {
            Err(Stop::Error(diag)) if (diag.wants_constants || !library) && args.iter().any(has_constant) => diag,
            done => return done,
        };
        let mut constants = Vec::new();
        args.iter().for_each(|arg| list_constants(arg, &mut constants));
        what.constants = Some(constants);
        match self.called(function, args, &what, call) {
            Err(Stop::Error(_)) if !first.wants_constants => Err(Stop::Error(first)),
            done => done,
        }
    }

    /// The function compiled as asked; anew for calls from parallel loops, in which loops are plain.
    fn called(&mut self, function: &Rc<FunctionSource>, args: &[Val], what: &Specialisation, call: Span) -> Res<Callee> {
        let by_constants = what.constants.is_some();
        if let Some(known) = self.calls.specialised.get(what) {
            let (done, relies) = (known.done.clone(), known.relies.clone());
            relies.into_iter().for_each(|at| self.rely(at));
            let (id, ty) = done.map_err(|diag| called_from(Stop::Error(diag), function, args, call))?;
            return Ok(Callee::new(id, ty, by_constants));
        }
        if let Some(at) = self.calls.stack.iter().position(|f| f.what == *what) {
            return self.recursion(at, by_constants, call);
        }
        if self.calls.stack.len() > DEEPEST_CALLS {
            let message = format!("calls are nested more than {DEEPEST_CALLS} functions deep here");
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, call, message).into());
        }
        if !self.calls.learnt.contains_key(what) {
            self.calls.learnt.insert(what.clone(), None);
            *self.calls.counts.entry(what.key).or_default() += 1;
        }
        if self.calls.counts.get(&what.key).is_some_and(|count| *count > MOST_SPECIALISATIONS) {
            let message = format!(
                "'{}' is called for more than {MOST_SPECIALISATIONS} combinations of argument types and constants",
                function.name
            );
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, call, message).into());
        }
        if self.calls.stack.iter().filter(|frame| frame.what.key == what.key).count() >= MOST_INSIDE_ITSELF {
            let message = format!("'{}' calls itself for other argument types again and again", function.name);
            let diag = Diagnostic::new(DiagnosticKind::Typing, call, message);
            return Err(diag.help("pass arguments of the types it was called with").into());
        }
        let given = if by_constants {
            lower::Args::Constants(args)
        } else {
            lower::Args::Call(args)
        };
        self.calls.stack.push(Frame {
            name: function.name.clone(),
            what: what.clone(),
            id: None,
            result: self.calls.learnt.get(what).cloned().flatten(),
            relying: HashSet::new(),
            relies: BTreeSet::new(),
        });
        let done = self.specialise(function, given, FuncKind::Device, what.in_parallel, what.options);
        let so_far = self.calls.stack.last().and_then(|frame| frame.result.clone());
        match (self.close_frame(done), so_far) {
            (Ok((id, ty)), _) => Ok(Callee::new(id, ty, by_constants)),
            (Err(Stop::Pending(pending)), Some(ty)) => Ok(Callee {
                waits: Some(pending),
                ..Callee::new(self.new_id(&function.name), ty, by_constants)
            }),
            (Err(stop), _) => Err(called_from(stop, function, args, call)),
        }
    }

    /// The type of the result of a function being compiled, as far as it is known.
    pub fn note_result(&mut self, frame: usize, ty: &Ty) {
        let frame = &mut self.calls.stack[frame];
        frame.result = Some(ty.clone());
        self.calls.learnt.insert(frame.what.clone(), Some(ty.clone()));
    }

    /// That type as an earlier round left it, which another one can only widen.
    pub fn learnt_result(&self, frame: usize) -> Option<&Ty> {
        self.calls.stack[frame].result.as_ref()
    }

    /// Does the function being compiled call itself?
    pub fn is_recursive(&self, frame: usize) -> bool {
        self.calls.stack[frame].id.is_some()
    }

    /// Another round of a function: what relied on its last one is forgotten.
    pub fn start_round(&mut self, frame: usize) {
        for what in std::mem::take(&mut self.calls.stack[frame].relying) {
            self.calls.specialised.remove(&what);
        }
    }

    /// The functions called from that at a place, down to the one being compiled now, rely on its result.
    fn rely(&mut self, at: usize) {
        let above: Vec<Specialisation> = self.calls.stack[at + 1..].iter().map(|frame| frame.what.clone()).collect();
        self.calls.stack[at].relying.extend(above);
        self.calls.stack[at + 1..].iter_mut().for_each(|frame| {
            frame.relies.insert(at);
        });
    }

    /// Takes down what became of the innermost function being compiled. Of one that failed nothing may be relied on.
    fn close_frame(&mut self, done: Res<(Function, Ty)>) -> Res<(FuncId, Ty)> {
        let at = self.calls.stack.len() - 1;
        if done.is_err() {
            self.start_round(at);
        }
        let Some(frame) = self.calls.stack.pop() else {
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, Span::NONE, "a call that never began").into());
        };
        // What relied on this one relies on what this one does.
        for what in &frame.relying {
            if let Some(known) = self.calls.specialised.get_mut(what) {
                known.relies.remove(&at);
                known.relies.extend(&frame.relies);
            }
        }
        for below in &frame.relies {
            self.calls.stack[*below].relying.extend(frame.relying.iter().cloned());
        }
        let done = match done {
            Ok((made, ty)) => Ok((self.add(made, frame.id), ty)),
            Err(Stop::Error(diag)) => Err(diag),
            Err(pending) => return Err(pending),
        };
        let relies = frame.relies;
        self.calls.specialised.insert(
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
        let Frame { name, id, result, .. } = &self.calls.stack[at];
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
        self.calls.stack[at].id = Some(id);
        self.calls.recursive = true;
        self.rely(at);
        Ok(Callee::new(id, ty, by_constants))
    }
}

fn has_constant(arg: &Val) -> bool {
    match arg {
        Val::Tuple(items) => items.iter().any(has_constant),
        Val::Closure(closure) => closure.handed().iter().any(has_constant),
        _ => arg.passes_as_constant(),
    }
}

fn list_constants(arg: &Val, into: &mut Vec<Option<i128>>) {
    match arg {
        Val::Tuple(items) => items.iter().for_each(|item| list_constants(item, into)),
        Val::Closure(closure) => closure.handed().iter().for_each(|item| list_constants(item, into)),
        _ => into.push(arg.const_int()),
    }
}

/// Adds to an error inside a called function where and with what it was called.
fn called_from(stop: Stop, function: &FunctionSource, args: &[Val], call: Span) -> Stop {
    let Stop::Error(mut diag) = stop else { return stop };
    if library::is_text(function.key) {
        // What is wrong there is wrong with this call.
        diag.labels = vec![Label {
            span: call,
            text: String::new(),
        }];
        return Stop::Error(diag);
    }
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
