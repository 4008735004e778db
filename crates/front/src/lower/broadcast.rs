//! Broadcasting: the common shape of an expression's arrays, and views stretched to it.

use weft_ir::{AxisSlice, BinOp, CmpOp, ErrorKind, Layout, Op, Span, StmtKind, Value, ViewType};

use super::Lower;
use super::lazy::Leaf;
use crate::compiler::Res;

/// Emits a loop over leaves that have one shape.
type MakeLoop<'a, L> = dyn FnMut(&mut L, &[Leaf]) -> Res<()> + 'a;

/// The common shape of an expression's leaves.
pub struct Aligned {
    pub shape: Vec<Value>,
    stretch: Stretch,
}

/// Must leaves be stretched to the common shape?
#[derive(Clone, Copy)]
enum Stretch {
    Never,
    /// Some axis is known to broadcast.
    Always,
    /// Unless this is true when the program runs: that all lengths are equal.
    Unless(Value),
}

impl Lower<'_> {
    /// The common shape of the leaves: `target`'s if given, else what they broadcast to. Raises where they do not fit.
    pub fn align(&mut self, leaves: &[Leaf], target: Option<&[Value]>, span: Span) -> Res<Aligned> {
        let shapes: Vec<Vec<Value>> = leaves.iter().map(|(v, ty)| self.shape_of(*v, *ty)).collect();
        let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
        let mut shape: Vec<Option<Value>> = match target {
            Some(target) if rank > target.len() => {
                let message = format!("a {rank}-d value cannot be stored into a {}-d array", target.len());
                return Err(self.typing(span, message));
            }
            Some(target) => target.iter().copied().map(Some).collect(),
            None => vec![None; rank],
        };
        let mut stretch = Stretch::Never;
        for dims in &shapes {
            let offset = shape.len() - dims.len();
            for (axis, &n) in dims.iter().enumerate() {
                let common = &mut shape[offset + axis];
                match *common {
                    None => *common = Some(n),
                    Some(m) => *common = Some(self.common_length(m, n, target.is_some(), &mut stretch)?),
                }
            }
        }
        let shape = shape.into_iter().flatten().collect();
        Ok(Aligned { shape, stretch })
    }

    /// The length that two lengths of an axis broadcast to: the first one if it is `fixed`.
    fn common_length(&mut self, m: Value, n: Value, fixed: bool, stretch: &mut Stretch) -> Res<Value> {
        if m == n || (self.ones.contains(&m) && self.ones.contains(&n)) {
            return Ok(m);
        }
        if self.ones.contains(&n) {
            *stretch = Stretch::Always;
            return Ok(m);
        }
        if self.ones.contains(&m) && !fixed {
            *stretch = Stretch::Always;
            return Ok(n);
        }
        let same = self.b.compare(CmpOp::Eq, m, n);
        let common = self.broadcast_axis(m, n, same, fixed)?;
        *stretch = match *stretch {
            Stretch::Never => Stretch::Unless(same),
            Stretch::Always => Stretch::Always,
            Stretch::Unless(so_far) => Stretch::Unless(self.b.binary(BinOp::And, so_far, same)),
        };
        Ok(common)
    }

    fn broadcast_axis(&mut self, m: Value, n: Value, same: Value, fixed: bool) -> Res<Value> {
        let one = self.b.i64(1);
        let n_one = self.b.compare(CmpOp::Eq, n, one);
        let mut fits = self.b.binary(BinOp::Or, same, n_one);
        let mut common = m;
        if !fixed {
            let m_one = self.b.compare(CmpOp::Eq, m, one);
            fits = self.b.binary(BinOp::Or, fits, m_one);
            common = self.b.select(m_one, n, m);
            self.nonneg.insert(common);
        }
        let misfit = self.not(fits);
        self.raise_if(misfit, ErrorKind::Value, "operands could not be broadcast together")?;
        Ok(common)
    }

    pub fn raise_if(&mut self, cond: Value, kind: ErrorKind, message: &str) -> Res<()> {
        let message = message.to_owned();
        self.emit_if(cond, |l| {
            l.b.push(StmtKind::Raise { kind, message });
            Ok(())
        })
    }

    /// A view stretched to a shape: axes of length 1 get stride 0.
    fn stretch(&mut self, view: Value, ty: ViewType, shape: &[Value]) -> Leaf {
        let dims = self.shape_of(view, ty);
        let shape = &shape[shape.len() - dims.len()..];
        if dims == shape {
            return (view, ty);
        }
        let axes: Vec<AxisSlice> = dims.iter().zip(shape).map(|(&n, &len)| self.stretched_axis(n, len)).collect();
        let stretched = ViewType {
            layout: match self.slice_layout(ty.layout, &axes) {
                Layout::C => Layout::Row,
                other => other,
            },
            writable: false,
            ..ty
        };
        let value = self.b.emit(stretched, Op::Slice { view, axes });
        self.derived(value, view);
        (value, stretched)
    }

    fn stretched_axis(&mut self, n: Value, len: Value) -> AxisSlice {
        if n == len {
            return AxisSlice::Full;
        }
        let zero = self.b.i64(0);
        let step = if self.ones.contains(&n) {
            zero
        } else {
            let one = self.b.i64(1);
            let single = self.b.compare(CmpOp::Eq, n, one);
            self.b.select(single, zero, one)
        };
        AxisSlice::Range { start: zero, len, step }
    }

    /// Emits `make` for leaves of one shape: twice where only the run can tell whether they must be stretched.
    pub fn with_leaves(&mut self, leaves: &[Leaf], aligned: &Aligned, make: &mut MakeLoop<'_, Self>) -> Res<()> {
        let cond = match aligned.stretch {
            Stretch::Never => return make(self, leaves),
            Stretch::Always => return self.with_stretched(leaves, aligned, make),
            Stretch::Unless(equal) => equal,
        };
        self.open_block();
        make(self, leaves)?;
        let then = self.close_block();
        self.open_block();
        self.with_stretched(leaves, aligned, make)?;
        let other = self.close_block();
        self.b.push(StmtKind::If { cond, then, other });
        Ok(())
    }

    fn with_stretched(&mut self, leaves: &[Leaf], aligned: &Aligned, make: &mut MakeLoop<'_, Self>) -> Res<()> {
        let stretched: Vec<Leaf> = leaves.iter().map(|(v, ty)| self.stretch(*v, *ty, &aligned.shape)).collect();
        make(self, &stretched)
    }
}
