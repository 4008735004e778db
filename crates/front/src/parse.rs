//! Text to syntax tree: finds the function or lambda in a source and keeps spans relative to the text as given.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprLambda, ModModule, Parameters, Stmt};
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
    pub keyword_only: bool,
    pub positional_only: bool,
}

impl Parsed {
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

fn find_def<'a>(body: &'a [Stmt], name: &str) -> Option<&'a ruff_python_ast::StmtFunctionDef> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::FunctionDef(def) if def.name.as_str() == name || name.is_empty() => Some(def),
        Stmt::If(branch) => find_def(&branch.body, name),
        _ => None,
    })
}

fn function_def(def: &ruff_python_ast::StmtFunctionDef, source: SourceId, shift: u32) -> Result<Parsed, Diagnostic> {
    let parsed = Parsed {
        params: params(&def.parameters),
        body: Body::Block(def.body.to_vec()),
        range: def.name.range(),
        shift,
    };
    let refuse = |what: &str| {
        let span = parsed.span(source, def.name.range());
        Err(Diagnostic::new(DiagnosticKind::Unsupported, span, what))
    };
    if def.is_async {
        return refuse("an async function cannot be compiled");
    }
    if def.parameters.vararg.is_some() || def.parameters.kwarg.is_some() {
        return refuse("a function with *args or **kwargs cannot be compiled");
    }
    Ok(parsed)
}

fn params(parameters: &Parameters) -> Vec<Param> {
    let positional = parameters.posonlyargs.iter().map(|p| (p, false, true));
    let plain = parameters.args.iter().map(|p| (p, false, false));
    let keyword = parameters.kwonlyargs.iter().map(|p| (p, true, false));
    let all = positional.chain(plain).chain(keyword);
    all.map(|(p, keyword_only, positional_only)| Param {
        name: p.parameter.name.to_string(),
        range: p.parameter.name.range(),
        keyword_only,
        positional_only,
    })
    .collect()
}

#[derive(Default)]
struct Lambdas(Vec<ExprLambda>);

impl Visitor<'_> for Lambdas {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Lambda(lambda) = expr {
            self.0.push(lambda.clone());
        }
        visitor::walk_expr(self, expr);
    }
}

fn find_lambda(module: &ModModule, name: &str, whole: Span, shift: u32) -> Result<Parsed, Diagnostic> {
    let mut found = Lambdas::default();
    visitor::walk_body(&mut found, &module.body);
    let unsupported = |message: String| Diagnostic::new(DiagnosticKind::Unsupported, whole, message);
    match found.0.as_slice() {
        [lambda] => Ok(Parsed {
            params: lambda.parameters.as_deref().map(params).unwrap_or_default(),
            body: Body::Lambda((*lambda.body).clone()),
            range: lambda.range(),
            shift,
        }),
        [] => Err(unsupported(format!("the source holds no function '{name}'"))),
        _ => Err(
            unsupported("several lambdas stand in one statement, so it is not clear which one is meant".into())
                .help("give each lambda a statement of its own, or write a `def`"),
        ),
    }
}
