//! Reductions of an index space: what they hold from point to point, in the order that is fixed or in C order.

use super::exec::Frame;
use super::trap::Fault;
use super::value::RtValue;
use crate::eval;
use crate::module::{Function, Reduction};
use crate::order::{self, Cut};

/// One value for each reduction.
type Parts = Vec<RtValue>;

/// Reductions on the way through the points, which come in C order.
pub(super) struct Sums<'m> {
    reductions: &'m [Reduction],
    identities: Parts,
    /// Where the order is fixed; otherwise all points are one chain.
    cut: Option<Cut>,
    points: u64,
    block: u64,
    chain: usize,
    chains: Vec<Parts>,
    /// Of the chunk's blocks so far.
    chunk: Parts,
    /// Of the chunks before.
    done: Vec<Parts>,
}

impl<'m> Sums<'m> {
    pub(super) fn new(function: &Function, reductions: &'m [Reduction], extents: &[i64]) -> Result<Sums<'m>, Fault> {
        let extents: Vec<u64> = extents.iter().map(|&n| u64::try_from(n).unwrap_or(0)).collect();
        let identities = reductions
            .iter()
            .map(|r| identity(function, *r))
            .collect::<Result<Parts, Fault>>()?;
        let cut = reductions.first().filter(|r| r.fixed).map(|_| Cut::new(&extents));
        let chains = if cut.is_some() { order::CHAINS as usize } else { 1 };
        Ok(Sums {
            reductions,
            cut,
            points: 0,
            block: 0,
            chain: 0,
            chains: vec![identities.clone(); chains],
            chunk: identities.clone(),
            done: Vec::new(),
            identities,
        })
    }

    /// Gives the next point what its chain holds.
    pub(super) fn enter(&mut self, index: &[i64], frame: &mut Frame) -> Result<(), Fault> {
        if let Some(cut) = self.cut {
            let column = index.last().map_or(0, |&i| i as u64);
            let block = cut.block_of(self.points / cut.columns.max(1), column);
            if block != self.block {
                self.end_block()?;
                self.block = block;
                if block.is_multiple_of(cut.blocks_per_chunk()) {
                    self.end_chunk();
                }
            }
            self.chain = order::chain(column) as usize;
        }
        for (reduction, part) in self.reductions.iter().zip(&self.chains[self.chain]) {
            frame.locals[reduction.local.index()] = part.clone();
        }
        self.points += 1;
        Ok(())
    }

    /// Takes what the point has made of it.
    pub(super) fn leave(&mut self, frame: &Frame) {
        for (reduction, part) in self.reductions.iter().zip(&mut self.chains[self.chain]) {
            *part = frame.locals[reduction.local.index()].clone();
        }
    }

    /// All combined, but with what the locals held before.
    pub(super) fn finish(mut self) -> Result<Parts, Fault> {
        if self.cut.is_none() {
            return Ok(self.chains.swap_remove(0));
        }
        self.end_block()?;
        self.end_chunk();
        let mut all = self.identities.clone();
        for chunk in &self.done {
            all = self.joined(&all, chunk)?;
        }
        Ok(all)
    }

    fn end_block(&mut self) -> Result<(), Fault> {
        let mut chains = std::mem::replace(&mut self.chains, vec![self.identities.clone(); order::CHAINS as usize]);
        while chains.len() > 1 {
            let second = chains.split_off(chains.len() / 2);
            chains = chains
                .iter()
                .zip(&second)
                .map(|(a, b)| self.joined(a, b))
                .collect::<Result<_, Fault>>()?;
        }
        self.chunk = self.joined(&self.chunk, &chains[0])?;
        Ok(())
    }

    fn end_chunk(&mut self) {
        self.done.push(std::mem::replace(&mut self.chunk, self.identities.clone()));
    }

    fn joined(&self, a: &Parts, b: &Parts) -> Result<Parts, Fault> {
        let pairs = self.reductions.iter().zip(a.iter().zip(b));
        pairs.map(|(r, (a, b))| combine(*r, a, b)).collect()
    }
}

fn identity(function: &Function, reduction: Reduction) -> Result<RtValue, Fault> {
    let scalar = function.local_ty(reduction.local).scalar().ok_or(Fault::Malformed)?;
    reduction.op.identity(scalar).map(RtValue::Scalar).ok_or(Fault::Malformed)
}

pub(super) fn combine(reduction: Reduction, a: &RtValue, b: &RtValue) -> Result<RtValue, Fault> {
    let (Some(a), Some(b)) = (a.scalar(), b.scalar()) else {
        return Err(Fault::Malformed);
    };
    eval::binary(reduction.op.binary(), a, b)
        .map(RtValue::Scalar)
        .ok_or(Fault::Malformed)
}
