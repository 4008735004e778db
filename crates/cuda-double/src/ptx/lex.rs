//! PTX text to tokens.

use super::PtxError;

/// What a token is. A mnemonic with its modifiers (`ld.global.b32`) and a register with a suffix (`%tid.x`) are one word.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// An identifier, register, label or mnemonic.
    Word(String),
    /// A directive or type with its leading dot.
    Dot(String),
    Int(u64),
    /// A float literal as `f64`; hexadecimal ones keep their bits in `F32` or `F64`.
    Float(f64),
    F32(u32),
    F64(u64),
    Text(String),
    Punct(char),
}

#[derive(Clone, Debug)]
pub struct Spanned {
    pub token: Token,
    pub line: u32,
}

struct Lexer<'a> {
    rest: &'a [u8],
    line: u32,
    tokens: Vec<Spanned>,
}

pub fn lex(text: &str) -> Result<Vec<Spanned>, PtxError> {
    let mut lexer = Lexer {
        rest: text.as_bytes(),
        line: 1,
        tokens: Vec::with_capacity(text.len() / 4),
    };
    while lexer.skip_blank()? {
        lexer.token()?;
    }
    Ok(lexer.tokens)
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%')
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

impl Lexer<'_> {
    fn error(&self, message: impl Into<String>) -> PtxError {
        PtxError::new(self.line, message)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.rest.get(ahead).copied().unwrap_or(0)
    }

    fn advance(&mut self, count: usize) {
        let (gone, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.line += gone.iter().filter(|b| **b == b'\n').count() as u32;
        self.rest = rest;
    }

    /// Skips white space and comments; false at the end of the text.
    fn skip_blank(&mut self) -> Result<bool, PtxError> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') => {
                    let end = self.rest.iter().position(|b| *b == b'\n').unwrap_or(self.rest.len());
                    self.advance(end);
                }
                (b'/', b'*') => {
                    let end = self.rest.windows(2).position(|w| w == b"*/");
                    let end = end.ok_or_else(|| self.error("a comment does not end"))?;
                    self.advance(end + 2);
                }
                (0, _) => return Ok(false),
                (byte, _) if byte.is_ascii_whitespace() => self.advance(1),
                _ => return Ok(true),
            }
        }
    }

    fn push(&mut self, token: Token) {
        self.tokens.push(Spanned { token, line: self.line });
    }

    fn token(&mut self) -> Result<(), PtxError> {
        let first = self.peek(0);
        if is_start(first) {
            let word = self.word(true);
            self.push(Token::Word(word));
        } else if first == b'.' && is_start(self.peek(1)) {
            self.advance(1);
            let word = self.word(false);
            self.push(Token::Dot(word));
        } else if first.is_ascii_digit() {
            let token = self.number()?;
            self.push(token);
        } else if first == b'"' {
            let end = self.rest[1..].iter().position(|b| *b == b'"');
            let end = end.ok_or_else(|| self.error("a string does not end"))?;
            let text = String::from_utf8_lossy(&self.rest[1..=end]).into_owned();
            self.push(Token::Text(text));
            self.advance(end + 2);
        } else if b"()[]{}<>,;:+-=|!@*/&~^".contains(&first) {
            self.push(Token::Punct(first as char));
            self.advance(1);
        } else {
            return Err(self.error(format!("unexpected character {:?}", first as char)));
        }
        Ok(())
    }

    fn word(&mut self, dotted: bool) -> String {
        let mut end = 0;
        loop {
            let modifier = dotted && self.peek(end) == b'.' && is_part(self.peek(end + 1));
            let qualifier = dotted && end > 0 && self.rest[end..].starts_with(b"::") && is_part(self.peek(end + 2));
            match () {
                () if is_part(self.peek(end)) || modifier => end += 1,
                () if qualifier => end += 2,
                () => break,
            }
        }
        let word = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        self.advance(end);
        word
    }

    fn number(&mut self) -> Result<Token, PtxError> {
        let mut end = 0;
        let hex_float = self.peek(0) == b'0' && matches!(self.peek(1), b'f' | b'F' | b'd' | b'D');
        while is_part(self.peek(end)) {
            end += 1;
        }
        let decimal_point = self.peek(end) == b'.' && self.peek(end + 1).is_ascii_digit() && !hex_float;
        if decimal_point {
            end += 1;
            while is_part(self.peek(end)) || (matches!(self.peek(end), b'+' | b'-') && matches!(self.peek(end - 1), b'e' | b'E')) {
                end += 1;
            }
        }
        let text = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        let token = literal(&text, hex_float, decimal_point).ok_or_else(|| self.error(format!("malformed number {text}")))?;
        self.advance(end);
        Ok(token)
    }
}

fn literal(text: &str, hex_float: bool, decimal_point: bool) -> Option<Token> {
    if hex_float {
        let digits = &text[2..];
        return match (text.as_bytes()[1].to_ascii_lowercase(), digits.len()) {
            (b'f', 8) => u32::from_str_radix(digits, 16).ok().map(Token::F32),
            (b'd', 16) => u64::from_str_radix(digits, 16).ok().map(Token::F64),
            _ => None,
        };
    }
    if decimal_point {
        return text.parse().ok().map(Token::Float);
    }
    let digits = text.trim_end_matches(['U', 'u']);
    let lower = digits.to_ascii_lowercase();
    let value = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        u64::from_str_radix(&lower[1..], 8)
    } else {
        lower.parse()
    };
    value.ok().map(Token::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        lex(text).unwrap().into_iter().map(|t| t.token).collect()
    }

    #[test]
    fn an_instruction() {
        let word = |w: &str| Token::Word(w.into());
        assert_eq!(
            tokens("@%p1 ld.shared::cta.b32 %r1, [%rd2+-8]; // rest"),
            [
                Token::Punct('@'),
                word("%p1"),
                word("ld.shared::cta.b32"),
                word("%r1"),
                Token::Punct(','),
                Token::Punct('['),
                word("%rd2"),
                Token::Punct('+'),
                Token::Punct('-'),
                Token::Int(8),
                Token::Punct(']'),
                Token::Punct(';')
            ]
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(tokens("0f3F800000"), [Token::F32(0x3f80_0000)]);
        assert_eq!(tokens("0d3FF0000000000000"), [Token::F64(0x3ff0_0000_0000_0000)]);
        assert_eq!(
            tokens("0x123U 017 0b101 1.5"),
            [Token::Int(0x123), Token::Int(15), Token::Int(5), Token::Float(1.5)]
        );
        assert!(lex("0f12").is_err());
    }

    #[test]
    fn lines_are_counted_and_labels_end_at_one_colon() {
        let all = lex("a\n/* x\n */ $L__BB0_1: ret;").unwrap();
        assert_eq!(all[1].line, 3);
        assert_eq!(all[1].token, Token::Word("$L__BB0_1".into()));
        assert_eq!(all[2].token, Token::Punct(':'));
    }
}
