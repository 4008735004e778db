//! Text forms such as `"item {tuple}, {item}"`: how the tables say what a row looks like as text.

use std::fmt::{self, Write};

use super::cursor::{Parsed, Parser};
use super::fields::Text;
use super::lex::Token;
use super::print::Printer;
use crate::table::name_of;

/// What is left of a form behind the fields that have been taken.
struct Rest(&'static str);

impl Rest {
    /// A form, from behind the name that it starts with.
    fn of(form: &'static str) -> Rest {
        Rest(&form[name_of(form).len()..])
    }

    /// What stands before the next field.
    fn lead(&mut self) -> &'static str {
        let (lead, behind) = self.0.split_once('{').unwrap_or((self.0, ""));
        self.0 = behind.split_once('}').map_or("", |(_, rest)| rest);
        lead
    }
}

/// Writes a form, given its fields in order.
pub(super) struct Writing<'a, 'm> {
    to: &'a mut Printer<'m>,
    rest: Rest,
}

impl<'a, 'm> Writing<'a, 'm> {
    pub fn new(form: &'static str, to: &'a mut Printer<'m>) -> Result<Writing<'a, 'm>, fmt::Error> {
        to.write_str(name_of(form))?;
        let rest = Rest::of(form);
        Ok(Writing { to, rest })
    }

    pub fn field(&mut self, field: &impl Text, is_operand: bool) -> fmt::Result {
        let lead = self.rest.lead();
        if !lead.is_empty() && field.is_absent() {
            return Ok(());
        }
        self.to.write_str(lead)?;
        if is_operand {
            field.write(self.to)
        } else {
            field.write_definition(self.to)
        }
    }

    pub fn end(self) -> fmt::Result {
        self.to.write_str(self.rest.0)
    }
}

/// Reads what a form says, field by field.
pub(super) struct Reading<'a> {
    p: &'a mut Parser,
    rest: Rest,
}

impl<'a> Reading<'a> {
    /// `first` are the fields' [`Text::starts`]. Nothing if the next token does not start the form.
    pub fn new(form: &'static str, first: &[fn(&Parser) -> bool], p: &'a mut Parser) -> Option<Reading<'a>> {
        match name_of(form) {
            "" if !first.first()?(p) => return None,
            "" => {}
            name if !p.eat_word(name) => return None,
            _ => {}
        }
        let rest = Rest::of(form);
        Some(Reading { p, rest })
    }

    pub fn field<T: Text>(&mut self, is_operand: bool) -> Parsed<T> {
        let lead = self.rest.lead();
        match T::absent() {
            Some(absent) if !lead.is_empty() && !self.p.is_at(lead) => Ok(absent),
            _ => {
                self.p.expect_text(lead)?;
                if is_operand { T::read(self.p) } else { T::read_definition(self.p) }
            }
        }
    }

    pub fn end(self) -> Parsed<()> {
        self.p.expect_text(self.rest.0)
    }
}

impl Parser {
    /// Does the next token start this text? A blank leads what stands on the same line.
    fn is_at(&self, text: &str) -> bool {
        let text = text.trim_start();
        match self.peek() {
            _ if text.is_empty() => self.line_goes_on(),
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
                self.expect(token)?;
            } else {
                self.expect_word(token)?;
            }
            rest = behind.trim_start();
        }
        Ok(())
    }
}
