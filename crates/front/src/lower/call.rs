//! Calls: dispatch to known functions, casts, user functions and functions of the math library; binding of parameters.

use std::rc::Rc;

use ruff_python_ast::ExprCall;
use ruff_text_size::Ranged;
use weft_ir::{FuncKind, Op, Scalar, Span, Type, Value};

use super::Lower;
pub use super::arguments::Call;
use crate::builtins::{self, Applied, Does, Entry};
use crate::compiler::Callee;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::parse::{Param, ParamKind};
use crate::stop::{Res, Stop};
use crate::types::{Num, Ty};
use crate::value::{Lit, Number, Val, int_range};
use crate::{ArgType, Decorated, FunctionSource, Object, Role, Signature, library, signature};

impl Lower<'_> {
    pub fn call(&mut self, e: &ExprCall) -> Res<Val> {
        let span = self.b.span;
        let callee = self.expr(&e.func)?;
        let pos = self.call_items(&e.arguments.args)?;
        let mut kw = Vec::new();
        for keyword in &e.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.unsupported(span, "** in a call cannot be compiled"));
            };
            kw.push((name.to_string(), self.expr(&keyword.value)?));
        }
        let name = match &callee {
            Val::Path(p) => short_path(p).to_owned(),
            Val::Function(f) => f.name.clone(),
            Val::Closure(closure) => closure.function.name.clone(),
            Val::Method(_, name, _) => name.clone(),
            Val::TupleClass(maker) => maker.class.name.clone(),
            other => other.ty().to_string(),
        };
        let call = Call::new(name, pos, kw, span);
        match callee {
            Val::Path(path) => {
                let operands: Vec<_> = e.arguments.args.iter().collect();
                let result = self.known_call(&path, &call);
                result.map_err(|stop| self.explain(stop, &operands))
            }
            Val::Dtype(s) => self.dtype_call(s, &call),
            Val::Function(f) => self.user_call(&f, &call),
            Val::Closure(closure) => self.closure_call(&closure, &call),
            Val::TupleClass(maker) => self.make_named(&maker, &call),
            Val::Method(receiver, _, does) => self.does(does, &call.with_first(*receiver)),
            other => {
                let message = format!("{} cannot be called in a compiled function", other.ty());
                let diag = self.error(DiagnosticKind::Typing, e.func.range(), message);
                Err(match other {
                    Val::Other(..) => diag
                        .help("only functions compiled by Weft and the functions it knows can be called")
                        .into(),
                    _ => diag.into(),
                })
            }
        }
    }

    /// Arguments may stay array expressions, so that a call of an elementwise function fuses.
    fn call_items(&mut self, args: &[ruff_python_ast::Expr]) -> Res<Vec<Val>> {
        let mut items = Vec::with_capacity(args.len());
        for e in args {
            match e {
                ruff_python_ast::Expr::Starred(_) => items.extend(self.items(std::slice::from_ref(e))?),
                _ => items.push(self.expr(e)?),
            }
        }
        Ok(items)
    }

    /// A call that nobody wrote of the function at a path.
    pub fn call_of(&mut self, path: &str, args: Vec<Val>, span: Span) -> Res<Val> {
        let name = path.rsplit('.').next().unwrap_or(path);
        self.known_call(path, &Call::new(name.to_owned(), args, Vec::new(), span))
    }

    pub fn known_call(&mut self, path: &str, call: &Call) -> Res<Val> {
        let Some(Entry::Func(func)) = builtins::find(path) else {
            return Err(self.typing(call.span, format!("'{path}' is not a function")));
        };
        match func.does {
            Does::Run(run) if func.applied == Applied::Elements || (func.applied == Applied::Numbers && call.has_array()) => {
                self.map_elements(move |l, call| run.run(l, call), call)
            }
            does => self.does(does, call),
        }
    }

    fn does(&mut self, does: Does, call: &Call) -> Res<Val> {
        match does {
            Does::Run(run) => self.run_known(|l, call| run.run(l, call), call),
            Does::Ufunc(run, ufunc) => {
                let code = move |l: &mut Lower<'_>, call: &Call| builtins::numpy::ufunc(l, call, run, ufunc);
                match ufunc.is_pair() {
                    true => self.run_known(|l, call| builtins::pair(l, call, code), call),
                    false => self.map_elements(code, call),
                }
            }
            Does::Text {
                row,
                definition,
                by_position,
            } => match library::texts::helper(row.file, definition) {
                Some(text) => {
                    self.refuse_names(&text, by_position, call)?;
                    self.user_call(&text, call)
                }
                None => Err(self.unsupported(call.span, format!("'{definition}' is not in Weft's library"))),
            },
        }
    }

    /// A function of numbers, applied to the elements of arrays or to numbers as if they were elements, as NumPy's functions are.
    pub fn map_elements(&mut self, run: impl Fn(&mut Lower<'_>, &Call) -> Res<Val>, call: &Call) -> Res<Val> {
        if call.has_array() {
            let (elements, with) = call.elements();
            return self.array_map(&elements, call.span, move |l, vals| l.run_known(run, &with(vals)));
        }
        self.by_elements(|l| l.run_known(run, call))
    }

    fn run_known(&mut self, run: impl Fn(&mut Lower<'_>, &Call) -> Res<Val>, call: &Call) -> Res<Val> {
        let result = run(self, call)?;
        call.refuse_unread()?;
        Ok(result)
    }

    /// `np.float32(x)`: a strong number of that type.
    fn dtype_call(&mut self, s: Scalar, call: &Call) -> Res<Val> {
        let [Some(x)] = call.bind(["/x"], 0)? else {
            return Ok(Val::Num(self.zero(s), Num::strong(s)));
        };
        let x = &x;
        if x.is_array() {
            return self.array_map(std::slice::from_ref(x), call.span, move |l, v| {
                l.cast(&v[0], Num::strong(s), l.b.span)
            });
        }
        self.cast(x, Num::strong(s), call.span)
    }

    pub fn cast(&mut self, val: &Val, to: Num, span: Span) -> Res<Val> {
        let value = self.number_as(val, to.scalar, span)?;
        Ok(Val::Num(value, to))
    }

    // ---- user functions, and NumPy's that are texts of the library ----

    pub fn text_call(&mut self, name: &str, call: &Call) -> Res<Val> {
        match library::texts::function(name) {
            Some(function) => self.user_call(&function, call),
            None => Err(self.unsupported(call.span, format!("'{name}' is not in Weft's library"))),
        }
    }

    /// Refuses the names of arguments that a method takes by position only: so many behind the array.
    fn refuse_names(&mut self, text: &FunctionSource, by_position: usize, call: &Call) -> Res<()> {
        let (parsed, _) = self.cx.tree(text)?;
        let (_, named) = call.given();
        let hidden = parsed.params.iter().skip(1).take(by_position);
        match hidden.into_iter().find(|param| named.iter().any(|(name, _)| *name == param.name)) {
            None => Ok(()),
            Some(param) => Err(call.misfit(format!("{} takes '{}' by position only", call.name, param.name))),
        }
    }

    /// What a text of the library is compiled for becomes a part of its arguments' types.
    fn known_arguments(&mut self, f: &FunctionSource, args: &mut [Val], span: Span) -> Res<()> {
        let (parsed, _) = self.cx.tree(f)?;
        for (param, arg) in parsed.params.iter().zip(args) {
            if matches!(arg, Val::Str(_)) && !takes_words(f, param) {
                let message = format!("the argument '{}' of {} is no string", param.name, f.name);
                return Err(self.typing(span, message));
            }
            if !param.is_static {
                continue;
            }
            *arg = match as_known(arg) {
                Some(known) => known,
                None => {
                    let message = format!(
                        "the argument '{}' of {} must be known when the function is compiled",
                        param.name, f.name
                    );
                    return Err(Diagnostic::new(DiagnosticKind::Typing, span, message).wanting_constants().into());
                }
            };
        }
        Ok(())
    }

    pub fn user_call(&mut self, f: &Rc<FunctionSource>, call: &Call) -> Res<Val> {
        let default = |l: &mut Self, name: &str| match f.defaults.iter().find(|(n, _)| n == name) {
            Some((_, object)) => l.object(object, call.span).map(Some),
            None => Ok(None),
        };
        let mut args = self.bind_parameters(f, call, default)?;
        for arg in &mut args {
            let Some(num) = arg.num() else { continue };
            let to = self.literal_type(num, f);
            if to != num {
                *arg = self.cast(arg, to, call.span)?;
            }
        }
        if library::is_text(f.key) {
            self.known_arguments(f, &mut args, call.span)?;
        }
        let is_ufunc = matches!(f.decorated.as_deref(), Some(decorated) if decorated.options.role == Role::Ufunc);
        match is_ufunc {
            true => self.ufunc_call(f, args, call.span),
            false => self.decorated_call(f, args, call.span),
        }
    }

    /// A call of a function of numbers, which takes arrays element by element.
    fn ufunc_call(&mut self, f: &Rc<FunctionSource>, args: Vec<Val>, span: Span) -> Res<Val> {
        if let Some(other) = args.iter().find(|arg| arg.num().is_none() && !arg.is_array()) {
            let diag = Diagnostic::new(
                DiagnosticKind::Typing,
                span,
                format!("'{}' takes numbers and arrays, not {}", f.name, other.ty()),
            );
            return Err(match other {
                Val::Tuple(_) => diag.help("make an array of it: np.array(...)").into(),
                _ => diag.into(),
            });
        }
        if !args.iter().any(Val::is_array) {
            return self.decorated_call(f, args, span);
        }
        let function = f.clone();
        let mapped = self.array_map(&args, span, move |l, elements| {
            // Lanes run it, which cannot do all that host code can.
            let role = if l.in_host() { Role::Ufunc } else { l.cx.role() };
            let outer = l.cx.in_role(role);
            let result = l.decorated_call(&function, elements.to_vec(), span);
            l.cx.in_role(outer);
            result
        })?;
        // What it raises or prints it does for every element, whichever of them are read.
        let shows = match &mapped {
            Val::Lazy(expr) => expr
                .function()
                .is_some_and(|function| function.any(&mut |kind| self.cx.shows(kind))),
            _ => false,
        };
        if shows && self.in_host() {
            self.materialise(mapped)
        } else {
            Ok(mapped)
        }
    }

    fn decorated_call(&mut self, f: &Rc<FunctionSource>, args: Vec<Val>, span: Span) -> Res<Val> {
        match f.decorated.as_deref() {
            Some(Decorated { signatures, .. }) if !signatures.is_empty() => self.declared_call(f, signatures, args, span),
            _ => self.call_function(f, &args, span),
        }
    }

    /// A call of a function that was declared for some signatures: the arguments become those of the one that fits best, the result its.
    fn declared_call(&mut self, f: &Rc<FunctionSource>, signatures: &[Signature], args: Vec<Val>, span: Span) -> Res<Val> {
        let given: Option<Vec<ArgType>> = args.iter().map(|arg| arg.ty().to_arg()).collect();
        let Some((given, chosen)) = given.and_then(|given| signature::best(signatures, &given).map(|s| (given, s))) else {
            let given: Vec<String> = args.iter().map(|arg| arg.ty().to_string()).collect();
            let message = format!("'{}' was declared for other argument types than ({})", f.name, given.join(", "));
            let known: Vec<String> = signatures.iter().map(|s| signature::show(&s.args)).collect();
            let diag = Diagnostic::new(DiagnosticKind::Typing, span, message);
            return Err(diag.help(format!("it takes {}", known.join(" or "))).into());
        };
        let mut taken = Vec::with_capacity(args.len());
        for (arg, to) in args.iter().zip(chosen.adapted(&given)) {
            taken.push(self.declared(arg, &to, span)?);
        }
        let result = self.call_function(f, &taken, span)?;
        match &chosen.result {
            None => Ok(result),
            Some(to) => {
                if !result.ty().to_arg().is_some_and(|have| signature::gives(to, &have)) {
                    let message = format!(
                        "'{}' returns {}, and was declared to return {}",
                        f.name,
                        result.ty(),
                        Ty::from_arg(to)
                    );
                    return Err(self.typing(span, message));
                }
                self.declared(&result, to, span)
            }
        }
    }

    /// A value that goes with a declared type, as one of that type. Arrays are taken as they are: what is known of one stays known.
    fn declared(&mut self, val: &Val, to: &ArgType, span: Span) -> Res<Val> {
        match (val, to) {
            (Val::Lit(lit), ArgType::Strong(s)) if s.is_int() && lit.num.scalar.is_int() => {
                // A constant integer stays one: it may become the shape of an array.
                let (low, high) = int_range(*s);
                match lit.value {
                    Number::Int(i) if low <= i && i <= high => Ok(Val::Lit(Lit {
                        num: Num::strong(*s),
                        value: lit.value,
                    })),
                    _ => self.cast(val, Num::strong(*s), span),
                }
            }
            (Val::Num(..) | Val::Lit(_), ArgType::Strong(s)) => self.cast(val, Num::strong(*s), span),
            (Val::Tuple(items), ArgType::Tuple(types)) => {
                let item = |(item, to): (&Val, &ArgType)| self.declared(item, to, span);
                Ok(Val::Tuple(types.with(items.iter().zip(types).map(item).collect::<Res<_>>()?)))
            }
            _ => Ok(val.clone()),
        }
    }

    /// The type of a number in the function `f`: literals stand for float32 in the library's texts of that width, so that these ask no
    /// float64 of a device.
    pub fn literal_type(&self, num: Num, f: &FunctionSource) -> Num {
        if library::is_narrow(f.key) && num.weak && num.scalar.is_float() {
            Num::strong(Scalar::F32)
        } else {
            num
        }
    }

    /// One value for each parameter that a call gives one, those it leaves out from `default`.
    pub fn bind_parameters(
        &mut self,
        f: &FunctionSource,
        call: &Call,
        default: impl Fn(&mut Self, &str) -> Res<Option<Val>>,
    ) -> Res<Vec<Val>> {
        let (pos, kw) = call.given();
        let (parsed, source) = self.cx.tree(f)?;
        let params: Vec<&Param> = parsed.params.iter().filter(|p| p.kind != ParamKind::Captured).collect();
        let fail = |message: String| {
            let diag = Diagnostic::new(DiagnosticKind::Arguments, call.span, message);
            match library::is_library(f.key) {
                true => diag.into(),
                false => diag.label(parsed.span(source, parsed.range), "defined here").into(),
            }
        };
        let takes = params.iter().filter(|p| p.kind.by_position()).count();
        let variadic = params.iter().any(|p| p.kind == ParamKind::Variadic);
        if pos.len() > takes && !variadic {
            let plural = if takes == 1 { "" } else { "s" };
            let given = pos.len();
            return Err(fail(format!("'{}' takes {takes} argument{plural} and was given {given}", f.name)));
        }
        for (i, (name, _)) in kw.iter().enumerate() {
            let at = params.iter().position(|p| p.name == *name && p.kind.by_name());
            let twice = kw[..i].iter().any(|(n, _)| n == name);
            match at {
                None if library::is_library(f.key) => return Err(fail(format!("'{}' takes no '{name}' in compiled functions", f.name))),
                None => return Err(fail(format!("'{}' has no parameter '{name}'", f.name))),
                Some(at) if (at < pos.len() && params[at].kind.by_position()) || twice => {
                    return Err(fail(format!("'{}' got two values for '{name}'", f.name)));
                }
                Some(_) => {}
            }
        }
        let mut args = Vec::with_capacity(params.len());
        for (i, param) in params.iter().enumerate() {
            if param.kind == ParamKind::Variadic {
                let rest = pos.get(takes..).unwrap_or_default();
                let rest = rest.iter().map(|val| self.materialise(val.clone())).collect::<Res<Vec<_>>>()?;
                args.push(Val::tuple(rest));
                continue;
            }
            let by_name = kw
                .iter()
                .find(|(n, _)| *n == param.name && param.kind.by_name())
                .map(|(_, v)| v.clone());
            let given = pos.get(i).filter(|_| param.kind.by_position()).cloned().or(by_name);
            let val = match given {
                Some(val) => self.materialise(val)?,
                None => match default(self, &param.name)? {
                    Some(val) => val,
                    None => return Err(fail(format!("'{}' needs the argument '{}'", f.name, param.name))),
                },
            };
            args.push(val);
        }
        Ok(args)
    }

    /// Calls a function with one value per parameter.
    pub fn call_function(&mut self, f: &Rc<FunctionSource>, args: &[Val], span: Span) -> Res<Val> {
        let args = args.iter().map(|arg| self.handed_on(arg, span)).collect::<Res<Vec<_>>>()?;
        self.call_with(f, &args, span)
    }

    /// The same with values that were handed on.
    pub fn call_with(&mut self, f: &Rc<FunctionSource>, args: &[Val], span: Span) -> Res<Val> {
        let Callee {
            id,
            ty,
            by_constants,
            waits,
        } = self.cx.callee(f, args, self.unit.options, self.in_lanes(), span)?;
        waits
            .into_iter()
            .for_each(|pending| self.found.keep_failure(Stop::Pending(pending)));
        if self.cx.kind_of(id) == Some(&FuncKind::Host) {
            self.found.needs_host = true;
        }
        let mut values = Vec::new();
        for arg in args {
            self.spread_argument(arg, by_constants, span, &mut values)?;
        }
        let ir = if ty == Ty::None { Type::unit() } else { ty.ir() };
        let result = self.b.emit(ir, Op::Call(id, values));
        Ok(self.wrap_value(result, &ty))
    }

    fn spread_argument(&mut self, arg: &Val, by_constants: bool, span: Span, into: &mut Vec<Value>) -> Res<()> {
        match arg {
            Val::Num(value, _) | Val::View(value, _) => into.push(*value),
            Val::Lit(_) if by_constants && arg.passes_as_constant() => {}
            Val::Lit(lit) => {
                let value = self.number_as(arg, lit.num.scalar, span)?;
                into.push(value);
            }
            Val::Tuple(items) => {
                for item in items {
                    self.spread_argument(item, by_constants, span, into)?;
                }
            }
            Val::Closure(closure) => {
                for item in closure.handed() {
                    self.spread_argument(item, by_constants, span, into)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    // ---- the math library ----

    /// Calls the library's `name` at the width of its arguments: all float32, or all float64. Of 16-bit floats the float32 result is
    /// rounded.
    pub fn library_call(&mut self, name: &str, args: &[Val], span: Span) -> Res<Val> {
        let Some(function) = weft_math::function(name) else {
            return Err(self.unsupported(span, format!("the function '{name}' is not in Weft's math library yet")));
        };
        let weak = args.iter().all(|a| a.num().is_some_and(|n| n.weak));
        let of = |test: fn(Scalar) -> bool| args.iter().filter_map(Val::num).map(|n| n.scalar).find(|s| test(*s));
        let single = of(|s| s == Scalar::F32);
        let half = if single.is_some() { None } else { of(Scalar::is_half) };
        let narrow = single.is_some() || half.is_some();
        let (def, scalar) = if narrow {
            (function.f32, Scalar::F32)
        } else {
            (function.f64, Scalar::F64)
        };
        let def = if self.unit.options.fastmath { weft_math::fast(def) } else { def };
        let Some(source) = library::math::function(def) else {
            return Err(self.unsupported(span, format!("the function '{name}' is not in Weft's math library yet")));
        };
        let mut strong = Vec::with_capacity(args.len());
        for arg in args {
            strong.push(Val::Num(self.number_as(arg, scalar, span)?, Num::strong(scalar)));
        }
        let result = self.call_function(&source, &strong, span)?;
        Ok(self.library_result(result, half, weak))
    }

    /// A result as its callers have it: rounded to a 16-bit float, or a Python number.
    fn library_result(&mut self, result: Val, half: Option<Scalar>, weak: bool) -> Val {
        let result = match half {
            Some(half) => self.rounded_to(result, half),
            None => result,
        };
        if weak { weaken(result) } else { result }
    }

    /// Calls the library's `name` with arrays or tuples, at the width of `num`, which is a float.
    pub fn library_sum(&mut self, name: &str, args: &[Val], num: Num, span: Span) -> Res<Val> {
        let half = Some(num.scalar).filter(|s| s.is_half());
        let width = if half.is_some() || num.scalar == Scalar::F32 {
            "f32"
        } else {
            "f64"
        };
        let result = self.typed_library_call(&format!("{name}_{width}"), args, span)?;
        Ok(self.library_result(result, half, num.weak))
    }

    /// Calls the library's definition of that full name with arguments of the types they have.
    pub fn typed_library_call(&mut self, definition: &str, args: &[Val], span: Span) -> Res<Val> {
        let Some(source) = library::math::function(definition) else {
            return Err(self.unsupported(span, format!("'{definition}' is not in Weft's math library")));
        };
        self.call_function(&source, args, span)
    }

    /// The float32 numbers of a result as a 16-bit float.
    fn rounded_to(&mut self, val: Val, half: Scalar) -> Val {
        match val {
            Val::Num(value, num) if num.scalar == Scalar::F32 => Val::Num(self.b.cast(value, half), num.with(half)),
            Val::Tuple(items) => Val::Tuple(items.into_iter().map(|item| self.rounded_to(item, half)).collect()),
            other => other,
        }
    }
}

/// May a parameter of a text be a string: a constant without a default, or whose default is one, a type or None?
fn takes_words(f: &FunctionSource, param: &Param) -> bool {
    let default = f.defaults.iter().find(|(name, _)| *name == param.name).map(|(_, default)| default);
    param.is_static && matches!(default, None | Some(Object::Str(_) | Object::None | Object::Known(_)))
}

/// The same as a thing known when a function is compiled, if it is one.
fn as_known(val: &Val) -> Option<Val> {
    match val {
        Val::Lit(lit) => Some(Val::Constant(*lit)),
        Val::Num(..) | Val::View(..) | Val::Lazy(_) => None,
        Val::Tuple(items) => Some(Val::Tuple(items.with(items.iter().map(as_known).collect::<Option<_>>()?))),
        other => Some(other.clone()),
    }
}

/// A path as users write it.
fn short_path(path: &str) -> &str {
    let path = path.strip_prefix("builtins.").unwrap_or(path);
    path.strip_prefix("weft.").unwrap_or(path)
}

/// The same value as a Python number.
fn weaken(val: Val) -> Val {
    match val {
        Val::Num(value, num) => Val::Num(value, Num { weak: true, ..num }),
        Val::Tuple(items) => Val::Tuple(items.into_iter().map(weaken).collect()),
        other => other,
    }
}
