//! Declarations of variables and their initial values.

use super::lex::Token;
use super::parse::{Parser, Result};
use super::syntax::{Operand, Relocation, Space, Ty, Variable};

impl Parser {
    /// `.align 4 .b8 name[16] = {…}, name2` after the state space.
    pub(super) fn variables(&mut self, space: Space, external: bool) -> Result<Vec<Variable>> {
        let (align, ty) = self.alignment_and_type()?;
        let mut variables = Vec::new();
        loop {
            let line = self.line();
            let name = self.word()?;
            let (count, unsized_) = self.extents()?;
            let mut variable = Variable {
                name,
                space,
                align: align.unwrap_or(ty.bytes()).max(1),
                bytes: count.saturating_mul(u64::from(ty.bytes())),
                unsized_,
                external,
                init: Vec::new(),
                relocations: Vec::new(),
                line,
            };
            if self.eat('=') {
                self.initialiser(&mut variable, ty)?;
                if variable.unsized_ {
                    variable.bytes = variable.init.len() as u64;
                    variable.unsized_ = false;
                }
                if variable.init.len() as u64 > variable.bytes {
                    return self.error(format!("more initial values than {} has room for", variable.name));
                }
            }
            variables.push(variable);
            if !self.eat(',') {
                return Ok(variables);
            }
        }
    }

    pub(super) fn alignment_and_type(&mut self) -> Result<(Option<u32>, Ty)> {
        let mut align = None;
        loop {
            let Token::Dot(name) = self.next()? else {
                self.at -= 1;
                return self.error("expected a type");
            };
            match name.as_str() {
                "align" => align = Some(self.alignment()?),
                // `.param .u64 .ptr .global .align 8 name`
                "attribute" => return self.error("variable attributes are not supported"),
                name => match Ty::parse(name) {
                    Some(ty) => return Ok((align, ty)),
                    None => return self.error(format!("unknown type .{name}")),
                },
            }
        }
    }

    /// `[4][8]`: the number of elements, and whether the first extent is left out.
    pub(super) fn extents(&mut self) -> Result<(u64, bool)> {
        let (mut count, mut unsized_) = (1u64, false);
        while self.eat('[') {
            if self.eat(']') {
                unsized_ = true;
                count = 0;
                continue;
            }
            count = count.saturating_mul(self.int()?);
            self.expect(']')?;
        }
        Ok((count, unsized_))
    }

    fn initialiser(&mut self, variable: &mut Variable, ty: Ty) -> Result<()> {
        if self.eat('{') {
            if self.eat('}') {
                return Ok(());
            }
            loop {
                self.deeper(|parser| parser.initialiser(variable, ty))?;
                if !self.eat(',') {
                    break;
                }
            }
            return self.expect('}');
        }
        let at = variable.init.len() as u64;
        let bytes = ty.bytes();
        if !(1..=8).contains(&bytes) {
            return self.error("values of this type cannot be written");
        }
        let value = match self.operand()? {
            Operand::Int(value) => value as u64,
            Operand::F32(bits) => u64::from(bits),
            Operand::F64(bits) => bits,
            Operand::Float(value) if ty == Ty::F32 => u64::from((value as f32).to_bits()),
            Operand::Float(value) => value.to_bits(),
            Operand::Name(name) if name == "generic" => {
                self.expect('(')?;
                let symbol = self.word()?;
                self.expect(')')?;
                let addend = if self.eat('+') { self.int()? as i64 } else { 0 };
                variable.relocations.push(Relocation {
                    at,
                    bytes,
                    symbol,
                    addend,
                    generic: true,
                });
                0
            }
            Operand::Name(symbol) => {
                variable.relocations.push(Relocation {
                    at,
                    bytes,
                    symbol,
                    addend: 0,
                    generic: false,
                });
                0
            }
            Operand::Offset(symbol, addend) => {
                variable.relocations.push(Relocation {
                    at,
                    bytes,
                    symbol,
                    addend,
                    generic: false,
                });
                0
            }
            other => return self.error(format!("unsupported initial value {other:?}")),
        };
        variable.init.extend_from_slice(&value.to_le_bytes()[..bytes as usize]);
        Ok(())
    }
}
