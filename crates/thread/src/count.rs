//! Counting loops: which way the index goes, and what it lies between.

use weft_passes::range::Range;

use super::number::Num;

/// Where a counting loop's index goes.
#[derive(Clone, Copy, Debug)]
pub struct Count<O> {
    pub stop: Num<O>,
    pub step: Num<O>,
    pub direction: Direction<O>,
    /// What the index lies between, where neither it nor the one behind the last leaves 32 bits: it is held in 32 bits then.
    pub range: Option<Range>,
}

#[derive(Clone, Copy, Debug)]
pub enum Direction<O> {
    Up,
    Down,
    /// Known at run time: is the step positive?
    Either(O),
}

impl<O> Count<O> {
    /// The number of an index in a register.
    pub fn index(&self, at: O) -> Num<O> {
        match self.range {
            Some(range) => Num::Short(at, range),
            None => Num::Reg(at),
        }
    }
}

/// What the index of a counting loop lies between, if it and the number behind its last are known to fit 32 bits.
pub fn counter_range(start: Option<Range>, stop: Option<Range>, step: Option<Range>, is_up: bool) -> Option<Range> {
    Range::counter(start?, stop?, step?, is_up)
}
