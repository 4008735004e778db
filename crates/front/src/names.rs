//! Scopes: which names a function assigns, how often and how deep, which makes them its local variables; and its free variables.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Parameters, Stmt, StmtFor};

use crate::parse::{Body, Parsed};

/// Assignments to one name, counted in the text. A parameter counts as one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub all: usize,
    /// Those inside other statements: branches and loops.
    pub nested: usize,
    /// Those inside loops, but for loops of the library that are written out.
    pub in_loops: usize,
}

pub fn assigned(parsed: &Parsed, library: bool) -> HashMap<String, Count> {
    let mut names = Names {
        counts: HashMap::new(),
        depth: 0,
        loops: 0,
        library,
    };
    for param in &parsed.params {
        names.add(&param.name);
    }
    walk(&mut names, parsed);
    names.counts
}

fn walk<'a>(visitor: &mut impl Visitor<'a>, parsed: &'a Parsed) {
    match &parsed.body {
        Body::Block(stmts) => visitor::walk_body(visitor, stmts),
        Body::Lambda(expr) => visitor.visit_expr(expr),
    }
}

struct Names {
    counts: HashMap<String, Count>,
    depth: usize,
    loops: usize,
    /// The function is a text of the library, in which loops may be written out.
    library: bool,
}

impl Names {
    fn add(&mut self, name: &str) {
        let nested = usize::from(self.depth > 0);
        let count = self.counts.entry(name.to_owned()).or_default();
        count.all += 1;
        count.nested += nested;
        count.in_loops += usize::from(self.loops > 0);
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.add(&name.id),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|t| self.target(t)),
            Expr::List(list) => list.elts.iter().for_each(|t| self.target(t)),
            Expr::Starred(starred) => self.target(&starred.value),
            _ => {}
        }
    }
}

impl Visitor<'_> for Names {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(s) => s.targets.iter().for_each(|t| self.target(t)),
            Stmt::AugAssign(s) => {
                // Reads what it writes, so it never is a variable's only assignment.
                self.target(&s.target);
                self.target(&s.target);
            }
            Stmt::AnnAssign(s) if s.value.is_some() => self.target(&s.target),
            Stmt::For(s) => {
                let is_loop = usize::from(!(self.library && is_unrolled(s)));
                let around = (self.depth, self.loops);
                // Each turn of a loop that is written out has a target of its own.
                (self.depth, self.loops) = if is_loop == 0 { (0, 0) } else { (self.depth + 1, self.loops + 1) };
                self.target(&s.target);
                (self.depth, self.loops) = (around.0 + 1, around.1 + is_loop);
                visitor::walk_stmt(self, stmt);
                self.loops -= is_loop;
                self.depth -= 1;
                return;
            }
            Stmt::FunctionDef(def) => return self.add(&def.name),
            Stmt::ClassDef(_) => return,
            _ => {}
        }
        let compound = matches!(stmt, Stmt::While(_) | Stmt::If(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_));
        let is_loop = usize::from(matches!(stmt, Stmt::While(_)));
        self.depth += usize::from(compound);
        self.loops += is_loop;
        visitor::walk_stmt(self, stmt);
        self.loops -= is_loop;
        self.depth -= usize::from(compound);
    }

    fn visit_annotation(&mut self, _: &Expr) {}

    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Named(named) => {
                // May stand behind `and`, `or` or `if`.
                self.depth += 1;
                self.target(&named.target);
                self.depth -= 1;
            }
            Expr::Lambda(_) => return,
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

/// `for x in unrolled(…)`.
fn is_unrolled(s: &StmtFor) -> bool {
    let called = s.iter.as_call_expr().and_then(|call| call.func.as_name_expr());
    called.is_some_and(|name| name.id.as_str() == "unrolled")
}

/// Does a function return anything but None somewhere?
pub fn returns_values(parsed: &Parsed) -> bool {
    let mut returns = Returns(false);
    match &parsed.body {
        Body::Block(stmts) => visitor::walk_body(&mut returns, stmts),
        Body::Lambda(_) => return true,
    }
    returns.0
}

struct Returns(bool);

impl Visitor<'_> for Returns {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Return(s) => self.0 |= s.value.as_deref().is_some_and(|value| !value.is_none_literal_expr()),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => visitor::walk_stmt(self, stmt),
        }
    }
}

/// The names that a function reads and does not assign, functions inside it included, in the order of the text.
pub fn free(parsed: &Parsed) -> Vec<String> {
    let mut free = Free {
        own: assigned(parsed, false),
        found: Vec::new(),
        shift: parsed.shift,
    };
    walk(&mut free, parsed);
    free.found
}

struct Free {
    own: HashMap<String, Count>,
    found: Vec<String>,
    shift: u32,
}

impl Free {
    fn read(&mut self, name: &str) {
        if !self.own.contains_key(name) && !self.found.iter().any(|found| found == name) {
            self.found.push(name.to_owned());
        }
    }

    fn inner(&mut self, parsed: &Parsed, parameters: Option<&Parameters>) {
        for default in parameters.into_iter().flat_map(|p| p.iter_non_variadic_params()) {
            default.default.iter().for_each(|value| self.visit_expr(value));
        }
        free(parsed).iter().for_each(|name| self.read(name));
    }
}

impl Visitor<'_> for Free {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.inner(&Parsed::of_def(def, self.shift), Some(&def.parameters)),
            Stmt::ClassDef(_) => {}
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _: &Expr) {}

    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(name) => self.read(&name.id),
            Expr::Lambda(lambda) => self.inner(&Parsed::of_lambda(lambda, self.shift), lambda.parameters.as_deref()),
            _ => visitor::walk_expr(self, expr),
        }
    }
}
