//! The text form of modules: [`print`] and [`parse`] round-trip everything but spans and sources.
//!
//! `%n` is a value, `$n` a local, `^n` a label, `@name` a function (`@n` where names are not unique); `;` starts a comment.
//! [`print_with_spans`] also writes the sources, and a statement's span as a trailing `@source:start..end`; [`parse`] takes both.

pub(crate) mod cursor;
mod fields;
mod form;
pub(crate) mod lex;
mod literal;
mod parse;
mod parse_block;
mod parse_type;
mod print;
mod rows;
mod stmt_fields;

pub use cursor::ParseError;
pub use parse::parse;
pub use print::{print, print_with_spans};

use crate::module::{Block, Module, Span};

/// Removes what [`print`] leaves out, so that `parse(&print(&m))` equals `m`.
pub fn strip_spans(module: &mut Module) {
    module.sources.clear();
    for function in &mut module.functions {
        strip_block(&mut function.body);
    }
}

fn strip_block(block: &mut Block) {
    for stmt in &mut block.0 {
        stmt.span = Span::NONE;
        stmt.kind.blocks_mut().for_each(strip_block);
    }
}
