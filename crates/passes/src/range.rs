//! Ranges of `i64`s that fit 32 bits, and what arithmetic makes of them.

use weft_ir::{BinOp, Scalar};

/// `lo..=hi`, both of them 32-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub lo: i64,
    pub hi: i64,
}

impl Range {
    pub const I32: Range = Range::new(i32::MIN as i64, i32::MAX as i64);

    pub const fn new(lo: i64, hi: i64) -> Range {
        Range { lo, hi }
    }

    /// What a scalar type of at most 32 bits holds, where that fits.
    pub fn of(s: Scalar) -> Option<Range> {
        Some(match s {
            Scalar::Bool => Range::new(0, 1),
            Scalar::U8 => Range::new(0, 0xFF),
            Scalar::U16 => Range::new(0, 0xFFFF),
            Scalar::I8 => Range::new(i8::MIN as i64, i8::MAX as i64),
            Scalar::I16 => Range::new(i16::MIN as i64, i16::MAX as i64),
            Scalar::I32 => Range::I32,
            _ => return None,
        })
    }

    pub fn join(self, other: Range) -> Range {
        Range::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    /// The only number it holds.
    pub const fn constant(self) -> Option<i64> {
        if self.lo == self.hi { Some(self.lo) } else { None }
    }

    /// The results of `i64` arithmetic, if they are known to fit.
    pub fn binary(op: BinOp, a: Range, b: Range) -> Option<Range> {
        Some(match op {
            BinOp::Add => corners(a, b, |x, y| x + y)?,
            BinOp::Sub => corners(a, b, |x, y| x - y)?,
            BinOp::Mul => corners(a, b, |x, y| x * y)?,
            BinOp::FloorDiv if a.lo >= 0 && b.lo > 0 => Range::new(a.lo / b.hi, a.hi / b.lo),
            BinOp::Mod | BinOp::Rem if a.lo >= 0 && b.lo > 0 => Range::new(0, a.hi.min(b.hi - 1)),
            BinOp::And if b.lo >= 0 => Range::new(0, if a.lo >= 0 { a.hi.min(b.hi) } else { b.hi }),
            BinOp::And if a.lo >= 0 => Range::new(0, a.hi),
            BinOp::Or | BinOp::Xor if a.lo >= 0 && b.lo >= 0 => Range::new(0, ones_over(a.hi.max(b.hi))),
            BinOp::And | BinOp::Or | BinOp::Xor => Range::I32,
            BinOp::Shl if b.lo >= 0 && b.hi < 31 => corners(a, b, |x, y| x << y)?,
            BinOp::Shr if b.lo >= 0 && b.hi < 32 => corners(a, b, |x, y| x >> y)?,
            BinOp::Min => Range::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            BinOp::Max => Range::new(a.lo.max(b.lo), a.hi.max(b.hi)),
            _ => return None,
        })
    }

    /// What the index of a loop that counts up (else down) lies between, if it and the number behind its last are known to fit.
    pub fn counter(start: Range, stop: Range, step: Range, up: bool) -> Option<Range> {
        let fits = |v: i64| i32::try_from(v).is_ok();
        match up {
            true => fits(stop.hi - 1 + step.hi).then(|| Range::new(start.lo, start.lo.max(stop.hi - 1))),
            false => fits(stop.lo + 1 + step.lo).then(|| Range::new(start.hi.min(stop.lo + 1), start.hi)),
        }
    }
}

/// The results of what is monotonic in each operand.
fn corners(a: Range, b: Range, f: fn(i128, i128) -> i128) -> Option<Range> {
    let all = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)].map(|(x, y)| f(x.into(), y.into()));
    let (lo, hi) = all.iter().fold((i128::MAX, i128::MIN), |(lo, hi), v| (lo.min(*v), hi.max(*v)));
    let (lo, hi) = (i32::try_from(lo).ok()?, i32::try_from(hi).ok()?);
    Some(Range::new(lo.into(), hi.into()))
}

/// The least number of ones only that is no less than `v`.
fn ones_over(v: i64) -> i64 {
    (1i64 << (i64::BITS - v.leading_zeros())) - 1
}

#[cfg(test)]
mod tests {
    use weft_ir::{Const, eval};

    use super::*;

    const OPS: [BinOp; 14] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::IntPow,
        BinOp::FloorDiv,
        BinOp::Mod,
        BinOp::Rem,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Shl,
        BinOp::Shr,
        BinOp::Min,
        BinOp::Max,
    ];

    const ENDS: [i64; 12] = [i32::MIN as i64, -40_000, -9, -1, 0, 1, 2, 7, 30, 33, 65_536, i32::MAX as i64];

    fn ranges() -> impl Iterator<Item = Range> {
        let starts = ENDS.iter().enumerate();
        starts.flat_map(|(i, &lo)| ENDS[i..].iter().map(move |&hi| Range::new(lo, hi)))
    }

    fn inside(range: Range) -> impl Iterator<Item = i64> {
        let some = ENDS.into_iter().flat_map(|end| [end - 1, end, end + 1]);
        some.filter(move |v| (range.lo..=range.hi).contains(v))
    }

    #[test]
    fn results_are_inside_the_range_of_results() {
        let mut known = 0;
        for op in OPS {
            for a in ranges() {
                for b in ranges() {
                    let Some(range) = Range::binary(op, a, b) else { continue };
                    known += 1;
                    assert!(Range::I32.lo <= range.lo && range.lo <= range.hi && range.hi <= Range::I32.hi);
                    for (x, y) in inside(a).flat_map(|x| inside(b).map(move |y| (x, y))) {
                        let exact = eval::binary(op, Const::Int(Scalar::I64, x), Const::Int(Scalar::I64, y));
                        let is_inside = |result| matches!(result, Some(Const::Int(_, v)) if range.lo <= v && v <= range.hi);
                        assert!(
                            is_inside(exact),
                            "{op:?} of {x} in {a:?} and {y} in {b:?}: {exact:?}, not in {range:?}"
                        );
                    }
                }
            }
        }
        assert!(known > 10_000, "{known}");
    }

    #[test]
    fn what_could_pass_32_bits_has_no_range() {
        let (one, all) = (Range::new(1, 1), Range::I32);
        let unknown = |op, a, b| Range::binary(op, a, b).is_none();
        assert!(unknown(BinOp::Add, all, one) && unknown(BinOp::Sub, all, one));
        assert!(unknown(BinOp::Mul, Range::new(0, 1 << 16), Range::new(0, 1 << 15)));
        assert!(unknown(BinOp::Shl, one, Range::new(0, 31)) && unknown(BinOp::FloorDiv, all, one));
        assert_eq!(Range::binary(BinOp::Add, one, one), Some(Range::new(2, 2)));
    }

    #[test]
    fn counters_stay_between_the_first_and_the_one_before_the_end() {
        let at = |v| Range::new(v, v);
        assert_eq!(Range::counter(at(0), Range::new(0, 9), at(1), true), Some(Range::new(0, 8)));
        assert_eq!(Range::counter(Range::new(3, 9), at(-1), at(-2), false), Some(Range::new(0, 9)));
        assert_eq!(Range::counter(at(5), at(0), at(1), true), Some(at(5)));
        assert_eq!(Range::counter(at(0), Range::I32, at(2), true), None);
        assert_eq!(Range::counter(at(0), Range::I32, at(-2), false), None);
    }
}
