//! Text forms such as `"item {tuple}, {item}"`: how the tables say what an operation looks like as text.

use std::fmt::{self, Write};

use super::cursor::{Parsed, Parser};
use super::fields::Field;
use super::lex::Token;
use crate::module::Module;
use crate::table::name_of;

/// A form from which the pieces before one of its fields have been taken.
struct Rest(&'static str);

impl Rest {
    /// What stands before the next field, and is left out with it.
    fn lead(&mut self) -> &'static str {
        let (lead, behind) = self.0.split_once('{').unwrap_or((self.0, ""));
        self.0 = behind.split_once('}').map_or("", |(_, rest)| rest);
        lead
    }
}

/// Writes a form, given its fields in order.
pub(super) struct Writing<'a> {
    out: &'a mut String,
    module: &'a Module,
    rest: Rest,
}

impl<'a> Writing<'a> {
    pub fn new(form: &'static str, out: &'a mut String, module: &'a Module) -> Writing<'a> {
        let (name, rest) = form.split_at(name_of(form).len());
        out.push_str(name);
        Writing {
            out,
            module,
            rest: Rest(rest),
        }
    }

    pub fn field(&mut self, field: &impl Field) -> fmt::Result {
        let lead = self.rest.lead();
        if field.is_absent() {
            return Ok(());
        }
        self.out.push_str(lead);
        field.write(self.out, self.module)
    }

    pub fn end(self) -> fmt::Result {
        self.out.write_str(self.rest.0)
    }
}

/// Reads what a form says, field by field. Its first word has been read.
pub(super) struct Reading<'a> {
    p: &'a mut Parser,
    rest: Rest,
}

impl<'a> Reading<'a> {
    pub fn new(form: &'static str, p: &'a mut Parser) -> Reading<'a> {
        let rest = Rest(&form[name_of(form).len()..]);
        Reading { p, rest }
    }

    pub fn field<T: Field>(&mut self) -> Parsed<T> {
        let lead = self.rest.lead();
        match T::absent() {
            Some(absent) if !self.p.is_at(lead) => Ok(absent),
            _ => {
                self.p.expect_text(lead)?;
                T::read(self.p)
            }
        }
    }

    pub fn end(self) -> Parsed<()> {
        self.p.expect_text(self.rest.0)
    }
}

impl Parser {
    /// Does the next token start this text?
    fn is_at(&self, text: &str) -> bool {
        let text = text.trim_start();
        match self.peek() {
            Token::Ident(found) => found == name_of(text),
            Token::Punct(found) => text.starts_with(found),
            _ => false,
        }
    }

    /// Words and single characters, as the form has them.
    fn expect_text(&mut self, text: &str) -> Parsed<()> {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = name_of(rest);
            let len = if word.is_empty() { first.len_utf8() } else { word.len() };
            let (token, behind) = rest.split_at(len);
            if word.is_empty() {
                self.expect(token)?
            } else {
                self.expect_word(token)?
            }
            rest = behind.trim_start();
        }
        Ok(())
    }
}
