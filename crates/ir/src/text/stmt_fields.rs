//! What only statements are made of, as text.

use std::fmt::{self, Write};

use super::cursor::{Parsed, Parser};
use super::fields::{Text, join, list};
use super::lex::Token;
use super::literal;
use super::print::Printer;
use crate::module::{Block, ErrorKind, Label, PrintItem, Spread};

impl Text for Label {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        write!(to, "^{}", self.0)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.label()
    }
}

/// A word at the end of a loop's head, or nothing.
impl Text for Spread {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(match self {
            Spread::Lanes => "",
            Spread::Gangs => " parallel",
            Spread::Threads => " threads",
        })
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        if p.eat_word("parallel") {
            Ok(Spread::Gangs)
        } else if p.eat_word("threads") {
            Ok(Spread::Threads)
        } else {
            Ok(Spread::Lanes)
        }
    }
}

/// `value`, `host 7`
impl Text for ErrorKind {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(self.name())?;
        match self {
            ErrorKind::Host(number) => write!(to, " {number}"),
            _ => Ok(()),
        }
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let name = p.word()?;
        match ErrorKind::from_name(&name) {
            Some(kind) => Ok(kind),
            None if name == "host" => p.number().map(ErrorKind::Host),
            None => p.error(format!("`{name}` is no kind of error")),
        }
    }
}

impl Text for String {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(&literal::quote(self))
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.string()
    }
}

/// `"text"`, `%3`, `complex(%3, %4)`
impl Text for PrintItem {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        match self {
            PrintItem::Text(text) => text.write(to),
            PrintItem::Value(value) => value.write(to),
            PrintItem::Complex(re, im) => write!(to, "complex(%{}, %{})", re.0, im.0),
        }
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        if let Token::Str(_) = p.peek() {
            return p.string().map(PrintItem::Text);
        }
        if !p.eat_word("complex") {
            return p.value().map(PrintItem::Value);
        }
        p.expect("(")?;
        let re = p.value()?;
        p.expect(",")?;
        let im = p.value()?;
        p.expect(")")?;
        Ok(PrintItem::Complex(re, im))
    }

    /// Nothing closes the list but the end of the line.
    fn write_list(list: &[Self], to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(if list.is_empty() { "" } else { " " })?;
        join(list, to, Self::write)
    }

    fn read_list(p: &mut Parser) -> Parsed<Vec<Self>> {
        if p.line_goes_on() { list(p, Self::read) } else { Ok(Vec::new()) }
    }
}

impl Text for Block {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.inner_block(self)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.inner_block()
    }

    fn absent() -> Option<Self> {
        Some(Block::default())
    }

    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}
