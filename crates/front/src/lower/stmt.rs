//! Statements: dispatch, blocks, `if`, `return`, `assert` and `raise`.

use ruff_python_ast::{Expr, Stmt, StmtAssert, StmtIf};
use ruff_text_size::Ranged;
use weft_ir::{Block, Const, ErrorKind, FuncKind, Local, Span, StmtKind, Type};

use super::Lower;
use super::loops::LoopKind;
use super::number::Truth;
use crate::Object;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::{Res, Stop};
use crate::value::Val;

/// A chain of `if` and `elif` with more branches than this is lowered in parts: each `elif` stands in the `else` of the one before.
const LONG_CHAIN: usize = 32;

/// A branch: its condition, if it is no `else`, and its body.
type Clause<'a> = (Option<&'a Expr>, &'a [Stmt]);

/// What is known of a chain of branches.
struct Chain {
    /// Control goes on after none of them.
    bodies_end: bool,
    /// One is always taken.
    closed: bool,
}

impl Chain {
    fn closed(bodies_end: bool) -> Chain {
        Chain { bodies_end, closed: true }
    }
}

impl Lower<'_> {
    /// Lowers statements into the open block. True when control never reaches their end.
    pub fn block(&mut self, stmts: &[Stmt]) -> bool {
        for stmt in stmts {
            self.b.span = self.span(stmt.range());
            // A jump ends its block even if its value has no type yet.
            let mut ends = matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_));
            self.guarded(|l| {
                ends = l.deeper(|l| l.stmt(stmt))?;
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
            Stmt::FunctionDef(def) => self.inner_function(def)?,
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
        let clauses: Vec<Clause<'_>> = std::iter::once((Some(&*s.test), &*s.body))
            .chain(s.elif_else_clauses.iter().map(|c| (c.test.as_ref(), &*c.body)))
            .collect();
        let chain = if clauses.len() > LONG_CHAIN {
            self.row_of_clauses(&clauses)?
        } else {
            self.clauses(&clauses, None)?
        };
        Ok(chain.bodies_end && chain.closed)
    }

    /// A chain of `if`, `elif`, `else`. Branches whose condition is known false are not lowered. Where no branch is taken, a local that says
    /// so becomes false.
    fn clauses(&mut self, clauses: &[Clause<'_>], taken: Option<Local>) -> Res<Chain> {
        let Some(((test, body), rest)) = clauses.split_first() else {
            if let Some(taken) = taken {
                let no = self.b.constant(Const::Bool(false));
                self.b.set(taken, no);
            }
            return Ok(Chain {
                bodies_end: true,
                closed: false,
            });
        };
        let Some(test) = test else {
            return Ok(Chain::closed(self.block(body)));
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
            Truth::Known(true) => Ok(Chain::closed(self.block(body))),
            Truth::Known(false) => self.clauses(rest, taken),
            Truth::Value(cond) => {
                let span = self.b.span;
                let (then, then_ends) = self.nested(body);
                self.open_block();
                let chain = self.clauses(rest, taken)?;
                let other = self.close_block();
                self.b.span = span;
                self.b.push(StmtKind::If { cond, then, other });
                Ok(Chain {
                    bodies_end: chain.bodies_end && then_ends,
                    closed: chain.closed,
                })
            }
        }
    }

    /// The same of a long chain, in parts that stand in a row: each is looked at if none before it had a branch to take. What is left of a
    /// part whose branches all end is that none was taken.
    fn row_of_clauses(&mut self, clauses: &[Clause<'_>]) -> Res<Chain> {
        let span = self.b.span;
        let taken = self.b.func.new_local(Type::BOOL, "");
        let mut bodies_end = true;
        for part in clauses.chunks(LONG_CHAIN) {
            let guard = (!bodies_end).then(|| {
                let taken = self.b.get(taken);
                self.not(taken)
            });
            if guard.is_some() {
                self.open_block();
            }
            let yes = self.b.constant(Const::Bool(true));
            self.b.set(taken, yes);
            let chain = self.clauses(part, Some(taken))?;
            if let Some(cond) = guard {
                let (then, other) = (self.close_block(), Block::default());
                self.b.span = span;
                self.b.push(StmtKind::If { cond, then, other });
            }
            bodies_end &= chain.bodies_end;
            if chain.closed {
                return Ok(Chain::closed(bodies_end));
            }
        }
        Ok(Chain { bodies_end, closed: false })
    }

    fn return_statement(&mut self, value: Option<&Expr>, span: Span) -> Res<()> {
        if self.nest.frames.iter().any(|l| l.kind != LoopKind::InOrder) {
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

    /// Python's option -O drops assertions, and `__debug__` is false then.
    fn without_asserts(&mut self, span: Span) -> Res<bool> {
        match self.unit.function.env.lookup("__debug__") {
            Some(object) => {
                let debug = self.object(&object, span)?;
                Ok(matches!(self.truth(&debug, span)?, Truth::Known(false)))
            }
            None => Ok(false),
        }
    }

    fn assert_statement(&mut self, s: &StmtAssert) -> Res<bool> {
        let span = self.b.span;
        if self.without_asserts(span)? {
            return Ok(false);
        }
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
    fn exception_class(&mut self, class: &Expr) -> Option<ErrorKind> {
        match (self.expr(class), class) {
            (Ok(Val::Exception(number, name)), _) => {
                let builtin = self.unit.function.env.attribute("builtins", &name);
                let is_builtin = matches!(builtin, Some(Object::Exception(same, _)) if same == number);
                let own = own_exception(&name).filter(|_| is_builtin);
                Some(own.unwrap_or(ErrorKind::Host(number)))
            }
            // Texts of the library know no other classes.
            (Err(_), Expr::Name(name)) if !self.is_local(&name.id) && self.unit.function.env.lookup(&name.id).is_none() => {
                own_exception(&name.id)
            }
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
        let Some(kind) = self.exception_class(name) else {
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

/// A class of Python's that IR has a kind of error for.
fn own_exception(name: &str) -> Option<ErrorKind> {
    Some(match name {
        "ValueError" => ErrorKind::Value,
        "IndexError" => ErrorKind::Index,
        "ZeroDivisionError" => ErrorKind::ZeroDivision,
        "AssertionError" => ErrorKind::Assertion,
        "OverflowError" => ErrorKind::Overflow,
        "MemoryError" => ErrorKind::Memory,
        "LinAlgError" => ErrorKind::LinAlg,
        _ => return None,
    })
}
