//! Ranges of locals: what the numbers that a local is set to lie between. It is seen when the code has been written, which is then written
//! anew until that is what was supposed.

use weft_ir::Local;
use weft_passes::range::Range;

use super::func::Fx;

/// Rounds after which what a local lies between is taken to be all of 32 bits, and none that is known, if it still grows.
const PATIENT: usize = 3;
const TIRED: usize = 6;

/// What the numbers that a local is set to lie between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Unset,
    Short(Range),
    /// Some are not known to fit 32 bits.
    Wide,
}

impl Reach {
    /// Takes in what was found in a round that supposed this. Was it more?
    pub fn grow(&mut self, found: Reach, round: usize) -> bool {
        let before = *self;
        match found {
            Reach::Unset => {}
            Reach::Wide => *self = Reach::Wide,
            Reach::Short(range) => self.join(Some(range)),
        }
        if *self == before {
            return false;
        }
        if let (Reach::Short(old), Reach::Short(new)) = (before, *self)
            && round >= PATIENT
        {
            *self = match round {
                TIRED.. => Reach::Wide,
                _ => Reach::Short(Range::new(
                    if new.lo < old.lo { Range::I32.lo } else { old.lo },
                    if new.hi > old.hi { Range::I32.hi } else { old.hi },
                )),
            };
        }
        true
    }

    pub fn join(&mut self, range: Option<Range>) {
        *self = match (*self, range) {
            (Reach::Unset, Some(range)) => Reach::Short(range),
            (Reach::Short(known), Some(range)) => Reach::Short(known.join(range)),
            _ => Reach::Wide,
        }
    }

    const fn range(self) -> Option<Range> {
        match self {
            Reach::Short(range) => Some(range),
            Reach::Unset | Reach::Wide => None,
        }
    }
}

impl Fx<'_> {
    /// What a local lies between: all it is set to, as far as is supposed or has been seen, and what conditions say. A round that finds
    /// more than it supposed is not the last.
    pub fn reach_of(&self, local: Local) -> Option<Range> {
        let mut all = self.locals.ranges[local.index()];
        if all == Reach::Wide {
            return None;
        }
        match self.locals.found[local.index()] {
            Reach::Unset => {}
            found => all.join(found.range()),
        }
        let all = match all {
            Reach::Unset => Range::new(0, 0),
            Reach::Short(range) => range,
            Reach::Wide => Range::I32,
        };
        Some(match self.known.range(local) {
            Some(known) if known.lo.max(all.lo) <= known.hi.min(all.hi) => Range::new(known.lo.max(all.lo), known.hi.min(all.hi)),
            _ => all,
        })
    }
}
