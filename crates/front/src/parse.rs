//! Text to syntax tree: finds the function or lambda in a source and keeps spans relative to the text as given.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprLambda, ModModule, Parameters, Stmt, StmtFunctionDef};
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged, TextRange};
use weft_ir::{SourceId, Span};

use crate::FunctionSource;
use crate::diag::{Diagnostic, DiagnosticKind};

/// Put before an indented source so that it parses as it stands.
const INDENT_PREFIX: &str = "if 1:\n";

/// A function's syntax tree.
pub struct Parsed {
    pub params: Vec<Param>,
    pub body: Body,
    /// The `def` line's name, or the lambda.
    pub range: TextRange,
    /// How far spans of the tree lie behind those of the source's text.
    pub shift: u32,
}

pub enum Body {
    Block(Vec<Stmt>),
    Lambda(Expr),
}

pub struct Param {
    pub name: String,
    pub range: TextRange,
    pub kind: ParamKind,
    /// In a text of the library: it is known when the function is compiled.
    pub is_static: bool,
}

/// How a parameter gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A variable of the function around it, which a call does not name.
    Captured,
    PositionalOnly,
    Positional,
    KeywordOnly,
    /// `*args`: a tuple of the positional arguments that are left.
    Variadic,
}

impl ParamKind {
    pub const fn by_position(self) -> bool {
        matches!(self, ParamKind::PositionalOnly | ParamKind::Positional)
    }

    pub const fn by_name(self) -> bool {
        matches!(self, ParamKind::Positional | ParamKind::KeywordOnly)
    }
}

impl Parsed {
    /// A `def` inside another function; its syntax is of that one's text.
    pub fn of_def(def: &StmtFunctionDef, shift: u32) -> Parsed {
        Parsed {
            params: params(&def.parameters),
            body: Body::Block(def.body.to_vec()),
            range: def.name.range(),
            shift,
        }
    }

    pub fn of_lambda(lambda: &ExprLambda, shift: u32) -> Parsed {
        Parsed {
            params: lambda.parameters.as_deref().map(params).unwrap_or_default(),
            body: Body::Lambda((*lambda.body).clone()),
            range: lambda.range(),
            shift,
        }
    }

    /// The same with variables of the function around it as its first parameters.
    pub fn capturing(mut self, names: Vec<String>) -> Parsed {
        let range = self.range;
        let captured = names.into_iter().map(|name| Param {
            name,
            range,
            kind: ParamKind::Captured,
            is_static: false,
        });
        self.params.splice(0..0, captured);
        self
    }

    pub fn span(&self, source: SourceId, range: TextRange) -> Span {
        let at = |offset: u32| offset.saturating_sub(self.shift);
        Span {
            source,
            start: at(range.start().to_u32()),
            end: at(range.end().to_u32()),
        }
    }
}

thread_local! {
    /// Trees of functions seen before on this thread, by text and name.
    static CACHE: RefCell<HashMap<(String, String), Rc<Parsed>>> = RefCell::new(HashMap::new());
}

/// Parses a function's source, or takes the tree made earlier. `source` is the number spans in errors will carry.
pub fn parse(function: &FunctionSource, source: SourceId) -> Result<Rc<Parsed>, Diagnostic> {
    let key = (function.source.text.clone(), function.name.clone());
    if let Some(found) = CACHE.with(|c| c.borrow().get(&key).cloned()) {
        return Ok(found);
    }
    let parsed = Rc::new(parse_text(&function.source.text, &function.name, source)?);
    CACHE.with(|c| c.borrow_mut().insert(key, parsed.clone()));
    Ok(parsed)
}

