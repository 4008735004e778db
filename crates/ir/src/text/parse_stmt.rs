//! Text to statements.

use super::cursor::{Parsed, Parser};
use super::fields::Field;
use super::lex::Token;
use crate::module::{Block, ErrorKind, FenceScope, PrintItem, SourceId, Span, Spread, Stmt, StmtKind};
use crate::op::{Index, Part};

impl Parser {
    fn block(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        self.block_rest()
    }

    /// The statements of a block up to its closing brace, which is consumed.
    pub(super) fn block_rest(&mut self) -> Parsed<Block> {
        self.deeper(|p| {
            let mut stmts = Vec::new();
            while !p.eat("}") {
                stmts.push(p.stmt()?);
            }
            Ok(Block(stmts))
        })
    }

    fn span(&mut self) -> Parsed<Span> {
        if !self.eat("@") {
            return Ok(Span::NONE);
        }
        let source = SourceId(self.number()?);
        self.expect(":")?;
        let start = self.number()?;
        self.expect("..")?;
        let end = self.number()?;
        Ok(Span { source, start, end })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        if let Token::Value(_) = self.peek() {
            let value = self.define()?;
            self.expect("=")?;
            let ty = self.values[value.index()].as_ref().and_then(|data| data.ty.scalar());
            let kind = StmtKind::Let(value, self.op(ty)?);
            return Ok(Stmt { kind, span: self.span()? });
        }
        let line = self.line();
        let word = self.word()?;
        if matches!(word.as_str(), "if" | "loop" | "for" | "parfor" | "scope") {
            return self.compound(&word);
        }
        let kind = self.simple(&word, line)?;
        Ok(Stmt { kind, span: self.span()? })
    }

    fn compound(&mut self, word: &str) -> Parsed<Stmt> {
        let span;
        let kind = match word {
            "if" => {
                let cond = self.value()?;
                span = self.span()?;
                let then = self.block()?;
                let other = if self.eat_word("else") { self.block()? } else { Block::default() };
                StmtKind::If { cond, then, other }
            }
            "loop" => {
                span = self.span()?;
                StmtKind::Loop(self.block()?)
            }
            "for" => {
                let var = self.define()?;
                self.expect("=")?;
                let start = self.value()?;
                self.expect_word("to")?;
                let stop = self.value()?;
                self.expect_word("step")?;
                let step = self.value()?;
                span = self.span()?;
                let body = self.block()?;
                StmtKind::For {
                    var,
                    start,
                    stop,
                    step,
                    body,
                }
            }
            "parfor" => {
                self.expect("(")?;
                let vars = self.list(")", Parser::define)?;
                self.expect_word("in")?;
                self.expect("(")?;
                let extents = self.list(")", Parser::value)?;
                let reductions = self.reductions()?;
                let spread = self.spread();
                span = self.span()?;
                let body = self.block()?;
                StmtKind::ParFor {
                    vars,
                    extents,
                    reductions,
                    spread,
                    body,
                }
            }
            _ => {
                let label = self.label()?;
                span = self.span()?;
                StmtKind::Scope(label, self.block()?)
            }
        };
        Ok(Stmt { kind, span })
    }

    /// A statement without blocks, after its first word, which stands in `line`.
    fn simple(&mut self, word: &str, line: u32) -> Parsed<StmtKind> {
        match word {
            "set" => {
                let local = self.local()?;
                self.expect("=")?;
                Ok(StmtKind::Set(local, self.value()?))
            }
            "launch" => self.launch(),
            "leave" => Ok(StmtKind::Leave(self.label()?)),
            "break" => Ok(StmtKind::Break),
            "continue" => Ok(StmtKind::Continue),
            "return" => {
                let has_value = matches!(self.peek(), Token::Value(_)) && self.line() == line;
                Ok(StmtKind::Return(if has_value { Some(self.value()?) } else { None }))
            }
            "store" => {
                let view = self.value()?;
                self.expect("[")?;
                let indices = self.list("]", Index::read)?;
                let part = Part::read(self)?;
                self.expect("=")?;
                let value = self.value()?;
                Ok(StmtKind::Store {
                    view,
                    indices,
                    value,
                    part,
                })
            }
            "barrier" => Ok(StmtKind::Barrier),
            "grid_barrier" => Ok(StmtKind::GridBarrier),
            "sync_warp" => Ok(StmtKind::SyncWarp(self.value()?)),
            "fence" => {
                let scope = self.word()?;
                match FenceScope::from_name(&scope) {
                    Some(scope) => Ok(StmtKind::Fence(scope)),
                    None => self.error(format!("`{scope}` is no scope of a fence")),
                }
            }
            "sleep" => Ok(StmtKind::Sleep(self.value()?)),
            "raise" => {
                let name = self.word()?;
                let kind = match ErrorKind::from_name(&name) {
                    Some(kind) => kind,
                    None if name == "host" => ErrorKind::Host(self.number()?),
                    None => return self.error(format!("`{name}` is no kind of error")),
                };
                let message = self.string()?;
                Ok(StmtKind::Raise { kind, message })
            }
            "print" => self.print_items(line).map(StmtKind::Print),
            _ => {
                self.back();
                self.error(format!("`{word}` is no statement"))
            }
        }
    }

    fn spread(&mut self) -> Spread {
        if self.eat_word("parallel") {
            Spread::Gangs
        } else if self.eat_word("threads") {
            Spread::Threads
        } else {
            Spread::Lanes
        }
    }

    fn launch(&mut self) -> Parsed<StmtKind> {
        let func = self.func()?;
        self.expect_word("over")?;
        self.expect("(")?;
        let extents = self.list(")", Parser::value)?;
        self.expect_word("with")?;
        self.expect("(")?;
        let args = self.list(")", Parser::value)?;
        let mut results = Vec::new();
        if self.eat_word("into") {
            self.expect("(")?;
            results = self.list(")", Parser::local)?;
        }
        let spread = self.spread();
        Ok(StmtKind::Launch {
            func,
            extents,
            args,
            results,
            spread,
        })
    }

    fn print_items(&mut self, line: u32) -> Parsed<Vec<PrintItem>> {
        if self.line() != line || !matches!(self.peek(), Token::Value(_) | Token::Str(_) | Token::Ident(_)) {
            return Ok(Vec::new());
        }
        let mut items = Vec::new();
        loop {
            items.push(self.print_item()?);
            if !self.eat(",") {
                return Ok(items);
            }
        }
    }

    fn print_item(&mut self) -> Parsed<PrintItem> {
        if let Token::Str(_) = self.peek() {
            return self.string().map(PrintItem::Text);
        }
        if !self.eat_word("complex") {
            return self.value().map(PrintItem::Value);
        }
        self.expect("(")?;
        let re = self.value()?;
        self.expect(",")?;
        let im = self.value()?;
        self.expect(")")?;
        Ok(PrintItem::Complex(re, im))
    }
}
