//! Text to tokens, each with its line and column.

use super::cursor::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Ident(String),
    /// Digits with an optional sign, fraction and exponent, or `0x` and hexadecimal digits.
    Number(String),
    Str(String),
    /// `%3`
    Value(u32),
    /// `$3`
    Local(u32),
    /// `^3`
    Label(u32),
    /// One character, or `->` or `..`.
    Punct(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Lexed {
    pub token: Token,
    pub line: u32,
    pub column: u32,
}

const PUNCT: [&str; 18] = [
    "->", "..", "(", ")", "{", "}", "[", "]", "<", ">", ",", ":", "=", "?", "@", ".", "-", "~",
];

pub(crate) fn lex(text: &str) -> Result<Vec<Lexed>, ParseError> {
    lex_from(text, 1, 1)
}

/// Text that starts at a line and column of a larger one.
pub(crate) fn lex_from(text: &str, line: u32, column: u32) -> Result<Vec<Lexed>, ParseError> {
    let mut lexer = Lexer { rest: text, line, column };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push(Lexed { token, line, column });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let start = self.rest;
        while self.peek().is_some_and(&keep) {
            self.take();
        }
        &start[..start.len() - self.rest.len()]
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.peek() != Some(';') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            line: self.line,
            column: self.column,
            message: message.into(),
        })
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        if c.is_ascii_alphabetic() || c == '_' {
            let ident = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            return Ok(Token::Ident(ident.to_owned()));
        }
        let second = self.rest.chars().nth(1);
        if c.is_ascii_digit() || (c == '-' && second.is_some_and(|d| d.is_ascii_digit())) {
            return Ok(Token::Number(self.number()));
        }
        match c {
            '"' => self.string(),
            '%' => Ok(Token::Value(self.id()?)),
            '$' => Ok(Token::Local(self.id()?)),
            '^' => Ok(Token::Label(self.id()?)),
            _ => self.punct(),
        }
    }

    fn punct(&mut self) -> Result<Token, ParseError> {
        let Some(punct) = PUNCT.into_iter().find(|p| self.rest.starts_with(p)) else {
            let c = self.peek().unwrap_or(' ');
            return self.error(format!("unexpected character {c:?}"));
        };
        for _ in punct.chars() {
            self.take();
        }
        Ok(Token::Punct(punct))
    }

    fn id(&mut self) -> Result<u32, ParseError> {
        self.take();
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(id) => Ok(id),
            Err(_) => self.error("a number is expected here"),
        }
    }

    fn number(&mut self) -> String {
        let start = self.rest;
        if self.rest.starts_with("0x") {
            self.take();
            self.take();
            self.take_while(|c| c.is_ascii_hexdigit());
        } else {
            self.take();
            self.take_while(|c| c.is_ascii_digit());
            self.fraction();
            self.exponent();
        }
        start[..start.len() - self.rest.len()].to_owned()
    }

    /// A dot belongs to the number only if a digit follows: `12..15` is two numbers.
    fn fraction(&mut self) {
        let mut ahead = self.rest.chars();
        if ahead.next() == Some('.') && ahead.next().is_some_and(|c| c.is_ascii_digit()) {
            self.take();
            self.take_while(|c| c.is_ascii_digit());
        }
    }

    fn exponent(&mut self) {
        let mut ahead = self.rest.chars();
        if !matches!(ahead.next(), Some('e' | 'E')) {
            return;
        }
        let mut next = ahead.next();
        if matches!(next, Some('+' | '-')) {
            next = ahead.next();
        }
        if next.is_some_and(|c| c.is_ascii_digit()) {
            self.take();
            self.take();
            self.take_while(|c| c.is_ascii_digit());
        }
    }

    fn string(&mut self) -> Result<Token, ParseError> {
        self.take();
        let mut out = String::new();
        loop {
            match self.take() {
                None => return self.error("the string is not closed"),
                Some('"') => return Ok(Token::Str(out)),
                Some('\\') => out.push(self.escape()?),
                Some(c) => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        match self.take() {
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some(c @ ('"' | '\\')) => Ok(c),
            Some('u') => {
                let braced = self.take() == Some('{');
                let hex = self.take_while(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
                match (braced, code, self.take()) {
                    (true, Some(c), Some('}')) => Ok(c),
                    _ => self.error("an escape is written \\u{1f600}"),
                }
            }
            _ => self.error("unknown escape in a string"),
        }
    }
}
