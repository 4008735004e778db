//! Products of matrices that a warp computes together, one lane at a time once all have met: each has what it needs for its own sums.

use super::Machine;
use super::check::Access;
use super::exec::Frame;
use super::trap::Fault;
use super::value::View;
use super::views;
use crate::eval;
use crate::mma::{self, COLUMNS, ROWS, SUMS};
use crate::module::Value;
use crate::op::Const;
use crate::types::Scalar;

/// A factor as a lane reads it.
struct Factor {
    view: View,
    elem: Scalar,
    /// How many elements are in each of the view's own.
    held: i64,
    transposed: bool,
}

impl Machine<'_> {
    /// Sums are exact to float64 here, and rounded once for each statement.
    pub(super) fn mma(
        &mut self,
        frame: &Frame,
        lane: u32,
        elem: Scalar,
        sums: Value,
        [left, right]: [Value; 2],
        [left_transposed, right_transposed]: [bool; 2],
    ) -> Result<(), Fault> {
        let left = factor(frame, left, elem, left_transposed)?;
        let right = factor(frame, right, elem, right_transposed)?;
        let sums = &frame.view(sums)?.clone();
        let depth = mma::depth(elem).ok_or(Fault::Malformed)?;
        let &[tiles_down, tiles_across, SUMS] = sums.shape.as_slice() else {
            return Err(Fault::BadView {
                array: sums.name().to_owned(),
                message: format!("the sums of a product of matrices have {SUMS} in their last axis"),
            });
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
        let [down, right] = if factor.transposed { [column, row] } else { [row, column] };
        let index = [down, right / factor.held];
        let offset = views::locate(&factor.view, &index, |_| false)? + right % factor.held * factor.elem.size() as i64;
        let value = self.memory.load(&factor.view, offset, factor.elem, &index, Access::Read)?;
        match value {
            Const::F32(bits) => Ok(f32::from_bits(rounded(bits)).into()),
            half => float(half),
        }
    }
}

fn factor(frame: &Frame, value: Value, elem: Scalar, transposed: bool) -> Result<Factor, Fault> {
    let view = frame.view(value)?.clone();
    // The last axis lies together: steps along it are the size of what the view holds.
    let &[_, step] = view.strides.as_slice() else {
        return Err(Fault::Malformed);
    };
    let held = (step / elem.size() as i64).max(1);
    if !mma::is_aligned(elem, view.offset) || !mma::is_aligned(elem, view.strides[0]) {
        return Err(Fault::BadView {
            array: view.name().to_owned(),
            message: mma::NOT_ALIGNED.to_owned(),
        });
    }
    Ok(Factor {
        view,
        elem,
        held,
        transposed,
    })
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
