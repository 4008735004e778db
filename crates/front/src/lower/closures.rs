//! Closures: `def` and `lambda` inside functions. The variables that they capture become parameters, given at each call.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprLambda, Parameters, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use weft_ir::Span;

use super::Lower;
use super::arguments::Call;
use crate::compiler::Place;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::names;
use crate::parse::{Parsed, refuse_kwargs};
use crate::stop::Res;
use crate::types::Ty;
use crate::value::{Closure, Val};
use crate::{Decorated, FunctionSource};

/// How many values a function inside another one may take along: functions that take each other along hold what those hold.
const LARGEST: usize = 1000;

impl Lower<'_> {
    /// A `def` statement: assigns the function to its name.
    pub fn inner_function(&mut self, def: &StmtFunctionDef) -> Res<()> {
        let span = self.span(def.name.range());
        let refuse = |what: &str, help: &str| {
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, format!("{what} cannot be compiled"));
            Err(diag.help(help).into())
        };
        if def.is_async {
            return refuse("an async function", "write a plain def");
        }
        if !def.decorator_list.is_empty() {
            return refuse(
                "a decorator inside a function",
                "leave it out: what is inside a compiled function is compiled with it",
            );
        }
        let shift = self.unit.parsed.shift;
        let closure = self.closure(&def.name, def.range(), Some(&def.parameters), || Parsed::of_def(def, shift))?;
        self.assign(&def.name, closure, span)
    }

    pub fn lambda(&mut self, lambda: &ExprLambda) -> Res<Val> {
        let shift = self.unit.parsed.shift;
        self.closure("<lambda>", lambda.range(), lambda.parameters.as_deref(), || {
            Parsed::of_lambda(lambda, shift)
        })
    }

    fn closure(&mut self, name: &str, range: TextRange, parameters: Option<&Parameters>, tree: impl Fn() -> Parsed) -> Res<Val> {
        refuse_kwargs(parameters, self.span(range))?;
        let mut names = names::free(&tree());
        names.retain(|name| self.is_local(name));
        let defaults = self.constant_defaults(parameters)?;
        let place = Place {
            around: self.unit.function.key,
            at: range.start().to_u32(),
            defaults: defaults.iter().map(|(_, val)| shown(val)).collect(),
        };
        let key = self.cx.inner.key(place, || tree().capturing(names.clone()));
        let function = FunctionSource {
            name: name.to_owned(),
            key,
            // Whoever calls it: it is a part of this function.
            decorated: Some(Rc::new(Decorated {
                options: self.unit.options,
                signatures: Vec::new(),
            })),
            defaults: Vec::new(),
            ..(*self.unit.function).clone()
        };
        Ok(Val::Closure(Rc::new(Closure {
            function: Rc::new(function),
            names,
            captured: None,
            defaults,
        })))
    }

    /// Defaults are taken when the function is made, and kept with it.
    fn constant_defaults(&mut self, parameters: Option<&Parameters>) -> Res<Vec<(String, Val)>> {
        let mut defaults = Vec::new();
        for param in parameters.into_iter().flat_map(|p| p.iter_non_variadic_params()) {
            let Some(value) = param.default.as_deref() else { continue };
            let val = self.expr(value)?;
            if !is_constant(&val) {
                return Err(self.refuse_default(value));
            }
            defaults.push((param.parameter.name.to_string(), val));
        }
        Ok(defaults)
    }

    /// The variables here that a call of the function reads which a variable holds; those of the functions that it calls, too.
    pub fn read_by(&self, name: &str) -> Vec<String> {
        let (mut found, mut todo) = (Vec::new(), vec![name.to_owned()]);
        while let Some(next) = todo.pop() {
            let keys = self.type_before(&next).map(Ty::inner_functions).unwrap_or_default();
            for read in keys.into_iter().flat_map(|key| self.cx.inner.captured_names(key)) {
                if !found.contains(&read) {
                    todo.push(read.clone());
                    found.push(read);
                }
            }
        }
        found
    }

    fn refuse_default(&self, value: &Expr) -> crate::stop::Stop {
        let message = "a default of a function inside a function must be a constant";
        let diag = self.error(DiagnosticKind::Unsupported, value.range(), message);
        diag.help("read the variable in the function, or pass it in the calls").into()
    }

    pub fn closure_call(&mut self, closure: &Rc<Closure>, call: &Call) -> Res<Val> {
        let default = |_: &mut Self, name: &str| Ok(closure.defaults.iter().find(|(n, _)| n == name).map(|(_, val)| val.clone()));
        let mut args = self.captured(closure, call.span)?;
        for given in self.bind_parameters(&closure.function, call, default)? {
            args.push(self.handed_on(&given, call.span)?);
        }
        self.call_with(&closure.function, &args, call.span)
    }

    /// What a function reads of the variables around it, as they are now, each value as that function takes it.
    fn captured(&mut self, closure: &Rc<Closure>, span: Span) -> Res<Vec<Val>> {
        let values = match &closure.captured {
            Some(values) => values.clone(),
            None => closure.names.iter().map(|name| self.read(name, span)).collect::<Res<_>>()?,
        };
        self.closing.push(closure.clone());
        let handed = values.iter().map(|val| self.handed_on(val, span)).collect();
        self.closing.pop();
        handed
    }

    /// A value as another function takes it: a function made here goes with what it reads of the variables here.
    ///
    /// Functions that call themselves, or each other, would hold themselves. Inside what a function holds, that function itself goes without
    /// what it reads: whoever is called with that reads it among its own variables, where it has it.
    pub fn handed_on(&mut self, val: &Val, span: Span) -> Res<Val> {
        Ok(match val {
            Val::Closure(closure) if self.is_around(closure) => Val::Closure(Rc::new(Closure {
                captured: None,
                ..(**closure).clone()
            })),
            Val::Closure(closure) => {
                let handed = Closure {
                    captured: Some(self.captured(closure, span)?),
                    ..(**closure).clone()
                };
                if handed.size() > LARGEST {
                    let message = format!(
                        "'{}' and the functions it calls read more than {LARGEST} variables around them",
                        handed.function.name
                    );
                    let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
                    return Err(diag.help("define them outside and pass what they need").into());
                }
                Val::Closure(Rc::new(handed))
            }
            Val::Tuple(items) => Val::Tuple(items.with(items.iter().map(|item| self.handed_on(item, span)).collect::<Res<_>>()?)),
            _ => val.clone(),
        })
    }

    /// Is the function the innermost of its name among those whose values are being handed on? One without values is: it was handed on as a
    /// part of that function, or is read here among the variables that function reads.
    fn is_around(&self, closure: &Rc<Closure>) -> bool {
        let same_text = self.closing.iter().rev().find(|around| around.function.key == closure.function.key);
        same_text.is_some_and(|around| closure.captured.is_none() || is_same(&Val::Closure(around.clone()), &Val::Closure(closure.clone())))
    }
}

