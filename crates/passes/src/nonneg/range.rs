//! Ranges of integers: what is known of a value's least and greatest.
//!
//! Arithmetic that leaves its type wraps, and then nothing is known. One thing is assumed instead of proved: sums and products of
//! *extents* (lengths of arrays, thread geometry, small literals) and steps by one of them do not pass 2^63, since no memory is that large.

use weft_ir::{BinOp, CmpOp, Const, Geometry, Scalar, UnOp};

use crate::fold;

/// No array has more elements.
const MAX_LENGTH: i128 = 1 << 47;
const MAX_GRID: i128 = (1 << 31) - 1;
const MAX_BLOCK: i128 = 1024;
/// Literals up to here are as good as an extent.
const SMALL: i128 = 1 << 16;
/// Where ranges of extents stop growing.
const FAR: i128 = 1 << 62;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub lo: i128,
    pub hi: i128,
    /// Made of lengths, geometry and small literals only.
    extent: bool,
}

impl Range {
    pub const LENGTH: Range = Range::extent(0, MAX_LENGTH);

    const fn extent(lo: i128, hi: i128) -> Range {
        Range { lo, hi, extent: true }
    }

    const fn plain(lo: i128, hi: i128) -> Range {
        Range { lo, hi, extent: false }
    }

    /// Everything an integer type holds. Other types get a range that says nothing.
    pub fn full(scalar: Scalar) -> Range {
        match (scalar, scalar.bits().min(64)) {
            (Scalar::Bool, _) => Range::plain(0, 1),
            (_, bits) if scalar.is_signed() => Range::plain(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (_, bits) if scalar.is_int() => Range::plain(0, (1 << bits) - 1),
            _ => Range::plain(i128::MIN / 2, i128::MAX / 2),
        }
    }

    pub fn constant(c: Const) -> Range {
        match fold::integer(c) {
            Some(value) => Range {
                lo: value,
                hi: value,
                extent: value.abs() <= SMALL,
            },
            None => Range::full(c.scalar()),
        }
    }

    pub fn geometry(geometry: Geometry) -> Range {
        match geometry {
            Geometry::ThreadIdx(_) => Range::extent(0, MAX_BLOCK - 1),
            Geometry::BlockIdx(_) => Range::extent(0, MAX_GRID - 1),
            Geometry::BlockDim(_) => Range::extent(1, MAX_BLOCK),
            Geometry::GridDim(_) => Range::extent(1, MAX_GRID),
            Geometry::LaneId => Range::extent(0, 31),
        }
    }

    pub fn join(self, other: Range) -> Range {
        Range {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            extent: self.extent && other.extent,
        }
    }

    /// What both say; `None` if they contradict each other.
    pub fn meet(self, lo: i128, hi: i128) -> Option<Range> {
        let met = Range {
            lo: self.lo.max(lo),
            hi: self.hi.min(hi),
            extent: self.extent,
        };
        (met.lo <= met.hi).then_some(met)
    }

    pub fn single(self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Does a comparison hold for all pairs of values, or for none?
    pub fn compared(self, op: CmpOp, other: Range) -> Option<bool> {
        let never = |op: CmpOp| match op {
            CmpOp::Lt => self.lo >= other.hi,
            CmpOp::Le => self.lo > other.hi,
            CmpOp::Gt => self.hi <= other.lo,
            CmpOp::Ge => self.hi < other.lo,
            CmpOp::Eq => self.hi < other.lo || self.lo > other.hi,
            CmpOp::Ne => self.single().is_some() && self.single() == other.single(),
        };
        match (never(op), never(op.opposite())) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        }
    }

    fn fits(self, scalar: Scalar) -> bool {
        let full = Range::full(scalar);
        full.lo <= self.lo && self.hi <= full.hi
    }

    /// A wider range to try for a local whose range keeps growing, so that trying ends.
    pub fn widened(self, grown: Range, scalar: Scalar) -> Range {
        let full = Range::full(scalar);
        let lo = if grown.lo >= self.lo {
            self.lo
        } else if grown.lo >= 0 {
            0
        } else {
            full.lo
        };
        let limits = [MAX_LENGTH, FAR, full.hi];
        let hi = if grown.hi <= self.hi {
            self.hi
        } else {
            limits.into_iter().find(|limit| grown.hi <= *limit).unwrap_or(full.hi).min(full.hi)
        };
        Range::plain(lo, hi)
    }

    /// The counter of `for … in range(start, stop, step)`.
    pub fn counter(start: Range, stop: Range, step: Range) -> Range {
        let (lo, hi) = if step.lo > 0 {
            (start.lo, stop.hi - 1)
        } else if step.hi < 0 {
            (stop.lo + 1, start.hi)
        } else {
            (start.lo.min(stop.lo + 1), start.hi.max(stop.hi - 1))
        };
        Range {
            lo,
            hi: hi.max(lo),
            extent: start.extent && stop.extent,
        }
    }
}

pub fn cast(to: Scalar, a: Range) -> Range {
    if a.fits(to) { a } else { Range::full(to) }
}

pub fn unary(op: UnOp, scalar: Scalar, a: Range) -> Range {
    let result = match op {
        UnOp::Neg => Range { lo: -a.hi, hi: -a.lo, ..a },
        UnOp::Abs if a.lo >= 0 => a,
        UnOp::Abs => Range {
            lo: 0,
            hi: a.hi.max(-a.lo),
            ..a
        },
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz => Range::extent(0, scalar.bits().into()),
        _ => Range::full(scalar),
    };
    cast(scalar, result)
}

pub fn binary(op: BinOp, scalar: Scalar, a: Range, b: Range) -> Range {
    let unknown = Range::full(scalar);
    match op {
        BinOp::Add => kept(scalar, a, b, a.extent || b.extent, [a.lo + b.lo, a.hi + b.hi]),
        BinOp::Sub => kept(scalar, a, b, a.extent || b.extent, [a.lo - b.hi, a.hi - b.lo]),
        BinOp::Mul => product(scalar, a, b),
        BinOp::Shl => match b.single() {
            Some(count @ 0..=62) => product(scalar, a, Range::constant(Const::i64(1 << count))),
            _ => unknown,
        },
        BinOp::FloorDiv => floor_div(a, b).unwrap_or(unknown),
        BinOp::Mod if b.lo >= 0 => {
            let hi = (b.hi - 1).max(0);
            Range {
                lo: 0,
                hi: if a.lo >= 0 { hi.min(a.hi) } else { hi },
                extent: b.extent,
            }
        }
        BinOp::Rem if a.lo >= 0 => Range { lo: 0, ..a },
        BinOp::And if a.lo >= 0 && b.lo >= 0 => Range {
            lo: 0,
            hi: a.hi.min(b.hi),
            extent: a.extent || b.extent,
        },
        BinOp::And if a.lo >= 0 => Range { lo: 0, ..a },
        BinOp::And if b.lo >= 0 => Range { lo: 0, ..b },
        BinOp::Or | BinOp::Xor if a.lo >= 0 && b.lo >= 0 => {
            // The bits of the larger one, all set.
            let bits = 128 - a.hi.max(b.hi).leading_zeros();
            Range {
                lo: 0,
                hi: (1 << bits) - 1,
                extent: a.extent && b.extent,
            }
        }
        BinOp::Shr => Range {
            lo: a.lo.min(0),
            hi: a.hi.max(0) >> b.lo.clamp(0, 64),
            ..a
        },
        BinOp::Min => Range {
            lo: a.lo.min(b.lo),
            hi: a.hi.min(b.hi),
            extent: a.extent && b.extent,
        },
        BinOp::Max => Range {
            lo: a.lo.max(b.lo),
            hi: a.hi.max(b.hi),
            extent: a.extent && b.extent,
        },
        _ => unknown,
    }
}

/// A sum or product over `bounds`: kept if it fits, kept as far as it goes if it may be assumed not to overflow, else unknown.
fn kept(scalar: Scalar, a: Range, b: Range, assumed: bool, bounds: [i128; 2]) -> Range {
    let exact = Range {
        lo: bounds[0],
        hi: bounds[1],
        extent: a.extent && b.extent,
    };
    if exact.fits(scalar) {
        return exact;
    }
    let full = Range::full(scalar);
    let is_free = |r: Range| !r.extent && (r.lo == full.lo);
    let certain = a.single().is_some() && b.single().is_some();
    if scalar != Scalar::I64 || !assumed || certain || is_free(a) || is_free(b) {
        return full;
    }
    let limit = if exact.extent { FAR } else { full.hi };
    Range {
        lo: exact.lo.clamp(-limit, limit),
        hi: exact.hi.clamp(-limit, limit),
        extent: exact.extent,
    }
}

fn product(scalar: Scalar, a: Range, b: Range) -> Range {
    let corners = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)].map(|(x, y)| x.saturating_mul(y));
    let lo = corners.into_iter().fold(i128::MAX, i128::min);
    let hi = corners.into_iter().fold(i128::MIN, i128::max);
    kept(scalar, a, b, a.extent && b.extent, [lo, hi])
}

/// Floors; a zero divisor gives 0.
fn floor_div(a: Range, b: Range) -> Option<Range> {
    if b.lo < 0 {
        return None;
    }
    let least = b.lo.max(1);
    Some(Range {
        lo: if a.lo < 0 { a.lo.div_euclid(least) } else { 0 },
        hi: if a.hi < 0 { 0 } else { a.hi / least },
        extent: a.extent,
    })
}
