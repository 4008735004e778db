//! Which names a function assigns, how often and how deep: the assigned ones are its local variables.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

use crate::parse::{Body, Parsed};

/// Assignments to one name, counted in the text. A parameter counts as one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub all: usize,
    /// Those inside other statements: branches and loops.
    pub nested: usize,
}

pub fn assigned(parsed: &Parsed) -> HashMap<String, Count> {
    let mut names = Names {
        counts: HashMap::new(),
        depth: 0,
    };
    for param in &parsed.params {
        names.add(&param.name);
    }
    match &parsed.body {
        Body::Block(stmts) => visitor::walk_body(&mut names, stmts),
        Body::Lambda(expr) => names.visit_expr(expr),
    }
    names.counts
}

struct Names {
    counts: HashMap<String, Count>,
    depth: usize,
}

impl Names {
    fn add(&mut self, name: &str) {
        let nested = usize::from(self.depth > 0);
        let count = self.counts.entry(name.to_owned()).or_default();
        count.all += 1;
        count.nested += nested;
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
                self.depth += 1;
                self.target(&s.target);
                self.depth -= 1;
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            _ => {}
        }
        let compound = matches!(
            stmt,
            Stmt::For(_) | Stmt::While(_) | Stmt::If(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_)
        );
        self.depth += usize::from(compound);
        visitor::walk_stmt(self, stmt);
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