/// A constant as part of what tells functions apart: two defaults are two functions.
fn shown(val: &Val) -> String {
    match val {
        Val::Lit(lit) => lit.to_string(),
        Val::Tuple(items) => format!("{:?} {:?}", items.class(), items.iter().map(shown).collect::<Vec<_>>()),
        other => format!("{:?}", other.ty()),
    }
}

/// Do both hold the same function with the same values? What only exists while compiling is told by its type, but for those values.
pub fn is_same(a: &Val, b: &Val) -> bool {
    match (a, b) {
        (Val::Closure(a), Val::Closure(b)) => {
            let (own, others) = (a.handed(), b.handed());
            a.function.key == b.function.key && own.len() == others.len() && own.iter().zip(others).all(|(a, b)| is_same(a, b))
        }
        (Val::Num(a, _), Val::Num(b, _)) | (Val::View(a, _), Val::View(b, _)) => a == b,
        (Val::Tuple(a), Val::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Val::Lit(a), Val::Lit(b)) => shown(&Val::Lit(*a)) == shown(&Val::Lit(*b)),
        _ => a.ty() == b.ty(),
    }
}

/// Is it known now, and wherever it may be read?
fn is_constant(val: &Val) -> bool {
    match val {
        Val::Lit(_) | Val::Str(_) | Val::None | Val::Dtype(_) | Val::Path(_) | Val::Function(_) | Val::Member(_) => true,
        Val::Tuple(items) => items.iter().all(is_constant),
        _ => false,
    }
}
