//! Variants: which of a kernel's compiled forms fits a block: where its lanes lie, how many there are, whether all are always on.

use weft_ir::{Axis, WARP};

use crate::emit::Variant;

/// Where lanes lie. The last: along the linear index of threads.
const AXES: [Option<Axis>; 4] = [Some(Axis::X), Some(Axis::Y), Some(Axis::Z), None];
const LINE: usize = 3;
/// Gangs have 1, 2, 4, … 64 lanes.
const WIDTHS: usize = 7;
/// A gang smaller than this is no use.
const LEAST_LANES: u32 = 4;

/// So many threads are worth lanes along their axis.
const ENOUGH_LANES: u32 = 8;

/// How many forms there are.
pub const COUNT: usize = AXES.len() * WIDTHS * 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    axis: usize,
    lanes: u32,
    full: bool,
}

impl Form {
    /// The form for a block, of at most `width` lanes. They lie along an axis that has threads enough for it, else along the first with more
    /// than one.
    pub fn of(block: [u32; 3], width: u32, along: Axis) -> Form {
        let first = block.iter().position(|&threads| threads > 1).unwrap_or(0);
        let wished = along as usize;
        let enough = block[wished] >= ENOUGH_LANES || block[wished] >= block[first];
        let axis = if enough && block[wished] > 1 { wished } else { first };
        let lanes = lanes_for(block[axis], width);
        Form {
            axis,
            lanes,
            full: block[axis].is_multiple_of(lanes),
        }
    }

    /// The same with exactly `width` lanes.
    pub fn exactly(block: [u32; 3], width: u32, along: Axis) -> Form {
        let form = Form::of(block, width, along);
        Form {
            lanes: width,
            full: block[form.axis].is_multiple_of(width),
            ..form
        }
    }

    /// The form of a kernel whose gangs are warps. Where these do not fit an axis, they wrap round.
    pub fn of_warps(block: [u32; 3]) -> Form {
        let form = Form::exactly(block, WARP, Axis::X);
        let alone = block.iter().enumerate().all(|(axis, threads)| axis == form.axis || *threads == 1);
        if form.full || alone {
            return form;
        }
        Form {
            axis: LINE,
            full: block.iter().product::<u32>().is_multiple_of(WARP),
            ..form
        }
    }

    /// Gangs that a block is run as.
    pub fn gangs(self, block: [u32; 3]) -> u64 {
        if self.axis == LINE {
            return u64::from(block.iter().product::<u32>().div_ceil(self.lanes));
        }
        let count = |axis: usize| {
            if axis == self.axis {
                block[axis].div_ceil(self.lanes)
            } else {
                block[axis]
            }
        };
        (0..3).map(|axis| u64::from(count(axis))).product()
    }

    pub fn index(self) -> usize {
        (self.axis * WIDTHS + self.lanes.ilog2() as usize % WIDTHS) * 2 + usize::from(self.full)
    }

    pub fn from_index(index: usize) -> Form {
        Form {
            axis: index / 2 / WIDTHS,
            lanes: 1 << (index / 2 % WIDTHS),
            full: index % 2 == 1,
        }
    }

    pub fn variant(self) -> Variant {
        Variant::Kernel {
            axis: AXES[self.axis % AXES.len()],
            width: self.lanes,
            full: self.full,
        }
    }
}

/// Fewer lanes than `width` where that keeps all of them on, or where a block has fewer threads.
fn lanes_for(threads: u32, width: u32) -> u32 {
    let even = 1 << threads.trailing_zeros().min(31);
    if even >= width {
        width
    } else if even >= 8 && even * 4 >= width {
        even
    } else {
        threads.next_power_of_two().clamp(LEAST_LANES.min(width), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_fit_the_block() {
        let lanes = |threads| lanes_for(threads, 32);
        assert_eq!(
            [1, 2, 5, 8, 16, 17, 24, 32, 33, 48, 96, 1024].map(lanes),
            [4, 4, 8, 8, 16, 32, 8, 32, 32, 16, 32, 32]
        );
        assert_eq!(lanes_for(100, 1), 1);
    }

    #[test]
    fn every_form_has_an_index_of_its_own() {
        for index in 0..COUNT {
            assert_eq!(Form::from_index(index).index(), index);
        }
        let form = Form::of([1, 16, 16], 32, Axis::X);
        assert_eq!(
            form,
            Form {
                axis: 1,
                lanes: 16,
                full: true
            }
        );
        let axis = |block, along| Form::of(block, 32, along).axis;
        assert_eq!(
            [
                axis([16, 16, 1], Axis::Y),
                axis([64, 4, 1], Axis::Y),
                axis([2, 4, 1], Axis::Y),
                axis([64, 1, 1], Axis::Y)
            ],
            [1, 0, 1, 0]
        );
        assert_eq!(Form::of_warps([64, 4, 1]), Form::of([64, 4, 1], 32, Axis::X));
        assert_eq!(
            [[40, 1, 1], [1, 40, 1], [8, 8, 1], [3, 5, 2]].map(|block| {
                let form = Form::of_warps(block);
                (form.axis, form.full, form.gangs(block))
            }),
            [(0, false, 2), (1, false, 2), (3, true, 2), (3, false, 1)]
        );
        assert_eq!(
            Form::exactly([1, 16, 16], 32, Axis::X),
            Form {
                axis: 1,
                lanes: 32,
                full: false
            }
        );
    }
}
