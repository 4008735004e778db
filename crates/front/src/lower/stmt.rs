//! Statements.

use ruff_python_ast::{Expr, Stmt, StmtAssert, StmtIf};
use ruff_text_size::Ranged;
use weft_ir::{Block, ErrorKind, FuncKind, Span, StmtKind};

use super::Lower;
use super::loops::LoopKind;
use super::number::Truth;
use crate::compiler::{Res, Stop};
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::value::Val;

impl Lower<'_> {
    /// Lowers statements into the open block. True when control never reaches their end.
    pub fn block(&mut self, stmts: &[Stmt]) -> bool {
        for stmt in stmts {
            self.b.span = self.span(stmt.range());
            // A jump ends its block even if its value has no type yet.
            let mut ends = matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_));
            self.guarded(|l| {
                ends = l.stmt(stmt)?;
                Ok(())
            });
            if ends {
                return true;
            }
        }
        false
    }

    /// Statements as a block of their own, and whether control never reaches its end.
    pub fn nested(&mut self, stmts: &[Stmt]) -> (Block, bool) {
        self.open_block();
        let ends = self.block(stmts);
        (self.close_block(), ends)
    }

    /// True when control does not go on after the statement.
    fn stmt(&mut self, stmt: &Stmt) -> Res<bool> {
        let span = self.b.span;
        match stmt {
            Stmt::Assign(s) => self.assignment(&s.targets, &s.value)?,
            Stmt::AugAssign(s) => self.augmented(&s.target, s.op, &s.value, span)?,
            Stmt::AnnAssign(s) => {
                if let Some(value) = &s.value {
                    self.assignment(std::slice::from_ref(&*s.target), value)?;
                }
            }
            Stmt::Expr(s) => self.expression_statement(&s.value)?,
            Stmt::If(s) => return self.if_statement(s),
            Stmt::While(s) => return self.while_loop(s),
            Stmt::For(s) => return self.for_loop(s),
            Stmt::Break(_) => return self.break_loop(span),
            Stmt::Continue(_) => return self.continue_loop(span),
            Stmt::Return(s) => {
                self.return_statement(s.value.as_deref(), span)?;
                return Ok(true);
            }
            Stmt::Pass(_) => {}
            Stmt::Assert(s) => return self.assert_statement(s),
            Stmt::Raise(s) => {
                self.raise_statement(s)?;
                return Ok(true);
            }
            other => return Err(self.unsupported_statement(other, span)),
        }
        Ok(false)
    }

    fn unsupported_statement(&self, stmt: &Stmt, span: Span) -> Stop {
        let (what, help) = match stmt {
            Stmt::FunctionDef(_) => ("a function inside a function", "define it outside and call it"),
            Stmt::ClassDef(_) => ("a class", "use arrays and tuples"),
            Stmt::With(_) => ("a with statement", "move it to the caller"),
            Stmt::Try(_) => ("try", "test for the condition instead; compiled code cannot catch exceptions"),
            Stmt::Import(_) | Stmt::ImportFrom(_) => ("an import", "import at the top of the file"),
            Stmt::Global(_) | Stmt::Nonlocal(_) => (
                "global or nonlocal",
                "globals are frozen when the function is compiled; pass an array to write to",
            ),
            Stmt::Delete(_) => ("del", "leave it out"),
            Stmt::Match(_) => ("match", "write if and elif"),
            _ => ("this statement", "rewrite it with assignments, if, for and while"),
        };
        let line = Span {
            end: span.end.min(span.start + 200),
            ..span
        };
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, line, format!("{what} cannot be compiled"));
        diag.help(help).into()
    }

    fn expression_statement(&mut self, e: &Expr) -> Res<()> {
        match e {
            // A docstring or a bare constant.
            Expr::StringLiteral(_) | Expr::EllipsisLiteral(_) | Expr::NumberLiteral(_) => Ok(()),
            _ => {
                let val = self.expr(e)?;
                self.materialise(val).map(|_| ())
            }
        }
    }

    fn if_statement(&mut self, s: &StmtIf) -> Res<bool> {
        let clauses: Vec<(Option<&Expr>, &[Stmt])> = std::iter::once((Some(&*s.test), &*s.body))
            .chain(s.elif_else_clauses.iter().map(|c| (c.test.as_ref(), &*c.body)))
            .collect();
        self.clauses(&clauses)
    }

    /// A chain of `if`, `elif`, `else`. Branches whose condition is known false are not lowered.
    fn clauses(&mut self, clauses: &[(Option<&Expr>, &[Stmt])]) -> Res<bool> {
        let Some(((test, body), rest)) = clauses.split_first() else {
            return Ok(false);
        };
        let Some(test) = test else {
            return Ok(self.block(body));
        };
        let truth = match self.condition(test) {
            Ok(truth) => truth,
            Err(stop @ Stop::Error(_)) => return Err(stop),
            Err(stop) => {
                // The branches are still lowered: they may give types that the condition waits for.
                for (_, body) in clauses {
                    self.nested(body);
                }
                return Err(stop);
            }
        };
        match truth {
            Truth::Known(true) => Ok(self.block(body)),
            Truth::Known(false) => self.clauses(rest),
            Truth::Value(cond) => {
                let span = self.b.span;
                let (then, then_ends) = self.nested(body);
                self.open_block();
                let other_ends = self.clauses(rest)?;
                let other = self.close_block();
                self.b.span = span;
                self.b.push(StmtKind::If { cond, then, other });
                Ok(then_ends && other_ends)
            }
        }
    }

    fn return_statement(&mut self, value: Option<&Expr>, span: Span) -> Res<()> {
        if self.loops.iter().any(|l| l.kind != LoopKind::InOrder) {
            return Err(self.unsupported(span, "return cannot leave a prange loop"));
        }
        let val = match value {
            Some(e) => self.expr(e)?,
            None => Val::None,
        };
        if self.b.func.kind == FuncKind::Host && matches!(&val, Val::View(_, v) if v.space != weft_ir::Space::Global) {
            let copied = self.copy_array(&val, span)?;
            return self.return_value(copied, span);
        }
        self.return_value(val, span)
    }

    fn assert_statement(&mut self, s: &StmtAssert) -> Res<bool> {
        let truth = self.condition(&s.test)?;
        let message = match s.msg.as_deref() {
            Some(Expr::StringLiteral(text)) => text.value.to_str().to_owned(),
            _ => String::new(),
        };
        let raise = StmtKind::Raise {
            kind: ErrorKind::Assertion,
            message,
        };
        match truth {
            Truth::Known(true) => Ok(false),
            Truth::Known(false) => {
                self.b.push(raise);
                Ok(true)
            }
            Truth::Value(cond) => {
                let failed = self.not(cond);
                self.emit_if(failed, |l| {
                    l.b.push(raise);
                    Ok(())
                })?;
                Ok(false)
            }
        }
    }

    /// A class of the host's that an expression names.
    fn exception_class(&mut self, name: &Expr) -> Option<ErrorKind> {
        match self.expr(name) {
            Ok(Val::Exception(number, _)) => Some(ErrorKind::Host(number)),
            _ => None,
        }
    }

    /// `raise ValueError("…")`.
    fn raise_statement(&mut self, s: &ruff_python_ast::StmtRaise) -> Res<()> {
        let span = self.b.span;
        let (name, args): (&Expr, &[Expr]) = match s.exc.as_deref() {
            Some(Expr::Call(call)) => (&call.func, &call.arguments.args),
            Some(other) => (other, &[]),
            None => return Err(self.unsupported(span, "raise needs an exception here")),
        };
        let kind = match name {
            Expr::Name(n) => match n.id.as_str() {
                "ValueError" => Some(ErrorKind::Value),
                "IndexError" => Some(ErrorKind::Index),
                "ZeroDivisionError" => Some(ErrorKind::ZeroDivision),
                "AssertionError" => Some(ErrorKind::Assertion),
                "OverflowError" => Some(ErrorKind::Overflow),
                "MemoryError" => Some(ErrorKind::Memory),
                _ => self.exception_class(name),
            },
            _ => self.exception_class(name),
        };
        let Some(kind) = kind else {
            let diag = Diagnostic::new(
                DiagnosticKind::Unsupported,
                span,
                "this exception cannot be raised from compiled code",
            );
            let help = "classes of exceptions can, with a constant message: raise ValueError(\"…\")";
            return Err(diag.help(help).into());
        };
        let message = match args {
            [] => String::new(),
            [one] => match self.expr(one)? {
                Val::Str(text) => text,
                _ => return Err(self.unsupported(span, "an exception's message must be a constant string")),
            },
            _ => return Err(self.unsupported(span, "an exception takes one message here")),
        };
        self.b.push(StmtKind::Raise { kind, message });
        Ok(())
    }
}
