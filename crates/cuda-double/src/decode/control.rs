//! Branches, calls and the end of threads.

use super::Symbol;
use super::function::{Decoder, Place, Register, Result};
use super::mods::Mods;
use crate::exec::inst::{CallSite, Callee, Op};
use crate::exec::lanes::Slot;
use crate::ptx::syntax::{Operand, Ty};

impl Decoder<'_> {
    pub(super) fn control(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        mods.take("uni");
        match mods.opcode {
            "bra" => match operands {
                [Operand::Name(label)] => {
                    self.branch(label);
                    Ok(())
                }
                _ => self.error("expected a label"),
            },
            "brx" => self.branch_table(mods, operands),
            "call" => self.call(operands),
            "nanosleep" => {
                mods.ty()?;
                self.push(Op::Nothing);
                Ok(())
            }
            opcode => {
                self.count(operands, usize::from(opcode == "pmevent"))?;
                if !matches!(operands, [] | [Operand::Int(0..=15)]) {
                    return self.error("expected the number of an event, from 0 to 15");
                }
                self.push(match opcode {
                    "ret" => Op::Return,
                    "exit" => Op::Exit,
                    "trap" | "brkpt" => Op::Trap,
                    _ => Op::Nothing,
                });
                Ok(())
            }
        }
    }

    fn branch_table(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if !mods.take("idx") {
            return Err(mods.error("expected .idx"));
        }
        let [index, Operand::Name(table)] = operands else {
            return self.error("expected an index and a list of targets");
        };
        let Some(table) = self.table(table) else {
            return self.error(format!("unknown list of targets {table}"));
        };
        let index = self.source(index, Ty::U32)?;
        self.push(Op::BranchTable { table, index });
        Ok(())
    }

    /// `call (result), callee, (arguments), prototype`: everything but the callee may be left out.
    fn call(&mut self, operands: &[Operand]) -> Result<()> {
        let (results, rest) = match operands {
            [Operand::List(results), rest @ ..] => (results.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let [Operand::Name(name), rest @ ..] = rest else {
            return self.error("expected a function");
        };
        let arguments = match rest.first() {
            Some(Operand::List(arguments)) => arguments.as_slice(),
            _ => &[],
        };
        let arguments = self.places_of(arguments)?;
        let results = self.places_of(results)?;
        let callee = match (self.register(name), self.linker.symbols.get(name)) {
            (Some(Register::Row(row, _)), _) => Callee::Indirect(Slot::register(row)),
            (_, Some(Symbol::Function(number))) => {
                let code = &self.linker.functions[*number as usize];
                if (code.params.len(), code.results.len()) != (arguments.len(), results.len()) {
                    return self.error(format!("{name} has other parameters"));
                }
                Callee::Function(*number)
            }
            (_, Some(Symbol::Printf)) if arguments.len() == 2 => Callee::Printf,
            (_, Some(Symbol::AssertFail)) if arguments.len() == 5 => Callee::AssertFail,
            _ => return self.error(format!("unresolved extern function {name}")),
        };
        self.linker.sites.push(CallSite {
            callee,
            arguments,
            results,
        });
        let site = self.linker.sites.len() as u32 - 1;
        self.push(Op::Call { site });
        Ok(())
    }

    fn places_of(&self, names: &[Operand]) -> Result<Vec<(u32, u32)>> {
        let place = |operand: &Operand| match operand {
            Operand::Name(name) => match self.place(name) {
                Some(Place::FrameParam { offset, bytes }) => Ok((offset, bytes)),
                _ => self.error(format!("{name} is not a parameter of this call")),
            },
            _ => self.error("expected a parameter variable"),
        };
        names.iter().map(place).collect()
    }
}
