//! Which names a function assigns, and how often: the assigned ones are its local variables.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

use crate::parse::{Body, Parsed};

/// Assignments per name, counted in the text. A parameter counts as one.
pub fn assigned(parsed: &Parsed) -> HashMap<String, usize> {
    let mut names = Names(HashMap::new());
    for param in &parsed.params {
        names.add(&param.name);
    }
    match &parsed.body {
        Body::Block(stmts) => visitor::walk_body(&mut names, stmts),
        Body::Lambda(expr) => names.visit_expr(expr),
    }
    names.0
}

struct Names(HashMap<String, usize>);

impl Names {
    fn add(&mut self, name: &str) {
        *self.0.entry(name.to_owned()).or_default() += 1;
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
            Stmt::For(s) => self.target(&s.target),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_annotation(&mut self, _: &Expr) {}

    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Named(named) => self.target(&named.target),
            Expr::Lambda(_) => return,
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}
