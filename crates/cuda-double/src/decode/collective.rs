//! Collective instructions, what threads do together: barriers, shuffles, votes, matches, reductions.

use super::function::{Decoder, Result};
use super::mods::Mods;
use crate::exec::inst::{Barrier, Op, Pred, Reduction, Redux, Shuffle, Together, Vote, special};
use crate::exec::lanes::Slot;
use crate::ptx::syntax::{Operand, Ty};

impl Decoder<'_> {
    pub(super) fn collective(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let opcode = mods.opcode;
        match opcode {
            "bar" | "barrier" => self.barrier(mods, operands),
            "activemask" => {
                mods.ty()?;
                self.count(operands, 1)?;
                let (to, _) = self.destination(&operands[0])?;
                self.push(Op::ActiveMask { to });
                Ok(())
            }
            _ if !mods.take("sync") => Err(mods.error("only the .sync form is supported")),
            "shfl" => self.shuffle(mods, operands),
            "vote" => self.vote(mods, operands),
            "match" => self.match_(mods, operands),
            _ => self.redux(mods, operands),
        }
    }

    fn together(&mut self, mods: &Mods<'_>, what: Together, members: &Operand) -> Result<()> {
        let members = self.source(members, Ty::B32)?;
        let class = self.linker.class(mods.whole);
        self.push(Op::Together { what, members, class });
        Ok(())
    }

    /// A barrier's number and perhaps how many threads it is for, as far as they are known.
    fn check_barrier(&self, id: &Operand, count: Option<&Operand>) -> Result<()> {
        if let Operand::Int(id) = id
            && !(0..16).contains(id)
        {
            return self.error(format!("there is no barrier {id}: a block has 16"));
        }
        match count {
            Some(Operand::Int(count)) if *count <= 0 || count % 32 != 0 => {
                self.error(format!("a barrier for {count} threads: the number must be a multiple of 32"))
            }
            _ => Ok(()),
        }
    }

    fn barrier(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if mods.take("warp") {
            if !mods.take("sync") {
                return Err(mods.error("expected .sync"));
            }
            self.count(operands, 1)?;
            return self.together(mods, Together::Barrier, &operands[0]);
        }
        mods.take("cta");
        let aligned = mods.take("aligned") || mods.opcode == "bar";
        if mods.take("red") {
            return self.barrier_reduction(mods, operands, aligned);
        }
        let arrive = mods.take("arrive");
        if !arrive && !mods.take("sync") {
            return Err(mods.error("expected .sync, .arrive or .red"));
        }
        let (id, count) = match operands {
            [id] if !arrive => {
                self.check_barrier(id, None)?;
                (id, None)
            }
            [id, count] => {
                self.check_barrier(id, Some(count))?;
                (id, Some(self.source(count, Ty::B32)?))
            }
            _ => return self.error("expected a barrier and perhaps a number of threads"),
        };
        let id = self.source(id, Ty::B32)?;
        self.push(Op::Barrier(Barrier {
            id,
            count,
            aligned,
            arrive,
            reduction: Reduction::None,
            value: Pred::TRUE,
            to: Slot::special(special::SINK),
            to_pred: 0,
        }));
        Ok(())
    }

    fn barrier_reduction(&mut self, mods: &mut Mods<'_>, operands: &[Operand], aligned: bool) -> Result<()> {
        let reduction = mods.find(|part| match part {
            "popc" => Some(Reduction::Popc),
            "and" => Some(Reduction::And),
            "or" => Some(Reduction::Or),
            _ => None,
        });
        let reduction = reduction.ok_or_else(|| mods.error("expected .popc, .and or .or"))?;
        mods.ty()?;
        let (to, id, count, value) = match operands {
            [to, id, value] => (to, id, None, value),
            [to, id, count, value] => (to, id, Some(self.source(count, Ty::B32)?), value),
            _ => return self.error("expected a destination, a barrier and a predicate"),
        };
        self.check_barrier(id, None)?;
        let id = self.source(id, Ty::B32)?;
        let value = self.pred(value)?;
        let (mut slot, mut to_pred) = (Slot::special(special::SINK), 0);
        if reduction == Reduction::Popc {
            slot = self.destination(to)?.0;
        } else {
            to_pred = self.to_pred(to)?.map_or_else(|| self.error("expected a predicate register"), Ok)?;
        }
        self.push(Op::Barrier(Barrier {
            id,
            count,
            aligned,
            arrive: false,
            reduction,
            value,
            to: slot,
            to_pred,
        }));
        Ok(())
    }

    /// `d|p`: the register and, if wanted, the predicate.
    fn with_pred(&self, operand: &Operand) -> Result<(Slot, Option<u32>)> {
        match operand {
            Operand::Pair(to, found) => Ok((self.destination(to)?.0, self.to_pred(found)?)),
            to => Ok((self.destination(to)?.0, None)),
        }
    }

    fn shuffle(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let kind = mods.find(|part| match part {
            "up" => Some(Shuffle::Up),
            "down" => Some(Shuffle::Down),
            "bfly" => Some(Shuffle::Bfly),
            "idx" => Some(Shuffle::Idx),
            _ => None,
        });
        let kind = kind.ok_or_else(|| mods.error("expected .up, .down, .bfly or .idx"))?;
        mods.ty()?;
        self.count(operands, 5)?;
        let (to, found) = self.with_pred(&operands[0])?;
        let what = Together::Shuffle {
            kind,
            to,
            found,
            value: self.source(&operands[1], Ty::B32)?,
            by: self.source(&operands[2], Ty::B32)?,
            clamp: self.source(&operands[3], Ty::B32)?,
        };
        self.together(mods, what, &operands[4])
    }

    fn vote(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let kind = mods.find(|part| match part {
            "all" => Some(Vote::All),
            "any" => Some(Vote::Any),
            "uni" => Some(Vote::Uni),
            "ballot" => Some(Vote::Ballot),
            _ => None,
        });
        let kind = kind.ok_or_else(|| mods.error("expected .all, .any, .uni or .ballot"))?;
        mods.ty()?;
        self.count(operands, 3)?;
        let (mut to, mut to_pred) = (Slot::special(special::SINK), 0);
        if kind == Vote::Ballot {
            to = self.destination(&operands[0])?.0;
        } else {
            to_pred = self
                .to_pred(&operands[0])?
                .map_or_else(|| self.error("expected a predicate register"), Ok)?;
        }
        let value = self.pred(&operands[1])?;
        let what = Together::Vote { kind, to, to_pred, value };
        self.together(mods, what, &operands[2])
    }

    fn match_(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let all = mods.take("all");
        if !all && !mods.take("any") {
            return Err(mods.error("expected .any or .all"));
        }
        let ty = mods.ty()?;
        self.count(operands, 3)?;
        let (to, found) = self.with_pred(&operands[0])?;
        if !all && matches!(operands[0], Operand::Pair(..)) {
            return self.error("match.any has no predicate");
        }
        let value = self.source(&operands[1], ty)?;
        let what = if all {
            Together::MatchAll { to, found, value }
        } else {
            Together::MatchAny { to, value }
        };
        self.together(mods, what, &operands[2])
    }

    fn redux(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let kind = mods.find(|part| match part {
            "add" => Some(Redux::Add),
            "min" => Some(Redux::Min),
            "max" => Some(Redux::Max),
            "and" => Some(Redux::And),
            "or" => Some(Redux::Or),
            "xor" => Some(Redux::Xor),
            _ => None,
        });
        let kind = kind.ok_or_else(|| mods.error("unknown operation"))?;
        let ty = mods.ty()?;
        if !matches!(ty, Ty::U32 | Ty::S32 | Ty::B32) {
            return Err(mods.error("unsupported type"));
        }
        self.count(operands, 3)?;
        let what = Together::Redux {
            kind,
            signed: ty == Ty::S32,
            to: self.destination(&operands[0])?.0,
            value: self.source(&operands[1], Ty::B32)?,
        };
        self.together(mods, what, &operands[2])
    }
}
