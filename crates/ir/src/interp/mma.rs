//! Products of matrices that a warp computes together, one lane at a time: each has what it needs for its own sums.

use super::Machine;
use super::check::Access;
use super::exec::Frame;
use super::ops::elem;
use super::trap::Fault;
use super::value::View;
use super::views;
use crate::eval;
use crate::mma::{self, COLUMNS, ROWS, SUMS};
use crate::module::{Function, Value};
use crate::op::Const;
use crate::types::Scalar;

/// A factor as a lane reads it.
struct Factor {
    view: View,
    elem: Scalar,
    transposed: bool,
}

impl Machine<'_> {
    /// Sums are exact to float64 here, and rounded once for each statement.
    pub(super) fn mma(
        &mut self,
        function: &Function,
        frame: &Frame,
        lane: u32,
        sums: Value,
        [left, right]: [Value; 2],
        [left_transposed, right_transposed]: [bool; 2],
    ) -> Result<(), Fault> {
        let factor = |value, transposed| {
            let (view, elem) = (frame.view(value)?.clone(), elem(function, value)?);
            Ok(Factor { view, elem, transposed })
        };
        let (left, right) = (factor(left, left_transposed)?, factor(right, right_transposed)?);
        let sums = &frame.view(sums)?.clone();
        let (Some(depth), &[tiles_down, tiles_across, SUMS]) = (mma::depth(left.elem), sums.shape.as_slice()) else {
            return Err(Fault::Malformed);
        };
        for down in 0..tiles_down {
            for across in 0..tiles_across {
                for sum in 0..SUMS {
                    let (row, column) = mma::place(lane.into(), sum);
                    let (row, column) = (ROWS * down + row, COLUMNS * across + column);
                    let index = [down, across, sum];
                    let offset = views::locate(sums, &index, |_| false)?;
                    let mut total = float(self.memory.load(sums, offset, Scalar::F32, &index, Access::Read)?)?;
                    for step in 0..depth {
                        total += self.element(&left, row, step)? * self.element(&right, step, column)?;
                    }
                    let total = Const::F32((total as f32).to_bits());
                    self.memory.store(sums, offset, total, &index, Access::Write)?;
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, factor: &Factor, row: i64, column: i64) -> Result<f64, Fault> {
        let index = if factor.transposed { [column, row] } else { [row, column] };
        let offset = views::locate(&factor.view, &index, |_| false)?;
        let value = self.memory.load(&factor.view, offset, factor.elem, &index, Access::Read)?;
        match value {
            Const::F32(bits) => Ok(f32::from_bits(rounded(bits)).into()),
            half => float(half),
        }
    }
}

fn float(value: Const) -> Result<f64, Fault> {
    match eval::cast(value, Scalar::F64) {
        Some(Const::F64(bits)) => Ok(f64::from_bits(bits)),
        _ => Err(Fault::Malformed),
    }
}

/// A float32 to 11 bits, half away from zero.
fn rounded(bits: u32) -> u32 {
    if f32::from_bits(bits).is_finite() {
        bits.wrapping_add(1 << 12) & !((1 << 13) - 1)
    } else {
        bits
    }
}
