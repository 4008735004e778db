//! The parser's position among the tokens, and what every part of it needs: words, numbers, names, lists.

use std::fmt;

use super::lex::{Lexed, Token};
use crate::module::{FuncId, Label, Local, Span, Value, ValueData};
use crate::types::Scalar;

/// What is wrong with the text, and where (both from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Blocks and types nested deeper than this are refused, so that no text can exhaust the stack.
const MAX_DEPTH: u32 = 256;
pub(crate) type Parsed<T> = Result<T, ParseError>;

pub(crate) struct Parser {
    tokens: Vec<Lexed>,
    at: usize,
    functions: Vec<String>,
    /// Of the function being read.
    pub(super) values: Vec<Option<ValueData>>,
    /// The scalar type of the value that was defined last, if it has one.
    pub(super) defined: Option<Scalar>,
    /// Of the statement being read, once it was.
    pub(super) span: Option<Span>,
    depth: u32,
}

impl Parser {
    pub(crate) fn new(tokens: Vec<Lexed>, functions: Vec<String>) -> Parser {
        Parser {
            tokens,
            at: 0,
            functions,
            values: Vec::new(),
            defined: None,
            span: None,
            depth: 0,
        }
    }

    /// Steps over a token that was looked at.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Steps back, so that an error shows the token just read.
    pub(super) fn back(&mut self) {
        self.at -= 1;
    }

    /// Does an operand follow on the line of the token that was read last?
    pub(super) fn line_goes_on(&self) -> bool {
        let same_line = |before: usize| self.tokens[before].line == self.tokens[self.at].line;
        let operand = match self.peek() {
            Token::Value(_) | Token::Str(_) => true,
            Token::Ident(word) => word == "complex",
            _ => false,
        };
        operand && self.at.checked_sub(1).is_some_and(same_line)
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let Lexed { line, column, .. } = self.tokens[self.at];
        Err(ParseError {
            line,
            column,
            message: message.into(),
        })
    }

    pub(crate) fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.peek(), Token::Punct(p) if *p == punct);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Ident(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) {
            Ok(())
        } else {
            self.error(format!("`{punct}` is expected here"))
        }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.error(format!("`{word}` is expected here"))
        }
    }

    pub(crate) fn word(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Ident(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => self.error("a word is expected here"),
        }
    }

    pub(crate) fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Str(text) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.error("a string is expected here"),
        }
    }

    /// A plain or quoted name, if one stands here.
    pub(crate) fn name(&mut self) -> Option<String> {
        match self.peek() {
            Token::Ident(name) | Token::Str(name) => {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let parsed = match self.peek() {
            Token::Number(text) => text.parse().ok(),
            _ => None,
        };
        match parsed {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => self.error("a number is expected here, within the range of its place"),
        }
    }

    pub(crate) fn value(&mut self) -> Parsed<Value> {
        match *self.peek() {
            Token::Value(id) => {
                self.at += 1;
                Ok(Value(id))
            }
            _ => self.error("a value such as `%3` is expected here"),
        }
    }

    pub(crate) fn local(&mut self) -> Parsed<Local> {
        match *self.peek() {
            Token::Local(id) => {
                self.at += 1;
                Ok(Local(id))
            }
            _ => self.error("a local such as `$3` is expected here"),
        }
    }

    pub(super) fn label(&mut self) -> Parsed<Label> {
        match *self.peek() {
            Token::Label(id) => {
                self.at += 1;
                Ok(Label(id))
            }
            _ => self.error("a label such as `^3` is expected here"),
        }
    }

    /// Items separated by commas up to `close`, which is consumed.
    pub(crate) fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// A function by its name, or by its number where names are not unique.
    pub(crate) fn func(&mut self) -> Parsed<FuncId> {
        self.expect("@")?;
        if let Token::Number(_) = self.peek() {
            return Ok(FuncId(self.number()?));
        }
        let Some(name) = self.name() else {
            return self.error("a function's name is expected here");
        };
        let mut found = (0..).zip(&self.functions).filter(|(_, f)| **f == name);
        match (found.next(), found.next()) {
            (Some((id, _)), None) => Ok(FuncId(id)),
            (None, _) => self.error(format!("there is no function @{name}")),
            (Some(_), Some(_)) => self.error(format!("several functions are named @{name}; write its number")),
        }
    }

    pub(crate) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error("nested too deeply");
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }
}
