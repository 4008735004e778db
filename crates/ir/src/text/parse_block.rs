//! Text to blocks and the spans of statements.

use super::cursor::{Parsed, Parser};
use crate::module::{Block, SourceId, Span};

impl Parser {
    /// A block of a statement, whose span stands before the first of them.
    pub(super) fn inner_block(&mut self) -> Parsed<Block> {
        self.end_head()?;
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

    pub(super) fn read_span(&mut self) -> Parsed<Span> {
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
}
