//! Instructions and their operands.

use super::lex::Token;
use super::parse::{Parser, Result};
use super::syntax::{Instruction, Operand};

impl Parser {
    pub(super) fn instruction(&mut self) -> Result<Instruction> {
        let line = self.line();
        let guard = if self.eat('@') {
            let negated = self.eat('!');
            Some((self.word()?, negated))
        } else {
            None
        };
        let mnemonic = self.word()?;
        let mut operands = Vec::new();
        if !self.eat(';') {
            loop {
                operands.push(self.operand()?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(';')?;
        }
        Ok(Instruction {
            guard,
            mnemonic,
            operands,
            line,
        })
    }

    pub(super) fn operand(&mut self) -> Result<Operand> {
        let operand = self.deeper(Self::simple_operand)?;
        if self.eat('|') {
            let second = self.simple_operand()?;
            return Ok(Operand::Pair(Box::new(operand), Box::new(second)));
        }
        Ok(operand)
    }

    fn simple_operand(&mut self) -> Result<Operand> {
        Ok(match self.next()? {
            Token::Word(name) => match self.sign() {
                Some(sign) => Operand::Offset(name, self.signed(sign)?),
                None => Operand::Name(name),
            },
            Token::Int(value) => Operand::Int(i128::from(value)),
            Token::Float(value) => Operand::Float(value),
            Token::F32(bits) => Operand::F32(bits),
            Token::F64(bits) => Operand::F64(bits),
            Token::Punct('-') => match self.deeper(Self::simple_operand)? {
                Operand::Int(value) => Operand::Int(-value),
                Operand::Float(value) => Operand::Float(-value),
                Operand::F32(bits) => Operand::F32(bits ^ 1 << 31),
                Operand::F64(bits) => Operand::F64(bits ^ 1 << 63),
                _ => return self.error("`-` before something that is no number"),
            },
            Token::Punct('!') => Operand::Not(self.word()?),
            Token::Punct('[') => {
                let address = self.address()?;
                self.expect(']')?;
                address
            }
            Token::Punct('{') => Operand::Vector(self.list('}')?),
            Token::Punct('(') => Operand::List(self.list(')')?),
            other => {
                self.at -= 1;
                return self.error(format!("unexpected {other:?}"));
            }
        })
    }

    fn list(&mut self, end: char) -> Result<Vec<Operand>> {
        let mut items = Vec::new();
        if self.eat(end) {
            return Ok(items);
        }
        loop {
            items.push(self.operand()?);
            if !self.eat(',') {
                self.expect(end)?;
                return Ok(items);
            }
        }
    }

    fn address(&mut self) -> Result<Operand> {
        match self.operand()? {
            Operand::Name(name) => Ok(Operand::Address(Some(name), 0)),
            Operand::Offset(name, offset) => Ok(Operand::Address(Some(name), offset)),
            Operand::Int(value) => Ok(Operand::Address(None, value as i64)),
            _ => self.error("malformed address"),
        }
    }

    /// `+` (which may be followed by a sign of its own) or `-`.
    fn sign(&mut self) -> Option<i64> {
        if self.eat('+') {
            Some(if self.eat('-') { -1 } else { 1 })
        } else if self.eat('-') {
            Some(-1)
        } else {
            None
        }
    }

    fn signed(&mut self, sign: i64) -> Result<i64> {
        Ok((self.int()? as i64).wrapping_mul(sign))
    }
}