fn parse_text(text: &str, name: &str, source: SourceId) -> Result<Parsed, Diagnostic> {
    let indented = text.starts_with([' ', '\t']);
    let shift = if indented { INDENT_PREFIX.len() as u32 } else { 0 };
    let full = if indented {
        format!("{INDENT_PREFIX}{text}")
    } else {
        text.to_owned()
    };
    let module = match parse_module(&full) {
        Ok(parsed) => parsed.into_syntax(),
        Err(error) => {
            let at = |o: u32| o.saturating_sub(shift);
            let span = Span {
                source,
                start: at(error.location.start().to_u32()),
                end: at(error.location.end().to_u32()),
            };
            let message = format!("the source of '{name}' does not parse: {}", error.error);
            let help = "a lambda must stand in a statement of its own: `f = lambda x: ...`, or write a `def`";
            return Err(Diagnostic::new(DiagnosticKind::Unsupported, span, message).help(help));
        }
    };
    let whole = Span {
        source,
        start: 0,
        end: text.lines().next().map_or(0, |l| l.len() as u32),
    };
    if let Some(def) = find_def(&module.body, name) {
        return function_def(def, source, shift);
    }
    find_lambda(&module, name, whole, shift)
}

fn find_def<'a>(body: &'a [Stmt], name: &str) -> Option<&'a StmtFunctionDef> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::FunctionDef(def) if def.name.as_str() == name || name.is_empty() => Some(def),
        Stmt::If(branch) => find_def(&branch.body, name),
        _ => None,
    })
}

fn function_def(def: &StmtFunctionDef, source: SourceId, shift: u32) -> Result<Parsed, Diagnostic> {
    let parsed = Parsed::of_def(def, shift);
    let span = parsed.span(source, parsed.range);
    if def.is_async {
        return Err(Diagnostic::new(
            DiagnosticKind::Unsupported,
            span,
            "an async function cannot be compiled",
        ));
    }
    refuse_kwargs(Some(&def.parameters), span)?;
    Ok(parsed)
}

/// Refuses `**kwargs`, of which nobody could say which names they hold.
pub fn refuse_kwargs(parameters: Option<&Parameters>, span: Span) -> Result<(), Diagnostic> {
    match parameters.and_then(|p| p.kwarg.as_ref()) {
        None => Ok(()),
        Some(_) => Err(
            Diagnostic::new(DiagnosticKind::Unsupported, span, "a function with **kwargs cannot be compiled")
                .help("name its parameters; those behind a * are given by name"),
        ),
    }
}

/// In the order of Python's own: `*args` comes behind those given by name only.
fn params(parameters: &Parameters) -> Vec<Param> {
    let of_kind = |kind| move |p: &ruff_python_ast::ParameterWithDefault| (p.parameter.clone(), kind);
    let positional_only = parameters.posonlyargs.iter().map(of_kind(ParamKind::PositionalOnly));
    let positional = parameters.args.iter().map(of_kind(ParamKind::Positional));
    let by_name = parameters.kwonlyargs.iter().map(of_kind(ParamKind::KeywordOnly));
    let variadic = parameters.vararg.iter().map(|p| ((**p).clone(), ParamKind::Variadic));
    let all = positional_only.chain(positional).chain(by_name).chain(variadic);
    all.map(|(p, kind)| Param {
        name: p.name.to_string(),
        range: p.name.range(),
        is_static: p.annotation.as_deref().is_some_and(is_static),
        kind,
    })
    .collect()
}

/// `axis: Static`.
fn is_static(annotation: &Expr) -> bool {
    matches!(annotation, Expr::Name(name) if name.id.as_str() == "Static")
}

#[derive(Default)]
struct Lambdas(Vec<ExprLambda>);

impl Visitor<'_> for Lambdas {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            // Those inside it are its own.
            Expr::Lambda(lambda) => self.0.push(lambda.clone()),
            _ => visitor::walk_expr(self, expr),
        }
    }
}

fn find_lambda(module: &ModModule, name: &str, whole: Span, shift: u32) -> Result<Parsed, Diagnostic> {
    let mut found = Lambdas::default();
    visitor::walk_body(&mut found, &module.body);
    let unsupported = |message: String| Diagnostic::new(DiagnosticKind::Unsupported, whole, message);
    match found.0.as_slice() {
        [lambda] => {
            refuse_kwargs(lambda.parameters.as_deref(), whole)?;
            Ok(Parsed::of_lambda(lambda, shift))
        }
        [] => Err(unsupported(format!("the source holds no function '{name}'"))),
        _ => Err(
            unsupported("several lambdas stand in one statement, so it is not clear which one is meant".into())
                .help("give each lambda a statement of its own, or write a `def`"),
        ),
    }
}
