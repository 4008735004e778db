//! Broadcasting: the common shape of an expression's arrays, and views stretched to it.

use weft_ir::{AxisSlice, BinOp, CmpOp, ErrorKind, Layout, Op, Span, StmtKind, Value, ViewType};

use super::Lower;
use super::lazy::Leaf;
use crate::compiler::Res;

/// Emits a loop over leaves that have one shape.
type MakeLoop<'a, L> = dyn FnMut(&mut L, &[Leaf]) -> Res<()> + 'a;

/// Leaves brought to one shape. `views` are as they were; where `equal` is false at run time, `stretched` makes broadcast ones of them.
pub struct Aligned {
    pub shape: Vec<Value>,
    /// None: all shapes are known to be equal, or to differ only in rank.
    equal: Option<Value>,
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
        let mut equal: Option<Value> = None;
        for dims in &shapes {
            let offset = shape.len() - dims.len();
            for (axis, &n) in dims.iter().enumerate() {
                let common = &mut shape[offset + axis];
                match *common {
                    None => *common = Some(n),
                    Some(m) if m == n => {}
                    Some(m) => {
                        let same = self.b.compare(CmpOp::Eq, m, n);
                        *common = Some(self.broadcast_axis(m, n, same, target.is_some())?);
                        equal = Some(match equal {
                            Some(so_far) => self.b.binary(BinOp::And, so_far, same),
                            None => same,
                        });
                    }
                }
            }
        }
        let shape = shape.into_iter().flatten().collect();
        Ok(Aligned { shape, equal })
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
    fn stretch(&mut self, view: Value, ty: ViewType, shape: &[Value]) -> (Value, ViewType) {
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let dims = self.shape_of(view, ty);
        let offset = shape.len() - dims.len();
        let axes = dims
            .iter()
            .enumerate()
            .map(|(axis, &n)| {
                let len = shape[offset + axis];
                let single = self.b.compare(CmpOp::Eq, n, one);
                let step = self.b.select(single, zero, one);
                AxisSlice::Range { start: zero, len, step }
            })
            .collect();
        let stretched = ViewType {
            layout: Layout::Any,
            writable: false,
            ..ty
        };
        let value = self.b.emit(stretched, Op::Slice { view, axes });
        self.derived(value, view);
        (value, stretched)
    }

    /// Emits `make` for leaves of one shape: twice where only the run can tell whether they must be stretched.
    pub fn with_leaves(&mut self, leaves: &[Leaf], aligned: &Aligned, make: &mut MakeLoop<'_, Self>) -> Res<()> {
        let Some(equal) = aligned.equal else {
            return make(self, leaves);
        };
        self.open_block();
        make(self, leaves)?;
        let then = self.close_block();
        self.open_block();
        let stretched: Vec<_> = leaves.iter().map(|(v, ty)| self.stretch(*v, *ty, &aligned.shape)).collect();
        make(self, &stretched)?;
        let other = self.close_block();
        self.b.push(StmtKind::If { cond: equal, then, other });
        Ok(())
    }
}
